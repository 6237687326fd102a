"""Which share of the items a judge may decide without a person, for an error rate stated beforehand, and its price."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from calibration import errors, estimates
from calibration.arithmetic.columns import tally
from calibration.confidence.sureness import NEVER, ItemSureness, item_surenesses
from calibration.delegating.alone_steps import (
    FEWEST_TOPICS,
    Step,
    Tested,
    checked,
    each_unit_a_cluster,
    error_of_one,
    needed,
    tested,
)
from calibration.settings import CalibrationSettings
from calibration.study.bounding import WHOLE, Group, Pair, share
from calibration.study.counted import cluster_word, groups_of
from calibration.study.joining import MANY_LABELS, Scale, Study, scale_of, study_of
from calibration.study.left_out import left_out, scores_of_left_out, stacked
from calibration.warning_words import Clause, told

NO_LOOK = "no error is left for this look: an earlier one spent it all, or looks are at any time; plan looks and topics"
TOO_FEW = "{topics:{word}} with labels to check it by; below {fewest} nothing can be said"
UNCHECKED = (
    "no label on the surest {first} of items has a majority of annotators to check it by",
    "no label on all items has a majority of annotators to check it by",
)
WRONG: Clause = [
    (
        "{error} of its labels on the surest {first} of items are wrong, and up to {most} may be",
        "{error} of its labels on all items are wrong, and up to {most} may be",
    ),
    (
        "; to let it decide the surest {step} of items, about {needed:{word}} in all would be needed, instead of "
        "{topics:,}, if errors stay as seen",
        "; to let it decide all items, about {needed:{word}} in all would be needed, instead of {topics:,}, if errors "
        "stay as seen",
        "; no number of {words!t} is known to show {allowed} or less",
    ),
]
HOUR = 3_600  # seconds


@dataclass(frozen=True)
class Alone:
    """What one judge may decide alone. `at`: the place in `steps` of what it decides, None for nothing.

    `says`, `facts`: of why nothing. `topics_needed`: in all, to decide the step of `needed_for` if errors stay as seen.
    `person`: a left-out annotator against the majority of the others on what is decided, and `judge_beside` the judge
    on those very references; None where nobody labelled what another did.
    """

    judge: str
    by: tuple[str, ...]  # of what its sureness is made
    error_allowed: float
    judges_tried: int
    steps: tuple[Step, ...]
    at: int | None
    says: Clause = field(hash=False)
    facts: Mapping[str, Any] = field(hash=False)
    topics_needed: int | None
    needed_for: int | None
    person: estimates.Estimate | None
    judge_beside: estimates.Estimate | None
    without_majority: float  # share of the annotated labels decided that have none, and count as neither
    usd_per_1000_items: float  # of the judge, asked of every item, a cascade's second of what it decides; nan: unknown
    hours_per_1000_items: float  # of one person for each item left; nan: unknown
    hours_of_people_alone: float  # for 1,000 items

    @property
    def reason(self) -> str:
        """Why it may decide nothing, in the language that is set; "" where it may."""
        return told(self.says, self.facts)

    @property
    def decided(self) -> Step | None:
        """What the judge may decide; None for nothing."""
        return None if self.at is None else self.steps[self.at]


def alone_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> list[Alone]:
    """One for each judge that was asked, by name; `settings.alone_error` is the error allowed, above 0.

    An error is a label that differs from the annotators' majority. Below 12 topics nothing is decided.
    """
    found, hours = item_surenesses(study, scale), 1000 * seconds_per_item(study) / HOUR
    tried = len(found) + sum(study.replaced.get(one.judge, 0) for one in found)
    return [_alone(study, group, scale, one, (tried, hours), settings) for one in found]


def nothing_alone(settings: CalibrationSettings) -> estimates.ReportWarning:
    """`nothing_alone`: an error was stated, and nothing can be said of any judge."""
    facts = {"percent": round(100 * settings.alone_error, 1), "most": MANY_LABELS}
    return estimates.ReportWarning("nothing_alone", facts)


def items_for_people(verdicts: pd.DataFrame, judge: str, settings: CalibrationSettings) -> tuple[Alone, pd.DataFrame]:
    """What the judge may decide, and the items it may not, one row each, by cluster and from the least sure.

    Columns `item_id`, `cluster_id`, `system_a`, `system_b`, `priority` (whole, the higher the less sure), `labelled`
    (whether any person answered it). Raises `unknown_form` for a judge that is none, and `mixed_label_types` where
    criteria share no scale of up to 25 labels.
    """
    study = study_of(verdicts, settings)
    scale = scale_of(study, study.criteria, settings)
    if scale is None or len(scale.labels) > MANY_LABELS:
        raise errors.CalibrationError(
            "mixed_label_types", "the criteria share no scale of few answers, so nothing says when a judge errs; give "
            "the rows of one criterion"
        )  # fmt: skip
    found = {sure.judge: sure for sure in item_surenesses(study, scale)}
    if judge not in found:
        raise errors.CalibrationError(
            "unknown_form", "no judge is called {judge!r}; there are {found}", judge=judge, found=", ".join(found)
        )
    alone = next(
        one for one in alone_of(study, groups_of(study, settings, pooled=True)[0], scale, settings)
        if one.judge == judge
    )  # fmt: skip
    return alone, _left(study, found[judge], alone)


def _left(study: Study, own: ItemSureness, alone: Alone) -> pd.DataFrame:
    surest = int(own.level.max(initial=0))
    left = own.level < (alone.decided.level if alone.decided else surest + 1)
    people = study.frame.loc[study.frame["rater_kind"] == "human", "item_id"].unique()
    told = study.frame.drop_duplicates("item_id").set_index("item_id")
    names = study.frame["item_id"].cat.categories[own.item[left]]
    out = told.loc[names, ["cluster_id", "system_a", "system_b"]].astype(str).rename_axis("item_id").reset_index()
    out = out.assign(priority=surest - own.level[left], labelled=out["item_id"].isin(people))
    return out.sort_values(["cluster_id", "priority", "item_id"], ascending=[True, False, True], ignore_index=True)


def _alone(
    study: Study, group: Group, scale: Scale, own: ItemSureness, known: tuple[int, float], settings: CalibrationSettings
) -> Alone:
    """`known`: how many judges were tried, and the hours of one person for 1,000 items."""
    judges, hours = known
    labels = checked(study, scale, own, settings)
    topics = len(np.unique(labels.cluster))
    nothing = Alone(
        own.judge, own.by, settings.alone_error, judges, (), None, "", {}, None, None, None, None, math.nan,
        1000 * float(np.mean(own.usd)) if len(own.usd) else math.nan, hours, hours,
    )  # fmt: skip
    word = cluster_word(study.frame)
    if topics < FEWEST_TOPICS:
        return replace(nothing, says=TOO_FEW, facts={"topics": topics, "word": word, "fewest": FEWEST_TOPICS})
    if not error_of_one(judges, settings, len(study.clusters)):
        return replace(nothing, says=NO_LOOK)
    found = tested(study, own, labels, judges, settings)
    if found.at is None:
        enough = needed(found, judges, settings)
        step, count = enough or (None, None)
        facts = _facts(found, step) | {
            "topics": topics, "word": word, "words": f"{word}s", "needed": count,
            "allowed": percent(settings.alone_error),
        }  # fmt: skip
        says = WRONG if "error" in facts else UNCHECKED
        return replace(nothing, steps=found.steps, says=says, facts=facts, needed_for=step, topics_needed=count)
    decided = found.steps[found.at]
    person, beside = _person(study, group, scale, own, decided.level, settings)
    divided, agreed = (int((one >= decided.level).sum()) for one in (labels.without, labels.level))
    return replace(
        nothing, steps=found.steps, at=found.at, person=person, judge_beside=beside,
        without_majority=divided / (divided + agreed), hours_per_1000_items=(1 - decided.share.value) * hours,
        usd_per_1000_items=_usd_per_1000(own, decided.level),
    )  # fmt: skip


def _usd_per_1000(own: ItemSureness, level: int) -> float:
    """Of what is read to decide items from this level on; to decide all, those without a verdict were read as well."""
    read = (own.level >= level) | (level == own.level[own.level != NEVER].min())
    return 1000 * float(np.mean(np.where(read, own.usd, own.usd_left)))


def _person(
    study: Study, group: Group, scale: Scale, own: ItemSureness, level: int, settings: CalibrationSettings
) -> tuple[estimates.Estimate | None, estimates.Estimate | None]:
    """How often a left-out annotator, and the judge, differ from the majority of the others on what is decided."""
    decided = np.zeros(len(study.frame["item_id"].cat.categories), bool)
    decided[own.item[own.level >= level]] = True
    single, by_majority = each_unit_a_cluster(study), replace(settings, references="others_majority")
    rows = stacked([
        scores_of_left_out(single, replace(one, judge=own.verdict[one.unit]), scale, by_majority)
        for one in left_out(study, group, scale, None)
    ])  # fmt: skip
    inside = decided[own.unit_item[rows.cluster]] & own.verdict[rows.cluster].any(axis=1)
    if not inside.any():
        return None, None
    cluster, count, note = study.unit_cluster[rows.cluster[inside]], len(study.clusters), "of labels given twice"
    person, judge = (
        share("decided_error", Pair(rater, "others", WHOLE, tally(cluster, count)),
              tally(cluster, count, 1 - scores[inside]), settings, note)
        for rater, scores in (("each_annotator", rows.human), (own.judge, rows.judge))
    )  # fmt: skip
    return person, judge


def _facts(found: Tested, step: int | None) -> dict[str, str | None]:
    """Of why nothing is decided. `step`: what some number of topics would show; a share of all items is no fact."""
    first = found.steps[found.first]
    facts = {"first": _part(first), "step": None if step is None else _part(found.steps[step])}
    error = first.error
    return facts if math.isnan(error.value) else facts | {"error": percent(error.value), "most": percent(error.high)}


def _part(step: Step) -> str | None:
    return None if step.share.value == 1 else percent(step.share.value)


def percent(share: float) -> str:
    """`12.5 %`, `100 %`."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def seconds_per_item(study: Study) -> float:
    """Median over people and items of the seconds that one person takes for one item; nan where nobody's are known."""
    rows = study.frame[(study.frame["rater_kind"] == "human") & (study.frame["run"] == 1)]
    each = rows.groupby(["rater_id", "item_id"], observed=True)["seconds"].agg(lambda one: one.sum(skipna=False))
    return float(each.median())

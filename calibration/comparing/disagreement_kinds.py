"""Why a judge and the annotators disagree: each disagreement has one kind, and one kind may be shown to be foremost.

Two kinds are seen on the question itself: people differ among themselves, or the judge's own answers do. Four are a
habit of somebody, and are told only of a habit that a test over topics shows: a lean to the report shown first, a taste
for the longer one, one criterion read otherwise, one annotator who answers unlike the others. What is left is "other":
the judge, or the people, are wrong there, and nobody can tell why from answers alone. It is counted, and never called
foremost.

People also differ where each of them slips now and then and no question is to blame. That one is, is shown by raters
who have nothing to do with each other: the judge and an annotator differ more often where two others differ. Slips,
however frequent, are independent of each other there. Where it is not shown, people's differences explain what nothing
else does, and are not called foremost; where the judge contradicts itself more often there too, the question comes
before the judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.columns import tally
from calibration.biases.position_bias import position_bias
from calibration.biases.preference_bias import length_bias
from calibration.estimates import Estimate
from calibration.inference.compare import holm, paired_difference
from calibration.people.annotator_quality import agreements
from calibration.people.annotator_signals import Asked, adjusted, paired_signal
from calibration.settings import CalibrationSettings
from calibration.study.bounding import WHOLE, Pair, share
from calibration.study.joining import Study, study_of
from calibration.warning_words import told

Kind = Literal["person", "unstable", "order", "length", "ambiguous", "criterion", "other"]
# what can be mended in the judge comes first: one that contradicts itself where people differ too is asked again first
KINDS: tuple[Kind, ...] = ("person", "unstable", "order", "length", "ambiguous", "criterion", "other")
FEWEST_TOPICS = 20  # under it no kind is called foremost
PEOPLE_NEEDED = 3  # on a question, to tell which of them is unlike the others
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class DisagreementKind:
    """How much of what was compared is a disagreement of this kind: `share`, with its interval over topics.

    `questions`: items × criteria with such a disagreement. `of`: the annotators, or the criteria, that it is of.
    `unseen`: why it could not be seen here; "" where it could.
    """

    kind: Kind
    share: Estimate
    questions: int
    of: tuple[str, ...] = ()
    unseen: str = ""


@dataclass(frozen=True)
class DisagreementKinds:
    """Of one judge. `compared`: answers of the judge beside an annotator's; `unlike`: those that differ; in `topics`.

    `foremost`: of the kinds but "other" the one with the largest share, where that is shown to be more than
    `bias_floor`, and more than the next one's where that is shown too; "" where `reason` says why none is.
    `by_question`: columns item_id, criterion, and kind, the most frequent one of each question that has any, ties by
    the order of `KINDS`.
    """

    judge: str
    compared: int
    unlike: int
    topics: int
    kinds: tuple[DisagreementKind, ...]
    foremost: Kind | Literal[""]
    says: str
    facts: Mapping[str, Any]  # of what it says
    by_question: pd.DataFrame

    @property
    def reason(self) -> str:
        """Why no kind is called foremost, in the language that is set; "" where one is."""
        return told(self.says, self.facts)


def disagreement_kinds(
    verdicts: pd.DataFrame | Study, judge: str, settings: CalibrationSettings | None = None
) -> DisagreementKinds:
    """The kinds of a judge's disagreements with annotators, over answers in words: scores have no kinds.

    Every usable answer of the judge (both orders, all repeats) meets the first of every annotator. A disagreement is of
    the first of `KINDS` that fits; of "ambiguous" before that where the judge contradicts itself more there, and last
    where no question is shown to be the reason. Undefined: nothing compared (shares are nan, `no_items`). Shares:
    Wilson intervals with the effective sample size over topics; foremost: the interval, and paired cluster t against
    the next, two-sided at the settings' level. Habits: `position_bias`, `length_bias`, and one-sided cluster t beyond
    `bias_floor`, Holm over criteria, or over annotators; "ambiguous" is foremost only where `_goes_with_a_split`.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    rows = _compared(study, judge)
    seen = _Seen.of(study, judge, rows, settings)
    kind = _kinds(rows, seen, settings)
    code = np.unique(rows["cluster_id"].to_numpy(), return_inverse=True)[1]
    topics = int(code.max()) + 1 if len(code) else 0
    masks = {name: kind == number for number, name in enumerate(KINDS)}
    pair = Pair(judge, "each_annotator", WHOLE, tally(code, topics).astype(float))
    kinds = tuple(
        DisagreementKind(
            name, share(f"disagreement_{name}", pair, tally(code[mask], topics).astype(float), settings),
            int(rows["unit"][mask].nunique()), _of(name, seen, rows[mask]), seen.unseen.get(name, ""),
        )
        for name, mask in masks.items()
    )  # fmt: skip
    foremost, says, facts = _foremost(kinds, masks, code, topics, seen.hard, settings)
    return DisagreementKinds(
        judge=judge, compared=len(rows), unlike=int(rows["unlike"].sum()), topics=topics,
        kinds=kinds, foremost=foremost, says=says, facts=facts, by_question=_by_question(rows, kind),
    )  # fmt: skip


@dataclass(frozen=True)
class _Seen:
    """What a test over topics shows, and what could not be looked at."""

    people: tuple[str, ...]  # annotators unlike the others
    leans: bool
    longer: bool
    hard: bool  # there are questions, or items, on which raters differ beyond their own slips
    unsteady: bool  # and the judge contradicts itself there more than elsewhere
    unseen: Mapping[str, str]

    @staticmethod
    def of(study: Study, judge: str, rows: pd.DataFrame, settings: CalibrationSettings) -> "_Seen":
        unseen: dict[str, str] = {}
        most = rows.groupby("unit")["person"].nunique().max() if len(rows) else 0
        if most < 2:
            unseen["ambiguous"] = "no question has answers of two annotators"
        if most < PEOPLE_NEEDED:
            unseen["person"] = "no question has answers of 3 annotators"
        if (calls := rows.groupby("unit")["call"].nunique().max() if len(rows) else 0) < 2:
            unseen["unstable"] = "the judge answered each question once: run it in both orders, or with repeats = 2"
        order, length = position_bias(study, judge, settings), length_bias(study, judge, settings=settings)
        if calls < 2 or order.flips.estimate.n == 0:
            unseen["order"] = "the judge answered no question in both orders: order = 'both'"
        if length.difference.estimate.n == 0:
            unseen["length"] = "the lengths of the reports are not known"
        if rows["criterion"].nunique() < 2:
            unseen["criterion"] = "there is one criterion"
        people = () if "person" in unseen else _unlike_the_others(study, settings)
        longer = length.outcome == "found" and length.difference.effect > 0
        leans, others = order.flips.outcome == "found", rows[~rows["person"].isin(people)]
        error = 1 - settings.level
        # a fifth, for what puts the question in the place of the judge: it is plain where it is there
        unsteady = _goes_with_a_split(others, _contradicts_itself(others, leans), error / 5)
        hard = unsteady or _goes_with_a_split(others, others["unlike"], error)
        return _Seen(people, leans, longer, hard, unsteady, unseen)


def _unlike_the_others(study: Study, settings: CalibrationSettings) -> tuple[str, ...]:
    """Annotators who agree with the others less than these do among themselves, beyond the floor."""
    scores = agreements(study, settings)
    found = adjusted(
        [
            paired_signal(Asked("agreement", rater, settings.bias_floor, "below", ""), one, settings)
            for rater, one in scores.items()
        ]
    )
    return tuple(signal.estimate.rater for signal in found if signal.flagged)


def _goes_with_a_split(rows: pd.DataFrame, what: pd.Series, error: float) -> bool:
    """Whether `what` of a judge beside an annotator is commoner where two other annotators differ.

    Looked for twice, on the question itself and over the questions of its item; each a one-sided cluster t, at `error`,
    of the mean product of deviations from the mean of the criterion and the annotator. Undefined with fewer than three
    annotators on every question: False.
    """
    by, within = ["unit", "person"], ["criterion", "person"]
    one = rows.assign(what=what.astype(float)).groupby(by, as_index=False).agg(
        {"what": "mean", **dict.fromkeys(("people_said", "criterion", "item_id", "cluster_id"), "first")}
    )  # fmt: skip
    alike = one.groupby(["unit", "people_said"])["unit"].transform("size") - 1  # others who say the same
    others = one.groupby("unit")["unit"].transform("size") - 1
    pairs = others * (others - 1) / 2
    same = alike.groupby(one["unit"]).transform("sum") / 2 - alike  # pairs of others who answer alike
    one["question"] = (1 - same / pairs).where(pairs > 0)
    one["item"] = one.groupby(["item_id", "person"])["question"].transform("mean")
    one = one.dropna(subset="question")
    if one.empty:
        return False
    apart = {name: (one[name] - one.groupby(within)[name].transform("mean")) for name in ("what", "question", "item")}
    clusters, none = one["cluster_id"].to_numpy(), np.zeros(len(one))
    looks = (
        paired_difference((apart["what"] * apart[name]).to_numpy(), none, clusters) for name in ("question", "item")
    )
    return any(look.value > 0 and look.p / 2 < error for look in looks)


def _contradicts_itself(rows: pd.DataFrame, leans: bool) -> pd.Series:
    """Whether the judge gave another answer to the question in another call, shape (rows,).

    Between the orders too, unless a lean to the report shown first explains that.
    """
    place = rows["unit"].astype(str) + rows["presentation"] if leans else rows["unit"]
    turned = _differ(rows.assign(place=place), "place", "said")
    return rows["unit"].isin(rows["unit"][turned])


def _compared(study: Study, judge: str) -> pd.DataFrame:
    """One row for each usable answer of the judge beside one of each annotator.

    Columns: unit, item_id, criterion, cluster_id, call, presentation, person, said, people_said, longer ("" unknown),
    unlike.
    """
    frame = study.frame
    in_words = ~study.of_kind(frame, "rating").to_numpy() & (frame["status"] == "ok").to_numpy()
    columns = ["unit", "rater_id", "run", "presentation", "label"]
    given = frame.loc[in_words]
    own = given[given["rater_id"] == judge]
    people = given[(given["rater_kind"] == "human") & (given["run"] == 1)]
    people = people[columns].drop_duplicates(["unit", "rater_id"])
    length = own["len_a"].to_numpy(float) - own["len_b"].to_numpy(float)
    own = own[[*columns, "item_id", "criterion", "cluster_id"]].assign(
        call=own["run"].astype(str) + own["presentation"].astype(str),
        longer=np.where(length > 0, "A", np.where(length < 0, "B", "")),
    )
    joined = own.merge(people, on="unit", suffixes=("", "_of"))
    texts = {name: joined[name].astype(str) for name in ("item_id", "criterion", "cluster_id", "presentation")}
    said, people_said = joined["label"].astype(str), joined["label_of"].astype(str)
    return joined[["unit", "call", "longer"]].assign(
        **texts, person=joined["rater_id_of"].astype(str), said=said, people_said=people_said,
        unlike=said != people_said,
    )  # fmt: skip


def _kinds(rows: pd.DataFrame, seen: _Seen, settings: CalibrationSettings) -> npt.NDArray[np.intp]:
    """The number in `KINDS` of each row's kind, shape (rows,); -1 where the answers are alike."""
    others = rows[~rows["person"].isin(seen.people)]
    shorter = rows["longer"].map({"A": "B", "B": "A"})
    split = rows["unit"].isin(others["unit"][_differ(others, "unit", "people_said")]).to_numpy()
    conditions: dict[Kind, Mask] = {
        "person": rows["person"].isin(seen.people).to_numpy() & _as_the_others(rows, others),
        **({"ambiguous": split} if seen.unsteady else {}),
        "unstable": _contradicts_itself(rows, seen.leans).to_numpy(),
        "order": _differ(rows, "unit", "said") & seen.leans,
        "length": ((rows["said"] == rows["longer"]) & (rows["people_said"] == shorter)).to_numpy() & seen.longer,
        **({"ambiguous": split} if seen.hard and not seen.unsteady else {}),
    }
    first = [KINDS.index(name) for name in conditions]
    number = np.select([*conditions.values()], first, KINDS.index("criterion")).astype(np.intp)
    number[~rows["unlike"].to_numpy()] = -1
    rest = number == KINDS.index("criterion")
    left = rest & ~rows["criterion"].isin(_vague(rows, rest, settings)).to_numpy()
    number[left] = np.where(split, KINDS.index("ambiguous"), KINDS.index("other"))[left]
    return number


def _differ(rows: pd.DataFrame, by: str, column: str) -> Mask:
    """Whether the values of a row's group are not all the same, shape (rows,)."""
    return (rows.groupby(by)[column].transform("nunique") > 1).to_numpy() if len(rows) else np.zeros(0, dtype=bool)


def _as_the_others(rows: pd.DataFrame, others: pd.DataFrame) -> Mask:
    """Whether some other annotator answered, and everybody else says what the judge says there."""
    given = others.groupby("unit")["people_said"].agg(["min", "nunique"])
    same = rows["unit"].map(given["min"]) == rows["said"]
    return (same & (rows["unit"].map(given["nunique"]) == 1)).to_numpy()


def _vague(rows: pd.DataFrame, rest: Mask, settings: CalibrationSettings) -> Sequence[str]:
    """Criteria on which the judge and people differ more than on the item's others, for no other kind's reason."""
    by_item = rows.assign(rest=rest.astype(float)).pivot_table(
        index=["cluster_id", "item_id"], columns="criterion", values="rest", aggfunc="mean"
    )
    if by_item.shape[1] < 2:
        return ()
    clusters, names, p = by_item.index.get_level_values(0).to_numpy(), list(by_item.columns), []
    for name in names:
        own, others = by_item[name].to_numpy(), by_item.drop(columns=name).mean(axis=1).to_numpy()
        more = paired_difference(own - settings.bias_floor, others, clusters, settings.level)
        p.append(more.p / 2 if more.value > 0 else 1.0)
    return [name for name, one in zip(names, holm(p), strict=True) if one < 1 - settings.level]


def _foremost(
    kinds: Sequence[DisagreementKind],
    masks: Mapping[Kind, Mask],
    code: npt.NDArray[np.intp],
    topics: int,
    is_hard: bool,
    settings: CalibrationSettings,
) -> tuple[Kind | Literal[""], str, Mapping[str, Any]]:
    if not any(mask.any() for mask in masks.values()):
        return "", "no answers differ", {}
    if topics < FEWEST_TOPICS:
        few = "{topics} topics; under {fewest} no kind is called foremost"
        return "", few, {"topics": topics, "fewest": FEWEST_TOPICS}
    floor = settings.bias_floor
    named = [one for one in kinds if one.kind != "other" and (is_hard or one.kind != "ambiguous")]
    first, second = sorted(named, key=lambda one: -int(masks[one.kind].sum()))[:2]
    split = next((one for one in kinds if one.kind == "ambiguous" and one not in named), None)
    is_less = first.kind == "unstable" and split is not None and masks["ambiguous"].sum() > masks["unstable"].sum()
    if split is not None and split.share.low > floor and (is_less or not first.share.low > floor):
        return "", "people differ there too, but may each just slip: no question is shown to be the reason", {}
    if not first.share.low > floor:
        return "", "no kind is shown to be more than {floor:g} % of comparisons", {"floor": 100 * floor}
    more = paired_difference(masks[first.kind].astype(float), masks[second.kind].astype(float), code, settings.level)
    if second.share.low > floor and not more.p < 1 - settings.level:
        near = "{first!t} and {second!t} come too near to each other"
        return "", near, {"first": first.kind, "second": second.kind}
    return first.kind, "", {}


def _of(kind: Kind, seen: _Seen, rows: pd.DataFrame) -> tuple[str, ...]:
    if kind == "person":
        return seen.people
    return tuple(sorted(set(rows["criterion"]))) if kind == "criterion" else ()


def _by_question(rows: pd.DataFrame, kind: npt.NDArray[np.intp]) -> pd.DataFrame:
    unlike = rows.assign(kind=kind)[kind >= 0]
    counts = unlike.groupby(["item_id", "criterion", "kind"]).size().rename("count").reset_index()
    first = counts.sort_values(["item_id", "criterion", "count", "kind"], ascending=[True, True, False, True])
    first = first.drop_duplicates(["item_id", "criterion"])
    return first.assign(kind=[KINDS[one] for one in first["kind"]])[["item_id", "criterion", "kind"]].reset_index(
        drop=True
    )

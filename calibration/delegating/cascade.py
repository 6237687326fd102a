"""A cascade: a cheap judge decides where its two orders agree, a dear judge or a person takes the rest."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.agreement.agreeing import consistent_units
from calibration.arithmetic.columns import Codes, tally
from calibration.choosing.noninferiority import non_inferiority
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference.gap_test import NonInferiority
from calibration.settings import CalibrationSettings
from calibration.study.answering import sums_per_item
from calibration.study.bounding import WHOLE, Pair, share
from calibration.study.joining import Answers, Mask, Study, both_orders, study_of
from calibration.study.left_out import left_out, pooled, scores_of_left_out, stacked
from calibration.table.verdicts import BOTH_ORDERS


@dataclass(frozen=True)
class Cascade:
    """What goes on to the second rater, and what that costs. `usd_per_1000_items` is nan where prices are unknown."""

    name: str
    escalated: Estimate  # share of labels
    escalated_items: Estimate  # share of items with such a label: each is read once more, whatever the number of labels
    usd_per_1000_items: float


@dataclass(frozen=True)
class CascadeWithPerson(Cascade):
    """`test`: the cascade against the left-out annotator, who also decides what was escalated: there the gap is 0."""

    test: NonInferiority


def with_cascade(
    verdicts: pd.DataFrame, cheap: str, dear: str, settings: CalibrationSettings | None = None
) -> tuple[pd.DataFrame, Cascade]:
    """The checked verdicts with the rows of a further judge, `<cheap> then <dear>`, and what it costs.

    A label on which the two orders of `cheap` differ, or one of them has no usable answer, is the dear judge's: in
    both orders where it has both (unequal verdicts are a tie), else as it answered. Every item costs both calls of
    `cheap`; one with such a label costs the dear judge's whole item too, whose reports must be read for one criterion
    as for all. Each label has the stated confidence of who gave it; the dear judge's is unknown where the two state it
    on different scales. Only labels asked of both judges take part. Of repeats the first counts. Raises `unknown_form`
    where one is no judge, `cheap` has no label in both orders, or no label is shared.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    _refuse_unknown(study, cheap, dear)
    settled = _settled(study, cheap)
    first = study.frame[study.frame["run"] == 1]
    one = both_orders(first[first["rater_id"] == cheap]).set_index("unit")
    other = _as_deployed(first[first["rater_id"] == dear]).set_index("unit")
    asked = one.index.intersection(other.index)
    if asked.empty:
        raise CalibrationError(
            "unknown_form", "{cheap!r} and {dear!r} share no label; run both on the same items", cheap=cheap, dear=dear
        )
    one, other = one.loc[asked].astype({"label": object, "status": object}), other.loc[asked]
    sent = ~settled[asked.to_numpy()]
    read = np.asarray(one["item_id"].isin(one["item_id"][sent]))
    name = f"{cheap} then {dear}"
    for column in ("label", "status"):
        one[column] = np.where(sent, other[column].astype(object), one[column])
    for column in ("cost_usd", "seconds"):
        one[column] = one[column].to_numpy() + np.where(read, other[column].to_numpy(), 0.0)
    if "confidence" in one:
        scales = {levels.max() > 1 for levels in (one["confidence"], other["confidence"]) if levels.notna().any()}
        theirs = other["confidence"] if len(scales) == 1 else math.nan
        one["confidence"] = np.where(sent, theirs, one["confidence"])
    rows = one.assign(rater_id=name, presentation="", rationale="").astype({"item_id": object})
    usd = _usd_per_1000(rows)
    told = _cascade(study, name, asked.to_numpy().astype(np.intp), sent, usd, settings)
    checked = study.frame.drop(columns="unit").assign(rationale=study.rationales)
    both = pd.concat([checked.astype(object), rows.astype(object)], ignore_index=True)
    return both, told


def cascade_with_person(
    verdicts: pd.DataFrame, cheap: str, usd_per_item: float, settings: CalibrationSettings | None = None
) -> CascadeWithPerson:
    """A person, paid `usd_per_item` (nan: unknown), takes the labels on which the two orders of `cheap` differ.

    That person is an annotator like the one left out, and agrees with the others as that one did. Raises
    `unknown_form` where `cheap` has no label in both orders, and `mixed_label_types` where criteria share no scale.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = pooled(verdicts, settings)
    _refuse_unknown(study, cheap)
    settled, judge = _settled(study, cheap), _named(study, f"{cheap}{BOTH_ORDERS}")
    parts = []
    for one in left_out(study, group, scale, judge, missing_as_wrong=True):
        answers = np.where(settled[one.unit][:, None], one.judge, one.own)
        parts.append(scores_of_left_out(study, replace(one, judge=answers), scale, settings))
    rows = stacked(parts)
    test = non_inferiority(
        rows.judge, rows.human, rows.cluster, settings.margin, settings.level, rows.unit, settings.min_clusters,
        settings.resamples, settings.seed,
    )  # fmt: skip
    both = both_orders(study.frame[study.frame["rater_id"] == cheap])
    both = both[both["run"] == 1]
    unit, name = both["unit"].to_numpy().astype(np.intp), f"{cheap} then a person"
    told = _cascade(study, name, unit, ~settled[unit], math.nan, settings)
    usd = _usd_per_1000(both) + 1000 * told.escalated_items.value * usd_per_item
    return CascadeWithPerson(name, told.escalated, told.escalated_items, usd, replace(test, law=None))


def _usd_per_1000(rows: pd.DataFrame) -> float:
    """Of a thousand items, as `per_item` reckons one."""
    place = pd.factorize(rows["item_id"])[0].astype(np.intp)
    each = sums_per_item(rows["cost_usd"].to_numpy(float), place)
    return 1000 * float(np.nanmean(each)) if not np.isnan(each).all() else math.nan


def _refuse_unknown(study: Study, *names: str) -> None:
    judges = [judge.rater for judge in study.judges if not judge.rater.endswith(BOTH_ORDERS)]
    wrong = next((name for name in names if name not in judges), None)
    if wrong is not None:
        raise CalibrationError(
            "unknown_form", "no judge is called {wrong!r}; there are {judges}", wrong=wrong, judges=", ".join(judges)
        )


def _settled(study: Study, cheap: str) -> Mask:
    """Units that the judge answered in both orders, always with one verdict; shape (units,)."""
    judge, both = _named(study, cheap), _named(study, f"{cheap}{BOTH_ORDERS}")
    if judge is None or both is None:
        raise CalibrationError(
            "unknown_form", "{cheap!r} has no label in both orders; a cascade keeps what both orders agree on",
            cheap=cheap,
        )  # fmt: skip
    return consistent_units(study, judge, both)


def _named(study: Study, rater: str) -> Answers | None:
    return next((judge for judge in study.judges if judge.rater == rater), None)


def _as_deployed(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per unit: of both orders where there are both, else the one answer."""
    both = both_orders(rows)
    single = rows[~rows["unit"].isin(both["unit"])].drop_duplicates("unit")
    return pd.concat([both, single]) if len(both) else single


def _cascade(study: Study, name: str, unit: Codes, sent: Mask, usd: float, settings: CalibrationSettings) -> Cascade:
    """The shares of labels and of items that go on. `unit`, `sent`: shape (labels,)."""
    cluster, clusters = study.unit_cluster[unit], len(study.clusters)
    labels = Pair(name, "", WHOLE, tally(cluster, clusters))
    codes = np.zeros(study.units, np.intp)
    codes[study.frame["unit"].to_numpy()] = study.frame["item_id"].cat.codes.to_numpy()
    _, at, item = np.unique(codes[unit], return_index=True, return_inverse=True)
    any_sent, item_cluster = tally(item, len(at), sent) > 0, cluster[at]
    items = Pair(name, "", WHOLE, tally(item_cluster, clusters))
    return Cascade(
        name,
        share("escalated_share", labels, tally(cluster, clusters, sent), settings, "of labels"),
        share("escalated_share", items, tally(item_cluster, clusters, any_sent), settings, "of items"),
        usd,
    )

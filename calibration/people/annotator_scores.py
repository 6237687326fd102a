"""One annotator's answers beside the others' on the same items: what the signals of `annotator_quality` compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.biases.alike_texts import Shingler, alike_of_all, numbered
from calibration.biases.answering import clusters_of, decisive
from calibration.engine.bounding import Group
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.crossing import people_votes, votes
from calibration.engine.joining import Mask, Scale, Study
from calibration.people.left_out import left_out, scores_of_left_out
from calibration.reading.columns import Codes, tally
from calibration.settings import CalibrationSettings

FEW_ANSWERS = 4  # of an item; with fewer, equal answers say nothing
MANY_TEXTS = 2_000  # rationales of one annotator; beyond, only identical ones are looked for


@dataclass(frozen=True)
class Scores:
    """`own` beside `others`, row by row, shape (rows,); nan where there is none."""

    own: Array
    others: Array
    cluster: npt.NDArray[Any]
    item: npt.NDArray[Any]  # item_id


def agreement_scores(
    study: Study, group: Group, scale: Scale, settings: CalibrationSettings
) -> Iterator[tuple[str, Scores]]:
    """Each annotator's agreement with the others, 0 to 1, and what these reach among themselves on the same label.

    A tie is a label like another, and each other annotator counts alike. `others` is nan where only one other answered.
    """
    plain = replace(settings, ties="three_class", references="others_each")
    item = _item_of_unit(study)
    for one in left_out(study, group, scale, None):
        mine = scores_of_left_out(study, one, scale, plain)
        raters = one.others.sum(axis=1)
        among = ratio((one.others * (one.others - 1)).sum(axis=1), raters * (raters - 1))
        yield one.annotator, Scores(mine.human, among, mine.cluster, item[one.unit])


def stacked_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of all parts, such as those of criteria with answers of their own kind."""
    if not parts:
        return Scores(np.zeros(0), np.zeros(0), np.zeros(0, np.intp), np.zeros(0, str))
    return Scores(
        *(np.concatenate([getattr(one, name) for one in parts]) for name in ("own", "others", "cluster", "item"))
    )


def with_elsewhere(agreed: Mapping[str, Scores], rater: str) -> tuple[Scores, Mask]:
    """The rater's rows and those of the others on items that the rater did not label; whether each is the rater's.

    For studies with two annotators an item, where nobody else's agreement stands on the rater's own items.
    """
    mine = agreed[rater]
    apart = [(one, ~np.isin(one.item, mine.item)) for name, one in agreed.items() if name != rater]
    kept = [Scores(one.own[out], one.others[out], one.cluster[out], one.item[out]) for one, out in apart]
    rows = stacked_scores([mine, *kept])
    return rows, np.arange(len(rows.own)) < len(mine.own)


def side_scores(study: Study, scale: Scale, rater: str, rows: pd.DataFrame) -> Scores:
    """Of each answer that names a winner: 1 where it stood left, beside the share of the others who chose that report.

    So a system that always wins and happened to stand left is no preference for a side. `scale`: of pairs. `others` is
    nan where no other annotator named a winner.
    """
    shown = decisive(study, rows)
    unit = shown["unit"].to_numpy().astype(np.intp)
    everyone, common = people_votes(study, scale)
    own = [one for one in study.annotators if one.rater == rater]
    others = (everyone - votes(own, scale, study.units, common))[unit]
    for_a = ratio(others[:, 0], others[:, 0] + others[:, 2])  # labels of a pair: A, tie, B
    a_left = (shown["presentation"] == "AB").to_numpy()
    return Scores(shown["first"].to_numpy(float), np.where(a_left, for_a, 1 - for_a), clusters_of(shown), _items(shown))


def same_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """Share of an item's answers that equal its most frequent one, for each rater and item; with its cluster.

    Of the first run, and of items with `FEW_ANSWERS` answers or more. A rater who always takes the left report gives
    each item one answer, whatever stands there.
    """
    ok = rows[(rows["status"] == "ok") & (rows["run"] == 1)]
    key = ["rater_id", "item_id"]
    counts = ok.groupby([*key, "label"], observed=True).size()
    found = counts.groupby(level=key, observed=True).agg(["max", "sum"])
    found = found[found["sum"] >= FEW_ANSWERS]
    cluster = ok.drop_duplicates("item_id").set_index("item_id")["cluster_id"].astype(str)
    places = found.index.get_level_values("item_id")
    return pd.DataFrame(
        {"value": found["max"] / found["sum"], "cluster": cluster.reindex(places.astype(str)).to_numpy()},
        index=found.index,
    ).reset_index()


def repeated_rationales(study: Study, rater: str) -> pd.DataFrame:
    """Of each of the annotator's answers: `empty` (no word), `repeated` (nearly that of another answer), `words`.

    First run only. Alike: Jaccard similarity of three-word shingles from .8, as in `rationale_overlap`; beyond
    `MANY_TEXTS` only the same bytes.
    """
    frame = study.frame
    rows = frame[(frame["rater_id"] == rater) & (frame["run"] == 1) & (frame["status"] == "ok")]
    texts = study.rationales[rows.index].astype("str")
    words = texts.str.count(r"\w+").to_numpy()
    told = np.flatnonzero(words > 0)
    repeated = np.zeros(len(rows))
    repeated[told[_alike_to_another(texts.iloc[told])]] = 1.0
    return rows[["rater_id", "item_id", "cluster_id"]].assign(
        empty=(words == 0).astype(float), repeated=repeated, words=words
    )


def beside_others(values: pd.DataFrame, rater: str) -> Scores:
    """The rater's `value` of each item beside the mean of the others' on it; from rater_id, item_id, value, cluster."""
    own, item = (values["rater_id"] == rater).to_numpy(), values["item_id"].to_numpy(str)
    number = values["value"].to_numpy(float)
    names, code = np.unique(item, return_inverse=True)
    counted = ~own & ~np.isnan(number)
    theirs = ratio(tally(code[counted], len(names), number[counted]), tally(code[counted], len(names)))
    return Scores(number[own], theirs[code[own]], values["cluster"].to_numpy(str)[own], item[own])


def _alike_to_another(texts: pd.Series[str]) -> Codes:
    """Places of the texts that are nearly the same as another of them."""
    if len(texts) > MANY_TEXTS:
        code = np.unique(numbered(texts), return_inverse=True)[1]
        return np.flatnonzero(tally(code, 0)[code] > 1).astype(np.intp)
    shingles = Shingler().of(texts)
    row, column = alike_of_all(shingles, shingles)
    return np.unique(row[row != column])


def _item_of_unit(study: Study) -> npt.NDArray[Any]:
    first = study.frame.drop_duplicates("unit").sort_values("unit")
    return _items(first)


def _items(rows: pd.DataFrame) -> npt.NDArray[Any]:
    return rows["item_id"].astype("str").to_numpy(str)

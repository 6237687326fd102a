"""The ceiling and the alternative annotator test once more, label by label in plain Python: witnesses for the tests."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

CREDIT = {"A": Fraction(1), "tie": Fraction(1, 2), "B": Fraction(0)}


def said_by(frame: pd.DataFrame) -> dict[str, dict[tuple[str, str], str]]:
    """Rater to (item, criterion) to label; one pass each."""
    out: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for row in frame.itertuples():
        out[row.rater_id][row.item_id, row.criterion] = row.label
    return out


def rows(frame: pd.DataFrame, judge: str, references: str, ties: str) -> Iterator[tuple[str, Fraction, Fraction, str]]:
    """Annotator, human score, judge score and cluster of each row."""
    said = said_by(frame)
    people = sorted(set(frame.loc[frame["rater_kind"] == "human", "rater_id"]))
    cluster = dict(zip(zip(frame["item_id"], frame["criterion"], strict=True), frame["cluster_id"], strict=True))
    for person in people:
        for unit, own in said[person].items():
            others = [said[other][unit] for other in people if other != person and unit in said[other]]
            if not others or unit not in said[judge]:
                continue
            sides = own, said[judge][unit]
            if references == "others_majority":
                top = Counter(others).most_common(2)
                others = [top[0][0]] if len(top) == 1 or top[0][1] > top[1][1] else []
            if ties == "exclude":
                others = [] if "tie" in sides else [other for other in others if other != "tie"]
            if others:
                yield person, *(_earned(side, others, ties) for side in sides), cluster[unit]


def alt_test_as_published(frame: pd.DataFrame, judge: str, epsilon: float, least: int = 30) -> tuple[float, float, Any]:
    """omega, rho and the p of each annotator: one t test over items each, Benjamini-Yekutieli at .05."""
    p, advantages = {}, []
    scores: dict[str, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for person, human, found, _ in rows(frame, judge, "others_each", "three_class"):
        scores[person].append((human, found))
    for person, pairs in scores.items():
        if len(pairs) >= least:
            d = [(human >= found) - (found >= human) for human, found in pairs]
            p[person] = float(stats.ttest_1samp(d, epsilon, alternative="less").pvalue)
            advantages.append(sum(found >= human for human, found in pairs) / len(pairs))
    if not p:
        return math.nan, math.nan, p
    rejected = multipletests(list(p.values()), 0.05, "fdr_by")[0]
    return float(rejected.mean()), sum(advantages) / len(advantages), p


def _earned(side: str, others: list[str], ties: str) -> Fraction:
    if ties == "half_credit":
        return sum((1 - abs(CREDIT[side] - CREDIT[other]) for other in others), Fraction(0)) / len(others)
    return Fraction(sum(side == other for other in others), len(others))

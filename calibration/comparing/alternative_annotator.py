"""May a judge stand in for an annotator? The alternative annotator test of Calderon, Reichart & Dror (ACL 2025).

Published with one t test over items for each annotator; by default here over clusters by the test of a gap (`gap_law`),
because items of one topic stand or fall together and the published test then finds judges good enough far too often.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration import errors, estimates, remarks
from calibration.arithmetic import closed_forms, tails
from calibration.arithmetic.columns import Codes, tally
from calibration.inference.bootstrap import resample
from calibration.inference.compare import by_false_discoveries
from calibration.inference.gap_test import RESAMPLES, GapSums, Rule, from_sums, gap_sums
from calibration.settings import CalibrationSettings
from calibration.study.bounding import FEW_CLUSTERS, Group, Pair, drawn, made
from calibration.study.joining import Answers, Scale, Study
from calibration.study.left_out import LeftOut, left_out, pooled

FALSE_DISCOVERIES = 0.05
FEWEST_ITEMS = 30  # labels of an annotator who takes part
PASSES_FROM = 0.5  # of the annotators
SAME_SCORE = 1e-9  # scores that differ by less are a tie, which both win


@dataclass(frozen=True)
class AnnotatorTest:
    """One annotator left out. `difference`: mean of [human at least as good] - [judge at least as good], -1 to 1.

    H0: difference >= epsilon. `p` is one-sided, `adjusted` by Benjamini-Yekutieli over the annotators tested; both nan
    where `note` says why the annotator was left out of the count.
    """

    annotator: str
    advantage: float  # share of labels where the judge is at least as close to the others, 0 to 1
    difference: float
    p: float
    adjusted: float
    rejected: bool  # the judge holds its own against this annotator
    n: int  # labels: item x criterion
    clusters: int
    note: str


@dataclass(frozen=True)
class AltTest:
    """`omega`: share of tested annotators against whom the judge holds its own; nan (and `passed` None) without any.

    `advantage`: rho, the mean over them of their `advantage`, with its clustered interval.
    """

    judge: str
    epsilon: float
    method: str  # cluster_bootstrap_t, or item_t as published
    omega: float
    advantage: estimates.Estimate
    passed: bool | None  # omega of at least one half
    annotators: tuple[AnnotatorTest, ...]
    note: str

    @property
    def rho(self) -> float:
        """The average advantage probability."""
        return self.advantage.value


def alt_test(
    verdicts: pd.DataFrame,
    judge: str,
    epsilon: float,
    score: str = "exact_match",
    min_items: int = FEWEST_ITEMS,
    clustered: bool = True,
    settings: CalibrationSettings | None = None,
) -> AltTest:
    """Is `judge` at least as close to the other annotators as each annotator is, short of `epsilon`, set beforehand?

    `verdicts`: as for `calibrate`, all criteria pooled. `epsilon`: what a judge's lower price is worth; .2 for experts,
    .15 for skilled annotators, .1 for a crowd. `score`: `exact_match`, a tie being a label like another, or
    `neg_rmse`, for labels with numbers. Annotators with fewer than `min_items` labels are listed and not tested.
    `clustered=False` is the t test over labels as published; else p is as `advantage_p` has it. Raises `unknown_form`
    (also a judge that is not there), `mixed_label_types`.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = pooled(verdicts, settings)
    found = [one for one in study.judges if one.rater == judge]
    if not found:
        names = ", ".join(one.rater for one in study.judges) or "none"
        raise errors.CalibrationError("unknown_form", f"there is no judge {judge!r}; the judges are: {names}")
    return alt_test_of(study, group, scale, found[0], epsilon, score, min_items, clustered, settings)


def alt_test_of(
    study: Study,
    group: Group,
    scale: Scale,
    judge: Answers,
    epsilon: float,
    score: str,
    min_items: int,
    clustered: bool,
    settings: CalibrationSettings,
) -> AltTest:
    """`alt_test` of one group of units."""
    _check(score, scale, epsilon)
    each = [_left_out(one, scale, score, study) for one in left_out(study, group, scale, judge)]
    enough = [one for one in each if len(one.judge_wins) >= min_items]
    if clustered:
        found = _over_clusters(
            [gap_sums(one.difference, one.cluster, count=len(study.clusters)) for one in enough],
            epsilon, settings.resamples, settings.seed,
        )  # fmt: skip
    else:
        found = [_over_labels(one.difference, epsilon) for one in enough]
    known = {one.annotator: p_and_note for one, p_and_note in zip(enough, found, strict=True)}
    tests = [_test(one, *known.get(one.annotator, (math.nan, "too_few_items"))) for one in each]
    sums = [
        np.stack([tally(one.cluster, len(study.clusters), one.judge_wins), tally(one.cluster, len(study.clusters))], -1)
        for one, test in zip(each, tests, strict=True)
        if not math.isnan(test.p)
    ]
    tests = _adjusted(tests)
    tested = [test for test in tests if not math.isnan(test.p)]
    omega = float(np.mean([one.rejected for one in tested])) if tested else math.nan
    return AltTest(
        judge.rater,
        epsilon,
        "cluster_bootstrap_t" if clustered else "item_t",
        omega,
        _advantage(study, group, judge.rater, sums, settings),
        omega >= PASSES_FROM if tested else None,
        tuple(tests),
        _note(len(tested), len(tests) - len(tested)),
    )


def wins(one: LeftOut, scale: Scale, score: str = "exact_match") -> tuple[closed_forms.Array, closed_forms.Array]:
    """How far the judge, and the annotator, is at least as close to the others; 0 to 1 over passes; shape (rows,).

    Undefined: a row where a side has no label with a number, and the score needs one.
    """
    places = len(scale.labels if score == "exact_match" else np.asarray(scale.numbers))
    own, judge, others = (
        closed_forms.ratio(side[:, :places], side[:, :places].sum(axis=1, keepdims=True))
        for side in (one.own, one.judge, one.others)
    )
    scores = others
    if score == "neg_rmse":
        numbers = np.asarray(scale.numbers)
        scores = -np.sqrt(others @ (numbers[:, None] - numbers[None, :]) ** 2)
    known = ~np.isnan(own.sum(axis=1) + judge.sum(axis=1) + others.sum(axis=1))
    row, label = np.nonzero(np.nan_to_num(own))
    lead = scores[row] - scores[row, label][:, None]  # of each label the judge may have given, over the annotator's
    weight = own[row, label][:, None] * judge[row]
    judge_wins, human_wins = (
        tally(row, len(own), (weight * won).sum(axis=1)) for won in (lead >= -SAME_SCORE, lead <= SAME_SCORE)
    )
    return np.where(known, judge_wins, np.nan), np.where(known, human_wins, np.nan)


def advantage_p(
    difference: npt.ArrayLike, clusters: npt.ArrayLike, epsilon: float, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, str]:
    """One-sided p of H0: mean of `difference`, shape (labels,), >= `epsilon`, by `gap_law`; and "" or a note.

    Undefined: fewer than 2 clusters (`too_few_units`), and one that holds more than 45 % of the labels
    (`one_large_cluster`). Without spread between clusters (`zero_variance`) at a mean of v below `epsilon` it is
    ((1 - epsilon) / (1 - v))^C, as in `non_inferiority`, else 1.
    """
    d, code = np.asarray(difference, float), np.unique(np.asarray(clusters), return_inverse=True)[1]
    return _over_clusters([gap_sums(d, code)], epsilon, resamples, seed)[0]


def _over_clusters(sums: Sequence[GapSums], epsilon: float, resamples: int, seed: int) -> list[tuple[float, str]]:
    """`advantage_p` of several annotators, whose sums are over the same clusters, on the same resamples."""
    out = []
    for found in from_sums(sums, Rule(epsilon, 1 - FALSE_DISCOVERIES, 2, resamples, seed)):
        refused = found.reason == "one_large_cluster"
        out.append((math.nan if refused else found.p, found.reason or found.difference.note))
    return out


def _over_labels(difference: closed_forms.Array, epsilon: float) -> tuple[float, str]:
    """The t test over labels, as published."""
    count = len(difference)
    if count < 2:
        return math.nan, "too_few_units"
    se, mean = float(difference.std(ddof=1)) / math.sqrt(count), float(difference.mean())
    if se <= 1e-12:
        return ((1 - epsilon) ** count if mean <= 1e-12 else 1.0), "zero_variance"
    return float(tails.Student.cdf((mean - epsilon) / se, count - 1)), ""


def _check(score: str, scale: Scale, epsilon: float) -> None:
    if score not in ("exact_match", "neg_rmse"):
        raise errors.CalibrationError("unknown_form", f"score is {score!r}; use exact_match or neg_rmse")
    if score == "neg_rmse" and scale.numbers is None:
        raise errors.CalibrationError("unknown_form", "neg_rmse needs labels with numbers; use exact_match")
    if not 0 <= epsilon < 1:
        raise errors.CalibrationError("unknown_form", f"epsilon is {epsilon}; use a number from 0 and below 1")


@dataclass(frozen=True)
class _Rows:
    """Of one annotator left out: who wins each label that all have, shape (labels,), and its cluster."""

    annotator: str
    judge_wins: closed_forms.Array
    human_wins: closed_forms.Array
    cluster: Codes

    @property
    def difference(self) -> closed_forms.Array:
        return self.human_wins - self.judge_wins


def _left_out(one: LeftOut, scale: Scale, score: str, study: Study) -> _Rows:
    judge_wins, human_wins = wins(one, scale, score)
    known = ~np.isnan(judge_wins)
    return _Rows(one.annotator, judge_wins[known], human_wins[known], study.unit_cluster[one.unit[known]])


def _test(rows: _Rows, p: float, note: str) -> AnnotatorTest:
    n, clusters = len(rows.judge_wins), len(np.unique(rows.cluster))
    mean, value = (float(each.mean()) if n else math.nan for each in (rows.judge_wins, rows.difference))
    return AnnotatorTest(rows.annotator, mean, value, p, math.nan, False, n, clusters, note)


def _adjusted(tests: Sequence[AnnotatorTest]) -> list[AnnotatorTest]:
    """Benjamini & Yekutieli 2001, over the annotators with a p: labels of one item are in all their tests."""
    known = [test.p for test in tests if not math.isnan(test.p)]
    adjusted = iter(by_false_discoveries(known))
    out = []
    for one in tests:
        value = math.nan if math.isnan(one.p) else float(next(adjusted))
        rejected = value <= FALSE_DISCOVERIES
        out.append(AnnotatorTest(**(vars(one) | {"adjusted": value, "rejected": rejected})))
    return out


def _advantage(
    study: Study, group: Group, judge: str, sums: Sequence[closed_forms.Array], settings: CalibrationSettings
) -> estimates.Estimate:
    """Mean over annotators of the share of labels that the judge wins. `sums`: wins and labels per cluster of each."""
    clusters = len(study.clusters)
    table = np.stack(sums, axis=1) if sums else np.zeros((clusters, 0, 2))
    pair = Pair(judge, "others", group, table[..., 1].sum(axis=1))
    name, note = "advantage_probability", f"mean over {len(sums)} annotators; a tie counts as won"
    if not sums:
        why = remarks.undefined(remarks.Reason.NO_ITEMS, "no annotator tested")
        return made(name, pair, math.nan, (math.nan, math.nan), "none", why, settings)
    wanted = pair.clusters > 1 and not (group.single and pair.clusters < FEW_CLUSTERS)
    draws = resample(table, _mean_share, settings.resamples, settings.seed) if wanted else None
    return drawn(name, pair, float(_mean_share(table.sum(axis=0))), draws, "", settings, note)


def _mean_share(table: closed_forms.Array) -> closed_forms.Array:
    shares = closed_forms.ratio(table[..., 0], table[..., 1])
    return closed_forms.ratio(np.nan_to_num(shares).sum(axis=-1), (~np.isnan(shares)).sum(axis=-1))


def _note(tested: int, left: int) -> str:
    parts = (
        [f"{left} annotators have too few items or clusters, or most of them in one, and are left out"] if left else []
    )
    if tested < 3:
        parts.append(f"{tested} annotators tested; the test was made for three or more")
    return "; ".join(parts)

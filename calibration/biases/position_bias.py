"""Does the report shown first win more often, or get higher scores, than it should? People and judges alike."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration import estimates, remarks
from calibration.arithmetic import columns, tails
from calibration.arithmetic.closed_forms import Array
from calibration.inference import bootstrap, compare
from calibration.settings import CalibrationSettings
from calibration.study import answering, joining
from calibration.study.bias import TINY, Asked, Bias, Outcome, bias_from, bias_of, evened, rows_of
from calibration.study.bounding import WHOLE, Pair, share
from calibration.table.verdicts import SYSTEM_PAIR

ENOUGH = 5  # items for each system: with fewer, even a random order may leave one system always first
LEFT = 0.1  # share of the variation of the order that the systems must leave; with less there is nothing to see
SINGULAR = 1e-10  # of the largest singular value: groups of systems never compared with each other leave rounding
UNNAMED, CONFOUNDED = remarks.told(remarks.Reason.SYSTEMS_UNNAMED), remarks.undefined(remarks.Reason.ORDER_CONFOUNDED)


@dataclass(frozen=True)
class PositionBias:
    """`first_rate`: share of winners that were shown first, against .5.

    `order_effect`: the same given who is better, so that a strong system that always stands first is no bias of the
    rater. `flips`: of labels made in both orders, the share that turned towards the first report minus the share that
    turned towards the second. `p_flips`: sign test on clusters. `by_systems`: `first_rate` of each pair of systems,
    as if each of the two had stood first equally often.
    """

    rater: str
    first_rate: Bias
    order_effect: Bias
    flips: Bias
    swap_consistency: estimates.Estimate
    toward_first: int
    toward_second: int
    flipped: int  # toward_first + toward_second + those to or from not_applicable
    p_flips: float
    by_systems: tuple[Bias, ...]

    @property
    def headline(self) -> Bias:
        """The measure that the design supports best: both orders, else the order given the systems, else the rate."""
        if 2 * self.flips.estimate.n >= self.first_rate.estimate.n > 0:
            return self.flips
        unnamed = self.order_effect.estimate.remark(remarks.Reason.SYSTEMS_UNNAMED)
        return self.first_rate if unnamed else self.order_effect

    @property
    def outcome(self) -> Outcome:
        """Of the headline."""
        return self.headline.outcome


def position_bias(
    verdicts: pd.DataFrame | joining.Study, rater: str, settings: CalibrationSettings | None = None
) -> PositionBias:
    """Position bias of a judge, an annotator or `each_annotator`, over rows whose presentation is known.

    Undefined (nan, `no_items`): no decisive row with a known presentation; flips and consistency where nothing was
    labelled in both orders (`no_shared_units`). Zheng et al. 2023; Wang et al. 2024.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    rows = rows_of(study, rater)
    shown = answering.decisive(study, rows)
    asked = Asked("first_rate", rater, settings, 0.5, said="share of winners shown first")
    first = bias_of(asked, shown["first"].to_numpy(float), answering.clusters_of(shown))
    return PositionBias(
        rater,
        first,
        _order_effect(shown, rater, settings),
        *_both_orders(study, rows, rater, settings),
        tuple(_by_systems(shown, rater, settings)),
    )


def _order_effect(shown: pd.DataFrame, rater: str, settings: CalibrationSettings) -> Bias:
    """The intercept of "the first wins" on who stood first, +1, and second, -1: home advantage, Davidson & Beaver 1977.

    Linear, by least squares; its standard error is the jackknife's over clusters (MacKinnon, Nielsen & Webb 2023), for
    few clusters may carry all that the systems leave of the order.
    """
    asked = Asked("order_effect", rater, settings, 0.5, said=UNNAMED)
    names, stood = _systems(shown)
    items = len(shown.drop_duplicates(["item_id", "run", "presentation"]))
    if len(names) < 2 or items < ENOUGH * (len(names) - 1):
        return bias_of(asked, np.zeros(0), np.zeros(0))
    # rows in which the same two systems stood in the same order, in one cluster, say all that they say by their sums
    cluster, first = answering.clusters_of(shown), shown["first"].to_numpy(float) - 0.5
    size = int(cluster.max()) + 1, len(names) + 1, len(names) + 1
    found, kind = np.unique(np.ravel_multi_index((cluster, stood[0] + 1, stood[1] + 1), size), return_inverse=True)
    of_cluster, one, two = np.unravel_index(found, size)
    rows, won = columns.tally(kind, 0), columns.tally(kind, 0, first)
    signs = _signs(one - 1, two - 1, len(names))
    each = np.sqrt(rows)
    left = each - each[:, None] * signs @ np.linalg.lstsq(each[:, None] * signs, each, rcond=None)[0]
    if left @ left < LEFT * len(shown):
        confounded = Asked("order_effect", rater, settings, 0.5, said=CONFOUNDED)
        return bias_of(confounded, np.zeros(0), np.zeros(0))
    given = Asked("order_effect", rater, settings, 0.5, said="first_rate given which systems were compared")
    x = np.column_stack([np.ones(len(rows)), signs[:, 1:]])  # the signs of one system follow from the others'
    return bias_from(given, _jackknifed(x, won, rows, of_cluster, settings.level))


def _jackknifed(x: Array, y: Array, rows: Array, cluster: columns.Codes, level: float) -> compare.Difference:
    """The first coefficient of least squares, and its cluster t interval from leaving each cluster out in turn.

    `x`: shape (kinds, size), each what `rows` rows have in common; `y`: the sum of what these rows gave. `cluster`:
    sorted.
    """
    names, start = np.unique(cluster, return_index=True)
    count, n = len(names), int(rows.sum())
    parts = [slice(*ends) for ends in itertools.pairwise([*start, len(x)])]
    squares = np.stack([(x[part].T * rows[part]) @ x[part] for part in parts])
    products = np.stack([x[part].T @ y[part] for part in parts])
    value = float((np.linalg.pinv(squares.sum(axis=0), rcond=SINGULAR) @ products.sum(axis=0))[0])
    inverse = np.linalg.pinv(squares.sum(axis=0) - squares, rcond=SINGULAR)
    left_out = np.einsum("ck,ck->c", inverse[:, 0], products.sum(axis=0) - products)
    se = math.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
    if count < 2 or se <= TINY:
        note = "too_few_units" if count < 2 else "zero_variance"
        return compare.Difference(value, math.nan, math.nan, math.nan, n, count, note)
    p = float(2 * tails.Student.sf(abs(value) / se, count - 1))
    return compare.Difference(value, *bootstrap.cluster_t(value, se, count, level), p, n, count)


def _systems(shown: pd.DataFrame) -> tuple[tuple[str, ...], tuple[columns.Codes, columns.Codes]]:
    """The systems named, sorted; and of each row the position of the one shown first and of the other, -1: unnamed."""
    sides = [shown[name] for name in ("system_a", "system_b")]
    names = sorted({str(name) for side in sides for name in side.unique()} - {""})
    a, b = (pd.Index(names).get_indexer(side.cat.categories)[side.cat.codes] for side in sides)
    a_first = (shown["presentation"] == "AB").to_numpy()
    return tuple(names), (np.where(a_first, a, b), np.where(a_first, b, a))


def _signs(first: columns.Codes, second: columns.Codes, systems: int) -> Array:
    """+1 for the system shown first, -1 for the second; shape (rows, systems). -1: a report of none."""
    places = np.arange(systems)
    return np.asarray((first[:, None] == places).astype(float) - (second[:, None] == places))


def _both_orders(
    study: joining.Study, rows: pd.DataFrame, rater: str, settings: CalibrationSettings
) -> tuple[Bias, estimates.Estimate, int, int, int, float]:
    both = answering.swap_table(study, rows)
    score = dict(zip(columns.PAIRWISE, columns.SCORES, strict=True))
    one, two = (both[name].map(score).to_numpy(float) for name in ("label", "turned"))
    way = np.nan_to_num(np.sign(one - two))  # nan: to or from not_applicable, which is neither way
    cluster, stayed = answering.clusters_of(both), both["same"].to_numpy()
    sizes = columns.tally(cluster, 0)
    same = share("swap_consistency", Pair(rater, "", WHOLE, sizes), columns.tally(cluster, 0, stayed), settings)
    asked = Asked("flip_direction", rater, settings, said="turned towards the first minus towards the second report")
    if both.empty:
        asked = Asked("flip_direction", rater, settings, said=remarks.code(remarks.Reason.NO_SHARED_UNITS))
    net = columns.tally(cluster, 0, way)
    leaning = int((net > 0).sum()), int((net != 0).sum())
    p = tails.sign_test(*leaning) if leaning[1] else 1.0 if len(both) else math.nan
    counts = int((way > 0).sum()), int((way < 0).sum()), int((~stayed).sum())
    return bias_of(asked, way, cluster), same, *counts, p


def _by_systems(shown: pd.DataFrame, rater: str, settings: CalibrationSettings) -> Iterator[Bias]:
    names, (one, two) = _systems(shown)
    cluster, first = answering.clusters_of(shown), shown["first"].to_numpy(float)
    pair = np.where(np.minimum(one, two) < 0, -1, np.minimum(one, two) * len(names) + np.maximum(one, two))
    for both in np.unique(pair[pair >= 0]):
        own = pair == both
        scores = evened(first[own], (one < two)[own])
        one_order = bool(np.isnan(scores).any())
        said = CONFOUNDED if one_order else "as if each had been shown first equally often"
        x, y = (names[place] for place in divmod(int(both), len(names)))
        asked = Asked("first_rate", rater, settings, 0.5, category=f"{SYSTEM_PAIR}{x}, {y}", said=said)
        yield bias_of(asked, scores, cluster[own])


LOW_CONSISTENCY = 0.8  # share of verdicts kept in the other order
FEWEST = 6  # answers that all fall on one side: by chance 2 (1/2)^6 = .03


def leans(first_rate: estimates.Estimate) -> bool:
    """Whether a rater picks one place: the interval of `first_rate` lies beyond .5, or each of 6 answers or more did.

    An undefined rate leans nowhere.
    """
    one_side = first_rate.value in (0, 1) and first_rate.n >= FEWEST
    return one_side or first_rate.low > 0.5 or first_rate.high < 0.5


def turns_with_order(swap_consistency: estimates.Estimate) -> bool:
    """Whether the verdict changes with the order in more than one of five labels; False where nothing is known."""
    return swap_consistency.value < LOW_CONSISTENCY


KEY = ["rater_id", "unit", "run"]


def score_order(study: joining.Study, rater: str, settings: CalibrationSettings) -> Bias | None:
    """Of scores given in both orders: the share higher where the report was shown first minus the share lower.

    -1 to 1, 0 without bias, whatever the scale. None: no rating has a known presentation. Undefined (nan,
    `no_shared_units`): nothing was rated in both orders, so that position bias cannot be measured.
    """
    rows = rows_of(study, rater)
    known = rows[study.of_kind(rows, "rating") & (rows["presentation"] != "")]
    if known.empty:
        return None
    score = pd.to_numeric(known["label"].astype("str"), errors="coerce")
    usable = known.assign(score=score)[(known["status"] == "ok") & score.notna()]
    # A is the item's own report
    first, second = (usable[usable["presentation"] == order] for order in ("AB", "BA"))
    met = first.merge(second[[*KEY, "score"]], on=KEY, suffixes=("", "_second"))
    shift = (met["score"] - met["score_second"]).to_numpy(float)
    note = (
        "no_shared_units" if met.empty else f"higher minus lower where shown first; mean difference {shift.mean():.2g}"
    )
    return bias_of(Asked("score_shown_first", rater, settings, said=note), np.sign(shift), answering.clusters_of(met))

"""What the order of two reports did to a judge, in words; silent where it did nothing."""

from __future__ import annotations

from calibration.results import Estimate
from exports.cells import shown

LOW_CONSISTENCY = 0.8  # the same line as the warning `order_inconsistent` draws
FEWEST = 6  # answers that all fall on one side: by chance 2 (1/2)^6 = .03


def order_words(first_rate: Estimate | None, swap_consistency: Estimate | None) -> str:
    """`picks the report shown first in 100 % of 24 decisive answers; swap consistency 0`, or "".

    Said where the interval of `first_rate` lies beyond .5 (or every answer fell on one side),
    or where the verdict changes with the order in more than one of five labels.
    """
    if first_rate is not None and _leans(first_rate):
        side, share = ("first", first_rate.value) if first_rate.value > 0.5 else ("second", 1 - first_rate.value)
        words = f"picks the report shown {side} in {_percent(share)} of {first_rate.n:,} decisive answers"
        return words if swap_consistency is None else f"{words}; swap consistency {_plain(swap_consistency)}"
    if swap_consistency is not None and swap_consistency.value < LOW_CONSISTENCY:
        kept = _percent(swap_consistency.value)
        return f"keeps its verdict in {kept} of {swap_consistency.n:,} labels made in both orders"
    return ""


def _leans(rate: Estimate) -> bool:
    one_side = rate.value in (0, 1) and rate.n >= FEWEST
    return one_side or rate.low > 0.5 or rate.high < 0.5


def _plain(estimate: Estimate) -> str:
    return f"{estimate.value:.0f}" if estimate.value in (0, 1) else shown(estimate)[0]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"

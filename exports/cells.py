"""How a number is shown.

No leading zero, the interval beside it, a dash where it has no value, no digit it cannot support.
"""

import math
from collections.abc import Iterable

from calibration.results import Estimate
from plain.wording import worded


class Probability(float):
    """A p value: three decimals, `<.001` below. Every digit is kept where digits are kept."""


Cell = str | int | float | Estimate | None

DASH = "–"
MINUS = "−"


def shown(cell: Cell) -> tuple[str, str]:
    """The text of a cell and of its interval (`[.68, .80]`, `[–]` when refused, "" when the cell has none).

    A cell of None is empty: the column does not apply to its row. A dash is a number without a value; a note says why.
    """
    if cell is None:
        return "", ""
    if isinstance(cell, Estimate):
        if math.isnan(cell.value):
            return DASH, ""
        digits = decimals(cell)
        if math.isnan(cell.low) or math.isnan(cell.high):
            return number(cell.value, digits), f"[{DASH}]"
        return number(cell.value, digits), f"[{number(cell.low, digits)}, {number(cell.high, digits)}]"
    if isinstance(cell, bool | str):
        return str(cell), ""
    if isinstance(cell, int):
        return f"{cell:,}".replace("-", MINUS), ""
    if isinstance(cell, Probability) and not math.isnan(cell):
        return ("<.001" if cell < 0.001 else number(cell, 3)), ""
    return (DASH, "") if math.isnan(cell) else (number(cell, 2), "")


def decimals(estimate: Estimate) -> int:
    """Decimals that the interval supports: two, one where it is wider than 1, three where it is narrower than .02.

    Amounts that are no shares (money, seconds) get three significant digits at most, a cost two at least.
    """
    width = estimate.high - estimate.low
    if estimate.statistic.startswith("cost") and 0 < estimate.value < 0.1:
        return 1 - math.floor(math.log10(estimate.value))
    if abs(estimate.value) > 1:
        return max(0, 2 - math.floor(math.log10(abs(estimate.value))))
    if math.isnan(width):
        return 2
    return 1 if width >= 1 else 3 if width < 0.02 else 2


def number(value: float, digits: int) -> str:
    """`.74`, `−.12`, `1.00`, `1,240`."""
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0 and float(text.replace(",", "")) != 0
    if text.startswith("0."):
        text = text[1:]
    return f"{MINUS}{text}" if negative else text


def spread(counts: Iterable[int]) -> str:
    """`48`, or `12 to 1,048` where they differ. `counts`: one at least."""
    found = {*counts}
    low, high = f"{min(found):,}", f"{max(found):,}"
    return low if low == high else worded("{low} to {high}", low=low, high=high)

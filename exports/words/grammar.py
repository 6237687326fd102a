"""Counts, lists and amounts in an English sentence: one or many, and no digit a reader cannot use."""

import math
from collections.abc import Sequence

from calibration.results import Estimate
from exports.cells import DASH, number, shown
from plain.counting import counted
from plain.wording import ENGLISH, spoken, worded

SPELLED = (
    "", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
)  # fmt: skip
NARROW = "\N{NO-BREAK SPACE}"


def opening(count: int, thing: str = "", more: str = "") -> str:
    """The same at the beginning of a sentence: `Six annotators`, `One judge`; from 13 on in digits."""
    words = counted(count, thing, more).strip() if thing else shown(count)[0]
    return words.replace(str(count), SPELLED[count], 1) if 0 < count < len(SPELLED) else words


def verb(count: int, one: str, many: str) -> str:
    """`one` for a single thing, else `many`."""
    return one if count == 1 else many


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; with semicolons where a part holds a comma."""
    if len(parts) < 2:
        return "".join(parts)
    if spoken() != ENGLISH:
        return worded(", ").join(parts)
    comma = "; " if any(", " in part for part in parts) else ", "  # an interval's comma stands before a narrow space
    return f"{comma.join(parts[:-1])}{comma if comma == '; ' else ' '}and {parts[-1]}"


def said(estimate: Estimate) -> str:
    """`.82 [.69, .91]`; an undefined value or a refused interval says so in words."""
    value, interval = shown(estimate)
    if value == DASH:
        return worded("undefined")
    return (
        worded("{value}\N{NO-BREAK SPACE}(no interval)", value=value)
        if DASH in interval
        else f"{value} {interval}".replace(" ", NARROW)
    )


def percent(share: float) -> str:
    """`3.2 %`, `100 %`; less than a tenth of a percent is `<0.1 %`."""
    value = 100 * share
    if 0 < value < 0.1:
        return f"<0.1{NARROW}%"
    return f"{value:.1f}".removesuffix(".0") + f"{NARROW}%"


def points(share: float) -> str:
    """A difference of shares as `5 points`, `2.5 points`."""
    value = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{value} {'point' if value == '1' else 'points'}"


def amount(value: float) -> str:
    """Money, hours: two decimals from 1 on, else two significant digits, such as `1,240.50`, `.015`."""
    return number(value, 2 if abs(value) >= 1 or value == 0 else 1 - math.floor(math.log10(abs(value))))


def between(first: str | None, last: str | None) -> str:
    """`on 2026-11-20`, `from 2026-11-18 to 2026-11-20`, or nothing."""
    if not first or not last:
        return ""
    return worded("on {day}", day=first) if first == last else worded("from {first} to {last}", first=first, last=last)

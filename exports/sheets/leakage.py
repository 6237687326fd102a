"""The tables `leakage` and `later_sources`: what reports take from the reference they are held against, and what they
cite from after the day up to which they were to search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.systems.shares import counted_share
from exports.cells import Cell, number
from exports.tables import Column, Table

COLUMNS = (
    Column("system", "System"),
    Column("quoting", "Reports that quote"),
    Column("citing", "Addresses that are the reference's page"),
    Column("cited", "Addresses", "n"),
    Column("reports", "Reports", "n"),
)
OF_STATEMENTS = {
    "citing": Column("citing", "Statements that cite the reference's page"),
    "cited": Column("cited", "Statements", "n"),
}
LATER_COLUMNS = (
    Column("system", "System"),
    Column("later", "Sources from after the cut-off"),
    Column("count", "How many", "n"),
    Column("dated", "Sources with a date", "n"),
    Column("sources", "Sources", "n"),
)
ALL = "all systems"
Row = tuple[Cell, ...]
BRACKETS = "Brackets: 95 % intervals over whole topics (Wilson with effective sample size and t of C − 1)."
LISTED = 20  # addresses in the notes; the command says all with --json


@dataclass(frozen=True)
class ReportLeak:
    """One report. `quoted`: share of its words in its reference; `own` of `cited`: addresses that are the reference's
    page, or statements that cite it (None: its page is unknown)."""

    topic: str
    system: str
    quoted: float
    own: int | None
    cited: int


def leaked_topics(leaks: Sequence[ReportLeak], most: float) -> list[str]:
    """The topics of which some report quotes more than that, in their order."""
    return list(dict.fromkeys(leak.topic for leak in leaks if leak.quoted > most))


def rows_by_system(found: Sequence[Any], row: Callable[[str, Sequence[Any]], Row]) -> list[Row]:
    """The row of each system, in the order of their first, and where there are several one of all."""
    names = dict.fromkeys(one.system for one in found)
    rows = [row(name, [one for one in found if one.system == name]) for name in names]
    return rows + [row(ALL, found)] * (len(names) > 1)


def leakage_table(leaks: Sequence[ReportLeak], most: float, run: int, *, of_statements: bool = False) -> Table | None:
    """One row per system, then all; None without a report beside a reference. `run`: words in a row that quote.

    `of_statements`: those that cite the page are counted, and not addresses.
    """
    if not leaks:
        return None
    rows = rows_by_system(leaks, lambda name, own: _row(name, own, most))
    left_out = leaked_topics(leaks, most)
    topics = len({leak.topic for leak in leaks})
    notes = (
        f"Reports that quote: more than {number(100 * most, 1)} % of a report's words, as shown, stand in runs of "
        f"{run} words or more that its topic's reference holds.",
        "Statements: of those in the files that cite any page, those that cite the reference's own; blank "
        "where there are none, or no topic has that page in its column url."
        if of_statements
        else "Addresses: of all that the reports name as written, those that lead to the reference's own page; blank "
        "where they name none, or no topic has that page in its column url.",
        f"Topics with such a report: {len(left_out)} of {topics}"
        + (f", left out of the tables below: {', '.join(left_out)}." if left_out else "."),
        BRACKETS,
    )
    columns = tuple(OF_STATEMENTS.get(one.key, one) if of_statements else one for one in COLUMNS)
    return Table("leakage", "What reports take from their reference", columns, tuple(rows), notes)


def _row(name: str, leaks: Sequence[ReportLeak], most: float) -> tuple[Cell, ...]:
    quoting = _by_topic((leak.topic, leak.quoted > most, 1) for leak in leaks)
    known = [leak for leak in leaks if leak.own is not None]
    citing = _by_topic((leak.topic, leak.own or 0, leak.cited) for leak in known)
    cited = sum(leak.cited for leak in known)
    system = "" if name == ALL else name
    return (
        name,
        counted_share("quoting", system, *_columns(quoting)),
        counted_share("citing", system, *_columns(citing)) if cited else None,
        cited or None,
        len(leaks),
    )


def _by_topic(counts: Iterable[tuple[str, float, float]]) -> Mapping[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for topic, part, of in counts:
        before = found.get(topic, (0.0, 0.0))
        found[topic] = before[0] + part, before[1] + of
    return found


def _columns(counts: Mapping[str, tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [part for part, _ in counts.values()], [of for _, of in counts.values()]


@dataclass(frozen=True)
class SourceAge:
    """One cited address. `later`: whether it came out after the cut-off of its topic; None where that is unknown."""

    topic: str
    system: str
    address: str
    later: bool | None


def later_sources_table(sources: Sequence[SourceAge], cutoff: str, listed: int = LISTED) -> Table | None:
    """One row per system, then all; None where no report cites an address."""
    if not sources:
        return None
    rows = rows_by_system(sources, _later_row)
    late = [source for source in sources if source.later]
    named = "; ".join(f"{source.system} on {source.topic}: {source.address}" for source in late[:listed])
    notes = (
        f"Cut-off: {cutoff}. A source's date is what a file of dates says, else its address, the month of an arXiv "
        "number or a date in the path, read as the first day it can mean; sources without one are in no share.",
        f"From after it: {named}" + (f"; and {len(late) - listed} more." if len(late) > listed else ".")
        if late
        else "No dated source is from after it.",
        BRACKETS,
    )
    return Table("later_sources", "Sources from after the cut-off", LATER_COLUMNS, tuple(rows), notes)


def _later_row(name: str, sources: Sequence[SourceAge]) -> tuple[Cell, ...]:
    late, dated = _columns(_by_topic((one.topic, one.later, 1) for one in sources if one.later is not None))
    share = counted_share("later_sources", "" if name == ALL else name, late, dated) if dated else None
    return name, share, int(sum(late)), int(sum(dated)), len(sources)

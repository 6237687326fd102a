"""The table `leakage`: which systems quote the reference they are held against, and cite its own page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from calibration.systems.shares import counted_share
from exports.cells import Cell, number
from exports.tables import Column, Table

COLUMNS = (
    Column("system", "System"),
    Column("quoting", "Reports that quote"),
    Column("citing", "Addresses that are the reference's page"),
    Column("reports", "Reports", "n"),
)
ALL = "all systems"


@dataclass(frozen=True)
class ReportLeak:
    """One report: the share of its words that its reference holds, and of its addresses (None: its page is unknown)."""

    topic: str
    system: str
    quoted: float
    own: int | None
    cited: int


def leaked_topics(leaks: Sequence[ReportLeak], most: float) -> list[str]:
    """The topics of which some report quotes more than that, in their order."""
    return list(dict.fromkeys(leak.topic for leak in leaks if leak.quoted > most))


def leakage_table(leaks: Sequence[ReportLeak], most: float, run: int) -> Table | None:
    """One row per system, then all; None without a report beside a reference. `run`: words in a row that quote."""
    if not leaks:
        return None
    by_system: dict[str, list[ReportLeak]] = {}
    for leak in leaks:
        by_system.setdefault(leak.system, []).append(leak)
    rows = [_row(name, own, most) for name, own in by_system.items()]
    rows += [_row(ALL, leaks, most)] if len(by_system) > 1 else []
    left_out = leaked_topics(leaks, most)
    topics = len({leak.topic for leak in leaks})
    notes = (
        f"Reports that quote: more than {number(100 * most, 1)} % of a report's words, as shown, stand in runs of "
        f"{run} words or more that its topic's reference holds.",
        "Addresses: of all that the reports name as written, those that lead to the reference's own page; blank where "
        "they name none, or no topic has that page in its column url.",
        f"Topics with such a report: {len(left_out)} of {topics}"
        + (f", left out of the tables below: {', '.join(left_out)}." if left_out else "."),
        "Brackets: 95 % intervals over whole topics (Wilson with effective sample size and t of C − 1).",
    )
    return Table("leakage", "What reports take from their reference", COLUMNS, tuple(rows), notes)


def _row(name: str, leaks: Sequence[ReportLeak], most: float) -> tuple[Cell, ...]:
    quoting = _by_topic((leak.topic, leak.quoted > most, 1) for leak in leaks)
    known = [leak for leak in leaks if leak.own is not None]
    citing = _by_topic((leak.topic, leak.own or 0, leak.cited) for leak in known)
    system = "" if name == ALL else name
    return (
        name,
        counted_share("quoting", system, *_columns(quoting)),
        counted_share("citing", system, *_columns(citing)) if any(of for _, of in citing.values()) else None,
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

"""The table `later_sources`: which systems cite sources from after the day up to which they were to search."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.systems.shares import counted_share
from exports.cells import Cell
from exports.tables import Column, Table

COLUMNS = (
    Column("system", "System"),
    Column("later", "Sources from after the cut-off"),
    Column("count", "How many", "n"),
    Column("dated", "Sources with a date", "n"),
    Column("sources", "Sources", "n"),
)
ALL = "all systems"
LISTED = 20  # addresses in the notes; the command says all with --json


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
    by_system: dict[str, list[SourceAge]] = {}
    for source in sources:
        by_system.setdefault(source.system, []).append(source)
    rows = [_row(name, own) for name, own in by_system.items()]
    rows += [_row(ALL, sources)] if len(by_system) > 1 else []
    late = [source for source in sources if source.later]
    named = "; ".join(f"{source.system} on {source.topic}: {source.address}" for source in late[:listed])
    notes = (
        f"Cut-off: {cutoff}. A source's date is what its address says, the month of an arXiv number or a date in the "
        "path, read as the first day it can mean; sources without one are in no share.",
        f"From after it: {named}" + (f"; and {len(late) - listed} more." if len(late) > listed else ".")
        if late
        else "No dated source is from after it.",
        "Brackets: 95 % intervals over whole topics (Wilson with effective sample size and t of C − 1).",
    )
    return Table("later_sources", "Sources from after the cut-off", COLUMNS, tuple(rows), notes)


def _row(name: str, sources: Sequence[SourceAge]) -> tuple[Cell, ...]:
    counts: dict[str, list[int]] = {}
    for source in sources:
        if source.later is not None:
            of = counts.setdefault(source.topic, [0, 0])
            of[0] += source.later
            of[1] += 1
    late, dated = ([float(of[place]) for of in counts.values()] for place in (0, 1))
    share = counted_share("later_sources", "" if name == ALL else name, late, dated) if counts else None
    return name, share, int(sum(late)), int(sum(dated)), len(sources)

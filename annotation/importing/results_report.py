"""What an import of labels or judge results came to: counts first, then names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotation.importing.records import counted, some_of

LISTED = 20


@dataclass(frozen=True)
class ResultsReport:
    """Printed, stored with the import, and available as JSON. `unmatched`: reason -> where its rows stand."""

    layout: str
    rows: int
    new: int
    unchanged: int
    revised: int
    statuses: dict[str, int]
    raters: dict[str, int]
    items: int
    order_unknown: int
    texts_proved: int
    texts_unproved: int
    texts_other: int
    unmatched: dict[str, tuple[str, ...]]
    matched_by_fallback: tuple[str, ...]
    left_out: dict[str, int]  # rows that are nobody's fault: people's, or equal scores where ties are off
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints, at most twenty names a line."""
        unmatched = [
            f"{reason}: {len(where)} ({some_of(where, 3)})" for reason, where in list(self.unmatched.items())[:LISTED]
        ]
        count = sum(map(len, self.unmatched.values()))
        fallback = self.matched_by_fallback
        lines = [
            f"{self.layout}: {counted(self.rows, 'answer')} on {counted(self.items, 'item')}: {self.new} new, "
            f"{self.unchanged} unchanged, {self.revised} revised, {count} unmatched",
            "raters " + ", ".join(f"{name} {number}" for name, number in self.raters.items()),
            "status " + "   ".join(f"{name} {number}" for name, number in self.statuses.items()),
            f"order unknown {self.order_unknown}: left out of every statistic about which report comes first"
            if self.order_unknown
            else "order known throughout",
            f"texts read: proved by hash {self.texts_proved}, not proved {self.texts_unproved}, "
            f"another text {self.texts_other} (kept, and left out of verdicts)",
        ]
        if fallback:
            lines.append(f"matched by fallback {len(fallback)} ({some_of(fallback, LISTED)})")
        lines += [f"left out {number}: {why}" for why, number in self.left_out.items()]
        lines += [f"unmatched: {line}" for line in unmatched]
        if len(self.unmatched) > LISTED:
            lines.append(f"unmatched: and {len(self.unmatched) - LISTED} reasons more; all of them with --json")
        return [*lines, *self.notes[:LISTED]]

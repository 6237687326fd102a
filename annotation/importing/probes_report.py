"""What an import of probes did: counts first, then names."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.importing.records import counted, some_of

LISTED = 20


@dataclass(frozen=True)
class ProbesReport:
    """Printed, stored with the import, and available as JSON. `probes` stand in the file, `items` in the study."""

    layout: str
    kind: str
    probes: int
    items: int
    topics: int
    reports: int
    new: int
    unchanged: int
    replaced: int
    tags: dict[str, int] = field(default_factory=dict)  # items of each
    without_report: int = 0
    without_context: int = 0  # items without source passages, where the protocol shows them
    gold: int = 0  # items with a true answer
    telling: tuple[str, ...] = ()  # probes whose text may say who wrote their report
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matched_by_fallback: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints."""
        replaced = f", {self.replaced} replaced" if self.replaced else ""
        tags = ", ".join(f"{tag} {count}" for tag, count in self.tags.items())
        counts = {
            "about no report": self.without_report,
            "without source passages: raters see the probe alone": self.without_context,
            "with a true answer, which is shown to nobody": self.gold,
        }
        listed = {
            "may say who wrote the report, and are shown as they are:": self.telling,
            **{f"left out, {what}": names for what, names in self.left_out.items()},
            "matched by fallback": self.matched_by_fallback,
        }
        return [
            f"{self.layout}: {counted(self.probes, 'probe')} ({self.kind}) on {counted(self.topics, 'topic')}, about "
            f"{counted(self.reports, 'report')}: {counted(self.items, 'item')}, {self.new:,} new, "
            f"{self.unchanged:,} unchanged{replaced}",
            *([f"tags: {tags}"] if tags else []),
            *(f"{what} {count:,}" for what, count in counts.items() if count),
            *(f"{what} {len(names)} ({some_of(names, LISTED)})" for what, names in listed.items() if names),
            *self.notes[:LISTED],
        ]

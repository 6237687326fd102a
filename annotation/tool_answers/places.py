"""Where a record of another tool keeps topic, systems, criterion and answer: places are dotted paths."""

from collections.abc import Mapping
from typing import Any

from annotation.files.decoding import as_text

FIELDS = (
    "topic", "system", "system_a", "system_b", "first", "criterion", "answer", "judge", "run", "reason", "probe",
    "sha256_a", "sha256_b",
)  # fmt: skip


def metadata_places(*holders: str) -> dict[str, list[str]]:
    """Every field under its own name, in each of the tables that may hold metadata."""
    return {name: [f"{holder}.{name}" for holder in holders] for name in FIELDS if name not in ("answer", "reason")}


def text_at(record: Any, place: str) -> str | None:
    """The text at a dotted path, None where there is none; a name may hold dots itself."""
    if not isinstance(record, Mapping):
        return None
    if place in record:
        return as_text(record[place]) or None
    head, _, rest = place.partition(".")
    while rest:
        if head in record and (found := text_at(record[head], rest)):
            return found
        more, _, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def near(record: Mapping[str, Any], place: str) -> str:
    """What there is instead, at the deepest level of the path that exists."""
    level: Any = record
    for name in place.split(".")[:-1]:
        if not (isinstance(level, Mapping) and isinstance(level.get(name), Mapping)):
            break
        level = level[name]
    return f"there are: {', '.join(map(str, list(level)[:12]))}"

"""Where a log of another tool keeps topic, systems, criterion and answer: metadata of those names, or as --map says."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, nfc
from annotation.importing.labels.results import ResultOptions, ResultRow, judge_of, said, whole, winner

FIELDS = (
    "topic", "system", "system_a", "system_b", "first", "criterion", "answer", "judge", "run", "reason", "probe",
    "sha256_a", "sha256_b",
)  # fmt: skip


def log_row(
    where: str, record: Mapping[str, Any], options: ResultOptions, usual: Mapping[str, Sequence[str]], *, status: str
) -> ResultRow:
    """One answer of a log. `usual`: field -> places tried in order where --map names none; `status` of a failure wins.

    A place is a dotted path, such as `metadata.topic`. Raises ImportingError with the place and the remedy.
    """

    def told(name: str) -> str:
        asked = options.columns.get(name)
        if asked:
            found = _at(record, asked)
            if found is None and name not in ("answer", "first", "reason", "probe", "sha256_a", "sha256_b"):
                raise ImportingError(f"{where}: nothing at {asked!r} ({_near(record, asked)}); correct --map {name}=…")
            return found or ""
        return next((text for place in usual.get(name, ()) if (text := _at(record, place))), "")

    topic, first = nfc(told("topic")), nfc(told("first")) or options.first
    pair = (nfc(told("system_a")), nfc(told("system_b")))
    systems = pair if all(pair) else (nfc(options.system or told("system")),)
    if not topic or not systems[0]:
        missing = "system (or system_a and system_b)" if topic else "topic"
        raise ImportingError(f"{where}: no {missing} in the metadata; say where it is: --map topic=metadata.NAME,…")
    first = {"A": systems[0], "B": systems[-1]}.get(first, first)
    value = told("answer")
    answer, became, flags = said(value, options) if value and not status else (None, status or "missing", ())
    try:
        answer = None if answer is None else winner(answer, systems, first, options.labels_are)
    except ImportingError as error:
        raise ImportingError(f"{where}: {error}") from None
    return ResultRow(
        where, judge_of(options, nfc(told("judge")), where), topic, systems, nfc(told("criterion")), answer,
        status=became, first=first if len(systems) == 2 else "", probe=told("probe"),
        run=whole(told("run") or "1", where, "run"), rationale=told("reason"), flags=flags,
        sha256={name: told(f"sha256_{side}") for name, side in zip(systems, "ab", strict=False)},
    )  # fmt: skip


def metadata_places(*holders: str) -> dict[str, list[str]]:
    """Every field under its own name, in each of the tables that may hold metadata."""
    return {name: [f"{holder}.{name}" for holder in holders] for name in FIELDS if name not in ("answer", "reason")}


def _at(record: Any, place: str) -> str | None:
    """The text at a dotted path, None where there is none; a name may hold dots itself."""
    if not isinstance(record, Mapping):
        return None
    if place in record:
        return as_text(record[place]) or None
    head, _, rest = place.partition(".")
    while rest:
        if head in record and (found := _at(record[head], rest)):
            return found
        more, _, rest = rest.partition(".")
        head = f"{head}.{more}"
    return None


def _near(record: Mapping[str, Any], place: str) -> str:
    """What there is instead, at the deepest level of the path that exists."""
    level: Any = record
    for name in place.split(".")[:-1]:
        if not (isinstance(level, Mapping) and isinstance(level.get(name), Mapping)):
            break
        level = level[name]
    return f"there are: {', '.join(map(str, list(level)[:12]))}"

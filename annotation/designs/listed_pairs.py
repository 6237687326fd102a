"""A plan written by hand: one pair a line, in a CSV or TSV file."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from annotation.designs.pairing import Candidate, Pair, name_pair
from annotation.errors import AnnotationError, ImportingError
from annotation.files.decoding import Row, nfc
from annotation.files.rows import read_csv
from plain.hashes import file_sha256

REQUIRED = ("topic", "system_a", "system_b")
WHOLE = re.compile(r"-?\d{1,6}", re.ASCII)
TABS = (".tsv", ".tab")


@dataclass(frozen=True)
class PairList:
    """A list as it was read: its lines, and the sha256 of the file's bytes."""

    rows: tuple[Row, ...] = field(repr=False)
    sha256: str


def read_list(path: Path) -> PairList:
    """The file's lines. Raises ImportingError by file and line."""
    problems: list[str] = []
    separator = "\t" if path.suffix.lower() in TABS else ","
    columns, rows = read_csv(path, path.name, problems, separator=separator)
    if missing := [name for name in REQUIRED if name not in columns]:
        raise ImportingError(
            f"{path.name}:1: no column {missing[0]!r} (found: {', '.join(columns) or 'nothing'}); a list has the "
            f"columns {', '.join(REQUIRED)} and, where some pairs are to come first, priority"
        )
    if problems:
        raise ImportingError(problems)
    return PairList(tuple(rows), file_sha256(path))


def listed_pairs(
    rows: Sequence[Row], candidates: Sequence[Candidate], seed: int, barred: Collection[frozenset[int]] = ()
) -> tuple[list[Pair], list[int | None]]:
    """The pairs of the list in the order of every plan, and the priority of each (None where none is written).

    Which of the two is called A is drawn as everywhere; the columns say nothing about it.
    Raises ImportingError with every row that cannot be a pair, and AnnotationError where there is none.
    """
    by_name = {(candidate.topic, candidate.system): candidate for candidate in candidates}
    problems: list[str] = []
    found: dict[frozenset[int], tuple[Pair, int | None]] = {}
    first: dict[frozenset[int], str] = {}
    for row in rows:
        wrong, two, priority = _read(row, by_name)
        reports = frozenset(candidate.report for candidate in two)
        if not wrong and reports in barred:
            wrong = ["these two reports are a training or attention item already; remove the line"]
        if not wrong and reports in found:
            wrong = [f"this pair is listed twice (first at line {first[reports].rpartition(':')[2]}); remove one"]
        problems += [f"{row.where}: {what}" for what in wrong]
        if not wrong:
            found[reports], first[reports] = (name_pair(seed, *two), priority), row.where
    if problems:
        raise ImportingError(problems)
    if not found:
        raise AnnotationError("nothing_to_pair", "the list holds no pair; write one a line under the columns' names")
    ordered = sorted(found.values(), key=lambda line: (line[0].topic, sorted((line[0].a.system, line[0].b.system))))
    return [pair for pair, _ in ordered], [priority for _, priority in ordered]


def _read(row: Row, by_name: Mapping[tuple[str, str], Candidate]) -> tuple[list[str], list[Candidate], int | None]:
    """What is wrong with the line, its two reports where they exist, and its priority."""
    topic, *systems = (nfc(row.values[name]) for name in REQUIRED)
    number = str(row.values.get("priority", "")).strip()
    wrong = [f"{name} is empty; fill it in or remove the line" for name in REQUIRED if not nfc(row.values[name])]
    if number and not WHOLE.fullmatch(number):
        wrong.append(f"priority {number!r} is not a whole number (higher comes first); correct it or leave it empty")
        number = ""
    topics = {name for name, _ in by_name}
    if topic and topic not in topics:
        wrong.append(f"no topic {topic!r} with a report to show{_meant(topic, topics)}; correct it or remove the line")
    elif topic:
        here = {system for name, system in by_name if name == topic}
        wrong += [
            f"no report to show on topic {topic!r} by system {system!r}{_meant(system, here)}; correct it, import the "
            "report, or remove the line"
            for system in dict.fromkeys(systems)
            if system and system not in here
        ]
    if systems[0] and systems[0] == systems[1]:
        wrong.append(f"system {systems[0]!r} beside itself; name two systems")
    return (
        wrong,
        [by_name[topic, system] for system in systems if (topic, system) in by_name],
        int(number) if number else None,
    )


def _meant(name: str, names: Collection[str]) -> str:
    close = get_close_matches(name, sorted(names), n=1, cutoff=0.75)
    return f" (did you mean {close[0]!r}?)" if close else ""

"""Layout `table`: one JSONL, JSON, CSV or Parquet file, a report a row; the user names columns that differ."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import BOM, Row, as_text, nfc, shortened
from annotation.files.rows import SUFFIXES, read_columns
from annotation.importing.reports import criteria_files, records
from plain.wording import Sentence, worded

FIELDS = ("topic", "system", "text", "title", "prompt", "category", "language")
# what published tables call the required ones, best guess first; only ever suggested
OFTEN_CALLED = {
    "topic": ("id", "topic_id", "task", "qid", "query_id", "prompt_id", "number"),
    "system": ("model", "agent", "model_name", "generator", "source"),
    "text": ("response", "report", "article", "answer", "output", "content", "markdown", "completion", "result"),
}


@dataclass(frozen=True)
class TableOptions:
    """How the user reads the file: field -> column, one system for all rows, and whether other columns are kept."""

    columns: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    keep_columns: bool = False


def parse_map(text: str) -> dict[str, str]:
    """`topic=id,text=response` as field -> column. Raises ImportingError on another field or a field named twice."""
    columns: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, column = (piece.strip() for piece in part.partition("="))
        if not sign or not column:
            raise ImportingError("--map {part}: no column named; write FIELD=COLUMN, such as text=response", part=part)
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, 1)
            swapped = worded("; swap the two") if column in FIELDS else ""
            hint = worded("; did you mean {near}?", near=f"{near[0]}={column}") if near else swapped
            raise ImportingError(
                "--map {part}: no field {name!r} (there are: {fields}){hint}", part=part, name=name,
                fields=", ".join(FIELDS), hint=hint,
            )  # fmt: skip
        if name in columns:
            raise ImportingError("--map {part}: field {name!r} is named twice; keep one", part=part, name=name)
        columns[name] = column
    return columns


def read_table(path: Path, encoding: str = "utf-8", options: TableOptions | None = None) -> records.Parsed:
    """Every row as a report; problems are collected so that all are seen at once."""
    options = options or TableOptions()
    if not path.is_file():
        raise ImportingError(
            "{path}: not a file; give one file that ends in {suffixes}", path=path, suffixes=", ".join(SUFFIXES)
        )
    if options.system is not None and not nfc(options.system):
        raise ImportingError("--system: empty; name the system that wrote every row")
    problems: list[str] = []
    columns, rows = read_columns(path, problems, encoding)
    if not rows:
        raise ImportingError(problems or [f"{path.name}: no rows; give a file with a report a row"])
    where = _chosen(columns, options, path.name)
    reports = [report for row in rows if (report := _report(row, where, options, problems))]
    topics, notes = _topics(rows, where, columns if options.keep_columns else [], problems)
    others = [name for name in columns if name not in where.values()]
    if others and not options.keep_columns:
        notes.append(Sentence(
            "columns left out {others} ({some}); --keep-columns keeps them", others=len(others),
            some=", ".join(others[:20]),
        ))  # fmt: skip
    content = path.read_bytes() if path.suffix.lower() not in (".parquet", ".pq") else b""
    criteria = criteria_files.read_listed_criteria(path.parent, encoding)
    return records.Parsed(
        topics=tuple(topics[key] for key in dict.fromkeys(report.topic for report in reports)),
        systems=tuple(records.SystemRecord(key, key) for key in dict.fromkeys(report.system for report in reports)),
        reports=tuple(reports),
        problems=tuple(problems + records.duplicate_keys(reports)),
        notes=tuple(notes),
        nfd_names=len({row.values[where["topic"]] for row in rows if _is_nfd(row.values.get(where["topic"]))}),
        bom=content.startswith(BOM),
        crlf=b"\r\n" in content,
        criteria=criteria.records,
        criteria_problems=criteria.problems,
        criteria_file=criteria.file,
    )


def _chosen(columns: Sequence[str], options: TableOptions, name: str) -> dict[str, str]:
    """Field -> column: as --map says, else the column of the field's own name. Raises ImportingError."""
    problems = [
        f"{name}: {no_column(asked, field_name, columns)}"
        for field_name, asked in options.columns.items()
        if asked not in columns
    ]
    chosen = {field_name: field_name for field_name in FIELDS if field_name in columns} | dict(options.columns)
    if options.system is not None and "system" in chosen:
        problems.append(worded(
            "{name}: --system and a column {system!r} both name the system; use one of them", name=name,
            system=chosen["system"],
        ))  # fmt: skip
    needed = ("topic", "text") if options.system is not None else ("topic", "system", "text")
    for field_name in needed:
        if field_name not in chosen:
            other = worded(" (or pass --system NAME)") if field_name == "system" else ""
            problems.append(f"{name}: {no_column(field_name, field_name, columns, chosen)}{other}")
    if problems:
        raise ImportingError(problems)
    return chosen


def no_column(
    asked: str, field_name: str, columns: Sequence[str], taken: Mapping[str, str] | None = None,
    often: Mapping[str, Sequence[str]] = OFTEN_CALLED,
) -> str:  # fmt: skip
    """What an error says of a column that is not there: what is, and the likeliest --map."""
    left = [column for column in columns if column not in (taken or {}).values()]
    by_name = {column.lower(): column for column in left}
    usual = [by_name[name] for name in often.get(field_name, ()) if name in by_name]
    close = difflib.get_close_matches(asked, left, 1)
    near = usual + close if asked == field_name else close + usual
    hint = "did you mean --map {field}={near}?" if near else "name it with --map {field}=COLUMN"
    return worded(
        "no column {asked!r} (found: {columns}); {hint}", asked=asked, columns=", ".join(columns) or worded("nothing"),
        hint=worded(hint, field=field_name, near=near[0] if near else ""),
    )  # fmt: skip


def _report(
    row: Row, where: Mapping[str, str], options: TableOptions, problems: list[str]
) -> records.ReportRecord | None:
    found: list[str] = []
    topic = key_in(row, "topic", where["topic"], found)
    system = options.system or key_in(row, "system", where["system"], found)
    text = as_text(row.values.get(where["text"]))
    if where["text"] not in row.values:
        found.append(worded(
            "{where}: no {text!r} here; add it (null for an empty report) or remove the row", where=row.where,
            text=where['text'],
        ))  # fmt: skip
    elif text is None:
        found.append(worded(
            "{where}: {text!r} is not text but a list, an object or bytes; give one text a row", where=row.where,
            text=where['text'],
        ))  # fmt: skip
    problems += found
    return None if found else records.report_in_row(text or "", row.where, topic, nfc(system))


def key_in(row: Row, field_name: str, column: str, found: list[str]) -> str:
    """The topic, system or number that the row names, NFC and trimmed; where there is none, why joins `found`."""
    value = row.values.get(column)
    if isinstance(value, float):
        found.append(worded(
            "{where}: {column!r} is a number with a fraction ({value!r}), so a last 0 would be lost; save the column "
            "as text", where=row.where, column=column, value=value,
        ))  # fmt: skip
        return ""
    key = as_text(value)
    if key is None or not nfc(key):
        found.append(worded(
            "{where}: no {field_name} in {column!r}; fill it in or remove the row", where=row.where,
            field_name=field_name, column=column,
        ))  # fmt: skip
        return ""
    return nfc(key)


def _topics(
    rows: Sequence[Row], where: Mapping[str, str], kept: Sequence[str], problems: list[str]
) -> tuple[dict[str, records.TopicRecord], list[Sentence]]:
    """Topics by key, and notes. Rows that disagree on a title are a problem; other columns that vary are left out."""
    by_topic: dict[str, list[Row]] = {}
    for row in rows:
        by_topic.setdefault(nfc(as_text(row.values.get(where["topic"])) or ""), []).append(row)
    fit, notes = _features(by_topic, set(kept).difference(where.values()))
    topics = {}
    for key, same in by_topic.items():
        told: dict[str, str] = {}
        for name in ("title", "prompt", "category", "language"):
            if name in where:
                told[name] = _agreed(same, where[name], key, problems)
        topics[key] = records.TopicRecord(
            key=key,
            title=told.get("title") or key.replace("_", " "),
            prompt=told.get("prompt", ""),
            category=told.get("category", ""),
            language=told.get("language") or "",
            features={name: same[0].values.get(name) for name in kept if name in fit},
        )
    return topics, notes


def _features(by_topic: Mapping[str, Sequence[Row]], columns: Collection[str]) -> tuple[set[str], list[Sentence]]:
    """Those of the columns that say one thing of each topic, and a note on those that do not."""
    every = list(by_topic.values())
    left_out = {
        Sentence("they vary within a topic"): {name for name in columns if any(_varies(name, same) for same in every)},
        Sentence("they hold bytes"): {name for name in columns if any(_holds_bytes(name, same) for same in every)},
    }
    notes = [
        Sentence("columns left out {left} ({names}): {why}", left=len(names), names=", ".join(sorted(names)), why=why)
        for why, names in left_out.items()
        if names
    ]
    return set(columns).difference(*left_out.values()), notes


def _agreed(rows: Sequence[Row], column: str, topic: str, problems: list[str]) -> str:
    told = [(row, as_text(row.values.get(column)) or "") for row in rows]
    first = next(((row, text) for row, text in told if text), None)
    if first is None:
        return ""
    for row, text in told:
        if text not in ("", first[1]):
            problems.append(worded(
                "{where}: topic {topic!r} has {column!r} {text}, but {first} at {place}; make them equal",
                where=row.where, topic=topic, column=column, text=shortened(text), first=shortened(first[1]),
                place=first[0].where,
            ))  # fmt: skip
    return first[1]


def _varies(name: str, rows: Sequence[Row]) -> bool:
    values: list[Any] = [row.values.get(name) for row in rows]
    return any(value != values[0] for value in values)


def _holds_bytes(name: str, rows: Sequence[Row]) -> bool:
    return any(isinstance(row.values.get(name), bytes) for row in rows)


def _is_nfd(value: Any) -> bool:
    return isinstance(value, str) and nfc(value) != value.strip()

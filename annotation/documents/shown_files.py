"""A file that raters are to have before them, as Markdown: text, tables and documents; of a picture its name alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.documents.reading import SUFFIXES as DOCUMENTS
from annotation.documents.reading import read_document
from annotation.errors import ImportingError
from annotation.files.decoding import as_text, decode, read_bytes
from annotation.files.rows import plain_value, read_csv, read_json_rows
from annotation.files.workbooks import read_workbook

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff", ".heic")
TABLES = {".csv": ",", ".tsv": "\t"}
PLAIN = (".md", ".markdown", ".txt", ".text")
JSON = (".json", ".jsonl", ".ndjson")
TITLES, BODIES = ("title", "name", "url", "source"), ("content", "text", "snippet", "body", "chunk", "page_content")
NOT_SHOWN = "*{}: {}, and is not shown here.*"


def shown_file(path: Path, shown: str, encoding: str = "utf-8") -> str:
    """Its Markdown, whole. A file of bytes that are no text, and a picture, is a sentence that says so.

    Raises ImportingError for a table, document or JSON that cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        return NOT_SHOWN.format(shown, "it is a picture")
    if suffix in TABLES:
        return _table_of_text(path, shown, encoding, TABLES[suffix])
    if suffix in (".xlsx", ".xlsm"):
        frame, *_ = read_workbook(path, "")
        return _table([str(name) for name in frame], frame.astype(str).values.tolist())
    if suffix in DOCUMENTS:
        return read_document(read_bytes(path, shown), suffix, shown, encoding).text
    if suffix in JSON:
        return _entries(path, shown, encoding)
    try:
        text = decode(read_bytes(path, shown), shown, encoding)
    except ImportingError:
        if suffix in PLAIN:
            raise
        return NOT_SHOWN.format(shown, "it is no text")
    return text if suffix in PLAIN else _fenced(text)


def _table_of_text(path: Path, shown: str, encoding: str, separator: str) -> str:
    problems: list[str] = []
    columns, rows = read_csv(path, shown, problems, encoding, separator)
    if problems:
        raise ImportingError(problems)
    return _table(columns, [[as_text(row.values[name]) or "" for name in columns] for row in rows])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A pipe table; a bar or a line end within a cell would end it."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"

    return "\n".join([line(columns), "|" + " --- |" * len(columns), *map(line, rows)])


def _entries(path: Path, shown: str, encoding: str) -> str:
    """Records with a text, such as what a search brought, one below the other; any other JSON as it is written."""
    problems: list[str] = []
    rows = [row.values for row in read_json_rows(path, shown, problems, encoding)]
    if problems or not rows or not all(_first(row, BODIES) for row in rows):
        return _fenced(decode(read_bytes(path, shown), shown, encoding))
    return "\n\n".join(
        f"### {_first(row, TITLES) or number}\n\n{_first(row, BODIES)}" for number, row in enumerate(rows, start=1)
    )


def _first(row: dict[str, Any], names: Sequence[str]) -> str:
    return next((text for name in names if (text := _text(row.get(name)).strip())), "")


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=plain_value)
    return as_text(value) or ""


def _fenced(text: str) -> str:
    """As it is written, behind a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.strip()}\n{fence}"

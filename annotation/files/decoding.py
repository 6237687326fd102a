"""How a file's bytes become text, rows as spelled or TOML, and the words in which a file is refused."""

import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from plain.wording import worded

BOM = b"\xef\xbb\xbf"


@contextmanager
def collecting(problems: list[str]) -> Iterator[None]:
    """What is refused inside the block joins `problems`, so that the next file is still read."""
    try:
        yield
    except ImportingError as error:
        problems += error.problems


@dataclass(frozen=True)
class Row:
    """One line of a table: `where` is `file:line`, the values are as spelled in the file (numbers stay text)."""

    where: str
    values: dict[str, Any]


def nfc(name: str) -> str:
    """A topic key as it is compared: NFC and trimmed (macOS copies spell names in NFD)."""
    return unicodedata.normalize("NFC", name).strip()


def read_bytes(path: Path, shown: str) -> bytes:
    """The file as it is. Raises ImportingError where it cannot be read, or has a name that no database can keep."""
    visible = shown.encode("utf-8", "backslashreplace").decode()
    if visible != shown:
        raise ImportingError("{visible}: the file's name is not UTF-8; rename it", visible=visible)
    try:
        return path.read_bytes()
    except OSError as error:
        remedy = worded("check the path" if isinstance(error, FileNotFoundError) else "make it readable or remove it")
        raise ImportingError(
            "{shown}: cannot be read ({strerror}); {remedy}", shown=shown, strerror=error.strerror, remedy=remedy
        ) from None


def decode(original: bytes, shown: str, encoding: str = "utf-8") -> str:
    """Text of a file as the user declared it, BOM dropped and line ends as LF. Raises ImportingError."""
    return plain(decode_as_read(original, shown, encoding))


def decode_as_read(original: bytes, shown: str, encoding: str = "utf-8") -> str:
    """The same with its line ends, which belong to the bytes of a report that is in a CSV cell."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        text = original.decode(codec)
    except UnicodeDecodeError as error:
        line = original.count(b"\n", 0, error.start) + 1
        raise ImportingError(
            "{shown}:{line}: byte {original:#04x} at {start:,} is not {encoding}; re-save the file as UTF-8 or pass "
            "--encoding cp1252", shown=shown, line=line, original=original[error.start], start=error.start,
            encoding=encoding.upper(),
        ) from None  # fmt: skip
    except LookupError:
        raise ImportingError(
            "--encoding {encoding}: no such encoding; try utf-8 or cp1252", encoding=encoding
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ImportingError(
            "{shown}:{line}: holds a NUL character, so it is not a text file; replace or remove it", shown=shown,
            line=line,
        )  # fmt: skip
    return text


def plain(text: str) -> str:
    """Without BOM, with LF line ends."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def as_text(value: Any) -> str | None:
    """A row's value as text: null is empty, a number as spelled; None where it is a list, an object or bytes."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


def shortened(name: str) -> str:
    """Quoted for an error, at most 60 characters of it: a misplaced report must not fill the screen."""
    return repr(name if len(name) <= 60 else name[:59] + "…")


def some_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = worded(" and {more} more", more=len(names) - most) if len(names) > most else ""
    return between.join(names[:most]) + more


def storable_rows(rows: Iterable[Row], problems: list[str]) -> list[Row]:
    """The rows that a database can keep; each other one joins `problems`."""
    kept = []
    for row in rows:
        bad = [name for name, value in row.values.items() if not _is_storable([name, value])]
        if bad:
            problems.append(worded(
                "{where}: {bad} holds a NUL or half a character (\\u0000, \\ud800); remove it", where=row.where,
                bad=shortened(bad[0]),
            ))  # fmt: skip
        else:
            kept.append(row)
    return kept


def _is_storable(value: Any) -> bool:
    """Whether every string in `value` can be kept: Postgres takes no NUL, and nothing takes half a surrogate pair."""
    if isinstance(value, str):
        return "\0" not in value and value.encode("utf-8", "replace").decode() == value
    if isinstance(value, dict):
        return all(_is_storable(held) for pair in value.items() for held in pair)
    return not isinstance(value, list) or all(_is_storable(held) for held in value)


def storable(value: Any) -> Any:
    """What an import reports as a database can keep it: NUL and half characters of a file's words are spelled out."""
    if isinstance(value, str):
        return value.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {storable(name): storable(held) for name, held in value.items()}
    return [storable(held) for held in value] if isinstance(value, list | tuple) else value


WANTED = {
    "tuple_type": "use a list, such as ['a', 'b']",
    "list_type": "use a list, such as ['a', 'b']",
    "dict_type": "use a table, such as {key = 'value'}",
    "mapping_type": "use a table, such as {key = 'value'}",
    "model_type": "use a table, such as {key = 'value'}",
    "string_type": "use text in quotes",
    "int_type": "use a whole number",
    "int_parsing": "use a whole number",
    "int_from_float": "use a whole number",
    "float_type": "use a number",
    "float_parsing": "use a number",
    "bool_type": "use true or false",
    "bool_parsing": "use true or false",
}
OF_PYTHON = (  # what its readers say of a file, for the catalogues
    "Expecting value", "Expecting property name enclosed in double quotes", "Expecting ':' delimiter",
    "Expecting ',' delimiter", "Extra data", "Unterminated string starting", "Invalid control character",
    "unexpected end of data", "File is not a zip file", "no file in it",
)  # fmt: skip
BOUNDS = {  # as pydantic says them
    "greater_than": "Input should be greater than {gt}",
    "greater_than_equal": "Input should be greater than or equal to {ge}",
    "less_than": "Input should be less than {lt}",
    "less_than_equal": "Input should be less than or equal to {le}",
    "string_pattern_mismatch": "String should match pattern '{pattern}'",
}


def read_toml(text: str) -> dict[str, Any]:
    """Its keys and values. Raises ValueError saying what is wrong and, where the reader knows, at which line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):  # beyond what Python reads, which the format does not forbid
        raise ValueError("a number of thousands of digits, or brackets in brackets without end") from None


def wanted(problem: Mapping[str, Any]) -> str:
    """What one of pydantic's problems asks for; its own words where they say it already."""
    if problem["type"] == "literal_error":
        return worded("use {expected}", expected=problem["ctx"]["expected"].replace(" or ", worded(" or ")))
    if problem["type"] in BOUNDS:
        told = {key: f"{bound:.15g}" if isinstance(bound, float) else bound for key, bound in problem["ctx"].items()}
        return worded(BOUNDS[problem["type"]], **told)
    return worded(WANTED.get(problem["type"]) or str(problem.get("ctx", {}).get("error", "")) or str(problem["msg"]))

"""Which works a report on each topic is to cite, from a file or folder that somebody made: a survey's bibliography."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting, nfc
from annotation.files.folders import files, refuse_ways_out
from annotation.files.rows import read_csv, read_json_rows
from annotation.source_lists.cited_works import Work, joined, keys_in

TITLES = ("title", "name")
COLUMN = "topic"
# what these hold names something else than the work
OF_OTHERS = ("licen", "publisher", "author", "funder", "reference", "citation", "cited")
KINDS = (".jsonl", ".json", ".csv")


def read_wanted(path: Path, encoding: str = "utf-8") -> dict[str, list[Work]]:
    """Works by topic, each once. A folder: a file a topic, called like it; a file: its column `topic` says which.

    `.jsonl`, `.json` or `.csv` with a title, and whatever holds a DOI, an arXiv number or an address, also below other
    names, as ReportBench's `meta_info`. Raises ImportingError with every problem.
    """
    refuse_ways_out(path)
    problems: list[str] = []
    found: dict[str, list[Work]] = defaultdict(list)
    lists = [one for one, _ in files(path, "*.*") if one.suffix in KINDS]
    if not lists:
        raise ImportingError(f"{path}: no .jsonl, .json or .csv; give the folder of the lists, or one file")
    for one in lists:
        with collecting(problems):
            for row in _rows(one, problems, encoding):
                topic = as_text(row.values.get(COLUMN)) if path.is_file() else one.stem
                title = next((text for name in TITLES if (text := as_text(row.values.get(name)))), "")
                keys = frozenset(keys_in(_told(row.values)))
                if not topic:
                    problems.append(f"{row.where}: no {COLUMN!r}; name it, or give a folder with a file for each")
                elif not title and not keys:
                    problems.append(f"{row.where}: neither a title nor a DOI, an arXiv number or an address; add one")
                else:
                    found[nfc(topic)].append(Work(keys, (), title))
    if problems:
        raise ImportingError(problems)
    return {topic: joined(works) for topic, works in found.items()}


def _rows(path: Path, problems: list[str], encoding: str) -> list[Row]:
    if path.suffix == ".csv":
        return read_csv(path, path.name, problems, encoding)[1]
    return read_json_rows(path, path.name, problems, encoding)


def _told(values: dict[str, Any]) -> str:
    """All that a row says of the work as text, nothing of its licence or publisher; what is called arXiv as such."""
    parts = []
    for name, value in values.items():
        named = name.casefold()
        if any(word in named for word in OF_OTHERS):
            continue
        text = _within(value)
        parts.append(f"arXiv:{text}" if named in ("arxiv", "arxiv_id", "eprint") and text else text)
    return "\n".join(parts)


def _within(value: Any) -> str:
    if isinstance(value, dict):
        return _told(value)
    return "\n".join(map(_within, value)) if isinstance(value, list) else as_text(value) or ""

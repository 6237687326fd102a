"""A study as a dataset: every revision of every label, what was read, what was asked, a data card and Croissant."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from exports.datasets.descriptions import croissant, data_card
from exports.datasets.label_rows import CRITERIA, LABELS, NUMBER, REPORTS, SHOWN_TEXT, TRUTH, WHOLE, DataColumn, chained
from exports.errors import ExportError
from plain import hashes, spreadsheets

FORMAT = "calipers-dataset/1"
MARK = "calipers-dataset.json"  # what tells a folder of ours from any other
ROWS, TEXTS = 10_000, 100  # in memory at a time
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
LINE = json.JSONEncoder(ensure_ascii=False).encode
Row = Mapping[str, Any]


def write_dataset(
    rows: Iterable[Row],
    reports: Iterable[Row],
    criteria: Iterable[Row],
    facts: Mapping[str, Any],
    out: Path,
    *,
    texts: bool = False,
    with_void: bool = False,
    license: str = "",
    removed: Mapping[str, int] | None = None,
    pictures: Iterable[tuple[str, bytes]] = (),
    advance: Callable[[int], None] = lambda done: None,
) -> dict[str, int]:
    """Fill the empty folder `out`, streaming; returns the number of rows by file stem.

    `rows`: labels by assignment, not chained yet; `reports` have a `text` if `texts`. `facts`: of the study, by the
    names of `exports.facts`; what is absent is not said. `with_void`: `rows` hold work taken out. `license`: an SPDX
    id. `removed`: what was taken out of rationales, by kind, read when all rows are written. `pictures`:
    what the texts show, each by the path that they name. `advance(label rows
    written)`. Raises ExportError `bad_license`, `bad_row`.
    """
    if license and not SPDX.fullmatch(license):
        raise ExportError("bad_license", f"{license!r} is no SPDX license id, such as CC-BY-4.0")
    of_reports = (*REPORTS, SHOWN_TEXT) if texts else REPORTS
    counts = {
        "labels": _write(out, "labels", LABELS, chained(rows), ROWS, (_csv, _json_lines, _parquet), advance),
        "reports": _write(out, "reports", of_reports, reports, TEXTS, (_json_lines, _parquet)),
        "criteria": _write(out, "criteria", CRITERIA, criteria, ROWS, (_json_lines,)),
    }
    columns = {"labels": LABELS, "reports": of_reports, "criteria": CRITERIA}
    sums = {path.name: hashes.file_sha256(path) for path in sorted(out.iterdir())}
    sizes = {name: (out / name).stat().st_size for name in sums}
    for name, picture in pictures:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(picture)
    card = data_card(facts, counts, columns, license, dict(removed or {}), with_void=with_void)
    about = {
        "format": FORMAT, "plan_root": facts.get("plan_root"), "license": license or None, "texts": texts,
        "with_void": with_void, "rows": counts, "versions": dict(facts.get("versions") or {}), "sha256": sums,
    }  # fmt: skip
    for name, text in {
        "README.md": card,
        "croissant.json": json_text(croissant(facts, columns, sums, sizes, license)),
        MARK: json_text(about),
    }.items():
        (out / name).write_bytes(text.encode())
    return counts


Append = Callable[[Sequence[Row]], None]  # rows to one file of a table
Form = Callable[[Path, str, Sequence[DataColumn]], AbstractContextManager[Append]]


@contextmanager
def _csv(folder: Path, name: str, columns: Sequence[DataColumn]) -> Iterator[Append]:
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        plain = csv.writer(file, lineterminator="\n")
        # the plain writer sees no line end in a bare carriage return, but readers do
        quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        plain.writerow(column.name for column in columns)

        def append(rows: Sequence[Row]) -> None:
            for row in rows:
                cells = [spreadsheets.guarded(cell) if isinstance(cell, str) else cell for cell in row.values()]
                returns = "\r" in "".join([cell for cell in cells if isinstance(cell, str)])
                (quoting if returns else plain).writerow(cells)

        yield append


@contextmanager
def _json_lines(folder: Path, name: str, _columns: Sequence[DataColumn]) -> Iterator[Append]:
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        yield lambda rows: file.writelines(LINE(row) + "\n" for row in rows)


@contextmanager
def _parquet(folder: Path, name: str, columns: Sequence[DataColumn]) -> Iterator[Append]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    kinds = {WHOLE: pa.int64(), NUMBER: pa.float64(), TRUTH: pa.bool_()}
    schema = pa.schema([(column.name, kinds.get(column.kind, pa.string())) for column in columns])
    with ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as file:
        yield lambda rows: file.write_table(pa.Table.from_pylist(list(rows), schema=schema))


def _write(
    folder: Path,
    name: str,
    columns: Sequence[DataColumn],
    rows: Iterable[Row],
    at_a_time: int,
    forms: Iterable[Form],
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """The table in every form, chunk by chunk; the number of its rows."""
    done = 0
    with ExitStack() as stack:
        files = [stack.enter_context(form(folder, name, columns)) for form in forms]
        checked = _checked(name, columns, rows)
        while chunk := list(islice(checked, at_a_time)):
            for append in files:
                append(chunk)
            done += len(chunk)
            advance(done)
    return done


def _checked(name: str, columns: Sequence[DataColumn], rows: Iterable[Row]) -> Iterator[Row]:
    wanted = {column.name: None for column in columns}
    for row in rows:
        if row.keys() != wanted.keys():
            odd = sorted(row.keys() ^ wanted.keys())
            raise ExportError("bad_row", f"a row of {name} has other columns than the dataset: {', '.join(odd)}")
        yield {column: row[column] for column in wanted}


def json_text(value: Any) -> str:
    """As it is written to a file."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

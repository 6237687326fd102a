"""Spreadsheets (.xlsx, .xls, .ods) as tables of text, by calamine: values as they are shown to a formula."""

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.delimited import check_header

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
UNPACKED_MAX = 512 << 20
SHEET = "sheet"  # names the sheet of a row, where several hold one table


def read_workbook(path: Path, asked: str) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """(table, sheet, what was made of it). Sheets of equal heads are one table, with a column `sheet`.

    Raises AnnotationError where it is no workbook, or where sheets of several heads leave open which is meant.
    """
    sheets = {name: cells for name, cells in _sheets(path).items() if len(cells) > 1}
    if asked and asked not in sheets:
        raise AnnotationError("bad_option", f"{path}: no filled sheet {asked!r} (there are: {', '.join(sheets)})")
    if not sheets:
        raise AnnotationError("bad_file", f"{path}: no sheet holds a table; give it a header and at least one label")
    chosen = {asked: sheets[asked]} if asked else sheets
    frames = {name: _frame(f"{path}, sheet {name!r}", cells) for name, cells in chosen.items()}
    first = next(iter(frames))
    if len(frames) == 1:
        return frames[first], first, ()
    if len({tuple(frame) for frame in frames.values()}) > 1 or SHEET in frames[first]:
        raise AnnotationError(
            "bad_file", f"{path}: {len(frames)} sheets hold tables ({', '.join(frames)}); say which: --read sheet=NAME"
        )
    whole = pd.concat([frame.assign(**{SHEET: name}) for name, frame in frames.items()], ignore_index=True)
    return whole, "", (f"{len(frames)} sheets with one head are one table; their names are in the column {SHEET!r}",)


def _sheets(path: Path) -> dict[str, list[list[Any]]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise AnnotationError(
            "bad_file", f"{path}: a spreadsheet, which python-calamine reads: pip install python-calamine"
        ) from None
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                size = sum(entry.file_size for entry in packed.infolist())
            if size > UNPACKED_MAX:
                raise AnnotationError(
                    "bad_file", f"{path}: holds over {UNPACKED_MAX >> 20:,} MB unpacked; save the table as a CSV"
                )
        with CalamineWorkbook.from_path(path) as book:
            return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except (CalamineError, zipfile.BadZipFile, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        what = "this is a spreadsheet or an archive that cannot be read"
        raise AnnotationError("bad_file", f"{path}: {what} ({reason}); save the table as a CSV in UTF-8") from None


def _frame(where: str, cells: list[list[Any]]) -> pd.DataFrame:
    """Rows above the head that hold a title alone, and rows and columns without any cell, are passed over."""
    rows = [[_text(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(row)]
    while len(rows) > 1 and sum(map(bool, rows[0])) == 1 < sum(map(bool, rows[1])):
        rows = rows[1:]
    used = [place for place in range(len(rows[0])) if any(row[place] for row in rows)] if rows else []
    rows = [[row[place] for place in used] for row in rows]
    check_header(where, rows[0] if rows else [""])
    return pd.DataFrame(rows[1:], columns=rows[0], dtype="str")


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return str(cell).strip() if cell is not None else ""

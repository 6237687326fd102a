"""The tables of a spreadsheet's sheets; cells merged downwards hold what stands in the first."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files import delimited
from plain.typed_options import by_read

UNPACKED_MAX = 512 << 20
SHEET = "sheet"  # names the sheet of a row, where several hold one table
Cells = list[list[str]]


def read_workbook(path: Path, asked: str) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """(table, sheet, what was made of it). Sheets of equal heads are one table, with a column `sheet`.

    Raises AnnotationError where it is no workbook, or where sheets of several heads leave open which is meant.
    """
    filled = {name: cells for name, cells in _sheets(path).items() if len(cells) > 1}
    sheets = {name: cells for name, cells in filled.items() if any(sum(map(bool, row)) > 1 for row in cells)} or filled
    if asked and asked not in filled:
        raise AnnotationError("bad_option", f"{path}: no filled sheet {asked!r} (there are: {', '.join(filled)})")
    if not sheets:
        raise AnnotationError("bad_file", f"{path}: no sheet holds a table; give it a header and at least one label")
    chosen = {asked: filled[asked]} if asked else sheets
    made = {name: _frame(f"{path}, sheet {name!r}", cells) for name, cells in chosen.items()}
    first, frames = next(iter(made)), {name: frame for name, (frame, _) in made.items()}
    if len(frames) == 1:
        return frames[first], first, made[first][1]
    if len({tuple(frame) for frame in frames.values()}) > 1 or SHEET in frames[first]:
        raise AnnotationError(
            "bad_file",
            f"{path}: {len(frames)} sheets hold tables; say which: "
            f"{', or '.join(by_read('sheet', name) for name in frames)}; where each has answers, `calipers tidy` one "
            "after the other with --out into one folder, and give the folder",
        )
    whole = pd.concat([frame.assign(**{SHEET: name}) for name, frame in frames.items()], ignore_index=True)
    told = f"{len(frames)} sheets with one head are one table; their names are in the column {SHEET!r}"
    return whole, "", (told, *made[first][1])


def _sheets(path: Path) -> dict[str, Cells]:
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
            sheets = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
            return {
                name: _filled_down(
                    [[_text(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)],
                    sheet.merged_cell_ranges or [],
                )
                for name, sheet in sheets.items()
            }
    except (CalamineError, zipfile.BadZipFile, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        what = "this is a spreadsheet or an archive that cannot be read"
        raise AnnotationError(
            "bad_file", f"{path}: {what} ({reason}); save the table as a CSV in UTF-8, or unpack the archive"
        ) from None


def _filled_down(cells: Cells, merged: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> Cells:
    """Each cell of a row that is merged with one above it, below the heads, holds what stands there."""
    head = next((at for at, row in enumerate(cells) if sum(map(bool, row)) > 1), 0)
    for (top, left), (bottom, _) in merged:
        for row in cells[top + 1 : bottom + 1] if top > head else []:
            if left < len(row):  # a merged box may stand beside the table
                row[left] = row[left] or cells[top][left]
    return cells


def _frame(where: str, cells: Cells) -> tuple[pd.DataFrame, tuple[str, ...]]:
    return delimited.framed(where, [row for row in cells if any(row)])


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return str(cell).strip() if cell is not None else ""

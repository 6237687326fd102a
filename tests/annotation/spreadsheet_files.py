"""The smallest .xlsx and .ods files that spreadsheets open: one sheet or several, texts and numbers as such."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

Cell = str | float | int
Sheets = Mapping[str, Sequence[Sequence[Cell]]]
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
ODS = "application/vnd.oasis.opendocument.spreadsheet"


def write_xlsx(path: Path, sheets: Sheets) -> Path:
    numbered = list(enumerate(sheets.items(), start=1))
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, (name, _) in numbered)
    related = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n, _ in numbered
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{TYPE}.worksheet+xml"/>' for n, _ in numbered
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>',
    }
    for number, (_, rows) in numbered:
        cells = "".join(f"<row>{''.join(map(_xlsx_cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in parts.items():
            packed.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


def _xlsx_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f"<c><v>{cell}</v></c>"


def write_ods(path: Path, sheets: Sheets) -> Path:
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="{ODF}:office:1.0" '
        f'xmlns:table="{ODF}:table:1.0" xmlns:text="{ODF}:text:1.0" office:version="1.2"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="{ODF}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{ODS}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", ODS)
        packed.writestr("META-INF/manifest.xml", manifest)
        packed.writestr("content.xml", content)
    return path


def _ods_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        kind = 'office:value-type="string"' if cell else ""
        return f"<table:table-cell {kind}><text:p>{escape(cell)}</text:p></table:table-cell>"
    kind = f'office:value-type="float" office:value="{cell}"'
    return f"<table:table-cell {kind}><text:p>{cell}</text:p></table:table-cell>"

"""A table as LaTeX: booktabs, numbers at the decimal point, the interval small under its value, the notes below.

One source for one column and for two: a table that fits a column of 77 mm is in one, a wider one across the page, a
long one in several floats, for `longtable` knows no columns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jinja2 import Environment, StrictUndefined

from exports.cells import MINUS
from exports.latex.tex_layout import NARROW, NUMBER, TIGHT, Panel, Shape, panels
from exports.latex.tex_pages import Page, Part, pages
from exports.latex.tex_text import breakable, escape, fonts_needed, needs_t1, prose
from exports.tables import Table

FLUSH = 12  # floats that LaTeX is asked to hold back at once

_TEMPLATE = r"""((* for line in needs *))
% (( line ))
((* endfor *))
((* for page in floats *))
((* if page.flush *))
\clearpage
((* endif *))
\begin{(( kind ))}
\centering\footnotesize
\setlength{\tabcolsep}{.25em}
\sisetup{mode=text,minimum-integer-digits=0,print-zero-integer=false,group-digits=integer,group-minimum-digits=4,group-separator={,}}
\begin{minipage}{(( measure ))}
((* if loop.first *))
\caption{(( title ))}
\label{tab:(( name ))}
((* else *))
\addtocounter{table}{-1}
\caption{(( title )) (continued)}
((* endif *))
\smallskip
((* for grid in page.grids *))
((* if tight *))
\begin{adjustbox}{max width=\linewidth}
((* endif *))
\begin{tabular*}{(( "\\linewidth" if not tight else tight ))}{@{\extracolsep{\fill}}(( grid.columns ))@{}}
\toprule
((* for line in grid.head *))
(( line ))\\
((* endfor *))
\midrule
((* for row in grid.rows *))
((* for line in row *))
(( line ))\\
((* endfor *))
((* if not loop.last and grid.loose *))
\addlinespace[.3em]
((* endif *))
((* endfor *))
((* if loop.last *))
\bottomrule
((* endif *))
\end{tabular*}
((* if tight *))
\end{adjustbox}
((* endif *))
((* if not loop.last or page.notes *))
\par\smallskip
((* endif *))
((* endfor *))
((* if page.notes *))
\scriptsize\sloppy
((* for note in page.notes *))
(( note ))(( "\\par" if loop.last else "\\enskip" ))
((* endfor *))
((* endif *))
\end{minipage}
\end{(( kind ))}
((* endfor *))
"""

_PAGE = Environment(
    variable_start_string="((",
    variable_end_string="))",
    block_start_string="((*",
    block_end_string="*))",
    comment_start_string="((#",
    comment_end_string="#))",
    trim_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
    autoescape=False,  # TeX, not HTML: every text goes through `escape`
)


def as_latex(table: Table) -> str:
    """Complete `table` or `table*` environments. The comment at the top names the packages that they need.

    Text in a script that pdfLaTeX has no font for stays as it is; the comment then names engine and font.
    """
    found = panels(table)
    symbols = dict.fromkeys(
        f"{column.symbol}: {column.title}"
        for panel in found
        for shape in panel.shapes
        if shape.symbol
        for column in [table.columns[shape.place]]
    )
    notes = [f"{'; '.join(symbols)}."] if symbols else []
    floats = pages(table.title, found, [*notes, *table.notes])
    wide, tight = found[0].room > NARROW, found[0].room == TIGHT
    return _PAGE.from_string(_TEMPLATE).render(
        needs=list(_needs(table, tight)),
        kind="table*" if wide else "table",
        tight=rf"\dimexpr\ifdim\linewidth<{_digits(TIGHT)} {_digits(TIGHT)}\else\linewidth\fi\relax" if tight else "",
        measure=r"\textwidth" if wide else rf"\dimexpr {_digits(NARROW)}\relax",
        title=breakable(table.title),
        name=re.sub(r"[^A-Za-z0-9]+", "-", table.name),
        floats=[_float(page, number) for number, page in enumerate(floats)],
    )


def _digits(em: float) -> str:
    """As a number of digits: an em is wider than two of them in some fonts of LuaLaTeX, and letters grow with them."""
    return rf"{2 * em:.0f}\fontcharwd\font`0"


def _needs(table: Table, tight: bool) -> Iterator[str]:
    """What the preamble must hold."""
    texts = [table.title, *table.notes]
    texts += [text for column in table.columns for text in (column.title, column.symbol)]
    texts += [cell for row in table.rows for cell in row if isinstance(cell, str)]
    fonts = fonts_needed(texts)
    yield from fonts
    if not fonts and needs_t1(texts):
        yield r"\usepackage[T1]{fontenc}"
    if tight:
        yield "Made smaller where the page is narrower than this table, as that of article is."
    yield rf"\usepackage{{booktabs,siunitx{',adjustbox' * tight}}}"


def _float(page: Page, number: int) -> dict[str, object]:
    return {
        "flush": number > 0 and number % FLUSH == 0,
        "grids": [_grid(part) for part in page.parts],
        "notes": [prose(note) for note in page.notes],
    }


def _grid(part: Part) -> dict[str, object]:
    panel = part.panel
    rows = [[*_lines(panel, row, start, end, part.repeats(at))] for at, (row, start, end) in enumerate(part.pieces)]
    return {
        "columns": "".join(_column(shape, panel) for shape in panel.shapes),
        "head": [_head(panel, at) for at in range(panel.head_lines)],
        "rows": rows,
        "loose": panel.is_prose or any(len(row) > 1 for row in rows),
    }


def _lines(panel: Panel, row: int, start: int, end: int, repeats: bool) -> Iterator[str]:
    """Of a row from `start` to `end`; the first name is left out where it `repeats` that of the row above."""
    if panel.is_prose and (start, end) == (0, panel.row_lines(row)):
        yield _joined([prose(shape.texts[row]) for shape in panel.shapes])
        return
    shapes = [replace(shape, cells=((),) * len(shape.cells)) if repeats and not at else shape
              for at, shape in enumerate(panel.shapes)]  # fmt: skip
    shown = replace(panel, shapes=tuple(shapes))
    yield from (_line(shown, row, at) for at in range(start, min(end, max(shown.row_lines(row), start + 1))))


def _column(shape: Shape, panel: Panel) -> str:
    if panel.is_prose:
        share = shape.room / sum(shape.room for shape in panel.shapes)
        gaps = 2 * (len(panel.shapes) - 1)
        return rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\dimexpr\linewidth-{gaps}\tabcolsep\relax}}"
    return shape.form if shape.form in {"l", "c"} else f"S[table-format={shape.form}]"


def _head(panel: Panel, at: int) -> str:
    """One line of the headings, which are on the rule."""
    cells = []
    for shape in panel.shapes:
        place = at - panel.head_lines + len(shape.head)
        cells.append(_braced(shape.head[place], shape) if place >= 0 else "")
    return _joined(cells)


def _line(panel: Panel, row: int, at: int) -> str:
    """One line of a row: the values, under them the intervals, beside both the lines of long names."""
    cells = []
    for shape in panel.shapes:
        lines = shape.cells[row]
        text = lines[at] if at < len(lines) else ""
        small = at == 1 and shape.form != "l" and text
        cells.append(rf"{{\scriptsize {escape(text)}}}" if small else _cell(text, shape))
    return _joined(cells)


def _cell(text: str, shape: Shape) -> str:
    number = NUMBER.fullmatch(text)
    if text and number and shape.form not in {"l", "c"}:
        return text.replace(MINUS, "-").replace(",", "")
    return _braced(text, shape)


def _braced(text: str, shape: Shape) -> str:
    return f"{{{escape(text)}}}" if text and shape.form not in {"l", "c"} else escape(text)


def _joined(cells: Sequence[str]) -> str:
    line = " & ".join(cells)
    # after the \\ of the line before, these would be read as its arguments
    return "{}" + line if line.startswith(("[", "*")) else line

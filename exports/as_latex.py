"""A table as LaTeX: booktabs, the interval in small type under its value, the notes below.

Needs \\usepackage{booktabs}, and longtable for a table of several pages.
"""

from __future__ import annotations

from jinja2 import Environment, StrictUndefined

from exports.cells import shown
from exports.tables import Table

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': "''",  # \\textquotedbl needs another font encoding than the default
    "\n": " ",
    "\u00a0": "~",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "ω": r"$\omega$",
    "η": r"$\eta$",
    "²": r"\textsuperscript{2}",
    "−": r"$-$",
    "–": "--",
    "—": "---",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
}

_ROWS = r"""((* for values, intervals in rows *))
(( values ))\\
((* if intervals *))
(( intervals ))\\
((* endif *))
((* if not loop.last *))
\addlinespace
((* endif *))
((* endfor *))
\bottomrule
"""

_NOTES = r"""((* for note in notes *))
(( note ))\par
((* endfor *))
"""

_ON_ONE_PAGE = (
    r"""% \usepackage{booktabs}
\begin{table}
\centering
\caption{(( title ))}
\label{tab:(( name ))}
\footnotesize
\setlength{\tabcolsep}{3pt}
\begin{tabular}{@{}(( alignment ))@{}}
\toprule
(( head ))\\
\midrule
"""
    + _ROWS
    + r"""\end{tabular}
\par\medskip
\begin{minipage}{\linewidth}\footnotesize
"""
    + _NOTES
    + r"""\end{minipage}
\end{table}
"""
)

_ON_SEVERAL = (
    r"""% \usepackage{booktabs,longtable}
{\footnotesize
\setlength{\tabcolsep}{3pt}
\begin{longtable}{@{}(( alignment ))@{}}
\caption{(( title ))}\label{tab:(( name ))}\\
\toprule
(( head ))\\
\midrule
\endfirsthead
\toprule
(( head ))\\
\midrule
\endhead
"""
    + _ROWS
    + r"""\end{longtable}
\noindent
"""
    + _NOTES
    + r"""}
"""
)

LINES = 44  # of values and intervals in small type that fit a page beside caption and notes

_TEX_PAGE = Environment(
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
    """A complete environment that compiles with the article class and booktabs: `table`, or `longtable` (which needs
    its package) where the rows do not fit a page.
    """
    short = [f"{column.symbol}: {column.title}" for column in table.columns if column.symbol]
    symbols = [f"{'; '.join(short)}."] if short else []
    rows = [_lines(row) for row in table.rows]
    template = _ON_ONE_PAGE if sum(1 + bool(intervals) for _, intervals in rows) <= LINES else _ON_SEVERAL
    return _TEX_PAGE.from_string(template).render(
        title=escape(table.title),
        name=escape(table.name).replace(r"\_", "-"),
        alignment="".join("l" if _is_text(table, index) else "c" for index in range(len(table.columns))),
        head=" & ".join(escape(column.symbol or column.title) for column in table.columns),
        rows=rows,
        notes=[escape(note) for note in (*symbols, *table.notes)],
    )


def escape(text: str) -> str:
    """Any text as TeX that prints it."""
    return "".join(_TEX.get(mark, mark) for mark in text)


def _is_text(table: Table, index: int) -> bool:
    return any(isinstance(row[index], str) for row in table.rows) or not table.rows


def _lines(row: tuple[object, ...]) -> tuple[str, str]:
    """The values, and under them the intervals; "" when the row has none."""
    parts = [shown(cell) for cell in row]  # type: ignore[arg-type]
    values = " & ".join(escape(value) for value, _ in parts)
    intervals = " & ".join(rf"{{\scriptsize {escape(interval)}}}" if interval else "" for _, interval in parts)
    if values.startswith(("[", "*")):  # after the \\ of the line before, these would be read as its arguments
        values = "{}" + values
    return values, intervals if any(interval for _, interval in parts) else ""

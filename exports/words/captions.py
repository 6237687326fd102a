"""Figures as a paper takes them: each caption to copy, and each figure ready for LaTeX."""

from __future__ import annotations

from collections.abc import Iterable

from exports.as_markdown import escaped
from exports.figures import Figure
from exports.latex.tex_text import fonts_needed, needs_t1, prose
from exports.plots.theme import FULL_PAGE, ONE_COLUMN

_FIGURE = r"""\begin{figure}
\centering
\includegraphics[width=\ifdim\linewidth<%(narrow)sin \linewidth\else %(narrow)sin\fi]{%(name)s_column.pdf}
\caption{%(caption)s}
\label{fig:%(label)s}
\end{figure}
"""


def told(figure: Figure) -> str:
    """Its caption, and what of it could not be drawn here."""
    return " ".join(filter(None, (figure.caption, figure.caution)))


def captions(figures: Iterable[Figure]) -> str:
    """A list in Markdown; each caption stands for both widths of its figure."""
    widths = f"{FULL_PAGE} in, `_column` {ONE_COLUMN} in"
    return "".join(f"- `{one.name}` ({widths}): {escaped(told(one))}\n" for one in figures)


def figures_tex(figures: Iterable[Figure]) -> str:
    """Every figure in one column, with its caption and the label `fig:name`, to take what a paper needs."""
    found = list(figures)
    texts = [one.caption for one in found]
    lines = ["% Figures of one column. Across two: figure* with \\linewidth and the name without _column."]
    lines += ["% Where the files lie: \\graphicspath{{report/}}", "% \\usepackage{graphicx}"]
    fonts = fonts_needed(texts)
    lines += [f"% {line}" for line in fonts] or [r"% \usepackage[T1]{fontenc}"] * needs_t1(texts)
    floats = [
        _FIGURE
        % {"narrow": ONE_COLUMN, "name": one.name, "caption": prose(one.caption), "label": one.name.replace("_", "-")}
        for one in found
    ]
    return "\n".join([*lines, *floats])

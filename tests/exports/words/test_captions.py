"""Figures as a paper takes them."""

from __future__ import annotations

import re

import matplotlib.figure
import pytest

from exports.figures import Figure, captions, figures_tex

FIGURES = [
    Figure(name, caption, (), matplotlib.figure.Figure())
    for name, caption in (
        ("win_matrix", "Wins of a_b & c, with 95 % intervals (n = 30)."),
        ("bias", "Biases looked for; \\input{x}."),
    )
]


def test_a_caption_is_listed_once_for_both_widths_of_its_figure():
    listed = captions(FIGURES).splitlines()
    assert [line.split("`")[1] for line in listed] == ["win_matrix", "bias"]
    assert listed[0].endswith("Wins of a\\_b & c, with 95 % intervals (n = 30).")


def test_a_figure_stands_with_its_caption_and_label_ready_for_latex():
    tex = figures_tex(FIGURES)
    assert tex.count(r"\begin{figure}") == tex.count(r"\end{figure}") == 2
    assert re.findall(r"\{(\w+\.pdf)\}", tex) == ["win_matrix_column.pdf", "bias_column.pdf"]
    assert re.findall(r"\\label\{(.*)\}", tex) == ["fig:win-matrix", "fig:bias"]
    assert r"\caption{Wins of a\_b \& c, with 95~\% intervals (n~=~30).}" in tex
    assert r"\textbackslash{}input\{x\}" in tex


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("by 判断", "% pdfLaTeX has no font for some of this text (Chinese"),
        ("by Żółć ą", r"% \usepackage[T1]{fontenc}"),
    ],
)
def test_what_a_caption_needs_is_said_at_the_top(caption, said):
    tex = figures_tex([Figure("a", caption, (), matplotlib.figure.Figure())])
    assert any(line.startswith(said) for line in tex.splitlines())
    assert not figures_tex([]).count(said)

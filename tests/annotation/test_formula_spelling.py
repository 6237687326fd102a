"""A formula is spelled in one way, whoever wrote it, and shows what it showed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.canonical.form import canonical_format
from annotation.canonical.formulas import plain_formula
from annotation.documents.document_tree import PlainTree
from annotation.documents.written_formulas import without_bars
from annotation.formulas import mathml
from annotation.texts.spans import math_zones

# as agents write it, as Word's and web pages' formulas come
PAIRS = [
    (r"$y = a x_{[1]} + b x_2$", r"$y = ax_{\lbrack 1\rbrack} + bx_{2}$"),
    (r"$10 \log_{10} \frac12\left(12 \cdot 10^{L_d/10}\right)$", r"$10{\log}_{10}\frac{1}{2}\left( 12 \cdot 10^{L_{d}/10} \right)$"),
    (r"$$\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt\pi}{2}$$", r"\[\int_{0}^{\infty}e^{- x^{2}}\, dx = \frac{\sqrt{\pi}}{2}\]"),
    (r"$a \le b \ne c \to d$", r"\(\left. a \leq b \neq c\rightarrow d \right.\)"),
    (r"$\hat{\beta} = \vec v \cdot \vec{w}$", r"$\widehat{\beta} = \overset{\rightarrow}{v} \cdot \overrightarrow{w}$"),
    (r"$f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{or so} \end{cases}$",
     r"$f(x) = \left\{ \begin{matrix} 1 & {x > 0} \\ 0 & \text{or so} \end{matrix} \right.\ $"),
    (r"$f''(x) + T^{n+1}_i$", r"$f^{''}(x) + T_{i}^{n + 1}$"),
    (r"$x^\top \in \left(0, 1\right) + \alpha_i$", r"$x^{\top} \in (0,1) + \alpha_{i}$"),
]  # fmt: skip
SAME = [
    "$$) and so on ($$", "$$> x_1\n> y$$", r"$a_1 &lt; b$", r"$x_{a}}{$", r"$\left( x^2$", r"$a\text{is  so}b_{1}$",
    r"${\bf x}_{1}$", r"$\sqrt[3]{x}_{1}$", r"${}_{a}b$", r"$\begin{array}{l c}a & b\end{array}$", r"$a_{1}%b$",
    r"$\text{R \& D}_{1}$", r"$\text{GDP \% change}$", r"$\text{A {B} C}$", r"$\mbox{a $x$ b}$",
]  # fmt: skip

FORMULAS = r"""
$P(A|B)$
$n!$
$x'$
$\sqrt[3]{x}$
$f(x)$
$a + b$
$a-b$
$x/y$
$x$
$n - 1$
$(a, b)$
$P(A | B) + P(B | A)$
$f'(x)$
$f''(x) + g'(x)$
$(n-1)!$
$2n + 1$
$n(n+1)/2$
$O(n)$
$O(n log n)$
$x > 0$
$|x|$
$|x - y|$
$a < b < c$
$-x + 3$
$1/n$
$sin(x)$
$E[X|Y]$
$p-q$
$\sqrt[12]{2}$
$\sqrt[n]{a + b}$
$k!(n-k)!$
$x, y$
$p(y|x, z)$
$A*B$
$T'$
$x_1$
$a^2$
$E = mc^2$
$\alpha$
\(P(A|B)\)
\(n!\)
\[f(x) - g(x)\]
\(n-1\)
\(a+b\)
\(|x|\)
$\frac{1}{2}$
$5 \times 10$
"""
TEXTS = r"""
$5 and $10
US$3 to $4 (a | b)
US$3 to US$4 (a | b)
$5/$7
from $3–$4
A$5 or C$6
5$-10$
between 5$ and 10$ (a|b)
$5, $6 and $7
$1.5M - $2M
$100
cost $5 (or $6)
$a or b$
$foo-$bar
$HOME/$USER
$HOME/bin:$PATH
Ke$ha and A$AP
$x and $y
US$3/t to US$4/t
€5=$6 a/b $7
$5K/$7K
$5-a-day and $7-a-day
(US$)5/(A$)6
US$(a|b)$5
the $-sign and a $-b
$5 per a/b, $6 per c/d
$ a + b $
$5 a | $6 b
$1,000-$2,000
$20/month or $200/year
$20 (basic) or $30 (pro)
$5 vs. $6!
"$5!" and "$6!"
HK$10'000 to HK$20'000
$X/$Y
$$
in $ (a|b) or in € (c|d)
R$5 (x|y) R$6
$3/GB - $4/GB
between $5(a) and $6(b)
\(Royal\_Navy_officer\)
\(e.g., a\)
\[116\]
\(see above\)
\[Smith 2019\]
It rose \[A-1\]; \[N/A\] here \[C1-C3\], \[4a, 5\], \[R, 5\].
| \[N/A\] | \[x/y\] |
\[N/A\]
\[A-1\]
\(A/B\) and \(N/A\), \(A-1\), \(a-c\), \(a, b\)
worth $5 - I'd 6$ more
$I'm$
$[3]$
$5$10
\(a/b testing\)
"""


def drawn(formula: str) -> str:
    return re.sub(
        r"</?mrow>|<mspace[^>]*></mspace>|<(\w+)[^>]*></\1>| (?:stretchy|fence|form)=\"\w+\"", "", mathml(formula) or ""
    )


@pytest.mark.parametrize(("written", "exported"), PAIRS)
def test_one_formula_has_one_spelling(written: str, exported: str) -> None:
    plain = plain_formula(written)
    assert plain_formula(exported) == plain == plain_formula(plain)
    assert drawn(plain) == drawn(written) != ""


@pytest.mark.parametrize("formula", SAME)
def test_what_is_no_formula_or_not_understood_or_needs_its_braces_stays(formula: str) -> None:
    assert plain_formula(formula) == formula


@pytest.mark.parametrize(
    ("source", "inside", "in_a_cell"),
    [
        (r"a \\ ", r"a \\", r"a \\"),
        (r"a\\ \ ", r"a\\", r"a\\"),
        ("a \\ ", "a", "a"),
        ("|a| \\", "|a|", r"\vert a\vert "),
        (r"\|a\| \\| b", r"\|a\| \\| b", r"\Vert a\Vert  \\\vert  b"),
    ],
)
def test_a_formula_of_a_document_ends_at_its_sign_and_bars_do_not_end_a_cell(
    source: str, inside: str, in_a_cell: str
) -> None:
    (made,) = PlainTree(word=True).formula({"t": "Math", "c": [{"t": "InlineMath"}, source]})
    assert made["c"][1] == f"${inside}$"
    assert without_bars(inside) == in_a_cell


def test_signs_of_formulas_hold_no_money_paths_or_words() -> None:
    for formula in (formulas := FORMULAS.strip().split("\n")):
        assert math_zones(f"Be {formula}, or {formula}.") == [
            (3, 3 + len(formula)),
            (8 + len(formula), 8 + 2 * len(formula)),
        ]
    for text in (texts := TEXTS.strip().split("\n")):
        assert math_zones(f"It is {text} so") == [], text
        assert math_zones(text) == [], f"{text} on a line of its own"
    assert min(len(formulas), len(texts)) >= 40


PIECES = [
    r"\frac", "{", "}", "{a}", "_", "^", "x", "12", " ", "\\ ", r"\\", r"\left", r"\right", "(", ")", ".", "[", "]", r"\{", "=",
    "&", r"\widehat", r"\mathbf", r"\beta", r"\tfrac", r"\begin{matrix}", r"\end{matrix}", r"\text{if a}", "'", "\n", "%", "|",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(["$ $", "$$ $$", r"\( \)", r"\[ \]"])
)
def test_no_formula_ends_a_report_and_spelling_it_twice_is_spelling_it_once(inside: str, signs: str) -> None:
    begin, end = signs.split()
    once = canonical_format(f"A b {begin}{inside}{end}5 c\n\n| a | {begin}{inside}{end} |\n|---|---|\n| 1 | 2 |").text
    assert canonical_format(once).text == once

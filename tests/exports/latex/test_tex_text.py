"""Any text as TeX: nothing of it is a command, and it can be read back."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.latex.tex_text import ACCENTS, MELTS_NOT, TEX, breakable, escape, foreign, needs_t1, prose

# what `escape` may write, each with what it prints; the longest first
MARKS = {tex: mark for mark, tex in TEX.items()} | {MELTS_NOT: "", r"\allowbreak{}": ""}
TOKEN = re.compile(
    "|".join(
        [
            r"(?P<number>\$\\langle\$U\+(?P<hex>[0-9A-F]{4,6})\$\\rangle\$)",
            r"(?P<greek>\$(?P<over>(?:\\(?:acute|ddot)\{)+)(?P<letter>\\?[a-z]+(?:\{[A-Z]\})?)\}+\$)",
            r"(?P<accents>(?:\\[`'^~=.\"uvHrcdb]\{)+)(?P<base>[A-Za-z0-9])\}+",
            f"(?P<mark>{'|'.join(map(re.escape, sorted(MARKS, key=len, reverse=True)))})",
            r"(?P<plain>[^\\{}$&#%_^~])",
        ]
    ),
    re.DOTALL,
)
COMBINING = {command: accent for accent, command in ACCENTS.items()}
OVER = {"acute": "\u0301", "ddot": "\u0308"}


def read(tex: str) -> str:
    """What TeX prints; fails at anything that is no printing of text, such as a bare %, a brace or a command."""
    out, at = [], 0
    while at < len(tex):
        found = TOKEN.match(tex, at)
        assert found, tex[at:]
        at = found.end()
        if found["number"]:
            out.append(chr(int(found["hex"], 16)))
        elif found["greek"]:
            marks = [OVER[name] for name in re.findall(r"\\(acute|ddot)", found["over"])]
            out.append(MARKS[f"${found['letter']}$"] + "".join(reversed(marks)))
        elif found["accents"]:
            marks = [COMBINING[one] for one in re.findall(r"\\(.)\{", found["accents"])]
            out.append(found["base"] + "".join(reversed(marks)))
        else:
            out.append(MARKS[found["mark"]] if found["mark"] else found["plain"])
    return unicodedata.normalize("NFC", "".join(out))


def printed(text: str) -> str:
    """A text without what no paper shows: kinds of space, and signs that direct a line."""
    shown = []
    for mark in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(mark)
        if mark in TEX:
            shown.append(mark)
        elif mark.isspace():
            shown.append(" ")
        elif not (kind == "Cf" or "\ufe00" <= mark <= "\ufe0f"):
            shown.append(mark)
    return unicodedata.normalize("NFC", "".join(shown))


any_text = st.text(
    st.one_of(st.sampled_from([*TEX, *ACCENTS, *"abciéłΐ=+-'`,-–—中😀\u200d\u200b\x00\n\ufe0f"]), st.characters())
)


@given(any_text)
def test_no_sign_of_a_text_is_a_command_and_none_is_lost(text):
    assert read(escape(text)).replace("\u200d", "").replace("\u200c", "") == printed(text)


@given(any_text)
def test_places_to_break_a_line_print_nothing(text):
    broken = read(breakable(text)).replace("\u200d", "").replace("\u200c", "")
    assert re.sub(r"\s+", " ", broken) == re.sub(r"\s+", " ", printed(text))


@given(any_text)
def test_what_pdflatex_cannot_print_is_always_named(text):
    strange = [mark for mark in escape(text) if ord(mark) > 0x2122 and mark not in "\u200d\u200c"]
    assert bool(foreign([text])) or not strange


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("50 % of_{x}", r"50 \% of\_\{x\}"),
        (r"\input{x} \write18", r"\textbackslash{}input\{x\} \textbackslash{}write18"),
        ("--flag", r"-{\kern0pt}-flag"),
        ('say "yes"', r"say \char34{}yes\char34{}"),
        ("Cohen’s κ ≥ .5", r"Cohen\textquoteright{}s $\kappa$ $\geq$ .5"),
        ("Système ế", r"Système \'{\^{e}}"),
        ("a\x07b\u200bc\u202e", r"a$\langle$U+0007$\rangle$b\hspace{0pt}c"),
        ("one\r\ntwo", "one  two"),
        ("中文 😀", "中文 😀"),
    ],
)
def test_examples(text, tex):
    assert escape(text) == tex


def test_a_long_name_may_end_a_line_after_its_signs_and_a_short_one_may_not():
    assert breakable("gpt-5_mini a/b") == r"gpt-5\_mini a/b"
    assert breakable("openrouter/claude-4.5") == r"openrouter/\allowbreak{}claude-\allowbreak{}4.5"


@pytest.mark.parametrize(("text", "needs"), [("Zażółć", False), ("gęś", True), ("« oui »", True), ("中", False)])
def test_letters_of_t1_are_known(text, needs):
    assert needs_t1([text]) is needs


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("95 % of n = 30", r"95~\% of n~=~30"),
        ("(p = .002; ω = .83)", r"(p~=~.002; $\omega$~=~.83)"),
        ("t of C − 1", r"t of C~$-$~1"),
        ("option = 3", "option = 3"),
    ],
)
def test_no_line_of_running_text_ends_within_a_number(text, tex):
    assert prose(text) == tex

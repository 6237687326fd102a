"""Scripts of the world's languages: which way they are read, how much there is without blanks, what is a sentence."""

import re

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
RIGHT_TO_LEFT_SCRIPTS = frozenset({"adlm", "arab", "hebr", "nkoo", "syrc", "thaa"})
IDEOGRAPHS = r"\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han and kana
ALPHABETS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
UNSPACED = re.compile(f"[{ALPHABETS}{IDEOGRAPHS}]+")
# what fills two columns of a terminal, emoji aside; app/component/telling.js counts the same
WIDE = re.compile(
    r"[\u1100-\u115f\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
    r"\U00020000-\U0003ffff]"
)
LETTERS_A_WORD = 5  # of an alphabet without blanks: the standard word of typing tests
UNITS = re.compile(rf"[{IDEOGRAPHS}]|[{ALPHABETS}]{{1,{LETTERS_A_WORD}}}|[^\W{IDEOGRAPHS}{ALPHABETS}]+")


def direction(language: str) -> str:
    """`rtl` or `ltr`, as HTML's `dir` says it; `language` is a BCP 47 tag, whose script counts before its language."""
    first, *rest = language.lower().split("-")
    script = next((part for part in rest if len(part) == 4), "")
    right = script in RIGHT_TO_LEFT_SCRIPTS if script else first in RIGHT_TO_LEFT
    return "rtl" if right else "ltr"


def count_words(text: str) -> int:
    """How much there is to read, in words: runs of non-blank characters, and every Han or kana character for itself.

    So do word processors count, and it is about one reading time: 255 (sd 29) Chinese characters a minute against 228
    (sd 30) English words of the same texts (Trauzettel-Klosinski and Dietz 2012, IReST). Of Thai, Lao, Burmese and
    Khmer, LETTERS_A_WORD letters are a word. In a run with such characters marks alone are none.
    """
    if text.isascii() or not UNSPACED.search(text):
        return len(text.split())
    return sum(len(UNITS.findall(run)) if UNSPACED.search(run) else 1 for run in text.split())


def typed_length(text: str) -> int:
    """Characters of what a person typed, without blanks at its ends; a full-width one says as much as two."""
    typed = text.strip()
    return len(typed) + len(WIDE.findall(typed))


QUOTED = re.compile(r"[\"“«「][^\"”»」\n]{6,200}[\"”»」]|(?<![*_\w])[*_](?![*_\s])[^*_\n]{6,200}[*_](?![*_\w])")
_WORD = re.compile(r"\w+")
_VERBS_ = """
    is are was were has have had been can may might will would should which that because although these this they
"""
_VERBS = frozenset(_VERBS_.split())
_CJK_STOP = re.compile(r"[。！？；]")


def is_prose(line: str) -> bool:
    """Does the line speak in sentences? Records of sources have no finite verbs outside their quoted titles."""
    if _verbs(line) >= 2 and _verbs(QUOTED.sub(" ", line)) >= 2:  # most have none, and words are found faster
        return True
    return not line.isascii() and len(_CJK_STOP.findall(line)) >= 2


def _verbs(text: str) -> int:
    return sum(map(_VERBS.__contains__, _WORD.findall(text)))

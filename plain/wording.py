"""Sentences in the language of whoever reads them, by GNU gettext: the English sentence is the key.

Catalogues are the `.po` files of a language's folder in `catalogues`; what they lack stays English. Nothing that is
kept, computed or exported may depend on the language that is set: `spoken` sets English for it.
"""

import gettext
import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from plain.counting import counted

ENGLISH = "en"
FOLDER = Path(__file__).parent / "catalogues"
LANGUAGES = {ENGLISH: "English", "zh_CN": "简体中文"}
COUNTED = "counted"  # the context of a noun that stands behind its number, with the measure word that it takes
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def worded(sentence: str, /, **fields: object) -> str:
    """The sentence in the language that is set, its {fields} filled in; without fields as it stands."""
    told = sentence if _language.get() == ENGLISH else catalogue(_language.get()).gettext(sentence) if sentence else ""
    return judge_named(told.format(**fields)) if fields else told


def worded_of(n: int, one: str, other: str, /, **fields: object) -> str:
    """The same, in the form that `n` things take; {n} is that number."""
    spoken_in = None if _language.get() == ENGLISH else catalogue(_language.get())
    told = spoken_in.ngettext(one, other, n) if spoken_in else one if n == 1 else other
    return told.format(n=n, **fields)


def judge_named(text: str) -> str:
    """A judge's name, or a text that tells it, as it is read: what calipers adds where both orders count is no name."""
    return text.replace("[both orders]", worded("[both orders]"))


def several(count: int, thing: str, more: str = "") -> str:
    """`1 topic`, `2,400 topics`, `2,400 个主题`. `more`: as of `counted`; other languages say it around the number."""
    noun = thing if _language.get() == ENGLISH else catalogue(_language.get()).pgettext(COUNTED, thing)
    return counted(count, thing, more) if noun == thing else f"{count:,} {noun}"


class Sentence(str):
    """A sentence as it is kept, compared and exported, which is in English; `text` is it as a reader is told it.

    A field that is itself one is told along.
    """

    sentence: str
    fields: dict[str, object]

    def __new__(cls, sentence: str, /, **fields: object) -> "Sentence":
        made = super().__new__(cls, sentence.format(**fields) if fields else sentence)
        made.sentence, made.fields = sentence, fields
        return made

    @property
    def text(self) -> str:
        """The same in the language that is set."""
        told = {name: value.text if isinstance(value, Sentence) else value for name, value in self.fields.items()}
        return worded(self.sentence, **told)


class Refusal(Exception):
    """What is refused: a stable `code` for programs, and a sentence for people that keeps its {fields}.

    So a page tells `text` in its own language wherever the refusal was made; in logs and on the command line it is
    English. Without fields the sentence is said as it stands.
    """

    def __init__(self, code: str, sentence: str, /, **fields: object) -> None:
        self.kept = Sentence(sentence, **fields)
        super().__init__(self.kept)
        self.code = code
        self.sentence = sentence
        self.fields = fields

    @property
    def text(self) -> str:
        """What, which one, what to do, in the language that is set."""
        return self.kept.text


def set_language(language: str) -> None:
    """Say what follows in this thread in one of `LANGUAGES`."""
    _language.set(language if language in LANGUAGES else ENGLISH)


def spoken() -> str:
    """The language that is set."""
    return _language.get()


@contextmanager
def speaking(language: str = ENGLISH) -> Iterator[None]:
    """Inside the block this language is set."""
    before = _language.set(language)
    try:
        yield
    finally:
        _language.reset(before)


def nearest(tag: str) -> str:
    """One of `LANGUAGES` for a browser's tag, be it of another region; English where there is none."""
    asked = tag.replace("_", "-").partition("-")[0].lower()
    return next((own for own in LANGUAGES if own.partition("_")[0] == asked), ENGLISH)


@lru_cache
def catalogue(language: str) -> gettext.GNUTranslations:
    """What is worded in this language, of all its files."""
    from babel.messages import mofile, pofile  # not for who reads English

    found = None
    for path in sorted((FOLDER / language).glob("*.po")):
        with path.open("rb") as file, io.BytesIO() as compiled:
            mofile.write_mo(compiled, pofile.read_po(file, language))
            compiled.seek(0)
            read = gettext.GNUTranslations(compiled)
        if found is None:
            found = read
        else:
            found.add_fallback(read)
    assert found is not None, f"{language} has a folder"
    return found

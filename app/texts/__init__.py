"""The words that annotators and adjudicators read, one catalogue a language; English is the original."""

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotation.texts.scripts import direction

ENGLISH = "en"
SCREENS = "screens"  # keys that only Python's own pages use: they do not travel with the component
SHIPPED = Path(__file__).parent
PLURALS = {"zero", "one", "two", "few", "many", "other"}  # CLDR's names, as Intl.PluralRules gives them
# what could end a script element early, begin a comment in it, or end a line of an old script
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}

Text = str | Mapping[str, str]


class TextsError(ValueError):
    """A catalogue cannot be used; says which file, which key and what to do."""


@dataclass(frozen=True)
class Texts:
    """What one page says. `language` is that of the words, which is English where no catalogue of a study's is."""

    language: str
    dir: str  # ltr | rtl
    texts: Mapping[str, Text]

    def tell(self, key: str, **values: object) -> str:
        """The text of `key` with {name} filled in; where it has forms, `one` for n = 1 and else `other`."""
        text = self.texts[key]
        form = text if isinstance(text, str) else text.get("one" if values["n"] == 1 else "other", text["other"])
        return form.format(**{name: self._apart(value) for name, value in values.items()})

    def _apart(self, value: object) -> object:
        """Set apart what runs against the page's direction, or it would draw the numbers beside it over.

        From the right that is a date as well, which would read 27-11-2026 there.
        """
        ways = {unicodedata.bidirectional(letter) for letter in value} if isinstance(value, str) else set()
        from_right = bool(ways & {"R", "AL"})
        against = not from_right and bool(ways & {"L", "EN"}) if self.dir == "rtl" else from_right
        return f"\u2068{value}\u2069" if against else value


def texts_for(*languages: str) -> Texts:
    """The words of the first of these languages that has a catalogue, be it without its region; else English."""
    known = catalogues()
    tags = {tag.lower(): tag for tag in known}
    asked = (each for language in languages for each in (language.lower(), language.lower().split("-")[0]))
    tag = next((tags[each] for each in asked if each in tags), ENGLISH)
    return Texts(tag, direction(tag), known[ENGLISH] | known[tag])


def texts_accepted(accept_language: str) -> Texts:
    """The words for a browser that nobody is signed in with, by its Accept-Language header."""
    ranked = [part.partition(";q=") for part in accept_language.replace(" ", "").split(",")]
    return texts_for(*(tag for tag, _, weight in sorted(ranked, key=_weight, reverse=True)))


@lru_cache(maxsize=1)
def catalogues() -> dict[str, dict[str, Text]]:
    """Every catalogue by its language: those shipped, and over them those in the folder that CALIPERS_TEXTS names."""
    folders = [SHIPPED, *map(Path, filter(None, [os.environ.get("CALIPERS_TEXTS")]))]
    english = read_catalogue(SHIPPED / f"{ENGLISH}.toml")
    told: dict[str, dict[str, Text]] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        told[path.stem] = told.get(path.stem, {}) | read_catalogue(path, english)
    return told


def read_catalogue(path: Path, english: Mapping[str, Text] | None = None) -> dict[str, Text]:
    """Key to text of one file. Raises TextsError for what is no text, or nothing that English says."""
    try:
        flat = dict(_flat(tomllib.loads(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TextsError(f"{path}: {error}; correct the file") from None
    for key, text in flat.items():
        known = english[key] if english is not None and key in english else None
        if english is not None and known is None:
            raise TextsError(f"{path}: unknown key {key!r}; the keys are those of {ENGLISH}.toml")
        if isinstance(text, Mapping) and "other" not in text:
            raise TextsError(f"{path}: {key} has no form 'other'; add it")
        for form in forms(text):
            if not isinstance(form, str) or not form.strip():
                raise TextsError(f"{path}: {key} is no text; write one between quotes")
            if "<" in form or ">" in form:
                raise TextsError(f"{path}: {key} holds markup; write words only")
        if known is not None and (extra := placeholders(text) - placeholders(known)):
            raise TextsError(f"{path}: {key} names {{{sorted(extra)[0]}}}, which English does not fill in; remove it")
    return flat


def missing_keys(language: str) -> list[str]:
    """Return the keys that this catalogue leaves to English, in English's order."""
    known = catalogues()
    return [key for key in known[ENGLISH] if key not in known[language]]


def forms(text: Text) -> Iterable[str]:
    """Every wording of a text, one or one for each form of the number."""
    return text.values() if isinstance(text, Mapping) else (text,)


def placeholders(text: Text) -> set[str]:
    """The names that are filled in."""
    return {name for form in forms(text) for name in re.findall(r"\{(\w+)\}", form)}


def as_json(*languages: str) -> str:
    """{dir, words} by language, what the component says in these, as a script element may hold it."""
    told = {
        tag: {
            "dir": direction(tag),
            "words": {key: text for key, text in catalogues()[tag].items() if not key.startswith(f"{SCREENS}.")},
        }
        for tag in languages
    }
    return inline_json(told)


def inline_json(value: Any) -> str:
    """Write JSON that a script element may hold as it is, whatever its texts say."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(ESCAPED)


def _weight(ranked: tuple[str, str, str]) -> float:
    try:
        return float(ranked[2] or 1)
    except ValueError:
        return 0.0


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Text]]:
    for name, value in table.items():
        if isinstance(value, dict) and not value.keys() <= PLURALS:
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value

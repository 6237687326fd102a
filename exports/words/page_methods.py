"""The methods section on a page: its emphasis, its citations as names and years, and the sources they stand for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from markdown_it import MarkdownIt
from markupsafe import Markup

from exports.bibliography import entries

CITED = re.compile(r"\[(@[\w:-]+(?:; @[\w:-]+)*)\]")
WHERE = ("journal", "booktitle", "publisher", "howpublished")
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303"}
# paragraphs, strong words and what `as_markdown` escapes; no address can come of it
_MARKDOWN = MarkdownIt("zero").enable(["emphasis", "escape", "entity"])


def methods_html(markdown: str) -> Markup:
    """The paragraphs of `methods_paragraph`, or any plain text, as HTML; an unknown key stays as it is."""
    known = entries()
    return Markup(_MARKDOWN.render(CITED.sub(lambda found: _cited(found, known), markdown)))


def sources_of(markdown: str) -> list[str]:
    """Every source that is cited, one line each, by name."""
    known = entries()
    keys = {key for found in CITED.finditer(markdown) for key in _keys(found) if key in known}
    return sorted(_line(_fields(known[key])) for key in keys)


def _cited(found: re.Match[str], known: Mapping[str, str]) -> str:
    keys = list(_keys(found))
    if not {*keys} <= {*known}:
        return found[0]
    sources = (_fields(known[key]) for key in keys)
    return f"({'; '.join(f'{_names(one)} {_year(one)}' for one in sources)})"


def _keys(found: re.Match[str]) -> Iterator[str]:
    yield from (key.removeprefix("@") for key in found[1].split("; "))


def _fields(entry: str) -> dict[str, str]:
    """Of a BibTeX entry with one field a line; braces only keep capitals."""
    found = re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", entry, flags=re.M)
    return {name: _plain(value) for name, value in found}


def _plain(value: str) -> str:
    """`Jo{\\~a}o` as João, `DR$^3$` as DR³."""
    text = re.sub(r"[{}]", "", value).replace("$^3$", "³").replace(r"\O ", "Ø").replace(r"\O", "Ø").replace("--", "–")
    accented = re.sub(r"\\(['`^\"~])(\w)", lambda found: found[2] + ACCENTS[found[1]], text)
    return unicodedata.normalize("NFC", accented).replace("\\", "")


def _names(fields: Mapping[str, str]) -> str:
    authors = [name.partition(",")[0] for name in fields.get("author", "").split(" and ")]
    return f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)


def _year(fields: Mapping[str, str]) -> str:
    return fields.get("year", "n.d.")


def _line(fields: Mapping[str, str]) -> str:
    authors = fields.get("author", "").replace(" and ", "; ")
    where = next((fields[name] for name in WHERE if name in fields), "")
    doi = f"doi:{fields['doi']}" if "doi" in fields else ""
    parts = (authors, fields.get("title", ""), where, _year(fields), doi)
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)

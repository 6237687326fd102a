"""The works that a report cites, each once, the list of those that it is to cite (a file or folder that somebody made:
a survey's bibliography), and which work of that list each of them is.

Two namings are one work where they share a DOI, an arXiv number or an address, or where one of them is the other's
title. Nothing is fetched: a work that a report names by an address alone is known by that address alone.
"""

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting, nfc
from annotation.files.folders import files, refuse_ways_out
from annotation.files.rows import read_csv, read_json_rows
from annotation.source_lists.named_citations import opening
from annotation.source_lists.reference_lists import find_lists

TITLES = ("title", "name")
COLUMN = "topic"
# what these hold names something else than the work
OF_OTHERS = ("licen", "publisher", "author", "funder", "reference", "citation", "cited")
KINDS = (".jsonl", ".json", ".csv")

ADDRESS = re.compile(r"https?://[^\s<>\"'\]|]+")
URL = "url:"  # opens the key of an address
CLOSING = ".,;:!?*_"
LONG_TITLE = 6  # words: a shorter title must begin and end where the entry has a mark of punctuation
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>|\]]+", re.IGNORECASE)
ARXIV_NUMBER = r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})"
ARXIV_NAMED = re.compile(rf"\barxiv[:\s./]{{1,3}}(?:abs/)?{ARXIV_NUMBER}", re.IGNORECASE)
ARXIV_PATH = re.compile(rf"/(?:abs|pdf|html|papers|overview)/{ARXIV_NUMBER}", re.IGNORECASE)
OF_ARXIV = ("arxiv.org", "ar5iv.org", "alphaxiv.org", "huggingface.co")
LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(\s*<?(https?://[^\s<>]+)")
TEX = re.compile(r"\\[a-zA-Z]+|\\.|[{}$]")
HAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # and kana: no blank parts their words, so each sign is one
WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
# after what a journal's name is followed by: its volume; before a title there is no "in"
VOLUME = re.compile(r"vol|volume|no|\d{1,3}")
SHORT_TITLE = 3  # words: it may be the name of a journal
OF_PREPRINTS = re.compile(r"(10\.1101/\S*?\d)v\d+(?:\.\S*)?$")  # bioRxiv and medRxiv: which version, and as what
JOINS = re.compile(r"(?:\s*|[-‐‑–'’/])$")  # between two words of one title, and no mark of punctuation


@dataclass(frozen=True)
class Work:
    """One work as it is named somewhere. `keys`: `doi:`, `arxiv:` and `url:` with what follows; `texts`: of entries
    and links; `title`: where it is known by itself, as in a list that somebody else made."""

    keys: frozenset[str]
    texts: tuple[str, ...] = ()
    title: str = ""


def addresses_in(text: str) -> list[str]:
    """Every address that the text names, each time it does; a bracket that was opened before it does not belong."""
    return [_balanced(found.rstrip(CLOSING)) for found in ADDRESS.findall(text)]


def _balanced(address: str) -> str:
    while address.endswith(")") and address.count(")") > address.count("("):
        address = address[:-1].rstrip(CLOSING)
    return address


def cited_works(text: str) -> list[Work]:
    """Those of a report in the order they are named first: entries of its lists of sources, and all other addresses.

    Entries and addresses that share a key are one work.
    """
    entries = [(frozenset(keys_in(entry)), (opening(entry),)) for entry in find_lists(text).entries]
    links = [(frozenset(key_of(addresses_in(address)[0])), (words,)) for words, address in LINK.findall(text)]
    bare = [(frozenset(key_of(address)), ()) for address in addresses_in(text)]
    return joined([Work(keys, texts) for keys, texts in (*entries, *links, *bare) if keys or texts])


def is_known_by_address(work: Work) -> bool:
    """Whether nothing but an address is known of it: no number, and no text long enough to be a title."""
    has_title = any(len(_words(ADDRESS.sub(" ", text))) > 2 for text in work.texts)
    return not has_title and all(key.startswith(URL) for key in work.keys)


def joined(works: Sequence[Work]) -> list[Work]:
    """Those that share a key, or have one title, as one; an address of several works, as of a licence, joins none."""
    shared = _of_several(works)
    works = [replace(work, keys=work.keys - shared) for work in works]
    of_key: dict[str, int] = {}
    groups: dict[int, list[Work]] = {}
    for place, work in enumerate(works):
        names = [*work.keys, *([f"title:{' '.join(words)}"] if (words := _words(work.title)) else [])]
        held = sorted({of_key[name] for name in names if name in of_key})
        first = held[0] if held else place
        groups.setdefault(first, [])
        for other in held[1:]:
            groups[first] += groups.pop(other)
        groups[first].append(work)
        of_key = {name: first if at in held else at for name, at in of_key.items()} if len(held) > 1 else of_key
        of_key |= dict.fromkeys(names, first)
    return [
        Work(
            frozenset().union(*(work.keys for work in group)),
            tuple(dict.fromkeys(text for work in group for text in work.texts)),
            next((work.title for work in group if work.title), ""),
        )
        for _, group in sorted(groups.items())
    ]


def _of_several(works: Sequence[Work]) -> set[str]:
    """Addresses under which there are several DOIs, several arXiv numbers or several titles."""
    under: dict[str, dict[str, set[str]]] = {}
    for work in works:
        names = [key for key in work.keys if not key.startswith(URL)]
        names += [f"title:{' '.join(words)}"] if (words := _words(work.title)) else []
        for address in work.keys:
            if address.startswith(URL):
                kinds = under.setdefault(address, {})
                for name in names:
                    kinds.setdefault(name.partition(":")[0], set()).add(name)
    return {address for address, kinds in under.items() if any(len(names) > 1 for names in kinds.values())}


def matched(cited: Sequence[Work], wanted: Sequence[Work]) -> list[frozenset[int]]:
    """For each cited work the places of the `wanted` ones that it is; empty where it is none of them."""
    by_key: dict[str, set[int]] = {}
    by_first: dict[str, list[tuple[int, list[str]]]] = {}
    for place, work in enumerate(wanted):
        for key in work.keys:
            by_key.setdefault(key, set()).add(place)
        if words := _words(work.title):
            by_first.setdefault(words[0], []).append((place, words))
    return [
        frozenset(
            {place for key in work.keys for place in by_key.get(key, ())}
            | {place for text in work.texts for place in _titles_in(text, by_first)}
        )
        for work in cited
    ]


def keys_in(text: str) -> Iterator[str]:
    """DOIs, arXiv numbers and addresses that a line of text names."""
    for address in addresses_in(text):
        yield from key_of(address)
    for doi in DOI.findall(text):
        yield _of_doi(doi)
    for number in ARXIV_NAMED.findall(text):
        yield f"arxiv:{number.lower()}"


def key_of(address: str) -> list[str]:
    """The DOI or the arXiv number that an address holds, else the address without its ways of writing.

    [] for none, and for the front page of a site, which is no work.
    """
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return []
    path = unquote(parts.path)
    if any(host == one or host.endswith(f".{one}") for one in OF_ARXIV) and (found := ARXIV_PATH.search(path)):
        return [f"arxiv:{found[1].lower()}"]
    if doi := DOI.search(path):
        return [_of_doi(doi[0])]
    query = f"?{parts.query}" if parts.query and "utm_" not in parts.query else ""
    rest = f"{path.rstrip('/')}{query}"
    return [f"{URL}{host}{rest}"] if host and rest else []


def _of_doi(doi: str) -> str:
    doi = OF_PREPRINTS.sub(r"\1", doi.lower().rstrip(".,;:)*_").removesuffix("/full").removesuffix(".pdf"))
    arxiv = doi.partition("10.48550/arxiv.")[2]
    return f"arxiv:{arxiv}" if arxiv else f"doi:{doi}"


def _words(title: str) -> list[str]:
    return WORD.findall(_plain(title))


def _plain(text: str) -> str:
    """In small letters, without accents and TeX."""
    spread = unicodedata.normalize("NFKD", TEX.sub("", text))
    return "".join(sign for sign in spread if not unicodedata.combining(sign)).casefold()


def _titles_in(text: str, by_first: Mapping[str, Sequence[tuple[int, list[str]]]]) -> Iterator[int]:
    """Titles whose words follow each other in the text; a short one only from one mark of punctuation to another."""
    plain = _plain(text)
    spans = [(found.start(), found.end()) for found in WORD.finditer(plain)]
    words = [plain[start:end] for start, end in spans]
    between = [plain[one[1] : other[0]] for one, other in itertools.pairwise(spans)]
    # before each word, and after the last: whether punctuation, or nothing, is there
    parted = [True, *(JOINS.match(gap) is None for gap in between), True]
    for start, word in enumerate(words):
        for place, title in by_first.get(word, ()):
            end = start + len(title)
            if words[start:end] != title:
                continue
            is_long = len(title) >= LONG_TITLE * (2 if re.match(f"[{HAN}]", title[0]) else 1)
            alone = parted[start] and parted[end] and (len(title) > 1 or len(title) == len(words))
            if is_long or (alone and not _is_journal(words, start, end)):
                yield place


def _is_journal(words: Sequence[str], start: int, end: int) -> bool:
    """Whether a short run of words is where an entry has the name of its journal."""
    if end - start > SHORT_TITLE:
        return False
    is_inside = start > 0 and words[start - 1] == "in"
    return is_inside or (end < len(words) and VOLUME.fullmatch(words[end]) is not None)


def read_wanted(path: Path) -> dict[str, list[Work]]:
    """Works by topic, each once. A folder: a file a topic, called like it; a file: its column `topic` says which.

    `.jsonl`, `.json` or `.csv` with a title, and whatever holds a DOI, an arXiv number or an address, also below other
    names, as ReportBench's `meta_info`. Raises ImportingError with every problem.
    """
    refuse_ways_out(path)
    problems: list[str] = []
    found: dict[str, list[Work]] = defaultdict(list)
    lists = [one for one, _ in files(path, "*.*") if one.suffix in KINDS]
    if not lists:
        raise ImportingError(f"{path}: no .jsonl, .json or .csv; give the folder of the lists, or one file")
    for one in lists:
        with collecting(problems):
            for row in _rows(one, problems):
                topic = as_text(row.values.get(COLUMN)) if path.is_file() else one.stem
                title = next((text for name in TITLES if (text := as_text(row.values.get(name)))), "")
                keys = frozenset(keys_in(_told(row.values)))
                if not topic:
                    problems.append(f"{row.where}: no {COLUMN!r}; name it, or give a folder with a file for each")
                elif not title and not keys:
                    problems.append(f"{row.where}: neither a title nor a DOI, an arXiv number or an address; add one")
                else:
                    found[nfc(topic)].append(Work(keys, (), title))
    if problems:
        raise ImportingError(problems)
    return {topic: joined(works) for topic, works in found.items()}


def _rows(path: Path, problems: list[str]) -> list[Row]:
    if path.suffix == ".csv":
        return read_csv(path, path.name, problems)[1]
    return read_json_rows(path, path.name, problems)


def _told(values: dict[str, Any]) -> str:
    """All that a row says of the work as text, nothing of its licence or publisher; what is called arXiv as such."""
    parts = []
    for name, value in values.items():
        named = name.casefold()
        if any(word in named for word in OF_OTHERS):
            continue
        text = _within(value)
        parts.append(f"arXiv:{text}" if named in ("arxiv", "arxiv_id", "eprint") and text else text)
    return "\n".join(parts)


def _within(value: Any) -> str:
    if isinstance(value, dict):
        return _told(value)
    return "\n".join(map(_within, value)) if isinstance(value, list) else as_text(value) or ""

"""Citations by name, removed only where the list of sources proves them: author with year, label, name of a source."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from annotation.source_lists.reference_entries import key_of
from annotation.texts.openers import OpenedBy
from annotation.texts.spans import GONE, Span

_YEAR = r"(?:1[5-9]|20)[0-9]{2}[a-z]?|n\.d\.|forthcoming|in press"
_PARENTHESIS = OpenedBy("(（[", rf"([^()（）\[\]\n]{{2,400}}?(?:{_YEAR})[^()（）\[\]\n]{{0,80}})[)）\]]")
_PART = re.compile(
    rf"(?:(?:see(?: also)?|e\.g\.|cf\.|also|and|i\.e\.|vgl\.|siehe|voir|véase|ver|cfr\.|см\."
    rf"|as in)[,，]?\s+){{0,3}}\s*(.{{2,160}}?)[,，]?\s+\(?({_YEAR})(?:\s?[,&]\s?(?:{_YEAR}))*\)?"
    r"(?:[,:]\s*(?:pp?\.?|S\.|с\.|ch\.?|chap\.|sec\.|§|para\.?|table|fig\.?|chapter)?\s*[\w.,–\- ]{1,30})?\s*$",
    re.IGNORECASE,
)
_ENTRY_LEAD = re.compile(
    r"[\s>*\-•·+_\"“‘'《\[]*(?:\\?\[?\^?[0-9]{1,3}\^?\\?\]?[.):：]?\s+"
    r"|\\?\[[0-9]{1,3}\\?\][.:：]?\s*)*[\s*_\"“‘'《\[]*"
)
_WORD = re.compile(r"[^\W\d_][\w’'\-]*")
_SPLIT = re.compile(r"\s*[;；]\s*")


_ACRONYM = re.compile(r"[(（\[][A-Z]{3,12}[ ](?:1[5-9]|20)[0-9]{2}[)）\]]$")
_CITED_NAME = re.compile(
    r"[(;；（][ ]?(?:see |e\.g\. |cf\. ){0,3}([^\W\d_][\w’'\-]*)"
    r"[^();；（）\n]{0,60}?[ ,，]((?:1[5-9]|20)[0-9]{2})(?![0-9])"
)


def cited_names(lines: Sequence[str]) -> dict[str, set[str]]:
    """Years by the first word of every `(Surname …, year)` in the text, the word in lower case."""
    years: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for name, year in _CITED_NAME.findall(line):
            years[name.lower()].add(year)
    return years


def opening(entry: str) -> str:
    """An entry without the number, bullet and marks that it begins with."""
    lead = _ENTRY_LEAD.match(entry)
    return entry[lead.end() if lead else 0 :]


def opening_name(entry: str) -> str:
    """The first word of an entry, in lower case; empty if it has none."""
    first = _WORD.search(opening(entry)[:60])
    return first[0].lower() if first else ""


def find_author_years(text: str, entries: Sequence[str]) -> Iterator[Span]:
    """Parentheses such as `(Surname et al., 2021; Other & Third, 2019a, p. 14)` that `entries` prove."""
    known: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        head = opening(entry)
        if first := _WORD.search(head[:60]):
            known[first[0].lower()].append(head)
    if not known:
        return
    # one bracket of capitals in a text that cites otherwise names a survey or a report: `(ENADID 2018)` is content
    found = list(_PARENTHESIS.finditer(text))
    if len(found) == 1 and _ACRONYM.match(found[0][0]):
        return
    for match in found:
        parts = [part for part in _SPLIT.split(match[1]) if part]
        found = [shape for part in parts if (shape := _PART.match(part))]
        if len(found) < len(parts) or not any(_proven(shape[1], shape[2], known) for shape in found):
            continue
        if len(found) == 1 or all(_like_name(shape[1]) for shape in found):
            yield Span(match.start(), match.end(), "author_year")


def _proven(name: str, year: str, known: dict[str, list[str]]) -> bool:
    word = _WORD.search(name)
    if not word:
        return False
    digits = year[:4].lower()
    for head in known.get(word[0].lower(), ()):
        if digits not in head.lower():
            continue
        if _like_name(name) or _plain(head).startswith(_plain(name)):
            return True
    return False


def _like_name(name: str) -> bool:
    """Surnames and organisations: capitalised words joined by `and`, `&`, `et al.`, commas."""
    words = [w for w in re.split(r"[\s,&]+", name.strip()) if w]
    joints = {"and", "et", "al.", "al", "von", "van", "de", "der", "of", "the", "for", "la", "le", "du", "und", "y"}
    return 0 < len(words) <= 8 and all(w[:1].isupper() or w in joints or not w[:1].isascii() for w in words)


def _plain(words: str) -> str:
    return re.sub(r"\W+", " ", words).strip().lower()


_ROUND = re.compile(r"\(([^()\n]{4,1500})\)")
_JOINT = re.compile(r"[,;][ ]")
_STEM = re.compile(r"(?=\w*[0-9])(?=\w*[^\W\d_])\w{8,}")
_PLACE = 40  # characters behind the stem: `pages 1-2`, `media 4f90b336`
_NAME = re.compile(rf"\[([^\W\d_][^\[\]\n|{GONE}]{{3,160}}+)\][ ]?(?={GONE})")
_NAME_ALONE = re.compile(rf"\\?\[([^\W\d_a-z][^\[\]\n|\\{GONE}]{{2,79}}+)\\?\](?![(:])")
# what has to follow a run of brackets, by what comes before it: otherwise a name in it is a word of the text
_RUN = r"(?:[ ]?\\?\[[^\[\]\n]{1,81}\]){0,9}"
_BEFORE = 300  # characters that are searched for what comes before
_LINE_BEFORE = re.compile(rf"(?:^|\n)[ \t>]{{0,8}}(?:[*+•-]|[0-9]{{1,3}}[.)])?[ \t]{{0,3}}{_RUN}[ ]?\Z")
_LINE_END = re.compile(rf"{_RUN}[ \t{GONE}]{{0,200}}(?:\n|\Z)")
_SENTENCE_BEFORE = re.compile(rf"[.!?][\"”’)]?[ {GONE}]{{1,40}}{_RUN}[ ]?\Z")
_SENTENCE_BEHIND = re.compile(rf"{_RUN}(?:[ ]?(?:\n|\Z|{GONE})|[ ][\"“‘'«*_(]{{0,3}}[^\W\d_a-z])")
_CLAUSE_END = re.compile(rf"{_RUN}[ ]?(?:[.,;:!?)\n{GONE}]|\Z)")
_FIELD = re.compile(r"\s*(?:[.:|,;–—*_\[\]()\"“”«»]+|\s-\s|https?://\S+)\s*")
_NEEDS_A_NOUN = re.compile(  # the bracket is an editor's word for something that was quoted
    r"\b(?:the|an?|of|in|at|by|for|from|to|with|and|or|on|is|was|as|his|her|its|their|our|my) $", re.IGNORECASE
)
_HEAD = 400  # characters of an entry
_WORDS = re.compile(r"\w+")
_AFTER_SITE = re.compile(r"[ ]?[-–—|:]|[ ]?\W*$|[ ][(]")  # a site may be named alone: `Harbour Office - Tolls`
_MOST_ALIKE = 100  # entries that begin with the same word; without a limit a hostile list takes its square in time


def find_source_keys(text: str, entries: Sequence[str]) -> Iterator[Span]:
    """Parentheses that hold nothing but labels of `entries`, or their stems with another place in the same source."""
    keys = {key for entry in entries if (key := key_of(entry))}
    if len(keys) < 2:
        return
    stems = {stem[0] for key in keys if (stem := _STEM.match(key))}
    for match in _ROUND.finditer(text):
        if match[1] in keys or all(_is_key(part, keys, stems) for part in _JOINT.split(match[1])):
            yield Span(match.start(), match.end(), "named")


def _is_key(part: str, keys: set[str], stems: set[str]) -> bool:
    stem = _STEM.match(part)
    return part in keys or bool(stem and stem[0] in stems and len(part) - stem.end() <= _PLACE)


def find_named_marks(text: str, entries: Sequence[str]) -> Iterator[Span]:
    """Names of `entries` in a bracket of their own before a mark that went: `[Harbour Office - Tolls] [4]`.

    Or where a clause or a line ends or the next sentence begins, if an entry has the whole name between two of its
    signs: `[Nature News]` for `3. On tides - Nature News, https://…`, also several in one bracket (`[Nature; BBC]`).
    One word alone is a name beside another bracket of names, or where it is in capitals and not the only one.
    """
    named: dict[str, list[str]] = {}
    for match in _NAME.finditer(text) if entries else ():
        if not named:
            for entry in entries:
                head = opening(entry)
                if (first := _WORDS.match(head)) and len(alike := named.setdefault(first[0], [])) < _MOST_ALIKE:
                    alike.append(head)
        first = _WORDS.match(match[1])
        if first and first[0][0].isupper() and any(_names(match[1], head) for head in named.get(first[0], ())):
            yield Span(match.start(), match.end(), "named")
    found = list(_NAME_ALONE.finditer(text)) if entries and "[" in text else []
    heads = (opening(entry)[:_HEAD] for entry in (entries if found else ()))
    known = {field for head in heads for field in _FIELD.split(head) if 3 <= len(field) <= 80}
    alone = [
        match
        for match in found
        if known.issuperset(_SPLIT.split(match[1]))
        and _ends_here(text, match)
        and not _NEEDS_A_NOUN.search(text, max(0, match.start() - 12), match.start())
    ]
    pairs = [
        (one.start(), other.start()) for one, other in pairwise(alone) if not text[one.end() : other.start()].strip(" ")
    ]
    beside = {start for pair in pairs for start in pair}
    for match in alone:
        is_capital = match[1].isupper() and len({one[1] for one in alone}) > 1
        if is_capital or " " in match[1] or ";" in match[1] or match.start() in beside:
            yield Span(match.start(), match.end(), "named")


def _ends_here(text: str, name: re.Match[str]) -> bool:
    """Is the bracket at a line's end, between two sentences, or where a clause ends?"""
    start, end = name.span()
    if _LINE_BEFORE.search(text, max(0, start - _BEFORE), start):
        return bool(_LINE_END.match(text, end))
    if _SENTENCE_BEFORE.search(text, max(0, start - _BEFORE), start):
        return bool(_SENTENCE_BEHIND.match(text, end))
    return bool(_CLAUSE_END.match(text, end))


def _names(name: str, entry: str) -> bool:
    """Does `entry` begin with this name, or at least with its first two words and hold all the others?"""
    if entry.startswith(name):
        return bool(_AFTER_SITE.match(entry, len(name)))
    words, known = _WORDS.findall(name), _WORDS.findall(entry)
    return len(words) > 2 and words[:2] == known[:2] and set(words) <= set(known)

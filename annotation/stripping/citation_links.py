"""Links and bare addresses: which go with their words and which leave their words behind."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.source_lists.reference_headings import LABELS_ABROAD, POINTERS_ABROAD
from annotation.texts.spans import GONE, Span

_OPEN = re.compile(
    r"(!?)\\?\[((?:!\[[^\[\]\n]{0,300}+\]\([^()\s]{0,2000}+\)|[^\[\]\n\\]|\\."
    r"|\[(?:[^\[\]\n\\]|\\.){0,200}+\](?!\()){0,600}+)\]\("
)
_DESTINATION = re.compile(
    r"[ \t]*(?:<>|<)?(?:(?:https?|ftp|file|sandbox|data|mailto|attachment|doi):|www\.|#|/|\.{1,2}/"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}(?:[/)#?]|$)|turn[0-9]|\))",
    re.IGNORECASE,
)
_CLEAN_END = re.compile(
    r"[ \t]*<?(?:[^\s()\\<>]|\\.|\((?:[^\s()]"
    r"|\([^\s()]{0,200}+\)){0,500}+\)){0,2000}+>?(?:[ \t]+(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'"
    r"|“[^”\n]{0,300}”))?[ \t]*\)"
)
_GROUP_END = re.compile(r"\)(?=\)(?:[\s.,;:!?)\]，。；\ufdd0*_\"”]|$)|\)?[;,]?\s?\[|;)")
_SINGLE_END = re.compile(r"\)(?=[\s.,;:!?，。；)\]|*_\"”\ufdd0]|$)")
_NUMBER_ANCHOR = re.compile(
    r"[\s\\\[\](（）)^†‡*#]*(?:(?:source|sources|ref|refs|reference|citation|cite|note|fn|link|来源|引用|参考"
    r"|链接)s?\s?)?"
    r"(?:[0-9]{1,3}(?:\s?[,;–-]\s?[0-9]{1,3})*)?[\s\\\[\](（）)^†‡*:↩↗︎⤴🔗+→]*$"
    r"|\s*[(（][^()（）\n]{2,80}[)）]\s*$"  # a parenthesis of its own: `[(Carbon Trust)](address)`
    r"|\s*(?:read|learn|see) more\W{0,4}$|\s*\+[0-9]{1,2}\s*$"
    r"|(?:[^\W\d_][^\[\]\n+]{1,50}\+[0-9]{1,2}){1,8}+(?:[^\W\d_][^\[\]\n+]{1,50})?$",  # chips: `Reuters+2AP News+2`
    re.IGNORECASE,
)
_ADDRESS_ANCHOR = re.compile(r"[\s<\\]*(?:https?://|ftp://|www\.)[^\n]*$", re.IGNORECASE)
_NAMED = r"[A-Z][\w.’'\-]+(?:[ ,&]+(?:and|et|al\.?|[A-Z][\w.’'\-]+)){0,8},[ \t]*"
_YEAR = r"(?:(?:(?:1[5-9]|20)[0-9]{2}[a-z]?|n\.d\.)[,:]?[ \t]*)"
_JOINT = re.compile(rf"[ \t\ufdd0]*(?:[;,，；、|·•&+/]|\band\b|和|及)?[ \t\ufdd0]*$|[ \t]*;[ \t]*{_NAMED}{_YEAR}$")
_SOURCES_BEFORE = re.compile(  # a label that opens a sentence of its own: `… fell. Sources: [A](…), [B](…).`
    rf"(?:(?<=[.!?…\"”’»)\]*_])[ \t]+|(?<=[。！？”」）])[ \t]*)[*_]{{0,2}}"
    rf"(?:sources?|references?|{LABELS_ABROAD})[*_]{{0,2}}"
    r"[ \t]?[:：][*_]{0,2}[ \t]*$",
    re.IGNORECASE,
)
_REMARK = r"(?:[ \t]*\([^()\[\]\n]{1,120}\))?"
_LABELLED_JOINT = re.compile(rf"{_REMARK}[ \t]*(?:[;,，；、|·•&+/]|\band\b|和|及){{0,2}}[ \t]*$")
_LABELLED_END = re.compile(
    rf"{_REMARK}[*_]{{0,2}}(?:[.;。][*_]{{0,2}})?(?=[ \t]*(?:$|\n|\|))|。|\.(?=[ ]{{1,2}}[\"“*_(]{{0,3}}[A-ZÀ-ÖØ-Þ])"
)
_PAREN_BEFORE = re.compile(
    r"[(（\[【][ \t]*(?:(?:for [^()\n]{1,30}, )?(?:(?:sources?|see(?: also)?|ref(?:erence)?s?|citations?|cf\.?|via"
    r"|from|e\.g\.|data|credit|read(?: more)?|more"
    rf"|{LABELS_ABROAD}|{POINTERS_ABROAD}"
    r"|per|according to|based on|as reported (?:by|in)|reported (?:by|in)|来源|参考|参见|引用|出处|见|详见|资料来源"
    r"|数据来源)[ \t]*(?:[:：,]|at|in|on)?[ \t]*)+"
    rf"|{_NAMED}{_YEAR}?"
    r"|\"[^\"\n]{1,120}\"[,:]?[ \t]*)?[*_\"“]*$",
    re.IGNORECASE,
)
_PAREN_AFTER = re.compile(
    r"[*_\"”]*[ \t]*(?:[,;:，；][ \t]*(?:(?:pp?\.?|page|sec(?:tion)?\.?|§|ch\.|para\.?|accessed|retrieved|updated"
    r"|published|第)[^()\n]{0,40}"
    r"|(?:[A-Z][a-z]{2,8}\.?[ \t]+)?(?:[0-9]{1,2},?[ \t]+)?(?:19|20)[0-9]{2}[a-z]?(?:-[0-9]{2}){0,2}"
    r"|n\.d\.)?)?[ \t]*[.;,]?[ \t]*[)）\]】]"
)
_SENTENCE_END = re.compile(r"[\w%°\"'”’)\]»*_\ufdd1][.!?…。！？]+[\"'”’)\]*_»\ufdd0]{0,12}[ \t\ufdd0]*$|[。！？]$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\ufdd0])(?:[A-Z]|e\.g|i\.e|al|cf|vs|v|ca|c|approx|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|No|Vol"
    r"|Fig|pp?|[0-9]{1,3}|U\.S|U\.K|etc)\.[ \t\ufdd0]*$"
)
_AFTER_RUN = re.compile(
    r"[ \t\ufdd0]*(?:$|\n|\||(?=[ \t]*[\"'“‘(*_]{0,3}[A-Z0-9À-ÖØ-Þ\u0391-\u042f\u3040-\u9fff\uac00-\ud7af]))"
)
_CLAUSE_STOP = re.compile(r"[ \t]*(?:[.,;:!?|]|\n|$)")
_CITED_CLAUSE_END = re.compile(r"[ \t]*(?:[.,;:!?)|。，；：！？）]|\n|$)")
_LINE_STOP = re.compile(r"[ \t]*[.;]?[ \t\ufdd0]*(?:$|\n|\|)")
_WORD_BEFORE = re.compile(r"[\w%)\ufdd1][ \t]$")
_LINE_END = re.compile(r"[ \t\ufdd0]*(?:$|\n|\|)")
_TITLE_LIKE = re.compile(r"[-–—|:·»]|\.[a-z]{2,4}\b|(?:\S+\s+){2}\S|[\u4e00-\u9fff]{6}")
_RECORD = re.compile(  # what an entry of a list looks like: `Ito et al., …, 2019`, `*Title*, Press 2019`
    r"(\bet al\b.*\b(?:1[5-9]|20)[0-9]{2}[a-z]?\W*$)|(?:^|, )[*_][^*_\n]{6,}[*_](?:\.{3}|…)?, .*[^\W\d_]{3}"
)
_SITE_FIRST = re.compile(r"\s*([A-Z][\w.]{3,30}): \S")
_STANDS_APART = re.compile(
    r"(?:(?<![\w-])([^\W\d_]+)|[0-9%)\]\"”’*_°²³\ufdd1])[ \t]$|[\u3040-\u9fff](?<![由在据如见和与及按])$"
)
_BINDING_WORDS = (
    "a an the by in from of to with and or as at on per for via see like than that under cf is are was were"
)
_BINDING = frozenset(_BINDING_WORDS.split())
_ADDRESS = re.compile(r"https?://[^\s<>\]]{1,2000}+")
_REFERENCE_LINK = re.compile(r"\[([^\[\]\n]{1,200})\][ \t]?\[([^\[\]\n^]{1,60})\]")
_REFERENCE_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300}+)\]\[[^\[\]\n]{1,60}\]")
_EMBEDDED = re.compile(r"^[ ]{0,3}\[[^\[\]\n]{1,60}\]:[ \t]*<?data:[^\s<>]*+>?[ \t]*$", re.MULTILINE)
_ANCHOR_TAG = re.compile(r"<a\s[^<>\n]{0,2000}>([^<\n]{0,300}+)</a>", re.IGNORECASE)
_IMAGE_TAG = re.compile(r"<img\s[^<>\n]{0,2000}>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt=[\"']([^\"'<>\n]{0,300})[\"']", re.IGNORECASE)


@dataclass(frozen=True)
class _Link:
    start: int  # of `![` or `[`
    anchor: int  # where the anchor begins
    close: int  # where the anchor ends
    end: int  # after `)`
    image: bool


def find_images(text: str) -> Iterator[Span]:
    """`![words][image1]` keeps its words, `[image1]: <data:…>` goes."""
    for match in _REFERENCE_IMAGE.finditer(text) if "![" in text else ():
        yield Span(match.start(), match.start(1), "url")
        yield Span(match.end(1), match.end(), "url")
    yield from (Span(m.start(), m.end(), "url") for m in (_EMBEDDED.finditer(text) if "data:" in text else ()))


def find_links(text: str, labels: frozenset[str], listed: Sequence[str] = ()) -> Iterator[Span]:
    """Spans of inline and reference links.

    `labels` are the link labels defined in the report (`[4]: https://…`), `listed` the entries of its list of sources.
    """
    yield from _tags(text)
    links = list(_links(text))
    known = frozenset(_plain(found) for entry in (listed if links else ()) for found in _ADDRESS.findall(entry))
    if labels:
        links = _merge(links, list(_reference_links(text, labels)))
    done = 0
    at = 0
    while at < len(links):
        if links[at].start < done:
            at += 1
            continue
        last = at
        label = _SOURCES_BEFORE.search(text, max(0, links[at].start - 40), links[at].start)
        joint = _LABELLED_JOINT if label else _JOINT
        while (
            last + 1 < len(links) and joint.match(text, links[last].end, links[last + 1].start) and not links[at].image
        ):
            last += 1
        group = links[at : last + 1]
        if label and (end := _LABELLED_END.match(text, group[-1].end)):
            yield Span(label.start(), end.end(), "link_citation")
            done, at = end.end(), last + 1
            continue
        spans = list(_group(text, group, known))
        yield from spans
        done = group[-1].end
        at = last + 1


def _tags(text: str) -> Iterator[Span]:
    """`<a href=…>words</a>` keeps its words unless they are a number; `<img>` keeps its alternative text."""
    if "<" not in text:
        return
    for match in _ANCHOR_TAG.finditer(text) if "<a " in text or "<A " in text else ():
        if _NUMBER_ANCHOR.match(match[1]):
            yield Span(match.start(), match.end(), "link_number")
        else:
            yield Span(match.start(), match.start(1), "link_url")
            yield Span(match.end(1), match.end(), "link_url")
    for match in _IMAGE_TAG.finditer(text) if "<img" in text else ():
        alternative = _ALTERNATIVE.search(match[0])
        first, last = alternative.span(1) if alternative else (0, 0)
        yield Span(match.start(), match.start() + first, "url")
        yield Span(match.start() + last, match.end(), "url")


def _merge(first: list[_Link], second: list[_Link]) -> list[_Link]:
    merged: list[_Link] = []
    for link in sorted([*first, *second], key=lambda either: either.start):
        if not merged or link.start >= merged[-1].end:
            merged.append(link)
    return merged


def _links(text: str) -> Iterator[_Link]:
    if "](" not in text:
        return
    place = 0
    while match := _OPEN.search(text, place):
        place = match.end(2) + 1
        destination = match.end()
        if not (_DESTINATION.match(text, destination) or (match[1] and _CLEAN_END.match(text, destination))):
            continue  # an image lies where it lies: `![words](media/chart)`
        start = match.start()
        end = destination_end(text, start, destination)
        if "\\]" in match[2] and text[start - 1 : start] == "[" and text[end : end + 1] != "]":
            start -= 1  # `[[title\] more](address)`: a bracket of the title was escaped, its partner was not
        yield _Link(start, match.start(2), match.end(2), end, bool(match[1]))
        place = max(end, place)


def destination_end(text: str, start: int, destination: int) -> int:
    """Offset after the `)` that closes the link; addresses may hold blanks and unbalanced parentheses."""
    grouped = text[max(0, start - 1) : start] in ("(", "（") or text[max(0, start - 2) : start] in ("; ", ", ")
    clean = _CLEAN_END.match(text, destination)
    if clean and not (
        ":~:text=" in clean[0] and grouped and text[clean.end() : clean.end() + 1] not in (")", ";", ",", "）")
    ):
        return clean.end()
    stop = text.find("\n", destination, destination + 2000)
    stop = min(len(text), destination + 2000) if stop < 0 else stop
    if grouped and (match := _GROUP_END.search(text, destination, stop)):
        return match.end()
    if match := _SINGLE_END.search(text, destination, stop):
        return match.end()
    blank = re.compile(r"\s").search(text, destination, stop)
    return blank.start() if blank else stop


def _reference_links(text: str, labels: frozenset[str]) -> Iterator[_Link]:
    """`[site][4]` where `[4]: address` is defined."""
    for match in _REFERENCE_LINK.finditer(text):
        if match[2].strip().lower() in labels and not match[1].strip().isdigit():
            yield _Link(match.start(), match.start(1), match.end(1), match.end(), False)


def _group(text: str, group: list[_Link], known: frozenset[str]) -> Iterator[Span]:
    """A run of neighbouring links: all of it, or only its brackets and addresses."""
    first, last = group[0], group[-1]
    before = _PAREN_BEFORE.search(text, max(0, first.start - 160), first.start)
    after = _PAREN_AFTER.match(text, last.end)
    if before and after and not first.image:
        yield Span(before.start(), after.end(), "link_citation")
        return
    if not first.image and (_after_sentence(text, group) or _side_by_side(text, group)):
        yield Span(first.start, last.end, "link_citation")
        return
    for at, link in enumerate(group):
        anchor = text[link.anchor : link.close]
        if link.image:
            yield Span(link.start, link.anchor, "url")
            yield Span(link.close, link.end, "url")
        elif _NUMBER_ANCHOR.match(anchor) or not anchor.strip(GONE + " "):
            joined = at > 0 and _NUMBER_ANCHOR.match(text[group[at - 1].anchor : group[at - 1].close])
            yield Span(group[at - 1].end if joined else link.start, link.end, "link_number")
        elif _ADDRESS_ANCHOR.match(anchor):
            yield Span(link.start, link.end, "link_url")
        elif _names_a_source(text, link, known):
            yield Span(link.start, link.end, "link_citation")
        else:
            yield Span(link.start, link.anchor, "link_url")
            yield Span(link.close, link.end, "link_url")
            for inner in _links(anchor) if "](" in anchor else ():  # an image that is a link
                yield Span(link.anchor + inner.start, link.anchor + inner.anchor, "url")
                yield Span(link.anchor + inner.close, link.anchor + inner.end, "url")


def _names_a_source(text: str, link: _Link, known: frozenset[str]) -> bool:
    """Is the anchor a source's record, set apart from the sentence before the clause ends?"""
    anchor, address = text[link.anchor : link.close], _plain(text[link.close + 2 : link.end])
    before = _STANDS_APART.search(text, max(0, link.start - 30), link.start)
    if not before or (before[1] or "").lower() in _BINDING or not _CITED_CLAUSE_END.match(text, link.end):
        return False
    if record := _RECORD.search(anchor):
        return bool(record[1]) or address in known
    site = _SITE_FIRST.match(anchor)
    return bool(site and site[1].lower() in address.lower().partition("//")[2].partition("/")[0])


def _plain(address: str) -> str:
    return address.strip(" \t<>).,;*_").rstrip("/")


def _side_by_side(text: str, group: list[_Link]) -> bool:
    """Two or more links with only blanks or semicolons between them, where the clause ends: no sentence reads so."""
    start = group[0].start
    if len(group) == 1 or not _WORD_BEFORE.search(text, max(0, start - 2), start):
        return False
    joints = {text[a.end : b.start].strip() for a, b in pairwise(group)}
    if joints == {""}:
        return bool(_CLAUSE_STOP.match(text, group[-1].end))
    before = _STANDS_APART.search(text, max(0, start - 30), start)
    apart = before and (before[1] or "").lower() not in _BINDING
    return joints == {";"} and bool(apart) and bool(_LINE_STOP.match(text, group[-1].end))


def _after_sentence(text: str, group: list[_Link]) -> bool:
    """Are the links by themselves between the end of a sentence and the next capital or line end?"""
    first, last = group[0], group[-1]
    line = max(text.rfind("\n", max(0, first.start - 400), first.start) + 1, first.start - 400, 0)
    lead = text[line : first.start]
    if not _SENTENCE_END.search(lead) or _ABBREVIATION.search(lead):
        return False
    if _LINE_END.match(text, last.end):
        return True
    if not _AFTER_RUN.match(text, last.end):
        return False
    return len(group) > 1 or bool(_TITLE_LIKE.search(text[first.anchor : first.close]))


_BARE = re.compile(
    r"<?(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))(?:[^\s()<>\[\]{}\"“”「」『』【】《》，。；、（）|\ufdd0\ufdd1`]"
    r"|\([^\s()<>]{0,200}+\)|\[\]|\\[\[\]]){1,2000}+>?"
    r"|[()（）\n]",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[.,;:!?'’*_~\\]+$")
_LABEL_BEFORE = re.compile(
    r"(?:[,;:–—-][ \t]*)?\b(?:sources?|available (?:at|from|online(?: at)?)|retrieved from|accessed (?:at|from)|url"
    r"|link|via|see|website)[ \t]*[:：]?[ \t]*[*_]*[ \t]*$"
    r"|(?:来源|出处|链接|网址|参见|原文)[ \t]*[:：][ \t]*$",
    re.IGNORECASE,
)
_SWALLOWED = re.compile(r"[)）][.,;:]?\]")  # `(the note [https://…).]`: the bracket closed too late
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|can|will|would|said|says)\b")


def find_addresses(text: str) -> Iterator[Span]:
    """Bare addresses and `<https://…>`; a parenthesis that ends with one goes whole."""
    if "://" not in text and not any(end in text for end in ("ww.", "wW.", "Ww.", "WW.")):
        return
    addresses: list[tuple[int, int]] = []
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _BARE.finditer(text):
        if match[0] in "(（":
            opened.append(match.start())
        elif match[0] in ")）":
            if opened:
                pairs.append((opened.pop(), match.end()))
        elif match[0] == "\n":
            opened.clear()
        else:
            end = match.end()
            if not match[0].endswith(">"):
                end -= len(match[0]) - len(_TRAILING.sub("", match[0]))
            addresses.append((match.start(), end))
    done = 0
    enclosing = _Enclosing(pairs)
    for start, end in addresses:
        if start < done:
            continue
        pair = enclosing.of(start)
        if pair and pair[0] >= done and _parenthesis_goes(text, pair, start, end):
            yield Span(*pair, "url")
            done = pair[1]
            continue
        label = _LABEL_BEFORE.search(text, max(done, start - 40), start)
        begin = (
            label.start()
            if label and (label[0].rstrip().endswith((":", "：", "at", "from")) or not text[end : end + 1].isalnum())
            else start
        )
        if text[start - 1 : start] in ("(", "（") and text[end - 1] in ")）" and not pair:
            begin = start - 1
        if swallowed := text[start - 1 : start] == "[" and _SWALLOWED.match(text, end):
            begin = start - 1
            yield Span(swallowed.end() - 1, swallowed.end(), "url")
        yield Span(begin, end, "url")
        done = end


class _Enclosing:
    """The innermost pair of parentheses around a place, in one walk for ascending places."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        self._pairs = sorted(pairs)
        self._starts = [start for start, _ in self._pairs]

    def of(self, place: int) -> tuple[int, int] | None:
        at = bisect_left(self._starts, place) - 1
        for candidate in range(at, max(at - 8, -1), -1):
            if self._pairs[candidate][1] > place:
                return self._pairs[candidate]
        return None


def _parenthesis_goes(text: str, pair: tuple[int, int], start: int, end: int) -> bool:
    lead = text[pair[0] + 1 : start]
    rest = text[end : pair[1] - 1]
    if len(lead) > 300 or _FINITE.search(lead) or (lead.endswith("[") and _SWALLOWED.match(text, end)):
        return False
    return len(rest) <= 60 or ":~:text=" in text[start:end]

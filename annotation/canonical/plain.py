"""The plain layout: what canonical format leaves of a writer's habits, made alike as far as meaning allows.

It works on the blocks that canonical format has read, and on the text inside them. No word goes but those of
`PHRASES` and the numbers of lists that count.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from annotation.canonical.blocks import EMOJI, Block
from annotation.canonical.characters import CJK, changed, mostly_cjk
from annotation.canonical.shelf import Shelf
from plain.wording import worded

# Words that open a paragraph to announce its place, and say nothing of the subject.
PHRASES = (
    "in conclusion", "in summary", "to conclude", "to summarize", "to summarise", "to sum up", "in closing",
    "in a nutshell", "all in all", "summing up",
)  # fmt: skip
# A sentence of chat about the report: it ends the last paragraph, and is addressed to whoever ordered it.
OFFERS = (
    "would you like me to", "let me know if", "please let me know", "i hope this helps", "feel free to ask",
    "shall i", "do you want me to", "if you'd like, i can", "if you would like, i can",
)  # fmt: skip
_TEXT = r"(?:report|article|document|text|essay|answer|response|page)"
_ABOUT_LAYOUT = re.compile(
    r"\b(?:lay-?outs?|formatting|formatted|(?:sub)?headings?|(?:sub)?sections?|paragraphs?|bullet(?:s|ed)?|bold(?:face)?"
    rf"|italics?|numbered lists?|lists and tables|loaded emphasis|typograph\w+|{_TEXT}'?s? (?:format|structure)"
    rf"|(?:structure|organi[sz]ation|format) of (?:the |an? |its |their )?{_TEXT}s?"
    r"|markdown|(?:well|clearly|logically)[- ]structured"
    r"|(?:clear|logical|coherent|overall|good)(?: and \w+)? structure|well[- ](?:organi[sz]ed|ordered))\b"
    r"|\A(?:clarity of )?(?:structure|organi[sz]ation|presentation|format)\b"
    # where paragraphs end is part of how well a text reads, and they are cut anew
    r"|\A(?:clarity|readability|fluency)\b|\breadab\w+|\b(?:clear(?:er)?|easy|easier) to (?:read|follow)"
    r"|可读性|通顺|流畅"
    # a task may ask for a form
    r"|\bfollow(?:ing|s)? the instructions"
    r"|排版|格式|标题|段落|列表|加粗|层次|结构清晰|文章结构|报告结构",
    re.IGNORECASE,
)
_PHRASE = re.compile(rf"(?:{'|'.join(PHRASES)})(?:,[ ]+|:[ ]+)(\w)", re.IGNORECASE)
_OFFER = re.compile(rf"(?:(?<=[.!?][ ])|^)(?:{'|'.join(OFFERS)})\b[^.!?\n]{{0,300}}[.!?]?$", re.IGNORECASE)
_CELL_SIGN = re.compile("[\u2605\u2606\u2610-\u2612\u2713-\u2718\u2705\u274c\u274e]")  # yes, no and stars say something
_LONG_DASH = re.compile(r"(?<=[^\s—–])[—–](?=[^\s—–])")
_SPACED_HYPHEN = re.compile(r"(?<=[^\s\d|-]) - (?=[^\s\d-])")
_SENTENCE_END = (".", "!", "?", '."', '!"', '?"', ".)", "。", "！", "？")
# Where a paragraph may end: after a whole word in small letters, so that no abbreviation or initial is taken for an
# end, and before a capital or a letter that has no capitals, so that nothing begins with what Markdown reads as a sign.
_MAY_END = re.compile(r"(?:[.!?][\"')]{0,2} |[。！？][”」』）]{0,2})(?=[^\W\d_])")
_WIDE_END = ("。", "！", "？")
_ESCAPED = re.compile(r"\\.")
_PARAGRAPH = 500  # characters at least
_CJK_PARAGRAPH = 170
_LABELLED = re.compile(r"[^\W\d_][^.!?:\n。！？：]{0,60}(?:: |：)")  # "Alabama: Five people …"
_NO_TEXT_ITEM = re.compile(r"(?:[#>|~`+*-]|\[[ xX]\]|\[\^[^\]]+\]:|[0-9]{1,9}[.)](?:\s|$))")


def about_layout(label: str, text: str) -> str:
    """The first words of a criterion that ask about layout or structure, which `plain` makes alike; empty for none."""
    asked = _ABOUT_LAYOUT.search(f"{label}\n{text}")
    return asked[0].lower() if asked else ""


def taken_by_plain(criterion: str, asked: str) -> str:
    """Why a study in plain layout cannot ask `criterion`, and what to do."""
    return worded(
        "criterion {criterion!r} asks about layout or structure ({asked!r}), which it makes alike; "
        "use layout = 'canonical', or ask that criterion in a study of its own", criterion=criterion, asked=asked,
    )  # fmt: skip


def plain_line(text: str, counts: Counter[str], *, in_cell: bool = False) -> str:
    """A block's text with one dash between words and one inside them, without emoji; those of a table's cell stay."""
    if not text.isascii():
        if not in_cell:
            text = _without_emoji(text, counts)
        if not mostly_cjk(text):
            text = _LONG_DASH.sub(lambda match: _dash(match, counts), text)
    return changed(_SPACED_HYPHEN, " – ", text, counts, "dashes") if " - " in text else text


def plain_blocks(blocks: list[Block], shelf: Shelf, counts: Counter[str]) -> list[Block]:
    """`blocks` with one level of headings and lists, items that are sentences as paragraphs, tables without alignment.

    In place where a block stays one.
    """
    for block in blocks:
        if block.kind == "heading" and block.level > 2:
            counts["heading_levels"] += 1
            block.level = 2
        elif block.kind == "table":
            counts["table_delimiters"] += any(cell != "---" for cell in block.aligned)
            block.aligned = ["---"] * len(block.aligned)
        elif block.kind == "quote":
            block.children = plain_blocks(block.children, shelf, counts)
        elif block.kind == "paragraph":
            block.text = _without_phrase(block.text, counts)
    _without_offer(blocks, counts)
    blocks = [block for block in _without_nesting(blocks, counts) if block.text or block.rows or block.children]
    return _even(blocks, counts)


def _dash(match: re.Match[str], counts: Counter[str]) -> str:
    text, at = match.string, match.start()
    before, after = text[at - 1], text[at + 1]
    if CJK.match(before) or CJK.match(after):
        return match[0]
    counts["dashes"] += 1
    return "-" if match[0] == "–" or (before.isdigit() and after.isdigit()) else " – "


def _without_emoji(text: str, counts: Counter[str]) -> str:
    def gone(match: re.Match[str]) -> str:
        if match[0][0].isascii() or _CELL_SIGN.search(match[0]):  # a keycap holds its digit
            return match[0]
        counts["emoji"] += 1
        inside = match[0][-1].isspace() and match.start() > 0
        return " " if inside and not text[match.start() - 1].isspace() else ""

    return EMOJI.sub(gone, text).strip()


def _without_phrase(text: str, counts: Counter[str]) -> str:
    match = _PHRASE.match(text)
    if match is None:
        return text
    counts["phrases"] += 1
    return match[1].upper() + text[match.end() :]


def _without_offer(blocks: Sequence[Block], counts: Counter[str]) -> None:
    """Take chat from the end of the last paragraph, unless the report is nothing else."""
    last = next((block for block in reversed(blocks) if block.kind != "code"), None)
    if last is None or last.kind != "paragraph" or last.text.startswith('"'):
        return
    match = _OFFER.search(last.text)
    if match and (match.start() or len(blocks) > 2):
        counts["phrases"] += 1
        last.text = last.text[: match.start()].rstrip()


def _without_nesting(blocks: Sequence[Block], counts: Counter[str]) -> list[Block]:
    """Every list with one level and one sign; a list of whole sentences as paragraphs."""
    out: list[Block] = []
    run: list[Block] = []
    for block in blocks:
        if block.kind == "item" or (run and block.depth):
            run.append(block)
            continue
        out += _alike(run, counts)
        run = []
        out.append(block)
    return out + _alike(run, counts)


def _alike(run: Sequence[Block], counts: Counter[str]) -> list[Block]:
    """One list: `run` holds its items and what is inside them."""
    items = [block for block in run if block.kind == "item"]
    counting = _counting(items)
    sentences = bool(items) and all(_is_prose(item.text) for item in items if item.text)
    for block in run:
        counts["list_levels"] += bool(block.depth)
        block.depth = 0
        if block.kind != "item":
            continue
        counts["list_numbers"] += block.number is not None
        if block.number is not None and not counting:
            continue
        block.number = None
        if sentences:
            counts["list_sentences"] += 1
            block.kind = "paragraph"
    return list(run)


def _counting(items: Sequence[Block]) -> bool:
    """True when the numbers say nothing but an item's place: each list counts up from 1."""
    latest: dict[int, int] = {}
    for item in items:
        latest = {depth: number for depth, number in latest.items() if depth <= item.depth}
        if item.number is None:
            latest.pop(item.depth, None)
        elif item.number != latest.get(item.depth, 0) + 1:
            return False
        else:
            latest[item.depth] = item.number
    return True


def _even(blocks: Sequence[Block], counts: Counter[str]) -> list[Block]:
    """Neighbouring paragraphs of whole sentences as one text, cut anew where a sentence ends; others as they are."""
    out: list[Block] = []

    def joins(block: Block) -> bool:  # whole sentences, and no label says what they are of
        return block.kind == "paragraph" and _is_prose(block.text) and not _LABELLED.match(block.text)

    for is_prose, run in groupby(blocks, joins):
        if not is_prose:
            out += run
            continue
        old = [block.text for block in run]
        new = _paragraphs(old)
        counts["paragraphs"] += sum(text not in old for text in new)
        out += [Block("paragraph", text) for text in new]
    return out


def _paragraphs(texts: Sequence[str]) -> list[str]:
    """The sentences of `texts` in paragraphs of `_PARAGRAPH` characters and up to the next end of a sentence.

    A rest of less than half of that stays with the paragraph before it.
    """
    cjk = mostly_cjk("".join(texts))
    # what ends a Chinese sentence has its blank in itself, whatever comes after it
    text = "".join(f"{one}{'' if one.endswith(_WIDE_END) else ' '}" for one in texts).rstrip()
    least = _CJK_PARAGRAPH if cjk else _PARAGRAPH
    ends, start = [], 0
    for match in _MAY_END.finditer(text):
        if match.end() - start < least or len(text) - match.end() < least / 2:
            continue
        if not _ends_sentence(text, match) or _PHRASE.match(text, match.end()):
            continue
        if _is_open(text[start : match.end()]):
            continue
        ends.append(match.end())
        start = match.end()
    return [text[a:b].rstrip() for a, b in pairwise([0, *ends, len(text)])]


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    word, after = text[match.start() - 3 : match.start()], text[match.end()]
    return not match[0].endswith(" ") or (word.isalpha() and word == word.lower() and not after.islower())


def _is_open(text: str) -> bool:
    """Whether a link, a code span, struck text or a quotation has begun in it and not ended."""
    bare = _ESCAPED.sub("", text)
    if bare.count('"') % 2 or bare.count("“") > bare.count("”"):
        return True
    return bare.count("[") > bare.count("]") or bare.count("`") % 2 == 1 or bare.count("~~") % 2 == 1


def _is_prose(text: str) -> bool:
    return text.endswith(_SENTENCE_END) and not _NO_TEXT_ITEM.match(text)

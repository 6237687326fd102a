"""Canonical format: the order of its steps. Every report of a study passes it, the human reference too."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from annotation.canonical import characters, headings, markup
from annotation.canonical.blocks import EMOJI, LONGEST_HEADING, Block, Reader, is_wrapped, tidy_table, write_blocks
from annotation.canonical.plain import plain_blocks, plain_line
from annotation.canonical.shelf import TOKEN, Shelf, put_away

CANONICAL_VERSION = "3"  # paragraphs of the plain layout have an even length
# How far reports are laid out alike, each with all of the one before: nothing is changed; blanks, entities, escapes and
# punctuation; one layout for all; that layout without the habits that it leaves to a writer.
Layout = Literal["kept", "spacing", "canonical", "plain"]
UNCHANGED = "none"  # the version of a text that was left as it came
_MOST_PASSES = 8  # what one change uncovers the next pass takes; the second pass rarely finds anything


@dataclass(frozen=True)
class Canonical:
    """A report in canonical format. `changes`: how many of each kind were made, kinds without any left out."""

    text: str
    changes: dict[str, int] = field(hash=False)
    version: str


def canonical_format(markdown: str, title: str | None = None, layout: Layout = "canonical") -> Canonical:
    """`markdown` in the one layout that all reports of a study share. Never raises; idempotent; linear time.

    `title`: the topic's title, which replaces the report's own or is added, from `canonical` on. The letters and digits
    stay in their order, but for the title, numbers of headings and lists, and tags with their attributes; `plain` also
    takes the phrases of `canonical.plain`. Code and formulas are left alone. An empty text stays empty.
    """
    if layout == "kept":
        return Canonical(markdown, {}, UNCHANGED)
    counts: Counter[str] = Counter()
    wanted = characters.single_blanks(title.replace("\n", " "), Counter()) if title else ""
    text = markdown
    for _ in range(_MOST_PASSES):
        before = text
        if layout == "spacing":
            text = _spaced(text, counts)
        else:
            text = _formatted(text, wanted or None, counts, plain=layout == "plain")
        if text == before:
            break
    changes = {name: number for name, number in sorted(counts.items()) if number}
    return Canonical(text, changes, f"{CANONICAL_VERSION}/{layout}")


def _formatted(text: str, title: str | None, counts: Counter[str], *, plain: bool) -> str:
    shelf = Shelf()
    text = put_away(characters.plain_line_ends(text, counts), shelf, counts)
    if shelf.full:  # over 65,534 formulas and pieces of code: no report
        return shelf.back(text)
    text = markup.without_blocks(characters.plain_blanks(text, counts), counts)
    lines = _lines(text, counts)
    blocks = Reader(shelf, counts, wrapped=is_wrapped(lines)).read(lines)
    _format_blocks(blocks, shelf, counts, plain=plain)
    blocks = [block for block in blocks if block.text or block.rows or block.children]
    blocks = headings.outline(blocks, _literal(title) if title else None, counts)
    if plain:
        blocks = plain_blocks(blocks, shelf, counts)
    return _ended(shelf.back(write_blocks(blocks, shelf)))


def _spaced(text: str, counts: Counter[str]) -> str:
    shelf = Shelf()
    text = put_away(characters.plain_line_ends(text, counts), shelf, counts)
    if shelf.full:
        return shelf.back(text)
    out: list[str] = []
    for line in _lines(characters.plain_blanks(text, counts), counts):
        bare = line.lstrip()
        if any(map(str.isalnum, bare)):  # rules and the dashes under a table's header are no punctuation
            indent = line[: len(line) - len(bare)]
            bare = characters.drop_escapes(characters.decode_entities(bare, counts), counts)
            line = indent + characters.plain_punctuation(characters.single_blanks(bare, counts), counts)
        if line or (out and out[-1]):
            out.append(line)
        else:
            counts["empty_lines"] += 1
    return _ended(shelf.back("\n".join(out)))


def _ended(text: str) -> str:
    text = text.strip("\n")
    return text + "\n" if text.strip() else ""


def _lines(text: str, counts: Counter[str]) -> list[str]:
    """Lines without blanks or a backslash at their ends."""
    lines: list[str] = []
    for line in text.split("\n"):
        bare = line.rstrip(" \t\u3000")
        counts["trailing_blanks"] += bare != line
        if bare.endswith("\\") and (len(bare) - len(bare.rstrip("\\"))) % 2:
            counts["line_breaks"] += 1
            bare = bare[:-1].rstrip(" \t\u3000")
        lines.append(bare)
    return lines


def _format_blocks(blocks: Iterable[Block], shelf: Shelf, counts: Counter[str], *, plain: bool) -> None:
    for block in blocks:
        if block.kind == "table":
            block.rows = [
                [_inline(cell, shelf, counts, plain=plain, in_cell=True, header=row is block.rows[0]) for cell in row]
                for row in block.rows
            ]
            tidy_table(block, counts)
        elif block.kind == "quote":
            _format_blocks(block.children, shelf, counts, plain=plain)
            block.children = [child for child in block.children if child.text or child.rows or child.children]
        elif block.kind == "heading":
            block.text = _without_emoji(_inline(block.text, shelf, counts, plain=plain, keep=False), counts)
        elif block.kind == "item":
            block.text = _without_emoji(_inline(block.text, shelf, counts, plain=plain), counts)
        elif block.kind == "paragraph":
            block.text = _inline(block.text, shelf, counts, plain=plain)
            if characters.is_bold_throughout(block.text) and len(block.text) > LONGEST_HEADING + 4:
                block.text = block.text[2:-2]
                counts["bold_paragraphs"] += 1


def _inline(
    text: str, shelf: Shelf, counts: Counter[str], *, plain: bool, keep: bool = True, in_cell: bool = False,
    header: bool = False,
) -> str:  # fmt: skip
    def edge(sign: str) -> str:
        return shelf.piece(sign) if TOKEN.match(sign) else sign

    text = characters.decode_entities(markup.without_tags(text, counts, in_cell=in_cell), counts)
    text = characters.plain_emphasis(text, counts, keep=keep and not plain, edge=edge)
    if header and characters.is_bold_throughout(text):  # a header is bold by itself
        text = text[2:-2]
        counts["header_emphasis"] += 1
    text = characters.drop_escapes(text, counts, starts_line=keep and not in_cell)
    text = characters.plain_punctuation(characters.single_blanks(text, counts), counts)
    return plain_line(text, counts, in_cell=in_cell) if plain else text


def _without_emoji(text: str, counts: Counter[str]) -> str:
    opening = len(text) - len(text.lstrip("*_"))
    match = EMOJI.match(text, opening)
    if not match:
        return text
    counts["emoji"] += 1
    return text[:opening] + text[match.end() :]


def _literal(title: str) -> str:
    """A title as Markdown that shows exactly its words."""
    marked = title.replace("\\", "\\\\")
    for sign in "*`<":
        marked = marked.replace(sign, "\\" + sign)
    return characters.plain_punctuation(marked, Counter())

"""Pandoc's tree of a document, made as plain as a report in Markdown is: what tells the format goes, text stays.

The tree is JSON as `pandoc -t json` writes it: every element is `{"t": NAME, "c": CONTENT}`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from annotation.documents.joined_cells import grid
from annotation.documents.written_formulas import SIGNS, formulas_apart, without_bars
from annotation.source_lists.reference_headings import hints_at_sources
from annotation.texts.spans import THINKING

Element = dict[str, Any]

NO_ATTRIBUTES: list[Any] = ["", [], []]
# Second copies of what is beside them, for other readers: KaTeX's drawing of a formula, its preview in MathJax
COPIES = {"katex-html", "MathJax_Preview", "MJX_Assistive_MathML", "mjx-assistive-mml"}
NUMBER = re.compile(r"[\[(]?\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\])]?")  # what a mark that leads to a source says
ENTRY, ADDRESS = re.compile(r"\[\d{1,3}\]"), re.compile(r"https?://\S+")
LIST_HEAD = re.compile(r"(?:[^.!?\n]{0,60}[:：\]])?")  # what may be before the first source in its paragraph
SOURCES_HEAD = re.compile(r"[^.!?\n]{1,40}[:：]")  # alone on its line before the first of them
CHIP = re.compile(r"[\w'’&.\- ]{2,40} \+\d{1,2}")  # a button's name and how many more there are, on two lines
# stay as they are: pandoc writes a bracket as `\\[`, which begins a formula, and loses a sign behind a backslash; what
# a program thought is left out by these tags, in Markdown too; `(a)` at a line's start would be the formula `\(a\)`
BARE = re.compile(rf"([\[\]]|^\([a-z0-9]{{1,9}}\)$|\\(?=[!-/:-@\[-`{{-~])|</?(?:{'|'.join(THINKING)})>)", re.IGNORECASE)
CAPTION = re.compile(r"\(|[^\W\d_]{1,20}\.?(?:\s[^\W\d_]{1,20}\.?)?\s*")  # before its number, or a formula's
FORMULA_END = re.compile(r"(?<!\\)((?:\\\\)*)(?:\\? )*\\?\Z")  # no `\` is left that would escape the sign behind it
WORD, LINE_NUMBERS = re.compile(r"[\w+#.-]{1,30}"), re.compile(r"\s*\d+(?:\s*\n\s*\d+)+\s*")
FIGURE = "figure{}.png"  # the address of an image, by its number: its own could name whoever made it
FRONT_MATTER = ("subtitle", "author", "date", "abstract")  # paragraphs that Word styles so, which pandoc keeps apart
TYPED = "\U000f8f00"  # before a paragraph that is a line of code, which OpenDocument tells by its style alone
BREAK: Element = {"t": "RawInline", "c": ["commonmark", "\n"]}  # as agents write it


def element(kind: str, content: Any = None) -> Element:
    """One element of a tree."""
    return {"t": kind} if content is None else {"t": kind, "c": content}


class PlainTree:
    """One document on its way; `figures` counts its images without a word, which nothing is left of.

    `images`: the addresses of all of them in the document, in the order of their numbers. `word`: whether Word or its
    like wrote it: what is before its text is part of it, not metadata.
    """

    def __init__(self, *, word: bool) -> None:
        self.figures = 0
        self.images: list[str] = []
        self.cited = 0
        self.no_marks: set[str] = set()  # where a number leads that names a table, a figure, a formula or a chapter
        self.word = word

    def of(self, tree: Element) -> Element:
        """The whole document."""
        self.no_marks = {*_numbered(tree["blocks"])}
        blocks = self.blocks(tree["blocks"])
        return {**tree, "meta": {}, "blocks": [*(self._front(tree["meta"]) if self.word else ()), *blocks]}

    def _front(self, meta: Element) -> list[Element]:
        title = [element("Header", [1, NO_ATTRIBUTES, self.inlines(one)]) for one in _told(meta.get("title"))]
        below = (one for name in FRONT_MATTER for one in _told(meta.get(name)))
        return [*title, *(block for one in below for block in self._as_blocks(one))]

    def _as_blocks(self, content: Sequence[Element]) -> list[Element]:
        if content and content[0]["t"] in BLOCKS:
            return self.blocks(content)
        return [element("Para", self.inlines(content))]

    def blocks(self, found: Iterable[Element]) -> list[Element]:
        """Blocks without wrappers, attributes and raw markup; lists of a kind that follow each other are one list."""
        made: list[Element] = []
        found = _code_whole(found)
        for block in (own for one in found for own in BLOCKS.get(one["t"], PlainTree.nothing)(self, one.get("c"))):
            if made and block["t"] == made[-1]["t"] == "BulletList":
                made[-1] = element("BulletList", [*made[-1]["c"], *block["c"]])
            elif made and block["t"] == made[-1]["t"] == "OrderedList":
                made[-1] = element("OrderedList", [made[-1]["c"][0], [*made[-1]["c"][1], *block["c"][1]]])
            else:
                made.append(block)
        return made

    def inlines(self, found: Iterable[Element]) -> list[Element]:
        """A line of text, the same way."""
        return [made for one in formulas_apart(found) for made in INLINES.get(one["t"], _kept)(self, one)]

    # --- blocks

    def paragraph(self, content: Any) -> Iterator[Element]:
        if line := self.inlines(_unjoined(content)):
            yield element("Para", line)

    def header(self, content: Any) -> Iterator[Element]:
        if (lines := _unjoined(content[2])) != content[2]:  # of a list above `---`, Markdown makes a heading
            yield from self.paragraph(lines)
        elif line := self.inlines(content[2]):
            yield element("Header", [content[0], NO_ATTRIBUTES, _in_one_line(line)])

    def wrapper(self, content: Any) -> Iterator[Element]:
        if not COPIES & {*content[0][1]}:
            yield from self.blocks(content[1])

    def code(self, content: Any) -> Iterator[Element]:
        language = next((one for one in content[0][1][:1] if WORD.fullmatch(one)), "")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", content[1])), default=0))
        yield element("RawBlock", ["commonmark", f"{fence}{language}\n{content[1]}\n{fence}"])

    def bullets(self, content: Any) -> Iterator[Element]:
        yield element("BulletList", [self._item(item) for item in content])

    def numbered(self, content: Any) -> Iterator[Element]:
        start = content[0][0]
        yield element("OrderedList", [[start, {"t": "Decimal"}, {"t": "Period"}], [self._item(i) for i in content[1]]])

    def _item(self, blocks: Any) -> list[Element]:
        made = self.blocks(blocks)
        return [element("Plain", made[0]["c"]), *made[1:]] if made and made[0]["t"] == "Para" else made

    def quote(self, content: Any) -> Iterator[Element]:
        yield element("BlockQuote", self.blocks(content))

    def lines(self, content: Any) -> Iterator[Element]:
        yield from self.paragraph([one for line in content for one in (*line, element("LineBreak"))][:-1])

    def definitions(self, content: Any) -> Iterator[Element]:
        for term, told in content:
            yield element("Para", [element("Strong", self.inlines(term))])
            for blocks in told:
                yield from self.blocks(blocks)

    def figure(self, content: Any) -> Iterator[Element]:
        """Its images, and its caption where they do not say the same."""
        blocks, caption = self.blocks(content[2]), self.blocks(content[1][1])
        images = [one for one in elements_in(blocks) if one["t"] == "Image"]
        if (
            len(blocks) == len(images) == len(caption) == 1
            and caption[0]["t"] == "Para"
            and not text_of(blocks).strip()
        ):
            words = caption[0]["c"]
            images[0]["c"][1] = words[0]["c"] if [one["t"] for one in words] in (["Emph"], ["Strong"]) else words
            caption = []  # as Markdown has it
            self.figures -= 1
        if text_of(caption).strip() == text_of(blocks).strip():
            caption = []
        elif caption and not text_of(blocks).strip():
            self.figures -= sum(one["t"] == "Image" for one in elements_in(blocks))  # the caption speaks for it
        yield from (*blocks, *caption)

    def table(self, content: Any) -> Iterator[Element]:
        """One head row, one line a cell, joined cells apart: what a Markdown table can say. A caption goes before."""
        _, caption, columns, head, bodies, foot = content
        yield from self.blocks(caption[1])
        rows = [*head[1], *(row for body in bodies for row in (*body[2], *body[3])), *foot[1]]
        cells = grid([[(cell[2], cell[3], self._cell(cell[4])) for cell in row[1]] for row in rows])
        framed = [cell[4] for row in rows for cell in row[1] if not LINE_NUMBERS.fullmatch(text_of(cell[4]))]
        if len(cells) == len(framed) == 1:  # a frame around text, or code beside the numbers of its lines
            yield from self.blocks(framed[0])
        elif cells:
            align = [columns[at][0] if at < len(columns) else {"t": "AlignDefault"} for at in range(len(cells[0]))]
            yield _table(cells, align)

    def _cell(self, blocks: Any) -> list[Element]:
        lines = [line for block in self.blocks(blocks) for line in _lines(block)]
        joined: list[Element] = []
        for line in filter(None, lines):
            joined += [*([element("Str", ";"), element("Space")] if joined else []), *line]
        for formula in (one for one in elements_in(joined) if one["t"] == "RawInline" and one["c"][1][:1] in "$\\"):
            formula["c"][1] = without_bars(formula["c"][1])
        return _in_one_line(joined)

    # --- inlines

    def text(self, one: Element) -> Iterator[Element]:
        for at, part in enumerate(BARE.split(one["c"])):
            if part:
                yield _raw(part.replace("\\", r"\\")) if at % 2 else element("Str", part)

    def styled(self, one: Element) -> Iterator[Element]:
        if line := self.inlines(one["c"]):
            yield element(one["t"], line)

    def unstyled(self, one: Element) -> Iterator[Element]:
        yield from self.inlines(one["c"])

    def raised(self, one: Element) -> Iterator[Element]:
        """A superscript that leads somewhere is a mark; any other is shown as one."""
        if any(inner["t"] in ("Link", "Note", "Cite") for inner in elements_in(one["c"])):
            yield from self.inlines(one["c"])
        else:
            yield element("Superscript", self.inlines(one["c"]))

    def span(self, one: Element) -> Iterator[Element]:
        if not COPIES & {*one["c"][0][1]}:
            yield from self.inlines(one["c"][1])

    def link(self, one: Element) -> Iterator[Element]:
        """A number that leads to a source or a note is a mark; other words that lead into the document are words."""
        _, words, (address, _) = one["c"]
        if [inner["t"] for inner in words] == ["Superscript"] and NUMBER.fullmatch(text_of(words).strip()):
            words = words[0]["c"]  # a mark that is raised inside its link, as others are around theirs
        line = self.inlines(words)
        if not address.startswith("#"):
            yield from [element("Link", [NO_ATTRIBUTES, line, [address, ""]])] if line else []
        elif NUMBER.fullmatch(text_of(line).strip()) and address[1:] not in self.no_marks:
            yield self._mark()
        else:
            yield from line

    def broken(self, one: Element) -> Iterator[Element]:
        yield BREAK

    def citation(self, one: Element) -> Iterator[Element]:
        yield self._mark()

    def _mark(self) -> Element:
        self.cited += 1
        return _raw(f"[^c{self.cited}]")

    def note(self, one: Element) -> Iterator[Element]:
        """Of one paragraph, so that all of it is the note."""
        lines = [words for block in self.blocks(one["c"]) for words in _lines(block)]
        line = [word for words in lines for word in (*words, element("Space"))]
        yield element("Note", [element("Para", line[:-1])])

    def image(self, one: Element) -> Iterator[Element]:
        alt = self.inlines(one["c"][1])
        self.figures += not text_of(alt).strip()
        self.images.append(one["c"][2][0])
        yield element("Image", [NO_ATTRIBUTES, alt, [FIGURE.format(len(self.images)), ""]])

    def formula(self, one: Element) -> Iterator[Element]:
        kind, source = one["c"]
        written = FORMULA_END.sub(r"\1", re.sub(r"\s+", " ", source.lstrip()))
        yield _raw("{0}{1}{0}".format(SIGNS[kind["t"]], written))

    def inline_code(self, one: Element) -> Iterator[Element]:
        yield element("Code", [NO_ATTRIBUTES, one["c"][1]])

    def quoted(self, one: Element) -> Iterator[Element]:
        yield from (element("Str", '"'), *self.inlines(one["c"][1]), element("Str", '"'))

    def nothing(self, _: Any) -> Iterator[Element]:
        yield from ()


def _kept(_: PlainTree, one: Element) -> Iterator[Element]:
    yield one


def _rule(_: PlainTree, content: Any) -> Iterator[Element]:
    yield element("RawBlock", ["commonmark", "---"])


BLOCKS: dict[str, Callable[[PlainTree, Any], Iterator[Element]]] = {
    "Para": PlainTree.paragraph, "Plain": PlainTree.paragraph, "Header": PlainTree.header, "Div": PlainTree.wrapper,
    "CodeBlock": PlainTree.code, "BulletList": PlainTree.bullets, "OrderedList": PlainTree.numbered,
    "BlockQuote": PlainTree.quote, "LineBlock": PlainTree.lines, "DefinitionList": PlainTree.definitions,
    "Figure": PlainTree.figure, "Table": PlainTree.table, "HorizontalRule": _rule,
}  # fmt: skip
INLINES: dict[str, Callable[[PlainTree, Any], Iterator[Element]]] = {
    "Str": PlainTree.text, "Emph": PlainTree.styled, "Strong": PlainTree.styled, "Strikeout": PlainTree.styled,
    "Subscript": PlainTree.styled, "Underline": PlainTree.unstyled, "SmallCaps": PlainTree.unstyled,
    "Superscript": PlainTree.raised, "Span": PlainTree.span, "Link": PlainTree.link, "Cite": PlainTree.citation,
    "Note": PlainTree.note, "Image": PlainTree.image, "Math": PlainTree.formula, "Code": PlainTree.inline_code,
    "Quoted": PlainTree.quoted, "RawInline": PlainTree.nothing, "LineBreak": PlainTree.broken,
}  # fmt: skip


def _code_whole(blocks: Iterable[Element]) -> Iterator[Element]:
    """Blocks in which the lines of a piece of code are one."""
    for is_typed, run in groupby(blocks, lambda one: one["t"] == "Para" and text_of(one["c"][:1]).startswith(TYPED)):
        if is_typed:
            lines = (text_of(one["c"])[1:].replace("\u00a0", " ") for one in run)
            yield element("CodeBlock", [NO_ATTRIBUTES, "\n".join(lines)])
        else:
            yield from run


def text_of(found: Any) -> str:
    """The words of a tree's elements, in their order."""
    return "".join(_words(one) for one in elements_in(found))


def _words(one: Element) -> str:
    if one["t"] == "Str":
        return str(one["c"])
    if one["t"] in ("RawInline", "RawBlock", "Code", "CodeBlock", "Math"):
        return str(one["c"][1])
    return " " if one["t"] in ("Space", "SoftBreak", "LineBreak") else ""


def elements_in(found: Any) -> Iterator[Element]:
    """Every element of a tree, the outer before what it holds."""
    if isinstance(found, dict) and "t" in found:
        yield found
        yield from elements_in(found.get("c"))
    elif isinstance(found, list):
        for one in found:
            yield from elements_in(one)


def _numbered(blocks: Any) -> Iterator[str]:
    """Where numbers lead that are no marks: chapters, captions (`Table` before the place), figures and formulas."""
    for kind, content in ((one["t"], one.get("c", [])) for one in elements_in(blocks)):
        if kind == "Figure" or (kind == "Table" and content[1][1]):
            yield content[0][0]
        elif kind == "Header" and not hints_at_sources(text_of(content[2])):
            yield from (content[1][0], *(place["c"][0][0] for place in content[2] if place["t"] == "Span"))
        elif kind == "Span" and [inner["t"] for inner in content[1]] == ["Math"]:
            yield content[0][0]
        elif kind in ("Para", "Plain"):
            spans = (at for at, place in enumerate(content[:6]) if place["t"] == "Span")
            yield from (content[at]["c"][0][0] for at in spans if CAPTION.fullmatch(text_of(content[:at])))


def _told(value: Element | None) -> Iterator[list[Element]]:
    """The lines or blocks that a piece of metadata holds."""
    if value is None:
        return
    if value["t"] == "MetaList":
        for one in value["c"]:
            yield from _told(one)
    elif value["t"] in ("MetaInlines", "MetaBlocks"):
        yield value["c"]


def _unjoined(content: Sequence[Element]) -> list[Element]:
    """A paragraph; of sources that were lines of their own, `[1] … [2] …` or each to its address, lines again."""
    if not content:
        return []
    blanks = [at for at, one in enumerate(content) if one["t"] in ("Space", "SoftBreak") and at + 1 < len(content)]
    if CHIP.fullmatch(text_of(content)):
        return [*content[: blanks[-1]], element("LineBreak"), *content[blanks[-1] + 1 :]]
    begins = [at for at in (-1, *blanks) if content[at + 1]["t"] == "Str" and ENTRY.fullmatch(content[at + 1]["c"])]
    numbers = [int(content[at + 1]["c"][1:-1]) for at in begins]
    is_list = len(begins) > 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    cuts = [at for at in begins if at >= 0]
    parts = [content[begin + 1 : end] for begin, end in pairwise((*begins, len(content)))]
    if not (is_list and LIST_HEAD.fullmatch(text_of(content[: begins[0] + 1]).strip()) and all(map(_addresses, parts))):
        cuts = [at for at in blanks if _is_address(content[at - 1]) and not text_of(content[at + 1])[:1].islower()]
        if len(cuts) < 3 - _is_address(content[-1]) or _addresses(content) > len(cuts) + 1:
            return [*content]
        cuts += [at for at in blanks[:3] if SOURCES_HEAD.fullmatch(text_of(content[:at]))]
    wanted = {*cuts}
    return [element("LineBreak") if at in wanted else one for at, one in enumerate(content)]


def _addresses(content: Sequence[Element]) -> int:
    return sum("://" in text_of(one) or one["t"] == "Link" for one in content)


def _is_address(one: Element) -> bool:
    return bool(ADDRESS.fullmatch(text_of(one)))


def _in_one_line(line: Iterable[Element]) -> list[Element]:
    return [element("Space") if one == BREAK or one["t"] == "SoftBreak" else one for one in line]


def _lines(block: Element) -> Iterator[list[Element]]:
    """A block as lines of text, for places that hold no blocks."""
    kind, content = block["t"], block.get("c", [])
    if kind in ("Para", "Plain"):
        yield content
    elif kind == "Header":
        yield content[2]
    elif kind == "RawBlock":  # code, as `code` wrote it
        yield [element("Code", [NO_ATTRIBUTES, " ".join(line.strip() for line in content[1].split("\n")[1:-1])])]
    elif kind == "Table":
        for row in (*content[3][1], *(row for body in content[4] for row in body[3])):
            yield from (line for cell in row[1] for inner in cell[4] for line in _lines(inner))
    else:
        yield from (line for inner in _blocks_in(content) for line in _lines(inner))


def _blocks_in(content: Any) -> Iterator[Element]:
    """The nearest blocks inside a list or quote."""
    if isinstance(content, dict) and (content.get("t") in BLOCKS or content.get("t") == "RawBlock"):
        yield content
    elif isinstance(content, list):
        for one in content:
            yield from _blocks_in(one)


def _table(cells: Sequence[Sequence[list[Element]]], align: Sequence[Element]) -> Element:
    place = [NO_ATTRIBUTES, {"t": "AlignDefault"}, 1, 1]
    rows = [[NO_ATTRIBUTES, [[*place, [element("Plain", words)] * bool(words)] for words in row]] for row in cells]
    columns = [[one, {"t": "ColWidthDefault"}] for one in align]
    body = [NO_ATTRIBUTES, 0, [], rows[1:]]
    head, foot = [NO_ATTRIBUTES, rows[:1]], [NO_ATTRIBUTES, []]
    return element("Table", [NO_ATTRIBUTES, [None, []], columns, head, [body], foot])


def _raw(markdown: str) -> Element:
    return element("RawInline", ["commonmark", markdown])

"""The lines of a PDF as headings, paragraphs, lists and tables: pandoc's tree, as for any other document."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any
from urllib.parse import unquote

from annotation.documents import captions, pdf_lines, pdf_pieces
from annotation.documents.document_tree import NO_ATTRIBUTES, Element, element, elements_in, text_of
from plain.counting import counted

LARGER = 1.12  # a heading's type beside the text's
LONGEST_HEADING = 200  # characters
DEEPEST = 4
MOST_BLANKS = 200  # between two words of code
SLANTED = re.compile(r"italic|oblique|slanted", re.I)
STOPPED = re.compile(r"(?:[.!?:;。！？：][\"'”’)\]]*|[^\W\d_]{2}[.!?]\d{1,3})$")  # a mark that is not raised may end it
UNSPACED_DASH = re.compile(r"\w[—–]$")
HYPHEN = re.compile(r"[^\W\d_][-\u00ad\u2010]$")
CUT_ADDRESS = re.compile(r"(?:https?://|www\.)\S*[/_=&?%#+~-]$")
BEGUN = re.compile(r"\( ?https?://")
ON = re.compile(r"[\w.~%+]*[/_=&?%#-]\w")  # what no word of a sentence has within it, but for a hyphen
BACK = "↩\ufe0e"  # how browsers print the link at a note's end that leads back to its mark
MANY = 0.08  # of all lines: a program that sets text breaks words so often, others at their own hyphens alone
CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def tree_of(pages: Iterable[dict[str, Any]]) -> tuple[list[Element], tuple[str, ...]] | None:
    """The blocks of a PDF's pages as `pdf_process` reads them, and what could not be told; None without text."""
    read = pdf_lines.read_pages(pages)
    if not any(isinstance(piece, pdf_pieces.Line | pdf_pieces.Table) for piece in read.pieces):
        return None
    cells = [
        line
        for one in read.pieces
        if isinstance(one, pdf_pieces.Table)
        for row in one.rows
        for cell in row
        for line in cell
    ]
    look = _Look([piece for piece in read.pieces if isinstance(piece, pdf_pieces.Line)], cells)
    blocks = [*_blocks(read.pieces, look)]
    _put_notes(blocks, look.notes)
    return blocks, _lost(read)


def _lost(read: pdf_lines.Read) -> tuple[str, ...]:
    told = {
        "page in columns, whose order was guessed": read.in_columns,
        "page whose first rows were guessed to go on with the table before it": read.joined,
        "page with notes at its foot, which are in the text": read.noted,
        "page with formulas, which were read as characters": read.formulas,
        "page with formulas, which were told from where their characters stand": read.rebuilt,
        "page without text": read.without_text,
        "page with a drawing, whose labels are in the text": read.drawn,
        "page with words from right to left, whose letters are as drawn": read.from_right,
        "page with characters that its fonts do not name, shown as \ufffd": read.unnamed,
        "page with text on its side or aslant, which was left out": read.turned,
    }
    behind = [f"{counted(read.behind, 'figure')} behind text, left out"] if read.behind else []
    cut = [f"{counted(read.cut, 'table')} cut by a page's end, shown as two"] if read.cut else []
    pages = (counted(count, what) if count == 1 else _many(count, what) for what, count in told.items() if count)
    return (*pages, *behind, *cut)


def _many(count: int, what: str) -> str:
    return f"{count} {what.replace('page', 'pages', 1).replace('a drawing', 'drawings')}"


def _blocks(pieces: Sequence[pdf_pieces.Piece], look: "_Look") -> Iterator[Element]:
    for _, found in groupby(pieces, key=type):
        group = [*found]
        yield from look.blocks([piece for piece in group if isinstance(piece, pdf_pieces.Line)])
        yield from (_table(piece, look) for piece in group if isinstance(piece, pdf_pieces.Table))
        yield from (_figure(piece) for piece in group if isinstance(piece, pdf_pieces.Figure))


def _put_notes(blocks: Sequence[Element], notes: Mapping[str, list[Element]]) -> None:
    """The notes from the end of a file in place of the numbers that lead to them, as in any other format."""
    for one in elements_in(blocks):
        if one["t"] == "Link" and one["c"][2][0] == "#" and (note := notes.get(text_of(one["c"][1]).strip(MARKS))):
            one |= element("Note", [element("Para", note)])


class _Look:
    """How the text of one file is set: the size of its type, of its headings, and how far its lines are apart."""

    def __init__(self, lines: Sequence[pdf_pieces.Line], cells: Sequence[pdf_pieces.Line]) -> None:
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[line.size] += len(line.text)
        self.size = max(sizes, key=lambda size: sizes[size]) if sizes else 10.0
        larger = {line.size for line in lines if self._may_head(line)}
        self.headings = sorted(larger, reverse=True)[:DEEPEST]
        text = [line for line in lines if line.size == self.size]
        apart = (below.top - above.top for above, below in pairwise(text) if above.page == below.page)
        steps = sorted(step for step in apart if 0 < step < 3 * self.size)
        ends = sorted(line.x1 for line in text)
        self.right = ends[len(ends) * 9 // 10] if ends else 0.0  # where most full lines end
        starts = Counter(round(line.x0) for line in text)
        self.left = max(starts, key=lambda x0: starts[x0]) if starts else 0
        # of few lines most may begin a paragraph
        self.step = steps[len(steps) // 3] if len(steps) >= 8 else min([1.65 * self.size, *steps])
        at_end = [line.words[-1].text for line in lines if len(line.words) > 3]
        self.breaks_words = sum(bool(HYPHEN.search(text)) for text in at_end) > MANY * len(at_end)
        self.marks = {word.text.strip(MARKS) for line in (*lines, *cells) for word in line.words if word.link == "#"}
        self.notes: dict[str, list[Element]] = {}  # by number, of the blocks made so far
        self.known = {word.text.strip(MARKS).lower() for line in lines for word in line.words}

    def cell(self, lines: Sequence[pdf_pieces.Line], heads: bool) -> list[Element]:
        """`heads`: of the first row, which is set in bold type without being said to be."""
        inlines = self._inlines(lines)
        return [element("Plain", _plain(inlines) if heads else inlines)] if lines else []

    def _may_head(self, line: pdf_pieces.Line) -> bool:
        return line.size >= LARGER * self.size and len(line.text) <= LONGEST_HEADING

    def blocks(self, lines: Sequence[pdf_pieces.Line]) -> Iterator[Element]:
        """All but notes that a mark leads to, which are kept in `notes`."""
        paragraphs = self._paragraphs(lines)
        notes = [group for group in paragraphs if self._is_note(group)]
        self.notes |= {group[0].words[0].text.strip(MARKS): self._inlines(_unled(group), 1) for group in notes}
        text = [group for group in paragraphs if group not in notes]
        alone = self._numbered_heads(text)
        is_below_list = False
        for listed, groups in groupby(text, key=lambda group: self._is_item(group) and group[0] not in alone):
            if listed:
                yield from self._lists([*groups])
            else:
                yield from (self._block(group, may_quote=n > 0 or not is_below_list) for n, group in enumerate(groups))
            is_below_list = listed

    def _numbered_heads(self, groups: Sequence[Sequence[pdf_pieces.Line]]) -> set[pdf_pieces.Line]:
        """The lines `4. Money` in bold type, number and all, with none of their kind beside them: no list's items."""
        bold = [_is_numbered(group[0].words[0].text) and all(map(_is_bold, group)) for group in groups]
        beside = zip([False, *bold], bold, [*bold[1:], False], strict=False)
        return {
            group[0] for group, (above, is_bold, below) in zip(groups, beside, strict=True) if is_bold > above + below
        }

    def _is_item(self, group: Sequence[pdf_pieces.Line]) -> bool:
        first = group[0]
        return (
            bool(pdf_pieces.ITEM.fullmatch(first.words[0].text))
            and len(first.words) > 1
            and first.size not in self.headings
        )

    def _is_note(self, group: Sequence[pdf_pieces.Line]) -> bool:
        number, last = group[0].words[0].text, group[-1].words[-1].text
        return self._is_item(group) and last[-1] in BACK and number.strip(MARKS) in self.marks

    def _paragraphs(self, lines: Sequence[pdf_pieces.Line]) -> list[list[pdf_pieces.Line]]:
        groups: list[list[pdf_pieces.Line]] = []
        for line in lines:
            if groups and self._goes_on(groups[-1], line):
                groups[-1].append(line)
            else:
                groups.append([line])
        return groups

    def _goes_on(self, group: Sequence[pdf_pieces.Line], line: pdf_pieces.Line) -> bool:
        """Whether a line belongs to the paragraph above it."""
        last = group[-1]
        if _is_typed(last) != _is_typed(line) or abs(last.size - line.size) > 0.6:
            return False
        if self._is_display(last) or self._is_display(line):
            return False
        if pdf_pieces.LISTED.fullmatch(line.words[0].text) and len(line.words) > 1 and not _is_typed(line):
            return False
        if _is_bold(last) != _is_bold(line) and (_is_bold(line) or len(group) == 1):
            return False
        if last.page != line.page or line.top < last.top - self.step:  # over to the next page or column
            is_cut_off = line.text[:1].islower() or last.x1 > self.right - 4 * self.size
            return is_cut_off and not STOPPED.search(_unmarked(last)) and not self._may_head(line)
        if captions.CAPTION.match(group[0].text) and _is_slanted(last) != _is_slanted(line):
            return False
        room = max(word.over for word in line.words) + max(word.under for word in last.words)
        if line.top - last.top - room > 1.3 * max(self.step, 1.15 * line.size):
            return False
        is_indented = line.x0 - last.x0 > 1.2 * line.size and not _is_typed(line)
        return not is_indented or (len(group) == 1 and bool(pdf_pieces.ITEM.fullmatch(group[0].words[0].text)))

    def _is_display(self, line: pdf_pieces.Line) -> bool:
        """Whether a formula is on a line of its own, which begins where no text does."""
        return [word.font for word in line.words] == [pdf_pieces.FORMULA] and line.x0 - self.left > 2.5 * self.size

    def _block(self, group: Sequence[pdf_pieces.Line], *, may_quote: bool) -> Element:
        if _is_typed(group[0]):
            return element("CodeBlock", [NO_ATTRIBUTES, "\n".join(_as_typed(group))])
        if group[0].size in self.headings and self._may_head(group[0]):
            line = _plain(self._inlines(group))
            return element("Header", [self.headings.index(group[0].size) + 1, NO_ATTRIBUTES, line])
        if self._is_display(group[0]):
            return element("Para", [element("Math", [element("DisplayMath"), group[0].text])])
        para = element("Para", self._inlines(group))
        return element("BlockQuote", [para]) if may_quote and self._is_quotation(group) else para

    def _is_quotation(self, group: Sequence[pdf_pieces.Line]) -> bool:
        """Whether all of its lines are set in on both sides, on one place."""
        x0, far = group[0].x0, 1.5 * self.size
        is_set_in = far < x0 - self.left < 5 * self.size and max(line.x1 for line in group) < self.right - far
        is_even = len(group) > 1 and all(abs(line.x0 - x0) < 1 for line in group)
        return is_set_in and is_even and group[0].size == self.size

    def _lists(self, items: Sequence[Sequence[pdf_pieces.Line]]) -> Iterator[Element]:
        """Items as lists, and within them those that are to the right of the one before."""
        at = 0
        while at < len(items):
            begun, x0 = items[at][0].words[0].text, items[at][0].x0
            made: list[list[Element]] = []
            while at < len(items) and items[at][0].x0 > x0 - 4:
                below = at
                while at < len(items) and items[at][0].x0 > x0 + 4:
                    at += 1
                if at > below:
                    made[-1] += self._lists(items[below:at])
                elif _is_numbered(items[at][0].words[0].text) == _is_numbered(begun):
                    made.append([element("Plain", self._inlines(items[at], begun not in BOXES))])
                    at += 1
                else:
                    break
            if _is_numbered(begun):
                yield element("OrderedList", [[int(begun.strip("().")), {"t": "Decimal"}, {"t": "Period"}], made])
            else:
                yield element("BulletList", made)

    def _inlines(self, group: Sequence[pdf_pieces.Line], skipped: int = 0) -> list[Element]:
        """The words of a paragraph, the first `skipped` left out; a word that a line's end broke is whole again."""
        words: list[tuple[str, pdf_pieces.Word, bool]] = []  # its text, itself, and whether a blank is before it
        for number, line in enumerate(group):
            for at, word in enumerate(line.words):
                is_cut = bool(at == 0 and number and _is_cut_address(words, line))
                if number or at >= skipped:
                    is_apart = not is_cut and _is_apart(words[-1] if words else None, word, at == 0)
                    words.append((word.text, word, is_apart))
                if at == 0 and number and not is_cut and len(words) > 1 and _is_broken(words[-2][0], word.text):
                    before = words[-2]
                    words[-2] = (self._unbroken(before[0], word.text), *before[1:])
                    words[-1] = (word.text, word, False)
        return _styled(words)

    def _unbroken(self, head: str, tail: str) -> str:
        """`head` without the hyphen at its end, unless that is a compound's own, as the rest of the file tells."""
        joined, kept = ((one + tail).strip(MARKS).lower() in self.known for one in (head[:-1], head))
        return head[:-1] if head[-1] == "\u00ad" or joined or (self.breaks_words and not kept) else head


BOXES = "☐☒"  # which are of an item's text


def _unmarked(line: pdf_pieces.Line) -> str:
    """The words of a line without the marks of notes at its end."""
    ends = next((at for at in range(len(line.words), 0, -1) if not line.words[at - 1].raised), 0)
    return " ".join(word.text for word in line.words[:ends])


MARKS = ".,;:!?()[]\"'“”’"


def _unled(group: Sequence[pdf_pieces.Line]) -> list[pdf_pieces.Line]:
    """A note without the sign that leads back."""
    *words, last = group[-1].words
    words += [replace(last, text=text)] if (text := last.text.rstrip(BACK)) else []
    return [*group[:-1], replace(group[-1], words=tuple(words))]


def _is_numbered(mark: str) -> bool:
    return mark[-1] in ".)"


def _is_broken(last: str, first: str) -> bool:
    return bool(HYPHEN.search(last)) and first[:1].islower()


def _is_cut_address(words: Sequence[tuple[str, pdf_pieces.Word, bool]], line: pdf_pieces.Line) -> bool:
    """Whether an address at a line's end, maybe begun on a line before, goes on with the first word of the next.

    So does a link as Markdown writes it, whose words end a line.
    """
    if words and words[-1][0].endswith("]") and BEGUN.match(line.text):
        return True
    begun = next((n for n in range(len(words) - 1, -1, -1) if words[n][2]), 0)
    return bool(CUT_ADDRESS.search("".join(text for text, _, _ in words[begun:])) and ON.match(line.words[0].text))


def _is_apart(before: tuple[str, pdf_pieces.Word, bool] | None, word: pdf_pieces.Word, begins_line: bool) -> bool:
    if before is None:
        return False
    if begins_line:
        ends, begins = before[0][-1:], word.text[:1]
        is_joined = UNSPACED_DASH.search(before[0]) or begins == "—" or (HYPHEN.search(before[0]) and begins.isalpha())
        return not (is_joined or (CJK.match(ends) and CJK.match(begins)))
    return word.x0 - before[1].x1 > 0.13 * min(word.size, before[1].size)


def _styled(words: Sequence[tuple[str, pdf_pieces.Word, bool]]) -> list[Element]:
    """Runs of words in one style, each with the blanks between them; a run begins after the blank before it."""
    made: list[Element] = []
    for (style, _), run in groupby(words, key=lambda one: (_style(one[1]), _own_place(one[1]))):
        texts = [*run]
        if made and texts[0][2]:
            made.append(element("Space"))
        if texts[0][1].font == pdf_pieces.FORMULA:
            made.append(element("Math", [element("InlineMath"), texts[0][0]]))
            continue
        inside: list[Element] = []
        for text, _, is_apart in texts:
            inside += [*([element("Space")] if is_apart and inside else []), element("Str", text)]
        made += _dressed(inside, style)
    return made


Style = tuple[str, bool, bool, bool, bool]  # address, raised, bold, slanted, typed


def _style(word: pdf_pieces.Word) -> Style:
    font = word.font
    is_bold, is_slanted = bool(pdf_pieces.BOLD.search(font)), bool(SLANTED.search(font))
    return word.link, word.raised, is_bold, is_slanted, bool(pdf_pieces.TYPED.search(font))


def _own_place(word: pdf_pieces.Word) -> float:
    """Two formulas, and two raised numbers beside each other that lead to notes, are two."""
    is_note = word.raised and word.link == "#" and word.text.isdigit()
    return word.x0 if is_note or word.font == pdf_pieces.FORMULA else 0.0


def _dressed(inside: list[Element], style: Style) -> list[Element]:
    address, raised, bold, slanted, typed = style
    text = "".join(str(one.get("c", " ")) for one in inside)
    if typed:
        inside = [element("Code", [NO_ATTRIBUTES, text])]
    if address and _unbroken_address(address) == _unbroken_address(text):
        inside = [element("Str", address)]
    elif address:
        inside = [element("Link", [NO_ATTRIBUTES, inside, [address, ""]])]
    if raised and not text.isalpha():  # 10th, 1st
        inside = [element("Superscript", inside)]
    for wanted, kind in ((slanted, "Emph"), (bold, "Strong")):
        inside = [element(kind, inside)] if wanted else inside
    return inside


def _unbroken_address(text: str) -> str:
    """An address as its link and its words on the page both spell it: lines' ends put blanks in, and take hyphens."""
    return unquote(re.sub(r"[\s-]|/$", "", text))


def _plain(inlines: Iterable[Element]) -> list[Element]:
    """A heading's words without bold and slanted type, which it has anyway."""
    made: list[Element] = []
    for one in inlines:
        made += _plain(one["c"]) if one["t"] in ("Strong", "Emph") else [one]
    return made


def _is_slanted(line: pdf_pieces.Line) -> bool:
    return all(SLANTED.search(word.font) for word in line.words)


def _is_bold(line: pdf_pieces.Line) -> bool:
    return all(pdf_pieces.BOLD.search(word.font) for word in line.words)


def _is_typed(line: pdf_pieces.Line) -> bool:
    return all(pdf_pieces.TYPED.search(word.font) for word in line.words)


def _as_typed(group: Sequence[pdf_pieces.Line]) -> Iterator[str]:
    """Lines of code with the blanks that their places tell: in such a type all characters are equally wide."""
    left = min(line.x0 for line in group)
    word = max((word for line in group for word in line.words), key=lambda word: len(word.text))
    wide = (word.x1 - word.x0) / len(word.text)
    for line in group:
        text = ""
        for word in line.words:
            blanks = max(round((word.x0 - left) / wide) - len(text), 1 if text else 0)
            text += " " * min(blanks, MOST_BLANKS) + word.text
        yield text


def _figure(piece: pdf_pieces.Figure) -> Element:
    return element("Para", [element("Image", [NO_ATTRIBUTES, [], [piece.address, ""]])])


def _table(table: pdf_pieces.Table, look: _Look) -> Element:
    rows = [
        [NO_ATTRIBUTES, [[NO_ATTRIBUTES, {"t": "AlignDefault"}, 1, 1, look.cell(cell, at == 0)] for cell in row]]
        for at, row in enumerate(table.rows)
    ]
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}] for _ in range(max(map(len, table.rows)))]
    empty, body = [NO_ATTRIBUTES, []], [NO_ATTRIBUTES, 0, [], rows[1:]]
    return element("Table", [NO_ATTRIBUTES, [None, []], columns, [NO_ATTRIBUTES, rows[:1]], [body], empty])

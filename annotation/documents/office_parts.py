"""The text of a Word or OpenDocument file, said so that pandoc hears all of it, and the words that it holds.

One pass over the part's XML (expat: nothing that it names is fetched, its entities cannot grow without end), whose
time and memory grow as the part does. Names are those of the two standards, with the prefixes that every program
writes.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from io import StringIO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from annotation.documents.document_tree import TYPED
from annotation.documents.programs import MOST_BYTES

MOST_ELEMENTS, MOST_MOVED = 1_000_000, 100 << 20  # more than pandoc's memory holds; boxes in boxes are moved again
# Citations as Word, EndNote (with its record apart) and Mendeley Cite write them, said as Zotero does
CITED = 'ADDIN ZOTERO_ITEM CSL_CITATION {"citationItems":[{"id":1,"itemData":{"id":1,"type":"book"}}]}'
FIELDS = [(re.compile(r"\s*(?:CITATION\s.*|NOTEREF\s.*|ADDIN EN\.CITE\s*)", re.DOTALL), CITED),
          (re.compile(r"\s*PAGEREF(?=\s+(?!_Toc)).*", re.DOTALL), "PAGE"),
          (re.compile(r"\s*ADDIN\s.*CSL_BIBLIOGRAPHY\s*", re.DOTALL), "QUOTE")]  # fmt: skip
FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
INSTRUCTION = FIELD.format("begin") + "<w:r><w:instrText>{}</w:instrText></w:r>" + FIELD.format("separate")
RUN = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
DRAWN = "http://schemas.openxmlformats.org/drawingml/2006"
PICTURE = (
    f'<w:r><w:drawing><wp:inline xmlns:wp="{DRAWN}/wordprocessingDrawing"><wp:docPr{{}}/>'
    f'<a:graphic xmlns:a="{DRAWN}/main"><a:graphicData>{{}}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
)
SHAPES = {"wps", "wpg", "wpc"}  # an alternative of which pandoc hears neither form
FORMULA = "formula or chart"  # of an OpenDocument
PASSED_OVER = {
    "c:chart": "chart", "dgm:relIds": "diagram", "o:OLEObject": "object", "w:altChunk": "embedded document",
    "draw:object": FORMULA, "m:oMath": "formula", "m:oMathPara": "formula",
}  # fmt: skip
# What has no words of its own and hides those within it
WRAPPERS = {"w:ins", "w:moveTo", "w:dir", "w:bdo", "w:customXml", "mc:AlternateContent", "w:rubyBase"}
WRAPPERS |= {"draw:a", "draw:g", "table:table-row-group", "table:table-rows", "text:ruby", "text:ruby-base"}
WRAPPERS |= {"text:numbered-paragraph", "text:bibliography", "text:index-body", "text:index-title"}
SIGNS = {"Symbol", "Wingdings", "Wingdings 2", "Wingdings 3", "Webdings"}
GROUPS, TEXT = {"wpg:wgp", "wpc:wpc"}, ("text:p", "text:h")
STYLE, VANISH = re.compile('w:styleId="([^"]*)"'), re.compile(r"<w:vanish(?: w:val=\"(?:1|true|on)\")?\s*/>")
TYPED_STYLE = "Preformatted_20_Text"  # of an OpenDocument's code
HEARD_HIDDEN = ("w:fldChar", "w:instrText")  # a field begins and ends, whoever sees it
FORMULA_FIELD = re.compile(r"\s*EQ\s")
BLOCKS = {"text:p", "text:h", "text:list", "text:section", "table:table"}
HEARD = {f"text:{name}" for name in (
    "span", "a", "s", "tab", "line-break", "soft-page-break", "note", "note-citation", "note-body", "list-item",
    "list-header", "bookmark", "bookmark-start", "bookmark-end", "bookmark-ref", "reference-mark", "reference-ref",
    "reference-mark-start", "reference-mark-end", "note-ref", "sequence", "sequence-ref", "bibliography-mark",
    "change", "change-start", "change-end", "hidden-text", "ruby-text",
)}  # fmt: skip
# What is left out on purpose: what was deleted or is hidden, remarks, the numbers of notes, tables of contents
UNREAD = {"w:del", "w:moveFrom", "office:annotation", "text:tracked-changes", "text:note-citation", "text:hidden-text"}
REPEATED = ("table:number-columns-repeated", "table:number-rows-repeated")
UNREAD |= {"text:table-of-content", "text:illustration-index", "text:table-index", "text:alphabetical-index"}
PARTING = {"w:p", "w:tab", "w:br", "w:cr", "w:noBreakHyphen", "w:softHyphen", "w:sym", "w:txbxContent", "w:rt"}
PARTING |= {"w:rubyBase", "m:oMath", *BLOCKS, "text:s", "text:tab", "text:line-break", "text:note", "text:ruby-text"}


@dataclass(slots=True)
class Open:
    """An element that has begun: what is written at its end and behind that, and what it lies in."""

    name: str = ""
    end: str = ""
    behind: list[str] = field(default_factory=list)
    is_dropped: bool = False
    is_unread: bool = False
    in_cell: bool = False
    in_group: bool = False
    is_citation: bool = False  # a content control of Mendeley Cite
    is_chosen: bool = False  # of its alternatives the first is read
    is_typed: bool = False  # a line of code
    is_hidden: bool = False  # what nobody is shown
    run: "Open | None" = None
    paragraph: "Open | None" = None
    drawing: "Open | None" = None  # the outermost
    then: Callable[[str], None] | None = None  # where its content goes, if not in its place


class Part:
    """Parts on their way: `out` is what pandoc is given, `words` what a reader finds, `passed_over` what has none.

    `formulas`: the signs that formulas are set of; `hidden`: the words that nobody is shown.
    """

    def __init__(self, hidden_styles: Collection[str] = ()) -> None:
        self.hidden_styles = hidden_styles
        self.typed_styles = {TYPED_STYLE}
        self.out, self.words, self.formulas, self.hidden = StringIO(), StringIO(), StringIO(), StringIO()
        self.passed_over = Counter[str]()
        self.open = [Open()]
        self.around: list[StringIO] = []  # what is written around an element whose content goes elsewhere
        self.elements = self.moved = 0
        self.named: Mapping[str, str] = {}  # the attributes of the last drawing, which hold its words

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise MemoryError
        outer = self.open[-1]
        one = replace(outer, name=name, end="", behind=[], is_citation=False, is_chosen=False, then=None)
        one.is_dropped |= outer.is_hidden and name not in HEARD_HIDDEN
        self.open.append(one)
        if one.is_dropped:
            return
        if name in PARTING:
            self.words.write(" ")
        one.is_unread |= name in UNREAD
        if name in PASSED_OVER and not one.is_unread and outer.name != "m:oMathPara":  # whose formulas are read as one
            self.passed_over[PASSED_OVER[name]] += 1
        RULES.get(name, Part._other)(self, one, outer, attributes)

    def finish(self, name: str) -> None:
        one = self.open.pop()
        if one.is_dropped:
            return
        self.out.write("".join((one.end, *one.behind)))
        if one.then:
            held, self.out = self.out.getvalue(), self.around.pop()
            self.moved += len(held)
            if self.moved > MOST_MOVED:
                raise MemoryError
            one.then(held)
        if name in PARTING:
            self.words.write(" ")

    def say(self, words: str) -> None:
        one = self.open[-1]
        if one.is_hidden and (one.name == "w:t" or one.name.startswith("text:")):
            self.hidden.write(f" {words}")
        if one.is_dropped:
            return
        self.out.write(escape(words))
        if one.name == "m:t" and not one.is_unread:
            self.formulas.write(words)
        is_read = one.name == "w:t" or (one.paragraph and one.paragraph.name in TEXT)
        if is_read and not one.is_unread and self.words.tell() < MOST_BYTES:
            self.words.write(words)

    def _tag(self, one: Open, attributes: Mapping[str, str]) -> None:
        self.out.write(f"<{one.name}{_written(attributes)}>")
        one.end = f"</{one.name}>"

    def _elsewhere(self, one: Open, then: Callable[[str], None]) -> None:
        self.around.append(self.out)
        self.out = StringIO()
        one.then = then

    # --- rules

    def _other(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        name = one.name
        if name.startswith("draw:"):
            one.drawing = outer.drawing or one
        is_field = name.startswith("text:") and outer.paragraph and name not in HEARD | BLOCKS
        if not (name in WRAPPERS or is_field or (name.startswith("table:") and one.in_cell)):
            self._tag(one, attributes)
        one.in_cell |= name == "table:table-cell"
        one.in_group |= name in GROUPS

    def _block(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """A block within a drawing is behind the paragraph in which that lies."""
        anchor = outer.paragraph or outer.drawing
        if outer.name.startswith("draw:") and outer.name != "draw:image" and anchor:
            self._elsewhere(one, anchor.behind.append)
            one.drawing = None
        if one.name in (*TEXT, "w:p"):
            one.paragraph = one
        self._other(one, outer, attributes)
        if one.name == "text:p" and attributes.get("text:style-name") in self.typed_styles:
            one.is_typed = True
            self.out.write(TYPED)

    def _run(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        one.run = one
        one.is_hidden |= bool(outer.paragraph and outer.paragraph.is_hidden)
        self._tag(one, attributes)

    def _text_box(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        self._elsewhere(one, (outer.paragraph or outer).behind.append)
        one.run = one.paragraph = None
        one.in_group = False

    def _alternative(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """A shape of today's as it is; of anything else, and of no shape, what stands for it."""
        if one.name == "mc:Choice":
            is_shape = bool(SHAPES & {*attributes.get("Requires", "").split()})
            outer.is_chosen |= is_shape
            one.is_dropped = not is_shape
        else:
            one.is_dropped = outer.is_chosen

    def _picture(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """One in a group is a picture behind the run that draws the group."""
        if one.in_group and outer.run:
            behind, named = outer.run.behind, _written(self.named)
            self._elsewhere(one, lambda held: behind.append(PICTURE.format(named, held)))
        self._tag(one, attributes)

    def _drawing(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        self.named = attributes
        self._tag(one, attributes)

    def _blip(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        linked = {"r:embed": "linked"} if "r:link" in attributes and "r:embed" not in attributes else {}
        self._tag(one, {**attributes, **linked})

    def _field(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """A field of one element is one in pieces."""
        self.out.write(INSTRUCTION.format(self._instruction(escape(attributes.get("w:instr", "")))))
        one.end = FIELD.format("end")

    def _instructed(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        self._tag(one, attributes)
        end, one.end = one.end, ""

        def then(held: str) -> None:
            self.out.write(self._instruction(held) + end)

        self._elsewhere(one, then)

    def _instruction(self, told: str) -> str:
        self.passed_over["formula"] += bool(FORMULA_FIELD.match(told))
        return next((said for asked, said in FIELDS if asked.fullmatch(told)), told)

    def _cited(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        for above in self.open[-3:-2]:
            above.is_citation |= attributes.get("w:val", "").startswith("MENDELEY_CITATION")
        self._tag(one, attributes)

    def _content(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        self._tag(one, attributes)
        if outer.is_citation and outer.paragraph:
            self.out.write(INSTRUCTION.format(CITED))
            one.end = FIELD.format("end") + one.end

    def _font(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """What is set in a font of signs are these signs, not the letters that stand for them."""
        if outer.run and attributes.get("w:ascii") in SIGNS:
            outer.run.is_unread = True
        self._tag(one, attributes)

    def _vanished(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        if outer.run:
            outer.run.is_hidden = attributes.get("w:val", "1") not in ("0", "false", "off")

    def _dressed(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """In a style of Word's, of a run or else of a paragraph, that may hide it."""
        dressed = outer.run if one.name == "w:rStyle" else outer.paragraph
        if dressed:
            dressed.is_hidden |= attributes.get("w:val", "") in self.hidden_styles
        self._tag(one, attributes)

    def _styled(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        if attributes.get("style:parent-style-name") in self.typed_styles:
            self.typed_styles.add(attributes.get("style:name", TYPED_STYLE))
        self._tag(one, attributes)

    def _blanks(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """Of code each is kept; of other text they are one."""
        told = attributes.get("text:c", "1")
        if outer.is_typed and re.fullmatch("[0-9]{1,3}", told):
            self.out.write("\u00a0" * (int(told) if one.name == "text:s" else 4))
        else:
            self._tag(one, attributes)

    def _section(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        one.is_hidden |= attributes.get("text:display") == "none" or one.name == "text:hidden-text"
        one.is_dropped |= one.is_hidden
        if not one.is_dropped:
            self._block(one, outer, attributes)

    def _former(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """How words were set before a change that Word tracks: hidden, or in a font of signs."""
        one.run = one.paragraph = None
        self._tag(one, attributes)

    def _repeated(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """Cells and rows that an OpenDocument holds once and shows several times."""
        told = next((attributes[name] for name in REPEATED if name in attributes), "1")
        times = int(told) if re.fullmatch("[0-9]{1,3}", told) else 1  # a spreadsheet's empty rest has no end

        def then(held: str) -> None:
            self.moved += len(held) * times
            if self.moved > MOST_MOVED:
                raise MemoryError
            self.out.write(held * times)

        if times > 1:
            self._elsewhere(one, then)
        self._other(one, outer, {name: value for name, value in attributes.items() if name not in REPEATED})

    def _ruby(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """Of Word's, runs in a run, which ends before them."""
        self.out.write(outer.end)
        outer.end = ""

    def _reading(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """How a word is read, which Word writes before it."""
        self._elsewhere(one, lambda held: outer.behind.extend((RUN.format("("), held, RUN.format(")"))))

    def _reading_behind(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        self.out.write("(")
        one.end = ")"

    def _described(self, one: Open, outer: Open, attributes: Mapping[str, str]) -> None:
        """The words of an OpenDocument's picture, the longer rather than the shorter, are where pandoc hears them."""
        one.is_unread = True

        def then(held: str) -> None:
            if one.name == "svg:desc" or not outer.end.removeprefix("</draw:frame>"):
                outer.end = held + "</draw:frame>"

        self._elsewhere(one, then)


RULES: dict[str, Callable[[Part, Open, Open, Mapping[str, str]], None]] = {
    **dict.fromkeys((*BLOCKS, "w:p"), Part._block), "w:r": Part._run, "w:txbxContent": Part._text_box,
    "mc:Choice": Part._alternative, "mc:Fallback": Part._alternative, "pic:pic": Part._picture,
    "wp:docPr": Part._drawing, "w:rFonts": Part._font, "a:blip": Part._blip, "w:fldSimple": Part._field,
    "w:instrText": Part._instructed, "w:vanish": Part._vanished, "w:rPrChange": Part._former,
    "w:pPrChange": Part._former, "w:rStyle": Part._dressed, "w:pStyle": Part._dressed, "style:style": Part._styled,
    "text:s": Part._blanks, "text:tab": Part._blanks, "text:section": Part._section, "text:hidden-text": Part._section,
    "table:table-cell": Part._repeated, "table:table-row": Part._repeated, "w:tag": Part._cited,
    "w:sdtContent": Part._content, "w:ruby": Part._ruby, "w:rt": Part._reading, "text:ruby-text": Part._reading_behind,
    "svg:title": Part._described, "svg:desc": Part._described,
}  # fmt: skip


def _written(attributes: Mapping[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())


def read_part(written: bytes, part: Part) -> str:
    """A part as pandoc is given it. Raises expat.ExpatError where it is no XML, MemoryError where it has no end."""
    part.out = StringIO()
    reader = expat.ParserCreate()
    reader.buffer_text = True
    reader.StartElementHandler, reader.EndElementHandler = part.begin, part.finish
    reader.CharacterDataHandler = part.say
    reader.Parse(written, True)
    return part.out.getvalue()


def hiding_styles(styles: str) -> set[str]:
    """The styles of a Word file that hide what is in them."""
    each = (one.partition("</w:style>")[0] for one in styles.split("<w:style ")[1:])
    return {named[1] for one in each if VANISH.search(one) and (named := STYLE.search(one))}

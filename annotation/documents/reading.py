"""One document's bytes to Markdown: what may be tried at all, and what cannot be read in a sentence.

Pandoc is a program of its own, which can neither open a file nor ask a network, nor grow or run without end.
"""

import io
import json
import lzma
import re
import subprocess
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from xml.parsers import expat

from annotation.documents import captions, document_tree, joined_cells, pdf_process, programs, web_pages
from annotation.documents.document_tree import Element
from annotation.documents.office_parts import FORMULA, Part, hiding_styles, read_part
from annotation.documents.unread_words import formulas_heard, unread
from annotation.errors import ImportingError
from annotation.files.decoding import decode
from annotation.texts.scripts import UNITS
from plain.counting import counted
from plain.wording import worded

FORMATS = {".docx": "docx+citations", ".odt": "odt", ".epub": "epub", ".html": "html", ".htm": "html"}
# a reader's `commonmark`, and no HTML where Markdown has words of its own
MARKDOWN = "commonmark+pipe_tables+strikeout+footnotes"
MEMORY_MB = 160  # of pandoc's heap; with the process and what calls it under 500
PATIENCE_S = 60
NEEDED = "reading .docx, .odt, .epub, .html and .pdf needs another part of calipers; pip install 'calipers[documents]'"
SUFFIXES = (*FORMATS, ".pdf")
WORD = (".docx",)  # where title and author are paragraphs that a reader sees
PACKED = (".docx", ".odt", ".epub")  # zip files
OLD_OFFICE = b"\xd0\xcf\x11\xe0"  # how Word 97 began, in which Word locks a file of any version
UNPACKED_MB, WRITTEN_MB, MOST_ENTRIES = 200, 40, 10_000
DAMAGED = "{shown}: cannot be read ({said}); save it anew, or as Markdown"
TOO_LARGE = (
    "{shown}: reading it takes over {memory_mb} MB; save it anew without what it embeds, or as Markdown where it is "
    "words alone"
)
UNPACKING = (zlib.error, lzma.LZMAError)
WRITTEN = (".xml", ".rels", ".html", ".xhtml", ".htm", ".opf", ".ncx")  # what of a packed file is read
PAGES = (".xhtml", ".html", ".htm")
WITHOUT_WORDS = "without words"  # a figure of which nothing is left where it is not shown
LINKED = "media/linked.png"  # where a picture lies that is linked outside
ELSEWHERE = "https:"  # the address of what is fetched from nowhere
TEXT = re.compile(r"word/(?:document|footnotes|endnotes)\d*\.xml|content\.xml")  # the parts that hold the text
STYLES = "word/styles.xml"
RELATIONS = re.compile(r"word/_rels/document\d*\.xml\.rels")
LINK = (
    '<Relationship Id="linked" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" '
    f'Target="{LINKED}"/></Relationships>'
).encode()
EMBEDDED = re.compile(r"[^/]+/content\.xml")  # of an OpenDocument


@dataclass(frozen=True)
class Document:
    """The Markdown of a document, what the conversion lost of it (nothing: empty), and what converted it.

    `images`: where its pictures lie, by the numbers that stand for them in the Markdown, from 1.
    """

    text: str
    lost: tuple[str, ...]
    by: str
    images: tuple[str, ...] = ()


def read_document(original: bytes, suffix: str, shown: str, encoding: str = "utf-8") -> Document:
    """A document of one of `SUFFIXES` as Markdown; nothing is fetched, whatever it names. Raises ImportingError."""
    lost: tuple[str, ...] = ()
    part = Part()
    apart = {LINKED: ELSEWHERE}
    if suffix in PACKED:
        original, part = _looked_into(original, suffix, shown)
    elif suffix in (".html", ".htm"):
        page = decode(original, shown, web_pages.encoding_of(original, encoding))
        page, words, hidden_words = web_pages.seen(page)
        part.words.write(words)
        part.hidden.write(hidden_words)
        original, apart, part.passed_over = web_pages.heard(page)
    converters = [pandoc_version()]
    try:
        if suffix == ".pdf":
            converters.append(pdf_reader())
            tree, lost = pdf_process.read_pdf(original, shown)
        else:
            tree = read_tree(original, suffix, shown)
        if suffix == ".odt":
            part.passed_over[FORMULA] -= _set_in_line(tree["blocks"])
        elif suffix in WORD:
            part.passed_over["formula"] -= formulas_heard(part.formulas.getvalue(), tree["blocks"])
        hidden = len(UNITS.findall(part.hidden.getvalue()))
        missing, first = unread(part.words.getvalue(), tree)
        plain = document_tree.PlainTree(word=suffix in WORD)
        tree["blocks"] = [*captions.captioned(tree["blocks"])]
        made = json.dumps(plain.of(tree)).encode()
        del tree  # as objects it takes more than pandoc, which comes beside it
        text = write_markdown(made, shown)
    except (RecursionError, joined_cells.TooLarge):
        raise ImportingError(
            "{shown}: lists or tables within each other or joined cells without end; save it anew, or as Markdown",
            shown=shown,
        ) from None  # fmt: skip
    figures = (f"{counted(plain.figures, 'figure')} {WITHOUT_WORDS}",) if plain.figures else ()
    by = f"{suffix[1:]} by {', '.join(converters)}"
    told = [f"{counted(count, one)} that could not be read" for one, count in part.passed_over.items() if count > 0]
    told += [f"{counted(missing, 'word')} that could not be read, beginning “{first}”"] * bool(missing)
    told += [f"{counted(hidden, 'hidden word')} left out"] * bool(hidden)
    images = tuple(apart.get(one, one) for one in plain.images)
    return Document(text.replace("\0", ""), (*figures, *told, *lost), by, images)


def _set_in_line(blocks: Element) -> int:
    """How many formulas there are; of those beside words, which OpenDocument tells from no others, it makes words."""
    found = 0
    for line in (one["c"] for one in document_tree.elements_in(blocks) if one["t"] in ("Para", "Plain")):
        formulas = [one for one in document_tree.elements_in(line) if one["t"] == "Math"]
        found += len(formulas)
        for one in formulas:
            one["c"][0] = document_tree.element("InlineMath" if len(line) > 1 else "DisplayMath")
    return found


def pdf_reader() -> str:
    """`pdfplumber 0.11.10`. Raises ImportingError where there is none."""
    try:
        return f"pdfplumber {metadata.version('pdfplumber')}"
    except metadata.PackageNotFoundError:
        raise ImportingError(NEEDED) from None


def _looked_into(original: bytes, suffix: str, shown: str) -> tuple[bytes, Part]:
    """A packed document as its reader reads most of it, without its pictures, and its text.

    Raises ImportingError where it is none, or a bomb.
    """
    if original.startswith(OLD_OFFICE):
        raise ImportingError(
            "{shown}: locked by a password, or in the format of Word 97; save it unlocked as {suffix}", shown=shown,
            suffix=suffix,
        )  # fmt: skip
    part = Part()
    try:
        whole = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(original)) as packed, zipfile.ZipFile(whole, "w") as copy:
            _refuse_bombs(packed, shown)
            _refuse_locked(packed, shown)
            if STYLES in packed.namelist():
                part.hidden_styles = hiding_styles(_unpacked(packed, STYLES).decode("utf-8", "replace"))
            copy.writestr(f"word/{LINKED}", b"")
            for name in dict.fromkeys(packed.namelist()):
                said = _unpacked(packed, name) if name.lower().endswith(WRITTEN) else b""  # pictures: where they lie
                if TEXT.fullmatch(name):
                    said = read_part(said, part).encode()
                elif RELATIONS.fullmatch(name):
                    said = said.replace(b"</Relationships>", LINK)
                elif suffix == ".epub" and name.lower().endswith(PAGES):
                    said = _chapter(said, part)
                copy.writestr(name, said)
                if suffix == ".odt" and EMBEDDED.fullmatch(name):
                    copy.writestr(name.replace("/", "//"), said)  # where pandoc reads what it wrote itself
    except expat.ExpatError as error:
        raise ImportingError(DAMAGED, shown=shown, said=str(error)) from None
    except MemoryError:
        raise ImportingError(TOO_LARGE, shown=shown, memory_mb=MEMORY_MB) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, *UNPACKING):
        raise ImportingError(
            "{shown}: no {suffix} file, or cut off; save it anew", shown=shown, suffix=suffix
        ) from None
    return whole.getvalue(), part


def _chapter(said: bytes, part: Part) -> bytes:
    """A page of a book without what it hides. `part` hears what it says and hides, but for head and contents."""
    page = said.decode("utf-8", "replace")
    _, words, hidden = web_pages.seen(web_pages.text_of_book(page))
    part.words.write(f"{words} ")
    part.hidden.write(f"{hidden} ")
    shown, _, _ = web_pages.seen(page)
    return said if shown == page else shown.encode()


def _unpacked(packed: zipfile.ZipFile, name: str) -> bytes:
    """A part, no more of it than its header says."""
    entry = packed.getinfo(name)
    with packed.open(entry) as part:
        return part.read(entry.file_size)


def _refuse_bombs(packed: zipfile.ZipFile, shown: str) -> None:
    entries = packed.infolist()
    size = sum(entry.file_size for entry in entries)
    written = sum(entry.file_size for entry in entries if entry.filename.lower().endswith(WRITTEN))
    if size > UNPACKED_MB << 20 or written > WRITTEN_MB << 20 or len(entries) > MOST_ENTRIES:
        raise ImportingError(
            "{shown}: unpacks to over {unpacked_mb} MB, {written_mb} MB of text or {most_entries:,} parts; save it "
            "anew without what it embeds", shown=shown, unpacked_mb=UNPACKED_MB, written_mb=WRITTEN_MB,
            most_entries=MOST_ENTRIES,
        )  # fmt: skip


def _refuse_locked(packed: zipfile.ZipFile, shown: str) -> None:
    manifest = "META-INF/manifest.xml"
    listed = _unpacked(packed, manifest) if manifest in packed.namelist() else b""
    if b"encryption-data" in listed or any(entry.flag_bits & 1 for entry in packed.infolist()):
        raise ImportingError("{shown}: locked by a password; save it unlocked", shown=shown)


def read_tree(original: bytes, suffix: str, shown: str) -> Element:
    """A document's tree. Raises ImportingError."""
    tree: Element = json.loads(_pandoc(original, ["-f", FORMATS[suffix], "-t", "json"], shown))
    return tree


def write_markdown(tree: bytes, shown: str) -> str:
    """A tree, as JSON, as Markdown. Raises ImportingError."""
    options = ["-f", "json", "-t", MARKDOWN, "--wrap=none", "--columns=1000"]
    return _pandoc(tree, options, shown).decode()


@cache
def pandoc_version() -> str:
    """`pandoc 3.9`. Raises ImportingError where there is none."""
    said = subprocess.run([_program(), "--version"], capture_output=True, timeout=PATIENCE_S, check=True).stdout
    return said.decode().split("\n", 1)[0].strip()


def _program() -> str:
    try:
        from pypandoc import get_pandoc_path

        return str(get_pandoc_path())
    except (ImportError, OSError):
        raise ImportingError(NEEDED) from None


def _pandoc(given: bytes, options: list[str], shown: str) -> bytes:
    # --sandbox: no file and no address is opened whatever the document says
    command = [_program(), "--sandbox", *options, "+RTS", f"-M{MEMORY_MB}m", "-RTS"]
    code, made, complaint = programs.run(command, given, PATIENCE_S)
    if len(made) > programs.MOST_BYTES or b"heap exhausted" in complaint.lower():  # GHC's own words where -M is reached
        raise ImportingError(TOO_LARGE, shown=shown, memory_mb=MEMORY_MB)
    if code == 0:
        return made
    if code == programs.KILLED:
        raise ImportingError(
            "{shown}: not read within {patience_s} s; save it anew, or as Markdown", shown=shown, patience_s=PATIENCE_S
        )
    said = complaint.decode("utf-8", "replace").strip().split("\n", 1)[0][:100]
    said = said or worded("it is damaged")
    raise ImportingError(DAMAGED, shown=shown, said=said)

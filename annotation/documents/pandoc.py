"""Pandoc as a program of its own, which can neither open a file nor ask a network, nor grow or run without end."""

import json
import subprocess
from functools import cache

from annotation.documents import programs
from annotation.documents.document_tree import Element
from annotation.errors import ImportingError

FORMATS = {".docx": "docx+citations", ".odt": "odt", ".epub": "epub", ".html": "html", ".htm": "html"}
# a reader's `commonmark`, and no HTML where Markdown has words of its own
MARKDOWN = "commonmark+pipe_tables+strikeout+footnotes"
MEMORY_MB = 320  # of its heap; the process takes up to a third more
PATIENCE_S = 60
NEEDED = "reading .docx, .odt, .epub, .html and .pdf needs another part of calipers; pip install 'calipers[documents]'"


def read_tree(original: bytes, suffix: str, shown: str) -> Element:
    """A document's tree. Raises ImportingError."""
    tree: Element = json.loads(_pandoc(original, ["-f", FORMATS[suffix], "-t", "json"], shown))
    return tree


def write_markdown(tree: Element, shown: str) -> str:
    """A tree as Markdown. Raises ImportingError."""
    options = ["-f", "json", "-t", MARKDOWN, "--wrap=none", "--columns=1000"]
    return _pandoc(json.dumps(tree).encode(), options, shown).decode()


@cache
def version() -> str:
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
        raise ImportingError(f"{shown}: reading it takes over {MEMORY_MB} MB; save it anew without what it embeds")
    if code == 0:
        return made
    if code == programs.KILLED:
        raise ImportingError(f"{shown}: not read within {PATIENCE_S} s; save it anew, or as Markdown")
    said = complaint.decode("utf-8", "replace").strip().split("\n", 1)[0][:100]
    raise ImportingError(f"{shown}: cannot be read ({said or 'it is damaged'}); save it anew, or as Markdown")

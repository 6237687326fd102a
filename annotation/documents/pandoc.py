"""Pandoc as a program of its own, which can neither open a file nor ask a network, nor grow or run without end."""

import json
import subprocess
import tempfile
from functools import cache
from threading import Timer

from annotation.documents.document_tree import Element
from annotation.errors import ImportingError

FORMATS = {".docx": "docx+citations", ".odt": "odt", ".epub": "epub", ".html": "html", ".htm": "html"}
# a reader's `commonmark`, and no HTML where Markdown has words of its own
MARKDOWN = "commonmark+pipe_tables+strikeout+footnotes"
MOST_BYTES = 12 << 20  # of a tree: some 300,000 words; as objects in Python it takes 25 times as much
KILLED = -9
MEMORY_MB = 320  # of its heap; the process takes up to a third more
PATIENCE_S = 60
NEEDED = "reading this format needs another part of calipers; pip install 'calipers[documents]'"


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
    code, made, complaint = _run(command, given)
    if len(made) > MOST_BYTES or b"heap exhausted" in complaint.lower():  # GHC's own words where -M is reached
        raise ImportingError(f"{shown}: reading it takes over {MEMORY_MB} MB; save it anew without what it embeds")
    if code == 0:
        return made
    if code == KILLED:
        raise ImportingError(f"{shown}: not read within {PATIENCE_S} s; save it anew, or as Markdown")
    said = complaint.decode("utf-8", "replace").strip().split("\n", 1)[0][:100]
    raise ImportingError(f"{shown}: cannot be read ({said or 'it is damaged'}); save it anew, or as Markdown")


def _run(command: list[str], given: bytes) -> tuple[int, bytes, bytes]:
    """Exit status (`KILLED` after too long a time), at most a byte over `MOST_BYTES` of output, and complaints."""
    with tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as complaints:
        words.write(given)
        words.seek(0)
        with subprocess.Popen(command, stdin=words, stdout=subprocess.PIPE, stderr=complaints) as process:
            clock = Timer(PATIENCE_S, process.kill)
            clock.start()
            try:
                made = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
                if len(made) > MOST_BYTES:
                    process.kill()
                code = process.wait()
            finally:
                clock.cancel()
        complaints.seek(0)
        return code, made, complaints.read(10_000)

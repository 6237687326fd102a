"""A process of its own that reads a PDF: a file that takes too long or too much memory ends it and nothing else.

It reads the file on its standard input and writes pandoc's tree, and what could not be told, as JSON.
"""

import json
import os
import sys
from pathlib import Path

from annotation.documents import pdf_pages, pdf_tree, programs
from annotation.documents.document_tree import Element
from annotation.errors import ImportingError

MEMORY_MB = 400  # of data
PATIENCE_S = 300
LOCKED, TOO_LARGE, DAMAGED, NO_TEXT = 3, 4, 5, 6  # exit statuses
TOLD = {
    LOCKED: "locked by a password; save it unlocked",
    TOO_LARGE: f"reading it takes over {MEMORY_MB} MB, or gives too much text; save it anew, or as Markdown",
    DAMAGED: "no PDF, or damaged, or cut off; save it anew",
    NO_TEXT: "holds no text, only pictures of it or text on its side; read the text with OCR first",
    **pdf_pages.TOLD,
}
ROOT = Path(__file__).resolve().parents[2]


def read_pdf(original: bytes, shown: str) -> tuple[Element, tuple[str, ...]]:
    """The tree of a PDF, and what could not be told of it. Raises ImportingError."""
    # -P and our own path first: the current folder may hold an annotation/ or a resource.py of somebody else
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
    code, made, complaint = programs.run([sys.executable, "-P", "-m", __name__], original, PATIENCE_S, env)
    if len(made) > programs.MOST_BYTES or (code < 0 and code != programs.KILLED):  # by the system, short of memory
        code = TOO_LARGE
    if code == programs.KILLED:
        raise ImportingError(f"{shown}: not read within {PATIENCE_S} s; save it anew, or as Markdown")
    if code:
        said = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:100]
        broken = (
            f"the program that reads PDFs does not run here ({said or f'exit status {code}'}); install calipers anew"
        )
        raise ImportingError(f"{shown}: {TOLD.get(code, broken)}")
    blocks, lost = json.loads(made)
    return {"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": blocks}, tuple(lost)


def main() -> int:
    """Exit status of the process."""
    try:
        _limit()
        made = pdf_tree.tree_of(pdf_pages.read_pages(sys.stdin.buffer.read()))
        if made is None:
            return NO_TEXT
        json.dump(made, sys.stdout, separators=(",", ":"))
    except pdf_pages.Refused as refused:
        return refused.code
    except MemoryError:
        return TOO_LARGE
    except Exception as error:  # noqa: BLE001  (a reader of damaged files fails in any way there is)
        said = [repr(one) for one in (error, error.__cause__, error.__context__)]
        if any("MemoryError" in one for one in said):
            return TOO_LARGE
        return LOCKED if any("Password" in one or "Encrypt" in one for one in said) else DAMAGED
    return 0


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MEMORY_MB << 20 if hard == resource.RLIM_INFINITY else min(MEMORY_MB << 20, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if __name__ == "__main__":
    sys.exit(main())

"""How well citations are stripped of reports that came as documents: `python benchmarks/documents.py [FOLDER]`.

Each example of FOLDER (JSON files with `input` and `gold`; default: the shared ones where they are, else our own
`marked_reports.md`) is written as Word, OpenDocument, HTML, EPUB and PDF, which a browser prints, read back as an
import reads it, and stripped. Promised is for each format what Markdown has: recall of .97, and 1 word lost per 1,000.
Of the formulas in `formulas.txt`, which a browser prints too, 9 of 10 are to come back as they were.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pypandoc
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from annotation.canonical.form import canonical_format
from annotation.citations import strip_citations
from annotation.documents.reading import read_document
from annotation.texts.spans import math_zones
from benchmarks.promises import Figure, record
from benchmarks.strip import EXAMPLES, recall_and_loss
from tests.browser.conftest import FLAGS
from tests.conftest import chromium

SUFFIXES = (".md", ".docx", ".odt", ".html", ".epub", ".pdf")
MARK = re.compile(r"⟦(.*?)⟧", re.DOTALL)  # what has to go


def through(markdown: str, suffix: str, browser: Browser) -> str:
    """A report as whoever has it in this format would import it."""
    return markdown if suffix == ".md" else read_document(saved(markdown, suffix, browser), suffix, "report").text


def saved(markdown: str, suffix: str, browser: Browser, *, beside: Path | None = None) -> bytes:
    """The file that it lies in; `beside`: the folder of the pictures that it names, which have their words below."""
    if suffix == ".md":
        return markdown.encode()
    kind = "gfm+implicit_figures" if beside else "gfm"
    html = pypandoc.convert_text(markdown, "html", kind, extra_args=["--mathml"])
    with tempfile.TemporaryDirectory() as folder:
        for picture in beside.glob("*.png") if beside else ():
            shutil.copy(picture, folder)
        made = Path(folder) / f"report{suffix.replace('.pdf', '.html')}"
        if made.suffix == ".html":
            made.write_text(f"<!doctype html><meta charset=utf-8>{html}", "utf-8")
        else:
            options = ["--mathml", f"--resource-path={folder}"]
            pypandoc.convert_text(html, suffix[1:], "html", outputfile=str(made), extra_args=options)
        if suffix == ".pdf":
            page = browser.new_page()
            page.goto(made.as_uri())
            original = page.pdf(format="A4")
            page.close()
            return original
        return made.read_bytes()


def own_examples() -> list[dict[str, str]]:
    """Reports whose marks stand in brackets of their own."""
    reports = Path(__file__).with_name("marked_reports.md").read_text("utf-8").split("\n====\n")
    return [{"input": MARK.sub(r"\1", report), "gold": MARK.sub("", report)} for report in reports]


def formulas() -> list[str]:
    """Formulas as reports have them."""
    return Path(__file__).with_name("formulas.txt").read_text("utf-8").strip().split("\n")


def formulas_again(browser: Browser) -> float:
    """Share of `formulas` that are the same again, as they are shown, from a PDF that a browser printed."""
    text = "\n\n".join(f"It is ${one}$, and so\n\n$${one}$$" for one in formulas())
    read = read_document(saved(text, ".pdf", browser), ".pdf", "formulas").text
    shown = (canonical_format(one).text for one in (read, text))
    made, own = (Counter(one[start:end] for start, end in math_zones(one)) for one in shown)
    return (made & own).total() / own.total()


def scored(examples: Sequence[dict[str, str]], suffix: str, browser: Browser) -> tuple[float, float]:
    """Share of the marks' words that went, and words lost per 1,000."""
    return recall_and_loss(examples, lambda text: strip_citations(through(text, suffix, browser)).text)


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0]) if arguments else EXAMPLES
    examples = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    if arguments and not examples:
        print(f"{folder}: no JSON files with `input` and `gold`; give a folder of examples", file=sys.stderr)
        return 2
    examples = examples or own_examples()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        found = {suffix: scored(examples, suffix, browser) for suffix in SUFFIXES}
        again = formulas_again(browser)
    figures = [
        Figure("formulas of a PDF that come back as they were", again, low=0.9),
        *(
            figure
            for suffix, (recall, lost) in found.items()
            for figure in (
                Figure(f"{suffix}: recall", recall, low=0.97),
                Figure(f"{suffix}: words lost per 1,000", lost, high=1),
            )
        ),
    ]
    print(f"{len(examples)} reports", *figures, sep="\n")
    record(figures)
    return int(not all(figure.kept for figure in figures))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""A process of its own that reads a PDF: a file that takes too long or too much memory ends it and nothing else.

It reads the file on its standard input and writes pandoc's tree, and what could not be told, as JSON.
"""

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from annotation.documents import pdf_lines, pdf_pictures, pdf_tree, programs
from annotation.documents.document_tree import Element
from annotation.documents.printed_formulas.formulas import formulas_of
from annotation.errors import ImportingError
from plain.wording import worded

MEMORY_MB = 250  # of data
PATIENCE_S = 300
MOST_PAGES = 1_000
WIDEST = 14_400  # points: what a page may measure (ISO 32000-1, annex C)
MOST_DRAWN = 20_000  # lines and curves of a page; a ruled table has some hundred, a map or a bomb any number
FEWEST_MARKS, FEWEST_BARS = 8, 3  # of a chart
MOST_BOXES = 500  # of tasks on a page
SMALLEST = 40  # points: a picture smaller than that is an icon or a rule
LEANS = 0.1  # rise over run of a line of text that is on its way up or down a page
SIDES = ("x0", "x1", "top", "bottom")
UNNAMED = re.compile(r"\(cid:\d+\)")  # a character that its font gives no name
FROM_RIGHT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
)  # of Arabic, Hebrew and their kin, which lie as drawn
LOCKED, TOO_LARGE, DAMAGED, NO_TEXT, TOO_LONG, TOO_WIDE, EMPTY, DRAWN = 3, 4, 5, 6, 11, 12, 13, 14  # exit statuses
TOLD = {
    LOCKED: "locked by a password; save it unlocked",
    TOO_LARGE: "reading it takes over {memory_mb} MB, or gives too much text; save it anew, or as Markdown",
    DAMAGED: "no PDF, or damaged, or cut off; save it anew",
    NO_TEXT: "holds no text, only pictures of it or text on its side; read the text with OCR first",
    TOO_LONG: "over {most_pages:,} pages; a report is one document",
    TOO_WIDE: "a page wider or higher than {widest:,} points, or of no size; save it anew",
    EMPTY: "no PDF, or without a page; save it anew",
    DRAWN: "written from right to left, of which a PDF holds the letters as they are drawn; save it as .docx or .html",
}
LIMITS = {"memory_mb": MEMORY_MB, "most_pages": MOST_PAGES, "widest": WIDEST}


class Refused(Exception):
    """A file that is no report; `code` is one of `TOLD`."""

    def __init__(self, code: int) -> None:
        super().__init__(TOLD[code].format(**LIMITS))
        self.code = code


def read_pages(original: bytes) -> Iterator[dict[str, Any]]:
    """Page by page, so that the characters of one alone are kept. Raises Refused, and anything of a damaged file."""
    import pdfplumber

    with pdfplumber.open(io.BytesIO(original)) as pdf:
        if not pdf.pages:
            raise Refused(EMPTY)
        if len(pdf.pages) > MOST_PAGES:
            raise Refused(TOO_LONG)
        from_right = letters = 0
        for page in pdf.pages:
            if not (0 < page.width <= WIDEST and 0 < page.height <= WIDEST):  # nor is nan
                raise Refused(TOO_WIDE)
            read = _page(page)
            text = "".join(word[0] for word in read["words"])
            from_right, letters = from_right + len(FROM_RIGHT.findall(text)), letters + sum(map(str.isalpha, text))
            yield read
            page.close()  # else every page's characters stay
        if from_right > letters / 2:
            raise Refused(DRAWN)


def _is_dot(one: Any) -> bool:
    wide, high = one["x1"] - one["x0"], one["bottom"] - one["top"]
    return bool(1.5 < wide < 8 and 0.8 < wide / high < 1.25) if high else False


def _boxes(page: Any) -> list[list[Any]]:
    """Where the boxes of a list of tasks are drawn, and whether each has a tick in it."""
    shapes = [one for one in [*page.curves, *page.rects] if one["bottom"] > one["top"]]
    squares = [one for one in shapes if 8 < one["x1"] - one["x0"] < 14 and 0.9 < _shape(one) < 1.1]
    ticks = [one for one in shapes if one["stroke"] and not one["fill"] and 2 < len(one["pts"]) < 8]
    if len(squares) > MOST_BOXES or len(ticks) > 10 * MOST_BOXES:  # a drawing
        return []
    found: list[list[Any]] = []
    for one in squares:
        inside = any(one["x0"] < t["x0"] < t["x1"] < one["x1"] and one["top"] < t["top"] < one["bottom"] for t in ticks)
        if not any(
            abs(one["x0"] - box[0]) + abs(one["top"] - box[2]) < 4 for box in found
        ):  # its edge, and what is in it
            found.append([*(float(one[name]) for name in SIDES), inside])
    return found


def _shape(one: Any) -> float:
    return float((one["x1"] - one["x0"]) / (one["bottom"] - one["top"]))


def _is_chart(page: Any) -> bool:
    """Whether lines as short as the marks of an axis are drawn, or bars of several heights that stand on one line."""
    marks = [max(one["x1"] - one["x0"], one["bottom"] - one["top"]) for one in [*page.lines, *page.curves]
             if min(one["x1"] - one["x0"], one["bottom"] - one["top"]) < 1]  # fmt: skip
    bars = {(round(one["bottom"]), round(one["top"])) for one in page.rects
            if one["fill"] and one["bottom"] - one["top"] > 12}  # fmt: skip
    tallest = max(Counter(foot for foot, _ in bars).values(), default=0)
    return sum(2 < mark < 8 for mark in marks) >= FEWEST_MARKS or tallest >= FEWEST_BARS


def _is_turned(char: Any) -> bool:
    """Whether a character is on its side, as the label of an axis, or aslant, as a watermark."""
    across, up = char["matrix"][:2]
    return not char["upright"] or abs(up) > LEANS * abs(across)


def _is_on(page: Any, one: Any) -> bool:
    """Whether something has a place on its page and a width, which whoever reads the page could see."""
    left, above, right, below = page.bbox
    wide, high = one["x1"] - one["x0"], one["bottom"] - one["top"]
    x, y = (one["x0"] + one["x1"]) / 2, (one["top"] + one["bottom"]) / 2
    return bool(left <= x <= right and above <= y <= below and 0 < wide <= page.width and 0 < high <= page.height)


def _page(page: Any) -> dict[str, Any]:
    from pdfplumber.utils.text import extract_words

    is_drawn = len(page.curves) + len(page.lines) + len(page.rects) > MOST_DRAWN
    left, formulas = (page.chars, []) if is_drawn else formulas_of(page)
    chars = [one for one in left if not _is_turned(one)]
    links = [
        [*(float(one[name]) for name in SIDES), one.get("uri") or "#"]
        for one in page.annots
        if (one.get("uri") or "Link" in str((one.get("data") or {}).get("Subtype"))) and _is_on(page, one)
    ]
    # A link out of the file ends within a word: `(Smith).` leads with six letters alone. Numbers within it are marks
    # as a whole, [1–3], of which a program that sets text links the ends.
    leads = pdf_lines.leading(link for link in links if link[-1] != "#")
    notes = pdf_lines.leading([*link[:-1], f"#{n}"] for n, link in enumerate(links) if link[-1] == "#")
    for one in chars:
        place = (one["x0"] + one["x1"]) / 2, (one["top"] + one["bottom"]) / 2
        one["leads"], one["note"] = leads(*place), notes(*place) if one["text"].isdigit() else ""
    beside = {
        note
        for left, right in pairwise(chars)
        if left["note"] and right["note"] and abs(right["x0"] - left["x1"]) < 1 and abs(right["top"] - left["top"]) < 1
        for note in (left["note"], right["note"])
        if left["note"] != right["note"]
    }
    for one in chars:  # of two notes that are one number beside the other
        one["leads"] = one["leads"] or (one["note"] if one["note"] in beside else "")
    told = ["fontname", "size", "leads"]
    words = extract_words(chars, x_tolerance_ratio=0.15, extra_attrs=told, return_chars=False)
    tables = [] if is_drawn else page.find_tables()
    return {
        "width": float(page.width),
        "height": float(page.height),
        "words": [
            [
                UNNAMED.sub("\ufffd", one["text"]),
                *(float(one[name]) for name in (*SIDES, "size")),
                one["fontname"],
                one["leads"] if one["leads"][:1] != "#" else "#",
            ]
            for one in words
            if _is_on(page, one)
        ]
        + formulas,
        "tables": [[[cell and [*map(float, cell)] for cell in row.cells] for row in table.rows] for table in tables],
        "links": [link for link in links if link[-1] == "#"],
        "figures": [*_figures(page)],
        "boxes": _boxes(page),
        # browsers draw the bullets of lists
        "dots": [[*(float(one[name]) for name in SIDES)] for one in [*page.curves, *page.rects] if _is_dot(one)],
        "stacked": not is_drawn and _is_stacked(words, [*page.lines, *page.rects]),
        "drawn": is_drawn or _is_chart(page) or sum(not _is_dot(one) for one in page.curves) > 30,
        "from_right": any(FROM_RIGHT.search(one["text"]) for one in words),
        "unnamed": any(UNNAMED.search(one["text"]) for one in words),
        "turned": any(_is_turned(one) and one["text"].strip() for one in page.chars),
    }


def _is_stacked(words: Any, rules: Any) -> bool:
    """Whether a rule as wide as a number has one just above and one just below it: TeX sets a fraction so."""
    numbers = [one for one in words if one["text"].isdigit()]
    for rule in (one for one in rules if one["bottom"] - one["top"] < 1.5 and numbers):
        middle, wide = (rule["x0"] + rule["x1"]) / 2, rule["x1"] - rule["x0"] + 1
        on = [one for one in numbers if abs(one["x0"] + one["x1"] - 2 * middle) < 2 and one["x1"] - one["x0"] <= wide]
        above, below = ([abs(one[side] - rule["top"]) < 4 for one in on] for side in ("bottom", "top"))
        if any(above) and any(below) and wide < 2 + max(one["x1"] - one["x0"] for one in on):
            return True
    return False


def _figures(page: Any) -> Iterator[list[Any]]:
    """Where each picture is, and its address: how many of its size in pixels come before it on its page."""
    before: Counter[tuple[int, int]] = Counter()
    for one in page.images:
        wide, high = map(int, one["srcsize"])
        if one["x1"] - one["x0"] >= SMALLEST and one["bottom"] - one["top"] >= SMALLEST:
            address = pdf_pictures.ADDRESS.format(page.page_number, wide, high, before[wide, high])
            yield [*(float(one[name]) for name in SIDES), address]
        before[wide, high] += 1


def read_pdf(original: bytes, shown: str) -> tuple[Element, tuple[str, ...]]:
    """The tree of a PDF, and what could not be told of it. Raises ImportingError."""
    code, made, complaint = programs.run_module(__name__, original, PATIENCE_S)
    if len(made) > programs.MOST_BYTES or (code < 0 and code != programs.KILLED):  # by the system, short of memory
        code = TOO_LARGE
    if code == programs.KILLED:
        raise ImportingError(
            "{shown}: not read within {patience_s} s; save it anew, or as Markdown", shown=shown, patience_s=PATIENCE_S
        )
    if code:
        said = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:100]
        broken = "the program that reads PDFs does not run here ({said}); install calipers anew"
        told = worded(TOLD.get(code, broken), said=said or worded("exit status {code}", code=code), **LIMITS)
        raise ImportingError(f"{shown}: {told}")
    blocks, lost = json.loads(made)
    return {"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": blocks}, tuple(lost)


def main() -> int:
    """Exit status of the process."""
    try:
        programs.limit_memory(MEMORY_MB)
        made = pdf_tree.tree_of(read_pages(sys.stdin.buffer.read()))
        if made is None:
            return NO_TEXT
        json.dump(made, sys.stdout, separators=(",", ":"))
    except Refused as refused:
        return refused.code
    except MemoryError:
        return TOO_LARGE
    except Exception as error:  # noqa: BLE001  (a reader of damaged files fails in any way there is)
        return _why(error)
    return 0


def _why(error: BaseException | None) -> int:
    """What an error of the reader's means, or one that it was made from."""
    try:
        while error is not None:
            said = f"{type(error).__name__} {error!r}"
            if "MemoryError" in said:
                return TOO_LARGE
            if "Password" in said or "Encrypt" in said:
                return LOCKED
            error = error.__cause__ or error.__context__
    except MemoryError:  # what is left of the file is held by the error
        return TOO_LARGE
    return DAMAGED


if __name__ == "__main__":
    sys.exit(main())

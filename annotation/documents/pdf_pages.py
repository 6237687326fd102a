"""A process of its own that reads a PDF: words, ruled tables, links and pictures of each page, with their places.

It reads the file on its standard input and writes JSON; a file that asks for too much memory ends it and nothing else.
No script in the file is run, and nothing that it names is opened.
"""

import io
import json
import sys
from typing import Any

MEMORY_MB = 400  # of data
MOST_PAGES = 1_000
MOST_DRAWN = 20_000  # lines and curves of a page; a ruled table has some hundred, a map or a bomb any number
SMALLEST = 40  # points: a picture smaller than that is an icon or a rule
SIDES = ("x0", "x1", "top", "bottom")
LOCKED, TOO_LARGE, DAMAGED, TOO_LONG = 3, 4, 5, 6  # exit statuses


def main() -> int:
    _limit()
    try:
        return _read(sys.stdin.buffer.read())
    except MemoryError:
        return TOO_LARGE
    except Exception as error:  # noqa: BLE001  (a reader of damaged files fails in any way there is)
        said = [repr(one) for one in (error, error.__cause__, error.__context__)]
        if any("MemoryError" in one for one in said):
            return TOO_LARGE
        return LOCKED if any("Password" in one or "Encrypt" in one for one in said) else DAMAGED


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MB << 20, MEMORY_MB << 20))


def _read(original: bytes) -> int:
    import pdfplumber

    pages = []
    with pdfplumber.open(io.BytesIO(original)) as pdf:
        if len(pdf.pages) > MOST_PAGES:
            return TOO_LONG
        for page in pdf.pages:
            pages.append(_page(page))
            page.close()  # else every page's characters stay
    if not pages:
        return DAMAGED
    json.dump(pages, sys.stdout)
    return 0


def _is_dot(one: Any) -> bool:
    wide, high = one["x1"] - one["x0"], one["bottom"] - one["top"]
    return bool(1.5 < wide < 8 and 0.8 < wide / high < 1.25) if high else False


def _page(page: Any) -> dict[str, Any]:
    words = page.extract_words(x_tolerance_ratio=0.15, extra_attrs=["fontname", "size"], return_chars=False)
    is_drawn = len(page.curves) + len(page.lines) + len(page.rects) > MOST_DRAWN
    tables = [] if is_drawn else page.find_tables()
    return {
        "width": float(page.width),
        "height": float(page.height),
        "words": [
            [one["text"], *(float(one[name]) for name in ("x0", "x1", "top", "bottom", "size")), one["fontname"]]
            for one in words
        ],
        "tables": [[[cell and [*map(float, cell)] for cell in row.cells] for row in table.rows] for table in tables],
        "links": [
            [*(float(one[name]) for name in SIDES), one.get("uri") or "#"]
            for one in page.annots
            if one.get("uri") or "Link" in str((one.get("data") or {}).get("Subtype"))
        ],
        "figures": [
            [*(float(one[name]) for name in SIDES)]
            for one in page.images
            if one["x1"] - one["x0"] >= SMALLEST and one["bottom"] - one["top"] >= SMALLEST
        ],
        # browsers draw the bullets of lists
        "dots": [[*(float(one[name]) for name in SIDES)] for one in [*page.curves, *page.rects] if _is_dot(one)],
        "drawn": is_drawn or sum(not _is_dot(one) for one in page.curves) > 30,
    }


if __name__ == "__main__":
    sys.exit(main())

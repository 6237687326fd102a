"""A process of its own that takes pictures out of a PDF, by the addresses that `pdf_process` gave them.

It reads the file on its standard input and the addresses as JSON, and writes as JSON a picture or null for each.
"""

import base64
import json
import re
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from PIL import Image

from annotation.documents import programs

ADDRESS = "pdf:{}/{}x{}/{}"  # page, size in pixels, how many of that size come before it on the page
TOLD = re.compile(ADDRESS.format(*[r"(\d{1,7})"] * 4))
MEMORY_MB, PATIENCE_S = 400, 60
MOST_PIXELS = 16_000_000  # of one; four bytes each, and twice for a moment
MOST_BYTES = 40 << 20  # of all, as they are written
WIDEST, HIGHEST = 1600, 8000  # pixels: larger ones are not shown


def read_pictures(original: bytes, addresses: Sequence[str]) -> dict[str, bytes]:
    """The pictures at these addresses, as far as they can be had."""
    asked = json.dumps(addresses[:1000])
    code, made, _ = programs.run_module(__name__, original, PATIENCE_S, asked, most=2 * MOST_BYTES)
    found = json.loads(made) if code == 0 else []
    return {address: base64.b64decode(one) for address, one in zip(addresses, found, strict=False) if one}


def _pictures(original: bytes, addresses: Sequence[str]) -> Iterator[str | None]:
    import pypdfium2

    written = 0
    pages: dict[int, Any] = {}
    with pypdfium2.PdfDocument(original) as pdf:
        for address in addresses:
            told = TOLD.fullmatch(address)
            try:
                made = (
                    _picture(pdf, pages, *map(int, told.group(1, 2, 3, 4))) if told and written < MOST_BYTES else None
                )
            except (pypdfium2.PdfiumError, OSError, ValueError, LookupError, MemoryError):
                made = None
            written += len(made or "")
            yield made


def _picture(pdf: Any, pages: dict[int, Any], number: int, wide: int, high: int, before: int) -> str | None:
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    if wide * high > MOST_PIXELS:
        return None
    page = pages.get(number) or pages.setdefault(number, pdf[number - 1])
    found = [one for one in page.get_objects(filter=(FPDF_PAGEOBJ_IMAGE,)) if one.get_px_size() == (wide, high)]
    picture = _drawn(found[before])
    picture.thumbnail((WIDEST, HIGHEST))
    is_photograph = "DCTDecode" in found[before].get_filters() and picture.mode == "RGB"
    made = BytesIO()
    picture.rotate(-page.get_rotation(), expand=True).save(made, "JPEG" if is_photograph else "PNG", quality=95)
    return base64.b64encode(made.getvalue()).decode()


def _drawn(one: Any) -> Image.Image:
    """Its very pixels, or, where it is turned or has a mask, as it is drawn on the page."""
    drawn: Image.Image = one.get_bitmap(render=True).to_pil()
    across, up, aside, down = one.get_matrix().get()[:4]
    is_plain = across > 0 and down > 0 and not up and not aside
    if is_plain and (drawn.mode != "RGBA" or drawn.getchannel("A").getextrema() == (255, 255)):
        pixels: Image.Image = one.get_bitmap().to_pil()
        return pixels.convert("RGB")
    return drawn


def main() -> int:
    """Exit status of the process."""
    programs.limit_memory(MEMORY_MB)
    json.dump([*_pictures(sys.stdin.buffer.read(), json.loads(sys.argv[1]))], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())

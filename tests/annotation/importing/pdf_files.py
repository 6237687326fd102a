"""PDFs made by hand: text where it is put, links, pictures and whatever else a file may hold."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from annotation.documents import pdf_process, programs

FONTS = {
    "plain": "Helvetica",
    "bold": "Helvetica-Bold",
    "slanted": "Helvetica-Oblique",
    "typed": "Courier",
    "maths": "ABCDEF+CMEX10",
}
WIDE = (  # of a font that readers do not know
    f"/FirstChar 0/LastChar 255/Widths[{'500 ' * 256}]/FontDescriptor<</Type/FontDescriptor/FontName/{FONTS['maths']}"
    "/Flags 4/Ascent 700/Descent -200/FontBBox[0 -200 500 700]>>"
)
Put = tuple[float, float, float, str, str]  # x and y from the upper left, type size, font, text


def pdf(
    *pages: Sequence[Put],
    drawn: str = "",
    links: Iterable[str] = (),
    more: str = "",
    picture: bool = False,
    pixels: tuple[int, int, bytes] = (1, 1, b"000"),
) -> bytes:
    """A file of pages with the same drawing, links and picture on each; `more` goes into the catalog.

    `pixels` of the picture: how many across and down, and three bytes each.
    """
    wide, high, colours = pixels
    objects = [
        "",
        "",
        *(
            f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding{WIDE * ('+' in name)}>>"
            for name in FONTS.values()
        ),
    ]
    objects.append(
        f"<</Type/XObject/Subtype/Image/Width {wide}/Height {high}/BitsPerComponent 8/ColorSpace/DeviceRGB"
        f"/Length {len(colours)}>>stream\n{colours.decode('latin-1')}\nendstream"
    )
    held = "".join(f"/{name} {3 + n} 0 R" for n, name in enumerate(FONTS))
    kids = []
    for page in pages:
        text = "".join(f"BT /{font} {size} Tf {x} {842 - y} Td ({said}) Tj ET\n" for x, y, size, font, said in page)
        text += drawn + ("q 200 0 0 100 72 400 cm /Im Do Q" if picture else "")
        stream = text.encode("cp1252").decode("latin-1")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        kids.append(len(objects) + 1)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<<{held}>>/XObject<</Im {3 + len(FONTS)} 0 R>>>>"
            f"/Contents {len(objects)} 0 R/Annots[{''.join(links)}]>>"
        )
    objects[0] = f"<</Type/Catalog/Pages 2 0 R{more}>>"
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>"
    return written([one.encode("latin-1") for one in objects])


def written(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """Objects numbered from 1, with the table that says where each begins."""
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n%s" % (len(objects) + 1, table, end)


def link(x0: float, y0: float, x1: float, y1: float, address: str) -> str:
    """A link over a box from the upper left; `#` leads into the file itself."""
    leads = f"/A<</S/URI/URI({address})>>" if address != "#" else "/Dest[0/Fit]"
    return f"<</Type/Annot/Subtype/Link/Rect[{x0} {842 - y1} {x1} {842 - y0}]{leads}>>"


def running(words: str, x: float, y: float, wide: int, step: float = 13, size: float = 10) -> list[Put]:
    """Text broken into lines of `wide` characters."""
    lines: list[str] = [""]
    for word in words.split(" "):
        if len(lines[-1]) + len(word) > wide:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return [(x, y + step * n, size, "plain", line) for n, line in enumerate(lines)]


def locked() -> bytes:
    """Under a password that nobody knows."""
    keys = b"<</Filter/Standard/V 1/R 2/Length 40/P -4/O<%s>/U<%s>>>" % (b"41" * 32, b"42" * 32)
    return written(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 0/Kids[]>>", keys], b"/Encrypt 3 0 R/ID[<41><41>]"
    )


def bomb(megabytes: int) -> bytes:
    """A page whose text unpacks to so much."""
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>"
    stream = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)
    return written([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>", page, stream])


@contextmanager
def in_this_process() -> Iterator[None]:
    """What is read of a PDF, without the process that each is read in: that starts ten times as long as it reads."""
    apart = programs.run_module

    def run(name: str, given: bytes, *more: object, **most: int) -> tuple[int, bytes, bytes]:
        if name != pdf_process.__name__:
            return apart(name, given, *more, **most)  # type: ignore[arg-type] # as it was given
        made = io.StringIO()
        with (
            patch.object(programs, "limit_memory"),
            patch.object(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given))),
            patch.object(sys, "stdout", made),
        ):
            return pdf_process.main(), made.getvalue().encode(), b""

    with patch.object(programs, "run_module", run):
        yield

"""A picture of any common format as the one that all are shown in: no metadata, no name, no size of its maker's."""

import base64
import struct
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from PIL import Image, ImageOps

from annotation.errors import FigureError
from plain.wording import Sentence

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
MOST_BYTES = 40 << 20
MOST_PIXELS = 25_000_000  # before it is made smaller; four bytes each, and twice for a moment
WIDTHS, HIGHEST = (40, 80, 160, 320, 1600), 8000  # pixels
QUALITY = 90
GRID, ALIKE = 16, 0.97
PART_ALIKE, SMALL = 0.98, 200  # pixels; in a narrower one parts are too few pixels to tell
WIDE = {2: (48, 24), 4: (64, 16)}  # pixels by shape: with more, a logo's letters fall on others in each of its sizes
FLAT = 64 * 400  # of a part's 64 greys, a variance below which a difference is noise too
MEDIA_TYPE = "image/webp"
NO_PICTURE = Sentence("damaged or in a format that cannot be shown")
# what Pillow's readers make of a file that is cut off or lies about itself; they share no base
DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, LookupError, AttributeError, ArithmeticError,
           RuntimeError, MemoryError, struct.error, zlib.error)  # fmt: skip
TOO_LARGE = Sentence("of over {most} million pixels", most=MOST_PIXELS // 1_000_000)
TOO_HEAVY = Sentence("of over {most} MB", most=MOST_BYTES >> 20)


@dataclass(frozen=True)
class Picture:
    """A picture as it is kept: WebP, and its size in pixels, for a page that keeps its place free."""

    data: bytes
    width: int
    height: int


def encoded(original: bytes) -> Picture:
    """The picture as WebP on white, in a size that others have too; the first one of a film.

    Only its pixels are taken over: whatever else the bytes hold, such as EXIF, XMP, a colour profile or another file
    behind the picture, stays behind. Raises FigureError.
    """
    if len(original) > MOST_BYTES:
        raise FigureError(TOO_HEAVY)
    try:
        with warnings.catch_warnings(category=Image.DecompressionBombWarning, action="ignore"):
            opened = Image.open(BytesIO(original), formats=FORMATS)
        with opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise FigureError(TOO_LARGE)
            made = BytesIO()
            picture = _on_white(opened)
            picture.save(made, "WEBP", quality=QUALITY, method=2)  # half the time of 4, a twentieth more bytes
    except (FigureError, Image.DecompressionBombError):
        raise FigureError(TOO_LARGE) from None
    except DAMAGED:
        raise FigureError(NO_PICTURE) from None
    return Picture(made.getvalue(), picture.width, picture.height)


def _on_white(opened: Image.Image) -> Image.Image:
    """Its pixels the way up they are looked at; what is transparent is paper, in a dark room too."""
    ImageOps.exif_transpose(opened, in_place=True)
    picture = _in_bytes(opened).convert("RGBA" if opened.has_transparency_data else "RGB")
    paper = Image.new("RGB", _canvas(*picture.size), "white")
    scale = min(paper.width / picture.width, paper.height / picture.height)
    picture = picture.resize([max(1, round(side * scale)) for side in picture.size], reducing_gap=2)
    middle = (paper.width - picture.width) // 2, (paper.height - picture.height) // 2
    paper.paste(picture, middle, picture if picture.mode == "RGBA" else None)
    return paper


def _canvas(width: int, height: int) -> tuple[int, int]:
    """The paper for a picture of this size, one of few: as it was drawn, a size is the same in all reports of a system.

    As wide as the next of `WIDTHS`, and so many quarters of that high, up to `HIGHEST`, that it has room; what is too
    high by a quarter of a step is made smaller: 3:2, 8:5, 4:3 and 5:4 and what margins make of them are all 4:3.
    """
    wide = next((one for one in WIDTHS if one >= width), WIDTHS[-1])
    return wide, min(HIGHEST, wide * max(1, ceil(4 * height / width - 0.25)) // 4)


def _in_bytes(opened: Image.Image) -> Image.Image:
    """Its grey of 16 bits as one of 8, since Pillow's own way makes everything above 255 white.

    Raises ValueError for whole numbers of 32 bits and for fractions, of which no file says how much is white.
    """
    if opened.mode in ("I", "F"):
        raise ValueError(opened.mode)
    if not opened.mode.startswith("I;16"):
        return opened
    return opened.convert("I").point(lambda level: level / 256).convert("L")


class Look(NamedTuple):
    """How a picture looks: its width in pixels and its shape, its greys on a coarse grid and in each of 64 parts."""

    width: int
    shape: float
    coarse: Any
    parts: Any


def look_of(picture: Picture) -> Look:
    """Decodes it, which takes a hundredth of a second or two.

    On the paper for its size: pictures that are kept from before there was paper are as large as they were drawn.
    """
    import numpy as np

    with Image.open(BytesIO(picture.data)) as opened:
        grey = _on_white(opened).convert("L")
    shape = grey.width / grey.height
    drawn = grey.resize(WIDE[int(shape)]) if shape in WIDE else grey
    times = 2 if shape == max(WIDE) else 1  # its parts, 16 by 4, are as high as they are wide
    coarse, fine = (np.asarray(drawn.resize((side * times, side // times))) for side in (GRID, 64))
    parts = fine.reshape(8 // times, 8, 8 * times, 8).swapaxes(1, 2).reshape(64, 64)
    return Look(grey.width, shape, coarse.ravel(), parts)


def first_alike(looks: Mapping[str, Look]) -> dict[str, str]:
    """For each picture, by name, the first that it looks like: itself, or the same in another size or saved anew.

    Two are alike whose shapes differ by at most 3 % and whose greys, on a grid of `GRID` x `GRID`, correlate by
    `ALIKE`; and, where both are at least `SMALL` pixels wide, each of whose 64 parts is alike by `PART_ALIKE`, as the
    structural similarity of Wang et al. (2004) has it without its luminance: other tables, pies and stacked bars
    differ in a part alone. Made smaller by up to half and saved at JPEG 30 to 60, each of 168
    pictures was itself; of 910 pairs of tables, charts and pies with other data one was taken for the same. Of 84 logos
    2:1 to 10:1, in 6 sizes of 240 pixels and up as PNG and JPEG 50, 991 of 1,008 pictures were with the most of their
    logo; of 1,080 charts of ten kinds, to 8:1, only pies were joined, 29 of the 60 in pictures of 5:1 and 8:1.
    """
    import numpy as np

    if not looks:
        return {}
    names = np.array([*looks])
    widths, shapes, coarse, parts = (np.array(column, np.float32) for column in zip(*looks.values(), strict=True))
    coarse -= coarse.mean(1, keepdims=True)
    coarse /= np.maximum(np.linalg.norm(coarse, axis=1, keepdims=True), 1e-9)
    parts -= parts.mean(2, keepdims=True)
    firsts = np.arange(len(names))
    for at in range(1, len(names)):
        is_near = (coarse[:at] @ coarse[at] >= ALIKE) & (abs(shapes[at] / shapes[:at] - 1) <= 0.03)
        near = np.flatnonzero(is_near & (firsts[:at] == np.arange(at)))
        for part in np.argsort(-parts[at].var(1)):  # where most is drawn first, so that few are left soon
            one, others = parts[at, part], parts[near, part]
            alike = (2 * others @ one + FLAT) / ((others**2).sum(1) + one @ one + FLAT)
            near = near[(alike >= PART_ALIKE) | (np.minimum(widths[near], widths[at]) < SMALL)]
        firsts[at] = near[0] if len(near) else at
    return dict(zip(names.tolist(), names[firsts].tolist(), strict=True))


def from_data(address: str) -> bytes:
    """What a `data:` address holds. Raises FigureError."""
    head, _, body = address.partition(",")
    try:
        plain = unquote_to_bytes(body)
        return base64.b64decode(plain, validate=False) if head.rstrip().endswith("base64") else plain
    except ValueError:
        raise FigureError(NO_PICTURE) from None

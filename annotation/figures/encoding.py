"""A picture of any common format as the one that all are shown in: no metadata, no name, no size of its maker's."""

import base64
import math
import struct
import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import unquote_to_bytes

from PIL import Image, ImageOps

from annotation.errors import FigureError

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
MOST_BYTES = 40 << 20
MOST_PIXELS = 25_000_000  # before it is made smaller; four bytes each, and twice for a moment
WIDEST, HIGHEST = 1600, 8000  # pixels
QUALITY = 90
GRID, ALIKE = 16, 0.97
MEDIA_TYPE = "image/webp"
NO_PICTURE = "damaged or in a format that cannot be shown"
# what Pillow's readers make of a file that is cut off or lies about itself; they share no base
DAMAGED = (OSError, ValueError, SyntaxError, EOFError, TypeError, LookupError, AttributeError, ArithmeticError,
           RuntimeError, MemoryError, struct.error, zlib.error)  # fmt: skip
TOO_LARGE = f"of over {MOST_PIXELS // 1_000_000} million pixels"


@dataclass(frozen=True)
class Picture:
    """A picture as it is kept: WebP, and its size in pixels, for a page that keeps its place free."""

    data: bytes
    width: int
    height: int


def encoded(original: bytes) -> Picture:
    """The picture as WebP of at most `WIDEST` × `HIGHEST` pixels on white; the first one of a film.

    Only its pixels are taken over: whatever else the bytes hold, such as EXIF, XMP, a colour profile or another file
    behind the picture, stays behind. Raises FigureError.
    """
    if len(original) > MOST_BYTES:
        raise FigureError(f"of over {MOST_BYTES >> 20} MB")
    try:
        with warnings.catch_warnings(category=Image.DecompressionBombWarning, action="ignore"):
            opened = Image.open(BytesIO(original), formats=FORMATS)
        with opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise FigureError(TOO_LARGE)
            made = BytesIO()
            picture = _on_white(opened)
            picture.save(made, "WEBP", quality=QUALITY)
    except (FigureError, Image.DecompressionBombError):
        raise FigureError(TOO_LARGE) from None
    except DAMAGED:
        raise FigureError(NO_PICTURE) from None
    return Picture(made.getvalue(), picture.width, picture.height)


def _on_white(opened: Image.Image) -> Image.Image:
    """Its pixels the way up they are looked at; what is transparent is paper, in a dark room too."""
    ImageOps.exif_transpose(opened, in_place=True)
    picture = _in_bytes(opened).convert("RGBA" if opened.has_transparency_data else "RGB")
    picture.thumbnail((WIDEST, HIGHEST))
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture if picture.mode == "RGBA" else None)
    return paper


def _in_bytes(opened: Image.Image) -> Image.Image:
    """Its grey of 16 bits as one of 8, since Pillow's own way makes everything above 255 white.

    Raises ValueError for whole numbers of 32 bits and for fractions, of which no file says how much is white.
    """
    if opened.mode in ("I", "F"):
        raise ValueError(opened.mode)
    if not opened.mode.startswith("I;16"):
        return opened
    return opened.convert("I").point(lambda level: level / 256).convert("L")


def first_alike(pictures: Iterable[tuple[str, Picture]]) -> dict[str, str]:
    """For each picture, by name, the first that it looks like: itself, or the same in another size or saved anew.

    Two are alike whose shapes differ by at most 3 % and whose greys, on a grid of `GRID` x `GRID`, correlate by
    `ALIKE`. Of five logos and charts made smaller by up to half and saved at JPEG 30 to 60 each had .99 with itself,
    and two charts of one kind with other data at most .83.
    """
    found: dict[str, str] = {}
    seen: list[tuple[str, float, list[float]]] = []
    for name, picture in pictures:
        shape = picture.width / picture.height
        with Image.open(BytesIO(picture.data)) as opened:
            greys = opened.convert("L").resize((GRID, GRID)).tobytes()
        look = [grey - sum(greys) / len(greys) for grey in greys]
        like = (one for one, its_shape, its_look in seen if _are_alike(shape / its_shape, look, its_look))
        found[name] = next(like, name)
        if found[name] == name:
            seen.append((name, shape, look))
    return found


def _are_alike(shapes: float, one: Sequence[float], other: Sequence[float]) -> bool:
    """Never where one is of one colour, which leaves nothing to compare."""
    if abs(shapes - 1) > 0.03:
        return False
    apart = math.sqrt(_product(one, one) * _product(other, other))
    return _product(one, other) >= ALIKE * apart > 0


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def from_data(address: str) -> bytes:
    """What a `data:` address holds. Raises FigureError."""
    head, _, body = address.partition(",")
    try:
        plain = unquote_to_bytes(body)
        return base64.b64decode(plain, validate=False) if head.rstrip().endswith("base64") else plain
    except ValueError:
        raise FigureError(NO_PICTURE) from None

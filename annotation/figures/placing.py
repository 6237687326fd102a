"""The pictures that a report names: read from where they lie, never from the web, and put into its text."""

import hmac
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote

from annotation.documents import pdf_pictures
from annotation.documents.document_tree import FIGURE
from annotation.documents.reading import PACKED
from annotation.errors import FigureError
from annotation.figures.pictures import MOST_BYTES, NO_PICTURE, TOO_HEAVY, Picture, encoded, from_data
from annotation.files.archives import DAMAGED
from annotation.texts import figures, spans
from plain.counting import counted
from plain.wording import Sentence

ON_THE_WEB = Sentence("on the web, where nothing is fetched from")
OF_PDF = Sentence("of a PDF that cannot be taken out of it")
NOT_THERE = Sentence("whose file is not among the reports")
_WORDS = r"!\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,500}+)\]"
_PLACE = r"<[^<>\n]{1,4000}+>|(?:[^()\n]|\([^()\n]{0,500}\))+"
_NAMED = re.compile(
    rf"(?P<link>\[)?{_WORDS}(?:\((?P<place>(?:{_PLACE}))\)|\[(?P<label>[^\[\]\n]{{0,60}})\])"
    rf"(?(link)(?:\]\((?P<to>{_PLACE})\))?)"
    r"|(?<!\[)(?P<tag><img\b[^<>]{0,200}?\ssrc\s{0,9}=\s{0,9}[^<>]*+>)",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?)(?:[?#][^\s]*)?>?(?:\s|$)", re.IGNORECASE)
_DEFINED = re.compile(r"^ {0,3}\[([^\[\]\n]{1,60})\]:[ \t]*(<[^<>\n]+>|\S+)[^\n]*$", re.MULTILINE)
_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*')\s*$")
_ATTRIBUTE = re.compile(r"(?<![-\w])(src|alt)\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:|//", re.IGNORECASE)
_OF_DOCUMENT = re.compile(re.escape(FIGURE).replace(re.escape("{}"), r"(\d{1,6})"))


@dataclass(frozen=True)
class Placed:
    """A report's text with the marks of its pictures, these by name, and how many could not be kept, by the reason."""

    text: str
    pictures: dict[str, Picture]
    unshown: Mapping[str, int]

    @property
    def lost(self) -> tuple[str, ...]:
        """Words of a flag for each reason: `2 figures on the web …`."""
        return tuple(f"{counted(number, 'figure')} {why}" for why, number in self.unshown.items())


def placed(text: str, read: Callable[[str], bytes], key: str, *, show: bool) -> Placed:
    """Every picture that `text` names, code left alone, before its words; or, unless `show`, taken out with them.

    `read` gives the bytes at an address, or raises FigureError; of such a picture the words alone stay. `key` makes the
    names, which are the same for the same pixels, and tell nobody without it what they are of.
    """
    hidden = spans.WorkingCopy(text)
    hidden.shield(spans.code_zones(text))
    defined = {label.lower(): place for label, place in _DEFINED.findall(hidden.text)}
    pieces, done, pictures, unshown = [], 0, dict[str, Picture](), Counter[str]()
    for match in _NAMED.finditer(hidden.text):
        address, words = _told(match, defined)
        if address is None or (match["link"] and not _is_figure(match)):
            continue
        pieces.append(text[done : match.start()])
        done = match.end()
        if not show:
            continue
        try:
            picture = encoded(read(address))
        except FigureError as error:
            unshown[error.args[0]] += 1
            pieces.append(f"![{words}](figure)")
            continue
        name = hmac.new(key.encode(), picture.data, "sha256").hexdigest()[:32]
        pictures[name] = picture
        pieces.append(f"{figures.figure_mark(name)} {words}")
    return Placed("".join(pieces) + text[done:], pictures, unshown)


def _is_figure(match: re.Match[str]) -> bool:
    """Whether a picture that is a link's whole text is one of the report's: it leads to itself, or stands alone.

    Any other is the sign of the site that the link leads to.
    """
    leads_to_picture = bool(match["to"]) and bool(_PICTURE.search(match["to"]))
    before, _, _ = match.string[match.end() :].partition("\n")
    is_alone = not (match.string[: match.start()].rpartition("\n")[2].strip() or before.strip())
    return leads_to_picture or bool(match["to"] and match["words"].strip() and is_alone)


def _told(match: re.Match[str], defined: dict[str, str]) -> tuple[str | None, str]:
    """Address and words of one picture; None where its label is defined nowhere."""
    if match["tag"]:
        found = {name.lower(): (a or b or c) for name, a, b, c in _ATTRIBUTE.findall(match["tag"])}
        return found.get("src"), found.get("alt", "")
    words = match["words"]
    if match["place"] is None:
        return _bare(defined.get((match["label"] or words).lower())), words
    return _bare(_TITLE.sub("", match["place"])), words


def _bare(place: str | None) -> str | None:
    return place.strip().removeprefix("<").removesuffix(">").strip() if place else None


def reader(original: bytes, path: str, named: tuple[str, ...], root: Path | None) -> Callable[[str], bytes]:
    """How the pictures of one report are read: from its own address, out of its document, or of a file near it.

    `path`: where the report lies below `root`, outside of which nothing is read. `named`: the addresses of a document's
    pictures, in their order.
    """
    lies = Path(path)
    of_pdf = cache(lambda: pdf_pictures.read_pictures(original, named))  # all by one look, if any is asked for

    def read(address: str) -> bytes:
        if (number := _OF_DOCUMENT.fullmatch(address)) and 0 < int(number[1]) <= len(named):
            address = named[int(number[1]) - 1]
        if address.lower().startswith("data:"):
            return from_data(address)
        if lies.suffix.lower() == ".pdf" and pdf_pictures.TOLD.fullmatch(address):
            if address not in of_pdf():
                raise FigureError(OF_PDF)
            return of_pdf()[address]
        if _SCHEME.match(address):
            raise FigureError(ON_THE_WEB)
        if lies.suffix.lower() in PACKED:
            return _unpacked(original, address)
        return _in_folder(unquote(address), lies.parent, root)

    return read


def _unpacked(original: bytes, address: str) -> bytes:
    """A part of a document that is a zip file, by the end of its name."""
    try:
        with zipfile.ZipFile(BytesIO(original)) as packed:
            part = next((one for one in packed.infolist() if f"/{one.filename}".endswith(f"/{address}")), None)
            if part is None or part.file_size > MOST_BYTES:
                raise FigureError(NO_PICTURE)
            with packed.open(part) as held:
                return held.read(part.file_size)  # no more than it claims
    except DAMAGED:
        raise FigureError(NO_PICTURE) from None


def _in_folder(address: str, beside: Path, root: Path | None) -> bytes:
    for place in _places(address, beside, root) if root is not None else ():
        if place.stat().st_size > MOST_BYTES:
            raise FigureError(TOO_HEAVY)
        return place.read_bytes()
    raise FigureError(NOT_THERE)


def _places(address: str, beside: Path, root: Path) -> Iterator[Path]:
    """The files of this name: beside the report, or below the folder that was named, and nowhere else."""
    for folder in (root / beside, root):
        try:
            place = (folder / address).resolve()
            is_there = place.is_relative_to(root.resolve()) and place.is_file()
        except (OSError, ValueError):  # a name may be too long
            continue
        if is_there:
            yield place

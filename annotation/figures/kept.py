"""The pictures of a study as rows: stored under their names, and given back to whoever may see the text they are in."""

import base64
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.figures.pictures import MEDIA_TYPE, Picture
from annotation.people import keys
from annotation.texts.figures import KEPT, figure_names
from db.tables import Figure, Report, Study

IN_PAGE = re.compile(r'src="(?:figures/|/api/figure/[0-9a-f]+/)([0-9a-f]{32})(?:\.webp)?"')


def naming_key(session: orm.Session, study: Study) -> str:
    """The key that names this study's pictures, made when it is first asked for."""
    return keys.key_of(session, f"figures of study {study.id}")


def kept_naming_key(session: orm.Session, study: Study) -> str:
    """The key that names this study's pictures; empty where nothing has asked for it yet."""
    return keys.kept_key(session, f"figures of study {study.id}")


def store(session: orm.Session, study: Study, pictures: Mapping[str, Picture]) -> None:
    """Keep these pictures by their names; the same pixels are kept once."""
    known = set(pictures_called(session, study.id, pictures))
    session.add_all(
        Figure(study_id=study.id, name=name, picture=one.data, width=one.width, height=one.height)
        for name, one in pictures.items()
        if name not in known
    )
    session.flush()


def pictures_called(session: orm.Session, study_id: int, names: Collection[str]) -> dict[str, Picture]:
    """The pictures of these names, as far as the study has them."""
    asked = select(Figure.name, Figure.picture, Figure.width, Figure.height)
    rows = session.execute(asked.where(Figure.study_id == study_id, Figure.name.in_(names))) if names else ()
    return {name: Picture(data, width, height) for name, data, width, height in rows}


def shown_pictures(session: orm.Session, study: Study) -> Iterator[tuple[str, bytes]]:
    """What the reports of the study show, each by the path that their texts name it by."""
    texts = select(Report.shown_text).where(Report.study_id == study.id, Report.status == "ready")
    names = {name for text in session.scalars(texts.execution_options(yield_per=50)) for name in figure_names(text)}
    yield from ((f"figures/{name}.webp", found.data) for name, found in in_turn(session, study.id, sorted(names)))


def in_turn(session: orm.Session, study_id: int, names: Sequence[str]) -> Iterator[tuple[str, Picture]]:
    """The same one after the other, so that one alone is in memory."""
    for name in names:
        yield from pictures_called(session, study_id, [name]).items()


def picture_of(session: orm.Session, study_id: int, name: str, *texts: str) -> bytes:
    """The picture called `name` where one of `texts` shows it. Raises AnnotationError `not_found`."""
    if any(name in figure_names(text) for text in texts) and (found := pictures_called(session, study_id, [name])):
        return found[name].data
    raise AnnotationError("not_found", "there is no such figure for you; open your list of work again")


def addressed(session: orm.Session, study_id: int, html: str, folder: str) -> str:
    """A report's HTML with its pictures at `folder/NAME`, and their sizes, so that nothing jumps when they come."""
    names = set(IN_PAGE.findall(html))
    asked = select(Figure.name, Figure.width, Figure.height)
    rows = session.execute(asked.where(Figure.study_id == study_id, Figure.name.in_(names))) if names else ()
    sizes = {name: f' width="{width}" height="{height}"' for name, width, height in rows}
    return IN_PAGE.sub(lambda match: f'src="{folder}/{match[1]}"{sizes.get(match[1], "")}', html)


def data_address(picture: bytes) -> str:
    """An address that holds the picture itself."""
    return f"data:{MEDIA_TYPE};base64,{base64.b64encode(picture).decode()}"


def with_pictures(
    session: orm.Session, study_id: int, messages: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Messages to a model with the pictures in the places of their marks, as litellm has it: parts of text and image.

    What looks like a mark and names no picture of the study is text: a report may have written it in its code.
    """
    return [
        {**message, "content": _parts(session, study_id, message["content"])}
        if KEPT.search(message["content"])
        else message
        for message in messages
    ]


def _parts(session: orm.Session, study_id: int, content: str) -> list[dict[str, Any]]:
    found = pictures_called(session, study_id, figure_names(content))
    parts: list[dict[str, Any]] = []
    done = 0
    for mark in KEPT.finditer(content):
        if mark[1] in found:
            address = data_address(found[mark[1]].data)
            parts.append({"type": "text", "text": content[done : mark.start()]})
            parts.append({"type": "image_url", "image_url": {"url": address}})
            done = mark.end()
    parts.append({"type": "text", "text": content[done:]})
    return [part for part in parts if part.get("text", "image").strip()]


def embedded(session: orm.Session, study_id: int, html: str) -> str:
    """A page's HTML with its pictures inside it, for a file that has no server, or for those who see all reports."""
    found = pictures_called(session, study_id, set(IN_PAGE.findall(html)))
    return IN_PAGE.sub(lambda match: f'src="{data_address(found[match[1]].data)}"' if match[1] in found else "", html)

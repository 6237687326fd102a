"""Screens drawn without a browser: who looks at them, and what is on them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

import pytest
from google.protobuf.message import Message
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

import app.screens
from annotation.people.links import invite
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in, who
from db.connect import transaction
from db.tables import Study


def evaluator(engine: Engine, study: int, role: str = "evaluator") -> tuple[Principal, str]:
    with transaction(engine) as session:
        token = invite(session, local_admin(session.get_one(Study, study)), "Eva", role)
        cookie = sign_in(session, token, "127.0.0.1")
        principal = who(session, cookie)
    assert principal is not None
    assert cookie is not None
    return principal, cookie


def module_of(name: str) -> str:
    """Where the page of this name is, in whichever room of `app.screens`."""
    folder = Path(app.screens.__file__).parent
    (file,) = folder.rglob(f"{name}.py")
    return ".".join(("app.screens", *file.relative_to(folder).with_suffix("").parts))


def page(
    engine: Engine, study: int, name: str, language: str = "en", role: str = "evaluator", **address: str
) -> AppTest:
    """The page of this name, for a new evaluator or admin. `address`: what stands behind the question mark."""

    def run(name, principal, cookie, language):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from importlib import import_module
        from inspect import signature

        from plain.wording import set_language

        set_language(language)
        show = import_module(name).show
        show(*(principal, cookie)[: len(signature(show).parameters)])

    arguments = (module_of(name), *evaluator(engine, study, role), language)
    screen = AppTest.from_function(run, args=arguments, default_timeout=120)
    screen.session_state["language"] = language  # for parts that are drawn by themselves
    for key, value in address.items():
        screen.query_params[key] = value
    return drawn(screen.run())


FEW = json.dumps({"resamples": 99})


def file_page(name: str, path: Path) -> AppTest:
    """The page of this name of a labels file."""

    def screen(name, path, chosen):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from importlib import import_module

        from app.results.shown_file import shown_file

        import_module(name).show(shown_file(path, "", chosen))

    return drawn(AppTest.from_function(screen, args=(module_of(name), str(path), FEW), default_timeout=120).run())


def drawn(screen: AppTest) -> AppTest:
    assert not screen.exception
    return screen


def shown(screen: AppTest) -> str:
    return "".join(str(element.proto) for element in screen.main)


def html_of(screen: AppTest) -> list[str]:
    """The parts of the page that are HTML of our own."""
    return [str(element.proto.body) for element in screen.main if element.type == "html"]


UNREAD = (
    "id",
    "key",
    "url",
    "hash",
    "value",
    "default",
    "type",
    "query_param_key",
    "srcdoc",
)  # ends of fields that none reads
ATTRIBUTE = re.compile(r'(?:alt|title|aria-label|placeholder)="([^"]*)"')
CODE = re.compile(r"<(style|script|code|iframe)\b.*?</\1>", re.DOTALL)
SVG = re.compile(r"data:image/svg\+xml;base64,([^\"]*)")


def read_on(screen: AppTest, apart: Sequence[str] = ()) -> Iterator[str]:
    """Every text that somebody reads or hears on the page, one by one: of widgets, HTML, its attributes and figures.

    `apart`: heads of the parts to pass over.
    """
    for element in screen.main:
        for text in _strings(element.proto) if isinstance(element.proto, Message) else ():
            if any(f"<h2>{head}</h2>" in text for head in apart):
                continue
            for picture in SVG.findall(text):
                for word in re.findall("<!-- (.*?) -->", base64.b64decode(picture).decode()):  # letters are drawn
                    yield unescape(word)
            bare = CODE.sub("", SVG.sub("", text))
            yield from map(unescape, (*ATTRIBUTE.findall(bare), *re.split("<[^>]*>", bare)))


def _strings(message: Message) -> Iterator[str]:
    for field, value in message.ListFields():
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from _strings(one)
            elif isinstance(one, str) and not field.name.endswith(UNREAD):
                yield one


def draw_only(patch: pytest.MonkeyPatch, *figures: object) -> None:
    """A pack holds these figures; all of them take seconds, and tests/exports draws them."""
    patch.setattr("exports.pack.FIGURES", dict(enumerate(figures)))

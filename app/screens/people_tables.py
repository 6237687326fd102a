"""The tables of the People page: a row a person, a row an open link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from html import escape

from annotation.people.open_links import OpenLinkLine
from annotation.people.people_list import LABELLERS, PersonLine
from app.screens import clock
from app.screens.look import table
from app.screens.my_work import duration
from exports.cells import DASH

GATES = {"none": "–", "asked": "asked", "under_way": "under way"}
AMBER = ("outdated", "failed")  # somebody has to do something


def people_table(listed: Sequence[PersonLine]) -> str:
    """Consent, training and completion codes have a column only where the study has any."""
    if not listed:
        return ""
    gates = [name for name in ("consent", "training") if any(getattr(one, name) != "none" for one in listed)]
    coded = any(one.completion_code for one in listed)
    work = "Handed in", "In work", "Active", "Links", "Last seen"
    heads = ("Name", "Role", *(name.title() for name in gates), *work, *(("Code",) if coded else ()))
    rows = [
        (
            _over(escape(one.name), one.pseudonym),
            _over(one.role, "" if one.status == "active" else _coloured(one.status)),
            *(_coloured(getattr(one, name)) for name in gates),
            *(_work(one) if one.role in LABELLERS or one.handed_in + one.in_work else ("–", "–", "–")),
            _over(f"{one.links}", _used(one)),
            _at(one.seen_at),
            *((f"<code>{one.completion_code}</code>" if one.completion_code else "–",) if coded else ()),
        )
        for one in listed
    ]
    return table("People", heads, rows, "p-people")


def open_links_table(doors: Sequence[OpenLinkLine]) -> str:
    """Empty where the study has none."""
    heads = ("Open link", "State", "People", "Places", "Items each", "Expires")
    rows = [
        (
            f"{one.id}", one.state, f"{one.taken}", "–" if one.places is None else f"{one.places}",
            "no limit" if one.quota is None else f"{one.quota}", f"{one.expires_at:%Y-%m-%d}",
        )
        for one in doors
    ]  # fmt: skip
    return table("Open links", heads, rows) if rows else ""


def _over(main: str, under: str) -> str:
    return f'{main}<small class="c-under">{under}</small>'


def _coloured(state: str) -> str:
    words = GATES.get(state, state)
    return f'<span class="c-amber">{words}</span>' if state in AMBER else words


def _work(one: PersonLine) -> tuple[str, str, str]:
    active = DASH if math.isnan(one.active_s) else duration(one.active_s)  # not added up yet
    return _over(f"{one.handed_in}", _beside_handed_in(one)), f"{one.in_work}", active


def _beside_handed_in(one: PersonLine) -> str:
    parts = (f"of {one.quota}" if one.quota is not None else "", f"{one.void} void" if one.void else "")
    return ", ".join(filter(None, parts))


def _used(one: PersonLine) -> str:
    if not one.link_used_at:
        return "never used"
    return f"used {one.link_uses} ×, last {one.link_used_at:%Y-%m-%d}"


def _at(time: datetime | None) -> str:
    return clock.at(time) if time else "–"

"""The list of a study's people as a table: gates, work, links and when each was last seen."""

import math
from collections.abc import Sequence
from datetime import datetime
from html import escape

from annotation.participation import people_list
from app.screens import look
from app.screens.annotators.my_work import duration
from app.texts import texts_for
from exports.cells import DASH
from plain.wording import spoken, worded

GATES = {"none": "–", "asked": "asked", "under_way": "under way"}
AMBER = ("outdated", "failed")  # somebody has to do something


def people_table(listed: Sequence[people_list.PersonLine]) -> str:
    """Consent, training and completion codes have a column only where the study has any."""
    if not listed:
        return ""
    gates = [name for name in ("consent", "training") if any(getattr(person, name) != "none" for person in listed)]
    coded = any(person.completion_code for person in listed)
    work = "Handed in", "In work", "Active", "Links", "Last seen"
    heads = ("Name", "Role", *(name.title() for name in gates), *work, *(("Code",) if coded else ()))
    rows = [
        (
            _over(escape(person.name), person.pseudonym),
            _over(worded(person.role), "" if person.status == "active" else _coloured(person.status)),
            *(_coloured(getattr(person, name)) for name in gates),
            *(
                _work(person)
                if person.role in people_list.LABELLERS or person.handed_in + person.in_work
                else ("–", "–", "–")
            ),
            _over(f"{person.links}", _used(person)),
            at(person.seen_at),
            *((f"<code>{person.completion_code}</code>" if person.completion_code else "–",) if coded else ()),
        )
        for person in listed
    ]
    return look.table("People", heads, rows, "p-people")


def _over(main: str, under: str) -> str:
    return f'{main}<small class="c-under">{under}</small>'


def _coloured(state: str) -> str:
    words = worded(GATES.get(state, state))
    return f'<span class="c-amber">{words}</span>' if state in AMBER else words


def _work(person: people_list.PersonLine) -> tuple[str, str, str]:
    active = (
        DASH if math.isnan(person.active_s) else duration(person.active_s, texts_for(spoken().replace("_", "-")))
    )  # not added up yet
    return _over(f"{person.handed_in}", _beside_handed_in(person)), f"{person.in_work}", active


def _beside_handed_in(person: people_list.PersonLine) -> str:
    quota = worded("of {quota}", quota=person.quota) if person.quota is not None else ""
    parts = (quota, worded("{void} void", void=person.void) if person.void else "")
    return worded(", ").join(filter(None, parts))


def _used(person: people_list.PersonLine) -> str:
    if not person.link_used_at:
        return worded("never used")
    return worded(
        "used {link_uses} ×, last {link_used_at:%Y-%m-%d}", link_uses=person.link_uses, link_used_at=person.link_used_at
    )


def at(time: datetime | None) -> str:
    return look.local_time(time) if time else "–"

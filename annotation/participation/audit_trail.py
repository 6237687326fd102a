"""Who did what to a study, as its admins may read it: by pseudonym, without secrets, and without the work of raters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.leaks.redaction import PLACES
from annotation.people.principals import KEY, Principal, study_for
from db import people_tables, tables
from plain.wording import judge_named, worded

WORK = ("take", "submit", "reopen", "give_back", "handed_in_again", "adjudicate")  # raters' own; labels stand in some
HIDDEN = (*WORK, KEY, PLACES)  # and what is kept for calipers itself
OURSELVES = "calipers"  # the command line, or what follows from an act by itself
OURS = ("role", "old", "new", "end")  # facts that are words of ours; others may be a study's own
FACT_MAX = 120  # characters


@dataclass(frozen=True)
class Act:
    """One line of the trail. `who`: a pseudonym, or `OURSELVES`; `facts`: its data in words."""

    at: datetime
    who: str
    what: str
    facts: str


def list_acts(session: Session, principal: Principal, most: int | None = None) -> list[Act]:
    """The study's acts, the newest first, at most so many; for admins."""
    study = study_for(session, principal, "admin")
    mine = (
        tables.Event.study_id == study.id,
        tables.Event.kind == "audit",
        tables.Event.what.not_in(HIDDEN),
    )
    person = (people_tables.Enrollment.study_id == tables.Event.study_id) & (
        people_tables.Enrollment.rater_id == tables.Event.rater_id
    )
    rows = session.execute(
        select(tables.Event, people_tables.Enrollment.pseudonym)
        .outerjoin(people_tables.Enrollment, person)
        .where(*mine)
        .order_by(tables.Event.id.desc())
        .limit(most)
    )
    return [Act(event.created_at, who or OURSELVES, event.what, in_words(event.data)) for event, who in rows]


def in_words(data: dict[str, Any]) -> str:
    """`new 4, layout folder`; what is long is cut, and what is nothing left out."""
    told = ((name, _value(value)) for name, value in data.items())
    return worded(", ").join(
        f"{worded(name.replace('_', ' '))} {worded(value) if name in OURS else value}" for name, value in told if value
    )


def _value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ""
    text = worded("yes") if value is True else worded("no") if value is False else judge_named(str(value))
    if isinstance(value, float):
        text = f"{value:.4g}"
    elif isinstance(value, dict):
        text = f"({in_words(value)})"
    elif isinstance(value, list):
        text = worded("; ").join(map(_value, value))
    return text if len(text) <= FACT_MAX else f"{text[: FACT_MAX - 1]}…"

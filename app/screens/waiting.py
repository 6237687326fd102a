"""What a page shows while what it needs of all labels is computed: how long that has taken, and what is kept so far."""

from __future__ import annotations

from html import escape

import streamlit as st
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.people.principals import Principal
from app.computing import Task
from app.kept import Kept, Version, kept, seconds_under_way
from app.screens import clock
from app.settings import database
from db.connect import reading
from db.tables import Criterion

MANY = 200_000  # answers; of fewer a page waits itself
EVERY_S = 2


def computed(
    what: str, principal: Principal, version: Version, *arguments: str, doing: str, apart: bool = False
) -> Kept | None:
    """What `what` names, of the labels at `version`, or of an earlier one, which the page then says by itself.

    None where there is nothing yet: the page has said that it comes, and draws itself again when it has. `doing`: what
    is done meanwhile, as "Computing intervals". `apart`: the page stays in use meanwhile, however few labels there are.
    Raises AnnotationError or CalibrationError as the computation does.
    """
    task = Task(what, principal, arguments)
    if not apart and not is_large(principal, version):
        with st.spinner(f"{doing}…"):
            return kept(database(), task, version, apart=False)
    found = kept(database(), task, version, apart=True)
    if found.is_under_way:
        st.fragment(_look_again, run_every=EVERY_S)(task, found, doing)
    elif not found.is_current:
        st.html(f'<div class="c-page"><p class="c-soft">{escape(of_when(found))}</p></div>')
    return None if found.made_at is None else found


def is_large(principal: Principal, version: Version) -> bool:
    """Whether the study has more answers than a page can wait for. `version`: as `label_version` says."""
    handed_in = version[1]
    if handed_in < MANY / 200:
        return False  # no protocol asks so many questions
    with reading(database()) as session:
        return handed_in * _asked(session, principal) > MANY


def of_when(found: Kept) -> str:
    """Of which labels the numbers are."""
    assert found.made_at is not None
    return f"These numbers are of the labels up to {clock.at(found.made_at)}; newer ones are not counted yet."


def _asked(session: Session, principal: Principal) -> float:
    """Questions of an item, the mean where they come with the topics."""
    of_topics = func.count(Criterion.topic_id.distinct())
    asked = select(func.count(), of_topics).where(
        Criterion.study_id == principal.study_id, Criterion.retired_at.is_(None)
    )
    questions, topics = session.execute(asked).one()
    return float(questions / max(1, topics))


def _look_again(task: Task, found: Kept, doing: str) -> None:
    """Draws itself until the computation has ended, then the whole page."""
    seconds = seconds_under_way(database(), task)
    if seconds is None:
        st.rerun()
    told = "" if found.made_at is None else f" {of_when(found)}"
    st.html(
        f'<div class="c-page"><p class="c-soft" role="status">{escape(doing)}, for {seconds:.0f} s so '
        f"far. This page fills in by itself; you can leave it and come back.{escape(told)}</p></div>"
    )

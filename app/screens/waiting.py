"""What a page shows while what it needs of all labels is computed: how long that has taken, and what is kept so far."""

import logging
import secrets
from html import escape

import streamlit as st
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.people.principals import Principal
from app.results import computing, shown_file
from app.results.kept import Kept, UnderWay, Version, kept, under_way
from app.screens import look
from app.settings import database
from app.texts import texts_for
from db import connect, errors, tables, types
from exports.forms import as_html
from exports.sheets.agreement import points_table
from plain.wording import speaking, worded

MANY = 10_000  # answers; of fewer a page waits itself
EVERY_S = 1


def computed(
    what: str, source: shown_file.Source, version: Version, *arguments: str, doing: str, apart: bool = False
) -> Kept | None:
    """Return what `what` names, of the labels at `version`, or of an earlier one, which the page then says by itself.

    None where there is nothing yet: the page has said that it comes, and draws itself again when it has. `doing`: what
    is done meanwhile, as "Computing intervals". `apart`: the page stays in use meanwhile, however few labels there are.
    Raises AnnotationError or CalibrationError as the computation does.
    """
    task, engine = computing.Task(what, source, arguments), None
    if isinstance(source, shown_file.ShownFile):
        if what != "report" or not source.is_large:  # the rest takes less, and is made of the report that is kept
            with st.spinner(f"{worded(doing)}…"), speaking():
                return Kept(shown_file.of_file(what, source, *arguments), True, version, types.now(), False)
    else:
        engine = database()
        if not apart and not is_large(source, version):
            with st.spinner(f"{worded(doing)}…"), speaking():  # what is kept is for every reader
                return kept(engine, task, version, apart=False)
    result = kept(engine, task, version, apart=True)
    if result.is_under_way:
        st.fragment(_look_again, run_every=EVERY_S)(engine, task, result, doing)
    elif not result.is_current:
        st.html(f'<div class="c-page"><p class="c-soft">{escape(of_when(result))}</p></div>')
    return None if result.made_at is None else result


def is_large(principal: Principal, version: Version) -> bool:
    """Return whether the study has more answers than a page can wait for. `version`: as `label_version` says."""
    handed_in = version[1]
    if handed_in < MANY / 200:
        return False  # no protocol asks so many questions
    with connect.reading(database()) as session:
        return handed_in * _asked(session, principal) > MANY


def of_when(result: Kept) -> str:
    """Say which labels the numbers are of."""
    assert result.made_at is not None
    return worded(
        "These numbers are of the labels up to {local_time}; newer ones are not counted yet.",
        local_time=look.local_time(result.made_at),
    )


def _asked(session: Session, principal: Principal) -> float:
    """Questions of an item, the mean where they come with the topics."""
    of_topics = func.count(tables.Criterion.topic_id.distinct())
    asked = select(func.count(), of_topics).where(
        tables.Criterion.study_id == principal.study_id, tables.Criterion.retired_at.is_(None)
    )
    questions, topics = session.execute(asked).one()
    return float(questions / max(1, topics))


def _look_again(engine: Engine | None, task: computing.Task, result: Kept, doing: str) -> None:
    """Draws itself until the computation has ended, then the whole page."""
    look.speak()
    found = under_way(engine, task)
    if found is None:
        st.rerun()
    told = "" if result.made_at is None else f" {of_when(result)}"
    st.html(
        '<div class="c-page"><p class="c-soft" role="status">'
        + worded(
            "{doing}, for {seconds:.0f} s so far. This page fills in by itself; you can leave it and come back.{told}",
            doing=escape(worded(doing)),
            seconds=found.seconds,
            told=escape(told),
        )
        + "</p></div>"
    )
    _show_so_far(found, shows_points=result.made_at is None)


def _show_so_far(found: UnderWay, *, shows_points: bool) -> None:
    """How much is done, and agreement without its intervals where the page has nothing better."""
    step = found.step
    if step is not None:
        st.progress(step.done / step.of, text=worded("{done} of {of} steps", done=step.done, of=step.of))
    if found.points is not None and shows_points:
        table = points_table(found.points)
        st.html(f'<div class="c-page"><h2>{escape(table.title)}</h2>{as_html(table)}</div>')


log = logging.getLogger("calipers")


def show(error: errors.DatabaseError) -> None:
    """One sentence for the person, the reason in the server's log under the same id."""
    error_id = secrets.token_hex(6)
    log.error("screen failed", extra={"error_id": error_id, "error": type(error).__name__, "reason": str(error)})
    words = texts_for(st.context.locale or "")  # the study's language is in the database
    what = words.tell("screens.trouble.disk_full" if isinstance(error, errors.DiskFull) else "screens.trouble.no_data")
    text = words.tell("screens.trouble.text", error=error_id)
    look.style()
    st.html(f'<div class="c-empty" {look.attributes(words)}><h1>{what}</h1><p>{text}</p></div>')

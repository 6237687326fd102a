"""The audit trail of a study: who did what to it and when, for its admins."""

from datetime import datetime, timedelta
from html import escape

import streamlit as st

from annotation.participation import audit_trail
from annotation.people import principals, sign_ins
from app import settings
from app.files.people_files import rows_csv
from app.screens import look, report_page
from db import kept_backups, types
from db.connect import reading
from plain.wording import several, speaking, worded

MOST = 2_000  # acts on the page
HOUR = timedelta(hours=1)
LATE = 2 * HOUR  # the server looks every hour, and a large one takes a while
HEADS = ("When", "Who", "What", "Facts")
CSS = (
    ".a-acts :is(th, td) { text-align: left; } .a-acts td:last-child { white-space: normal; overflow-wrap: anywhere; }"
)


def show(principal: principals.Principal, cookie: str) -> None:
    """How many acts there are, the newest of them, and all as a file."""
    with report_page.begun(principal, "admin", CSS) as (session, study):
        name, acts = study.name, audit_trail.list_acts(session, principal, MOST + 1)
    more = worded("the newest {most:,} acts", most=MOST) if len(acts) > MOST else several(len(acts), "act")
    report_page.answer(
        worded("{more}{more2} on this study.", more=more[0].upper(), more2=more[1:]),
        worded(
            "People by their pseudonyms; calipers is the command line, or what follows by itself. Raters' own work "
            "is left out. Nothing here can be changed or deleted."
        ),
    )
    told, is_late = backups_told(settings.settings(), types.now())
    report_page.section(f'<p class="{"c-amber" if is_late else "c-soft"}">{escape(told)}</p>')
    st.download_button(
        worded("Download all of them"),
        lambda: _file(cookie, principal.study_id),
        f"{name}-audit.csv",
        "text/csv",
        on_click="ignore",
        key="audit_file",
    )
    shown = look.paged(acts[:MOST], lambda act: f"{act.who} {act.what} {act.facts}", "audit", worded("Find an act"))
    rows = [
        (look.local_time(act.at), escape(act.who), escape(worded(act.what.replace("_", " "))), escape(act.facts))
        for act in shown
    ]
    report_page.section(look.table("Audit trail", HEADS, rows, "a-acts"))


def backups_told(asked: settings.Settings, now: datetime) -> tuple[str, bool]:
    """How old and large the server's own backups are, and whether somebody has to look: none is made, or it is late."""
    if asked.backup_folder is None:
        none = "No backups are made by themselves: whoever runs the server sets CALIPERS_BACKUP_FOLDER."
        return worded(none), True
    try:
        kept = kept_backups.kept_backups(asked.backup_folder)
    except OSError as error:
        return worded("Backups cannot be looked at: {error}.", error=error.strerror), True
    due = worded("one is due every {hours:g} h", hours=asked.backup_hours)
    if not kept:
        return worded("No backup has been made yet, and {due}.", due=due), True
    age, tried = now - kept[0].made_at, max((one.tried_at for one in kept if one.tried_at), default=None)
    told = worded(
        "The newest of {backups} is {hours} h old, {size:,.1f} MB; ",
        backups=several(len(kept), "backup"), hours=int(age / HOUR), size=kept[0].size / 1e6,
    ) + (
        worded("a restore was tried on {tried:%Y-%m-%d}.", tried=tried)
        if tried
        else worded("no restore of one was tried yet.")
    )  # fmt: skip
    is_late = age > timedelta(hours=asked.backup_hours) + LATE
    late = worded(" It is late: {due}; the server's log says what failed.", due=due)
    return told + (late if is_late else ""), is_late


def _file(cookie: str, study_id: int) -> str:
    with speaking(), reading(settings.database()) as session:
        return as_csv(audit_trail.list_acts(session, sign_ins.acting(session, cookie, study_id)))


def as_csv(acts: list[audit_trail.Act]) -> str:
    """One row an act, times in UTC."""
    return rows_csv(
        ("at", "who", "what", "facts"), [(act.at.isoformat(), act.who, act.what, act.facts) for act in acts]
    )

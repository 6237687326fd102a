"""The study's people: who they are, how far each is, by which link they come, and what an admin can do about it."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st
from sqlalchemy import orm
from streamlit.delta_generator import DeltaGenerator

from annotation import errors, protocol, studies
from annotation.participation import people_list, personal_data, standing
from annotation.people import accounts, links, principals, sign_ins
from annotation.training.training import pass_training
from app.files.people_files import KEEP_APART, links_csv, mail_of, pay_csv
from app.results.study_reports import work_version
from app.screens import look, report_page, waiting
from app.screens.study import people_rows
from app.server.by_account import providers
from app.settings import database, settings
from db import connect, people_tables
from plain.wording import several, worded

LINKS = "people_links"  # (role, links by name, protocol) made just now: they can be shown only once
Whose = Callable[[orm.Session], principals.Principal]
CSS = """
.p-people :is(th, td):nth-child(2) { text-align: left; }
.p-people :is(th, td) { padding-right: 20px; }
.p-links { border-collapse: collapse; margin: 8px 0; }
.p-links td { padding: 4px 16px 4px 0; border: 0; border-bottom: 1px solid var(--c-line); font-size: 14px; }
.p-mail { white-space: pre-wrap; user-select: all; overflow-wrap: anywhere; }
.p-links code { user-select: all; overflow-wrap: anywhere; }
"""


def show(principal: principals.Principal, cookie: str) -> None:
    """One sentence, the table, then what can be done: with one person, for all, and for those who are to come."""
    with report_page.begun(principal, "admin", CSS) as (session, study):
        pay, version = studies.protocol_of(study).study.pay, work_version(session, study)
    kept = waiting.computed("active", principal, version, doing="Adding up active time")
    with connect.reading(database()) as session:
        listed = people_list.list_people(session, principal, kept.value if kept else {})
        signed_in = sign_ins.open_sign_ins(session, principal)
        groups = accounts.invited_groups(session, principal)
        days, due = personal_data.names_kept(session, principal)
    if kept is None:
        listed = [replace(line, active_s=math.nan) for line in listed]
    st.html(
        f'<div class="c-page"><p class="c-answer">{escape(sentence(listed))}</p>'
        '<p class="c-soft">'
        + worded("Names are seen on this page only; everywhere else each person is their pseudonym.")
        + "</p></div>"
    )
    shown = look.paged(
        listed,
        lambda person: f"{person.name} {person.pseudonym} {person.role} {person.status}",
        "people",
        worded("Find a person"),
    )
    st.html(f'<div class="c-page">{people_rows.people_table(shown)}</div>')
    whose = acting(principal, cookie)
    if listed:
        _one_person(whose, listed)
    st.html(f'<div class="c-page"><h2>{worded("Invite")}</h2></div>')
    invite_by_name(whose)
    _groups(whose, groups)
    _signed_in(whose, signed_in)
    _everybody(whose)
    _pay(whose, pay)
    _names(whose, days, due, study.status)


def acting(principal: principals.Principal, cookie: str) -> Whose:
    """Who acts on a button of this page, which is looked up at that moment."""
    return partial(sign_ins.acting, cookie=cookie, study_id=principal.study_id)


def sentence(listed: Sequence[people_list.PersonLine]) -> str:
    """Say how many people there are in each role, and how many of them have work in hand."""
    if not listed:
        return worded("Nobody takes part yet.")
    roles = Counter(person.role for person in listed)
    said = worded(", ").join(several(roles[role], role) for role in people_tables.ROLES if roles[role])
    at_work = sum(person.in_work > 0 for person in listed)
    told = "{said}; {at_work} with an item in hand." if at_work else "{said}; nobody with an item in hand."
    return worded(told, said=said, at_work=at_work)


def _one_person(whose: Whose, listed: Sequence[people_list.PersonLine]) -> None:
    st.html(f'<div class="c-page"><h2>{worded("One person")}</h2></div>')
    by_name = {person.name: person for person in listed}
    with row():
        person = by_name[st.selectbox(worded("Person"), list(by_name), key="person", width=300)]
        if person.status != "withdrawn":
            older = "Older links stop working."
            button("New link", whose, _make_links, [person.name], person.role, key="again", about=older)
            button("Withdraw links", whose, links.revoke, person.name, key="revoke")
            everywhere = "Everywhere; links go on working."
            button("Sign out", whose, sign_ins.sign_out_person, person.name, key="sign_out", about=everywhere)
        if person.status == "active":
            button("Pause", whose, standing.pause, person.name, key="pause")
        else:
            button("Resume", whose, standing.resume, person.name, key="resume")
        _quota_of(whose, person)
        if person.training in ("failed", "under_way"):
            with st.popover(worded("Pass the training")):
                st.caption(worded("{name} is given real items without having passed.", name=person.name))
                st.text_input(worded("Reason, kept with this"), key=f"passed_{person.pseudonym}")
                button("Let them begin", whose, _pass, person.name, f"passed_{person.pseudonym}", key="pass")
        if person.status != "withdrawn":
            with st.popover(worded("Take out of the study")):
                leaving = "{name} is signed out, and work in hand goes to others. What was handed in stays."
                st.caption(worded(leaving, name=person.name))
                button("Take this person out", whose, standing.withdraw, person.name, key="withdraw")
        if person.handed_in + person.in_work:
            with st.popover(worded("Void their work")):
                n = person.handed_in + person.in_work
                st.caption(worded("All {n} items leave the results and are given to others.", n=n))
                st.text_input(worded("Reason, kept with the work"), key=f"reason_{person.pseudonym}")
                button("Void all of it", whose, _void, person.name, f"reason_{person.pseudonym}", key="void")
        with st.popover(worded("Their data")):
            st.caption(worded("All that is stored about this person, for them; secrets, and what is of others, apart."))
            st.download_button(
                worded("Download it"), lambda: _record_file(whose, person.name), f"{person.pseudonym}.json",
                "application/json", key="record", on_click="ignore"
            )  # fmt: skip
            st.caption(
                worded(
                    "Erasing takes {name} out of the study and deletes the name for good. What was handed in stays "
                    "under {pseudonym}: void it first where it shall not count.",
                    name=person.name,
                    pseudonym=person.pseudonym,
                )
            )
            st.text_input(worded("The name, to be sure"), key=f"erased_{person.pseudonym}")
            button("Erase this person", whose, _erase, person.name, f"erased_{person.pseudonym}", key="erase")


def _quota_of(whose: Whose, person: people_list.PersonLine) -> None:
    if person.role != "annotator":
        return
    with st.popover(worded("Quota")):
        st.number_input(
            worded("Items at most; empty for no limit"), 0, None, person.quota, key=f"quota_{person.pseudonym}"
        )
        button("Set", whose, _set_quota, person.name, f"quota_{person.pseudonym}", key="set_quota")


def invite_by_name(whose: Whose) -> None:
    """Names become links, to be copied or mailed."""
    with st.form("invite", border=False), row():
        st.text_area(worded("Names, one a line"), key="new_names", height=96, placeholder="Ada\nBen", width=420)
        st.selectbox(worded("Role"), people_tables.ROLES, key="new_role", format_func=worded, width=180)
        st.form_submit_button(worded("Make links"), on_click=do, args=(whose, _invite_typed))
    if LINKS not in st.session_state:
        return
    role, made, asked = st.session_state[LINKS]
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td><code>{escape(link)}</code></td></tr>" for name, link in made.items()
    )
    st.html(
        '<div class="c-page"><p class="c-amber">'
        + worded("Copy these now: a link is shown once, and only its hash is kept.")
        + report_page.here_alone()
        + f'</p><div class="c-scroll"><table class="p-links">{rows}</table></div></div>'
    )
    with row():
        mails = partial(downloaded, whose, "links", links_csv(made, role, asked))
        st.download_button(worded("Download for a mail merge"), mails, "links.csv", "text/csv", on_click="ignore")
        st.button(worded("I have them"), key="links_done", on_click=st.session_state.pop, args=(LINKS, None))

    name = st.selectbox(worded("E-mail text for"), list(made), key="mail_for", width=300)
    subject, text = mail_of(asked, name, made[name])
    mail = (
        f"mailto:{quote(name) if '@' in name else ''}?{urlencode({'subject': subject, 'body': text}, quote_via=quote)}"
    )
    st.html(
        f'<div class="c-page"><p class="p-mail"><b>{escape(subject)}</b></p><p class="p-mail">{escape(text)}</p>'
        f'<p><a href="{escape(mail)}">{worded("Write it in your mail program")}</a></p></div>'
    )


def _groups(whose: Whose, found: Mapping[str, str]) -> None:
    """Groups of the lab's provider and the roles they come in with; nothing where nobody signs in by one."""
    if not (known := providers()):
        return
    rows = [(escape(group), worded(role)) for group, role in found.items()]
    listed = look.table("Groups of your provider", ("Group", "Role"), rows, "p-people") if rows else ""
    st.html(f'<div class="c-page"><h2>{worded("Groups of your provider")}</h2>{listed}</div>')
    with row():
        of_which = f"{known[0]}/phd" if len(known) > 1 else "phd"
        st.text_input(worded("Group"), key="new_group", placeholder=of_which, width=280)
        st.selectbox(
            worded("Role"), (*people_tables.ROLES, ""), key="group_role", width=180,
            format_func=lambda role: worded(role or "nobody new"),
        )  # fmt: skip
        button("Let it in", whose, _let_in, key="group", about="From now on; who came keeps their role.")


def withdraw_open_link(whose: Whose, doors: Sequence[links.OpenLinkLine]) -> None:
    """The end of one of the links that work."""
    if working := [door.id for door in doors if door.state == "working"]:
        with row():
            chosen = st.selectbox(worded("Link to withdraw"), working, key="old_link", width=180)
            button("Withdraw it", whose, links.revoke_open_link, chosen, key="revoke_open_link")


def _signed_in(whose: Whose, found: Sequence[sign_ins.OpenSignIn]) -> None:
    rows = [
        (escape(one.name), worded(one.role), people_rows.at(one.since), people_rows.at(one.seen_at)) for one in found
    ]
    heads = ("Name", "Role", "Since", "Last seen")
    st.html(
        f'<div class="c-page"><h2>{worded("Signed in now")}</h2>'
        f"{look.table('Signed in now', heads, rows, 'p-people')}</div>"
    )
    by_id = {one.id: worded("{name}, since {at}", name=one.name, at=people_rows.at(one.since)) for one in found}
    with row():
        chosen = st.selectbox(worded("Browser"), list(by_id), format_func=by_id.__getitem__, key="signed_in", width=340)
        button("Sign it out", whose, sign_ins.end_sign_in, chosen, key="end_sign_in")


def _everybody(whose: Whose) -> None:
    st.html(f'<div class="c-page"><h2>{worded("Quota of every annotator")}</h2></div>')
    with row():
        st.number_input(
            worded("Items each, at most"), 0, None, None, key="quota_all", placeholder=worded("no limit"), width=180
        )
        button("Set for all", whose, _set_quota, "", "quota_all", key="set_quota_all")
        button("Share the slots equally", whose, standing.equal_quota, key="equal_quota")


def _pay(whose: Whose, pay: protocol.Pay) -> None:
    rate = "{currency} {rate:,.2f} an active hour" if pay.rate else "This study pays nothing: the hours only"
    rate = worded(rate, currency=pay.currency, rate=pay.rate)
    st.html(
        f'<div class="c-page"><h2>{worded("Pay")}</h2><p class="c-soft">'
        + worded(
            "{rate}. Training and repeated items count, and the amount is rounded once, to two places. {keep_apart}.",
            rate=escape(rate),
            keep_apart=escape(worded(KEEP_APART).capitalize()),
        )
        + "</p></div>"
    )
    st.download_button(
        worded("Download the pay file"), lambda: _pay_file(whose), "pay.csv", "text/csv", key="pay", on_click="ignore"
    )


def _names(whose: Whose, days: int | None, due: datetime | None, status: str) -> None:
    """For how long names are kept, and their end."""
    so_long = worded("for {days} after closing", days=several(days or 0, "day"))
    told = worded("until they are deleted") if days is None else so_long
    when = worded(": they go by themselves on {at}", at=people_rows.at(due)) if due else ""
    st.html(
        f'<div class="c-page"><h2>{worded("Names")}</h2><p class="c-soft">'
        + worded(
            "Names of who labels are kept {told}{when}. With a name go the person's links and sign-ins; labels "
            "stay under the pseudonym. Backups of before hold it.",
            told=told,
            when=when,
        )
        + "</p></div>"
    )
    with row():
        st.number_input(
            worded("Days after closing"), 0, personal_data.DAYS_MAX, days, key="keep_names", width=180,
            placeholder=worded("no limit"),
        )  # fmt: skip
        button("Keep them so long", whose, _keep_names, key="keep_names")
        if status in personal_data.OVER:
            with st.popover(worded("Delete all names now")):
                st.caption(worded("Nobody can be settled with, or written to by name, afterwards. Admins' names stay."))
                button("Delete them", whose, personal_data.delete_names, key="delete_names")


def row() -> DeltaGenerator:
    """Controls that belong together, side by side, their feet on one line."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def button(label: str, whose: Whose, act: Callable[..., Any], *arguments: object, key: str, about: str = "") -> None:
    args = (whose, act, *arguments)
    st.button(worded(label), key=f"people_{key}", on_click=do, args=args, help=worded(about) or None)


def do(whose: Whose, act: Callable[..., Any], *arguments: object) -> None:
    """Do it as whoever acts now: see `sign_ins.acting`."""
    look.speak()
    try:
        with connect.transaction(database()) as session:
            act(session, whose(session), *arguments)
        st.toast(worded("Stored"))
    except errors.AnnotationError as error:
        st.toast(error.text)


def _invite_typed(session: Any, principal: principals.Principal) -> None:
    names = [name for name in st.session_state.new_names.splitlines() if name.strip()]
    if not names:
        raise errors.AnnotationError("bad_name", "write at least one name, one a line")
    _make_links(session, principal, names, st.session_state.new_role, new_link=False)
    st.session_state.new_names = ""  # pressed again it would make other links


def _let_in(session: Any, principal: principals.Principal) -> None:
    if not (group := st.session_state.new_group.strip()):
        raise errors.AnnotationError("bad_name", "write at least one name, one a line")
    accounts.invite_group(session, principal, group, st.session_state.group_role)


def _make_links(
    session: Any, principal: principals.Principal, names: list[str], role: str, new_link: bool = True
) -> None:
    made = links.invite_all(session, principal, names, role, new_link=new_link)
    shown = {name: settings().invite_link(token) for name, token in made.items()}
    st.session_state[LINKS] = role, shown, studies.protocol_of(principals.study_for(session, principal, "admin"))


def _set_quota(session: Any, principal: principals.Principal, name: str, field: str) -> None:
    standing.set_quota(session, principal, st.session_state[field], name)


def _pass(session: Any, principal: principals.Principal, name: str, field: str) -> None:
    pass_training(session, principal, name, st.session_state[field])


def _void(session: Any, principal: principals.Principal, name: str, field: str) -> None:
    standing.void_work(session, principal, name, st.session_state[field])


def _keep_names(session: Any, principal: principals.Principal) -> None:
    personal_data.keep_names(session, principal, st.session_state.keep_names)


def _erase(session: Any, principal: principals.Principal, name: str, field: str) -> None:
    if st.session_state[field].strip() != name:
        raise errors.AnnotationError("bad_name", "nobody was erased: write {name!r} as the list has it", name=name)
    personal_data.erase_person(session, principal, name)


def _record_file(whose: Whose, name: str) -> str:
    with connect.transaction(database()) as session:
        found = personal_data.person_record(session, whose(session), name)
    return json.dumps(found, ensure_ascii=False, indent=2)


def downloaded(whose: Whose, kind: str, text: str) -> str:
    """A file that was made before, as whoever acts now may have it; see `principals.downloading`."""
    with connect.transaction(database()) as session:
        principals.require_role(principals.downloading(session, kind, whose(session)), "admin")
    return text


def _pay_file(whose: Whose) -> str:
    with connect.transaction(database()) as session:
        return pay_csv(people_list.pay_lines(session, principals.downloading(session, "pay", whose(session))))

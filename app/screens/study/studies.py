"""Home of who takes part in several studies: each with its state and what waits, another one made, one put away."""

import math
import secrets
from collections.abc import Mapping
from html import escape

import streamlit as st
from pydantic import ValidationError
from sqlalchemy import orm

from annotation import errors, protocol, studies
from annotation.files import decoding
from annotation.judges.money import ledger
from annotation.participation import own_studies
from annotation.people.accounts import Place
from annotation.people.principals import Principal, require_role, study_for
from app import progress, setting_up, settings
from app.demo import preview
from app.results import study_reports
from app.results.reporting import settings_of
from app.screens import look, report_page, waiting
from app.screens.annotators import places
from app.screens.study import audit, protocol_form
from app.texts import texts_for
from db import connect, types
from exports.cells import DASH
from plain.wording import several, spoken, worded

TEXT, OWN_TEXT, MADE_OF, LINK = "protocol_text", "protocol_text_own", "protocol_of", "study_link"
OPENS = {"item": "An item", "first": "What is read before it"}
CSS = """
[class*="st-key-study_row_"] { border-top: 1px solid var(--c-line); padding: 8px 0; max-width: 62rem;
  flex-wrap: nowrap; }
"""
EDIT_CSS = """
[class*="st-key-protocol_text"] [data-testid="stExpander"] textarea { font: 13px/1.5 var(--c-mono); }
[class*="st-key-protocol_text"] [data-testid="stColumn"]:has(iframe) { position: sticky; top: 16px;
  align-self: flex-start; }
[class*="st-key-protocol_text"] iframe { border: 1px solid var(--c-line); border-radius: 6px; }
@media (min-width: 1500px) {
  [class*="st-key-protocol_text"][class*="_edit"] [data-testid="stHorizontalBlock"]:has(iframe)
    > [data-testid="stColumn"]:first-child { flex: 0 0 30%; }
}
.c-page .s-refused { margin: -8px 0 8px; font-size: 14px; }
"""


def show(principal: Principal, cookie: str) -> None:
    """The studies of this person, those put away last; then, for an owner, how to make one."""
    look.style()
    st.html(f"<style>{CSS}</style>")
    with connect.reading(settings.database()) as session:
        require_role(principal, "evaluator")
        found = own_studies.own_places(session, principal)
        lines = [(place, *_line(session, place), own_studies.is_archived(session, place.study_id)) for place in found]
        texts = {name: text for _, name, _, text, _ in lines if text}
    here = [line for line in lines if not line[-1]]
    report_page.answer(worded("You take part in {studys}.", studys=several(len(here), "study")))
    if principal.role == "admin" and settings.settings().backup_folder:
        told, is_late = audit.backups_told(settings.settings(), types.now())
        report_page.section(f'<p class="c-amber">{escape(told)}</p>' if is_late else "")
    for place, name, told, _, _ in look.paged(
        here, lambda line: f"{line[1]} {line[2]}", "studies", worded("Find a study")
    ):
        _row(principal, cookie, place, name, told, False)
    if away := [line for line in lines if line[-1]]:
        with st.expander(worded("{away} put away", away=len(away))):
            for place, name, told, _, _ in away:
                _row(principal, cookie, place, name, told, True)
    _costs([place.principal for place, *_ in lines if place.role == "admin"])
    if principal.role == "admin":
        _made()
        _make(principal, texts)


def _line(session: orm.Session, place: Place) -> tuple[str, str, str]:
    """What a study is called, its title with what waits, and its protocol's text, for who may read it."""
    if place.role in places.LABEL:
        return *places.told(session, place, texts_for(spoken().replace("_", "-"))), ""
    study = study_for(session, place.principal, "evaluator")
    if place.role == "admin" and setting_up.is_setting_up(session, study):
        waits = setting_up.sentence(setting_up.steps(setting_up.set_up_of(session, place.principal)))
    else:
        waits = f"{worded(study.status)}: {progress.handed_in(*progress.label_slots(session, study))}"
    return study.name, f"{studies.protocol_of(study).title} · {worded(place.role)} · {waits}", study.protocol_text


def _costs(owned: list[Principal]) -> None:
    """What each study of an owner has cost by now, and all of them; simulated ones cost nobody anything."""
    pay: dict[str, float] = {}
    rows, usd, hours = [], 0.0, 0.0
    for place in owned:
        with connect.reading(settings.database()) as session:
            study = study_for(session, place, "admin")
            version, (cost, unknown) = study_reports.work_version(session, study), ledger.study_cost(session, study)
            name, rate, is_simulated = study.name, studies.protocol_of(study).study.pay, study.is_simulated
        if is_simulated:
            continue
        kept = waiting.computed("active", place, version, doing=worded("Adding up active time of {name}", name=name))
        active = sum(kept.value.values()) / 3600 if kept else math.nan
        usd, hours = usd + cost, hours + active
        own = {rate.currency: active * rate.rate} if rate.rate else {}
        pay |= {currency: pay.get(currency, 0.0) + amount for currency, amount in own.items()}
        calls = worded("+ {calls} of unknown cost", calls=several(unknown, "call"))
        beside = f'<small class="c-under">{calls}</small>' if unknown else ""
        rows.append((escape(name), f"{cost:,.2f}{beside}", _hours(active), _pay(own)))
    if not rows:
        return
    together = f"<b>{worded('All together')}</b>"
    rows.append((together, f"<b>{usd:,.2f}</b>", f"<b>{_hours(hours)}</b>", f"<b>{_pay(pay)}</b>"))
    table = look.table("Costs and hours", ("Study", "Judges, USD", "Active hours of people", "Their pay"), rows)
    foot = worded(
        "Pay is active hours times the rate of the protocol; what was settled with a platform is on its own list."
    )
    report_page.section(f'<h2>{worded("Costs and hours")}</h2>{table}<p class="c-soft c-foot">{foot}</p>')


def _hours(hours: float) -> str:
    return DASH if math.isnan(hours) else f"{hours:,.1f}"  # not added up yet


def _pay(by_currency: Mapping[str, float]) -> str:
    sums = (DASH if math.isnan(amount) else f"{name} {amount:,.2f}" for name, amount in sorted(by_currency.items()))
    return escape(worded(", ").join(sums)) or DASH


def _row(principal: Principal, cookie: str, place: Place, name: str, told: str, is_away: bool) -> None:
    is_here = place.study_id == principal.study_id
    with st.container(key=f"study_row_{place.study_id}", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<p class="c-line"><b>{escape(name)}</b><small>{escape(told)}</small></p>', width="stretch")
        if is_here:
            st.html(f'<p class="c-line"><small>{worded("this one")}</small></p>', width="content")
            if place.role == "admin" and st.button(
                worded("Bring back") if is_away else worded("Put away"), key="study_away"
            ):
                with connect.transaction(settings.database()) as session:
                    own_studies.set_archived(session, principal, not is_away)
                st.rerun()
        elif st.button(worded("Go there"), key=f"study_go_{place.study_id}"):
            _go(principal, cookie, place.study_id)


def _go(principal: Principal, cookie: str, study_id: int) -> None:
    with connect.transaction(settings.database()) as session:
        own_studies.go_to(session, principal, cookie, study_id)
    st.rerun()


def _made() -> None:
    """The link of the study that was made just now, shown once."""
    if LINK in st.session_state:
        name, link = st.session_state[LINK]
        report_page.section(
            f'<p class="c-answer">{worded("{name} is made.", name=escape(name))}</p>'
            '<p class="c-amber">'
            + worded(
                "Copy your link to it now: it is shown once, and where the study that you are in has other admins, "
                "nothing else leads there."
            )
            + f'</p><p><code style="user-select: all; overflow-wrap: anywhere">{escape(link)}</code>'
            "</p>"
        )
        st.button(worded("I have it"), key="study_link_done", on_click=st.session_state.pop, args=(LINK, None))


def _make(principal: Principal, texts: dict[str, str]) -> None:
    """Name, a protocol to begin with, and its text to be changed."""
    report_page.section(f"<h2>{worded('Make a study')}</h2>")
    shipped = protocol.shipped_protocols()
    st.session_state.setdefault("study_seed", secrets.randbelow(10_000))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.text_input(worded("Name, as commands and files have it"), key="study_name", width=280).strip()
        begin = st.selectbox(
            worded("Begin with"), [*shipped, *texts], shipped.index("quick_start"), key="study_begin", width=320,
            format_func=lambda one: worded("the study {one}", one=one) if one in texts else one,
        )  # fmt: skip
        seed = st.number_input(worded("Seed of every draw"), 0, 2**53 - 1, key="study_seed", width=180)
    if st.session_state.get(MADE_OF) != begin:
        st.session_state[MADE_OF] = begin
        st.session_state[TEXT] = texts[begin] if begin in texts else protocol.read_protocol(begin)[1]
    text = edit_protocol(TEXT)
    is_ready = text is not None and bool(name)
    if st.button(worded("Make it"), key="study_make", type="primary", disabled=not is_ready) and text is not None:
        try:
            with connect.transaction(settings.database()) as session:
                _, token = own_studies.make_study(session, principal, name, text, int(seed))
        except errors.AnnotationError as error:
            report_page.section(f'<p class="c-red">{escape(error.text)}</p>')
        else:
            st.session_state[LINK] = name, settings.settings().invite_link(token)
            st.rerun()


def change(principal: Principal) -> None:
    """The study's own protocol, to be brought to another version."""
    with connect.reading(settings.database()) as session:
        study = study_for(session, principal, "admin")
        own, version = study.protocol_text, study.protocol_version
    st.session_state.setdefault(OWN_TEXT, own)
    text = edit_protocol(OWN_TEXT)
    if text == own:
        report_page.section(f'<p class="c-soft">{worded("In use as it stands here: version {n}.", n=version)}</p>')
    if text in (None, own) or not st.button(worded("Take this protocol"), key="protocol_take", type="primary"):
        return
    try:
        with connect.transaction(settings.database()) as session:
            own_studies.change_protocol(session, principal, str(text))
    except errors.AnnotationError as error:
        report_page.section(f'<p class="c-red">{escape(error.text)}</p>')
    else:
        st.rerun()


def edit_protocol(key: str) -> str | None:
    """A protocol as a form, with its annotators' page beside it and its TOML below; None where it cannot be used."""
    text, refused, problems = st.session_state[key], "", []
    try:
        settings_of(protocol.parse_protocol(text))
    except errors.AnnotationError as error:
        refused, of_fields = error.text, error.__cause__
        problems = protocol.problems(of_fields) if isinstance(of_fields, ValidationError) else [("", error.text)]
    st.html(f"<style>{EDIT_CSS}</style>")
    with st.container(key=f"{key}_edit"):
        written, tried = st.columns([2, 3], gap="medium")
    with written:
        elsewhere = st.container()
        try:
            left = protocol_form.Form(key, decoding.read_toml(text), problems).show()
        except ValueError:
            left = [refused]
        with st.expander(worded("The same as TOML"), expanded=text == "" or refused in left):
            st.text_area(worded("Protocol, as TOML; a change counts once you leave the field"), key=key, height=420)
            st.download_button(
                worded("Download it"), text, "protocol.toml", "text/plain", key=f"{key}_file", on_click="ignore"
            )
        if left:
            with elsewhere:
                said = "\n".join(left)
                report_page.section(
                    f'<h2>{worded("To mend")}</h2><p class="c-red s-told" role="alert">{escape(said)}</p>'
                )
        if mended := dict.fromkeys(place for place, _ in problems if place):  # fields of other tabs, too
            places = worded(", ").join(mended)
            report_page.section(f'<p class="c-red">{worded("First mend: {places}", places=escape(places))}</p>')
    with tried:
        _try_out(key, text, bool(refused))
    return None if refused else text


def _try_out(key: str, text: str, is_refused: bool) -> None:
    """The annotators' page of this text, or of the last one that could be used."""
    opens = st.segmented_control(
        worded("Their page, with two short reports; try it, nothing is kept"), [*OPENS], default="item", required=True,
        key=f"{key}_opens", format_func=lambda one: worded(OPENS[one]),
    )  # fmt: skip
    last = f"{key}_last"
    if not is_refused:
        st.session_state[last] = text
    if last in st.session_state:
        if is_refused:
            report_page.section(f'<p class="c-amber">{worded("As it was before what is to be mended.")}</p>')
        try:
            st.iframe(_tried(st.session_state[last], opens), height=720)
        except (errors.AnnotationError, errors.ImportingError) as error:
            report_page.section(f'<p class="c-red">{escape(error.text)}</p>')


@st.cache_data(max_entries=32, show_spinner=False)
def _tried(text: str, opens: str) -> str:
    return preview.preview(text, opens)

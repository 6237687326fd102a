"""People of a crowd platform: the links they come by, who came and how each ended, and what the platform is to pay."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st

from annotation import errors, studies
from annotation.participation import settling
from annotation.people import links, platforms, principals, visits
from app.files import crowd_files
from app.results import computing, quality, study_reports
from app.screens import look, report_page, waiting
from app.screens.study import people
from app.settings import database, settings
from db import connect
from plain.wording import worded

LINK = "crowd_link"  # (platform, address, whether it signs) made just now: it can be shown only once
FOUND = "crowd_found"  # (platform, submissions, reward, number of the one it replaces, [looked at, noted])
ACCEPTED = "crowd_accepted"  # the platform's ids of those whose long time is paid too
NO_PLATFORM = "any other"
ENDED = {
    "completed": "completed", "screened_out": "screened out", "no_consent": "no consent", "full": "full",
}  # fmt: skip
ENDS = {
    "completed": "Who is done", "screened_out": "Who did not pass the training", "no_consent": "Who does not agree",
    "full": "Who finds nothing left",
}  # fmt: skip
CSS = """
.w-paste { border-collapse: collapse; margin: 8px 0; }
.w-paste :is(th, td) { padding: 8px 16px 8px 0; border: 0; border-bottom: 1px solid var(--c-line); text-align: left;
  vertical-align: baseline; font-size: 14px; font-weight: 400; }
.w-paste code { user-select: all; overflow-wrap: anywhere; white-space: pre-wrap; }
.w-crowd :is(th, td):is(:nth-child(2), :nth-child(3)) { text-align: left; }
.w-due :is(th, td):is(:nth-child(2), :last-child) { text-align: left; }
.w-due td:last-child { white-space: normal; min-width: 16rem; }
"""


def show(principal: principals.Principal, cookie: str) -> None:
    """One sentence, the links, who came, and what is to be paid."""
    with report_page.begun(principal, "admin", CSS) as (session, study):
        currency, doors = studies.protocol_of(study).study.pay.currency, links.open_links(session, principal)
        earlier, version = settling.settlements(session, principal), study_reports.work_version(session, study)
    whose = people.acting(principal, cookie)
    kept = waiting.computed("crowd", principal, version, doing="Adding up who came")
    came: list[settling.CrowdPerson] = kept.value if kept else []
    report_page.answer(
        sentence(came) if kept else worded("Who came is being added up."),
        worded("One link lets in many, whom their platform tells apart. Only a hash of each one's id is kept."),
    )
    report_page.section(f"<h2>{worded('Links')}</h2>{links_table(doors)}")
    _make_link(whose)
    people.withdraw_open_link(whose, doors)
    if came:
        report_page.section(f"<h2>{worded('Who came')}</h2>")
        shown = look.paged(
            came,
            lambda one: f"{one.pseudonym} {platforms.called(one.platform)} {ended(one)}",
            "crowd",
            worded("Find somebody"),
        )
        report_page.section(came_table(shown, currency))
    _let_in(principal, whose)
    report_page.section(f"<h2>{worded('What the platform is to pay')}</h2>{earlier_table(earlier, currency)}")
    _settle(whose, sorted({door.platform for door in doors if door.platform}), currency, len(earlier))


def sentence(came: Sequence[settling.CrowdPerson]) -> str:
    """How many came, and how they ended."""
    if not came:
        return worded("Nobody has come from a crowd platform yet.")
    counts = Counter(map(ended, came))
    told = worded(", ").join(worded("{n} {end}", n=n, end=end) for end, n in counts.most_common())
    return worded("{came} came from a crowd platform: {told}.", came=len(came), told=told)


def ended(one: settling.CrowdPerson) -> str:
    """How somebody's visit ended, in words."""
    return worded(ENDED[one.end]) if one.end else worded("not at an end")


def called(name: str | None) -> str:
    """A platform's name as it spells it; in words where the link is for none that is known."""
    return platforms.called(name) if name in platforms.PLATFORMS else worded(NO_PLATFORM)


def links_table(doors: Sequence[links.OpenLinkLine]) -> str:
    """Empty where the study has none."""
    heads = ("Link", "Platform", "Back to it", "State", "People", "Places", "Items each", "Expires")
    rows = [
        (
            f"{door.id}", called(door.platform),
            escape(worded(", ").join(worded(ENDED[end]) for end in door.back)) or worded("by a code"),
            worded(door.state), f"{door.taken}",
            "–" if door.places is None else f"{door.places}",
            worded("no limit") if door.quota is None else f"{door.quota}", f"{door.expires_at:%Y-%m-%d}",
        )
        for door in doors
    ]  # fmt: skip
    none = f'<p class="c-soft">{worded("There is none yet.")}</p>'
    return look.table("Links", heads, rows, "w-crowd") if rows else none


def came_table(came: Sequence[settling.CrowdPerson], currency: str) -> str:
    """Everybody by pseudonym; due is what their active time is worth."""
    heads = (
        "Who",
        "Platform",
        "Ended",
        "Handed in",
        "Active min",
        worded("Due, {currency}", currency=currency),
        "Bonus so far",
    )
    rows = [
        (
            one.pseudonym, called(one.platform), ended(one), f"{one.handed_in}",
            f"{60 * one.active_h:.1f}", f"{one.due:.2f}", f"{one.bonus:.2f}",
        )
        for one in came
    ]  # fmt: skip
    return look.table("Who came", heads, rows, "w-crowd")


def earlier_table(earlier: Sequence[settling.Settled], currency: str) -> str:
    """Empty where nothing was settled."""
    heads = ("Settlement", "When", "State", "Approved", worded("Reward, {currency}", currency=currency), "Bonuses")
    rows = [
        (
            f"{one.number}", look.local_time(one.at), worded("replaced" if one.is_void else "counts"),
            f"{one.approved}", escape(one.reward), f"{one.bonus:.2f}",
        )
        for one in earlier
    ]  # fmt: skip
    return look.table("Settlements so far", heads, rows, "w-crowd") if rows else ""


def _let_in(principal: principals.Principal, whose: people.Whose) -> None:
    """Visits that were refused, and the end of that for one of them; nothing where there are none."""
    with connect.reading(database()) as session:
        refused = visits.kept_out(session, principal)
    if not refused:
        return
    report_page.section(
        f'<h2>{worded("Kept out")}</h2><p class="c-soft">'
        + worded(
            "They came with the id of somebody who has answered, by another visit: anybody could who knows the id. Let "
            "in who wrote to you on the platform. They go on where that person stopped, and the former visit ends."
        )
        + "</p>"
    )
    with people.row():
        participant = st.text_input(worded("Whose id on the platform"), key="kept_id", width=300)
        with connect.reading(database()) as session:
            found = {one.id: one for one in visits.kept_out(session, principal, participant)}
        chosen = st.selectbox(
            worded("Kept out"), list(found), key="kept_out", width=300,
            format_func=lambda at: f"{found[at].pseudonym}, {look.local_time(found[at].at)}",
        )  # fmt: skip
        if chosen is not None:
            people.button("Let them in", whose, visits.let_in, chosen, key="let_in")


def _make_link(whose: people.Whose) -> None:
    with people.row():
        platform = st.selectbox(
            worded("Platform"), [*platforms.PLATFORMS, NO_PLATFORM], key="crowd_platform", width=180, format_func=called
        )
        name = "" if platform == NO_PLATFORM else platform
        places = st.number_input(worded("Places"), 1, None, 50, key="places", width=150)
        quota = st.number_input(
            worded("Items each"), 1, None, None, key="link_quota", placeholder=worded("no limit"), width=150
        )
    back = {}
    if name and platforms.platform_named(name).hosts:
        given = worded("Code") if platforms.platform_named(name).address else worded("Address")
        wanted = worded(
            "{given} that {name} wants each of them back with; without one they read a code of their own, to be typed "
            "in there.", given=given, name=called(name),
        )  # fmt: skip
        report_page.section(f'<p class="c-soft">{wanted}</p>')
        with people.row():
            back = {end: st.text_input(worded(ENDS[end]), key=f"crowd_{end}", width=230) for end in ENDS}
    workspace = ""
    if name and platforms.platform_named(name).keys:
        wanted = worded(
            "Where {name} signs the addresses (its Secured External URL), whoever returned the study goes on in any "
            "browser by themselves, and nobody comes with another's id. Give its id of your workspace then.",
            name=called(name),
        )
        report_page.section(f'<p class="c-soft">{wanted}</p>')
        workspace = st.text_input(worded("Workspace"), key="crowd_workspace", width=300).strip()
    if st.button(worded("Make the link"), key="people_open_link"):
        try:
            with connect.transaction(database()) as session:
                token = links.open_link(session, whose(session), places, quota, name, back, workspace)
        except errors.AnnotationError as error:
            report_page.section(f'<p class="c-red">{escape(error.text)}</p>')
        else:
            st.session_state[LINK] = name, platforms.link_for(name, settings().invite_link(token)), bool(workspace)
            st.rerun()
    if LINK in st.session_state:
        report_page.section(paste_html(*st.session_state[LINK]))
        st.button(worded("I have it"), key="crowd_link_done", on_click=st.session_state.pop, args=(LINK, None))


def paste_html(name: str, link: str, is_signed: bool = False) -> str:
    """What to paste into which field of the platform's form."""
    told = {field: escape(said) for field, said in platforms.to_paste(name, link, is_signed)}
    cells = {field: f"<code>{said}</code>" if escape(link) in said else said for field, said in told.items()}
    rows = "".join(f'<tr><th scope="row">{escape(field)}</th><td>{cell}</td></tr>' for field, cell in cells.items())
    return (
        '<p class="c-amber">'
        + worded(
            "Copy this into {name} now: the link is shown once, and only its hash is kept.",
            name=escape(platforms.called(name) or worded("the platform")),
        )
        + report_page.here_alone()
        + f'</p><div class="c-scroll"><table class="w-paste">{rows}</table></div>'
    )


def _settle(whose: people.Whose, named: Sequence[str], currency: str, earlier: int) -> None:
    """A look at what would be paid, and only then the same noted, with its files."""
    report_page.section(
        '<p class="c-soft">'
        + worded(
            "Give the list of submissions as the platform exports it. Who is done here and waits there is "
            "approved, a bonus brings each reward to the worth of active time, and whoever does not add up is "
            "named for you to look at. Nobody is rejected."
        )
        + "</p>"
    )
    with people.row():
        platform = st.selectbox(
            worded("Its list is of"),
            named or [*platforms.PLATFORMS],
            key="crowd_list_of",
            width=180,
            format_func=called,
        )
        reward = st.number_input(
            worded("It pays each, {currency}", currency=currency),
            0.0,
            None,
            None,  # never a sum that nobody typed: bonuses would pay all of it once more
            0.01,
            "%.2f",
            key="crowd_reward",
            width=150,
        )
        instead = st.selectbox(
            worded("In place of settlement"), [None, *range(1, earlier + 1)], key="crowd_instead", width=200,
            format_func=lambda at: worded("{number}, which was not paid", number=at) if at else worded("none"),
        )  # fmt: skip
    listed = st.file_uploader(worded("Its list, a CSV file"), type=["csv"], key="crowd_list")
    is_asked = st.button(worded("Show what would be paid"), key="crowd_look", disabled=not listed or reward is None)
    if is_asked and listed and reward is not None:
        for former in (FOUND, ACCEPTED):
            st.session_state.pop(former, None)
        with TemporaryDirectory() as made:
            (file := Path(made) / "list.csv").write_bytes(listed.getvalue())
            try:
                given = crowd_files.read_submissions(file, platform, listed.name)
                asked = platform, given, Decimal(f"{reward:.2f}"), instead, list[settling.Settlement]()
                _settled(whose, *asked)
                st.session_state[FOUND] = asked
            except computing.REFUSED as error:
                _refused(error)
    if FOUND in st.session_state:
        _show_found(whose)


def _settled(
    whose: people.Whose, platform: str, given: Sequence[settling.Submission], reward: Decimal, instead: int | None,
    found: list[settling.Settlement],
) -> None:  # fmt: skip
    """Add to `found` what would be paid; where it was looked at, the same noted."""
    with st.spinner(f"{worded('Computing intervals')}…"):
        # to a list that the session holds: a second press ends this run at its next word to the page or the session,
        # and what was noted but is not kept by then would be noted again, its files lost
        accepted = st.session_state.get(ACCEPTED, [])
        found.append(
            quality.settled(
                database(), whose, platform, given, reward, instead=instead, dry_run=not found, accepted=accepted
            )
        )


def _look_again(whose: people.Whose) -> None:
    """The same list, with those whose time was accepted."""
    platform, given, reward, instead, kept = st.session_state[FOUND]
    looked = list[settling.Settlement]()
    _settled(whose, platform, given, reward, instead, looked)
    kept[:] = looked


def _show_found(whose: people.Whose) -> None:
    """What was looked at, to be settled as it was asked; then its files, until somebody has them."""
    platform, given, reward, _, kept = st.session_state[FOUND]
    found = kept[-1]
    told = crowd_files.told(found, len(given))
    report_page.section(
        f'<p class="c-answer">{escape(worded("{lead}.", lead=told))}</p><p class="c-soft">'
        + (
            worded(
                "Settlement {number} is noted. Take its files now, give them to {platform}, and delete them "
                "afterwards; without them, settle again in its place.",
                number=found.number,
                platform=called(platform),
            )
            if found.number
            else worded(
                "At a reward of {currency} {reward}. Nothing is noted yet: settling notes the bonuses, so that none is "
                "paid twice.",
                currency=found.currency,
                reward=reward,
            )
        )
        + "</p>"
    )
    lines = crowd_files.settlement_lines(found)
    shown = look.paged(lines, " ".join, "crowd_lines", worded("Find somebody on it"))
    rows = [[escape(cell) or "–" for cell in (who, worded(what), due, worded(why))] for who, what, due, why in shown]
    report_page.section(
        look.table(
            "Settlement", ("Who", "What", worded("Amount, {currency}", currency=found.currency), "Why"), rows, "w-due"
        )
    )
    long = [*st.session_state.get(ACCEPTED, []), *(one.whom for one in found.look if one.is_held)]
    if long and not found.number:
        label = worded("Pay a bonus for their time all the same")
        st.multiselect(label, long, key=ACCEPTED, placeholder=worded("nobody"), on_change=_look_again, args=(whose,))
    with people.row():
        if found.number:
            for name, text in crowd_files.settlement_files(found, platform).items():
                st.download_button(
                    worded("Download {name}", name=name), partial(people.downloaded, whose, "settlement", text), name,
                    key=f"crowd_{name}", on_click="ignore",
                )  # fmt: skip
            st.button(worded("I have them"), key="crowd_done", on_click=st.session_state.pop, args=(FOUND, None))
        elif st.button(worded("Settle, and note it"), key="crowd_settle", type="primary"):
            try:
                _settled(whose, *st.session_state[FOUND])
            except computing.REFUSED as error:
                _refused(error)
            else:
                st.rerun()


def _refused(error: computing.Refused) -> None:
    problems = error.problems if isinstance(error, errors.ImportingError) else (error.text,)
    report_page.section(f'<p class="c-red">{"<br>".join(map(escape, problems[: errors.SHOWN_PROBLEMS]))}</p>')

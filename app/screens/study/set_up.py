"""A study's road, for its owner: each step from the protocol to the opening is taken here, and later its end."""

from collections.abc import Callable
from html import escape

import streamlit as st

from annotation.errors import AnnotationError
from annotation.people.principals import Principal
from annotation.work import open_and_close
from app import progress, setting_up, settings
from app.screens import report_page
from app.screens.study import bringing_in, people, planning, studies
from db.connect import transaction
from plain.wording import worded

CSS = """
.c-page .s-steps { max-width: 62rem; margin: 0; padding: 0; list-style: none; }
.c-page .s-steps > li { display: grid; grid-template-columns: 24px 1fr; margin: 0; padding: 12px 0 0;
  border-top: 1px solid var(--c-line); font-size: 14px; }
.c-page .s-steps > .s-next { border-top: 2px solid var(--c-accent); }
.s-steps b { font-weight: 600; }
.s-mark { color: var(--c-ink-soft); font-variant-numeric: tabular-nums; }
.s-done .s-mark { color: var(--c-green); }
.s-later b { font-weight: 400; color: var(--c-ink-soft); }
.s-next .s-mark { color: var(--c-accent); font-weight: 600; }
.c-page .s-steps p { margin: 4px 0 0; }
.c-page .s-told { white-space: pre-line; margin: 0 0 8px; }
.c-page .s-told li { font-size: 14px; }
.c-fold code { user-select: all; }
[class*="st-key-s_take_"] { padding-inline-start: 24px; max-width: 62rem; }
.st-key-s_take_protocol { max-width: none; }
[class*="st-key-s_take_"] [data-testid="stExpander"] details { border-top: 0; }
"""
MARKS = {"done": "✓", "next": "→", "later": ""}
STATES = {"done": "done", "next": "next", "later": "to come"}
AGAIN = {
    "protocol": "Change the protocol",
    "reports": "Bring in more reports",
    "plan": "Plan more",
    "people": "Invite more people",
}  # once it was taken
NOW = {
    "open": "The study is open: work is given out.",
    "paused": "The study is paused: no work is given out, and what is taken may be finished.",
    "closed": "The study is closed: work in hand went back, and systems may be named.",
    "locked": "The study is locked: no label changes any more.",
}
MOVES = {  # status -> button, what it does, and whether that is asked again
    "open": ("Open again", "work is given out from now on", False),
    "paused": ("Pause", "no new work is given out; what is taken may be finished", False),
    "closed": ("Close", "Work in hand goes back. Screens and exports may name systems from then on.", True),
    "locked": ("Lock", "No label can change, and nothing can be taken out any more. There is no way back.", True),
}
REVEALING = (
    "Screens and exports may name systems before the study closes. Every report says so, and labels given from then on "
    "are marked."
)
ALONE = (
    ("calipers import probes, gold, evidence, labels, judge-results", "their many layouts are told by options"),
    ("calipers pairs --design, --strata, --per-category",
     "a list is a file of yours; strata and categories are told by options"),
    ("calipers items --priority, --reserve, --return-stale", "they are for single items, by their codes"),
    ("calipers judge resume --from-app, check, retry, align, stress",
     "the keys are on the machine that asks, and the worker runs there"),
    ("calipers judge parse, drift, ledger, batches", "they look back at what workers did"),
    ("judges that are code or have a prompt of their own", "they are files of the machine that asks"),
    ("calipers packet, import ballots", "packets hold a person's secret, and leave the server by hand"),
    ("calipers systems, topics, export people-items, dataset --texts", "what they are about is told by options"),
    ("calipers tidy, show, verify, reproduce", "they are of files, not of a study here"),
    ("calipers backup, restore, upgrade, doctor, serve, demo", "they are of the whole database, not of one study"),
)  # fmt: skip
REFUSED = "set_up_refused"


def show(principal: Principal, cookie: str) -> None:
    """What comes next in one sentence, the steps with what takes them, and the end of a study that is open."""
    with report_page.begun(principal, "admin", CSS) as (session, study):
        taken = setting_up.steps(setting_up.set_up_of(session, principal))
        status, root, revealed = study.status, study.plan_root, study.revealed_at is not None
        short = progress.study_progress(session, principal).short
    report_page.answer(setting_up.sentence(taken) if status == "draft" else worded(NOW[status]))
    if status != "draft":
        _moves(principal, status, root, revealed)
        report_page.section(f"<h2>{worded('How it was set up')}</h2>")
    for number, step in enumerate(taken, start=1):
        report_page.section(step_html(number, step, short if step.key == "open" and status == "draft" else ""))
        _take(principal, cookie, step, status)
    report_page.section(_commands(taken))


def step_html(number: int, step: setting_up.Step, warning: str = "") -> str:
    """A step with its state in words for who cannot see the mark."""
    warned = f'<p class="c-amber">{escape(warning)}</p>' if warning else ""
    came_in = bringing_in.told() if step.key == "reports" else ""
    return (
        f'<ol class="s-steps" start="{number}"><li class="s-{step.state}"><span class="s-mark" role="img" '
        f'aria-label="{worded(STATES[step.state])}">{MARKS[step.state]}</span><div><b>{escape(step.title)}</b>'
        f'<p class="c-soft">{escape(step.told)}</p>{warned}{came_in}</div></li></ol>'
    )


def _take(principal: Principal, cookie: str, step: setting_up.Step, status: str) -> None:
    """What takes this step: at hand while it is next, folded once it was taken."""
    acts: dict[str, Callable[[], None]] = {
        "protocol": lambda: studies.change(principal),
        "reports": lambda: bringing_in.show(principal),
        "plan": lambda: planning.show(principal),
        "people": lambda: people.invite_by_name(people.acting(principal, cookie)),
        "open": lambda: _move(principal, "open", worded("Open the study")),
    }
    if step.state == "later" or status == "locked":
        return
    with st.container(key=f"s_take_{step.key}"):
        if step.state == "next" and step.key == "flags":
            where = worded("Decide on the Blinding page")
            report_page.section(f'<p><a href="/blinding" target="_self">{where}</a></p>')
        elif step.state == "next":
            acts[step.key]()
        elif step.key in AGAIN:
            is_open = step.key == "people" and people.LINKS in st.session_state
            with st.expander(worded(AGAIN[step.key]), expanded=is_open):
                acts[step.key]()
        if step.key == "open" and status == "draft":
            _refused()


def _moves(principal: Principal, status: str, root: str | None, revealed: bool) -> None:
    """The buttons of a study that was opened, and what its plan is known by."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for target, (label, told, is_asked) in MOVES.items():
            if status not in open_and_close.MOVES[target]:
                continue
            if is_asked:
                # a key of its own, or the next one stands open
                with st.popover(f"{worded(label)} …", key=f"set_up_{target}_more"):
                    st.caption(worded(told))
                    _move(principal, target, worded("{label} the study", label=worded(label)))
            else:
                _move(principal, target, worded(label), worded(told))
        if not revealed and status in ("open", "paused"):
            with st.popover(worded("Reveal …")):
                st.caption(worded(REVEALING))
                if st.button(worded("Reveal the systems"), key="set_up_reveal"):
                    _do(principal, "reveal")
    _refused()
    quoted = "Plan root <code>{root}</code>: quote it in a preregistration; every export prints it."
    told = worded(quoted, root=escape(root)) if root else ""
    shown = (
        worded(" Systems were revealed before the study closed.") if revealed and status in ("open", "paused") else ""
    )
    report_page.section(f'<p class="c-soft">{told}{shown}</p>')


def _move(principal: Principal, target: str, label: str, about: str = "") -> None:
    is_first = label == worded("Open the study")
    if st.button(label, key=f"set_up_{target}", type="primary" if is_first else "secondary", help=about or None):
        _do(principal, target)


def _do(principal: Principal, what: str) -> None:
    """Move the study, or reveal it; a refusal stands under the button until the next try."""
    st.session_state.pop(REFUSED, None)
    try:
        with transaction(settings.database()) as session:
            if what == "reveal":
                open_and_close.reveal(session, principal)
            else:
                open_and_close.set_status(session, principal, what)
    except AnnotationError as error:
        st.session_state[REFUSED] = error.text
    st.rerun()


def _refused() -> None:
    if text := st.session_state.get(REFUSED):
        report_page.section(f'<p class="c-red">{escape(text)}</p>')


def _commands(taken: tuple[setting_up.Step, ...]) -> str:
    """The same steps as commands, and what has no page."""
    same = "".join(
        f"<dt>{escape(one.title)}</dt><dd><code>{escape(one.command)}</code></dd>" for one in taken if one.command
    )
    alone = "".join(
        f"<dt><code>{escape(worded(name))}</code></dt><dd>{escape(worded(why))}</dd>" for name, why in ALONE
    )
    return (
        f'<details class="c-fold"><summary>{worded("The same on the command line")}</summary>'
        f'<dl>{same}</dl></details><details class="c-fold"><summary>'
        f"{worded('What only the command line does, and why')}</summary><dl>{alone}</dl>"
        "</details>"
    )

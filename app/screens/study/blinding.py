"""What still gives a report's maker away, and the owner's decisions: flags, and one report beside its original."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from annotation.errors import AnnotationError
from annotation.facts.labelling_facts import is_read_elsewhere
from annotation.leaks.blinding_audit import BlindingAudit
from annotation.leaks.self_identification import FIGURE
from annotation.people.principals import Principal
from annotation.shown_texts import auditing, overrides, repeated
from annotation.studies import has_labels
from app.results.kept import Version
from app.results.study_reports import label_version
from app.screens import look, report_page, waiting
from app.settings import database
from db.connect import reading, transaction
from plain.wording import several, worded

MAY = (
    "Keep: its words are content. Mask, for a name: it is shown as [system]; for a figure: its caption stays. Exclude: "
    "the whole report is left out. Words that are no name, such as a notice, are changed by hand, below the texts. "
    "Lost: what was left behind when the file became Markdown; keep the report without it, write it in by hand, or "
    "exclude the report."
)

FIGURES = (
    "A logo or a watermark names its maker. Keep: it is content, here and in every other report. Mask: its caption "
    "alone is shown. A report is excluded below."
)
BESIDE = 4  # figures in a row
FITTING = "width:{};height:{}px;object-fit:contain;object-position:left"

ELSEWHERE = (
    "There are no reports here to audit: all labels were made elsewhere, and their files do not prove which text was "
    "read."
)


def show(principal: Principal) -> None:
    """The reports that need a decision, else the claim a paper may make and the table per system; then the other.

    No claim of texts that raters of labels made elsewhere may never have seen.
    """
    with report_page.begun(principal, "evaluator") as (session, study):
        version, name, imported = label_version(session, study), study.name, has_labels(session, study)
        lines, elsewhere = auditing.list_reports(session, principal), is_read_elsewhere(session, study)
    if not lines:
        _no_reports(name, imported)
        return
    waiting = sum(line.open_flags for line in lines)
    if elsewhere and not waiting:
        report_page.section(f'<p class="c-answer">{worded(ELSEWHERE)}</p><h2>{worded("The stored texts")}</h2>')
        _look_at_one(principal, lines)
    elif waiting:
        # each decision has every report read again: that stands below, and nobody waits for it
        _decide(principal, lines, waiting)
        _measured(principal, lines, version, apart=True)
    else:
        measured = st.container()
        _decide(principal, lines, waiting)
        with measured:  # above the reports, which are there to look at while it is computed
            _measured(principal, lines, version, apart=False)


def _measured(principal: Principal, lines: list[auditing.ReportLine], version: Version, *, apart: bool) -> None:
    kept = waiting.computed("audit", principal, version, doing="Reading every report", apart=apart)
    if kept is not None:
        audited: BlindingAudit = kept.value
        open_flags = audited.undecided or any(line.open_flags for line in lines)
        if kept.is_current or not open_flags:  # what was to decide then contradicts what is to decide now
            claim, colon, but = audited.sentence.partition(worded(": "))
            report_page.answer(f"{claim}{colon}".strip(), but) if but else report_page.answer(claim)
        report_page.section(f"<h2>{worded('By system')}</h2>{_systems(audited, lines)}")


def _decide(principal: Principal, lines: list[auditing.ReportLine], waiting: int) -> None:
    _figures(principal)
    report_page.section(
        f'<h2>{worded("Reports")}</h2><p class="{"c-answer" if waiting else "c-soft"}">{still_to_decide(lines)}</p>'
    )
    _look_at_one(principal, lines)


def _figures(principal: Principal) -> None:
    """Every picture that several reports of one system show, side by side, with what may be done about it."""
    with reading(database()) as session:
        found = repeated.repeated_figures(session, principal)
        of_one_size = repeated.of_one_size(session, principal)
    for system, (figures, width, height) in of_one_size.items():
        st.caption(worded(
            "All {figures} figures of {system} are {width:,} × {height:,} pixels, others' are not: who reads several "
            "reports may know it by that. With images = \"caption\" in the protocol none is shown.",
            figures=figures, system=system, width=width, height=height,
        ))  # fmt: skip
    if not found:
        return
    report_page.section(
        f'<h2>{worded("Figures that several reports of one system show")}</h2><p class="c-soft">{worded(FIGURES)}</p>'
    )
    for row in (found[at : at + BESIDE] for at in range(0, len(found), BESIDE)):
        for column, figure in zip(st.columns(BESIDE), row, strict=False):
            with column:
                _one_figure(principal, figure)


def _one_figure(principal: Principal, figure: repeated.RepeatedFigure) -> None:
    state = worded("{open:,} to decide", open=figure.open) if figure.open else worded("decided")
    told = worded(
        "{system}: in {reports}, {state}",
        system=escape(figure.system), reports=several(figure.reports, "report"), state=state,
    )  # fmt: skip
    fitting = FITTING.format(*(("100%", 160) if len(figure.addresses) == 1 else ("50%", 80)))  # each form of it
    pictures = "".join(f'<img src="{address}" alt="" style="{fitting}">' for address in figure.addresses)
    st.html(f'{pictures}<p class="c-soft" style="font-size:14px">{told}</p>')
    decide = partial(overrides.resolve_all, kind=FIGURE, texts=figure.names)
    for resolution in ("keep", "mask") if figure.open and principal.role == "admin" else ():
        key = f"{resolution}{figure.names[0]}{figure.system}"
        if st.button(worded(resolution.capitalize()), key=key, width="stretch"):
            _do(principal, decide, resolution)
            st.rerun()


def _look_at_one(principal: Principal, lines: list[auditing.ReportLine]) -> None:
    chosen = _chosen(lines)
    if chosen is not None:
        with reading(database()) as session:
            view = auditing.view_report(session, principal, chosen)
        _one_report(principal, view)


def _chosen(lines: list[auditing.ReportLine]) -> int | None:
    """The report to look at, the one with most to decide at first; None where a search found none."""
    by_id = {line.id: line for line in lines}
    # a fixed order and ids as options: a decision changes a line's words, and the choice must not jump because of it
    in_order = sorted(lines, key=lambda line: (line.topic, line.system))
    shown = [
        line.id
        for line in look.paged(in_order, _title, "blinding", worded("Find a report by topic, system or “to decide”"))
    ]
    if not shown:
        return None
    chosen: int | None = st.selectbox(
        worded("Report"), shown, index=None, format_func=lambda report: _title(by_id[report]), key="blinding_report",
        placeholder=worded("Choose a report to look at"), label_visibility="collapsed",
    )  # fmt: skip
    return next(line.id for line in lines if line.id in shown) if chosen is None else chosen


def _no_reports(name: str, has_labels: bool) -> None:
    """`has_labels`: they were made elsewhere, and nothing is to be blinded here."""
    if has_labels:
        report_page.empty(
            worded("No reports to look at"),
            f"<p>{worded('This study holds labels that were made without its reports.')}</p>"
            f"<p>{worded(report_page.WHERE)}</p>",
        )
        return
    command = f"calipers import reports FOLDER --layout auto --study {name}"
    report_page.empty(
        worded("No reports yet"), f"<p>{worded('Bring them in with')}</p><p><code>{escape(command)}</code></p>"
    )


def still_to_decide(lines: Iterable[auditing.ReportLine]) -> str:
    """Return how many flagged passages nobody has decided about, and how many of them keep the study from opening."""
    counts = [(line.open_flags, line.is_planned) for line in lines]
    waiting, planned = sum(count for count, _ in counts), sum(count for count, is_planned in counts if is_planned)
    if not waiting:
        return worded("Every passage that may name a report's maker is decided.")
    told = worded("1 passage waits") if waiting == 1 else worded("{waiting:,} passages wait", waiting=waiting)
    if planned in (0, waiting):
        return worded("{told} for a decision. A study opens once all of its items are decided.", told=told)
    return worded(
        "{told} for a decision, {planned:,} of them in planned items. The study opens once those are decided.",
        told=told, planned=planned,
    )  # fmt: skip


def _one_report(principal: Principal, view: auditing.ReportView) -> None:
    if principal.role == "admin":
        _flags(principal, view)
    st.html(
        f'<div class="c-page c-diff"><div><h2>{worded("As it came in")}</h2>'
        f"{_scrolling(worded('As it came in'), marked_original(view.original, view.removed))}</div>"
        f"<div><h2>{worded('As it is shown')}</h2>"
        f"{_scrolling(worded('As it is shown'), marked_shown(view.shown, view.flags))}</div></div>"
    )
    if view.changes:
        st.html(f'<div class="c-page"><p class="c-soft">{escape(made_alike(view.changes))}</p></div>')
    if view.line.override:
        changed = worded("Changed by hand: {override}", override=escape(view.line.override))
        st.html(f'<div class="c-page"><p class="c-soft">{changed}</p></div>')
    if principal.role != "admin":
        st.html(
            f'<div class="c-page"><p class="c-soft">{worded("Only an admin of the study can decide here.")}</p></div>'
        )
        return
    if view.is_frozen:
        st.html(
            '<div class="c-page"><p class="c-soft">'
            f"{worded('Labels stand on this text, so it cannot change any more.')}</p></div>"
        )
    else:
        _by_hand(principal, view)


def made_alike(changes: Mapping[str, int]) -> str:
    """What the layout changed in a report, most often first."""
    by_count = sorted(changes.items(), key=lambda change: (-change[1], change[0]))
    told = worded(", ").join(f"{worded(name.replace('_', ' '))} {count:,}" for name, count in by_count)
    return worded("Made alike: {told}.", told=told)


def _scrolling(name: str, text: str) -> str:
    """A text that scrolls must be reachable by keyboard."""
    return f'<div class="c-text" dir="auto" tabindex="0" role="region" aria-label="{name}">{text}</div>'


def _flags(principal: Principal, view: auditing.ReportView) -> None:
    if view.line.open_flags:
        report_page.section(f'<p class="c-soft">{worded(MAY)}</p>')
    for number, flag in enumerate(view.flags):
        if flag.get("resolution"):
            continue
        words, keep, mask, leave_out = st.columns([5, 1, 1, 1], vertical_alignment="center")
        told = words.empty()
        about = worded("{kind}: {text}", kind=worded(flag["kind"]), text=flag["text"])
        told.text(about)
        for column, resolution in ((keep, "keep"), (mask, "mask"), (leave_out, "exclude")):
            if resolution not in overrides.decisions_about(flag["kind"]):
                continue
            # no callback: that would act for whoever drew the page, who may be signed out by now
            if column.button(worded(resolution.capitalize()), key=f"flag{number}{resolution}", width="stretch"):
                told.text(f"{about} – {worded(resolution)}…")  # all else is read anew first
                _do(principal, overrides.resolve_flag, view.line.id, number, resolution)
                st.rerun()


def _by_hand(principal: Principal, view: auditing.ReportView) -> None:
    report = view.line.id  # in every key, so that a reason typed for one report is not there for the next
    by_hand = st.expander(worded("Change this report by hand"))
    with by_hand, st.form(f"by_hand_{report}", border=False, clear_on_submit=True):
        text = st.text_area(worded("Shown text"), view.shown, height=300, key=f"text_{report}_{view.sha256[:8]}")
        start, end = st.columns(2)
        first = start.number_input(
            worded("Put back what was removed from character"), 0, len(view.original), 0, key=f"from_{report}"
        )
        last = end.number_input(worded("to character"), 0, len(view.original), 0, key=f"to_{report}")
        reason = st.text_input(worded("Reason, kept with the report"), key=f"reason_{report}")
        save, restore, leave_out = st.columns(3)
        if save.form_submit_button(worded("Show this text instead"), width="stretch"):
            _do(principal, overrides.edit_text, report, text, reason)
            st.rerun()
        if restore.form_submit_button(worded("Put back"), width="stretch"):
            _do(principal, overrides.restore_passage, report, int(first), int(last), reason)
            st.rerun()
        if leave_out.form_submit_button(worded("Leave this report out"), width="stretch"):
            _do(principal, overrides.exclude_report, report, reason)
            st.rerun()


def _do(principal: Principal, act: Callable[..., object], *arguments: object) -> None:
    try:
        with transaction(database()) as session:
            act(session, principal, *arguments)
        st.toast(worded("Stored"))
    except AnnotationError as error:
        st.toast(error.text)


def _systems(audited: BlindingAudit, lines: list[auditing.ReportLine]) -> str:
    kinds = sorted({kind for counts in audited.residue_counts.values() for kind, count in counts.items() if count})
    recall = next(
        (guess.recall for guess in audited.identification if (guess.text, guess.features) == ("shown", "formatting")),
        {},
    )
    named = (worded(kind.replace("_", " ")) for kind in kinds)
    head = ["System", "Reports", "Removed, median", *named, "Recognised", "Waiting"]
    rows = []
    for share in audited.removed:
        counts = audited.residue_counts[share.system]
        waiting = sum(line.open_flags for line in lines if line.system == share.system)
        known = f"{100 * recall[share.system]:.0f} %" if share.system in recall else "–"
        removed = f"{100 * share.median:.1f} %"
        cells = [share.system, share.reports, removed, *(counts[kind] for kind in kinds), known, waiting]
        rows.append([escape(str(cell)) for cell in cells])
    return look.table("By system", [escape(name) for name in head], rows)


def _title(line: auditing.ReportLine) -> str:
    waiting = worded(" · {open_flags} to decide", open_flags=line.open_flags) if line.open_flags else ""
    warned = f" · {several(len(line.warnings), 'warning')}" if line.warnings else ""
    return f"{line.topic} · {line.system}{waiting}{warned}"


def marked_original(text: str, removed: Iterable[tuple[int, int, str]]) -> str:
    """The original with every removed passage struck through; neighbours that touch are one passage."""
    pieces, done = [], 0
    for start, end in _joined((start, end) for start, end, _ in removed):
        place = worded("characters {start} to {end}", start=start, end=end)
        pieces += [escape(text[done:start]), f'<del title="{place}">{escape(text[start:end])}</del>']
        done = end
    return "".join(pieces) + escape(text[done:])


def marked_shown(text: str, flags: Iterable[Mapping[str, Any]]) -> str:
    """The shown text with every flag marked, the undecided ones in colour."""
    pieces, done = [], 0
    for flag in sorted(flags, key=lambda flag: flag["start"]):
        start, end = max(done, flag["start"]), flag["end"]
        state = ' class="done"' if flag.get("resolution") else ""
        title = escape(worded(": ").join(map(worded, filter(None, (flag["kind"], flag.get("resolution"))))))
        pieces += [escape(text[done:start]), f'<mark{state} title="{title}">{escape(text[start:end])}</mark>']
        done = max(done, end)
    return "".join(pieces) + escape(text[done:])


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined

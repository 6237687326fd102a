"""What the study's owner decides about a shown text: flags kept or masked, a passage restored, words edited, a report
left out. Each act keeps who and when, one that changes the text keeps why, and none is allowed under a label."""

import re
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session, defer

from annotation.blinding import find_self_identification
from annotation.errors import AnnotationError
from annotation.items.twins import twin_item
from annotation.labels.entries import clean
from annotation.leaks.self_identification import FIGURE, KINDS, LOST, NAMES
from annotation.people.principals import Principal, study_for
from annotation.planning.plan_root import keep_changed_root
from annotation.shown_texts.prepare import count_words, flagged_figures, prepare_report
from annotation.studies import audit, protocol_of
from db.tables import Assignment, Item, Label, Report, Study, System, Topic
from db.types import now
from plain.hashes import text_sha256
from plain.wording import worded

RESOLUTIONS = ("keep", "mask", "exclude")
MASK = "[system]"


def resolve_flag(
    session: Session, principal: Principal, report_id: int, number: int, resolution: str, reason: str = ""
) -> None:
    """Decide about flag `number` (from 0): keep the words, mask a name as `[system]`, or leave the report out.

    Of a figure that is masked the caption stays.
    """
    _refuse_unknown(resolution)
    report = _changeable(session, principal, report_id, is_text_changed=resolution != "keep")
    if not 0 <= number < len(report.flags):
        raise AnnotationError(
            "unknown_flag", "this report has {flags} flags, none with number {number}", flags=len(report.flags),
            number=number,
        )  # fmt: skip
    if decided := report.flags[number].get("resolution"):
        raise AnnotationError(
            "already_resolved", "this passage was decided already: {decided}", decided=worded(decided)
        )
    _refuse_mask_of_no_name(resolution, report.flags[number]["kind"])
    _resolve_flags(session, principal, report, [number], resolution, reason)
    if resolution != "keep":
        keep_changed_root(session, study_for(session, principal, "admin"))


def _resolve_flags(
    session: Session, principal: Principal, report: Report, numbers: Iterable[int], resolution: str, reason: str
) -> None:
    """The same decision about several flags of one report, which is written once."""
    flags, text = [dict(flag) for flag in report.flags], report.shown_text
    for number in sorted(numbers, reverse=True):  # from the end, so that masking one does not move those before it
        flags[number] |= {"resolution": resolution, "reason": reason, "by": principal.rater_id, "at": now().isoformat()}
        if resolution == "mask":
            text = _masked(text, flags, number)
        if resolution != "keep":
            _by_hand(principal, report, f"{resolution} {flags[number]['kind']}", reason)
    _write(report, text, flags)
    if resolution == "exclude":
        _exclude(session, report)
    for number in sorted(numbers, reverse=True):
        _trail(session, principal, report, "resolve_flag", reason, flag=number, resolution=resolution)


def resolve_all(
    session: Session,
    principal: Principal,
    resolution: str,
    *,
    kind: str | None = None,
    of: str = "",
    reason: str = "",
    texts: Collection[str] = (),
) -> int:
    """The same decision for every unresolved flag, or for those of one kind, `of` one report, `SYSTEM/TOPIC`, or texts.

    To mask decides about names and figures alone; what else waits goes on waiting. Returns how many were decided.
    """
    study = study_for(session, principal, "admin")
    _refuse_unknown(resolution)
    if kind in KINDS:
        _refuse_mask_of_no_name(resolution, kind)
    decided = 0
    waiting = (
        select(Report).join(Topic, Topic.id == Report.topic_id).join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.open_flags > 0)
    )  # fmt: skip
    if of:
        waiting = waiting.where(System.key + "/" + Topic.key == of)
    # what a decision neither reads nor writes is most of a report
    unread = defer(Report.original), defer(Report.original_text), defer(Report.removed)
    for report in session.scalars(waiting.options(*unread).with_for_update(of=Report)).all():
        numbers = [number for number, flag in enumerate(report.flags) if _waits(flag, resolution, kind, texts)]
        if numbers:
            if resolution != "keep":
                _refuse_labelled(session, report)
            _resolve_flags(session, principal, report, numbers, resolution, reason)
            decided += len(numbers)
    if resolution != "keep":
        keep_changed_root(session, study)
    return decided


def _waits(flag: dict[str, Any], resolution: str, kind: str | None, texts: Collection[str]) -> bool:
    """Whether `flag` is undecided, of `kind` and `texts` where they are asked for, and may be decided so."""
    asked = kind in (None, flag["kind"]) and (not texts or flag["text"] in texts)
    return not flag.get("resolution") and asked and resolution in decisions_about(flag["kind"])


def decisions_about(kind: str) -> tuple[str, ...]:
    """Of `RESOLUTIONS` those that make sense for a flag of this kind: only a name or a figure can be masked."""
    return (
        RESOLUTIONS
        if kind in (*NAMES, FIGURE)
        else tuple(resolution for resolution in RESOLUTIONS if resolution != "mask")
    )


def _refuse_mask_of_no_name(resolution: str, kind: str) -> None:
    if resolution not in decisions_about(kind):
        raise AnnotationError(
            "bad_resolution",
            "a passage of kind {kind} is no name, so {mask} cannot stand for it: keep it, exclude its report, or "
            "change its words by hand on the Blinding page", kind=kind, mask=MASK,
        )  # fmt: skip


def _refuse_unknown(resolution: str) -> None:
    if resolution not in RESOLUTIONS:
        raise AnnotationError(
            "bad_resolution", "a flag is resolved as one of {resolutions}, not {resolution!r}",
            resolutions=', '.join(RESOLUTIONS), resolution=resolution,
        )  # fmt: skip


def edit_text(session: Session, principal: Principal, report_id: int, text: str, reason: str) -> None:
    """Show `text` instead. It is shown text like any other: same hash rule, flagged anew, same bytes for all."""
    report = _changeable(session, principal, report_id, is_text_changed=True)
    _needs(reason)
    text = clean(text).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise AnnotationError("empty_text", "a shown text cannot be empty; leave the report out instead")
    found = [{**asdict(flag), "resolution": None} for flag in find_self_identification(text, _names(session, report))]
    found += _figures(text, report.flags)
    flags = [*_lost(report), *_decided_before(found, report.flags), *_still_masked(text, report.flags)]
    _write(report, text, sorted(flags, key=lambda flag: int(flag["start"])))
    report.status = "ready" if report.status == "empty" else report.status
    _by_hand(principal, report, "edit_text", reason)
    _trail(session, principal, report, "edit_text", reason)
    keep_changed_root(session, study_for(session, principal, "admin"))


def restore_passage(session: Session, principal: Principal, report_id: int, start: int, end: int, reason: str) -> None:
    """Keep what stripping removed wrongly between two places of the original; the rest of the text is made anew."""
    report = _changeable(session, principal, report_id, is_text_changed=True)
    _needs(reason)
    if any(act["what"] == "edit_text" for act in (report.override or {}).get("acts", [])):
        raise AnnotationError("edited", "this text was written by hand, so nothing can be put back; edit it instead")
    passage = [(span[0], span[1]) for span in report.removed if start <= span[0] and span[1] <= end]
    if not passage:
        raise AnnotationError(
            "unknown_passage", "nothing was removed from {start} to {end} in this report", start=start, end=end
        )
    restored = [*map(tuple, (report.override or {}).get("restored", [])), *passage]
    topic = session.get_one(Topic, report.topic_id)
    protocol = protocol_of(session.get_one(Study, report.study_id))
    ready = prepare_report(
        report.original_text, topic.title, _names(session, report), protocol.reports, restored,
        layout=protocol.study.layout,
    )  # fmt: skip
    found = [flag for flag in ready.unresolved_flags() if flag["kind"] != LOST]
    found += _figures(ready.shown_text, report.flags)
    _write(report, ready.shown_text, [*_lost(report), *_decided_before(found, report.flags)])
    report.status = "ready" if report.status == "empty" and not ready.is_bare else report.status
    report.removed, report.changes = [[s.start, s.end, s.kind] for s in ready.removed], ready.changes
    _by_hand(principal, report, "restore_passage", reason, restored=restored)
    _trail(session, principal, report, "restore_passage", reason, start=start, end=end)
    keep_changed_root(session, study_for(session, principal, "admin"))


def exclude_report(session: Session, principal: Principal, report_id: int, reason: str) -> None:
    """Leave a report out of every item that is made from now on, and out of items nobody has labelled."""
    report = _changeable(session, principal, report_id, is_text_changed=True)
    _needs(reason)
    _exclude(session, report)
    _by_hand(principal, report, "exclude_report", reason)
    _trail(session, principal, report, "exclude_report", reason)
    keep_changed_root(session, study_for(session, principal, "admin"))


def is_labelled(session: Session, report_id: int) -> bool:
    """Whether somebody has answered anything about this text, or with it beside what was asked about."""
    found = (
        select(Label.id)
        .join(Assignment, Assignment.id == Label.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(or_(*(shown == report_id for shown in (Item.report_a_id, Item.report_b_id, Item.reference_id))))
    )
    return session.scalar(found.limit(1)) is not None


def _changeable(session: Session, principal: Principal, report_id: int, *, is_text_changed: bool) -> Report:
    study: Study = study_for(session, principal, "admin")
    report = session.scalar(select(Report).where(Report.id == report_id, Report.study_id == study.id).with_for_update())
    if report is None:
        raise AnnotationError("unknown_report", "there is no such report in this study")
    if is_text_changed:
        _refuse_labelled(session, report)
    return report


def _refuse_labelled(session: Session, report: Report) -> None:
    if is_labelled(session, report.id):
        raise AnnotationError(
            "frozen", "labels stand on this text, so it cannot change; import a new version, which makes new items"
        )


def _exclude(session: Session, report: Report) -> None:
    report.status, report.open_flags = "excluded", 0
    shows = or_(Item.report_a_id == report.id, Item.report_b_id == report.id)
    items = session.scalars(select(Item).where(shows)).all()
    for item in filter(None, [*items, *(twin_item(session, item) for item in items)]):
        item.excluded_at = item.excluded_at or now()


def _masked(text: str, flags: list[dict[str, Any]], number: int) -> str:
    """`text` with flag `number` replaced by the mask; the flags behind it move with their words."""
    start, end, mask = flags[number]["start"], flags[number]["end"], "" if flags[number]["kind"] == FIGURE else MASK
    shift = len(mask) - (end - start)
    for other in flags:
        if other["start"] >= end:
            other["start"], other["end"] = other["start"] + shift, other["end"] + shift
    flags[number]["end"] = start + len(mask)
    return text[:start] + mask + text[end:]


def _decided_before(found: list[dict[str, Any]], before: list[Any]) -> list[dict[str, Any]]:
    """The flags found now; what was decided about the same words stays decided."""
    decided = {(flag["kind"], flag["text"]): flag for flag in before if flag.get("resolution") == "keep"}
    for flag in found:
        same = decided.get((flag["kind"], flag["text"]))
        if same:
            flag |= {key: same[key] for key in ("resolution", "reason", "by", "at")}
    return found


def _figures(text: str, before: list[Any]) -> list[dict[str, Any]]:
    """The pictures that were flagged before, wherever they are now; one that is masked stays told, at no place."""
    names = {flag["text"]: flag for flag in before if flag["kind"] == FIGURE}
    found = [{**asdict(flag), "resolution": None} for flag in flagged_figures(text, names)]
    there = {flag["text"] for flag in found}
    masked = [flag for name, flag in names.items() if name not in there and flag.get("resolution") == "mask"]
    return found + [{**flag, "start": 0, "end": 0} for flag in masked]


def _lost(report: Report) -> list[dict[str, Any]]:
    """What its conversion left behind, decided or not: no text shows it."""
    return [flag for flag in report.flags if flag["kind"] == LOST]


def _still_masked(text: str, before: list[Any]) -> list[dict[str, Any]]:
    """The names masked before, at the places where masks are now: what was masked stays counted."""
    masked = [flag for flag in before if flag.get("resolution") == "mask" and flag["kind"] != FIGURE]
    places = [(found.start(), found.end()) for found in re.finditer(re.escape(MASK), text)]
    return [{**flag, "start": start, "end": end} for flag, (start, end) in zip(masked, places, strict=False)]


def _names(session: Session, report: Report) -> list[str]:
    systems = session.scalars(select(System).where(System.study_id == report.study_id))
    return [name for system in systems for name in (system.public_name, system.key)]


def _write(report: Report, text: str, flags: list[dict[str, Any]]) -> None:
    if text != report.shown_text:
        report.shown_text, report.words = text, count_words(text)
        report.shown_sha256 = text_sha256(text)
    report.flags, report.open_flags = flags, sum(not flag.get("resolution") for flag in flags)


def _needs(reason: str) -> None:
    if not reason.strip():
        raise AnnotationError("no_reason", "changing what raters see needs a reason; it is kept with the report")


def _by_hand(principal: Principal, report: Report, what: str, reason: str, **kept: Any) -> None:
    """Add one act to the report's own list: what was done to its text or status by hand, why, by whom and when."""
    before = report.override or {}
    act = {"what": what, "reason": reason, "by": principal.rater_id, "at": now().isoformat()}
    report.override = {**before, **kept, "acts": [*before.get("acts", []), act]}


def _trail(session: Session, principal: Principal, report: Report, what: str, reason: str, **data: Any) -> None:
    data |= {"report": report.id, "reason": reason, "shown_sha256": report.shown_sha256}
    audit(session, report.study_id, principal.rater_id, what, **data)

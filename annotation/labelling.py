"""The one door for every label: people's answers as they are typed, submits, and judges' answers.

Labels are appended, never rewritten; an answer counts as saved once the transaction around `save` has committed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, orm, select, update
from sqlalchemy.orm.attributes import set_committed_value

from annotation import rendering, studies
from annotation.errors import AnnotationError, Incomplete, Stale
from annotation.items.shown import asked_of
from annotation.items.twins import twin_assignment, with_twin
from annotation.labels.answers import Answer, Answered, Said, Sheet, newest_revisions, said_by, sheets_of
from annotation.labels.entries import (
    AnswerEntry,
    Beside,
    Entry,
    EventEntry,
    GuessEntry,
    PlaceEntry,
    PreferencesEntry,
    clean,
    stored_choice,
)
from annotation.labels.evidence import check_spans
from annotation.open_work.returns import give_back
from annotation.people.principals import Principal
from annotation.protocol import Protocol
from annotation.training.gold import note_attention
from annotation.training.training import end_training_item, refuse_reopen, refuse_skip
from annotation.work.claiming import claim_back, next_work
from annotation.work.guesses import refuse_unasked
from annotation.work.page import (
    Shown,
    current_answers,
    describe_answer,
    missing_answers,
    own_assignment,
    page_token,
    shown_reports,
    shown_stamps,
)
from db import people_tables, types
from db.tables import Assignment, Criterion, Event, Item, Label, Study

LABELS = types.Record.metadata.tables["labels"]
# asked with every label, and dearer to build than to run; and on the connection, where they take half of a session's
# time, which has nothing to add to rows that are no objects
APPENDED = LABELS.insert().inline()
SENT_BEFORE = select(Label.assignment_id, Label.revision).where(Label.client_uuid == bindparam("client_uuid"))
ANSWERED = (  # the question asked under this id now, and the newest answer to it
    select(
        Criterion.id, Criterion.scale, Label.revision, Label.writer, Label.seq, Label.choice, Label.rationale,
        Label.evidence, Label.confidence,
    )
    .outerjoin(Label, (Label.criterion_id == Criterion.id) & (Label.assignment_id == bindparam("assignment")))
    .where(
        Criterion.study_id == bindparam("study"),
        Criterion.code == bindparam("code"),
        Criterion.retired_at.is_(None),
        Criterion.topic_id.is_(None)
        | (Criterion.topic_id == select(Item.topic_id).where(Item.id == bindparam("item")).scalar_subquery()),
    )
    .order_by(Criterion.position, Label.revision.desc())
    .limit(1)
)  # fmt: skip
ROWS = types.Record.metadata.tables["assignments"]
NOTED = (  # one more revision, just now
    update(ROWS).where(ROWS.c.id == bindparam("own_id")).values(rev=bindparam("next_rev"), active_at=bindparam("at"))
)


@dataclass
class Saved:
    """The reply to one request: what is safely stored, and what was refused with its reason."""

    acks: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)


def save(session: orm.Session, principal: Principal, entries: Sequence[Entry]) -> Saved:
    """Store each entry or say why not. The caller acknowledges only after COMMIT."""
    saved = Saved()
    _study = session.get_one(Study, principal.study_id)  # a session forgets, and reads again, what nobody holds
    for entry in sorted(entries, key=lambda sent: isinstance(sent, PreferencesEntry)):  # see annotation/studies.py
        try:
            rev = _store(session, principal, entry)  # refuses before it writes anything
            saved.acks.append({"client_uuid": entry.client_uuid, "seq": getattr(entry, "seq", 0), "rev": rev})
        except AnnotationError as error:
            line: dict[str, Any] = {"client_uuid": entry.client_uuid, "code": error.code, "text": error.text}
            if isinstance(error, Stale):
                line["current"] = error.current
            saved.refused.append(line)
    return saved


def submit(
    session: orm.Session, principal: Principal, aid: str, page: str, client_uuid: str, revs: Mapping[str, int],
    *, beside: Beside | None = None, onward: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Hand an assignment in and take the next, unless not `onward`. The same `client_uuid` again gives the same reply.

    `beside`: the same of the other report, where two are rated in one view; they are handed in together or not at all.
    Raises AnnotationError `unsaved` when the page and the database disagree, or `incomplete`, with the criteria.
    """
    assignment = own_assignment(session, principal, aid, lock=True)
    if assignment.reply and assignment.reply.get("client_uuid") == client_uuid:
        return dict(assignment.reply["reply"])
    study, protocol = _open_for_answers(session, assignment)
    parts = handed_in(session, HandedIn(assignment, page, revs), beside)
    answers = refuse_unfinished(session, study, protocol, parts)
    at = types.now()
    for part, *_ in parts:
        part.status, part.submitted_at, part.rev = "submitted", at, part.rev + 1
    studies.audit(session, study.id, principal.rater_id, "submit", assignment=assignment.id, labels=answers)
    session.flush()
    note_attention(session, study, assignment)
    reply = end_training_item(session, principal, assignment) | (next_work(session, principal) if onward else {})
    for part, *_ in parts:
        part.reply = {"client_uuid": client_uuid, "reply": reply}
    return reply


def skip(session: orm.Session, principal: Principal, aid: str, reason: str) -> dict[str, Any]:
    """Give the slot back with a reason; this person is not offered the item again, and nothing typed is thrown away."""
    assignment = own_assignment(session, principal, aid, lock=True)
    if assignment.status == "returned" and assignment.returned != "stale":
        return next_work(session, principal)
    _open_for_answers(session, assignment)
    refuse_skip(assignment)
    if not reason.strip():
        raise AnnotationError("no_reason", "skipping needs a reason; say in a few words what is wrong with this item")
    give_back(session, assignment, "skipped", clean(reason))
    return next_work(session, principal)


def reopen(session: orm.Session, principal: Principal, aid: str) -> None:
    """Take one's own submitted work up again; possible until the study is locked."""
    assignment = own_assignment(session, principal, aid, lock=True)
    study = session.get_one(Study, assignment.study_id)
    if assignment.status == "taken" and assignment.submitted_at is not None:
        return  # the same request again: its reply was lost
    refuse_reopen(session, principal, assignment)
    if assignment.status != "submitted" or study.status == "locked":
        raise AnnotationError("locked", "this work cannot be reopened: it was not handed in, or the study is locked")
    # the old reply stays, so that a late copy of the old submit does not hand the work in again
    for part in with_twin(session, assignment):
        part.status, part.rev = "taken", part.rev + 1
        submitted = part.submitted_at.isoformat() if part.submitted_at else None
        studies.audit(session, study.id, principal.rater_id, "reopen", assignment=part.id, submitted_at=submitted)


def record_answers(session: orm.Session, replies: Sequence[Answered], *, parser_version: str) -> list[bool]:
    """Append judges' answers, one revision each where it differs from the current one.

    False, and nothing written, for a reply about a text or a question that was changed since it was read. An assignment
    counts as submitted once every criterion has a row, whatever its status.
    """
    ids = sorted({assignment for reply in replies for assignment in reply.assignment_ids})
    sheets, newest = sheets_of(session, ids), newest_revisions(session, ids)
    answered = {
        (key, sheets[key].criteria.get(answer.criterion))
        for reply in replies
        for key, answer in product(reply.assignment_ids, reply.answers)
    }
    said = said_by(session, {place: revision for place, revision in newest.items() if place in answered})
    recorded: list[bool] = []
    rows: list[dict[str, Any]] = []
    for reply in replies:
        recorded.append(all(reply.fits(sheets[assignment]) for assignment in reply.assignment_ids))
        for assignment, answer in product(reply.assignment_ids if recorded[-1] else (), reply.answers):
            sheet = sheets[assignment]
            place = (assignment, sheet.criteria[answer.criterion])
            says = Said(*(reply.stamp or sheet.sha256), answer.status, answer.choice, clean(answer.rationale))
            if said.get(place) != says:
                said[place], newest[place] = says, newest.get(place, 0) + 1
                rows.append(_row(place, newest[place], sheet, says, answer, parser_version))
    if rows:
        session.execute(LABELS.insert(), rows)
    complete = [key for key in ids if all((key, criterion) in newest for criterion in sheets[key].criteria.values())]
    session.execute(
        update(Assignment)
        .where(Assignment.id.in_(complete), Assignment.status == "taken")
        .values(status="submitted", submitted_at=types.now())
    )
    return recorded


def _store(session: orm.Session, principal: Principal, entry: Entry) -> int:
    """Store one entry and return the revision it is at (0 where there is none)."""
    if isinstance(entry, PreferencesEntry):
        enrollment = session.get_one(people_tables.Enrollment, principal.enrollment_id)
        enrollment.preferences = {**enrollment.preferences, **entry.preferences.model_dump(exclude_none=True)}
        return 0
    assignment = own_assignment(session, principal, entry.aid, lock=True)
    shown = shown_stamps(session, assignment)
    refuse_other_page(assignment, shown, entry.page)
    if isinstance(entry, GuessEntry):
        refuse_unasked(session, assignment, entry)
    if isinstance(entry, EventEntry):
        known = session.scalar(select(Event).where(Event.client_uuid == entry.client_uuid))
        if known is not None and known.assignment_id != assignment.id:
            raise AnnotationError("invalid", "this entry was used for another item; reload the page")
        if known is None:
            session.add(
                Event(
                    study_id=assignment.study_id, rater_id=principal.rater_id, assignment_id=assignment.id,
                    kind=entry.stored_as, what=entry.what, data=entry.data, client_uuid=entry.client_uuid,
                    client_ts=entry.client_ts,
                )
            )  # fmt: skip
            assignment.active_at = types.now()
        return 0
    if isinstance(entry, PlaceEntry):
        assignment.place = entry.place.model_dump(exclude_none=True)
        return 0
    return _store_answer(session, assignment, shown, entry)


def _store_answer(session: orm.Session, assignment: Assignment, shown: Shown, entry: AnswerEntry) -> int:
    session.flush()  # these rows are read past the session
    line = session.connection()
    known = line.execute(SENT_BEFORE, {"client_uuid": entry.client_uuid}).one_or_none()
    if known is not None and known.assignment_id == assignment.id:
        return int(known.revision)
    if known is not None:
        raise AnnotationError("invalid", "this entry was used for another item; reload the page")
    study, protocol = _open_for_answers(session, assignment)
    asked = _asked_as(session, assignment, entry.criterion)
    if entry.confidence is not None and not protocol.answers.confidence:
        raise AnnotationError("invalid", "this study does not ask for confidence")
    choice = stored_choice(protocol, asked.scale, entry.choice)
    if asked.revision is not None:
        continues = asked.writer == entry.writer and entry.seq > asked.seq
        knows = asked.writer != entry.writer and entry.base_rev == asked.revision
        if not (continues or knows):
            raise Stale(describe_answer(asked, shown_reports(session, assignment)))
    revision = (asked.revision or 0) + 1
    texts = shown_reports(session, assignment).texts if entry.evidence else {}
    label = {
        "assignment_id": assignment.id,
        "criterion_id": asked.id,
        "revision": revision,
        "choice": choice,
        "status": "missing" if choice is None else "ok",
        "rationale": entry.rationale,
        "confidence": entry.confidence,
        "evidence": check_spans(texts, entry.evidence),
        "writer": entry.writer,
        "seq": entry.seq,
        "client_uuid": entry.client_uuid,
        "client_ts": entry.client_ts,
        # the texts as they are shown
        "left_sha256": shown.left.shown_sha256,
        "right_sha256": shown.right.shown_sha256 if shown.right else None,
        "stripper_version": shown.left.stripper_version,
        "renderer_version": rendering.RENDERER_VERSION,
        "after_reveal": study.revealed_at is not None,
    }
    line.execute(APPENDED, label)
    note_answer(session, assignment)
    return revision


def _row(
    place: tuple[int, int], revision: int, sheet: Sheet, says: Said, answer: Answer, parser_version: str
) -> dict[str, Any]:
    """A judge's label as a row: stamped like a person's, with no renderer, because judges read the Markdown."""
    return {
        "assignment_id": place[0],
        "criterion_id": place[1],
        "revision": revision,
        **vars(says),
        "stripper_version": sheet.shown[0].stripper_version,
        "confidence": answer.confidence,
        "flags": list(answer.flags),
        "evidence": [dict(span) for span in answer.evidence],
        "parser_version": parser_version,
        "after_reveal": sheet.revealed,
        "seconds": answer.seconds,
        "cost_usd": answer.cost_usd,
    }


def _open_for_answers(session: orm.Session, assignment: Assignment) -> tuple[Study, Protocol]:
    study = session.get_one(Study, assignment.study_id)
    claim_back(session, study, assignment)
    if assignment.status != "taken" or study.status == "locked":
        raise AnnotationError("locked", "this work is handed in; reopen it to change an answer")
    return study, studies.protocol_of(study)


def _asked_as(session: orm.Session, assignment: Assignment, code: str) -> Row[Any]:
    """The question asked under this id now, of the assignment's topic, with its answer (`revision` None: none).

    Raises AnnotationError `invalid`.
    """
    asked = {"study": assignment.study_id, "item": assignment.item_id, "assignment": assignment.id, "code": code}
    found = session.connection().execute(ANSWERED, asked).one_or_none()
    is_in_dispute = assignment.purpose != "adjudicate" or code in (assignment.criteria_order or ())
    if found is None or not is_in_dispute:
        raise AnnotationError("invalid", f"no criterion {code!r:.60} is asked here; reload the page")
    return found


class HandedIn(NamedTuple):
    """One report's part of what a page hands in. `revs`: criterion -> the revision the page knows."""

    assignment: Assignment
    page: str
    revs: Mapping[str, int]


def refuse_other_page(assignment: Assignment, shown: Shown, page: str) -> None:
    """Raises AnnotationError `invalid` unless `page` is the token of what this work shows."""
    if page != page_token(assignment, shown):
        raise AnnotationError("invalid", "this page shows another item; reload it")


def handed_in(session: orm.Session, own: HandedIn, beside: Beside | None) -> list[HandedIn]:
    """The page's own part and the one beside. Raises AnnotationError `invalid` where another report is beside."""
    twin = twin_assignment(session, own.assignment)
    if (beside and beside.aid) != (twin and twin.aid):
        raise AnnotationError("invalid", "this page asks about other reports; reload it")
    return [own, HandedIn(twin, beside.page, beside.revs)] if twin and beside else [own]


def refuse_unfinished(session: orm.Session, study: Study, protocol: Protocol, parts: Sequence[HandedIn]) -> int:
    """How many answers all parts hold. Raises AnnotationError `unsaved` or `incomplete`, both over all parts."""
    differing: list[Any] = []
    missing: list[dict[str, str]] = []
    asked = 0
    for assignment, page, revs in parts:
        refuse_other_page(assignment, shown_stamps(session, assignment), page)
        answers = current_answers(session, assignment)
        # one criterion asked of two reports: of which is it?
        named = {"aid": assignment.aid} if len(parts) > 1 else {}
        stored = {code: label.revision for code, label in answers.items()}
        others = [code for code in sorted({*revs, *stored}) if revs.get(code, 0) != stored.get(code, 0)]
        differing += [{"criterion": code, **named} if named else code for code in others]
        codes = [row.code for row in asked_of(session, study, assignment)]
        missing += [lacking | named for lacking in missing_answers(protocol, codes, answers)]
        asked += len(codes)
    if differing:
        raise Incomplete(
            "unsaved", "something is not saved yet, or newer than this page; it was loaded again", differing
        )
    if missing:
        what = "criteria" if len(parts) == 1 else "answers"
        raise Incomplete("incomplete", f"{len(missing)} of {asked} {what} still need something", missing)
    return asked


def note_answer(session: orm.Session, assignment: Assignment) -> None:
    """One more revision in it, just now. The caller holds the row, and `assignment` says what is stored."""
    session.flush()  # what else was said of it
    rev, at = assignment.rev + 1, types.now()
    session.connection().execute(NOTED, {"own_id": assignment.id, "next_rev": rev, "at": at})
    set_committed_value(assignment, "rev", rev)
    set_committed_value(assignment, "active_at", at)

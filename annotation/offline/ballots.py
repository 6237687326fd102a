"""Ballots: answers that came back as a file, from a packet or from a page that could not reach the server.

Every entry goes through `labelling.save` and `submit` as the person whose it is, and is told apart: stored, already
there, stale, refused. What is stored once is not stored again, and one bad entry spoils no other.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError
from sqlalchemy import orm, select

from annotation import labelling, studies
from annotation.errors import AnnotationError, Incomplete
from annotation.items.shown import asked_of
from annotation.labels.entries import AnswerEntry, Entry
from annotation.offline import ballot_format
from annotation.people import consent, principals
from annotation.work.page import current_answers, missing_answers, page_token, shown_reports
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Import, Label, Study

SAID_MAX = 200  # as long as any code
REASONS = {
    "returned": "the item went back to the pool",
    "not_found": "this item is not this person's; was it planned anew?",
}


@dataclass(frozen=True)
class EntryOutcome:
    """What became of one entry. `yours` and `stored` are both versions of an answer that is stale."""

    kind: str
    outcome: str  # stored | already there | stale | refused
    reason: str = ""
    aid: str = ""
    criterion: str = ""
    yours: Mapping[str, Any] | None = None
    stored: Mapping[str, Any] | None = None


@dataclass
class BallotOutcome:
    """What became of a ballot: its entries in their order, and its items."""

    packet_id: str
    rater: str  # pseudonym, "" where nobody is known to have signed it
    entries: list[EntryOutcome] = field(default_factory=list)
    handed_in: list[str] = field(default_factory=list)  # aids
    half_filled: dict[str, list[str]] = field(default_factory=dict)  # aid -> criteria that still need something

    def count(self, outcome: str) -> int:
        """How many entries ended so."""
        return sum(entry.outcome == outcome for entry in self.entries)

    def as_json(self) -> dict[str, Any]:
        """For programs, with the counts that tests and scripts ask for."""
        names = ("stored", "already there", "stale", "refused")
        return {**asdict(self), "counts": {name: self.count(name) for name in names}}


def import_ballot(
    session: orm.Session,
    principal: principals.Principal,
    raw: bytes,
    source: str = "",
    advance: Callable[[int, int], None] = lambda done, of: None,
) -> BallotOutcome:
    """Store what the ballot brings, entry by entry, as the person who filled it in; twice writes nothing.

    Raises AnnotationError `bad_ballot` for a file that is none, `forbidden` for all but admins.
    """
    study = principals.study_for(session, principal, "admin")
    ballot, signed = ballot_format.read_ballot(raw)
    outcome = BallotOutcome(ballot.packet_id, "")
    try:
        signer = ballot_format.find_signer(session, study, ballot.packet_id)
        _trust(session, signer, ballot, signed)
    except AnnotationError as error:
        outcome.entries = [
            _refused(entry, error.text)
            for entry in ballot.entries
            if ballot_format.kind_of(entry) not in ballot_format.NOT_WORK
        ]
        return outcome
    outcome.rater = signer.pseudonym
    outcome.entries += _agree(session, signer, ballot.entries)
    items = _by_item(ballot.entries)
    for done, (aid, entries) in enumerate(items.items(), 1):
        _import_item(session, study, signer, aid, entries, outcome)
        advance(done, len(items))
    if outcome.count("stored"):
        counts = outcome.as_json()["counts"]
        session.add(
            Import(study_id=study.id, kind="ballots", layout=ballot_format.FORMAT, source=source, report=counts)
        )
        studies.audit(session, study.id, principal.rater_id, "ballot", packet=ballot.packet_id, **counts)
    return outcome


def _trust(
    session: orm.Session, signer: ballot_format.Signer, ballot: ballot_format.Ballot, signed: dict[str, Any]
) -> None:
    try:
        expected = ballot_format.signature(signer.secret, signed)
    except ValueError:
        expected = ""  # numbers no browser writes
    if not expected or not hmac.compare_digest(expected.encode(), ballot.hmac.encode()):
        raise AnnotationError("forged", "the ballot was changed after it was saved, or never came from this packet")
    if ballot.packet_sha256 != signer.packet_sha256:
        raise AnnotationError("forged", "the ballot was filled in beside other texts than this packet's")
    if signer.packet is not None and signer.packet.withdrawn_at is not None:
        raise AnnotationError("withdrawn", "the packet was withdrawn")
    if session.get_one(Enrollment, signer.rater.enrollment_id).status == "withdrawn":
        raise AnnotationError("withdrawn", "this person has left the study")


def _agree(session: orm.Session, signer: ballot_format.Signer, entries: Sequence[Any]) -> list[EntryOutcome]:
    """Consent given in the packet, before anything else is stored."""
    outcomes = []
    for raw in entries:
        if ballot_format.kind_of(raw) != "consent":
            continue
        try:
            if consent.view_consent(session, signer.rater).state == "withdrawn":
                raise AnnotationError("withdrawn", "this person has taken their consent back")
            needed = consent.consent_needed(session, signer.rater)
            consent.give_consent(session, signer.rater, ballot_format.ConsentEntry.model_validate(raw).sha256)
            outcomes.append(EntryOutcome("consent", "stored" if needed else "already there"))
        except ValidationError:
            outcomes.append(_refused(raw, "this consent cannot be read"))
        except AnnotationError as error:
            outcomes.append(_refused(raw, error.text))
    return outcomes


def _by_item(entries: Sequence[Any]) -> dict[str, list[Any]]:
    items: dict[str, list[Any]] = {}
    for raw in entries:
        if ballot_format.kind_of(raw) not in (*ballot_format.NOT_WORK, "consent"):
            items.setdefault(_said(raw, "aid"), []).append(raw)
    return items


def _import_item(
    session: orm.Session,
    study: Study,
    signer: ballot_format.Signer,
    aid: str,
    raws: Sequence[Any],
    outcome: BallotOutcome,
) -> None:
    found = select(Assignment).where(Assignment.aid == aid, Assignment.study_id == study.id).with_for_update()
    assignment = session.scalar(found)
    problem = _foreign(session, study, signer, assignment)
    if assignment is None or problem:
        outcome.entries += [_refused(raw, problem) for raw in raws]
        return
    token = page_token(assignment, shown_reports(session, assignment))
    readable, outcomes = [], []
    for raw in raws:
        try:
            entry = ballot_format.read_work(raw)
            if entry.page != token:
                raise AnnotationError("replaced", "a report of this item was replaced since")
            readable.append(entry)
        except AnnotationError as error:
            outcomes.append(_refused(raw, error.text))
    answers = [entry for entry in readable if isinstance(entry, AnswerEntry)]
    submits = [entry for entry in readable if isinstance(entry, ballot_format.SubmitEntry)]
    events = [entry for entry in readable if not isinstance(entry, AnswerEntry | ballot_format.SubmitEntry)]
    outcomes += _save_answers(session, signer, assignment, answers) + _save(session, signer, events)
    for entry in submits:
        outcomes.append(_hand_in(session, signer, assignment, entry, outcomes))
    outcome.entries += outcomes
    if any(entry_outcome.kind == "submit" and entry_outcome.outcome == "stored" for entry_outcome in outcomes):
        outcome.handed_in.append(aid)
    elif assignment.status == "taken":
        codes = [row.code for row in asked_of(session, study, assignment)]
        missing = missing_answers(studies.protocol_of(study), codes, current_answers(session, assignment))
        outcome.half_filled[aid] = [answer["criterion"] for answer in missing]


def _foreign(session: orm.Session, study: Study, signer: ballot_format.Signer, assignment: Assignment | None) -> str:
    """Why this item's entries are none of the signer's business; "" where they are."""
    if assignment is None:
        return "there is no such item in this study; was it planned anew?"
    if assignment.rater_id != signer.rater.rater_id or assignment.source == "judge":
        return REASONS["not_found"]
    if signer.packet is not None and assignment.packet_id != signer.packet.id:
        return "this item is not in this packet"
    if assignment.status in ("returned", "void"):
        return REASONS["returned"]
    if study.status == "locked" or assignment.status == "locked":
        return "the study is locked"
    if consent.consent_needed(session, signer.rater):
        return "this person has not agreed to the study's consent text"
    return ""


def _save_answers(
    session: orm.Session, signer: ballot_format.Signer, assignment: Assignment, entries: Sequence[AnswerEntry]
) -> list[EntryOutcome]:
    """Answers that change what was handed in take it up again, as the person did in their packet."""
    if assignment.status != "submitted" or signer.packet is None:
        return _save(session, signer, entries)
    attempt = session.begin_nested()
    labelling.reopen(session, signer.rater, assignment.aid)
    outcomes = _save(session, signer, entries)
    if any(entry_outcome.outcome == "stored" for entry_outcome in outcomes):
        attempt.commit()
    else:
        attempt.rollback()
        session.refresh(assignment)
    return outcomes


def _save(session: orm.Session, signer: ballot_format.Signer, entries: Sequence[Entry]) -> list[EntryOutcome]:
    sent = [entry.client_uuid for entry in entries]
    known = {
        *session.scalars(select(Label.client_uuid).where(Label.client_uuid.in_(sent))),
        *session.scalars(select(Event.client_uuid).where(Event.client_uuid.in_(sent))),
    }
    saved = labelling.save(session, signer.rater, entries)
    refusals = {line["client_uuid"]: line for line in saved.refused}
    return [_told(entry, refusals.get(entry.client_uuid), entry.client_uuid in known) for entry in entries]


def _told(entry: Any, refusal: Mapping[str, Any] | None, known: bool) -> EntryOutcome:
    aid, criterion = entry.aid, getattr(entry, "criterion", "")
    if refusal is None:
        return EntryOutcome(entry.kind, "already there" if known else "stored", aid=aid, criterion=criterion)
    if refusal["code"] != "stale":
        reason = REASONS.get(refusal["code"], refusal["text"])
        return EntryOutcome(entry.kind, "refused", reason, aid, criterion)
    yours = {"choice": entry.choice, "rationale": entry.rationale, "confidence": entry.confidence}
    stored = {name: refusal["current"][name] for name in yours}
    return EntryOutcome("label", "stale", "a newer answer is stored", aid, criterion, yours, stored)


def _hand_in(
    session: orm.Session,
    signer: ballot_format.Signer,
    assignment: Assignment,
    entry: ballot_format.SubmitEntry,
    so_far: Sequence[EntryOutcome],
) -> EntryOutcome:
    aid = assignment.aid
    if assignment.status == "submitted":
        return EntryOutcome("submit", "already there", aid=aid)
    if any(earlier.kind == "label" and earlier.outcome in ("stale", "refused") for earlier in so_far):
        return EntryOutcome("submit", "refused", "not every answer was stored, so the item stays in work", aid)
    revs = {code: label.revision for code, label in current_answers(session, assignment).items()}
    try:
        labelling.submit(session, signer.rater, aid, entry.page, entry.client_uuid, revs, onward=False)
    except Incomplete as error:
        return EntryOutcome("submit", "refused", error.text, aid)
    if assignment.status != "submitted":  # a submit that was answered before is not done again
        return EntryOutcome("submit", "already there", "the item was reopened since", aid)
    return EntryOutcome("submit", "stored", aid=aid)


def _refused(raw: Any, reason: str) -> EntryOutcome:
    kind = "".join(filter(str.isprintable, ballot_format.kind_of(raw)))[:SAID_MAX]
    return EntryOutcome(kind, "refused", reason, _said(raw, "aid"), _said(raw, "criterion"))


def _said(raw: Any, name: str) -> str:
    """What an entry that nobody has read yet says there, as a database can look for it and a terminal can show it."""
    text = raw.get(name) if isinstance(raw, dict) else None
    return "".join(filter(str.isprintable, text))[:SAID_MAX] if isinstance(text, str) else ""

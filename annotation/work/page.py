"""What an annotator's browser may know of an assignment: shown texts, questions, own answers. Nothing else."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from annotation import errors, rendering, studies
from annotation.disputes.disputes import others_said
from annotation.figures import kept
from annotation.items.shown import SOURCES, ShownText, asked_of, in_order, shown_of_item
from annotation.items.twins import hold_twins, with_twin
from annotation.labels import current_labels, evidence
from annotation.labels.entries import clean, scale_of
from annotation.passages import compare_reports, from_stored
from annotation.people.active_time import active_seconds
from annotation.people.principals import Principal
from annotation.protocol import Protocol
from annotation.texts.scripts import direction, typed_length
from annotation.training.training import feedback, training_place
from annotation.work.guesses import asked_on_page
from annotation.work.progress import position
from db import connect, people_tables
from db.tables import HANDED_IN, Assignment, Criterion, Item, Label, Report, Study, Topic

CHOICE_TEXTS = {"left": "Left", "right": "Right", "tie": "Tie", "not_applicable": "Not applicable"}
# made once: statements asked with every label are dearer to build than to run
OWN = select(Assignment).where(
    Assignment.aid == bindparam("aid"),
    Assignment.study_id == bindparam("study"),
    Assignment.rater_id == bindparam("rater"),
    Assignment.source != "judge",
)
OWN_LOCKED = OWN.with_for_update()
# an item's row also holds its passages, and a report's its text: a label needs neither
STAMPS = (
    select(
        Item.kind, Item.report_a_id, Item.report_b_id, Item.reference_id, Item.probe, *SOURCES, Report.id,
        (Report.shown_text == "").label("is_empty"), Report.shown_sha256, Report.stripper_version,
    )
    .outerjoin(Report, Report.id.in_((Item.report_a_id, Item.report_b_id, Item.reference_id)))
    .where(Item.id == bindparam("item"))
)  # fmt: skip


ANSWERS = (
    select(Criterion.code, Label)
    .join(Criterion, Criterion.id == Label.criterion_id)
    .where(
        Label.assignment_id == bindparam("assignment"),
        current_labels.is_newest(),
        # an answer to words that were changed since is no answer to the new ones
        Criterion.retired_at.is_(None),
    )
)


@dataclass(frozen=True)
class Shown:
    """The texts of one assignment in the order they are shown; one of them where nothing is beside it.

    `probe`: the claim, fact, requirement … asked about, pinned above them.
    """

    left: ShownText
    right: ShownText | None = None
    probe: str | None = None
    is_pair: bool = False  # which of the two is better is asked, not how good one is
    brought: ShownText | None = None  # what the task came with, of a pair; of one report it is the right text

    @property
    def texts(self) -> evidence.Texts:
        """The shown Markdown and its sha256 by side, which quoted passages are checked against."""
        left = self.left.shown_text, self.left.shown_sha256
        if self.right is None:
            return {"left": left}
        return {"left": left, "right": (self.right.shown_text, self.right.shown_sha256)}


def own_assignment(session: Session, principal: Principal, aid: str, *, lock: bool = False) -> Assignment:
    """The principal's assignment called `aid`, locked with its twin. A foreign and an unknown one are refused alike."""
    mine = {"aid": clean(aid), "study": principal.study_id, "rater": principal.rater_id}
    both = lock and studies.protocol_of(session.get_one(Study, principal.study_id)).rates_both
    assignment = session.scalar(OWN_LOCKED if lock and not both else OWN, mine)
    if assignment is None or principal.rater_id is None:
        raise errors.AnnotationError("not_found", "there is no such work for you; open your list of work again")
    if both:
        hold_twins(session, assignment)
    return assignment


def shown_reports(session: Session, assignment: Assignment) -> Shown:
    """What the assignment shows, as its recorded order says."""
    item = session.get_one(Item, assignment.item_id)
    protocol = studies.protocol_of(session.get_one(Study, assignment.study_id))
    return _shown(item, shown_of_item(session, protocol, item, assignment.left))


def shown_stamps(session: Session, assignment: Assignment) -> Shown:
    """`shown_reports` without the texts, in whose place a sign is: enough to know a page by and to stamp a label."""
    item, *_ = rows = connect.rows_of(session, STAMPS, {"item": assignment.item_id})
    stamps = {row.id: ("" if row.is_empty else "…", row.shown_sha256, row.stripper_version) for row in rows}
    protocol = studies.protocol_of(session.get_one(Study, assignment.study_id))
    return _shown(item, in_order(protocol, item, assignment.left, lambda name, key: ShownText(name, *stamps[key])))


def _shown(item: Any, texts: Sequence[ShownText]) -> Shown:
    left, right, brought, *_ = (*texts, None, None)
    assert left is not None  # an item shows one text at least
    return Shown(left, right, item.probe, item.kind == "pair", brought)


def page_token(assignment: Assignment, shown: Shown) -> str:
    """Says which texts a page shows without being constant per report: it changes with every assignment."""
    texts = f"{assignment.aid}:{shown.left.shown_sha256}:{shown.right.shown_sha256 if shown.right else ''}"
    texts += f":{shown.probe}" if shown.probe else ""
    texts += f":{shown.brought.shown_sha256}" if shown.brought else ""
    return hashlib.sha256(texts.encode()).hexdigest()[:32]


def current_answers(session: Session, assignment: Assignment) -> dict[str, Label]:
    """The highest revision of each criterion, by its code."""
    return {code: label for code, label in session.execute(ANSWERS, {"assignment": assignment.id})}


def describe_answer(label: Label | Row[Any], shown: Shown) -> dict[str, Any]:
    """One stored answer as its own rater's browser sees it."""
    return {
        "choice": label.choice,
        "rationale": label.rationale,
        "evidence": evidence.spans_for_page(shown.texts, label.evidence),
        "confidence": label.confidence,
        "rev": label.revision,
        "writer": label.writer,
        "seq": label.seq,
    }


def assignment_page(
    session: Session, principal: Principal, aid: str, at: dict[str, int] | None = None
) -> dict[str, Any]:
    """Everything the page needs, as plain values; `at` is its `position` where it was just asked for.

    Raises AnnotationError `not_found`.

    Of two reports rated in one view, whichever of them `aid` names, it is the left one's page, and `beside` says what
    the right one has of its own.
    """
    assignment, *twin = with_twin(session, own_assignment(session, principal, aid))
    study = session.get_one(Study, assignment.study_id)
    protocol = studies.protocol_of(study)
    shown = shown_reports(session, assignment)
    topic = session.get_one(Topic, session.get_one(Item, assignment.item_id).topic_id)
    done, of = (at["done"], at["of"]) if at else position(session, principal)
    return {
        "aid": assignment.aid,
        "page": page_token(assignment, shown),
        "person": principal.opaque_id,
        "status": assignment.status,
        "returned": assignment.returned,
        "study": {"title": protocol.title, "simulated": study.is_simulated, "status": study.status},
        "active_s": active_seconds(session, study, assignment, *twin),
        "position": {"done": done, "of": of},
        "training": _training(session, principal, study, assignment),
        "task_type": protocol.task_type,
        "language": protocol.language,
        "dir": direction(protocol.language),
        "task": protocol.task,
        "guidance_html": rendering.render_report(protocol.guidance),
        "topic": {
            "title": topic.title,
            "prompt": topic.prompt,
            "language": topic.language,
            "dir": direction(topic.language),
        },
        "brought": _drawn(session, assignment, shown.brought) if shown.brought else None,
        "panes": _panes(session, assignment, shown),
        "passages": _passages(session.get_one(Item, assignment.item_id), shown, assignment.left),
        "probe": {"kind": protocol.answers.probe, "text": shown.probe} if shown.probe else None,
        "criteria": _questions(asked_of(session, study, assignment), protocol),
        "choices": _choices(protocol),
        "rationale": protocol.rationale.model_dump(),
        "confidence": protocol.answers.confidence,
        "aids": protocol.study.aids,
        "earlier_reasons": protocol.study.earlier_reasons and assignment.purpose != "training",
        "guess": asked_on_page(session, study, assignment),
        "idle_s": protocol.study.limits.idle_s,
        "answers": {code: describe_answer(row, shown) for code, row in current_answers(session, assignment).items()},
        "rates": _rates(assignment, shown),
        "beside": _beside(session, twin[0]) if twin else None,
        "others": others_said(session, study, assignment, shown.texts),
        "place": assignment.place,
        "preferences": _preferences(session, principal),
    }


def _rates(assignment: Assignment, shown: Shown) -> str | None:
    """The side of the report that is rated, where two are side by side and it is not the only one of its name."""
    if shown.right is None or shown.left.name != "Left" or shown.is_pair:
        return None
    return "right" if assignment.left == "B" else "left"


def _beside(session: Session, twin: Assignment) -> dict[str, Any]:
    """Of the report that is rated in the same view: where its answers go, and what they are."""
    shown = shown_reports(session, twin)
    answers = {code: describe_answer(row, shown) for code, row in current_answers(session, twin).items()}
    return {"aid": twin.aid, "page": page_token(twin, shown), "answers": answers}


def missing_answers(protocol: Protocol, codes: list[str], answers: dict[str, Label]) -> list[dict[str, str]]:
    """What is still between these answers and a submit: `no_choice`, `no_rationale` or `short_rationale` each."""
    missing = []
    for code in codes:
        answer = answers.get(code)
        reason = None
        if answer is None or answer.choice is None:
            reason = "no_choice"
        elif protocol.rationale.required and not answer.rationale.strip():
            reason = "no_rationale"
        elif answer.rationale.strip() and typed_length(answer.rationale) < protocol.rationale.min_length:
            reason = "short_rationale"
        if reason:
            missing.append({"criterion": code, "reason": reason})
    return missing


def _training(session: Session, principal: Principal, study: Study, assignment: Assignment) -> dict[str, Any] | None:
    """How far a training item is; with its agreed answers once it is handed in. None for all other work."""
    if assignment.purpose != "training":
        return None
    handed_in = assignment.status in HANDED_IN
    told = feedback(session, principal, assignment.aid) if handed_in else None
    return {**training_place(session, study, assignment), "feedback": told}


def picture_of_assignment(session: Session, principal: Principal, aid: str, name: str) -> bytes:
    """A picture of a text that the principal's assignment shows. Raises AnnotationError `not_found`."""
    shown = shown_reports(session, own_assignment(session, principal, aid))
    texts = (text.shown_text for text in (shown.left, shown.right, shown.brought) if text is not None)
    return kept.picture_of(session, principal.study_id, name, *texts)


def _panes(session: Session, assignment: Assignment, shown: Shown) -> list[dict[str, Any]]:
    """Each report as HTML; where it has formulas that can be drawn, their MathML by source.

    Its pictures are fetched from `/api/figure/AID/NAME`, which is no address for anybody else.
    """
    panes: list[dict[str, Any]] = []
    for side, text in (("left", shown.left), ("right", shown.right)):
        if text is not None and text.shown_text:
            panes.append({"side": side, **_drawn(session, assignment, text)})
    return panes


def _drawn(session: Session, assignment: Assignment, text: ShownText) -> dict[str, Any]:
    html = rendering.render_report(text.shown_text)
    drawn = rendering.formulas_of(html)
    html = kept.addressed(session, assignment.study_id, html, f"/api/figure/{assignment.aid}")
    return {"name": text.name, "html": html} | ({"formulas": drawn} if drawn else {})


def _choices(protocol: Protocol) -> list[dict[str, str]]:
    """The answers in key order, as stored and as shown; a rating's numbers are in its scales instead."""
    texts = CHOICE_TEXTS | {label.id: label.text for label in protocol.answers.labels}
    return [{"id": choice, "text": texts[choice]} for choice in protocol.choices]


def _passages(item: Item, shown: Shown, a_is: str | None) -> dict[str, tuple[int | None, ...]] | None:
    """For each block of a pane the most alike block of the other; worked out here only where none are stored."""
    if shown.right is None:
        return None
    a, b = (shown.right, shown.left) if a_is == "B" else (shown.left, shown.right)
    alike = from_stored(item.passages, a.shown_sha256, b.shown_sha256) or compare_reports(a.shown_text, b.shown_text)
    left, right = (alike.b, alike.a) if a_is == "B" else (alike.a, alike.b)
    return {"left": left, "right": right}


def _questions(asked: Sequence[Criterion], protocol: Protocol) -> list[dict[str, Any]]:
    questions = []
    for row in asked:
        scale = scale_of(protocol, row.scale)
        questions.append(
            {
                "id": row.code,
                "label": row.label,
                "text": row.text,
                "category": row.category,
                "subcategory": row.subcategory,
                "scale": scale.model_dump() if scale else None,
            }
        )
    return questions


def _preferences(session: Session, principal: Principal) -> dict[str, Any]:
    if principal.enrollment_id is None:
        return {}
    return session.get_one(people_tables.Enrollment, principal.enrollment_id).preferences

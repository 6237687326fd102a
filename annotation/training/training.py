"""Training: items with an agreed answer, feedback, and a pass mark, which with consent opens the first real item.

Everybody gets the same items in the same order; the side is a coin for each person, and turns with every attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import orm, select

from annotation.designs import pairing, sides_and_orders
from annotation.errors import AnnotationError
from annotation.labels.entries import clean
from annotation.people import consent, principals
from annotation.protocol import Protocol
from annotation.studies import audit, protocol_of
from annotation.training.gold import GoldResult, gold_results
from db.people_tables import Enrollment
from db.tables import HANDED_IN, Assignment, Item, Study
from db.types import now


@dataclass(frozen=True)
class TrainingState:
    """How far one person is. `status`: none (the study asks for none) | unready (it lacks items) | under_way | passed |
    failed (every attempt is used up)."""

    status: str = "none"
    items: int = 0  # of an attempt
    done: int = 0  # handed in, in this attempt
    attempt: int = 1
    attempts: int = 1
    matching: int = 0  # answers of the newest attempt with anything handed in that match the agreed ones
    verdicts: int = 0  # of that attempt, handed in
    pass_mark: float = 0.0

    @property
    def share(self) -> float | None:
        """Of matching answers, 0 to 1; None before the first."""
        return self.matching / self.verdicts if self.verdicts else None


def training_items(session: orm.Session, study: Study) -> list[int]:
    """Ids of the items everybody is trained on, in order: as many as the protocol says, drawn from the study's seed."""
    ready = select(Item.id).where(Item.study_id == study.id, Item.purpose == "training", Item.excluded_at.is_(None))
    drawn = sorted(session.scalars(ready), key=lambda item: pairing.seeded(study.seed, "training", item).random())
    return drawn[: protocol_of(study).study.training.items]


def needs_training(session: orm.Session, study: Study, person: principals.Principal | Enrollment) -> bool:
    """Whether the study trains its people, and this one has not passed yet. Who settles disputes is not trained."""
    enrollment = _enrolled(session, person)
    asked = protocol_of(study).study.training.items > 0
    if not asked or enrollment is None or enrollment.role == "adjudicator":
        return False
    return enrollment.training_passed_at is None


def training_state(session: orm.Session, study: Study, person: principals.Principal | Enrollment) -> TrainingState:
    """How far this person is in the study's training."""
    protocol, enrollment = protocol_of(study), _enrolled(session, person)
    asked = protocol.study.training
    if enrollment is None or (enrollment.training_passed_at is None and not needs_training(session, study, enrollment)):
        return TrainingState()
    chosen = training_items(session, study)
    tries = _tries(session, study, enrollment.rater_id)
    last = max((attempt for _, attempt in tries), default=1)
    handed_in = sum((item, last) in tries for item in chosen)
    results = gold_results(
        session, study, "training", Assignment.rater_id == enrollment.rater_id, Assignment.pass_no == last
    )
    is_over = 0 < handed_in == len(chosen)
    if enrollment.training_passed_at is not None:
        status = "passed"
    elif len(chosen) < asked.items:
        status = "unready"
    elif is_over and last >= asked.attempts:
        status = "failed"
    else:
        status = "under_way"
    begins_again = is_over and status == "under_way"
    return TrainingState(
        status=status,
        items=len(chosen),
        done=0 if begins_again else handed_in,
        attempt=last + 1 if begins_again else last,
        attempts=asked.attempts,
        matching=sum(result.matches for result in results),
        verdicts=len(results),
        pass_mark=asked.pass_mark,
    )


def next_training(session: orm.Session, study: Study, principal: principals.Principal) -> Assignment | None:
    """The person's next training item, taken; None when training is over, passed or failed, or not asked for.

    The caller holds the person's lock, so that two tabs do not make two of one.
    """
    enrollment = _enrolled(session, principal)
    if enrollment is None or not needs_training(session, study, enrollment):
        return None
    state = training_state(session, study, enrollment)
    if state.status != "under_way":
        return None
    tries = _tries(session, study, enrollment.rater_id)
    item = next(item for item in training_items(session, study) if (item, state.attempt) not in tries)
    is_pair = session.get_one(Item, item).kind == "pair"
    mine = Assignment(
        study_id=study.id, item_id=item, rater_id=enrollment.rater_id, purpose="training", slot_no=enrollment.id,
        pass_no=state.attempt, status="taken", taken_at=now(), active_at=now(), plan_seed=study.seed,
        left=training_side(study.seed, item, enrollment.id, state.attempt) if is_pair else None,
    )  # fmt: skip
    session.add(mine)
    session.flush()
    audit(session, study.id, enrollment.rater_id, "take", assignment=mine.id)
    return mine


def training_side(seed: int, item: int, enrollment: int, attempt: int) -> str:
    """Which of A and B is on the left: a coin for this person and item, turned with every further attempt."""
    first = "A" if pairing.seeded(seed, "training side", item, enrollment).random() < 0.5 else "B"
    return first if attempt % 2 else sides_and_orders.OTHER[first]


def end_training_item(session: orm.Session, principal: principals.Principal, assignment: Assignment) -> dict[str, Any]:
    """What the reply to a submit adds for a training item, `{feedback}`; nothing for other work.

    With the last item of an attempt it is decided whether the training is passed.
    """
    if assignment.purpose != "training":
        return {}
    _end_attempt(session, session.get_one(Study, assignment.study_id), assignment)
    session.flush()
    return {"feedback": feedback(session, principal, assignment.aid)}


def _end_attempt(session: orm.Session, study: Study, assignment: Assignment) -> None:
    mine = Enrollment.study_id == study.id, Enrollment.rater_id == assignment.rater_id
    enrollment = session.scalar(select(Enrollment).where(*mine))
    if enrollment is None or not needs_training(session, study, enrollment):
        return
    tries = _tries(session, study, enrollment.rater_id)
    if any((item, assignment.pass_no) not in tries for item in training_items(session, study)):
        return
    results = gold_results(
        session, study, "training", Assignment.rater_id == assignment.rater_id, Assignment.pass_no == assignment.pass_no
    )
    passed = is_passed(results, protocol_of(study).study.training.pass_mark)
    enrollment.training_passed_at = now() if passed else None
    audit(
        session, study.id, assignment.rater_id, "training", attempt=assignment.pass_no, passed=passed,
        matching=sum(result.matches for result in results), verdicts=len(results),
    )  # fmt: skip


def is_passed(results: Sequence[GoldResult], pass_mark: float) -> bool:
    """Whether the share of matching answers reaches the mark; never where nothing was answered."""
    matching = sum(result.matches for result in results)
    return bool(results) and matching + 1e-9 >= pass_mark * len(results)


def feedback(session: orm.Session, principal: principals.Principal, aid: str) -> dict[str, Any]:
    """What a handed-in training item says back: each agreed question, and the score of this attempt up to it.

    `result` is with the last item of an attempt: passed | again | failed. Raises AnnotationError `not_found` for
    any other work, and for training that is not handed in: nobody sees an agreed answer before giving their own.
    """
    assignment = session.scalar(
        select(Assignment).where(
            Assignment.aid == clean(aid), Assignment.study_id == principal.study_id,
            Assignment.rater_id == principal.rater_id, Assignment.purpose == "training",
            Assignment.status.in_(HANDED_IN),
        )
    )  # fmt: skip
    if assignment is None or principal.rater_id is None:
        raise AnnotationError("not_found", "there is no such work for you; open your list of work again")
    study = session.get_one(Study, principal.study_id)
    protocol = protocol_of(study)
    results = gold_results(
        session, study, "training", Assignment.rater_id == assignment.rater_id, Assignment.pass_no == assignment.pass_no
    )
    here = [result for result in results if result.assignment == assignment.id]
    so_far = results[: results.index(here[-1]) + 1] if here else []
    return {
        **training_place(session, study, assignment),
        "answers": [
            {
                "criterion": result.criterion, "yours": result.answer, "agreed": result.gold,
                "matches": result.matches, "reason": result.reason,
            }
            for result in here
        ],
        "matching": sum(result.matches for result in so_far),
        "verdicts": len(so_far),
        "pass_mark": protocol.study.training.pass_mark,
        "result": _result(session, study, protocol, assignment, results),
    }  # fmt: skip


def training_place(session: orm.Session, study: Study, assignment: Assignment) -> dict[str, int]:
    """How far a training item is: `{item, of, attempt, attempts}`."""
    chosen = training_items(session, study)
    number = chosen.index(assignment.item_id) + 1 if assignment.item_id in chosen else len(chosen)
    attempts = protocol_of(study).study.training.attempts
    return {"item": number, "of": len(chosen), "attempt": assignment.pass_no, "attempts": attempts}


def pass_training(session: orm.Session, admin: principals.Principal, name: str, reason: str) -> None:
    """Let this person label although the training was not passed; the reason is kept.

    Raises AnnotationError `unknown_person`, `no_reason`, or `no_training` where the study asks for none.
    """
    study = principals.study_for(session, admin, "admin")
    enrollment = principals.enrollment_of(session, study, name)
    if not reason.strip():
        raise AnnotationError("no_reason", "passing somebody by hand needs a reason; give it with --reason")
    if protocol_of(study).study.training.items == 0:
        raise AnnotationError(
            "no_training", "study {name!r} asks for no training; there is nothing to pass", name=study.name
        )
    if enrollment.training_passed_at is None:
        enrollment.training_passed_at = now()
        audit(
            session, study.id, admin.rater_id, "pass_training", enrollment=enrollment.pseudonym, reason=clean(reason)
        )  # fmt: skip


def refuse_too_few(session: orm.Session, study: Study) -> None:
    """A study that asks for more training items than it has cannot open. Raises AnnotationError `no_training_items`."""
    wanted, there = protocol_of(study).study.training.items, len(training_items(session, study))
    if there < wanted:
        raise AnnotationError(
            "no_training_items",
            "study {name!r} trains its people on {wanted} items and has {there}; bring in more with: calipers import "
            "gold FILE --study {name} --use training, or lower study.training.items", name=study.name, wanted=wanted,
            there=there,
        )  # fmt: skip


def _result(
    session: orm.Session, study: Study, protocol: Protocol, assignment: Assignment, results: Sequence[GoldResult]
) -> str | None:
    """With the item handed in last of a whole attempt, how the attempt ended."""
    tries = _tries(session, study, assignment.rater_id)
    is_last = bool(results) and results[-1].assignment == assignment.id
    if not is_last or any((item, assignment.pass_no) not in tries for item in training_items(session, study)):
        return None
    if is_passed(results, protocol.study.training.pass_mark):
        return "passed"
    return "again" if assignment.pass_no < protocol.study.training.attempts else "failed"


def _tries(session: orm.Session, study: Study, rater_id: int | None) -> set[tuple[int, int]]:
    """(item, attempt) of every training item this person handed in."""
    rows = select(Assignment.item_id, Assignment.pass_no).where(
        Assignment.study_id == study.id, Assignment.rater_id == rater_id, Assignment.purpose == "training",
        Assignment.status.in_(HANDED_IN),
    )  # fmt: skip
    return {(item, attempt) for item, attempt in session.execute(rows)}


def _enrolled(session: orm.Session, person: principals.Principal | Enrollment) -> Enrollment | None:
    if isinstance(person, Enrollment):
        return person
    return session.get(Enrollment, person.enrollment_id) if person.enrollment_id is not None else None


Gate = Literal["consent", "training"]


def closed_gate(session: orm.Session, principal: principals.Principal) -> Gate | None:
    """The gate that keeps this person from taking work: `training` once it is failed for good, or cannot be given."""
    if consent.consent_needed(session, principal):
        return "consent"
    study = session.get_one(Study, principal.study_id)
    if not needs_training(session, study, principal):
        return None
    return "training" if training_state(session, study, principal).status in ("failed", "unready") else None


def refuse_skip(assignment: Assignment) -> None:
    """Training is the same for everybody. Raises AnnotationError `forbidden`."""
    if assignment.purpose == "training":
        raise AnnotationError("forbidden", "training cannot be skipped; answer as well as you can, or flag a problem")


def refuse_reopen(session: orm.Session, principal: principals.Principal, assignment: Assignment) -> None:
    """Nothing is taken up again once its agreed answers were shown, nor without consent. Raises AnnotationError."""
    if assignment.purpose == "training":
        raise AnnotationError("locked", "training cannot be reopened: its agreed answers have been shown")
    if consent.consent_needed(session, principal):
        raise AnnotationError("forbidden", "agree to the study's consent text first; it is on the app's first page")

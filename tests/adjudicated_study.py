"""A study whose annotators are known to disagree, and an adjudicator: verdicts go in, whatever side they stand on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.disputes.disputes import turned
from annotation.labelling import save, submit
from annotation.labels.evidence import plain_text, utf16_unit
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.page import assignment_page, shown_reports
from db.connect import transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment
from tests.prepared import prepared
from tests.small_study import PROTOCOL, a_person, answer, make_study

ANN, BEN, CYD = "Ann Ashworth", "Ben Barlow", "Cyd Carver"
UNLIKE = {ANN: {"clear": "A", "deep": "A"}, BEN: {"clear": "B", "deep": "A"}, CYD: {"clear": "tie", "deep": "A"}}


@prepared
def make_adjudicated(
    engine: Engine, root: Path, said: Mapping[str, Mapping[str, str]] = UNLIKE, *, protocol: str = PROTOCOL, **more: Any
) -> int:
    """Every annotator has said the same of every item, by verdict; the study's id."""
    study = make_study(engine, root, overlap=len(said), protocol=protocol, **more)
    for name, verdicts in said.items():
        with transaction(engine) as session:
            person = a_person(session, study, name)
            while (assignment := take(session, person)) is not None:
                decide(session, person, assignment, verdicts)
    return study


def decide(
    session: Session, person: Principal, assignment: Assignment, verdicts: Mapping[str, str], **changes: Any
) -> None:
    """Give these verdicts on an assignment's questions, quoting its left report, and hand it in."""
    page = assignment_page(session, person, assignment.aid)
    text = plain_text(shown_reports(session, assignment).left.shown_text)
    at = text.casefold().index("it rises")
    start, quote = utf16_unit(text, at), text[at : at + len("it rises")]
    evidence = [{"side": "left", "start": start, "end": start + len(quote), "quote": quote}]
    asked = [one["id"] for one in page["criteria"]]
    entries = [
        answer(
            page, code, turned(verdicts[code], assignment.left), base_rev=page["answers"].get(code, {}).get("rev", 0),
            **{"evidence": evidence, "rationale": f"the {turned(verdicts[code], assignment.left)} one", **changes},
        )
        for code in asked
    ]  # fmt: skip
    saved = save(session, person, [one.model_copy(update={"writer": f"writer-{one.client_uuid}"}) for one in entries])
    assert saved.refused == []
    revs = {code: ack["rev"] for code, ack in zip(asked, saved.acks, strict=True)}
    submit(session, person, assignment.aid, page["page"], f"{assignment.aid}-{assignment.rev}", revs)


def own(session: Session, person: Principal, *where: Any) -> list[Assignment]:
    """This person's work, the oldest first."""
    mine = select(Assignment).where(Assignment.rater_id == person.rater_id, *where)
    return list(session.scalars(mine.order_by(Assignment.id)))


def zoe(session: Session, study: int, name: str = "Zoe Zimmer") -> Principal:
    return a_person(session, study, name, "adjudicator")


def person(session: Session, study: int, name: str) -> Principal:
    rater = session.scalars(select(Rater).where(Rater.handle == name)).one()
    row = session.scalars(select(Enrollment).where(Enrollment.rater_id == rater.id)).one()
    return Principal(study, row.role, rater.id, row.id, rater.opaque_id)

"""What an adjudicator is shown of everybody's answers, and that no side anybody saw changes what is settled."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from annotation.designs.sides_and_orders import OTHER
from annotation.disputes.disputes import disputes, turned
from annotation.disputes.settled import settled
from annotation.labels.evidence import code_point, plain_text
from annotation.studies import criteria_of
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page, shown_reports
from db.connect import reading, transaction
from db.tables import Assignment, Item, Label, Report, Study
from db.types import now
from tests.adjudicated_study import ANN, BEN, CYD, UNLIKE, decide, make_adjudicated, own, person, zoe
from tests.small_study import a_person, make_study


@pytest.mark.databases("sqlite")
def test_the_page_turns_everybodys_answers_to_its_own_sides_and_names_nobody(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path)
    with transaction(engine) as session:
        for label in session.scalars(select(Label).where(Label.rationale != "").limit(1)):
            work = session.get_one(Assignment, label.assignment_id)
            session.add(
                Label(
                    assignment_id=work.id, criterion_id=label.criterion_id, revision=label.revision + 1,
                    choice=label.choice, rationale=f"as {BEN} says", evidence=label.evidence,
                    left_sha256=label.left_sha256, right_sha256=label.right_sha256,
                    stripper_version=label.stripper_version,
                )
            )  # fmt: skip
        me, orders, redacted = zoe(session, study), set(), 0
        while (work := take(session, me)) is not None:
            page = assignment_page(session, me, work.aid)
            assert list(page["others"]) == ["clear"]
            texts = {side: plain_text(text) for side, (text, _) in shown_reports(session, work).texts.items()}
            said = page["others"]["clear"]
            assert [one["rater"] for one in said] == [1, 2, 3]
            expected = {turned(UNLIKE[name]["clear"], work.left): name for name in UNLIKE}
            orders.add(tuple(expected[one["choice"]] for one in said))
            for one in said:
                theirs = own(
                    session, person(session, study, expected[one["choice"]]), Assignment.item_id == work.item_id
                )
                assert one["swapped"] is (theirs[0].left != work.left)
                (span,) = one["evidence"]
                assert span["side"] == ("right" if one["swapped"] else "left"), "everybody quoted what stood left"
                assert span["verified"]
                start, end = (code_point(texts[span["side"]], span[name]) for name in ("start", "end"))
                assert texts[span["side"]][start:end] == "It rises" == span["quote"]
                redacted += one["rationale"] == "as [name removed] says"
                assert set(one) == {"rater", "choice", "rationale", "swapped", "confidence", "evidence"}
            words = str(page)
            assert not [name for name in (ANN, BEN, CYD, "annotator-0", "alpha", "beta") if name in words]
            decide(session, me, work, {"clear": "A"})
        assert redacted == 1
        assert len(orders) > 2, "Rater 1 is not always the same person"


@pytest.mark.databases("sqlite")
def test_annotators_see_nobody_elses_answers(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, {name: UNLIKE[name] for name in (ANN, BEN)})
    with reading(engine) as session:
        ann = person(session, study, ANN)
        for work in own(session, ann):
            assert assignment_page(session, ann, work.aid)["others"] is None


def test_whichever_side_anybody_saw_the_queue_and_the_settled_verdict_are_the_same(
    engine: Engine, tmp_path: Path
) -> None:
    study = make_study(engine, tmp_path, overlap=1)
    with transaction(engine) as session:
        found = session.get_one(Study, study)
        session.execute(update(Assignment).values(status="void"))
        raters = [a_person(session, study, name) for name in UNLIKE]
        items = session.scalars(select(Item).order_by(Item.id)).all()
        criterion = criteria_of(session, found)[0]
        for item, lefts in zip(items, product("AB", repeat=3), strict=False):
            texts = {side: shown.shown_sha256 for side, shown in reports(session, item).items()}
            for number, (rater, left, verdict) in enumerate(
                zip(raters, lefts, ("A", "B", "tie"), strict=True), start=1
            ):
                work = Assignment(
                    study_id=study, item_id=item.id, rater_id=rater.rater_id, slot_no=number, plan_seed=1, left=left,
                    status="submitted", taken_at=now(), submitted_at=now(),
                )  # fmt: skip
                session.add(work)
                session.flush()
                session.add(
                    Label(
                        assignment_id=work.id, criterion_id=criterion.id, revision=1, choice=turned(verdict, left),
                        left_sha256=texts[left], right_sha256=texts[OTHER[left]], stripper_version="1",
                    )
                )  # fmt: skip
        move_study(session, found, "closed")
        queue = [(one.criterion, sorted(one.verdicts.values()), one.reasons) for one in disputes(session, found)]
        assert queue == [("clear", ["A", "B", "tie"], ("disagreement", "tie_against_winner"))] * 8
        me = zoe(session, study)
        sides = Counter[str]()
        while (work := take(session, me)) is not None:
            sides[str(work.left)] += 1
            decide(session, me, work, {"clear": "B"})
        assert len(sides) == 2
        assert [one.verdict for one in settled(session, found)] == ["B"] * 8


def reports(session: Session, item: Item) -> dict[str, Any]:
    return {"A": session.get_one(Report, item.report_a_id), "B": session.get_one(Report, item.report_b_id)}

"""A protocol with `answers.confidence`: asked of people and judges, kept with the label, exported, never required."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.disputes.disputes import disputes
from annotation.labelling import save, submit
from annotation.people.principals import Principal
from annotation.protocol import parse_protocol
from annotation.studies import not_yet_active
from annotation.verdicts import labels_csv, load_verdicts
from annotation.work.claiming import take
from annotation.work.history import answer_history
from annotation.work.page import assignment_page
from db.connect import transaction
from db.tables import Study
from tests.small_study import PROTOCOL, a_person, answer, make_study

ASKED = PROTOCOL.replace("[answers]\n", "[answers]\nconfidence = true\n")


def test_the_key_is_acted_on() -> None:
    assert not_yet_active(parse_protocol(ASKED)) == not_yet_active(parse_protocol(PROTOCOL))


def work(session: Session, person: Principal, choice: str, sure: int | None) -> bool:
    """One item answered and handed in, looked at on the way; False where there is none left."""
    taken = take(session, person)
    if taken is None:
        return False
    page = assignment_page(session, person, taken.aid)
    assert page["confidence"] is True
    given = [answer(page, code, choice, confidence=sure) for code in ("clear", "deep")]
    saved = save(session, person, given)
    assert saved.refused == []
    again = assignment_page(session, person, taken.aid)
    assert [again["answers"][code]["confidence"] for code in ("clear", "deep")] == [sure, sure]
    told = answer_history(session, person, taken.aid)
    assert {line["confidence"] for one in told for line in one["revisions"]} == {sure}
    revs = {entry.criterion: ack["rev"] for entry, ack in zip(given, saved.acks, strict=True)}
    submit(session, person, taken.aid, page["page"], f"{taken.aid}-submit", revs)
    return True


def test_what_people_say_of_themselves_is_kept_shown_told_and_exported(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path / "reports", overlap=2, protocol=ASKED)
    with transaction(engine) as session:
        ada, bo = (a_person(session, study_id, name) for name in ("Ada", "Bo"))
        work(session, ada, "left", 2)
        while work(session, bo, "tie", None):
            pass
        study = session.get_one(Study, study_id)
        found = disputes(session, study)
        assert [one.reasons for one in found] == [("disagreement", "low_confidence", "tie_against_winner")] * 2
        verdicts = load_verdicts(session, study)
        assert sorted(verdicts["confidence"].dropna()) == [2, 2], "Bo never said, and never had to"
        assert "confidence" in labels_csv(verdicts).splitlines()[0]

"""The rules every database keeps: they hold after a study has run, and each one that is broken is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from typer.testing import CliRunner

from annotation.facts.soundness import find_faults
from annotation.labelling import submit
from annotation.participation.standing import void_work, withdraw
from annotation.people.principals import local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.command_line import app
from db.connect import reading, transaction
from db.people_tables import Packet
from db.tables import Assignment, Study
from db.types import now
from tests.small_study import a_person, answer_all, make_study


@pytest.fixture
def ran(engine: Engine, tmp_path: Path) -> Engine:
    """Handed in, in work, returned, voided: something of everything."""
    study_id = make_study(engine, tmp_path, overlap=3)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        for name in ("Ada", "Bea", "Cid"):
            person = a_person(session, study_id, name)
            for _ in range(2):
                work = take(session, person)
                assert work is not None
                page = assignment_page(session, person, work.aid)["page"]
                submit(session, person, work.aid, page, f"submit-{work.aid[:8]}", answer_all(session, person, work.aid))
        withdraw(session, admin, "Bea")
        void_work(session, admin, "Cid", "a test")
    return engine


def test_after_work_returns_and_voids_every_rule_holds(ran: Engine) -> None:
    with reading(ran) as session:
        assert find_faults(session) == []


HANDED_IN = "WHERE status = 'submitted'"
BREAKS = {
    "every slot is open, in work or done exactly once": "UPDATE assignments SET status = 'void' WHERE status = 'open'",
    "a slot keeps its order when it changes hands": "UPDATE assignments SET plan_seed = id",
    "items for training and attention have no label slots, and label items nothing else": (
        "UPDATE items SET purpose = 'attention'"
    ),
    "a retest repeats work that its person handed in": (
        f"UPDATE assignments SET purpose = 'retest', pass_no = 2 {HANDED_IN}"
    ),
    "work that was handed in says when": f"UPDATE assignments SET submitted_at = NULL {HANDED_IN}",
    "revisions of an answer are numbered 1, 2, 3 without a gap": "UPDATE labels SET revision = 2",
    "work that was handed in holds answers": "DELETE FROM labels",
    "an answer about a pair stands on its two texts, each on its side": "UPDATE labels SET left_sha256 = right_sha256",
    "the plan of a study is the one whose root was kept": (
        "UPDATE assignments SET \"left\" = CASE WHEN \"left\" = 'A' THEN 'B' ELSE 'A' END WHERE status = 'open'"
    ),
}


def test_every_rule_that_is_broken_is_named_also_where_somebody_took_the_triggers_away(ran: Engine) -> None:
    with transaction(ran) as session:
        if ran.dialect.name == "sqlite":
            for name in session.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
                session.execute(text(f"DROP TRIGGER {name}"))
        else:
            for table in ("labels", "assignments"):
                session.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        for rule, statement in BREAKS.items():
            nested = session.begin_nested()
            session.execute(text(statement))
            faults = {fault.rule: fault for fault in find_faults(session)}
            nested.rollback()
            assert faults[rule].places >= len(faults[rule].first) > 0
        assert find_faults(session) == []


def test_a_packet_in_other_hands_is_found(ran: Engine) -> None:
    with transaction(ran) as session:
        study = session.scalars(select(Study.id)).one()
        dan = a_person(session, study, "Dan")
        packet = Packet(study_id=study, enrollment_id=dan.enrollment_id, secret="s", created_at=now())
        session.add(packet)
        session.flush()
        of_ada = session.scalars(select(Assignment).where(Assignment.status == "submitted")).first()
        assert of_ada is not None
        of_ada.packet_id = packet.id
    with reading(ran) as session:
        (fault,) = find_faults(session)
    assert (fault.rule, fault.places) == ("work in a packet belongs to the person the packet was made for", 1)


def test_doctor_without_a_file_says_whether_the_database_is_sound(engine_here: Engine, tmp_path: Path) -> None:
    make_study(engine_here, tmp_path / "reports")
    fine = CliRunner().invoke(app, ["doctor"])
    assert (fine.exit_code, fine.stdout) == (0, f"{engine_here.url}: every rule holds\n")
    with transaction(engine_here) as session:
        session.execute(text("UPDATE assignments SET status = 'void' WHERE id = 1"))
    bad = CliRunner().invoke(app, ["doctor"])
    assert bad.exit_code == 1
    assert "broken: every slot is open, in work or done exactly once: 1 places, first item 1, slot 1" in bad.stdout
    told = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert (told["sound"], told["faults"][0]["places"]) == (False, 1)

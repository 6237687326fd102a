"""What goes into a packet: exactly the next items, their pages, and nothing that says whose the reports are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.offline.packets import list_packets, packet_data, reserve_packet, withdraw_packet
from annotation.participation.standing import pause, set_quota
from annotation.people.consent import give_consent
from annotation.people.principals import Principal, local_admin
from annotation.work.claiming import in_work, take
from annotation.work.open_and_close import move_study
from app.component import inline_json, packet_html
from db.connect import reading, transaction
from db.people_tables import Packet
from db.tables import Assignment, Event, Study
from db.types import now
from plain.hashes import canonical
from tests.ballot_filling import Filling
from tests.small_study import PROTOCOL, a_person, make_study

CONSENT = PROTOCOL.replace("[study]", '[study]\nconsent = "Labels are *published*."')
TRAINED = PROTOCOL.replace("[study]", "[study]\ntraining = {items = 1}")


def admin_of(session: Any, study_id: int) -> Principal:
    return local_admin(session.get_one(Study, study_id))


def test_a_packet_holds_exactly_the_items_asked_for_and_they_are_nobody_elses(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=1)
    with transaction(engine) as session:
        ada, bob = a_person(session, study_id, "Ada"), a_person(session, study_id, "Bob")
        online = take(session, ada)
        made = reserve_packet(session, admin_of(session, study_id), "Ada", 4)
        assert [item["status"] for item in made.data["items"]] == ["taken"] * 4
        assert in_work(session, ada) is online, "and what is in work online goes on"
        aids = {item["aid"] for item in made.data["items"]}
        rows = session.scalars(select(Assignment).where(Assignment.aid.in_(aids))).all()
        assert {(row.source, row.rater_id) for row in rows} == {("packet", ada.rater_id)}
        assert len({row.item_id for row in rows} | {online.item_id if online else 0}) == 5
        got = set()
        while (found := take(session, bob)) is not None and found.aid not in got:
            got.add(found.aid)
            found.status, found.submitted_at = "submitted", now()
        assert len(got) == 4
        assert not got & aids
        with pytest.raises(AnnotationError, match="only 0 of 1"):
            reserve_packet(session, admin_of(session, study_id), "Bob", 1)


@pytest.mark.databases("sqlite")
def test_what_a_packet_cannot_be_had_for_is_said_and_nothing_is_taken(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=1)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
    refusals = [("Ada", 0, "too_many"), ("Ada", 10, "too_few"), ("Zoe", 1, "unknown_person")]
    for name, items, code in refusals:
        with pytest.raises(AnnotationError) as refused, transaction(engine) as session:
            reserve_packet(session, admin_of(session, study_id), name, items)
        assert refused.value.code == code
    with pytest.raises(AnnotationError, match="admin"), transaction(engine) as session:
        reserve_packet(session, ada, "Ada", 1)
    with pytest.raises(AnnotationError, match="paused"), transaction(engine) as session:
        pause(session, admin_of(session, study_id), "Ada")
        reserve_packet(session, admin_of(session, study_id), "Ada", 1)
    with pytest.raises(AnnotationError, match="only 2 of 3"), transaction(engine) as session:
        set_quota(session, admin_of(session, study_id), 2, "Ada")
        reserve_packet(session, admin_of(session, study_id), "Ada", 3)
    with pytest.raises(AnnotationError, match="closed"), transaction(engine) as session:
        move_study(session, session.get_one(Study, study_id), "closed")
        reserve_packet(session, admin_of(session, study_id), "Ada", 1)
    with reading(engine) as session:
        assert session.scalars(select(Packet)).all() == []
        assert set(session.scalars(select(Assignment.status))) == {"open"}


def test_a_withdrawn_packet_gives_back_what_was_not_handed_in(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, overlap=1)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        admin = admin_of(session, study_id)
        made = reserve_packet(session, admin, "Ada", 3)
        assert withdraw_packet(session, admin, made.packet_id) == 3
        assert withdraw_packet(session, admin, made.packet_id) == 0
        statuses = select(Assignment.status).where(Assignment.study_id == study_id)
        assert sorted(session.scalars(statuses)).count("open") == 9
        assert take(session, ada) is not None
        [row] = list_packets(session, admin)
        assert (row["items"], row["handed_in"], row["withdrawn"]) == (3, 0, True)
        told = session.scalars(select(Event.what).where(Event.study_id == study_id, Event.kind == "audit")).all()
        assert {"packet", "withdraw_packet"} <= set(told)
        with pytest.raises(AnnotationError, match="no packet"):
            withdraw_packet(session, admin, "f" * 32)


def test_the_hash_is_that_of_what_the_file_says_and_the_secret_stands_only_there(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path, protocol=CONSENT)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        made, other = (reserve_packet(session, admin_of(session, study_id), "Ada", 2) for _ in range(2))
        stored = session.scalars(select(Packet).where(Packet.packet_id == made.packet_id)).one()
        assert made.sha256 == hashlib.sha256(canonical(made.data)).hexdigest() == stored.sha256
        assert made.sha256 == hashlib.sha256(canonical(packet_data(session, stored))).hexdigest()
        assert len(bytes.fromhex(made.secret)) == 32
        assert made.secret == stored.secret != other.secret
        assert made.secret not in canonical(made.data).decode()
        consent = made.data["consent"]
        assert consent["needed"]
        assert "<em>published</em>" in consent["html"]
        give_consent(session, ada, consent["sha256"])
        assert not packet_data(session, stored)["consent"]["needed"]
    html = packet_html(made)
    assert html.count(made.secret) == 1
    assert other.secret not in html


@pytest.mark.databases("sqlite")
def test_who_has_not_passed_the_training_gets_no_packet(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        a_person(session, study_id)
        study = session.get_one(Study, study_id)
        study.protocol_text = TRAINED
        with pytest.raises(AnnotationError, match="training"):
            reserve_packet(session, local_admin(study), "Ada", 1)


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!-- <script>", "]]>", "a\u2028b\u2029c", "&lt;"]
)
def test_no_text_can_end_the_script_it_stands_in(text: str) -> None:
    inline = inline_json({text: text})
    assert json.loads(inline) == {text: text}
    assert not set(inline) & set("<>&\u2028\u2029")


@pytest.mark.databases("sqlite")
def test_a_filled_packet_is_signed_alike_by_the_test_and_the_import(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        a_person(session, study_id)
        made = reserve_packet(session, admin_of(session, study_id), "Ada", 1)
    assert json.loads(Filling(made).ballot())["packet_sha256"] == made.sha256

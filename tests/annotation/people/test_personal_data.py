"""What is stored about one person is handed out whole; their name goes when they ask, and all names when time is over."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.labelling import save, submit
from annotation.leaks.redaction import PLACES, redactor_of
from annotation.participation import own_studies
from annotation.participation.audit_trail import list_acts
from annotation.participation.personal_data import (
    delete_names,
    delete_names_due,
    erase_person,
    keep_names,
    names_due,
    person_record,
)  # fmt: skip
from annotation.participation.standing import withdraw
from annotation.people.accounts import Account, invite_group, sign_in_account
from annotation.people.links import invite, open_link
from annotation.people.principals import Principal, local_admin, name_of
from annotation.people.sign_ins import sign_in, who
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import set_status
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Enrollment, Invite, Rater
from db.tables import Event, Study
from db.types import Record, now
from tests.small_study import PROTOCOL, answer, answer_all, make_study

NAME = "Ada Lovelace"


def admin_of(session: Session, study_id: int) -> Principal:
    return local_admin(session.get_one(Study, study_id))


def handed_in(engine: Engine, study_id: int, name: str = NAME) -> tuple[str, str]:
    """(link, cookie) of somebody who handed in one item and has another in hand."""
    with transaction(engine) as session:
        token = invite(session, admin_of(session, study_id), name, "annotator")
        cookie = sign_in(session, token, "127.0.0.1")
        person = who(session, cookie)
        assert cookie is not None
        assert person is not None
        mine = take(session, person)
        assert mine is not None
        page = assignment_page(session, person, mine.aid)
        submit(session, person, mine.aid, page["page"], "submit-0001", answer_all(session, person, mine.aid))
        take(session, person)
    return token, cookie


def everything(session: Session) -> str:
    rows: list[Any] = [tuple(row) for table in Record.metadata.sorted_tables for row in session.execute(select(table))]
    return " ".join(map(str, rows))


def test_an_erased_name_is_in_no_table_and_the_labels_stay_under_the_pseudonym(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    token, cookie = handed_in(engine, study_id)
    with reading(engine) as session:
        before = load_verdicts(session, session.get_one(Study, study_id))
    with transaction(engine) as session:
        assert NAME in everything(session)
        assert erase_person(session, admin_of(session, study_id), NAME) == "annotator-01"
    with transaction(engine) as session:
        assert NAME not in everything(session)
        assert (sign_in(session, token, "127.0.0.1"), who(session, cookie)) == (None, None)
        assert load_verdicts(session, session.get_one(Study, study_id)).equals(before)
        assert len(before) == 2
        with pytest.raises(AnnotationError, match="nobody called"):
            erase_person(session, admin_of(session, study_id), NAME)
        told = session.scalars(select(Event).where(Event.what == "erase_person")).one()
        assert told.data == {"enrollment": "annotator-01"}


@pytest.mark.parametrize("how", ["erased", "all"])
def test_a_name_that_is_deleted_stays_out_of_what_is_exported_of_others_reasons(
    engine: Engine, tmp_path: Path, how: str
) -> None:
    study_id = make_study(engine, tmp_path)
    handed_in(engine, study_id)
    token = handed_in(engine, study_id, "Ben Lovelace")[0]
    said = "As Ada Lovelace said (see ada@lab.example, https://lab.example/Lovelace), this is clearer (name it)."
    with transaction(engine) as session:
        person = who(session, sign_in(session, token, "::1"))
        assert person is not None
        mine = take(session, person)
        assert mine is not None
        page = assignment_page(session, person, mine.aid)
        saved = save(session, person, [answer(page, asked["id"], "left", rationale=said) for asked in page["criteria"]])
        revs = {asked["id"]: ack["rev"] for asked, ack in zip(page["criteria"], saved.acks, strict=True)}
        submit(session, person, mine.aid, page["page"], "submit-0002", revs)
        admin, study = admin_of(session, study_id), session.get_one(Study, study_id)
        before = redactor_of(session, study, {})(said)
        if how == "erased":
            erase_person(session, admin, NAME)
        else:
            set_status(session, admin, "closed")
            delete_names(session, admin)
        redact = redactor_of(session, study, {})
        assert redact(said) == before == "As [name removed] said (see [e-mail removed], https://lab.example/[name removed]), this is clearer (name it)."  # fmt: skip
        assert redact.removed == {"name": 2, "e-mail": 1}
        verdicts = load_verdicts(session, study)
        assert "Lovelace" not in " ".join(verdicts["rationale"])
        lines = session.scalars(select(Event).where(Event.what == PLACES)).all()
        assert "Lovelace" not in json.dumps([line.data for line in lines])
        assert {act.what for act in list_acts(session, admin)}.isdisjoint({PLACES})
        if how == "erased":  # and of who goes later
            erase_person(session, admin, "Ben Lovelace")
            assert redactor_of(session, study, {})(said) == before


def test_a_person_is_handed_all_that_is_stored_about_them_and_nothing_of_others_nor_a_secret(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    handed_in(engine, study_id, "Somebody Else")
    handed_in(engine, study_id)
    with transaction(engine) as session:
        record = person_record(session, admin_of(session, study_id), NAME)
    assert {kind: len(rows) for kind, rows in record.items() if isinstance(rows, list)} == {
        "person": 1, "enrollment": 1, "links": 1, "sign_ins": 1, "packets": 0, "assignments": 2, "labels": 2,
        "events": 4, "acts_of_others": 1,
    }  # fmt: skip
    text = json.dumps(record)
    assert NAME in text
    assert "because of that" in text
    assert [word for word in ("Somebody Else", "annotator-01", "sha256\": \"", "secret") if word in text.replace("left_sha256", "").replace("right_sha256", "")] == []  # fmt: skip


def test_nobody_who_was_erased_comes_again_as_somebody_new_by_a_platform_or_a_group(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    ada = Account("ada@lab.example", ("lab/phd",))
    with transaction(engine) as session:
        admin = admin_of(session, study_id)
        token = open_link(session, admin, 9)
        invite_group(session, admin, "lab/phd", "annotator")
        for comes in (lambda: sign_in(session, token, "::1", participant="5f3c9d"), lambda: sign_in_account(session, ada, "::1")):  # fmt: skip
            person = who(session, comes())
            assert person is not None
            name = name_of(session, person.enrollment_id or 0)
            erase_person(session, admin, name)
            assert comes() is None
            invite(session, admin, name, "annotator")  # an owner may, and erase again
            erase_person(session, admin, name)
            assert comes() is None
        assert "5f3c9d" not in everything(session)
        assert "ada@lab.example" not in everything(session)
        assert [*session.scalars(select(Invite.account_groups).where(Invite.account_groups.is_not(None)))] == []
        with pytest.raises(AnnotationError, match="close 'small' first"):
            delete_names(session, admin)
        set_status(session, admin, "closed")
        delete_names(session, admin)
        assert {*session.scalars(select(Enrollment.participant_sha256))} == {None}


def test_who_takes_part_in_several_studies_is_erased_once_out_of_all_others(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        admin = admin_of(session, study_id)
        olga = who(session, sign_in(session, invite(session, admin, "Olga", "admin"), "::1"))
        assert olga is not None
        second, _ = own_studies.make_study(session, olga, "second", PROTOCOL, 7)
        with pytest.raises(AnnotationError, match="same person in 1 other study"):
            erase_person(session, admin, "Olga")
        withdraw(session, local_admin(second), "Olga")
        assert erase_person(session, admin, "Olga") == "admin-01"


def test_names_go_so_many_days_after_closing_and_those_of_admins_stay(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    handed_in(engine, study_id)
    with transaction(engine) as session:
        admin, study = admin_of(session, study_id), session.get_one(Study, study_id)
        token = open_link(session, admin, 1)
        sign_in(session, token, "127.0.0.1", participant="5f3c9d2e1b")
        invite(session, admin, "Owner", "admin")
        keep_names(session, admin, 1)
        keep_names(session, admin, 90)
        assert names_due(session, study) is None
        set_status(session, admin, "closed")
        set_status(session, admin, "locked")
        due = names_due(session, study)
        assert due is not None
        assert abs(due - now() - timedelta(days=90)) < timedelta(minutes=1)
        assert delete_names_due(session) == {}
        keep_names(session, admin, 0)
        assert delete_names_due(session) == {"small": 2}
        assert delete_names_due(session) == {}
        assert delete_names(session, admin) == 0
        names = session.scalars(select(Rater.handle).order_by(Rater.id)).all()
        assert names == ["annotator-01 (name deleted)", "annotator-02 (name deleted)", "Owner"]
        with pytest.raises(AnnotationError, match="from 0 to"):
            keep_names(session, admin, -1)

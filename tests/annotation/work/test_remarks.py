"""What annotators remark and what is answered: append-only, audited, shown to its annotator and to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.labelling import save, skip
from annotation.labels.entries import read_entry
from annotation.people.principals import Principal, local_admin
from annotation.work.claiming import take
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page
from annotation.work.remarks import deal_with, remarks_of, reply
from db.connect import reading, transaction
from db.tables import Event, Study
from tests.small_study import a_person, make_study, uuids


def remark(session: Session, person: Principal, kind: str, **more: str) -> str:
    """A flag or a comment on what the person has in work; its aid."""
    taken = take(session, person)
    assert taken is not None
    page = assignment_page(session, person, taken.aid)
    raw = {"kind": kind, "aid": taken.aid, "page": page["page"], "client_uuid": next(uuids),
           "client_ts": "2026-11-20T10:00:00+00:00", **more}  # fmt: skip
    assert save(session, person, [read_entry(raw)]).refused == []
    return taken.aid


@pytest.fixture
def said(engine: Engine, tmp_path: Path) -> tuple[int, Principal, Principal]:
    """Ada flags and comments on an item and skips it; Ben comments."""
    study = make_study(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ada, ben = (a_person(session, study, name) for name in ("Ada", "Ben"))
        aid = remark(session, ada, "flag", flag="broken_text", text="The table is cut.")
        remark(session, ada, "comment", text="Both are short.")
        skip(session, ada, aid, "I cannot read this.")
        remark(session, ben, "comment", text="Ben's own")
    return study, ada, ben


def admin_of(session: Session, study: int) -> Principal:
    return local_admin(session.get_one(Study, study))


@pytest.mark.databases("sqlite")
def test_flags_comments_and_skips_are_listed_newest_first_with_pseudonym_item_and_words(
    engine: Engine, said: tuple[int, Principal, Principal]
) -> None:
    with reading(engine) as session:
        found = remarks_of(session, admin_of(session, said[0]))
    assert [(one.rater, one.kind, one.what, one.text) for one in found] == [
        ("annotator-02", "comment", "", "Ben's own"),
        ("annotator-01", "skip", "", "I cannot read this."),
        ("annotator-01", "comment", "", "Both are short."),
        ("annotator-01", "flag", "broken_text", "The table is cut."),
    ]
    assert len({one.item for one in found[1:]}) == 1
    assert found[0].item.startswith("item-")


def test_a_reply_reaches_its_annotator_alone_and_stands_beside_what_it_answers(
    engine: Engine, said: tuple[int, Principal, Principal]
) -> None:
    study, ada, ben = said
    with transaction(engine) as session:
        admin = admin_of(session, study)
        numbers = {one.kind: one.remark for one in remarks_of(session, admin) if one.rater == "annotator-01"}
        reply(session, admin, numbers["flag"], " The table is repaired. ")
        reply(session, admin, numbers["skip"], "Thank you.")
        deal_with(session, admin, numbers["flag"])
        deal_with(session, admin, numbers["flag"])
    with reading(engine) as session:
        listed = {one.remark: one for one in remarks_of(session, admin_of(session, study))}
        items = [item for item in own_work(session, ada).items if item.remarks]
        others = own_work(session, ben)
        trail = [event.what for event in session.scalars(select(Event).where(Event.kind == "audit")) if
                 event.what.startswith("remark_")]  # fmt: skip
    assert len(listed) == 4  # a reply is no remark
    flag = listed[numbers["flag"]]
    assert ([one.text for one in flag.replies], flag.dealt_with) == (["The table is repaired."], True)
    assert [(one.kind, one.replies) for one in items[0].remarks] == [
        ("flag", ("The table is repaired.",)), ("comment", ()),
    ]  # fmt: skip
    assert items[0].skip_replies == ("Thank you.",)
    assert "repaired" not in str(others)
    assert trail == ["remark_reply", "remark_reply", "remark_dealt_with"]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("text", "number", "code"),
    [
        ("  ", None, "no_reply"),
        ("x" * 2_001, None, "invalid"),
        ("Yes.", 999_999, "no_remark"),
        ("Yes.", 1, "no_remark"),
    ],
)
def test_an_empty_or_endless_reply_and_one_to_nothing_are_refused(
    engine: Engine, said: tuple[int, Principal, Principal], text: str, number: int | None, code: str
) -> None:
    with transaction(engine) as session:
        admin = admin_of(session, said[0])
        about = number or remarks_of(session, admin)[0].remark
        with pytest.raises(AnnotationError) as refused:
            reply(session, admin, about, text)
    assert refused.value.code == code


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("act", [lambda s, p: remarks_of(s, p), lambda s, p: reply(s, p, 1, "x"),
                                 lambda s, p: deal_with(s, p, 1)])  # fmt: skip
@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_only_evaluators_and_admins_read_and_answer_remarks(
    engine: Engine, said: tuple[int, Principal, Principal], role: str, act: object
) -> None:
    with transaction(engine) as session:
        stranger = a_person(session, said[0], f"Some {role}", role)
        with pytest.raises(AnnotationError) as refused:
            act(session, stranger)  # type: ignore[operator]
    assert refused.value.code == "forbidden"


@pytest.mark.databases("sqlite")
def test_another_studys_remark_does_not_exist_here(
    engine: Engine, tmp_path: Path, said: tuple[int, Principal, Principal]
) -> None:
    other = make_study(engine, tmp_path / "other", name="other")
    with transaction(engine) as session:
        number = remarks_of(session, admin_of(session, said[0]))[0].remark
        with pytest.raises(AnnotationError) as refused:
            reply(session, admin_of(session, other), number, "Yes.")
    assert refused.value.code == "no_remark"

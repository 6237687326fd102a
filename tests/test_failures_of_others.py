"""What other labelling tools got wrong, each failure as a promise of ours (those of the browser: tests/browser)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, Incomplete
from annotation.labelling import reopen, save, submit
from annotation.people.links import invite
from annotation.people.principals import Principal, local_admin, study_for
from annotation.people.sign_ins import sign_in, sign_out, who
from annotation.verdicts import labels_csv, load_verdicts
from annotation.work.claiming import take
from annotation.work.history import answer_history
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from annotation.work.progress import position
from db.connect import reading, transaction
from db.tables import Assignment, Item, Label, Study
from tests.small_study import a_person, answer, answer_all, make_study

NAMES = (
    "Ada", "Ad", "A", "Ada L", "Ada/L", "Ada/../Bea", "..", "*", "A*", "%", "A_a", "Ada.json", "Åda",
    "Ada; DROP TABLE labels", "'", "\\", "0", "null",
)  # fmt: skip


def person_by_link(session: Session, study_id: int, name: str) -> Principal:
    """Through the invite, as the person comes in."""
    token = invite(session, local_admin(session.get_one(Study, study_id)), name, "annotator")
    principal = who(session, sign_in(session, token, "203.0.113.9"))
    assert principal is not None
    return principal


def hand_in(session: Session, person: Principal) -> str:
    mine = take(session, person)
    assert mine is not None
    page = assignment_page(session, person, mine.aid)
    submit(session, person, mine.aid, page["page"], f"submit-{mine.aid}", answer_all(session, person, mine.aid))
    return mine.aid


def own_labels(session: Session, person: Principal) -> list[tuple[str | None, str]]:
    mine = Assignment.rater_id == person.rater_id
    rows = select(Label.choice, Label.rationale).join(Assignment, Assignment.id == Label.assignment_id).where(mine)
    return [(choice, rationale) for choice, rationale in session.execute(rows.order_by(Label.id))]


def test_people_whose_names_hold_slashes_stars_or_blanks_or_begin_alike_share_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path, overlap=len(NAMES))
    with transaction(engine) as session:
        people = [person_by_link(session, study_id, name) for name in NAMES]
        assert len({person.rater_id for person in people}) == len({person.opaque_id for person in people}) == len(NAMES)
        pages = []
        for name, person in zip(NAMES, people, strict=True):
            mine = take(session, person)
            assert mine is not None
            page = assignment_page(session, person, mine.aid)
            assert page["answers"] == {}
            pages.append(page)
            words = f"written by {name} alone"
            assert not save(session, person, [answer(page, "clear", "left", rationale=words)]).refused
        assert len({page["aid"] for page in pages}) == len(NAMES)
        for name, person, page in zip(NAMES, people, pages, strict=True):
            assert own_labels(session, person) == [("left", f"written by {name} alone")]
            assert assignment_page(session, person, page["aid"])["answers"]["clear"]["rationale"].count(name) == 1
            assert person_by_link(session, study_id, name).rater_id == person.rater_id, "and comes back as the same"


def test_studies_whose_names_begin_alike_share_nothing(engine: Engine, tmp_path: Path) -> None:
    names = ("wlc", "wlc2", "wlc-2", "wlc.2", "WLC", "wlc_2")
    studies = {name: make_study(engine, tmp_path / "reports", name=name) for name in names}
    with transaction(engine) as session:
        for name, study_id in studies.items():
            person = a_person(session, study_id, f"Ada of {name}")
            hand_in(session, person)
            stranger = replace(person, study_id=studies["wlc2" if name == "wlc" else "wlc"])
            with pytest.raises(AnnotationError, match="no such work"):
                assignment_page(session, stranger, take(session, person).aid)  # type: ignore[union-attr]
    with reading(engine) as session:
        counts = select(Item.study_id, func.count(Label.id)).join(Assignment, Assignment.item_id == Item.id)
        counts = counts.join(Label, Label.assignment_id == Assignment.id).group_by(Item.study_id)
        assert dict(session.execute(counts).all()) == dict.fromkeys(studies.values(), 2)


@pytest.mark.databases("sqlite")
def test_a_half_done_annotators_labels_export(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        handed_in = [hand_in(session, ada) for _ in range(2)]
        third = take(session, ada)
        assert third is not None
        page = assignment_page(session, ada, third.aid)
        save(session, ada, [answer(page, "clear", "left")])
        verdicts = load_verdicts(session, study_for(session, local_admin(session.get_one(Study, study_id)), "admin"))
        done = select(func.count(Assignment.item_id.distinct())).where(Assignment.aid.in_(handed_in))
        assert session.scalar(done) == verdicts["item_id"].nunique() == 2
        assert len(verdicts) == 4, "two criteria on each handed-in item; the item in work is not handed in yet"
        assert len(labels_csv(verdicts).splitlines()) == 5
        assert third.status == "taken", "and what is in work stays in work"
        assert assignment_page(session, ada, third.aid)["answers"]["clear"]["choice"] == "left"


@pytest.mark.databases("sqlite")
def test_a_newest_row_that_is_empty_resumes_everything_before_it(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        before = hand_in(session, ada)
        mine = take(session, ada)
        assert mine is not None
        page = assignment_page(session, ada, mine.aid)
        entries = [
            answer(page, "clear", "left", seq=1), answer(page, "deep", "right", seq=2),
            answer(page, "deep", None, rationale="", seq=3),
        ]  # fmt: skip
        assert not save(session, ada, entries).refused
        resumed = take(session, ada)
        assert resumed is not None
        assert resumed.aid == mine.aid, "the item whose newest answer is empty is the one to go on with"
        answers = assignment_page(session, ada, mine.aid)["answers"]
        assert answers["clear"]["choice"] == "left"
        assert (answers["deep"]["choice"], answers["deep"]["rev"]) == (None, 2)
        told = {
            one["criterion"]: [r["choice"] for r in one["revisions"]] for one in answer_history(session, ada, mine.aid)
        }
        assert told == {"clear": ["left"], "deep": ["right", None]}
        with pytest.raises(Incomplete) as refused:
            submit(session, ada, mine.aid, page["page"], "submit-0001", {"clear": 1, "deep": 2})
        assert [one["criterion"] for one in refused.value.details] == ["deep"]
        assert assignment_page(session, ada, before)["answers"]["deep"]["choice"] == "left"


REFUSED: list[dict[str, Any]] = [
    {"choice": "not_applicable"}, {"choice": "A"}, {"criterion": "unknown"}, {"page": "f" * 32}, {"seq": 1},
    {"writer": "writer-2", "base_rev": 0}, {"confidence": 3}, {"aid": "f" * 32},
]  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("wrong", REFUSED, ids=str)
def test_a_refused_save_never_deletes_the_accepted_one(engine: Engine, tmp_path: Path, wrong: dict[str, Any]) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        mine = take(session, ada)
        assert mine is not None
        page = assignment_page(session, ada, mine.aid)
        save(session, ada, [answer(page, "clear", "left", seq=1)])
        stored = assignment_page(session, ada, mine.aid)["answers"]
        change = {"criterion": "clear", "choice": "right", "seq": 2} | wrong
        saved = save(session, ada, [answer(page, **change)])
        assert saved.acks == []
        assert len(saved.refused) == 1
        assert assignment_page(session, ada, mine.aid)["answers"] == stored
    with reading(engine) as session:
        assert own_labels(session, ada) == [("left", "because of that")]


@pytest.mark.parametrize("night", ["signed out", "paused", "closed", "reopened"])
def test_the_queue_size_asked_for_is_the_queue_size_given_also_on_the_second_day(
    engine: Engine, tmp_path: Path, night: str
) -> None:
    study_id = make_study(engine, tmp_path, overlap=2)  # 9 items, two people each
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        slots = select(func.count()).select_from(Assignment).where(Assignment.study_id == study_id)
        assert session.scalar(slots.where(Assignment.status == "open")) == 18
        ada, bea = person_by_link(session, study_id, "Ada"), person_by_link(session, study_id, "Bea")
        assert position(session, ada) == position(session, bea) == (0, 9)
        first_day = [hand_in(session, ada) for _ in range(4)]
        begun = take(session, ada)
        assert begun is not None
        assert position(session, ada) == (4, 9)
        if night == "signed out":
            token = invite(session, local_admin(study), "Ada", "annotator")
            cookie = sign_in(session, token, "203.0.113.9")
            assert cookie is not None
            sign_out(session, cookie)
        elif night == "paused":
            move_study(session, study, "paused")
            move_study(session, study, "open")
        elif night == "closed":
            move_study(session, study, "closed")
            move_study(session, study, "open")
        else:
            reopen(session, ada, first_day[0])
            page = assignment_page(session, ada, first_day[0])
            revs = {code: told["rev"] for code, told in page["answers"].items()}
            submit(session, ada, first_day[0], page["page"], "submit-again", revs)
        ada = person_by_link(session, study_id, "Ada")
        assert position(session, ada) == (4, 9)
        again = take(session, ada)
        assert again is not None
        assert again.aid == begun.aid, "the item begun on the first evening comes first"
        second_day = [hand_in(session, ada) for _ in range(5)]
        assert take(session, ada) is None
        assert position(session, ada) == (9, 9)
        assert len(set(first_day + second_day)) == 9
        items = select(func.count(Assignment.item_id.distinct())).where(Assignment.aid.in_(first_day + second_day))
        assert session.scalar(items) == 9, "no item twice"
        for _ in range(9):
            hand_in(session, bea)
        assert take(session, bea) is None
        assert session.scalar(slots.where(Assignment.status == "submitted")) == 18

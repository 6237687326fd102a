"""Every revision of every label leaves, in one order, with what it was given on and without who gave it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError
from annotation.facts.label_rows import count_label_rows, criterion_rows, label_rows, report_rows, standing_of
from annotation.labelling import reopen, save, submit
from annotation.leaks.redaction import redactor_of
from annotation.participation.standing import void_work
from annotation.people.principals import Principal, local_admin
from annotation.studies import init_study
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.people_tables import Rater
from db.tables import Assignment, Item, Label, Report, Study
from exports.datasets.label_rows import CRITERIA, LABELS, REPORTS, SHOWN_TEXT, broken, chained
from tests.small_study import PROBES, PROTOCOL, a_person, answer, answer_all, make_study

SAID = "I, Ada Lovelace (ada@example.org), read /home/ada/notes.md and like it"


@pytest.fixture
def answered(engine: Engine, tmp_path: Path) -> int:
    """Ada answers one item, changes her mind after reopening it, and leaves a second half done."""
    study_id = make_study(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ada = a_person(session, study_id, "Ada Lovelace")
        mine = take(session, ada)
        assert mine is not None
        page = assignment_page(session, ada, mine.aid)
        save(session, ada, [answer(page, "clear", "left", rationale=SAID), answer(page, "deep", "tie")])
        submit(session, ada, mine.aid, page["page"], "submit-00001", {"clear": 1, "deep": 1})
        reopen(session, ada, mine.aid)
        save(session, ada, [answer(assignment_page(session, ada, mine.aid), "clear", "right", base_rev=1, seq=2)])
        submit(session, ada, mine.aid, page["page"], "submit-00002", {"clear": 2, "deep": 1})
        other = take(session, ada)
        assert other is not None
        save(session, ada, [answer(assignment_page(session, ada, other.aid), "clear", "left")])
    return study_id


def test_a_study_may_leave_out_what_was_changed_after_its_reveal(engine: Engine, answered: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, answered)
        study.revealed_at = study.created_at
        ada = session.scalar(select(Rater).where(Rater.handle == "Ada Lovelace"))
        assert ada is not None
        mine = session.scalars(select(Assignment).where(Assignment.status == "submitted")).one()
        me = Principal(answered, "annotator", ada.id, None, ada.opaque_id)
        before = load_verdicts(session, study)
        reopen(session, me, mine.aid)
        page = assignment_page(session, me, mine.aid)
        save(session, me, [answer(page, "clear", "tie", base_rev=2, seq=3)])
        submit(session, me, mine.aid, page["page"], "submit-00003", {"clear": 3, "deep": 1})
        assert "tie" in set(load_verdicts(session, study).set_index("criterion").loc[["clear"], "label"])
        init_study(
            session, "small", PROTOCOL.replace("[answers]", "calibration = {after_reveal = 'leave_out'}\n[answers]"), 7
        )
        pd.testing.assert_frame_equal(load_verdicts(session, study), before)
        counted = [row for row in label_rows(session, study) if row["is_current"] and row["criterion"] == "clear"]
        assert [row["revision"] for row in counted if row["assignment_status"] == "submitted"] == [2]


def test_every_revision_is_there_in_the_order_it_was_written(engine: Engine, answered: int) -> None:
    with reading(engine) as session:
        study = session.get_one(Study, answered)
        rows = list(label_rows(session, study))
        first, second = session.scalars(
            select(Label.assignment_id).group_by(Label.assignment_id).order_by(Label.assignment_id)
        )
        left = session.get_one(Assignment, first).left
        shown = dict(session.execute(select(Report.id, Report.shown_sha256)).all())
        item = session.get_one(Item, session.get_one(Assignment, first).item_id)
        assert (len(rows), 0) == count_label_rows(session, study)
        assert len(rows) == session.scalar(select(func.count(Label.id)))
    assert [(r["assignment"], r["criterion"], r["revision"], r["choice"], r["is_current"]) for r in rows] == [
        (f"assignment-{first:05d}", "clear", 1, "left", False),
        (f"assignment-{first:05d}", "deep", 1, "tie", True),
        (f"assignment-{first:05d}", "clear", 2, "right", True),
        (f"assignment-{second:05d}", "clear", 1, "left", True),
    ]
    assert [row["assignment_status"] for row in rows] == ["submitted"] * 3 + ["taken"]
    assert rows[0]["label"] == left
    assert rows[2]["label"] == {"A": "B", "B": "A"}[left or ""]
    assert rows[0]["presentation"] == {"A": "AB", "B": "BA"}[left or ""]
    a, b = shown[item.report_a_id], shown[item.report_b_id]
    assert (rows[0]["left_sha256"], rows[0]["right_sha256"]) == ((a, b) if left == "A" else (b, a))
    assert rows[0]["created_at"].endswith("Z")


def test_the_rows_have_the_columns_of_a_dataset_and_make_a_chain(engine: Engine, answered: int) -> None:
    with reading(engine) as session:
        study = session.get_one(Study, answered)
        rows = list(chained(label_rows(session, study)))
        texts = list(report_rows(session, study, texts=True))
        without = list(report_rows(session, study, texts=False))
        asked = criterion_rows(session, study)
    assert list(rows[0]) == [column.name for column in LABELS]
    assert list(texts[0]) == [column.name for column in (*REPORTS, SHOWN_TEXT)]
    assert list(without[0]) == [column.name for column in REPORTS]
    assert [list(row) for row in asked] == [[column.name for column in CRITERIA]] * 2
    assert list(broken(rows)) == []
    assert {row["left_sha256"] for row in rows} <= {row["sha256"] for row in texts}
    assert all(len(row["text"]) == row["characters"] for row in texts)


@pytest.mark.databases("sqlite")
def test_the_current_rows_of_work_handed_in_are_the_labels_that_count(engine: Engine, answered: int) -> None:
    with reading(engine) as session:
        study = session.get_one(Study, answered)
        verdicts = load_verdicts(session, study)
        rows = [
            row for row in label_rows(session, study) if row["is_current"] and row["assignment_status"] == "submitted"
        ]
    key = ["item_id", "rater_id", "criterion", "label", "rationale", "status", "presentation", "system_a", "run"]
    counted = sorted(tuple(row) for row in verdicts[key].to_numpy().tolist())
    assert counted == sorted(tuple(row[name] for name in key) for row in rows)


def test_nothing_says_who_gave_a_label(engine: Engine, answered: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, answered)
        redact = redactor_of(session, study, {})
        rows = json.dumps(list(label_rows(session, study, redact)), ensure_ascii=False)
        verdicts = load_verdicts(session, study)
        hidden = [*session.scalars(select(Assignment.aid)), *session.scalars(select(Rater.opaque_id))]
        hidden += [one for one in session.scalars(select(Label.client_uuid)) if one]
    said = "I, [name removed] ([e-mail removed]), read [path removed] and like it"
    assert said in rows
    assert redact.removed == {"name": 1, "e-mail": 1, "path": 1}
    assert not [one for one in (*hidden, "Ada", "Lovelace", "ada@example.org", "/home/ada") if one in rows]
    assert "Lovelace" not in verdicts.to_csv()


def test_work_that_was_taken_out_is_there_only_where_it_is_asked_for(engine: Engine, answered: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, answered)
        assert Counter(map(standing_of, label_rows(session, study))) == {"current": 2, "earlier": 1, "apart": 1}
        void_work(session, local_admin(study), "Ada Lovelace", "asked for it")
        assert list(label_rows(session, study)) == []
        assert count_label_rows(session, study) == (0, 4)
        kept = list(label_rows(session, study, with_void=True))
    assert Counter(map(standing_of, kept)) == {"void": 4}
    assert list(broken(chained(kept))) == []


@pytest.mark.databases("sqlite")
def test_a_question_asked_in_other_words_since_has_no_current_answer(engine: Engine, answered: int) -> None:
    with transaction(engine) as session:
        init_study(session, "small", PROTOCOL.replace("Which is clearer?", "Which reads better?"), 7)
        study = session.get_one(Study, answered)
        rows, asked = list(label_rows(session, study)), criterion_rows(session, study)
    assert [row["is_current"] for row in rows] == [False, True, False, False]
    words = {one["sha256"]: one["text"] for one in asked}
    assert {words[row["criterion_sha256"]] for row in rows if row["criterion"] == "clear"} == {"Which is clearer?"}
    assert [one["is_asked"] for one in asked if one["criterion"] == "clear"] == [False, True]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("purpose", ["training", "attention", "retest", "adjudicate"])
def test_what_statistics_leave_out_is_there_with_its_purpose(engine: Engine, answered: int, purpose: str) -> None:
    with transaction(engine) as session:
        given = session.scalars(select(Label).order_by(Label.id)).first()
        assert given is not None
        other = session.get_one(Assignment, given.assignment_id)
        apart = Assignment(
            study_id=answered, item_id=other.item_id, rater_id=other.rater_id, purpose=purpose, slot_no=9, left="A",
            plan_seed=1, status="submitted",
        )  # fmt: skip
        session.add(apart)
        session.flush()
        session.add(
            Label(
                assignment_id=apart.id, criterion_id=given.criterion_id, revision=1, choice="left",
                left_sha256=given.left_sha256, stripper_version="1",
            )
        )  # fmt: skip
        rows = list(label_rows(session, session.get_one(Study, answered)))
    assert [row["purpose"] for row in rows] == ["label"] * 4 + [purpose]


@pytest.mark.databases("sqlite")
def test_a_claim_stands_beside_its_answer_and_its_sources_among_the_texts(engine: Engine, tmp_path: Path) -> None:
    protocol = PROBES.replace('context = "report"', 'context = "sources"')
    study_id = make_study(engine, tmp_path, protocol=protocol)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        mine = take(session, ada)
        assert mine is not None
        submit(
            session,
            ada,
            mine.aid,
            assignment_page(session, ada, mine.aid)["page"],
            "submit-00001",
            answer_all(session, ada, mine.aid, "full"),
        )
        study = session.get_one(Study, study_id)
        (row,) = label_rows(session, study)
        texts = {one["sha256"]: one for one in report_rows(session, study, texts=True)}
    assert (row["item_kind"], row["label"], row["presentation"]) == ("probe", "full", None)
    assert row["probe"].endswith("twice a day.")
    assert texts[row["left_sha256"]]["kind"] == "sources"
    assert len([one for one in texts.values() if one["kind"] == "sources"]) == 3


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("read", [label_rows, lambda *of: report_rows(*of, texts=False)])
def test_nothing_leaves_a_study_that_is_still_blind(engine: Engine, answered: int, read) -> None:  # type: ignore[no-untyped-def]
    with transaction(engine) as session:
        study = session.get_one(Study, answered)
        study.protocol_text = PROTOCOL.replace('blind_until = "open"', 'blind_until = "closed"')
        with pytest.raises(AnnotationError, match="calipers reveal"):
            read(session, study)


def test_times_are_utc_seconds_on_both_databases(engine: Engine, answered: int) -> None:
    with reading(engine) as session:
        written = session.scalars(select(Label.created_at).order_by(Label.id)).first()
        row = next(label_rows(session, session.get_one(Study, answered)))
    assert written is not None
    assert written.utcoffset() == timedelta(0)
    assert row["created_at"] == f"{written:%Y-%m-%dT%H:%M:%S}Z"

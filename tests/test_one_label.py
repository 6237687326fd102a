"""One label, from click to paper table, every step asserted, for both side orders (DESIGN: one label)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from annotation.labelling import save, submit
from annotation.people.principals import study_for
from annotation.verdicts import COLUMNS, labels_csv, load_verdicts, unblind
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from db.connect import transaction
from db.tables import Assignment, Item, Label, Report, System
from exports.as_json import report_json
from exports.as_latex import as_latex
from exports.tables import agreement_table
from tests.small_study import a_person, answer, make_study


@pytest.mark.parametrize(
    ("choice", "left", "verdict"),
    [
        ("left", "A", "A"),
        ("left", "B", "B"),
        ("right", "A", "B"),
        ("right", "B", "A"),
        ("tie", "B", "tie"),
        ("not_applicable", "B", "not_applicable"),
        ("A", None, "A"),
        ("7", None, "7"),
        (None, "B", None),
    ],
)
def test_unblinding_turns_what_was_clicked_into_what_it_means(choice: str, left: str, verdict: str) -> None:
    assert unblind(choice, left) == verdict


@pytest.mark.parametrize("left", ["A", "B"])
def test_a_click_becomes_a_row_of_the_paper(engine: Engine, tmp_path: Path, left: str) -> None:
    study_id = make_study(engine, tmp_path, overlap=2)
    with transaction(engine) as session:
        ada, bea = a_person(session, study_id, "Ada"), a_person(session, study_id, "Bea")
        # 1. the side stood in the slot before anybody took it
        session.execute(update(Assignment).where(Assignment.left == left).values(priority=1))
        drawn = dict(session.execute(select(Assignment.id, Assignment.left)).all())  # type: ignore[arg-type]
        mine = take(session, ada)
        assert mine is not None
        assert mine.left == left == drawn[mine.id]
        item = session.get_one(Item, mine.item_id)
        a, b = session.get_one(Report, item.report_a_id), session.get_one(Report, item.report_b_id)

        # 2. the page shows A where the row says, and no name, letter or hash of it
        page = assignment_page(session, ada, mine.aid)
        shown_first = a if left == "A" else b
        manner = shown_first.shown_text.split("in manner ")[1].split(".")[0]
        assert f"in manner {manner}." in page["panes"][0]["html"]
        assert "[1]" not in page["panes"][0]["html"]
        assert "example.org" not in json.dumps(page)
        for hidden in ("alpha", "beta", "gamma", a.shown_sha256, b.shown_sha256, '"left": "A"', '"left": "B"'):
            assert hidden not in json.dumps(page)

        # 3. the click is stored as it was given
        saved = save(session, ada, [answer(page, "clear", "left"), answer(page, "deep", "tie")])
        assert [ack["rev"] for ack in saved.acks] == [1, 1]
        rows = session.execute(select(Label.choice, Label.status, Label.left_sha256).order_by(Label.id)).all()
        assert [tuple(row) for row in rows] == [
            ("left", "ok", shown_first.shown_sha256),
            ("tie", "ok", shown_first.shown_sha256),
        ]

        # 4. nothing counts before it is handed in
        study = study_for(session, _evaluator(session, study_id), "evaluator")
        assert load_verdicts(session, study).empty
        submit(session, ada, mine.aid, page["page"], "submit-00001", {"clear": 1, "deep": 1})

        # 5. unblinded: left means the report that stood left
        verdicts = load_verdicts(session, study)
        assert tuple(verdicts.columns) == COLUMNS
        row = verdicts.set_index("criterion").loc["clear"]
        systems = {r.id: session.get_one(System, r.system_id).key for r in (a, b)}
        assert (row["label"], row["presentation"]) == (left, "AB" if left == "A" else "BA")
        assert (row["system_a"], row["system_b"]) == (systems[a.id], systems[b.id])
        assert (row["rater_id"], row["rater_kind"], row["status"]) == ("annotator-01", "human", "ok")
        assert row["len_a"] == len(a.shown_text)
        winner = row["system_a"] if row["label"] == "A" else row["system_b"]
        assert winner == systems[shown_first.id]

        # 6. a second annotator agrees on the verdict, from the other or the same side
        other = session.scalars(
            select(Assignment).where(Assignment.item_id == mine.item_id, Assignment.status == "open")
        ).one()
        other.status, other.rater_id = "taken", bea.rater_id
        session.flush()
        theirs = assignment_page(session, bea, other.aid)
        same_winner = "left" if other.left == left else "right"
        save(session, bea, [answer(theirs, "clear", same_winner), answer(theirs, "deep", "tie")])
        submit(session, bea, other.aid, theirs["page"], "submit-00002", {"clear": 1, "deep": 1})
        verdicts = load_verdicts(session, study)

    # 7. agreement is of verdicts, and carries n, clusters, method
    report = calibrate(verdicts, CalibrationSettings(resamples=99))
    agreed = next(
        e for e in report.estimates
        if e.statistic == "percent_agreement" and e.reference == "others" and e.criterion == "all"
    )  # fmt: skip
    assert (agreed.value, agreed.n, agreed.clusters) == (1.0, 2, 1)
    assert agreed.method
    assert agreed.note  # one cluster gives no interval, and the note says so

    # 8. and prints
    latex = as_latex(agreement_table(report))
    assert "\\toprule" in latex
    assert "1.00" in latex
    assert json.loads(report_json(report))["format"] == "calipers-report/1"
    assert labels_csv(verdicts).splitlines()[0] == ",".join(COLUMNS)


def _evaluator(session, study_id):  # type: ignore[no-untyped-def]
    return a_person(session, study_id, "Eve", "evaluator")

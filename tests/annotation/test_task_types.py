"""Ratings and probes: what the page is told, what is refused, and what becomes of an answer."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError, Incomplete
from annotation.labelling import save, submit
from annotation.labels.entries import off_scale, scale_points, score_text, stored_choice
from annotation.people.principals import Principal
from annotation.protocol import Scale, parse_protocol
from annotation.studies import init_study
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import transaction
from db.tables import Assignment, Criterion, Item, Label, Report, Study, System
from tests.small_study import (
    BESIDE,
    PROBES,
    RATING,
    a_person,
    answer,
    answer_all,
    make_study,
    source_of,
    with_reference,
)

MAY_BE_NOT_APPLICABLE = RATING.replace("[answers]", "[answers]\nallow_not_applicable = true")


def begin(engine: Engine, study_id: int, name: str = "Ada") -> tuple[Principal, dict[str, Any]]:
    with transaction(engine) as session:
        person = a_person(session, study_id, name)
        taken = take(session, person)
        assert taken is not None
        return person, assignment_page(session, person, taken.aid)


@pytest.mark.databases("sqlite")
def test_a_rating_shows_one_report_and_each_criterions_own_scale(engine: Engine, tmp_path: Path) -> None:
    _, page = begin(engine, make_study(engine, tmp_path, protocol=RATING))
    assert [(pane["side"], pane["name"]) for pane in page["panes"]] == [("left", "Report")]
    assert page["choices"] == []
    clear, deep = (criterion["scale"] for criterion in page["criteria"])
    assert clear == {
        "min": 0, "max": 10, "step": 1, "shown_times": 1,
        "anchors": {"0": "not at all", "5": "in part", "10": "fully"},
    }  # fmt: skip
    assert (deep["min"], deep["max"], deep["step"]) == (0, 100, 0.5)


def test_the_reference_stands_beside_named_as_such_and_is_never_rated(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, with_reference(tmp_path), protocol=BESIDE)
    person, page = begin(engine, study_id)
    assert [pane["name"] for pane in page["panes"]] == ["Report", "Reference"]
    assert "gamma" not in json.dumps(page)
    assert "manner 3" in page["panes"][1]["html"]
    with transaction(engine) as session:
        rated = session.scalars(
            select(System.key).join(Report, Report.system_id == System.id).join(Item, Item.report_a_id == Report.id)
        )
        assert Counter(rated) == {"alpha": 3, "beta": 3}
        save(session, person, [answer(page, "clear", "7")])
        label = session.scalars(select(Label)).one()
        item = session.scalars(select(Item).join(Assignment).where(Assignment.id == label.assignment_id)).one()
        assert label.left_sha256 == session.get_one(Report, item.report_a_id).shown_sha256
        assert label.right_sha256 == session.get_one(Report, item.reference_id).shown_sha256


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("context", "names"), [("report", ["Report"]), ("sources", ["Sources"]), ("both", ["Report", "Sources"])]
)
def test_a_probe_is_pinned_over_the_context_the_protocol_names(
    engine: Engine, tmp_path: Path, context: str, names: list[str]
) -> None:
    protocol = PROBES.replace('context = "report"', f'context = "{context}"')
    person, page = begin(engine, make_study(engine, tmp_path, protocol=protocol))
    assert page["probe"]["kind"] == "claim"
    assert page["probe"]["text"].endswith(" twice a day.")
    assert [pane["name"] for pane in page["panes"]] == names
    assert page["choices"] == [
        {"id": "full", "text": "Fully supported"},
        {"id": "part", "text": "Supported in part, or only for some cases"},
        {"id": "source_unavailable", "text": "The source did not load"},
    ]
    told = json.dumps(page)
    assert not any(hidden in told for hidden in ("weight", "probe_key", "tag", "gold", "alpha"))
    assert all(criterion["scale"] is None for criterion in page["criteria"])
    with transaction(engine) as session:
        assert save(session, person, [answer(page, "supported", "part")]).refused == []
        label = session.scalars(select(Label)).one()
        item = session.get_one(Item, session.get_one(Assignment, label.assignment_id).item_id)
        report = session.get_one(Report, item.report_a_id).shown_sha256
        sources = hashlib.sha256((item.context or "").encode()).hexdigest()
    expected = {"report": (report, None), "sources": (sources, None), "both": (report, sources)}
    assert (label.left_sha256, label.right_sha256) == expected[context]


def test_a_probe_without_report_or_sources_stands_alone_and_is_offered(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=PROBES.replace('context = "report"', 'context = "sources"'))
    with transaction(engine) as session:
        for item in session.scalars(select(Item)):
            item.report_a_id = item.source_id = None
    person, page = begin(engine, study_id)
    assert page["panes"] == []
    with transaction(engine) as session:
        saved = save(session, person, [answer(page, "supported", "full")])
        submit(session, person, page["aid"], page["page"], "submit-00001", {"supported": saved.acks[0]["rev"]})
        rows = load_verdicts(session, session.get_one(Study, study_id))
    assert [tuple(row) for row in rows[["label", "rater_kind", "status"]].to_numpy()] == [("full", "human", "ok")]
    assert rows["system_a"].isna().all()


@pytest.mark.parametrize(
    ("choice", "stored"),
    [("7", "7"), ("0", "0"), ("10", "10"), ("7.0", "7"), ("+3", "3"), ("-0", "0"), (None, None)],
)
def test_a_score_is_stored_in_one_way(choice: str | None, stored: str | None) -> None:
    assert stored_choice(parse_protocol(RATING), None, choice) == stored


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "criterion", "choice", "says"),
    [
        (RATING, "clear", "11", "'11' is not a score from 0 to 10 in steps of 1"),
        (RATING, "clear", "-1", "'-1' is not a score from 0 to 10 in steps of 1"),
        (RATING, "clear", "7.5", "'7.5' is not a score from 0 to 10 in steps of 1"),
        (RATING, "clear", "", "'' is not a score"),
        (RATING, "clear", "seven", "'seven' is not a score"),
        (RATING, "clear", "1e1", "'1e1' is not a score"),
        (RATING, "clear", "nan", "'nan' is not a score"),
        (RATING, "clear", "7,5", "'7,5' is not a score"),
        (RATING, "clear", "left", "'left' is not a score"),
        (RATING, "clear", "not_applicable", "'not_applicable' is not a score"),
        (RATING, "deep", "7.25", "'7.25' is not a score from 0 to 100 in steps of 0.5"),
        (PROBES, "supported", "7", "'7' is not an answer this study allows (full, part, source_unavailable)"),
        (PROBES, "supported", "Full", "'Full' is not an answer this study allows"),
        (PROBES, "supported", "not_applicable", "'not_applicable' is not an answer this study allows"),
        (PROBES, "deep", "full", "no criterion 'deep' is asked here"),
    ],
)
def test_what_the_protocol_does_not_allow_is_refused_by_name(
    engine: Engine, tmp_path: Path, protocol: str, criterion: str, choice: str, says: str
) -> None:
    person, page = begin(engine, make_study(engine, tmp_path, protocol=protocol))
    with transaction(engine) as session:
        (refusal,) = save(session, person, [answer(page, criterion, choice)]).refused
        assert refusal["code"] == "invalid"
        assert says in refusal["text"]
        assert session.scalars(select(Label)).all() == []


@pytest.mark.databases("sqlite")
def test_a_criterion_that_cannot_be_rated_says_so_where_that_is_declared(engine: Engine, tmp_path: Path) -> None:
    person, page = begin(engine, make_study(engine, tmp_path, protocol=MAY_BE_NOT_APPLICABLE))
    assert page["choices"] == [{"id": "not_applicable", "text": "Not applicable"}]
    with transaction(engine) as session:
        assert save(session, person, [answer(page, "clear", "not_applicable")]).refused == []
        assert session.scalars(select(Label.choice)).all() == ["not_applicable"]


scales = st.builds(
    lambda low, steps, step: Scale(min=low, max=low + steps * step, step=step),
    st.integers(-5, 5), st.integers(1, 40), st.sampled_from([0.1, 0.25, 0.5, 1, 2]),
)  # fmt: skip


@given(scales, st.integers(0, 40))
def test_every_number_of_a_scale_is_on_it_and_reads_back_as_itself(scale: Scale, step: int) -> None:
    number = min(scale.max, scale.min + step * scale.step)
    text = score_text(number)
    assert off_scale(number, scale) == ""
    assert off_scale(float(text), scale) == ""
    assert score_text(float(text)) == text
    assert "e" not in text


def test_verdicts_give_scores_and_probe_answers_as_they_were_given(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, with_reference(tmp_path), protocol=BESIDE)
    person, page = begin(engine, study_id)
    with transaction(engine) as session:
        given_ = [answer(page, "clear", "7"), answer(page, "deep", "62.50")]
        revs = {
            code: ack["rev"] for code, ack in zip(("clear", "deep"), save(session, person, given_).acks, strict=True)
        }
        submit(session, person, page["aid"], page["page"], "submit-00001", revs)
        rows = load_verdicts(session, session.get_one(Study, study_id))
    assert dict(zip(rows["criterion"], rows["label"], strict=True)) == {"clear": "7", "deep": "62.5"}
    assert set(rows["system_a"]) <= {"alpha", "beta"}
    assert rows["system_b"].isna().all()
    assert rows["len_b"].isna().all()
    assert rows["presentation"].isna().all()
    with transaction(engine) as session:
        gamma = select(Report).join(System, System.id == Report.system_id).where(System.key == "gamma")
        for report in session.scalars(gamma):
            report.shown_sha256 = "0" * 64
        assert load_verdicts(session, session.get_one(Study, study_id)).empty  # the reference was replaced since


@pytest.mark.databases("sqlite")
def test_a_probe_label_counts_until_its_report_or_sources_change(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=PROBES.replace('context = "report"', 'context = "both"'))
    person, page = begin(engine, study_id)
    with transaction(engine) as session:
        revs = answer_all(session, person, page["aid"], "source_unavailable")
        submit(session, person, page["aid"], page["page"], "submit-00001", revs)
        study = session.get_one(Study, study_id)
        (row,) = load_verdicts(session, study).to_dict("records")
        assert (row["label"], row["status"]) == ("source_unavailable", "ok")
        item = session.get_one(Item, int(row["item_id"][5:]))
        assert row["system_a"] == session.get_one(System, session.get_one(Report, item.report_a_id).system_id).key
        item.source = source_of(session, study_id, f"{item.context} And more.")
        assert load_verdicts(session, study).empty


@pytest.mark.databases("sqlite")
def test_the_probes_of_one_report_come_one_after_another(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=PROBES)
    person, page = begin(engine, study_id)
    seen = []
    aid: str | None = page["aid"]
    with transaction(engine) as session:
        while aid is not None:
            shown = assignment_page(session, person, aid)
            seen.append(shown["panes"][0]["html"])
            revs = answer_all(session, person, aid, "full")
            aid = submit(session, person, aid, shown["page"], f"submit-{len(seen):05d}", revs)["next"]
    assert len(seen) == 27
    assert len({tuple(seen[k : k + 3]) for k in range(0, 27, 3)}) == 9
    assert all(len(set(seen[k : k + 3])) == 1 for k in range(0, 27, 3))


@pytest.mark.databases("sqlite")
def test_a_score_may_not_be_left_out(engine: Engine, tmp_path: Path) -> None:
    person, page = begin(engine, make_study(engine, tmp_path, protocol=RATING))
    with pytest.raises(Incomplete) as caught, transaction(engine) as session:
        save(session, person, [answer(page, "clear", "7")])
        submit(session, person, page["aid"], page["page"], "submit-00001", {"clear": 1})
    assert caught.value.details == [{"criterion": "deep", "reason": "no_choice"}]


def test_a_report_whose_reference_awaits_a_decision_is_not_given_out(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, with_reference(tmp_path), protocol=BESIDE)
    with transaction(engine) as session:
        for item in session.scalars(select(Item)):
            session.get_one(Report, item.reference_id).open_flags = 1
        assert take(session, a_person(session, study_id)) is None


def test_a_study_does_not_open_while_a_shown_reference_awaits_a_decision(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, with_reference(tmp_path), protocol=BESIDE)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        move_study(session, study, "paused")
        session.get_one(Report, session.scalars(select(Item.reference_id)).first()).open_flags = 2
        with pytest.raises(AnnotationError, match="2 passages in 1 report may"):
            move_study(session, study, "open")


@pytest.mark.databases("sqlite")
def test_one_person_rates_the_systems_evenly(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path, protocol=RATING)
    person, page = begin(engine, study_id)
    systems = []
    aid: str | None = page["aid"]
    with transaction(engine) as session:
        while aid is not None:
            item = session.scalars(select(Item).join(Assignment).where(Assignment.aid == aid)).one()
            systems.append(session.get_one(Report, item.report_a_id).system_id)
            revs = answer_all(session, person, aid, "5")
            token = assignment_page(session, person, aid)["page"]
            aid = submit(session, person, aid, token, f"submit-{len(systems):05d}", revs)["next"]
    assert all(len(set(systems[k : k + 3])) == 3 for k in (0, 3, 6))


@pytest.mark.parametrize(
    ("old", "new", "retired"),
    [
        ("scale = {min = 0, max = 100, step = 0.5}", "scale = {min = 0, max = 100, step = 1}", {"deep"}),
        ("scale = {min = 0, max = 10, step = 1,", "scale = {min = 1, max = 10, step = 1,", {"clear"}),
        ("Read all of it.", "Read every word of it.", set()),
    ],
)
def test_a_changed_scale_asks_its_criteria_anew(
    engine: Engine, tmp_path: Path, old: str, new: str, retired: set[str]
) -> None:
    make_study(engine, tmp_path, protocol=RATING)
    with transaction(engine) as session:
        init_study(session, "small", RATING.replace(old, new), 7)
        gone = session.scalars(select(Criterion.code).where(Criterion.retired_at.is_not(None)))
        assert set(gone) == retired


@pytest.mark.parametrize(
    ("scale", "points"),
    [
        (Scale(min=1, max=4), ("1", "2", "3", "4")),
        (Scale(min=0, max=1, step=0.25), ("0", "0.25", "0.5", "0.75", "1")),
        (Scale(min=0, max=0.3, step=0.1), ("0", "0.1", "0.2", "0.3")),
        (Scale(min=0, max=1, step=0), ()),
        (Scale(min=0, max=1000), ()),
    ],
)
def test_the_points_of_a_scale_are_its_scores_as_they_are_stored(scale: Scale, points: tuple[str, ...]) -> None:
    assert scale_points(scale) == points
    assert all(not off_scale(float(point), scale) for point in points)

"""Questions that come with each topic: read, weighted, written once, reworded honestly, refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.designs.sides_and_orders import CriteriaOrders
from annotation.errors import AnnotationError, ImportingError
from annotation.importing.reports.deepresearch_bench import CRITERIA, read_deepresearch_bench
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.table import read_table
from annotation.importing.reports.write import import_reports
from annotation.items.shown import asked_of
from annotation.people.principals import local_admin
from annotation.studies import codes_by_topic, init_study
from annotation.work.open_and_close import move_study
from db.connect import reading, transaction
from db.tables import Assignment, Import, Item, Report, Study, Topic
from db.types import now
from tests.annotation.layout_trees import everything
from tests.small_study import PROTOCOL, write_reports
from tests.topic_questions import (
    ALONE,
    BOTH,
    ROW_WEIGHTS,
    asked,
    bench_tree,
    bring_in,
    criteria_rows,
    lines,
    the_study,
)

LISTED = "topic,id,label,text,category,weight\n"


def change(root: Path, edit: Callable[[list[dict[str, Any]]], object]) -> Path:
    """The tree with another criteria.jsonl."""
    rows = criteria_rows()
    edit(rows)
    (root / CRITERIA).write_text(lines(rows), encoding="utf-8")
    return root


def weights(engine: Engine) -> dict[str, dict[str, float]]:
    return {topic: {code: weight for code, (_, _, weight) in rows.items()} for topic, rows in asked(engine).items()}


def test_a_criterion_weighs_its_groups_weight_times_its_own_and_is_named_by_its_place(
    engine: Engine, tmp_path: Path
) -> None:
    outcome = bring_in(engine, bench_tree(tmp_path))
    assert outcome.criteria == {"new": 8}
    assert "criteria 8 new" in outcome.lines()
    assert weights(engine) == ROW_WEIGHTS
    assert [sum(of.values()) for of in weights(engine).values()] == pytest.approx([1, 1])
    assert asked(engine)["2"]["insight_3"][1] == "Insight 3 of topic 2"
    with reading(engine) as session:
        entry = session.get_one(Import, 1)
        assert entry.report["criteria"] == {"new": 8}
        topics = {row.key: row.id for row in session.query(Topic)}
        asked_of_each = codes_by_topic(session, session.get_one(Study, 1), topics.values())
    assert asked_of_each == {topics[key]: list(rows) for key, rows in ROW_WEIGHTS.items()}


@pytest.mark.databases("sqlite")
def test_the_same_file_again_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    root = bench_tree(tmp_path)
    bring_in(engine, root)
    before = asked(engine)
    assert bring_in(engine, root).criteria == {"unchanged": 8}
    assert (asked(engine), asked(engine, retired=True)) == (before, {})


def test_changed_words_are_asked_anew_and_the_old_ones_are_kept(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, bench_tree(tmp_path))
    before = asked(engine)

    def edit(rows: list[dict[str, Any]]) -> None:
        one, two = (row["criterions"] for row in rows)
        one["insight"][0]["criterion"] = "Reworded"
        one["insight"][0]["weight"], one["insight"][1]["weight"] = 0.5, 0.5
        two["insight"] = two["insight"][:2]
        two["insight"][0]["weight"], two["insight"][1]["weight"] = 0.4, 0.6

    outcome = bring_in(engine, change(tmp_path, edit))
    assert outcome.criteria == {"reworded": 1, "moved": 5, "unchanged": 1, "dropped": 1}
    now, old = asked(engine), asked(engine, retired=True)
    assert {topic: list(rows) for topic, rows in old.items()} == {"1": ["insight_1"], "2": ["insight_3"]}
    assert old["1"]["insight_1"] == before["1"]["insight_1"], "a retired row is never rewritten"
    assert now["1"]["insight_1"][0] != before["1"]["insight_1"][0]
    assert now["1"]["insight_2"] == (before["1"]["insight_2"][0], before["1"]["insight_2"][1], 0.3)


REFUSED: list[tuple[Callable[[list[dict[str, Any]]], object], str]] = [
    (lambda rows: rows[0]["dimension_weight"].update(insight=0.61),
     ":1: the dimension weights of topic '1' add up to 1.01, not to 1"),
    (lambda rows: rows[1]["criterions"]["insight"][0].update(weight=0.21),
     ":2: 'insight' of topic '2': the weights add up to 1.01, not to 1"),
    (lambda rows: rows[1]["criterions"]["insight"].pop(),
     ":2: 'insight' of topic '2': the weights add up to 0.5, not to 1"),
    (lambda rows: rows[0].update(id=7), ":1: no topic '7' in this study; correct the id or remove it"),
    (lambda rows: rows[1].update(id=1), ":2: id '1' appears twice (first at data/criteria_data/criteria.jsonl:1); remove one"),
    (lambda rows: rows[0]["criterions"].pop("readability"),
     ":1: topic '1' has 'readability' in one of dimension_weight and criterions; add it to the other"),
    (lambda rows: rows[0]["criterions"]["insight"][1].update(criterion=" "),
     ":1: 'insight' of topic '1', criterion 2 has no words in 'criterion'; fill it in"),
    (lambda rows: rows[0]["criterions"]["insight"][1].update(weight="much"),
     ":1: 'insight' of topic '1', criterion 2: weight is no number from 0 to 1 (found 'much'); correct it"),
    (lambda rows: rows[0]["criterions"]["insight"][1].update(weight=-0.75),
     ":1: 'insight' of topic '1', criterion 2: weight is no number from 0 to 1 (found '-0.75'); correct it"),
    (lambda rows: rows[0]["criterions"].update(insight=[]),
     ":1: 'insight' of topic '1' is no list of criteria; give objects with criterion, explanation, weight"),
    (lambda rows: rows[0].update(dimension_weight=None),
     ":1: needs 'id', 'dimension_weight' and 'criterions'; correct or remove the line"),
    (lambda rows: [rows[0][part].update({"a b": rows[0][part]["insight"], "a_b": rows[0][part].pop("insight")})
                   for part in ("criterions", "dimension_weight")],
     ":1: id 'a_b_1' of topic '1' appears twice"),
]  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("edit", "sentence"), REFUSED)
def test_wrong_criteria_are_refused_by_file_line_and_topic_and_nothing_is_written(
    engine: Engine, tmp_path: Path, edit: Callable[[list[dict[str, Any]]], object], sentence: str
) -> None:
    root = change(bench_tree(tmp_path), edit)
    with transaction(engine) as session:
        init_study(session, "small", BOTH, 7)
    before = everything(engine)
    with pytest.raises(ImportingError) as refused:
        bring_in(engine, root)
    assert any(f"{CRITERIA}{sentence}" in problem for problem in refused.value.problems), refused.value.problems
    assert everything(engine) == before


@pytest.mark.databases("sqlite")
def test_weights_may_miss_1_by_a_rounding_of_the_published_digits(engine: Engine, tmp_path: Path) -> None:
    def thirds(rows: list[dict[str, Any]]) -> None:
        for one in rows[1]["criterions"]["insight"]:
            one["weight"] = 0.3333333

    assert bring_in(engine, change(bench_tree(tmp_path), thirds)).criteria == {"new": 8}


@pytest.mark.databases("sqlite")
def test_a_study_that_brings_its_own_questions_reads_none_and_says_so(engine: Engine, tmp_path: Path) -> None:
    root = change(bench_tree(tmp_path), lambda rows: rows[0].update(dimension_weight={"insight": 0.36}))
    outcome = bring_in(engine, root, PROTOCOL)
    assert (outcome.criteria, asked(engine)) == ({}, {})
    assert f"{CRITERIA}: not read, because this study's protocol brings its own criteria" in outcome.notes


@pytest.mark.databases("sqlite")
def test_a_study_with_a_topic_that_nothing_is_asked_about_cannot_open(engine: Engine, tmp_path: Path) -> None:
    outcome = bring_in(engine, change(bench_tree(tmp_path), lambda rows: rows.pop()), ALONE)
    assert outcome.notes == ("topics without criteria 1 (2): the study cannot open before they have some",)
    add_items(engine)
    with pytest.raises(AnnotationError, match=r"topics of study 'small' without criteria: 1 \(2\); import") as refused:
        open_it(engine)
    assert refused.value.code == "no_criteria"
    assert bring_in(engine, change(tmp_path, lambda rows: None), ALONE).criteria == {"unchanged": 3, "new": 5}
    open_it(engine)
    assert the_study(engine).status == "open"


@pytest.mark.databases("sqlite")
def test_items_that_were_taken_out_need_no_questions(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, change(bench_tree(tmp_path), lambda rows: rows.pop()), ALONE)
    add_items(engine, excluded="2")
    open_it(engine)


def test_a_locked_study_keeps_its_questions(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, bench_tree(tmp_path), ALONE)
    add_items(engine)
    with transaction(engine) as session:
        session.get_one(Study, 1).status = "locked"
    with pytest.raises(ImportingError, match="study 'small' is locked; its criteria can no longer change"):
        bring_in(engine, tmp_path, ALONE)


def test_another_scale_asks_every_question_of_the_topics_anew(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, bench_tree(tmp_path), ALONE)
    before = asked(engine)
    with transaction(engine) as session:
        init_study(session, "small", ALONE.replace("max = 10", "max = 100"), 7)
    assert asked(engine, retired=True) == before
    anew = asked(engine)
    assert {t: {c: (label, w) for c, (_, label, w) in rows.items()} for t, rows in anew.items()} == {
        t: {c: (label, w) for c, (_, label, w) in rows.items()} for t, rows in before.items()
    }
    assert not {row for rows in anew.values() for row, _, _ in rows.values()} & {
        row for rows in before.values() for row, _, _ in rows.values()
    }
    with transaction(engine) as session:
        init_study(session, "small", ALONE, 7)
    assert asked(engine).keys() == {"1", "2"}


@pytest.mark.databases("sqlite")
def test_criteria_csv_beside_a_folder_and_beside_a_table(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path / "tree", topics=("tides", "bread"))
    table = root / "all.jsonl"
    rows = [{"topic": t, "system": "delta", "text": f"On {t}, at some length."} for t in ("tides", "bread")]
    table.write_text(lines(rows), encoding="utf-8")
    csv = root / "criteria.csv"
    csv.write_text(
        f"{LISTED}tides,deep,Depth,How deep?,insight,0.25\nbread,clear,Clear,,,1\ntides,wide,Breadth,,insight,0.75\n"
    )
    for parsed, expected in ((read_folder(root), {"new": 3}), (read_table(table), {"unchanged": 3})):
        with transaction(engine) as session:
            study = init_study(session, "small", ALONE, 7)
            told = import_reports(session, local_admin(study), parsed, layout="x", source="here", allow_missing=True)
        assert told.criteria == expected
    assert weights(engine) == {"tides": {"deep": 0.25, "wide": 0.75}, "bread": {"clear": 1.0}}
    assert asked(engine)["bread"]["clear"][1] == "Clear"


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("topic,label\n", "criteria.csv:1: no column 'id' (found: topic, label); add it"),
        (f"{LISTED}tides,deep,Depth,,,0.5\ntides,wide,Breadth,,,0.4\n",
         "criteria.csv:2: the weights of topic 'tides' add up to 0.9, not to 1"),
        (f"{LISTED}tides,deep,Depth,,,0.5\ntides,deep,Breadth,,,0.5\n",
         "criteria.csv:3: id 'deep' of topic 'tides' appears twice (first at criteria.csv:2); remove one"),
        (f"{LISTED}tides,de ep,Depth,,,1\n", "criteria.csv:2: id 'de ep'; use letters"),
        (f"{LISTED}tides,all,Depth,,,1\n", "criteria.csv:2: id 'all'; use letters"),
        (f"{LISTED}tides,deep,,,,1\n", "criteria.csv:2: empty label; fill it in or remove the line"),
        (f"{LISTED}tides,deep,Depth,,,\n", "criteria.csv:2: weight is no number from 0 to 1 (found '')"),
        (f"{LISTED}moon,deep,Depth,,,1\n", "criteria.csv:2: no topic 'moon' in this study"),
    ],
)  # fmt: skip
def test_a_wrong_criteria_csv_is_refused(engine: Engine, tmp_path: Path, content: str, sentence: str) -> None:
    root = write_reports(tmp_path / "tree", topics=("tides",))
    (root / "criteria.csv").write_text(content, encoding="utf-8")
    with transaction(engine) as session:
        study = init_study(session, "small", ALONE, 7)
        with pytest.raises(ImportingError) as refused:
            import_reports(session, local_admin(study), read_folder(root), layout="x", source="here")
    assert any(sentence in problem for problem in refused.value.problems), refused.value.problems


@pytest.mark.databases("sqlite")
def test_without_a_column_of_weights_all_count_alike(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path / "tree", topics=("tides",))
    (root / "criteria.csv").write_text("topic,id,label\ntides,deep,Depth\ntides,wide,Breadth\n", encoding="utf-8")
    with transaction(engine) as session:
        study = init_study(session, "small", ALONE, 7)
        import_reports(session, local_admin(study), read_folder(root), layout="x", source="here")
    assert weights(engine) == {"tides": {"deep": 1.0, "wide": 1.0}}


def test_a_shuffled_order_draws_a_topics_own_questions_in_whole_groups(engine: Engine, tmp_path: Path) -> None:
    shuffled = ALONE.replace("[study]", '[study]\ncriteria_order = "shuffled"')
    bring_in(engine, bench_tree(tmp_path), shuffled)
    add_items(engine)
    with transaction(engine) as session:
        study = session.get_one(Study, 1)
        topics = {row.key: row.id for row in session.query(Topic)}
        draws = {
            key: {tuple(CriteriaOrders(session, study).draw(topic, "slot", n) or ()) for n in range(30)}
            for key, topic in topics.items()
        }
        assert {len(found) > 1 for found in draws.values()} == {True}
        for key, found in draws.items():
            for codes in found:
                assert set(codes) == set(ROW_WEIGHTS[key])
                groups = [code.rpartition("_")[0] for code in codes]
                assert sum(one != other for one, other in pairwise(groups)) == 1, "groups stay whole"
        item = session.query(Item).filter_by(topic_id=topics["2"]).first()
        assert item is not None
        codes = list(min(draws["2"]))
        slot = Assignment(study_id=1, item_id=item.id, criteria_order=codes, plan_seed=7)
        session.add(slot)
        session.flush()
        assert [row.code for row in asked_of(session, study, slot)] == codes


def add_items(engine: Engine, excluded: str = "") -> None:
    """One report of each topic, to be rated alone; `excluded` names a topic whose item is out."""
    with transaction(engine) as session:
        for report, topic in session.query(Report, Topic).join(Topic, Topic.id == Report.topic_id):
            if report.system_id == 1:
                session.add(
                    Item(
                        study_id=1, topic_id=topic.id, kind="report", report_a_id=report.id,
                        excluded_at=now() if topic.key == excluded else None,
                    )
                )  # fmt: skip


def open_it(engine: Engine) -> None:
    with transaction(engine) as session:
        move_study(session, session.get_one(Study, 1), "open")


def test_the_published_file_reads_as_it_is_written(tmp_path: Path) -> None:
    """Their line, their key order, an explanation with quotes and a dimension of two words."""
    line = json.dumps(
        {
            "id": 1,
            "prompt": "收集整理",
            "dimension_weight": {"instruction_following": 1.0},
            "criterions": {"instruction_following": [{"criterion": "紧扣\n主题", "explanation": '"Ja"', "weight": 1}]},
        },
        ensure_ascii=False,
    )
    root = bench_tree(tmp_path)
    (root / CRITERIA).write_text(line, encoding="utf-8")
    (one,) = read_deepresearch_bench(root).criteria
    assert (one.topic, one.id, one.label, one.text) == ("1", "instruction_following_1", "紧扣 主题", '"Ja"')
    assert (one.category, one.weight) == ("instruction_following", 1.0)

"""What a labels file can support, said of good tables, of other people's tables, and of anything at all."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.errors import CalibrationError
from calibration.examining.examining import examine
from calibration.table.checking import check_verdicts
from calibration.table.verdicts import KNOWN_COLUMNS
from tests.calibration.studies import made_pairs, made_ratings

LABELS = Path(__file__).resolve().parents[4] / "shared" / "data" / "labels"


def question(found, start: str):
    return next(one for one in found.supports if one.question.startswith(start))


def test_a_good_table_is_ready_and_every_column_has_its_part():
    found = examine(made_pairs())
    assert found.ready
    assert found.steps == ()
    assert {one.name: one.role for one in found.columns} == {name: name for name in made_pairs().columns}
    assert found.clusterings[0].column == "cluster_id"
    assert question(found, "do judges agree").supported
    assert question(found, "do people agree").supported


def test_scores_are_ready_too_and_are_not_asked_for_sides():
    found = examine(made_ratings())
    assert found.ready
    assert not any("side" in one.question for one in found.supports)


@pytest.mark.parametrize("absent", ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id"])
def test_a_missing_column_is_named_and_is_the_one_thing_to_add(absent):
    found = examine(made_pairs().drop(columns=absent))
    assert not found.ready
    assert any(f"add the column {absent}" in step for step in found.steps)
    assert question(found, "do judges agree").missing == absent


def test_a_cluster_is_proposed_and_never_assumed():
    frame = made_pairs(pairs=40).drop(columns="cluster_id")
    frame["topic"] = (frame["item_id"].str[1:].astype(int) // 2).astype(str)  # two items share a topic
    frame["category"] = (frame["item_id"].str[1:].astype(int) // 20).astype(str)
    found = examine(frame)
    best = found.clusterings[0]
    assert (best.column, best.clusters, best.items) == ("topic", 20, 40)
    assert best.labels_per_cluster == len(frame) / 20
    assert not found.ready
    assert any("rename the column 'topic' to cluster_id, if that is what" in step for step in found.steps)
    anonymous = examine(frame.drop(columns="topic").assign(batch="b" + frame["topic"]))
    assert anonymous.clusterings[0].column == "batch"
    assert any("propose a copy of 'batch'" in step for step in anonymous.steps)


def test_a_cluster_that_only_repeats_the_item_is_questioned():
    frame = made_pairs(pairs=40)
    frame["cluster_id"] = frame["item_id"]
    frame["source"] = (frame["item_id"].str[1:].astype(int) // 4).map("text-{}".format)
    found = examine(frame)
    assert found.ready
    assert "consider 'source' as cluster_id" in found.advice[0]


def test_ids_are_not_covariates():
    frame = made_pairs()
    frame["session_id"] = "s" + (frame.index % 7).astype(str)
    frame["row"] = frame.index.astype(str)
    frame["shift"] = (frame.index % 2).astype(str)
    notes = {one.name: one.note for one in examine(frame).columns}
    assert notes["session_id"] == notes["row"] == "an id: kept, used in no number"
    assert notes["shift"] == "kept, used in no number"


@pytest.mark.parametrize(
    ("other_system", "columns", "proposed"),
    [
        ("borealis", {}, "a copy of 'cluster_id'"),
        ("cirrus", {}, "'cluster_id', 'system_a' and 'system_b' joined"),
        ("borealis", {"question_id": "7", "cluster_id": "t"}, "a copy of 'question_id'"),
        ("cirrus", {"question_id": "7", "cluster_id": "t"}, "'question_id', 'system_a' and 'system_b' joined"),
    ],
)
def test_what_may_name_the_items_is_proposed_where_no_column_does(other_system, columns, proposed):
    frame = made_pairs().drop(columns="item_id").assign(session_id=lambda one: one["rater_id"], **columns)
    frame.loc[frame["criterion"] == "c1", "system_b"] = other_system
    found = examine(frame)
    assert f"add the column item_id (one pair, report or probe); propose {proposed}" in found.steps
    notes = {one.name: one.note for one in found.columns}
    assert {*notes.values()} == {
        "",
        "an id: kept, used in no number",
        *["an id: item_id may be made of it"] * len(columns),
    }
    assert notes["session_id"] == "an id: kept, used in no number"


def test_rows_without_a_partner_are_counted_on_both_sides():
    frame = made_pairs(pairs=10, criteria=1, annotators=2, judges={"judge-x": 0.8})
    people, judges = frame["rater_kind"] == "human", frame["rater_kind"] == "judge"
    frame = frame[~(people & (frame["item_id"] == "p000")) & ~(judges & frame["item_id"].isin(["p001", "p002"]))]
    (join,) = examine(frame).joins
    assert (join.human_rows_alone, join.judge_rows_alone, join.mates) == (4, 1, 14)


def test_doubled_answers_are_counted_and_the_first_is_named():
    frame = made_pairs(pairs=5, criteria=1)
    found = examine(pd.concat([frame, frame.iloc[[3, 4]]], ignore_index=True))
    assert (found.repeats.doubled, found.repeats.first_row) == (2, len(frame) + 2)
    assert "the same as row 5 in every column; remove one" in found.refusal
    differing = pd.concat([frame, frame.iloc[[3]].assign(shift="2")], ignore_index=True).fillna("")
    assert "already answered this criterion of this item in row 5, also in run 1" in examine(differing).refusal


def test_who_is_called_a_is_watched():
    frame = made_pairs()
    assert examine(frame).orientation.always == "atlas"
    rows = [
        (f"p{i}", "ann", "human", "c", "A", f"t{i}", strong, "weak")
        for i, strong in enumerate(["strong", "strong", "other"])
    ]
    columns = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b"]
    found = examine(pd.DataFrame(rows, columns=columns)).orientation
    assert (found.always, found.a_is_stronger) == ("", 1.0)
    assert "the stronger system in 100 % of 3 pairs" in found.note


@pytest.mark.parametrize(
    ("word", "meaning", "accepted"),
    [
        ("tie_inconsistent", "read as tie", True),
        ("unparsed", "read as status invalid", True),
        ("a", "write A", False),
        ("TIE", "write tie", False),
        ("left", "a side, not a verdict", False),
        ("atlas", "a system's name", False),
        ("model_b", "write B, if that is what it means", False),
        ("tie (bothbad)", "write tie, if that is what it means", False),
        ("A wins", "write A, B, tie or not_applicable", False),
    ],
)
def test_words_outside_the_vocabulary_are_counted_with_their_first_row_and_remedy(word, meaning, accepted):
    frame = made_pairs(criteria=1)
    frame.loc[[2, 7], "label"] = word
    (odd,) = examine(frame).words
    assert (odd.word, odd.count, odd.first_row, odd.accepted) == (word, 2, 4, accepted)
    assert odd.meaning.startswith(meaning)


def test_a_wrong_rater_kind_is_shown_and_not_repaired():
    found = examine(made_pairs().replace({"rater_kind": {"human": "Human"}}))
    assert [(one.column, one.word, one.meaning) for one in found.words] == [
        ("rater_kind", "Human", "write human or judge")
    ]
    assert not found.ready


def test_a_file_of_an_arena_is_told_all_its_columns_at_once_and_an_item_of_several_pairs_its_remedy():
    arena = made_pairs().replace({"rater_kind": {"human": "expert"}, "label": {"A": "model_a", "B": "model_b"}})
    assert examine(arena).steps[1].startswith("mend every word listed above, in the columns rater_kind and label")
    topics = made_pairs().assign(item_id="t1", cluster_id="t1")
    assert "give each pair its own item_id if this one holds several" in examine(topics).refusal
    topics.loc[5:, "system_a"] = "cirrus"
    assert examine(topics).refusal.endswith("give each pair its own item_id, such as topic and both systems")


def test_another_tool_s_names_are_recognised_and_only_proposed():
    frame = made_pairs().rename(
        columns={
            "item_id": "Item ID",
            "rater_id": "annotator",
            "label": "winner",
            "criterion": "dimension",
            "system_a": "model_a",
            "system_b": "model_b",
        }
    )
    found = examine(frame)
    renamed = {one.name: one.role for one in found.columns if one.renamed}
    assert renamed == {"Item ID": "item_id", "annotator": "rater_id", "winner": "label", "dimension": "criterion", "model_a": "system_a", "model_b": "system_b"}  # fmt: skip
    assert not found.ready
    assert found.refusal == ""  # with these names it would be accepted
    assert len(found.steps) == 1


@pytest.mark.parametrize("words", [("ab", "ba"), ("AB", "BA"), ("original", "swapped")])
def test_a_column_of_orders_may_be_the_presentation_and_its_words_are_said(words):
    frame = made_pairs().replace({"presentation": dict(zip(("AB", "BA"), words, strict=True))})
    found = examine(frame.rename(columns={"presentation": "order"}))
    assert next(one.note for one in found.columns if one.name == "order") == "rename to presentation"
    meant = {one.word: one.meaning for one in found.words if one.column == "presentation"}
    known = ("write AB, if A stood left or first", "write BA, if B stood left or first")
    assert meant == ({} if words == ("AB", "BA") else dict(zip(words, known, strict=True)))


def test_one_column_for_each_rater_is_seen():
    frame = pd.DataFrame({"item_id": ["1", "2"], "ann": ["A", "B"], "gpt": ["B", "A"], "cluster_id": ["x", "y"]})
    assert any("'ann', 'gpt' look like one column for each rater" in step for step in examine(frame).steps)


@pytest.mark.parametrize(
    ("without", "start", "column"),
    [
        ("presentation", "does the side matter", "presentation"),
        ("system_b", "which system wins", "system_b"),
        ("", "are longer reports", "len_a"),
        ("", "what does a judge cost", "cost_usd"),
        ("", "how long", "seconds"),
        ("", "does a rater repeat", "run"),
        ("", "does it differ by category", "category"),
        ("", "did a rationale", "rationale"),
        ("", "how many answers could not", "status"),
    ],
)
def test_what_is_not_supported_says_the_one_column_that_is_missing(without, start, column):
    one = question(examine(made_pairs().drop(columns=without or [])), start)
    assert (one.supported, one.missing) == (False, column)


cells = st.one_of(st.sampled_from(["A", "B", "tie", "human", "judge", "", "1", "nan", "1e400", "{x}", "AB", "ok", "all"]), st.text(max_size=6))  # fmt: skip


@st.composite
def any_frames(draw):
    names = draw(st.lists(st.one_of(st.sampled_from(KNOWN_COLUMNS), st.text(max_size=8)), max_size=9))
    rows = draw(st.integers(0, 6))
    return pd.DataFrame([[draw(cells) for _ in names] for _ in range(rows)], columns=names, dtype="str")


@given(any_frames())
def test_any_table_of_text_is_examined_and_ready_means_accepted(frame):
    before = frame.copy()
    found = examine(frame)
    assert found.rows == len(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert found.ready == (not found.steps)
    if found.ready:
        check_verdicts(frame)
    for one in found.clusterings:
        assert one.labels_per_cluster * one.clusters == pytest.approx(found.rows)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame(columns=["item_id"]),
        pd.DataFrame({"label": [["A"], {"b": 1}, None]}),
        pd.DataFrame({0: [1, 2], "item_id": [1.0, math.nan]}),
        pd.DataFrame([[1, 2]], columns=["label", "label"]),
        pd.DataFrame({"len_a": [math.inf, -1.0], "label": [True, False]}),
    ],
    ids=["nothing", "no rows", "nested", "numbers", "twice", "odd numbers"],
)
def test_tables_that_are_not_text_are_examined_too(frame):
    assert not examine(frame).ready


def test_the_order_of_rows_changes_no_finding():
    frame = made_pairs()
    found, shuffled = examine(frame), examine(frame.sample(frac=1, random_state=3))
    assert found.joins == shuffled.joins
    assert found.clusterings == shuffled.clusterings
    assert found.supports == shuffled.supports


if LABELS.is_dir():

    def test_the_published_votes_of_mt_bench_are_ready():
        found = examine(pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str, keep_default_na=False))
        assert found.ready
        assert (found.rows, found.repeats.items, found.repeats.doubled) == (5755, 2400, 0)
        best = found.clusterings[0]
        assert (best.column, best.clusters, best.labels_per_cluster) == ("cluster_id", 80, 5755 / 80)
        (join,) = found.joins
        assert (join.human_rows_alone, join.judge_rows_alone) == (0, 2400 - 1814)
        assert [(one.word, one.count) for one in found.words] == [("tie_inconsistent", 188), ("tie_inconsistent", 192)]

    def test_the_published_labels_of_pandalm_are_ready():
        found = examine(pd.read_csv(LABELS / "pandalm_testset.csv", dtype=str, keep_default_na=False))
        assert found.ready
        assert [(one.word, one.count, one.meaning) for one in found.words] == [
            ("unparsed", 25, "read as status invalid")
        ]
        assert (found.clusterings[0].column, found.clusterings[0].clusters) == ("cluster_id", 170)
        assert question(found, "does the side matter").missing == "presentation"


def test_a_refusal_is_the_one_calibration_would_give():
    frame = made_pairs(pairs=4)
    frame.loc[5, "presentation"] = "left first"
    with pytest.raises(CalibrationError) as refused:
        check_verdicts(frame)
    assert examine(frame).refusal == refused.value.text

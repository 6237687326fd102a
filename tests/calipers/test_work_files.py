"""Files as people at work keep them: a log of calls with retries, an annotation company's export, a folder of both."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import calipers
from annotation.errors import AnnotationError
from calibration.errors import CalibrationError
from calibration.table.checking import check_verdicts
from calipers.kept_reports import labels_sha256
from calipers.mapping_files import recipe_text
from calipers.tidy_files import labels_of, options_of, read_tidy

ITEMS = range(12)
TURNED = {"first": "second", "second": "first", "tie": "tie"}
SAID = {"first": "A", "second": "B", "tie": "tie"}


def answer(item: int) -> str:
    return ("first", "second", "tie")[item % 3]


def calls(repeats: bool = False) -> list[dict[str, Any]]:
    """One judge asked in both orders; every fourth call failed and was made again, or answered twice (`repeats`)."""
    made = []
    for item in ITEMS:
        for swapped in (False, True):
            fails = (item + swapped) % 4 == 0
            for attempt in range(1, 2 + fails):
                failed = fails and attempt == 1 and not repeats
                shown = TURNED[answer(item)] if swapped else answer(item)
                made.append({
                    "pair_id": f"p{item}", "judge_model": "gpt-4o", "swapped": swapped, "attempt": attempt,
                    "status": "error" if failed else "ok", "response": {"verdict": None if failed else shown},
                    "usage": {"cost_usd": 0.25},
                })  # fmt: skip
    return made


def kept(folder: Path, made: list[dict[str, Any]]) -> Path:
    (folder / "calls.jsonl").write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    return folder


def options(*people: str) -> Any:
    return options_of([], [], [*people], [])


def test_a_call_that_failed_and_was_made_again_is_one_answer_that_bears_both_prices(tmp_path: Path) -> None:
    labels, told = labels_of(kept(tmp_path, calls()) / "calls.jsonl", options())
    assert "calls that failed and were made again, left out but for what they cost: 6" in str(told)
    made = check_verdicts(labels)
    assert (len(made), {*made["status"].astype("str")}, made["run"].max()) == (24, {"ok"}, 1)
    assert made["cost_usd"].sum() == 30 * 0.25
    assert [SAID[answer(int(item[1:]))] for item in made["item_id"].astype("str")] == made["label"].tolist()
    unnumbered = [{key: cell for key, cell in call.items() if key != "attempt"} | {"date": "today"} for call in calls()]
    timed = [call | {"date": f"{at:02}:00"} for at, call in enumerate(unnumbered)]
    anew = labels_of(kept(tmp_path, timed) / "calls.jsonl", options())[0]
    assert check_verdicts(anew)[["label", "cost_usd"]].equals(made[["label", "cost_usd"]]), "times tell calls apart"
    same, told = labels_of(kept(tmp_path, unnumbered) / "calls.jsonl", options())
    assert "failed beside another to the same, counted as repeats: 6 (where these calls were made anew" in str(told)
    own = check_verdicts(same)
    assert (len(own), own["status"].ne("ok").sum(), own["run"].max()) == (30, 6, 2), "none is left out unasked"
    unpriced = [{**call, "usage": {"cost_usd": None}} for call in calls()]
    free = labels_of(kept(tmp_path, unpriced) / "calls.jsonl", options())[0]
    assert check_verdicts(free)["cost_usd"].isna().all(), "what is not known is no 0"
    twice = [{**call, "response": {"verdict": "tie"}, "attempt": 3} for call in calls() if call["attempt"] == 2]
    mixed = check_verdicts(labels_of(kept(tmp_path, calls() + twice) / "calls.jsonl", options())[0])
    assert (len(mixed), {*mixed["status"].astype("str")}, mixed["run"].max()) == (30, {"ok"}, 2)
    assert mixed["cost_usd"].sum() == 36 * 0.25
    again, told = labels_of(kept(tmp_path, calls(repeats=True)) / "calls.jsonl", options())
    assert (len(again), again["run"].astype("str").max()) == (30, "2"), "answered twice, it is a repeat"


def folder_of(path: Path, **tables: list[dict[str, Any]]) -> Path:
    path.mkdir(exist_ok=True)
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(path / f"{name}.csv", index=False)
    return path


def rows_of(who: str, what: str, *names: str) -> list[dict[str, Any]]:
    return [{"pair_id": f"p{item}", who: name, what: SAID[answer(item)]} for item in ITEMS for name in names]


PEOPLE, ONES = rows_of("annotator", "label", "mara", "joel"), {"mara": "A", "joel": "B"}
QUESTIONS = [{"pair_id": f"p{item}", "question": f"What is {item}?"} for item in ITEMS]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"votes": PEOPLE, "w": rows_of("judge", "verdict", "gpt-4o")},
         "votes.csv has answers in 'label', by those in 'annotator'; w.csv has answers in 'verdict', by those in "
         "'judge': .*: --map rater_id=annotator.judge,label=label.verdict; otherwise: Make .* calipers tidy FILE"),
        ({"votes": PEOPLE, "w": rows_of("judge", "verdict", "gpt-4o"), "questions": QUESTIONS}, "w.csv has answers in"),
        ({"votes": PEOPLE, "w": rows_of("judge", "label", "gpt-4o")}, "rater_id=annotator.judge,label=label"),
        ({"votes": PEOPLE, "w": rows_of("annotator", "verdict", "gpt-4o")}, "rater_id=annotator,label=label.verdict"),
        ({"votes": PEOPLE, "w": rows_of("model", "verdict", "gpt-4o"), "z": rows_of("model", "verdict", "o3")},
         "w.csv has answers in 'verdict', with no .*: --map rater_id=annotator.COLUMN,label=label.verdict; otherwise: Make"),
        ({"votes": PEOPLE, "w": rows_of("llm", "rating", "gpt-4o")}, "w.csv has answers in 'rating', with no column"),
        ({"votes": rows_of("annotator", "overall_quality", "mara"), "w": rows_of("judge", "relevance", "gpt-4o")},
         "votes.csv has answers in 'overall_quality', .*; w.csv has answers in 'relevance'"),
        ({"votes": [{"pair_id": f"p{item}", **ONES} for item in ITEMS], "w": rows_of("judge", "verdict", "gpt-4o")},
         "votes.csv has answers in 'mara', 'joel', with no .*; w.csv has answers in 'verdict', by those in 'judge'"),
        ({"votes": [{"pair_id": f"p{item}", **ONES} for item in ITEMS],
          "w": [{"pair_id": f"p{item}", "gpt-4o": "A"} for item in ITEMS]}, "w.csv has answers in 'gpt-4o'"),
    ],
)  # fmt: skip
def test_tables_of_a_folder_that_have_their_answers_in_other_columns_are_refused_with_what_mends_it(
    tmp_path: Path, tables: dict[str, Any], said: str
) -> None:
    with pytest.raises(AnnotationError, match=said):
        read_tidy(folder_of(tmp_path / "all", **tables), options("mara,joel"))


def test_a_folder_is_one_table_where_it_is_said_which_columns_are_the_same_and_its_mapping_makes_it_again(
    tmp_path: Path,
) -> None:
    path = folder_of(tmp_path / "all", votes=PEOPLE, w=rows_of("judge", "verdict", "gpt-4o"))
    with pytest.raises(
        AnnotationError, match=r"map={'rater_id': 'annotator\+judge', 'label': 'label\+verdict'}; otherwise"
    ):
        calipers.read(path)
    columns = ["rater_id=annotator+judge,label=label+verdict"]
    made = read_tidy(path, options_of(columns, [], ["mara,joel"], []))
    assert made.problems == ()
    assert made.labels.groupby("rater_id")["rater_kind"].agg(["first", "size"]).T.to_dict("list") == {
        "gpt-4o": ["judge", 12], "joel": ["human", 12], "mara": ["human", 12],
    }  # fmt: skip
    assert made.labels["item_id"].nunique() == len(ITEMS)
    (tmp_path / "kept.toml").write_text(recipe_text(made.recipe), encoding="utf-8")
    again = read_tidy(path, options_of([], [], [], [], mapping=tmp_path / "kept.toml"))
    pd.testing.assert_frame_equal(again.labels, made.labels)
    wrong = read_tidy(path, options_of([*columns, "cluster_id=topicc"], [], ["marra,joel"], [])).problems
    assert "--people marra: no rater is called so" in str(wrong)
    assert "there is no column 'topicc'" in str(wrong)


def test_topics_that_one_file_of_a_folder_has_are_those_of_its_items_and_never_left_out(tmp_path: Path) -> None:
    votes = [{**row, "topic": f"t{place // 6}"} for place, row in enumerate(PEOPLE)]
    path = folder_of(tmp_path / "all", votes=votes, w=rows_of("judge", "verdict", "gpt-4o"))
    made = read_tidy(path, options_of(["rater_id=annotator+judge,label=label+verdict"], [], ["mara,joel"], []))
    assert made.problems == ()
    assert "rows without a topic, given that of their item: 12" in made.told
    assert made.labels.groupby("item_id")["cluster_id"].nunique().eq(1).all()
    assert {*made.labels["cluster_id"]} == {"t0", "t1", "t2", "t3"}
    each = {
        name: labels_of(path / f"{name}.csv", options(people))[0].to_dict("records")
        for name, people in (("votes", "mara,joel"), ("w", "none"))
    }
    with pytest.raises(CalibrationError, match="lies in cluster 'p0' here and in another one above"):
        check_verdicts(labels_of(folder_of(tmp_path / "new", **each), options())[0])


def test_a_folder_of_labels_made_of_each_file_is_one_table(tmp_path: Path) -> None:
    votes = rows_of("annotator", "choice", "mara", "joel")
    path = folder_of(tmp_path, human_votes=votes)
    kept(path, calls())
    with pytest.raises(AnnotationError, match=r"calls.jsonl has answers .*; human_votes.csv has answers in 'choice'"):
        labels_of(path, options("mara,joel"))
    (new := tmp_path / "new").mkdir()
    for name, people in (("calls.jsonl", "none"), ("human_votes.csv", "mara,joel")):
        labels_of(path / name, options(people))[0].to_csv((new / name).with_suffix(".csv"), index=False)
    (new / "README.txt").write_text("Votes, made in May;\nsee a, b, and c.", encoding="utf-8")
    labels, told = labels_of(new, options())
    assert "left out, being no table: README.txt" in told
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of what a table says of its rows, which is no part of its cells
        labels_sha256(labels)
    made = check_verdicts(labels).astype({"rater_id": "str"})
    assert made["rater_id"].value_counts().to_dict() == {"gpt-4o": 24, "mara": 12, "joel": 12}
    by = made[made["run"] == 1].pivot_table(index="item_id", columns="rater_id", values="label", aggfunc="first")
    assert by["gpt-4o"].eq(by["mara"]).all()
    assert by["joel"].eq(by["mara"]).all()


def test_a_models_label_beside_workers_rows_is_a_judges_and_an_adjudicated_one_nobodys(tmp_path: Path) -> None:
    words = ("safe", "unsafe")
    rows = [
        {"task_id": f"T{item}", "worker_id": f"W-{(item + turn) % 3}", "label": words[(item + turn) % 2],
         "adjudicated_label": words[item % 2], "model_label": words[item % 3 == 0]}
        for item in ITEMS for turn in (0, 1)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    labels, told = labels_of(tmp_path / "a.csv", options())
    made = check_verdicts(labels).astype({"rater_id": "str", "rater_kind": "str"})
    assert made.groupby("rater_id")["rater_kind"].first().to_dict() == {
        "W-0": "human", "W-1": "human", "W-2": "human", "model": "judge",
    }  # fmt: skip
    assert "not read, though they may be answers: adjudicated_label" in str(told)
    of_model = made[made["rater_id"] == "model"]
    assert dict(zip(of_model["item_id"].astype("str"), of_model["label"].astype("str"), strict=True)) == {
        f"T{item}": words[item % 3 == 0] for item in ITEMS
    }

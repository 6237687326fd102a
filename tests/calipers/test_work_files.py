"""Files as people at work keep them: a log of calls with retries, an annotation company's export, a folder of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annotation.errors import AnnotationError
from calibration.table.checking import check_verdicts
from calipers.tidy_files import labels_of, options_of

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
    unnumbered = [{key: cell for key, cell in call.items() if key != "attempt"} for call in calls()]
    same = labels_of(kept(tmp_path, unnumbered) / "calls.jsonl", options())[0]
    assert check_verdicts(same)[["item_id", "label", "cost_usd"]].equals(made[["item_id", "label", "cost_usd"]])
    again, told = labels_of(kept(tmp_path, calls(repeats=True)) / "calls.jsonl", options())
    assert (len(again), again["run"].astype("str").max()) == (30, "2"), "answered twice, it is a repeat"


def test_two_tables_of_a_folder_that_say_who_answered_by_other_columns_are_read_apart_and_joined(
    tmp_path: Path,
) -> None:
    votes = [
        {"pair_id": f"p{item}", "annotator": who, "choice": SAID[answer(item + (who == "joel"))]}
        for item in ITEMS
        for who in ("mara", "joel")
    ]
    pd.DataFrame(votes).to_csv(kept(tmp_path, calls()) / "human_votes.csv", index=False)
    with pytest.raises(AnnotationError, match=r"human_votes.csv: nothing says whether .*: mara, joel; name the people"):
        labels_of(tmp_path, options())
    with pytest.raises(AnnotationError, match="--people joell: no rater is called so"):
        labels_of(tmp_path, options("mara", "joell"))
    labels, told = labels_of(tmp_path, options("mara", "joel"))
    assert "a mapping is kept of calls.jsonl alone" in told
    made = check_verdicts(labels).astype({"rater_id": "str"})
    assert made["rater_id"].value_counts().to_dict() == {"gpt-4o": 24, "mara": 12, "joel": 12}
    assert made["item_id"].nunique() == len(ITEMS)
    assert "24 answers, of which on no item of" in str(told)
    by = made[made["run"] == 1].pivot_table(index="item_id", columns="rater_id", values="label", aggfunc="first")
    assert by["gpt-4o"].eq(by["mara"]).all()
    assert not by["gpt-4o"].eq(by["joel"]).any()


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

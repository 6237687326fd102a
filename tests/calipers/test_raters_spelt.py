"""Raters whose names differ in capital letters alone are one where nothing speaks against it, and told."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from annotation.errors import AnnotationError
from calibration.examining.findings import rare_words
from calipers.joined_parts import together
from calipers.tidy_files import labels_of, options_of, read_tidy


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize(
    ("both", "raters"), [(False, ["Anna", "gpt-4o"]), (True, ["Anna", "GPT-4O", "GPT-4o", "gpt-4o"])]
)
def test_one_judge_spelt_in_two_ways_is_one_unless_both_answered_an_item(
    tmp_path: Path, is_ours: bool, both: bool, raters: list[str]
) -> None:
    rows = [(n, "Anna", "human", "AB"[n % 2]) for n in range(20)]
    rows += [(n, "gpt-4o" if n < 10 else "GPT-4o", "judge", "AB"[n % 2]) for n in range(20)]
    rows += [(3, "GPT-4o", "judge", "A"), (20, "GPT-4O", "judge", "A")] * both
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label"])
    if is_ours:
        frame = frame.assign(criterion="c", cluster_id=frame["item_id"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    labels, told = labels_of(tmp_path / "a.csv", options_of([], [], [], []))
    assert sorted(labels["rater_id"].astype("str").unique()) == raters
    assert ("gpt-4o and GPT-4o, which differ in capital letters alone, are " + ("two" if both else "one")) in str(told)
    assert ("GPT-4O, which differ in capital letters alone, are two raters: two names so spelt" in str(told)) is both


def test_a_person_and_a_judge_of_one_name_are_two(tmp_path: Path) -> None:
    who = (("Claude", "human"), ("claude", "judge"))
    rows = [(n, name, kind, "AB"[n % 2]) for name, kind in who for n in range(9)]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "label"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    labels, _ = labels_of(tmp_path / "a.csv", options_of([], [], [], []))
    assert labels["rater_id"].astype("str").tolist() == ["Claude"] * 9 + ["claude"] * 9


def test_who_is_told_by_a_name_is_said_to_be_and_who_is_named_has_a_column_of_any_scores(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": range(20), "Prüferin 1": "AB" * 10, "KI-Richter": "A"})
    frame.assign(**{"Prüferin 1": ["A", "B"] * 10}).to_csv(tmp_path / "a.csv", index=False)
    _, told = labels_of(tmp_path / "a.csv", options_of([], [], [], []))
    assert {"people by their names: Prüferin 1", "judges by their names: KI-Richter"} <= {*told}
    at = range(120)  # 0 to 100 in halves: more numbers than columns of answers have that nobody names
    scores = {name: [(n * step % 200) / 2 for n in at] for name, step in (("Anna", 7), ("Ben", 11), ("gpt-4o", 13))}
    frame = pd.DataFrame({"item": at, **scores, "Both adjudicated": scores["Ben"], "gemini": [n * 9 for n in at]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(
        AnnotationError, match=r"'Anna', 'Ben', .* hold numbers as .*: --people Anna,Ben where people did"
    ):
        labels_of(tmp_path / "a.csv", options_of([], [], [], []))
    with pytest.raises(AnnotationError, match=r"not read, .*: gemini .* rater_id=Anna\+Ben\+gpt-4o\+gemini"):
        labels_of(tmp_path / "a.csv", options_of([], [], ["Anna,Ben"], []))
    labels, _ = labels_of(tmp_path / "a.csv", options_of(["ignore=gemini"], [], ["Anna,Ben"], []))
    assert dict(labels.groupby("rater_id", observed=True)["rater_kind"].first()) == {
        "Anna": "human", "Ben": "human", "gpt-4o": "judge"
    }  # fmt: skip
    who = "Anna,Ben,Both adjudicated"
    _, told = labels_of(tmp_path / "a.csv", options_of(["ignore=gemini"], [], [who], []))
    assert "Both adjudicated, settled of others' answers by the head, counts as one more annotator" in str(told)


def test_a_parts_answers_are_spelt_as_the_first_part_spells_those_to_the_criterion(tmp_path: Path) -> None:
    """Where its scorers spell one answer in two ways, each keeps its own; and a denial is no slip of what it denies."""
    parts = []
    for who, second in (("gpt-4o", str.lower), ("annotator_1", str)):
        words = [(n, who, criterion, ("Safe", "Harmful")[n % 2]) for criterion in ("s1", "s2") for n in range(12)]
        frame = pd.DataFrame(words, columns=["id", "rater", "criterion", "label"])
        frame.loc[12:, "label"] = frame.loc[12:, "label"].map(second)
        frame.to_csv(tmp_path / f"{who}.csv", index=False)
        parts.append(read_tidy(tmp_path / f"{who}.csv"))
    spelt = together(["log", "people"], parts).labels.groupby("criterion")["label"].agg(set).to_dict()
    assert spelt == {"s1": {"Safe", "Harmful"}, "s2": {"safe", "harmful"}}
    slip = parts[0].labels.query("criterion == 's1'")
    assert rare_words(slip.assign(label=[*["relevant"] * 11, "irrelevant"])) == []

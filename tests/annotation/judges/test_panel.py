"""Panels: judges whose verdicts are votes. No first vote wins, and what is not decided has no verdict."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import PanelDefinition, parse_judge_file
from annotation.judges.defining.panel import Decision, decide, panel_verdicts
from annotation.protocol import parse_protocol
from annotation.verdicts import COLUMNS, labels_csv
from tests.annotation.judges.judged_study import protocol_text
from tests.small_study import RATING

EQUAL = dict.fromkeys("abcd", 1.0)
NONE = Decision("missing", None, None)
SPLIT = Decision("missing", None, 0.5)  # no majority, and no wrong answer either


@pytest.mark.parametrize(
    ("votes", "weights", "allow_tie", "expected"),
    [
        # more than half of the valid votes
        ({"a": ["A"], "b": ["A"], "c": ["B"]}, EQUAL, False, Decision("ok", "A", 2 / 3)),
        ({"a": ["A"], "b": ["A"], "c": ["A"]}, EQUAL, False, Decision("ok", "A", 1.0)),
        # never the first vote: an even split decides nothing, or is a tie where ties are allowed
        ({"a": ["A"], "b": ["B"]}, EQUAL, False, SPLIT),
        ({"a": ["A"], "b": ["B"]}, EQUAL, True, Decision("ok", "tie", 0.0)),
        ({"a": ["A"], "b": ["tie"], "c": ["B"]}, EQUAL, True, Decision("ok", "tie", 1 / 3)),
        ({"a": ["A"], "b": ["A"], "c": ["B"], "d": ["tie"]}, EQUAL, True, Decision("ok", "tie", 1 / 4)),
        # a quorum of half the members; a failure is no vote
        ({"a": ["A"], "b": [None]}, EQUAL, False, Decision("ok", "A", 1.0)),
        ({"a": ["A"], "b": [None], "c": [None]}, EQUAL, False, NONE),
        ({"a": ["A"], "b": []}, EQUAL, False, Decision("ok", "A", 1.0)),
        ({"a": ["A"], "b": ["B"], "c": [None], "d": ["A"]}, EQUAL, False, Decision("ok", "A", 2 / 3)),
        ({"a": [None], "b": [None]}, EQUAL, True, NONE),
        # both orders and repeats share their member's vote: ReportBench is 2 models x 3 votes
        ({"a": ["A", "B"], "b": ["A", "A"]}, EQUAL, False, Decision("ok", "A", 3 / 4)),
        ({"a": ["A", "B"], "b": ["B", "A"]}, EQUAL, False, SPLIT),
        ({"a": ["true"] * 3, "b": ["true", "false", "false"]}, EQUAL, False, Decision("ok", "true", 4 / 6)),
        ({"a": ["true"] * 3, "b": ["false"] * 3}, EQUAL, False, SPLIT),
        ({"a": ["true", None, None], "b": ["false"] * 3}, EQUAL, False, Decision("ok", "false", 3 / 4)),
        # weights; 0 is no vote, in no quorum
        ({"a": ["A"], "b": ["B"], "c": ["B"]}, {"a": 3.0, "b": 1.0, "c": 1.0}, False, Decision("ok", "A", 3 / 5)),
        ({"a": ["A"], "b": ["B"], "c": ["B"]}, {"a": 2.0, "b": 1.0, "c": 1.0}, False, SPLIT),
        ({"a": ["A"], "b": ["B"], "c": ["B"]}, {"a": 1.0, "b": 0.0, "c": 0.0}, False, Decision("ok", "A", 1.0)),
        ({"a": ["A"], "b": ["B"]}, {"a": 0.0, "b": 0.0}, True, NONE),
        # not applicable is an answer like any other
        ({"a": ["not_applicable"], "b": ["not_applicable"], "c": ["A"]}, EQUAL, True, Decision("ok", "not_applicable", 2 / 3)),
    ],
)  # fmt: skip
def test_votes_are_counted(votes: Any, weights: dict[str, float], allow_tie: bool, expected: Decision) -> None:
    found = decide(votes, weights, allow_tie=allow_tie)
    assert (found.status, found.label) == (expected.status, expected.label)
    assert found.share == pytest.approx(expected.share)


answers = st.lists(st.sampled_from(["A", "B", "tie", None]), max_size=3)
ballots = st.dictionaries(st.sampled_from("abcd"), answers, min_size=1)
some_weights = st.fixed_dictionaries({member: st.sampled_from([0.0, 0.3, 1.0, 1.4]) for member in "abcd"})


@given(ballots, some_weights, st.booleans())
def test_the_order_of_members_and_of_their_answers_is_nothing(votes: Any, weights: Any, tie: bool) -> None:
    expected = decide(votes, weights, allow_tie=tie)
    for order in permutations(votes):
        assert decide({member: votes[member][::-1] for member in order}, weights, allow_tie=tie) == expected


@given(st.sampled_from(["A", "B", "tie", "full"]), st.lists(st.integers(1, 3), min_size=1, max_size=4), some_weights)
def test_a_unanimous_panel_says_what_its_members_say(label: str, repeats: list[int], weights: Any) -> None:
    votes = {member: [label] * count for member, count in zip("abcd", repeats, strict=False)}
    expected = Decision("ok", label, 1.0) if any(weights[member] > 0 for member in votes) else NONE
    assert decide(votes, weights) == expected


@given(ballots, some_weights, st.booleans(), st.sampled_from([0.5, 3.0]))
def test_only_the_ratio_of_weights_matters_and_a_and_b_are_names(
    votes: Any, weights: Any, tie: bool, by: float
) -> None:
    found = decide(votes, weights, allow_tie=tie)
    scaled = decide(votes, {member: by * weight for member, weight in weights.items()}, allow_tie=tie)
    assert (scaled.status, scaled.label) == (found.status, found.label)
    other = {"A": "B", "B": "A"}
    swapped = decide({m: [other.get(v or "", v) for v in given] for m, given in votes.items()}, weights, allow_tie=tie)
    assert swapped.label == other.get(found.label or "", found.label)


def rows(*verdicts: tuple[str, str, str | None, float | None]) -> pd.DataFrame:
    """(rater, presentation, label, USD) of one item and criterion."""
    fields = {"item_id": "item-00001", "criterion": "c", "cluster_id": "t", "system_a": "x", "system_b": "y",
              "category": "", "len_a": 10, "len_b": 20, "run": 1, "seconds": 2.0, "rationale": "", "evidence": ""}  # fmt: skip
    made = [
        fields | {
            "rater_id": rater, "rater_kind": "human" if rater == "ann" else "judge", "presentation": shown,
            "label": label, "cost_usd": cost, "status": "ok" if label else "invalid", "pass_no": 1 + (shown == "BA"),
        }
        for rater, shown, label, cost in verdicts
    ]  # fmt: skip
    return pd.DataFrame(made, columns=list(COLUMNS))


PANEL = PanelDefinition(name="two", members=("mini", "haiku"))


def test_a_panels_row_is_derived_has_no_order_and_costs_what_all_its_members_cost() -> None:
    table = rows(
        ("mini", "AB", "A", 0.1), ("mini", "BA", "A", 0.2), ("haiku", "AB", None, 0.3), ("haiku", "BA", "B", 0.4),
        ("ann", "AB", "B", 9.0), ("other", "AB", "B", 9.0),
    )  # fmt: skip
    (row,) = panel_verdicts(table, PANEL, {"mini": 1.0, "haiku": 1.0}).to_dict("records")
    assert (row["rater_id"], row["rater_kind"], row["label"], row["status"]) == ("two [panel]", "judge", "A", "ok")
    assert row["cost_usd"] == pytest.approx(1.0)
    assert row["seconds"] == pytest.approx(8.0)
    assert row["rationale"] == "67 % of the votes: mini A, A; haiku –, B"
    assert row["confidence"] == pytest.approx(2 / 3)
    assert (row["presentation"], row["run"], row["pass_no"]) == (None, 1, 1)
    assert (row["len_a"], row["system_b"], row["cluster_id"]) == (10, "y", "t")
    assert "two [panel]" in labels_csv(pd.concat([table, panel_verdicts(table, PANEL, {"mini": 1.0, "haiku": 1.0})]))


def test_an_unknown_cost_stays_unknown_and_a_panel_nobody_was_asked_for_has_no_rows() -> None:
    table = rows(("mini", "AB", "A", None), ("haiku", "AB", "A", 0.3))
    (row,) = panel_verdicts(table, PANEL, {"mini": 1.0, "haiku": 1.0}).to_dict("records")
    assert row["cost_usd"] != row["cost_usd"]
    assert len(panel_verdicts(rows(("ann", "AB", "A", None)), PANEL, {"mini": 1.0, "haiku": 1.0})) == 0


JUDGES = '[[judge]]\nname = "mini"\nmodel = "x/y"\n[[judge]]\nname = "haiku"\nmodel = "x/z"\n'
GOOD = 'name = "two"\nmembers = ["mini", "haiku"]'


def test_panels_are_read_beside_the_judges() -> None:
    text = JUDGES + f"[[panel]]\n{GOOD}\n" + (
        '[[panel]]\nname = "w"\nmembers = ["mini", "haiku"]\nrule = "weighted"\nweights = {mini = 1.4, haiku = 0}\n'
        '[[panel]]\nname = "m"\nmembers = ["mini"]\nrule = "weighted"\nweights = "measured"\nfit_share = 0.5\n'
    )  # fmt: skip
    found = parse_judge_file(text, parse_protocol(protocol_text()))
    assert [judge.name for judge in found.judges] == ["mini", "haiku"]
    assert [(p.name, p.rule, p.weights, p.fit_share) for p in found.panels] == [
        ("two", "majority", None, 0.3), ("w", "weighted", {"mini": 1.4, "haiku": 0.0}, 0.3),
        ("m", "weighted", "measured", 0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("panel", "problem"),
    [
        ('name = "two"\nmembers = ["mini", "gpt"]', "panel 'two': no [[judge]] called 'gpt' (there are: mini, haiku)"),
        ('name = "mini"\nmembers = ["mini"]', "panel 'mini': the name appears twice"),
        (f"{GOOD}\n[[panel]]\n{GOOD}", "panel 'two': the name appears twice"),
        ('name = "two"\nmembers = ["mini", "mini"]', "a member appears twice"),
        ('name = "two"\nmembers = []', "members"),
        (f"{GOOD}\nrule = 'weighted'", "rule = 'weighted' and weights go together"),
        (f"{GOOD}\nweights = 'measured'", "rule = 'weighted' and weights go together"),
        (f"{GOOD}\nrule = 'weighted'\nweights = {{mini = 1}}", "weights must name every member and nobody else"),
        (f"{GOOD}\nrule = 'weighted'\nweights = {{mini = 0, haiku = 0}}", "weights are all 0"),
        (f"{GOOD}\nfit_share = 1.0", "fit_share"),
        (f"{GOOD}\nquorum = 2", "unknown key 'quorum'"),
        (f"{GOOD}\nrule = 'median'", "rule"),
    ],
)
def test_a_panel_that_cannot_vote_is_refused_by_name(panel: str, problem: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        parse_judge_file(f"{JUDGES}[[panel]]\n{panel}\n", parse_protocol(protocol_text()))
    assert problem in caught.value.text


def test_scores_are_no_votes() -> None:
    with pytest.raises(AnnotationError, match="scores are no votes"):
        parse_judge_file(f"{JUDGES}[[panel]]\n{GOOD}\n", parse_protocol(RATING))

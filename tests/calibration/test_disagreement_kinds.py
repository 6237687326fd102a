"""Why a judge and the annotators disagree: planted causes are named, and each kind is what its rule says by hand.

How often, over a hundred studies of each cause, is `benchmarks/disagreement_kinds.py`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from benchmarks.disagreement_kinds import FEW, JUDGE, MOST_NAMED, NAMES, PLANTED, planted_study
from calibration.comparing.disagreement_kinds import KINDS, DisagreementKind, DisagreementKinds, disagreement_kinds
from tests.calibration.studies import made_ratings

OF = {"person": ("ann-2",), "criterion": ("c1",)}


def kind(found: DisagreementKinds, name: str) -> DisagreementKind:
    return next(one for one in found.kinds if one.kind == name)


@pytest.mark.parametrize("cause", sorted(PLANTED.keys() - MOST_NAMED.keys()))
def test_the_cause_that_was_planted_is_named(cause: str) -> None:
    found = disagreement_kinds(planted_study(cause, 1), JUDGE)
    name = NAMES.get(cause, cause)
    assert (found.foremost, found.reason) == (name, "")
    assert kind(found, name).of == OF.get(cause, ())
    assert kind(found, name).share.low > 0.05


def test_under_20_topics_no_cause_is_named() -> None:
    few = disagreement_kinds(planted_study("person", 1, FEW), JUDGE)
    assert (few.foremost, few.reason) == ("", "19 topics; under 20 no kind is called foremost")


def test_slips_of_people_are_no_ambiguous_questions() -> None:
    found = disagreement_kinds(planted_study("slips", 1), JUDGE)
    assert kind(found, "ambiguous").share.low > 0.05
    said = "people differ there too, but may each just slip: no question is shown to be the reason"
    assert (found.foremost, found.reason) == ("", said)


def test_on_20_topics_a_kind_may_be_foremost() -> None:
    assert disagreement_kinds(planted_study("person", 1, 20), JUDGE).foremost == "person"


def test_every_disagreement_has_one_kind_and_every_question_is_listed_once() -> None:
    found = disagreement_kinds(planted_study("order", 3), JUDGE)
    assert [one.kind for one in found.kinds] == list(KINDS)
    assert sum(one.share.value for one in found.kinds) == pytest.approx(found.unlike / found.compared)
    assert not found.by_question.duplicated(["item_id", "criterion"]).any()
    assert set(found.by_question["kind"]) <= set(KINDS)


# one question asked of a judge in both orders, twice: answers of the people, and of the judge AB, BA, AB, BA
@pytest.mark.parametrize(
    ("people", "calls", "kinds"),
    [
        ("AAA", "AAAA", {}),
        ("AAB", "BBBB", {"ambiguous": 8}),
        ("AAB", "AAAA", {"ambiguous": 4}),
        ("AABB", "AAAA", {"ambiguous": 8}),
        ("AAA", "BBBB", {"other": 12}),
        ("AAA", "ABAB", {"unstable": 6}),  # turned with the order, and no lean to the first is shown
        ("AAA", "AABA", {"unstable": 3}),
        ("A", "BBBB", {"other": 4}),
        ("AB", "AAAA", {"ambiguous": 4}),
        ("AB", "AABB", {"unstable": 4}),  # what can be mended in the judge comes first
    ],
)
def test_a_question_alone_is_of_the_kind_that_can_be_seen_on_it(people: str, calls: str, kinds: dict[str, int]) -> None:
    found = disagreement_kinds(question(people, calls), "j")
    counted = {one.kind: round(one.share.value * found.compared) for one in found.kinds}
    assert {name: count for name, count in counted.items() if count} == kinds
    assert found.unlike == sum(kinds.values())
    assert found.foremost == ""


def question(people: str, calls: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {"rater_id": f"p{number}", "rater_kind": "human", "label": label, "run": 1, "presentation": "AB"}
        for number, label in enumerate(people)
    ] + [
        {"rater_id": "j", "rater_kind": "judge", "label": label, "run": 1 + number // 2,
         "presentation": ("AB", "BA")[number % 2]}
        for number, label in enumerate(calls)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(
        item_id="i", criterion="c", cluster_id="t", system_a="atlas", system_b="borealis", len_a=100, len_b=90
    )


def test_what_could_not_be_seen_is_said_with_what_would_show_it() -> None:
    found = disagreement_kinds(question("A", "B").drop(columns=["len_a", "len_b"]), "j")
    unseen = {one.kind: one.unseen for one in found.kinds if one.unseen}
    assert set(unseen) == {"person", "ambiguous", "unstable", "order", "length", "criterion"}
    of_three, of_two = (disagreement_kinds(question(people, "B"), "j") for people in ("AAA", "AA"))
    assert (kind(of_three, "person").unseen, kind(of_two, "ambiguous").unseen) == ("", "")
    assert kind(of_two, "person").unseen == "no question has answers of 3 annotators"
    assert unseen["unstable"] == "the judge answered each question once: run it in both orders, or with repeats = 2"


def test_a_judge_that_agrees_always_and_one_that_gives_scores_have_no_kind() -> None:
    assert disagreement_kinds(question("AAA", "AAAA"), "j").reason == "no answers differ"
    scores = disagreement_kinds(made_ratings(), "judge-x")
    assert (scores.compared, scores.foremost, scores.by_question.empty) == (0, "", True)
    assert all(one.share.value != one.share.value for one in scores.kinds)

"""What the rules of aggregates promise: the published examples, and the edges that published code got wrong."""

from __future__ import annotations

import math
from collections import Counter

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.results import Aggregate, CalibrationSettings
from calibration.study.joining import study_of
from calibration.systems.aggregates import aggregate_estimates
from tests.calibration.aggregated import JUDGE, PEOPLE, RATERS, VALUES, estimates, probe, rating, rules, value, view


def test_key_points_of_deepresearchgym_give_six_thirteenths_and_none_contradicted() -> None:
    rows = [probe("Supported" if k in {1, 2, 4, 5, 10, 12} else "Omitted", key=str(k)) for k in range(1, 14)]
    assert value(rows, Aggregate("KPR", "share", ("Supported",))) == pytest.approx(6 / 13)
    assert value(rows, Aggregate("KPC", "share", ("Contradicted",))) == 0


def test_a_topic_with_many_probes_counts_as_one_topic() -> None:
    rows = [probe("full", topic="t1", key=str(k)) for k in range(9)] + [probe("no", topic="t2")]
    assert value(rows, Aggregate("share", "share", ("full",))) == 0.5


@pytest.mark.parametrize(
    ("several", "sources", "expected"),
    [("any", ("full", "no"), 1), ("all", ("full", "no"), 0), ("all", ("full", "full"), 1), ("any", ("no", "no"), 0)],
)
def test_a_claim_with_several_sources_counts_once(several: str, sources: tuple[str, str], expected: float) -> None:
    rows = [probe(answer, key=str(k), claim="t1/x/0") for k, answer in enumerate(sources)]
    one = Aggregate("share", "share", ("full",), several=several)
    found = estimates([*rows, probe("full", key="7", topic="t2")], one)["aggregate", PEOPLE, "", "x"]
    assert found.value == pytest.approx((expected + 1) / 2)
    assert found.n == 2


@pytest.mark.parametrize(("several", "known", "expected"), [("any", "full", 1), ("any", "no", None), ("all", "no", 0)])
def test_a_source_without_an_answer_leaves_its_claim_open_unless_another_settles_it(
    several: str, known: str, expected: float | None
) -> None:
    rows = [probe(known, key="0", claim="t1/x/0"), probe("", key="1", claim="t1/x/0", status="invalid")]
    found = value(rows, Aggregate("share", "share", ("full",), several=several))
    assert math.isnan(found) if expected is None else found == expected


@pytest.mark.parametrize(
    ("votes", "expected"),
    [("TTTTTT", 1), ("TTTTFF", 1), ("TTFFFF", 0), ("TTTFFF", None), ("TTCCFF", None), ("TTTCCF", 1), ("TT----", 1)],
)
def test_a_majority_of_votes_and_three_to_three_is_none_instead_of_wrong(votes: str, expected: float | None) -> None:
    words = {"T": "correct", "F": "incorrect", "C": "cannot_tell"}
    rows = [
        probe(words.get(vote, ""), JUDGE, run=run, status="ok" if vote in words else "invalid")
        for run, vote in enumerate(votes, start=1)
    ]
    one = Aggregate("accuracy", "majority", ("correct",))
    found = value(rows, one, JUDGE)
    assert math.isnan(found) if expected is None else found == expected
    chosen = rules(one)
    _, (counts,) = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    assert counts.undecided == (expected is None)
    top = max(Counter(votes.replace("-", "")).values()) / len(votes.replace("-", ""))
    assert counts.vote_share == pytest.approx(math.nan if expected is None else top, nan_ok=True)


@pytest.mark.parametrize(
    ("target", "reference", "expected"),
    [
        ([6, 6, 6], [6, 6, 6], 0.5),
        ([6, 6, 6], [None, 6, 6], None),  # RACE's code gives .667
        ([6, 6, 6], [6, 6, None], None),  # and 1.000
        ([0, 0, 0], [0, 0, 0], None),
        ([8, 0, 5], [2, 10, 5], 5.0 / 10.0),
        ([9, 6, 3], [3, 3, 3], 6.9 / 9.9),
    ],
)
def test_target_share_is_t_over_t_and_r_and_never_renormalised(
    target: list[float | None], reference: list[float | None], expected: float | None
) -> None:
    rows = view(target, reference)
    found = estimates(rows, Aggregate("RACE", "target_share"))
    one, other = found["aggregate", PEOPLE, "", "x"], found["aggregate", PEOPLE, "", "ref"]
    if expected is None:
        assert math.isnan(one.value)
        assert math.isnan(other.value)
        assert "1 of 1 reports left out" in one.note or not any(target)
    else:
        assert [one.value, other.value] == pytest.approx([expected, 1 - expected])


def test_a_mean_of_ratings_leaves_out_a_report_that_lacks_one_and_counts_it() -> None:
    rows = [rating(80, c, "t1/x") for c in "abcd"] + [rating(None, "e", "t1/x")]  # DR3-Eval's code gives 64.0
    rows += [rating(50, c, "t2/x") for c in "abcde"]
    found = estimates(rows, Aggregate("Total", "mean"))["aggregate", PEOPLE, "", "x"]
    assert found.value == 50
    assert "1 of 2 reports left out" in found.note


def test_scores_are_printed_times_what_their_scale_says_and_of_the_criteria_asked_for() -> None:
    rows = [rating(8, "clarity", "t1/x"), rating(2, "depth", "t1/x")]
    one = Aggregate("Clarity", "mean", criteria=("clarity",))
    assert value(rows, one, score_times={"clarity": 10.0, "depth": 10.0}) == 80


def test_people_are_averaged_over_annotators_before_anything_else() -> None:
    rows = [rating(4, rater="ann1"), rating(8, rater="ann2"), rating(1, rater=JUDGE, item="t1/x")]
    assert value(rows, Aggregate("mean", "mean")) == 6


def test_a_win_rate_is_that_of_the_ranking() -> None:
    rows = [
        {"item_id": f"{topic}{k}", "rater_id": rater, "rater_kind": kind, "criterion": "c", "cluster_id": f"t{topic}",
         "label": "ABB"[(topic + k + len(rater)) % 3], "system_a": "xyz"[k], "system_b": "yzx"[k]}
        for topic in range(6) for k in range(3) for rater, kind in RATERS
    ]  # fmt: skip
    report = calibrate(pd.DataFrame(rows), rules(Aggregate("W", "win_rate")))
    for rater in (PEOPLE, JUDGE):
        pairs = [
            [one for one in report.estimates if (one.statistic, one.rater) == (name, rater)]
            for name in ("aggregate", "win_rate")
        ]
        own, usual = ({one.category: (one.value, one.low, one.high) for one in found} for found in pairs)
        assert own == usual
        assert len(own) == 3


def test_judges_and_people_are_compared_on_what_both_answered() -> None:
    rows = [probe("full", "ann1", key="1"), probe("no", "ann1", key="2"), probe("full", JUDGE, key="1")]
    rows += [probe("no", rater, topic="t2") for rater in ("ann1", JUDGE)]
    rows += [probe("no", "ann1", topic="t3"), probe("full", JUDGE, topic="t3")]
    found = estimates(rows, Aggregate("share", "share", ("full",)))
    assert found["aggregate", PEOPLE, "", "x"].value == pytest.approx((0.5 + 0 + 0) / 3)
    assert found["aggregate", JUDGE, "", "x"].value == pytest.approx((1 + 0 + 1) / 3)
    one = found["aggregate_difference", JUDGE, PEOPLE, "x"]
    assert (one.value, one.n, one.clusters) == (pytest.approx(1 / 3), 3, 3)
    # topics differ by 0, 0, 1: t of two degrees of freedom, 4.3027, times the standard error, 1 / 3
    assert [one.low, one.high] == pytest.approx([1 / 3 - 4.3027 / 3, 1 / 3 + 4.3027 / 3], abs=1e-4)


def test_a_system_that_a_rater_was_never_asked_about_has_no_value_and_says_why() -> None:
    rows = [probe("full"), probe("full", JUDGE), probe("no", JUDGE, system="y")]
    one = estimates(rows, Aggregate("share", "share", ("full",)))["aggregate", PEOPLE, "", "y"]
    assert math.isnan(one.value)
    assert one.n == 0
    assert one.note.endswith("no_items: nothing to compare")


def test_only_lost_answers_give_no_value_never_zero_or_a_hundred() -> None:
    rows = [probe("", JUDGE, status="invalid"), probe("not_applicable", JUDGE, key="2"), probe("full")]
    assert math.isnan(value(rows, Aggregate("share", "share", ("full",)), JUDGE))
    assert math.isnan(value(rows, Aggregate("mean", "mean"), JUDGE, answer_values=VALUES))


def test_one_topic_has_a_value_and_no_interval() -> None:
    rows = [probe("full", key="1"), probe("no", key="2"), probe("no", JUDGE, key="1")]
    for one in (Aggregate("share", "share", ("full",)), Aggregate("mean", "mean")):
        found = estimates(rows, one, answer_values=VALUES)["aggregate", PEOPLE, "", "x"]
        assert found.value == 0.5
        assert math.isnan(found.low)
        assert "fewer than 2 clusters" in found.note


def test_every_status_is_counted_beside_the_value() -> None:
    rows = [probe("full", JUDGE), probe("", JUDGE, key="2", status="invalid"), probe("not_applicable", JUDGE, key="3")]
    rows += [probe("", JUDGE, key="4", status="refused"), probe("full", JUDGE, key="5", run=2)]
    chosen = rules(Aggregate("share", "share", ("full",)))
    _, (counts,) = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    assert {name: counts.statuses[name] for name in ("asked", "ok", "not_applicable", "invalid", "missing", "refused")} == {
        "asked": 5, "ok": 2, "not_applicable": 1, "invalid": 1, "missing": 0, "refused": 1,
    }  # fmt: skip


def test_answers_off_an_ordered_scale_count_for_systems_and_stay_out_of_agreement() -> None:
    rows = [
        probe(answer, rater, f"t{k}") for k, answer in enumerate(["full", "no", "full", "no"]) for rater, _ in RATERS
    ]
    rows += [probe("gone", "ann1", "t5"), probe("full", "ann2", "t5"), probe("gone", JUDGE, "t5")]
    one = Aggregate("gone", "share", ("gone",))
    chosen = rules(one, scales={"c": ("full", "partial", "no")}, off_scale=("gone",), answer_values=VALUES)
    report = calibrate(pd.DataFrame(rows), chosen)
    agreed = next(found for found in report.estimates if (found.statistic, found.rater) == ("percent_agreement", JUDGE))
    assert (agreed.value, agreed.n) == (1.0, 8)
    assert value(rows, one, scales=chosen.scales, off_scale=("gone",)) == pytest.approx(0.5 / 5)
    with pytest.raises(CalibrationError, match="not on the declared scale"):
        study_of(pd.DataFrame(rows), CalibrationSettings(scales=chosen.scales))


def test_an_aggregate_of_another_kind_of_labels_gives_nothing() -> None:
    assert not estimates([probe("full"), probe("full", JUDGE)], Aggregate("W", "win_rate"))


@pytest.mark.parametrize(
    "wrong", [{"rule": "median"}, {"rule": "share", "by": "topic"}, {"rule": "share", "several": "most"}]
)
def test_an_unknown_rule_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(CalibrationError, match="use one of"):
        Aggregate("x", **wrong)


def test_a_panel_has_its_share_of_votes_from_its_confidence_and_one_vote_alone_has_none() -> None:
    one = Aggregate("accuracy", "majority", ("correct",))
    rows = [probe("correct", "p [panel]", key=str(k), confidence=share) for k, share in enumerate((1.0, 4 / 6))]
    rows += [probe("correct", JUDGE, key=str(k)) for k in range(2)]
    chosen = rules(one)
    _, counts = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    shares = {found.rater: found.vote_share for found in counts}
    assert shares["p [panel]"] == pytest.approx(5 / 6)
    assert math.isnan(shares[JUDGE])


def test_a_criterion_that_nobody_was_asked_of_one_report_leaves_that_report_out() -> None:
    rows = [rating(80, c, "t1/x") for c in "abcd"] + [rating(50, c, "t1/y") for c in "abcde"]
    rows += [rating(60, c, "t2/x") for c in "abcde"] + [rating(10, c, "t3/x") for c in "xyz"]  # t3 asks others
    found = estimates(rows, Aggregate("Total", "mean"))["aggregate", PEOPLE, "", "x"]
    assert found.value == pytest.approx((60 + 10) / 2)
    assert "1 of 3 reports left out" in found.note

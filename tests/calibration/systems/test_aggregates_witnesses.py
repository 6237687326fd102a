"""Every aggregate against a brute force in plain Python, and its draws against explicit resampling."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calibration.arithmetic.correlation import kendall_tau_b, pearson, spearman
from calibration.results import Aggregate
from calibration.study.joining import study_of
from calibration.systems.aggregates import measure_of
from calibration.systems.placing import ranks_of
from calibration.systems.ranking import pearsons, redrawn_orders, taus
from calibration.systems.report_values import Rows
from calibration.systems.win_rates import rate_draws
from tests.calibration.aggregated import JUDGE, PEOPLE, RATERS, VALUES, Row, by_rule, estimates, probe, rules, view
from tests.calibration.explicit import B, explicit


@st.composite
def probes(draw: st.DrawFn) -> list[Row]:
    """Answers of two people and a judge with repeats, with claims before several sources, tags, and lost answers."""
    rows = []
    answers = st.sampled_from([*VALUES, "not_applicable", ""])
    for topic in range(draw(st.integers(1, 4))):
        for system in "xyz":
            for key in range(draw(st.integers(0, 4))):
                tag = draw(st.sampled_from(["user", "sandbox"]))
                claim = f"t{topic}/{system}/{draw(st.integers(0, key))}"
                for rater, kind in RATERS:
                    for run in range(1, 1 + (draw(st.integers(0, 3)) if kind == "judge" else draw(st.integers(0, 1)))):
                        answer = draw(answers)
                        status = "ok" if answer else "invalid"
                        rows.append(probe(answer, rater, f"t{topic}", str(key), system, tag=tag, claim=claim, run=run,
                                          status=status))  # fmt: skip
    rows.append(probe("full", "ann1", "t0", "9", "x", tag="user", claim=""))  # one at least
    return rows


def by_hand(rows: list[Row], one: Aggregate, rater: str, system: str) -> float:
    """The same in loops: raters' passes, raters, claims, parts, reports, topics."""
    given_by: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    asked: dict[str, Row] = {}
    for row in rows:
        if row["system_a"] != system:
            continue
        asked[row["item_id"]] = row
        wanted = row["rater_kind"] == "human" if rater == PEOPLE else row["rater_id"] == rater
        if wanted and row["status"] == "ok" and row["label"] != "not_applicable":
            given_by[row["item_id"]][row["rater_id"]].append(row["label"])
    claims: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item, row in sorted(asked.items()):
        merges = one.rule in ("share", "majority")
        claims[row["cluster_id"], (row.get("claim") or item) if merges else item].append(item)
    parts: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (topic, _), items in claims.items():
        tag = asked[items[0]].get("tag", "") if one.by else ""
        merged = _merged([_score(given_by[item], one) for item in items], one.several)
        parts[topic][tag] += [] if merged is None else [merged]
    topics = [
        statistics.fmean(statistics.fmean(part) for part in by_tag.values())
        for by_tag in parts.values()
        if all(by_tag.values())
    ]
    return statistics.fmean(topics) if topics else math.nan


def _score(answers: dict[str, list[str]], one: Aggregate) -> float | None:
    if one.rule == "majority":
        votes: Counter[str] = Counter()
        for given_ in answers.values():
            for answer in given_:
                votes[answer] += 12 // len(given_) if len(answers) > 1 else 12
        top = votes.most_common(2)
        return None if not top or (len(top) > 1 and top[0][1] == top[1][1]) else float(top[0][0] in one.labels)
    means = []
    for given_ in answers.values():
        if one.rule == "share":
            means.append(statistics.fmean(answer in one.labels for answer in given_))
        else:
            kept = [VALUES[answer] for answer in given_ if not one.labels or answer in one.labels]
            means += [statistics.fmean(kept)] if kept else []
    return statistics.fmean(means) if means else None


def _merged(scores: list[float | None], several: str) -> float | None:
    known = [score for score in scores if score is not None]
    if not known:
        return None
    best, settled = (max(known), 1.0) if several == "any" else (min(known), 0.0)
    return best if len(known) == len(scores) or best == settled else None


PROBE_RULES = (
    Aggregate("share", "share", ("full", "partial")),
    Aggregate("any", "share", ("full",), several="any"),
    Aggregate("tags", "share", ("full",), by="tag", several="any"),
    Aggregate("mean", "mean"),
    Aggregate("of three", "mean", ("full", "partial", "no"), by="tag"),
    Aggregate("majority", "majority", ("full", "partial")),
)


@given(rows=probes())
def test_every_rule_of_probes_is_what_loops_in_plain_python_give(rows: list[Row]) -> None:
    of_name = {one.name: one for one in PROBE_RULES}
    found = by_rule(rows, *PROBE_RULES, answer_values=VALUES)
    assert {name for name, _, _ in found} == {*of_name}
    for (name, rater, system), estimate in found.items():
        expected = by_hand(rows, of_name[name], rater, system)
        assert estimate.value == pytest.approx(expected, nan_ok=True), (name, rater, system)


@given(rows=probes(), seed=st.integers(0, 99))
@settings(max_examples=10)
def test_neither_the_order_of_rows_nor_the_names_of_systems_matter(rows: list[Row], seed: int) -> None:
    shuffled = list(rows)
    np.random.default_rng(seed).shuffle(shuffled)
    renamed = [row | {"system_a": {"x": "zeta", "y": "x", "z": "alpha"}[row["system_a"]]} for row in rows]
    before = estimates(rows, *PROBE_RULES[:1], answer_values=VALUES)
    assert {key: repr(one) for key, one in estimates(shuffled, *PROBE_RULES[:1], answer_values=VALUES).items()} == {
        key: repr(one) for key, one in before.items()
    }
    after = estimates(renamed, *PROBE_RULES[:1], answer_values=VALUES)
    for old, new in (("x", "zeta"), ("y", "x"), ("z", "alpha")):
        for rater in (PEOPLE, JUDGE):
            one, other = (found.get(("aggregate", rater, "", name)) for found, name in ((before, old), (after, new)))
            assert (one is None) == (other is None)
            if one and other:
                assert [one.value, one.low, one.high] == pytest.approx(
                    [other.value, other.low, other.high], nan_ok=True
                )


scores = st.lists(st.one_of(st.none(), st.integers(0, 10)), min_size=3, max_size=3)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=5))
def test_weighted_means_and_target_shares_are_what_loops_give(pages: list[tuple[list[Any], list[Any]]]) -> None:
    rows = [row for number, page in enumerate(pages) for row in view(*page, topic=f"t{number}")]
    rows += view([1, 1, 1], [1, 1, 1], topic="t9")
    pages = [*pages, ([1, 1, 1], [1, 1, 1])]
    totals = [[_total(side) for side in page] for page in pages]
    targets = [t for t, _ in totals if not math.isnan(t)]
    both = [t / (t + r) for t, r in totals if t + r > 0]
    found = by_rule(rows, Aggregate("score", "weighted_mean"), Aggregate("RACE", "target_share"))
    assert found["score", PEOPLE, "x"].value == pytest.approx(statistics.fmean(targets))
    assert found["RACE", PEOPLE, "x"].value == pytest.approx(statistics.fmean(both))


def _total(side: list[float | None]) -> float:
    return sum(w * (math.nan if score is None else score) for w, score in zip((0.5, 0.3, 0.2), side, strict=True))


def drawn_rows(topics: int = 12, systems: str = "wxyz", seed: int = 3) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(topics):
        for place, system in enumerate(systems):
            for key in range(int(rng.integers(1, 5))):
                for rater, _ in RATERS:
                    answer = list(VALUES)[min(3, int(rng.integers(0, 2 + place)))]
                    rows.append(probe(answer, rater, f"t{topic:02}", str(key), system))
    return rows


@pytest.mark.parametrize("one", [PROBE_RULES[0], PROBE_RULES[3], PROBE_RULES[5]], ids=lambda one: one.name)
def test_draws_are_those_of_an_explicit_resampling_of_whole_topics(one: Aggregate) -> None:
    rows, chosen = drawn_rows(), rules(one, answer_values=VALUES)
    study = study_of(pd.DataFrame(rows), chosen)
    measure = measure_of(Rows(study), one, chosen)
    assert measure is not None
    rates = measure.rates(measure.scored(JUDGE).score).values
    expected = np.stack(
        [
            explicit(
                pd.DataFrame({"cluster": study.clusters, "rate": rates[:, place]}),
                list(study.clusters),
                lambda part: float(part["rate"].mean()),
            )
            for place in range(4)
        ],
        axis=1,
    )
    assert np.allclose(rate_draws(rates, chosen), expected, atol=1e-12, equal_nan=True)


def test_orders_of_systems_are_the_correlations_of_their_values_and_so_are_their_draws() -> None:
    rows, one = drawn_rows(), PROBE_RULES[3]
    found = estimates(rows, one, answer_values=VALUES)
    sides = [
        [found["aggregate", rater, "", system].value for system in "wxyz"] for rater in (JUDGE, PEOPLE)
    ]  # everybody answered everything
    for name, function in (("pearson", pearson), ("spearman", spearman), ("kendall_tau_b", kendall_tau_b)):
        order = found[f"aggregate_{name}_systems", JUDGE, PEOPLE, "all"]
        assert order.value == pytest.approx(function(*map(np.array, sides)))
        assert order.note.startswith("over 4 systems, fewer than 10")


def test_an_order_is_held_against_itself_where_topics_are_drawn_anew() -> None:
    rows, one, chosen = drawn_rows(), PROBE_RULES[3], rules(PROBE_RULES[3], answer_values=VALUES)
    measure = measure_of(Rows(study_of(pd.DataFrame(rows), chosen)), one, chosen)
    assert measure is not None
    rates = measure.rates(measure.scored(JUDGE).score).values
    draws, whole = rate_draws(rates, chosen), np.nanmean(rates, axis=0)
    found = estimates(rows, one, answer_values=VALUES)
    for name, function in (("spearman", stats.spearmanr), ("kendall_tau_b", stats.kendalltau)):
        expected = np.nanmean([function(whole, draw).statistic for draw in draws])
        order = found[f"aggregate_{name}_systems", JUDGE, "topics drawn anew", "all"]
        assert order.value == pytest.approx(expected)
        assert order.low <= order.value <= order.high <= 1
        assert expected < 1


@pytest.mark.parametrize("count", [3, 4, 6])
def test_an_order_that_no_draw_changes_has_no_interval_and_says_why(count: int) -> None:
    """Of three systems there are six orders, and of few topics no draw may show another; one that does is not denied."""
    order = np.arange(float(count))
    rates, draws = np.tile(order, (6, 1)), np.tile(order, (20 * B, 1))
    for one in redrawn_orders(JUDGE, rates, np.ones((6, count)), draws, rules(PROBE_RULES[3])):
        assert (one.value, one.low, one.high) == pytest.approx((1, math.nan, math.nan), nan_ok=True)
        assert "every resample gives the same value" in one.note
    draws[0] = -order
    for one in redrawn_orders(JUDGE, rates, np.ones((6, count)), draws, rules(PROBE_RULES[3])):
        assert (one.low, one.high) == pytest.approx((one.value, 1))
        assert one.value < 1
        assert "every resample" not in one.note


def test_draws_of_orders_are_those_correlations_of_every_draw() -> None:
    x, y = np.random.default_rng(1).random((2, B, 5)).round(1)
    expected = [[pearson(*row), spearman(*row), kendall_tau_b(*row)] for row in zip(x, y, strict=True)]
    found = np.stack([pearsons(x, y), pearsons(ranks_of(x), ranks_of(y)), taus(x, y)], axis=1)
    assert np.allclose(found, expected, atol=1e-12, equal_nan=True)


def test_two_judges_orders_are_compared_too_and_two_systems_have_none() -> None:
    rows = [*drawn_rows(), *(row | {"rater_id": "large"} for row in drawn_rows(seed=4) if row["rater_id"] == JUDGE)]
    found = estimates(rows, PROBE_RULES[3], answer_values=VALUES)
    assert ("aggregate_spearman_systems", "large", JUDGE, "all") in found
    two = estimates(drawn_rows(systems="wx"), PROBE_RULES[3], answer_values=VALUES)
    assert not any(name.endswith("_systems") for name, *_ in two)

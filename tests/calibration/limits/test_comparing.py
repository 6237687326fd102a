"""What a judge is compared by, and what it may decide alone, has a case on each side of its limit."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace as Made
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibration.comparing import alternative_annotator as alternative
from calibration.comparing import disagreement_kinds as kinds
from calibration.comparing import effective_judges as effective
from calibration.comparing.learned_votes import learned_votes
from calibration.delegating import alone, alone_steps
from calibration.delegating.alone_steps import Checked, Tested
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from tests.calibration.limits.made import estimate
from tests.calibration.studies import made_pairs

PLAIN = CalibrationSettings()
FIVE = replace(PLAIN, alone_error=0.05)


@pytest.mark.parametrize(("tested", "told"), [(2, True), (3, False), (4, False), (1, True)])
def test_the_alternative_annotator_test_was_made_for_three_annotators(tested: int, told: bool) -> None:
    assert ("made for three or more" in alternative._note(tested, 0)) == told


@pytest.mark.parametrize(("items", "tested"), [(29, False), (30, True), (31, True)])
def test_an_annotator_takes_part_from_thirty_labels_on(items: int, tested: bool) -> None:
    frame = made_pairs(pairs=items, criteria=1, judges={"judge-x": 0.8})
    found = alternative.alt_test(frame, "judge-x", 0.2, settings=replace(PLAIN, resamples=2))
    assert [math.isnan(one.p) for one in found.annotators] == [not tested] * 3


@pytest.mark.parametrize(("p", "rejected"), [(0.05, True), (0.0501, False), (0.045, True), (0.055, False)])
def test_a_judge_holds_its_own_up_to_five_percent_of_false_discoveries(
    p: float, rejected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternative, "by_false_discoveries", lambda known: known)
    one = alternative.AnnotatorTest("a", 0.5, 0.0, p, math.nan, False, 30, 30, "")
    assert alternative._adjusted([one])[0].rejected == rejected


@pytest.mark.parametrize(
    ("rejected", "passed"),
    [
        ((True, False), True),
        ((True, False, False), False),
        ((True,) * 4 + (False,) * 5, False),
        ((True,) * 5 + (False,) * 4, True),
    ],
)
def test_a_judge_passes_against_half_of_the_annotators(
    rejected: tuple[bool, ...], passed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [alternative.AnnotatorTest("a", 0.5, 0.0, 0.1, 0.1, one, 30, 30, "") for one in rejected]
    monkeypatch.setattr(alternative, "_check", lambda *_: None)
    monkeypatch.setattr(alternative, "left_out", lambda *_: [])
    monkeypatch.setattr(alternative, "_adjusted", lambda _: told)
    monkeypatch.setattr(alternative, "_advantage", lambda *_: None)
    judge: Any = Made(rater="j")
    nobody: Any = None
    assert alternative.alt_test_of(nobody, nobody, nobody, judge, 0.2, "exact_match", 30, True, PLAIN).passed == passed


@pytest.mark.parametrize(
    ("clusters", "single", "resampled"),
    [(19, True, False), (20, True, True), (19, False, True), (1, False, False), (2, False, True)],
)
def test_single_criteria_have_no_interval_on_fewer_than_twenty_clusters(
    clusters: int, single: bool, resampled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternative, "resample", lambda *_: "draws")
    monkeypatch.setattr(alternative, "drawn", lambda name, pair, value, draws, *_: draws)
    monkeypatch.setattr(alternative, "Pair", lambda *_: Made(clusters=clusters))
    study, group = Made(clusters=range(clusters)), Made(single=single)
    table = np.ones((clusters, 2))
    draws = alternative._advantage(study, group, "j", [table], PLAIN)  # type: ignore[arg-type] - made for this
    assert (draws == "draws") == resampled


@pytest.mark.parametrize(
    ("clusters", "draws", "note"),
    [
        (4, 999, "4 clusters are too few"),
        (5, 999, ""),
        (5, 98, "labels are too many"),
        (5, 99, ""),
        (4, 98, "4 clusters"),
    ],
)
def test_judges_that_err_each_for_itself_are_drawn_from_five_clusters_and_ninety_nine_permutations_on(
    clusters: int, draws: int, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = np.array([[0.0, 1, 0, 1, 1] * 2, [1.0, 1, 0, 0, 1] * 2])
    unit = np.arange(10)
    study: Any = Made(unit_cluster=unit % clusters, criteria=())
    monkeypatch.setattr(effective, "study_of", lambda *_: study)
    monkeypatch.setattr(effective, "scale_of", lambda *_: "scale")
    monkeypatch.setattr(effective, "_chosen", lambda *_: [Made(rater="a"), Made(rater="b")])
    monkeypatch.setattr(effective, "_errors", lambda *_: (unit, errors))
    monkeypatch.setattr(effective, "_null", lambda errors, cluster, draws, seed: np.ones(draws))
    monkeypatch.setattr(effective, "CELLS", draws * errors.size)
    found = effective.effective_judges(study)
    assert note in found.note
    assert bool(found.note) == bool(note)
    assert found.permutations == (0 if note else draws)


@pytest.mark.parametrize(("topics", "told"), [(11, "below 12 nothing can be said"), (12, "no error is left")])
def test_below_twelve_topics_nothing_is_decided_alone(topics: int, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = Checked(np.ones(topics, int), np.arange(topics), np.zeros(topics), np.zeros(0, int))
    monkeypatch.setattr(alone, "checked", lambda *_: labels)
    monkeypatch.setattr(alone, "error_of_one", lambda *_: 0.0)
    monkeypatch.setattr(alone, "cluster_word", lambda _: "topic")
    own, study = Made(judge="j", by=(), usd=np.zeros(0)), Made(frame=None, clusters=range(topics))
    assert told in alone._alone(study, None, None, own, (1, 1.0), FIVE).reason  # type: ignore[arg-type] - as above


@pytest.mark.parametrize(("labels", "refused"), [(25, "no judge is called"), (26, "share no scale of few answers")])
def test_items_for_people_take_a_scale_of_up_to_twenty_five_answers(
    labels: int, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "study_of", lambda *_: Made(criteria=()))
    monkeypatch.setattr(alone, "scale_of", lambda *_: Made(labels=range(labels)))
    monkeypatch.setattr(alone, "item_surenesses", lambda *_: [])
    with pytest.raises(CalibrationError, match=refused):
        alone.items_for_people(pd.DataFrame(), "j", FIVE)


def sure(*levels: int) -> Any:
    """Items of one cluster each, so sure."""
    each = np.arange(len(levels))
    return Made(
        judge="j", item=each, cluster=each, level=np.array(levels), agree=np.array(levels) / 10,
        confidence=np.array(levels) / 20, unit_item=each, verdict=np.ones((len(levels), 1)),
    )  # fmt: skip


def test_what_is_as_sure_as_the_level_is_decided_and_not_left_to_people(monkeypatch: pytest.MonkeyPatch) -> None:
    own, names = sure(1, 2, 3), pd.Categorical(["i0", "i1", "i2"])
    frame = pd.DataFrame({"item_id": names, "rater_kind": "judge", "cluster_id": "t", "system_a": "", "system_b": ""})
    study: Any = Made(frame=frame, clusters=range(3))
    assert alone._left(study, own, Made(decided=Made(level=2)))["item_id"].tolist() == ["i0"]  # type: ignore[arg-type] - made
    assert len(alone._left(study, own, Made(decided=None))) == 3  # type: ignore[arg-type] - made
    assert alone_steps._least(own, 2) == (0.2, 0.1)
    shares = []
    monkeypatch.setattr(alone_steps, "share", lambda name, pair, hits, *_: shares.append(hits.tolist()))
    alone_steps._share(study, own, 2, FIVE)
    assert shares == [[0, 1, 1]]
    labels = Checked(own.level, own.cluster, np.zeros(3), np.zeros(0, int))
    assert alone_steps._by_step(labels, np.array([2]), 3)[1].tolist() == [[1], [1]]


def test_a_left_out_annotator_is_looked_at_on_what_is_as_sure_as_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    own, seen = sure(1, 2, 3), []
    frame = pd.DataFrame({"item_id": pd.Categorical(["i0", "i1", "i2"])})
    study: Any = Made(frame=frame, clusters=range(3), unit_cluster=np.arange(3))
    rows = Made(cluster=np.arange(3), human=np.ones(3), judge=np.ones(3))
    for name, value in (("each_unit_a_cluster", study), ("left_out", []), ("stacked", rows)):
        monkeypatch.setattr(alone, name, lambda *_, value=value: value)
    monkeypatch.setattr(alone, "share", lambda name, pair, wrong, *_: seen.append(pair.sizes.tolist()))
    alone._person(study, None, None, own, 2, FIVE)  # type: ignore[arg-type] - of which nothing is read
    assert seen == [[0, 1, 1]] * 2


def test_labels_without_a_majority_count_and_items_cost_where_they_are_as_sure_as_the_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = np.array([1, 2, 3] * 4)
    labels = Checked(levels, np.arange(12), np.zeros(12), np.array([1, 2, 2, 3]))
    step = Made(level=2, share=estimate("share", 0.5))
    monkeypatch.setattr(alone, "checked", lambda *_: labels)
    monkeypatch.setattr(alone, "error_of_one", lambda *_: 0.05)
    monkeypatch.setattr(alone, "tested", lambda *_: Made(at=0, steps=(step,)))
    monkeypatch.setattr(alone, "_person", lambda *_: (None, None))
    monkeypatch.setattr(alone, "cluster_word", lambda _: "topic")
    own = Made(judge="j", by=(), usd=np.array([1, 2, 4]), usd_left=np.array([0.1, 0.2, 0.4]), level=np.array([1, 2, 3]))
    study = Made(frame=None, clusters=range(12))
    found = alone._alone(study, None, None, own, (1, 1.0), FIVE)  # type: ignore[arg-type] - of which nothing is read
    assert found.without_majority == pytest.approx(3 / 11)
    assert found.usd_per_1000_items == pytest.approx(1000 * (0.1 + 2 + 4) / 3)


@pytest.mark.parametrize(("levels", "steps"), [(9, 9), (10, 10), (11, 10), (12, 10)])
def test_of_more_than_ten_levels_of_sureness_the_tenths_are_tried(levels: int, steps: int) -> None:
    gathered = len(alone_steps._levels(sure(*range(levels), *[levels - 1] * 40)))
    assert (gathered == levels) == (levels <= 10)
    assert len(alone_steps._levels(sure(*range(levels)))) == steps


@pytest.mark.parametrize(
    ("bounds", "topics", "expected"),
    [
        ([0.05, 0.05], [12, 12], (0, 2)), ([0.05, 0.0501], [12, 12], (0, 1)), ([0.05, 0.05], [11, 12], (1, 2)),
        ([0.04, 0.04], [11, 13], (1, 2)),
    ],
)  # fmt: skip
def test_steps_pass_up_to_the_error_allowed_and_take_twelve_topics(
    bounds: list[float], topics: list[int], expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = np.stack([np.arange(20) < count for count in topics], axis=1).astype(float)
    monkeypatch.setattr(alone_steps, "drawn_topics", lambda *_: Made(shares="seen", if_wrong_in=lambda part: "able"))
    at = {"seen": np.array(bounds), "able": np.full(2, 0.05)}
    monkeypatch.setattr(alone_steps, "upper_bounds", lambda shares, error: at[shares])
    _, first, end = alone_steps.in_order(np.zeros_like(n), n, 0.05, FIVE)
    assert (first, end) == expected


def times_at(monkeypatch: pytest.MonkeyPatch, enough: float) -> float | None:
    """How many times the topics are said to be needed where `enough` bring the bound to just what is allowed."""
    monkeypatch.setattr(alone_steps, "drawn_topics", lambda wrong, n, draws, seed, times: Made(shares=times))
    monkeypatch.setattr(alone_steps, "upper_bounds", lambda times, error: [0.05 if times >= enough else 0.06])
    return alone_steps._times(np.zeros(1), np.ones(1), 0.05, FIVE)


@pytest.mark.parametrize(("enough", "known"), [(64.0, True), (64.1, False), (33.0, True), (1.0, True)])
def test_more_than_sixty_four_times_the_topics_are_no_advice(
    enough: float, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (times_at(monkeypatch, enough) is not None) == known


@pytest.mark.parametrize("enough", [0.99, 1.3, 2.7, 11.3])
def test_how_many_times_is_known_to_a_fiftieth_and_not_looked_for_further(
    enough: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = times_at(monkeypatch, enough)
    assert found is not None
    halvings = math.log(2) / 2**6  # the sixth halving of an octave is the first below a fiftieth
    steps = math.log2(found) * 2**6
    assert enough <= found < enough * math.exp(halvings)
    assert steps == pytest.approx(round(steps), abs=1e-6)


@pytest.mark.parametrize(
    ("error", "topics", "able"),
    [(0.05, 12, False), (0.0499, 12, True), (0.0499, 11, False), (0.0499, 13, True), (0.0501, 12, False)],
)
def test_topics_are_advised_for_a_step_that_errs_less_than_allowed_in_twelve_topics(
    error: float, topics: int, able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone_steps, "_times", lambda *_: 2.0)
    step: Any = Made(error=estimate("decided_error", error, clusters=topics))
    found = Tested((step,), None, 0, np.zeros((topics, 1)), np.ones((topics, 1)))
    assert alone_steps.needed(found, 1, FIVE) == ((0, 2 * topics) if able else None)


def test_no_advice_is_given_where_no_number_of_topics_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone_steps, "_times", lambda *_: None)
    step: Any = Made(error=estimate("decided_error", 0.01, clusters=20))
    assert alone_steps.needed(Tested((step,), None, 0, np.zeros((20, 1)), np.ones((20, 1))), 1, FIVE) is None


@pytest.mark.parametrize(("error", "bound"), [(0.25, 0.4), (0.24, 1.0)])
def test_a_share_that_fewer_than_one_draw_may_exceed_is_bounded_by_one(error: float, bound: float) -> None:
    shares = np.array([[0.1], [0.2], [0.3], [0.4]])
    assert alone_steps.upper_bounds(shares, error).tolist() == [bound]


EDGE = 1 - PLAIN.level


@pytest.mark.parametrize(
    ("topics", "low", "next_low", "p", "foremost"),
    [
        (19, 0.06, 0.0, 0.0, ""), (20, 0.06, 0.0, 1.0, "person"), (21, 0.06, 0.0, 1.0, "person"),
        (20, 0.05, 0.0, 0.0, ""), (20, 0.0501, 0.0, 1.0, "person"),
        (20, 0.06, 0.05, 1.0, "person"), (20, 0.06, 0.0501, 1.0, ""),
        (20, 0.06, 0.0501, EDGE, ""), (20, 0.06, 0.0501, 0.049, "person"),
    ],
)  # fmt: skip
def test_one_kind_of_disagreement_is_foremost_from_twenty_topics_on_beyond_the_floor_and_before_the_next(
    topics: int, low: float, next_low: float, p: float, foremost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "paired_difference", lambda *_: Made(p=p))
    shares = {"person": low, "order": next_low, "other": 0.5}
    told = [kinds.DisagreementKind(name, estimate("s", 0.5, low=at), 1) for name, at in shares.items()]  # type: ignore[arg-type] - names of kinds
    masks = {name: np.arange(9) < count for name, count in (("person", 4), ("order", 3), ("other", 9))}
    assert kinds._foremost(told, masks, np.arange(9), topics, True, PLAIN)[0] == foremost  # type: ignore[arg-type] - as above


@pytest.mark.parametrize(("people", "told"), [(1, False), (2, False), (3, True), (4, True)])
def test_who_is_unlike_the_others_is_asked_of_three_annotators_of_one_question(
    people: int, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Made(outcome="", estimate=Made(n=1), effect=0.0)
    monkeypatch.setattr(kinds, "position_bias", lambda *_: Made(flips=nothing))
    monkeypatch.setattr(kinds, "length_bias", lambda *_, **__: Made(outcome="", difference=nothing))
    monkeypatch.setattr(kinds, "_unlike_the_others", lambda *_: ("ann",))
    monkeypatch.setattr(kinds, "_goes_with_a_split", lambda *_: False)
    rows = pd.DataFrame({"unit": 0, "call": "1AB", "criterion": "c", "person": map(str, range(people))})
    rows = rows.assign(said="A", unlike=True)
    study: Any = None
    assert bool(kinds._Seen.of(study, "j", rows, PLAIN).people) == told


@pytest.mark.parametrize(
    ("people", "p", "value", "shown"), [(3, EDGE, 0.1, False), (3, 0.049, 0.1, True), (3, 0.049, -0.1, False), (2, 0.049, 0.1, False)],
)  # fmt: skip
def test_a_question_is_hard_where_judge_and_annotator_differ_beside_two_others_who_do(
    people: int, p: float, value: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "paired_difference", lambda *_: Made(p=2 * p, value=value))
    said = {"person": map(str, range(people)), "people_said": ["A"] * people}
    rows = pd.DataFrame({**said, "unit": 0, "criterion": "c", "item_id": "i", "cluster_id": "t"})
    assert kinds._goes_with_a_split(rows, pd.Series(True, index=rows.index), 0.05) == shown


@pytest.mark.parametrize(("p", "vague"), [(EDGE, False), (0.049, True), (0.051, False)])
def test_a_criterion_is_read_otherwise_below_five_percent(
    p: float, vague: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "paired_difference", lambda *_: Made(p=2 * p, value=0.1))
    monkeypatch.setattr(kinds, "holm", list)
    rows = pd.DataFrame({"cluster_id": "t", "item_id": "i", "criterion": ["a", "b"]})
    assert bool(kinds._vague(rows, np.ones(2, dtype=bool), PLAIN)) == vague


@pytest.mark.parametrize(("topics", "learned"), [(4, False), (5, True), (6, True)])
def test_votes_are_learned_from_five_topics_on(topics: int, learned: bool) -> None:
    at = np.arange(topics)
    rows = {"item_id": at.astype(str), "criterion": "c", "cluster_id": at.astype(str), "status": "ok"}
    answers = np.where(at % 2, "A", "B")
    frame = pd.concat(
        pd.DataFrame({**rows, "rater_id": rater, "rater_kind": kind, "label": answers})
        for rater, kind in (("ann", "human"), ("j", "judge"))
    )
    assert len(learned_votes(frame, ["j"], pairs=True).votes) == topics * learned

"""The effective number of judges: by hand, against a second implementation, undefined cases, and what a null is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from calibration.comparing.effective_judges import PERMUTATIONS, EffectiveJudges, effective_judges
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from tests.calibration.priced import priced
from tests.calibration.ranked import turned
from tests.calibration.studies import made_pairs


def errs(errors: Mapping[str, Sequence[int]], per_cluster: int = 1) -> pd.DataFrame:
    """Two annotators who always say A, and judges that say B where they err; None: not answered."""
    rows = [
        (rater, "human", unit, "A") for rater in ("ann1", "ann2") for unit in range(len(next(iter(errors.values()))))
    ]
    for judge, own in errors.items():
        rows += [(judge, "judge", unit, "B" if wrong else "A") for unit, wrong in enumerate(own) if wrong is not None]
    frame = pd.DataFrame(rows, columns=["rater_id", "rater_kind", "unit", "label"])
    frame["item_id"] = frame["unit"].map("i{:03}".format)
    frame["cluster_id"] = (frame.pop("unit") // per_cluster).map("t{:03}".format)
    return frame.assign(criterion="c", system_a="x", system_b="y")


def by_hand(frame: pd.DataFrame, judges: Sequence[str], seed: int, draws: int) -> tuple[float, float, list[float]]:
    """phi, lambda's number and the null, with dictionaries, corrcoef and lists that are joined."""
    units = {}
    for (cluster, item, criterion), rows in frame.groupby(["cluster_id", "item_id", "criterion"]):
        people = Counter(rows["label"][rows["rater_kind"] == "human"]).most_common(2)
        said = {judge: rows["label"][rows["rater_id"] == judge].tolist() for judge in judges}
        if people and (len(people) == 1 or people[0][1] > people[1][1]) and all(said.values()):
            units[item, criterion] = (
                cluster,
                [np.mean([label != people[0][0] for label in said[judge]]) for judge in judges],
            )
    order = sorted(units)
    errors = np.array([units[key][1] for key in order]).T
    names = [units[key][0] for key in order]
    blocks = [
        [[e for e, own in zip(row, names, strict=True) if own == name] for name in sorted({*names})] for row in errors
    ]

    def number(rows: list[list[float]]) -> tuple[float, float]:
        matrix = np.corrcoef(rows)
        off = [matrix[i, j] for i in range(len(rows)) for j in range(len(rows)) if i != j]
        return float(np.mean(off)), len(rows) / float(max(np.linalg.eigvals(matrix).real))

    rng = np.random.Generator(np.random.PCG64(seed))
    null = []
    for _ in range(draws):
        turned = []
        for own in blocks:
            turned.append([error for place in rng.permutation(len(own)) for error in own[place]])
        null.append(number(turned)[1])
    return *number([list(row) for row in errors]), null


def test_judges_that_err_alike_are_worth_one_whatever_their_number() -> None:
    wrong = [0, 1, 1, 0, 1, 0, 0, 1, 0, 0]
    for count in (2, 5):
        found = effective_judges(errs({f"judge{n}": wrong for n in range(count)}))
        assert (found.phi, found.kish, found.eigen, found.value) == pytest.approx((1, 1, 1, 1))
        assert found.p < 0.05


def test_two_judges_worked_by_hand() -> None:
    # of 8 labels both err on 3, neither on 3: phi = (3 * 3 - 1 * 1) / (4 * 4) = 1/2, so 2 / (1 + 1/2)
    found = effective_judges(errs({"x": [1, 1, 1, 1, 0, 0, 0, 0], "y": [1, 1, 1, 0, 0, 0, 0, 1]}))
    assert (found.phi, found.kish, found.eigen) == pytest.approx((1 / 2, 4 / 3, 4 / 3))
    assert (found.n, found.clusters) == (8, 8)
    crossed = effective_judges(errs({"x": [1, 1, 0, 0] * 2, "y": [1, 0, 1, 0] * 2}))
    assert (crossed.phi, crossed.value) == pytest.approx((0, 2))


def test_two_of_three_judges_alike_are_told_by_the_eigenvalue_more_than_by_the_mean() -> None:
    found = effective_judges(errs({"x": [1, 1, 0, 0] * 2, "y": [1, 1, 0, 0] * 2, "z": [1, 0, 1, 0] * 2}))
    assert (found.phi, found.kish, found.eigen) == pytest.approx((1 / 3, 9 / 5, 3 / 2))  # lambda_max is 2
    assert found.value == found.eigen


def test_independent_judges_are_worth_about_their_number_and_lie_within_the_null() -> None:
    rng = np.random.default_rng(3)
    found = effective_judges(errs({f"judge{n}": rng.integers(0, 2, 600).tolist() for n in range(5)}, 6))
    assert 4.3 < found.value <= 5
    assert found.null_low < found.value < found.null_high
    assert found.p > 0.05
    assert (found.clusters, found.permutations) == (100, PERMUTATIONS)


def test_errors_that_judges_repeat_within_clusters_do_not_make_them_look_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibration.comparing.effective_judges.PERMUTATIONS", 99)
    rng = np.random.default_rng(1)
    low = 0
    for _ in range(20):
        blocks = {f"judge{n}": np.repeat(rng.integers(0, 2, 12), 5).tolist() for n in range(3)}
        low += effective_judges(errs(blocks, 5)).p < 0.05
    assert low <= 4  # 1 expected; with 60 labels taken for independent it would be nearly all of them


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_second_implementation_finds_the_same_numbers_and_the_same_null(missing: float) -> None:
    judges = {"judge-x": 0.7, "judge-y": 0.6, "judge-z": 0.8}
    frame = made_pairs(pairs=12, judges=judges, missing=missing, seed=5)  # clusters of unequal size, tied majorities
    settings = CalibrationSettings(seed=4)
    found = effective_judges(frame, settings=settings)
    phi, eigen, null = by_hand(frame, sorted(judges), 4, found.permutations)
    assert (found.phi, found.eigen, found.kish) == pytest.approx((phi, eigen, 3 / (1 + 2 * phi)), abs=1e-12)
    assert (found.null_low, found.null_high) == pytest.approx(tuple(np.quantile(null, [0.025, 0.975])), abs=1e-12)
    assert found.p == (1 + sum(one <= eigen + 1e-12 for one in null)) / (1 + len(null))


def test_passes_in_both_orders_err_by_half_when_one_of_them_does() -> None:
    frame = made_pairs(pairs=15, both_orders=True, seed=2)
    found = effective_judges(frame)
    assert found.judges == ("judge-x", "judge-y")  # as deployed: the candidates made of both orders are the same judges
    phi, _, _ = by_hand(frame, found.judges, 0, 1)
    assert found.phi == pytest.approx(phi)
    both = effective_judges(frame, ["judge-x", "judge-x [both orders]"])
    assert both.phi > found.phi


def test_no_naming_of_a_and_b_and_no_order_of_rows_changes_it() -> None:
    frame = priced({"one": (0.7, 0.001), "two": (0.8, 0.002), "three": (0.6, 0.003)}, pairs=20)
    found = effective_judges(frame)
    for other in (turned(frame, {*frame["item_id"].unique()[::3]}), frame.sample(frac=1, random_state=1)):
        assert effective_judges(other) == found
    assert found.eigen <= found.kish


def test_a_tied_majority_is_left_out_unless_the_plan_calls_it_a_tie() -> None:
    frame = errs({"x": [0, 1, 0, 1, 1, 0], "y": [0, 1, 1, 0, 1, 0]})
    frame.loc[(frame["rater_id"] == "ann2") & (frame["item_id"] == "i000"), "label"] = "B"
    assert effective_judges(frame).n == 5
    assert effective_judges(frame, settings=CalibrationSettings(majority_ties="tie")).n == 6


@pytest.mark.parametrize(
    ("frame", "judges", "note"),
    [
        (errs({"x": [0, 1, 1, 0, 1, 0]}), None, "too_few_units: fewer than two judges"),
        (errs({"x": [0, 1], "y": [0, 1]}), ["x"], "too_few_units: fewer than two judges"),
        (errs({"x": [0, 1, None, None], "y": [None, None, 0, 1]}), None, "no_shared_units"),  # type: ignore[list-item]
        (errs({"x": [0, 0, 0, 0], "y": [0, 1, 0, 1]}), None, "zero_variance: x always errs alike"),
        (errs({"x": [1, 1, 1, 1], "y": [0, 0, 0, 0]}), None, "zero_variance: x, y always errs alike"),
    ],
)
def test_what_is_undefined_is_nan_with_its_reason(frame: pd.DataFrame, judges: list[str] | None, note: str) -> None:
    found = effective_judges(frame, judges)
    assert found.note.startswith(note)
    assert all(math.isnan(one) for one in (found.phi, found.kish, found.value, found.null_low, found.p))


def test_few_clusters_have_a_value_and_no_null_and_opposite_errors_no_kish() -> None:
    found = effective_judges(errs({"x": [0, 1, 1, 0], "y": [0, 1, 0, 0]}))
    assert found.note == "no null: 4 clusters are too few to permute"
    assert found.value > 0
    assert math.isnan(found.null_low)
    opposite = effective_judges(errs({"x": [0, 1] * 4, "y": [1, 0] * 4}))
    assert (opposite.phi, opposite.value) == pytest.approx((-1, 1))
    assert math.isnan(opposite.kish)
    assert opposite.note == "kish undefined: the judges' errors cancel"


def test_an_unknown_judge_and_criteria_without_a_common_scale_are_refused() -> None:
    frame = errs({"x": [0, 1, 1, 0], "y": [0, 1, 0, 0]})
    rated = frame.assign(criterion="quality", label="7", system_b="", item_id="r" + frame["item_id"])
    rated["cluster_id"] = "r" + rated["cluster_id"]
    for table, judges, code in (
        (frame, ["z"], "unknown_rater"),
        (pd.concat([frame, rated]), None, "mixed_label_types"),
    ):
        with pytest.raises(CalibrationError) as refused:
            effective_judges(table, judges)
        assert refused.value.code == code


def test_a_panel_of_equal_seeds_is_the_same_panel() -> None:
    frame = priced({"one": (0.7, 0.001), "two": (0.8, 0.002)}, pairs=10)
    one, same, other = (effective_judges(frame, settings=CalibrationSettings(seed=seed)) for seed in (1, 1, 2))
    assert isinstance(one, EffectiveJudges)
    assert one == same
    assert one.value == other.value
    assert one.p != other.p

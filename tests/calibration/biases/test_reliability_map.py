"""The reliability map: each cell against the ceiling of a table that holds this cell and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st

from calibration.agreement.ceiling import gap_estimate, leave_one_out_ceiling
from calibration.agreement.reliability_map import ReliabilityMap, reliability_map
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings, Estimate
from tests.calibration.studies import made_pairs, made_ratings

LABELS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "labels"
FEW = CalibrationSettings(resamples=99)


def in_categories(frame: pd.DataFrame, names: str = "hp") -> pd.DataFrame:
    """A category for each topic in turn."""
    topic = frame["cluster_id"].str.extract(r"(\d+)", expand=False).astype(int)
    return frame.assign(category=topic.mod(len(names)).map(dict(enumerate(names))))


def triples(frame: pd.DataFrame, judge: str, options: CalibrationSettings) -> tuple[Estimate, Estimate, Estimate]:
    """Agreement, ceiling and gap of one judge over all that this table holds."""
    found = next(one for one in leave_one_out_ceiling(frame, settings=options).judges if one.judge == judge)
    return found.average.judge, found.average.human, gap_estimate(judge, found.average)


def same(one: Estimate, witness: Estimate, single: bool) -> bool:
    """Value, n and clusters; the interval too, except that a part of a study has none below 20 clusters."""
    bounds = (math.nan, math.nan) if single and witness.clusters < 20 else (witness.low, witness.high)
    assert (one.statistic, one.rater, one.reference) == (witness.statistic, witness.rater, witness.reference)
    assert (one.n, one.clusters) == (witness.n, witness.clusters)
    assert [one.value, one.low, one.high] == pytest.approx([witness.value, *bounds], nan_ok=True)
    return True


@pytest.mark.parametrize(
    ("ties", "references", "names", "judge"),  # 25 and 25 topics of a category; 34 and 16; 17 each; 50
    [
        ("three_class", "others_each", "hp", "judge-x"),
        ("exclude", "others_each", "hhp", "judge-x [both orders]"),
        ("three_class", "others_majority", "hpx", "judge-x [both orders]"),
        ("exclude", "others_majority", "h", "judge-x"),
    ],
)
def test_each_cell_and_margin_is_the_ceiling_of_its_own_rows(
    ties: str, references: str, names: str, judge: str
) -> None:
    frame = in_categories(made_pairs(pairs=50, missing=0.2, seed=3, both_orders=True), names)
    options = replace(FEW, ties=ties, references=references)
    found = reliability_map(frame, judge, options)
    assert len(found.cells) == 4 * (1 + len(set(names)))
    for cell in found.cells:
        own = frame if cell.criterion == "all" else frame[frame["criterion"] == cell.criterion]
        own = own if cell.category == "all" else own[own["category"] == cell.category]
        single = (cell.criterion, cell.category) != ("all", "all")
        for one, witness in zip((cell.agreement, cell.ceiling, cell.gap), triples(own, judge, options), strict=True):
            assert (one.criterion, one.category) == (cell.criterion, cell.category)
            assert same(one, witness, single)


def test_half_credits_have_the_values_of_their_own_rows_and_a_bootstrap() -> None:
    frame = in_categories(made_pairs(pairs=90, criteria=2, seed=4))
    options = replace(FEW, ties="half_credit")
    for cell in reliability_map(frame, "judge-y", options).cells:
        own = frame if cell.criterion == "all" else frame[frame["criterion"] == cell.criterion]
        own = own if cell.category == "all" else own[own["category"] == cell.category]
        agreement, ceiling, gap = triples(own, "judge-y", options)
        assert [cell.agreement.value, cell.ceiling.value] == pytest.approx([agreement.value, ceiling.value])
        assert same(cell.gap, gap, single=True)
        assert cell.agreement.method == cell.ceiling.method == "cluster_bootstrap_expanded"
        assert cell.agreement.low < cell.agreement.value < cell.agreement.high


def test_criteria_of_different_scales_stand_side_by_side_and_have_no_margin() -> None:
    both = [made_pairs(pairs=30, criteria=2), made_ratings(reports=96, annotators=2).replace("judge-x", "judge-y")]
    frame = in_categories(pd.concat(both, ignore_index=True).fillna({"system_b": "", "presentation": ""}))
    found = reliability_map(frame, "judge-y", FEW)
    assert [(one.criterion, one.category) for one in found.cells] == [
        (criterion, category) for criterion in ("c0", "c1", "quality") for category in ("h", "p", "all")
    ]
    assert found.cell() is None
    for name in found.criteria:
        cell = found.cell(name)
        assert cell is not None
        witness = triples(frame[frame["criterion"] == name], "judge-y", FEW)[0]
        if name == "quality":  # bootstrapped, with as many weights as the table has clusters
            assert (cell.agreement.statistic, cell.agreement.value) == (witness.statistic, pytest.approx(witness.value))
        else:
            assert same(cell.agreement, witness, single=True)


def test_ratings_too_fine_for_one_exact_level_have_no_cells() -> None:
    fine = made_ratings(reports=60, decimals=2)
    assert reliability_map(fine, "judge-x", FEW).cells == ()
    assert reliability_map(fine, "judge-x", FEW).cell("quality") is None


def row(item: str, rater: str, label: str, criterion: str, category: str) -> dict[str, Any]:
    return {
        "item_id": item, "rater_id": rater, "rater_kind": "judge" if rater == "judge" else "human", "label": label,
        "criterion": criterion, "category": category, "cluster_id": item, "system_a": "x", "system_b": "y",
    }  # fmt: skip


SMALL = pd.DataFrame(
    [
        *(row("i0", rater, label, "c", "") for rater, label in (("Ada", "A"), ("Ben", "B"), ("judge", "A"))),
        *(row("i1", rater, label, "c", "law") for rater, label in (("Ada", "A"), ("Ben", "A"), ("judge", "tie"))),
        *(row("i1", rater, label, "d", "law") for rater, label in (("Ada", "A"), ("judge", "A"))),
    ]
)


@pytest.mark.parametrize(
    ("criterion", "category", "agreement", "ceiling", "n"),
    [
        ("c", "(none)", Fraction(1, 2), Fraction(0), 2),
        ("c", "law", Fraction(0), Fraction(1), 2),
        ("c", "all", Fraction(1, 4), Fraction(1, 2), 4),
        ("all", "law", Fraction(0), Fraction(1), 2),
        ("d", "law", None, None, 0),  # one annotator has nobody beside
        ("d", "(none)", None, None, 0),  # never asked
        ("all", "all", Fraction(1, 4), Fraction(1, 2), 4),
    ],
)
def test_cells_by_hand(
    criterion: str, category: str, agreement: Fraction | None, ceiling: Fraction | None, n: int
) -> None:
    found = reliability_map(SMALL, "judge", FEW).cell(criterion, category)
    assert found is not None
    expected = [math.nan if value is None else float(value) for value in (agreement, ceiling)]
    assert [found.agreement.value, found.ceiling.value] == pytest.approx(expected, nan_ok=True)
    assert found.gap.value == pytest.approx(expected[1] - expected[0], nan_ok=True)
    for one in (found.agreement, found.ceiling, found.gap):
        assert (one.n, one.method == "none", "no_items" in one.note) == (n, (criterion, category) != ("all", "all")
                or math.isnan(one.low), n == 0)  # fmt: skip


def test_a_cell_of_few_clusters_says_so_and_has_no_interval() -> None:
    cell = reliability_map(in_categories(made_pairs(pairs=30)), "judge-x", FEW).cell("c0", "h")
    assert cell is not None
    assert cell.gap.clusters == 15
    for one in (cell.agreement, cell.ceiling, cell.gap):
        assert "too few pairs, fewer than 20 clusters" in one.note
        assert (math.isnan(one.low), math.isnan(one.value)) == (True, False)


def test_without_categories_there_is_the_margin_alone() -> None:
    found = reliability_map(made_pairs(pairs=4), "judge-x", FEW)
    assert found.categories == ()
    assert [(one.criterion, one.category) for one in found.cells] == [
        (name, "all") for name in (*found.criteria, "all")
    ]


def test_dropped_labels_are_counted_in_the_cell_they_are_missing_from() -> None:
    tied = SMALL.assign(label=SMALL["label"].where(SMALL["item_id"] != "i1", "tie"))
    found = reliability_map(tied, "judge", replace(FEW, ties="exclude"))
    kept = {one.category: one.agreement.note for one in found.cells if one.criterion == "c"}
    assert "kept 0 of 2 labels" in kept["law"]
    assert "kept 2 of 4 labels" in kept["all"]
    assert "kept" not in kept["(none)"]


def test_an_unknown_judge_is_refused_by_name() -> None:
    with pytest.raises(CalibrationError) as refused:
        reliability_map(SMALL, "Ada", FEW)
    assert (refused.value.code, "'Ada'; there are judge" in refused.value.text) == ("unknown_form", True)


def sides(found: ReliabilityMap) -> list[list[float]]:
    return [[x.value, x.low, x.high, x.n] for one in found.cells for x in (one.agreement, one.ceiling, one.gap)]


@trials(max_examples=10)
@given(st.integers(0, 50), st.booleans())
def test_order_of_rows_and_naming_of_a_and_b_change_nothing(seed: int, every: bool) -> None:
    frame = in_categories(made_pairs(pairs=24, criteria=2, seed=seed, missing=0.1))
    renamed = frame["item_id"].isin(frame["item_id"].drop_duplicates().sample(frac=1 if every else 0.5, random_state=1))
    turned = frame.assign(
        label=frame["label"].where(~renamed, frame["label"].replace({"A": "B", "B": "A"})),
        system_a=frame["system_a"].where(~renamed, frame["system_b"]),
        system_b=frame["system_b"].where(~renamed, frame["system_a"]),
    ).sample(frac=1, random_state=2)
    one, other = (sides(reliability_map(given, "judge-x", FEW)) for given in (frame, turned))
    assert [x for line in one for x in line] == pytest.approx([x for line in other for x in line], nan_ok=True)


if LABELS.is_dir():

    def test_mt_bench_cell_by_cell() -> None:
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str, keep_default_na=False)
        found = reliability_map(frame, "gpt4_pair", FEW)
        turn = found.cell("turn1")
        assert turn is not None
        for one, witness in zip(
            (turn.agreement, turn.ceiling, turn.gap),
            triples(frame[frame["criterion"] == "turn1"], "gpt4_pair", FEW),
            strict=True,
        ):
            assert same(one, witness, single=True)

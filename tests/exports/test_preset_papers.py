"""Published agreement through the presets. The label files are not part of the repository: collected where they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings, Estimate
from exports.presets import preset_table
from exports.tables import Table

LABELS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "labels"
FEW = CalibrationSettings(resamples=49)


def printed(table: Table, row: int, key: str) -> Estimate:
    cell = table.rows[row][[column.key for column in table.columns].index(key)]
    assert isinstance(cell, Estimate)
    return cell


if LABELS.is_dir():

    @pytest.mark.parametrize(
        ("turn", "judge", "people"),
        [("turn1", 65.9717051, 62.9680999), ("turn2", 65.7358491, 66.6195191)],
    )
    def test_the_wlc_table_of_mt_bench_has_its_published_agreement_in_percent(turn, judge, people):
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str)
        frame = frame[~frame["rater_id"].str.startswith("author") & (frame["criterion"] == turn)]
        table = preset_table("wlc", frame, calibrate(frame, FEW))
        assert printed(table, 0, "par").value == pytest.approx(judge, abs=1e-6)
        assert printed(table, 1, "par").value == pytest.approx(people, abs=1e-6)

    def test_the_deepresearchgym_table_of_pandalm_has_the_mean_of_its_three_published_kappas():
        frame = pd.read_csv(LABELS / "pandalm_testset.csv", dtype=str)
        table = preset_table("deepresearchgym", frame, calibrate(frame, FEW))
        expected = (0.8520226785 + 0.8789438113 + 0.8616614541) / 3
        assert printed(table, len(table.rows) - 1, "cohen_kappa").value == pytest.approx(expected, abs=1e-9)

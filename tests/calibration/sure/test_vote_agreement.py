"""Agreement of votes against the point functions, which take one column for each vote."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.arithmetic.metrics import fleiss_kappa, krippendorff_alpha
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings, Estimate
from tests.calibration.sure.test_confidence import row

SETTINGS = CalibrationSettings(resamples=99)
LABELS = ("correct", "incorrect", "cannot_tell")


def ballots(failed: float = 0.0) -> pd.DataFrame:
    rng, rows = np.random.default_rng(8), []
    for item in range(60):
        rows.append(row(item, "Ana", "correct"))
        for judge, hit in (("pro", 0.8), ("flash", 0.6)):
            for run in (1, 2, 3):
                said = "correct" if rng.random() < hit else str(rng.choice(LABELS))
                rows.append(row(item, judge, None if rng.random() < failed else said, run=run))
    return pd.DataFrame(rows)


def found(frame: pd.DataFrame) -> dict[tuple[str, str, str], Estimate]:
    return {(one.statistic, one.rater, one.reference): one for one in calibrate(frame, SETTINGS).estimates}


@pytest.mark.parametrize("failed", [0.0, 0.2])
def test_alpha_and_fleiss_of_votes_are_those_of_the_votes_in_columns(failed: float) -> None:
    frame = ballots(failed)
    estimates = found(frame)
    judged = frame[(frame["rater_kind"] == "judge") & (frame["status"] == "ok")]
    wide = judged.assign(vote=judged["rater_id"] + judged["run"].astype(str)).pivot(
        index="vote", columns="item_id", values="label"
    )
    counts = np.stack([(wide == label).sum() for label in LABELS], axis=1)
    alpha = estimates["krippendorff_alpha_nominal_of_votes", "all judges", "votes"]
    assert alpha.value == pytest.approx(krippendorff_alpha(wide.to_numpy(), "nominal"))
    fleiss = estimates["fleiss_kappa_of_votes", "all judges", "votes"]
    complete = counts[counts.sum(axis=1) == 6]
    assert fleiss.value == pytest.approx(fleiss_kappa(complete))
    assert f"{len(complete)} questions with all 6 votes" in fleiss.note


def test_two_models_are_compared_vote_by_vote_and_every_question_counts_once() -> None:
    frame = ballots()
    own = {
        name: frame[frame["rater_id"] == name].pivot(index="item_id", columns="run", values="label")
        for name in ("flash", "pro")
    }
    equal = [(own["flash"][one] == own["pro"][other]).mean() for one in (1, 2, 3) for other in (1, 2, 3)]
    between = found(frame)["percent_agreement_of_votes", "flash", "pro"]
    assert between.value == pytest.approx(np.mean(equal))
    assert (between.n, between.clusters) == (60, 15)


def test_nobody_votes_where_nobody_was_asked_three_times() -> None:
    frame = ballots()
    assert not [key for key in found(frame[frame["run"] < 3]) if key[0].endswith("_of_votes")]


def test_single_votes_agree_with_nothing_and_are_not_called_one_category() -> None:
    people = [row(item, "Ana", "correct") for item in range(8)]
    votes = [row(item, "pro", "correct" if run == 1 else None, run=run) for item in range(8) for run in (1, 2, 3)]
    estimates = found(pd.DataFrame([*people, *votes]))
    own = [one for (name, rater, _), one in estimates.items() if name.endswith("_of_votes") and rater == "pro"]
    of_votes = [one for one in own if one.reference == "votes"]
    assert [(one.n, "no_items" in one.note, "-" in one.note.partition(";")[0]) for one in of_votes] == [
        (0, True, False)
    ] * 3

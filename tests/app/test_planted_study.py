"""The acceptance case from click to flag: five annotators, ten pairs, 13 criteria, two people planted."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.people.principals import local_admin
from app.results.quality import study_quality
from db.connect import reading
from db.tables import Study
from tests.calibration.planted import ALWAYS_LEFT, RANDOM_AND_FAST, Person
from tests.planted_study import make_planted

PEOPLE = (Person(0.80), Person(0.82), Person(0.85), ALWAYS_LEFT, RANDOM_AND_FAST)
REASONS = {"annotator-04": {"side", "same_answer"}, "annotator-05": {"speed", "agreement"}}


@pytest.mark.slow
def test_in_a_labelled_study_the_two_planted_annotators_are_flagged_and_careful_ones_are_not(
    engine_here: Engine, tmp_path: Path
) -> None:
    study = make_planted(engine_here, tmp_path / "reports", PEOPLE, criteria=13)
    with reading(engine_here) as session:
        found = study_quality(session, local_admin(session.get_one(Study, study)), resamples=99)
    flags = {one.rater: {flag.name for flag in one.flags} for one in found.annotators if one.flags}
    assert set(flags) == set(REASONS)
    assert all(REASONS[rater] <= flags[rater] for rater in REASONS)
    assert [one.items for one in found.annotators] == [10] * 5

"""The figures of a running study: drawn for one annotator and for a crowd, with a dash for what is unknown."""

from __future__ import annotations

from functools import cache

from calibration.people.annotator_quality import AnnotatorQuality, annotator_quality
from calibration.results import CalibrationSettings
from calibration.sizing.agreement_so_far import agreement_so_far
from exports.figures import Figure, as_bytes
from exports.plots.study_figures import agreement_steps, annotators_at_work, speed_by_agreement
from tests.calibration.planted import RANDOM_AND_FAST, Person, planted_study

QUICK = CalibrationSettings(resamples=99)
FOUR = planted_study((*[Person(0.85)] * 3, RANDOM_AND_FAST), 1, criteria=6)


@cache
def quality(rows: int | None = None) -> tuple[AnnotatorQuality, ...]:
    verdicts, work = FOUR
    return annotator_quality(verdicts, work if rows is None else work[:rows], QUICK)


def words(figure: Figure | None) -> set[str]:
    assert figure is not None
    axes = figure.canvas.axes
    return {text.get_text() for one in axes for text in one.texts} | {one.get_title(loc="left") for one in axes}


def test_nothing_yet_is_no_figure() -> None:
    nothing = agreement_so_far(FOUR[0][:0], (), QUICK)
    assert agreement_steps(nothing, 0.05, "pair") is None
    assert annotators_at_work(()) is None
    assert speed_by_agreement(()) is None
    assert speed_by_agreement(quality(rows=0)) is None  # no active time is known


def test_steps_lead_to_the_value_and_to_the_pairs_that_are_wanted() -> None:
    found = agreement_so_far(FOUR[0], (), QUICK)
    figure = agreement_steps(found, 0.1, "pair")
    needed = found.needed(0.1).clusters
    assert needed is not None
    assert f"{needed}: ±10 points" in words(figure) or needed <= 10
    assert figure is not None
    assert figure.drawn == (found.steps[-1],)


def test_every_annotator_has_a_row_and_an_unknown_figure_is_a_dash() -> None:
    figure = annotators_at_work(quality(rows=0))
    assert figure is not None
    assert len(figure.drawn) == 16
    assert "–" in words(figure)  # drift takes the times at which work was handed in
    assert {"agreement", "taken on the left", "same answer", "change"} <= words(figure)


def test_of_a_crowd_only_who_is_flagged_is_named() -> None:
    found = quality()
    assert {one.rater for one in found} <= words(speed_by_agreement(found))
    crowd = words(speed_by_agreement(found * 4))
    assert "ann4" in crowd
    assert "ann1" not in crowd


def test_the_same_figures_are_the_same_bytes() -> None:
    found = quality()
    for draw in (annotators_at_work, speed_by_agreement):
        one, other = (draw(found) for _ in range(2))
        assert one is not None
        assert other is not None
        assert as_bytes(one, "svg") == as_bytes(other, "svg")

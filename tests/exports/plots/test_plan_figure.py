"""The figure of a plan: the same bytes each time, every ICC that has room named, nothing where nothing is known."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from calibration.sizing.study_plan import Design, Goals, plan_from_assumptions
from exports.figures import FORMATS, as_bytes
from exports.plots.study_figures import plan_figure

GOALS = Goals()


def test_a_plan_drawn_twice_is_the_same_bytes_even_while_others_draw() -> None:
    found = plan_from_assumptions(GOALS, Design())

    def drawn(form: str) -> tuple[str, bytes]:
        figure = plan_figure(found, GOALS)
        assert figure is not None
        return form, as_bytes(figure, form)

    alone = set(map(drawn, FORMATS))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(drawn, [*FORMATS] * 3)) == alone


@pytest.mark.parametrize(
    ("icc", "labels", "named"),
    [
        (0.1, 39, {"ICC .10", "ICC .02", "ICC .20", "ICC .50"}),
        (0.0, 39, {"ICC .00", "ICC .02", "ICC .10", "ICC .20", "ICC .50"}),
        (0.3, 1, {"ICC .30"}),  # one label a topic: the ICC does not matter
    ],
)
def test_lines_that_would_share_a_place_have_one_name(icc: float, labels: int, named: set[str]) -> None:
    figure = plan_figure(plan_from_assumptions(GOALS, Design(1, labels, 1), icc=icc), GOALS)
    assert figure is not None
    texts = {text.get_text() for text in figure.canvas.axes[0].texts}
    assert {text for text in texts if text.startswith("ICC")} == named
    assert f"{labels} labels of each" in figure.caption


def test_a_pilot_whose_icc_is_not_known_has_no_figure() -> None:
    found = plan_from_assumptions(GOALS, Design())
    assert plan_figure(replace(found, icc=math.nan), GOALS) is None
    assert plan_figure(replace(found, variance=0.0), GOALS) is None

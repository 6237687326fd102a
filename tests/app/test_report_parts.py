"""The parts that pages of a report share."""

from __future__ import annotations

import pytest

from app.screens.report_page import in_one_line


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (0.95, "0.95"), (None, ""), ([], ""), (("mini", "small"), "mini, small"), ({"c0": "pairwise"}, "c0: pairwise"),
        ({"mini": {"ok": 120}}, ""), ([{"rater": "mini"}], ""), (False, "no"),
    ],
)  # fmt: skip
def test_how_a_report_was_computed_is_told_in_lines(value: object, line: str) -> None:
    assert in_one_line(value) == line

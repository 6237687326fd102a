"""The card: one row a question, its outcome by where the whole interval lies, and a sentence with the number."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.card import CardRow, card_of
from calibration.results import CalibrationReport, CalibrationSettings
from tests.calibration.priced import priced
from tests.calibration.studies import made_pairs

FEW = CalibrationSettings(resamples=99, families={"x": "acme", "atlas": "acme"})
GOOD = {"x": (0.85, 0.001)}


def reported(frame: pd.DataFrame) -> CalibrationReport:
    return calibrate(frame, FEW)


def rows_of(frame: pd.DataFrame, judge: str = "x") -> Mapping[str, CardRow]:
    return {one.question: one for one in card_of(reported(frame).card, judge)}


def in_both_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """Every row of the judge twice, shown A first and B first."""
    own = frame["rater_kind"] == "judge"
    return pd.concat([frame[~own], frame[own].assign(presentation="AB"), frame[own].assign(presentation="BA")])


def always_first(frame: pd.DataFrame) -> pd.DataFrame:
    both = in_both_orders(frame)
    shown = both["presentation"].map({"AB": "A", "BA": "B"})
    return both.assign(label=shown.fillna(both["label"]))


def longer(frame: pd.DataFrame) -> pd.DataFrame:
    """A is the longer report of every other item, and the judge always takes the longer one."""
    a_longer = frame["item_id"].str[-1].isin(list("02468"))
    frame = frame.assign(len_a=np.where(a_longer, 9000, 5000), len_b=np.where(a_longer, 5000, 9000))
    own = frame["rater_kind"] == "judge"
    return frame.assign(label=frame["label"].where(~own, np.where(a_longer, "A", "B")))


def invalid(share: float) -> pd.DataFrame:
    frame = priced(GOOD)
    own = (frame["rater_kind"] == "judge").to_numpy()
    lost = own & (np.arange(len(frame)) % 100 < 100 * share)
    return frame.assign(status=np.where(lost, "invalid", "ok"))


def repeated(changed: int) -> pd.DataFrame:
    """The judge answers twice, and every `changed`th answer differs."""
    frame = priced(GOOD)
    again = frame[frame["rater_kind"] == "judge"].assign(run=2)
    turned = again["label"].map({"A": "B", "B": "A", "tie": "A"})
    again["label"] = again["label"].where(np.arange(len(again)) % changed > 0, turned)
    return pd.concat([frame.assign(run=1), again])


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (priced(GOOD), {
            "agreement": ("within", "more than always giving the same answer does"),
            "ceiling gap": ("within", "a gap as large as the margin is ruled out"),
            "order": ("cannot tell", "Cannot tell: fill presentation"),
            "length": ("cannot tell", "Cannot tell: fill len_a and len_b"),
            "repeats": ("cannot tell", "ask the judge twice"),
            "answers": ("within", "100.0 % of its 360 answers can be used."),
        }),
        (priced(GOOD).assign(presentation="AB", system_a="one", system_b="two"), {
            "order": ("cannot tell", "Cannot tell: run the judge in both orders."),
        }),
        (priced({"x": (0.05, 0.001)}), {"agreement": ("cannot tell", "earns cannot be told")}),
        (priced({"x": (0.2, 0.001)}), {"ceiling gap": ("beyond", "points more, a gap beyond the margin")}),
        (priced(GOOD, pairs=10), {"ceiling gap": ("cannot tell", "more topics")}),
        (always_first(priced(GOOD)), {"order": ("beyond", "turns to the first report 100.0 points more often")}),
        (in_both_orders(priced(GOOD)), {"order": ("within", "turns to the first report 0.0 points more often")}),
        (longer(priced(GOOD)), {"length": ("beyond", "takes the longer report")}),
        (repeated(3), {"repeats": ("beyond", "asked again, it changes 33.3 % of its answers: beyond the limit")}),
        (repeated(10_000), {"repeats": ("within", "within the limit")}),
        (invalid(0.3), {"answers": ("beyond", "fewer than the limit")}),
        (invalid(0.05), {"answers": ("cannot tell", "whether the limit is kept cannot be told")}),
    ],
)  # fmt: skip
def test_each_question_has_its_outcome_and_says_why(frame: pd.DataFrame, told: Mapping[str, tuple[str, str]]) -> None:
    rows = rows_of(frame)
    for question, (outcome, words) in told.items():
        row = rows[question]
        assert row.outcome == outcome, row
        assert words.lower() in row.sentence.lower()
        assert row.limit
        if outcome != "cannot tell":
            assert not math.isnan(row.estimate.low)


def test_every_judge_has_every_question_once() -> None:
    report = reported(priced(GOOD | {"y": (0.5, 0.002)}))
    asked = [(one.judge, one.question) for one in report.card]
    assert len(asked) == len(set(asked))
    questions = {judge: {question for name, question in asked if name == judge} for judge, _ in asked}
    assert questions["x"] == {"agreement", "ceiling gap", "order", "length", "self-preference", "repeats", "answers"}
    assert questions["y"] == questions["x"] - {"self-preference"}  # it has declared no family


def test_a_judge_of_both_orders_shows_the_habits_of_the_judge_itself() -> None:
    report = reported(in_both_orders(priced(GOOD)))
    own = {one.question for one in report.card if one.judge == "x [both orders]"}
    assert own == {"agreement", "ceiling gap"}
    assert {one.question for one in card_of(report.card, "x [both orders]")} == own | {
        "order", "length", "self-preference", "repeats", "answers",
    }  # fmt: skip


def test_a_card_without_people_or_with_criteria_of_two_kinds_still_has_the_habits() -> None:
    frame = made_pairs(pairs=24, criteria=1, both_orders=True)
    rated = frame.drop_duplicates(["item_id", "rater_id"]).assign(
        criterion="quality", label="3", system_a="atlas", system_b="", presentation=""
    )
    rated["item_id"] += "-report"
    mixed = reported(pd.concat([frame, rated]))
    assert mixed.choice is None
    assert {one.question for one in mixed.card if one.judge == "judge-x"} == {"order", "length", "repeats", "answers"}

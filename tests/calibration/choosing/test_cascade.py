"""A cascade by hand: who decides which label, what it costs, and that it is a judge like any other afterwards."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from calibration.choosing.choose import cheapest_adequate_judge
from calibration.delegating.cascade import cascade_with_person, with_cascade
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.study.left_out import left_out_scores, pooled
from tests.calibration.priced import priced

SETTINGS = CalibrationSettings(margin=0.1, resamples=499)


def row(item: str, criterion: str, rater: str, label: str, presentation: str, cost: float) -> dict[str, object]:
    return {
        "item_id": item, "criterion": criterion, "rater_id": rater, "label": label, "presentation": presentation,
        "rater_kind": "human" if rater.startswith("ann") else "judge", "cluster_id": item, "cost_usd": cost,
        "status": "ok" if label else "invalid", "seconds": 1.0,
    }  # fmt: skip


# item, criterion: cheap in AB, cheap in BA, dear, two annotators
BY_HAND = {
    ("p1", "c1"): ("A", "A", "B", "A", "A"),
    ("p1", "c2"): ("A", "A", "B", "A", "B"),
    ("p2", "c1"): ("A", "B", "B", "B", "B"),  # orders differ
    ("p2", "c2"): ("tie", "tie", "A", "tie", "A"),
    ("p3", "c1"): ("A", "", "", "A", "A"),  # one order unusable, and so is the dear judge's answer
    ("p3", "c2"): ("B", "B", "A", "B", "B"),
}


def by_hand() -> pd.DataFrame:
    rows = []
    for (item, criterion), (ab, ba, dear, one, two) in BY_HAND.items():
        rows += [row(item, criterion, "cheap", ab, "AB", 0.001), row(item, criterion, "cheap", ba, "BA", 0.001)]
        rows += [row(item, criterion, "dear", dear, "AB", 0.1)]
        rows += [row(item, criterion, "ann1", one, "", math.nan), row(item, criterion, "ann2", two, "", math.nan)]
    return pd.DataFrame(rows)


def test_the_dear_judge_takes_what_the_two_orders_do_not_settle() -> None:
    frame, cascade = with_cascade(by_hand(), "cheap", "dear")
    own = frame[frame["rater_id"] == "cheap then dear"].set_index(["item_id", "criterion"])
    assert own["label"].to_dict() == {
        ("p1", "c1"): "A", ("p1", "c2"): "A", ("p2", "c1"): "B", ("p2", "c2"): "tie", ("p3", "c1"): "",
        ("p3", "c2"): "B",
    }  # fmt: skip
    assert own["status"].to_dict()["p3", "c1"] == "invalid"
    assert (cascade.escalated.value, cascade.escalated.n) == (2 / 6, 6)
    assert (cascade.escalated_items.value, cascade.escalated_items.n) == (2 / 3, 3)


@pytest.mark.parametrize(("dears", "shown"), [(5, 5.0), (0.5, None)])
def test_a_label_has_the_stated_confidence_of_who_gave_it(dears: float, shown: float | None) -> None:
    """And none where a share of votes stands beside levels, which no rater mixes."""
    given = by_hand()
    given["confidence"] = given["rater_id"].map({"cheap": 2.0, "dear": dears})
    frame, _ = with_cascade(given, "cheap", "dear")
    own = frame[frame["rater_id"] == "cheap then dear"].set_index(["item_id", "criterion"])["confidence"]
    sent = own[[("p2", "c1"), ("p3", "c1")]].astype(float)
    assert (sent == shown).all() if shown else sent.isna().all()
    assert set(own.drop(sent.index)) == {2.0}


def test_every_item_pays_the_cheap_judge_twice_and_an_escalated_one_the_whole_dear_call() -> None:
    frame, cascade = with_cascade(by_hand(), "cheap", "dear")
    own = frame[frame["rater_id"] == "cheap then dear"]
    cost = own.groupby("item_id")["cost_usd"].sum().to_dict()
    assert cost == pytest.approx({"p1": 0.004, "p2": 0.204, "p3": 0.204})  # two criteria, both calls, .1 each
    assert cascade.usd_per_1000_items == pytest.approx(1000 * (0.004 + 2 / 3 * 0.2))
    assert own.groupby("item_id")["seconds"].sum().to_dict() == {"p1": 4.0, "p2": 6.0, "p3": 6.0}


def test_a_price_that_is_unknown_leaves_the_cascades_unknown_unless_nothing_is_escalated() -> None:
    frame = by_hand()
    frame.loc[frame["rater_id"] == "dear", "cost_usd"] = math.nan
    assert math.isnan(with_cascade(frame, "cheap", "dear")[1].usd_per_1000_items)
    settled = frame[frame["item_id"] == "p1"]
    assert with_cascade(settled, "cheap", "dear")[1].usd_per_1000_items == pytest.approx(4.0)


def test_a_person_agrees_on_what_is_escalated_as_the_one_left_out() -> None:
    settings = CalibrationSettings(margin=0.2)
    found = cascade_with_person(by_hand(), "cheap", 3.0, settings)
    # only two of the twelve rows differ: of p1 c2 and of p2 c2, where ann2 is left out the cheap judge agrees with ann1
    assert found.test.difference.value == pytest.approx(-2 / 12)
    assert found.test.difference.n == 12
    assert found.usd_per_1000_items == pytest.approx(1000 * (0.004 + 2 / 3 * 3.0))
    assert math.isnan(cascade_with_person(by_hand(), "cheap", math.nan).usd_per_1000_items)


@pytest.mark.parametrize(("cheap", "dear"), [("dear", "cheap"), ("nobody", "dear"), ("cheap", "nobody")])
def test_a_cascade_needs_two_orders_of_the_first_judge_and_shared_labels(cheap: str, dear: str) -> None:
    with pytest.raises(CalibrationError) as refused:
        with_cascade(by_hand(), cheap, dear)
    assert refused.value.code == "unknown_form"
    assert ("no judge is called 'nobody'; there are cheap, dear" in str(refused.value)) == ("nobody" in (cheap, dear))


def in_both_orders(seed: int = 1) -> pd.DataFrame:
    """A cheap judge that is right where it is sure and else follows the side, beside a dear one."""
    frame = priced({"cheap": (0.5, 0.001), "dear": (0.9, 0.03)}, pairs=300, criteria=1, seed=seed)
    frame["presentation"] = "AB"
    rng = np.random.default_rng(seed)
    cheap, dear = (frame["rater_id"] == name for name in ("cheap", "dear"))
    sure = rng.random(int(cheap.sum())) < 0.5
    right = frame.loc[dear, "label"].to_numpy()
    frame.loc[cheap, "label"] = np.where(sure, right, "A")
    back = frame[cheap].assign(presentation="BA", label=np.where(sure, right, "B"))
    return pd.concat([frame, back], ignore_index=True)


def test_afterwards_it_is_a_judge_like_any_other_and_may_be_the_cheapest_adequate_one() -> None:
    frame, cascade = with_cascade(in_both_orders(), "cheap", "dear")
    choice = cheapest_adequate_judge(frame, SETTINGS)
    named = {one.judge: one for one in choice.candidates}
    assert choice.judge == "cheap then dear"
    assert 1000 * named["cheap then dear"].cost_per_item == pytest.approx(cascade.usd_per_1000_items)
    assert named["cheap"].reason == "inferior"
    assert named["dear"].reason == "dearer"
    assert named["cheap then dear"].agreement.value == pytest.approx(named["dear"].agreement.value)


def test_the_escalated_share_is_what_is_left_of_swap_consistency() -> None:
    frame = in_both_orders()
    _, cascade = with_cascade(frame, "cheap", "dear")
    wide = frame[frame["rater_id"] == "cheap"].pivot(index=["item_id", "criterion"], columns="presentation")["label"]
    assert cascade.escalated.value == pytest.approx((wide["AB"] != wide["BA"]).mean())
    assert cascade.escalated.low < cascade.escalated.value < cascade.escalated.high


def test_where_all_is_escalated_the_person_has_no_gap_and_where_nothing_is_the_judge_has_its_own() -> None:
    frame = in_both_orders()
    cheap = frame["rater_id"] == "cheap"
    apart = frame.copy()
    apart.loc[cheap, "label"] = np.where(frame.loc[cheap, "presentation"] == "AB", "A", "B")
    assert cascade_with_person(apart, "cheap", 3.0, SETTINGS).test.difference.value == 0
    alike = frame.copy()
    alike.loc[cheap, "label"] = "A"
    study, group, scale = pooled(alike, SETTINGS)
    rows = left_out_scores(study, group, scale, study.judges[0], SETTINGS)
    found = cascade_with_person(alike, "cheap", 3.0, SETTINGS)
    assert found.test.difference.value == pytest.approx(float((rows.human - rows.judge).mean()))
    assert found.escalated.value == 0

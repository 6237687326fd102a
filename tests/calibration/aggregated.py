"""Rows of probes, ratings and views for the tests of aggregates, and one aggregate's estimates by name."""

from __future__ import annotations

from typing import Any

import pandas as pd

from calibration.results import Aggregate, CalibrationSettings, Estimate
from calibration.study.joining import study_of
from calibration.systems.aggregates import aggregate_estimates
from tests.calibration.explicit import SEED, B

VALUES = {"full": 1.0, "partial": 0.5, "no": 0.0, "gone": 0.0}
PEOPLE, JUDGE = "each_annotator", "mini"
RATERS = (("ann1", "human"), ("ann2", "human"), (JUDGE, "judge"))
Row = dict[str, Any]


def rules(*aggregates: Aggregate, **more: Any) -> CalibrationSettings:
    return CalibrationSettings(resamples=B, seed=SEED, aggregates=aggregates, **more)


def estimates(rows: list[Row], *aggregates: Aggregate, **more: Any) -> dict[tuple[str, ...], Estimate]:
    chosen = rules(*aggregates, **more)
    found, _ = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    return {(one.statistic, one.rater, one.reference, one.category.removeprefix("systems: ")): one for one in found}


def by_rule(rows: list[Row], *aggregates: Aggregate, **more: Any) -> dict[tuple[str, str, str], Estimate]:
    """(name of the aggregate, rater, system) -> its estimate."""
    chosen = rules(*aggregates, **more)
    found, _ = aggregate_estimates(study_of(pd.DataFrame(rows), chosen), chosen)
    own = (one for one in found if one.statistic == "aggregate")
    return {(one.criterion, one.rater, one.category.removeprefix("systems: ")): one for one in own}


def value(rows: list[Row], one: Aggregate, rater: str = PEOPLE, system: str = "x", **more: Any) -> float:
    return estimates(rows, one, **more)["aggregate", rater, "", system].value


def probe(answer: str, rater: str = "ann1", topic: str = "t1", key: str = "1", system: str = "x", **more: Any) -> Row:
    return {
        "item_id": f"{topic}/{system}/{key}", "rater_id": rater, "rater_kind": dict(RATERS).get(rater, "judge"),
        "criterion": "c", "label": answer, "cluster_id": topic, "system_a": system, "status": "ok", **more,
    }  # fmt: skip


def rating(score: float | None, criterion: str = "c", item: str = "t1/x", rater: str = "ann1", **more: Any) -> Row:
    topic, system = item.split("/")[:2]
    return {
        "item_id": item, "rater_id": rater, "rater_kind": dict(RATERS)[rater], "criterion": criterion,
        "label": "" if score is None else str(score), "cluster_id": topic, "system_a": system,
        "status": "missing" if score is None else "ok", **more,
    }  # fmt: skip


def view(
    target: list[float | None], reference: list[float | None], topic: str = "t1", rater: str = "ann1"
) -> list[Row]:
    pages = ((target, "x", "ref"), (reference, "ref", "x"))
    return [
        rating(score, f"c{k}", f"{topic}/{own}", rater, beside=f"{topic}/{other}", weight=(0.5, 0.3, 0.2)[k])
        for scores, own, other in pages
        for k, score in enumerate(scores)
    ]

"""RACE's shares of two totals, and what they come to beside people's, worked out of its labels alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from tests.studies import from_labels, intervals, test_race
from tests.studies.desk import Decide, Desk
from tests.studies.from_labels import Worked
from tests.studies.intervals import Interval, Numbers, over_rows


def shares(labels: pd.DataFrame) -> pd.Series[float]:
    """(system, task) -> t / (t + r) of mean scores by the task's weights, r of the report in the same view."""
    planted = [test_race.weights(int(row.cluster_id))[row.criterion] for row in labels.itertuples()]
    assert np.allclose(labels["weight"], planted)
    labels = labels.assign(label=labels["label"].astype("float"))
    each = labels.groupby(["item_id", "system_a", "cluster_id", "beside", "criterion"])[["label", "weight"]].mean()
    totals = each.prod(axis=1).groupby(level=[0, 1, 2, 3]).sum().reset_index(level=[1, 2, 3], name="t")
    totals["share"] = totals["t"] / (totals["t"] + totals["beside"].map(totals["t"]))
    return totals.groupby(["system_a", "cluster_id"])["share"].mean()


def race_shares(desk: Desk) -> dict[str, pd.Series[float]]:
    """Of people together, of each of them and of each judge."""
    labels = desk.verdicts("race")
    people = {str(name): shares(own) for name, own in from_labels.human(desk, "race").groupby("rater_id")}
    mean = pd.concat(people.values(), axis=1).mean(axis=1)
    return {"people": mean} | {str(name): shares(own) for name, own in labels.groupby("rater_id")}


def of_raters(*names: str, whole: bool = False) -> Callable[[Desk], list[pd.DataFrame]]:
    """Task by system -> share, of these raters; `whole`: of the reference too."""

    def tables(desk: Desk) -> list[pd.DataFrame]:
        found = race_shares(desk)
        named = names or [name for name in found if name.startswith("annotator")]
        of_each = (found[name].unstack(level=0) for name in named)
        return [one if whole else one.drop(columns=test_race.REFERENCE) for one in of_each]

    return tables


def order_with_people(judge: str) -> Worked:
    return over_rows(of_raters("people", judge, whole=True), from_labels.kendall)


def in_one_order(one: Numbers, other: Numbers) -> npt.NDArray[np.bool_]:
    """Of every two systems on each task, shape (tasks, pairs)."""
    a, b = np.triu_indices(one.shape[1], 1)
    return np.asarray((one[:, a] - one[:, b]) * (other[:, a] - other[:, b]) > 0)


def par(tables: Callable[[Desk], list[pd.DataFrame]]) -> Worked:
    """How often two of these raters, or every two, put two systems of a task in one order, per cent."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        alike = [in_one_order(*map(np.asarray, pair)) for pair in combinations(tables(desk), 2)]
        of_tasks = pd.DataFrame(np.concatenate(alike, axis=1)).stack()
        return intervals.times(100, intervals.wilson(of_tasks, of_tasks.index.get_level_values(0).to_series()))

    return share


def of_means(one: Numbers, other: Numbers) -> float:
    return 100 * from_labels.r_of(one.mean(axis=0), other.mean(axis=0))


BOTH_ORDERS = of_raters("people", "both-orders")


def overall_over_tasks(desk: Desk, _: Mapping[str, Decide]) -> Interval:
    people, judge = BOTH_ORDERS(desk)
    worked = intervals.of_four(people.T, judge.T)
    assert abs(worked.value - statistics.mean(columns(desk))) < 1e-9
    return worked


def higher_first(desk: Desk, _: Mapping[str, Decide]) -> float:
    """How much oftener a judge of both orders scores a report higher than lower where it is shown first."""
    labels = from_labels.of(desk, "race", "both-orders").astype({"label": "float"})
    both = labels.pivot(index=["item_id", "criterion"], columns="presentation", values="label")
    return float(np.sign(both["AB"] - both["BA"]).mean())


def columns(desk: Desk) -> list[float]:
    """PAR, OPC, FAP and FAS of the judge of both orders, in per cent."""
    people, judge = BOTH_ORDERS(desk)
    each = (100 * float(people.corrwith(judge, axis=1, method=how).mean()) for how in ("pearson", "spearman"))
    one, other = people.to_numpy(), judge.to_numpy()
    return [100 * float(in_one_order(one, other).mean()), of_means(one, other), *each]


def changes(desk: Desk, _: Mapping[str, Decide]) -> Interval:
    """How often two runs of one judge score a criterion apart."""
    labels = from_labels.of(desk, "race", "again").groupby(["item_id", "criterion", "presentation"])
    return intervals.wilson(labels["label"].nunique() > 1, labels["cluster_id"].first())

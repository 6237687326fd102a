"""What judges cost, out of what the provider billed and the ledger that a study writes."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from tests.studies import intervals
from tests.studies.desk import Decide, Desk
from tests.studies.from_labels import Worked
from tests.studies.intervals import Interval


def calls(model: str, number: int, billed: int = 0) -> Worked:
    """So many calls, and the provider billed as many of that model, or `billed` where several judges share it."""

    def count(desk: Desk, _: Mapping[str, Decide]) -> str:
        assert sum(one["model"] == model for one in desk.bill()) == (billed or number)
        return f"{number:,} calls done"

    return count


def billed(desk: Desk, judge: str, price: tuple[float, float]) -> pd.DataFrame:
    """A judge's calls with their USD, from the ledger's tokens at a price of a million of them read and written.

    The models, prompts and tokens of the whole ledger are those that the provider billed.
    """
    calls = pd.read_csv(desk.folder / "ledger.csv").loc[lambda calls: calls["tokens_in"] > 0]
    told = calls.assign(model=calls["model"].str.removeprefix("openai/")).astype({"tokens_in": int, "tokens_out": int})
    columns = {"model": "model", "prompt_sha256": "prompt", "tokens_in": "in", "tokens_out": "out"}
    bill = ([one[name] for name in columns.values()] for one in desk.bill())
    assert sorted(told[[*columns]].to_numpy().tolist()) == sorted(bill)
    assert told.loc[told["judge"] == judge, "model"].nunique() == 1
    usd = (calls["tokens_in"] * price[0] + calls["tokens_out"] * price[1]) / 1e6
    return calls.assign(usd=usd)[calls["judge"] == judge]


def ledger(judge: str, price: tuple[float, float], each: int) -> tuple[Worked, Worked]:
    """USD in all, and for each of so many calls or reports."""
    return lambda desk, _: billed(desk, judge, price)[
        "usd"
    ].sum(), lambda desk, _: billed(desk, judge, price)["usd"].sum() / each


def cost(study: str, judge: str, each: int, price: tuple[float, float] = (1.25, 10.0)) -> Worked:
    """USD for each of so many reports, as many of them on every topic, by t of C - 1."""

    def mean(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        topics = desk.verdicts(study).drop_duplicates("item_id").set_index("item_id")["cluster_id"]
        calls = billed(desk, judge, price)
        of_topics = calls["usd"].groupby(calls["items"].str.split().str[0].map(topics)).sum()
        return intervals.t_mean(of_topics * len(of_topics) / each)

    return mean

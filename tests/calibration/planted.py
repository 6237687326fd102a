"""Simulated annotators at work: true verdicts of each item and criterion, people of known skill, time and habits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Person:
    """`skill`: probability of the true verdict. `habit`: careful, always_left, random or pastes. `pace`: of 1, the usual."""

    skill: float = 0.82
    habit: str = "careful"
    pace: float = 1.0


def careful(rng: np.random.Generator) -> Person:
    return Person(float(rng.uniform(0.80, 0.85)), pace=float(rng.lognormal(0, 0.25)))


ALWAYS_LEFT, RANDOM_AND_FAST = Person(habit="always_left"), Person(habit="random", pace=0.15)


def planted_study(
    people: Sequence[Person], seed: int, pairs: int = 10, criteria: int = 39
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Verdicts and work log of `people`, `ann1` ..., who all label every pair, in an order of their own.

    Items differ in which report is better (most criteria of an item go one way), in how hard they are, and in length.
    """
    rng = np.random.default_rng(seed)
    lean = rng.beta(1.5, 1.5, pairs)  # share of an item's criteria that A wins
    hard = rng.normal(0, 0.05, pairs)  # every annotator's skill on the item, more or less
    truth = np.where(rng.random((pairs, criteria)) < lean[:, None], "A", "B")
    truth = np.where(rng.random((pairs, criteria)) < 0.1, "tie", truth)
    words, needs = rng.integers(4_000, 14_000, pairs), rng.lognormal(0, 0.3, pairs)
    rows, log = [], []
    for number, person in enumerate(people, start=1):
        rater = f"ann{number}"
        left = rng.permutation(["A", "B"] * (pairs // 2) + ["A"] * (pairs % 2))
        for place, item in enumerate(rng.permutation(pairs)):
            others = np.array([["B", "tie"], ["A", "tie"], ["A", "B"]])
            wrong = others[np.searchsorted(["A", "B", "tie"], truth[item]), rng.integers(0, 2, criteria)]
            given = np.where(rng.random(criteria) < person.skill + hard[item], truth[item], wrong)
            if person.habit == "always_left":
                given = np.full(criteria, left[item])
            elif person.habit == "random":
                given = rng.choice(["A", "B"], criteria)
            for criterion, label in enumerate(given):
                why = "the better one" if person.habit == "pastes" else " ".join(map(str, rng.integers(0, 9_999, 12)))
                rows.append((f"p{item:02}", rater, f"c{criterion:02}", str(label), f"{left[item]}", why))
            minutes = 25 * needs[item] * person.pace * rng.lognormal(0, 0.2)
            when = pd.Timestamp("2026-11-01", tz="UTC") + pd.Timedelta(hours=place)
            log.append((rater, f"p{item:02}", "label", when, 60 * minutes, int(words[item]), ""))
    verdicts = pd.DataFrame(rows, columns=["item_id", "rater_id", "criterion", "label", "presentation", "rationale"])
    verdicts["presentation"] = verdicts["presentation"].map({"A": "AB", "B": "BA"})
    verdicts["cluster_id"], verdicts["rater_kind"] = verdicts["item_id"].str.replace("p", "topic"), "human"
    verdicts["system_a"], verdicts["system_b"] = "atlas", "borealis"
    columns = ["rater_id", "item_id", "purpose", "submitted_at", "active_s", "words", "attention"]
    return verdicts, pd.DataFrame(log, columns=columns)

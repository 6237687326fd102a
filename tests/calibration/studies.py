"""Small made studies with known properties, for the tests of `calibration` and `exports`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd


def made_pairs(
    pairs: int = 30,
    criteria: int = 3,
    annotators: int = 3,
    judges: Mapping[str, float] | None = None,
    seed: int = 1,
    missing: float = 0.0,
    both_orders: bool = False,
) -> pd.DataFrame:
    """Pairwise verdicts: each rater gives the item's hidden verdict with a probability, else another one at random."""
    rng = np.random.default_rng(seed)
    skills = {f"ann{i}": 0.8 for i in range(1, annotators + 1)} | dict(judges or {"judge-x": 0.75, "judge-y": 0.6})
    rows = []
    for pair in range(pairs):
        for criterion in range(criteria if pair % 4 else max(1, criteria - 1)):  # unequal clusters
            truth = rng.choice(["A", "B", "tie"], p=[0.5, 0.3, 0.2])
            for rater, skill in skills.items():
                judge = rater.startswith("judge")
                for presentation in ("AB", "BA") if both_orders and judge else (rng.choice(["AB", "BA"]),):
                    label = truth if rng.random() < skill else rng.choice(["A", "B", "tie"])
                    if rng.random() >= missing:
                        rows.append((f"p{pair:03}", rater, judge, f"c{criterion}", str(label), str(presentation)))
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "judge", "criterion", "label", "presentation"])
    frame["rater_kind"] = np.where(frame.pop("judge"), "judge", "human")
    frame["cluster_id"] = frame["item_id"].str.replace("p", "topic")
    frame["system_a"], frame["system_b"] = "atlas", "borealis"
    return frame


def made_ratings(reports: int = 40, decimals: int = 0, seed: int = 2, annotators: int = 3) -> pd.DataFrame:
    """Ratings from 1 to 10 of reports, four to a topic, by annotators and one judge."""
    rng = np.random.default_rng(seed)
    rows = []
    for report in range(reports):
        truth = rng.normal(5.5, 2)
        for rater in [*(f"ann{i}" for i in range(1, annotators + 1)), "judge-x"]:
            if rng.random() < 0.9:
                score = round(float(np.clip(truth + rng.normal(0, 1.5), 1, 10)), decimals)
                rows.append((f"r{report:03}", rater, "quality", score, f"topic{report // 4:02}"))
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "criterion", "label", "cluster_id"])
    frame["rater_kind"] = np.where(frame["rater_id"].str.startswith("judge"), "judge", "human")
    frame["system_a"] = "atlas"
    return frame


def made_gym(topics: int = 30, seed: int = 6) -> pd.DataFrame:
    """One pair of three systems a topic, named in either order, three annotators; two judges score every report."""
    rng, systems = np.random.default_rng(seed), ("atlas", "borealis", "cirrus")
    rows: list[tuple[object, ...]] = []
    for topic in range(topics):
        truth = dict(zip(systems, rng.normal(5, 2, 3), strict=True))
        a, b = rng.permutation(systems)[:2]
        for rater in ("ann1", "ann2", "ann3"):
            label = "A" if truth[a] - truth[b] + rng.normal(0, 1.5) > 0 else "B"
            label = "tie" if rng.random() < 0.05 else label
            rows.append((f"p{topic:02}", rater, "human", "overall", label, f"t{topic:02}", a, b))
        for judge in ("mini", "large"):
            for system in systems:
                for criterion in ("clarity", "recall"):
                    if rng.random() < 0.95:
                        score = int(np.clip(round(truth[system] + rng.normal(0, 1)), 0, 10))
                        name = f"{system}{topic:02}"
                        rows.append((name, judge, "judge", criterion, str(score), f"t{topic:02}", system, ""))
    names = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b"]
    return pd.DataFrame(rows, columns=names)


def made_topics(topics: int = 24, seed: int = 4) -> pd.DataFrame:
    """Four systems and two criteria a topic, three annotators and a judge, some answers missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(topics):
        for place, system in enumerate("wxyz"):
            truth = rng.normal(5 + place / 3, 1)
            for rater in ("ann1", "ann2", "ann3", "judge-x"):
                for criterion in ("insight", "readability"):
                    if rater in ("ann1", "ann2") or rng.random() < 0.96:
                        score = round(float(np.clip(truth + rng.normal(0, 1.2), 0, 10)))
                        rows.append((f"{system}{topic:02}", rater, criterion, score, f"t{topic:02}", system))
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "criterion", "label", "cluster_id", "system_a"])
    return frame.assign(rater_kind=np.where(frame["rater_id"] == "judge-x", "judge", "human"))


def joined(frame: pd.DataFrame, rater: str, others: list[str]) -> pd.DataFrame:
    """The comparisons of one rater with others by plain pandas: columns a, b, cluster, weight (1 / passes of `rater`)."""
    mine = frame[frame["rater_id"] == rater]
    passes = mine.groupby(["item_id", "criterion"])["label"].transform("size")
    mine = mine.assign(weight=1 / passes)
    theirs = frame[frame["rater_id"].isin(others) & (frame["rater_id"] != rater)]
    both = mine.merge(theirs, on=["item_id", "criterion"], suffixes=("_a", "_b"))
    return pd.DataFrame(
        {"a": both["label_a"], "b": both["label_b"], "cluster": both["cluster_id_a"], "weight": both["weight"]}
    )

"""What the tests of rankings share: tables of verdicts on pairs of systems, by hand and by chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

SWAP = {"A": "B", "B": "A"}
SYSTEMS = ("atlas", "borealis", "cirrus")


def verdicts(rows: Iterable[tuple[str, str, str, str, str]]) -> pd.DataFrame:
    """Rows topic, rater, system_a, system_b, label; one item for every topic and pair. Judges are called judge..."""
    frame = pd.DataFrame(list(rows), columns=["cluster_id", "rater_id", "system_a", "system_b", "label"])
    frame["item_id"] = frame["cluster_id"] + "|" + frame["system_a"] + "|" + frame["system_b"]
    frame["rater_kind"] = np.where(frame["rater_id"].str.startswith("judge"), "judge", "human")
    frame["criterion"] = "better"
    return frame


def drawn_study(
    topics: int = 12, seed: int = 1, labelled: int | None = None, systems: Sequence[str] = SYSTEMS
) -> pd.DataFrame:
    """Every pair of systems in every topic, by two annotators (in the first `labelled` topics) and two judges."""
    rng = np.random.default_rng(seed)
    strength = dict(zip(systems, np.linspace(0.8, -0.8, len(systems)), strict=True))
    rows = []
    for topic in range(topics):
        for i, one in enumerate(systems):
            for other in systems[i + 1 :]:
                a, b = (one, other) if rng.random() < 0.5 else (other, one)
                for rater in ("ann1", "ann2", "judge-x", "judge-y"):
                    if rater.startswith("judge") or topic < (topics if labelled is None else labelled):
                        p = 1 / (1 + np.exp(strength[b] - strength[a]))
                        label = "tie" if rng.random() < 0.2 else "A" if rng.random() < p else "B"
                        rows.append((f"t{topic:02}", rater, a, b, label))
    return verdicts(rows)


def turned(frame: pd.DataFrame, items: set[str]) -> pd.DataFrame:
    """The same study with A and B exchanged in these items."""
    out, here = frame.copy(), frame["item_id"].isin(items)
    out.loc[here, "label"] = out.loc[here, "label"].replace(SWAP)
    out.loc[here, ["system_a", "system_b"]] = out.loc[here, ["system_b", "system_a"]].to_numpy()
    return out

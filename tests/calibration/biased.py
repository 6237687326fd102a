"""What the tests of biases share: small tables of verdicts written by hand, and renaming A and B."""

from __future__ import annotations

import numpy as np
import pandas as pd

SWAP = {"A": "B", "B": "A", "AB": "BA", "BA": "AB"}


def verdict(item: int, rater: str, label: str, **given: object) -> dict[str, object]:
    """One row; one item to a cluster unless `cluster_id` says otherwise. `label` "" is an invalid answer."""
    kind = "judge" if rater.startswith("judge") else "human"
    row = {
        "item_id": f"i{item:03}", "rater_id": rater, "rater_kind": kind, "criterion": "c", "label": label,
        "cluster_id": f"t{item:03}", "system_a": "x", "system_b": "y", "presentation": "", "run": 1,
        "len_a": np.nan, "len_b": np.nan, "status": "ok" if label else "invalid", "rationale": "",
    }  # fmt: skip
    return row | given


def renamed(frame: pd.DataFrame, items: set[str]) -> pd.DataFrame:
    """The same study with A and B exchanged in these items: labels, systems, lengths and presentations."""
    out = frame.copy()
    here = out["item_id"].isin(items)
    for name in ("label", "presentation"):
        out.loc[here, name] = out.loc[here, name].replace(SWAP)
    for one, two in (("system_a", "system_b"), ("len_a", "len_b")):
        out.loc[here, [one, two]] = frame.loc[here, [two, one]].to_numpy()
    return out

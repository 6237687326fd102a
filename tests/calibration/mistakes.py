"""Tables small enough to be read as they stand: one string of labels for each rater, one letter for each item."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

LABELS = {"t": ("tie", "ok"), "n": ("not_applicable", "ok"), "-": ("", "invalid")}
SIDES = ("AB", "BA")


def table(raters: Mapping[str, str], per_cluster: int = 1, shown: str = "", **columns: object) -> pd.DataFrame:
    """Pairs of the systems x (A) and y (B), or ratings where letters are digits; raters called judge... are judges.

    `A`, `B`, t(ie), n(ot applicable), - (unusable), and . where the rater has no row. `per_cluster`: items in each
    cluster. `shown`: the presentation of every row, "" for AB and BA by turns. `columns`: the same in every row.
    """
    rows = []
    for rater, letters in raters.items():
        for item, letter in enumerate(letters):
            if letter != ".":
                label, status = LABELS.get(letter, (letter, "ok"))
                rows.append((rater, f"i{item:02}", f"t{item // per_cluster:02}", label, status, SIDES[item % 2]))
    frame = pd.DataFrame(rows, columns=["rater_id", "item_id", "cluster_id", "label", "status", "presentation"])
    frame["rater_kind"] = frame["rater_id"].str.startswith("judge").map({True: "judge", False: "human"})
    frame["criterion"], frame["system_a"], frame["system_b"] = "c", "x", "y"
    if frame["label"].str.isdigit().any():
        frame["system_b"] = frame["presentation"] = ""
    if shown:
        frame["presentation"] = shown
    return frame.assign(**columns)


def asked_twice(frame: pd.DataFrame, rater: str, again: str) -> pd.DataFrame:
    """With one rater's second answers, in the other order of presentation, to the items in their order."""
    more = frame[frame["rater_id"] == rater].sort_values("item_id")
    labels = [LABELS.get(letter, (letter, "ok"))[0] for letter in again]
    more = more.assign(presentation=more["presentation"].map(dict(zip(SIDES, SIDES[::-1], strict=True))), label=labels)
    return pd.concat([frame, more], ignore_index=True)

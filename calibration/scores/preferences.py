"""Preferences that nobody stated: which of two reports a rater scored higher."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.reading.checking import check_verdicts
from calibration.verdicts import kind_of

SAME_SCORE = 1e-9
GIVEN = ["cluster_id", "rater_id", "criterion", "run"]


def preferences_from_scores(verdicts: pd.DataFrame, margin: float = 0.0) -> pd.DataFrame:
    """Verdicts A, B or tie of every pair of systems in a topic, by the sign of the difference of a rater's scores.

    `verdicts`: ratings of single reports (`labels.csv`); the topic is `cluster_id`. A tie is a difference within
    `margin`. Who is A is decided by a coin made of topic and names. The rows are marked `derived`, so that `calibrate`
    counts them and says so; a pair with an unusable score keeps that score's status. Raises `not_scores`,
    `one_system_only`, `duplicate_verdict`, `bad_number`. DeepResearchGym and DeepResearch Bench compare so.
    """
    if not 0 <= margin < np.inf:
        raise CalibrationError("bad_number", f"margin is {margin}; use a number from 0")
    checked = check_verdicts(verdicts)
    frame = checked.astype({name: "str" for name in checked.columns if checked[name].dtype == "category"})
    frame = frame[frame["criterion"].isin(_rated(frame))]
    if frame.empty:
        raise CalibrationError("not_scores", "no criterion holds numbers; give the ratings of single reports")
    _refuse_doubles(frame)
    both = frame.merge(frame, on=GIVEN, suffixes=("_x", "_y"))
    both = both[both["system_a_x"] < both["system_a_y"]].reset_index(drop=True)
    heads = [_heads(*names) for names in both[["cluster_id", "system_a_x", "system_a_y"]].itertuples(index=False)]
    a_is_x = np.array(heads, dtype=bool)
    higher = np.where(a_is_x, "A", "B"), np.where(a_is_x, "B", "A")
    x, y = (pd.to_numeric(both[f"label_{side}"], errors="coerce").to_numpy(float) for side in "xy")
    tied = np.abs(x - y) <= margin + SAME_SCORE
    label = np.where(tied, "tie", np.where(x > y, *higher))
    spared = (both["label_x"] == "not_applicable") | (both["label_y"] == "not_applicable")
    status = both["status_x"].where(both["status_x"] != "ok", both["status_y"])
    out = pd.DataFrame(
        {
            "item_id": both["cluster_id"] + ": " + both["system_a_x"] + " / " + both["system_a_y"],
            **{name: both[name] for name in GIVEN},
            "rater_kind": both["rater_kind_x"],
            "label": np.where(status != "ok", "", np.where(spared, "not_applicable", label)),
            "status": status,
            "system_a": np.where(a_is_x, both["system_a_x"], both["system_a_y"]),
            "system_b": np.where(a_is_x, both["system_a_y"], both["system_a_x"]),
            "category": both["category_x"],
        }
    )
    return out.assign(derived=True)


def _rated(frame: pd.DataFrame) -> list[str]:
    ok = frame[(frame["status"] == "ok") & (frame["system_b"] == "")]
    return [str(name) for name, rows in ok.groupby("criterion") if kind_of(rows["label"].unique()) == "rating"]


def _refuse_doubles(frame: pd.DataFrame) -> None:
    nameless = frame[frame["system_a"] == ""]
    if len(nameless):
        row = nameless.iloc[0]
        raise CalibrationError(
            "one_system_only",
            f"item '{row['item_id']}' has no system_a; a preference needs to know whose report was scored",
        )
    doubled = frame[frame.duplicated([*GIVEN, "system_a"])]
    if len(doubled):
        row = doubled.iloc[0]
        raise CalibrationError(
            "duplicate_verdict",
            f"rater '{row['rater_id']}' scored two reports of '{row['system_a']}' in cluster '{row['cluster_id']}' on "
            f"'{row['criterion']}'; make cluster_id the topic, or number repeats in the column run",
        )


def _heads(topic: str, one: str, two: str) -> bool:
    """A coin that falls the same way for the same topic and pair of systems, whatever the order of rows."""
    return hashlib.sha256(f"{topic}|{one}|{two}".encode()).digest()[0] % 2 == 0

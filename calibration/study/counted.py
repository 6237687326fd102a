"""What a report says of its data beside estimates: its groups, what a cluster is, scale levels, derived preferences."""

from typing import Any

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study import bounding, joining
from calibration.table.verdicts import SYSTEM_PAIR


def groups_of(study: joining.Study, settings: CalibrationSettings, pooled: bool) -> list[bounding.Group]:
    """Everything, then on request each criterion, each category of topics and each pair of systems.

    `pooled`: whether the criteria share one scale; where they do not, each is reported by itself.
    """
    out = [bounding.Group(study.criteria, "all", "all", np.ones(study.units, dtype=bool))]
    if (settings.per_criterion or not pooled) and len(study.criteria) > 1:
        for index, name in enumerate(study.criteria):
            out.append(bounding.Group((name,), name, "all", study.unit_criterion == index))
    if settings.per_category and len(study.categories) > 1:
        for index, name in enumerate(study.categories):
            out.append(bounding.Group(study.criteria, "all", name or "(none)", study.unit_category == index))
    pairs = np.unique(study.unit_systems[study.unit_systems >= 0])
    if settings.per_system_pair and len(pairs) > 1:
        for pair in pairs:
            one, two = (study.systems[place] for place in divmod(int(pair), len(study.systems)))
            out.append(bounding.Group(study.criteria, "all", f"{SYSTEM_PAIR}{one}, {two}", study.unit_systems == pair))
    return out


USD = "USD"


def currency_of(frame: pd.DataFrame) -> str:
    """The code of what `cost_usd` counts: USD where the column `currency` says nothing. Raises `two_currencies`."""
    if "currency" not in frame:
        return USD
    priced = frame[frame["cost_usd"].notna()]
    found = sorted({str(code).upper() or USD for code in priced["currency"].unique()})
    if len(found) > 1:
        raise CalibrationError(
            "two_currencies",
            "prices stand in {found}; write all in one currency first, and its code in the column currency",
            found=", ".join(found),
        )
    return found[0] if found else USD


def refuse_lonely(study: joining.Study) -> None:
    """Raises `no_usable_label`, `one_rater`, and `no_shared_items` where no two were asked the same thing."""
    frame = study.frame
    if not (frame["status"] == "ok").any():
        raise CalibrationError(
            "no_usable_label",
            "none of the {frame:,} rows holds a usable answer (their status is {status}); add the labels that were "
            "read", frame=len(frame), status=", ".join(sorted(set(frame['status'].astype(str)))),
        )  # fmt: skip
    rater = frame["rater_id"].cat.codes.to_numpy()
    row = frame.iloc[0]
    if (rater == rater[0]).all():
        raise CalibrationError(
            "one_rater",
            "every row is of rater '{rater_id}' (item '{item_id}' among them); agreement needs two raters, add the "
            "labels of an annotator or of a judge", rater_id=row['rater_id'], item_id=row['item_id'],
        )  # fmt: skip
    first = np.unique(frame["unit"].to_numpy(), return_index=True)[1]  # of each unit its first row
    if (rater == rater[first][frame["unit"].to_numpy()]).all():
        raise CalibrationError(
            "no_shared_items",
            "{frame} of {frame} rows find no partner: no two raters share an item and criterion (first: item "
            "'{item_id}', criterion '{criterion}', rater '{rater_id}'); check that item_id and criterion are spelt "
            "alike for all raters", frame=len(frame), item_id=row['item_id'], criterion=row['criterion'],
            rater_id=row['rater_id'],
        )  # fmt: skip


def cluster_word(frame: pd.DataFrame) -> str:
    """What a cluster is: `item` where every cluster_id is its item's own id, else `topic`."""
    cluster, item = frame["cluster_id"].cat, frame["item_id"].cat
    place = {text: place for place, text in enumerate(cluster.categories)}
    same = np.array([place.get(text, -1) for text in item.categories], np.intp)
    return "item" if (same[item.codes] == cluster.codes.to_numpy()).all() else "topic"


def levels_used(study: joining.Study) -> dict[str, dict[str, int]]:
    """How many different scores each rater gave on each rated criterion."""
    frame = study.frame
    if "rating" not in study.kinds.values():
        return {}
    rated = frame["criterion"].map(study.kinds).astype(str) == "rating"
    rows = frame[rated & (frame["status"] == "ok") & (frame["label"] != "not_applicable")]
    found: dict[str, dict[str, int]] = {}
    for (rater, criterion), labels in rows.groupby(["rater_id", "criterion"], observed=True)["label"]:
        found.setdefault(str(rater), {})[str(criterion)] = int(labels.nunique())
    return found


def derived_preferences(frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Of each rater, the verdicts made of scores, and how many of them are ties; empty where all were stated."""
    if "derived" not in frame.columns:
        return {}
    made = frame[frame["derived"].astype(str).str.lower().isin(["true", "1", "1.0"]) & (frame["status"] == "ok")]
    by_rater: dict[str, dict[str, Any]] = {}
    for rater, labels in made.groupby("rater_id", observed=True)["label"]:
        by_rater[str(rater)] = {"verdicts": len(labels), "ties": int((labels == "tie").sum())}
    return by_rater

"""Criteria that judges alone answered: nobody can be compared there, and another kind pools with nothing."""

from __future__ import annotations

import pandas as pd

from calibration.table.verdicts import kind_of
from plain.counting import counted

NEEDED = {"criterion", "rater_kind", "label"}


def without_unasked(labels: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The labels without criteria that no person answered and that are of another kind than what people did, told.

    All stay where people's answers are of several kinds, or of pairs, for which scores of the two say who is better.
    """
    if not {*labels} >= NEEDED or ("system_b" in labels and labels["system_b"].astype("str").str.strip().any()):
        return labels, ()
    given = labels[[*NEEDED]].drop_duplicates().dropna().astype("str")
    given = given[given["label"].str.strip() != ""]
    kinds = {str(name): kind_of(words) for name, words in given.groupby("criterion")["label"]}
    asked = {*given.loc[given["rater_kind"] == "human", "criterion"]}
    own = {kinds[name] for name in asked}
    gone = [name for name in kinds if name not in asked and kinds[name] not in own]
    if len(own) != 1 or "pairwise" in own or not gone:
        return labels, ()
    rows = labels["criterion"].astype("str").isin(gone)
    named = ", ".join(f"{name} ({counted(int(rows[labels['criterion'] == name].sum()), 'row')})" for name in gone)
    told = f"left out, for no person answered it and it is of another kind than what people did: {named}"
    return labels[~rows].reset_index(drop=True), (told,)

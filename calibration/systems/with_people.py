"""A rater's verdicts on pairs beside those of the people: one row for each annotator and unit that both answered."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.bias import rows_of
from calibration.engine.joining import Study
from calibration.scores.pairwise import SCORES
from calibration.verdicts import PAIRWISE

SCORE = dict(zip(PAIRWISE, SCORES, strict=True))


def with_people(study: Study, rater: str) -> pd.DataFrame:
    """`rater` against every other annotator, on pairwise criteria.

    Columns: unit, cluster, `own` and `people` (win score of A, 1, .5 or 0, the mean over passes), `decided` (the mean
    over the rater's passes that name a winner, nan where none does), system_a, system_b, len_a, len_b. Rows stand in
    the order of units, then annotators, whatever the order of the table was.
    """
    frame = _scored(study, study.frame)
    own = _scored(study, rows_of(study, rater))
    people = frame[(frame["rater_kind"] == "human") & (frame["run"] == 1) & (frame["rater_id"] != rater)]
    mine = own.groupby("unit")["score"].mean().rename("own").to_frame()
    mine["decided"] = own[own["score"] != 0.5].groupby("unit")["score"].mean()
    theirs = (
        people.groupby(["unit", "rater_id"], observed=True)["score"].mean().rename("people").reset_index("rater_id")
    )
    both = theirs.join(mine, how="inner").reset_index()
    items = study.frame.drop_duplicates("unit").set_index("unit")[["item_id", "system_a", "system_b"]]
    both = both.join(items.astype("str"), on="unit")
    # the shown texts are the same for all, so a length that any row gives is that of all
    lengths = study.frame.groupby("item_id", observed=True)[["len_a", "len_b"]].mean()
    both = both.join(lengths.set_axis(lengths.index.astype("str")), on="item_id")
    return both.assign(cluster=study.unit_cluster[both["unit"].to_numpy(np.intp)])


def _scored(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    label = rows["label"].astype("category").cat
    of_category = pd.Series(label.categories.astype("str")).map(SCORE).to_numpy(float)
    score = np.append(of_category, np.nan)[label.codes]  # the code of no label is -1
    usable = study.of_kind(rows, "pairwise") & (rows["status"] == "ok")
    kept = np.asarray(usable, bool) & ~np.isnan(score)
    found: pd.DataFrame = rows.loc[kept, ["unit", "rater_id", "rater_kind", "run"]]
    return found.assign(score=score[kept])

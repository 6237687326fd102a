"""A rater's verdicts on pairs beside those of the people: one row for each annotator and unit that both answered."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Study
from calibration.reading.columns import tally
from calibration.scores.pairwise import SCORES
from calibration.verdicts import PAIRWISE

SCORE = dict(zip(PAIRWISE, SCORES, strict=True))


def with_people(study: Study, rater: str) -> pd.DataFrame:
    """`rater` against every other annotator, on pairwise criteria.

    Columns: unit, cluster, `own` and `people` (win score of A, 1, .5 or 0, the mean over passes), `decided` (the mean
    over the rater's passes that name a winner, nan where none does), system_a, system_b, len_a, len_b. Rows stand in
    the order of units, then annotators, whatever the order of the table was.
    """
    frame, score = study.frame, _scores(study)
    unit, who = frame["unit"].to_numpy(np.intp), frame["rater_id"].cat.codes.to_numpy().astype(np.intp)
    usable, first_run = ~np.isnan(score), (frame["run"] == 1).to_numpy()
    human, is_rater = (frame["rater_kind"] == "human").to_numpy(), (frame["rater_id"] == rater).to_numpy()
    mine = usable & (human if rater == EVERYONE else is_rater) & (~human | first_run)
    own = _mean_of(unit[mine], score[mine], study.units)
    named = mine & (score != 0.5)
    decided = _mean_of(unit[named], score[named], study.units)
    theirs = usable & human & first_run & ~is_rater & ~np.isnan(own[unit])
    raters = len(frame["rater_id"].cat.categories)
    met, place = np.unique(unit[theirs] * raters + who[theirs], return_inverse=True)
    pair = met // raters
    # the rows of a unit stand together
    shown = frame[["item_id", "system_a", "system_b"]].iloc[np.searchsorted(unit, pair)].reset_index(drop=True)
    item = shown.pop("item_id").cat.codes.to_numpy()
    return shown.astype("str").assign(
        unit=pair, cluster=study.unit_cluster[pair], own=own[pair], decided=decided[pair],
        people=_mean_of(place, score[theirs], len(met)),
        **{name: _of_items(frame, name)[item] for name in ("len_a", "len_b")},
    )  # fmt: skip


def _scores(study: Study) -> Array:
    """The win score of A of each row, nan where it is no usable label of a pair."""
    frame = study.frame
    label = frame["label"].astype("category").cat
    of_category = pd.Series(label.categories.astype("str")).map(SCORE).to_numpy(float)
    score = np.append(of_category, np.nan)[label.codes]  # the code of no label is -1
    usable = study.of_kind(frame, "pairwise") & (frame["status"] == "ok")
    return np.where(usable, score, np.nan)


def _mean_of(group: np.typing.NDArray[np.intp], values: Array, groups: int) -> Array:
    """Of the values of each group; nan where it has none."""
    return ratio(tally(group, groups, values), tally(group, groups))


def _of_items(frame: pd.DataFrame, name: str) -> Array:
    """The shown texts are the same for all, so a length that any row gives is that of all."""
    length, item = frame[name].to_numpy(float), frame["item_id"].cat
    known = ~np.isnan(length)
    return _mean_of(item.codes.to_numpy().astype(np.intp)[known], length[known], len(item.categories))

"""Answers that came with a confidence, joined with the annotators' answers: stated, or the share of votes.

A rater's own confidence is the column `confidence`: levels 1 to 5, or a panel's share of votes, 0 to 1. The answers of
a judge that was asked one question several times are votes: more than half of them decide, their share is the
confidence, and no majority is no answer, so it is neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from calibration.engine.closed_forms import Array
from calibration.engine.joining import MANY_LABELS, Study
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes
from calibration.settings import CalibrationSettings

STATED, VOTES = "stated", "votes"
OF_VOTES = "_of_votes"  # ends the name of every statistic of votes
FIFTHS, SHARE = "fifths", "share"
HIGHEST = 5  # of the levels a rater is asked for
FEWEST_VOTES = 3  # on one question; two can only be unanimous or split
NOBODY = np.zeros(0, np.intp)


@dataclass(frozen=True)
class Sureness:
    """Comparisons with the reference, one per row: how sure the rater was, and whether the reference said the same.

    `p`, `right`, `weight`: shape (rows,); a rater's passes over one question weigh one together. `scale`: `fifths`, a
    level c of 1-5 read as c / 5, or `share`. `undecided`, `voted`: the cluster of each question without a majority, and
    of each that was voted on. `silent`: usable answers without a confidence.
    """

    rater: str
    reference: str
    source: str  # stated or votes
    scale: str
    p: Array
    right: Array
    weight: Array
    cluster: Codes
    silent: int = 0
    undecided: Codes = field(default_factory=lambda: NOBODY)
    voted: Codes = field(default_factory=lambda: NOBODY)


def surenesses(study: Study, settings: CalibrationSettings) -> Iterator[Sureness]:
    """Each judge's stated confidence and its votes, then the people's; nothing where nobody has either.

    A rating is right where the reference gives the same, on scales of up to 25 levels; ratings are no votes. Raises
    `bad_confidence` where one rater's values are of two scales.
    """
    frame = study.frame
    if "confidence" not in frame and frame["run"].max() < 2:
        return
    rows = usable_rows(study, settings)
    people = rows[rows["human"] & (rows["run"] == 1)]
    found = []
    for rater, own in rows[~rows["human"]].groupby("rater_id", observed=True, sort=True):
        found += [*_stated(study, str(rater), own, people), *_votes(study, str(rater), own, people)]
    found += _stated(study, "each_annotator", people, people)
    if found:
        found += _votes_of_others(study, people)
    yield from (one for one in found if len(one.p) or len(one.voted))


def usable_rows(study: Study, settings: CalibrationSettings) -> pd.DataFrame:
    """The rows that may be right or wrong. `asked`: how often this rater was asked this question."""
    frame = study.frame
    rows = frame[["unit", "rater_id", "run"]].assign(
        label=frame["label"].cat.codes.to_numpy(),
        human=(frame["rater_kind"] == "human").to_numpy(),
        rating=study.of_kind(frame, "rating"),
        confidence=frame.get("confidence", np.nan),
        asked=frame.groupby(["rater_id", "unit"], observed=True)["unit"].transform("size"),
    )
    ok = frame["status"] == "ok"
    levels = frame[ok].groupby("criterion", observed=True)["label"].nunique()
    fine = [name for name, count in levels.items() if count > MANY_LABELS and study.kinds[str(name)] == "rating"]
    ok &= ~frame["criterion"].isin(fine)
    if settings.not_applicable == "drop":
        ok &= frame["label"] != "not_applicable"
    return rows[ok]


def _stated(study: Study, rater: str, own: pd.DataFrame, people: pd.DataFrame) -> Iterator[Sureness]:
    """What the rater said of itself; of people each against the others."""
    frame, human = study.frame, own is people
    if "confidence" not in frame:
        return
    rows = frame[(frame["rater_kind"] == "human") if human else (frame["rater_id"] == rater)]
    scale = _scale(rater, rows["confidence"].dropna().to_numpy(), human)
    if not scale:
        return
    given = own[own["confidence"].notna()]
    passes = given.groupby(["rater_id", "unit"], observed=True)["unit"].transform("size")
    claimed = given["confidence"] / (HIGHEST if scale == FIFTHS else 1)
    open_ones = rows.loc[(rows["status"] == "missing") & rows["confidence"].notna(), "unit"]
    undecided = open_ones.to_numpy() if scale == SHARE and not human else NOBODY
    voted = np.union1d(undecided, given["unit"]) if scale == SHARE and not human else NOBODY
    yield _compared(
        study, rater, STATED, scale, given.assign(p=claimed, weight=1 / passes), people, len(own) - len(given),
        undecided, voted,
    )  # fmt: skip


def _scale(rater: str, values: Array, human: bool) -> str:
    """`fifths` where any value is above 1, else `share`; "" for no values. People who only say 1 are unsure, while a
    panel whose votes never split has 1 throughout."""
    if not len(values):
        return ""
    if values.max() <= 1 and not (human and values.min() == 1):
        return SHARE
    odd = values[(values % 1 != 0) | (values < 1) | (values > HIGHEST)]
    if len(odd):
        beside = f" here and {values.max():g} elsewhere" if odd[0] < values.max() else ""
        raise CalibrationError(
            "bad_confidence",
            f"confidence of {rater} is {odd[0]:g}{beside}; write whole levels 1 to "
            f"{HIGHEST}, or shares from 0 to 1, and one of the two for each rater",
        )
    return FIFTHS


def _votes(study: Study, rater: str, own: pd.DataFrame, people: pd.DataFrame) -> Iterator[Sureness]:
    """The majority of a judge's answers to each question it was asked at least three times, over orders and repeats.

    A quorum of half of what was asked; what could not be read is no vote.
    """
    cast = own[~own["rating"] & (own["asked"] >= FEWEST_VOTES)]
    if cast.empty:
        return
    count = cast.groupby(["unit", "label"], observed=True).agg(votes=("asked", "size"), asked=("asked", "first"))
    count = count.reset_index().sort_values(["unit", "votes"], kind="stable")
    count["valid"] = count.groupby("unit")["votes"].transform("sum")
    top = count.drop_duplicates("unit", keep="last")
    top = top[(2 * top["valid"] >= top["asked"]) & (top["valid"] > 1)]
    top = top.assign(p=top["votes"] / top["valid"], weight=1.0)
    decided = top["p"] > 0.5
    units = top["unit"].to_numpy()
    yield _compared(
        study, rater, VOTES, SHARE, top[decided], people, 0, units[~decided.to_numpy()], units
    )  # fmt: skip


def _votes_of_others(study: Study, people: pd.DataFrame) -> Iterator[Sureness]:
    """The majority of the other annotators, three at least, against each annotator: what votes of people are worth."""
    cast = people[~people["rating"]]
    passes = cast.groupby(["rater_id", "unit"], observed=True)["unit"].transform("size")
    cast = cast.assign(weight=1 / passes)[["unit", "label", "rater_id", "weight"]]
    own = cast.reset_index(names="row")
    pairs = own.merge(cast, on="unit", suffixes=("", "_other"))
    pairs = pairs[pairs["rater_id"].astype(object) != pairs["rater_id_other"].astype(object)]
    count = pairs.groupby(["row", "label_other"], observed=True)["weight_other"].sum().rename("votes").reset_index()
    count["valid"] = count.groupby("row")["votes"].transform("sum")
    top = count.sort_values(["row", "votes"], kind="stable").drop_duplicates("row", keep="last").set_index("row")
    top = top[(top["valid"] > FEWEST_VOTES - 0.5) & (2 * top["votes"] > top["valid"] + 1e-9)]
    if top.empty:
        return
    held = cast.loc[top.index]
    yield Sureness(
        "each_annotator", "others", VOTES, SHARE, (top["votes"] / top["valid"]).to_numpy(),
        (top["label_other"].to_numpy() == held["label"].to_numpy()).astype(float), held["weight"].to_numpy(),
        study.unit_cluster[held["unit"].to_numpy()],
    )  # fmt: skip


def _compared(
    study: Study,
    rater: str,
    source: str,
    scale: str,
    own: pd.DataFrame,
    people: pd.DataFrame,
    silent: int,
    undecided: Codes,
    voted: Codes,
) -> Sureness:
    """`own` (unit, label, p, weight) beside every annotator's answer to the same question, but one's own."""
    passes = people.groupby(["rater_id", "unit"], observed=True)["unit"].transform("size")
    theirs = people[["unit", "label", "rater_id"]].assign(share=1 / passes)
    rows = own.merge(theirs, on="unit", suffixes=("", "_theirs"))
    among = rater == "each_annotator"
    if among:
        rows = rows[rows["rater_id"].astype(object) != rows["rater_id_theirs"].astype(object)]
    return Sureness(
        rater, "others" if among else "each_annotator", source, scale, rows["p"].to_numpy(float),
        np.asarray(rows["label"] == rows["label_theirs"], float), (rows["weight"] * rows["share"]).to_numpy(float),
        study.unit_cluster[rows["unit"].to_numpy()], silent, study.unit_cluster[undecided], study.unit_cluster[voted],
    )  # fmt: skip

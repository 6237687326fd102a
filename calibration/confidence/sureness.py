"""How sure a judge is of its answers, joined with the annotators' answers: by its votes, or as it states.

A rater's own confidence is the column `confidence`: levels 1 to 5, or a panel's share of votes, 0 to 1. The answers of
a judge that was asked one question several times are votes: more than half of them decide, their share is the
confidence, and no majority is no answer, so it is neither right nor wrong.

How sure a judge is of each item is how far its answers agree, then the confidence it states. Of a judge that answered
once and states none it is how far the other judges agree with it, and of a cascade whether the orders of the judge that
begins it settled the item.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.agreement.agreeing import consistent_units
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study.crossing import votes
from calibration.study.joining import MANY_LABELS, Answers, Mask, Scale, Study
from calibration.table.verdicts import BOTH_ORDERS

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
            "confidence of {rater} is {odd:g}{beside}; write whole levels 1 to {highest}, or shares from 0 to 1, and "
            "one of the two for each rater", rater=rater, odd=odd[0], beside=beside, highest=HIGHEST,
        )  # fmt: skip
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


ANSWERS, CONFIDENCE, OTHERS, FIRST = "answers", "confidence", "others", "first"
DIGITS = 6  # to which shares are told apart
THEN, PANEL = " then ", " [panel]"  # in the name of a cascade, at the end of a panel's: no judges of their own
NEVER = -1


@dataclass(frozen=True)
class JudgeVerdicts:
    """What one judge makes of each unit of its answers. Arrays have shape (units,), `verdict` (units, K).

    A label that more than half of its answers give is its verdict; without one it is a tie where labels are choices
    between two reports and every answer is usable. All zero: no verdict. `agree`: the share of the most answers it gave
    anywhere that say so. `open`: asked, without a verdict; where it says not applicable nothing is open.
    """

    judge: str
    verdict: Array
    agree: Array
    open: Mask
    most: int


@dataclass(frozen=True)
class ItemSureness:
    """One judge's items. `level`: shape (items,), the higher the surer, `NEVER` where some label has no verdict.

    `agree`, `confidence`: means over the labels of an item, 0 to 1, and `usd`, the price of all answers used, nan where
    any is unknown, and `usd_left`, the same of an item left to people, which a cascade's first judge alone has read;
    shape (items,). `item`: its place in the study's names; `cluster`: of each item. `by`: what tells items apart, of
    `answers`, `confidence`, `others` and, of a cascade, `first`; nothing: all are alike.
    """

    judge: str
    by: tuple[str, ...]
    item: Codes
    cluster: Codes
    level: npt.NDArray[np.intp]
    agree: Array
    confidence: Array
    usd: Array
    usd_left: Array
    verdict: Array  # of each unit, shape (units, K)
    unit_item: Codes  # of each unit of the study, shape (units,)


def item_surenesses(study: Study, scale: Scale) -> list[ItemSureness]:
    """Of every judge that was asked, panels and cascades among them."""
    found = [judge_verdicts(study, judge, scale) for judge in study.judges if not judge.rater.endswith(BOTH_ORDERS)]
    return [_of_items(study, one, [other for other in found if _is_other(other, one)]) for one in found]


def _is_other(one: JudgeVerdicts, than: JudgeVerdicts) -> bool:
    """Whether one judge's agreement tells how sure the other is.

    Of a panel whose votes never split no member tells anything, and all are paid with it: judges that never differ.
    """
    if one is than or THEN in one.judge + than.judge or one.judge.endswith(PANEL):
        return False
    both = one.verdict.any(axis=1) & than.verdict.any(axis=1)
    return not than.judge.endswith(PANEL) or not np.array_equal(one.verdict[both], than.verdict[both])


def judge_verdicts(study: Study, judge: Answers, scale: Scale) -> JudgeVerdicts:
    """The verdicts of one judge of the study."""
    asked = tally(study.frame["unit"].to_numpy()[_rows(study, judge.rater)], study.units)
    usable = tally(judge.unit, study.units)
    shares = votes([judge], scale, study.units, judge.scale) / judge.scale
    given = np.rint(shares * usable[:, None])
    top = given.max(axis=1)
    decided, split = 2 * top > asked, (asked > 0) & (usable == asked) & (scale.kind == "pairwise")
    label = np.where(decided, given.argmax(axis=1), 1)  # 1: tie, the second of a pairwise scale
    has = (asked > 0) & (decided | split)
    verdict = np.zeros_like(shares)
    verdict[has, label[has]] = 1.0
    most = int(asked.max(initial=0))
    spared = study.among(judge.not_applicable)
    return JudgeVerdicts(judge.rater, verdict, top / max(1, most), (asked > 0) & ~has & ~spared, most)


def unit_items(study: Study) -> Codes:
    """The item of each unit, as its place among the study's names; shape (units,)."""
    items = np.zeros(study.units, np.intp)
    items[study.frame["unit"].to_numpy()] = study.frame["item_id"].cat.codes.to_numpy()
    return items


def _of_items(study: Study, own: JudgeVerdicts, others: Sequence[JudgeVerdicts]) -> ItemSureness:
    items, stated = unit_items(study), _confidence(study, own.judge)
    told = own.verdict.any(axis=1)
    by = [ANSWERS] * (own.most > 1) + [CONFIDENCE] * (len(np.unique(stated[told])) > 1)
    agree = own.agree
    settled = _settled(study, own.judge)
    if settled is not None:
        by, agree, stated = [FIRST], settled.astype(float), np.zeros(study.units)
    elif not by and others:
        by, agree = [OTHERS], np.mean([(own.verdict * other.verdict).sum(axis=1) for other in others], axis=0)
    item, size = np.unique(items[told | own.open]), len(study.frame["item_id"].cat.categories)
    labels = tally(items[told], size)
    agreed, sure = (ratio(tally(items[told], size, one[told]), labels)[item] for one in (agree, stated))
    whole = (labels > 0) & (tally(items[own.open], size) == 0)
    level = np.full(len(item), NEVER, np.intp)
    keys = np.round(np.stack([agreed, sure], axis=-1), DIGITS)[whole[item]]
    level[whole[item]] = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    asked = [own.judge, *[other.judge for other in others if by == [OTHERS]]]
    usd = _usd(study.frame, asked, size)[item]
    first = own.judge.partition(THEN)[0]
    left = usd if settled is None else _usd(study.frame[study.frame["run"] == 1], [first], size)[item]
    cluster = np.zeros(size, np.intp)
    cluster[items] = study.unit_cluster
    return ItemSureness(
        own.judge, tuple(by), item, cluster[item], level, agreed,
        sure, usd, left, own.verdict, items,
    )  # fmt: skip


def _settled(study: Study, judge: str) -> Mask | None:
    """Units that a cascade's first judge answered alike in both orders, shape (units,); None where it is no cascade."""
    named, first = {one.rater: one for one in study.judges}, judge.partition(THEN)[0]
    if first == judge or first not in named or f"{first}{BOTH_ORDERS}" not in named:
        return None
    return consistent_units(study, named[first], named[f"{first}{BOTH_ORDERS}"])


def _confidence(study: Study, judge: str) -> Array:
    """Mean stated confidence of each unit, 0 to 1; 0 where the judge says nothing of it. Shape (units,)."""
    frame = study.frame
    if "confidence" not in frame:
        return np.zeros(study.units)
    rows = frame[_rows(study, judge) & (frame["status"] == "ok").to_numpy()]
    given, unit = rows["confidence"].fillna(0.0).to_numpy(float), rows["unit"].to_numpy()
    highest = HIGHEST if given.max(initial=0.0) > 1 else 1
    return np.nan_to_num(ratio(tally(unit, study.units, given), tally(unit, study.units))) / highest


def _usd(frame: pd.DataFrame, judges: Sequence[str], size: int) -> Array:
    """What all rows of these judges cost for each item; nan where any is unknown."""
    rows = frame[frame["rater_id"].isin(judges)]
    return tally(rows["item_id"].cat.codes.to_numpy().astype(np.intp), size, rows["cost_usd"].to_numpy(float))


def _rows(study: Study, judge: str) -> Mask:
    return np.asarray(study.frame["rater_id"] == judge)

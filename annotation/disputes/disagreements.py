"""Which questions a judge and the annotators answer differently: one row a judge, item and criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.people.principals import Principal, study_for
from annotation.scores import scale_of
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts, shows_systems
from db.tables import Criterion, Item, Topic

KEY = ["judge", "item_id", "criterion"]
COLUMNS = (*KEY, "topic", "category", "kind", "unlike", "compared", "system_a", "system_b")
KINDS = ("hard", "soft")  # "" where all answers are alike
UNDECIDED = ("tie", "not_applicable")


@dataclass(frozen=True)
class Filters:
    """What to look at; "" is everything."""

    judge: str = ""
    criterion: str = ""
    category: str = ""
    system: str = ""
    kind: str = ""


def compare_answers(verdicts: pd.DataFrame, steps: Mapping[str, float] | None = None) -> pd.DataFrame:
    """One row for each judge, item and criterion that the judge and an annotator answered, with `COLUMNS`.

    `verdicts`: as `load_verdicts` gives them. Every usable answer of the judge (both orders, all repeats) meets every
    annotator's first one: `compared` counts these pairs, `unlike` those of different answers. `kind` is `hard` where
    two answers contradict each other (A against B, another probe answer, scores more than one step apart), `soft` where
    all that differ are a tie or not_applicable against something else, or neighbouring scores; "" where none differ.
    `steps`: criterion -> step of its scale; without one every other score is hard.
    """
    usable = verdicts[verdicts["status"] == "ok"]
    judged = usable[usable["rater_kind"] == "judge"].rename(columns={"rater_id": "judge"})
    people = usable[(usable["rater_kind"] == "human") & (usable["run"] == 1)]
    pairs = judged.merge(
        people[["item_id", "criterion", "label"]], on=["item_id", "criterion"], suffixes=("", "_human")
    )
    if pairs.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    one, other = pairs["label"], pairs["label_human"]
    unlike = one != other
    step = pairs["criterion"].map(dict(steps or {})).astype(float)
    apart = (pd.to_numeric(one, errors="coerce") - pd.to_numeric(other, errors="coerce")).abs()
    near = one.isin(UNDECIDED) | other.isin(UNDECIDED) | (apart <= step + 1e-9)
    pairs = pairs.assign(unlike=unlike, hard=unlike & ~near)
    groups = pairs.groupby(KEY, sort=False)
    first = groups[["cluster_id", "category", "system_a", "system_b"]].first()
    found = first.assign(unlike=groups["unlike"].sum(), compared=groups.size(), hard=groups["hard"].any()).reset_index()
    kind = np.select([found["hard"], found["unlike"] > 0], KINDS, default="")
    return found.rename(columns={"cluster_id": "topic"}).assign(kind=kind)[list(COLUMNS)]


def in_order(compared: pd.DataFrame) -> pd.DataFrame:
    """The same rows as `disagreements` orders them: hard ones first, then by the share that differs."""
    order = compared.assign(soft=compared["kind"] != "hard", alike=1 - compared["unlike"] / compared["compared"])
    columns = ["soft", "alike", "topic", "item_id", "criterion", "judge"]
    return order.sort_values(columns, ignore_index=True)[list(COLUMNS)]


def disagreements(compared: pd.DataFrame) -> pd.DataFrame:
    """Of `compare_answers`, the rows where answers differ: hard ones first, then by the share that differs."""
    return in_order(compared[compared["unlike"] > 0])


def narrowed(compared: pd.DataFrame, filters: Filters) -> pd.DataFrame:
    """The rows that every filter lets through."""
    keep = pd.Series(True, index=compared.index)
    for column in ("judge", "criterion", "category", "kind"):
        if wanted := getattr(filters, column):
            keep &= compared[column] == wanted
    if filters.system:
        keep &= (compared["system_a"] == filters.system) | (compared["system_b"] == filters.system)
    return compared[keep]


def compared_answers(session: Session, principal: Principal) -> pd.DataFrame:
    """The study's `compare_answers`, topics by their titles. Systems stand in it only once the study may join them
    with labels. For evaluators; raises AnnotationError `forbidden`."""
    study = study_for(session, principal, "evaluator")
    protocol = protocol_of(study)
    scales = session.execute(select(Criterion.code, Criterion.scale).where(Criterion.study_id == study.id))
    steps = {code: scale.step for code, own in scales if (scale := scale_of(protocol, own)) and scale.step}
    found = compare_answers(load_verdicts(session, study), steps)
    titles: dict[str, Any] = {
        item_code(item): title
        for item, title in session.execute(
            select(Item.id, Topic.title).join(Topic, Topic.id == Item.topic_id).where(Item.study_id == study.id)
        )
    }
    found = found.assign(topic=found["item_id"].map(titles))
    return found if shows_systems(study) else found.assign(system_a="", system_b="")

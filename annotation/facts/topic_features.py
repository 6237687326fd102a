"""What is known of a study's topics besides their reports: the columns that came with them."""

from __future__ import annotations

import math

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Study, Topic


def topic_features(session: Session, study: Study) -> pd.DataFrame:
    """One row a topic (index: its key), one column for each feature that is a number wherever it is given; else nan."""
    topics = session.execute(select(Topic.key, Topic.features).where(Topic.study_id == study.id).order_by(Topic.key))
    return numbers_of(pd.DataFrame.from_dict({key: features or {} for key, features in topics}, orient="index"))


def numbers_of(features: pd.DataFrame) -> pd.DataFrame:
    """The columns that hold numbers wherever they hold anything, as floats; an empty cell is nan."""
    cells = features.astype("object").where(features.notna(), "").astype("str")
    read = {str(name): cells[name].str.strip().map(_number) for name in cells}
    kept = {name: column for name, column in read.items() if not column.map(_refused).any() and column.notna().any()}
    return pd.DataFrame(kept, index=features.index).astype("float64")


def _number(text: str) -> float | str:
    if not text:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _refused(cell: float | str) -> bool:
    return isinstance(cell, str)

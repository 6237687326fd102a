"""What is known of a study's topics: the columns that came with them, and which of them have the same reports."""

import math

import pandas as pd
from sqlalchemy import orm, select, union

from annotation.studies import clusters_of
from db.tables import Item, Report, Study, Topic


def topic_features(session: orm.Session, study: Study) -> pd.DataFrame:
    """One row a cluster, one column for each feature that is a number wherever it is given; else nan."""
    topics = session.execute(select(Topic.key, Topic.features).where(Topic.study_id == study.id))
    known = pd.DataFrame.from_dict({topic: features or {} for topic, features in topics}, orient="index")
    return numbers_of(by_cluster(session, study, known.drop(columns="cluster_id", errors="ignore")))


def by_cluster(session: orm.Session, study: Study, known: pd.DataFrame) -> pd.DataFrame:
    """Rows by topic as one row a cluster, of several topics the first by its key; a row of no topic stays."""
    clusters = clusters_of(session, study)
    rows = known.sort_index().rename(lambda topic: clusters.get(topic, topic))
    return rows[~rows.index.duplicated()].sort_index()


def numbers_of(features: pd.DataFrame) -> pd.DataFrame:
    """The columns that hold numbers wherever they hold anything, as floats; an empty cell is nan."""
    cells = features.astype("object").where(features.notna(), "").astype("str")
    read = {str(name): cells[name].str.strip().map(_number) for name in cells}
    refused = {name for name, column in read.items() if column.map(lambda cell: isinstance(cell, str)).any()}
    kept = {name: column for name, column in read.items() if name not in refused and column.notna().any()}
    return pd.DataFrame(kept, index=features.index).astype("float64")


def _number(text: str) -> float | str:
    if not text:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


WORDS = 20  # shorter texts, such as a refusal, may well stand on two topics


def topics_of_one_text(session: orm.Session, study: Study) -> list[tuple[str, ...]]:
    """Keys of topics, two or more together, whose reports have the same sha256 as they were read.

    What is shown begins with the topic's title, which differs. Of items that count: no training, attention or retest,
    and none that was left out; reports below 20 words say nothing.
    """
    counts = Item.study_id == study.id, Item.purpose == "label", Item.excluded_at.is_(None)
    shown = union(select(Item.report_a_id).where(*counts), select(Item.report_b_id).where(*counts))
    rows = session.execute(
        select(Topic.key, Report.original_sha256)
        .join(Topic, Topic.id == Report.topic_id)
        .where(Report.study_id == study.id, Report.words >= WORDS, Report.id.in_(shown))
        .order_by(Topic.key)
    ).all()
    texts: dict[str, set[str]] = {}
    for key, sha256 in rows:
        texts.setdefault(key, set()).add(sha256)
    groups: dict[frozenset[str], list[str]] = {}
    for key, own in texts.items():
        groups.setdefault(frozenset(own), []).append(key)
    return [tuple(keys) for keys in groups.values() if len(keys) > 1]

"""The order in which one annotator is asked: the protocol's, or a draw of groups and within groups."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotation.pairing import seeded
from annotation.studies import criteria_of, protocol_of
from db.tables import Study


class Question(NamedTuple):
    code: str
    category: str = ""
    subcategory: str = ""


def shuffled(questions: Sequence[Question], draw: random.Random) -> list[str]:
    """The codes in a new order: categories drawn, in each its subcategories, in each its questions.

    Groups stay whole, so that nobody is led to and fro; what has no category is a group of its own.
    """
    return [question.code for question in _in_groups(list(questions), ("category", "subcategory"), draw)]


class CriteriaOrders:
    """The orders of one study's new slots; the questions of a topic are read once."""

    def __init__(self, session: Session, study: Study) -> None:
        self._session, self._study = session, study
        self._is_shuffled = protocol_of(study).study.criteria_order == "shuffled"
        self._asked: dict[int, list[Question]] = {}

    def draw(self, topic_id: int, *identity: object) -> list[str] | None:
        """Codes for a slot on this topic, by the study's seed and what the slot is named by.

        None where the protocol keeps its own order, or nothing is asked of the topic yet.
        """
        if not self._is_shuffled:
            return None
        if topic_id not in self._asked:
            rows = criteria_of(self._session, self._study, topic_id)
            self._asked[topic_id] = [Question(row.code, row.category, row.subcategory) for row in rows]
        return shuffled(self._asked[topic_id], seeded(self._study.seed, "criteria", *identity)) or None


def _in_groups(questions: list[Question], keys: Sequence[str], draw: random.Random) -> list[Question]:
    if not keys:
        draw.shuffle(questions)
        return questions
    names = list(dict.fromkeys(getattr(question, keys[0]) for question in questions))
    draw.shuffle(names)
    return [
        question
        for name in names
        for question in _in_groups([q for q in questions if getattr(q, keys[0]) == name], keys[1:], draw)
    ]

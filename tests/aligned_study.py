"""A study in which some words in a judge's instructions bring it nearer to people, or none do, and a writer of words."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, select

from annotation.judges.aligning.wording import HEADING
from annotation.judges.defining.judge_file import JudgeDefinition, Rung
from annotation.judges.replies.outcomes import Reply
from annotation.labelling import record_answers
from annotation.labels.answers import Answer, Answered
from db.connect import transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Item
from db.types import now
from tests.annotation.judges.judged_study import CODES, asked_codes, make_study, replied

USEFUL = ("sources", "numbers", "dates")
WORDS = (*USEFUL, "style", "tone", "headings", "grammar", "layout", "wit", "titles", "tables", "quotes")
PEOPLE, RIGHT = ("Ada", "Ben"), 0.92
AS_IT_IS, A_WORD = 0.6, 0.15  # how often the judge is right, and what each useful word adds


def coin(*parts: object) -> float:
    return int(hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:12], 16) / 16**12


def better(seed: int, number: int, always: str = "", *, wrong: bool = False) -> str:
    """The report of topic `number` that is better, or the other one."""
    side = always or ("A" if coin(seed, "better", number) < 0.5 else "B")
    return {"A": "B", "B": "A"}[side] if wrong else side


def make_labelled(engine: Engine, topics: int = 16, seed: int = 0, *, always: str = "") -> int:
    """A study of a pair a topic with the answers of two annotators; `always`: the report that is better everywhere."""

    def text(number: int, side: str) -> str:
        q = 0.8 if side == better(seed, number, always) else 0.2
        return f"# Report\n\nReport of topic {number} of {seed}, told in manner {side.lower()}.\n\n[[q={q}]]\n"

    study = make_study(engine, topics, text=text)
    label(engine, study, seed, always)
    return study


def label(engine: Engine, study: int, seed: int, always: str = "") -> None:
    with transaction(engine) as session:
        items = session.scalars(select(Item).where(Item.study_id == study).order_by(Item.id)).all()
        for person in PEOPLE:
            rater = Rater(kind="human", handle=f"{person}-handle")
            session.add(rater)
            session.flush()
            session.add(Enrollment(study_id=study, rater_id=rater.id, pseudonym=person, role="annotator"))
            for number, item in enumerate(items):
                assignment = Assignment(
                    study_id=study,
                    item_id=item.id,
                    rater_id=rater.id,
                    left="AB"[number % 2],
                    plan_seed=0,
                    slot_no=1 + PEOPLE.index(person),
                    status="submitted",
                    submitted_at=now(),
                )
                session.add(assignment)
                session.flush()
                said = [better(seed, number, always, wrong=coin(seed, person, number, code) >= RIGHT) for code in CODES]
                answers = tuple(
                    Answer(code, choice="left" if side == assignment.left else "right", rationale="its sources")
                    for code, side in zip(CODES, said, strict=True)
                )
                record_answers(session, [Answered((assignment.id,), answers)], parser_version="test")


class Movable:
    """A model that its instructions move, where `moves`, and that writes instructions: one word more each time."""

    def __init__(self, seed: int = 0, *, moves: bool = True, obeys: Mapping[str, str] | None = None) -> None:
        self.seed, self.moves, self.obeys = seed, moves, obeys or {}
        self.asked: list[str] = []
        self.rewrites = 0

    async def __call__(
        self, judge: JudgeDefinition, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], rung: Rung
    ) -> Reply:
        await asyncio.sleep(0)
        text = "\n".join(message["content"] for message in messages)
        self.asked.append(text)
        return replied(self.rewritten(text) if text.startswith("A model judges items") else self.judged(text), text)

    def rewritten(self, text: str) -> str:
        self.rewrites += 1
        now = text.split("```", 2)[1].strip()
        word = WORDS[int(coin(self.seed, "word", text) * len(WORDS))]
        return f"Here they are:\n```\n{f'{now} ' if now else 'Weigh these: '}{word}\n```"

    def judged(self, text: str) -> str:
        instructions = text.split(HEADING, 1)[1].split("<", 1)[0] if HEADING in text else ""
        hits = sum(word in instructions for word in USEFUL) if self.moves else 0
        first, second = (float(q) for q in re.findall(r"\[\[q=([\d.]+)\]\]", text)[-2:])
        right = "first" if first > second else "second"
        wrong = {"first": "second", "second": "first"}[right]
        told = next((answer for word, answer in self.obeys.items() if word in instructions), None)
        said = [
            told or (right if coin(self.seed, text, code) < AS_IT_IS + A_WORD * hits else wrong)
            for code in asked_codes(text)
        ]
        entries = zip(asked_codes(text), said, strict=True)
        return json.dumps(
            {"judgments": [{"criterion": code, "rationale": "so it seems", "winner": one} for code, one in entries]}
        )

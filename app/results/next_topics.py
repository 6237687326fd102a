"""The topics that people of a study label next, drawn from what judges and people have said by now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.people.principals import Principal, study_for
from annotation.planning import draws, planned_items, slots
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from app.results.reporting import settings_of
from calibration.sampling.inclusion import RANDOM_SHARE
from calibration.sizing.next_batch import Drawn, NextBatch, next_batch
from db.tables import Study, System
from plain.hashes import canonical, text_sha256

BATCH = 20  # topics, where nobody says: the first look that decides is at 20


def next_draw(
    session: orm.Session, principal: Principal, size: int | None = None, question: str = "gap",
    amount: Mapping[str, int | None] | None = None,
) -> tuple[draws.TopicDraw, NextBatch]:  # fmt: skip
    """The next batch of topics, and all that it was drawn by. Writes nothing; the same labels give the same batch.

    `amount`: of items, as of `Asked`; what the first batch was asked for holds for all.
    """
    study = study_for(session, principal, "evaluator")
    before = draws.kept_draws(session, study)
    each = dict(before[0].amount if before else amount or {})
    asked = planned_items.Asked(
        design_of(session, study), each.get("per_topic"), each.get("per_category"), each.get("total")
    )
    planned, _ = planned_items.plan_items(session, study, asked)
    topics = sorted({item.topic for item in planned})
    settings = settings_of(protocol_of(study), study.seed)
    batches = [Drawn(batch.topics, batch.chances, batch.waiting) for batch in before]
    found = next_batch(
        load_verdicts(session, study), topics, batches, size or BATCH, study.seed, settings, question, RANDOM_SHARE
    )
    digest = text_sha256(canonical(found.chance_of).decode())
    return draws.TopicDraw(
        found.topics, found.chances, found.waiting, RANDOM_SHARE, question, asked.design, asked.amount, digest
    ), found  # fmt: skip


def plan_drawn(
    session: orm.Session, principal: Principal, *, overlap: int, roster: bool = False, size: int | None = None,
    question: str = "gap", **amount: int | None,
) -> tuple[slots.Plan, str]:  # fmt: skip
    """The plan that gives the next batch its slots, and what is told of the batch. Writes nothing. As `next_draw`."""
    draw, found = next_draw(session, principal, size, question, amount)
    study = study_for(session, principal, "admin")
    words = draw_words(len(draws.kept_draws(session, study)) + 1, draw, found.worth, worth_so_far(session, study))
    if question == "gap" and overlap == 1:
        words += (
            "\nwith one annotator an item no gap to people's own agreement is learnt: take 2, or draw for agreement"
        )
    asked: dict[str, Any] = {**amount, **draw.amount}
    return slots.make_plan(
        session, principal, design=draw.design, draw=draw, overlap=overlap, roster=roster, **asked
    ), words


def design_of(session: orm.Session, study: Study) -> str:
    """Which items a topic has: as at the first batch; before it each system against the reference, else every two."""
    if before := draws.kept_draws(session, study):
        return before[0].design
    references = select(func.count()).where(System.study_id == study.id, System.is_reference, System.key != EVIDENCE)
    return "reference" if session.scalar(references) else "all"


def next_words(session: orm.Session, principal: Principal) -> str:
    """What the next batch would be and bring, of a study whose topics are drawn; "" of another."""
    study = study_for(session, principal, "evaluator")
    before = draws.kept_draws(session, study)
    if not before:
        return ""
    draw, found = next_draw(session, principal, question=before[-1].question)
    return draw_words(len(before) + 1, draw, found.worth, worth_so_far(session, study))


def worth_so_far(session: orm.Session, study: Study) -> float:
    """As many topics drawn alike as those that people labelled are worth. Kish 1965."""
    weights = [1 / chance for chance in draws.draw_probabilities(session, study).values()]
    return math.fsum(weights) ** 2 / math.fsum(weight**2 for weight in weights) if weights else 0.0


def draw_words(number: int, draw: draws.TopicDraw, worth: float, so_far: float) -> str:
    """What is told of a batch before it is made. `worth`, and `so_far`: topics drawn alike."""
    if not draw.topics:
        return "every topic is drawn by now: nothing is left for a next batch"
    low, high = min(draw.chances), max(draw.chances)
    chances = f"each with a chance of {high:.3f}" if high - low < 5e-4 else f"with chances of {low:.3f} to {high:.3f}"
    told = f"batch {number}: {len(draw.topics)} of {draw.waiting} waiting topics, {chances} "
    told += f"(never below {draw.random_share:g} of a random draw's), for the {draw.question.replace('_', ' ')}"
    told += f"; expected to be worth {worth:.0f} topics drawn at random"
    if not so_far:
        return told
    narrower = 100 * (1 - math.sqrt(so_far / (so_far + worth)))
    return f"{told}, beside the {so_far:.0f} that those labelled are worth: intervals about {narrower:.0f} % narrower"

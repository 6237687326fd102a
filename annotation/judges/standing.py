"""How judges stand, read from the rows on any machine: calls by state, labels by status, repeats, and money."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.judges.accounts import not_of_a_probe
from annotation.judges.batch_rows import OpenBatch, open_batches
from annotation.judges.leases import clock
from annotation.judges.ledger import Money, money_of
from annotation.judges.progress import CURRENT_LABELS
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.tables import Assignment, Criterion, Study


@dataclass(frozen=True)
class JudgeStanding:
    """One judge. Calls are those of the settings planned last; labels and money are of all its settings.

    `model` is empty where its labels were imported. `coverage`: usable answers of all that were asked, 0 to 1, None
    before the first. `repeat_agreement`: see there.
    """

    judge: str
    model: str
    planned: int
    done: int
    failed: int
    in_flight: int
    labels: Mapping[str, int]
    coverage: float | None
    repeat_agreement: float | None
    repeated: int  # answers that were given more than once in the same order
    money: Money
    max_cost: float | None
    paused_s: float
    stopped: str | None
    batches: tuple[OpenBatch, ...]  # what waits at the provider

    @property
    def unfinished(self) -> int:
        return self.planned - self.done - self.failed


def standings(session: Session, study: Study) -> tuple[JudgeStanding, ...]:
    """Every judge of the study, by name."""
    labels = label_counts(session, study)
    judges = session.scalars(select(Judge).where(Judge.study_id == study.id).order_by(Judge.name))
    return tuple(_standing(session, judge, labels.get(judge.name, {})) for judge in judges)


def label_counts(session: Session, study: Study) -> dict[str, dict[str, int]]:
    """Current labels by judge and status."""
    counted = (
        select(Judge.name, CURRENT_LABELS.c.status, func.count())
        .join(Assignment, Assignment.id == CURRENT_LABELS.c.assignment_id)
        .join(Judge, Judge.rater_id == Assignment.rater_id)
        .where(Judge.study_id == study.id)
        .group_by(Judge.name, CURRENT_LABELS.c.status)
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for judge, status, count in session.execute(counted):
        found[judge][status] = count
    return dict(found)


def repeat_agreement(answers: Iterable[tuple[object, str]]) -> tuple[float | None, int]:
    """How often a judge repeats itself, from (what was asked in which order, its usable answer) pairs.

    The share of equal pairs of answers to the same thing, 0 to 1, mean over things answered more than once, and their
    number. None where there are none.
    """
    by_thing: dict[object, Counter[str]] = defaultdict(Counter)
    for thing, answer in answers:
        by_thing[thing][answer] += 1
    counts = [given for given in by_thing.values() if given.total() > 1]
    shares = [sum(n * (n - 1) for n in given.values()) / (given.total() * (given.total() - 1)) for given in counts]
    return (sum(shares) / len(shares) if shares else None), len(shares)


def _standing(session: Session, judge: Judge, labels: Mapping[str, int]) -> JudgeStanding:
    config = session.scalars(
        select(JudgeConfig)
        .where(JudgeConfig.judge_id == judge.id)
        .order_by(not_of_a_probe().desc(), JudgeConfig.id.desc())
        .limit(1)
    ).one_or_none()
    states = {} if config is None else _calls(session, config)
    asked = sum(labels.values())
    paused = (judge.paused_until - clock(session)).total_seconds() if judge.paused_until else 0.0
    agreement, repeated = _repeats(session, judge)
    return JudgeStanding(
        judge=judge.name, model=config.model if config else "", planned=sum(states.values()),
        done=states.get("done", 0), failed=states.get("failed", 0), in_flight=states.get("leased", 0), labels=labels,
        coverage=labels.get("ok", 0) / asked if asked else None, repeat_agreement=agreement, repeated=repeated,
        money=money_of(session, judge), max_cost=judge.max_cost, paused_s=max(0.0, paused), stopped=judge.stopped,
        batches=open_batches(session, [judge.id]),
    )  # fmt: skip


def _calls(session: Session, config: JudgeConfig) -> dict[str, int]:
    """Calls by state."""
    mine = JudgeCall.config_id == config.id, JudgeCall.probe_kind.is_(None)
    return dict(session.execute(select(JudgeCall.state, func.count()).where(*mine).group_by(JudgeCall.state)).all())


def _repeats(session: Session, judge: Judge) -> tuple[float | None, int]:
    mine = Assignment.rater_id == judge.rater_id
    if (session.scalar(select(func.max(Assignment.repeat_no)).where(mine)) or 1) < 2:
        return None, 0
    rows = session.execute(
        select(Assignment.item_id, Assignment.left, Criterion.code, CURRENT_LABELS.c.choice)
        .join(Assignment, Assignment.id == CURRENT_LABELS.c.assignment_id)
        .join(Criterion, Criterion.id == CURRENT_LABELS.c.criterion_id)
        .where(mine, CURRENT_LABELS.c.status == "ok", Criterion.retired_at.is_(None))
    )
    return repeat_agreement(((item, left, code), choice) for item, left, code, choice in rows)

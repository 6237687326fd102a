"""How judges stand, read from the rows on any machine: calls by state, labels by status, repeats, and money."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.current_labels import CURRENT_LABELS, is_newest
from annotation.judges.accounts import not_of_a_probe
from annotation.judges.batch_rows import OpenBatch, open_batches
from annotation.judges.leases import clock
from annotation.judges.ledger import Money, money_of
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.tables import FAILED_LABEL, Assignment, Criterion, Label, Study

CHUNK = 5_000  # answers in memory


@dataclass(frozen=True)
class JudgeStanding:
    """One judge. Calls are those of the settings planned last; labels and money are of all its settings.

    `model` is empty where its labels were imported. `coverage`: usable answers of all that were asked, 0 to 1, None
    before the first. `repeats`: how many things were answered more than once in the same order, by how the answers
    fell: of (2, 1) two were alike and one was another.
    """

    judge: str
    model: str
    planned: int
    done: int
    failed: int
    in_flight: int
    labels: Mapping[str, int]
    coverage: float | None
    repeats: Mapping[tuple[int, ...], int]
    money: Money
    max_cost: float | None
    paused_s: float
    stopped: str | None
    batches: tuple[OpenBatch, ...]  # what waits at the provider

    @property
    def unfinished(self) -> int:
        return self.planned - self.done - self.failed


def standings(session: Session, study: Study, *, repeats: bool = True) -> tuple[JudgeStanding, ...]:
    """Every judge of the study, by name. Without `repeats` nobody looks how often a judge repeats itself, which takes
    as long as all the rest: it is empty then."""
    labels = label_counts(session, study)
    found = _judges(session, study)
    return tuple(_standing(session, judge, labels.get(judge.name, {}), repeats) for judge in found)


def are_at_work(session: Session, study: Study) -> bool:
    """Whether any judge has `unfinished` calls."""
    configs = (_planned_last(session, judge) for judge in _judges(session, study))
    return any(_calls(session, one).keys() - {"done", "failed"} for one in configs if one is not None)


def label_counts(session: Session, study: Study) -> dict[str, dict[str, int]]:
    """Current labels by judge and status.

    Every answer has a first revision and one current one, so those that are usable are what is left of all answers
    once the few current ones without a choice are counted.
    """
    of_judges = select(Judge.name).join(Assignment, Assignment.rater_id == Judge.rater_id)
    of_judges = of_judges.join(Label, Label.assignment_id == Assignment.id).where(Judge.study_id == study.id)
    answers = of_judges.add_columns(func.count()).where(Label.revision == 1).group_by(Judge.name)
    failed = of_judges.add_columns(Label.status, func.count()).where(FAILED_LABEL, is_newest())
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for judge, status, count in session.execute(failed.group_by(Judge.name, Label.status)):
        found[judge][status] = count
    for judge, count in session.execute(answers):
        if usable := count - sum(found[judge].values()):
            found[judge]["ok"] = usable
    return dict(found)


def _judges(session: Session, study: Study) -> Sequence[Judge]:
    return session.scalars(select(Judge).where(Judge.study_id == study.id).order_by(Judge.name)).all()


def _standing(session: Session, judge: Judge, labels: Mapping[str, int], repeats: bool) -> JudgeStanding:
    config = _planned_last(session, judge)
    states = {} if config is None else _calls(session, config)
    asked = sum(labels.values())
    paused = (judge.paused_until - clock(session)).total_seconds() if judge.paused_until else 0.0
    return JudgeStanding(
        judge=judge.name, model=config.model if config else "", planned=sum(states.values()),
        done=states.get("done", 0), failed=states.get("failed", 0), in_flight=states.get("leased", 0), labels=labels,
        coverage=labels.get("ok", 0) / asked if asked else None, repeats=_repeats(session, judge) if repeats else {},
        money=money_of(session, judge, labels.get("ok", 0)), max_cost=judge.max_cost, paused_s=max(0.0, paused),
        stopped=judge.stopped, batches=open_batches(session, [judge.id]),
    )  # fmt: skip


def _planned_last(session: Session, judge: Judge) -> JudgeConfig | None:
    configs = select(JudgeConfig).where(JudgeConfig.judge_id == judge.id)
    return session.scalars(configs.order_by(not_of_a_probe().desc(), JudgeConfig.id.desc()).limit(1)).one_or_none()


def _calls(session: Session, config: JudgeConfig) -> dict[str, int]:
    """Calls by state."""
    mine = JudgeCall.config_id == config.id, JudgeCall.probe_kind.is_(None)
    return dict(session.execute(select(JudgeCall.state, func.count()).where(*mine).group_by(JudgeCall.state)).all())


def _repeats(session: Session, judge: Judge) -> Mapping[tuple[int, ...], int]:
    mine = Assignment.rater_id == judge.rater_id
    if (session.scalar(select(func.max(Assignment.repeat_no)).where(mine)) or 1) < 2:
        return {}
    rows = session.execute(
        select(Assignment.item_id, Assignment.left, Criterion.code, CURRENT_LABELS.c.choice)
        .join(Assignment, Assignment.id == CURRENT_LABELS.c.assignment_id)
        .join(Criterion, Criterion.id == CURRENT_LABELS.c.criterion_id)
        .where(mine, CURRENT_LABELS.c.status == "ok", Criterion.retired_at.is_(None))
        .order_by(Assignment.item_id, Assignment.left, Criterion.code)
        .execution_options(yield_per=CHUNK)
    )
    # one thing after the other: hundreds of thousands together would take half a gigabyte
    fallen = (Counter(choice for *_, choice in same) for _, same in groupby(rows, itemgetter(0, 1, 2)))
    return dict(Counter(tuple(sorted(answers.values(), reverse=True)) for answers in fallen if answers.total() > 1))

"""How judges stand, read from the rows on any machine: calls by state, labels by status, failures by kind, prompts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import String, cast, exists, func, orm, select

from annotation.judges.batches.batch_rows import OpenBatch, open_batches
from annotation.judges.money import accounts, ledger
from annotation.judges.queue.settling import clock
from annotation.judges.replies import outcomes, reply
from annotation.labels.current_labels import CURRENT_LABELS, is_newest
from annotation.labels.optional_columns import settings_tried
from annotation.people.principals import Principal, study_for
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig, JudgeRequest
from db.tables import FAILED_LABEL, HANDED_IN, Assignment, Criterion, Item, Label, Study

SHOWN = 160  # characters of an example


@dataclass(frozen=True)
class Failure:
    """One kind of failure of one judge. `of`: answers (labels without a choice) or tries (requests without a reply).

    `example` is one line: how the reply began, or the error. `call_id` is the call it comes from.
    """

    judge: str
    of: str
    kind: str
    reason: str
    count: int
    example: str
    call_id: int | None


@dataclass(frozen=True)
class Asked:
    """The settings a judge was planned with last. `earlier`: how many others it had before."""

    judge: str
    model: str
    api_base: str | None
    params: Mapping[str, Any]
    not_sent: tuple[str, ...]  # asked for in judges.toml, not accepted by the model
    structured: tuple[str, ...]
    batching: str
    max_output_tokens: int
    price: Mapping[str, Any]
    price_source: str
    template_sha256: str
    earlier: int
    reported: Mapping[str, int]  # model as its provider named it -> replies


@dataclass(frozen=True)
class JudgeRuns:
    """All judges of a study. `requests`: judges somebody asked for in the app that no worker has finished."""

    study: str
    simulated: bool
    standings: tuple[JudgeStanding, ...]
    waiting: Mapping[str, int]  # judge -> calls that a provider's batch holds
    failures: tuple[Failure, ...]
    asked: tuple[Asked, ...]
    requests: tuple[str, ...]


def judge_runs(session: orm.Session, principal: Principal) -> JudgeRuns:
    """Everything the rows say now but how often judges repeat themselves. For evaluators; raises AnnotationError
    `forbidden`."""
    study = study_for(session, principal, "evaluator")
    batched = (
        select(Judge.name, func.count())
        .join(JudgeCall, JudgeCall.judge_id == Judge.id)
        .where(Judge.study_id == study.id, JudgeCall.state == "submitted")
        .group_by(Judge.name)
    )
    return JudgeRuns(
        study=study.name,
        simulated=study.is_simulated,
        standings=standings(session, study, repeats=False),
        waiting=dict(session.execute(batched).all()),
        failures=(*_lost_answers(session, study), *_lost_tries(session, study)),
        asked=tuple(_asked(session, study)),
        requests=asked_in_the_app(session, study),
    )


def asked_in_the_app(session: orm.Session, study: Study) -> tuple[str, ...]:
    """Judges somebody asked for in the app that no worker has finished."""
    unstarted = select(JudgeRequest.judges).where(JudgeRequest.study_id == study.id, JudgeRequest.done_at.is_(None))
    return tuple(name for names in session.scalars(unstarted.order_by(JudgeRequest.id)) for name in names)


def _lost_answers(session: orm.Session, study: Study) -> Iterator[Failure]:
    """Current labels that are no answer, by status and reason, with the start of one reply."""
    reason = cast(Label.flags, String)
    rows = session.execute(
        select(Judge.name, Label.status, reason, func.count(), func.max(Label.id))
        .join(Assignment, Assignment.rater_id == Judge.rater_id)
        .join(Label, Label.assignment_id == Assignment.id)
        .where(Judge.study_id == study.id, FAILED_LABEL, is_newest())
        .group_by(Judge.name, Label.status, reason)
        .order_by(Judge.name, func.count().desc(), Label.status, reason)
    )
    for judge, status, flags, count, label in rows.all():
        why = next(iter(json.loads(flags)), "")
        words = reply.WHOLE_REPLY.get(why, reply.SENTENCES.get(why, why.replace("_", " "))).format(field="answer")
        example, call = _reply_behind(session, label)
        yield Failure(judge, "answers", status, words.split(";")[0], count, example, call)


def _reply_behind(session: orm.Session, label_id: int) -> tuple[str, int | None]:
    """How the reply began that a label without an answer was read from, and its call."""
    label = session.get_one(Label, label_id)
    code = session.get_one(Criterion, label.criterion_id).code
    calls = session.execute(
        select(JudgeCall.id, JudgeCall.criteria)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .where(JudgeCallAssignment.assignment_id == label.assignment_id, JudgeCall.stress.is_(None))
        .order_by(JudgeCall.id.desc())
    )
    call = next((call for call, criteria in calls if label.criterion_id in criteria), None)
    # of two replies that are equally bad the earlier was read, and the later one says so in its flags
    later = {"reasked", "retried"} & set(label.flags)
    number = JudgeAttempt.attempt_no.desc() if later else JudgeAttempt.attempt_no
    read = session.scalar(
        select(JudgeAttempt)
        .where(JudgeAttempt.call_id == call)
        .order_by(JudgeAttempt.outcome.in_(outcomes.REPLIES).desc(), number)
        .limit(1)
    )
    said = (read.raw_reply or read.error or "an empty reply") if read else "nothing was sent"
    return f"{code}: {_line(said)}", call


def _lost_tries(session: orm.Session, study: Study) -> Iterator[Failure]:
    """Tries of the study's own calls that brought no reply, by outcome and HTTP status, with the last error."""
    rows = session.execute(
        select(Judge.name, JudgeAttempt.outcome, JudgeAttempt.http_status, func.count(), func.max(JudgeAttempt.id))
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeAttempt.outcome.not_in(outcomes.REPLIES), JudgeCall.stress.is_(None))
        .group_by(Judge.name, JudgeAttempt.outcome, JudgeAttempt.http_status)
        .order_by(Judge.name, func.count().desc(), JudgeAttempt.outcome)
    )
    for judge, outcome, http, count, attempt in rows.all():
        last = session.get_one(JudgeAttempt, attempt)
        reason = f"HTTP {http}" if http else ""
        yield Failure(judge, "tries", outcome.replace("_", " "), reason, count, _line(last.error or "–"), last.call_id)


def _asked(session: orm.Session, study: Study) -> Iterator[Asked]:
    settings = func.count(JudgeConfig.id).label("settings")
    counted = select(Judge, settings).join(JudgeConfig, JudgeConfig.judge_id == Judge.id).group_by(Judge.id)
    for judge, count in session.execute(counted.where(Judge.study_id == study.id).order_by(Judge.name)).all():
        config = accounts.in_force(session, judge.id)
        assert config is not None  # of those it has
        reported = (
            select(JudgeAttempt.model_reported, func.count())
            .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
            .where(JudgeCall.judge_id == judge.id, JudgeAttempt.model_reported.is_not(None))
            .group_by(JudgeAttempt.model_reported)
            .order_by(func.count().desc())
        )
        yield Asked(
            judge=judge.name, model=config.model, api_base=config.api_base, params=config.params,
            not_sent=tuple(sorted(set(config.asked_params) - set(config.params))),
            structured=tuple(config.structured), batching=config.batching, max_output_tokens=config.max_output_tokens,
            price=config.price, price_source=config.price_source, template_sha256=config.template_sha256,
            earlier=count - 1, reported={str(name): count for name, count in session.execute(reported)},
        )  # fmt: skip


def _line(text: str) -> str:
    """The start of a text on one line."""
    line = " ".join(text.split())
    return f"{line[:SHOWN]}…" if len(line) > SHOWN else line


CHUNK = 5_000  # answers in memory


@dataclass(frozen=True)
class JudgeStanding:
    """One judge. Calls are those of the settings asked last; labels and money are of all its settings.

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
    money: ledger.Money
    max_cost: float | None
    paused_s: float
    stopped: str | None
    batches: tuple[OpenBatch, ...]  # what waits at the provider
    others: tuple[int, int] | None  # see `answered_otherwise`

    @property
    def unfinished(self) -> int:
        return self.planned - self.done - self.failed


def standings(session: orm.Session, study: Study, *, repeats: bool = True) -> tuple[JudgeStanding, ...]:
    """Every judge of the study, by name. Without `repeats` nobody looks how often a judge repeats itself, which
    passes other settings answered, nor what an item costs by those that count, which takes longer than all the rest:
    they are empty then."""
    labels = label_counts(session, study)
    others = answered_otherwise(session, study) if repeats else {}
    return tuple(
        _standing(session, judge, labels.get(judge.name, {}), repeats, others.get(judge.name))
        for judge in _judges(session, study)
    )


def answered_otherwise(session: orm.Session, study: Study) -> dict[str, tuple[int, int]]:
    """Judge -> how many of its passes over items other settings have answered last, and how many passes count; only
    where there are such: a run or a plan that is not at its end, or fewer repeats or orders than before."""
    found = {}
    served, later = orm.aliased(JudgeCallAssignment), orm.aliased(JudgeCall)
    for name in settings_tried(session, study):
        judge = session.scalars(select(Judge).where(Judge.study_id == study.id, Judge.name == name)).one()
        config = accounts.in_force(session, judge.id, accounts.not_of_a_stress_test(), answered=True)
        newest = [JudgeCall.config_id == config.id] if config else []
        # correlated: Postgres walks through a NOT IN of many rows once for each
        replaced = exists().where(
            served.assignment_id == Assignment.id, later.id == served.call_id, later.config_id != JudgeCall.config_id,
            later.done_at > JudgeCall.done_at, later.stress.is_(None), later.outcome != "stale",
        )  # fmt: skip
        now = exists().where(
            JudgeCallAssignment.assignment_id == Assignment.id, JudgeCall.id == JudgeCallAssignment.call_id,
            *newest, JudgeCall.state.in_(("done", "failed")), JudgeCall.stress.is_(None), ~replaced,
        )  # fmt: skip
        mine = Assignment.rater_id == judge.rater_id, Assignment.status.in_(HANDED_IN), Item.excluded_at.is_(None)
        passes = select(func.count(), func.count().filter(~now))
        count, before = session.execute(
            passes.select_from(Assignment).join(Item, Item.id == Assignment.item_id).where(*mine)
        ).one()
        if before:
            found[name] = before, count
    return found


def are_at_work(session: orm.Session, study: Study) -> bool:
    """Whether any judge has `unfinished` calls, or was asked for in the app and not taken up yet."""
    configs = (accounts.in_force(session, judge.id) for judge in _judges(session, study))
    unfinished = (_calls(session, config).keys() - {"done", "failed"} for config in configs if config is not None)
    return any(unfinished) or bool(asked_in_the_app(session, study))


def label_counts(session: orm.Session, study: Study) -> dict[str, dict[str, int]]:
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


def _judges(session: orm.Session, study: Study) -> Sequence[Judge]:
    return session.scalars(select(Judge).where(Judge.study_id == study.id).order_by(Judge.name)).all()


def _standing(
    session: orm.Session, judge: Judge, labels: Mapping[str, int], repeats: bool, others: tuple[int, int] | None
) -> JudgeStanding:
    config = accounts.in_force(session, judge.id)
    states = {} if config is None else _calls(session, config)
    asked = sum(labels.values())
    paused = (judge.paused_until - clock(session)).total_seconds() if judge.paused_until else 0.0
    money = ledger.money_of(session, judge, labels.get("ok", 0), each=repeats)
    return JudgeStanding(
        judge=judge.name, model=config.model if config else "", planned=sum(states.values()),
        done=states.get("done", 0), failed=states.get("failed", 0), in_flight=states.get("leased", 0), labels=labels,
        coverage=labels.get("ok", 0) / asked if asked else None, repeats=_repeats(session, judge) if repeats else {},
        money=money, max_cost=judge.max_cost, paused_s=max(0.0, paused),
        stopped=judge.stopped, batches=open_batches(session, [judge.id]), others=others,
    )  # fmt: skip


def _calls(session: orm.Session, config: JudgeConfig) -> dict[str, int]:
    """Calls by state."""
    mine = JudgeCall.config_id == config.id, JudgeCall.stress.is_(None)
    return dict(session.execute(select(JudgeCall.state, func.count()).where(*mine).group_by(JudgeCall.state)).all())


def _repeats(session: orm.Session, judge: Judge) -> Mapping[tuple[int, ...], int]:
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

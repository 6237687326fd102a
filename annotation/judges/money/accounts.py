"""A judge's rows in a study: its rater, its running account, and the immutable configuration its calls belong to.

And what a request is watched for by whoever keeps a journal: that it leaves, and what comes back.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, case, exists, func, orm, select, true

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, maker
from annotation.judges.money.prices import Snapshot, snapshot, stored_price
from annotation.judges.replies.outcomes import REPLIES
from annotation.studies import hold_study
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeConfig
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Study
from plain.hashes import canonical_sha256, text_sha256

Describe = Callable[[JudgeDefinition], ModelFacts]
PAUSED = "paused by hand"  # of a judge that stopped: only somebody who says so lets it go on, and no run by itself
REPEAT = "repeat_no"  # stands in the stored seed where each repeat sends its own number


def stopped_by(reason: str | None) -> ColumnElement[str | None]:
    """What a worker writes as the reason why a judge stopped, None for none: a pause stays, whatever came after it."""
    return case((Judge.stopped == PAUSED, PAUSED), else_=reason)


@dataclass(frozen=True)
class Resolved:
    """A definition with its effective parameters, the configuration's content and sha256, and the price in force."""

    definition: JudgeDefinition
    asked_params: Mapping[str, Any]
    content: Mapping[str, Any]
    sha256: str
    priced: Snapshot


@dataclass(frozen=True)
class Account:
    """A judge as a run needs it: what was resolved, and the ids of its rows.

    `part`: which of its calls are worked on. Those without a reply go out in batches where the judge wants that; those
    with one that must be asked again are ordinary requests.
    """

    judge_id: int
    rater_id: int
    config_id: int
    resolved: Resolved
    stress: str | None = None  # work on calls of this stress test alone; None: on the judge's own
    part: Literal["all", "unanswered", "answered"] = "all"

    @property
    def calls(self) -> ColumnElement[bool]:
        """The calls of this account: with these settings, and of this stress test or of none."""
        return and_(
            JudgeCall.judge_id == self.judge_id,
            JudgeCall.config_id == self.config_id,
            JudgeCall.stress.is_(None) if self.stress is None else JudgeCall.stress == self.stress,
        )

    @property
    def part_of_calls(self) -> ColumnElement[bool]:
        """Which of `calls` are worked on."""
        if self.part == "all":
            return true()
        answered = exists().where(
            JudgeAttempt.call_id == JudgeCall.id,
            JudgeAttempt.attempt_no > func.coalesce(JudgeCall.retried_after, 0),
            JudgeAttempt.outcome.in_(REPLIES),
        )
        return answered if self.part == "answered" else ~answered


def resolve(
    session: orm.Session, study: Study, definition: JudgeDefinition, template: str, facts: ModelFacts | None
) -> Resolved | None:
    """What the definition means: as it was stored when it was first planned, else by `facts`, else None.

    So a newer litellm never changes what a configuration means. Raises AnnotationError `no_price` for a budget that
    nobody could keep.
    """
    config = _stored(session, study, definition, template)
    if config is not None:
        content = _content(definition, config.params, template)
        # a price in the file is newer than the one the immutable configuration was made with
        priced = snapshot(definition, stored_price(config.price), config.price_source)
        effective = definition.model_copy(update={"params": dict(config.params)})
        return Resolved(effective, config.asked_params, content, config.sha256, priced)
    if facts is None:
        return None
    params = dict(facts.params)
    if facts.takes_seed:
        params.setdefault("seed", REPEAT)
    content = _content(definition, params, template)
    priced = snapshot(definition, facts.price, facts.price_source)
    effective = definition.model_copy(update={"params": params})
    return Resolved(effective, definition.params, content, canonical_sha256(content), priced)


def find_account(session: orm.Session, study: Study, definition: JudgeDefinition, template: str) -> Account:
    """The account that was planned with these settings. Raises AnnotationError `not_planned`."""
    resolved = resolve(session, study, definition, template, None)
    config = _stored(session, study, definition, template)
    if resolved is None or config is None:
        raise AnnotationError(
            "not_planned", "judge {name!r} has no plan with these settings; plan it with: calipers judge run",
            name=definition.name,
        )  # fmt: skip
    judge = session.get_one(Judge, config.judge_id)
    return Account(judge.id, judge.rater_id, config.id, resolved)


def is_planned(session: orm.Session, study: Study, definition: JudgeDefinition, template: str) -> bool:
    """Whether this judge was planned with these settings."""
    return _stored(session, study, definition, template) is not None


def open_account(session: orm.Session, study: Study, resolved: Resolved, template: str) -> Account:
    """The judge's account with this configuration, made where it is missing; its budget is brought up to date."""
    definition = resolved.definition
    hold_study(session, study)  # several machines may plan the same judge at once
    judge = session.scalar(select(Judge).where(Judge.study_id == study.id, Judge.name == definition.name))
    if judge is None:
        rater = Rater(kind="judge", handle=definition.name)
        session.add(rater)
        session.flush()
        judge = Judge(
            study_id=study.id, rater_id=rater.id, name=definition.name, family=maker(definition.model),
            is_simulated=study.is_simulated,
        )  # fmt: skip
        session.add(judge)
        session.flush()
    judge.max_cost = definition.max_cost
    config = session.scalar(
        select(JudgeConfig).where(JudgeConfig.judge_id == judge.id, JudgeConfig.sha256 == resolved.sha256)
    )
    if config is None:
        price = resolved.priced.price
        config = JudgeConfig(
            **resolved.content, judge_id=judge.id, sha256=resolved.sha256, asked_params=dict(resolved.asked_params),
            template=template, price=price.model_dump(exclude_none=True) if price else {},
            price_source=resolved.priced.source,
        )  # fmt: skip
        session.add(config)
        judge.rung = 0  # another ladder, or another server
        session.flush()
    return Account(judge.id, judge.rater_id, config.id, resolved)


def refuse_taken_name(session: orm.Session, study: Study, name: str) -> None:
    """Raises AnnotationError when a person of the study, or a judge that was imported, is exported under this name."""
    person = select(Enrollment.id).where(Enrollment.study_id == study.id, Enrollment.pseudonym == name)
    if session.scalar(person) is not None:
        raise AnnotationError(
            "name_taken", "judge {name!r}: a person of this study has that name; rename the judge", name=name
        )
    imported = (
        select(Assignment.id)
        .join(Judge, Judge.rater_id == Assignment.rater_id)
        .where(Judge.study_id == study.id, Judge.name == name, Assignment.source == "import")
    )
    if session.scalar(imported.limit(1)) is not None:
        raise AnnotationError(
            "name_taken", "judge {name!r}: results were imported under that name; rename the judge", name=name
        )


def other_settings(session: orm.Session, account: Account) -> bool:
    """Whether this judge was planned with other settings before."""
    mine = JudgeConfig.judge_id == account.judge_id
    others = select(JudgeConfig.id).where(mine, JudgeConfig.id != account.config_id, not_of_a_stress_test())
    return session.scalar(others.limit(1)) is not None


def in_force(
    session: orm.Session, judge_id: int, *which: ColumnElement[bool], answered: bool = False
) -> JudgeConfig | None:
    """Of a judge's settings those that it was asked with last; with `answered` those whose answers count, since their
    calls were labelled last, be it again. Without calls the newest."""
    configs = session.scalars(select(JudgeConfig).where(JudgeConfig.judge_id == judge_id, *which)).all()
    if len(configs) < 2:
        return configs[0] if configs else None
    at = JudgeCall.done_at if answered else func.coalesce(JudgeCall.done_at, JudgeCall.created_at)
    of_calls = select(JudgeCall.config_id, func.max(at)).where(
        JudgeCall.judge_id == judge_id, JudgeCall.stress.is_(None)
    )
    last = {config: str(when or "") for config, when in session.execute(of_calls.group_by(JudgeCall.config_id))}
    return max(configs, key=lambda config: (config.id in last, last.get(config.id, ""), config.id))


def not_of_a_stress_test() -> ColumnElement[bool]:
    """Of configurations: those that the study's own calls were made with, not a paraphrased prompt alone."""
    return exists().where(JudgeCall.config_id == JudgeConfig.id, JudgeCall.stress.is_(None))


def as_sent(definition: JudgeDefinition, repeat_no: int) -> JudgeDefinition:
    """The definition with the parameters of one repeat: `seed` is repeat_no, or counts on from the user's seed."""
    params = dict(definition.params)
    seed = params.get("seed")
    if seed == REPEAT:
        params["seed"] = repeat_no
    elif isinstance(seed, int):
        params["seed"] = seed + repeat_no - 1
    return definition.model_copy(update={"params": params})


def _content(definition: JudgeDefinition, params: Mapping[str, Any], template: str) -> dict[str, Any]:
    """What the configuration's sha256 is of. Prices, limits, order and repeats are not in it."""
    return {
        "model": definition.model,
        "api_base": definition.api_base,
        "params": dict(params),
        "template_sha256": text_sha256(template),
        "structured": list(definition.structured),
        "batching": definition.batching,
        "max_output_tokens": definition.max_output_tokens,
    }


def _stored(session: orm.Session, study: Study, definition: JudgeDefinition, template: str) -> JudgeConfig | None:
    configs = session.scalars(
        select(JudgeConfig)
        .join(Judge, Judge.id == JudgeConfig.judge_id)
        .where(Judge.study_id == study.id, Judge.name == definition.name)
        .order_by(JudgeConfig.id)
    )
    for config in configs:
        wanted = _content(definition, config.params, template)
        stored = {name: getattr(config, name) for name in wanted}
        if stored == wanted and config.asked_params == definition.params:
            return config
    return None


@dataclass(frozen=True)
class Watch:
    """Who is told of a request. `leaves`: it is on its way, or may be from now on; perhaps more than once. `arrives`:
    the last byte of what came back is here, as `status`, `headers` and `body` in base64, which nobody has read yet."""

    leaves: Callable[[], None]
    arrives: Callable[[Mapping[str, Any]], None]


WATCH: ContextVar[Watch | None] = ContextVar("WATCH", default=None)  # of this task's request; None: nobody is told


def leaves() -> None:
    """The request of this task is on its way, or may be from now on."""
    if watch := WATCH.get():
        watch.leaves()

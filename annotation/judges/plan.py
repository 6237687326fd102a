"""Plan a judge's work: every assignment with its order, and one row per call, before anything is sent.

Planning is idempotent: the key of a call says everything it depends on, so planning again adds only what is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Engine, Insert, Table, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.accounts import (
    Account,
    Describe,
    open_account,
    other_settings,
    refuse_taken_name,
    resolve,
)
from annotation.judges.addressing import warn_of_addressed
from annotation.judges.answers import Answered
from annotation.judges.assignments import open_assignments
from annotation.judges.calls import PlannedCall, planned_calls
from annotation.judges.client import describe as describe_with_litellm
from annotation.judges.judge_file import JudgeDefinition
from annotation.judges.makers import maker, own_family
from annotation.judges.pairs import criteria_by_topic, labelled_pairs, passes_of, standing_passes
from annotation.judges.prices import CallSize, Estimate, estimate
from annotation.judges.prompt import template_of
from annotation.judges.reply import PARSER_VERSION, failed_answers
from annotation.judges.singles import labelled_singles, share_calls, standing_groups
from annotation.labelling import record_answers
from annotation.studies import protocol_of
from annotation.work.twins import rates_both
from db.connect import reading, transaction
from db.tables import Study, System
from db.types import Record, now

CHUNK = 2000  # calls per transaction: a plan that is interrupted goes on where it was
CALLS, SERVED = Record.metadata.tables["judge_calls"], Record.metadata.tables["judge_call_assignments"]
KNOWN = select(CALLS.c.key).where(CALLS.c.key.in_(bindparam("keys", expanding=True)))
IDS = select(CALLS.c.id, CALLS.c.key).where(CALLS.c.key.in_(bindparam("keys", expanding=True)))


@dataclass(frozen=True)
class JudgePlan:
    """What planning came to for one judge: `calls` are all it needs, `added` those that were new, `too_long` of these
    do not fit the model's context window. `estimate` is of the new ones that will be sent."""

    name: str
    items: int
    calls: int
    added: int
    too_long: int
    estimate: Estimate
    price_source: str
    warnings: tuple[str, ...]


def plan_judges(
    engine: Engine,
    study_id: int,
    definitions: Sequence[JudgeDefinition],
    *,
    describe: Describe = describe_with_litellm,
    write: bool = True,
) -> tuple[JudgePlan, ...]:
    """Write accounts, assignments and calls for every labelled item; twice adds nothing. `write=False` only estimates.

    All judges are checked before the first row is written. A prompt that cannot fit the context window is never sent:
    its criteria are `missing` from the start. Raises AnnotationError.
    """
    facts = {definition.name: describe(definition) for definition in definitions}
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        if study.status == "locked":
            raise AnnotationError("locked", f"study {study.name!r} is locked; nothing can be judged any more")
        protocol = protocol_of(study)
        paired = protocol.task_type == "pairwise_choice" or rates_both(protocol)
        items = labelled_pairs(session, study) if paired else labelled_singles(session, study)
        if not items:
            raise AnnotationError("no_items", f"study {study.name!r} has no items; make them with: calipers pairs")
        questions = criteria_by_topic(session, study, items)
        rows = session.scalars(select(System).where(System.study_id == study.id))
        systems = sorted((row.key, row.family) for row in rows)
        addressed = warn_of_addressed(session, study)
        prepared = []
        for definition in definitions:
            refuse_taken_name(session, study, definition.name)
            template = template_of(protocol, definition.prompt)
            resolved = resolve(session, study, definition, template, facts[definition.name])
            assert resolved is not None  # facts are given
            passes = passes_of(definition, items, standing_passes(session, study, definition.name), study.seed)
            per_call = definition.items_per_call if protocol.task_type == "probe_label" else 1
            standing = standing_groups(session, study, definition.name, resolved.sha256) if per_call > 1 else []
            groups = share_calls(items, per_call, standing) if per_call > 1 else [(item,) for item in items]
            calls = planned_calls(study.id, protocol, template, resolved, groups, passes, questions)
            prepared.append((resolved, template, calls))
    plans = []
    for resolved, template, calls in prepared:
        definition, known = resolved.definition, facts[resolved.definition.name]
        warnings = (
            [
                f"judge {definition.name!r}: {name} is not accepted by {definition.model}; {name}: provider default"
                for name in known.dropped
            ]
            + own_family(definition.name, maker(definition.model), systems)
            + addressed
        )
        if write:
            with transaction(engine) as session:
                account = open_account(session, session.get_one(Study, study_id), resolved, template)
                if other_settings(session, account):
                    warnings.append(
                        f"judge {definition.name!r} had other settings before; new labels stand as later revisions"
                    )
        counts: Counter[str] = Counter()
        sent = _sent(engine, study_id, account if write else None, calls, known.context_tokens, counts)
        expected = estimate(sent, resolved.priced.price, definition.max_output_tokens)
        plans.append(
            JudgePlan(
                name=definition.name,
                items=len(items),
                calls=counts["calls"],
                added=counts["added"],
                too_long=counts["too_long"],
                estimate=expected,
                price_source=resolved.priced.source,
                warnings=tuple(warnings),
            )
        )
    return tuple(plans)


def _sent(
    engine: Engine, study_id: int, account: Account | None, calls: Iterator[PlannedCall], window: int | None,
    counts: Counter[str],
) -> Iterator[CallSize]:  # fmt: skip
    """Write the calls chunk by chunk (without an account, only look which are there); the sizes of the new ones that
    will be sent. A million calls are never held at once: `counts` says how many there were."""
    while chunk := list(islice(calls, CHUNK)):
        with transaction(engine) if account else reading(engine) as session:
            known = set(session.scalars(KNOWN, {"keys": [call.key for call in chunk]}))
            new = [call for call in chunk if call.key not in known]
            if account:
                _write(session, study_id, account, new, window)
        counts.update(calls=len(chunk), added=len(new), too_long=sum(_too_long(call.size, window) for call in new))
        yield from (call.size for call in new if not _too_long(call.size, window))


def _write(session: Session, study_id: int, account: Account, new: Sequence[PlannedCall], window: int | None) -> None:
    """Write the assignments and calls of a chunk."""
    if not new:
        return
    study = session.get_one(Study, study_id)
    assignments = open_assignments(
        session,
        study,
        account.rater_id,
        {place: shown for call in new for place, shown in call.served.items()},
    )
    stamp = now()
    rows = [
        {
            "key": call.key,
            "judge_id": account.judge_id,
            "config_id": account.config_id,
            "criteria": [row.id for row in call.criteria],
            "shown_sha256": list(call.shown_sha256),
            "state": "failed" if _too_long(call.size, window) else "planned",
            "outcome": "input_too_long" if _too_long(call.size, window) else None,
            "done_at": stamp if _too_long(call.size, window) else None,
        }
        for call in new
    ]
    # somebody else may be planning the very same: a row that is there is left alone
    session.execute(insert_new(session, CALLS), rows)
    ids = {key: call for call, key in session.execute(IDS, {"keys": [call.key for call in new]})}
    session.execute(
        insert_new(session, SERVED),
        [{"call_id": ids[call.key], "assignment_id": assignments[place]} for call in new for place in call.served],
    )
    unsendable = [call for call in new if _too_long(call.size, window)]
    record_answers(
        session,
        [
            Answered(
                tuple(assignments[place] for place in call.served),
                failed_answers([row.code for row in call.criteria], "input_too_long"),
            )
            for call in unsendable
        ],
        parser_version=PARSER_VERSION,
    )


def _too_long(size: CallSize, window: int | None) -> bool:
    return window is not None and size.characters / 4 > window


def insert_new(session: Session, table: Table) -> Insert:
    """INSERT that leaves a row that is already there alone."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()

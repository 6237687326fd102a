"""Plan a judge's work: every assignment with its order, and one row per call, before anything is sent.

Planning is idempotent: the key of a call says everything it depends on, so planning again adds only what is new.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Engine, Insert, Table, bindparam, orm, select
from sqlalchemy.dialects import postgresql, sqlite

from annotation import errors, labelling, studies
from annotation.items.shown import item_code, name_some
from annotation.judges.asking import client, examples, material, own_prompts
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, maker, own_family
from annotation.judges.money import accounts, prices
from annotation.judges.planning.calls import (
    LabelledItem,
    Pass,
    PlannedCall,
    criteria_by_topic,
    empty_material,
    labelled_pairs,
    passes_of,
    planned_calls,
    put_back,
    standing_passes,
)
from annotation.judges.planning.singles import labelled_singles, share_calls, standing_groups
from annotation.judges.replies.reply import PARSER_VERSION, failed_answers
from annotation.labels.answers import Answered
from annotation.leaks.addressed import addressed_to_judges
from db import connect, types
from db.tables import LIVE, Assignment, Criterion, Item, Report, Source, Study, System, Topic

CHUNK = 8000  # calls per transaction, some half a second: a plan that is interrupted goes on where it was
CALLS, SERVED = types.Record.metadata.tables["judge_calls"], types.Record.metadata.tables["judge_call_assignments"]
KNOWN = select(CALLS.c.key, CALLS.c.state).where(CALLS.c.key.in_(bindparam("keys", expanding=True)))
IDS = select(CALLS.c.id, CALLS.c.key).where(CALLS.c.key.in_(bindparam("keys", expanding=True)))


@dataclass(frozen=True)
class JudgePlan:
    """What planning came to for one judge: `calls` are all it needs, `added` those that were new, `too_long` of these
    do not fit the model's context window. `waiting` were planned before and not made yet. `estimate` is of both, as far
    as they will be sent."""

    name: str
    items: int
    calls: int
    added: int
    too_long: int
    waiting: int
    estimate: prices.Estimate
    price_source: str
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """What one judge needs, checked before anything is written. `window`: the tokens its model takes, if known.

    `calls` can be gone through once.
    """

    resolved: accounts.Resolved
    prompt: examples.JudgePrompt
    window: int | None
    calls: Iterator[PlannedCall]
    items: int
    warnings: tuple[str, ...]


def plan_judges(
    engine: Engine,
    study_id: int,
    definitions: Sequence[JudgeDefinition],
    *,
    describe: accounts.Describe = client.describe,
    write: bool = True,
) -> tuple[JudgePlan, ...]:
    """Write accounts, assignments and calls for every labelled item; twice adds nothing. `write=False` only estimates.

    All judges are checked before the first row is written. A prompt that cannot fit the context window is never sent:
    its criteria are `missing` from the start. Raises AnnotationError.
    """
    facts = {definition.name: describe(definition) for definition in definitions}
    with connect.reading(engine) as session:
        study = session.get_one(Study, study_id)
        if study.status == "locked":
            raise errors.AnnotationError(
                "locked", "study {name!r} is locked; nothing can be judged any more", name=study.name
            )
        items = judged_items(session, study)
        questions = criteria_by_topic(session, study, items)
        said = *warn_of_addressed(session, study), *_warn_of_stand_ins(session, study)
        wanted = [
            _wanted(session, study, definition, facts[definition.name], items, questions, said)
            for definition in definitions
        ]
    return tuple(_plan(engine, study_id, one, write=write) for one in wanted)


def judged_items(session: orm.Session, study: Study) -> list[LabelledItem]:
    """What is to be judged. Raises AnnotationError `no_items`."""
    protocol = studies.protocol_of(study)
    paired = protocol.task_type == "pairwise_choice" or protocol.rates_both
    items = labelled_pairs(session, study) if paired else labelled_singles(session, study)
    if not items:
        raise errors.AnnotationError(
            "no_items", "study {name!r} has no items; make them with: calipers pairs", name=study.name
        )
    return items


def _wanted(
    session: orm.Session, study: Study, definition: JudgeDefinition, facts: ModelFacts, items: Sequence[LabelledItem],
    questions: Mapping[int, Sequence[Criterion]], said: Sequence[str],
) -> Wanted:  # fmt: skip
    """What this judge needs given what is there; writes nothing. Raises AnnotationError."""
    accounts.refuse_taken_name(session, study, definition.name)
    protocol, prompt = studies.protocol_of(study), examples.judge_prompt(session, study, definition)
    if own_prompts.is_own(definition):
        refuse_unfit_prompt(session, study, definition, prompt.template, items, questions)
    if prompt.topics:
        examples.refuse_asked(session, study, definition, prompt.topics)
        items = [item for item in items if item.topic_id not in prompt.topics]
    # nor about items that it knows from elsewhere: what was never asked stands in no number of any page
    known = {item.item_id for item in items if item_code(item.item_id) in definition.examples}
    _refuse_asked_items(session, study, definition, known)
    items = [item for item in items if item.item_id not in known]
    resolved = accounts.resolve(session, study, definition, prompt.template, facts)
    assert resolved is not None  # facts are given
    passes = passes_of(definition, items, standing_passes(session, study, definition.name), study.seed)
    groups = _groups(session, study, resolved, items)
    calls = planned_calls(study.id, protocol, prompt.template, resolved, groups, passes, questions)
    related = own_family(definition.name, maker(definition.model), _makers(session, study))
    dropped = (
        f"judge {definition.name!r}: {name} is not accepted by {definition.model}; {name}: provider default"
        for name in facts.dropped
    )
    warnings = (*dropped, *related, *said, *_shown_topics(session, study, definition, prompt))
    return Wanted(resolved, prompt, facts.context_tokens, calls, len(items), warnings)


def _refuse_asked_items(session: orm.Session, study: Study, definition: JudgeDefinition, known: set[int]) -> None:
    """Raises AnnotationError `no_examples` where the judge was asked before about an item that it knows."""
    asked = sorted(known & standing_passes(session, study, definition.name).keys())
    if asked:
        raise errors.AnnotationError(
            "no_examples",
            "judge {name!r} was asked about {item_code} before, which its `examples` name; those answers would stand "
            "on every page, so give the judge a new name", name=definition.name, item_code=item_code(asked[0]),
        )  # fmt: skip


def refuse_unfit_prompt(
    session: orm.Session, study: Study, definition: JudgeDefinition, template: str, items: Sequence[LabelledItem],
    questions: Mapping[int, Sequence[Criterion]],
) -> None:  # fmt: skip
    """Raises AnnotationError `bad_prompt` where a judge's own words cannot be asked of these items."""
    rows = session.execute(select(System.key, System.public_name).where(System.study_id == study.id))
    protocol, source = studies.protocol_of(study), own_prompts.source_of(definition)
    systems = sorted({name for row in rows for name in row if name})
    own_prompts.refuse_named_systems(protocol, definition, systems)
    for item in {item.names: item for item in items}.values():
        material = empty_material(protocol, template, questions[item.topic_id], item.names, 1)
        own_prompts.refuse_unfit(template, material, source)
        own_prompts.refuse_composed_names(protocol, template, material, source, systems)


def _warn_of_stand_ins(session: orm.Session, study: Study) -> Iterator[str]:
    """A demo of labels has no reports: what stands in their places is paid for like any text."""
    stands = Report.study_id == study.id, Report.shown_text.contains(studies.LABELS_ONLY)
    if study.is_simulated and session.scalar(select(Report.id).where(*stands).limit(1)) is not None:
        yield (
            f"study {study.name!r} has labels only: where its reports would stand there is nothing to judge, at the "
            "same price; try judges on the study 'demo', whose reports are real texts"
        )


def _shown_topics(
    session: orm.Session, study: Study, definition: JudgeDefinition, prompt: examples.JudgePrompt
) -> list[str]:
    if not prompt.topics:
        own = own_prompts.is_own(definition) and not definition.examples
        made = examples.made_like(session, study, prompt.template) if own else ""
        return [
            f"judge {definition.name!r}: of all prompts here its own is most like that of {made!r}, made from people's "
            f"labels; if it was written from that one, copy the `examples` of {made!r} to it in judges.toml: "
            "it is asked about those topics now, and its agreement there is no measure"
        ] * bool(made)
    keys = session.scalars(select(Topic.key).where(Topic.id.in_(prompt.topics)).order_by(Topic.key)).all()
    return [
        f"judge {definition.name!r} is shown people's labels of {name_some(keys)} topics as examples: it is not asked "
        "about them, and no number rests on it there"
    ]


def _groups(
    session: orm.Session, study: Study, resolved: accounts.Resolved, items: Sequence[LabelledItem]
) -> Sequence[tuple[LabelledItem, ...]]:
    """The items of each call: one, or as many probes as the judge is asked about at once."""
    definition = resolved.definition
    if studies.protocol_of(study).task_type != "probe_label" or definition.items_per_call == 1:
        return [(item,) for item in items]
    standing = standing_groups(session, study, definition.name, resolved.sha256)
    return share_calls(items, definition.items_per_call, standing)


def _makers(session: orm.Session, study: Study) -> list[tuple[str, str]]:
    """The family of every system, by its key."""
    rows = session.scalars(select(System).where(System.study_id == study.id))
    return sorted((row.key, row.family) for row in rows)


def _plan(engine: Engine, study_id: int, wanted: Wanted, *, write: bool) -> JudgePlan:
    """Write the judge's account and calls, or without `write` only count them."""
    definition, warnings = wanted.resolved.definition, list(wanted.warnings)
    account: accounts.Account | None = None
    changed = False
    if write:
        with connect.transaction(engine) as session:
            study = session.get_one(Study, study_id)
            account = accounts.open_account(session, study, wanted.resolved, wanted.prompt.template)
            examples.keep_examples(session, study, wanted.prompt)
            changed = accounts.other_settings(session, account)
    counts: Counter[str] = Counter()
    sent = _sent(engine, study_id, account, wanted.calls, wanted.window, counts, changed)
    expected = prices.estimate(sent, wanted.resolved.priced.price, definition.max_output_tokens)
    if counts["added"] and changed:
        warnings.append(f"judge {definition.name!r} had other settings before; new labels stand as later revisions")
    if counts["again"]:
        warnings.append(
            f"judge {definition.name!r} has settings again that others replaced: what it answered with these to "
            f"{counts['again']:,} calls counts again, as later revisions, and is not asked anew"
        )
    return JudgePlan(
        name=definition.name, items=wanted.items, calls=counts["calls"], added=counts["added"],
        too_long=counts["too_long"], waiting=counts["waiting"], estimate=expected,
        price_source=wanted.resolved.priced.source,
        warnings=tuple(warnings),
    )  # fmt: skip


def _sent(
    engine: Engine, study_id: int, account: accounts.Account | None, calls: Iterator[PlannedCall], window: int | None,
    counts: Counter[str], changed: bool,
) -> Iterator[prices.CallSize]:  # fmt: skip
    """Write the calls chunk by chunk (without an account, only look which are there); the sizes of those that will be
    sent. A million calls are never held at once: `counts` says how many there were. `changed`: the judge had other
    settings as well, by which these may have been replaced."""
    at_once = material.CHUNK if changed else CHUNK  # their texts are in memory together, to be labelled again
    while chunk := list(islice(calls, at_once)):
        with connect.transaction(engine) if account else connect.reading(engine) as session:
            known = dict(session.execute(KNOWN, {"keys": [call.key for call in chunk]}).all())
            new = [call for call in chunk if call.key not in known]
            if account:
                _write(session, study_id, account, new, window)
                if changed:
                    counts.update(again=put_back(session, session.get_one(Study, study_id), known))
        waiting = [call for call in chunk if known.get(call.key) in ("planned", "leased")]
        long = sum(too_long(call.size, window) for call in new)
        counts.update(calls=len(chunk), added=len(new), too_long=long, waiting=len(waiting))
        yield from (call.size for call in (*new, *waiting) if not too_long(call.size, window))


def _write(
    session: orm.Session, study_id: int, account: accounts.Account, new: Sequence[PlannedCall], window: int | None
) -> None:
    """Write the assignments and calls of a chunk."""
    if not new:
        return
    served = {place: shown for call in new for place, shown in call.served.items()}
    assignments = open_assignments(session, session.get_one(Study, study_id), account.rater_id, served)
    stamp = types.now()
    # somebody else may be planning the very same: a row that is there is left alone
    session.execute(insert_new(session, CALLS), [_row(account, call, window, stamp) for call in new])
    ids = {key: call for call, key in session.execute(IDS, {"keys": [call.key for call in new]})}
    session.execute(
        insert_new(session, SERVED),
        [{"call_id": ids[call.key], "assignment_id": assignments[place]} for call in new for place in call.served],
    )
    unsendable = [
        Answered(
            tuple(assignments[place] for place in call.served),
            failed_answers([row.code for row in call.criteria], "input_too_long"),
        )
        for call in new
        if too_long(call.size, window)
    ]
    labelling.record_answers(session, unsendable, parser_version=PARSER_VERSION)


def _row(account: accounts.Account, call: PlannedCall, window: int | None, stamp: datetime) -> dict[str, Any]:
    """The call as it is stored; one that can never be sent has ended."""
    never_sent = too_long(call.size, window)
    return {
        "key": call.key,
        "judge_id": account.judge_id,
        "config_id": account.config_id,
        "criteria": [row.id for row in call.criteria],
        "shown_sha256": list(call.shown_sha256),
        "state": "failed" if never_sent else "planned",
        "outcome": "input_too_long" if never_sent else None,
        "done_at": stamp if never_sent else None,
    }


def too_long(size: prices.CallSize, window: int | None) -> bool:
    """Whether a prompt of this size cannot fit a context window of so many tokens, at four characters each."""
    return window is not None and size.characters / 4 > window


def insert_new(session: orm.Session, table: Table) -> Insert:
    """INSERT that leaves a row that is already there alone."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


ASSIGNMENTS = types.Record.metadata.tables["assignments"]


def open_assignments(
    session: orm.Session, study: Study, rater_id: int, passes: Mapping[tuple[int, int], Pass]
) -> dict[tuple[int, int], int]:
    """Assignment ids by (item id, pass_no); what is there is kept with its order, what is missing is made."""
    items = {item for item, _ in passes}
    standing = select(Assignment.item_id, Assignment.pass_no, Assignment.id).where(
        Assignment.rater_id == rater_id, Assignment.item_id.in_(items), Assignment.status.in_(LIVE)
    )

    def found() -> dict[tuple[int, int], int]:
        return {(item, pass_no): key for item, pass_no, key in session.execute(standing)}

    studies.hold_person(session, rater_id)  # other machines may plan the same judge at this moment
    there = found()
    stamp = types.now()
    missing: list[dict[str, Any]] = [
        {
            "aid": types.opaque(), "study_id": study.id, "item_id": item, "rater_id": rater_id, "purpose": "label",
            "source": "judge", "status": "taken", "left": shown.left, "pass_no": pass_no, "repeat_no": shown.repeat_no,
            "slot_no": pass_no, "plan_seed": study.seed, "priority": 0, "rev": 0, "place": {}, "created_at": stamp,
            "taken_at": stamp,
        }
        for (item, pass_no), shown in passes.items()
        if (item, pass_no) not in there
    ]  # fmt: skip
    if missing:
        session.execute(ASSIGNMENTS.insert(), missing)
        there = found()
    return {place: there[place] for place in passes}


def warn_of_addressed(session: orm.Session, study: Study) -> list[str]:
    """One warning with a count and the first such words, or none."""
    found = [*_in_reports(session, study), *_in_probes(session, study)]
    if not found:
        return []
    where, words = found[0]
    return [
        f"{len(found)} shown texts speak to their judge (first: {words!r} in {where}); they are sent as they stand, as "
        "data between tags, and replies are checked as ever; look at them with: calipers audit"
    ]


def _in_reports(session: orm.Session, study: Study) -> Iterator[tuple[str, str]]:
    """By the flags of their import that nobody masked."""
    reports = select(Topic.key, Report.flags).join(Topic, Topic.id == Report.topic_id)
    for topic, flags in session.execute(reports.where(Report.study_id == study.id, Report.status == "ready")):
        said = [flag["text"] for flag in flags if flag["kind"] == "judge" and flag.get("resolution") != "mask"]
        if said:
            yield f"a report on {topic}", said[0]


def _in_probes(session: orm.Session, study: Study) -> Iterator[tuple[str, str]]:
    """In probes and their source passages, which no import flags."""
    stored = select(Source.id, Source.text).where(Source.study_id == study.id).execution_options(yield_per=50)
    sources: dict[int | None, list[str]] = {
        source: addressed_to_judges(text) for source, text in session.execute(stored)
    }
    probes = select(Item.id, Item.probe, Item.own_context, Item.source_id).where(
        Item.study_id == study.id, Item.kind == "probe", Item.purpose == "label", Item.excluded_at.is_(None)
    )
    for item, probe, context, source in session.execute(probes.execution_options(yield_per=500)):
        said = addressed_to_judges(f"{probe}\n{context or ''}") + sources.get(source, [])
        if said:
            yield item_code(item), said[0]

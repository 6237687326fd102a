"""A judge's own calls made once more with one thing changed: planned into the same queue, paid from the same budget.

A stress test is a copy of a finished call: the same items, order, criteria and settings. What it says is never a label.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Engine, Select, func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.items.shown import ShownText
from annotation.items.twins import twin_items
from annotation.judges.asking import altered_texts, client, examples
from annotation.judges.asking.material import CHUNK, CallRows, Texts, load_calls
from annotation.judges.asking.prompt import Material, build_prompt
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import Account, Describe, find_account, is_planned, open_account
from annotation.judges.money.prices import CallSize, Estimate, estimate
from annotation.judges.planning.plan import CALLS, IDS, SERVED, insert_new, too_long
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from db.connect import reading, transaction
from db.judge_tables import JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Item, Study
from plain.hashes import canonical_sha256, text_sha256


@dataclass(frozen=True)
class StressPlan:
    """What a stress test comes to. `estimate` is of the calls still to be made, older ones of it among them.

    `left_out`: calls that the change would not change, whose texts were replaced, or that could not be sent.
    """

    judge: str
    kind: str
    items: int
    topics: int
    calls: int
    added: int
    left_out: int
    estimate: Estimate
    price_source: str


@dataclass(frozen=True)
class Copy:
    """A call to be copied, as it will be asked."""

    key: str
    assignment_ids: tuple[int, ...]
    asked: tuple[int, ...]
    shown_sha256: tuple[str, ...]
    size: CallSize


def plan_stress_test(
    engine: Engine,
    study_id: int,
    definition: JudgeDefinition,
    kind: str,
    pairs: int,
    *,
    describe: Describe = client.describe,
    write: bool = True,
) -> StressPlan:
    """Copy the judge's own finished calls on at most `pairs` items, changed. Twice adds nothing; more pairs add to it.

    `write=False` only estimates. Raises AnnotationError where the judge has answered nothing that could be compared.
    """
    window = describe(definition).context_tokens
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        _refuse(protocol_of(study), kind)
        own = own_account(session, study, definition)
        topic_of = dict(answered(session, study, own, kind))
        if not topic_of:
            raise AnnotationError("nothing_to_stress", _nothing(definition, kind))
        chosen = altered_texts.draw_items(list(topic_of.items()), pairs, study.seed)
        copies = list(copies_of(session, study, own, kind, chosen, _template(session, study, definition, kind)))
        stressed = [copy for copy in copies if copy is not None and not too_long(copy.size, window)]
        known = known_keys(session, stressed)
        account = stress_account(session, study, definition, kind)
        waiting = [] if account is None else waiting_sizes(session, study, account)
    new = [copy for copy in stressed if copy.key not in known]
    if write and new:
        with transaction(engine) as session:
            study = session.get_one(Study, study_id)
            write_copies(session, study, own, kind, new, _template(session, study, definition, kind))
    price = own.resolved.priced
    return StressPlan(
        judge=definition.name, kind=kind, items=len(chosen), topics=len({topic_of[item] for item in chosen}),
        calls=len(stressed), added=len(new), left_out=len(copies) - len(stressed),
        estimate=estimate(
            [*waiting, *(copy.size for copy in new)], price.price, own.resolved.definition.max_output_tokens
        ),
        price_source=price.source,
    )  # fmt: skip


def own_account(session: Session, study: Study, definition: JudgeDefinition) -> Account:
    """The account of the judge's own calls. Raises AnnotationError `not_planned`."""
    return find_account(session, study, definition, examples.prompt_for(session, study, definition))


def stress_account(session: Session, study: Study, definition: JudgeDefinition, kind: str) -> Account | None:
    """The account that calls of this stress test belong to; None before the first."""
    return account_under(session, study, definition, kind, _template(session, study, definition, kind))


def account_under(
    session: Session, study: Study, definition: JudgeDefinition, kind: str, template: str
) -> Account | None:
    """The account of this kind's calls that are asked with a template; None before the first."""
    if not is_planned(session, study, definition, template):
        return None
    return replace(find_account(session, study, definition, template), stress=kind)


def _template(session: Session, study: Study, definition: JudgeDefinition, kind: str) -> str:
    return examples.prompt_for(session, study, definition, reworded=kind == "paraphrase")


def _refuse(protocol: Protocol, kind: str) -> None:
    if kind not in altered_texts.KINDS:
        raise AnnotationError("bad_option", f"--kind {kind!r}: choose from {', '.join(altered_texts.KINDS)}")
    if kind == "plain" and protocol.study.layout == "plain":
        raise AnnotationError("bad_option", "--kind plain: this study's layout is plain already; use markdown")
    if kind in altered_texts.ONE_SIDED and protocol.task_type == "probe_label":
        raise AnnotationError("bad_option", f"--kind {kind} changes a report that is judged; here statements are")
    if kind in altered_texts.ONE_SIDED and not protocol.language.lower().startswith("en"):
        raise AnnotationError(
            "bad_option",
            f"--kind {kind} adds English sentences, and this study's language is {protocol.language!r}; "
            "use markdown or paraphrase",
        )


def _nothing(definition: JudgeDefinition, kind: str) -> str:
    orders = " in both orders (order = 'both')" if kind == "padding" else ""
    return f"judge {definition.name!r} has finished no item{orders} with these settings; run it first"


def answered(session: Session, study: Study, own: Account, kind: str) -> list[tuple[int, int]]:
    """(item, topic) of what the judge has answered, by id; of two rated in one view, the first alone."""
    protocol = protocol_of(study)
    both_orders = kind == "padding" and protocol.task_type == "pairwise_choice"
    twins = twin_items(session, study) if protocol.rates_both else {}
    orders = func.count(Assignment.left.distinct())
    rows = session.execute(
        _served(Item.id, Item.topic_id)
        .where(own.calls, JudgeCall.state == "done", Assignment.repeat_no == 1, Item.excluded_at.is_(None))
        .group_by(Item.id, Item.topic_id)
        .having(orders >= (2 if both_orders else 0))
        .order_by(Item.id)
    )
    return [(item, topic) for item, topic in rows if item <= twins.get(item, item)]


def copies_of(
    session: Session, study: Study, own: Account, kind: str, items: Sequence[int], template: str
) -> Iterator[Copy | None]:
    """Every finished call on these items with its change, in the order made; None for one that is left out."""
    found: dict[int, tuple[Any, ...]] = {}
    for start in range(0, len(items), CHUNK):
        rows = session.execute(
            _served(JudgeCall.id, JudgeCall.key, JudgeCall.criteria, Item.id, Assignment.left).where(
                own.calls, JudgeCall.state == "done", Assignment.repeat_no == 1, Item.id.in_(items[start:][:CHUNK])
            )
        )
        for call, *of_call in rows:
            found.setdefault(call, tuple(of_call))
    ids, texts = sorted(found), Texts()
    for start in range(0, len(ids), CHUNK):
        for call, rows_of in load_calls(session, study, ids[start:][:CHUNK], texts).items():
            key, asked, item, left = found[call]
            yield _copy(rows_of, kind, template, key=key, asked=asked, item=item, left=left, seed=study.seed)


def known_keys(session: Session, stressed: Sequence[Copy]) -> set[str]:
    """The keys of those that were planned before."""
    known: set[str] = set()
    for start in range(0, len(stressed), CHUNK):
        keys = [copy.key for copy in stressed[start:][:CHUNK]]
        known.update(key for _, key in session.execute(IDS, {"keys": keys}))
    return known


def _copy(
    rows: CallRows, kind: str, template: str, *, key: str, asked: Sequence[int], item: int, left: str | None, seed: int
) -> Copy | None:
    old = rows.material
    shown = [ShownText("", *text, "") for text in zip(old.texts, old.text_sha256, strict=True)]
    changed = altered_texts.as_stressed(kind, shown, left, seed=seed, item=item)
    sha256 = tuple(text.shown_sha256 for text in changed)
    if rows.stale or (template == old.template and sha256 == old.text_sha256):
        return None
    material = replace(old, texts=tuple(text.shown_text for text in changed), text_sha256=sha256, template=template)
    try:
        size = _size(material)
    except AnnotationError:  # a text holds the nonce
        return None
    identity = {"of": key, "probe": kind, "shown": list(sha256), "template": text_sha256(template)}
    return Copy(canonical_sha256(identity), rows.assignment_ids, tuple(asked), sha256, size)


def waiting_sizes(session: Session, study: Study, account: Account) -> list[CallSize]:
    """Of the account's calls that were planned and not made yet."""
    unfinished = select(JudgeCall.id).where(account.calls, JudgeCall.state.in_(("planned", "leased")))
    ids = session.scalars(unfinished.order_by(JudgeCall.id)).all()
    return [
        _size(rows.material)
        for start in range(0, len(ids), CHUNK)
        for rows in load_calls(session, study, ids[start:][:CHUNK]).values()
        if not rows.stale
    ]


def _size(material: Material) -> CallSize:
    prompt = build_prompt(material, "plain")
    return CallSize(prompt.characters, prompt.utf8_bytes, len(material.criteria))


def write_copies(session: Session, study: Study, own: Account, kind: str, new: Sequence[Copy], template: str) -> None:
    """Plan these calls with the judge's own settings, under another template where they are asked with one."""
    config_id, sha256 = own.config_id, text_sha256(template)
    if sha256 != own.resolved.content["template_sha256"]:
        # the same effective parameters, whatever another version would make of the file
        content = {**own.resolved.content, "template_sha256": sha256}
        resolved = replace(own.resolved, content=content, sha256=canonical_sha256(content))
        config_id = open_account(session, study, resolved, template).config_id
    for start in range(0, len(new), CHUNK):
        part = new[start:][:CHUNK]
        rows = [
            {
                "key": copy.key, "judge_id": own.judge_id, "config_id": config_id, "criteria": list(copy.asked),
                "shown_sha256": list(copy.shown_sha256), JudgeCall.stress.name: kind, "state": "planned",
            }
            for copy in part
        ]  # fmt: skip
        session.execute(insert_new(session, CALLS), rows)
        ids = {key: call for call, key in session.execute(IDS, {"keys": [copy.key for copy in part]})}
        served = [
            {"call_id": ids[copy.key], "assignment_id": assignment}
            for copy in part
            for assignment in copy.assignment_ids
        ]
        session.execute(insert_new(session, SERVED), served)


def _served(*columns: Any) -> Select[*tuple[Any, ...]]:
    """Calls with the assignments they serve and their items."""
    return (
        select(*columns)
        .select_from(JudgeCall)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
    )

"""Which topics a judge's wording may be made from: drawn by the study's seed and kept before anything is tried."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.items.shown import item_code
from annotation.judges.asking.examples import answered_as, clusters_drawn_before, judge_prompt, whole_clusters
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import Account
from annotation.judges.stress_tests.stress_plan import answered, own_account
from annotation.labels.current_labels import counted_labels
from annotation.leaks.redaction import redactor_of
from annotation.studies import audit, audit_data, clusters_of, each_language, protocol_of
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Item, Study, Topic

ALIGN = "align"  # marks the calls, as a kind of stress test does: what they say is never a label
KEPT = "judge_alignment"  # in the audit trail
AGAINST = re.compile(r"(?:labels of )?(\d{1,6}) topics")
FEWEST_SEEN, FEWEST_UNSEEN = 4, 5
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}", re.IGNORECASE)

Said = tuple[str, str]  # what a person answered, and why


@dataclass(frozen=True)
class Alignment:
    """What was fixed before anything was tried. Topics by key; `budget` and `tried_before` in USD.

    `written_from` and `chosen_on` are the seen topics: variants are written from people's verdicts on the one half, and
    compared on the other. `unseen`: the others that people labelled, on which the last variant alone is measured. Of a
    topic in several languages the first by its key is seen, and the others are neither.
    `tried_before`: what earlier alignments of the judge cost. `inherited`: what its own prompt was made from.
    """

    judge: str
    name: str
    written_from: tuple[str, ...]
    chosen_on: tuple[str, ...]
    unseen: tuple[str, ...]
    variants: int
    examples: int
    budget: float
    tried_before: float = 0.0
    inherited: tuple[str, ...] = ()

    @property
    def seen(self) -> tuple[str, ...]:
        """Every topic that some step sees."""
        return tuple(sorted((*self.written_from, *self.chosen_on)))

    @property
    def made_from(self) -> tuple[str, ...]:
        """Every topic that the new wording rests on: those, and what the wording that it starts from does."""
        return tuple(sorted({*self.seen, *self.inherited}))


def topics_against(text: str) -> int:
    """How many topics `labels of 20 topics` says. Raises AnnotationError `bad_option`."""
    found = AGAINST.fullmatch(text.strip())
    if found is None:
        raise AnnotationError("bad_option", f'--against {text!r:.60}: write "labels of 20 topics"')
    if int(found[1]) < FEWEST_SEEN:
        raise AnnotationError(
            "bad_option", f"--against {text!r}: at least {FEWEST_SEEN} topics, half of them to choose on"
        )
    return int(found[1])


def refuse_unaligned(definition: JudgeDefinition, study: Study) -> None:
    """Raises AnnotationError `cannot_align` for a judge that has no wording of its own to improve here."""
    protocol, why = protocol_of(study), ""
    if definition.code:
        why = "it is code, which reads no wording"
    elif definition.examples_drawn:
        why = "it is shown drawn examples already; align it without them, --examples adds its own"
    elif protocol.rates_both:
        why = "two reports are rated in one view, and people's answers on one are no examples for the other"
    elif protocol.task_type == "probe_label" and definition.items_per_call > 1:
        why = "it is asked about several statements at once, of seen and of unseen topics; set items_per_call = 1"
    if why:
        raise AnnotationError("cannot_align", f"judge {definition.name!r}: {why}")


def plan_alignment(
    session: Session, study: Study, definition: JudgeDefinition, name: str, count: int, *,
    variants: int, examples: int, budget: float,
) -> Alignment:  # fmt: skip
    """The plan that was kept under this name, else a new one; writes nothing.

    A larger budget than before goes on where the smaller one ended. Raises AnnotationError `kept` where the rest is
    otherwise than was kept, `too_few_topics`, `not_planned`, `cannot_align`.
    """
    refuse_unaligned(definition, study)
    if not math.isfinite(budget):
        raise AnnotationError("bad_option", f"--budget {budget}: say a number of USD")
    if not NAME.fullmatch(name):
        raise AnnotationError(
            "bad_option", f"--name {name!r:.80}: letters, digits, '-', '_' and '.' make a judge's name"
        )
    for kept in _kept(session, study):
        if kept.name == name:
            if (kept.judge, len(kept.seen), kept.variants, kept.examples) != (
                definition.name,
                count,
                variants,
                examples,
            ):
                raise AnnotationError(
                    "kept",
                    f"{name!r} was planned from {kept.judge!r} with labels of {len(kept.seen)} topics, "
                    f"{kept.variants} variants and {kept.examples} examples; say the same, or give another --name",
                )
            return replace(kept, budget=budget)
    own = own_account(session, study, definition)
    keys, clusters = _labelled(session, study, own), clusters_of(session, study)
    first = {clusters[key]: key for key in sorted(keys, reverse=True)}
    if len(first) < count + FEWEST_UNSEEN:
        raise AnnotationError(
            "too_few_topics",
            f"judge {definition.name!r}: people and judge have both answered on {len(first)} topics"
            f"{each_language(len(first), len(keys))}; {count} to learn from and at least {FEWEST_UNSEEN} more to "
            "measure on are needed: name fewer, or label more",
        )
    before = clusters_drawn_before(session, study)
    told = sorted(first, key=lambda cluster: (cluster not in before, _coin(study.seed, cluster)))[:count]
    half = math.ceil(count / 2)
    ordered = sorted((first[cluster] for cluster in told), key=lambda key: _coin(study.seed, f"half|{key}"))
    before_this = tried_for(session, session.get_one(Judge, own.judge_id))
    items = session.execute(select(Item.id, Item.topic_id).where(Item.study_id == study.id))
    known = {topic for item, topic in items if item_code(item) in definition.examples}
    shown = known | judge_prompt(session, study, definition).topics
    inherited = tuple(session.scalars(select(Topic.key).where(Topic.id.in_(shown)).order_by(Topic.key)))
    return Alignment(
        definition.name, name, tuple(sorted(ordered[half:])), tuple(sorted(ordered[:half])),
        tuple(sorted(key for key in keys if clusters[key] not in told)), variants, examples, budget, before_this,
        inherited,
    )  # fmt: skip


def tried_for(session: Session, judge: Judge) -> float:
    """USD that every alignment of this judge has come to: its account without what its other calls cost.

    A try whose cost nobody knows is in the account alone, with all that was reserved for it; it counts here whatever
    call it was of, so the sum is never too low.
    """
    others = (
        select(func.sum(JudgeAttempt.cost))
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .where(JudgeCall.judge_id == judge.id, or_(JudgeCall.stress.is_(None), JudgeCall.stress != ALIGN))
        .where(JudgeAttempt.kind != "surplus")  # it came back after its lease was lost, and is in no account
    )
    return judge.spent - (session.scalar(others) or 0.0)


def keep_alignment(session: Session, study: Study, plan: Alignment) -> None:
    """Write the plan down, before anything is tried; one that is there already is left alone."""
    if all(kept.name != plan.name for kept in _kept(session, study)):
        audit(session, study.id, None, KEPT, **asdict(plan))


def kept_alignments(session: Session, study: Study) -> dict[str, Alignment]:
    """Every plan by the name of the judge that was made by it."""
    return {plan.name: plan for plan in _kept(session, study)}


def variants_tried(session: Session, study: Study, judge: str) -> int:
    """How many wordings of this judge were tried on topics that some step sees."""
    asked = (
        select(func.count(JudgeCall.config_id.distinct()))
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)  # a request to rewrite serves no item
        .where(Judge.study_id == study.id, Judge.name == judge, JudgeCall.stress == ALIGN)
    )
    return session.scalar(asked) or 0


def _kept(session: Session, study: Study) -> list[Alignment]:
    lists = ("written_from", "chosen_on", "unseen", "inherited")
    names = {one.name for one in fields(Alignment)}
    found = []
    for data in audit_data(session, study.id, KEPT):
        given: dict[str, Any] = {name: data[name] for name in names & data.keys()}
        found.append(Alignment(**{**given, **{name: tuple(data.get(name, ())) for name in lists}}))
    return found


def _coin(seed: int, key: str) -> str:
    return sha256(f"{seed}|align|{key}".encode()).hexdigest()


def _labelled(session: Session, study: Study, own: Account) -> set[str]:
    """Keys of the topics with an item that people and the judge have both answered."""
    topic_of = dict(answered(session, study, own, ALIGN))
    both = {item for item, _ in people_said(session, study)} & topic_of.keys()
    topics = select(Topic.key).where(Topic.id.in_({topic_of[item] for item in both}))
    return set(session.scalars(topics))


def items_of(session: Session, study: Study, own: Account, topics: Sequence[str]) -> dict[int, str]:
    """Item -> topic, of the items on these topics that people and the judge have both answered."""
    topic_of = dict(answered(session, study, own, ALIGN))
    keys = dict(session.execute(select(Topic.id, Topic.key).where(Topic.study_id == study.id)).all())
    both = {item for item, _ in people_said(session, study)} & topic_of.keys()
    return {item: keys[topic_of[item]] for item in sorted(both) if keys[topic_of[item]] in {*topics}}


def items_on(session: Session, study: Study, topics: Sequence[str]) -> list[int]:
    """Every item on these topics, in whatever language, in order."""
    found = select(Item.id).where(Item.topic_id.in_(whole_clusters(session, study, topics)))
    return list(session.scalars(found.order_by(Item.id)))


def people_said(session: Session, study: Study) -> Mapping[tuple[int, str], Sequence[Said]]:
    """(item, criterion) -> what each annotator answered, whatever the order, and why; names of people taken out."""
    redact, found = redactor_of(session, study), defaultdict[tuple[int, str], list[Said]](list)
    for row in session.execute(counted_labels(study)).mappings():
        if row["rater_kind"] == "human" and row["status"] == "ok" and row["choice"] is not None:
            said = answered_as(row), redact(row["rationale"] or "")
            found[row["item_id"], row["criterion"]].append(said)
    return found

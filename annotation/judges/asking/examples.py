"""What a judge is asked with: its prompt and, where it wants them, examples drawn from people's labels.

Topics whose labels a judge was shown are never asked about, so no number of any page or export can rest on them.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256
from json import dumps
from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from annotation.designs.sides_and_orders import OTHER
from annotation.errors import AnnotationError
from annotation.items.shown import shown_of_item
from annotation.judges.asking.own_prompts import own_template, with_examples
from annotation.judges.asking.prompt import DATA, PART, WIRE, template_of
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import in_force, not_of_a_stress_test
from annotation.judges.replies.reply import ANSWER_FIELD
from annotation.labels.current_labels import counted_labels
from annotation.leaks.redaction import redactor_of
from annotation.protocol import Protocol
from annotation.studies import audit, audit_data, cluster_of, clusters_of, each_language, protocol_of
from annotation.texts.figures import MARKS
from db.judge_tables import Judge, JudgeConfig
from db.tables import LIVE, Assignment, Item, Study, Topic
from plain.hashes import text_sha256

SHOWN = "judge_examples"  # in the audit trail: which topics a judge's prompt shows, by the sha256 of its template


@dataclass(frozen=True)
class JudgePrompt:
    """A judge's template, and the topics whose labels it shows. `drawn`: what is to be kept of a draw just made."""

    template: str
    topics: frozenset[int] = frozenset()
    drawn: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Example:
    """An item as one annotator saw and answered it, as far as the majority says the same."""

    item_id: int
    left: str | None
    answers: tuple[RowMapping, ...]  # rows of labels


def prompt_for(session: Session, study: Study, definition: JudgeDefinition, *, reworded: bool = False) -> str:
    """The template that the judge is asked with; `reworded`: one that asks for the same in other words."""
    return judge_prompt(session, study, definition, reworded=reworded).template


def judge_prompt(session: Session, study: Study, definition: JudgeDefinition, *, reworded: bool = False) -> JudgePrompt:
    """The same with its examples: those it was planned with, else a new draw. Writes nothing.

    Raises AnnotationError `bad_prompt`, `no_prompt`, `no_examples`.
    """
    if definition.template:
        return JudgePrompt(definition.template, topics_shown(session, study, definition.template, definition.name))
    if reworded and definition.examples_drawn:
        raise AnnotationError(
            "no_prompt", "judge {name!r} has examples, and no other wording of them", name=definition.name
        )
    template = own_template(protocol_of(study), definition, reworded=reworded)
    if not definition.examples_drawn:
        return JudgePrompt(template, topics_shown(session, study, template, definition.name))
    asked = {
        "judge": definition.name, "count": definition.examples_drawn, "characters": definition.example_chars,
        "without": text_sha256(template),
    }  # fmt: skip
    return _kept(session, study, asked) or _drawn(session, study, definition, template, asked)


def keep_examples(session: Session, study: Study, prompt: JudgePrompt) -> None:
    """Write down a draw, in the transaction that keeps its template; one that is there already is left alone."""
    if prompt.drawn and _kept(session, study, {key: prompt.drawn[key] for key in ASKED}) is None:
        audit(session, study.id, None, SHOWN, **prompt.drawn)


COMPARED = 20_000  # words of two prompts: it takes the square of them
ASKED = ("judge", "count", "characters", "without")


def topics_shown(session: Session, study: Study, template: str, judge: str = "") -> frozenset[int]:
    """The topics whose labels a template shows, and those that the judge's prompt was made from, edited or not."""
    sha = text_sha256(template)
    keys = {
        key
        for draw in _draws(session, study)
        if draw["template_sha256"] == sha or (draw["judge"] == judge and "count" not in draw)  # not drawn: made
        for key in draw["topics"]
    }
    return whole_clusters(session, study, keys) if keys else frozenset()


def whole_clusters(session: Session, study: Study, keys: Collection[str]) -> frozenset[int]:
    """These topics and those of one cluster with them: to show one in English is to show it in Chinese."""
    own, cluster = Topic.study_id == study.id, cluster_of(study)
    clusters = select(cluster).where(own, Topic.key.in_(keys)).correlate(None)
    return frozenset(session.scalars(select(Topic.id).where(own, cluster.in_(clusters))))


def made_like(session: Session, study: Study, template: str) -> str:
    """The judge whose wording, made from people's labels, edited or not, is more like this one than any other of the
    study's or than the shipped one; "" where none is."""
    made = {draw["judge"] for draw in _draws(session, study) if "count" not in draw}
    stored = select(JudgeConfig.template, Judge.name).join(Judge, Judge.id == JudgeConfig.judge_id)
    mine = stored.where(Judge.study_id == study.id, not_of_a_stress_test()).distinct()
    words = SequenceMatcher(None, b=template.split()[:COMPARED], autojunk=False)

    def alike(one: Sequence[str]) -> float:
        words.set_seq1(one[0].split()[:COMPARED])
        return words.ratio()

    known = sorted(session.execute(mine) if made else (), key=lambda one: (one[1] not in made, one[1]))
    nearest = max((*known, (template_of(protocol_of(study)), "")), key=alike)[1]
    return nearest if nearest in made else ""


def items_shown_to(session: Session, study: Study) -> dict[str, int]:
    """Judge -> how many items lie on topics that its prompt, whose answers count, shows with their answers."""
    if not _draws(session, study):
        return {}
    found = {}
    for judge in session.scalars(select(Judge).where(Judge.study_id == study.id).order_by(Judge.name)):
        config = in_force(session, judge.id, not_of_a_stress_test(), answered=True)
        topics = topics_shown(session, study, config.template if config else "", judge.name)
        items = select(Item.id).where(Item.topic_id.in_(topics), Item.purpose == "label", Item.excluded_at.is_(None))
        if topics:
            found[judge.name] = len(session.scalars(items).all())
    return found


def refuse_asked(session: Session, study: Study, definition: JudgeDefinition, topics: Collection[int]) -> None:
    """Raises AnnotationError `no_examples` where the judge was asked before about a topic that it is shown now."""
    asked = session.scalar(
        select(Topic.key)
        .join(Item, Item.topic_id == Topic.id)
        .join(Assignment, Assignment.item_id == Item.id)
        .join(Judge, Judge.rater_id == Assignment.rater_id)
        .where(Judge.study_id == study.id, Judge.name == definition.name, Topic.id.in_(topics))
        .where(Assignment.status.in_(LIVE))
        .order_by(Topic.id)
        .limit(1)
    )
    if asked is not None:
        raise AnnotationError(
            "no_examples",
            "judge {name!r} was asked about topic {asked!r} before, which would be one of its examples; a judge with "
            "examples is another candidate, so give it a new name", name=definition.name, asked=asked,
        )  # fmt: skip


def clusters_drawn_before(session: Session, study: Study) -> set[str]:
    """Clusters of the topics that some judge of the study is shown, so that the next draw takes the same."""
    keys = {key for draw in _draws(session, study) for key in draw["topics"]}
    return set(session.scalars(select(cluster_of(study)).where(Topic.study_id == study.id, Topic.key.in_(keys))))


def _draws(session: Session, study: Study) -> list[dict[str, Any]]:
    """Every draw that was kept, the newest first."""
    return audit_data(session, study.id, SHOWN)[::-1]


def _kept(session: Session, study: Study, asked: Mapping[str, Any]) -> JudgePrompt | None:
    for draw in _draws(session, study):
        if asked.items() <= draw.items():
            template = session.scalar(
                select(JudgeConfig.template)
                .join(Judge, Judge.id == JudgeConfig.judge_id)
                .where(Judge.study_id == study.id, JudgeConfig.template_sha256 == draw["template_sha256"])
                .limit(1)
            )
            if template is not None:
                return JudgePrompt(template, topics_shown(session, study, template))
    return None


def _drawn(
    session: Session, study: Study, definition: JudgeDefinition, template: str, asked: Mapping[str, Any]
) -> JudgePrompt:
    """A draw by the study's seed: the same topics for every judge, so that all are measured on the others.

    Of a topic in several languages the first by its key is shown.
    """
    protocol, count = protocol_of(study), definition.examples_drawn
    if protocol.rates_both:
        raise AnnotationError("no_examples", "examples are not drawn where two reports are rated in one view")
    by_topic = _labelled(session, study, protocol)
    clusters, keys = clusters_of(session, study), select(Topic.key, Topic.id).where(Topic.id.in_(by_topic))
    first = {clusters[key]: topic for key, topic in sorted(session.execute(keys), reverse=True)}
    if len(first) <= count:
        raise AnnotationError(
            "no_examples",
            "judge {name!r}: examples from {count} topics, but {by_topic} have annotators' labels, and at least one "
            "more must be left to measure the judge on; ask for fewer, or label more", name=definition.name,
            count=count, by_topic=f"{len(first)}{each_language(len(first), len(by_topic))}",
        )  # fmt: skip
    shown_before = clusters_drawn_before(session, study)
    ranked = sorted(first, key=lambda cluster: (cluster not in shown_before, _coin(study.seed, cluster)))
    chosen = [first[cluster] for cluster in sorted(ranked[:count], key=lambda cluster: _coin(study.seed, cluster))]
    text = _as_text(session, study, [by_topic[topic] for topic in chosen], definition.example_chars)
    made = with_examples(template, text)
    topics = topics_shown(session, study, template, definition.name).union(chosen)
    shown = list(session.scalars(select(Topic.key).where(Topic.id.in_(topics)).order_by(Topic.key)))
    drawn = {**asked, "topics": shown, "template_sha256": text_sha256(made)}
    return JudgePrompt(made, whole_clusters(session, study, shown), drawn)


def with_topics_shown(session: Session, study: Study, template: str, topics: Collection[str], characters: int) -> str:
    """The template with one item of each of these topics (by key) as an example; those without labels are left out."""
    by_topic = _labelled(session, study, protocol_of(study))
    keys = dict(session.execute(select(Topic.id, Topic.key).where(Topic.id.in_(by_topic))).all())
    chosen = sorted((topic for topic in keys if keys[topic] in topics), key=lambda topic: keys[topic])
    text = _as_text(session, study, [by_topic[topic] for topic in chosen], characters)
    return with_examples(template, text)


def keep_topics_shown(session: Session, study: Study, judge: str, topics: Collection[str], template: str) -> None:
    """Write down that a judge's prompt was made from people's labels of these topics: it is never asked about them."""
    sha = text_sha256(template)
    if all((draw["judge"], draw["template_sha256"]) != (judge, sha) for draw in _draws(session, study)):
        audit(session, study.id, None, SHOWN, judge=judge, topics=sorted(topics), template_sha256=sha)


def _coin(seed: int, key: str) -> str:
    return sha256(f"{seed}|examples|{key}".encode()).hexdigest()


def _labelled(session: Session, study: Study, protocol: Protocol) -> dict[int, _Example]:
    """Topic -> its item with the most answers that an annotator shares with the majority, as that one saw it."""
    by_item: dict[int, dict[int, list[RowMapping]]] = defaultdict(lambda: defaultdict(list))
    for row in session.execute(counted_labels(study)).mappings():
        if row["rater_kind"] == "human" and row["status"] == "ok" and row["choice"] is not None:
            by_item[row["item_id"]][row["assignment_id"]].append(row)
    topics = select(Item.id, Item.topic_id).where(
        Item.study_id == study.id, Item.purpose == "label", Item.excluded_at.is_(None)
    )
    found: dict[int, _Example] = {}
    for item, topic in session.execute(topics.order_by(Item.id)):
        example = _shared(item, by_item[item], protocol) if item in by_item else None
        if example and (topic not in found or len(example.answers) > len(found[topic].answers)):
            found[topic] = example
    return found


def _shared(item: int, by_assignment: Mapping[int, Sequence[RowMapping]], protocol: Protocol) -> _Example | None:
    said: dict[str, list[str]] = defaultdict(list)
    for rows in by_assignment.values():
        for row in rows:
            said[row["criterion"]].append(answered_as(row))
    shared = {criterion: _middle(verdicts, protocol) for criterion, verdicts in said.items()}
    agreeing = [
        [row for row in rows if answered_as(row) == shared[row["criterion"]]] for rows in by_assignment.values()
    ]
    best = max(agreeing, key=len)  # the first of several
    return _Example(item, best[0]["left"], tuple(best)) if best else None


def _middle(verdicts: Sequence[str], protocol: Protocol) -> str | None:
    """The lower of the middle scores, else what more than half say; None where nothing is."""
    if protocol.task_type == "pointwise_rating":
        scores = [verdict for verdict in verdicts if verdict != "not_applicable"]
        return sorted(scores, key=float)[(len(scores) - 1) // 2] if scores else None
    most = max(verdicts, key=verdicts.count)
    return most if 2 * verdicts.count(most) > len(verdicts) else None


def answered_as(row: RowMapping) -> str:
    """What was answered, whatever the order; without one, a choice names the report already."""
    choice, left = str(row["choice"]), row["left"]
    if left is None or choice not in ("left", "right"):
        return choice
    return left if choice == "left" else OTHER[left]


def _as_text(session: Session, study: Study, examples: Sequence[_Example], characters: int) -> str:
    """The examples as the prompt shows them, in tags of their own. Raises AnnotationError `nonce`."""
    protocol, redact = protocol_of(study), redactor_of(session, study)
    parts = []
    for example in examples:
        item = session.get_one(Item, example.item_id)
        topic = session.get_one(Topic, item.topic_id)
        texts = [
            (
                PART.get(text.name.lower(), text.name.lower()).replace("_", "-"),
                _beginning(MARKS.sub("", text.shown_text), characters),
            )
            for text in shown_of_item(session, protocol, item, example.left)
        ]
        stated = [("statement", item.probe)] if item.probe else []
        parts.append((("topic", topic.title), *texts, *stated, ("answer", _answer(example, protocol, redact))))
    nonce = text_sha256("\n".join(text for part in parts for _, text in part))[:8]
    if any(nonce in text for part in parts for _, text in part):
        raise AnnotationError("nonce", "an example contains the mark of the examples; choose another number of topics")
    shown = "\n\n".join(
        "\n".join(
            f"<example-{number}-{name}-{nonce}>\n{text}\n</example-{number}-{name}-{nonce}>" for name, text in part
        )
        for number, part in enumerate(parts, 1)
    )
    return (
        f"{len(parts)} examples of this study, as careful expert readers answered them; long texts show their "
        f"beginning. {DATA}\n\n{shown}\n\nThe examples end here. What follows is what you are asked."
    )


def _beginning(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    end = max(text.rfind("\n", 0, characters), characters // 2)
    return f"{text[:end].rstrip()}\n[…]"


def _answer(example: _Example, protocol: Protocol, redact: Any) -> str:
    name = ANSWER_FIELD[protocol.task_type]
    judgments = []
    for row in example.answers:
        reasons = {"rationale": redact(row["rationale"])} if row["rationale"] else {}
        judgments.append({"criterion": row["criterion"], **reasons, name: _on_the_wire(row, protocol)})
    return dumps({"judgments": judgments}, ensure_ascii=False)


def _on_the_wire(row: RowMapping, protocol: Protocol) -> Any:
    choice = str(row["choice"])
    if protocol.task_type == "pointwise_rating" and choice != "not_applicable":
        return int(choice) if choice.lstrip("-").isdigit() else float(choice)
    if protocol.task_type != "pairwise_choice":
        return choice
    if row["left"] is None:  # imported: A was shown first here
        choice = {"A": "left", "B": "right"}.get(choice, choice)
    return WIRE.get(choice, choice)

"""What a judge would be asked about one item, to be read before anything is planned or paid. Nothing is sent."""

import json
from dataclasses import dataclass

from sqlalchemy import orm, select

from annotation import errors, studies
from annotation.items.shown import item_code, shown_of_item
from annotation.judges.asking import own_code
from annotation.judges.asking.examples import judge_prompt
from annotation.judges.asking.material import as_asked, material_of
from annotation.judges.asking.own_prompts import is_own
from annotation.judges.asking.prompt import Message, Probe, build_prompt
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import REPEAT, as_sent
from annotation.judges.planning.calls import batches
from annotation.judges.planning.plan import judged_items, refuse_unfit_prompt
from db.tables import Item, Study, Topic
from plain.hashes import text_sha256
from plain.wording import worded


@dataclass(frozen=True)
class Preview:
    """The first call about an item: `messages` as they would be sent, of `calls` in each order and repeat; of a judge
    that is code one, the item as JSON.

    `examples`: keys of the topics that the prompt shows with people's labels.
    """

    judge: str
    model: str
    item: str
    template_sha256: str
    messages: tuple[Message, ...]
    characters: int
    calls: int
    examples: tuple[str, ...]


def preview(session: orm.Session, study: Study, definition: JudgeDefinition, item: str | None = None) -> Preview:
    """The messages about `item`, or about the first item that the judge would be asked about.

    Raises AnnotationError for a prompt that cannot be used, and for an item that is not there or not asked about.
    """
    protocol, prompt = studies.protocol_of(study), judge_prompt(session, study, definition)
    items = judged_items(session, study)
    questions = {one.topic_id: studies.criteria_of(session, study, one.topic_id) for one in items}
    if is_own(definition):
        refuse_unfit_prompt(session, study, definition, prompt.template, items, questions)
    asked_about = [one for one in items if one.topic_id not in prompt.topics]
    chosen = next((one for one in asked_about if item in (None, item_code(one.item_id))), None)
    if chosen is None:
        shown = any(item == item_code(one.item_id) for one in items)
        why = "is on a topic that it is shown as an example" if shown else "is not there, or not asked about"
        raise errors.AnnotationError(
            "not_found",
            "judge {name!r}: {item} {why}; see: calipers items",
            name=definition.name,
            item=item,
            why=worded(why),
        )
    row = session.get_one(Item, chosen.item_id)
    topic = session.get_one(Topic, row.topic_id)
    paired = protocol.task_type == "pairwise_choice" or protocol.rates_both
    grouped = batches(questions[topic.id], [one.category for one in questions[topic.id]], definition.batching)
    material = material_of(
        protocol, prompt.template, as_asked(protocol, grouped[0]), title=topic.title, prompt=topic.prompt,
        shown=shown_of_item(session, protocol, row, "A" if paired else None),
        probes=[Probe(row.probe)] if row.probe else (),
    )  # fmt: skip
    made = build_prompt(material, definition.structured[0])
    messages = made.messages
    if definition.code:  # no messages: one item as JSON, a line of it where it is a program's or a function's
        seed = definition.model_copy(update={"params": {"seed": REPEAT, **definition.params}})
        sent = own_code.item_sent(as_sent(seed, 1), messages, "" if definition.url else "…")
        messages = ({"role": "item", "content": json.dumps(sent, ensure_ascii=False, indent=2)},)
    keys = session.scalars(select(Topic.key).where(Topic.id.in_(prompt.topics)).order_by(Topic.key)).all()
    return Preview(
        definition.name, definition.model, item_code(row.id), text_sha256(prompt.template), messages,
        made.characters, len(grouped), tuple(keys),
    )  # fmt: skip

"""What an item is called, which texts it shows (two reports, one beside another, or a probe), and what it asks."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, orm, select

from annotation import errors, studies
from annotation.files.decoding import some_of
from annotation.protocol import Protocol
from db.tables import REPORT_A, REPORT_B, Assignment, Criterion, Item, Report, Source, Study, Topic
from plain.hashes import text_sha256

# before a sha256 on a label that was made elsewhere: the text its item showed at import, which nobody proved was read
UNPROVED = "unproved:"
# what `sources_sha256` asks for; in the place of a text whose hash is kept stands that hash, and the text is not read
SOURCES = (
    Item.source_sha256.label("source_sha256"),
    func.coalesce(Item.own_context, Item.source_sha256).label("context"),
)


@dataclass(frozen=True)
class ShownText:
    """One text as raters read it. `name` is its title on the page and never says which system wrote it."""

    name: str
    shown_text: str
    shown_sha256: str
    stripper_version: str


def shown_of_item(session: orm.Session, protocol: Protocol, item: Item, left: str | None) -> list[ShownText]:
    """Texts, the left one first, what a task brought last. A probe with neither report nor sources has an empty one."""
    keys = item.report_a_id, item.report_b_id, item.reference_id
    # only these columns: a report's row also holds its original and all that was removed from it
    columns = Report.id, Report.shown_text, Report.shown_sha256, Report.stripper_version
    stored = session.execute(select(*columns).where(Report.id.in_([key for key in keys if key is not None])))
    reports: dict[int | None, Sequence[str]] = {key: shown for key, *shown in stored}
    return in_order(protocol, item, left, lambda name, key: ShownText(name, *reports[key]))


def in_order(
    protocol: Protocol, item: Any, left: str | None, report: Callable[[str, int | None], ShownText]
) -> list[ShownText]:
    """The same from a row with an item's columns; `report` finds a text by its title and the report's id."""
    if item.kind == "pair":
        first, second = (item.report_b_id, item.report_a_id) if left == "B" else (item.report_a_id, item.report_b_id)
        brought = [] if item.reference_id is None else [report("Evidence", item.reference_id)]
        return [report("Left", first), report("Right", second), *brought]
    if item.kind == "report" and item.reference_id is not None and left is not None:
        # both are rated, each as an item of its own, and neither is called the reference
        own, beside = item.report_a_id, item.reference_id
        first, second = (beside, own) if left == "B" else (own, beside)
        return [report("Left", first), report("Right", second)]
    if item.kind == "report":
        name = "Evidence" if protocol.answers.paired_view == "evidence" else "Reference"
        beside = [] if item.reference_id is None else [report(name, item.reference_id)]
        return [report("Report", item.report_a_id), *beside]
    context = protocol.answers.context
    texts = [report("Report", item.report_a_id)] if context != "sources" and item.report_a_id is not None else []
    if context != "report" or not texts:
        sha256 = sources_sha256(item.source_sha256, item.context)
        texts.append(ShownText("Sources", item.context or "", sha256, ""))
    return [text for text in texts if text.shown_text] or texts[:1]


def sources_sha256(kept: str | None, context: str | None) -> str:
    """What a label on source passages is stamped with: the sha256 of their UTF-8 bytes, `kept` beside them or not."""
    return kept or text_sha256(context or "")


def keep_sources(session: orm.Session, study_id: int, texts: Iterable[str]) -> dict[str, int]:
    """text -> its row of `sources`, which is made where the study has none; an empty text has none."""
    sha256 = {text: text_sha256(text) for text in texts if text}
    stored = select(Source.sha256, Source.id).where(Source.study_id == study_id, Source.sha256.in_([*sha256.values()]))
    rows = dict(session.execute(stored).all())
    new = [Source(study_id=study_id, sha256=sha, text=text) for text, sha in sha256.items() if sha not in rows]
    session.add_all(new)
    session.flush()
    rows |= {source.sha256: source.id for source in new}
    return {text: rows[sha] for text, sha in sha256.items()}


def items_shown(session: orm.Session, study: Study, *, texts: bool) -> list[dict[str, Any]]:
    """One row an item: `item_id, topic, sha256_a, sha256_b`, with `texts` also `text_a, text_b`; None for no report."""
    a, b = REPORT_A, REPORT_B
    shown = (a.shown_text, b.shown_text) if texts else ()
    rows = session.execute(
        select(Item.id, Topic.key, a.shown_sha256, b.shown_sha256, *shown)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .where(Item.study_id == study.id)
        .order_by(Item.id)
    )
    names = ("item_id", "topic", "sha256_a", "sha256_b", "text_a", "text_b")
    return [{**dict(zip(names, row, strict=False)), "item_id": item_code(row[0])} for row in rows]


def item_code(number: int) -> str:
    """`item-00042`, from the number of its row."""
    return f"item-{number:05d}"


NAMED = 5


def asked_of(session: orm.Session, study: Study, assignment: Assignment) -> list[Criterion]:
    """The questions of this assignment that are still asked, in the order they are shown.

    Its `criteria_order` is a draw for a person who labels, so a question that came later follows at the end; an
    adjudicator is asked what is in dispute, and nothing else.
    """
    criteria = studies.criteria_of(session, study, session.get_one(Item, assignment.item_id).topic_id)
    if assignment.criteria_order is None:
        return criteria
    place = {code: number for number, code in enumerate(assignment.criteria_order)}
    if assignment.purpose == "adjudicate":
        criteria = [row for row in criteria if row.code in place]
    return sorted(criteria, key=lambda row: place.get(row.code, len(place)))


def refuse_unasked(session: orm.Session, study: Study, topics: Collection[int]) -> None:
    """Raises AnnotationError `no_criteria` naming those of `topics` that nothing is asked about."""
    unasked = unasked_topics(session, study, topics) if studies.protocol_of(study).criteria_from == "topics" else ()
    if unasked:
        raise errors.AnnotationError(
            "no_criteria",
            "topics of study {name!r} without criteria: {unasked}; import their reports again with criteria for "
            "them, or take their items out", name=study.name, unasked=name_some(unasked),
        )  # fmt: skip


def unasked_topics(session: orm.Session, study: Study, among: Collection[int] | None = None) -> tuple[str, ...]:
    """Keys of the topics that have no question of their own."""
    asked = select(Criterion.topic_id).where(
        Criterion.study_id == study.id, Criterion.retired_at.is_(None), Criterion.topic_id.is_not(None)
    )
    rows = select(Topic.id, Topic.key).where(Topic.study_id == study.id, Topic.id.not_in(asked)).order_by(Topic.id)
    return tuple(key for topic, key in session.execute(rows) if among is None or topic in among)


def name_some(keys: Sequence[str]) -> str:
    """How many, and the first few: `7 (tides, bread and 5 more)`."""
    return f"{len(keys)} ({some_of(keys, NAMED)})"

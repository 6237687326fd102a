"""Labels as they were given, beside what their items show now: what verdicts are made of."""

from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, and_, case, column, func, literal, orm, select, table

from annotation.items.shown import UNPROVED
from annotation.studies import cluster_of, protocol_of
from db import judge_tables, tables
from db.people_tables import Enrollment, Rater

LATER = orm.aliased(tables.Label)  # made once: to make one costs more than to run the statement
# the database's own view: the newest revision of every answer
CURRENT_LABELS = table(
    "current_labels", *map(column, ("assignment_id", "criterion_id", "status", "choice", "after_reveal", "left_sha256"))
)
Shown = RowMapping  # what one item shows: a row of `shown_by_item`


def all_labels(study: tables.Study) -> Select[*tuple[Any, ...]]:
    """Every revision, by the number of its assignment, without what its item shows: see `shown_by_item`.

    A report's short columns are behind its long ones, so they are read once for each item, not for each label.
    """
    return (
        select(
            tables.Label.assignment_id, tables.Label.criterion_id.label("criterion_row"), tables.Label.revision,
            tables.Label.choice, tables.Label.status,
            tables.Label.rationale, tables.Label.evidence, tables.Label.seconds, tables.Label.cost_usd,
            tables.Label.left_sha256, tables.Label.right_sha256,
            tables.Label.confidence, tables.Assignment.item_id, tables.Assignment.source, tables.Assignment.left,
            tables.Assignment.repeat_no,
            tables.Assignment.pass_no, tables.Criterion.code.label("criterion"), Rater.kind.label("rater_kind"),
            Enrollment.pseudonym,
            judge_tables.Judge.name.label("judge_name"),
        )
        .join(tables.Assignment, tables.Assignment.id == tables.Label.assignment_id)
        .join(tables.Criterion, tables.Criterion.id == tables.Label.criterion_id)
        .outerjoin(Rater, Rater.id == tables.Assignment.rater_id)
        .outerjoin(Enrollment, and_(Enrollment.rater_id == Rater.id, Enrollment.study_id == study.id))
        .outerjoin(judge_tables.Judge, judge_tables.Judge.rater_id == Rater.id)
        .where(tables.Assignment.study_id == study.id)
        .order_by(tables.Label.assignment_id)
    )  # fmt: skip


def is_newest() -> ColumnElement[bool]:
    """Whether a label is its answer's last revision.

    Asked as "no later one stands": of `= max(revision)` Postgres believes that hardly a label can keep it.
    """
    return ~_later().exists()


def _later() -> Select[int]:
    return select(literal(1)).where(
        LATER.assignment_id == tables.Label.assignment_id, LATER.criterion_id == tables.Label.criterion_id,
        LATER.revision > tables.Label.revision,
    )  # fmt: skip


def leaves_out_revealed(study: tables.Study) -> bool:
    """Whether a person's answer counts as it was before labels and systems could be seen side by side."""
    return protocol_of(study).calibration.get("after_reveal") == "leave_out"


def counted_labels(study: tables.Study) -> Select[*tuple[Any, ...]]:
    """Of `all_labels` the newest ones of work handed in, on questions that are still asked."""
    newest = is_newest()
    if leaves_out_revealed(study):
        blind = tables.Label.after_reveal.is_(False) | (tables.Assignment.source == "judge")
        newest = blind & ~_later().where(LATER.after_reveal.is_(False) | (tables.Assignment.source == "judge")).exists()
    return all_labels(study).where(
        tables.Assignment.status.in_(tables.HANDED_IN),
        tables.Assignment.purpose.in_(("label", "retest")),
        tables.Criterion.retired_at.is_(
            None
        ),  # an answer to words that were changed since is no answer to the new ones
        newest,
    )


def current_labels(session: orm.Session, study: tables.Study, item_id: int, *where: Any) -> list[RowMapping]:
    """The counted labels of one item, on the texts that it shows now; `where`: conditions on raters and criteria."""
    shown = shown_by_item(session, study, item_id)
    rows = session.execute(counted_labels(study).where(tables.Assignment.item_id == item_id, *where)).mappings()
    return [row for row in rows if counts(row, shown.get(item_id))]


def count_current(session: orm.Session, study: tables.Study) -> int:
    """How many labels `counts` says yes to; probes count whatever sources they show now."""
    shown = shown_by_item(session, study)
    columns = tables.Assignment.item_id, tables.Assignment.left, tables.Label.left_sha256, tables.Label.right_sha256
    rows = counted_labels(study).with_only_columns(*columns).order_by(None)
    found = session.execute(rows.execution_options(yield_per=10_000)).mappings()
    return sum(counts(row, shown.get(row["item_id"])) for row in found)


def shown_by_item(session: orm.Session, study: tables.Study, item_id: int | None = None) -> dict[int, Shown]:
    """Item -> its topic, cluster, systems, and the sha256 and length of the texts it shows now; of one item, or all."""
    a, b, reference, system_a, system_b = (
        tables.REPORT_A,
        tables.REPORT_B,
        tables.REFERENCE,
        tables.SYSTEM_A,
        tables.SYSTEM_B,
    )
    rows = (
        select(
            tables.Item.id, tables.Item.kind, tables.Item.probe, tables.Item.tag, tables.Item.excluded_at,
            tables.Topic.key.label("topic"), cluster_of(study).label("cluster"), tables.Topic.category,
            system_a.key.label("system_a"), system_b.key.label("system_b"), a.shown_sha256.label("sha256_a"),
            b.shown_sha256.label("sha256_b"), reference.shown_sha256.label("sha256_reference"),
            *(
                case((one.encoding != tables.NO_TEXT, func.length(one.shown_text))).label(name)
                for name, one in (("len_a", a), ("len_b", b))
            ),
        )
        .join(tables.Topic, tables.Topic.id == tables.Item.topic_id)
        .outerjoin(a, a.id == tables.Item.report_a_id)
        .outerjoin(system_a, system_a.id == a.system_id)
        .outerjoin(b, b.id == tables.Item.report_b_id)
        .outerjoin(system_b, system_b.id == b.system_id)
        .outerjoin(reference, reference.id == tables.Item.reference_id)
        .where(tables.Item.study_id == study.id)
    )  # fmt: skip
    if item_id is not None:
        rows = rows.where(tables.Item.id == item_id)
    return {row["id"]: row for row in session.execute(rows).mappings()}


def counts(label: RowMapping, shown: Shown | None) -> bool:
    """Whether the label's item takes part, and the label's sha256 is that of the text which its item shows now.

    A label on a replaced text is stale. So is one made elsewhere whose file did not prove its text, once that text is
    no longer the one it was matched with. What a probe showed is judged where its sources are known.
    """
    if shown is None or shown["excluded_at"] is not None:
        return False
    if shown["kind"] == "probe":
        return True
    texts = shown["sha256_a"], shown["sha256_b"] or shown["sha256_reference"]
    left, right = reversed(texts) if label["left"] == "B" else texts
    return _is_of(label["left_sha256"], left) and (
        label["right_sha256"] is None or _is_of(label["right_sha256"], right)
    )


def has_seen_only(label: RowMapping, *texts: str | None) -> bool:
    """Whether the label, of a probe, was given on nothing but these texts, by their sha256."""
    seen = {(label[side] or "").removeprefix(UNPROVED) for side in ("left_sha256", "right_sha256")} - {""}
    return seen <= set(texts)


def _is_of(stamp: str, sha256: str | None) -> bool:
    return sha256 is not None and stamp.removeprefix(UNPROVED) == sha256

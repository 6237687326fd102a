"""Every revision of every label of a study, for datasets and bundles: streamed, pseudonymous, in one stable order;
and the hashes of the exports that were made of them.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

from sqlalchemy import RowMapping, Select, func, orm, select

from annotation import studies, verdicts
from annotation.facts.labelling_facts import COUNTED
from annotation.items.shown import item_code, sources_sha256
from annotation.labels.current_labels import Shown, all_labels, leaves_out_revealed, shown_by_item
from annotation.labels.optional_columns import first_of_claims, items_beside
from annotation.leaks.redaction import redactor_of
from annotation.texts.scripts import count_words
from db.tables import HANDED_IN, Assignment, Criterion, Export, Item, Label, Report, Study, System, Topic

Redact = Callable[[str], str]


def label_rows(
    session: orm.Session, study: Study, redact: Redact | None = None, *, with_void: bool = False
) -> Iterator[dict[str, Any]]:
    """Rows by assignment and, within it, in the order they were written; `study` comes from `principals.study_for`.

    Work that was taken out is left out, unless `with_void`: whoever asks for that wants none of it published. All else
    is there: replaced answers, work given back, training, attention and adjudication, labels on texts or criteria that
    were changed since. `is_current`: the revision that counts, of a question whose words are still asked. Raises
    AnnotationError `still_blind`. `redact`: of `redaction`, where its counts are wanted.
    """
    verdicts.require_revealed(study)
    return _rows(session, study, redact or redactor_of(session, study), with_void=with_void)


def count_label_rows(session: orm.Session, study: Study) -> tuple[int, int]:
    """How many rows `label_rows` has, and how many more of work that was taken out."""
    rows = select(func.count(Label.id)).join(Assignment, Assignment.id == Label.assignment_id)
    rows = rows.where(Assignment.study_id == study.id)
    is_void = Assignment.status == "void"
    return session.scalar(rows.where(~is_void)) or 0, session.scalar(rows.where(is_void)) or 0


def standing_of(row: Mapping[str, Any]) -> str:
    """What a row of `label_rows` is: `current`, an `earlier` revision, `void`, or `apart`, of work not counted."""
    if row["assignment_status"] == "void":
        return "void"
    if row["assignment_status"] not in HANDED_IN or row["purpose"] not in COUNTED:
        return "apart"
    return "current" if row["is_current"] else "earlier"


def report_rows(session: orm.Session, study: Study, *, texts: bool) -> Iterator[dict[str, Any]]:
    """What was read, one row per text: every report as it is shown now, and the sources shown beside probes.

    `sha256` is what `left_sha256` and `right_sha256` of a label name. `texts`: with the text itself; without it, what
    reports say stays at home. Raises AnnotationError `still_blind`.
    """
    verdicts.require_revealed(study)
    return _texts(session, study, texts=texts)


def criterion_rows(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Every question as it was asked, in page order; `sha256` is what `criterion_sha256` of a label names."""
    rows = (
        select(Criterion, Topic.key)
        .outerjoin(Topic, Topic.id == Criterion.topic_id)
        .where(Criterion.study_id == study.id)
        .order_by(Criterion.position, Criterion.id)
    )
    return [
        {
            "criterion": question.code, "sha256": question.text_sha256, "topic": topic,
            "label": question.label, "text": question.text,
            "category": question.category, "subcategory": question.subcategory, "weight": question.weight,
            "is_asked": question.retired_at is None,
        }
        for question, topic in session.execute(rows)
    ]  # fmt: skip


def _texts(session: orm.Session, study: Study, *, texts: bool) -> Iterator[dict[str, Any]]:
    reports = (
        select(
            Report.shown_sha256, Topic.key, Topic.language, System.key, System.is_reference, Report.words,
            Report.shown_text,
        )
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.status == "ready")
        .order_by(Topic.key, System.key, Report.id)
    )  # fmt: skip
    for sha256, topic, language, system, is_reference, words, text in session.execute(_streamed(reports, 50)):
        about = {"sha256": sha256, "kind": "report", "topic": topic, "language": language, "system": system}
        yield about | {"is_reference": is_reference, "words": words, "characters": len(text)} | _text(text, texts)
    of_study = Item.study_id == study.id, Item.kind == "probe"
    first = select(func.min(Item.id)).where(*of_study).group_by(func.coalesce(Item.source_id, -Item.id))
    sources = (
        select(Topic.key, Topic.language, Item.source_sha256, Item.context)
        .join(Topic, Topic.id == Item.topic_id)
        .where(*of_study, Item.context.is_not(None), Item.id.in_(first))
        .order_by(Item.id)
    )
    seen = set()
    for topic, language, kept, text in session.execute(_streamed(sources, 50)):
        sha256 = sources_sha256(kept, text)
        if sha256 not in seen:
            seen.add(sha256)
            about = {"sha256": sha256, "kind": "sources", "topic": topic, "language": language, "system": None}
            counts = {"is_reference": False, "words": count_words(text), "characters": len(text)}
            yield about | counts | _text(text, texts)


def _text(text: str, texts: bool) -> dict[str, str]:
    return {"text": text} if texts else {}


def _rows(session: orm.Session, study: Study, redact: Redact, *, with_void: bool) -> Iterator[dict[str, Any]]:
    shown = shown_by_item(session, study)
    beside, claims = items_beside(session, study), first_of_claims(session, study)
    found = session.execute(_streamed(_every_revision(study, with_void=with_void), verdicts.CHUNK)).mappings()
    only_blind = leaves_out_revealed(study)
    for _, group in groupby(found, key=lambda row: int(row["assignment_id"])):
        rows = list(group)
        blind = (one for one in rows if not (only_blind and one["after_reveal"] and one["source"] != "judge"))
        asked = sorted((one for one in blind if one["retired_at"] is None), key=lambda row: row["revision"])
        last = {row["criterion_row"]: row["revision"] for row in asked}
        for row in rows:
            is_current = row["revision"] == last.get(row["criterion_row"])
            item = row["item_id"]
            others = {"claim": claims.get(item), "beside": beside.get(item)}
            yield _row(row, shown[item], others, redact, is_current=is_current)


def _row(
    row: RowMapping, shown: Shown, others: Mapping[str, str | None], redact: Redact, *, is_current: bool
) -> dict[str, Any]:
    """`others`: the items that are shown with this one."""
    return {
        "assignment": f"assignment-{row['assignment_id']:05d}",
        "assignment_status": row["assignment_status"],
        "purpose": row["purpose"],
        "source": row["source"],
        "item_id": item_code(row["item_id"]),
        "item_kind": shown["kind"],
        "topic": shown["topic"],
        "category": shown["category"],
        "probe": shown["probe"],
        "tag": shown["tag"] or None,
        **others,
        "system_a": shown["system_a"],
        "system_b": shown["system_b"],
        "presentation": verdicts.PRESENTATIONS.get(row["left"]),
        "rater_id": row["judge_name"] if row["rater_kind"] == "judge" else row["pseudonym"],
        "rater_kind": row["rater_kind"],
        "run": row["repeat_no"],
        "pass_no": row["pass_no"],
        "criterion": row["criterion"],
        "criterion_sha256": row["criterion_sha256"],
        "revision": row["revision"],
        "is_current": is_current,
        "status": row["status"],
        "choice": row["choice"],
        "label": verdicts.unblind(row["choice"], row["left"]),
        "confidence": row["confidence"],
        "flags": " ".join(map(str, row["flags"])),
        "rationale": redact(row["rationale"]),
        "evidence": verdicts.evidence_by_report(row["evidence"], row["left"], shown, redact),
        "left_sha256": row["left_sha256"],
        "right_sha256": row["right_sha256"],
        "brought_sha256": shown["sha256_reference"] if shown["kind"] == "pair" else None,
        "stripper_version": row["stripper_version"],
        "renderer_version": row["renderer_version"],
        "parser_version": row["parser_version"],
        "after_reveal": row["after_reveal"],
        "created_at": f"{row['created_at']:%Y-%m-%dT%H:%M:%SZ}",
    }


def _every_revision(study: Study, *, with_void: bool) -> Select[*tuple[Any, ...]]:
    rows = all_labels(study) if with_void else all_labels(study).where(Assignment.status != "void")
    return (
        rows
        .add_columns(
            Label.flags, Label.stripper_version, Label.renderer_version, Label.parser_version,
            Label.after_reveal, Label.created_at, Assignment.status.label("assignment_status"), Assignment.purpose,
            Assignment.source, Criterion.text_sha256.label("criterion_sha256"), Criterion.retired_at,
        )
        .order_by(Label.id)
    )  # fmt: skip


def _streamed(rows: Select[*tuple[Any, ...]], at_a_time: int) -> Select[*tuple[Any, ...]]:
    return rows.execution_options(yield_per=at_a_time)


def keep_export(
    session: orm.Session, study: Study, kind: str, sha256: str, rater_id: int | None, **settings: Any
) -> None:
    """Write down that an export was made, by whom, its kind, its choices, and the sha256 that tells it from others."""
    session.add(Export(study_id=study.id, kind=kind, settings=settings, sha256=sha256))
    studies.audit(session, study.id, rater_id, "export", kind=kind, sha256=sha256, **settings)

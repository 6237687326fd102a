"""What a methods section says about a study, counted in grouped queries: a million labels are never loaded.

The names are those of `exports.facts.StudyFacts`. No person's name, token, address, path or host is among them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import and_, case, func, orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.facts.judge_facts import judge_facts
from annotation.facts.labelling_facts import day, is_read_elsewhere, label_counts, left_out_counts, people_facts
from annotation.items.twins import once_a_page
from annotation.judges.asking.examples import items_shown_to
from annotation.leaks.blinding_audit import BlindingAudit
from annotation.planning import looks, plan_root, planned_items
from annotation.protocol import Protocol
from annotation.shown_texts.kept_measures import keep_measure
from annotation.studies import audit, audit_data, audited, protocol_of
from db.people_tables import Rater
from db.tables import (
    HANDED_IN,
    LIVE,
    NO_TEXT,
    REPORT_A,
    REPORT_B,
    SLOT_SOURCES,
    SYSTEM_A,
    SYSTEM_B,
    Assignment,
    Criterion,
    Event,
    Item,
    Label,
    Report,
    Study,
    System,
    Topic,
)
from plain.wording import ENGLISH, LANGUAGES, speaking

AUDITED = "blinding_audit"


def study_facts(session: orm.Session, study: Study) -> dict[str, Any]:
    """Every fact the database holds, as JSON can hold it. `study` comes from `principals.study_for`."""
    protocol = protocol_of(study)
    return {
        **_study(session, study, protocol),
        **_material(session, study),
        **_design(session, study),
        **_blinding(session, study, protocol),
        **people_facts(session, study),
        **_answers(protocol),
        **label_counts(session, study),
        **left_out_counts(session, study),
        **_plan(session, study, protocol),
        "judges": judge_facts(session, study),
        "examples": items_shown_to(session, study),
        "blinding_audit": session.scalar(
            select(Event.data).where(audited(study.id, AUDITED)).order_by(Event.id.desc()).limit(1)
        ),
        "versions": {},
    }


def keep_audit(
    session: orm.Session, study: Study, found: BlindingAudit, guessed: Callable[[], str] = str
) -> dict[str, Any]:
    """What `calipers audit` found, in the audit trail: the newest one is in the methods paragraph. Returns it.

    `guessed`: what annotators said they recognised, in a sentence of the language that is set.
    """
    proved = not is_read_elsewhere(session, study)  # else nothing is claimed of texts that nobody proves to have read
    facts = audit_facts(found, guessed, is_claimed=proved)
    audit(session, study.id, None, AUDITED, **facts)
    keep_measure(session, study, found)
    return facts


def audit_facts(made: BlindingAudit, guessed: Callable[[], str] = str, *, is_claimed: bool = True) -> dict[str, Any]:
    """The figures of a blinding audit that name no system, for `blinding_audit`. Shares are 0 to 1.

    Its sentences are in English, and under the name of each other language in that one.
    """
    named = {f"{identified.text}_{identified.features}": identified.accuracy for identified in made.identification}
    residue = sum(sum(kinds.values()) for kinds in made.residue_counts.values())
    counted = {"reports": made.reports, "systems": made.systems, "topics": made.topics, "residue": residue}
    measured = {"chance": made.chance, "by_luck": made.by_luck, **named} if named else {}
    told: dict[str, Any] = {}
    for language in LANGUAGES:
        with speaking(language):  # kept, and printed in a paper
            said = {"sentence": made.sentence if is_claimed and not made.undecided else "", "guessed": guessed()}
        told |= said if language == ENGLISH else {language: said}
    return {**counted, **measured, "refused": made.refused, **told}


def _study(session: orm.Session, study: Study, protocol: Protocol) -> dict[str, Any]:
    changes = audit_data(session, study.id, "protocol")
    return {
        "name": study.name,
        "title": protocol.title,
        "protocol": protocol.name,
        "protocol_sha256": study.protocol_sha256,
        "protocol_version": study.protocol_version,
        "protocol_changed_after_labels": sum(bool(change.get("after_labels")) for change in changes),
        "task_type": protocol.task_type,
        "task": " ".join(protocol.task.split()),
        "status": study.status,
        "is_simulated": study.is_simulated,
        "seed": study.seed,
    }


def _material(session: orm.Session, study: Study) -> dict[str, Any]:
    items = Item.study_id == study.id, Item.excluded_at.is_(None), Item.purpose == "label"
    used = select(Item.topic_id).where(*items)
    shown = [
        select(key).where(*items, key.is_not(None)) for key in (Item.report_a_id, Item.report_b_id, Item.reference_id)
    ]
    reports = shown[0].union(*shown[1:])
    words = case((Report.encoding != NO_TEXT, Report.words))
    counted = session.execute(
        select(func.count(), func.count(Report.system_id.distinct()), func.min(words), func.max(words))
        .add_columns(func.count(words))
        .join(System, System.id == Report.system_id)
        .where(Report.id.in_(reports), System.key != EVIDENCE)
    ).one()  # fmt: skip
    references = (
        select(func.count(System.id.distinct()))
        .join(Report, Report.system_id == System.id)
        .where(Report.id.in_(reports), System.is_reference, System.key != EVIDENCE)
    )
    languages = select(Topic.language).where(Topic.id.in_(used)).group_by(Topic.language).order_by(Topic.language)
    criteria = select(func.count()).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    return {
        "topics": session.scalar(select(func.count(Item.topic_id.distinct())).where(*items)),
        "reports": counted[0],
        "systems": counted[1],
        "words_min": counted[2],
        "words_max": counted[3],
        "reports_without_text": counted[0] - counted[4],
        "reference_systems": session.scalar(references),
        "items": session.scalar(select(func.count()).where(*items)),
        "criteria": session.scalar(criteria),
        "languages": list(session.scalars(languages)),
    }


def _design(session: orm.Session, study: Study) -> dict[str, Any]:
    items = Item.study_id == study.id, Item.excluded_at.is_(None), Item.purpose == "label"
    per_topic = select(func.count().label("n")).where(*items).group_by(Item.topic_id).subquery()
    fewest, most = session.execute(select(func.min(per_topic.c.n), func.max(per_topic.c.n))).one()
    people = (
        select(func.count(Assignment.rater_id.distinct()).label("n"))
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(Rater.kind == "human", Assignment.status.in_(HANDED_IN), Assignment.purpose == "label", *items)
        .group_by(Assignment.item_id)
        .subquery()
    )
    slots = (
        select(func.count().label("n"))
        .select_from(Assignment)
        .join(Item, Item.id == Assignment.item_id)
        .where(Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label", Assignment.status.in_(LIVE), *items)
        .group_by(Assignment.item_id)
        .subquery()
    )
    overlap = session.execute(select(func.min(people.c.n), func.max(people.c.n))).one()
    plan: Mapping[str, Any] = next(reversed(audit_data(session, study.id, "pairs")), {})
    found = {
        **{key: plan.get(key) for key in ("design", "per_category", "roster", "strata")},
        "per_topic_min": fewest,
        "per_topic_max": most,
        "overlap_min": overlap[0],
        "overlap_max": overlap[1],
        "overlap_planned": session.scalar(select(func.max(slots.c.n))),
        "orders": _orders(session, study),
    }
    pairs = session.scalar(select(func.count()).where(*items, Item.kind == "pair")) or 0
    no_pairs: dict[str, Any] = {"orders": {}, "pairs": None, "pairs_possible": None, "pairs_with_reference": None}
    return found | (_pairs(session, study, pairs) if pairs else no_pairs)


def _pairs(session: orm.Session, study: Study, pairs: int) -> dict[str, Any]:
    a, b, one, other = REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
    live = Item.study_id == study.id, Item.excluded_at.is_(None), Item.purpose == "label", Item.kind == "pair"
    with_reference = (
        select(func.count())
        .select_from(Item)
        .join(a, a.id == Item.report_a_id)
        .join(b, b.id == Item.report_b_id)
        .join(one, one.id == a.system_id)
        .join(other, other.id == b.system_id)
        .where(*live, one.is_reference | other.is_reference)
    )
    topics = select(Item.topic_id).where(*live)
    ready = (
        select(func.count(Report.system_id.distinct()).label("n"))
        .where(Report.study_id == study.id, Report.status == "ready", Report.topic_id.in_(topics))
        .group_by(Report.topic_id)
        .subquery()
    )
    possible = session.scalar(select(func.sum(ready.c.n * (ready.c.n - 1) / 2)))
    return {
        "pairs": pairs,
        "pairs_possible": int(possible or 0),
        "pairs_with_reference": session.scalar(with_reference),
    }


def _orders(session: orm.Session, study: Study) -> dict[str, int]:
    """How often A stood left, B stood left, and nobody knows, over what people handed in."""
    rows = session.execute(
        select(Assignment.left, func.count())
        .join(Rater, Rater.id == Assignment.rater_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id,
            Assignment.status.in_(HANDED_IN),
            Assignment.purpose == "label",
            Rater.kind == "human",
            *(Item.excluded_at.is_(None), *once_a_page(study)),
        )
        .group_by(Assignment.left)
    )
    return {left or "unknown": count for left, count in rows}


def _blinding(session: orm.Session, study: Study, protocol: Protocol) -> dict[str, Any]:
    versions = select(Report.stripper_version, Report.canonical_version).distinct()
    prepared = session.execute(versions.where(Report.study_id == study.id, Report.encoding != NO_TEXT)).all()
    flags: Counter[str] = Counter()
    acts: Counter[str] = Counter()
    # reports are hundreds where labels are millions; of each only what was decided, never its text
    columns = select(Report.id, Report.flags, Report.override, Report.status).where(Report.study_id == study.id)
    planned = planned_items.shown_reports(session, study)
    for report, found, override, status in session.execute(columns):
        undecided = "" if status == "excluded" else "open"
        if not planned or report in planned or status == "excluded":  # what raters read, and what they were spared
            flags.update(decided for flag in found if (decided := flag.get("resolution") or undecided))
        acts.update({act["what"] for act in (override or {}).get("acts", ())})
    excluded = select(func.count()).where(Report.study_id == study.id, Report.status == "excluded")
    return {
        # nothing is done to texts that nobody has
        "citations_stripped": protocol.reports.strip_citations if prepared else None,
        "stripper_versions": sorted({str(stripper) for stripper, _ in prepared}) if prepared else [],
        "layout": protocol.study.layout if prepared else None,
        # reports of before the layouts had these names say `full`
        "layout_versions": sorted({made.replace("/full", "/canonical") for _, made in prepared if made}),
        "flags": dict(sorted(flags.items())),
        "edited_reports": acts["edit_text"],
        "restored_reports": acts["restore_passage"],
        "excluded_reports": session.scalar(excluded),
        "blind_until": protocol.study.blind_until,
        "revealed_at": day(study.revealed_at),
    }


def _answers(protocol: Protocol) -> dict[str, Any]:
    answers = protocol.answers
    return {
        "allow_tie": answers.allow_tie if protocol.task_type == "pairwise_choice" else None,
        "allow_not_applicable": answers.allow_not_applicable,
        "rationale_required": protocol.rationale.required,
        "rationale_min_length": protocol.rationale.min_length,
        "confidence_asked": answers.confidence,
    }


def _plan(session: orm.Session, study: Study, protocol: Protocol) -> dict[str, Any]:
    plans = select(Event.data, Event.created_at).where(audited(study.id, looks.KEPT_PLAN))
    kept = session.execute(plans.order_by(Event.id)).all()
    first: Mapping[str, Any] = kept[0][0] if kept else {}
    before = None
    if kept:
        given = and_(Rater.kind == "human", Label.revision == 1, Label.created_at < kept[0][1])
        before = session.scalar(
            select(func.count(Label.id))
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Rater, Rater.id == Assignment.rater_id)
            .where(Assignment.study_id == study.id, given)
        )
    return {
        "plan_root": study.plan_root,
        "plan_roots": len(plan_root.plan_roots(session, study)),
        "plan_sha256": first.get("plan_sha256"),
        "plan_kept_at": day(kept[0][1]) if kept else None,
        "plans_kept": len(kept),
        "labels_before_plan": before,
        "margin_in_protocol": "margin" in protocol.calibration,
        "epsilon_in_protocol": "epsilon" in protocol.calibration,
    }

"""A study's reports as the blinding audit reads them, and as its owner looks at them one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.blinding import audit_blinding
from annotation.blinding_audit import AuditedReport, BlindingAudit
from annotation.errors import AnnotationError
from annotation.overrides import is_labelled, stripped_only
from annotation.principals import Principal, study_for
from db.tables import Report, Study, System, Topic


@dataclass(frozen=True)
class ReportLine:
    """One report in the owner's list."""

    id: int
    topic: str
    system: str
    status: str
    removed_share: float
    warnings: tuple[str, ...]
    flags: int
    open_flags: int
    override: str  # why it was changed by hand, or empty


@dataclass(frozen=True)
class ReportView:
    """One report whole: what came in, what was taken out of it, what is shown, and what may give its maker away."""

    line: ReportLine
    original: str
    removed: tuple[tuple[int, int, str], ...]
    shown: str
    sha256: str  # of the shown text
    flags: tuple[dict[str, Any], ...]
    changes: dict[str, int]
    is_frozen: bool  # labels stand on the text


def audit_study(
    session: Session, principal: Principal, progress: Callable[[int, int], None] = lambda done, of: None
) -> BlindingAudit:
    """Residue, shares removed, recognisability and gaps of the study's newest reports. Writes nothing."""
    study = study_for(session, principal, "evaluator")
    rows = _newest(session, study)
    reports = []
    for done, (report, topic, system) in enumerate(rows, start=1):
        reports.append(
            AuditedReport(
                key=f"{system.key}/{topic.key}",
                topic=topic.key,
                system=system.key,
                is_reference=system.is_reference,
                original=report.original_text,
                stripped=stripped_only(report),
                shown=report.shown_text,
                removed_characters=sum(end - start for start, end, _ in report.removed),
                warnings=tuple(report.warnings),
                status=report.status,
                unresolved_flags=report.open_flags,
            )
        )
        progress(done, len(rows))
    return audit_blinding(reports, study.seed)


def list_reports(session: Session, principal: Principal) -> list[ReportLine]:
    """The newest version of every report; those that need a decision first."""
    study = study_for(session, principal, "evaluator")
    lines = [_line(*row) for row in _newest(session, study)]
    return sorted(lines, key=lambda line: (-line.open_flags, -len(line.warnings), line.topic, line.system))


def open_flags(session: Session, principal: Principal) -> list[dict[str, str]]:
    """Every passage that waits for a decision: report, kind and words."""
    study = study_for(session, principal, "evaluator")
    return [
        {"report": f"{system.key}/{topic.key}", "kind": flag["kind"], "text": flag["text"]}
        for report, topic, system in _newest(session, study)
        for flag in report.flags
        if report.open_flags and not flag.get("resolution")
    ]


def view_report(session: Session, principal: Principal, report_id: int) -> ReportView:
    """One report with everything the owner needs to decide about it."""
    study = study_for(session, principal, "evaluator")
    found = next((row for row in _newest(session, study) if row[0].id == report_id), None)
    if found is None:
        raise AnnotationError("unknown_report", "this report was replaced by a newer version; choose it again")
    report, topic, system = found
    return ReportView(
        line=_line(report, topic, system),
        original=report.original_text,
        removed=tuple((start, end, kind) for start, end, kind in report.removed),
        shown=report.shown_text,
        sha256=report.shown_sha256,
        flags=tuple(report.flags),
        changes=report.changes,
        is_frozen=is_labelled(session, report.id),
    )


def _line(report: Report, topic: Topic, system: System) -> ReportLine:
    removed = sum(end - start for start, end, _ in report.removed)
    return ReportLine(
        id=report.id,
        topic=topic.key,
        system=system.key,
        status=report.status,
        removed_share=removed / max(1, len(report.original_text)),
        warnings=tuple(report.warnings),
        flags=len(report.flags),
        open_flags=report.open_flags,
        override="; ".join(f"{act['what']}: {act['reason']}" for act in (report.override or {}).get("acts", [])),
    )


def _newest(session: Session, study: Study) -> list[tuple[Report, Topic, System]]:
    newest: dict[tuple[int, int], int] = defaultdict(int)
    for topic_id, system_id, version in session.execute(
        select(Report.topic_id, Report.system_id, func.max(Report.version))
        .where(Report.study_id == study.id)
        .group_by(Report.topic_id, Report.system_id)
    ):
        newest[topic_id, system_id] = version
    rows = session.execute(
        select(Report, Topic, System)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id)
        .order_by(Topic.key, System.key)
    )
    return [
        (report, topic, system)
        for report, topic, system in rows
        if newest[report.topic_id, report.system_id] == report.version
    ]

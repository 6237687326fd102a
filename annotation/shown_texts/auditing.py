"""A study's reports as the blinding audit reads them, and as its owner looks at them one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, Select, func, orm, select

from annotation.blinding import audit_blinding, measure, readable
from annotation.designs.pairing import EVIDENCE
from annotation.errors import AnnotationError
from annotation.leaks.blinding_audit import AuditedReport, BlindingAudit
from annotation.leaks.system_classifier import Interval, no_interval
from annotation.people.principals import Principal, study_for
from annotation.planning.planned_items import shown_reports
from annotation.shown_texts import kept_measures, overrides, prepare
from annotation.texts.spans import Span, delete
from db.tables import NO_TEXT, Report, Study, System, Topic

LINE: tuple[Any, ...] = (
    Report.id, Topic.key.label("topic"), System.key.label("system"), Report.status, Report.removed, Report.warnings,
    Report.flags, Report.open_flags, Report.override, Report.encoding,
    func.length(Report.original_text).label("characters"),
)  # fmt: skip

AROUND = 40  # characters on either side of a flag
LATER = orm.aliased(Report)  # made once: to make one costs more than to run the statement


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
    has_text: bool  # no stand-in for one that was never published
    is_planned: bool  # it stands in an item, so that the study cannot open before its passages are decided


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
    session: orm.Session,
    principal: Principal,
    progress: Callable[[int, int], None] = lambda done, of: None,
    interval: Interval = no_interval,
    *,
    whole: bool = True,
) -> BlindingAudit:
    """Residue, shares removed, recognisability and gaps of the study's newest reports. Writes nothing.

    What was measured on the same texts before is read where `keep_audit` kept it. `interval`:
    `calibration.inference.bootstrap.wilson_effective`, or none is given. Without `whole`, half of the time, neither
    what each layout would leave nor what gives each system away.
    """
    study = study_for(session, principal, "evaluator")
    reports = _audited(session, study, progress)
    ready = readable(reports)
    sha256 = kept_measures.texts_sha256(ready, study.seed, has_intervals=interval is not no_interval)
    measured = kept_measures.kept_measure(session, study, sha256)
    if measured is None or (whole and not measured.is_whole):
        measured = measure(ready, study.seed, interval, whole=whole, begun=measured)
    return replace(audit_blinding(reports, study.seed, interval, measured), texts_sha256=sha256)


def _audited(session: orm.Session, study: Study, progress: Callable[[int, int], None]) -> list[AuditedReport]:
    rows, planned = _written(session, study), shown_reports(session, study)
    reports = []
    for done, (report, topic, system) in enumerate(rows, start=1):
        reports.append(
            AuditedReport(
                key=f"{system.key}/{topic.key}",
                topic=topic.key,
                title=topic.title,
                system=system.key,
                is_reference=system.is_reference,
                original=report.original_text,
                stripped=delete(report.original_text, (Span(*removed) for removed in report.removed)),
                shown=report.shown_text,
                removed_characters=sum(end - start for start, end, _ in report.removed),
                warnings=tuple(report.warnings),
                status=report.status,
                unresolved_flags=report.open_flags,
                is_planned=report.id in planned,
                kept=_decided(report, "keep"),
                masked=_decided(report, "mask"),
                form="" if report.override else report.canonical_version,
                has_citations=report.stripper_version == prepare.NOT_STRIPPED,
            )
        )
        progress(done, len(rows))
    return reports


def _decided(report: Report, resolution: str) -> tuple[str, ...]:
    """The kinds of its flags that were decided so."""
    return tuple(flag["kind"] for flag in report.flags if flag.get("resolution") == resolution)


def list_reports(session: orm.Session, principal: Principal) -> list[ReportLine]:
    """The newest version of every report, none of its texts; those that need a decision first, planned ones before."""
    study = study_for(session, principal, "evaluator")
    rows, planned = session.execute(newest_of(study).with_only_columns(*LINE)).all(), shown_reports(session, study)
    return sorted(
        (_line(row, row.id in planned) for row in rows),
        key=lambda line: (
            not (line.open_flags and line.is_planned), -line.open_flags, -len(line.warnings), line.topic, line.system,
        ),
    )  # fmt: skip


def open_flags(session: orm.Session, principal: Principal) -> list[dict[str, Any]]:
    """Every passage that waits for a decision: report, kind, words, and the line they are in, as far as 80 go.

    First those of planned items, for which a study does not open.
    """
    study = study_for(session, principal, "evaluator")
    planned = shown_reports(session, study)
    waiting = session.execute(newest_of(study).where(Report.open_flags > 0)).all()
    return [
        {
            "report": f"{system.key}/{topic.key}", "kind": flag["kind"], "text": flag["text"],
            "around": _around(report.shown_text, flag["start"], flag["end"]), "planned": report.id in planned,
        }
        for report, topic, system in sorted(waiting, key=lambda row: row[0].id not in planned)
        for flag in report.flags
        if not flag.get("resolution")
    ]  # fmt: skip


def _around(text: str, start: int, end: int) -> str:
    """The words with some forty characters on either side, on one line."""
    before, after = max(0, start - AROUND), min(len(text), end + AROUND)
    words = " ".join(text[before:after].split())
    return f"{'…' if before else ''}{words}{'…' if after < len(text) else ''}"


def view_report(session: orm.Session, principal: Principal, report_id: int) -> ReportView:
    """One report with everything the owner needs to decide about it."""
    study = study_for(session, principal, "evaluator")
    mine = newest_of(study).where(Report.id == report_id)
    report = session.scalar(mine.with_only_columns(Report))
    if report is None:
        raise AnnotationError("unknown_report", "this report was replaced by a newer version; choose it again")
    return ReportView(
        line=_line(session.execute(mine.with_only_columns(*LINE)).one(), report.id in shown_reports(session, study)),
        original=report.original_text,
        removed=tuple((start, end, kind) for start, end, kind in report.removed),
        shown=report.shown_text,
        sha256=report.shown_sha256,
        flags=tuple(report.flags),
        changes=report.changes,
        is_frozen=overrides.is_labelled(session, report.id),
    )


def _line(row: Row[Any], is_planned: bool) -> ReportLine:
    """`row`: of `LINE`."""
    removed = sum(end - start for start, end, _ in row.removed)
    return ReportLine(
        id=row.id,
        topic=row.topic,
        system=row.system,
        status=row.status,
        removed_share=removed / max(1, row.characters),
        warnings=tuple(row.warnings),
        flags=len(row.flags),
        open_flags=row.open_flags,
        has_text=row.encoding != NO_TEXT,
        is_planned=is_planned,
        override="; ".join(
            ": ".join(filter(None, (act["what"], act["reason"]))) for act in (row.override or {}).get("acts", [])
        ),
    )


def _written(session: orm.Session, study: Study) -> Sequence[tuple[Report, Topic, System]]:
    """The newest reports without the evidence of tasks, which no system wrote."""
    return session.execute(newest_of(study).where(System.key != EVIDENCE)).all()


def newest_of(study: Study) -> Select[Report, Topic, System]:
    """The newest version of every report, by topic and system."""
    newest = select(func.max(LATER.version)).where(
        LATER.topic_id == Report.topic_id, LATER.system_id == Report.system_id
    )
    return (
        select(Report, Topic, System)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id, Report.version == newest.scalar_subquery())
        .order_by(Topic.key, System.key)
    )

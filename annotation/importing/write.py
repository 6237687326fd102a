"""One function writes what a layout read: everything is checked first, then one transaction holds it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import ImportingError
from annotation.importing.criteria import criteria_problems, enter_criteria
from annotation.importing.import_report import ImportReport, missing_reports, what_came_in
from annotation.importing.matching import number_hint
from annotation.importing.prepare import Prepared, prepare_report
from annotation.importing.records import Parsed, ReportRecord, some_of, storable
from annotation.importing.standing import Stored, late_references, may_gain_prompt, news_of, stored_reports, topics_kept
from annotation.people.principals import Principal, study_for
from annotation.planning.newest_reports import retire_outdated
from annotation.planning.plan_root import keep_changed_root
from annotation.studies import audit, protocol_of
from db.tables import Import, Report, Study, System, Topic

Ready = tuple[ReportRecord, Prepared]


def import_reports(
    session: Session,
    principal: Principal,
    parsed: Parsed,
    *,
    layout: str,
    source: str,
    allow_empty: bool = False,
    allow_missing: bool = False,
    new_version: bool = False,
    options: Mapping[str, Any] | None = None,
    prepared_texts: Sequence[Prepared] | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ImportReport:
    """Check everything, then write. Raises ImportingError with every problem found, before the first row is written.

    `options` is what the user decided about reading (encoding, columns), kept with the import. `prepared_texts` comes
    from `prepare_all`, called before the writing transaction: preparing is slow, and nobody can save meanwhile.
    """
    study = study_for(session, principal, "admin")
    stored = stored_reports(session, study)
    _refuse(
        *parsed.problems,
        *criteria_problems(session, study, parsed),
        *([] if allow_empty else _empty(parsed)),
        *([] if allow_missing else _missing(parsed)),
        *([] if new_version else _changed(parsed, stored)),
        *late_references(session, study, parsed),
    )
    texts = prepare_all(session, principal, parsed, progress) if prepared_texts is None else prepared_texts
    prepared = list(zip(parsed.reports, texts, strict=True))
    _refuse(*_emptied(prepared))
    fresh = [(report, ready) for report, ready in prepared if news_of(report, stored) != "unchanged"]
    outcome = what_came_in(layout, parsed, prepared, stored, topics_kept(session, study, parsed))
    entry = Import(study_id=study.id, kind="reports", layout=layout, source=source, options=dict(options or {}))
    _write(session, study, entry, parsed, fresh, stored)
    asked, notes = enter_criteria(session, study, parsed)
    outcome = replace(outcome, criteria=asked, notes=(*outcome.notes, *notes))
    entry.report = storable(outcome.as_json())
    _record(session, study, principal, entry, new=len(fresh), replacing=outcome.new_versions > 0)
    return outcome


def prepare_all(
    session: Session,
    principal: Principal,
    parsed: Parsed,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Prepared]:
    """The shown text of every report, in their order; reads only. `progress(done, of)` is called as they are made."""
    study = study_for(session, principal, "admin")
    settings = protocol_of(study).reports
    titles = {topic.key: topic.title for topic in parsed.topics}
    titles |= {row.key: row.title for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    known = session.execute(select(System.public_name, System.key).where(System.study_id == study.id))
    names = {name for row in known for name in row} | {n for s in parsed.systems for n in (s.public_name, s.key)}
    prepared = []
    for done, report in enumerate(parsed.reports, start=1):
        prepared.append(prepare_report(report.text, titles[report.topic], names, settings))
        progress(done, len(parsed.reports))
    return prepared


def _refuse(*problems: str) -> None:
    """Raises ImportingError where there are any."""
    if problems:
        raise ImportingError(problems)


def _empty(parsed: Parsed) -> list[str]:
    return [
        f"{report.path}: holds no text; add the report, remove the file, or pass --allow-empty to import it as "
        "empty (it then never enters an item)"
        for report in parsed.reports
        if report.is_empty
    ]


def _missing(parsed: Parsed) -> list[str]:
    return [
        f"{system}: no report for {len(topics)} of {len(parsed.topics)} topics ({some_of(topics, 3)})"
        f"{_number_hint(system, topics, parsed)}; add them or pass --allow-missing"
        for system, topics in missing_reports(parsed).items()
    ]


def _number_hint(system: str, missing: Sequence[str], parsed: Parsed) -> str:
    have = {report.topic for report in parsed.reports if report.system == system}
    return next((hint for topic in missing if (hint := number_hint(topic, have))), "")


def _changed(parsed: Parsed, stored: Stored) -> list[str]:
    return [
        f"{report.path}: differs from the report already imported for topic {report.topic!r} by system "
        f"{report.system!r}; pass --new-version to keep both (items with labels keep the old one)"
        for report in parsed.reports
        if news_of(report, stored) == "changed"
    ]


def _emptied(prepared: Sequence[Ready]) -> list[str]:
    return [
        f"{report.path}: nothing is left once citations are stripped; look at the file"
        for report, ready in prepared
        if not report.is_empty and not ready.shown_text.strip()
    ]


def _write(
    session: Session, study: Study, entry: Import, parsed: Parsed, fresh: Sequence[Ready], stored: Stored
) -> None:
    """The import, the topics and systems that are not there yet, and the reports."""
    session.add(entry)
    topics, systems = _enter_topics(session, study, parsed), _enter_systems(session, study, parsed)
    session.flush()
    for report, ready in fresh:
        older = stored.get((report.topic, report.system))
        row = _row(report, ready, version=older.version + 1 if older else 1)
        row.study_id, row.import_id = study.id, entry.id
        row.topic_id, row.system_id = topics[report.topic].id, systems[report.system].id
        session.add(row)
    session.flush()


def _enter_topics(session: Session, study: Study, parsed: Parsed) -> dict[str, Topic]:
    """Every topic of the study by its key, those that came in now among them."""
    topics = {row.key: row for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    own_language, gains = protocol_of(study).language, may_gain_prompt(session, study)
    for topic in parsed.topics:
        if topic.key not in topics:
            told = asdict(topic) | {"language": topic.language or own_language}
            topics[topic.key] = Topic(study_id=study.id, **told)
            session.add(topics[topic.key])
        elif gains:
            topics[topic.key].prompt = topics[topic.key].prompt or topic.prompt
    return topics


def _enter_systems(session: Session, study: Study, parsed: Parsed) -> dict[str, System]:
    """Every system of the study by its key; one that is called a reference now is one."""
    systems = {row.key: row for row in session.scalars(select(System).where(System.study_id == study.id))}
    for system in parsed.systems:
        if system.key not in systems:
            systems[system.key] = System(study_id=study.id, **asdict(system))
            session.add(systems[system.key])
        systems[system.key].is_reference |= system.is_reference
    return systems


def _row(report: ReportRecord, ready: Prepared, version: int) -> Report:
    """What is kept of a report, as it was read and as it is shown."""
    return Report(
        version=version, original=report.original, original_sha256=report.sha256, original_text=report.text,
        encoding=report.encoding, status="empty" if report.is_empty else "ready", shown_text=ready.shown_text,
        shown_sha256=ready.shown_sha256, removed=[[s.start, s.end, s.kind] for s in ready.removed],
        changes=ready.changes, flags=ready.unresolved_flags(), open_flags=len(ready.flags),
        warnings=list(ready.warnings), stripper_version=ready.stripper_version,
        canonical_version=ready.canonical_version, words=ready.words,
    )  # fmt: skip


def _record(session: Session, study: Study, principal: Principal, entry: Import, *, new: int, replacing: bool) -> None:
    """Retire the items that newer texts replace, and write the import into the audit trail."""
    retired = retire_outdated(session, study) if replacing else 0
    audit(
        session, study.id, principal.rater_id, "import", retired_items=retired, layout=entry.layout,
        source=entry.source, new=new,
    )  # fmt: skip
    if retired:
        keep_changed_root(session, study)

"""One function writes what a layout read: everything is checked first, then one transaction holds it all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import ImportingError
from annotation.importing.criteria import criteria_problems, enter_criteria
from annotation.importing.matching import number_hint
from annotation.importing.prepare import SHORT, Prepared, prepare_report
from annotation.importing.records import BOM, Parsed, ReportRecord, storable
from annotation.importing.standing import late_references, topics_kept
from annotation.people.principals import Principal, study_for
from annotation.planning.newest_reports import retire_outdated
from annotation.planning.plan_root import keep_changed_root
from annotation.studies import audit, protocol_of
from db.tables import Import, Report, Study, System, Topic

LISTED = 20


@dataclass(frozen=True)
class ImportReport:
    """What came in; counts first, then names. Printed, stored with the import, and available as JSON."""

    layout: str
    topics: int
    systems: int
    references: int
    reports: int
    new: int
    unchanged: int
    new_versions: int
    empty: tuple[str, ...]
    short: tuple[str, ...]
    missing: dict[str, tuple[str, ...]]  # system -> topics it has no report on
    duplicate_texts: tuple[str, ...]
    warned: dict[str, tuple[str, ...]]  # path -> what the stripper warned about
    disabled: tuple[str, ...]
    matched_by_fallback: tuple[str, ...]
    ignored: int
    bom: int
    crlf: int
    nfd_names: int
    singletons: tuple[str, ...] = ()  # categories with one topic: nothing varies within them
    notes: tuple[str, ...] = ()  # what the layout's reader decided or left aside
    criteria: dict[str, int] = field(default_factory=dict)  # of the topics: how many new, unchanged, reworded, …

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints: counts first, then names, at most twenty a line."""
        reference = f" ({self.references} reference)" if self.references else ""
        versions = f"{self.new_versions} new versions, " if self.new_versions else ""
        gaps = {topic for topics in self.missing.values() for topic in topics}
        missing = [f"{system} {len(topics)} ({_some(topics, LISTED)})" for system, topics in self.missing.items()]
        listed = {
            "empty": self.empty,
            "disabled systems": self.disabled,
            "matched by fallback": self.matched_by_fallback,
            f"short (< {SHORT} words)": self.short,
            "duplicate texts": self.duplicate_texts,
            "categories with one topic": self.singletons,
        }
        return [
            f"{self.layout}: {self.topics} topics, {self.systems} systems{reference}, {self.reports} reports: "
            f"{self.new} new, {self.unchanged} unchanged, {versions}{len(self.empty)} empty",
            f"missing {'; '.join(missing[:LISTED]) or 'none'}{_rest(missing, LISTED)}   "
            f"complete topics {self.topics - len(gaps)} of {self.topics}",
            f"BOM {self.bom}   CRLF {self.crlf}   NFD names {self.nfd_names}   ignored files {self.ignored}",
            *(f"{what} {len(names)} ({_some(names, LISTED)})" for what, names in listed.items() if names),
            *([f"criteria {', '.join(f'{n} {what}' for what, n in self.criteria.items())}"] if self.criteria else []),
            *self.notes[:LISTED],
            *([f"stripping warnings on {len(self.warned)} reports; all of them with --json"] if self.warned else []),
        ]


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
    stored = _stored(session, study)
    problems = [*parsed.problems, *criteria_problems(session, study, parsed)]
    empty = tuple(report.path for report in parsed.reports if report.is_empty)
    if not allow_empty:
        problems += [
            f"{path}: holds no text; add the report, remove the file, or pass --allow-empty to import it as "
            "empty (it then never enters an item)"
            for path in empty
        ]
    missing = _missing(parsed)
    if not allow_missing:
        problems += [
            f"{system}: no report for {len(topics)} of {len(parsed.topics)} topics ({_some(topics)})"
            f"{_number_hint(system, topics, parsed)}; add them or pass --allow-missing"
            for system, topics in missing.items()
        ]
    if not new_version:
        problems += [
            f"{report.path}: differs from the report already imported for topic {report.topic!r} by system "
            f"{report.system!r}; pass --new-version to keep both (items with labels keep the old one)"
            for report in parsed.reports
            if (report.topic, report.system) in stored
            and stored[report.topic, report.system].original_sha256 != report.sha256
        ]
    problems += late_references(session, study, parsed)
    if problems:
        raise ImportingError(problems)
    texts = prepare_all(session, principal, parsed, progress) if prepared_texts is None else prepared_texts
    prepared = list(zip(parsed.reports, texts, strict=True))
    emptied = [report.path for report, ready in prepared if not report.is_empty and not ready.shown_text.strip()]
    if emptied:
        raise ImportingError(
            [f"{path}: nothing is left once citations are stripped; look at the file" for path in emptied]
        )
    fresh = [(r, p) for r, p in prepared if not _is_stored(r, stored)]
    outcome = ImportReport(
        layout=layout,
        topics=len(parsed.topics),
        systems=len(parsed.systems),
        references=sum(system.is_reference for system in parsed.systems),
        reports=len(parsed.reports),
        new=sum((r.topic, r.system) not in stored for r, _ in fresh if not r.is_empty),
        unchanged=sum(_is_stored(r, stored) for r in parsed.reports if not r.is_empty),
        new_versions=sum((r.topic, r.system) in stored for r, _ in fresh if not r.is_empty),
        empty=empty,
        short=tuple(r.path for r, p in prepared if not r.is_empty and p.words < SHORT),
        missing=missing,
        duplicate_texts=_duplicate_texts(parsed.reports),
        warned={r.path: p.warnings for r, p in prepared if p.warnings and not r.is_empty},
        disabled=parsed.disabled,
        matched_by_fallback=parsed.matched_by_fallback,
        ignored=parsed.ignored,
        bom=parsed.bom + sum(r.original.startswith(BOM) for r in parsed.reports),
        crlf=parsed.crlf + sum(b"\r\n" in r.original for r in parsed.reports),
        nfd_names=parsed.nfd_names,
        singletons=tuple(
            name for name, count in Counter(t.category for t in parsed.topics).items() if name and count == 1
        ),
        notes=(*parsed.notes, *topics_kept(session, study, parsed)),
    )
    entry = _write(session, study, parsed, fresh, stored, outcome, source, options or {})
    asked, notes = enter_criteria(session, study, parsed)
    outcome = replace(outcome, criteria=asked, notes=(*outcome.notes, *notes))
    entry.report = storable(outcome.as_json())
    retired = retire_outdated(session, study) if outcome.new_versions else 0
    audit(
        session,
        study.id,
        principal.rater_id,
        "import",
        retired_items=retired,
        layout=layout,
        source=source,
        new=len(fresh),
    )
    if retired:
        keep_changed_root(session, study)
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


def _write(
    session: Session,
    study: Study,
    parsed: Parsed,
    fresh: Sequence[tuple[ReportRecord, Prepared]],
    stored: dict[tuple[str, str], Report],
    outcome: ImportReport,
    source: str,
    options: Mapping[str, Any],
) -> Import:
    entry = Import(study_id=study.id, kind="reports", layout=outcome.layout, source=source, options=dict(options))
    session.add(entry)
    topics = {row.key: row for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    systems = {row.key: row for row in session.scalars(select(System).where(System.study_id == study.id))}
    own_language = protocol_of(study).language
    for topic in parsed.topics:
        if topic.key not in topics:
            told = asdict(topic) | {"language": topic.language or own_language}
            topics[topic.key] = Topic(study_id=study.id, **told)
            session.add(topics[topic.key])
    for system in parsed.systems:
        if system.key not in systems:
            systems[system.key] = System(study_id=study.id, **asdict(system))
            session.add(systems[system.key])
        systems[system.key].is_reference |= system.is_reference
    session.flush()
    for report, ready in fresh:
        older = stored.get((report.topic, report.system))
        session.add(
            Report(
                study_id=study.id, topic_id=topics[report.topic].id, system_id=systems[report.system].id,
                import_id=entry.id, version=older.version + 1 if older else 1, original=report.original,
                original_sha256=report.sha256, original_text=report.text, encoding=report.encoding,
                status="empty" if report.is_empty else "ready", shown_text=ready.shown_text,
                shown_sha256=ready.shown_sha256, removed=[[s.start, s.end, s.kind] for s in ready.removed],
                changes=ready.changes, flags=ready.unresolved_flags(), open_flags=len(ready.flags),
                warnings=list(ready.warnings),
                stripper_version=ready.stripper_version, canonical_version=ready.canonical_version, words=ready.words,
            )
        )  # fmt: skip
    session.flush()
    return entry


def _stored(session: Session, study: Study) -> dict[tuple[str, str], Report]:
    """The newest version of each report already there, by topic and system key."""
    rows = session.execute(
        select(Topic.key, System.key, Report)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id)
        .order_by(Report.version)
    )
    return {(topic, system): report for topic, system, report in rows}


def _is_stored(report: ReportRecord, stored: dict[tuple[str, str], Report]) -> bool:
    older = stored.get((report.topic, report.system))
    return older is not None and older.original_sha256 == report.sha256


def _missing(parsed: Parsed) -> dict[str, tuple[str, ...]]:
    have = {(report.topic, report.system) for report in parsed.reports}
    gaps: dict[str, tuple[str, ...]] = {}
    for system in parsed.systems:
        topics = tuple(topic.key for topic in parsed.topics if (topic.key, system.key) not in have)
        if topics:
            gaps[system.key] = topics
    return gaps


def _duplicate_texts(reports: Sequence[ReportRecord]) -> tuple[str, ...]:
    """`one = other` for reports with the same text: a pair of them would be a forced tie."""
    places: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        if not report.is_empty:
            places[report.text].append(report.path)
    return tuple(" = ".join(paths) for paths in places.values() if len(paths) > 1)


def _number_hint(system: str, missing: Sequence[str], parsed: Parsed) -> str:
    have = {report.topic for report in parsed.reports if report.system == system}
    return next((hint for topic in missing if (hint := number_hint(topic, have))), "")


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + _rest(names, most)


def _rest(names: Sequence[str], most: int) -> str:
    return f" and {len(names) - most} more" if len(names) > most else ""

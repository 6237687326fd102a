"""What a layout read is written: reports and questions are checked first, then one transaction holds them all."""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation import errors, studies
from annotation.canonical.plain import about_layout, taken_by_plain
from annotation.designs.pairing import EVIDENCE
from annotation.documents.reading import WITHOUT_WORDS
from annotation.figures import kept, placing
from annotation.figures.pictures import Look
from annotation.files import decoding, folders
from annotation.importing.reports import import_report
from annotation.importing.reports.records import CriterionRecord, Parsed, ReportRecord
from annotation.items.shown import unasked_topics
from annotation.people.principals import Principal, study_for
from annotation.planning import draws, plan_root, planned_items
from annotation.protocol import Protocol
from annotation.shown_texts import repeated
from annotation.shown_texts.prepare import Prepared, prepare_report
from annotation.texts.figures import are_shown
from db.connect import reading, transaction
from db.tables import Criterion, Import, Report, Study, System, Topic
from db.types import now
from plain.wording import Sentence, worded

Ready = tuple[ReportRecord, Prepared]
FEW = 2_000  # characters: a report so short is prepared in no time
SOURCE = re.compile(r"https?://|^\W{0,4}\d{1,3}\W")  # a line as lists of sources have them


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
    looks: Mapping[str, Look] | None = None,
    folder: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> import_report.ImportReport:
    """Check everything, then write. Raises ImportingError with every problem found, before the first row is written.

    `options` is what the user decided about reading (encoding, columns), kept with the import. `prepared_texts` comes
    from `prepare_all` and `looks` from `repeated.looks`, called before the writing transaction: both are slow, and
    nobody can save meanwhile; else `folder` is as there.
    """
    study = study_for(session, principal, "admin")
    refuse_reports(
        session, principal, parsed, allow_empty=allow_empty, allow_missing=allow_missing, new_version=new_version
    )
    stored = import_report.stored_reports(session, study)
    texts = prepare_all(session, principal, parsed, progress, folder) if prepared_texts is None else prepared_texts
    prepared = list(zip(parsed.reports, texts, strict=True))
    _refuse(*([] if allow_empty else _emptied(prepared)))
    fresh = [(report, ready) for report, ready in prepared if import_report.news_of(report, stored) != "unchanged"]
    outcome = import_report.what_came_in(
        layout, parsed, prepared, stored, import_report.topics_kept(session, study, parsed)
    )
    entry = Import(study_id=study.id, kind="reports", layout=layout, source=source, options=dict(options or {}))
    _write(session, study, entry, parsed, fresh, stored)
    asked, notes = enter_criteria(session, study, parsed)
    notes = *outcome.notes, *notes, *repeated.flag_repeated(session, study, looks or {})
    outcome = replace(outcome, criteria=asked, notes=notes)
    entry.report = decoding.storable(outcome.as_json())
    _record(session, study, principal, entry, new=len(fresh), replacing=outcome.new_versions > 0)
    return outcome


def refuse_reports(
    session: Session,
    principal: Principal,
    parsed: Parsed,
    *,
    allow_empty: bool = False,
    allow_missing: bool = False,
    new_version: bool = False,
) -> None:
    """Raises ImportingError with every problem that can be told before the texts are prepared, which takes long.

    A report that is empty after stripping is among them where it is short or looks like a list of sources; any other is
    refused once its text is made.
    """
    study = study_for(session, principal, "admin")
    _refuse(
        *parsed.problems,
        *criteria_problems(session, study, parsed),
        *([] if allow_empty else [*_empty(parsed), *_emptied(_likely_bare(studies.protocol_of(study), parsed))]),
        *([] if allow_missing else _missing(parsed)),
        *([] if new_version else _changed(parsed, import_report.stored_reports(session, study))),
        *import_report.late_references(session, study, parsed),
        *draws.late_topics(session, study, {topic.key for topic in parsed.topics}),
    )


def key_of_pictures(engine: Engine, principal: Principal, *, dry_run: bool) -> str:
    """What names the pictures of a study that shows them, before `prepare_all`, which may not write; "" for others.

    It is made where there is none yet; a dry run makes one that is thrown away.
    """
    with reading(engine) as session:
        study = study_for(session, principal, "admin")
        protocol = studies.protocol_of(study)
        if not are_shown(protocol.reports.images, protocol.answers.paired_view):
            return ""
        if dry_run:
            return kept.kept_naming_key(session, study) or secrets.token_hex(32)
    with transaction(engine) as session:
        return kept.naming_key(session, study_for(session, principal, "admin"))


def prepare_all(
    session: Session,
    principal: Principal,
    parsed: Parsed,
    progress: Callable[[int, int], None] = lambda done, of: None,
    folder: Path | None = None,
    key: str = "",
) -> list[Prepared]:
    """The shown text of every report, in their order; reads only. `progress(done, of)` is called as they are made.

    `folder`: what was read, in which the pictures that reports name may lie.
    """
    study = study_for(session, principal, "admin")
    protocol = studies.protocol_of(study)
    titles = {topic.key: topic.title for topic in parsed.topics}
    titles |= {row.key: row.title for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    known = session.execute(select(System.public_name, System.key).where(System.study_id == study.id))
    names = {name for row in known for name in row} | {n for s in parsed.systems for n in (s.public_name, s.key)}
    pictured = _pictured(session, study, protocol, folder, key)
    prepared = []
    for done, report in enumerate(parsed.reports, start=1):
        found, lost = pictured(report)
        ready = prepare_report(
            found.text, titles[report.topic], names, protocol.reports, layout=protocol.study.layout, lost=lost
        )
        prepared.append(replace(ready, pictures=found.pictures, unshown=found.unshown))
        progress(done, len(parsed.reports))
    return prepared


def _pictured(
    session: Session, study: Study, protocol: Protocol, folder: Path | None, key: str
) -> Callable[[ReportRecord], tuple[placing.Placed, tuple[str, ...]]]:
    """How a report's pictures come into its text, and what it lost on the way; nobody decides about evidence."""
    images = protocol.reports.images
    if are_shown(images, protocol.answers.paired_view):
        key = key or kept.naming_key(session, study)

    def pictured(report: ReportRecord) -> tuple[placing.Placed, tuple[str, ...]]:
        is_evidence = report.system == EVIDENCE
        show = are_shown(images, "evidence" if is_evidence else "")
        if images == "caption" and not show:
            return placing.Placed(report.text, {}, {}), report.lost or ()
        read = placing.reader(report.original, report.path, report.images, folder)
        found = placing.placed(report.text, read, key, show=show)
        if is_evidence:
            found = replace(found, unshown={})
        # of a picture without words there is something left now, or it is told why there is not
        lost = (words for words in report.lost or () if not words.endswith(WITHOUT_WORDS))
        return found, (*found.lost, *lost)

    return pictured


def _refuse(*problems: str) -> None:
    """Raises ImportingError where there are any."""
    if problems:
        raise errors.ImportingError(problems)


def _empty(parsed: Parsed) -> list[str]:
    return [
        worded(
            "{path}: holds no text; add the report, remove the file, or pass --allow-empty to import it as empty (it "
            "then never enters an item)",
            path=report.path,
        )
        for report in parsed.reports
        if report.is_empty
    ]


def _missing(parsed: Parsed) -> list[str]:
    return [
        worded(
            "{system}: no report for {lacking} of {topics} topics ({named}){hint}; add them or pass --allow-missing",
            system=system,
            lacking=len(topics),
            topics=len(parsed.topics),
            named=decoding.some_of(topics, 3),
            hint=_number_hint(system, topics, parsed),
        )
        for system, topics in import_report.missing_reports(parsed).items()
    ]


def _number_hint(system: str, missing: Sequence[str], parsed: Parsed) -> str:
    have = {report.topic for report in parsed.reports if report.system == system}
    return next((hint for topic in missing if (hint := folders.number_hint(topic, have))), "")


def _changed(parsed: Parsed, stored: import_report.Stored) -> list[str]:
    return [
        worded(
            "{path}: differs from the report already imported for topic {topic!r} by system {system!r}; pass "
            "--new-version to keep both (items with labels keep the old one)",
            path=report.path,
            topic=report.topic,
            system=report.system,
        )
        for report in parsed.reports
        if import_report.news_of(report, stored) == "changed"
    ]


def _emptied(prepared: Iterable[Ready]) -> list[str]:
    return [
        worded(
            "{path}: nothing is left once citations are stripped; look at the file, or pass --allow-empty to import "
            "it as empty (it then never enters an item)",
            path=report.path,
        )
        for report, ready in prepared
        if not report.is_empty and ready.is_bare
    ]


def _likely_bare(protocol: Protocol, parsed: Parsed) -> Iterator[Ready]:
    """The few reports of which little may be left, prepared without names to look for: one that is short or listy."""
    for report in parsed.reports:
        lines = [line for line in report.text.split("\n") if line.strip()]
        if len(report.text) < FEW or 2 * sum(bool(SOURCE.search(line)) for line in lines) > len(lines):
            yield report, prepare_report(report.text, "", (), protocol.reports, layout=protocol.study.layout)


def _write(
    session: Session, study: Study, entry: Import, parsed: Parsed, fresh: Sequence[Ready], stored: import_report.Stored
) -> None:
    """The import, the topics and systems that are not there yet, and the reports."""
    session.add(entry)
    topics, systems = _enter_topics(session, study, parsed), _enter_systems(session, study, parsed)
    session.flush()
    for report, ready in fresh:
        kept.store(session, study, ready.pictures)
        older = stored.get((report.topic, report.system))
        row = _row(report, ready, version=older.version + 1 if older else 1)
        row.study_id, row.import_id = study.id, entry.id
        row.topic_id, row.system_id = topics[report.topic].id, systems[report.system].id
        session.add(row)
    session.flush()


def _enter_topics(session: Session, study: Study, parsed: Parsed) -> dict[str, Topic]:
    """Every topic of the study by its key, those that came in now among them."""
    topics = {row.key: row for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    own_language, gains = studies.protocol_of(study).language, import_report.may_gain(session, study)
    for topic in parsed.topics:
        if topic.key not in topics:
            told = asdict(topic) | {"language": topic.language or own_language}
            topics[topic.key] = Topic(study_id=study.id, **told)
            session.add(topics[topic.key])
        elif gains:
            for name, value in import_report.gained(topic, topics[topic.key]).items():
                setattr(topics[topic.key], name, value)
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
        version=version, original=report.original, original_sha256=report.sha256, original_text=ready.original_text,
        encoding=report.encoding, status="empty" if report.is_empty or ready.is_bare else "ready",
        shown_text=ready.shown_text, shown_sha256=ready.shown_sha256,
        removed=[[s.start, s.end, s.kind] for s in ready.removed],
        changes=ready.changes, flags=ready.unresolved_flags(), open_flags=len(ready.flags),
        warnings=list(ready.warnings), stripper_version=ready.stripper_version,
        canonical_version=ready.canonical_version, words=ready.words,
    )  # fmt: skip


def _record(session: Session, study: Study, principal: Principal, entry: Import, *, new: int, replacing: bool) -> None:
    """Retire the items that newer texts replace, and write the import into the audit trail."""
    retired = planned_items.retire_outdated(session, study) if replacing else 0
    studies.audit(
        session, study.id, principal.rater_id, "import", retired_items=retired, layout=entry.layout,
        source=entry.source, new=new,
    )  # fmt: skip
    if retired:
        plan_root.keep_changed_root(session, study)


def criteria_problems(session: Session, study: Study, parsed: Parsed) -> list[str]:
    """What is wrong with the criteria read, where the study asks them."""
    if not _comes_with_topics(study):
        return []
    topics = {topic.key for topic in parsed.topics} | _topics(session, study).keys()
    unknown = {one.topic: one.where for one in reversed(parsed.criteria) if one.topic not in topics}
    plain = studies.protocol_of(study).study.layout == "plain"
    asked = [(one, about_layout(one.label, one.text)) for one in parsed.criteria] if plain else []
    told = "study {name!r} is locked; its criteria can no longer change"
    locked = [worded(told, name=study.name)] if study.status == "locked" else []
    return [
        *parsed.criteria_problems,
        *(
            worded("{where}: no topic {topic!r} in this study; correct the id or remove it", where=where, topic=topic)
            for topic, where in unknown.items()
        ),
        *(
            worded("{where}: study.layout is 'plain', and {why}", where=one.where, why=taken_by_plain(one.id, words))
            for one, words in asked
            if words
        ),
        *(locked if parsed.criteria else []),
    ]


def enter_criteria(session: Session, study: Study, parsed: Parsed) -> tuple[dict[str, int], tuple[Sentence, ...]]:
    """Write the criteria of topics that are stored; how many were new, unchanged, moved, reworded, dropped, and notes.

    A criterion whose words changed is retired and asked anew; labels keep pointing at what they answered. `moved` is
    another place, category or weight.
    """
    if not _comes_with_topics(study):
        file = parsed.criteria_file
        left = Sentence("{file}: not read, because this study's protocol brings its own criteria", file=file)
        return {}, (left,) if file else ()
    topics = _topics(session, study)
    counts: Counter[str] = Counter()
    for key in dict.fromkeys(one.topic for one in parsed.criteria):
        standing = {row.code: row for row in studies.criteria_of(session, study, topics[key])}
        for position, one in enumerate(record for record in parsed.criteria if record.topic == key):
            counts[_enter(session, study, topics[key], position, one, standing.pop(one.id, None))] += 1
        for row in standing.values():
            row.retired_at = now()
            counts["dropped"] += 1
    session.flush()
    unasked = unasked_topics(session, study)
    without = Sentence(
        "topics without criteria {unasked} ({some}): the study cannot open before they have some", unasked=len(unasked),
        some=", ".join(unasked[: import_report.LISTED]),
    )  # fmt: skip
    return dict(counts), (without,) if unasked else ()


def _comes_with_topics(study: Study) -> bool:
    return studies.protocol_of(study).criteria_from == "topics"


def _topics(session: Session, study: Study) -> dict[str, int]:
    rows = session.execute(select(Topic.key, Topic.id).where(Topic.study_id == study.id))
    return {key: topic for key, topic in rows}


def _enter(
    session: Session, study: Study, topic: int, position: int, one: CriterionRecord, row: Criterion | None
) -> str:
    words = studies.words_sha256(one.label, one.text)
    if row is not None and (row.text_sha256, row.scale) == (words, one.scale):
        place = position, one.category, one.subcategory, one.weight
        moved = (row.position, row.category, row.subcategory, row.weight) != place
        row.position, row.category, row.subcategory, row.weight = place
        return "moved" if moved else "unchanged"
    if row is not None:
        row.retired_at = now()
        session.flush()  # an id is asked once at a time
    session.add(
        Criterion(
            study_id=study.id, topic_id=topic, code=one.id, position=position, label=one.label, text=one.text,
            text_sha256=words, category=one.category, subcategory=one.subcategory, weight=one.weight, scale=one.scale,
        )
    )  # fmt: skip
    return "new" if row is None else "reworded"

"""What an import of reports came to, counts first, and what the study holds already that the import tells otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sqlalchemy import orm, select

from annotation.files.decoding import BOM, some_of
from annotation.importing.reports.records import Parsed, ReportRecord, TopicRecord
from annotation.leaks.self_identification import LOST
from annotation.shown_texts.prepare import SHORT, Prepared
from annotation.studies import has_labels
from db.tables import Item, Report, Study, System, Topic
from plain.wording import Sentence, several, worded, worded_of

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
    notes: tuple[Sentence, ...] = ()  # what the layout's reader decided or left aside
    without_prompt: int = 0  # topics
    criteria: dict[str, int] = field(default_factory=dict)  # of the topics: how many new, unchanged, reworded, …

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints: counts first, then names, at most twenty a line."""
        reference = worded(" ({n} reference)", n=self.references) if self.references else ""
        versions = (
            worded_of(self.new_versions, "{n} new version, ", "{n:,} new versions, ") if self.new_versions else ""
        )
        gaps = {topic for topics in self.missing.values() for topic in topics}
        missing = [f"{system} {len(topics)} ({some_of(topics, LISTED)})" for system, topics in self.missing.items()]
        files = {
            "with a byte order mark": self.bom,
            "with Windows line ends": self.crlf,
            "with a name in decomposed letters": self.nfd_names,
            "ignored": self.ignored,
        }
        odd = [f"{count:,} {worded(what)}" for what, count in files.items() if count]
        listed = {
            "empty": self.empty,
            "disabled systems": self.disabled,
            "matched by fallback": self.matched_by_fallback,
            worded("short (< {words} words)", words=SHORT): self.short,
            "duplicate texts": self.duplicate_texts,
            "categories with one topic": self.singletons,
        }
        criteria = [f"{n} {worded(what)}" for what, n in self.criteria.items()]
        warned = several(len(self.warned), "report") if self.warned else ""
        return [
            worded(
                "{layout}: {topics}, {systems}{reference}, {reports}: {new} new, {unchanged} unchanged, "
                "{versions}{empty} empty", layout=self.layout, topics=several(self.topics, "topic"),
                systems=several(self.systems, "system"), reference=reference, reports=several(self.reports, "report"),
                new=self.new, unchanged=self.unchanged, versions=versions, empty=len(self.empty),
            ),
            worded(
                "reports are missing: {missing}; {complete} of {topics} topics are complete", topics=self.topics,
                missing=some_of(missing, LISTED, worded("; ")), complete=self.topics - len(gaps),
            ) if missing else worded("no report is missing"),
            *([worded("of the files {odd}", odd=worded(", ").join(odd))] if odd else []),
            *(f"{worded(what)} {len(names)} ({some_of(names, LISTED)})" for what, names in listed.items() if names),
            *([worded("criteria {counts}", counts=worded(", ").join(criteria))] if criteria else []),
            *(note.text for note in self.notes[:LISTED]),
            *([no_prompt(self.without_prompt, self.layout)] if self.without_prompt else []),
            *([worded("stripping warnings on {reports}; all of them with --json", reports=warned)] if warned else []),
        ]  # fmt: skip


def what_came_in(
    layout: str, parsed: Parsed, prepared: Sequence[tuple[ReportRecord, Prepared]], stored: Stored,
    notes: tuple[Sentence, ...],
) -> ImportReport:  # fmt: skip
    """The counts and names of what was read, beside what is stored; the criteria of topics are not in it yet."""
    empty = [report.path for report, ready in prepared if report.is_empty or ready.is_bare]
    written = [(report, ready) for report, ready in prepared if not (report.is_empty or ready.is_bare)]
    news = Counter(news_of(report, stored) for report, _ in written)
    return ImportReport(
        layout=layout,
        topics=len(parsed.topics),
        systems=len(parsed.systems),
        references=sum(system.is_reference for system in parsed.systems),
        reports=len(parsed.reports),
        new=news["new"],
        unchanged=news["unchanged"],
        new_versions=news["changed"],
        empty=tuple(empty),
        short=tuple(report.path for report, ready in written if ready.words < SHORT),
        missing=missing_reports(parsed),
        duplicate_texts=_duplicate_texts([report for report, _ in written]),
        warned={report.path: ready.warnings for report, ready in written if ready.warnings},
        disabled=parsed.disabled,
        matched_by_fallback=parsed.matched_by_fallback,
        ignored=parsed.ignored,
        bom=parsed.bom + sum(report.original.startswith(BOM) for report in parsed.reports),
        crlf=parsed.crlf + sum(b"\r\n" in report.original for report in parsed.reports if report.lost is None),
        nfd_names=parsed.nfd_names,
        singletons=_singletons(parsed.topics),
        notes=(*parsed.notes, *notes, *_clusters(parsed.topics), *_converted(prepared), *_pictured(prepared)),
        without_prompt=sum(not topic.prompt for topic in parsed.topics),
    )


def _clusters(topics: Sequence[TopicRecord]) -> tuple[Sentence, ...]:
    """A note on the clusters of several topics, as `cluster_of` a study has them."""
    counts = Counter(str(topic.features.get("cluster_id") or topic.key) for topic in topics)
    shared = [name for name, count in counts.items() if count > 1]
    told = Sentence(
        "several topics of one cluster_id, one topic in every interval {clusters} ({some})", clusters=len(shared),
        some=some_of(shared, LISTED),
    )  # fmt: skip
    return (told,) if shared else ()


def _converted(prepared: Sequence[tuple[ReportRecord, Prepared]]) -> tuple[Sentence, ...]:
    """A note for each format: how many documents, what converted them, and how many of them lost something."""
    told = []
    for by in sorted({report.encoding for report, _ in prepared if report.lost is not None}):
        same = [ready for report, ready in prepared if report.lost is not None and report.encoding == by]
        losing = sum(any(flag.kind == LOST for flag in ready.flags) for ready in same)
        left = Sentence("; {losing} lost something on the way, to be decided about on the Blinding page", losing=losing)
        told.append(Sentence(
            "documents converted to Markdown by {by} {same}{left}", by=by, same=len(same), left=left if losing else ""
        ))  # fmt: skip
    return tuple(told)


def _pictured(prepared: Sequence[tuple[ReportRecord, Prepared]]) -> tuple[Sentence, ...]:
    """Notes on the pictures that are shown, and on those that are not, by the reason; none where there are neither."""
    shown, unshown = sum(len(ready.pictures) for _, ready in prepared), Counter[str]()
    for _, ready in prepared:
        unshown.update(ready.unshown)
    left = (
        Sentence("figures not shown {n:,}, {why}: to be decided about on the Blinding page", n=number, why=why)
        for why, number in unshown.items()
    )
    return (*[Sentence("figures shown {shown:,}", shown=shown)] * bool(shown), *left)


def no_prompt(topics: int, layout: str) -> str:
    """What is amiss where nobody said what the systems were asked, and how the layout can say it."""
    remedy = ""
    if layout == "folder":
        remedy = worded("; add topics.csv (topic, title, prompt, category, language) to the folder and import it again")
    if layout == "table":
        remedy = worded("; name its column with --map prompt=COLUMN and import it again")
    return worded_of(
        topics, "{n} topic has no prompt: annotators are asked about a question they cannot see{remedy}",
        "{n:,} topics have no prompt: annotators are asked about a question they cannot see{remedy}", remedy=remedy,
    )  # fmt: skip


def missing_reports(parsed: Parsed) -> dict[str, tuple[str, ...]]:
    """The topics that a system has no report on, by system; only systems with such gaps."""
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
        places[report.text].append(report.path)
    return tuple(" = ".join(paths) for paths in places.values() if len(paths) > 1)


def _singletons(topics: Sequence[TopicRecord]) -> tuple[str, ...]:
    """Categories with one topic."""
    return tuple(name for name, count in Counter(topic.category for topic in topics).items() if name and count == 1)


Stored = Mapping[tuple[str, str], Report]  # the newest version of each report, by the keys of topic and system


def stored_reports(session: orm.Session, study: Study) -> Stored:
    """Every report already there, in its newest version."""
    rows = session.execute(
        select(Topic.key, System.key, Report)
        .join(Topic, Topic.id == Report.topic_id)
        .join(System, System.id == Report.system_id)
        .where(Report.study_id == study.id)
        .order_by(Report.version)
    )
    return {(topic, system): report for topic, system, report in rows}


def news_of(report: ReportRecord, stored: Stored) -> Literal["new", "unchanged", "changed"]:
    """What a report read is beside what is stored, by its bytes."""
    older = stored.get((report.topic, report.system))
    if older is None:
        return "new"
    return "unchanged" if older.original_sha256 == report.sha256 else "changed"


def topics_kept(session: orm.Session, study: Study, parsed: Parsed) -> tuple[Sentence, ...]:
    """Notes on topics that are told otherwise than before: what they lacked and are given, and what stays."""
    standing = {row.key: row for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
    gains = may_gain(session, study)
    given, kept = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for one in parsed.topics:
        if one.key in standing:
            lacking = gained(one, standing[one.key]) if gains else {}
            for parts, names in ((given, lacking), (kept, _told_otherwise(one, standing[one.key], lacking))):
                if names:
                    parts[", ".join(names)].append(one.key)
    said = (
        (given, "topics given what they lacked, {parts} {topics} ({some})"),
        (kept, "topics told otherwise than before, {parts} stays {topics} ({some})"),
    )
    return tuple(
        Sentence(words, parts=parts, topics=len(keys), some=", ".join(keys[:LISTED]))
        for found, words in said
        for parts, keys in found.items()
    )


def may_gain(session: orm.Session, study: Study) -> bool:
    """Whether a topic may be given what it came without: until somebody has answered without it."""
    return study.status == "draft" and not has_labels(session, study)


def gained(told: TopicRecord, standing: Topic) -> dict[str, Any]:
    """What this import tells of what a topic lacks: its prompt, its category and its features.

    Its title stays, made from its key or not: it heads every shown text, and a report that comes later under another
    heading than those that stand would tell its system.
    """
    lacking = [name for name in ("prompt", "category", "features") if not getattr(standing, name)]
    return {name: value for name in lacking if (value := getattr(told, name))}


def _told_otherwise(told: TopicRecord, standing: Topic, given: Mapping[str, str]) -> list[str]:
    """What this import leaves out, gives for the first time, or only made up from the topic's key, is no other word."""
    said = {name: getattr(told, name) for name in ("prompt", "category", "language", "features")}
    said |= {} if told.title in (told.key, told.key.replace("_", " ")) else {"title": told.title}
    return [name for name, value in said.items() if name not in given and value and value != getattr(standing, name)]


def late_references(session: orm.Session, study: Study, parsed: Parsed) -> list[str]:
    """Systems that this import first calls a reference, once items were made without knowing."""
    known = select(System.key).where(System.study_id == study.id, ~System.is_reference)
    late = set(session.scalars(known)) & {system.key for system in parsed.systems if system.is_reference}
    if not late or session.scalar(select(Item.id).where(Item.study_id == study.id).limit(1)) is None:
        return []
    told = "{key}: marked as the reference after items were made; make a new study of it"
    return [worded(told, key=key) for key in sorted(late)]

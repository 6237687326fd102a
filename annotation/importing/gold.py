"""Agreed answers from a file: which item and question each line is about, and the items for training and attention."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import orm, select

from annotation import passages, studies
from annotation.designs.pairing import EVIDENCE, Candidate, name_pair
from annotation.errors import AnnotationError, ImportingError
from annotation.files.decoding import Row, as_text, collecting, nfc, shortened
from annotation.files.folders import match, number_hint
from annotation.files.rows import read_columns, read_csv
from annotation.labels.entries import stored_choice
from annotation.people.principals import Principal, study_for
from annotation.planning import plan_root, planned_items
from annotation.protocol import Protocol
from db.tables import Assignment, Criterion, Import, Item, Report, Study, System, Topic
from plain.spreadsheets import unguarded

USES = ("training", "attention")
COLUMNS = ("topic", "system_a", "system_b", "probe", "criterion", "answer", "reason")
NOT_SEEN = ("open", "void")


@dataclass(frozen=True)
class GoldImported:
    """What an import of agreed answers did, in items."""

    made: int
    changed: int  # stood already, with another answer or reason
    unchanged: int


def import_gold(session: orm.Session, principal: Principal, path: Path, use: str) -> GoldImported:
    """Make the items that `path` names, with purpose `use`; A and B are named by the study's coin as in any plan.

    All or nothing: raises ImportingError with every line that cannot be placed. Repeating an import changes nothing.
    A reason may name the systems of its item: people read "the left report" and "the right report" instead.
    An answer that differs from the one that is there is taken only while nobody has seen the item: results of those who
    did were judged by it, and would change under them. A reason may always be reworded.
    """
    study = study_for(session, principal, "admin")
    if use not in USES:
        raise AnnotationError("bad_use", f"no use {use!r}; choose training or attention")
    if study.status == "locked":
        raise AnnotationError("locked", f"study {study.name!r} is locked; nothing more can be brought in")
    problems: list[str] = []
    places = GoldPlaces(session, study)
    found: dict[tuple[Any, ...], list[tuple[Row, Wanted]]] = defaultdict(list)
    for row in read_gold(path, problems):
        with collecting(problems):
            wanted = places.wanted(row)
            found[wanted.key].append((row, wanted))
    counts = {"made": 0, "changed": 0, "unchanged": 0}
    for lines in found.values():
        with collecting(problems):
            counts[_keep(session, study, use, lines)] += 1
    if problems:
        raise ImportingError(problems)
    session.flush()
    outcome = GoldImported(**counts)
    if outcome.made or outcome.changed:
        session.add(
            Import(study_id=study.id, kind="gold", layout="gold", source=str(path), options={"use": use}, report=counts)
        )
        studies.audit(session, study.id, principal.rater_id, "import_gold", use=use, **counts)
        session.flush()
        if study.plan_root is not None:
            plan_root.keep_plan_root(session, study)
    return outcome


def read_gold(path: Path, problems: list[str]) -> list[Row]:
    """The lines of a CSV, TSV or JSON Lines file as text. Raises ImportingError where a column is missing."""
    if not path.is_file():
        raise ImportingError(f"{path}: not a file; give one .csv, .tsv or .jsonl file with an agreed answer a line")
    columns, rows = (
        read_csv(path, path.name, problems, separator="\t")
        if path.suffix.lower() == ".tsv"
        else read_columns(path, problems, "utf-8")
    )
    absent = [name for name in ("topic", "answer") if name not in columns]
    if absent:
        raise ImportingError(
            [*problems, f"{path.name}:1: no column {absent[0]!r} (found: {', '.join(columns)}); add it"]
        )
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        problems.append(f"{path.name}:1: unknown column {unknown[0]!r}; known are {', '.join(COLUMNS)}")
    if not rows:
        problems.append(f"{path.name}: no rows; give a file with an agreed answer a line")
    return [
        Row(row.where, {name: unguarded(as_text(row.values.get(name)) or "").strip() for name in COLUMNS})
        for row in rows
    ]


def _keep(session: orm.Session, study: Study, use: str, lines: Sequence[tuple[Row, Wanted]]) -> str:
    """Make or complete the item of these lines; says which. Raises ImportingError naming the line."""
    row, wanted = lines[0]
    gold: dict[str, dict[str, str]] = {}
    for line, one in lines:
        if one.criterion in gold:
            raise ImportingError(f"{line.where}: {one.criterion} of this item is answered twice; remove one line")
        gold[one.criterion] = {"answer": one.answer, "reason": one.reason}
    item = _standing(session, study, wanted)
    if item is None:
        session.add(_new_item(session, study, wanted, use, gold))
        return "made"
    if item.excluded_at is not None:
        raise ImportingError(f"{row.where}: this item was taken out of the study; choose another")
    work = session.scalars(select(Assignment.status).where(Assignment.item_id == item.id)).all()
    if item.purpose == "label" and any(status != "void" for status in work):
        raise ImportingError(
            f"{row.where}: this item has slots for labels, so it cannot be {use} as well; choose another, or bring in "
            "agreed answers before planning with calipers pairs"
        )
    standing = item.gold or {}
    merged = standing | gold
    is_same = item.purpose == use and {code: one["answer"] for code, one in merged.items()} == {
        code: one["answer"] for code, one in standing.items()
    }
    if item.purpose != "label" and not is_same and any(status not in NOT_SEEN for status in work):
        raise ImportingError(
            f"{row.where}: somebody has answered this item by the agreed answers that stand "
            f"({item.purpose}: {_said(standing)}); they can no longer change, only their reasons can"
        )
    if is_same and merged == standing:
        return "unchanged"
    was_label = item.purpose == "label"
    item.purpose, item.gold = use, merged
    return "made" if was_label else "changed"


def _standing(session: orm.Session, study: Study, wanted: Wanted) -> Item | None:
    if wanted.item is not None:
        return session.get_one(Item, wanted.item)
    ids = [report.report for report in wanted.reports]
    rows = select(Item).where(Item.study_id == study.id, Item.report_a_id.in_(ids))
    if len(ids) == 2:
        return session.scalar(rows.where(Item.kind == "pair", Item.report_b_id.in_(ids)))
    beside = wanted.reference.report if wanted.reference else None
    return session.scalar(
        rows.where(
            Item.kind == "report", Item.reference_id.is_(None) if beside is None else Item.reference_id == beside
        )
    )


def _new_item(session: orm.Session, study: Study, wanted: Wanted, use: str, gold: Mapping[str, Any]) -> Item:
    a, b = (*wanted.reports, None)[:2]
    item = Item(
        study_id=study.id, topic_id=wanted.topic, kind="pair" if b else "report", purpose=use, gold=dict(gold),
        report_a_id=a.report if a else None, report_b_id=b.report if b else None,
        reference_id=wanted.reference.report if wanted.reference else None,
    )  # fmt: skip
    # worked out now, as a plan does: a page that takes longer than the others would say that it is no item like them
    shown = [session.get_one(Report, one.report) for one in (a, b or wanted.reference) if one]
    if len(shown) == 2:
        one, other = shown
        alike = passages.compare_reports(one.shown_text, other.shown_text)
        item.passages = passages.to_stored(alike, one.shown_sha256, other.shown_sha256)
    return item


def _said(gold: Mapping[str, Mapping[str, str]]) -> str:
    return ", ".join(f"{code} {one['answer']}" for code, one in gold.items())


@dataclass(frozen=True)
class Wanted:
    """What one line is about: the reports A and B (one for a rating), or a probe that is there; and its answer."""

    topic: int
    reports: tuple[Candidate, ...]
    reference: Candidate | None
    item: int | None  # of a probe
    criterion: str
    answer: str
    reason: str

    @property
    def key(self) -> tuple[Any, ...]:
        """Tells items apart."""
        return self.item, *(report.report for report in self.reports)


class GoldPlaces:
    """Topics, reports, probes and questions of one study, as files name them."""

    def __init__(self, session: orm.Session, study: Study) -> None:
        self.session, self.study, self.protocol = session, study, studies.protocol_of(study)
        self.topics = {row.key: row.id for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
        self.reports: dict[tuple[str, str], Candidate] = {
            (report.topic, report.system): report for report in planned_items.candidates(session, study)
        }
        systems = session.execute(select(System.key, System.public_name).where(System.study_id == study.id)).all()
        self.names = {name: key for key, public in systems for name in (public, key)}
        longest_first = sorted(self.names, key=len, reverse=True)
        self.named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})(?!\w)")
        self.flagged: set[int] = set()
        if self.protocol.reports.unresolved_flags == "refuse" and study.plan_root is not None:
            flagged = select(Report.id).where(Report.study_id == study.id, Report.open_flags > 0)
            self.flagged = set(session.scalars(flagged))

    def wanted(self, row: Row) -> Wanted:
        """Raises ImportingError with everything that is wrong with the line."""
        values: dict[str, str] = row.values
        topic = match(nfc(values["topic"]), self.topics)
        if topic is None:
            raise ImportingError(
                f"{row.where}: no topic {shortened(values['topic'])} in the study"
                f"{number_hint(values['topic'], self.topics)}"
            )
        problems: list[str] = []
        reports: tuple[Candidate, ...] = ()
        reference = probe = None
        with collecting(problems):
            if self.protocol.task_type == "probe_label":
                probe = self._probe(row, self.topics[topic])
            else:
                reports, reference = self._reports(row, topic)
        criterion = None
        with collecting(problems):
            criterion = self._criterion(row, self.topics[topic])
        if criterion is None or problems:
            raise ImportingError(problems)
        came_with_it = ((probe.gold if probe else None) or {}).get(criterion.code, {}).get("answer", "")
        answer = _answer(row, self.protocol, criterion, reports, came_with_it)
        reason = self._blind(row, reports)
        item = probe.id if probe else None
        return Wanted(self.topics[topic], reports, reference, item, criterion.code, answer, reason)

    def _blind(self, row: Row, reports: Sequence[Candidate]) -> str:
        """The reason with {A} and {B} where it names the reports' systems: people read it, each with their own sides.

        Raises ImportingError where it names another system.
        """
        letters = {report.system: letter for report, letter in zip(reports, "AB", strict=False)}

        def letter(found: re.Match[str]) -> str:
            system = self.names[found.group()]
            if system not in letters:
                raise ImportingError(
                    f"{row.where}: the reason names the system {system!r}, and people would read it; reword it"
                )
            return f"{{{letters[system]}}}"

        return self.named.sub(letter, row.values["reason"])

    def _reports(self, row: Row, topic: str) -> tuple[tuple[Candidate, ...], Candidate | None]:
        names = [name for name in (row.values["system_a"], row.values["system_b"]) if name]
        needed = 2 if self.protocol.task_type == "pairwise_choice" else 1
        if len(set(names)) != needed:
            which = "system_a and system_b, two different ones" if needed == 2 else "system_a alone"
            raise ImportingError(f"{row.where}: name {which}")
        reports = [self._report(row, topic, name) for name in names]
        if needed == 2:
            pair = name_pair(self.study.seed, *reports)
            return (pair.a, pair.b), self.reports.get((topic, EVIDENCE))
        if self.protocol.rates_both:
            raise ImportingError(
                f"{row.where}: training and attention items rate one report; two rated in one view have none"
            )
        beside = self.protocol.answers.paired_view
        if beside == "evidence":
            return tuple(reports), self.reports.get((topic, EVIDENCE))
        if beside != "reference":
            return tuple(reports), None
        references = [report for (on, _), report in self.reports.items() if on == topic and report.is_reference]
        if len(references) != 1:
            raise ImportingError(
                f"{row.where}: topic {topic!r} has {len(references)} references to show beside; need one"
            )
        return tuple(reports), references[0]

    def _report(self, row: Row, topic: str, name: str) -> Candidate:
        on_topic = {system: report for (on, system), report in self.reports.items() if on == topic}
        found = match(nfc(name), on_topic)
        if found is None:
            known = ", ".join(sorted(on_topic)) or "none"
            raise ImportingError(f"{row.where}: no report by {shortened(name)} on topic {topic!r} (there are: {known})")
        if on_topic[found].report in self.flagged:
            raise ImportingError(
                f"{row.where}: the report by {found!r} on topic {topic!r} has passages that may say who wrote it; "
                f"decide about them first: calipers audit {self.study.name}"
            )
        return on_topic[found]

    def _probe(self, row: Row, topic: int) -> Item:
        """By key or text, about the report of `system_a` where that is given: one key may stand for every system."""
        asked, system = row.values["probe"], nfc(row.values["system_a"])
        found_on = select(Item).where(Item.study_id == self.study.id, Item.topic_id == topic, Item.kind == "probe")
        if system:
            key = match(system, set(self.names.values())) or self.names.get(system)
            about = select(Report.id).join(System, System.id == Report.system_id)
            found_on = found_on.where(Item.report_a_id.in_(about.where(Report.topic_id == topic, System.key == key)))
        probes = self.session.scalars(found_on.where(Item.excluded_at.is_(None))).all()
        by_key = [item for item in probes if asked and asked == item.probe_key]
        found = by_key or [item for item in probes if asked and nfc(asked).split() == nfc(item.probe or "").split()]
        if len(found) != 1:
            many = "several probes" if found else "no probe"
            raise ImportingError(
                f"{row.where}: {many} {shortened(asked)}{f' about {system!r}' if system else ''} on this topic; give "
                "the probe's key in column probe, and in system_a whose report it is about"
            )
        return found[0]

    def _criterion(self, row: Row, topic: int) -> Criterion:
        asked = {criterion.code: criterion for criterion in studies.criteria_of(self.session, self.study, topic)}
        name = row.values["criterion"]
        if not name and len(asked) == 1:
            return next(iter(asked.values()))
        if name not in asked:
            raise ImportingError(
                f"{row.where}: no criterion {shortened(name)} asked of this topic ({', '.join(asked)})"
            )
        return asked[name]


def _answer(
    row: Row, protocol: Protocol, criterion: Criterion, reports: Sequence[Candidate], came_with_it: str = ""
) -> str:
    """The agreed answer as it is kept: A, B, tie or not_applicable for a pair; else as raters' answers are.

    Where the line gives none, it is the true answer that a probe was imported with.
    """
    said: str = row.values["answer"] or came_with_it
    if not said:
        raise ImportingError(f"{row.where}: no answer; write what was agreed, or remove the line")
    if protocol.task_type == "pairwise_choice":
        names = {report.system: letter for report, letter in zip(reports, "AB", strict=True)}
        winner = match(nfc(said), names)
        if winner is not None:
            return names[winner]
        others = [choice for choice in protocol.choices if choice not in ("left", "right")]
        if said not in others:
            allowed = ", ".join([*sorted(names), *others])
            raise ImportingError(f"{row.where}: {shortened(said)} is no answer here; write one of {allowed}")
        return said
    try:
        stored = stored_choice(protocol, criterion.scale, said)
    except AnnotationError as error:
        raise ImportingError(f"{row.where}: {error.text}") from None
    return stored or ""

"""Which item, question and answer of the study a line of agreed answers is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.matching import match, number_hint
from annotation.importing.records import Row, collecting, nfc, shortened
from annotation.pairing import Candidate, name_pair
from annotation.planning.newest_reports import candidates
from annotation.protocol import Protocol
from annotation.scores import stored_choice
from annotation.studies import criteria_of, protocol_of
from annotation.work.twins import rates_both
from db.tables import Criterion, Item, Report, Study, System, Topic


@dataclass(frozen=True)
class Wanted:
    """What one line is about: the reports A and B (one for a rating), or a probe that stands; and its answer."""

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

    def __init__(self, session: Session, study: Study) -> None:
        self.session, self.study, self.protocol = session, study, protocol_of(study)
        self.topics = {row.key: row.id for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
        self.reports: dict[tuple[str, str], Candidate] = {
            (report.topic, report.system): report for report in candidates(session, study)
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
            return (pair.a, pair.b), None
        if rates_both(self.protocol):
            raise ImportingError(
                f"{row.where}: training and attention items rate one report; two rated in one view have none"
            )
        if self.protocol.answers.paired_view != "reference":
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
        asked = {criterion.code: criterion for criterion in criteria_of(self.session, self.study, topic)}
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

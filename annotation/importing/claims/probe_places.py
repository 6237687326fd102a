"""Which reports of the study a probe is about, by the names that its file uses."""

import difflib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import orm, select

from annotation import errors, studies
from annotation.designs.pairing import Candidate
from annotation.files.decoding import nfc, shortened
from annotation.files.folders import match, number_hint
from annotation.importing.claims.probe_records import ProbeRecord
from annotation.labels.entries import stored_choice
from annotation.planning.planned_items import candidates
from db.tables import Study, System, Topic


@dataclass(frozen=True)
class Place:
    """One item to be: the probe of this key about this report (or about none), by ids; `system` is its key."""

    topic: int
    report: int | None
    system: str
    key: str


class ProbePlaces:
    """Topics, systems, reports and questions of one study. `left_out`: what a published tree has beyond the study."""

    def __init__(self, session: orm.Session, study: Study, exceeds: bool) -> None:
        self.session, self.study, self.protocol, self.exceeds = session, study, studies.protocol_of(study), exceeds
        self.topics = {row.key: row.id for row in session.scalars(select(Topic).where(Topic.study_id == study.id))}
        systems = select(System.key, System.public_name).where(System.study_id == study.id)
        self.names = [(key, nfc(name)) for key, name in session.execute(systems)]
        self.systems = {key: key for key, _ in self.names}
        public = Counter(name for _, name in self.names)
        self.public = {name: key for key, name in self.names if public[name] == 1}
        self.reports: dict[str, dict[str, Candidate]] = {}
        for report in candidates(session, study):
            self.reports.setdefault(report.topic, {})[report.system] = report
        self.left_out: dict[str, set[str]] = {}
        self.fallbacks: dict[str, None] = {}
        self._criteria: dict[int, tuple[str, ...]] = {}

    def of(self, record: ProbeRecord) -> list[Place]:
        """Where the probe belongs; nowhere where its tree merely exceeds the study. Raises ImportingError by line."""
        topic = self._named(record, record.topic, "topic", self.topics, {})
        if topic is None:
            return []
        here = self.reports.get(topic, {})
        if record.system:
            system = self._named(record, record.system, "system", self.systems, self.public)
            if system is None:
                return []
            if system not in here:
                return self._without(record, f"no report with text by {system!r} on topic {topic!r}")
            about: list[Candidate | None] = [here[system]]
        elif self.protocol.answers.context == "sources" and not record.spares_references:
            about = [None]
        else:
            about = [one for one in here.values() if not (one.is_reference and record.spares_references)]
            if not about:
                return self._without(record, f"no report with text on topic {topic!r}")
        return [
            Place(self.topics[topic], one.report if one else None, one.system if one else "", record.key)
            for one in about
        ]

    def gold(self, record: ProbeRecord, topic: int) -> dict[str, dict[str, str]] | None:
        """The true answer as items keep it, by question. Raises ImportingError where it is no answer here."""
        if not record.gold:
            return None
        if topic not in self._criteria:
            self._criteria[topic] = tuple(row.code for row in studies.criteria_of(self.session, self.study, topic))
        asked = self._criteria[topic]
        if len(asked) != 1:
            raise errors.ImportingError(
                f"{record.where}: a true answer, but {len(asked)} questions are asked; leave it out, and bring it in "
                "with calipers import gold"
            )
        try:
            answer = stored_choice(self.protocol, None, record.gold) or ""
        except errors.AnnotationError as error:
            raise errors.ImportingError(f"{record.where}: gold: {error.text}") from None
        return {asked[0]: {"answer": answer, "reason": ""}}

    def _named(
        self, record: ProbeRecord, name: str, what: str, keys: Collection[str], others: dict[str, str]
    ) -> str | None:
        found = match(nfc(name), keys) or others.get(nfc(name))
        if found is None and self.exceeds:
            self.left_out.setdefault(f"{what}s that the study does not have", set()).add(name)
            return None
        if found is None:
            near = difflib.get_close_matches(name, [*keys, *others], 1)
            hint = f"; did you mean {near[0]!r}?" if near else f" (there are: {', '.join(list(keys)[:5]) or 'none'})"
            raise errors.ImportingError(
                f"{record.where}: no {what} {shortened(name)} in the study{number_hint(name, keys)}{hint}"
            )
        if found != name:
            self.fallbacks[f"{name} -> {found}"] = None
        return found

    def _without(self, record: ProbeRecord, reason: str) -> list[Place]:
        if not self.exceeds:
            raise errors.ImportingError(f"{record.where}: {reason}; import it, or remove the probe")
        self.left_out.setdefault("reports that are not there or empty", set()).add(
            reason.partition(" by ")[2] or reason
        )
        return []

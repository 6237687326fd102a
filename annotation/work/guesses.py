"""What people guess: after an item, optionally, which kind of writer each report has, kept apart from its labels.

Asked where the protocol says `guess_system = true`. A kind is the family that the owner gave a system, and `person` for
a reference; the list of kinds is the same on every page of a study, and says nothing of any report.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.errors import AnnotationError
from annotation.items.shown import ShownText, in_order, item_code
from annotation.labels.entries import GUESS, GuessEntry
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Item, Report, Study, System, Topic
from plain.wording import worded

PERSON = "person"
JUDGED = ("Left", "Right", "Report")  # titles of texts whose writer is asked about; a reference is known to be one


@dataclass(frozen=True)
class Guess:
    """What one person said of one report. `said`: a kind, or empty where they recognised none."""

    rater: str  # pseudonym
    item: str
    topic: str
    said: str
    kind: str  # the writer's

    @property
    def is_right(self) -> bool:
        return self.said == self.kind


def kinds_asked(session: orm.Session, study: Study) -> tuple[str, ...]:
    """The kinds of writers that a person may name, by name; none where the study does not ask."""
    if not protocol_of(study).study.guess_system:
        return ()
    return tuple(sorted(set(_kinds(session, study).values()) - {""}))


def refuse_unknown_kinds(session: orm.Session, study: Study) -> None:
    """Raises AnnotationError `no_kinds` where the study asks for kinds and a system has none, or all have the same."""
    if not protocol_of(study).study.guess_system:
        return
    kinds = _kinds(session, study)
    unknown = sorted(session.get_one(System, key).key for key, kind in kinds.items() if not kind)
    if unknown or len(set(kinds.values())) < 2:
        what = worded("{named} has none" if unknown else "all have the same", named=", ".join(unknown[:5]))
        raise AnnotationError(
            "no_kinds",
            "study.guess_system asks for the kind of writer, which is a system's family, and {what}; write the "
            "column family in systems.csv, or set guess_system = false", what=what,
        )  # fmt: skip


def asked_on_page(session: orm.Session, study: Study, assignment: Assignment) -> dict[str, list[str]] | None:
    """`{kinds, sides}` for the page: what may be said, and of which sides; None where nothing is asked."""
    if assignment.purpose not in ("label", "retest") or not (kinds := kinds_asked(session, study)):
        return None
    sides = sides_of(protocol_of(study), session.get_one(Item, assignment.item_id), assignment.left)
    return {"kinds": list(kinds), "sides": list(sides)} if sides else None


def refuse_unasked(session: orm.Session, assignment: Assignment, entry: GuessEntry) -> None:
    """Raises AnnotationError `invalid` for a kind that is not among those asked for, or a side that shows no report."""
    asked = asked_on_page(session, session.get_one(Study, assignment.study_id), assignment)
    for side, said in entry.said.items():
        if asked is None or side not in asked["sides"] or said not in ("", *asked["kinds"]):
            raise AnnotationError("invalid", "{said!r:.60} is no kind of writer that is asked for here", said=said)


def sides_of(protocol: Protocol, item: Item, left: str | None) -> dict[str, int]:
    """Side of the page -> the report there whose writer may be guessed."""
    # a report's number in the place of its text, which nobody reads here
    shown = in_order(protocol, item, left, lambda name, key: ShownText(name, str(key), "", ""))
    return {
        side: int(text.shown_text) for side, text in zip(("left", "right"), shown, strict=False) if text.name in JUDGED
    }


def guesses_of(session: orm.Session, study: Study) -> Iterator[Guess]:
    """The newest that each person said of each report, by item; in two queries."""
    kinds, protocol = _kinds(session, study), protocol_of(study)
    of_report = select(Report.id, Report.system_id).where(Report.study_id == study.id)
    system = {report: key for report, key in session.execute(of_report)}
    rows = session.execute(
        select(Event.data, Assignment.id, Assignment.left, Item, Topic.key, Enrollment.pseudonym)
        .join(Assignment, Assignment.id == Event.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .join(Enrollment, (Enrollment.rater_id == Event.rater_id) & (Enrollment.study_id == study.id))
        .where(Event.study_id == study.id, Event.kind == "comment", Event.what == GUESS)
        .order_by(Event.id)
    )
    newest: dict[tuple[int, str], Guess] = {}
    for data, assignment, left, item, topic, rater in rows:
        reports = sides_of(protocol, item, left)
        for side, said in data.items():
            if side in reports:
                kind = kinds[system[reports[side]]]
                newest[assignment, side] = Guess(rater, item_code(item.id), topic, said, kind)
    return iter(newest.values())


def _kinds(session: orm.Session, study: Study) -> Mapping[int, str]:
    """System -> its kind, empty where its owner gave none; the evidence of tasks is nobody's."""
    writers = System.study_id == study.id, System.key != EVIDENCE
    rows = session.execute(select(System.id, System.family, System.is_reference).where(*writers))
    return {key: family or (PERSON if is_reference else "") for key, family, is_reference in rows}

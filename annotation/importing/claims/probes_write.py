"""Probes become items: everything is checked first, then one transaction holds them all, and counts are told."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session, joinedload

from annotation import errors, studies
from annotation.files.decoding import some_of, storable
from annotation.importing.claims.probe_places import Place, ProbePlaces
from annotation.importing.claims.probe_records import ParsedProbes, ProbeRecord, refuse_unstorable
from annotation.items.shown import keep_sources, sources_sha256
from annotation.leaks.self_identification import find_self_identification
from annotation.people.principals import Principal, study_for
from annotation.planning.plan_root import keep_changed_root
from db.tables import SLOT_SOURCES, Assignment, Import, Item, Report, Source, Study, System
from plain.counting import counted
from plain.hashes import text_sha256

LISTED = 20
CHUNK = 500  # items flushed at once, and asked for at once
Gold = dict[str, dict[str, str]]


@dataclass(frozen=True)
class ProbesReport:
    """Printed, stored with the import, and available as JSON. `probes` are in the file, `items` in the study."""

    layout: str
    kind: str
    probes: int
    items: int
    topics: int
    reports: int
    new: int
    unchanged: int
    replaced: int
    tags: dict[str, int] = field(default_factory=dict)  # items of each
    without_report: int = 0
    without_context: int = 0  # items without source passages, where the protocol shows them
    gold: int = 0  # items with a true answer
    telling: tuple[str, ...] = ()  # probes whose text may say who wrote their report
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matched_by_fallback: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints."""
        replaced = f", {self.replaced} replaced" if self.replaced else ""
        tags = ", ".join(f"{tag} {count}" for tag, count in self.tags.items())
        counts = {
            "about no report": self.without_report,
            "without source passages: raters see the probe alone": self.without_context,
            "with a true answer, which is shown to nobody": self.gold,
        }
        listed = {
            "may say who wrote the report, and are shown as they are:": self.telling,
            **{f"left out, {what}": names for what, names in self.left_out.items()},
            "matched by fallback": self.matched_by_fallback,
        }
        return [
            f"{self.layout}: {counted(self.probes, 'probe')} ({self.kind}) on {counted(self.topics, 'topic')}, about "
            f"{counted(self.reports, 'report')}: {counted(self.items, 'item')}, {self.new:,} new, "
            f"{self.unchanged:,} unchanged{replaced}",
            *([f"tags: {tags}"] if tags else []),
            *(f"{what} {count:,}" for what, count in counts.items() if count),
            *(f"{what} {len(names)} ({some_of(names, LISTED)})" for what, names in listed.items() if names),
            *self.notes[:LISTED],
        ]


@dataclass(frozen=True)
class Wanted:
    """One item to be, with what the file says it holds."""

    record: ProbeRecord
    place: Place
    gold: Gold | None


def import_probes(
    session: Session,
    principal: Principal,
    parsed: ParsedProbes,
    *,
    layout: str,
    source: str,
    replace: bool = False,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ProbesReport:
    """Make an item of every probe about every report it is about. Slots are made by `calipers pairs`.

    All or nothing: raises ImportingError with every problem, before the first row is written. Unchanged probes are left
    alone. A probe known with another text, sources, tag or true answer is refused unless `replace`; its text and
    sources only change while nobody has taken, labelled or been given it, so that every label keeps what was read.
    The true answer is kept with the item and shown to nobody; it counts once `import gold` makes the item one of
    training or attention. The topics, systems and reports of a published tree that the study lacks are left out.
    """
    study = study_for(session, principal, "admin")
    _refuse_study(study)
    studies.hold_study(session, study)  # two imports at once would both find nothing standing
    places = ProbePlaces(session, study, parsed.exceeds)
    wanted, problems = _wanted(parsed, places)
    standing = _standing(session, study)
    changed = {key: one for key, one in wanted.items() if key in standing and _differs(one, standing[key])}
    problems += _refused(session, changed, standing, replace)
    if not wanted and not problems:
        problems.append(f"{source}: no probe is about a report of study {study.name!r}{_left(places)}")
    if problems:
        raise errors.ImportingError(list(dict.fromkeys(problems)))
    new = [one for key, one in wanted.items() if key not in standing]
    report = _report(layout, wanted.values(), len(new), len(changed), parsed, places)
    if new or changed:
        kept = {**(options or {}), "replace": replace}
        entry = Import(study_id=study.id, kind="probes", layout=layout, source=source, options=kept)
        entry.report = storable(report.as_json())
        session.add(entry)
        _replace(session, study, changed, standing)
        _add(session, study, new, progress)
        _record(session, study, principal, entry, new=len(new), replaced=len(changed))
    return report


def _refuse_study(study: Study) -> None:
    """Raises AnnotationError `locked`, or `bad_task` where the study has no probes."""
    if study.status == "locked":
        raise errors.AnnotationError("locked", f"study {study.name!r} is locked; nothing more can be brought in")
    task_type = studies.protocol_of(study).task_type
    if task_type != "probe_label":
        raise errors.AnnotationError("bad_task", f"study {study.name!r} is a {task_type}; probes are for probe_label")


def _wanted(parsed: ParsedProbes, places: ProbePlaces) -> tuple[dict[Place, Wanted], list[str]]:
    """Every item to be by (topic, system, key), and what is wrong with the lines."""
    wanted: dict[Place, Wanted] = {}
    problems = list(parsed.problems)
    for record in parsed.probes:
        try:
            refuse_unstorable(
                record.where, key=record.key, topic=record.topic, system=record.system, context=record.context,
                tag=record.tag, gold=record.gold,
            )  # fmt: skip
            for place in places.of(record):
                key = _key(place)
                if key in wanted:
                    problems.append(_second(record, wanted[key].record))
                wanted.setdefault(key, Wanted(record, place, places.gold(record, place.topic)))
        except errors.ImportingError as error:
            problems += error.problems
    return wanted, problems


def _second(record: ProbeRecord, first: ProbeRecord) -> str:
    about = f" about {record.system!r}" if record.system else ""
    return (
        f"{record.where}: a second probe {record.key!r}{about} on topic {record.topic!r} (the first is "
        f"{first.where}); give it another key, or remove one"
    )


def _key(place: Place) -> Place:
    """What an item is known by: the report's system, not its version."""
    return Place(place.topic, None, place.system, place.key)


def _standing(session: Session, study: Study) -> dict[Place, Item]:
    rows = session.execute(
        select(Item, System.key)
        .outerjoin(Report, Report.id == Item.report_a_id)
        .outerjoin(System, System.id == Report.system_id)
        .where(Item.study_id == study.id, Item.kind == "probe", Item.excluded_at.is_(None))
        .order_by(Item.id)
        .options(joinedload(Item.source).load_only(Source.sha256))
    )
    return {Place(item.topic_id, None, system or "", item.probe_key or ""): item for item, system in rows}


def _texts(one: Wanted) -> tuple[str, str]:
    """What is asked, and the sha256 of what it is checked against; of what stands, `_shown`."""
    return one.record.text, text_sha256(one.record.context)


def _differs(one: Wanted, item: Item) -> bool:
    """In what the file says; agreed answers of training and attention belong to `import gold`."""
    gold = item.purpose == "label" and one.gold != item.gold
    return _texts(one) != _shown(item) or one.record.tag != item.tag or gold


def _refused(
    session: Session, changed: Mapping[Place, Wanted], standing: Mapping[Place, Item], replace: bool
) -> list[str]:
    begun = _begun(session, [standing[key].id for key, one in changed.items() if _texts(one) != _shown(standing[key])])
    problems = []
    for key, one in changed.items():
        what = f"{one.record.where}: probe {key.key!r}{f' about {key.system!r}' if key.system else ''} differs from "
        if standing[key].id in begun:
            problems.append(
                f"{what}what stands, and people or judges have begun to label it; give the changed text a new key (the "
                "old probe keeps its labels), or leave the file as it was"
            )
        elif not replace:
            problems.append(f"{what}what was imported before; pass --replace to take the file's")
    return problems


def _begun(session: Session, ids: Sequence[int]) -> set[int]:
    """The items that somebody has taken, labelled or been given."""
    begun: set[int] = set()
    for start in range(0, len(ids), CHUNK):
        mine = Assignment.item_id.in_(ids[start : start + CHUNK])
        # held, so that whoever takes one at this moment reads either text whole
        session.execute(select(Assignment.id).where(mine, Assignment.status == "open").with_for_update())
        is_begun = or_(Assignment.status != "open", Assignment.source.not_in(SLOT_SOURCES))
        begun |= set(session.scalars(select(Assignment.item_id).where(mine, is_begun)))
    return begun


def _shown(item: Item) -> tuple[str, str]:
    return item.probe or "", sources_sha256(item.source_sha256, item.own_context)


def _replace(session: Session, study: Study, changed: Mapping[Place, Wanted], standing: Mapping[Place, Item]) -> None:
    """What is there takes the file's words."""
    keys = [*changed]
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        sources = keep_sources(session, study.id, (changed[key].record.context for key in part))
        for key in part:
            item, record = standing[key], changed[key].record
            item.probe, item.tag, item.own_context = record.text, record.tag, None
            item.source_id = sources.get(record.context)
            if item.purpose == "label":
                item.gold = changed[key].gold


def _add(session: Session, study: Study, new: Sequence[Wanted], progress: Callable[[int, int], None]) -> None:
    for start in range(0, len(new), CHUNK):
        part = new[start : start + CHUNK]
        sources = keep_sources(session, study.id, (one.record.context for one in part))
        session.add_all(
            Item(
                study_id=study.id, topic_id=one.place.topic, kind="probe", report_a_id=one.place.report,
                probe=one.record.text, probe_key=one.record.key, source_id=sources.get(one.record.context),
                tag=one.record.tag, gold=one.gold,
            )
            for one in part
        )  # fmt: skip
        session.flush()
        progress(start + len(part), len(new))


def _record(session: Session, study: Study, principal: Principal, entry: Import, *, new: int, replaced: int) -> None:
    """Write the import into the audit trail; where there is a root, the changed plan gets its own."""
    studies.audit(
        session, study.id, principal.rater_id, "import_probes", layout=entry.layout, source=entry.source, new=new,
        replaced=replaced,
    )  # fmt: skip
    session.flush()
    keep_changed_root(session, study)


def _left(places: ProbePlaces) -> str:
    reasons = "; ".join(f"{what}: {', '.join(sorted(names)[:3])}" for what, names in places.left_out.items())
    return f" ({reasons}); is it the right one?" if reasons else "; give a file that holds some"


def _telling(wanted: Collection[Wanted], places: ProbePlaces) -> tuple[str, ...]:
    """Where a probe's own text may say who wrote the report it is about."""
    names = {name for pair in places.names for name in pair}
    texts = {one.record.where: one.record.text for one in wanted if one.place.report is not None}
    return tuple(where for where, text in texts.items() if find_self_identification(text, names))


def _report(
    layout: str, wanted: Collection[Wanted], new: int, replaced: int, parsed: ParsedProbes, places: ProbePlaces
) -> ProbesReport:
    needs = places.protocol.answers.context != "report"
    return ProbesReport(
        layout=layout, kind=places.protocol.answers.probe or "", probes=len(parsed.probes), items=len(wanted),
        topics=len({one.place.topic for one in wanted}),
        reports=len({one.place.report for one in wanted if one.place.report is not None}),
        new=new, unchanged=len(wanted) - new - replaced, replaced=replaced,
        tags=dict(sorted(Counter(one.record.tag for one in wanted if one.record.tag).items())),
        without_report=sum(one.place.report is None for one in wanted),
        without_context=sum(needs and not one.record.context.strip() for one in wanted),
        gold=sum(one.gold is not None for one in wanted),
        telling=_telling(wanted, places),
        left_out={what: tuple(sorted(names)) for what, names in places.left_out.items()},
        matched_by_fallback=tuple(places.fallbacks), notes=parsed.notes,
    )  # fmt: skip

"""Which item, criterion and rater of the study a row is about: names match as names of files do."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, orm, select

from annotation.files.decoding import nfc, shortened
from annotation.files.folders import match_either, number_hint
from annotation.importing.labels.results import CUT, ResultRow
from annotation.items.shown import item_code
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.people_tables import ROLES, Enrollment, Rater
from db.tables import REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B, Assignment, Criterion, Item, Study, System, Topic
from plain.hashes import text_sha256


@dataclass(frozen=True)
class StudyItem:
    """An item of the study; `systems` are the keys of A and B, of the one report, or none."""

    id: int
    topic: int
    systems: tuple[str, ...]
    probe_key: str
    probe: str


@dataclass(frozen=True)
class Place:
    """What a row is about: the item, the criterion's row, and its systems by the names the file gives them."""

    item: StudyItem
    criterion: Criterion
    names: dict[str, str]


class Unmatched(Exception):
    """Why a row is about nothing in this study; such rows are counted and listed, and not imported."""


class StudyPlaces:
    """Items and criteria of one study, found by the names that files use. `fallbacks`: matched but not as spelled."""

    def __init__(self, session: orm.Session, study: Study) -> None:
        topics = session.execute(select(Topic.id, Topic.key, Topic.title).where(Topic.study_id == study.id)).all()
        systems = session.execute(select(System.key, System.public_name).where(System.study_id == study.id)).all()
        self.fallbacks: dict[str, None] = {}
        self._topics = {key: topic for topic, key, _ in topics}
        self._titles = _only({nfc(title): key for _, key, title in topics}, len(topics))
        self._systems = {key: key for key, _ in systems}
        self._public = _only({nfc(name): key for key, name in systems}, len(systems))
        self._items: dict[tuple[int, frozenset[str]], list[StudyItem]] = defaultdict(list)
        for item in _items(session, study):
            self._items[item.topic, frozenset(item.systems)].append(item)
        self._criteria: dict[int | None, dict[str, Criterion]] = defaultdict(dict)
        for row in session.scalars(
            select(Criterion)
            .where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
            .order_by(Criterion.position)
        ):
            self._criteria[row.topic_id][row.code] = row

    def place(self, row: ResultRow) -> Place:
        """Raises Unmatched with the reason."""
        topic = self._topics[self._named(row.topic, "topic", self._topics, self._titles)]
        names = {name: self._named(name, "system", self._systems, self._public) for name in row.systems if name}
        item = self._item(row, topic, frozenset(names.values()))
        return Place(item, self._criterion(row.criterion, topic), names)

    def refuse_unknown_first(self, name: str, problems: list[str]) -> None:
        """A system that the user calls first must be one of the study's, spelled as there."""
        if name and name not in self._systems:
            problems.append(f"--first {name}: no such system in the study (there are: {', '.join(self._systems)})")

    def _named(self, name: str, what: str, keys: Collection[str], others: dict[str, str]) -> str:
        found = match_either(name, keys, others)
        if found is None:
            raise Unmatched(f"no {what} {shortened(name)} in the study{number_hint(name, keys)}")
        if found != name:
            self.fallbacks[f"{name} -> {found}"] = None
        return found

    def _item(self, row: ResultRow, topic: int, systems: frozenset[str]) -> StudyItem:
        found = self._items.get((topic, systems), [])
        named = " and ".join(sorted(systems)) or "no system"
        if not found:
            raise Unmatched(f"no item of {named} on topic {shortened(row.topic)}")
        if row.probe:
            same: list[Callable[[StudyItem], bool]] = [
                lambda item: _numbered(item.probe_key, row.probe_key) and _begins(item.probe, row.probe),
                lambda item: item.probe_key == row.probe,
                lambda item: _words(item.probe) == _words(row.probe),
                lambda item: _begins(item.probe, row.probe),
            ]
            same = same[:1] if row.by_number else same
            found = next((hits for fits in same if (hits := [item for item in found if fits(item)])), [])
        elif len(found) > 1:
            found = [item for item in found if item_code(item.id) == row.item]
        if len(found) != 1:
            where, like = f"of {named} on topic {shortened(row.topic)}", shortened(row.probe)
            if not row.probe:
                raise Unmatched(f"several items {where}, and the row has the id of none")
            if found:
                raise Unmatched(f"{len(found)} probes {where} are called or begin like {like}: it may be any of them")
            raise Unmatched(f"no probe {where} is called or begins like {like}")
        return found[0]

    def _criterion(self, name: str, topic: int) -> Criterion:
        asked = self._criteria[None] | self._criteria[topic]
        if not name and len(asked) == 1:
            return next(iter(asked.values()))
        if name in asked:
            return asked[name]
        close = [row for row in asked.values() if name.casefold() in (row.code.casefold(), nfc(row.label).casefold())]
        if len(close) != 1 or not name:
            raise Unmatched(f"no criterion {shortened(name)} asked of this topic" if name else "no criterion is named")
        self.fallbacks[f"{name} -> {close[0].code}"] = None
        return close[0]


def _items(session: orm.Session, study: Study) -> list[StudyItem]:
    a, b, system_a, system_b = REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
    rows = session.execute(
        select(Item.id, Item.topic_id, system_a.key, system_b.key, Item.probe_key, Item.probe)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(system_a, system_a.id == a.system_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(system_b, system_b.id == b.system_id)
        .where(Item.study_id == study.id, Item.excluded_at.is_(None), Item.purpose == "label")
        .order_by(Item.id)
    )
    return [
        StudyItem(item, topic, tuple(key for key in (one, two) if key), probe_key or "", probe or "")
        for item, topic, one, two, probe_key, probe in rows
    ]


def _only(names: dict[str, str], of: int) -> dict[str, str]:
    """Second names, unless two things share one: then none of them can tell anything."""
    return names if len(names) == of else {}


def _numbered(key: str, known: str) -> bool:
    """Whether a probe has this number, or is a further one under it (a page's second statement: `7-2`)."""
    return bool(known) and (key == known or key.startswith(f"{known}-"))


def _begins(text: str, known: str) -> bool:
    """Whether the words are the same, or `known` is what files that keep CUT characters would keep of them."""
    kept = known.removesuffix("...")
    return _words(text) == _words(known) or (
        len(kept) == CUT and " ".join(_words(text)).startswith(" ".join(_words(kept)))
    )


def _words(text: str) -> list[str]:
    return nfc(text).split()


Name = tuple[str, str]  # kind (human or judge) and name
GIVEN_OUT = re.compile(rf"({'|'.join(ROLES)})-\d+")  # pseudonyms that this study may give to somebody else
IMPORTED = "imported"  # the model of a judge that was run elsewhere, wherever models are shown


def pseudonym(name: str) -> str:
    """What an imported person is called here: as in the file, unless it is a pseudonym that studies give out."""
    return f"{IMPORTED} {name}" if GIVEN_OUT.fullmatch(name) else name


def standing_raters(session: orm.Session, study: Study, names: Iterable[Name], problems: list[str]) -> dict[Name, int]:
    """Rater ids of those who are there already. A name that works in this study itself joins `problems`."""
    judges = dict(session.execute(select(Judge.name, Judge.rater_id).where(Judge.study_id == study.id)).all())
    people = {
        name: (rater, role)
        for name, rater, role in session.execute(
            select(Enrollment.pseudonym, Enrollment.rater_id, Enrollment.role).where(Enrollment.study_id == study.id)
        )
    }
    found: dict[Name, int] = {}
    for kind, name in names:
        called = name if kind == "judge" else pseudonym(name)
        if "\0" in called or called.encode("utf-8", "replace").decode() != called:
            problems.append(f"{kind} {shortened(called)}: the name holds characters that cannot be kept; rename it")
        elif called in (people if kind == "judge" else judges):
            other = "person" if kind == "judge" else "judge"
            problems.append(f"{kind} {called!r}: a {other} of this study has that name; give the imported one another")
        elif kind == "judge" and called in judges:
            found[kind, name] = judges[called]
            calls = JudgeCall.judge_id == select(Judge.id).where(Judge.rater_id == judges[called]).scalar_subquery()
            if _any(session, select(JudgeCall.id).where(calls).limit(1).exists()):
                problems.append(
                    f"judge {called!r}: was run in this study itself; name the imported one otherwise: --judge NAME"
                )
        elif kind == "human" and called in people:
            found[kind, name], role = people[called]
            here = Assignment.rater_id == people[called][0], Assignment.source != "import"
            if role != "annotator" or _any(session, select(Assignment.id).where(*here).limit(1).exists()):
                problems.append(f"human {called!r}: works in this study itself; give the imported person another name")
    return found


def make_raters(session: orm.Session, study: Study, names: Iterable[Name]) -> Mapping[Name, int]:
    """Rater ids of new ones. A judge's configuration says that it was run elsewhere: no model, prompt or price here."""
    made: dict[Name, int] = {}
    for kind, name in names:
        called = name if kind == "judge" else pseudonym(name)
        rater = Rater(kind=kind, handle=called)
        session.add(rater)
        session.flush()
        made[kind, name] = rater.id
        if kind == "human":
            session.add(
                Enrollment(
                    study_id=study.id, rater_id=rater.id, role="annotator", pseudonym=called,
                    is_simulated=study.is_simulated,
                )
            )  # fmt: skip
            continue
        judge = Judge(study_id=study.id, rater_id=rater.id, name=called, is_simulated=study.is_simulated)
        session.add(judge)
        session.flush()
        session.add(
            JudgeConfig(
                judge_id=judge.id, sha256=text_sha256(f"{IMPORTED}\n{called}"), model=IMPORTED, params={},
                asked_params={}, template="", template_sha256=text_sha256(""), structured=[], batching="all",
                max_output_tokens=0, price={}, price_source="none",
            )
        )  # fmt: skip
    session.flush()
    return made


def _any(session: orm.Session, exists: ColumnElement[bool]) -> bool:
    return bool(session.scalar(select(exists)))

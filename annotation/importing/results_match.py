"""Which item and criterion of the study a row is about: by topic and systems, matched as names of files are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.importing.matching import match, number_hint
from annotation.importing.records import nfc, shortened
from annotation.importing.results import CUT, ResultRow
from annotation.item_codes import item_code
from db.aliases import REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B
from db.tables import Criterion, Item, Study, System, Topic


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

    def __init__(self, session: Session, study: Study) -> None:
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
        found = match(name, keys) or others.get(match(name, others) or "")
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
            found = next((hits for fits in same if (hits := [item for item in found if fits(item)])), [])
        elif len(found) > 1:
            found = [item for item in found if item_code(item.id) == row.item]
        if len(found) != 1:
            which = f"probe {shortened(row.probe)}" if row.probe else "which of several items"
            raise Unmatched(f"{which} of {named} on topic {shortened(row.topic)} is meant: cannot tell")
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


def _items(session: Session, study: Study) -> list[StudyItem]:
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

"""Rows of a file matched with the study: what each is about, in which order, and which choice and texts it claims."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from sqlalchemy import orm, select

from annotation.files.decoding import shortened
from annotation.importing.labels.results import TIE, ResultOptions, ResultRow
from annotation.importing.labels.results_match import Name, Place, StudyPlaces, Unmatched
from annotation.items.shown import SOURCES, UNPROVED, ShownText, in_order
from annotation.labels.answers import Said
from annotation.labels.entries import clean, off_scale, scale_of, score_text
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from db.tables import Item, Report, Study

SHA256 = re.compile(r"[0-9a-f]{64}")
Sheet = tuple[int, Name, int]  # item, rater, pass: one assignment


@dataclass(frozen=True)
class Matched:
    """A row, what it is about, the order it was shown in, and what its label will say. `proofs`: one a text."""

    row: ResultRow
    place: Place
    left: str | None
    says: Said
    proofs: tuple[str, ...]

    @property
    def sheet(self) -> Sheet:
        return self.place.item.id, (self.row.kind, self.row.rater), self.row.pass_no or self.row.run

    @property
    def answers(self) -> tuple[Sheet, int]:
        """What no rater answers twice: a criterion of a sheet."""
        return self.sheet, self.place.criterion.id

    @property
    def is_paired(self) -> bool:
        return len(self.place.item.systems) == 2


@dataclass
class Found:
    """All rows sorted out: matched, about nothing here (reason -> places), left out, or a problem."""

    matched: list[Matched] = field(default_factory=list)
    unmatched: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def match_rows(
    session: orm.Session, study: Study, places: StudyPlaces, rows: Iterable[ResultRow], options: ResultOptions,
    scale: tuple[float, float] | None,
) -> Found:  # fmt: skip
    """Every row with its place, order, choice and stamps; reads only."""
    protocol, found = protocol_of(study), Found()
    texts = _Texts(session, study, protocol)
    refused: list[tuple[ResultRow, str]] = []
    for row in rows:
        try:
            place = places.place(row)
        except Unmatched as reason:
            if not row.is_derived:  # of all pairs that scores could make, the study asks for some
                found.unmatched[str(reason)].append(row.where)
            continue
        known = _with_first(row, place, options, found.problems)
        left = left_of(place, known)
        try:
            choice = choice_of(protocol, place, known, left, options.times)
        except NotAllowed as allowed:
            if row.is_derived and row.answer == TIE:
                found.left_out["equal scores, where the study has no ties"] += 1
            else:
                refused.append((row, str(allowed)))
            continue
        shown = texts.of(place.item.id, left)
        bad = [name for name, given in row.sha256.items() if given and not SHA256.fullmatch(given.lower())]
        found.problems += [
            f"{row.where}: the sha256 of {name!r} is not 64 hex digits; correct or clear it" for name in bad
        ]
        stamps, proofs = _stamps(place, shown, left, row.sha256)
        says = Said(stamps[0], stamps[1] if len(stamps) > 1 else None, row.status, choice, clean(row.rationale))
        flags = tuple(map(clean, row.flags))
        found.matched.append(Matched(replace(known, flags=flags), place, left, says, proofs))
    found.problems += answer_problems(study.name, refused)
    found.problems += scale_problems(protocol, (one.place for one in found.matched), scale, options.times)
    return found


def clashes(matched: Sequence[Matched]) -> list[str]:
    """A problem for each second answer of one rater to one thing in one pass, and for two orders of one pass."""
    first: dict[tuple[Sheet, int], Matched] = {}
    orders: dict[Sheet, Matched] = {}
    problems = []
    for one in matched:
        other = first.setdefault(one.answers, one)
        shown = orders.setdefault(one.sheet, one)
        if other is not one:
            problems.append(
                f"{one.row.where}: a second answer of {one.row.rater!r} to criterion {one.place.criterion.code!r} of "
                f"this item (the first is {other.row.where}); remove one, or number repeats in the column run"
            )
        elif (shown.left, shown.row.run) != (one.left, one.row.run):
            problems.append(
                f"{one.row.where}: another order or run than {shown.row.where}, in the same pass; number the passes in "
                "the column pass_no"
            )
    return problems


def _with_first(row: ResultRow, place: Place, options: ResultOptions, problems: list[str]) -> ResultRow:
    """The row with the system shown first, as the file says or else as the user declares it for all rows."""
    if row.first and row.first not in place.names and row.first != options.first:
        problems.append(f"{row.where}: {row.first!r} is called first, but is not one of the two; correct it")
    return row if row.first else replace(row, first=options.first)


def _stamps(
    place: Place, shown: Sequence[ShownText], left: str | None, given: Mapping[str, str]
) -> tuple[list[str], tuple[str, ...]]:
    """What the label is stamped with, left text first, and how far each text is proved to be the one that was read."""
    by_system = {place.names[name]: sha256.lower() for name, sha256 in given.items() if name in place.names and sha256}
    systems = place.item.systems[::-1] if left == "B" else place.item.systems
    stamps, proofs = [], []
    for number, text in enumerate(shown):
        is_report = text.name != "Sources" and number < len(systems)
        read = by_system.get(systems[number], "") if is_report else ""
        stamps.append(read or f"{UNPROVED}{text.shown_sha256}")
        proofs.append("unproved" if not read else "proved" if read == text.shown_sha256 else "other")
    return stamps, tuple(proofs)


class _Texts:
    """The texts of a study's items by hash; the texts themselves are left in the database."""

    def __init__(self, session: orm.Session, study: Study, protocol: Protocol) -> None:
        self._protocol = protocol
        columns = Report.id, Report.shown_text == "", Report.shown_sha256, Report.stripper_version
        self._stamps: dict[int | None, tuple[str, str, str]] = {
            key: ("" if empty else "…", sha256, version)
            for key, empty, sha256, version in session.execute(select(*columns).where(Report.study_id == study.id))
        }
        item = Item.id, Item.kind, Item.report_a_id, Item.report_b_id, Item.reference_id, *SOURCES
        self._items = {row.id: row for row in session.execute(select(*item).where(Item.study_id == study.id))}

    def of(self, item: int, left: str | None) -> list[ShownText]:
        return in_order(self._protocol, self._items[item], left, lambda name, key: ShownText(name, *self._stamps[key]))


NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class NotAllowed(Exception):
    """The study allows no such answer; says what it does allow."""


def left_of(place: Place, row: ResultRow) -> str | None:
    """Which of A and B was shown first; None where nobody knows, or nothing is paired."""
    systems = place.item.systems
    first = place.names.get(row.first, row.first)
    return ("A" if systems[0] == first else "B") if len(systems) == 2 and first in systems else None


def choice_of(protocol: Protocol, place: Place, row: ResultRow, left: str | None, times: float) -> str | None:
    """The answer as raters' own are stored; A or B where the order is unknown. Raises NotAllowed."""
    if row.answer is None:
        return None
    if len(place.item.systems) == 2:
        named = place.names.get(row.answer)
        if named is not None:
            verdict = "A" if place.item.systems[0] == named else "B"
            return verdict if left is None else "left" if verdict == left else "right"
        allowed = tuple(name for name in protocol.choices if name not in ("left", "right"))
        if row.answer in allowed:
            return row.answer
        raise NotAllowed(", ".join(["A", "B", *allowed]))
    if row.answer in protocol.choices:
        return row.answer
    scale = scale_of(protocol, place.criterion.scale)
    if scale is None:
        raise NotAllowed(", ".join(protocol.choices))
    if NUMBER.fullmatch(row.answer):
        number = float(Decimal(row.answer) * Decimal(repr(times)))
        if not off_scale(number, scale):
            return score_text(number)
    steps = f" in steps of {scale.step:g}" if scale.step else ""
    raise NotAllowed(f"scores from {scale.min:g} to {scale.max:g}{steps}")


def answer_problems(study: str, found: Iterable[tuple[ResultRow, str]]) -> list[str]:
    """One problem for each answer that is not allowed, with the first place and how often: never a tie by default."""
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row, allowed in found:
        grouped[row.answer or "", allowed].append(row.where)
    return [
        f"{places[0]}: answer {shortened(answer)} is not one that study {study!r} allows ({allowed}); "
        f"rows that hold it: {len(places)}; correct them, or say what it means: --map-label {answer[:40]}=…"
        for (answer, allowed), places in grouped.items()
    ]


def scale_problems(
    protocol: Protocol, places: Iterable[Place], found: tuple[float, float] | None, times: float
) -> list[str]:
    """A problem for each criterion whose scale is not the one that the file's scores are on."""
    if found is None:
        return []
    low, high = (end * times for end in found)
    problems: dict[str, None] = {}
    for place in places:
        scale = scale_of(protocol, place.criterion.scale)
        if scale is not None and (scale.min, scale.max) != (low, high):
            problems[
                f"criterion {place.criterion.code!r}: the file's scores run from {low:g} to {high:g}, the study's from "
                f"{scale.min:g} to {scale.max:g}; pass --times N if they are the same scale, or use another study"
            ] = None
    return list(problems)

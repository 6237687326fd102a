"""Labels and judge results made elsewhere become assignments and label rows: all checked, then one transaction.

A label must not claim texts that its rater did not read. Where the file gives the sha256 of a text, that is what the
label is stamped with (another text than the study's makes it stale, like any label on a replaced text). Where it gives
none, the stamp is `unproved:` and the sha256 of the text the item shows now: the label counts while that is the text.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import orm, select

from annotation import errors, labelling, studies
from annotation.files.decoding import some_of, storable
from annotation.importing.labels.results import ResultOptions, Results
from annotation.importing.labels.results_match import Name, StudyPlaces, make_raters, standing_raters
from annotation.importing.labels.results_sheets import Found, Matched, Sheet, clashes, match_rows
from annotation.labels.answers import Answer, Answered, Said, newest_revisions, said_by
from annotation.people.principals import Principal, study_for
from annotation.planning.draws import undrawn_topics
from db.tables import LIVE, Assignment, Import, Study
from db.types import Record, now, opaque
from plain.counting import counted

LISTED = 20
ASSIGNMENTS = Record.metadata.tables["assignments"]
IMPORT_VERSION = "import/1"  # stands as the parser's version on every imported label
CHUNK = 1000  # assignments asked for at once: SQLite takes 32,766 values a statement
KINDS = {"judge-results": ("judge",), "labels": ("human", "judge")}


@dataclass(frozen=True)
class ResultsReport:
    """Printed, stored with the import, and available as JSON. `unmatched`: reason -> where its rows are."""

    layout: str
    rows: int
    new: int
    unchanged: int
    revised: int
    statuses: dict[str, int]
    raters: dict[str, int]
    items: int
    order_unknown: int
    texts_proved: int
    texts_unproved: int
    texts_other: int
    unmatched: dict[str, tuple[str, ...]]
    matched_by_fallback: tuple[str, ...]
    left_out: dict[str, int]  # rows that are nobody's fault: people's, or equal scores where ties are off
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values for --json and the imports table."""
        return asdict(self)

    def lines(self) -> list[str]:
        """What the terminal prints, at most twenty names a line."""
        unmatched = [
            f"{reason}: {len(where)} ({some_of(where, 3)})" for reason, where in list(self.unmatched.items())[:LISTED]
        ]
        count = sum(map(len, self.unmatched.values()))
        fallback = self.matched_by_fallback
        lines = [
            f"{self.layout}: {counted(self.rows, 'answer')} on {counted(self.items, 'item')}: {self.new} new, "
            f"{self.unchanged} unchanged, {self.revised} revised, {count} unmatched",
            "raters " + ", ".join(f"{name} {number}" for name, number in self.raters.items()),
            "status " + "   ".join(f"{name} {number}" for name, number in self.statuses.items()),
            f"order unknown {self.order_unknown}: left out of every statistic about which report comes first"
            if self.order_unknown
            else "order known throughout",
            f"texts read: proved by hash {self.texts_proved}, not proved {self.texts_unproved}, "
            f"another text {self.texts_other} (kept, and left out of verdicts)",
        ]
        if fallback:
            lines.append(f"matched by fallback {len(fallback)} ({some_of(fallback, LISTED)})")
        lines += [f"left out {number}: {why}" for why, number in self.left_out.items()]
        lines += [f"unmatched: {line}" for line in unmatched]
        if len(self.unmatched) > LISTED:
            lines.append(f"unmatched: and {len(self.unmatched) - LISTED} reasons more; all of them with --json")
        return [*lines, *self.notes[:LISTED]]


def import_results(
    session: orm.Session,
    principal: Principal,
    results: Results,
    *,
    kind: str,
    layout: str,
    source: str,
    options: ResultOptions,
    revise: bool = False,
) -> ResultsReport:
    """Check everything, then write; a second time nothing is added. `kind`: judge-results (judges only) or labels.

    Raises ImportingError with every problem found, and AnnotationError `locked`. Rows about nothing in the study are
    counted and listed. `revise` takes answers that differ from those imported before, as new revisions.
    """
    study = study_for(session, principal, "admin")
    if study.status == "locked":
        raise errors.AnnotationError("locked", f"study {study.name!r} is locked; no label can be added any more")
    places = StudyPlaces(session, study)
    found = _found(session, study, places, results, kind, options)
    sheets = _sheets(found.matched)
    names = tuple(dict.fromkeys(rater for _, rater, _ in sheets))
    raters = standing_raters(session, study, names, found.problems)
    ids = _standing(session, raters, sheets, found.problems)
    before = _said_before(session, ids)
    new = [one for one in found.matched if one.answers not in before]
    revised = [one for one in found.matched if before.get(one.answers, one.says) != one.says]
    _refuse(study, source, found, revised if not revise else [])
    report = _report(layout, found, len(new), len(revised), tuple(places.fallbacks), results.notes)
    if new or revised:
        kept = {name: value for name, value in asdict(options).items() if name != "key"} | {"revise": revise}
        entry = Import(study_id=study.id, kind=kind, layout=layout, source=source, options=kept)
        entry.report = storable(report.as_json())
        session.add(entry)
        raters |= make_raters(session, study, [name for name in names if name not in raters])
        _write(session, sheets, ids | _assign(session, study, sheets, raters, ids))
        studies.audit(session, study.id, principal.rater_id, "import", layout=layout, source=source, new=len(new))
    return report


def _found(
    session: orm.Session, study: Study, places: StudyPlaces, results: Results, kind: str, options: ResultOptions
) -> Found:
    """The rows that an import of this kind takes, sorted out, with every problem so far."""
    wanted = [row for row in results.rows if row.kind in KINDS[kind]]
    found = match_rows(session, study, places, wanted, options, results.scale)
    found.problems[:0] = results.problems
    places.refuse_unknown_first(options.first, found.problems)
    found.problems += clashes(found.matched)
    by_people = {one.place.item.topic for one in found.matched if one.row.kind == "human"}
    found.problems += undrawn_topics(session, study, by_people)
    found.left_out["people's rows; calipers import labels takes them"] = len(results.rows) - len(wanted)
    return found


def _sheets(matched: Sequence[Matched]) -> dict[Sheet, list[Matched]]:
    """The rows of each assignment."""
    sheets: dict[Sheet, list[Matched]] = defaultdict(list)
    for one in matched:
        sheets[one.sheet].append(one)
    return sheets


def _refuse(study: Study, source: str, found: Found, differing: list[Matched]) -> None:
    """Raises ImportingError with every problem, before the first row is written."""
    problems = found.problems
    if differing:
        problems.append(
            f"{differing[0].row.where}: differs from what was imported before (as {len(differing)} answers do); "
            "pass --revise to add them as new revisions"
        )
    if not found.matched and not problems:
        reasons = "; ".join(list(found.unmatched)[:3]) or "the file holds no answers for this command"
        problems.append(f"{source}: no row is about anything in study {study.name!r} ({reasons}); is it the right one?")
    if problems:
        raise errors.ImportingError(list(dict.fromkeys(problems)))


def _report(
    layout: str, found: Found, new: int, revised: int, fallbacks: tuple[str, ...], notes: tuple[str, ...]
) -> ResultsReport:
    matched = found.matched
    proofs = Counter(proof for one in matched for proof in one.proofs)
    return ResultsReport(
        layout=layout, rows=len(matched) + sum(map(len, found.unmatched.values())), new=new,
        unchanged=len(matched) - new - revised, revised=revised,
        statuses=dict(Counter(one.row.status for one in matched)),
        raters=dict(Counter(one.row.rater for one in matched)), items=len({one.place.item.id for one in matched}),
        order_unknown=sum(one.left is None and one.is_paired for one in matched),
        texts_proved=proofs["proved"], texts_unproved=proofs["unproved"], texts_other=proofs["other"],
        unmatched={reason: tuple(where) for reason, where in found.unmatched.items()}, matched_by_fallback=fallbacks,
        left_out={why: number for why, number in found.left_out.items() if number}, notes=notes,
    )  # fmt: skip


def _standing(
    session: orm.Session, raters: Mapping[Name, int], sheets: Mapping[Sheet, Sequence[Matched]], problems: list[str]
) -> dict[Sheet, int]:
    """Assignment ids of what was imported before; one whose order or repeat differs joins `problems`."""
    by_id = {rater: name for name, rater in raters.items()}
    rows = session.execute(
        select(
            Assignment.id, Assignment.item_id, Assignment.rater_id, Assignment.pass_no, Assignment.left,
            Assignment.repeat_no,
        ).where(Assignment.rater_id.in_(by_id), Assignment.source == "import", Assignment.status.in_(LIVE))
    )  # fmt: skip
    found = {}
    for row in rows:
        sheet = (row.item_id, by_id[row.rater_id], row.pass_no)
        if sheet in sheets:
            one = sheets[sheet][0]
            found[sheet] = row.id
            if (row.left, row.repeat_no) != (one.left, one.row.run):
                problems.append(
                    f"{one.row.where}: another order or run than was imported before for this item and pass; correct "
                    "it, or give the rater another name"
                )
    return found


def _said_before(session: orm.Session, ids: Mapping[Sheet, int]) -> dict[tuple[Sheet, int], Said]:
    """What the labels imported before say, by sheet and criterion."""
    sheets = {key: sheet for sheet, key in ids.items()}
    keys = sorted(sheets)
    said: dict[tuple[Sheet, int], Said] = {}
    for start in range(0, len(keys), CHUNK):
        standing = said_by(session, newest_revisions(session, keys[start : start + CHUNK]))
        said |= {(sheets[key], criterion): says for (key, criterion), says in standing.items()}
    return said


def _assign(
    session: orm.Session, study: Study, sheets: Mapping[Sheet, Sequence[Matched]], raters: Mapping[Name, int],
    ids: Mapping[Sheet, int],
) -> dict[Sheet, int]:  # fmt: skip
    """An assignment for every sheet that has none, with the order the file recorded, or none."""
    stamp = now()
    missing = {opaque(): sheet for sheet in sheets if sheet not in ids}
    rows: list[dict[str, Any]] = [
        {
            "aid": aid, "study_id": study.id, "item_id": sheet[0], "rater_id": raters[sheet[1]], "purpose": "label",
            "source": "import", "status": "submitted", "left": sheets[sheet][0].left, "pass_no": sheet[2],
            "repeat_no": sheets[sheet][0].row.run, "slot_no": sheet[2], "plan_seed": study.seed, "priority": 0,
            "rev": 0, "place": {}, "created_at": stamp, "submitted_at": stamp,
        }
        for aid, sheet in missing.items()
    ]  # fmt: skip
    made: dict[Sheet, int] = {}
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        session.execute(ASSIGNMENTS.insert(), chunk)
        aids = select(Assignment.aid, Assignment.id).where(Assignment.aid.in_([row["aid"] for row in chunk]))
        made |= {missing[aid]: key for aid, key in session.execute(aids)}
    return made


def _write(session: orm.Session, sheets: Mapping[Sheet, Sequence[Matched]], ids: Mapping[Sheet, int]) -> None:
    """Through the one door for every label, which writes only what is new or differs."""
    replies = [
        Answered((ids[sheet],), (_answer(one),), stamp=(one.says.left_sha256, one.says.right_sha256))
        for sheet, rows in sheets.items()
        for one in rows
    ]
    for start in range(0, len(replies), CHUNK):
        labelling.record_answers(session, replies[start : start + CHUNK], parser_version=IMPORT_VERSION)
    session.flush()


def _answer(one: Matched) -> Answer:
    """The row as a judge's answer; a failed one has its status and no choice."""
    says = one.says
    return Answer(
        one.place.criterion.code, says.status, says.choice, says.rationale, one.row.confidence, flags=one.row.flags,
        seconds=one.row.seconds, cost_usd=one.row.cost_usd,
    )  # fmt: skip

"""Optional columns of `labels.csv`: what a label of a judge took and cost, weights, items of one view, probes."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Row, func, orm, select

from annotation.items import shown, twins
from annotation.studies import protocol_of
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment
from db.tables import Criterion, Item, Study

CHUNK = 1_000
UNKNOWN = (None, None)
NEVER = 2**63  # no assignment has this number: there are no more calls
Share = tuple[float | None, float | None]  # seconds, USD


class JudgeShares:
    """Shares of a label in its calls' seconds and USD; None where one is unknown.

    Read beside the labels, in the same order: ask for assignments by rising number. So none is kept in memory.
    """

    def __init__(self, session: orm.Session, study: Study) -> None:
        self._calls = groupby(_calls(session, study), key=lambda row: int(row.assignment_id))
        self._assignment = -1
        self._served_by: list[Row[Any]] = []

    def of(self, assignment: int, criterion: int) -> Share:
        """(seconds, USD) of the label on `criterion`, a row's id."""
        while self._assignment < assignment:
            self._assignment, calls = next(self._calls, (NEVER, iter(())))
            self._served_by = list(calls)
        if self._assignment > assignment:
            return UNKNOWN
        # more than one call serves a label where the judge was run again with other settings: all of them were billed
        parts = [_part(call) for call in self._served_by if criterion in call.criteria]
        return _sum_known([seconds for seconds, _ in parts]), _sum_known([cost for _, cost in parts])


def _calls(session: orm.Session, study: Study) -> Iterator[Row[Any]]:
    """One row per assignment and call, by assignment: the call's sums and how many assignments it served."""
    mine = (
        select(JudgeCall.id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeCall.stress.is_(None))
    )
    tried = (
        select(
            JudgeAttempt.call_id,
            func.sum(JudgeAttempt.seconds).label("seconds"),
            func.sum(JudgeAttempt.cost).label("cost"),
            func.count(JudgeAttempt.id).label("attempts"),
            func.count(JudgeAttempt.cost).label("priced"),
        )
        .where(JudgeAttempt.call_id.in_(mine))
        .group_by(JudgeAttempt.call_id)
        .subquery()
    )
    served = (
        select(JudgeCallAssignment.call_id, func.count().label("assignments"))
        .where(JudgeCallAssignment.call_id.in_(mine))
        .group_by(JudgeCallAssignment.call_id)
        .subquery()
    )
    rows = (
        select(JudgeCallAssignment.assignment_id, JudgeCall.criteria, tried, served.c.assignments)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .join(tried, tried.c.call_id == JudgeCall.id)
        .join(served, served.c.call_id == JudgeCall.id)
        .order_by(JudgeCallAssignment.assignment_id, JudgeCall.id)
    )
    return iter(session.execute(rows.execution_options(yield_per=CHUNK)))


def _part(call: Row[Any]) -> Share:
    labels = max(1, call.assignments * len(call.criteria))
    return call.seconds / labels, call.cost / labels if call.priced == call.attempts else None


def _sum_known(costs: list[float | None]) -> float | None:
    """The sum, or None where one part is unknown or there is none: half a cost is not a cost."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def settings_tried(session: orm.Session, study: Study) -> dict[str, int]:
    """Judge -> with how many settings, its prompt among them, it has answered; only where these are several.

    Later ones replace the answers of earlier ones, which were tried all the same. Stress tests and what `align` tries
    on topics that it may see are no answers of the study.
    """
    rows = (
        select(Judge.name, func.count(JudgeCall.config_id.distinct()))
        .join(JudgeCall, JudgeCall.judge_id == Judge.id)
        .where(Judge.study_id == study.id, JudgeCall.state == "done", JudgeCall.stress.is_(None))
        .group_by(Judge.name)
    )
    return {judge: count for judge, count in session.execute(rows) if count > 1}


def weights_of(session: orm.Session, study: Study) -> dict[int, float]:
    """Row of a criterion still asked -> its weight; empty where all weigh 1."""
    rows = select(Criterion.id, Criterion.weight).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    weights = {row.id: row.weight for row in session.execute(rows)}
    return weights if any(weight != 1 for weight in weights.values()) else {}


def items_beside(session: orm.Session, study: Study) -> dict[int, str]:
    """Item -> the item that is rated in the same view: its report is this one's reference, and the other way round."""
    return {item: shown.item_code(twin) for item, twin in twins.twin_items(session, study).items()}


def first_of_claims(session: orm.Session, study: Study) -> dict[int, str]:
    """Probe -> the first of the probes that put its text to the same report, each with a source of its own; only those.

    By text alone: of two pages that could not be fetched neither has any. Where raters read the report and no sources,
    probes of one text are no sources of one claim.
    """
    if protocol_of(study).answers.context == "report":
        return {}
    rows = session.execute(
        select(Item.id, Item.topic_id, Item.report_a_id, Item.probe)
        .where(Item.study_id == study.id, Item.kind == "probe", Item.purpose == "label")
        .order_by(Item.id)
    )
    claims: dict[tuple[int, int | None, str | None], list[int]] = defaultdict(list)
    for item, topic, report, probe in rows:
        claims[topic, report, probe].append(item)
    return {item: shown.item_code(items[0]) for items in claims.values() if len(items) > 1 for item in items}

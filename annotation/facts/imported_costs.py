"""What judges cost that were run elsewhere, as the files say that brought their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.current_labels import is_newest
from db.judge_tables import Judge
from db.tables import Assignment, Label, Study

Pass = tuple[int, float | None, int, float | None, int]  # answers; sum and count of USD; sum and count of seconds


@dataclass(frozen=True)
class ImportedCost:
    """One judge. None where any of its answers does not say: unknown is not 0."""

    usd: float | None  # all its answers together
    seconds: float | None  # of a pass over an item, all criteria together: median, nearest rank as of calls


def imported_costs(session: Session, study: Study) -> dict[str, ImportedCost]:
    """Judge -> its cost, for judges with imported answers; of each answer the newest."""
    rows = session.execute(
        select(
            Judge.name, func.count(), func.sum(Label.cost_usd), func.count(Label.cost_usd), func.sum(Label.seconds),
            func.count(Label.seconds),
        )
        .join(Assignment, Assignment.rater_id == Judge.rater_id)
        .join(Label, Label.assignment_id == Assignment.id)
        .where(Judge.study_id == study.id, Assignment.source == "import", is_newest())
        .group_by(Judge.name, Assignment.id)
    )  # fmt: skip
    passes: dict[str, list[Pass]] = defaultdict(list)
    for judge, answers, usd, priced, seconds, timed in rows:
        passes[judge].append((answers, usd, priced, seconds, timed))
    return {judge: _cost(each) for judge, each in passes.items()}


def _cost(passes: Sequence[Pass]) -> ImportedCost:
    priced = [usd for answers, usd, known, _, _ in passes if usd is not None and known == answers]
    timed = sorted(seconds for answers, _, _, seconds, known in passes if seconds is not None and known == answers)
    return ImportedCost(
        sum(priced) if len(priced) == len(passes) else None,
        timed[(len(timed) - 1) // 2] if len(timed) == len(passes) else None,
    )

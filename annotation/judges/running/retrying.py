"""Ask again where an answer is not usable: finished calls go back into the queue, and every attempt and label stays."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, func, orm, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking import examples, material
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money.accounts import Account, find_account
from annotation.labels.current_labels import CURRENT_LABELS
from db import connect, tables
from db.judge_tables import JudgeAttempt, JudgeCall, JudgeCallAssignment

FAILURES = ("invalid", "missing", "truncated", "refused")
HOPELESS = ("input_too_long", "nonce", "altered", "stale")  # the same request would come to the same end
CHUNK = 200  # calls whose texts are in memory at once


@dataclass(frozen=True)
class Retried:
    """One judge's calls that are planned again, and those left alone because asking again cannot help."""

    name: str
    calls: int
    hopeless: int


def plan_again(
    engine: Engine, study_id: int, definitions: Sequence[JudgeDefinition], statuses: Sequence[str]
) -> tuple[Retried, ...]:
    """Put the finished calls behind current labels of these statuses back into the queue, for `run_judges` to make.

    The whole call is asked anew. Its labels change only if a new reply has more usable answers, as later revisions.
    Raises AnnotationError for an unknown status, a locked study or a judge that was never planned.
    """
    for status in statuses:
        if status not in FAILURES:
            allowed = ", ".join(FAILURES)
            raise AnnotationError("bad_option", f"--status {status!r}: only failures are asked again ({allowed})")
    with connect.transaction(engine) as session:
        study = session.get_one(tables.Study, study_id)
        if study.status == "locked":
            raise AnnotationError("locked", f"study {study.name!r} is locked; no label can change any more")
        accounts = [
            find_account(session, study, definition, examples.prompt_for(session, study, definition))
            for definition in definitions
        ]
        return tuple(_plan_again(session, study, account, statuses) for account in accounts)


def _plan_again(session: orm.Session, study: tables.Study, account: Account, statuses: Sequence[str]) -> Retried:
    failed = select(
        JudgeCall.id, JudgeCall.criteria, JudgeCall.outcome, CURRENT_LABELS.c.criterion_id
    ).join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id).join(
        CURRENT_LABELS, CURRENT_LABELS.c.assignment_id == JudgeCallAssignment.assignment_id
    ).where(
        JudgeCall.judge_id == account.judge_id, JudgeCall.config_id == account.config_id,
        JudgeCall.state.in_(("done", "failed")), JudgeCall.stress.is_(None), CURRENT_LABELS.c.status.in_(statuses),
    ).order_by(JudgeCall.id)  # fmt: skip
    found = {call: outcome for call, asked, outcome, row in session.execute(failed) if row in asked}
    able = [call for call, outcome in found.items() if outcome not in HOPELESS]
    calls = [call for start in range(0, len(able), CHUNK) for call in _current(session, study, able[start:][:CHUNK])]
    last = select(func.coalesce(func.max(JudgeAttempt.attempt_no), 0)).where(JudgeAttempt.call_id == JudgeCall.id)
    for start in range(0, len(calls), CHUNK):
        session.execute(
            update(JudgeCall)
            .where(JudgeCall.id.in_(calls[start:][:CHUNK]))
            .values(
                state="planned", outcome=None, done_at=None, tries=0, next_try_at=None,
                retried_after=last.scalar_subquery(),
            )
            .execution_options(synchronize_session=False)
        )  # fmt: skip
    return Retried(account.resolved.definition.name, len(calls), len(found) - len(calls))


def _current(session: orm.Session, study: tables.Study, calls: Sequence[int]) -> list[int]:
    """Those whose texts and questions are still the same."""
    loaded = material.load_calls(session, study, calls)
    return [call for call in calls if call in loaded and not loaded[call].stale]

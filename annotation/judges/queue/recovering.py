"""What killed processes left behind: what their journals hold is kept, and what they held is planned again."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.judges.queue.journal import Key, Left, journals_of, left_behind
from annotation.judges.queue.settling import CALLS, Settled, Worker, let_go, write_back
from db.connect import reading, transaction
from db.judge_tables import JudgeCall

AT_ONCE = 200  # replies kept in one transaction


def recover(engine: Engine) -> int:
    """Store what came back to processes of this machine that are gone, and plan again what they held.

    Returns how many of their requests were out without an answer: those are paid twice where the provider had them.
    What was only claimed is not among them. A second call finds nothing.
    """
    with left_behind(journals_of(engine.url)) as journals:
        return sum(_recover(engine, journal) for journal in journals)


def _recover(engine: Engine, journal: Left) -> int:
    worker = Worker(journal.worker, 0.0)
    with reading(engine) as session:
        answered = _answered(session, journal)
        holding = CALLS.c.worker == journal.worker, CALLS.c.state == "leased"
        judges = {*session.scalars(select(CALLS.c.judge_id).where(*holding).distinct()), *answered}
    out = 0
    for judge in sorted(judges):  # a commit concerns one judge only, as ever
        replies = answered[judge]
        for start in range(0, len(replies), AT_ONCE):
            with transaction(engine) as session:
                write_back(session, worker, replies[start:][:AT_ONCE])
        with transaction(engine) as session:
            out += let_go(session, worker, judge, journal.sent)
    return out


def _answered(session: Session, journal: Left) -> defaultdict[int, list[Settled]]:
    """By judge, in the order they came, replies to calls that are still there: a database may have been restored."""
    found: defaultdict[int, list[Settled]] = defaultdict(list)
    replies: list[tuple[Key, Mapping[str, Any]]] = list(journal.answered.items())
    for start in range(0, len(replies), AT_ONCE):
        chunk = replies[start:][:AT_ONCE]
        rows = session.execute(
            select(JudgeCall.key, JudgeCall.id, JudgeCall.judge_id).where(
                JudgeCall.key.in_([key for (key, _), _ in chunk])
            )
        )
        calls = {key: (call, judge) for key, call, judge in rows}
        for (key, number), said in chunk:
            if key in calls:
                call, judge = calls[key]
                found[judge].append(
                    Settled(call, said["attempt"], said["spent"], said["tries"], requeue=True, number=number)
                )
    return found

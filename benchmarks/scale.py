"""A study of two million labels, page by page and command by command: `python benchmarks/scale.py [--commands]`.

On SQLite and on a real Postgres (`--only sqlite`, `--url` of a database that is filled already). Of every page what
builds its data, as each role sees it, twice: as after a start of the server, and again; answers saved, items handed in;
the first paint of Progress in a real Chromium. `--commands`, half an hour more: each command that reads labels, in a
process of its own, with its seconds of CPU and its memory; what a page leaves to a process of its own is timed so too.
Exit 1 where a promise is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
from playwright.sync_api import sync_playwright
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.judges.reviewing.judge_standings import judge_runs
from annotation.labelling import save, submit
from annotation.labels.entries import AnswerEntry
from annotation.open_work.item_slots import list_items
from annotation.participation.people_list import list_people
from annotation.people.principals import Principal
from annotation.shown_texts.auditing import list_reports, view_report
from annotation.work.claiming import take
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page, current_answers
from annotation.work.progress import position
from annotation.work.remarks import remarks_of
from app.progress import study_progress
from app.results.study_reports import label_version, work_version
from benchmarks.judge_queue import databases
from benchmarks.large_study import NAME, write_study
from benchmarks.large_work import Shape
from benchmarks.promises import Figure, record
from db.connect import open_database, reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Study
from tests.browser.conftest import FLAGS, Server
from tests.conftest import chromium

PAINT_S, DATA_S, SAVE_MS, HELD_GB = 2.0, 4.0, 60.0, 2.0
SAVES, HANDED_IN = 200, 10
Page = Callable[[Session, Study], Any]
COMMANDS: Mapping[str, Sequence[str]] = {
    "status": ("status", NAME), "items": ("items", NAME), "judge status": ("judge", "status", NAME),
    "quality": ("quality", NAME), "doctor": ("doctor",),
    "export labels": ("export", "labels", NAME, "--out", "{folder}/labels.csv"),
    "export labels for Label Studio": (
        "export", "labels", NAME, "--format", "label_studio", "--out", "{folder}/label_studio",
    ),
    "export dataset": ("export", "dataset", NAME, "--out", "{folder}/dataset", "--license", "CC-BY-4.0"),
    "backup": ("backup", "{folder}/large.calipers"),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=Shape.topics)
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    parser.add_argument("--url", help="a database that large_study.py filled")
    parser.add_argument("--commands", action="store_true", help="time each command that reads labels as well")
    asked = parser.parse_args()
    figures: list[Figure] = []
    if asked.url:
        with tempfile.TemporaryDirectory() as folder:
            figures = measured("", asked.url, Path(folder), commands=asked.commands)
    for kind in [] if asked.url else [asked.only] if asked.only else ["sqlite", "postgres"]:
        with tempfile.TemporaryDirectory() as folder, databases(kind, Path(folder)) as new:
            url = new().url.render_as_string(hide_password=False)
            started = time.monotonic()
            share = asked.topics / Shape.topics
            shape = Shape(asked.topics, labels=round(Shape.labels * share), open_topics=max(2, round(30 * share)))
            write_study(url, shape).dispose()
            figures += [Figure(f"{kind}: the study is written", time.monotonic() - started, "s")]
            figures += measured(f"{kind}: ", url, Path(folder), commands=asked.commands)
    for figure in figures:
        print(figure)
    record(figures)
    return int(not all(figure.kept for figure in figures))


def measured(kind: str, url: str, folder: Path, *, commands: bool) -> list[Figure]:
    engine = open_database(url)
    people = whoever(engine)
    figures = [*pages(kind, engine, people), *answering(kind, engine, people["annotator"]), *painted(kind, url, folder)]
    if commands:
        figures += [one for name, words in COMMANDS.items() for one in command(f"{kind}{name}", words, url, folder)]
        figures += command(
            f"{kind}restore", ("restore", "{folder}/large.calipers"), f"sqlite:///{folder}/again.db", folder
        )
        for what in ("quality", "report", "disagreements", "orders", "audit", "active", "disputes"):
            figures += apart(f"{kind}{what}, apart from its page", what, people["admin"], url)
    engine.dispose()
    return figures


def whoever(engine: Engine) -> dict[str, Principal]:
    """Somebody of each role; the annotator has work in hand."""
    at_work = select(Assignment.rater_id).where(Assignment.status == "taken", Assignment.source == "app")
    found = {}
    with reading(engine) as session:
        for one in session.scalars(select(Enrollment).order_by(Enrollment.id.desc())):
            if one.role != "annotator" or one.rater_id in set(session.scalars(at_work)):
                found[one.role] = Principal(one.study_id, one.role, one.rater_id, one.id, "opaque")
    return found


def pages(kind: str, engine: Engine, people: Mapping[str, Principal]) -> Iterator[Figure]:
    """What builds each page's first paint; what a page computes apart is not in it."""
    admin, evaluator = people["admin"], people["evaluator"]
    annotator, adjudicator = people["annotator"], people["adjudicator"]
    with reading(engine) as session:
        aid = session.scalars(select(Assignment.aid).where(Assignment.rater_id == annotator.rater_id)).first() or ""
    built: Mapping[str, Page] = {
        "Progress": lambda s, study: (label_version(s, study), study_progress(s, evaluator), remarks_of(s, evaluator)),
        "Judges": lambda s, study: (label_version(s, study), judge_runs(s, evaluator)),
        "People": lambda s, study: (work_version(s, study), list_people(s, admin, {})),
        "Blinding": lambda s, study: (label_version(s, study), list_reports(s, admin), view_report(s, admin, 1)),
        "evaluator's others": lambda s, study: work_version(s, study),
        "Label": lambda s, study: assignment_page(s, annotator, aid),
        "My work": lambda s, study: own_work(s, annotator),
        "adjudicator's place": lambda s, study: position(s, adjudicator),
        "items": lambda s, study: list_items(s, admin),
    }
    for name, page in built.items():
        for when in ("first", "again"):
            started = time.perf_counter()
            with reading(engine) as session:
                page(session, session.get_one(Study, 1))
            high = math.inf if when == "first" else DATA_S  # what was never read comes at the speed of the disk
            yield Figure(f"{kind}{name}, {when}", time.perf_counter() - started, "s", high=high)


def answering(kind: str, engine: Engine, annotator: Principal) -> Iterator[Figure]:
    """Answers saved one by one, each durable, and items handed in with the next one taken."""
    saves, onward = [], []
    for _ in range(HANDED_IN):
        with transaction(engine) as session:
            mine = take(session, annotator)
            if mine is None:
                break  # a smaller study has less to give
            page = assignment_page(session, annotator, mine.aid)
        asked = [one["id"] for one in page["criteria"]]
        for number in range(SAVES // HANDED_IN):
            entry = AnswerEntry(
                kind="label", aid=mine.aid, page=page["page"], criterion=asked[number % len(asked)], choice="left",
                rationale=f"{number}", writer=f"bench{uuid.uuid4().hex[:8]}", seq=1, client_uuid=uuid.uuid4().hex,
                base_rev=revision(engine, mine.id, asked[number % len(asked)]),
            )  # fmt: skip
            started = time.perf_counter()
            with transaction(engine) as session:
                saved = save(session, annotator, [entry])
            saves.append(1000 * (time.perf_counter() - started))
            assert not saved.refused, saved.refused
        with reading(engine) as session:
            given = current_answers(session, session.get_one(Assignment, mine.id))
            revisions = {code: label.revision for code, label in given.items()}
        started = time.perf_counter()
        with transaction(engine) as session:
            submit(session, annotator, mine.aid, page["page"], uuid.uuid4().hex, revisions)
        onward.append(1000 * (time.perf_counter() - started))
    yield Figure(f"{kind}one answer saved, p95", float(np.percentile(saves, 95)), "ms", high=SAVE_MS)
    yield Figure(f"{kind}handed in and the next one taken, p95", float(np.percentile(onward, 95)), "ms", high=400)


def revision(engine: Engine, assignment: int, code: str) -> int:
    with reading(engine) as session:
        label = current_answers(session, session.get_one(Assignment, assignment)).get(code)
        return label.revision if label else 0


def painted(kind: str, url: str, folder: Path) -> Iterator[Figure]:
    """From the address of Progress to its first sentence on the screen, in a browser that has been there."""
    server = Server(folder, url)
    server.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            page = browser.new_page()
            page.goto(server.link(1, "Eva", "evaluator"))
            page.get_by_role("link", name="Progress").wait_for(timeout=60_000)
            for when in ("first", "again"):
                started = time.perf_counter()
                page.goto(f"{server.address}/progress")
                page.get_by_text("slots are handed in").wait_for(timeout=60_000)
                took = time.perf_counter() - started
                yield Figure(f"{kind}Progress in a browser, {when}", took, "s", high=PAINT_S)
                page.get_by_text("Items and their slots").wait_for(timeout=60_000)
                took = time.perf_counter() - started
                yield Figure(f"{kind}Progress with its tables, {when}", took, "s")
            browser.close()
    finally:
        server.stop()
        server.engine.dispose()


def command(name: str, words: Sequence[str], url: str, folder: Path) -> Iterator[Figure]:
    """Its seconds and memory, in a process of its own."""
    given = [word.format(folder=folder) for word in words]
    yield from run(name, [sys.executable, "-m", "app.command_line", *given], url, b"")


def apart(name: str, what: str, principal: Principal, url: str) -> Iterator[Figure]:
    """What the app's own helper process takes."""
    import pickle

    from app.results.computing import Task

    yield from run(
        name, [sys.executable, "-m", "app.results.computing"], url, pickle.dumps((url, Task(what, principal)))
    )


def run(name: str, words: Sequence[str], url: str, given: bytes) -> Iterator[Figure]:
    environment = os.environ | {"CALIPERS_DATABASE_URL": url}
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as asked:
        asked.write(given)
        asked.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=asked, stdout=told, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            print(f"{name} ended with {process.returncode}: {told.read()[-500:]!r}")
    yield Figure(f"{name}: seconds", took, "s")
    yield Figure(f"{name}: CPU", used.ru_utime + used.ru_stime, "s")
    yield Figure(f"{name}: memory", used.ru_maxrss / 1e6, "GB", high=HELD_GB)


if __name__ == "__main__":
    sys.exit(main())

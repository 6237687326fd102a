"""What blinding costs at real size: `python benchmarks/blinding.py [TOPICS]`, by default 100 topics of 12 systems.

Repeats the shared sample's reports (else the demo's) under other topics, a tenth of their paragraphs left out by a
seed, imports them and measures in CPU seconds of one process, beyond its start: what the Blinding page waits for, the
whole audit of `calipers audit`, both again from what is kept, and a decision about every passage. Ratios are to
preparing the same reports for import, in the same run.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import Engine

from annotation.facts.study_facts import keep_audit
from annotation.people.principals import Principal, local_admin
from annotation.planning.planned_items import shown_reports
from annotation.protocol import parse_protocol
from annotation.shown_texts.auditing import audit_study, list_reports, open_flags
from annotation.shown_texts.kept_measures import keep_measure
from annotation.shown_texts.overrides import resolve_all
from annotation.shown_texts.prepare import Prepared, prepare_report
from annotation.studies import init_study
from benchmarks.promises import Figure, record
from calibration.inference.bootstrap import wilson_effective
from db.connect import open_database, reading, transaction
from db.migrations import upgrade
from db.tables import Import, Report, Study, System, Topic
from plain.hashes import text_sha256

SAMPLE = ROOT.parent / "shared" / "data" / "wlc_sample"
DEMO = ROOT / "app" / "demo" / "reports"
PROTOCOL = """format = "calipers-protocol/1"
name = "blinding"
title = "A large study"
task_type = "pairwise_choice"
task = "Which report is better?"
[[criterion]]
id = "better"
label = "Better"
text = "Which report is better?"
"""
SETTINGS = parse_protocol(PROTOCOL, "benchmark").reports
Found = TypeVar("Found")


def sample() -> dict[str, dict[str, str]]:
    """Topic -> system -> report, of the shared sample where it lies beside the repository, else of the demo."""
    if SAMPLE.is_dir():
        found = {one.parts[-3]: one.parent for one in sorted(SAMPLE.glob("test_data/*/md_data/*.md"))}
        folders = found | {"wikipedia": SAMPLE / "wiki_data" / "cleaned_data" / "article"}
    else:
        folders = {one.name: one for one in sorted(DEMO.iterdir()) if one.is_dir()}
    texts = {
        system: {one.stem: one.read_text("utf-8-sig") for one in folder.glob("*.md")}
        for system, folder in folders.items()
    }
    topics = sorted(set.intersection(*(set(held) for held in texts.values())))
    return {topic: {system: held[topic] for system, held in texts.items()} for topic in topics}


def repeated(topics: int) -> Iterator[tuple[str, str, str]]:
    """Topic, system and report, the sample over and over, each time without another tenth of its paragraphs."""
    known = sample()
    for number in range(topics):
        topic = list(known)[number % len(known)]
        for system, text in known[topic].items():
            draw = random.Random(f"{system} {topic} {number}")
            parts = re.split(r"(\n\s*\n)", text)
            left = (part for part in parts if len(part) < 80 or draw.random() >= 0.1)
            yield f"{topic}_{number}", system, "".join(left)


def cpu_s(act: Callable[[], Found]) -> tuple[float, float, Found]:
    """Seconds of CPU and of the clock, and what came of it."""
    cpu, clock = time.process_time(), time.perf_counter()
    found = act()
    return time.process_time() - cpu, time.perf_counter() - clock, found


def write_study(engine: Engine, reports: Sequence[tuple[str, str, str]]) -> tuple[Principal, float]:
    """A study of `reports`, each prepared as an import prepares it; and the CPU seconds that preparing took."""
    names = sorted({system for _, system, _ in reports})
    seconds, _, ready = cpu_s(
        lambda: [prepare_report(text, topic, names, SETTINGS, layout="canonical") for topic, _, text in reports]
    )
    with transaction(engine) as session:
        study = init_study(session, "blinding", PROTOCOL, 7)
        systems = {name: System(study_id=study.id, key=name, public_name=name) for name in names}
        topics = {key: Topic(study_id=study.id, key=key, title=key) for key, _, _ in reports}
        entry = Import(study_id=study.id, kind="reports", layout="folder", source="benchmark")
        session.add_all([*systems.values(), *topics.values(), entry])
        session.flush()
        session.add_all(
            _report(study, topics[topic], systems[system], entry, text, made)
            for (topic, system, text), made in zip(reports, ready, strict=True)
        )
        return local_admin(study), seconds


def _report(study: Study, topic: Topic, system: System, entry: Import, text: str, made: Prepared) -> Report:
    flags = made.unresolved_flags()
    return Report(
        study_id=study.id, topic_id=topic.id, system_id=system.id, import_id=entry.id, original=text.encode(),
        original_sha256=text_sha256(text), original_text=text, status="empty" if made.is_bare else "ready",
        shown_text=made.shown_text, shown_sha256=made.shown_sha256, flags=flags, open_flags=len(flags),
        removed=[[span.start, span.end, span.kind] for span in made.removed], changes=made.changes,
        stripper_version=made.stripper_version, canonical_version=made.canonical_version, words=made.words,
    )  # fmt: skip


def figures(engine: Engine, admin: Principal, prepared_s: float) -> list[Figure]:
    """Each step as the page and the command take it, one after the other on one study."""

    def listed() -> int:
        with reading(engine) as session:
            return (
                len(list_reports(session, admin))
                + len(open_flags(session, admin))
                + len(shown_reports(session, session.get_one(Study, admin.study_id)))
            )

    def audited(*, whole: bool) -> None:
        with reading(engine) as session:
            found = audit_study(session, admin, interval=wilson_effective, whole=whole)
        with transaction(engine) as session:
            study = session.get_one(Study, admin.study_id)
            (keep_audit if whole else keep_measure)(session, study, found)

    def resolved() -> int:
        with transaction(engine) as session:
            return resolve_all(session, admin, "keep", reason="content")

    told: list[Figure] = []
    for name, act, most in (
        ("page: its list of reports", listed, 2.0),
        ("page: audit, first time", lambda: audited(whole=False), 10.0),
        ("page: audit, kept", lambda: audited(whole=False), 2.0),
        ("command: whole audit, first time", lambda: audited(whole=True), float("inf")),
        ("command: whole audit, kept", lambda: audited(whole=True), 2.0),
        ("command: --resolve keep", resolved, 1.0),
        ("command: whole audit after that", lambda: audited(whole=True), 2.0),
    ):
        cpu, clock, _ = cpu_s(act)
        told.append(Figure(f"{name}, CPU", cpu, "s", high=most))
        told.append(Figure(f"{name}, clock", clock, "s"))
        told.append(Figure(f"{name}, times preparing", cpu / prepared_s))
    return told


def main(arguments: Sequence[str]) -> int:
    import sklearn.feature_extraction.text
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.svm  # noqa: F401  (a page's process has them)

    reports = list(repeated(int(arguments[0]) if arguments else 100))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/blinding.db"
        upgrade(url)
        engine = open_database(url)
        admin, seconds = write_study(engine, reports)
        told = [
            Figure("reports", len(reports)),
            Figure("preparing, CPU", seconds, "s"),
            *figures(engine, admin, seconds),
        ]
        engine.dispose()
    print(*told, sep="\n")
    record(told)
    return int(not all(one.kept for one in told))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

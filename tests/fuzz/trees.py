"""Small valid trees of every kind of file that comes in, and the studies they fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine, delete, select

from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.offline.packets import reserve_packet
from annotation.people.principals import local_admin
from annotation.protocol import read_protocol
from annotation.studies import init_study
from db.connect import transaction
from db.tables import Assignment, Item, Report, Study
from tests.annotation import probe_trees
from tests.annotation.importing.test_import_results_layouts import KEY_POINTS, write_reports_of
from tests.annotation.layout_trees import json_lines, put
from tests.annotation.result_trees import (
    citation_file,
    deepeval_run,
    dr3_depth,
    dr3_file,
    inspect_log,
    inspect_sample,
    labels_file,
    matches_file,
    promptfoo_log,
    promptfoo_result,
    votes_file,
)
from tests.ballot_filling import Filling
from tests.small_study import PROTOCOL, a_person, make_study, source_of, write_reports
from tests.tool_files import EXPORTERS, labels_table, put_files

PAIR = {"topic": "tides", "system_a": "alpha", "system_b": "beta"}
SCORED = {"topic": "tides", "system": "alpha"}
SMALL = ("--study", "small")


def empty_study(protocol: str = PROTOCOL) -> Callable[[Engine, Path], None]:
    def make(engine: Engine, _folder: Path) -> None:
        with transaction(engine) as session:
            init_study(session, "small", protocol, 7)

    return make


def study_of(protocol: str = PROTOCOL, topics: tuple[str, ...] = (), **options: Any) -> Callable[[Engine, Path], int]:
    def make(engine: Engine, folder: Path) -> int:
        reports = write_reports(folder / "reports", *([topics] if topics else []))
        return make_study(engine, reports, protocol=protocol, **options)

    return make


def draft(engine: Engine, folder: Path) -> None:
    """Reports are in; nothing is planned."""
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        parsed = read_folder(write_reports(folder / "reports"))
        import_reports(session, local_admin(study), parsed, layout="folder", source="here")


def probed(name: str, probes: Mapping[str, str], topic: str = "001") -> Callable[[Engine, Path], None]:
    """A study of a shipped protocol with these probes about alpha's report on one topic."""

    def make(engine: Engine, folder: Path) -> None:
        reports = write_reports(folder / "reports", (topic,), ("alpha",))
        study = make_study(engine, reports, protocol=read_protocol(name)[1])
        with transaction(engine) as session:
            session.execute(delete(Assignment).where(Assignment.study_id == study))
            session.execute(delete(Item).where(Item.study_id == study))
            session.get_one(Study, study).plan_root = None
            report = session.scalars(select(Report).where(Report.study_id == study)).one()
            session.add_all(
                Item(study_id=study, topic_id=report.topic_id, kind="probe", report_a_id=report.id, probe=text, probe_key=key, source=source_of(session, study, "A source."))
                for key, text in probes.items()
            )  # fmt: skip

    return make


def key_points(engine: Engine, folder: Path) -> None:
    study_of(KEY_POINTS)(engine, folder)
    with transaction(engine) as session:
        for place, row in enumerate(session.scalars(select(Item).where(Item.kind == "probe").order_by(Item.id))):
            row.probe_key = str(place % 3 + 1)


def wlc_study(engine: Engine, folder: Path) -> None:
    make_study(engine, write_reports_of(folder / "reports"))


def probe_study(protocol: str, **named: Any) -> Callable[[Engine, Path], int]:
    return lambda engine, folder: probe_trees.study_of(engine, folder / "reports", protocol, **named)


def packet_out(engine: Engine, folder: Path) -> None:
    """Ada's packet is out, and its ballot lies beside the study for `a_ballot` to copy."""
    study_id = make_study(engine, write_reports(folder / "reports"), overlap=2)
    with transaction(engine) as session:
        a_person(session, study_id)
        filling = Filling(reserve_packet(session, local_admin(session.get_one(Study, study_id)), "Ada", 2))
    filling.fill(filling.pages[0])
    filling.fill(filling.pages[1], "right", submit=False)
    filling.note(filling.pages[1], "comment", text="a remark")
    times = {"start": "2026-11-20T10:00:00Z", "end": "2026-11-20T10:00:05Z"}
    filling.note(filling.pages[0], "activity", intervals=[{"criterion": "clear", **times}], clock="client")
    BALLOTS.append((filling, filling.ballot()))


BALLOTS: list[tuple[Filling, bytes]] = []


def reports_with_tables(root: Path) -> None:
    write_reports(root)
    put(
        root / "topics.csv",
        "topic,title,prompt,category,language\n"
        + "".join(f"{t},{t.title()},Why {t}?,Nature,en\n" for t in ("tides", "bread", "noise")),
    )
    put(
        root / "systems.csv",
        "system,public_name,is_reference,family\nalpha,Alpha,false,acme\nbeta,Beta,false,\ngamma,People,true,\n",
    )
    put(root / "criteria.csv", "topic,id,label,text,category,subcategory,weight\n" + "".join(f"{t},why,Why,Does it say why?,Nature,,0.5\n{t},how,How,Does it say how?,Nature,,0.5\n" for t in ("tides", "bread", "noise")))  # fmt: skip


ROWS = [
    {"topic": t, "system": s, "text": f"# {t}\n\nA report [1] on {t} by {s}, long enough to be read.", "title": t.title(), "prompt": f"Why {t}?", "category": "Nature", "language": "en", "year": 2026}
    for t in ("tides", "bread")
    for s in ("alpha", "beta")
]  # fmt: skip
LABELS = [
    {"label": "A"}, {"rater_id": "ann", "rater_kind": "human", "label": "B"},
    {"criterion": "deep", "label": "tie", "rationale": "both, it says"}, {"cluster_id": "bread", "status": "invalid", "label": ""},
]  # fmt: skip
PROBE_ROWS = [
    {"probe_id": "1", "topic": "tides", "text": "It rises.", "system": "alpha", "context": "A source.", "tag": "x", "gold": "full"},
    {"probe_id": "2", "topic": "tides", "text": "It falls.", "system": "", "context": "", "tag": "y", "gold": ""},
]  # fmt: skip
BESIDE_ROWS = [
    (t, a, b, str(n)) for n, (t, a, b) in enumerate((("tides", "alpha", "beta"), ("bread", "beta", "gamma")))
]


def as_frame(rows: list[dict[str, Any]], name: str) -> Callable[[Path], Any]:
    """The rows as one file of this name."""

    def make(root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame(rows)
        if name.endswith("parquet"):
            frame.to_parquet(root / name)
        elif name.endswith(("jsonl", "ndjson")):
            put(root / name, json_lines(rows))
        elif name.endswith("json"):
            put(root / name, json.dumps(rows))
        else:
            put(root / name, frame.to_csv(index=False, sep="\t" if name.endswith("tsv") else ","))

    return make


def rows_of(frame: Any) -> list[dict[str, Any]]:
    return [
        {str(key): value for key, value in row.items()}
        for row in frame.astype(object).fillna("").astype(str).to_dict("records")
    ]


def labels_as(name: str) -> Callable[[Path], Any]:
    def make(root: Path) -> None:
        labels_file(root / "made.csv", LABELS)
        rows = pd.read_csv(root / "made.csv", dtype=str, keep_default_na=False).to_dict("records")
        (root / "made.csv").unlink()
        as_frame([{str(key): value for key, value in row.items()} for row in rows], name)(root)

    return make


def tool_files(tool: str) -> Callable[[Path], Any]:
    table = labels_table(
        {},
        {"rater_id": "mini", "rater_kind": "judge", "label": "tie"},
        {"criterion": "deep", "label": "B", "rationale": "why"},
    )
    return lambda root: put_files(root, EXPORTERS[tool](table, {}))


def one_file(name: str, content: str) -> Callable[[Path], Any]:
    return lambda root: put(root / name, content)


def dr3_results(root: Path) -> None:
    dr3_file(root, "overall_quality", 60.0, dr3_depth(60), stamp="20251231_235959")
    dr3_file(root, "overall_quality", 80.0, dr3_depth(80))
    dr3_file(root, "format_compliance", 66.7)


def dr3_insights(root: Path) -> None:
    covered = [
        {"id": 1, "insight_text": "Sediment.", "score": 0.5, "explanation": "in part"},
        {"id": 2, "insight_text": "Leaks.", "score": 1, "explanation": "yes"},
    ]
    parts = {"source_documents": {"available": True, "details": {"evaluation_result": {"covered_insights": covered}}}}
    dr3_file(root, "information_recall", 50.0, {"components": parts})


def dr3_checks(root: Path) -> None:
    checks = [
        {"id": 1, "requirement": "Name three.", "satisfied": True, "status": "success"},
        {"id": 2, "requirement": "Compare.", "satisfied": None, "status": "error"},
    ]
    dr3_file(root, "format_compliance", 50.0, {"checklist_evaluation": checks})


def gym_citations(root: Path) -> None:
    claims = {
        "claim_1": {"claim": "One.", "urls": ["https://a"], "score": 0.5, "justification": "in part"},
        "claim_2": {"claim": "Two.", "urls": [], "score": None},
    }
    citation_file(
        root, {"001": {"score": 0.5, "detailed": claims}, "002": {"score": 0, "detailed": "No URLs found in text."}}
    )


def votes(root: Path) -> None:
    votes_file(
        root,
        [
            ("s1", "It rises twice a day.", "gemini", n, said, "a table", True)
            for n, said in enumerate((True, False, "错误"), 1)
        ],
    )


def matches(root: Path) -> None:
    matches_file(
        root,
        [
            (1, "It rises.", "The sea rises.", "https://a", "True", "so"),
            (2, "It falls.", "The sea falls.", "https://b", "False", "no"),
        ],
    )


def inspect(root: Path) -> None:
    samples = [
        inspect_sample(SCORED, {"clear": {"value": 7.5, "explanation": "well"}, "deep": {"value": 3}}),
        inspect_sample(SCORED | {"system": "beta"}, {"rubric": {"value": {"clear": 4, "deep": None}}}),
    ]
    put(root / "log.json", inspect_log(samples))


def promptfoo(root: Path) -> None:
    put(
        root / "results.json",
        promptfoo_log([promptfoo_result(SCORED, [("clear", 0.75, "mostly"), ("deep", 0.5, "half")])]),
    )


def deepeval(root: Path) -> None:
    metrics = [
        {"name": "Clear [GEval]", "score": 0.8, "reason": "well"},
        {"name": "Deep [GEval]", "score": 0.0, "error": "no JSON"},
    ]
    put(root / "20260101_000000", deepeval_run(SCORED, metrics))


def a_ballot(root: Path) -> None:
    put(root / "ballot.json", BALLOTS[-1][1])

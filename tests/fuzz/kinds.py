"""Every kind of file that comes in: a study it fits, the command, and a small valid tree to spoil."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from annotation.protocol import read_protocol
from tests import topic_questions
from tests.annotation import probe_trees
from tests.annotation.layout_trees import bench_tree, gym_tree, put, survey_tree, task_tree
from tests.annotation.result_trees import (
    RATED,
    SHARES,
    VOTES,
    gym_results,
    labels_file,
    points_file,
    race_file,
    writing,
)
from tests.annotation.test_importing import write_wlc
from tests.fuzz.trees import (
    BESIDE_ROWS,
    PROBE_ROWS,
    ROWS,
    a_ballot,
    as_frame,
    deepeval,
    dr3_checks,
    dr3_insights,
    dr3_results,
    draft,
    empty_study,
    gym_citations,
    inspect,
    key_points,
    labels_as,
    matches,
    one_file,
    packet_out,
    probe_study,
    probed,
    promptfoo,
    reports_with_tables,
    study_of,
    tool_files,
    votes,
    wlc_study,
)
from tests.small_study import PROBES, PROTOCOL, write_reports
from tests.tool_files import EXPORTERS
from tests.trained_study import AGREED, gold_file

PAIR = {"topic": "tides", "system_a": "alpha", "system_b": "beta"}
SCORED = {"topic": "tides", "system": "alpha"}
SMALL = ("--study", "small")


@dataclass(frozen=True)
class Kind:
    """`study(engine, folder)` makes the database; `tree(root)` the files; `words` the command, with {root} filled in."""

    study: Callable[[Engine, Path], Any]
    words: tuple[str, ...]
    tree: Callable[[Path], Any]
    codes: tuple[int, ...] = (0, 1, 2)
    writes: bool = True
    known: tuple[Any, ...] = field(
        default=("alpha", "beta", "gamma", "tides", "bread", "clear", "deep", "mini", "tie", "A")
    )


def reports(
    layout: str, tree: Callable[[Path], Any], *more: str, protocol: str = PROTOCOL, path: str = "{root}"
) -> Kind:
    return Kind(empty_study(protocol), ("import", "reports", path, "--layout", layout, *SMALL, *more), tree)


def results(
    layout: str,
    study: Callable[[Engine, Path], Any],
    tree: Callable[[Path], Any],
    *more: str,
    path: str = "{root}",
    verb: str = "judge-results",
) -> Kind:
    return Kind(study, ("import", verb, path, "--layout", layout, *SMALL, *more), tree)


def probes(
    layout: str, study: Callable[[Engine, Path], Any], tree: Callable[[Path], Any], *more: str, path: str = "{root}"
) -> Kind:
    return Kind(study, ("import", "probes", path, "--layout", layout, *SMALL, *more), tree)


GYM = dict(topics=("12", "13"))
KINDS: dict[str, Kind] = {
    "reports folder": reports("folder", reports_with_tables, "--allow-empty", "--allow-missing"),
    "reports folder with criteria": reports("folder", reports_with_tables, "--allow-missing", protocol=topic_questions.ALONE),
    "reports folder, nothing allowed": reports("auto", write_reports),
    "reports wlc": reports("wlc", lambda root: (shutil.rmtree(root), write_wlc(root)), "--allow-missing"),
    "reports deepresearchgym": reports("deepresearchgym", gym_tree, "--allow-missing"),
    "reports deepresearch_bench": reports("deepresearch_bench", bench_tree, "--allow-missing"),
    "reports deepresearch_bench with criteria": reports("deepresearch_bench", topic_questions.bench_tree, "--allow-missing", protocol=topic_questions.BOTH),
    "reports reportbench": reports("reportbench", survey_tree, "--allow-missing"),
    "reports dr3_eval": reports("dr3_eval", task_tree, "--allow-empty", "--allow-missing"),
    **{
        f"reports table {name}": reports("table", as_frame(ROWS, name), "--keep-columns", "--allow-empty", "--allow-missing", path=f"{{root}}/{name}")
        for name in ("rows.csv", "rows.jsonl", "rows.json", "rows.parquet")
    },
    **{
        f"labels {name}": results("labels", study_of(), labels_as(name), path=f"{{root}}/{name}", verb="labels")
        for name in ("labels.csv", "labels.jsonl", "labels.parquet")
    },
    "judge-results labels": results("labels", study_of(RATED), lambda root: labels_file(root / "labels.csv", [{"system_b": "", "label": "7.5"}]), path="{root}/labels.csv"),
    **{f"labels {tool}": results(tool, study_of(), tool_files(tool), verb="labels") for tool in EXPORTERS},
    "judge-results wlc": results("wlc", wlc_study, lambda root: put(root / "run/tides_writing.json", writing({"clear": "gen", "deep": "gt"})), "--judge", "j", "--system", "alpha", "--first", "wikipedia"),
    "judge-results deepresearchgym": results("deepresearchgym", study_of(RATED), gym_results),
    "judge-results key points": results("deepresearchgym", key_points, lambda root: points_file(root, {"1": ["Supported", "said"], "2": ["Omitted", ""], "3": [None, "failed"]})),
    "judge-results citations": results("deepresearchgym", probed("drg_citation_support", {"claim_1": "One.", "claim_2": "Two."}), gym_citations),
    "judge-results dr3_eval": results("dr3_eval", study_of(read_protocol("dr3_total")[1], ("001", "002")), dr3_results, "--judge", "j"),
    "judge-results dr3 insights": results("dr3_eval", probed("dr3_insights", {"user-1": "Sediment.", "user-2": "Leaks."}), dr3_insights, "--judge", "j"),
    "judge-results dr3 checklist": results("dr3_eval", probed("dr3_checklist", {"1": "Name three.", "2": "Compare."}), dr3_checks, "--judge", "j"),
    "judge-results race": results("race", study_of(SHARES), race_file, "--judge", "j"),
    "judge-results fact": results("fact", probed("wlc_citation", {"1-1": "It rises.", "1-2": "It falls."}, "tides"), probe_trees.fact_probes, "--judge", "j"),
    "judge-results reportbench": results("reportbench", study_of(VOTES, ("2312.04861",)), votes),
    "judge-results reportbench_citations": results("reportbench_citations", probed("rb_cited", {"1": "It rises.", "2": "It falls."}, "2312.04861"), matches, "--judge", "j"),
    "judge-results inspect": results("inspect", study_of(RATED), inspect, path="{root}/log.json"),
    "judge-results promptfoo": results("promptfoo", study_of(RATED), promptfoo, "--judge", "j", "--times", "10", path="{root}/results.json"),
    "judge-results deepeval": results("deepeval", study_of(RATED), deepeval, "--times", "10", path="{root}/20260101_000000"),
    **{
        f"probes table {name}": probes("table", probe_study(PROBES), as_frame(PROBE_ROWS, name), path=f"{{root}}/{name}")
        for name in ("probes.csv", "probes.jsonl", "probes.parquet")
    },
    "probes deepresearchgym": probes("deepresearchgym", probe_study(probe_trees.asking("key point"), topics=("12", "99")), probe_trees.gym_probes),
    "probes dr3_eval": probes("dr3_eval", probe_study(probe_trees.asking("insight"), topics=("001", "002")), probe_trees.task_probes),
    "probes dr3 checklist": probes("dr3_eval", probe_study(probe_trees.asking("requirement"), topics=("001", "002")), probe_trees.task_probes),
    "probes wlc": probes("wlc", probe_study(probe_trees.asking("statement", "sources"), topics=("Fall_River_New_Bedford_Line", "Salt")), probe_trees.wiki_probes, "--sources", "{root}/pages"),
    "probes fact": probes("fact", probe_study(probe_trees.asking("statement", "sources"), topics=("tides", "bread")), probe_trees.fact_probes),
    "probes reportbench": probes("reportbench", probe_study(probe_trees.asking("statement"), topics=("2009.12610", "2312.04861")), probe_trees.survey_probes),
    "gold csv": Kind(draft, ("import", "gold", "{root}/gold.csv", "--use", "training", *SMALL), lambda root: gold_file(root / "gold.csv", AGREED)),
    "gold tsv": Kind(draft, ("import", "gold", "{root}/gold.tsv", "--use", "attention", *SMALL), as_frame([dict(zip(("topic", "system_a", "system_b", "criterion", "answer", "reason"), one, strict=True)) for one in AGREED], "gold.tsv")),
    "gold jsonl": Kind(draft, ("import", "gold", "{root}/gold.jsonl", "--use", "training", *SMALL), as_frame([dict(zip(("topic", "system_a", "system_b", "criterion", "answer", "reason"), one, strict=True)) for one in AGREED], "gold.jsonl")),
    "list of pairs": Kind(draft, ("pairs", "small", "--design", "{root}/pairs.csv", "--apply"), as_frame([dict(zip(("topic", "system_a", "system_b", "priority"), one, strict=True)) for one in BESIDE_ROWS], "pairs.csv")),
    "ballots": Kind(packet_out, ("import", "ballots", "{root}/ballot.json", *SMALL), a_ballot),
    "protocol pairs": Kind(study_of(), ("init", "other", "--protocol", "{root}/small.toml", "--seed", "3"), one_file("small.toml", PROTOCOL)),
    "protocol ratings": Kind(study_of(), ("init", "other", "--protocol", "{root}/small.toml"), one_file("small.toml", RATED)),
    "protocol probes": Kind(draft, ("init", "small", "--protocol", "{root}/small.toml"), one_file("small.toml", PROBES)),
    "protocol dr3": Kind(draft, ("init", "other", "--protocol", "{root}/dr3_total.toml"), one_file("dr3_total.toml", read_protocol("dr3_total")[1])),
}  # fmt: skip

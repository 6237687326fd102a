"""`calipers reproduce`: each study from a small tree in its own layout to its numbers beside the published ones.

The commands of docs/studies/README.md, on trees of our own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.importing.layouts import PROBE_LAYOUTS, RESULT_LAYOUTS
from annotation.protocol import parse_protocol, read_protocol
from app.reproducing.recipes import protocol_text, read_recipe, recipe_names
from app.reproducing.simulating import spread
from app.reproducing.standing import beside
from exports.pack import TABLES
from exports.presets import PRESETS
from tests.annotation.layout_trees import put
from tests.studies.desk import Desk, a_desk
from tests.studies.own_trees import gym_tree, metric_tree, race_tree, survey_tree, wiki_tree

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_real"
WIKI = [one.id for one in read_protocol("wlc_writing_39")[0].criterion]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with a_desk(tmp_path) as found:
        yield found


def reproduced(desk: Desk, study: str, *words: str, folder: str = "clone") -> dict[str, dict[str, Any]]:
    """The rows of the table by what they are about."""
    told = desk("reproduce", study, folder, "--out", "out", *words)
    written = {path.name for path in (desk.folder / "out").iterdir() if path.is_dir()}
    assert {*told.strip().rsplit(" a folder each of ", 1)[1].split(", ")} == (written or {"none"})
    rows = json.loads((desk.folder / "out" / "reproduced.json").read_text())["rows"]
    found = {f"{row['place']}: {row['what']}": row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize(
    ("published", "ours", "told"),
    [
        (".87", 0.8651, "equal"),
        (".87", 0.8649, "differs by −.01"),
        ("2.28", 2.2849, "equal"),
        ("60.61", 61.11, "differs by +.50"),
        (".05128", 2 / 39, "equal"),
        (".9", 0.95001, "differs by +.1"),
        (".9", 0.94999, "equal"),
    ],
)
def test_a_number_is_equal_when_it_rounds_to_what_is_printed(published: str, ours: float, told: str) -> None:
    assert beside(published, ours) == told


def test_every_recipe_names_what_is_there() -> None:
    assert recipe_names() == ["deepresearchgym", "dr3_eval", "race", "reportbench", "wlc"]
    known = {
        *TABLES,
        "difficulty",
        "leakage",
        "references",
        "category_scores",
        "statements",
        "system_differences",
        *(f"preset_{name}" for name in PRESETS),
    }
    for recipe in map(read_recipe, recipe_names()):
        parts = {part.study: parse_protocol(protocol_text(part)) for part in recipe.part}
        for part in recipe.part:
            assert part.probes in ("", *PROBE_LAYOUTS)
            assert (parts[part.study].task_type == "probe_label") == bool(part.probes)
            assert {source.layout for source in (part.judges, part.people.labels) if source} <= {*RESULT_LAYOUTS}
            assert {*part.beside} <= {*parts}
        for number in recipe.number:
            assert number.part in (*parts, "")
            assert number.table in (known if number.part else ("",)), number
            assert all(name == name.casefold() for name in number.row)


def test_what_is_drawn_has_something_of_every_topic_and_is_the_same_each_time() -> None:
    asked = [
        (topic, f"{topic}{number}") for topic, so_many in (("a", 50), ("b", 3), ("c", 1)) for number in range(so_many)
    ]
    drawn = spread(asked, 9, 7, lambda one: one)
    assert Counter(topic for topic, _ in drawn) == {"a": 5, "b": 3, "c": 1}
    assert drawn == spread(asked[::-1], 9, 7, lambda one: one)
    assert spread(asked, 99, 7, lambda one: one) != asked, "all of them, in turns"


def test_a_wrong_or_half_folder_is_refused_in_one_sentence_that_says_what_is_missing(desk: Desk) -> None:
    metric_tree(desk.folder / "other")
    (desk.folder / "empty").mkdir()
    half = desk.folder / "half"
    wiki_tree(half, WIKI)
    (half / "test_data/agencies.json").unlink()
    for folder, missing in {
        "nowhere": "no such folder; give a clone or download of Wiki Live Challenge's public files",
        "empty": "no public files of Wiki Live Challenge: wiki_data/cleaned_data/article: not under",
        "other": "it looks like DR3-Eval: RESULTS/SYSTEM/TASK/final_report.md",
        "half": "test_data/agencies.json: not under half",
    }.items():
        told = desk("reproduce", "wlc", folder, "--out", "out", exit_code=1)
        assert missing in told
        assert len(told.strip().splitlines()) == 1
        assert not (desk.folder / "out").exists(), "nothing is begun"


@pytest.mark.slow
def test_the_gyms_people_judges_and_claims_meet_in_its_table_3(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr("app.commands.printing.AtWork.__call__", lambda self, done, of, now: steps.append(now))
    gym_tree(desk.folder / "clone")
    (desk.folder / "clone/pages").rename(desk.folder / "never-published")
    found = reproduced(desk, "deepresearchgym")
    for step in ("points: reports", "points: items", "citations: answers about all systems", "preference: tables"):
        assert step in steps
    assert found["Table 3: judge and people, κ of citation precision"]["rests_on"] == "public files"
    assert found[next(what for what in found if "contradiction rate" in what)]["rests_on"] == "public files"
    recall = found["system scores: KPR of GPT-Researcher, commercial search (%)"]
    assert recall["ours"]["value"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 1 + 2 / 3 + 1 / 3 + 2 / 3) / 6)
    assert recall["standing"] == "differs by +.50, within our interval"
    clarity = found["Table 3: judge and people, κ of clarity"]
    assert (clarity["published"], clarity["rests_on"]) == (".89", "public files")
    assert clarity["ours"]["n"] == 12
    figure = next(row for what, row in found.items() if what.startswith("Figure 2: GPT-Researcher's KPR"))
    assert figure["ours"] is None, "it has one condition on this tree"
    no_recall = found["Table 3: judge and people, κ of citation recall"]["standing"]
    assert "every one is a tie; it takes" in no_recall
    assert no_recall.endswith("claims that cite no page, without which recall is 1 of every report")
    assert (desk.folder / "out/preference/preset_deepresearchgym.tex").is_file()
    told = desk("reproduce", "deepresearchgym", "clone", "--out", "out", exit_code=1)
    assert "name a new folder" in told, "the studies of an earlier run may have been gone on with"


@pytest.mark.slow
def test_a_study_that_published_no_reports_has_what_its_other_files_say(desk: Desk) -> None:
    gym_tree(desk.folder / "whole")
    whole, clone = desk.folder / "whole", desk.folder / "clone/deepresearch_benchmarking"
    (whole / "key_point").rename(put(clone / "README.md", "").parent / "key_point")
    (whole / "queries").rename(clone / "queries")
    for system in ("GPTResearcher", "GPTResearcher_custom"):  # as in the repository, whose reports lie elsewhere
        file = "evaluation_results_kpr_gpt-4.1-mini.json"
        rows = json.loads((whole / "reports/GPTResearcher" / file).read_text())
        if "_" in system:
            rows.popitem()
        put(clone / "results/mini" / system / file, json.dumps(rows))
    put(clone / "results/mini/search-o1" / file, "")  # cut off, and no reason to lose the others
    found = reproduced(desk, "deepresearchgym")
    recall = found["system scores: KPR of GPT-Researcher, commercial search (%)"]
    assert recall["ours"]["value"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 1 + 2 / 3 + 1 / 3 + 2 / 3) / 6)
    figure = next(row for what, row in found.items() if what.startswith("Figure 2: GPT-Researcher's KPR"))
    assert (figure["ours"]["value"], figure["ours"]["n"]) == (pytest.approx(1), 5), "the same answers on five questions"
    clarity = found["system scores: Clarity of GPT-Researcher, commercial search"]
    assert clarity["standing"] == "cannot be made without result files of the judge for this system"
    told = " ".join((desk.folder / "out/reproduced.md").read_text().split())
    assert "Not there: the reports themselves; answers about 11 count without their text" in told
    assert "Not there: points: results/mini/search-o1/evaluation" in told


@pytest.mark.parametrize("study", ["dr3_eval", "reportbench"])
def test_questions_alone_leave_every_row_with_what_it_takes(desk: Desk, study: str) -> None:
    survey = {"arxiv_id": "2312.04861", "title": "Tides", "prompt": "Write on tides."}
    put(desk.folder / "clone/ReportBench_v1.1.jsonl", json.dumps(survey) + "\n")
    put(desk.folder / "clone/ReportBench_v1.1_GT/2312.04861.jsonl", '{"title": "Tides of the north"}\n')
    for language in ("en", "zh"):  # DR³-Eval numbers each language's tasks anew
        put(desk.folder / f"clone/datasets_{language}/query.jsonl", '{"task": "001", "query": "What silts?"}\n')
    found = reproduced(desk, study).values()
    assert all(row["ours"] is None and row["standing"].startswith("cannot be made") for row in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "tree", "what", "table"),
    [
        ("dr3_eval", metric_tree, "Table 4, early version: judge and mean expert, Pearson r", "total/preset_dr3_eval"),
        ("race", race_tree, "README: people among themselves, PAR (%)", "shares/preset_race"),
        ("wlc", lambda root: wiki_tree(root, WIKI), "Table 4: PAR of Gemini-2.5-pro, the best proprietary judge (%)",
         "writing/preset_wlc"),
    ],
)  # fmt: skip
def test_labels_that_were_never_published_are_missing_or_marked_as_simulated(
    desk: Desk, study: str, tree: Any, what: str, table: str
) -> None:
    tree(desk.folder / "clone")
    asked = reproduced(desk, study)[what]
    assert asked["ours"] is None
    assert "published" in asked["standing"] or "not among these files" in asked["standing"]
    (desk.folder / "out").rename(desk.folder / "plain")
    asked = reproduced(desk, study, "--simulate")[what]
    assert asked["ours"]["value"] > 0
    assert asked["standing"] == "simulated, and comparable with nothing"
    assert asked["rests_on"].startswith("simulated people")
    assert "simulated" in (desk.folder / f"out/{table}.md").read_text().lower()


@pytest.mark.slow
def test_judges_of_reportbench_alone_have_their_systems(desk: Desk) -> None:
    survey_tree(desk.folder / "clone")
    parsed = (desk.folder / "clone/o3").rename(desk.folder / "clone/openai-web-results-parsed")
    (desk.folder / "clone/results/o3").rename(parsed.with_name(f"{parsed.name}-stat-results"))  # as its scripts do
    put(parsed.with_name("openai-web-results") / "me+ChatGPT+2312.04860.json", '{"messages": []}')
    put(parsed.with_name(f"{parsed.name}-related-work-results") / "2312.04860.json", '{"found": "no report"}')
    survey = next(parsed.glob("*.json"))
    report = json.loads(survey.read_text())
    report["response"] += "\n\n## References\n\n1. A. Third. Tides of the north. 2020.\n2. B. Fourth. Locks. 2019.\n"
    survey.write_text(json.dumps(report))
    put(desk.folder / f"clone/ReportBench_v1.1_GT/{survey.stem}.jsonl", '{"title": "Tides of the north"}')
    found = reproduced(desk, "reportbench")
    matched = (1 + 0.5 + 1 + 0 + 1 + 0.5) / 6  # of two statements on each survey; what was not found is no match
    rate = found["Table 1, PDF: match rate of OpenAI's cited statements (%)"]
    assert rate["ours"]["value"] == pytest.approx(100 * matched)
    assert rate["standing"] == "differs by −12.20, within our interval"
    right = found["Table 1: precision of OpenAI's references (theirs of scholarly pages that were fetched)"]
    assert (right["ours"]["value"], right["rests_on"]) == (0.5, "public files")
    assert found["Table 1, PDF: match rate of Gemini's cited statements (%)"]["ours"] is None
    accuracy = next(row for what, row in found.items() if "factual accuracy of OpenAI's" in what)
    assert accuracy["ours"]["value"] == pytest.approx(100 * 12 / 18), (
        "as planted: two of three are right on each survey"
    )
    assert [found[f"Table 1: {kind} statements in a report of OpenAI"]["ours"] for kind in ("cited", "non-cited")] == [
        1,
        3,
    ]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the publisher's files are not ours to ship; trees of our own are above")
def test_the_real_files_of_wiki_live_challenge_say_what_they_sum_up_themselves(desk: Desk) -> None:
    found = reproduced(desk, "wlc", folder=str(REAL))
    sums = {what: row for what, row in found.items() if row["place"] == "result files"}
    assert len(sums) == 5
    assert {row["standing"] for row in sums.values()} == {"equal"}
    wins = sums["result files: writing: criteria that the agent wins (1 file)"]
    assert (wins["published"], wins["ours"]["value"]) == (".05128", 2 / 39)
    assert found["writing score: Deep Researcher by gemini-2.5-pro (%)"]["ours"] is None
    leakage = found[next(what for what in found if what.startswith("Table 5: leakage, all agents"))]
    assert leakage["ours"]["value"] == pytest.approx(100 * 37 / 1911), "counted in its json_data by hand"
    assert leakage["rests_on"] == "public files"
    told = (desk.folder / "out/reproduced.md").read_text()
    assert "citations: 2,000 of 3,036 probes, drawn topic by topic" in told, "nobody's answers about them are there"

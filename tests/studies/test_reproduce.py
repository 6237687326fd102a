"""`calipers reproduce`: each study from a small tree in its own layout to its numbers beside the published ones.

The commands of docs/studies/README.md, on trees of our own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotation.errors import ImportingError
from annotation.importing.labels.results import Results
from annotation.importing.layouts import PROBE_LAYOUTS, RESULT_LAYOUTS
from annotation.protocol import parse_protocol, read_protocol
from app.commands.results.reproducing import DATABASE, own_database
from app.reproducing.public_files import answers_at, once, read_public
from app.reproducing.recipes import protocol_text, read_recipe, recipe_names
from app.reproducing.simulating import spread
from app.reproducing.standing import Came, beside, reproduced_table, sought
from app.settings import database
from db.connect import reading
from db.tables import Study, Topic
from exports.pack import TABLES
from exports.presets import PRESETS
from exports.tables import Column, Table
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
    rows = (("openai",), ("grok",), ("all systems",))
    leaks = {"leakage": Table("leakage", "Leakage", (Column("system", "System"),), rows, ())}
    (asked, *_) = (one for one in read_recipe("wlc").number if one.table == "leakage")
    assert sought(leaks, asked).endswith("among openai, grok"), "all of them are no system"


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
        "empty": "the public files of Wiki Live Challenge cannot be read: wiki_data/cleaned_data/article: not under",
        "other": "it looks like DR3-Eval: RESULTS/SYSTEM/TASK/final_report.md",
        "half": "test_data/agencies.json: not under half",
    }.items():
        told = desk("reproduce", "wlc", folder, "--out", "out", exit_code=1)
        assert missing in told
        assert len(told.strip().splitlines()) == 1
        assert told.count(f"{folder}: ") == 1, "where it is, once"
        assert not (desk.folder / "out").exists(), "nothing is begun"


@pytest.mark.slow
def test_the_gyms_people_judges_and_claims_meet_in_its_table_3(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr("app.commands.printing.AtWork.__call__", lambda self, done, of, now: steps.append(now))
    gym_tree(desk.folder / "clone")
    (desk.folder / "clone/pages").rename(desk.folder / "never-published")
    claims = {
        f"claim_{n}": {"claim": f"Claim {n}.", "urls": urls} for n, urls in enumerate((["https://a.org"], [], []))
    }
    listed = {
        "354532": {"score": 1 / 3, "detailed": claims},
        "354533": {"score": 0, "detailed": "No URLs found in text."},
    }
    recalled = "clone/reports/GPTResearcher/evaluation_results_citation_recall_gpt-4.1-mini.json"
    put(desk.folder / recalled, json.dumps(listed))
    found = reproduced(desk, "deepresearchgym")
    of_their_own = next(row for what, row in found.items() if "recall by its own extraction" in what)
    assert (of_their_own["ours"]["value"], of_their_own["standing"]) == (pytest.approx(1 / 6), "equal")
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
    file, of_quality = (f"evaluation_results_{kind}_gpt-4.1-mini.json" for kind in ("kpr", "detailed"))
    for system in ("GPTResearcher", "GPTResearcher_custom", "open_deep_search_custom"):  # the reports lie elsewhere
        rows = json.loads((whole / "reports/GPTResearcher" / file).read_text())
        if "_" in system:
            rows.popitem()
        put(clone / "results/mini" / system / file, json.dumps(rows))
    put(clone / "results/mini/open_deep_search" / file, "")  # cut off, and no reason to lose the others
    (whole / "reports/GPTResearcher" / of_quality).rename(clone / "results/mini/open_deep_search" / of_quality)
    found = reproduced(desk, "deepresearchgym")
    recall = found["system scores: KPR of GPT-Researcher, commercial search (%)"]
    assert recall["ours"]["value"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 1 + 2 / 3 + 1 / 3 + 2 / 3) / 6)
    figure = next(row for what, row in found.items() if what.startswith("Figure 2: GPT-Researcher's KPR"))
    assert (figure["ours"]["value"], figure["ours"]["n"]) == (pytest.approx(1), 5), "the same answers on five questions"
    clarity = found["system scores: Clarity of GPT-Researcher, commercial search"]
    assert clarity["standing"].endswith(
        "files of the judge for this system; sought 'gptresearcher' among open_deep_search"
    )
    assert all(row["ours"] is None for what, row in found.items() if "OpenDeepSearch" in what), "one of two is there"
    told = " ".join((desk.folder / "out/reproduced.md").read_text().split())
    assert "Not there: the reports themselves; answers about 22 count without their text" in told
    with own_database(desk.folder / "out" / DATABASE), reading(database()) as session:
        prompts = {*session.scalars(select(Topic.prompt).join(Study).where(Study.name == "points"))}
    assert prompts == {f"why {354532 + number}" for number in range(6)}, "as the queries have them"
    assert "Not there: points: results/mini/open_deep_search/evaluation_results_kpr" in told.replace("\\", "")


@pytest.mark.parametrize("study", ["dr3_eval", "race", "reportbench"])
def test_questions_alone_leave_every_row_with_what_it_takes(desk: Desk, study: str) -> None:
    survey = {"arxiv_id": "2312.04861", "title": "Tides", "prompt": "Write on tides."}
    put(desk.folder / "clone/ReportBench_v1.1.jsonl", json.dumps(survey) + "\n")
    put(desk.folder / "clone/ReportBench_v1.1_GT/2312.04861.jsonl", '{"title": "Tides of the north"}\n')
    put(desk.folder / "clone/data/prompt_data/query.jsonl", '{"id": 1, "prompt": "Why tides?"}\n')
    put(desk.folder / "clone/data/test_data/raw_data/.keep", "")
    for language in ("en", "zh"):  # DR³-Eval numbers each language's tasks anew
        put(desk.folder / f"clone/datasets_{language}/query.jsonl", '{"task": "001", "query": "What silts?"}\n')
    found = reproduced(desk, study).values()
    assert all(row["ours"] is None and row["standing"].startswith("cannot be made") for row in found)


def orders(*rows: tuple[str, str, float]) -> dict[str, Table]:
    """`system_orders` of the total: who is compared with whom, and their correlation."""
    columns = tuple(Column(name, name) for name in ("aggregate", "rater", "reference", "spearman"))
    cells = tuple(("Total", *row) for row in rows)
    return {"system_orders": Table("system_orders", "Orders", columns, cells, ())}


@pytest.mark.parametrize(
    ("invented", "real", "ours", "basis"),
    [
        ([("gpt-5.1", "people", 0.94)], [], None, ""),  # people are no second judge, invented or not
        ([("gpt-5.1", "simulated-glm", 0.94)], [], 0.94, "simulated judge"),
        ([("gpt-5.1", "simulated-glm", 0.5)], [("gpt-5.1", "glm", 0.9), ("gpt-5.1", "qwen", 0.7)], 0.8, "public files"),
    ],
)  # fmt: skip
def test_a_number_is_simulated_where_nobody_real_makes_it(
    invented: list[tuple[str, str, float]], real: list[tuple[str, str, float]], ours: float | None, basis: str
) -> None:
    asked = next(one for one in read_recipe("dr3_eval").number if one.place == "judge swap")
    part = Came(orders(*invented, *real), simulated=frozenset({"judge"}), real=orders(*real))
    systems = {"systems": Table("systems", "Systems", (Column("system", "System"),), (("o3",),), ())}
    table = reproduced_table("T", [asked], {"total": part, "cited": Came(systems)}, [], [])
    assert table.notes[-1] == "No row here is about o3: cited/systems has their values."
    ((*_, found, n, clusters, told, rests_on),) = table.rows
    assert (n, clusters) == (None, None), "of a number without an interval, which a note tells"
    assert any("Without brackets: a mean over rows" in note for note in table.notes) == bool(ours)
    assert (found, rests_on) == (pytest.approx(ours) if ours else None, basis)
    assert ("comparable with nothing" in str(told)) == basis.startswith("simulated")


def test_result_files_of_no_known_system_are_told_and_two_folders_that_differ_are_refused(tmp_path: Path) -> None:
    wiki_tree(tmp_path, WIKI)
    for folder in ("openai", "test_citation"):
        put(tmp_path / f"results/{folder}/Tidal_mill_0_citation.json", "{}")
    (writing, _, citations) = (recipe := read_recipe("wlc")).part
    files = {tmp_path / "results/openai": "openai"}
    assert dict(answers_at(citations.judges, tmp_path, tmp_path, ["openai"])) == files
    public = read_public(recipe, tmp_path)
    assert "citations: 1 result file in no folder called like a system (test_citation/Tidal_mill_0_citation.json)" in {
        line.replace("results/", "") for line in public.lacks
    }
    (answers,) = public.answers(writing, "judge-results")
    row, other = (next(row for row in answers.read.rows if row.answer == name) for name in ("openai", "wikipedia"))
    again = [replace(row, where=f"{folder}/a.json: 1") for folder in ("64k", "128k")]
    assert once(Results(tuple(again))).rows == tuple(again), "a copy"
    with pytest.raises(ImportingError, match="never one study"):
        once(Results((again[0], replace(again[1], answer=other.answer))))


@pytest.mark.slow
def test_one_bad_report_and_answers_in_two_folders_cost_nothing_else(desk: Desk) -> None:
    metric_tree(desk.folder / "clone")
    results = desk.folder / "clone/results/128k"
    put(desk.folder / "clone/results_new/README.md", "")
    (results / "qwen3").rename(desk.folder / "clone/results_new/qwen3")
    (results / "glm-4.7/003/final_report.md").write_bytes(b"\xff\xfe\x00")
    reproduced(desk, "dr3_eval")
    told = " ".join((desk.folder / "out/reproduced.md").read_text().split())
    with own_database(desk.folder / "out" / DATABASE):
        assert "stand-ins for reports that were never published 1: glm-4.7/003" in desk("audit", "total")
    assert "total: dr3\\_eval: 60 answers on 12 items" in told
    assert "gpt-5.1 | glm-4.7 | qwen3" in (desk.folder / "out/total/system_differences.md").read_text()
    assert "Not there: reports: results/128k/glm-4.7/003/final\\_report.md" in told
    assert "1 report, which answers are about; they count without the text (003 of glm-4.7)" in told


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
    votes = parsed.with_name(f"{parsed.name}-stat-results") / survey.stem / "no_citations_web_verification.csv"
    votes.write_text(votes.read_text() + "".join(  # one statement again, under another number
        f"s9{line[2:]}\n" for line in votes.read_text().splitlines() if line.startswith("s1,")
    ))  # fmt: skip
    put(desk.folder / f"clone/ReportBench_v1.1_GT/{survey.stem}.jsonl", '{"title": "Tides of the north"}')
    found = reproduced(desk, "reportbench")
    matched = (1 + 0.5 + 1 + 0 + 1 + 0.5) / 6  # of two statements on each survey; what was not found is no match
    rate = found["Table 1, PDF: match rate of OpenAI's cited statements (%)"]
    assert rate["ours"]["value"] == pytest.approx(100 * matched)
    assert rate["standing"] == "differs by −12.20, within our interval"
    right = found["Table 1: precision of OpenAI's references (theirs of scholarly pages that were fetched)"]
    assert (right["ours"]["value"], right["rests_on"]) == (0.5, "public files")
    each = "Table 1: references in a report of {} (theirs of scholarly pages that were fetched)"
    (cites, *other) = (found[each.format(name)]["ours"] for name in ("OpenAI", "o3"))
    assert other == [None]
    assert (cites["value"], cites["n"], cites["clusters"]) == (2, 1, 1)
    assert found["Table 1, PDF: match rate of Gemini's cited statements (%)"]["ours"] is None
    accuracy = next(row for what, row in found.items() if "factual accuracy of OpenAI's" in what)
    assert accuracy["ours"]["value"] == pytest.approx(100 * 12 / 18), (
        "as planted: two of three are right on each survey"
    )
    each = (found[f"Table 1: {kind} statements in a report of OpenAI"]["ours"] for kind in ("cited", "non-cited"))
    assert [(one["value"], one["n"], one["clusters"]) for one in each] == [(1, 6, 6), (3, 6, 6)]
    assert "6 answers left out: " in (desk.folder / "out/reproduced.md").read_text()
    (desk.folder / "out").rename(desk.folder / "whole")
    for file in parsed.glob("*.json"):
        file.unlink()
    found = reproduced(desk, "reportbench")
    assert found[rate["place"] + ": " + rate["what"]]["ours"] == rate["ours"]
    assert found[right["place"] + ": " + right["what"]]["ours"] is None, "a stand-in cites nothing"
    methods = (desk.folder / "out/noncited/methods.md").read_text()
    assert "The texts of 6 of them were never published and are not measured here" in methods
    assert not any(word in methods for word in (" words)", "one layout", "Citation", "page for annotators"))


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the publisher's files are not ours to ship; trees of our own are above")
def test_the_real_files_of_wiki_live_challenge_say_what_they_sum_up_themselves(desk: Desk) -> None:
    found = reproduced(desk, "wlc", folder=str(REAL))
    sums = {what: row for what, row in found.items() if row["place"] == "result files"}
    assert len(sums) == 5
    assert {row["standing"] for row in sums.values()} == {"equal"}
    covered = sums["result files: facts: Wikipedia's facts that are covered (2 files on 1 topic)"]["ours"]
    assert (covered["n"], covered["clusters"], covered["low"]) == (227, 1, None)
    wins = sums["result files: writing: criteria that the agent wins (1 file)"]
    assert (wins["published"], wins["ours"]["value"]) == (".05128", 2 / 39)
    assert found["writing score: Deep Researcher by gemini-2.5-pro (%)"]["ours"] is None
    leakage = found[next(what for what in found if what.startswith("Table 5: leakage, whatever agents"))]
    assert leakage["ours"]["value"] == pytest.approx(100 * 37 / 1911), "counted in its json_data by hand"
    assert leakage["rests_on"] == "public files"
    told = (desk.folder / "out/reproduced.md").read_text()
    assert "No interval [–]: Ours in 5 of 6 rows (fewer than 2 clusters)." in told
    assert "citations: 2,000 of 3,036 probes, drawn topic by topic" in told, "nobody's answers about them are there"

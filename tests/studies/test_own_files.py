"""Each system's own result files come into a study made of a shipped protocol, beside people, and are calibrated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.protocol import read_protocol
from tests.annotation.layout_trees import json_lines, put
from tests.annotation.result_trees import SHARES
from tests.studies.desk import Desk
from tests.studies.own_trees import (  # fmt: skip
    PEOPLE,
    gym_tree,
    labels_csv,
    metric_tree,
    race_scores,
    race_tree,
    survey_tree,
    wiki_tree,
)


def calibrated(desk: Desk, study: str, *presets: str) -> dict[str, Any]:
    """The report of `calipers calibrate`, with the asked for tables beside it."""
    words = [word for name in presets for word in ("--preset", name)]
    desk("calibrate", study, "--out", f"out-{study}", "--resamples", "99", *words)
    return dict(json.loads((desk.folder / f"out-{study}" / "calibration-report.json").read_text()))


def agreement(report: dict[str, Any], judge: str, statistic: str = "percent_agreement") -> dict[str, Any]:
    """The judge against each annotator, over all criteria; it must have n, clusters and an interval."""
    (found,) = [
        one for one in report["estimates"]
        if (one["statistic"], one["rater"], one["reference"], one["criterion"], one["category"])
        == (statistic, judge, "each_annotator", "all", "all")
    ]  # fmt: skip
    assert found["n"] >= found["clusters"] > 1
    assert found["low"] <= found["value"] <= found["high"]
    return dict(found)


def statuses(told: str) -> dict[str, int]:
    """What the import says of its answers: `status ok 34   missing 2`."""
    (line,) = [line for line in told.splitlines() if line.startswith("status ")]
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", line.removeprefix("status "))}


def printed(desk: Desk, study: str, preset: str) -> str:
    return (desk.folder / f"out-{study}" / f"preset_{preset}.md").read_text()


def test_writing_results_of_the_wiki_live_challenge_import_and_calibrate(desk: Desk) -> None:
    codes = [one.id for one in read_protocol("wlc_writing_39")[0].criterion]
    titles, said = wiki_tree(desk.folder / "wlc", codes)
    desk("init", "wlc", "--protocol", "wlc_writing_39", "--seed", "7")
    desk("import", "reports", "wlc", "--layout", "wlc", "--study", "wlc")
    desk("pairs", "wlc", "--design", "reference", "--apply")
    told = desk("import", "judge-results", "wlc/results", "--layout", "wlc", "--judge", "gemini-2.5-pro", "--system", "openai", "--first", "wikipedia")  # fmt: skip
    assert f"{39 * len(titles)} answers on {len(titles)} items" in told
    assert statuses(told) == {"ok": 271, "invalid": 1, "missing": 1}
    system = {"gt": "wikipedia", "gen": "openai"}

    def rows() -> Iterator[dict[str, Any]]:
        for person in PEOPLE:
            for number, (title, code) in enumerate(said):
                winner = system[said[title, code]]
                other = "openai" if winner == "wikipedia" else "wikipedia"
                flips = number % (9 if person == "ann1" else 7) == 0
                label = "A" if (other if flips else winner) == "wikipedia" else "B"
                yield {
                    "rater_id": person, "cluster_id": title, "system_a": "wikipedia", "system_b": "openai",
                    "criterion": code, "label": label,
                }  # fmt: skip

    labels_csv(desk.folder / "labels.csv", rows())
    desk("import", "labels", "labels.csv", "--study", "wlc")
    found = agreement(calibrated(desk, "wlc", "wlc"), "gemini-2.5-pro")
    assert (found["n"], found["clusters"]) == (2 * 271, 7)
    assert 0.8 < found["value"] < 0.95
    assert "gemini-2.5-pro" in printed(desk, "wlc", "wlc")


def test_topics_whose_reports_quote_wikipedia_are_left_out_and_named(desk: Desk) -> None:
    codes = [one.id for one in read_protocol("wlc_writing_39")[0].criterion]
    wiki_tree(desk.folder / "wlc", codes)
    article = desk.folder / "wlc/wiki_data/cleaned_data/article/Tidal_mill_3.md"
    copied = article.read_text() + "\nSource: https://example.org, https://en.m.wikipedia.org/wiki/Mill\n"
    put(desk.folder / "wlc/test_data/openai/md_data/Tidal_mill_3.md", copied)
    desk("init", "wlc", "--protocol", "wlc_writing_39", "--seed", "7")
    desk("import", "reports", "wlc", "--layout", "wlc", "--study", "wlc")
    desk("pairs", "wlc", "--design", "reference", "--apply")
    told = desk("topics", "wlc", "--leakage", ".1")
    assert "Reports that quote" in told, "which needs nobody's label"
    desk("import", "judge-results", "wlc/results", "--layout", "wlc", "--judge", "j", "--system", "openai")
    desk("reveal", "wlc")
    told = desk("topics", "wlc", "--by", "j", "--leakage", ".1", "--resamples", "99", "--json")
    leaks, scores, *_ = [json.loads(one) for one in re.split(r"(?<=^\})\n", told, flags=re.M) if one.strip()]
    (row,) = leaks["rows"]
    assert (row["system"], row["quoting"]["value"], row["reports"]) == ("openai", 1 / 7, 7)
    assert (row["citing"]["value"], row["cited"]) == (1 / 2, 2), (
        "example.org is what the topics call the page, and it is one of two"
    )
    assert any("more than 10.0 %" in note for note in leaks["notes"])
    assert any("1 of 7, left out of the tables below: Tidal_mill_3." in note for note in leaks["notes"])
    assert scores["rows"][0]["topics"] == 6


def test_evaluations_and_annotators_folders_of_the_gym_import_and_calibrate(desk: Desk) -> None:
    clarity = gym_tree(desk.folder / "gym")
    desk("init", "preference", "--protocol", "drg_overall", "--seed", "7")
    desk("import", "reports", "gym", "--layout", "deepresearchgym", "--study", "preference")
    desk("pairs", "preference", "--design", "all", "--apply")
    told = desk("import", "labels", "gym/people", "--layout", "deepresearchgym")
    assert "raters ann1 6, ann2 6" in told
    told = desk("import", "judge-results", "gym/reports", "--layout", "deepresearchgym", "--map", "answer=Clarity")
    assert "6 answers on 6 items: 6 new" in told
    assert "result files about something else left out 4" in told
    report = calibrated(desk, "preference", "deepresearchgym")
    found = agreement(report, "gpt-4.1-mini")
    assert (found["n"], found["clusters"]) == (12, 6)
    people = {("ann1", n): n != 5 for n in range(6)} | {("ann2", n): n not in (1, 5) for n in range(6)}
    keys = sorted({key for key, _ in clarity})
    same = [
        (clarity[keys[n], "GPTResearcher"] > clarity[keys[n], "search-r1_custom"]) == first
        for (_, n), first in people.items()
    ]  # fmt: skip
    assert found["value"] == sum(same) / 12
    assert "gpt-4.1-mini" in printed(desk, "preference", "deepresearchgym")


def people_say(desk: Desk, study: str, slips: int = 5) -> None:
    """Two people label what the judges labelled, as they did but for every fifth answer."""
    table = desk.verdicts(study)
    usable = table[table.status == "ok"].drop_duplicates(["item_id", "criterion"])
    others = list(dict.fromkeys(usable.label))

    def rows() -> Iterator[dict[str, Any]]:
        for start, person in enumerate(PEOPLE):
            for number, row in enumerate(usable.itertuples()):
                place = others.index(row.label)
                label = others[(place + 1) % len(others)] if (number + start) % slips == 0 else row.label
                yield {
                    "rater_id": person, "cluster_id": row.cluster_id, "system_a": row.system_a,
                    "criterion": row.criterion, "label": label, "item_id": row.item_id,
                }  # fmt: skip

    labels_csv(desk.folder / "labels.csv", rows())
    desk("import", "labels", "labels.csv", "--study", study)


def probed(desk: Desk, study: str, protocol: str, folder: str, layout: str, *words: str) -> None:
    desk("init", study, "--protocol", protocol, "--seed", "7")
    desk("import", "reports", folder, "--layout", layout, "--study", study)
    desk("import", "probes", *words, "--layout", layout, "--study", study)
    desk("pairs", study, "--apply")


def test_key_points_and_citations_of_the_gym_import_and_calibrate(desk: Desk) -> None:
    gym_tree(desk.folder / "gym")
    probed(desk, "points", "drg_keypoints", "gym", "deepresearchgym", "gym")
    told = desk("import", "judge-results", "gym/reports", "--layout", "deepresearchgym", "--study", "points")
    assert "36 answers on 36 items" in told
    assert statuses(told) == {"ok": 34, "missing": 2}
    people_say(desk, "points")
    assert agreement(calibrated(desk, "points"), "gpt-4.1-mini")["value"] == 1 - 13 / 68
    probed(desk, "support", "drg_citation_support", "gym", "deepresearchgym", "gym", "--sources", "gym/pages")
    told = desk("import", "judge-results", "gym/reports", "--layout", "deepresearchgym", "--study", "support")
    assert statuses(told) == {"ok": 8, "invalid": 8}
    assert "reports without a judged claim 2: No URLs found in text; they count as 0 there" in told
    people_say(desk, "support", slips=7)
    assert agreement(calibrated(desk, "support"), "gpt-4.1-mini")["clusters"] == 4


def test_every_row_of_the_gyms_table_3_comes_from_its_own_files(desk: Desk) -> None:
    """Scores, key points and citations are each held against people's preferences, as the sign of two reports' values."""
    gym_tree(desk.folder / "gym")
    desk("init", "preference", "--protocol", "drg_overall", "--seed", "7")
    desk("import", "reports", "gym", "--layout", "deepresearchgym", "--study", "preference")
    desk("pairs", "preference", "--design", "all", "--apply")
    desk("import", "labels", "gym/people", "--layout", "deepresearchgym", "--study", "preference")
    probed(desk, "points", "drg_keypoints", "gym", "deepresearchgym", "gym")
    probed(desk, "support", "drg_citation_support", "gym", "deepresearchgym", "gym", "--sources", "gym/pages")
    for study in ("points", "support"):
        desk("import", "judge-results", "gym/reports", "--layout", "deepresearchgym", "--study", study)
    joined = ("--with", "points", "--with", "support")
    told = desk("calibrate", "preference", *joined, "--preset", "deepresearchgym", "--out", "out", exit_code=1)
    assert "study 'points' is" in told, "masked systems of two studies are not one"
    for study in ("preference", "points", "support"):
        desk("reveal", study)
    desk("calibrate", "preference", *joined, "--preset", "deepresearchgym", "--out", "out", "--resamples", "99")
    table = json.loads((desk.folder / "out" / "preset_deepresearchgym.json").read_text())
    rows = {row["score"]: row for row in table["rows"]}
    assert {*rows} >= {"KPR", "KPC", "Precision", "Recall"}
    folders = by_hand(desk)
    decided = folders[folders["points"] != "tie"]
    same = (decided["said"] == decided["points"]).mean()
    assert rows["KPR"]["cohen_kappa_symmetrised"]["value"] == pytest.approx(2 * same - 1), "chance is one half"
    assert rows["KPR"]["cohen_kappa"]["value"] == pytest.approx(cohen_kappa_score(decided["said"], decided["points"]))
    assert rows["KPR"]["kept"] == f"{len(decided)} of 12"
    among = folders.pivot(index="question", columns="person", values="said")
    assert rows["overall"]["cohen_kappa"]["value"] == pytest.approx(cohen_kappa_score(among["ann1"], among["ann2"]))
    assert "A and B are what stood first and second, for all annotators of a pair saw it in one order" in " ".join(
        table["notes"]
    )
    assert rows["KPC"]["kept"] == "0 of 12", "both reports contradict one point of three, wherever they were read"


def by_hand(desk: Desk) -> pd.DataFrame:
    """Of people's folders: who says A and B of its mapping.txt, and what KPR in the published files says of these."""
    rates = {}
    for file in (desk.folder / "gym/reports").glob("*/evaluation_results_kpr_*.json"):
        for query, result in json.loads(file.read_text()).items():
            said = [label for label, _ in result["labels"].values() if label]
            rates[query, file.parent.name] = said.count("Supported") / len(said)
    rows = []
    for file in (desk.folder / "gym/people").glob("*/*/mapping.txt"):
        named = dict(line.split(": ") for line in file.read_text().splitlines())
        a, b = (rates[file.parent.name, named[letter].replace("1-c", "1_c")] for letter in "AB")
        said = "A" if (file.parent / "A.txt").exists() else "B"
        rows.append((file.parts[-3], file.parts[-2], said, "tie" if a == b else "A" if a > b else "B"))
    return pd.DataFrame(rows, columns=["person", "question", "said", "points"])


def test_raw_results_of_race_import_and_calibrate(desk: Desk) -> None:
    """Their file keeps four shares a report; the protocol `race` asks 21 to 31 criteria, so the study has one of its own."""
    systems = race_tree(desk.folder / "bench")
    put(desk.folder / "shares.toml", SHARES.replace('name = "small"', 'name = "shares"'))
    desk("init", "shares", "--protocol", "shares.toml", "--seed", "7")
    desk("import", "reports", "bench", "--layout", "deepresearch_bench", "--study", "shares")
    desk("pairs", "shares", "--apply")
    told = desk("import", "judge-results", "bench/results", "--layout", "race", "--judge", "gemini-2.5-pro")
    assert statuses(told) == {"ok": 68, "missing": 4}
    assert "overall_score left out 17: it is worked out from the four" in told
    labels_csv(
        desk.folder / "labels.csv",
        (
            {"rater_id": person, "cluster_id": str(number + 1), "system_a": system, "criterion": name, "label": str(value)}
            for person in PEOPLE
            for number in range(6)
            for system in systems
            for name, value in race_scores(f"{person} {system}", number, 0).items()
        ),
    )  # fmt: skip
    desk("import", "labels", "labels.csv", "--study", "shares")
    report = calibrated(desk, "shares", "race")
    assert agreement(report, "gemini-2.5-pro", "pearson")["value"] > 0.5
    assert "gemini-2.5-pro" in printed(desk, "shares", "race")


def test_votes_of_reportbench_import_and_calibrate(desk: Desk) -> None:
    survey_tree(desk.folder / "rb")
    probed(desk, "votes", "rb_noncited", "rb", "reportbench", "rb/results")
    told = desk("import", "judge-results", "rb/results", "--layout", "reportbench", "--study", "votes")
    assert "108 answers on 18 items" in told
    assert statuses(told) == {"ok": 102, "invalid": 6}, "a parse failure is no false vote"
    people_say(desk, "votes")
    report = calibrated(desk, "votes")
    for judge in ("gemini-2.5-pro", "gemini-2.5-flash"):
        found = agreement(report, judge)
        assert (found["n"], found["clusters"]) == (36, 6)
        assert found["value"] > 0.6


def test_verdicts_of_reportbench_on_cited_statements_import_and_calibrate(desk: Desk) -> None:
    survey_tree(desk.folder / "rb")
    probed(desk, "cited", "rb_cited", "rb", "reportbench", "rb/results")
    told = desk("import", "judge-results", "rb/results", "--layout", "reportbench_citations", "--judge", "gpt-4o", "--study", "cited")  # fmt: skip
    assert "12 answers on 12 items: 12 new" in told
    assert "NOT_FOUND 1: not matched here, matched in their rate" in told
    people_say(desk, "cited", slips=4)
    assert agreement(calibrated(desk, "cited"), "gpt-4o")["value"] == 0.75


def test_metric_files_of_dr3_eval_import_and_calibrate(desk: Desk) -> None:
    scores = metric_tree(desk.folder / "dr3")
    desk("init", "dr3", "--protocol", "dr3_total", "--seed", "7")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
    desk("pairs", "dr3", "--apply")
    told = desk("import", "judge-results", "dr3/results", "--layout", "dr3_eval", "--judge", "gpt-5.1")
    assert statuses(told) == {"ok": 59, "invalid": 1}
    assert "older results left out 61: the newest of each metric is read" in told
    labels_csv(
        desk.folder / "labels.csv",
        (
            {
                "rater_id": person, "cluster_id": task, "system_a": system, "criterion": code,
                "label": str(min(100, round(value + (number * 7 + len(person + task)) % 11 - 5))),
            }
            for person in PEOPLE
            for (task, system), told_scores in scores.items()
            for number, (code, value) in enumerate(told_scores.items())
        ),
    )  # fmt: skip
    desk("import", "labels", "labels.csv", "--study", "dr3")
    report = calibrated(desk, "dr3", "dr3_eval")
    assert agreement(report, "gpt-5.1", "pearson")["value"] > 0.8
    table = json.loads((desk.folder / "out-dr3" / "preset_dr3_eval.json").read_text())
    judge = next(row for row in table["rows"] if row["rater"] == "gpt-5.1")
    assert judge["n"] == 11, "a total that lacks a criterion is left out"


def test_insights_of_dr3_eval_import_and_calibrate(desk: Desk) -> None:
    metric_tree(desk.folder / "dr3")
    probed(desk, "insights", "dr3_insights", "dr3", "dr3_eval", "dr3")
    told = desk("import", "judge-results", "dr3/results", "--layout", "dr3_eval", "--judge", "gpt-5.1", "--study", "insights")  # fmt: skip
    assert "36 answers on 36 items" in told
    assert statuses(told) == {"ok": 34, "missing": 2}
    assert "texts cut to 100 characters 12: matched by their beginning" in told
    people_say(desk, "insights")
    report = calibrated(desk, "insights")
    assert agreement(report, "gpt-5.1")["clusters"] == 6
    (recall,) = {
        one["value"] for one in report["estimates"]
        if (one["statistic"], one["rater"], one["criterion"]) == ("aggregate", "gpt-5.1", "IR")
    }  # fmt: skip
    of_the_user = (0.5 + 0.5 + 1 + 0.5 + 0.75 + 1) / 6  # what got no result is left out, and is not a 0
    assert recall == pytest.approx((of_the_user + 1) / 2)


def test_sources_from_after_a_survey_are_counted_and_named(desk: Desk) -> None:
    """Each survey says in `update_date` up to when its reports may search: 2025-04-22."""
    first, second, *_ = survey_tree(desk.folder / "rb")
    cited = {
        first: "https://arxiv.org/abs/2504.00001 https://arxiv.org/abs/2505.00001 https://arxiv.org/abs/2505.00001",
        second: "https://a.org/2025/04/22/x https://a.org/2025/04/23/x https://a.org/about https://a.org/2019/01/x",
    }
    for survey, sources in cited.items():
        put(desk.folder / f"rb/o3/{survey}.json", json.dumps({"response": f"# A survey\n\nIt says so.\n\n{sources}\n"}))
    desk("init", "rb", "--protocol", "rb_cited", "--seed", "7")
    desk("import", "reports", "rb", "--layout", "reportbench", "--study", "rb")
    for cutoff, late in {"update_date": 2, "2025-04-21": 3, "2025-05-01": 0}.items():
        table = json.loads(desk("topics", "rb", "--cutoff", cutoff, "--json"))
        (row,) = table["rows"]
        assert (row["system"], row["count"], row["dated"], row["sources"]) == ("o3", late, 5, 6)
        assert row["later"]["value"] == late / 5
        assert row["later"]["clusters"] == 2
    table = json.loads(desk("topics", "rb", "--cutoff", "update_date", "--json"))
    assert f"{first}: https://arxiv.org/abs/2505.00001; " in " ".join(table["notes"])
    put(desk.folder / "dates.csv", "url,date\nhttps://a.org/about/,2025-06-01\nhttps://a.org/2025/04/23/x,2025-04-20\n")
    (row,) = json.loads(desk("topics", "rb", "--cutoff", "update_date", "--dates", "dates.csv", "--json"))["rows"]
    assert (row["count"], row["dated"]) == (2, 6), "one that no address says; one that says another"
    put(desk.folder / "dates.csv", "url,date\nhttps://a.org/about,soon\n")
    told = desk("topics", "rb", "--cutoff", "update_date", "--dates", "dates.csv", exit_code=1)
    assert "the date of https://a.org/about is none such as 2025-04-22" in told
    told = desk("topics", "rb", "--cutoff", "yesterday", exit_code=1)
    assert "no date such as 2025-04-22" in told
    assert "update_date" in told


def test_what_reports_cite_is_held_against_the_bibliographies_of_their_surveys(desk: Desk) -> None:
    """Two surveys: of three works one report cites two and another, of two the other cites one, by its number alone."""
    first, second, *_ = survey_tree(desk.folder / "rb")
    listed = {
        first: [{"title": "Tides of the north"}, {"title": "Gauges and how to read them at night in a harbour"}, {"title": "Silt"}],
        second: [{"title": "Dredging", "meta_info": {"journal": "arXiv preprint arXiv:2004.10934"}}, {"title": "Locks of old"}],
    }  # fmt: skip
    cited = {
        first: "[1] A. Third, *Tides of the north*, 2020.\n[2] B. Fourth. Gauges, and how to read them at night in a "
        "harbour. 2019.\n[3] C. Fifth. Silt in rivers. 2018.",
        second: "[1] https://arxiv.org/abs/2004.10934v1",
    }
    for survey, works in listed.items():
        put(desk.folder / f"rb/ReportBench_v1.1_GT/{survey}.jsonl", json_lines(works))
        text = f"# A survey\n\nIt says so [1][2][3].\n\n## References\n\n{cited[survey]}\n"
        put(desk.folder / f"rb/o3/{survey}.json", json.dumps({"response": text}))
    desk("init", "rb", "--protocol", "rb_cited", "--seed", "7")
    desk("import", "reports", "rb", "--layout", "reportbench", "--study", "rb")
    (row,) = json.loads(desk("topics", "rb", "--references", "rb/ReportBench_v1.1_GT", "--json"))["rows"]
    assert (row["system"], row["found"], row["cited"], row["wanted"], row["reports"]) == ("o3", 3, 4, 5, 2)
    assert (row["precision"]["value"], row["recall"]["value"], row["recall"]["clusters"]) == (3 / 4, 3 / 5, 2)
    put(desk.folder / "other/0000.jsonl", json_lines([{"title": "Tides"}]))
    told = desk("topics", "rb", "--references", "other", exit_code=1)
    assert "no list is about a topic of rb (lists: 0000; topics: 2312.04860" in told


def test_statements_are_drawn_by_what_the_judges_said_of_them(desk: Desk) -> None:
    survey_tree(desk.folder / "rb")
    desk("init", "rb", "--protocol", "rb_noncited", "--seed", "7")
    desk("import", "reports", "rb", "--layout", "reportbench", "--study", "rb")
    desk("import", "probes", "rb/results", "--layout", "reportbench", "--study", "rb")
    desk("import", "judge-results", "rb/results", "--layout", "reportbench", "--study", "rb")
    told = json.loads(desk("pairs", "rb", "--strata", "verdict", "--per-stratum", "4", "--by", "gemini-2.5-pro", "--apply", "--json"))  # fmt: skip
    assert {name: drawn for name, (drawn, _) in told["strata"].items()} == {"correct": 4, "incorrect": 4}
    assert sum(of for _, of in told["strata"].values()) == 18
    assert "no answers of a judge 'nobody'" in desk("pairs", "rb", "--strata", "verdict", "--per-stratum", "4", "--by", "nobody", exit_code=1)  # fmt: skip

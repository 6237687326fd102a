"""Files as other tools and public benchmarks write them: read by `calipers calibrate FILE`, told, and counted."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import calipers
from annotation.answer_layouts import ANSWER_LAYOUTS, told_by_names
from annotation.errors import AnnotationError, ImportingError
from app.command_line import run
from app.commands.tidying import LAYOUTS, options_of
from calibration.calibrate import calibrate
from calibration.settings import CalibrationSettings
from calipers.tidy_files import TidyFile, labels_of, read_tidy
from tests.annotation.importing.test_import_tools_damaged import ODD, places
from tests.calipers.layout_fixtures import (
    FILES,
    INSPECT_HEADER,
    JUDGE,
    PEOPLE,
    SCORES,
    VERDICTS,
    WORD,
    inspect_samples,
    judgebench,
    langfuse,
    lines,
    mt_bench_pair,
    promptfoo,
    table,
    written,
)
from tests.docs.shell import Command, commands, fences

ONLY_A_JUDGE = {  # layout -> where its records hold the answers of two people
    "promptfoo": "vars.person_1,vars.person_2",
    "deepeval": "additionalMetadata.person_1,additionalMetadata.person_2",
    "a table of mlflow.evaluate": "person_1,person_2",
}
PAIRED = ("mt_bench", "alpaca_eval", "pandalm", "llmbar", "judgebench")
RATERS: Mapping[str, tuple[str, ...]] = {  # layout -> what the two people and the judge are called in it
    "label_studio": ("user-1", "user-2", JUDGE),
    "mt_bench": ("expert_1", "expert_2", "gpt-4"),
    "alpaca_eval": ("annotator-1", "annotator-2", JUDGE),
    "judge_bench": ("annotator-1", "annotator-2", JUDGE),
    "pandalm": ("annotator1", "annotator2", "gpt-3.5-turbo"),
    "summeval": ("expert-1", "expert-2", "gpt4"),
    "llmbar": ("authors", "", "GPT-4 Vanilla"),
    "judgebench": ("answer key", "", f"arena_hard {JUDGE}"),
    "promptfoo": ("person_1", "person_2", JUDGE),
    "deepeval": ("person_1", "person_2", JUDGE),
    "a table of mlflow.evaluate": ("person_1", "person_2", "mlflow-helpful"),
    "prodigy": (*PEOPLE, ""),
    "openai_evals": ("", "", JUDGE),
    "inspect": ("", "", JUDGE),
}
SPELT = {"inspect": {"1": "C", "0": "I"}, "openai_evals": {"1": "Y", "0": "N"}, "phoenix": {"1": "good", "0": "bad"}}


def test_what_a_model_graded_without_a_metric_meets_peoples_table_beside_it(tmp_path: Path) -> None:
    record = promptfoo()
    for result in record["results"]["results"]:
        del result["gradingResult"]["componentResults"][0]["assertion"]["metric"]
        result["vars"] = {"id": result["vars"]["id"]}
    (tmp_path / "results.json").write_text(json.dumps(record))
    rows = [f"{item},{','.join(['fail', 'pass'][int(one)] for one in given[:2])}" for item, given in SCORES.items()]
    (tmp_path / "people.csv").write_text("\n".join(["id,ada,ben", *rows]))
    assert any("pass" in problem and "numbers" in problem for problem in read(tmp_path, people=["ada,ben"]).problems)
    made = read(tmp_path, people=["ada,ben"], columns=["item_id=vars.id"], words=["pass=1,fail=0"])
    assert made.problems == ()
    assert {*made.labels["criterion"]} == {"llm-rubric"}
    said = made.labels.assign(label=made.labels["label"].astype(float).astype(int).astype(str))
    found = said.pivot(index="item_id", columns="rater_id", values="label")[["ada", "ben", JUDGE]].sum(axis=1)
    assert found.to_dict() == SCORES
    assert any("bem: no rater is called so" in one for one in read(tmp_path, people=["ada,bem"]).problems)


def read(path: Path, layout: str = "", **said: Any) -> TidyFile:
    return read_tidy(path, options_of(**{"columns": [], "words": [], "people": [], "read": []} | said, layout=layout))


def answers(labels: pd.DataFrame) -> Counter[tuple[str, str, str]]:
    """(rater, kind, answer), however often: what a form without the items' own names can be compared by."""
    names = ["rater_id", "rater_kind", "label"]
    return Counter(labels[names].astype("str").itertuples(index=False, name=None))


def expected(name: str, layout: str) -> Counter[tuple[str, str, str]]:
    raters = RATERS.get(name) or RATERS.get(layout, (*PEOPLE, JUDGE))
    truth = VERDICTS if layout in PAIRED else SCORES
    spelt = WORD if layout in PAIRED else SPELT.get(layout, {"1": "1", "0": "0"})
    twice = 2 if layout in ("mt_bench", "llmbar", "judgebench") else 1  # the judge was asked in both orders
    found: Counter[tuple[str, str, str]] = Counter()
    for given_ in truth.values():
        for place, rater in enumerate(raters):
            answer = spelt[given_[place]]
            answer = {"tie": "A"}.get(answer, answer) if rater in ("authors", "answer key") else answer  # none ties
            kind = "judge" if place == 2 else "human"
            found[rater, kind, answer] += (twice if kind == "judge" else 1) if rater else 0
    return +found


def test_the_command_lists_every_layout_there_is() -> None:
    assert set(LAYOUTS) == {*ANSWER_LAYOUTS}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_tool_is_recognised_told_and_read_right(tmp_path: Path, name: str) -> None:
    layout, path = written(name, tmp_path)
    people = ONLY_A_JUDGE.get(name) or ONLY_A_JUDGE.get(layout if layout != "mlflow" else "")
    made = read(path, people=[people] if people else [])
    assert made.problems == ()
    assert made.told[0].startswith(f"layout {layout} (by the names in it; --layout table reads its columns instead): ")
    found = made.labels.assign(label=made.labels["label"].replace({"1.0": "1", "0.0": "0"}))
    assert answers(found) == expected(name, layout)
    assert found.groupby(["rater_id", "criterion"])["item_id"].nunique().eq(8).all()
    assert read(path, layout, people=[people] if people else []).labels.equals(made.labels)


def test_a_key_of_judgebench_is_one_and_a_judge_is_one_where_judgments_failed(tmp_path: Path) -> None:
    path = tmp_path / "outputs" / "judge_name=arena_hard,judge_model=mini.jsonl"
    path.parent.mkdir()
    first, second, third, *_ = records = judgebench()
    second["judgments"] = [None, None]
    path.write_bytes(lines(records))
    made = read(tmp_path)
    judges = made.labels.loc[made.labels["rater_kind"] == "judge", "rater_id"]
    assert {*judges} == {f"arena_hard {JUDGE}"}, "a pair whose judgments all failed is of the file's judge"
    assert any("answers of the key, which stands as the person 'answer key' 8" in sentence for sentence in made.told)
    third["judgments"] *= 2
    contrary = first | {"label": {"A>B": "B>A", "B>A": "A>B"}[first["label"]]}
    for wrong, why in (([third], "4 judgments of pair q3"), ([first, contrary], "the key of pair q1 is")):
        path.write_bytes(lines([*records[3:], *wrong]))
        assert "could not be read and left out 1, first: " in (told := "".join(read(tmp_path).told))
        assert why in told


@pytest.mark.parametrize("name", ["a table of mlflow.evaluate", "scores of Langfuse as CSV", "LangSmith", "PandaLM"])
def test_a_kept_mapping_makes_the_same_labels_again(tmp_path: Path, name: str) -> None:
    _, path = written(name, tmp_path)
    said = ["--people", ONLY_A_JUDGE[name]] if name in ONLY_A_JUDGE else []
    assert run(["tidy", str(path), "--out", str(tmp_path / "one.csv"), *said]) == 0
    again = ["--mapping", str(tmp_path / "one.mapping.toml"), "--out", str(tmp_path / "two.csv")]
    assert run(["tidy", str(path), *again]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def share_of_equal_answers(truth: Mapping[str, str], people: tuple[int, ...] = (0, 1)) -> float:
    """Worked out from the answers themselves: each person's answer beside the judge's."""
    same = [given_[2] == given_[place] for given_ in truth.values() for place in people]
    return sum(same) / len(same)


def agreement(labels: pd.DataFrame, judge: str) -> float:
    report = calibrate(labels, CalibrationSettings(resamples=99, per_criterion=False))
    found = [one for one in report.estimates if (one.statistic, one.rater) == ("percent_agreement", judge)]
    return found[0].value


@pytest.mark.parametrize("name", ["MT-Bench", "JUDGE-BENCH", "scores of Langfuse as CSV"])
def test_numbers_of_a_published_form_are_those_of_its_answers(tmp_path: Path, name: str) -> None:
    layout, path = written(name, tmp_path)
    judge = RATERS.get(layout, (*PEOPLE, JUDGE))[2]
    truth = VERDICTS if layout in PAIRED else SCORES
    assert agreement(calipers.read(path).frame, judge) == pytest.approx(share_of_equal_answers(truth))


def test_an_inspect_log_holds_the_agreed_answer_as_its_target(tmp_path: Path) -> None:
    _, path = written("an archive of Inspect", tmp_path)
    made = read(path, people=["sample.target"])
    assert "answers of a person at sample.target 8" in made.told
    assert agreement(made.labels, JUDGE) == pytest.approx(share_of_equal_answers(SCORES, people=(0,)))


def test_people_in_a_table_beside_a_log_are_read_with_it_and_joins_are_counted(tmp_path: Path) -> None:
    written("an archive of Inspect", tmp_path)
    people = [
        {"sample_id": item, "annotator": person, "label": "C" if given_[place] == "1" else "I"}
        for item, given_ in [*SCORES.items(), ("q99", "111")]
        for place, person in enumerate(PEOPLE)
    ]
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "tests.csv").write_text("question,expected text\nWhat is it?,A long text that nobody answered with\n")
    made = read(tmp_path)
    assert made.problems == ()
    assert "people.csv: what was asked is 'model_graded_qa', as in inspect" in made.told
    assert "people.csv: 18 answers, of which on no item of inspect 2" in made.told
    assert any(one.startswith("tests.csv is left out: ") for one in made.told)
    assert agreement(made.labels, JUDGE) == pytest.approx(share_of_equal_answers(SCORES))
    assert run(["tidy", str(tmp_path), "--out", str(tmp_path / "own" / "labels.csv")]) == 0
    assert [one.name for one in (tmp_path / "own").iterdir()] == ["labels.csv"], "no one mapping makes both parts"
    (tmp_path / "own" / "labels.csv").unlink()
    blank = pd.DataFrame(people).assign(topic=lambda rows: rows["sample_id"].replace("q1", ""))
    blank.to_csv(tmp_path / "people.csv", index=False)
    (problem,) = read(tmp_path).problems
    assert problem.startswith("people.csv: 2 answers without a topic"), "a table of people's labels is never left out"
    pd.DataFrame(people).assign(sample_id=lambda own: "x" + own["sample_id"]).to_csv(
        tmp_path / "people.csv", index=False
    )
    assert any(one.startswith("no item of a judge is one of people's") for one in read(tmp_path).told)
    with pytest.raises(AnnotationError, match=r"is read in parts \(inspect, people.csv, tests.csv\)"):
        read_tidy(tmp_path, options_of([], [], [], [], mapping=tmp_path / "kept.toml"))
    wrong = read(tmp_path, columns=["label=labell"], people=["ann-1,ann-3"]).problems
    assert "--map label=labell: no part of the folder has anything there" in wrong[0]
    assert "--people ann-3: no rater is called so" in wrong[1]
    samples = [one | {"scores": one["scores"] | {"length": {"value": 3.5}}} for one in inspect_samples()]
    (tmp_path / "run.eval").rename(tmp_path.parent / "one_scorer.eval")
    (tmp_path / "run.json").write_text(json.dumps(INSPECT_HEADER | {"samples": samples}))
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    (problem,) = read(tmp_path).problems
    asks = "people.csv: nothing says which of inspect's criteria it answers (model_graded_qa, length): "
    assert problem == f"{asks}--map criterion==model_graded_qa"
    made = read(tmp_path, columns=["criterion==model_graded_qa"])
    assert agreement(made.labels[made.labels["criterion"].eq("model_graded_qa")], JUDGE) == pytest.approx(
        share_of_equal_answers(SCORES)
    )
    left = read(tmp_path, words=["criterion:length=ignore"]).labels
    assert agreement(left, JUDGE) == pytest.approx(share_of_equal_answers(SCORES))
    (tmp_path / "run.json").unlink()
    (tmp_path.parent / "one_scorer.eval").rename(tmp_path / "run.eval")
    for head, said in (("batch", ["cluster_id=batch"]), ("topic", [])):  # no column of the log
        topics = {head: [f"t{place // 6}" for place in range(len(people))]}
        pd.DataFrame(people).assign(**topics).to_csv(tmp_path / "people.csv", index=False)
        made = read(tmp_path, columns=said)
        assert "topics are those of people.csv" in made.told
        assert made.labels.groupby("item_id")["cluster_id"].nunique().eq(1).all()
        assert made.labels["cluster_id"].nunique() == 3


@pytest.mark.parametrize(
    ("head", "answers_of", "said"),
    [
        ("relevance", {"1": "C", "0": "I"}, "its answers are in 'relevance', and what inspect asks is "
         "'model_graded_qa': where both are one question, --map criterion==model_graded_qa; else"),
        ("label", {"1": "1", "0": "0"}, r"answers are numbers \(1, 0\), those of inspect words \(C, I\): .* C=…"),
    ],
)  # fmt: skip
def test_a_table_beside_a_log_that_asks_or_answers_otherwise_is_asked_about(
    tmp_path: Path, head: str, answers_of: Mapping[str, str], said: str
) -> None:
    written("an archive of Inspect", tmp_path)
    rows = [
        {"sample_id": item, "annotator": person, head: answers_of[given_[place]]}
        for item, given_ in SCORES.items()
        for place, person in enumerate(PEOPLE)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    (problem,) = [one for one in read(tmp_path).problems if re.search(said, one)]
    assert problem.startswith("people.csv: ")
    if head != "label":
        pd.DataFrame(rows).assign(criterion="harm").to_csv(tmp_path / "own.csv", index=False)
        (tmp_path / "people.csv").rename(tmp_path.parent / "people.csv")
        (unfollowed,) = read(tmp_path, columns=["criterion==model_graded_qa"]).problems
        assert unfollowed.endswith("--map criterion==model_graded_qa,ignore=criterion where all answer one question")
        followed = read(tmp_path, columns=["criterion==model_graded_qa,ignore=criterion"])
        (tmp_path / "own.csv").unlink()
        (tmp_path.parent / "people.csv").rename(tmp_path / "people.csv")
        for made in (followed, read(tmp_path, columns=["criterion==model_graded_qa"])):
            assert made.problems == ()
            assert agreement(made.labels, JUDGE) == pytest.approx(share_of_equal_answers(SCORES))


def test_a_pair_that_a_table_beside_names_the_other_way_round_is_turned(tmp_path: Path) -> None:
    (tmp_path / "gpt-4_pair.jsonl").write_bytes(lines(mt_bench_pair()))
    rows = [
        {"item_id": f"{item[1:]}|atlas|borel", "rater_id": "ann-1", "criterion": "turn1", "label": WORD[given_[0]],
         "system_a": "borel" if number % 2 else "atlas", "system_b": "atlas" if number % 2 else "borel"}
        for number, (item, given_) in enumerate(VERDICTS.items())
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    labels = read(tmp_path).labels
    assert labels.groupby("item_id")["system_a"].nunique().eq(1).all()
    own = labels[labels["rater_id"] == "ann-1"]["label"].tolist()
    other = {"A": "B", "B": "A", "tie": "tie"}
    assert own == [other[row["label"]] if number % 2 else row["label"] for number, row in enumerate(rows)]


def test_both_games_of_mt_bench_are_two_orders_and_no_verdict_is_none(tmp_path: Path) -> None:
    rows = mt_bench_pair()
    rows[0] |= {"g1_winner": "error", "g2_winner": "model_1", "turn": 2}
    path = tmp_path / "gpt-4_pair.jsonl"
    path.write_bytes(lines(rows))
    labels = read(path).labels
    assert list(labels["presentation"][:2]) == ["AB", "BA"]
    assert list(labels["status"][:2]) == ["invalid", "ok"]
    assert list(labels["criterion"][:2]) == ["turn2", "turn2"]
    assert labels["label"].iloc[1] == "A"


def test_raters_whose_kind_a_file_does_not_say_are_asked_for(tmp_path: Path) -> None:
    rows = [row | {"source": "API"} if row["source"] == "EVAL" else row for row in langfuse()]
    rows = [row | {"metadata": "", "authorUserId": ""} if row["source"] == "API" else row for row in rows]
    path = tmp_path / "scores.jsonl"
    path.write_bytes(lines(rows))
    made = read(path)
    assert made.problems[0].startswith("nothing says whether these raters are people or judges: langfuse-api; name")
    said = read(path, people=["none"])
    assert said.problems == ()
    assert answers(said.labels)["langfuse-api", "judge", "1"] == 3


def test_evaluators_of_one_name_are_told_apart_by_the_one_word_of_their_metadata_that_can(tmp_path: Path) -> None:
    rows = [
        row | {"id": f"{row['id']}-{model}", "metadata": {"job": f"{row['id']}-{model}", "model": model, "prompt": "v1"}}
        for row in langfuse() if row["source"] == "EVAL" for model in ("gpt-4o", "mini")
    ]  # fmt: skip
    for kept, judges in ((rows, {"gpt-4o", "mini"}), (rows[::2], {"langfuse-eval"})):
        (tmp_path / "scores.jsonl").write_bytes(lines([*(row for row in langfuse() if row["source"] != "EVAL"), *kept]))
        labels = read(tmp_path / "scores.jsonl").labels
        assert {*labels.loc[labels["rater_kind"] == "judge", "rater_id"]} == judges


@pytest.mark.parametrize(
    ("judge", "called"),
    [
        *((listed, "gpt-4") for listed in ("['gpt-4' 'pair-v2']", "['gpt-4', 'pair-v2']", '["gpt-4", "pair-v2"]')),
        *((one, one) for one in ("o3", "o4-mini", "claude-opus", "deepseek-chat", "google/gemini-pro", "gpt-4o")),
    ],
)
def test_a_judge_of_mt_bench_is_one_by_a_model_s_name_and_in_a_list_as_text(
    tmp_path: Path, judge: str, called: str
) -> None:
    votes = [{"question_id": n, "model_a": "x", "model_b": "y", "winner": winner, "judge": who, "turn": 1}
             for n, winner in enumerate((*["model_a"] * 9, "Model B", "tie")) for who in ("Claude-Dupont", judge)]  # fmt: skip
    pd.DataFrame(votes).to_csv(tmp_path / "votes.csv", index=False)
    labels = (made := read(tmp_path / "votes.csv")).labels
    assert "winners that are neither model_a, model_b nor a tie 2" in made.told
    pd.DataFrame(votes[-4:]).to_csv(tmp_path / "votes.csv", index=False)
    with pytest.raises(
        ImportingError, match=r"2 winners that are neither .*: give --layout table, which reads its columns"
    ):
        read(tmp_path / "votes.csv")
    pd.DataFrame(votes).assign(human_winner="model_a").to_csv(tmp_path / "votes.csv", index=False)
    with pytest.raises(ImportingError, match="human_winner beside winner: give --layout table, which reads them too"):
        read(tmp_path / "votes.csv")
    kinds = {*zip(labels["rater_id"], labels["rater_kind"], strict=True)}
    assert kinds == {("Claude-Dupont", "human"), (called, "judge")}


def test_what_joins_nothing_is_counted(tmp_path: Path) -> None:
    _, path = written("PandaLM", tmp_path)
    (path / "pandalm-7b-testset-v1.json").write_text(json.dumps([{"idx": 99, "pandalm_result": 1}]))
    told = read(path).told
    assert any(one.endswith("(testset-v1.json belongs into the same folder) 1") for one in told)
    rows = [*langfuse(), {"id": "x", "traceId": "q9", "dataType": "NUMERIC", "source": "somewhere"}]
    (tmp_path / "scores.jsonl").write_bytes(lines(rows))
    lost = [one for one in read(tmp_path / "scores.jsonl").told if one.startswith("could not be read and left out 1")]
    assert "scores.jsonl:25: source is none of ANNOTATION, EVAL, API" in lost[0]


def test_an_address_never_stands_in_the_labels(tmp_path: Path) -> None:
    rows = [
        row | {"authorUserId": f"{row['authorUserId']}@example.org"} if row["authorUserId"] else row
        for row in langfuse()
    ]
    (tmp_path / "scores.jsonl").write_bytes(lines(rows))
    labels = read(tmp_path / "scores.jsonl").labels
    assert sorted({*labels["rater_id"]}) == [JUDGE, "person-1", "person-2"]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"layout": "inspct"}, "--layout inspct: there is no such layout; there are\n  inspect: a log of Inspect"),
        ({"layout": "pandalm"}, "no idx; give PandaLM's test set, or results on it"),
        ({"people": ["sample.targt"]}, "--people sample.targt: no rater is called so, and no record holds an answer"),
    ],
)
def test_a_wrong_layout_or_place_is_refused_in_a_sentence(
    tmp_path: Path, said: Mapping[str, Any], sentence: str
) -> None:
    path = tmp_path / "run.json"
    header = {"version": 2, "eval": {"model": "m"}, "plan": {}, "status": "success", "samples": inspect_samples()}
    path.write_text(json.dumps(header))
    with pytest.raises((AnnotationError, ImportingError)) as refused:
        labels_of(path, options_of(**{"columns": [], "words": [], "people": [], "read": [], **said}))
    assert sentence in str(refused.value)


def test_a_table_is_read_by_its_columns_where_that_is_said(tmp_path: Path) -> None:
    _, path = written("Phoenix as CSV", tmp_path)
    made = read(path, "table", columns=["rater_id=metadata", "item_id=span_id", "label=score"], people=["none"])
    assert not any(one.startswith("layout") for one in made.told)
    assert made.recipe.layout == "table"


@pytest.mark.parametrize(
    ("called", "columns"),
    [
        ("votes.json", {"input": "…", "output_1": "…", "output_2": "…", "label": "A", "gpt-4": "B"}),
        ("votes.csv", {"id": "1", "human/score": "1", "gpt-4/score": "0"}),
        ("votes.csv", {"item_id": "1", "rater_id": "a", "rater_kind": "human", "criterion": "c", "label": "1"}),
        ("votes.jsonl", {"question_id": "1", "model_a": "x", "model_b": "y", "winner": "x", "judge": "ada"}),
        ("votes.json", {"id": "1", "annotations": [{"annotator": "ada", "label": "1"}], "instances": "…"}),
    ],
)
def test_names_that_anybody_may_use_are_no_tools(tmp_path: Path, called: str, columns: Mapping[str, Any]) -> None:
    path = tmp_path / called
    path.write_bytes(table([dict(columns)]) if called.endswith("csv") else lines([dict(columns)]))
    assert told_by_names(path) == ""


def test_the_commands_take_a_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, path = written("traces of MLflow", tmp_path)
    assert run(["doctor", str(path), "--layout", "mlflow"]) == 0
    assert "read: layout mlflow: 24 answers" in capsys.readouterr().out
    run(["calibrate", str(path), "--layout", "mlflow", "--resamples", "99"])
    assert "read: expectations, which are no answers 8" in capsys.readouterr().err
    assert "layout mlflow: 24 answers" in calipers.read(path, layout="mlflow").told


DOCUMENTED = {  # section of docs/tools.md -> what it is shown with
    "From Inspect": "an archive of Inspect", "From MLflow": "traces of MLflow", "From Phoenix": "Phoenix as CSV",
    "From Langfuse": "scores of Langfuse as CSV",
}  # fmt: skip


@pytest.mark.parametrize("command", commands("docs/tools.md"), ids=lambda one: one.section)
def test_the_page_for_each_tool_shows_what_its_command_prints(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(DOCUMENTED.get(command.section, command.section.removeprefix("From ")), tmp_path)
    assert run(list(command.words[1:])) == 0
    shown = [
        block
        for section, language, block in fences("docs/tools.md")
        if (section, language) == (command.section, "text")
    ]
    assert [capsys.readouterr().out] == shown


def held_in(path: Path) -> Any:
    text = path.read_text()
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


JSONS = [name for name, (_, _, content) in FILES.items() if isinstance(content, bytes) and content[:1] in (b"{", b"[")]


@pytest.mark.slow  # many hundred files
@pytest.mark.parametrize("name", JSONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_anything_in_any_place_is_read_or_refused(name: str, tmp_path: Path, data: st.DataObject) -> None:
    layout, path = written(name, tmp_path)
    content = held_in(path)
    for _ in range(data.draw(st.integers(1, 2))):
        *above, last = data.draw(st.sampled_from(list(places(content))))
        inner = content
        for step in above:
            inner = inner[step]
        inner[last] = copy.deepcopy(data.draw(ODD))
    path.write_bytes(lines(content) if path.suffix == ".jsonl" else json.dumps(content).encode())
    with suppress(AnnotationError, ImportingError):
        read(path, layout)

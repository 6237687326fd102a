"""Results that cannot be taken as they are: one sentence with file, line and remedy, and the database as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from annotation.errors import AnnotationError, ImportingError
from annotation.tool_answers.entries import parse_fields
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from db.connect import transaction
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.tables import Study
from tests.annotation.layout_trees import everything, put
from tests.annotation.result_trees import (
    NO_TIE,
    RATED,
    SHARES,
    VOTES,
    bring_results,
    deepeval_run,
    inspect_log,
    inspect_sample,
    labels_file,
    promptfoo_log,
    promptfoo_result,
    race_file,
    votes_file,
    writing,
)
from tests.small_study import PROTOCOL, a_person, answer_all, make_study

Make = Callable[[Path], Path]
WLC = {"judge": "mini", "system": "alpha"}
VOTE = ("s1", "It rises twice a day.", "gemini", 1, True, "yes", True)
SCORED = {"topic": "tides", "system": "alpha"}


def rows(*changes: dict[str, Any]) -> Make:
    return lambda root: labels_file(root / "labels.csv", changes)


def text(content: str, name: str = "labels.csv") -> Make:
    return lambda root: put(root / name, content)


def votes(*given: tuple[Any, ...]) -> Make:
    return lambda root: votes_file(root, given).parents[2]


def log(metadata: dict[str, Any], scores: dict[str, Any], **run: Any) -> Make:
    return text(inspect_log([inspect_sample(metadata, scores)], **run), "log.json")


HEAD = "item_id,rater_id,rater_kind,criterion,label,cluster_id,system_a,system_b\n"
# layout, protocol, the file, options, and the sentence that must be among the problems
REFUSED: list[tuple[str, str, Make, dict[str, Any], str]] = [
    ("labels", PROTOCOL, rows({"label": "model_a"}, {"label": "model_a", "cluster_id": "bread"}), {},
     "labels.csv:2: answer 'model_a' is not one that study 'small' allows (A, B, tie); rows that hold it: 2; correct them, or say what it means: --map-label model_a=…"),
    ("labels", NO_TIE, rows({"label": "tie"}), {},
     "labels.csv:2: answer 'tie' is not one that study 'small' allows (A, B); rows that hold it: 1; correct them, or say what it means: --map-label tie=…"),
    ("labels", PROTOCOL, rows({}, {"label": "B"}), {},
     "labels.csv:3: a second answer of 'mini' to criterion 'clear' of this item (the first is labels.csv:2); remove one, or number repeats in the column run"),
    ("labels", PROTOCOL, rows({"presentation": "AB"}, {"criterion": "deep", "presentation": "BA", "pass_no": "1"}), {},
     "labels.csv:3: another order or run than labels.csv:2, in the same pass; number the passes in the column pass_no"),
    ("labels", PROTOCOL, rows({"rater_kind": "robot"}), {}, "labels.csv:2: rater_kind is 'robot'; write human or judge"),
    ("labels", PROTOCOL, rows({"rater_id": ""}), {}, "labels.csv:2: rater_id is empty; fill it in or remove the row"),
    ("labels", PROTOCOL, rows({"presentation": "A"}), {}, "labels.csv:2: presentation is 'A'; write AB, BA, or nothing if unknown"),
    ("labels", PROTOCOL, rows({"status": "fine"}), {}, "labels.csv:2: status is 'fine'; write ok, invalid, missing, refused, truncated"),
    ("labels", PROTOCOL, rows({"status": "ok", "label": ""}), {}, "labels.csv:2: status is ok but the label is empty; give the label or another status"),
    ("labels", PROTOCOL, rows({"run": "0"}), {}, "labels.csv:2: run is not a whole number from 1 ('0'); correct it"),
    ("labels", PROTOCOL, rows({"sha256_a": "abc"}), {}, "labels.csv:2: the sha256 of 'alpha' is not 64 hex digits; correct or clear it"),
    ("labels", PROTOCOL, rows({"label": "A"}), {"labels_are": "sides"},
     "labels.csv:2: 'A' is a side, but no order is recorded; name the system shown first, or pass --first SYSTEM"),
    ("labels", PROTOCOL, rows({}), {"first": "Alpha"}, "--first Alpha: no such system in the study (there are: alpha, beta, gamma)"),
    ("labels", PROTOCOL, rows({"cluster_id": "seas"}), {},
     "here: no row is about anything in study 'small' (no topic 'seas' in the study); is it the right one?"),
    ("labels", PROTOCOL, text(HEAD.replace("label,", "")), {}, "labels.csv:1: no column 'label' (found: item_id, rater_id, rater_kind, criterion, cluster_id, system_a, system_b); add it"),
    ("labels", PROTOCOL, text(HEAD), {}, "labels.csv: no rows; give a file with a label a row"),
    ("labels", PROTOCOL, text(HEAD + "x1,mini,judge,clear,A,tides,alpha\n"), {},
     "labels.csv:2: not as many values as columns (7, not 8); quote values with commas"),
    ("labels", PROTOCOL, text(HEAD.replace(",", ";")), {}, "labels.csv:1: values are separated by semicolons, not by commas; save the file with commas"),
    ("labels", RATED, rows({"system_b": "", "label": "11"}), {},
     "labels.csv:2: answer '11' is not one that study 'small' allows (scores from 0 to 10 in steps of 0.5); rows that hold it: 1; correct them, or say what it means: --map-label 11=…"),
    ("labels", RATED, rows({"system_b": "", "label": "4.9"}), {},
     "labels.csv:2: answer '4.9' is not one that study 'small' allows (scores from 0 to 10 in steps of 0.5); rows that hold it: 1; correct them, or say what it means: --map-label 4.9=…"),
    ("labels", RATED, rows({"system_b": "", "label": "seven"}), {},
     "labels.csv:2: answer 'seven' is not one that study 'small' allows (scores from 0 to 10 in steps of 0.5); rows that hold it: 1; correct them, or say what it means: --map-label seven=…"),
    ("wlc", PROTOCOL, text(writing({"clear": "gt"}), "tides_writing.json"), {"judge": "mini"},
     "--system: missing; name the system whose articles these files judge (they call it gen)"),
    ("wlc", PROTOCOL, text(writing({"clear": "gt"}), "tides_writing.json"), {"system": "alpha"},
     "tides_writing.json: does not say which judge answered; pass --judge NAME"),
    ("wlc", PROTOCOL, text(writing({"clear": "gt"}).replace("criterion_id", "id"), "tides_writing.json"), WLC,
     "tides_writing.json: Neutral 1: no 'criterion_id' (an index is never used instead); restore the file"),
    ("wlc", PROTOCOL, text(writing({"clear": "gt"})[:60], "tides_writing.json"), WLC,
     "tides_writing.json:1: not JSON (Unterminated string starting at column 59); the file may be cut off"),
    ("wlc", PROTOCOL, text('{"details": [], "mode": "winrate"}', "tides_writing.json"), WLC,
     "tides_writing.json: no table 'details' of mode winrate; give files that end in _writing.json"),
    ("deepresearchgym", PROTOCOL, lambda root: put(root / "ann1/tides/mapping.txt", "A: alpha\nB: beta\n").parents[2], {},
     "ann1/tides/mapping.txt: neither A.txt nor B.txt is there, so nobody knows who won; restore the folder"),
    ("deepresearchgym", PROTOCOL, lambda root: put(root / "ann1/tides/mapping.txt", "A: alpha\n").parents[2], {},
     "ann1/tides/mapping.txt: not two lines 'A: SYSTEM' and 'B: SYSTEM'; restore the file"),
    ("deepresearchgym", RATED, lambda root: put(root / "alpha/evaluation_results_detailed_m.json", '{"tides": {"score": 1}}').parents[1], {},
     "alpha/evaluation_results_detailed_m.json: tides: no table 'scores'; restore the file"),
    ("race", SHARES, lambda root: race_file(root, [{"insight": 0.5}]), {"judge": "mini"},
     "raw_results.jsonl:1: no 'id'; fill it in or remove the line"),
    ("race", SHARES, lambda root: race_file(root, [{"id": "tides", "insight": 1.5}]), {"judge": "mini"},
     "raw_results.jsonl:1: answer '1.5' is not one that study 'small' allows (scores from 0 to 1); rows that hold it: 1; correct them, or say what it means: --map-label 1.5=…"),
    ("reportbench", VOTES, votes((*VOTE[:3], "x", *VOTE[4:])), {},
     "alpha/2312.04861/no_citations_web_verification.csv:2: attempt is not a whole number from 1 ('x'); correct it"),
    ("reportbench", VOTES, votes((*VOTE[:4], "maybe", *VOTE[5:])), {},
     "alpha/2312.04861/no_citations_web_verification.csv:2: decision 'maybe' is none of true, 正确, false, 错误, 平局; correct it"),
    ("inspect", RATED, log({"system": "alpha"}, {"clear": {"value": 1}}), {},
     "log.json: sample 1 epoch 1 clear: no topic in the metadata; say where it is: --map topic=metadata.NAME,…"),
    ("inspect", RATED, log(SCORED, {"clear": {"value": 1}}, model_roles={}), {},
     "log.json: sample 1 epoch 1 clear: does not say which judge answered; pass --judge NAME"),
    ("inspect", RATED, log({**SCORED, "qid": 1}, {"clear": {"value": 1}}), {"columns": {"topic": "metadata.id"}},
     "log.json: sample 1 epoch 1 clear: nothing at 'metadata.id' (there are: topic, system, qid); correct --map topic=…"),
    ("inspect", RATED, log(SCORED, {"clear": {"value": "C"}}), {},
     "log.json: sample 1 epoch 1 clear: answer 'C' is not one that study 'small' allows (scores from 0 to 10 in steps of 0.5); rows that hold it: 1; correct them, or say what it means: --map-label C=…"),
    ("inspect", RATED, text("[]", "log.json"), {}, "log.json: no 'eval' and 'samples'; give a log of Inspect with its samples"),
    ("promptfoo", RATED, text('{"results": {}}', "out.json"), {},
     "out.json: no list 'results' of results; write it with promptfoo eval --output out.json"),
    ("promptfoo", RATED, text(promptfoo_log([promptfoo_result(SCORED, [("clear", 0.5, "")])]), "out.json"), {"judge": "mini"},
     "criterion 'clear': the file's scores run from 0 to 1, the study's from 0 to 10; pass --times N if they are the same scale, or use another study"),
    ("deepeval", RATED, text('{"cases": []}', "run.json"), {}, "run.json: no list 'testCases'; give a test run that DeepEval saved"),
    ("deepeval", RATED, text(deepeval_run(SCORED, [{"name": "Clear", "score": 0.77}]), "run.json"), {"times": 10.0},
     "run.json: test case 1 Clear: answer '0.77' is not one that study 'small' allows (scores from 0 to 10 in steps of 0.5); rows that hold it: 1; correct them, or say what it means: --map-label 0.77=…"),
]  # fmt: skip


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("layout", "protocol", "make", "options", "says"),
    REFUSED,
    ids=[f"{number}-{case[0]}" for number, case in enumerate(REFUSED)],
)
def test_what_cannot_be_taken_as_it_is_is_refused_and_leaves_nothing(
    engine: Engine, tmp_path: Path, layout: str, protocol: str, make: Make, options: dict[str, Any], says: str
) -> None:
    study = make_study(engine, tmp_path / "reports", protocol=protocol)
    path = make(tmp_path / "results")
    before = everything(engine)
    with pytest.raises(ImportingError) as caught:
        bring_results(engine, study, path, layout, kind="labels", **options)
    assert says in caught.value.problems
    assert everything(engine) == before


def test_every_problem_is_told_at_once(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    bad = [{"rater_kind": "robot"}, {"label": "C"}, {"label": "D"}, {"presentation": "X"}]
    with pytest.raises(ImportingError) as caught:
        bring_results(engine, study, labels_file(tmp_path / "labels.csv", bad), "labels")
    assert [problem.split(":")[1] for problem in caught.value.problems] == ["2", "5", "3", "4"]


def test_a_locked_study_takes_no_more(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        for status in ("closed", "locked"):
            move_study(session, session.get_one(Study, study), status)
    with pytest.raises(AnnotationError, match="locked; no label can be added"):
        bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{}]), "labels")


@pytest.mark.databases("sqlite")
def test_a_rater_who_works_in_the_study_itself_is_never_mixed_with_an_imported_one(
    engine: Engine, tmp_path: Path
) -> None:
    study = make_study(engine, tmp_path / "reports")
    path = labels_file(tmp_path / "labels.csv", [{"rater_id": "ann", "rater_kind": "human"}, {}])
    bring_results(engine, study, path, "labels", kind="labels")
    with transaction(engine) as session:
        person = a_person(session, study)
        taken = take(session, person)
        assert taken is not None
        answer_all(session, person, taken.aid)
        judge = session.scalars(select(Judge).where(Judge.name == "mini")).one()
        config = session.scalars(select(JudgeConfig).where(JudgeConfig.judge_id == judge.id)).one()
        session.add(JudgeCall(key="k", judge_id=judge.id, config_id=config.id, criteria=[], shown_sha256=[]))
    before = everything(engine)
    with pytest.raises(ImportingError, match="judge 'mini': was run in this study itself"):
        bring_results(engine, study, path, "labels")
    other = labels_file(tmp_path / "other.csv", [{"rater_id": "annotator-03"}, {"rater_id": "ann"}])
    with pytest.raises(ImportingError) as caught:
        bring_results(engine, study, other, "labels")
    assert caught.value.problems == (
        "judge 'ann': a person of this study has that name; give the imported one another",
    )
    assert everything(engine) == before


class PowerCut(Exception):
    pass


@pytest.mark.databases("sqlite")
def test_an_error_before_any_insert_leaves_every_row_as_it_was(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    path = labels_file(tmp_path / "labels.csv", [{}, {"criterion": "deep"}, {"rater_id": "ann", "rater_kind": "human"}])
    before = everything(engine)
    stop_at = 0
    cut = True
    while cut:
        stop_at += 1
        seen = 0

        def count(_connection: Any, _cursor: Any, statement: str, *_rest: Any, last: int = stop_at) -> None:
            nonlocal seen
            seen += statement.startswith("INSERT")
            if statement.startswith("INSERT") and seen == last:
                raise PowerCut(statement.split("(")[0])

        event.listen(engine, "before_cursor_execute", count)
        try:
            bring_results(engine, study, path, "labels", kind="labels")
            cut = False
        except PowerCut:
            assert everything(engine) == before
        finally:
            event.remove(engine, "before_cursor_execute", count)
    assert stop_at > 7  # import, two raters, judge, configuration, enrollment, assignments, labels, audit
    assert len(everything(engine)["labels"]) == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("topic", "topic: no value named; write NAME=VALUE, such as topic=metadata.qid (with a comma: '\"1,5=2\"')"),
        ("colour=metadata.c", "--map colour=metadata.c: no field 'colour' (there are: topic, answer)"),
        ("topic=a,topic=b", "topic=b: 'topic' is named twice; keep one"),
    ],
)
def test_a_mapping_that_says_nothing_is_refused(given: str, says: str) -> None:
    with pytest.raises(ImportingError) as caught:
        parse_fields(given, ("topic", "answer"))
    assert str(caught.value) == says
    assert parse_fields("topic=metadata.a, answer=b", ()) == {"topic": "metadata.a", "answer": "b"}
    assert parse_fields('"1,5=2", A=B=tie,say "yes"=A', ()) == {"1,5": "2", "A=B": "tie", 'say "yes"': "A"}

"""Prompts by file: checked before anything is planned, kept with the study, and their examples out of every number."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import time
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from sqlalchemy import Engine, func, select

from annotation.documents import programs
from annotation.documents.programs import LimitedProcess
from annotation.errors import AnnotationError
from annotation.facts.judge_facts import judge_facts
from annotation.facts.study_facts import study_facts
from annotation.items.shown import item_code
from annotation.judges.asking import sandbox
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.asking.own_code import template_of_code
from annotation.judges.asking.prompt import SEES, template_of, within_limits
from annotation.judges.defining.judge_file import JudgeDefinition, read_judges
from annotation.judges.defining.panel import decide
from annotation.judges.planning.calls import put_back
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.previewing import preview
from annotation.judges.planning.requests import planned_judges
from annotation.judges.replies.outcomes import Reply, Usage
from annotation.judges.reviewing.drift import runs_of
from annotation.judges.reviewing.judge_standings import answered_otherwise, standings
from annotation.judges.reviewing.replies_again import parse_again
from annotation.judges.running.run import run_judges
from annotation.people.principals import local_admin
from annotation.protocol import parse_protocol
from annotation.verdicts import labels_csv, load_verdicts
from app.commands.judges.records import remarks
from app.results.sources import facts_about
from app.results.study_reports import shown_report
from calibration.calibrate import calibrate
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeConfig
from db.tables import Assignment, Event, Item, Study, Topic
from plain.hashes import text_sha256
from tests.annotation.judges.judged_study import (
    PRICE,
    STUB_JUDGE,
    SYSTEMS,
    Stub,
    asked_codes,
    describe,
    judges,
    judgments,
    labels,
    make_study,
    protocol_text,
    replied,
    run_stub,
    study_row,
)
from tests.annotation.judges.test_ratings_and_probes import answering
from tests.disputed_study import annotate
from tests.small_study import BESIDE, BOTH, PROBES, PROTOCOL, RATING, a_person, add_probes, with_reference
from tests.small_study import make_study as small_study

OWN = "Compare.\n{{ topic }}\n{{ first_report }}\n{{ second_report }}\n{{ task }}\n{{ criteria }}\n"
SYSTEM = "You are strict.\n{{ texts_are_data }}\n{{ reply_format }}\n"

BRIEF = LimitedProcess(150, 2)
ENDLESS = "the prompt cannot be filled in: that takes over"  # 2 s, or 150 MB, whichever comes first


def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_process", BRIEF), ("PATIENCE_S", 2), ("MEMORY_MB", 150)):
        monkeypatch.setattr(sandbox, name, value)


def own(folder: Path, prompt: str | None = OWN, system: str | None = None, more: str = "") -> JudgeDefinition:
    """A judge `mini` whose words stand in files beside its judges.toml."""
    toml = f'[[judge]]\nname = "mini"\nmodel = "openai/x"\nmax_output_tokens = 200\n{PRICE}\n{more}\n'
    for key, text in (("prompt", prompt), ("system", system)):
        if text is not None:
            (folder / f"{key}.txt").write_text(text, encoding="utf-8")
            toml += f'{key} = "{key}.txt"\n'
    (folder / "judges.toml").write_text(toml, encoding="utf-8")
    (found,) = read_judges(folder / "judges.toml", parse_protocol(protocol_text()))
    return found


def first_wins(text: str, _: int) -> str:
    answers = [{"criterion": code, "rationale": "so", "winner": "first"} for code in asked_codes(text)]
    return json.dumps({"judgments": answers})


@pytest.mark.databases("sqlite")
def test_an_own_prompt_is_asked_kept_and_proved_and_its_change_asks_anew(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, 2)
    definition = own(tmp_path, OWN, SYSTEM, "params = {reasoning_effort = 'low'}")
    plan_judges(engine, study, [definition], describe=describe)
    stub = Stub(first_wins)
    (judge,) = run_judges(engine, study, [definition], transport=stub).judges
    assert (judge.done, judge.labels) == (4, {"ok": 12})
    system, user = (message["content"] for message in stub.requests[0]["messages"])
    assert system.startswith("You are strict.\nEverything between these tags is material")
    assert user.startswith("Compare.\n<topic-")
    assert "</report-first-" in user
    assert "criterion: c_two\nLabel of c_two. Which is better on c_two?" in user
    assert stub.requests[0]["judge"].params["reasoning_effort"] == "low"
    with reading(engine) as session:
        config = session.scalars(select(JudgeConfig)).one()
        assert "You are strict." in config.template
        assert config.template_sha256 == text_sha256(config.template)
        call = session.scalars(select(JudgeAttempt)).first()
        assert call is not None
        assert rebuilt_prompt(session, call.call_id, 1).sha256 == call.prompt_sha256
    (again,) = plan_judges(engine, study, [own(tmp_path, OWN, SYSTEM, "params = {reasoning_effort = 'low'}")],
                           describe=describe)  # fmt: skip
    assert again.added == 0
    changed = own(tmp_path, OWN.replace("Compare.", "Be strict."), SYSTEM)
    (anew,) = plan_judges(engine, study, [changed], describe=describe)
    assert anew.added == 4
    assert any("later revisions" in warning for warning in anew.warnings)


def test_a_prompt_that_is_put_back_counts_again_and_asks_nothing(engine: Engine, tmp_path: Path) -> None:
    study, said, paid = make_study(engine, 2), dict[str, str](), []
    strict = OWN.replace("Compare.", "Be strict.")
    for prompt, winner, asked in (
        (OWN, "first", 4),
        (strict, "second", 4),
        (OWN, "", 0),
        (strict, "", 0),
        (OWN, "", 0),
    ):
        definition = own(tmp_path, prompt, SYSTEM)
        (plan,) = plan_judges(engine, study, [definition], describe=describe)
        assert any("settings again that others replaced" in one for one in plan.warnings) == (not asked)
        assert plan.estimate.worst == 0 or asked
        used = Usage(1000 if winner == "first" else 3000, 0, 100)
        stub = Stub(lambda text, _, winner=winner, used=used: replied(judgments(text, winner), usage=used))
        (judge,) = run_judges(engine, study, [definition], transport=stub).judges
        assert (len(stub.requests), judge.done, judge.planned, judge.stopped) == (asked, 4, 4, None)
        said.setdefault(prompt, winner)
        parse_again(engine, study)
        side = {"first": "left", "second": "right"}[said[prompt]]
        assert {row["choice"] for row in labels(engine)} == {side}, "what judges.toml holds is what counts"
        with reading(engine) as session:
            row = study_row(engine, study)
            (facts,) = judge_facts(session, row)
            config = session.scalars(select(JudgeConfig).where(JudgeConfig.template.contains(prompt[:8]))).one()
            assert facts["prompt_sha256"] == config.template_sha256, "and what methods name"
            assert facts["settings_tried"] == (1 if len(said) == 1 else 2)
            runs = [(run.name, run.calls[0]) for run in runs_of(session, row)]
            assert runs == [("mini@1", 1), ("mini@2", 5)][: len(said)], "runs keep their names"
            (one,) = standings(session, row)
            assert (one.done, answered_otherwise(session, row)) == (4, {})
            (quick,) = standings(session, row, repeats=False)
            assert (quick.money.cost, quick.money.cost_per_item) == (one.money.cost, None)
            account = session.scalars(select(Judge)).one()
            assert account.spent == pytest.approx(one.money.cost), "a budget holds over all that was asked"
        costs = shown_labels(engine, study)["cost_usd"].sum()
        assert one.money.cost_per_1000_items == pytest.approx(500 * costs), "the calls whose answers count, of 2 items"
        paid.append(one.money.cost_per_1000_items)
    assert paid == pytest.approx([paid[0], paid[1], paid[0], paid[1], paid[0]]), "as if nothing had been changed"
    assert 500 * account.spent == pytest.approx(paid[0] + paid[1])
    definition = own(tmp_path, OWN.replace("Compare.", "Be kind."), SYSTEM)
    plan_judges(engine, study, [definition], describe=describe)
    run_judges(engine, study, [definition], transport=Stub(first_wins), limit=1)
    with reading(engine) as session:
        assert answered_otherwise(session, study_row(engine, study)) == {"mini": (3, 4)}, "and a warning says so"


def test_a_plan_that_was_interrupted_while_a_prompt_was_put_back_is_told_and_made_whole_by_the_next(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, done = make_study(sqlite, 2), list[int]()
    for prompt in (OWN, OWN.replace("Compare.", "Be strict.")):
        plan_judges(sqlite, study, [own(tmp_path, prompt, SYSTEM)], describe=describe)
        run_judges(sqlite, study, [own(tmp_path, prompt, SYSTEM)], transport=Stub(first_wins))
    back = own(tmp_path, OWN, SYSTEM)

    def interrupted(*chunk: Any) -> int:
        if done:
            raise KeyboardInterrupt
        done.append(put_back(*chunk))
        return done[0]

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("annotation.judges.planning.plan.put_back", interrupted)
        patched.setattr("annotation.judges.planning.plan.material.CHUNK", 1)
        plan_judges(sqlite, study, [back], describe=describe)
    for others in ((3, 4), None):
        with reading(sqlite) as session:
            (one,) = standings(session, study_row(sqlite, study))
        assert one.others == others
        assert any("3 of its 4 passes" in line for line in remarks(one)) == bool(others)
        plan_judges(sqlite, study, [back], describe=describe)


def test_a_prompt_is_put_back_whole_whatever_its_calls_came_to_and_no_budget_or_interruption_hides_it(
    sqlite: Engine, tmp_path: Path
) -> None:
    """One topic was too long for the provider, and the other's replies could not be used nor be asked for again."""
    study = make_study(sqlite, 2)

    def first(text: str, _: int) -> str | Reply:
        if "Rivers 0" in text:
            return Reply("too_long", 0.1, error="context length exceeded", http_status=400)
        return Reply("ok", 0.1, text="I cannot say", usage=Usage(1000, 0, 200, 0))

    def said() -> list[str]:
        return [row["status"] for row in labels(sqlite)]

    before = []
    for prompt, say, budget in ((OWN, first, 0.001), (OWN.replace("Compare.", "Be strict."), first_wins, 5.0)):
        definition = own(tmp_path, prompt, SYSTEM, f"max_cost = {budget}")
        plan_judges(sqlite, study, [definition], describe=describe)
        run_judges(sqlite, study, [definition], transport=Stub(say))
        before.append(said())
    assert before == [6 * ["missing"] + 6 * ["refused"], 12 * ["ok"]]
    back = own(tmp_path, OWN, SYSTEM, "max_cost = 0.00001")
    plan_judges(sqlite, study, [back], describe=describe)  # and the process ends before it runs
    with reading(sqlite) as session:
        assert standings(session, study_row(sqlite, study))[0].done == 2
        assert answered_otherwise(session, study_row(sqlite, study)) == {}
    assert said() == before[0]
    (plan,) = plan_judges(sqlite, study, [back], describe=describe)
    assert (plan.waiting, plan.estimate.worst, plan.warnings) == (0, 0, ())
    stub = Stub(first_wins)
    (judge,) = run_judges(sqlite, study, [back], transport=stub).judges
    assert (len(stub.requests), judge.done, judge.failed, judge.stopped) == (0, 2, 2, None)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (OWN.replace("second_report }}", "second_report[:9] }}"), "not sent the report-second whole"),
        (OWN + "{% if 'at length' in first_report %}{{ topic * 99999999 }}{% endif %}", "takes over 150 MB"),
        (OWN + "{{ 1 // (0 if 'at length' in first_report else 1) }}", "by zero"),
    ],
)
def test_a_stored_prompt_that_alters_a_report_or_has_no_end_stops_its_judge_and_leaves_its_calls(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prompt: str, said: str
) -> None:
    brief(monkeypatch)
    study, definition = make_study(sqlite, 2), own(tmp_path, prompt)
    for check in ("refuse_unfit", "refuse_composed_names"):
        monkeypatch.setattr(f"annotation.judges.planning.plan.own_prompts.{check}", lambda *found: None)
    plan_judges(sqlite, study, [definition], describe=describe)
    stub = Stub(first_wins)
    (judge,) = run_judges(sqlite, study, [definition], transport=stub).judges
    assert said in (judge.stopped or "")
    assert (len(stub.requests), judge.failed, labels(sqlite)) == (0, 0, [])
    with reading(sqlite) as session:
        assert standings(session, study_row(sqlite, study))[0].stopped == judge.stopped


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    "one", ["{{ one.text }} ({{ one.code }})", "{{ one }}", "{{ one }}{{ one.scale }} of {{ answers }}"]
)
def test_criteria_may_be_asked_one_by_one_each_id_beside_its_text(engine: Engine, tmp_path: Path, one: str) -> None:
    study = make_study(engine, 1)
    listed = f"{{% for one in criteria %}}\n- {one}{{% endfor %}}"
    definition = own(tmp_path, OWN.replace("{{ criteria }}", listed))
    (planned,) = plan_judges(engine, study, [definition], describe=describe)
    assert planned.added == 2
    with reading(engine) as session:
        asked = preview(session, study_row(engine, study), definition).messages[1]["content"]
    assert "None" not in asked
    assert "['" not in asked


def test_one_process_fills_in_every_prompt_until_one_ends_it() -> None:
    process = LimitedProcess(150, 1)
    first = process.compute(os.getpid)
    assert first not in (os.getpid(), 0)
    with pytest.raises(ZeroDivisionError):
        process.compute(divmod, 1, 0)
    assert process.compute(os.getpid) == first
    os.kill(first, signal.SIGKILL)  # as a system that is short of memory does
    assert process.compute(os.getpid) != first
    with pytest.raises(TimeoutError):
        process.compute(time.sleep, 9)
    with pytest.raises(MemoryError):
        process.compute(bytes, 1 << 30)
    assert (last := process.compute(os.getpid)) != first
    with pytest.raises((AttributeError, pickle.PicklingError)):
        process.compute(lambda: 1)
    assert not psutil.pid_exists(last), "half of a question is in its pipe"
    shipped, (judge,) = template_of(parse_protocol(protocol_text())), judges(STUB_JUDGE)
    for ours in (shipped, SEES + shipped, template_of_code(judge)):
        assert within_limits(ours, os.getpid) == os.getpid()
    assert within_limits(f"{shipped} ", os.getpid) != os.getpid()


@pytest.mark.parametrize(
    "limits", ["None", "mock.Mock(getrlimit=lambda _: (1, 1 << 60), setrlimit=mock.Mock(side_effect=ValueError))"]
)
def test_where_the_system_limits_no_memory_the_time_ends_what_does_not_end(
    monkeypatch: pytest.MonkeyPatch, limits: str
) -> None:
    """As Windows, which has no alarm either, and as macOS where it refuses."""
    main = f"sys.modules['resource'] = {limits}; programs.ALARM = None; programs.main(150)"
    command, env = programs._command("annotation.documents.programs")
    code = f"import sys; from unittest import mock; from annotation.documents import programs; {main}"
    monkeypatch.setattr(programs, "_command", lambda *_: ([command[0], "-c", code], env))
    monkeypatch.setattr(programs, "ALARM", None)
    process = LimitedProcess(150, 1)
    assert process.compute(len, b"x" * 9) == 9
    with pytest.raises(TimeoutError):
        process.compute(pow, 9, 9**9)
    assert process.compute(divmod, 9, 2) == (4, 1)


@pytest.mark.parametrize(
    ("prompt", "system", "said"),
    [
        (OWN.replace("{{ second_report }}", ""), None, "not sent the report-second whole, as people read it; put {{ second_report }}"),
        *((OWN.replace("second_report }}", f"second_report{changed} }}}}"), None, "not sent the report-second whole")
          for changed in ("[:100]", "|replace('reads', 'SPAM')", "|wordwrap(60)", "|e")),
        (OWN.replace("{{ first_report }}", "{{ first_report[:-9] }}"), None, "it cuts a tag of the report-first off"),
        (OWN.replace("{{ criteria }}", ""), None, "by its id beside its text"),
        (OWN, "You are strict.", "never told how to reply; put {{ reply_format }}"),
        (OWN + "{{ system_a }}", None, "there is no {{ system_a }}; the names are task, guidance, topic"),
        (OWN + "{% if %}", None, "prompt.txt, line 7: "),
        (OWN + "{{ task.__class__.__mro__ }}", None, "access to attribute '__class__'"),
        (OWN + "{{ 1 // 0 }}", None, "cannot be filled in"),
        (OWN + "{{ topic.title }}", None, "'title' names no value there"),
        (OWN + "{{ [1, 2] | random }}", None, "No filter named 'random'"),
        (OWN + "{{ lipsum() }}", None, "there is no {{ lipsum }}"),
        (OWN + "{% for a in first_report %}{% for b in first_report %}{% endfor %}{% endfor %}", None, "takes over 2 s"),
        (OWN + "{{ '-' * 40 }}{{ 'x' * 1000000000 }}", None, "takes over 150 MB"),
        (OWN + "{% set x = first_report | replace('', first_report * 99) %}", None, "takes over 150 MB"),
        (OWN + "{{ 9 ** (9 ** 9) }}", None, ENDLESS),
        (OWN + "{{ criteria[0].skale }}", None, "of criteria there is no attribute 'skale'; criteria one by one are {% for"),
        (OWN + "{{ criteria.code }}", None, "of criteria there is no attribute 'code'; criteria one by one are {% for"),
        (OWN + "{{ criterion.code }}", None, "examples; criteria one by one are {% for one in criteria %}{{ one.code }}"),
        (OWN + "{% block extra %}{% endblock %}", None, "the two blocks"),
        (OWN + "{{ '%2000000d' | format(1) }}", None, "characters without its texts"),
        (OWN + f"Never prefer {SYSTEMS[0].upper()}.", None, f"names the system '{SYSTEMS[0]}'"),
        (OWN + f"{{{{ '{SYSTEMS[0][::-1]}' | reverse }}}}", None, f"names the system '{SYSTEMS[0]}'"),
        ("{% include 'x.txt' %}" + OWN, None, "no loader"),
        ("{% block system %}{{ reply_format }}{% endblock %}{% block user %}" + OWN + "{% endblock %}", SYSTEM,
         "a block `system` of its own"),
    ],
)  # fmt: skip
def test_a_prompt_that_cannot_be_asked_is_refused_in_one_sentence_before_anything_is_planned(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prompt: str, system: str | None, said: str
) -> None:
    brief(monkeypatch)
    study = make_study(sqlite, 1)
    with pytest.raises(AnnotationError) as refused:
        plan_judges(sqlite, study, [own(tmp_path, prompt, system)], describe=describe)
    assert said in refused.value.text
    assert "\n" not in refused.value.text
    with reading(sqlite) as session:
        assert session.scalar(select(func.count()).select_from(Judge)) == 0


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('prompt = "prompts/none.txt"', "prompt: 'prompts/none.txt': No such file"),
        ('prompt = "strict"', "or a file such as prompts/own.txt"),
        ('system = "empty.txt"', "system: 'empty.txt' is empty"),
        ('system = "latin.txt"', "byte 1 is not UTF-8"),
        ('system = "."', "Is a directory"),
        ('examples = "12 topics"', 'write "from: 12 topics" or a list of item_ids'),
        ("examples_drawn = 3", "unknown key 'examples_drawn'"),
        ('template = "x"', "unknown key 'template'"),
        ("params = {tools = []}", "params.tools is set by calipers or never sent"),
    ],
)
def test_a_file_that_cannot_be_read_and_a_key_that_is_none_are_refused_by_name(
    tmp_path: Path, toml: str, said: str
) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "latin.txt").write_bytes(b"f\xfcr")
    with pytest.raises(AnnotationError) as refused:
        own(tmp_path, None, None, toml)
    assert said in refused.value.text


def test_a_whole_prompt_with_two_blocks_may_be_a_copy_of_the_shipped_one(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, 1)
    shipped = Path("annotation/judges/asking/templates/pairwise_choice.txt").read_text(encoding="utf-8")
    run_own = own(tmp_path, shipped.replace("as a careful expert reader would", "as a hurried reader would"))
    with reading(engine) as session:
        shown = preview(session, session.get_one(Study, study), run_own, "item-00001")
    assert "as a hurried reader would" in shown.messages[0]["content"]
    assert "Text of topic 0, side A" in shown.messages[1]["content"]


FORMS = [
    (RATING, "{{ topic }}{{ report }}\n{{ criteria }}", "score"),
    (BESIDE, "{{ topic }}{{ report }}{{ reference }}\n{{ criteria }}", "score"),
    (BOTH, "{{ first_report }}{{ second_report }}\n{{ criteria }}", "score"),
    (PROBES, "{{ topic }}{{ report }}{{ sources }}{{ probes }}\n{{ criteria }}", "label"),
]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("protocol", "prompt", "field"), FORMS)
def test_every_task_may_be_asked_in_own_words(
    engine: Engine, tmp_path: Path, protocol: str, prompt: str, field: str
) -> None:
    root = with_reference(tmp_path / "reports") if protocol is BESIDE else tmp_path / "reports"
    study = small_study(engine, root, protocol=protocol)
    if protocol is PROBES:
        with_probes(engine, study)
    definition = own(tmp_path, prompt, SYSTEM)
    plan_judges(engine, study, [definition], describe=describe)
    stub = Stub(answering(field, lambda code, text: "full" if field == "label" else 7))
    (judge,) = run_judges(engine, study, [definition], transport=stub).judges
    assert judge.done == judge.planned > 0
    assert set(judge.labels) == {"ok"}
    assert "<number>" in stub.requests[0]["messages"][0]["content"] or field == "label"


def with_probes(engine: Engine, study: int) -> None:
    with transaction(engine) as session:
        add_probes(session, session.get_one(Study, study))


@pytest.mark.databases("sqlite")
def test_a_preview_is_what_is_sent_and_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    study, definition = make_study(engine, 2), own(tmp_path, OWN, SYSTEM)
    with reading(engine) as session:
        row = session.get_one(Study, study)
        shown = preview(session, row, definition, "item-00002")
        assert session.scalar(select(func.count()).select_from(JudgeCall)) == 0
        with pytest.raises(AnnotationError, match="item-00009 is not there"):
            preview(session, row, definition, "item-00009")
    plan_judges(engine, study, [definition], describe=describe)
    stub = Stub(first_wins)
    run_judges(engine, study, [definition], transport=stub)
    assert [dict(message) for message in shown.messages] in [one["messages"] for one in stub.requests]


TOPICS = ("tides", "bread", "rust", "moss")


def labelled(engine: Engine, folder: Path) -> int:
    """Four topics of two systems, labelled by two people; Ben is for the right one in `deep`, so nobody has a majority."""
    for system in ("atlas", "borealis"):
        (folder / system).mkdir(parents=True)
        for topic in TOPICS:
            said = f"# {topic}\n\n{system[0].upper() * 3} marks {topic}. The moon does it.\n\n{'Long. ' * 100}\n"
            (folder / system / f"{topic}.md").write_text(said, encoding="utf-8")
    study = small_study(engine, folder, overlap=2, protocol=PROTOCOL)
    for name, deep in (("Ada", "left"), ("Ben", "tie")):
        with transaction(engine) as session:
            annotate(session, a_person(session, study, name), {"clear": "tie", "deep": deep})
    return study


def test_topics_shown_as_examples_are_out_of_every_number_page_and_export(engine: Engine, tmp_path: Path) -> None:
    study = labelled(engine, tmp_path / "reports")
    definition = own(tmp_path, None, None, 'examples = "from: 2 topics"\nexample_chars = 100')
    (plan,) = plan_judges(engine, study, [definition], describe=describe)
    assert plan.calls == 4, "two of four topics, in both orders"
    assert any("is not asked about them" in warning for warning in plan.warnings)
    stub = Stub(first_wins)
    (judge,) = run_judges(engine, study, [definition], transport=stub).judges
    assert judge.labels == {"ok": 8}
    with reading(engine) as session:
        row = session.get_one(Study, study)
        (draw,) = session.scalars(select(Event.data).where(Event.what == "judge_examples")).all()
        shown = set(draw["topics"])
        asked = select(Topic.key).join(Item, Item.topic_id == Topic.id).join(Assignment).join(
            Judge, Judge.rater_id == Assignment.rater_id
        )  # fmt: skip
        assert set(session.scalars(asked)) == set(TOPICS) - shown
        verdicts = load_verdicts(session, row)
        own_rows = verdicts[verdicts["rater_kind"] == "judge"]
        assert set(own_rows["cluster_id"]) == set(TOPICS) - shown
        assert study_facts(session, row)["examples"] == {"mini": 2}
        report = shown_report(engine, local_admin(row), resamples=99).report
    counted = [one.n for one in report.estimates if (one.statistic, one.rater) == ("valid_share", "mini")]
    assert counted == [len(own_rows)]
    for request in stub.requests:
        user = request["messages"][1]["content"]
        for topic in shown:
            assert f"marks {topic}" in user, "as an example"
        assert user.index("The examples end here.") < user.index("<topic-")
        assert '"criterion": "clear"' in user
        assert "[…]" in user
        assert "atlas" not in user.replace("AAA", "")
    assert "deep" not in [one["criterion"] for one in _examples(stub)], "people differ on it, so nobody is right"


def _examples(stub: Stub) -> list[dict[str, str]]:
    user = stub.requests[0]["messages"][1]["content"]
    lines = [line for line in user.split("The examples end here.")[0].splitlines() if line.startswith('{"judgments"')]
    return [one for line in lines for one in json.loads(line)["judgments"]]


def test_examples_stay_as_they_were_drawn_and_are_the_same_for_every_judge(engine: Engine, tmp_path: Path) -> None:
    study = labelled(engine, tmp_path / "reports")
    spec = 'examples = "from: 1 topic"'
    first, named = own(tmp_path, None, None, spec), tmp_path / "other"
    named.mkdir()
    second = own(named, OWN + "\n{{ examples }}", SYSTEM, 'examples = "from: 2 topics"').model_copy(
        update={"name": "other"}
    )
    plan_judges(engine, study, [first], describe=describe)
    plan_judges(engine, study, [second], describe=describe)
    with reading(engine) as session:
        one, two = session.scalars(select(Event.data).where(Event.what == "judge_examples").order_by(Event.id))
    assert set(one["topics"]) < set(two["topics"])
    with_more_labels(engine, study)
    (again,) = plan_judges(engine, study, [own(tmp_path, None, None, spec)], describe=describe)
    assert again.added == 0
    assert [one.name for one in planned_judges(engine, study, [first, second])] == ["mini", "other"]
    with pytest.raises(AnnotationError, match="was asked about topic"):
        plan_judges(engine, study, [own(tmp_path, None, None, 'examples = "from: 3 topics"')], describe=describe)
    with pytest.raises(AnnotationError, match="at least one more must be left"):
        plan_judges(engine, study, [own(tmp_path, None, None, 'examples = "from: 4 topics"')], describe=describe)


def shown_labels(engine: Engine, study: int) -> pd.DataFrame:
    with reading(engine) as session:
        return load_verdicts(session, session.get_one(Study, study))


def with_more_labels(engine: Engine, study: int) -> None:
    with transaction(engine) as session:
        annotate(session, a_person(session, study, "Cyd"), {"clear": "left", "deep": "left"})


def test_two_prompts_of_one_model_are_two_candidates_under_two_names_or_one(engine: Engine, tmp_path: Path) -> None:
    study = labelled(engine, tmp_path / "reports")
    plain = own(tmp_path, None).model_copy(update={"name": "plain"})
    both = [plain, own(tmp_path, OWN, SYSTEM)]
    plan_judges(engine, study, both, describe=describe)
    run_judges(engine, study, both, transport=Stub(first_wins))
    report = shown_report(engine, local_admin(study_row(engine, study)), resamples=99).report
    assert {"plain", "mini"} <= set(report.labels.judges)
    assert report.choice is not None
    assert {"plain", "mini"} <= {one.judge for one in report.choice.candidates}
    assert (report.choice.tried, report.choice.plan.gone) == (len(report.choice.candidates), 0)

    reworded = [own(tmp_path, OWN.replace("Compare.", "Be strict."), SYSTEM)]
    plan_judges(engine, study, reworded, describe=describe)
    assert "settings_tried" not in shown_labels(engine, study), "planned, and not yet asked"
    run_judges(engine, study, reworded, transport=Stub(first_wins))
    labels = shown_labels(engine, study)
    assert labels.groupby("rater_id")["settings_tried"].max().dropna().to_dict() == {"mini": 2}
    both = shown_report(engine, local_admin(study_row(engine, study)), resamples=99).report
    filed = calibrate(pd.read_csv(io.StringIO(labels_csv(labels))), both.settings)
    for again in (both, filed):
        assert again.choice is not None
        assert again.choice.plan.replaced == {"mini": 1, "mini [both orders]": 1}
        assert "(mini 1, mini [both orders] 1): 6 candidates in all." in again.choice.sentence
    assert repr(both.choice) == repr(filed.choice)
    assert {"plain", "mini"} <= {*report.choice.plan.judges}, "and of one family: each p is adjusted for both"


def test_several_samples_are_repeats_and_a_panel_of_one_takes_their_majority() -> None:
    assert decide({"mini": ["A", "A", "B", "A", "B"]}, {"mini": 1.0}).label == "A"


def test_an_item_that_a_judge_knows_is_not_asked_about_so_no_page_can_count_it(sqlite: Engine) -> None:
    study = make_study(sqlite, 3)
    first, *_ = (code for code in item_codes(sqlite))
    stub = Stub(first_wins)
    run_stub(sqlite, study, stub, STUB_JUDGE + f'examples = ["{first}"]\n')
    assert {item_code(row["item"]) for row in labels(sqlite)} == set(item_codes(sqlite)) - {first}
    assert not any("Text of topic 0," in str(request["messages"]) for request in stub.requests)
    with pytest.raises(AnnotationError, match=f"was asked about {item_codes(sqlite)[1]} before"):
        run_stub(sqlite, study, Stub(first_wins), STUB_JUDGE + f'examples = ["{item_codes(sqlite)[1]}"]\n')


def item_codes(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return [item_code(number) for number in session.scalars(select(Item.id).order_by(Item.id))]


def test_methods_say_how_many_items_a_prompt_shows(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, 2)
    run_stub(engine, study, Stub(first_wins))
    with reading(engine) as session:
        assert study_facts(session, session.get_one(Study, study))["examples"] == {}
    assert facts_about("").examples == {}
    assert judges('name = "x"\nmodel = "y"\nexamples = ["item-00001"]')[0].examples == ("item-00001",)

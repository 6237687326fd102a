"""The owner's first page: what is left to do until the study is open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import typer
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.errors import AnnotationError, ImportingError
from annotation.importing import bringing_in
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in
from annotation.planning.draws import kept_draws
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from app import command_line
from app.screens.study import set_up
from app.screens.study.bringing_in import COLUMNS, TOLD, in_words
from app.setting_up import SetUp, sentence, set_up_of, steps
from db.connect import reading, transaction
from db.tables import Event, Import, Study
from plain.wording import speaking, worded
from tests.app.drawing import drawn, html_of
from tests.small_study import PROTOCOL, a_person, write_reports

FRESH = SetUp("mine", "Two reports", "pairwise_choice", 3, 0, 0, 0, 0, 0, 0)
IMPORTED = replace(FRESH, topics=6, reports=18)
READY = replace(IMPORTED, items=6, slots=12, annotators=2)


@pytest.mark.parametrize(
    ("found", "done", "after"),
    [
        (FRESH, 1, "Import the reports"),
        (replace(IMPORTED, undecided=14), 2, "Decide what may give a system away"),
        (IMPORTED, 3, "Plan what is labelled"),
        (replace(IMPORTED, items=6, slots=12), 4, "Invite people"),
        (READY, 5, "Open the study"),
        (replace(READY, undecided=1), 4, "Decide what may give a system away"),  # it would be refused
    ],
)
def test_the_first_step_that_is_not_done_is_next(found: SetUp, done: int, after: str) -> None:
    taken = steps(found)
    assert [one.title for one in taken if one.state == "next"] == [after]
    assert sum(one.state == "done" for one in taken) == done
    assert f"{done} of 6 steps" in sentence(taken)
    assert all(one.command.startswith("calipers ") for one in taken if one.state != "done")


def test_a_study_that_is_open_has_no_step_left() -> None:
    taken = steps(replace(READY, status="open"))
    assert {one.state for one in taken} == {"done"}
    assert sentence(taken) == "Every step to an open study is done."


def test_topics_that_nobody_can_see_the_question_of_are_said() -> None:
    told = {one.title: one.told for one in steps(replace(IMPORTED, without_prompt=1))}["Import the reports"]
    assert told.startswith("18 reports on 6 topics. 1 topic has no prompt: annotators are asked about a question they")


@pytest.mark.parametrize("task", ["pointwise_rating", "probe_label"])
def test_a_design_of_pairs_is_asked_for_only_where_pairs_are_compared(task: str) -> None:
    with_items = replace(IMPORTED, task_type=task, items=6)  # probes are items as soon as they are imported
    plan = next(one for one in steps(with_items) if one.title == "Plan what is labelled")
    assert plan.command == "calipers pairs mine --overlap 2 --apply"


def test_probes_come_in_before_slots_are_planned() -> None:
    plan = next(one for one in steps(replace(IMPORTED, task_type="probe_label")) if one.state == "next")
    assert plan.command == "calipers import probes FILE --layout table --study mine"


def run(cookie, address=""):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from importlib import import_module

    from annotation.people.sign_ins import who
    from app.screens.evaluator import evaluator_pages, shown
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    assert principal is not None
    first = shown(evaluator_pages(principal, cookie), principal)
    if address:
        import_module(f"app.screens.study.{address}").show(principal, cookie)
    else:
        first.run()


REPORTS = [(f"reports/{system}/{topic}.md", f"# {topic}\n\nWhat {system} found.".encode(), "text/markdown")
           for system in ("one", "two") for topic in ("sun", "wind")]  # fmt: skip

TWO_ZIPS = [(name, b"PK", "application/zip") for name in ("wrong.zip", "right.zip")]  # the first mistake stands there


def said(screen: AppTest) -> str:
    return "".join(html_of(drawn(screen)))


def pressed(screen: AppTest, key: str) -> AppTest:
    return screen.button(key=key).click().run()


def refused_now(*_: object) -> None:
    raise AnnotationError("locked", "the study was locked meanwhile")


def test_an_owner_takes_every_step_on_the_page_and_ends_the_study_there(
    engine_here: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(engine_here) as session:
        study = init_study(session, "mine", PROTOCOL, 7)
        token = invite(session, local_admin(study), "Olga", "admin")
        study_id = study.id
    screen = AppTest.from_function(run, args=(_signed_in(engine_here, token),), default_timeout=60)
    assert "1 of 6 steps to an open study is done; next: import the reports." in said(screen.run())
    press = partial(pressed, screen)
    screen.file_uploader[0].set_value(REPORTS[1:]).run()
    refused = said(press("reports_in"))
    assert "Nothing came in. 1 to mend:" in refused
    assert "tick “Systems may lack reports on some topics”" in refused
    screen.segmented_control(key="reports_kind").set_value("A .zip or a table").run()
    screen.file_uploader[0].set_value(TWO_ZIPS).run()
    assert "<li>wrong.zip, right.zip: a .zip comes in by itself; remove the others above" in said(press("reports_in"))
    screen.segmented_control(key="reports_kind").set_value("A folder").run()
    screen.file_uploader[0].set_value(REPORTS).run()
    assert "4 reports: 4 new" in said(press("reports_in"))
    assert "2 pairs on 2 topics" in said(press("plan_look"))
    with monkeypatch.context() as refusing:  # as where something came in between the look and the button
        refusing.setattr("annotation.planning.slots.apply_plan", refused_now)
        assert "locked meanwhile" in said(press("plan_make"))
    assert "2 items with 2 slots" in said(press("plan_make"))
    screen.text_area(key="new_names").set_value("Ada")
    next(button for button in screen.button if button.label == "Make links").click()
    assert "/invite/" in said(screen.run())
    assert "The study is open: work is given out." in said(press("set_up_open"))
    press("set_up_reveal")
    assert "Systems were revealed before the study closed." in said(screen)
    for key, now in (("paused", "paused"), ("open", "open"), ("closed", "closed"), ("locked", "locked")):
        assert f"The study is {now}" in said(press(f"set_up_{key}"))
    with reading(engine_here) as session:
        acts = session.execute(
            select(Event.what, Event.rater_id)
            .where(Event.study_id == study_id, Event.kind == "audit")
            .order_by(Event.id)
        ).all()
    done = [what for what, rater in acts if rater is not None and what != "sign_in"]
    assert done == ["import", "pairs", "invite", "status", "reveal", *["status"] * 4]


def upload_in_chinese(cookie):  # type: ignore[no-untyped-def]  # the upload alone
    from annotation.people.sign_ins import who
    from app.screens.study import bringing_in
    from app.settings import database
    from db.connect import reading
    from plain.wording import set_language

    set_language("zh_CN")
    with reading(database()) as session:
        bringing_in.show(who(session, cookie))


def in_folder(name: str, content: bytes, *, without: str = "") -> list[tuple[str, bytes, str]]:
    """The reports, but for the one called `without`, and one file more beside them."""
    kept = [one for one in REPORTS if one[0] != without]
    return [*kept, (f"reports/{name}", content, "text/plain")]


WRONG_UPLOADS = {  # what is given -> how many problems are told
    "a report is missing": (REPORTS[1:], 1),
    "an empty report": (in_folder("one/sun.md", b" ", without=REPORTS[0][0]), 1),
    "no UTF-8": (in_folder("one/sun.md", b"S\xe9n", without=REPORTS[0][0]), 2),
    "no document": (in_folder("one/sun.docx", b"PK", without=REPORTS[0][0]), 2),
    "a topic that is not listed": (in_folder("topics.csv", b"topic,title\nsun,Sun\n"), 2),
    "a column that is none": (in_folder("systems.csv", b"system,colour\none,red\n"), 2),
    "no column of topics": (in_folder("topics.csv", b"title\nSun\n"), 1),
    "rows of another length": (in_folder("topics.csv", b"topic,title\nsun\nwind,Wind,2\n"), 2),
    "no layout": ([("reports/a/b/c/d.bin", b"x", "text/plain")], 1),
    "no JSON": ([("t.jsonl", b'{"topic": "sun",\n{"topic"}\n', "text/plain")], 2),
    "other columns": ([("t.csv", b"qid,model,response\n1,one,Text\n", "text/csv")], 3),
    "no archive": ([("t.zip", b"none", "application/zip")], 1),
    "two archives": (TWO_ZIPS, 1),
}
NOTED = b"topic,system,text,views\nsun,one,It is warm.,1\nsun,two,It is far.,2\n"
# names of files, of their columns and kinds, and what stands in quotes
OWN_WORDS = re.compile(
    r"'[^']*'|\w+=\w+|[\w/]*\.(csv|jsonl?|docx|html|md|zip|bin|a)\b|\b(one|two|sun|wind|reports)\b"
    r"|\b(UTF-8|JSONL?|CSV|Parquet|cp1252|0x\w+|null|zip)\b|（现有：[^）]*）|（可用：[^）]*）|\n +\w+: .*"
)


@pytest.mark.slow
def test_no_word_of_a_refused_upload_is_english_on_a_chinese_page(engine_here: Engine) -> None:
    with transaction(engine_here) as session:
        token = invite(session, local_admin(init_study(session, "mine", PROTOCOL, 7)), "Olga", "admin")
    cookie = _signed_in(engine_here, token)
    with speaking("zh_CN"):  # what was chosen is told again outside of the page
        screen = AppTest.from_function(upload_in_chinese, args=(cookie,), default_timeout=60).run()
        wrong, kind = {}, "A folder"
        for what, (given, problems) in WRONG_UPLOADS.items():
            if kind == "A folder" and "/" not in given[0][0]:
                kind = screen.segmented_control(key="reports_kind").set_value("A .zip or a table").run() and "a file"
            screen.file_uploader[0].set_value(given).run()
            told = next(html for html in html_of(drawn(pressed(screen, "reports_in"))) if "s-told" in html)
            english = re.findall("[A-Za-z]{2,}", OWN_WORDS.sub("", unescape(re.sub("<[^>]+>", " ", told))))
            if english or told.count("<li>") != problems or ("缺少报告" in what and "勾选“" not in told):
                wrong[what] = english, told
        screen.file_uploader[0].set_value([("t.csv", NOTED, "text/csv")]).run()
        came_in, lines = pressed(screen, "reports_in").session_state[TOLD]
    assert wrong == {}
    assert (came_in, "未采用的列 1 个（views）" in lines) == (True, True)
    with reading(engine_here) as session:
        kept = session.scalars(select(Import.report)).one()
    assert kept["notes"] == ["columns left out 1 (views); --keep-columns keeps them"], (
        "English, whoever brought them in"
    )


def test_topics_are_drawn_batch_by_batch_on_the_page(engine_here: Engine) -> None:
    with transaction(engine_here) as session:
        study = init_study(session, "mine", PROTOCOL, 7)
        token = invite(session, local_admin(study), "Olga", "admin")
        study_id = study.id
    screen = AppTest.from_function(run, args=(_signed_in(engine_here, token),), default_timeout=60)
    screen.run().file_uploader[0].set_value(REPORTS).run()
    pressed(screen, "reports_in")
    drawn(screen.selectbox(key="plan_design").select("active").run())
    drawn(screen.number_input(key="plan_batch").set_value(1).run())
    told = said(pressed(screen, "plan_look"))
    assert "batch 1: 1 of 2 waiting topics, each with a chance of 0.500" in told
    assert "with one annotator an item no gap to people" in told
    pressed(screen, "plan_make")
    assert screen.selectbox(key="plan_design").options == ["batches of topics, where judges say most"]
    with reading(engine_here) as session:
        assert [len(batch.topics) for batch in kept_draws(session, session.get_one(Study, study_id))] == [1]


def test_what_is_refused_at_the_opening_is_said_under_its_button(engine_here: Engine) -> None:
    with transaction(engine_here) as session:
        study = init_study(session, "mine", PROTOCOL.replace("[study]", "[study]\ntraining = {items = 1}"), 7)
        admin = local_admin(study)
        token = invite(session, admin, "Olga", "admin")
        invite(session, admin, "Ada", "annotator")
    screen = AppTest.from_function(run, args=(_signed_in(engine_here, token),), default_timeout=60)
    screen.run().file_uploader[0].set_value(REPORTS).run()
    pressed(screen, "reports_in")
    pressed(screen, "plan_look")
    pressed(screen, "plan_make")
    pressed(screen, "set_up_open")
    assert "training" in next(html for html in html_of(drawn(screen)) if "c-red" in html)


def test_the_owner_opens_on_the_steps_until_the_study_is_open(engine_here: Engine, tmp_path: Path) -> None:
    with transaction(engine_here) as session:
        study = init_study(session, "mine", PROTOCOL, 7)
        study.name = "mine <b>"  # as older studies may be called
        admin = local_admin(study)
        cookie = invite(session, admin, "Olga", "admin")
        import_reports(session, admin, read_folder(write_reports(tmp_path)), layout="folder", source="here")
        apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1))
        a_person(session, study.id)
        counted, study_id = set_up_of(session, admin), study.id
    assert (counted.reports, counted.topics, counted.items, counted.slots, counted.annotators) == (9, 3, 9, 9, 1)
    screen = AppTest.from_function(run, args=(_signed_in(engine_here, cookie),), default_timeout=60)
    first = "".join(html_of(drawn(screen.run())))
    assert "5 of 6 steps to an open study are done; next: open the study." in first
    assert "calipers open &#x27;mine &lt;b&gt;&#x27;" in first  # folded, for whoever scripts it
    with transaction(engine_here) as session:
        study = session.get_one(Study, study_id)
        move_study(session, study, "open")
        take(session, a_person(session, study_id, "Ben"))
        move_study(session, study, "closed")  # what was taken goes back, and its slot is open again
        assert set_up_of(session, local_admin(study)).slots == 9
    assert "steps to an open study" not in "".join(html_of(drawn(screen.run())))


def _signed_in(engine: Engine, token: str) -> str:
    with transaction(engine) as session:
        cookie = sign_in(session, token, "127.0.0.1")
    assert cookie is not None
    return cookie


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_page_names_none_of_the_options_of_the_command(language: str, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes("topic,system,text\nSchloß,a,b\n".encode("cp1252"))
    (tmp_path / "named.csv").write_text("id,model,report text\n1,a,b\n", "utf-8")
    (tmp_path / "nameless.csv").write_text("topic,text\n1,b\n", "utf-8")
    with speaking(language):
        told = [
            in_words(problem, str(tmp_path))
            for layout, name in (("table", "old"), ("table", "named"), ("table", "nameless"), ("wlc", "named"))
            for problem in refused_problems(tmp_path / f"{name}.csv", layout)
        ]
        assert len(told) == 6
        assert [one for one in told if "--" in one] == []
        assert sum(worded(COLUMNS) in one for one in told) == 4


def refused_problems(path: Path, layout: str) -> tuple[str, ...]:
    with pytest.raises(ImportingError) as refused:
        asked = bringing_in.Asked()
        bringing_in.read(bringing_in.find(path, layout), asked)
    return refused.value.problems


IN_THE_BROWSER = {
    "Studies": "init", "Set up": "open, pause, close, lock, reveal, import reports, pairs", "Blinding": "audit",
    "Disputes": "adjudicate", "People": "invite, people", "Progress": "status, quality, reply", "Planner": "plan",
    "Crowd": "crowd link, crowd people, crowd settle", "Choice": "calibrate",
    "Judges": "judge estimate, judge preview, judge run, judge pause, judge status, judge show, judge models",
    "Paper": "export labels, export report, export dataset, export bundle",
}  # fmt: skip


def test_each_command_has_a_page_or_is_told_to_be_of_the_command_line_alone() -> None:
    def leaves(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
        for name, one in getattr(command, "commands", {}).items():
            yield from leaves(one, *path, name)
        if not hasattr(command, "commands"):
            yield " ".join(path), command

    commands = dict(leaves(typer.main.get_command(command_line.app)))
    told = {command for page in IN_THE_BROWSER.values() for command in page.split(", ")}
    for named in (name.removeprefix("calipers ") for name, _ in set_up.ALONE if name.startswith("calipers ")):
        words = {*named.replace(",", "").split()}
        mine = {name for name in commands if words >= {*name.split()}}
        known = {word for name in mine for word in name.split()}
        known |= {option for name in mine for parameter in commands[name].params for option in parameter.opts}
        assert words <= known
        told |= mine
    assert told == set(commands)

"""Long lists come a page at a time: every line can be reached, one line can be found, and little goes to the browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.work.claiming import take
from app.screens.annotators.my_work import page_html
from app.screens.look import PAGE, matching, place, start
from db.connect import transaction
from db.tables import Event, Report, Topic
from tests.app.drawing import drawn, html_of, page, shown
from tests.app.test_my_work import ITEM, WORK
from tests.small_study import a_person, make_study

MANY = 20_000


def run(many):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    import streamlit as st

    from app.screens.look import paged

    lines = paged([f"Topic {number:05d}" for number in range(many)], str, "topics", "Find a topic")
    st.html("|".join(lines) or "nothing")


def lines_of(screen: AppTest) -> list[str]:
    return html_of(drawn(screen))[-1].split("|")


@pytest.fixture
def long() -> AppTest:
    return AppTest.from_function(run, args=(MANY,), default_timeout=60).run()


def test_a_list_that_fits_a_page_has_no_controls() -> None:
    screen = AppTest.from_function(run, args=(PAGE,), default_timeout=60).run()
    assert len(lines_of(screen)) == PAGE
    assert not screen.button


def test_of_twenty_thousand_lines_fifty_are_sent(long: AppTest) -> None:
    assert lines_of(long) == [f"Topic {number:05d}" for number in range(PAGE)]
    assert "1–50 of 20,000" in shown(long)
    assert len(shown(long)) < 10_000


def test_next_and_previous_lead_on_and_back(long: AppTest) -> None:
    assert long.button(key="topics_previous").disabled
    long.button(key="topics_next").click().run()
    assert lines_of(long)[0] == "Topic 00050"
    assert "51–100 of 20,000" in shown(long)
    long.button(key="topics_previous").click().run()
    assert lines_of(long)[0] == "Topic 00000"


def test_a_line_is_found_by_its_words_from_wherever_one_is(long: AppTest) -> None:
    long.button(key="topics_next").click().run()
    long.text_input(key="topics_find").set_value("topic 19999").run()
    assert lines_of(long) == ["Topic 19999"]
    assert long.button(key="topics_next").disabled
    long.text_input(key="topics_find").set_value("nowhere").run()
    assert lines_of(long) == ["nothing"]
    assert "None found" in shown(long)


@given(of=st.integers(0, 500))
def test_the_pages_hold_every_line_once(of: int) -> None:
    rows = list(range(of))
    assert [row for first in range(0, of, PAGE) for row in rows[start(first, of) : start(first, of) + PAGE]] == rows


@pytest.mark.parametrize(
    ("first", "of", "begins", "told"),
    [
        (0, 20_000, 0, "1–50 of 20,000"),
        (19_950, 20_000, 19_950, "19,951–20,000 of 20,000"),
        (150, 51, 50, "51–51 of 51"),  # the list has become shorter
        (-50, 60, 0, "1–50 of 60"),
        (0, 0, 0, "None found"),
    ],
)
def test_a_page_begins_where_there_are_lines(first: int, of: int, begins: int, told: str) -> None:
    assert start(first, of) == begins
    assert place(begins, of) == told


def test_every_word_must_stand_in_a_line_in_any_order() -> None:
    assert matching(["Tides, beta", "Tides, alpha"], str, " BETA tides ") == ["Tides, beta"]


def test_my_work_of_a_thousand_items_comes_a_page_at_a_time_and_finds_a_topic() -> None:
    items = tuple(replace(ITEM, aid=f"{n:032x}", topic=f"Tides {n}") for n in range(1000))
    work = replace(WORK, items=items)
    first = page_html(work)
    assert first.count("/?open=") == PAGE
    assert "1 to 50 of 1000" in first
    assert 'href="/my_work?find=&amp;from=51#items"' in first
    assert "Tides 999<" in page_html(work, first="951")
    assert "Tides 999<" in page_html(work, first="99999999")  # the last page
    assert page_html(work, first="-1") == page_html(work, first="x") == page_html(work, first="²") == first
    assert page_html(work, find="tides 777").count("/?open=") == 1
    assert "No item of yours has these words" in page_html(work, find="<b>")
    assert 'value="&lt;b&gt;"' in page_html(work, find="<b>")
    assert "w-find" not in page_html(replace(WORK, items=items[:PAGE]))


def values_of(row: Report | Topic) -> dict[str, Any]:
    return {one.name: getattr(row, one.name) for one in row.__table__.columns if one.name != "id"}


def add_topics(engine: Engine, study: int, count: int) -> None:
    """Topics with a report each."""
    with transaction(engine) as session:
        pattern = session.scalars(select(Report).where(Report.study_id == study)).first()
        assert pattern is not None
        told = values_of(pattern)
        topic = session.get_one(Topic, pattern.topic_id)
        of_topic = values_of(topic)
        for number in range(count):
            added = Topic(**(of_topic | {"key": f"more-{number:03d}", "title": f"More {number}"}))
            session.add(added)
            session.flush()
            session.add(Report(**(told | {"topic_id": added.id})))


def test_of_many_reports_fifty_are_offered_and_one_is_found_by_its_topic(engine_here: Engine, tmp_path: Path) -> None:
    study = make_study(engine_here, tmp_path / "reports")
    add_topics(engine_here, study, 60)
    screen = page(engine_here, study, "blinding")
    assert len(screen.selectbox(key="blinding_report").options) == PAGE
    drawn(screen.text_input(key="blinding_find").set_value("more-059").run())
    (only,) = screen.selectbox(key="blinding_report").options
    assert only.startswith("more-059 · ")
    drawn(screen.text_input(key="blinding_find").set_value("nowhere").run())
    assert "None found" in shown(screen)


def test_of_many_remarks_a_page_is_drawn_and_the_oldest_can_be_reached(engine_here: Engine, tmp_path: Path) -> None:
    study = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        ben = a_person(session, study, "Ben")
        mine = take(session, ben)
        assert mine is not None
        session.add_all(
            Event(
                study_id=study, rater_id=ben.rater_id, assignment_id=mine.id, kind="comment", what="comment",
                data={"text": f"remark number {number:03d}"},
            )
            for number in range(120)
        )  # fmt: skip
    screen = page(engine_here, study, "progress")
    assert "".join(html_of(screen)).count("remark number") == PAGE
    for _ in range(2):
        drawn(screen.button(key="progress_remarks_next").click().run())
    assert "".join(html_of(screen)).count("remark number") == 20
    assert "remark number 000" in shown(screen)


def test_of_many_people_a_page_is_drawn(engine_here: Engine, tmp_path: Path) -> None:
    study = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        for number in range(PAGE + 5):
            a_person(session, study, f"Person {number:02d}")
    progress = "".join(html_of(page(engine_here, study, "progress")))
    assert progress.count('class="d-track"') == PAGE
    assert f"1–{PAGE} of {PAGE + 5}" in progress

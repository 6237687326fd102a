"""The annotator's home says how far, how long, what it pays and what comes next; foreign names open nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.own_work import OwnItem, OwnRemark, OwnWork, Pay
from app.screens import look
from app.screens.annotators import label
from app.screens.annotators.my_work import answer, duration, page_html, what_now
from app.settings import database, settings
from app.texts import texts_for
from db.connect import reading, transaction
from db.tables import Assignment, Topic
from tests.small_study import SYSTEMS, a_person, make_study

WORK = OwnWork(
    title="A small study", status="open", simulated=False, task="Which is better?", guidance="Read **both**.",
    consent="", consented_at=None, submitted=3, in_work=1, to_come=8, goes_on=True, active_s=7500.0,
    pay=Pay(rate=10.0, currency="USD", amount=20.8333), idle_s=120, theme="system", items=(),
)  # fmt: skip
ITEM = OwnItem(
    aid="f" * 32, topic="Tides", state="submitted", returned=None, reason="", may_reopen=True, answered=8, criteria=8,
    submitted_at=datetime(2026, 11, 20, 14, 5, tzinfo=UTC), active_s=754.0, remarks=(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, "3 of 12 items submitted; 2 h 05 min; 20.83 US dollars so far."),
        ({"language": "de"}, "3 abgegeben, insgesamt 12 Aufgaben; bisher 2 h 05 min, 20,83 US-Dollar."),
        ({"language": "zh"}, "12 个条目中已提交 3 个；目前用时 2 小时 05 分钟，报酬 20.83美元。"),
        ({"pay": None}, "3 of 12 items submitted; 2 h 05 min so far."),
        ({"submitted": 1, "in_work": 0, "to_come": 0, "active_s": 59.0, "pay": None}, "All 1 item submitted; 0 min so far."),
        (
            {"status": "locked", "in_work": 0, "to_come": 0, "pay": Pay(1200.0, "JPY", 4_000.0)},
            "3 items submitted; 2 h 05 min; 4,000 Japanese yen in all.",
        ),
        ({"submitted": 0, "in_work": 0, "to_come": 0}, "No item of yours yet."),
    ],
)  # fmt: skip
def test_the_first_sentence_says_how_far_how_long_and_what_it_pays(change: dict[str, Any], says: str) -> None:
    assert answer(replace(WORK, **change)) == says


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, "1 in work, 8 to come."),
        ({"in_work": 0, "to_come": 2}, "2 to come."),
        ({"in_work": 0, "to_come": 0, "goes_on": False}, "Everything is stored. There is nothing left to do."),
        ({"submitted": 0, "in_work": 0, "to_come": 0, "goes_on": False}, "No item is waiting for you"),
        ({"status": "paused", "in_work": 0, "to_come": 0, "goes_on": False}, "This study is paused"),
        ({"status": "closed", "in_work": 0, "to_come": 0, "goes_on": False}, "can still be reopened"),
        ({"status": "closed", "in_work": 1, "to_come": 0}, "1 in work."),
        ({"status": "locked", "in_work": 0, "to_come": 0, "goes_on": False}, "nothing changes any more"),
    ],
)
def test_the_second_says_what_is_left_or_why_nothing_is(change: dict[str, Any], says: str) -> None:
    assert says in what_now(replace(WORK, **change))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 min"), (59.9, "0 min"), (60, "1 min"), (3599, "59 min"), (3600, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_times_are_whole_minutes(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_next_step_is_a_button_only_where_there_is_one() -> None:
    assert ">Continue with item 4</a>" in page_html(replace(WORK, items=(ITEM,)))
    assert ">Begin with the first item</a>" in page_html(replace(WORK, submitted=0, in_work=0, to_come=12))
    assert "w-next" not in page_html(replace(WORK, goes_on=False))


def test_an_item_has_its_state_its_times_and_its_link() -> None:
    html = page_html(replace(WORK, items=(ITEM,)))
    for shown in (">submitted<", "8/8", "12 min", "Nov 20, 2026, 2:05\u202fPM UTC", f'href="/?open={"f" * 32}"', 'aria-label="Open: Tides"'):  # fmt: skip
        assert shown in html
    for language, when in (("de", "20.11.2026, 14:05"), ("zh", "2026年11月20日 14:05")):
        assert when in page_html(replace(WORK, items=(ITEM,), language=language))
    assert ">Continue</a>" in page_html(replace(WORK, items=(replace(ITEM, state="in work"),)))


def test_consent_is_shown_where_the_protocol_has_one() -> None:
    assert "Consent" not in page_html(WORK)
    asked = replace(
        WORK, consent="You may **stop**.", consented_at=datetime(2026, 11, 20, tzinfo=UTC), consent_state="given"
    )
    assert "Consent, given November 20, 2026" in page_html(asked)
    assert "Einwilligung: erteilt am 20. November 2026" in page_html(replace(asked, language="de"))
    assert "<strong>stop</strong>" in page_html(asked)


def test_what_people_wrote_is_text_never_markup() -> None:
    evil = "<img src=x onerror=alert(1)>"
    said = (OwnRemark("flag", "broken_text", evil), OwnRemark("comment", "comment", evil))
    item = replace(ITEM, topic=evil, state="returned", returned="skipped", reason=evil, remarks=said)
    html = page_html(replace(WORK, title=evil, task=evil, guidance=evil, consent=evil, items=(item,)))
    assert "<img" not in html
    assert html.count("&lt;img") >= 8


@pytest.fixture
def study(
    migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Engine, Principal, Principal]]:
    """Two annotators of one study, each with an item in work."""
    path = tmp_path / "calipers.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{path}")
    settings.cache_clear()
    database.cache_clear()
    study_id = make_study(database(), tmp_path / "reports", overlap=2)
    with transaction(database()) as session:
        people = [a_person(session, study_id, name) for name in ("Ada", "Ben")]
        for person in people:
            take(session, person)
    yield database(), *people
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def test_the_screen_draws_ones_own_work_and_names_no_system(study: tuple[Engine, Principal, Principal]) -> None:
    engine, ada, ben = study

    def run(principal):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from app.screens.annotators import my_work

        my_work.show(principal, "a cookie")

    screen = AppTest.from_function(run, args=(ada,), default_timeout=60).run()
    assert not screen.exception
    with reading(engine) as session:
        mine, other = (
            session.execute(
                select(Assignment.aid, Topic.title)
                .join(Topic, Topic.study_id == Assignment.study_id)
                .where(Assignment.rater_id == person.rater_id)
            ).first()
            for person in (ada, ben)
        )
    assert mine is not None
    assert other is not None
    shown = "".join(str(element.proto) for element in screen.main)  # type: ignore[attr-defined]
    assert f"/?open={mine.aid}" in shown
    assert other.aid not in shown
    assert "0 of 9 items submitted; 0 min so far." in shown
    assert not [name for name in SYSTEMS if name in shown.replace("alphabet", "")]


def test_the_way_past_streamlits_frame_is_named_in_the_studys_language(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(look.st, "html", drawn.append)
    for language in ("de", "en"):
        look.style(words=texts_for(language))
    assert 'stSkipToContent"]::after { content: "Zum Inhalt der Seite springen"' in drawn[0]
    assert 'stSkipToContent"]::after { content: "Skip to the page\'s content"' in drawn[1]


@pytest.mark.parametrize("asked", ["mine", "foreign", "unknown", "nul"])
def test_only_an_own_item_is_opened_by_its_name(
    study: tuple[Engine, Principal, Principal], monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    engine, ada, ben = study
    with reading(engine) as session:
        aids = dict(session.execute(select(Assignment.rater_id, Assignment.aid)).all())
    wanted = {"mine": aids[ada.rater_id], "foreign": aids[ben.rater_id], "unknown": "0" * 32, "nul": "a\0b"}[asked]
    handed: list[dict[str, Any]] = []
    monkeypatch.setattr(label, "annotate", lambda data, key: handed.append(data))
    monkeypatch.setattr(label.st, "query_params", {"open": wanted})
    label.show(ada, "a cookie")
    assert handed[0]["aid"] == aids[ada.rater_id]
    assert handed[0]["note"] == (None if asked == "mine" else "The item you asked for is not among your work.")
    assert handed[0]["links"] == [{"text": "My work", "back": "Back to my work", "href": "/my_work"}]

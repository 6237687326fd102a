"""What the owner decides about a shown text: with a reason, by whom and when, and never under a label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.leaks.self_identification import FIGURE
from annotation.people.principals import Principal, local_admin
from annotation.shown_texts.overrides import (
    edit_text,
    exclude_report,
    resolve_all,
    resolve_flag,
    restore_passage,
)
from annotation.studies import init_study
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.progress import position
from db.connect import reading, transaction
from db.tables import Event, Item, Report, Study
from db.types import now
from tests.small_study import PROTOCOL, a_person, answer_all, make_study, report_by


@pytest.fixture
def flagged(engine: Engine, tmp_path: Path) -> tuple[Engine, Principal, int]:
    """An open study in which one report says twice who wrote it."""
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        admin = local_admin(study)
        report = report_by(session, admin, "tides", "alpha")
        report.shown_text = "I am Atlas. As Atlas I say that tides rise."
        report.flags = [
            {"start": 5, "end": 10, "kind": "system", "text": "Atlas", "resolution": None},
            {"start": 15, "end": 20, "kind": "system", "text": "Atlas", "resolution": None},
        ]
        report.open_flags = 2
    return engine, admin, report.id


def the(engine: Engine, report_id: int) -> Report:
    with reading(engine) as session:
        return session.get_one(Report, report_id)


@pytest.mark.databases("sqlite")
def test_an_item_with_an_unresolved_flag_is_given_to_nobody(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        person = a_person(session, admin.study_id)
        assert position(session, person) == (0, 7)  # two of the nine pairs show this report
        for number in (0, 1):
            resolve_flag(session, admin, report_id, number, "keep", "it is the name of a myth here")
        assert position(session, person) == (0, 9)


@pytest.mark.databases("sqlite")
def test_a_study_with_unresolved_flags_does_not_open(flagged: tuple) -> None:
    engine, admin, _ = flagged
    with transaction(engine) as session:
        study = session.get_one(Study, admin.study_id)
        move_study(session, study, "paused")
        with pytest.raises(AnnotationError, match=r"2 passages in 1 report .* calipers audit small"):
            move_study(session, study, "open")
        assert resolve_all(session, admin, "keep", kind="system", reason="seen") == 2
        move_study(session, study, "open")


@pytest.mark.databases("sqlite")
def test_masking_changes_the_words_and_moves_the_flags_behind(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    before = the(engine, report_id).shown_sha256
    with transaction(engine) as session:
        resolve_flag(session, admin, report_id, 0, "mask", "names its maker")
        report = session.get_one(Report, report_id)
        assert report.shown_text == "I am [system]. As Atlas I say that tides rise."
        second = report.flags[1]
        assert report.shown_text[second["start"] : second["end"]] == "Atlas"
        resolve_flag(session, admin, report_id, 1, "mask", "names its maker")
    report = the(engine, report_id)
    assert report.shown_text == "I am [system]. As [system] I say that tides rise."
    assert report.open_flags == 0
    assert report.shown_sha256 != before


def test_to_mask_decides_about_names_alone(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        report = session.get_one(Report, report_id)
        report.shown_text += " I searched."
        report.flags = [
            *report.flags, {"start": 44, "end": 54, "kind": "search", "text": "I searched", "resolution": None}
        ]  # fmt: skip
        report.open_flags = 3
        for act in (
            lambda: resolve_flag(session, admin, report_id, 2, "mask"),
            lambda: resolve_all(session, admin, "mask", kind="search"),
        ):
            with pytest.raises(AnnotationError, match="of kind search is no name"):
                act()
        assert resolve_all(session, admin, "mask", of="alpha/tides") == 2
        assert report.shown_text == "I am [system]. As [system] I say that tides rise. I searched."
        assert report.open_flags == 1


def test_masked_figures_that_are_nowhere_keep_their_order(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        report = session.get_one(Report, report_id)
        masked = [{"start": 0, "end": 0, "kind": FIGURE, "text": name, "resolution": "mask"} for name in "badce"]
        report.flags = masked
        edit_text(session, admin, report_id, "Tides rise.", "no names")
        assert report.flags == masked


def test_excluding_takes_the_report_out_of_its_items(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        exclude_report(session, admin, report_id, "it is a fragment")
        gone = session.scalars(select(Item).where(Item.excluded_at.is_not(None))).all()
    assert len(gone) == 2
    assert the(engine, report_id).status == "excluded"


def test_a_passage_that_was_removed_wrongly_comes_back(flagged: tuple) -> None:
    engine, admin, _ = flagged
    with transaction(engine) as session:
        report = report_by(session, admin, "bread", "beta")
        span = next(span for span in report.removed if report.original_text[span[0] : span[1]].strip() == "[1]")
        assert "day [1]." not in report.shown_text
        restore_passage(session, admin, report.id, span[0] - 1, span[1], "it is a score, not a mark")
        assert "day [1]." in report.shown_text
        assert "References" not in report.shown_text
        assert span not in report.removed, "what was put back is not shown as removed any more"


@pytest.mark.databases("sqlite")
def test_every_act_keeps_who_when_and_why(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        edit_text(session, admin, report_id, "Tides rise.", "the export was cut off")
        trail = session.scalars(select(Event).where(Event.what == "edit_text")).one()
    assert trail.data["reason"] == "the export was cut off"
    assert [act["reason"] for act in the(engine, report_id).override["acts"]] == ["the export was cut off"]


@pytest.mark.databases("sqlite")
def test_an_edited_text_is_searched_for_names_again_and_cleaned(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        edit_text(session, admin, report_id, "I am ChatGPT.\r\nTides\0 rise \ud83d.", "a better export")
    report = the(engine, report_id)
    assert report.shown_text == "I am ChatGPT.\nTides rise ?."
    assert [flag["text"] for flag in report.flags] == ["ChatGPT"]
    assert report.open_flags == 1


@pytest.mark.databases("sqlite")
def test_what_was_masked_stays_so_in_a_text_changed_by_hand(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        assert resolve_all(session, admin, "mask", of="alpha/tides") == 2
        edit_text(session, admin, report_id, "As [system] I say that ChatGPT is no tide.", "a notice less")
        flags = session.get_one(Report, report_id).flags
    told = [(flag["kind"], flag["resolution"], flag["start"], flag["end"]) for flag in flags]
    assert told == [("system", "mask", 3, 11), ("product", None, 23, 30)]


@pytest.mark.databases("sqlite")
def test_a_decision_stays_what_it_was(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        resolve_flag(session, admin, report_id, 0, "keep", "a myth")
        with pytest.raises(AnnotationError, match="decided already: keep"):
            resolve_flag(session, admin, report_id, 0, "mask", "after all")
        edit_text(session, admin, report_id, "I am Atlas. Tides rise.", "shorter")
        assert [act["what"] for act in session.get_one(Report, report_id).override["acts"]] == ["edit_text"]
        with pytest.raises(AnnotationError, match="written by hand"):
            restore_passage(session, admin, report_id, 0, 100, "why")


def test_reports_settings_do_not_change_under_prepared_reports(flagged: tuple) -> None:
    engine, _, _ = flagged
    text = PROTOCOL.replace("[study]", '[study]\nlayout = "kept"')
    with (
        pytest.raises(AnnotationError, match=r"other \[reports\] settings or another study\.layout"),
        transaction(engine) as session,
    ):
        init_study(session, "small", text, 7)


@pytest.mark.databases("sqlite")
def test_a_flag_on_a_report_nobody_will_see_stops_nothing(flagged: tuple) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        study = session.get_one(Study, admin.study_id)
        move_study(session, study, "paused")
        for item in session.scalars(
            select(Item).where((Item.report_a_id == report_id) | (Item.report_b_id == report_id))
        ):
            item.excluded_at = now()
        session.flush()
        move_study(session, study, "open")


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    "act",
    [
        lambda session, admin, report: edit_text(session, admin, report, "other words", "why"),
        lambda session, admin, report: resolve_flag(session, admin, report, 0, "mask", "why"),
        lambda session, admin, report: exclude_report(session, admin, report, "why"),
    ],
)
def test_a_text_that_carries_a_label_is_frozen(flagged: tuple, act: Callable) -> None:
    engine, admin, report_id = flagged
    with transaction(engine) as session:
        session.get_one(Report, report_id).open_flags = 0
        person = a_person(session, admin.study_id)
        while (mine := take(session, person)) is not None:
            answer_all(session, person, mine.aid)
            mine.status = "submitted"
            session.flush()
    with pytest.raises(AnnotationError, match="labels stand on this text"), transaction(engine) as session:
        act(session, admin, report_id)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("act", "code"),
    [
        (lambda session, admin, report: edit_text(session, admin, report, "x", " "), "no_reason"),
        (lambda session, admin, report: edit_text(session, admin, report, " ", "why"), "empty_text"),
        (lambda session, admin, report: resolve_flag(session, admin, report, 9, "keep"), "unknown_flag"),
        (lambda session, admin, report: resolve_flag(session, admin, report, 0, "hide"), "bad_resolution"),
        (lambda session, admin, report: restore_passage(session, admin, report, 1, 2, "why"), "unknown_passage"),
        (lambda session, admin, report: edit_text(session, admin, 999, "x", "why"), "unknown_report"),
        (
            lambda session, admin, report: edit_text(session, Principal(admin.study_id, "evaluator"), report, "x", "y"),
            "forbidden",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(flagged: tuple, act: Callable, code: str) -> None:
    engine, admin, report_id = flagged
    with pytest.raises(AnnotationError) as caught, transaction(engine) as session:
        act(session, admin, report_id)
    assert caught.value.code == code

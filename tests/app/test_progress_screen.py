"""The dashboard of a running study: its answer, its flags in words, what was said, and no label beside a system."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

import app.results.computing
import app.screens.leaving
import app.screens.study.progress
from annotation.errors import AnnotationError
from annotation.people.links import revoke
from annotation.people.principals import local_admin
from annotation.studies import init_study
from annotation.work.remarks import remarks_of
from app.progress import RaterProgress, StudyProgress, study_progress
from app.screens.study.progress_parts import bars_html, people_html
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.remarks import undefined
from calibration.results import Estimate
from db.connect import reading, transaction
from db.tables import Assignment, Event, Study
from tests.app.drawing import drawn, evaluator, html_of, page, shown
from tests.calibration.planted import ALWAYS_LEFT, Person
from tests.planted_study import make_planted
from tests.small_study import PROTOCOL, make_study

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def planted(engine_here: Engine, tmp_path: Path) -> int:
    """Four annotators, one of them always left, eight pairs of six criteria; somebody flagged a text."""
    study = make_planted(engine_here, tmp_path / "reports", (*[Person(0.85)] * 3, ALWAYS_LEFT), pairs=8, criteria=6)
    with transaction(engine_here) as session:
        first = session.query(Assignment).order_by(Assignment.id).first()
        assert first is not None
        session.add(
            Event(
                study_id=study, rater_id=first.rater_id, assignment_id=first.id, kind="flag", what="broken_text",
                data={"text": EVIL},
            )
        )  # fmt: skip
    return study


def remarks(engine: Engine, study: int) -> list[tuple[tuple[str, ...], bool]]:
    with reading(engine) as session:
        found = remarks_of(session, local_admin(session.get_one(Study, study)))
    return [(tuple(said.text for said in one.replies), one.dealt_with) for one in found]


def test_it_says_how_far_the_study_is_who_needs_a_second_look_and_why(engine_here: Engine, planted: int) -> None:
    screen = page(engine_here, planted, "progress")
    words = "".join(html_of(screen))
    assert "32 of 32 slots are handed in (100 %)." in words
    assert "Annotators give the same answer to" in words
    assert "annotator-04 needs a second look" in words
    assert "gives the same answer within an item more often than the others" in words
    assert words.count('class="c-plot"') == 3
    assert "&lt;img src=x" in words
    assert EVIL not in words
    assert "1 remark waits for an answer" in words
    figures = "Share of equal answers of two annotators"  # kept for all who may see them, for each language
    assert figures in words
    assert figures not in "".join(html_of(page(engine_here, planted, "progress", "zh_CN")))


def test_its_figures_are_told_to_each_reader_in_their_language(engine_here: Engine, planted: int) -> None:
    told = [shown(page(engine_here, planted, "progress", language)) for language in ("zh_CN", "en")]
    captions = ["".join(re.findall("<figcaption>.*?</figcaption>", text)) for text in told]
    assert [bool(re.search("[\u4e00-\u9fff]|\\\\3[45]\\d", one)) for one in captions] == [True, False]


def test_how_far_it_is_stands_before_what_takes_longer_is_counted(
    engine_here: Engine, planted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = list[str]()

    def counted(*given: Any) -> StudyProgress:
        order.append("all counts")
        return study_progress(*given)

    monkeypatch.setattr(app.screens.study.progress, "answer", lambda sentence, *more: order.append(sentence))
    monkeypatch.setattr(app.screens.study.progress, "study_progress", counted)
    page(engine_here, planted, "progress")
    assert order[:2] == ["32 of 32 slots are handed in (100 %).", "all counts"]


def test_no_label_stands_beside_a_system_while_the_study_is_blind(engine_here: Engine, planted: int) -> None:
    screen = page(engine_here, planted, "progress")
    parts = [part for part in html_of(screen) if "alpha" in part]
    assert len(parts) == 1  # the counts by system, which hold no answer
    assert 'aria-label="System"' in parts[0]


def test_a_remark_is_answered_and_dealt_with_on_the_page(engine_here: Engine, planted: int) -> None:
    screen = page(engine_here, planted, "progress")
    click(screen, "Send reply")
    assert "a reply needs words" in shown(screen)
    screen.text_input[0].set_value("It is repaired.")
    click(screen, "Send reply")
    assert "It is repaired." in shown(screen)
    assert remarks(engine_here, planted) == [(("It is repaired.",), False)]
    click(screen, "Mark as dealt with")
    assert remarks(engine_here, planted) == [(("It is repaired.",), True)]


def click(screen: AppTest, label: str) -> None:
    next(button for button in screen.button if button.label == label).click()
    drawn(screen.run())


def test_another_interval_asks_for_other_numbers_of_pairs(engine_here: Engine, planted: int) -> None:
    screen = page(engine_here, planted, "progress")
    assert "±5 points" in shown(screen)
    screen.segmented_control(key="progress_aim").set_value("±3 points")
    assert "would narrow agreement to ±3 points" in shown(drawn(screen.run()))


@pytest.mark.parametrize(
    ("planned", "said"), [(False, "Nothing to label yet"), (True, "Nobody has handed in labels yet.")]
)
def test_before_there_is_work_the_page_says_what_is_missing(
    engine_here: Engine, tmp_path: Path, planned: bool, said: str
) -> None:
    if planned:
        study = make_study(engine_here, tmp_path / "reports")
    else:
        with transaction(engine_here) as session:
            study = init_study(session, "small", PROTOCOL, 7).id
    assert said in shown(page(engine_here, study, "progress"))


def test_when_agreement_cannot_be_computed_the_counts_still_stand(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise AnnotationError("unknown_label", "row 1: the label 'x' is not on the declared scale")

    monkeypatch.setitem(app.results.computing.COMPUTED, "quality", refuse)
    words = shown(page(engine_here, make_study(engine_here, tmp_path / "reports"), "progress"))
    assert "cannot be computed: row 1" in words
    assert "Items and their slots" in words


def test_a_bar_is_as_long_as_its_quota_and_says_so() -> None:
    half_done, paused = (
        RaterProgress("one", "human", 3, 1, None, 10),
        RaterProgress("two", "human", 5, 0, None, 5, "paused"),
    )
    html = bars_html([half_done, paused], 15)
    assert 'style="width: 100%"' in html
    assert "3 of 10 handed in · 1 in work" in html
    assert "5 of 5 handed in · paused" in html
    assert 'style="width: 30%"' in html


def test_what_tells_an_inconsistent_annotator_comes_first_and_what_nobody_has_is_named_below() -> None:
    html = people_html([_quality("one", retests=0.5), _quality("two", retests=math.nan)])
    heads = re.findall(r'<th scope="col">([^<]*)', html)
    assert heads == ["Annotator", "Items", "Agreement", "Retests", "Left", "Ties", "Not applicable"]
    assert "<li>Retests: no retest.</li>" in html  # one of them has none
    assert (
        "Left out, for nobody here has it: Attention (no attention item answered); Same answer, Rationales repeated, "
        "Minutes an item, Seconds an answer, Words each (no retest)." in html
    )
    assert people_html([]) == ""  # where a search found nobody


def _quality(rater: str, retests: float) -> AnnotatorQuality:
    known = Estimate("x", rater, "others", "all", "all", 0.7, 0.6, 0.8, 0.95, 9, 9, "cluster_t")
    none = replace(known, value=math.nan, low=math.nan, high=math.nan, remarks=(undefined("no_items", "no retest"),))
    again = replace(known, value=retests) if retests == retests else none
    return AnnotatorQuality(
        rater, 3, none, none, known, known, known, known, none, none, none, none, again, 0, 0, (), ()
    )  # fmt: skip


@pytest.mark.parametrize("part", [app.screens.study.progress._live, app.screens.study.progress._remarks])
def test_an_open_page_whose_sign_in_was_revoked_is_sent_away_by_whichever_part_is_drawn_next(
    engine_here: Engine, planted: int, monkeypatch: pytest.MonkeyPatch, part: Any
) -> None:
    class SentAway(Exception): ...

    def rerun() -> None:
        raise SentAway

    monkeypatch.setattr(app.screens.leaving.st, "rerun", rerun)
    principal, cookie = evaluator(engine_here, planted)
    with transaction(engine_here) as session:
        revoke(session, local_admin(session.get_one(Study, planted)), "Eva")
    with pytest.raises(SentAway):
        part.__wrapped__(principal, cookie)

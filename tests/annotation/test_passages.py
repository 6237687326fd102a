"""Alike passages: sections find each other in any order and script, and strangers find nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.passages import Passages, alike_passages, compare_reports, from_stored, to_stored
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, compare_plan, make_plan
from annotation.rendering import Block, report_blocks
from annotation.studies import init_study
from annotation.work import page as page_module
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import transaction
from db.tables import Assignment, Item, Report
from tests.small_study import PROTOCOL, a_person

TIDES = "The moon pulls the oceans, so the tide rises and falls twice a day."
BREAD = "Sourdough ferments overnight; yeast and bacteria raise the loaf."
NOISE = "Traffic is the loudest source of urban sound, and sleep suffers."
TIDES_TOO = "Twice a day the ocean rises: lunar gravity pulls it, and it falls again."
BREAD_TOO = "A loaf of sourdough needs fermenting with yeast for a whole night."
NOISE_TOO = "Sleepers suffer from urban sound, above all from loud traffic."


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((TIDES, BREAD, NOISE), (NOISE_TOO, TIDES_TOO, BREAD_TOO), Passages((1, 2, 0), (2, 0, 1))),
        # no spaces to cut at
        (
            ("潮汐由月球引力引起，每天涨落两次。", "酸面包需要一整夜的发酵。"),
            ("面包的发酵持续整夜。", "月球的引力使潮汐涨落。"),
            Passages((1, 0), (1, 0)),
        ),
        (("月球と潮の満ち引き", "パンの発酵"), ("発酵したパン", "潮の満ち引きは月による"), Passages((1, 0), (1, 0))),
        # case, diacritics and endings
        (("Érosion of the CÔTE", TIDES), (TIDES, "the cote was eroded, erosions"), Passages((1, 0), (1, 0))),
        ((TIDES, "Wholly other words here."), (TIDES_TOO, "第三种语言"), Passages((0, None), (0, None))),
        ((TIDES,), (), Passages((None,), ())),
        ((), (), Passages((), ())),
        (("...", "—"), (TIDES, ""), Passages((None, None), (None, None))),
    ],
)
def test_each_passage_finds_the_one_that_says_the_same(
    a: tuple[str, ...], b: tuple[str, ...], expected: Passages
) -> None:
    assert alike_passages([Block("p", text) for text in a], [Block("p", text) for text in b]) == expected


def test_a_heading_leads_to_its_section_and_helps_what_stands_under_it() -> None:
    words = "It was discussed at length by many people in several places."
    a = report_blocks(f"# Title\n\n## Harbour\n\n{words}\n\n## Railway\n\n{words}")
    b = report_blocks(f"# Title\n\n## The railway\n\n{words}\n\n---\n\n## The harbour\n\n{words}")
    assert [block.tag for block in b] == ["h3", "h3", "p", "hr", "h3", "p"]
    matches = alike_passages(a, b)
    harbour, railway = {4, 5}, {1, 2}
    assert set(matches.a[1:3]) <= harbour
    assert set(matches.a[3:5]) <= railway
    assert matches.b[3] is None, "a rule between sections is like nothing"


def test_reports_on_different_topics_have_no_alike_passages() -> None:
    assert compare_reports(f"{TIDES}\n\n{TIDES_TOO}", f"{BREAD}\n\n{NOISE}") == Passages((None, None), (None, None))


blocks = st.lists(
    st.builds(
        Block,
        st.sampled_from(["h3", "h4", "p", "ul", "hr"]),
        st.one_of(st.text(max_size=20), st.sampled_from([TIDES, BREAD, NOISE, TIDES_TOO, ""])),
    ),
    max_size=8,
)


@given(blocks, blocks)
def test_every_block_has_one_answer_within_the_other_report_and_swapping_the_reports_swaps_the_answers(
    a: list[Block], b: list[Block]
) -> None:
    found = alike_passages(a, b)
    assert (len(found.a), len(found.b)) == (len(a), len(b))
    assert all(match is None or 0 <= match < len(b) for match in found.a)
    assert all(match is None or 0 <= match < len(a) for match in found.b)
    assert alike_passages(b, a) == Passages(found.b, found.a)


def test_stored_passages_hold_only_for_the_same_texts_and_renderer() -> None:
    stored = to_stored(Passages((1, None), (None, 0)), "aaa", "bbb")
    assert from_stored(stored, "aaa", "bbb") == Passages((1, None), (None, 0))
    for other in (None, stored | {"renderer": "0"}, stored | {"texts": ["aaa", "ccc"]}):
        assert from_stored(other, "aaa", "bbb") is None


A_TEXT = f"# Day\n\n## Tides\n\n{TIDES}\n\n## Bread\n\n{BREAD}"
B_TEXT = f"# Day\n\n## Bread\n\n{BREAD_TOO}\n\n## Tides\n\n{TIDES_TOO}"


@pytest.fixture
def planned(engine: Engine, tmp_path: Path) -> int:
    """One pair whose reports tell the same in another order, made as `calipers pairs --apply` makes it."""
    for system, text in (("alpha", A_TEXT), ("beta", B_TEXT)):
        (tmp_path / system).mkdir()
        (tmp_path / system / "day.md").write_text(text, encoding="utf-8")
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        admin = local_admin(study)
        import_reports(session, admin, read_folder(tmp_path), layout="folder", source="here")
        plan = make_plan(session, admin, design="all", per_topic=None, overlap=2)
        seen: list[tuple[int, int]] = []
        apply_plan(session, admin, plan, compare_plan(session, admin, plan, lambda *at: seen.append(at)))
        assert seen == [(1, 1)]
        assert compare_plan(session, admin, plan) == {}, "what stands is not compared again"
        move_study(session, study, "open")
        return study.id


def shown_to(engine: Engine, study_id: int, name: str, left: str) -> dict[str, Any]:
    with transaction(engine) as session:
        person = a_person(session, study_id, name)
        assignment = session.scalars(select(Assignment).where(Assignment.status == "open")).first()
        assert assignment is not None
        assignment.rater_id, assignment.status, assignment.left = person.rater_id, "taken", left
        session.flush()
        return assignment_page(session, person, assignment.aid)


@pytest.mark.databases("sqlite")
def test_the_page_gets_what_was_stored_turned_as_the_recorded_order_says(
    engine: Engine, planned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "compare_reports", None)  # nothing is worked out while somebody waits
    one, other = (shown_to(engine, planned, name, left)["passages"] for name, left in (("Ada", "A"), ("Bo", "B")))
    assert set(one) == {"left", "right"}
    assert (one["left"], one["right"]) == (other["right"], other["left"])
    assert_sections_cross(one)


def assert_sections_cross(passages: dict[str, Any]) -> None:
    """Title to title; the first section (two blocks) to the second of the other report, and the second to the first."""
    for title, *sections in passages.values():
        assert title == 0
        assert [match > 2 for match in sections] == [True, True, False, False]


@pytest.mark.parametrize("change", ["nothing stored", "text edited since"])
def test_what_is_missing_or_outdated_is_worked_out_for_the_texts_shown(
    engine: Engine, planned: int, change: str
) -> None:
    with transaction(engine) as session:
        item = session.scalars(select(Item).where(Item.study_id == planned)).one()
        if change == "nothing stored":
            item.passages = None
        else:
            report = session.get_one(Report, item.report_a_id)
            report.shown_text, report.shown_sha256 = NOISE, "0" * 64
    passages = shown_to(engine, planned, "Ada", "A")["passages"]
    if change == "nothing stored":
        assert_sections_cross(passages)
    else:
        assert passages == {"left": (None,), "right": (None,) * 5}

"""Ratings and probes in a real Chromium: digits, number fields, a reference beside, claims pinned above their report."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests import small_study
from tests.browser.driving import item_number, new_tab, ready, saved, until
from tests.small_study import PROBES, RATING, make_study, with_reference

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BARE = RATING.split("[[criterion]]")[0]
EIGHT_SCORES = BARE + "".join(
    f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "How good is it in {n}?"\n' for n in range(1, 9)
)
PERCENT = EIGHT_SCORES.replace("max = 10,", "max = 100,").replace("10 =", "100 =").replace("5 =", "50 =")
REQUIRED = "rationale = {required = true, min_length = 5}\n[answers]"
LONG = "\n\n".join(f"## Part {n}\n\n" + "The tide rises and falls with the moon. " * 40 for n in range(6))


@pytest.fixture
def opened(context: BrowserContext, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """open(protocol, reference) -> Ada's first item, and the study's id."""
    plain = small_study.report_text
    monkeypatch.setattr(small_study, "report_text", lambda system, topic: f"{plain(system, topic)}\n\n{LONG}")

    def open_first(protocol: str, reference: str = "") -> tuple[Page, int]:
        root = with_reference(tmp_path / "reports", reference) if reference else tmp_path / "reports"
        study_id = make_study(server.engine, root, protocol=protocol, name=uuid.uuid4().hex)
        page = new_tab(context)
        page.goto(server.link(study_id, "Ada"))
        page.locator('.calipers[data-ready="true"]').wait_for()
        return page, study_id

    return open_first


def choices(server: Any, study_id: int) -> dict[str, list[str | None]]:
    """Every stored choice of each criterion, oldest first."""
    stored: dict[str, list[str | None]] = {}
    for choice, _, criterion in server.labels(study_id):
        stored.setdefault(criterion, []).append(choice)
    return stored


def test_eight_scores_without_a_rationale_take_nine_keystrokes_and_one_and_zero_in_quick_succession_are_ten(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT_SCORES)
    for key in "23456789":
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    assert choices(server, study_id) == {f"c{n}": [str(n + 1)] for n in range(1, 9)}
    page.keyboard.press("1")
    page.keyboard.press("0")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    page.keyboard.press("1")  # one alone moves on
    expect(page.get_by_role("heading", name="Criterion 3")).to_be_visible()
    page.keyboard.press("0")
    expect(page.get_by_role("heading", name="Criterion 4")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("7")  # no 17: this one answers the next criterion
    expect(page.get_by_role("heading", name="Criterion 6")).to_be_visible()
    saved(page)
    stored = {code: given[1:] for code, given in choices(server, study_id).items()}
    assert stored == {"c1": ["10"], "c2": ["1"], "c3": ["0"], "c4": ["1"], "c5": ["7"], "c6": [], "c7": [], "c8": []}


def test_what_is_typed_into_the_rationale_labels_nothing(opened: Callable[..., Any], server: Any) -> None:
    page, study_id = opened(EIGHT_SCORES.replace("[answers]", REQUIRED))
    page.keyboard.press("1")
    page.keyboard.type("7 of 10 readers, j k x 3")  # begins before it is known that no 0 follows
    box = page.get_by_role("textbox", name="Rationale: Criterion 1")
    expect(box).to_have_value("7 of 10 readers, j k x 3")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    saved(page)
    assert set(choices(server, study_id)) == {"c1"}
    assert set(choices(server, study_id)["c1"]) == {"1"}


def test_a_score_is_a_radio_group_with_its_anchors_and_survives_a_reload(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(EIGHT_SCORES)
    group = page.get_by_role("radiogroup", name="Criterion 1")
    expect(group.get_by_role("radio")).to_have_count(11)
    expect(page.get_by_role("slider")).to_have_count(0)
    expect(page.get_by_role("listitem").filter(has_text="not at all")).to_be_visible()
    group.get_by_role("radio", name="5", exact=True).click()
    page.keyboard.press("k")
    expect(page.locator(".anchors .chosen")).to_have_text("5in part")
    group.get_by_role("radio", name="5", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(group.get_by_role("radio", name="6", exact=True)).to_be_checked()
    expect(page.locator(".anchors .chosen")).to_have_count(0)
    saved(page)
    page.reload()
    expect(group.get_by_role("radio", name="6", exact=True)).to_be_checked()
    expect(page.get_by_role("button", name="Criterion 1: 6")).to_be_visible()
    assert choices(server, study_id)["c1"][-1] == "6"
    page.keyboard.press("2")  # a digit answers the open criterion anew
    expect(page.get_by_role("button", name="Criterion 1: 2")).to_be_visible()
    saved(page)
    assert choices(server, study_id)["c1"][-2:] == ["6", "2"]


def test_many_values_are_a_number_field_that_says_what_it_refuses_and_what_is_left_in_it_survives_a_reload(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(PERCENT)
    field = page.get_by_role("spinbutton", name="Criterion 1")
    page.keyboard.type("62")  # a digit outside text goes into the field
    page.reload()
    expect(field).to_have_value("62")
    until(lambda: choices(server, study_id).get("c1", [None])[-1] == "62")
    ready(page)
    field.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    page.keyboard.type("150")
    page.keyboard.press("Enter")
    expect(
        page.get_by_role("alert").filter(has_text="150 is not on the scale: 0 to 100, whole numbers")
    ).to_be_visible()
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.get_by_role("alert").filter(has_text="scale")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Criterion 3")).to_be_visible()
    page.keyboard.press("Escape")  # out of the field: letters act again
    page.keyboard.press("k")
    expect(page.get_by_role("spinbutton", name="Criterion 2")).to_have_value("15")
    saved(page)
    assert choices(server, study_id)["c1"] == ["62"]
    assert choices(server, study_id)["c2"][-1] == "15"
    assert "150" not in choices(server, study_id)["c2"]


def test_one_report_is_centred_and_at_most_75_characters_wide_and_a_click_stays_where_a_reason_may_be_written(
    opened: Callable[..., Any],
) -> None:
    page, _ = opened(EIGHT_SCORES)
    for width in (1920, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        pane = page.get_by_role("region", name="Report").bounding_box()
        text = page.locator(".report p").nth(1).bounding_box()
        assert pane is not None
        assert text is not None
        left, right = text["x"] - pane["x"], pane["x"] + pane["width"] - text["x"] - text["width"]
        assert abs(left - right) <= 20  # the scrollbar's gutter
        assert 520 <= text["width"] <= 620
        expect(page.locator(".pane")).to_have_count(1)
    page.get_by_role("radio", name="4", exact=True).click()
    expect(page.get_by_role("textbox", name="Rationale: Criterion 1")).to_be_visible()
    page.keyboard.press("5")  # a key goes on
    expect(page.get_by_role("textbox", name="Rationale: Criterion 2")).to_be_visible()


def test_the_reference_stands_beside_with_its_title(opened: Callable[..., Any]) -> None:
    page, _ = opened(EIGHT_SCORES.replace("[answers]", '[answers]\npaired_view = "reference"'), reference="gamma")
    expect(page.get_by_role("region", name="Reference report")).to_contain_text("manner 3")
    expect(page.get_by_role("region", name="Report", exact=True)).not_to_contain_text("manner 3")
    expect(page.get_by_text("Item 1 of 6")).to_be_visible()
    assert "gamma" not in page.content()


def test_a_probe_has_its_answers_in_order_and_two_keystrokes_and_the_next_of_its_report_keeps_text_and_place(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(PROBES)
    expect(page.get_by_role("region", name="Claim")).to_contain_text("twice a day.")
    radios = page.get_by_role("radiogroup", name="Supported").get_by_role("radio")
    expect(radios).to_have_text(
        ["Fully supported1", "Supported in part, or only for some cases2", "The source did not load3"]
    )
    claims = [page.get_by_role("region", name="Claim").inner_text()]
    page.locator(".pane").evaluate("node => { node.marked = true; node.scrollTop = 400; }")
    for item in (2, 3):
        page.keyboard.press("3")
        page.keyboard.press("Control+Enter")
        item_number(page, item, 27)
        claims.append(page.get_by_role("region", name="Claim").inner_text())
        assert page.locator(".pane").evaluate("node => [node.marked, node.scrollTop]") == [True, 400]
    assert len(set(claims)) == 3
    assert choices(server, study_id) == {"supported": ["source_unavailable"] * 2}
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    item_number(page, 4, 27)
    assert page.locator(".pane").evaluate("node => [node.marked ?? false, node.scrollTop]") == [False, 0]


def test_a_long_probe_is_whole_and_leaves_room_for_its_context(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    add, words = small_study.add_probes, "rises, " * 600
    monkeypatch.setattr(small_study, "add_probes", lambda session, study: add(session, study, (words + "falls",)))
    page, _ = opened(PROBES)
    claim = page.get_by_role("region", name="Claim")
    expect(claim).to_contain_text("rises, falls twice a day.")
    box, report = claim.bounding_box(), page.get_by_role("region", name="Report").bounding_box()
    assert box is not None
    assert report is not None
    assert box["height"] <= 0.34 * 757 + 1
    assert report["height"] >= 350
    text = page.locator(".probe-text")
    assert text.evaluate("node => node.scrollHeight > node.clientHeight")
    text.focus()
    page.keyboard.press("End")
    until(lambda: text.evaluate("node => node.scrollTop + node.clientHeight >= node.scrollHeight - 2"))

"""Two reports rated in one view, in a real Chromium: by keyboard alone, reloaded in between, handed in together."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from db.connect import reading
from db.tables import Assignment, Criterion, Item, Label, Report, System
from tests import small_study
from tests.browser.driving import PARKED, item_number, listening, new_tab, ready, saved, until
from tests.browser.test_accessibility import violations
from tests.browser.test_kept import ENTRIES, KEEP, prefix_of
from tests.small_study import RATING, make_study, with_reference

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BARE = RATING.split("[[criterion]]")[0].replace("[answers]", '[answers]\npaired_view = "both"')
FOUR = BARE + "".join(
    f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "How good is it in {n}?"\n'
    f'category = "{"Insight" if n < 3 else "Readability"}"\nweight = 0.25\n'
    for n in range(1, 5)
)
RACE = FOUR.replace("step = 1,", "step = 0,")
REQUIRED = FOUR.replace("[answers]", "rationale = {required = true, min_length = 5}\n[answers]")
LONG = "\n\n".join(f"## Part {n}\n\n" + "The tide rises and falls with the moon. " * 40 for n in range(6))


@pytest.fixture
def opened(context: BrowserContext, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """open(protocol) -> Ada's first page of two reports, and the study's id."""
    plain = small_study.report_text
    monkeypatch.setattr(small_study, "report_text", lambda system, topic: f"{plain(system, topic)}\n\n{LONG}")

    def open_first(protocol: str) -> tuple[Page, int]:
        root = with_reference(tmp_path / "reports")
        study_id = make_study(server.engine, root, protocol=protocol, name=uuid.uuid4().hex)
        page = new_tab(context)
        page.goto(server.link(study_id, "Ada"))
        page.locator('.calipers[data-ready="true"]').wait_for()
        return page, study_id

    return open_first


def scores(server: Any, study_id: int) -> dict[tuple[str, str], list[str | None]]:
    """(side, criterion) -> every stored score, oldest first; the side is that of the report the label is filed under."""
    rows = (
        select(Assignment.left, Criterion.code, Label.choice)
        .join(Label, Label.assignment_id == Assignment.id)
        .join(Criterion, Criterion.id == Label.criterion_id)
        .where(Assignment.study_id == study_id)
        .order_by(Label.id)
    )
    found: dict[tuple[str, str], list[str | None]] = {}
    with reading(server.engine) as session:
        for left, code, choice in session.execute(rows):
            found.setdefault(("left" if left == "A" else "right", code), []).append(choice)
    return found


def statuses(server: Any, study_id: int) -> list[str]:
    with reading(server.engine) as session:
        rows = select(Assignment.status).where(Assignment.study_id == study_id, Assignment.rater_id.is_not(None))
        return sorted(session.scalars(rows))


def row(page: Page, side: str, criterion: int) -> Any:
    return page.get_by_role("radiogroup", name=f"{side} report: Criterion {criterion}")


def test_digits_answer_left_then_right_then_the_next_criterion_and_a_reload_an_early_submit_and_reopening_mind_both(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(FOUR)
    for key in "748":
        page.keyboard.press(key)
    page.reload()  # in the middle: back at the row that is open
    expect(row(page, "Left", 2).get_by_role("radio", name="8", exact=True)).to_be_checked()
    expect(page.locator(".score-row.active")).to_contain_text("Right")
    expect(page.get_by_role("button", name="Criterion 2: Left 8, Right no answer")).to_be_visible()
    ready(page)
    for key in "5936":
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Criterion 4: Left 6, Right no answer")).to_be_visible()
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("alert").filter(has_text="Not submitted")).to_be_visible()
    expect(page.locator(".score-row.active")).to_contain_text("Right")
    page.keyboard.press("2")
    expect(page.get_by_role("button", name="Criterion 1: Left 7, Right 4")).to_be_visible()
    expect(page.get_by_text("4/4 answered")).to_be_visible()
    page.keyboard.press("Control+Enter")
    item_number(page, 2, 9)
    assert scores(server, study_id) == {
        ("left", "c1"): ["7"], ("right", "c1"): ["4"], ("left", "c2"): ["8"], ("right", "c2"): ["5"],
        ("left", "c3"): ["9"], ("right", "c3"): ["3"], ("left", "c4"): ["6"], ("right", "c4"): ["2"],
    }  # fmt: skip
    assert statuses(server, study_id) == ["submitted", "submitted", "taken", "taken"]
    with reading(server.engine) as session:
        done = select(Assignment.aid).where(Assignment.study_id == study_id, Assignment.status == "submitted")
        aid = session.scalar(done.where(Assignment.left == "A"))
    page.goto(f"{server.address}/?open={aid}")
    page.get_by_role("button", name="Reopen").click()
    until(lambda: statuses(server, study_id) == ["taken"] * 4)


def test_each_report_has_its_own_score_and_its_own_rationale(opened: Callable[..., Any], server: Any) -> None:
    page, study_id = opened(REQUIRED)
    page.keyboard.press("7")
    page.keyboard.insert_text("left is deep")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".score-row.active")).to_contain_text("Right")
    expect(page.locator(".why-report")).to_have_text("Right report")
    page.keyboard.press("4")
    page.keyboard.insert_text("right is thin")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Criterion 2")).to_be_visible()
    saved(page)
    with reading(server.engine) as session:
        rows = select(Assignment.left, Label.choice, Label.rationale).join(Label).where(
            Assignment.study_id == study_id
        ).order_by(Label.id)  # fmt: skip
        newest = {left: (choice, why) for left, choice, why in session.execute(rows)}
    assert newest == {"A": ("7", "left is deep"), "B": ("4", "right is thin")}
    page.keyboard.press("k")
    row(page, "Left", 1).get_by_role("radio", name="7", exact=True).focus()
    expect(page.get_by_role("textbox", name="Rationale: Left report: Criterion 1")).to_have_value("left is deep")
    row(page, "Right", 1).get_by_role("radio", name="9", exact=True).click()
    expect(page.get_by_role("textbox", name="Rationale: Right report: Criterion 1")).to_have_value("right is thin")
    saved(page)
    assert scores(server, study_id)["right", "c1"][-1] == "9"
    assert scores(server, study_id)["left", "c1"][-1] == "7"


def test_what_a_killed_browser_had_not_sent_of_the_report_beside_is_measured_against_that_report(
    opened: Callable[..., Any], server: Any
) -> None:
    page, _ = opened(FOUR)
    sent: list[Any] = []
    with listening(page, "request", lambda one: sent.append(one) if one.url.endswith("/api/labels") else None):
        for key in "74859362":
            page.keyboard.press(key)
        saved(page)
        for _ in range(3):
            page.keyboard.press("k")
        row(page, "Left", 1).get_by_role("radio", name="9", exact=True).click()
        saved(page)
    entries = [one for request in sent for one in request.post_data_json["entries"] if one["kind"] == "label"]
    first, right = [one for one in entries if one["criterion"] == "c1"][:2]
    prefix = prefix_of(page, first["aid"])
    page.keyboard.press("Control+Shift+Enter")
    item_number(page, 2, 9)
    page.goto(server.address + PARKED)
    later = right | {"choice": "1", "seq": right["seq"] + 1, "client_uuid": "0" * 32}
    page.evaluate(KEEP, [{f"{prefix}entry:label:right:c1": later}, {}])
    page.goto(server.address)
    expect(page.locator(".calipers")).to_contain_text("earlier item")
    assert [key for key in page.evaluate(ENTRIES) if key.endswith("right:c1")]


def test_a_continuous_scale_is_an_accessible_field_a_report_and_enter_moves_on(
    opened: Callable[..., Any], server: Any
) -> None:
    page, study_id = opened(RACE)
    both_rows_are_on_screen_and_accessible(page)
    for number in ("7.25", "4", "8.5", "10", "0", "3.3", "6", "9.9"):
        page.keyboard.type(number)
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Criterion 4: Left 6, Right 9.9")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_text("Item 2 of 9")).to_be_visible()
    last = {place: given[-1] for place, given in scores(server, study_id).items()}
    assert last["left", "c1"] == "7.25"
    assert last["right", "c2"] == "10"
    assert last["left", "c3"] == "0"
    assert last["right", "c4"] == "9.9"


def test_what_is_typed_offline_reaches_both_reports_later_and_both_rows_are_on_screen_and_accessible(
    opened: Callable[..., Any], server: Any, context: BrowserContext
) -> None:
    page, study_id = opened(FOUR)
    both_rows_are_on_screen_and_accessible(page)
    context.set_offline(True)
    for key in "74":
        page.keyboard.press(key)
    expect(page.locator(".save").filter(has_text="unsaved")).to_be_visible()
    context.set_offline(False)
    saved(page)
    assert scores(server, study_id) == {("left", "c1"): ["7"], ("right", "c1"): ["4"]}


def test_another_machine_s_answer_to_one_report_is_shown_beside_mine_and_a_history_is_that_of_the_open_row(
    opened: Callable[..., Any], server: Any, elsewhere: BrowserContext
) -> None:
    page, study_id = opened(FOUR)
    page.keyboard.press("7")
    saved(page)
    elsewhere.add_cookies(page.context.cookies())  # type: ignore[arg-type]  # what it gave it takes
    other = new_tab(elsewhere)
    other.goto(page.url)
    ready(other)
    other.keyboard.press("3")  # of the right report, which is open there
    saved(other)
    page.keyboard.press("9")  # the same here
    conflict = page.get_by_role("group", name="Two versions of this answer")
    page.keyboard.press("k")
    page.get_by_role("button", name=re.compile("^Criterion 1")).first.click()
    expect(conflict).to_contain_text("Right report")
    conflict.get_by_role("button", name="Keep mine").click()
    saved(page)
    assert scores(server, study_id)["right", "c1"] == ["3", "9"]
    assert scores(server, study_id)["left", "c1"] == ["7"]
    row(page, "Right", 1).get_by_role("radio", name="8", exact=True).click()
    saved(page)
    page.get_by_role("button", name="History (3)").click()
    expect(page.get_by_role("heading", name="History: Right report: Criterion 1")).to_be_visible()


def test_nothing_on_the_page_says_which_is_the_reference(opened: Callable[..., Any], server: Any) -> None:
    page, study_id = opened(FOUR)
    seen: list[str] = []

    def keep(reply: Any) -> None:
        if "/api/" in reply.url:
            seen.append(reply.text())

    own = set()
    with listening(page, "response", keep):
        for number in range(1, 9):  # until both kinds stood on the left: the coin falls anew in each study
            expect(page.get_by_text(f"Item {number} of 9")).to_be_visible()
            page.locator('.calipers[data-ready="true"]').wait_for()
            for key in "74859362":
                page.keyboard.press(key)
            saved(page)
            shown = page.locator(".calipers").inner_text()
            assert "Reference" not in shown
            assert not any(name in shown for name in ("alpha", "beta", "gamma"))
            with reading(server.engine) as session:
                left = (
                    select(System.is_reference)
                    .join(Report, Report.system_id == System.id)
                    .join(Item, Item.report_a_id == Report.id)
                    .join(Assignment, Assignment.item_id == Item.id)
                    .where(Assignment.study_id == study_id, Assignment.status == "taken", Assignment.left == "A")
                )
                own |= set(session.scalars(left))
            page.keyboard.press("Control+Enter")
            if own == {True, False}:
                break
        expect(page.get_by_text(f"Item {number + 1} of 9")).to_be_visible()
    said = "".join(seen).replace("preferences", "")
    assert "reference" not in said.lower()
    assert not any(name in said for name in ("alpha", "beta", "gamma"))
    pages = [json.loads(body) for body in seen if body.startswith("{") and '"beside"' in body]
    assert any((page.get("item") or page)["beside"] for page in pages)  # by itself, or with the reply to Submit
    assert own == {True, False}


def both_rows_are_on_screen_and_accessible(page: Page) -> None:
    for width, height in ((1024, 768), (1440, 757)):
        page.set_viewport_size({"width": width, "height": height})
        boxes = [box for one in page.locator(".score-row").all() if (box := one.bounding_box())]
        assert len(boxes) == 2
        assert all(box["y"] >= 0 and box["y"] + box["height"] <= height for box in boxes)
    assert violations(page) == []

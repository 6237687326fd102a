"""What a person wrote is never lost and never overwritten: the file of last resort, a second tab, another computer."""

from __future__ import annotations

import json
import re
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select, update

from annotation.offline.ballots import import_ballot
from annotation.people.principals import local_admin
from db.connect import reading, transaction
from db.people_tables import Enrollment, SignIn
from db.tables import Assignment, Study
from db.types import now
from tests.browser.conftest import EIGHT
from tests.browser.driving import answered_by_us, new_tab, ready, saved, until
from tests.small_study import SYSTEMS, TOPICS, make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DOWNLOAD = "Download my unsaved answers"
FIELDS = {
    "kind", "aid", "page", "criterion", "choice", "rationale", "evidence", "confidence", "client_uuid", "client_ts",
    "writer", "seq", "base_rev",
}  # fmt: skip


def write(page: Page, text: str, criterion: int = 1) -> None:
    page.get_by_role("button", name=f"Criterion {criterion}:").click()
    page.get_by_role("radio", name="Left").click()
    page.get_by_role("textbox", name=f"Rationale: Criterion {criterion}").fill(text)


def downloaded(page: Page) -> dict[str, Any]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=DOWNLOAD).click()
    assert re.fullmatch(r"unsaved-\d{4}-\d\d-\d\d-\d{4}\.json", waiting.value.suggested_filename)
    content: dict[str, Any] = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    return content


def brought(server: Any, study_id: int, file: dict[str, Any]) -> list[str]:
    """What became of each answer of the file when the study's admin brought it in."""
    with transaction(server.engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        outcome = import_ballot(session, admin, json.dumps(file).encode())
    return [entry.outcome for entry in outcome.entries if entry.kind == "label"]


def answers(entries: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(one["criterion"], one["choice"], one["rationale"]) for one in entries if one["kind"] == "label"]


def test_after_a_minute_offline_the_unsaved_answers_can_be_taken_as_a_file_exactly_as_they_would_be_sent(
    own_context: BrowserContext, server: Any, study_id: int
) -> None:
    page = own_context.new_page()
    page.clock.install()
    page.goto(server.link(study_id, "Ada"))
    ready(page)
    for criterion in (1, 4):  # whatever arrives begins the minute anew
        own_context.set_offline(True)
        write(page, "a reason at length", criterion)
        expect(page.get_by_text("1 unsaved").first).to_be_visible()
        page.clock.fast_forward(40_000)
        expect(page.get_by_role("button", name=DOWNLOAD)).to_be_hidden()
        own_context.set_offline(False)
        saved_by_and_by(page)
    own_context.set_offline(True)
    write(page, "typed on a train", 2)
    write(page, "in a 中文 tunnel", 3)
    expect(page.get_by_text("2 unsaved").first).to_be_visible()
    page.clock.fast_forward(59_000)
    expect(page.get_by_role("button", name=DOWNLOAD)).to_be_hidden()
    page.clock.fast_forward(2_000)
    expect(page.get_by_role("button", name=DOWNLOAD)).to_be_visible()
    file = downloaded(page)
    assert file["format"] == "calipers-ballot/1"
    assert answers(file["entries"]) == [("c2", "left", "typed on a train"), ("c3", "left", "in a 中文 tunnel")]
    labels = [one for one in file["entries"] if one["kind"] == "label"]
    assert set(labels[0]) >= FIELDS

    sent: list[dict[str, Any]] = []
    page.on("request", lambda one: sent.extend(entries_of(one)))
    own_context.set_offline(False)
    saved_by_and_by(page)
    assert labels == [one for one in sent if one["kind"] == "label"][: len(labels)]
    expect(page.get_by_role("button", name=DOWNLOAD)).to_be_hidden()
    stored = [("left", "typed on a train"), ("left", "in a 中文 tunnel")]
    assert [row[:2] for row in server.labels(study_id)][-2:] == stored
    assert brought(server, study_id, file) == ["already there", "already there"]


def saved_by_and_by(page: Page) -> None:
    """On the page's own clock: whatever tries again does so within 8 s of it, and of its next failure."""
    status = page.locator(".save")
    for _ in range(20):
        page.clock.fast_forward(9_000)
        with suppress(AssertionError):
            expect(status).to_have_text("Saved", timeout=1_000)
            break
    saved(page)


def entries_of(request: Any) -> list[dict[str, Any]]:
    return request.post_data_json["entries"] if request.url.endswith("/api/labels") else []


def test_who_is_signed_out_meanwhile_is_offered_the_file_at_once_and_it_can_be_brought_in(
    page: Page, server: Any, study_id: int
) -> None:
    write(page, "said before the door closed")
    saved(page)
    own = select(Enrollment.id).where(Enrollment.study_id == study_id)
    with transaction(server.engine) as session:
        session.execute(update(SignIn).where(SignIn.enrollment_id.in_(own)).values(revoked_at=now()))
    page.get_by_role("radio", name="Tie").click()
    expect(page.get_by_role("alert").first).to_contain_text("You are signed out")
    file = downloaded(page)
    assert answers(file["entries"]) == [("c1", "tie", "said before the door closed")]
    label = next(one for one in file["entries"] if one["kind"] == "label")
    assert brought(server, study_id, {**file, "entries": [label | {"choice": "right"}]}) == ["refused"]
    assert brought(server, study_id, file) == ["stored"]
    assert server.labels(study_id)[-1][:2] == ("tie", "said before the door closed")


def test_what_the_server_refuses_is_offered_as_a_file_at_once(page: Page) -> None:
    for criterion, status in enumerate((409, 422), 1):  # 403: tests/browser/test_blinding.py
        reply = {"code": "invalid", "text": "no"}
        answered_by_us(page, "**/api/labels", lambda route: route.fulfill(status=status, json=reply))  # noqa: B023
        write(page, "a reason of mine", criterion)
        expect(page.get_by_role("button", name=DOWNLOAD)).to_be_visible()
        assert (f"c{criterion}", "left", "a reason of mine") in answers(downloaded(page)["entries"]), status
        page.unroute("**/api/labels")
        page.reload()
        ready(page)
        saved(page)
        expect(page.get_by_role("button", name=DOWNLOAD)).to_be_hidden()


def test_a_second_tab_reads_only_until_it_takes_over_and_two_versions_of_an_answer_are_a_choice_and_not_a_rescue(
    page: Page, context: BrowserContext, elsewhere: BrowserContext, server: Any, study_id: int
) -> None:
    write(page, "from the first tab")
    saved(page)
    second = new_tab(context)
    second.goto(server.address)
    expect(second.get_by_role("button", name="Take over")).to_be_visible()
    second.get_by_role("button", name="Criterion 1:").click()
    box = second.get_by_role("textbox", name="Rationale: Criterion 1")
    expect(box).to_have_value("from the first tab")
    expect(box).not_to_be_editable()
    second.keyboard.press("2")
    second.get_by_role("button", name="Take over").click()
    expect(box).to_be_editable()
    ready(second)
    second.get_by_role("radio", name="Right").click()
    box.fill("from the second tab")
    saved(second)
    expect(page.get_by_role("button", name="Take over")).to_be_visible()
    expect(page.get_by_role("textbox", name="Rationale: Criterion 1")).not_to_be_editable()
    page.keyboard.press("3")
    assert server.labels(study_id)[-1][:2] == ("right", "from the second tab")
    assert "tie" not in [row[0] for row in server.labels(study_id)]
    two_versions_of_an_answer_are_a_choice(second, new_tab(elsewhere), server, study_id)


def two_versions_of_an_answer_are_a_choice(page: Page, there: Page, server: Any, study_id: int) -> None:
    there.goto(server.link(study_id, "Ada"))
    ready(there)
    write(page, "said here", 2)
    saved(page)
    write(there, "said there", 2)
    expect(there.get_by_text("This answer was also changed elsewhere")).to_be_visible()
    expect(there.get_by_role("button", name=DOWNLOAD)).to_be_hidden()
    assert server.labels(study_id)[-1][1] == "said here"
    there.get_by_role("button", name="Keep mine").click()
    until(lambda: server.labels(study_id)[-1][1] == "said there")


def test_item_criterion_scroll_and_text_are_where_they_were_left_after_a_reload_and_on_another_computer(
    context: BrowserContext, elsewhere: BrowserContext, server: Any, tmp_path: Path
) -> None:
    for system in SYSTEMS:
        (tmp_path / system).mkdir()
        for topic in TOPICS:
            lines = "\n\n".join(f"Sentence {n} on {topic} is long enough to fill a line or two." for n in range(200))
            (tmp_path / system / f"{topic}.md").write_text(f"# {topic}\n\n{lines}\n", encoding="utf-8")
    study_id = make_study(server.engine, tmp_path, overlap=2, protocol=EIGHT, name=uuid.uuid4().hex)
    page = new_tab(context)
    page.goto(server.link(study_id, "Ada"))
    page.get_by_role("radio", name="Left").wait_for()
    write(page, "half a thought", 6)
    for side, share in (("Left", 0.7), ("Right", 0.3)):
        page.get_by_role("region", name=f"{side} report").evaluate(
            "(pane, share) => { pane.scrollTop = share * (pane.scrollHeight - pane.clientHeight) }", share
        )
    saved(page)
    place_stored(page, server, study_id)
    page.reload()
    left_there(page)
    back = new_tab(elsewhere)
    back.set_viewport_size({"width": 1024, "height": 768})
    back.goto(server.link(study_id, "Ada"))
    left_there(back)


def left_there(page: Page) -> None:
    expect(page.get_by_role("textbox", name="Rationale: Criterion 6")).to_have_value("half a thought")
    expect(page.locator("dialog.calipers")).to_have_attribute("data-ready", "true")
    for side, share in (("Left", 0.7), ("Right", 0.3)):
        found = page.get_by_role("region", name=f"{side} report").evaluate(
            "pane => pane.scrollTop / (pane.scrollHeight - pane.clientHeight)"
        )
        assert found == pytest.approx(share, abs=0.02)


def place_stored(page: Page, server: Any, study_id: int) -> None:
    """Scrolling is sent two seconds later; asking the page to wait lets it."""

    def left() -> float:
        page.wait_for_timeout(100)
        with reading(server.engine) as session:
            mine = session.scalars(
                select(Assignment).where(Assignment.study_id == study_id, Assignment.status == "taken")
            ).one()
            return float(mine.place.get("left", 0))

    until(lambda: left() > 0.6)

"""In by a lab's own provider, and from a crowd platform and back to it, in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from annotation.labelling import submit
from annotation.people.links import invite, open_link
from annotation.people.platforms import link_for, to_paste
from annotation.people.principals import Principal, local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import transaction
from db.people_tables import Enrollment
from db.tables import Study
from tests.browser.conftest import Server
from tests.browser.driving import new_tab
from tests.browser.test_accessibility import violations
from tests.oidc_provider import SECRET, provider
from tests.small_study import answer_all, make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AT_PROLIFIC = "https://app.prolific.com/submissions/complete?cc="


def test_who_is_done_goes_back_to_the_platform_by_a_button(
    server: Server, study_id: int, context: BrowserContext
) -> None:
    with transaction(server.engine) as session:
        token = open_link(
            session, local_admin(session.get_one(Study, study_id)), 3, 1, "prolific", {"completed": "DONE1"}
        )
    page = new_tab(context)
    page.goto(f"{server.address}/invite/{token}?PROLIFIC_PID=5f3c9d&STUDY_ID=s&SESSION_ID=77aa")
    expect(page.get_by_role("radio").first).to_be_visible()
    with transaction(server.engine) as session:
        came = (Enrollment.study_id == study_id, Enrollment.participant_sha256.is_not(None))
        person = session.scalars(select(Enrollment).where(*came)).one()
        who = Principal(study_id, "annotator", person.rater_id, person.id)
        mine = take(session, who)
        assert mine is not None
        shown = assignment_page(session, who, mine.aid)
        submit(session, who, mine.aid, shown["page"], f"submit-{mine.aid}", answer_all(session, who, mine.aid))
    page.reload()
    back = page.get_by_role("link", name="Back to the platform")
    expect(back).to_be_visible()
    page.goto(f"{server.address}/my_work")
    expect(page.get_by_role("link", name="Back to the platform")).to_be_visible()
    assert violations(page) == []
    # asked for, not loaded: what a redirect leads to cannot be answered in the platform's place
    with page.expect_request(f"{AT_PROLIFIC}DONE1") as asked:
        page.get_by_role("link", name="Back to the platform").click(no_wait_after=True)
    assert asked.value.is_navigation_request()
    assert "referer" not in asked.value.headers


def test_mturks_layout_opens_the_study_in_a_tab_of_its_own_and_no_frame_shows_it(
    server: Server, study_id: int, context: BrowserContext
) -> None:
    with transaction(server.engine) as session:
        token = open_link(session, local_admin(session.get_one(Study, study_id)), 3, 1, "mturk")
    ((_, layout),) = to_paste("mturk", link_for("mturk", f"{server.address}/invite/{token}"))
    page = new_tab(context)
    came = "assignmentId=A1&hitId=H1&workerId=W1&turkSubmitTo=https://www.mturk.com/"
    framed = f"{server.address}/invite/{token}?{came}"
    shown = {  # as the worker's page holds a layout's frame, whose address says who came
        "https://worker.example/": f'<iframe src="https://layout.example/?{came}"></iframe><iframe src="{framed}">',
        f"https://layout.example/?{came}": layout,
    }
    page.route(
        re.compile(r"https://"),
        lambda route: (
            route.fulfill(body=shown[route.request.url], content_type="text/html")
            if route.request.url in shown
            else route.abort()
        ),
    )
    page.goto("https://worker.example/")
    with page.expect_popup() as opened:
        page.frame_locator("iframe").first.get_by_role("link", name="Open the study in a tab of its own").click()
    expect(opened.value.get_by_role("radio").first).to_be_visible()
    with transaction(server.engine) as session:
        came_by_it = Enrollment.study_id == study_id, Enrollment.open_link_id.is_not(None)
        assert session.scalars(select(Enrollment).where(*came_by_it)).one()
    expect(page.frame_locator("iframe").nth(1).get_by_role("radio")).to_have_count(0)


def test_a_button_signs_in_with_the_labs_own_provider(tmp_path: Path, context: BrowserContext) -> None:
    with provider("lab") as lab:
        lab.claims = {"email": "eva@lab.example", "email_verified": True}
        server = Server(tmp_path, settings={"HOME": str(tmp_path)})
        study_id = make_study(server.engine, tmp_path / "reports")
        with transaction(server.engine) as session:
            invite(session, local_admin(session.get_one(Study, study_id)), "eva@lab.example", "annotator")
        lab.registered.append(f"{server.address}/oauth2callback")
        (tmp_path / ".streamlit").mkdir()
        (tmp_path / ".streamlit" / "secrets.toml").write_text(
            f'[auth]\nredirect_uri = "{server.address}/oauth2callback"\ncookie_secret = "{"0123456789abcdef" * 2}"\n'
            f'client_id = "calipers"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{lab.issuer}/.well-known/openid-configuration"\n'
        )
        server.start()
        try:
            page: Page = new_tab(context)
            page.goto(server.address)
            button = page.get_by_role("button", name="Sign in")
            expect(button).to_be_visible()
            button.click()
            expect(page.get_by_role("radio").first).to_be_visible()
            assert {cookie["name"] for cookie in context.cookies()} >= {"calipers"}
            assert not any(cookie["name"].startswith("_streamlit_user") for cookie in context.cookies())
        finally:
            server.stop()

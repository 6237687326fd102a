"""A lab's study without a terminal: made, filled, planned, labelled, judged, exported and closed in Chromium.

What the lab's machine runs beside the server is a judge worker, which holds the keys.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from annotation.studies import init_study
from db.connect import reading, transaction
from db.tables import Event, Study
from tests.browser.conftest import Server
from tests.browser.driving import PATIENCE, ready
from tests.browser.test_accessibility import AT_REST, violations
from tests.browser.test_judge_screens import choose
from tests.small_study import PROTOCOL

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ONE_QUESTION = """
format = "calipers-protocol/1"
name = "solar"
title = "Which report is better?"
task_type = "pairwise_choice"
task = "Which report is better?"

[answers]
allow_tie = true
[study]
topic_once = false
overlap = 2
retest_share = 0.0
pay = {rate = 15.0, currency = "EUR"}
[[criterion]]
id = "better"
label = "Better"
text = "Which one would you rather have?"
"""
TOPICS, SYSTEMS, ITEMS = 12, ("ash", "birch", "cedar"), 12


def reports(folder: Path) -> Path:
    for number in range(TOPICS):
        for words, system in enumerate(SYSTEMS, start=30):
            file = folder / system / f"topic_{number:02d}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Topic {number}\n\n" + f"What is known about case {number}. " * words)
    rows = (f"topic_{number:02d},Topic {number},What is known about case {number}?" for number in range(TOPICS))
    (folder / "topics.csv").write_text("\n".join(["topic,title,prompt", *rows]))
    return folder


def pressed(page: Page, name: str) -> None:
    page.wait_for_function(AT_REST)
    page.get_by_role("button", name=name, exact=True).click()


@contextmanager
def running(*words: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A program of the lab's machine, beside the server, until the block ends."""
    process = subprocess.Popen([sys.executable, *words], env=os.environ | settings, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)


def judged(page: Page, server: Server, provider: str) -> None:
    """A judge is described, its price and its prompt are looked at, and it is asked for."""
    page.goto(f"{server.address}/judges")
    expect(
        page.get_by_label("Judges, as TOML")
    ).to_be_visible()  # litellm's list is read first, by a process of its own
    page.wait_for_function(AT_REST)
    judge = f'model = "openai/fake-acc-0.85"\napi_base = "{provider}"\napi_key_env = "FAKE_API_KEY"\nmax_cost = 1.0\n'
    page.get_by_label("Judges, as TOML").fill(
        f'[[judge]]\nname = "fake"\n{judge}price = {{input = 1.0, output = 2.0}}\n'
    )
    page.get_by_label("Budget, USD").focus()
    pressed(page, "Keep these judges")
    choose(page, "Read what it would be asked", "fake", "some ")
    expect(page.get_by_text("What is known about case").first).to_be_visible()
    pressed(page, "Estimate")
    expect(page.get_by_text("of the USD 1.00 it may cost")).to_be_visible()
    assert violations(page) == []
    pressed(page, f"Ask for these {2 * ITEMS} calls")
    expect(page.get_by_text("It is asked for.")).to_be_visible()


def labelled(browser: Browser, link: str) -> None:
    """Everything that this person is given, the left report always."""
    context = browser.new_context()
    context.set_default_timeout(1_000 * PATIENCE)
    page = context.new_page()
    page.goto(link)
    for number in range(1, ITEMS + 1):
        expect(page.locator(".position")).to_have_text(f"Item {number} of {ITEMS}")
        ready(page)
        page.keyboard.press("1")
        page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("All done")).to_be_visible()
    context.close()


def test_a_study_is_made_labelled_exported_and_closed_without_a_terminal(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    with transaction(server.engine) as session:
        first = init_study(session, f"first-{server.port}", PROTOCOL, 7).id  # the lab's one command, with its link
    context = browser.new_context(accept_downloads=True)
    context.set_default_timeout(1_000 * PATIENCE)
    page = context.new_page()
    page.goto(server.link(first, "Olga", "admin"))
    page.goto(f"{server.address}/studies")
    page.get_by_label("Name, as commands and files have it").fill("solar")
    page.get_by_text("The same as TOML").click()
    page.get_by_label("Protocol, as TOML").fill(ONE_QUESTION)
    page.get_by_label("Seed of every draw").focus()
    tried = page.frame_locator("iframe")
    expect(tried.get_by_text("Which one would you rather have?").first).to_be_visible()
    question = page.get_by_label("Question", exact=True).last
    question.fill("Which one would you keep?")
    question.press("Tab")
    expect(tried.get_by_text("Which one would you keep?").first).to_be_visible()
    assert page.evaluate("document.activeElement.tagName") != "IFRAME", "who writes keeps the focus"
    expect(tried.locator("html")).not_to_have_attribute("inert", "")
    tried.get_by_role("radio", name="Left").click()
    expect(tried.get_by_text("1/1 answered")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('calipers:')).length") == 0
    pressed(page, "Make it")
    expect(page.get_by_text("Copy your link to it now")).to_be_visible()
    page.get_by_role("button", name="Go there").first.click()
    expect(page.get_by_text("Copy your link to it now")).to_be_hidden()
    expect(page.get_by_text("1 of 6 steps to an open study is done")).to_be_visible()
    assert violations(page) == []
    page.locator("input[type=file]").last.set_input_files(reports(tmp_path / "my_reports"))
    pressed(page, "Bring them in")
    expect(page.get_by_text("36 reports on 12 topics", exact=True)).to_be_visible()
    page.get_by_label("Items in all").fill(f"{ITEMS}")
    pressed(page, "Look at the plan")
    expect(page.get_by_text("about 0.")).to_be_visible()  # hours
    pressed(page, f"Make these {2 * ITEMS} slots")
    page.get_by_label("Names, one a line").fill("Ada\nBen")
    pressed(page, "Make links")
    expect(page.locator(".p-links code")).to_have_count(2)
    links = page.locator(".p-links code").all_inner_texts()
    pressed(page, "Open the study")
    expect(page.get_by_text("The study is open: work is given out.")).to_be_visible()
    assert violations(page) == []
    fake = str(Path(__file__).resolve().parents[1] / "fake_llm.py")
    with running(fake, "--port", "0", "--latency-ms", "20") as provider:
        assert provider.stdout is not None
        address = provider.stdout.readline().split()[1]
        judged(page, server, address)
        told = page.get_by_text("calipers judge resume solar").first.inner_text()  # the command as the page says it
        assert address in told
        with running("-m", "app.command_line", *told.split()[1:], CALIPERS_DATABASE_URL=server.url, FAKE_API_KEY="x"):
            for link in links:
                labelled(browser, link)
            expect(page.get_by_text(f"{2 * ITEMS} of {2 * ITEMS}").first).to_be_visible()  # with nothing pressed
    page.goto(f"{server.address}/set_up")
    pressed(page, "Close …")
    pressed(page, "Close the study")
    expect(page.get_by_role("button", name="Lock the study")).to_be_hidden()
    expect(page.get_by_text("The study is closed")).to_be_visible()
    page.goto(f"{server.address}/agreement")
    expect(page.get_by_text("Cohen").first).to_be_visible()
    page.goto(f"{server.address}/paper")
    pressed(page, "Make the dataset")
    expect(page.get_by_role("button", name="Download the dataset")).to_be_visible()
    page.wait_for_function(AT_REST)
    with page.expect_download() as got:
        page.get_by_role("button", name="Download the dataset").click()
    with ZipFile(got.value.path()) as archive:
        assert archive.read("labels.csv").count(b"\n") == 1 + 4 * ITEMS  # two people, and a judge in both orders
    context.close()
    with reading(server.engine) as session:
        solar = session.scalars(select(Study).where(Study.name == "solar")).one()
        acts = session.execute(
            select(Event.what).where(Event.study_id == solar.id, Event.kind == "audit", Event.rater_id.is_not(None))
        ).scalars()
        assert {"init", "import", "pairs", "invite", "status", "export"} <= set(acts)

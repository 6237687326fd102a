"""A packet opened from disk: no network, nothing lost, and the same verdicts as the same answers given online."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from sqlalchemy import Engine

from annotation.labelling import save, submit
from annotation.labels.evidence import plain_text
from annotation.offline.ballot_format import find_signer
from annotation.offline.ballots import import_ballot
from annotation.offline.packets import PacketFile, reserve_packet
from annotation.people.principals import local_admin
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.page import assignment_page, own_assignment, shown_reports
from app.component import packet_html
from db.connect import open_database, reading, transaction
from db.migrations import upgrade
from db.tables import Study
from tests.browser.blinded import SYSTEMS as BLIND_SYSTEMS
from tests.browser.blinded import blind_study
from tests.browser.driving import THIRTY_NINE, box_of, new_tab, ready, until
from tests.browser.test_accessibility import violations
from tests.small_study import a_person, answer, make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PROTOCOL = THIRTY_NINE.replace("topic_once = true", "topic_once = false")
TOPICS = tuple(f"topic-{number}" for number in range(5))
HOSTILE = "`</script><script>alert(1)</script>` and `<!-- <script>` and `]]>` and `&lt;` stand here, 中文 too"
# one item by its keys, in one go: choose, say why, go on; the last of them hands the item in
FILL = """([answers]) => {
    const root = document.querySelector('.calipers');
    const press = (key, held = {}) => (document.activeElement ?? root).dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true, ...held }));
    for (const [key, why] of answers) {
        root.focus();
        press(key);
        document.execCommand('insertText', false, why);
        press('Enter', { ctrlKey: true });
    }
}"""
PERSON = "zperson-ulmar"
FIELDS = ('"purpose"', '"pass_no"', '"gold"', '"system":', '"left":"A"', '"left":"B"')  # no browser sees
CHOICES = ("left", "right", "not_applicable")


@dataclass
class AtHome:
    engine: Engine
    study_id: int
    made: PacketFile
    file: Path

    def bring(self, ballot: bytes) -> Any:
        with transaction(self.engine) as session:
            return import_ballot(session, local_admin(session.get_one(Study, self.study_id)), ballot)

    def verdicts(self) -> list[tuple[Any, ...]]:
        with reading(self.engine) as session:
            table = load_verdicts(session, session.get_one(Study, self.study_id))
        return list(table.drop(columns=["seconds", "cost_usd"]).itertuples(index=False, name=None))


def study_at_home(folder: Path, reports: Path) -> tuple[Engine, int]:
    upgrade(f"sqlite:///{folder}/calipers.db")
    engine = open_database(f"sqlite:///{folder}/calipers.db")
    return engine, make_study(engine, reports, protocol=PROTOCOL)


def packet_in(folder: Path, engine: Engine, study_id: int, items: int, name: str = "Ada") -> AtHome:
    with transaction(engine) as session:
        a_person(session, study_id, name)
        made = reserve_packet(session, local_admin(session.get_one(Study, study_id)), name, items)
    file = folder / "packet.html"
    file.write_text(packet_html(made), encoding="utf-8")
    return AtHome(engine, study_id, made, file)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for number, system in enumerate(("alpha", "beta")):
        (folder / system).mkdir()
        for topic in TOPICS:
            lines = "\n\n".join(
                f"Sentence {n} of manner {number} on {topic} fills a line or two here." for n in range(60)
            )
            (folder / system / f"{topic}.md").write_text(f"# {topic}\n\n{HOSTILE}\n\n{lines}\n", encoding="utf-8")
    return folder


@pytest.fixture
def at_home(tmp_path: Path, reports: Path) -> Iterator[AtHome]:
    engine, study_id = study_at_home(tmp_path, reports)
    yield packet_in(tmp_path, engine, study_id, 5)
    engine.dispose()


@pytest.fixture
def offline(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1440, "height": 757}, accept_downloads=True)
    context.set_default_timeout(20_000)
    context.set_offline(True)
    yield context
    context.close()


def opened(context: BrowserContext, file: Path) -> tuple[Page, list[str]]:
    page = new_tab(context)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.on("pageerror", lambda error: asked.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(file.as_uri())
    return page, asked


def save_ballot(page: Page) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save ballot").first.click()
    assert re.fullmatch(r"ballot-[0-9a-f]{8}-\d{4}-\d\d-\d\d-\d{4}\.json", waiting.value.suggested_filename)
    return Path(waiting.value.path()).read_bytes()


def answers_of(page: dict[str, Any]) -> list[tuple[str, str]]:
    """What Ada says of this item, read from the item itself so that both studies ask the same of her."""
    said = []
    for number, criterion in enumerate(page["criteria"]):
        draw = sha256(f"{page['topic']['title']} {criterion['id']}".encode()).digest()[0] % 3
        said.append((CHOICES[draw], f"Reason {number} über {page['topic']['title']}, 10 or more letters"))
    return said


def fill(page: Page, said: list[tuple[str, str]]) -> None:
    page.evaluate(FILL, [[(str(CHOICES.index(choice) + 1), why) for choice, why in said]])


def same_online(folder: Path, reports: Path) -> list[tuple[Any, ...]]:
    """The verdicts of a twin study whose annotator gives the same answers through the server."""
    engine, study_id = study_at_home(folder, reports)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        assignment = take(session, ada)
        while assignment is not None and assignment.status == "taken":
            page = assignment_page(session, ada, assignment.aid)
            entries = [
                answer(page, criterion["id"], choice, rationale=why)
                for criterion, (choice, why) in zip(page["criteria"], answers_of(page), strict=True)
            ]
            saved = save(session, ada, entries)
            assert saved.refused == []
            revs = {criterion["id"]: 1 for criterion in page["criteria"]}
            submit(session, ada, assignment.aid, page["page"], f"submit-{assignment.aid}", revs)
            assignment = take(session, ada)
    found = AtHome(engine, study_id, None, folder).verdicts()  # type: ignore[arg-type]
    engine.dispose()
    return found


def is_scrolled(pane: Locator, share: float) -> None:
    """Waits until this share of the pane's way lies above."""
    above = "pane => pane.scrollTop / (pane.scrollHeight - pane.clientHeight)"
    until(lambda: pane.evaluate(above) == pytest.approx(share, abs=0.02))


def test_five_pairs_with_39_criteria_done_without_a_network_give_the_verdicts_of_the_same_answers_online(
    at_home: AtHome, offline: BrowserContext, reports: Path, tmp_path: Path
) -> None:
    page, asked = opened(offline, at_home.file)
    page.get_by_role("button", name="Begin").click()
    for number, item in enumerate(at_home.made.data["items"], 1):
        expect(page.locator(".position")).to_have_text(f"Item {number} of 5")
        ready(page)
        said = answers_of(item)
        if number == 4:  # in the middle of an item: everything is there again, at the same place
            fill(page, said[:20])
            region = page.get_by_role("region", name="Left report")
            region.evaluate("pane => { pane.scrollTop = 0.6 * (pane.scrollHeight - pane.clientHeight) }")
            expect(page.locator(".scrolled").first).to_have_attribute("style", re.compile("(59|60)[.]"))  # it was heard
            page.keyboard.insert_text("half a thought")
            page.reload()
            ready(page)
            expect(page.locator(".position")).to_have_text("Item 4 of 5")
            expect(page.locator(".where")).to_contain_text("21 of 39")
            expect(page.get_by_text("20/39 answered")).to_be_visible()
            is_scrolled(region, 0.6)
            said = said[20:]
        fill(page, said)
    expect(page.get_by_text("All done: 5 items.")).to_be_visible()
    ballot = save_ballot(page)
    expect(page.get_by_text("Ballot saved")).to_be_visible()
    assert asked == [at_home.file.as_uri()] * 2, "the file itself, twice, and nothing else"
    kept = page.evaluate("() => JSON.stringify({...localStorage})")
    assert "Sentence 1 of manner" not in kept, "texts are never kept there"

    outcome = at_home.bring(ballot)
    work = [entry for entry in outcome.entries if entry.kind in ("label", "submit")]
    assert {entry.outcome for entry in outcome.entries} == {"stored"}
    assert len(work) == 200
    assert len(outcome.handed_in) == 5
    (tmp_path / "twin").mkdir()
    online = same_online(tmp_path / "twin", reports)
    assert len(online) == 195
    assert at_home.verdicts() == online


def test_reports_stand_in_a_packet_as_they_are_whatever_they_hold_and_everybody_can_read_them(
    at_home: AtHome, offline: BrowserContext
) -> None:
    page, asked = opened(offline, at_home.file)
    assert violations(page) == []
    page.get_by_role("button", name="Begin").click()
    ready(page)
    shown = page.locator(".report").evaluate_all("panes => panes.map(pane => pane.textContent)")
    with reading(at_home.engine) as session:
        study = session.get_one(Study, at_home.study_id)
        ada = find_signer(session, study, at_home.made.packet_id).rater
        first = own_assignment(session, ada, at_home.made.data["items"][0]["aid"])
        texts = shown_reports(session, first)
        assert shown == [plain_text(text.shown_text) for text in (texts.left, texts.right) if text]
    assert "</script><script>alert(1)</script>" in shown[0]
    assert "<!-- <script>" in shown[0]
    assert "]]>" in shown[0]
    assert asked == [at_home.file.as_uri()]
    assert violations(page) == []
    with page.expect_event("requestfailed") as refused:
        page.evaluate("() => document.body.append(Object.assign(new Image(), {src: 'https://example.org/x'}))")
    assert refused.value.failure == "csp", "whatever asked for more would be refused"
    assert page.evaluate("() => fetch('https://example.org/y').then(() => 'came', () => 'refused')") == "refused"
    assert sum("Content Security Policy" in said for said in asked) >= 2


def test_a_ballot_goes_on_elsewhere_and_says_when_it_is_needed(
    at_home: AtHome, offline: BrowserContext, browser: Browser, tmp_path: Path
) -> None:
    page, _ = opened(offline, at_home.file)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    expect(page.get_by_text("No ballot saved yet")).to_have_count(0)
    fill(page, answers_of(at_home.made.data["items"][0])[:3])
    expect(page.get_by_text("No ballot saved yet")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert").first).to_contain_text("36 criteria need an answer.")
    page.get_by_role("button", name="Item 3:").click()
    expect(page.locator(".position")).to_have_text("Item 3 of 5")
    ready(page)
    page.keyboard.press("m")
    page.get_by_role("textbox", name="Comment").fill("said at home")
    page.get_by_role("button", name="Send comment").click()
    page.keyboard.press("2")
    box_of(page).fill("typed and not left")
    first = tmp_path / "first.json"
    first.write_bytes(save_ballot(page))
    labels = [entry for entry in json.loads(first.read_bytes())["entries"] if entry["kind"] == "label"]
    assert len(labels) == 4
    assert labels[-1]["rationale"] == "typed and not left"
    box_of(page).fill("typed later, here only")
    expect(page.get_by_text("Ballot older than your last change")).to_be_visible()
    asked_to_stay: list[str] = []
    page.on("dialog", lambda dialog: asked_to_stay.append(dialog.type))
    page.close(run_before_unload=True)
    page.wait_for_event("close")
    assert asked_to_stay == ["beforeunload"]

    elsewhere = browser.new_context(viewport={"width": 1024, "height": 768})
    elsewhere.set_default_timeout(20_000)
    there, _ = opened(elsewhere, at_home.file)
    there.get_by_label("Packet").locator("input[type=file]").set_input_files(first)
    expect(there.get_by_text("entries taken over")).to_be_visible()
    there.get_by_role("button", name="Item 3:").click()
    ready(there)
    expect(box_of(there)).to_have_value("typed and not left")
    box_of(there).fill("typed there, later still")
    second = save_ballot(there)
    forged = tmp_path / "forged.json"
    forged.write_bytes(second.replace(b"later still", b"later STILL"))
    there.get_by_label("Packet").locator("input[type=file]").set_input_files(forged)
    expect(there.get_by_text("changed since it was saved")).to_be_visible()
    there.get_by_role("button", name="Close").click()
    elsewhere.close()

    assert [at_home.bring(first.read_bytes()).count("stored") >= 5] == [True]
    later = at_home.bring(second)
    changed = [entry for entry in later.entries if entry.kind == "label" and entry.outcome == "stored"]
    assert [entry.criterion for entry in changed] == [at_home.made.data["items"][2]["criteria"][0]["id"]]
    assert later.count("refused") == later.count("stale") == 0


def test_nothing_in_a_packet_or_its_ballot_says_whose_the_reports_are(offline: BrowserContext, tmp_path: Path) -> None:
    class Files:
        """What `blind_study` needs of a server."""

        engine: Engine

        def link(self, study_id: int, name: str) -> str:
            return ""

    upgrade(f"sqlite:///{tmp_path}/calipers.db")
    files = Files()
    files.engine = open_database(f"sqlite:///{tmp_path}/calipers.db")
    (tmp_path / "zpath-hovel").mkdir()
    blind = blind_study(files, tmp_path / "zpath-hovel")
    home = packet_in(tmp_path, files.engine, blind.study_id, 3, PERSON)
    page, _ = opened(offline, home.file)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    fill(page, [("left", "says so"), ("right", "says so")])
    expect(page.locator(".position")).to_have_text("Item 2 of 3")
    ready(page)
    page.keyboard.press("1")
    ballot = save_ballot(page).decode()
    kept = page.evaluate("() => JSON.stringify({...localStorage})")
    packet = home.file.read_text(encoding="utf-8")
    hidden = {*blind.sentinels, PERSON, "annotator-01", "zstudy-", *FIELDS}
    for text in (packet, ballot, kept):
        assert {one for one in hidden if one.casefold() in text.casefold()} == set()
    constant = words_of(packet.split('id="packet">')[1]) & words_of(ballot)
    aids = {item["aid"] for item in home.made.data["items"]} | {item["page"] for item in home.made.data["items"]}
    assert constant <= aids | {home.made.packet_id, home.made.sha256}, "no hash is shared but those of this packet"

    leak = dict(home.made.data["items"][0]["topic"]) | {"system": next(iter(BLIND_SYSTEMS))}
    home.made.data["items"][0]["topic"] = leak
    leaking = packet_html(home.made)
    assert {one for one in hidden if one.casefold() in leaking.casefold()} == {next(iter(BLIND_SYSTEMS)), '"system":'}
    files.engine.dispose()


def words_of(text: str) -> set[str]:
    """Everything that looks like an id or a hash."""
    return set(re.findall(r"[0-9a-f]{32,64}", text))


def test_what_local_storage_lost_with_a_killed_browser_is_there_again_and_no_ballot_is_said_to_hold_it(
    at_home: AtHome, offline: BrowserContext
) -> None:
    page, _ = opened(offline, at_home.file)
    page.get_by_role("button", name="Begin").click()
    ready(page)
    fill(page, answers_of(at_home.made.data["items"][0])[:3])
    save_ballot(page)
    before = page.evaluate("() => JSON.stringify({...localStorage})")
    page.keyboard.press("2")
    box_of(page).fill("typed just before")
    until(
        lambda: page.evaluate(
            "() => Object.entries(localStorage).some(([key, text]) => key.includes(':kept:') && text.includes('just before'))"
        )
    )
    page.evaluate(
        "(kept) => { localStorage.clear(); for (const [key, text] of Object.entries(JSON.parse(kept))) localStorage.setItem(key, text); }",
        before,
    )
    page.reload()
    ready(page)
    expect(box_of(page)).to_have_value("typed just before")
    expect(page.get_by_text("Ballot older than your last change")).to_be_visible()
    assert "typed just before" in save_ballot(page).decode()

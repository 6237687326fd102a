"""How many annotators at once one machine serves: `python benchmarks/crowds.py [--seconds 8] [--most 640] [--docs]`.

One process on SQLite, then two and four on one Postgres behind nginx, with annotators, proxy and database on the same
machine. A crowd grows step by step, each with a page open (Streamlit has run it once, its websocket stays) and a label
a second, until a save takes over 250 ms or the next pair over 1 s (p95). Told of each step: labels a second, both
waits, and which part computed how much. `--docs` writes table and figure into docs/deployment. Exit 1 where anything
was refused, lost or doubled, or fewer were served than promised.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import math
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp
import psutil
import sqlalchemy as sa
from streamlit.proto import BackMsg_pb2, ForwardMsg_pb2

from benchmarks.__main__ import machine
from benchmarks.annotate import CRITERIA, QUESTIONS, percentiles, written
from benchmarks.load import cpu_seconds, memory_of, serving
from benchmarks.promises import Figure, record
from db.connect import reading
from exports.figures import FORMATS
from exports.plots.theme import FULL_PAGE, INK_SOFT, OKABE_ITO, TEXT, themed
from tests.annotators import Annotator, Tally, sign_in
from tests.browser.conftest import Server
from tests.small_study import make_study

SETTINGS = {
    "one process, SQLite": ("sqlite", 1), "two, Postgres": ("postgres", 2), "four, Postgres": ("postgres", 4)
}  # fmt: skip
STEPS = (40, 80, 120, 160, 200, 240, 280, 320, 360, 400, 480, 560, 640)
PAUSE_S = 1.0
SAVE_MS, NEXT_MS = 250.0, 1_000.0
WAITS = {"save": "save, ms (p95)", "following": "next pair, ms (p95)"}
HELD_MIN = 80  # annotators with a label a second each, on two cores that serve and ask
AT_ONCE = 8  # who come at the same time
COME_S, UNTIL_S = 300.0, 60.0  # to come, all that a step adds; and on top of a step's seconds, to its first hand-in
PAGE, DRAWN = ROOT / "docs" / "deployment.md", "deployment/crowds.svg"
BEGINS, ENDS = "<!-- written by benchmarks/crowds.py --docs -->\n", "<!-- so far -->\n"
PLANNED = "<!-- a plan by benchmarks/crowds.py --docs -->\n"
PEOPLE, LABELS = 10_000, 100_000_000  # planned for
SHARE, EVERY_S, COME_IN_S, FULL = 0.5, 10.0, 600.0, 0.6  # at work at once; a label each; all of them come; cores in use
EACH, REPORT_KB, NEXT_KB, LOADS, FIRST_MB = 3, 28, 38, 20, 1.3  # people an item; sizes by benchmarks/annotate.py
USD = {
    "core": 30,
    "core of Postgres": 90,
    "GB kept": 0.2,
    "GB sent": 0.1,
}  # a month, in their order of magnitude


@dataclass(frozen=True)
class Step:
    """What `people` at once saw, and the processors that each part kept busy meanwhile."""

    people: int
    labels: float  # a second
    save: float  # ms, p95
    following: float
    cores: Mapping[str, float]

    @property
    def is_held(self) -> bool:
        """Whether neither wait is too long, nor without a value."""
        return not self.missed

    @property
    def missed(self) -> str:
        """Why this crowd was not served in time; empty where it was."""
        waits = (("save", self.save, SAVE_MS), ("next pair", self.following, NEXT_MS))
        none = f"none within {UNTIL_S:.0f} s more than was asked for"
        return "; ".join(
            f"{what}: {none if math.isnan(ms) else f'over {most:.0f} ms'}" for what, ms, most in waits if not ms <= most
        )


@dataclass(frozen=True)
class Curve:
    """The steps of one setting; what was refused, given up, lost or doubled in all of them, and what it takes."""

    name: str
    steps: Sequence[Step]
    broken: Mapping[str, int]
    came_ms: float  # CPU of the app for each of the first who came: signed in, page run, item taken and read
    page_mb: float  # what its memory grew by for each of the last
    stored_kb: float  # a label, with its item's events and answers amid

    @property
    def held(self) -> Step:
        """The largest crowd that was served in time; nobody, where the first was too many."""
        return max((step for step in self.steps if step.is_held), key=lambda step: step.people, default=NOBODY)


CROWD = "annotators"
BESIDE = os.getloadavg()[0]  # processors that others want, when this begins
NOBODY = Step(0, math.nan, math.nan, math.nan, {})


class Visitor(Annotator):
    """An annotator with an open page: Streamlit has run it once, and its websocket stays."""

    async def come(self) -> None:
        """Load the page, take an item and begin it somewhere."""
        address = f"{self.address}/_stcore/stream"
        asked = BackMsg_pb2.BackMsg()
        asked.rerun_script.query_string = ""
        self.socket = await self.http.ws_connect(address, headers=self.headers, protocols=["streamlit"], max_msg_size=0)
        await self.socket.send_bytes(asked.SerializeToString())
        told = ""
        while told != "script_finished":
            told = ForwardMsg_pb2.ForwardMsg.FromString(await self.socket.receive_bytes()).WhichOneof("type")
        await self.open(0, amid=True)


def main() -> int:
    """Print every step and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--most", type=int, default=STEPS[-1], help="annotators at once")
    parser.add_argument("--docs", action="store_true", help="write table and figure into docs/deployment.md")
    asked = parser.parse_args()
    steps = [people for people in STEPS if people <= asked.most] or [asked.most]
    curves = []
    for name, (kind, processes) in SETTINGS.items():
        with tempfile.TemporaryDirectory() as folder, serving(kind, Path(folder), processes) as (server, postgres):
            reports = written(Path(folder) / "reports", topics=6)
            study = make_study(server.engine, reports, overlap=48, protocol=QUESTIONS, compared=True)
            curves.append(asyncio.run(grown(name, server, postgres, study, steps, asked.seconds)))
    figures = [figure for curve in curves for figure in figures_of(curve)]
    for figure in figures:
        print(figure, flush=True)
    record(figures)
    if asked.docs:
        write(curves)
    return int(not all(figure.kept for figure in figures))


async def grown(
    name: str, server: Server, postgres: psutil.Process | None, study: int, steps: Sequence[int], seconds: float
) -> Curve:
    """More come until some wait too long; those who are there work on."""
    tally, before, room = Tally(), stored_bytes(server), asyncio.Semaphore(AT_ONCE)
    found: list[Step] = []
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as http:

        async def come(link: str) -> Visitor:
            async with room:
                person = Visitor(http, server.address, await sign_in(link), tally)
                await person.come()
            return person

        crowd: list[Visitor] = []
        at_work: list[asyncio.Task[None]] = []
        alone = busy(server, postgres)["app"], memory(server)
        came_ms = page_mb = math.nan
        for already, people in pairwise((0, *steps)):
            links = [server.link(study, f"Person {number}") for number in range(already, people)]
            try:
                async with asyncio.timeout(COME_S):
                    coming = await asyncio.gather(*map(come, links))
            except TimeoutError:
                print(f"{name}: {people} annotators: not all had come after {COME_S:.0f} s", flush=True)
                break
            if not crowd:
                came_ms = 1e3 * (busy(server, postgres)["app"] - alone[0]) / people
            crowd += coming
            at_work += [asyncio.create_task(person.work(PAUSE_S, math.inf)) for person in coming]
            await asyncio.sleep(PAUSE_S)
            tally.saves.clear()
            tally.nexts.clear()
            spent, started = busy(server, postgres), time.monotonic()
            await asyncio.sleep(seconds)
            while not (tally.saves and tally.nexts) and time.monotonic() < started + seconds + UNTIL_S:
                await asyncio.sleep(0.05)  # a short step, or a small crowd: a wait nobody had has no percentile
            took = time.monotonic() - started
            cores = {part: (cpu - spent[part]) / took for part, cpu in busy(server, postgres).items()}
            waits = percentiles(tally.saves)[1], percentiles(tally.nexts)[1]
            page_mb = (memory(server) - alone[1]) / people
            found.append(Step(people, len(tally.saves) / took, *waits, cores))
            print(f"{name}: {told(found[-1])}", flush=True)
            if not found[-1].is_held:
                break
        for person in crowd:
            person.ends = time.monotonic()
        await asyncio.gather(*at_work)
    with reading(server.engine) as session:
        broken = tally.broken(session, study)
    broken |= {"requests refused": tally.errors, "requests without an answer": tally.given_up}
    stored_kb = (stored_bytes(server) - before) / 1e3 / max(len(tally.acked), 1)
    return Curve(name, found, broken, came_ms, page_mb, stored_kb)


def busy(server: Server, postgres: psutil.Process | None) -> dict[str, float]:
    """CPU seconds so far by part."""
    machines: list[Server] = getattr(server, "servers", [server])
    processes = {"app": [one.process for one in machines], CROWD: [psutil.Process()]}
    processes |= {"Postgres": [postgres]} if postgres else {}
    processes |= {"nginx": [server.process]} if len(machines) > 1 else {}
    return {
        part: sum(cpu_seconds(psutil.Process(one.pid)) for one in each if one is not None)
        for part, each in processes.items()
    }


def memory(server: Server) -> float:
    """MB of all processes of the app."""
    machines: list[Server] = getattr(server, "servers", [server])
    return sum(map(memory_of, machines))


def stored_bytes(server: Server) -> float:
    """What the database takes on disk, its journal apart."""
    size = "page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    if server.engine.dialect.name == "postgresql":
        size = "pg_database_size(current_database())"
    with server.engine.connect() as line:
        return float(line.execute(sa.text(f"SELECT {size}")).scalar_one())


def told(step: Step) -> str:
    """One line of a step."""
    cores = ", ".join(f"{part} {cores:.2f}" for part, cores in step.cores.items())
    return (
        f"{step.people} annotators, {step.labels:.0f} labels a second, save {step.save:.0f} ms, next "
        f"{step.following:.0f} ms (p95); cores: {cores}{'; not in time: ' if step.missed else ''}{step.missed}"
    )


def figures_of(curve: Curve) -> list[Figure]:
    """One setting's figures, with what was promised of them; what nobody was served in time, or came, has none."""
    held = curve.held
    parts = [Figure(f"CPU of {part} a label", 1e3 * cores / held.labels, "ms") for part, cores in held.cores.items()]
    found = [
        Figure("annotators at once, a label a second each", held.people, low=HELD_MIN),
        Figure("labels a second", held.labels),
        Figure("save, p95", held.save, "ms"),
        Figure("next pair, p95", held.following, "ms"),
        *parts,
        Figure("CPU of the app for one who comes", curve.came_ms, "ms"),
        Figure("memory of the app for an open page", curve.page_mb, "MB"),
        Figure("stored for a label", curve.stored_kb, "kB"),
        *(Figure(name, count, high=0) for name, count in curve.broken.items()),
    ]
    return [replace(one, name=f"{curve.name}: {one.name}") for one in found if not math.isnan(one.value)]


def write(curves: Sequence[Curve]) -> None:
    """Put table and plan into the page, each between its two marks, and draw the figure beside it."""
    (PAGE.parent / DRAWN).write_bytes(drawn(curves))
    text = PAGE.read_text(encoding="utf-8")
    several = [curve for curve in curves if curve.held.people and "Postgres" in curve.held.cores]
    for begins, told in ((BEGINS, as_table(curves)), (PLANNED, "".join(map(as_plan, several[:1])))):
        head, rest = text.split(begins)
        _, tail = rest.split(ENDS, 1)
        text = head + begins + told + ENDS + tail
    PAGE.write_text(text, encoding="utf-8")


def as_table(curves: Sequence[Curve]) -> str:
    """Markdown: one row a setting, at the largest crowd that it served in time; which served none, and why."""
    served = [(curve, curve.held) for curve in curves if curve.held.people]
    rows = [
        f"| {curve.name} | {held.people} | {held.labels:.0f} | {held.save:.0f} | {held.following:.0f} | "
        + ", ".join(f"{part} {1e3 * cores / held.labels:.1f}" for part, cores in held.cores.items() if part != CROWD)
        + f" | {curve.came_ms:.0f} | {curve.page_mb:.1f} |"
        for curve, held in served
    ]
    none = [
        f"\nNo crowd in time: {curve.name} "
        + (
            f"({curve.steps[0].people}: {curve.steps[0].missed})."
            if curve.steps
            else f"(not all came in {COME_S:.0f} s)."
        )
        for curve in curves
        if not curve.held.people
    ]
    heads = "at once | labels a second | save, ms | next pair, ms | CPU ms a label | CPU ms to come | MB an open page"
    return "\n".join(
        (
            f"| | {heads} |\n| :--- | ---: | ---: | ---: | ---: | :--- | ---: | ---: |",
            *rows,
            *none,
            f"\n{datetime.now(UTC):%Y-%m-%d}, beside other work of {BESIDE:.1f} processors. {machine()}.\n",
        )
    )


def as_plan(curve: Curve) -> str:
    """Markdown: what PEOPLE and LABELS need, one row a sum, from what a label and a page took on Postgres."""
    at_once, held = PEOPLE * SHARE, curve.held
    rate = at_once / EVERY_S
    cores = {part: rate * busy / held.labels for part, busy in held.cores.items() if part != CROWD}
    coming = at_once / COME_IN_S * curve.came_ms / 1e3
    processes = math.ceil((cores["app"] + coming) / FULL)
    stored = LABELS * curve.stored_kb / 1e6
    items = LABELS / CRITERIA
    texts, sent = items / EACH / 2 * REPORT_KB * 2 / 1e6, items * NEXT_KB / 1e6 + PEOPLE * LOADS * FIRST_MB / 1e3
    database = max(4, math.ceil(cores["Postgres"] / FULL))
    usd = processes * USD["core"] + database * USD["core of Postgres"] * 2 + (stored + texts) * USD["GB kept"]
    rows = {
        "labels a second at the peak": f"{PEOPLE:,} x {SHARE:.0%} at once / {EVERY_S:.0f} s = {rate:,.0f}",
        "processors of the app": f"{rate:,.0f} x {1e3 * cores['app'] / rate:.1f} ms = {cores['app']:.1f}, and "
        f"{at_once:,.0f} who come within {COME_IN_S / 60:.0f} minutes x {curve.came_ms:.0f} ms = {coming:.1f}",
        "processes": f"({cores['app']:.1f} + {coming:.1f}) / {FULL:.0%} in use = {processes}, a core each",
        "memory of the app": f"{at_once:,.0f} open pages x {curve.page_mb:.1f} MB + {processes} x 250 MB = "
        f"{(at_once * curve.page_mb + processes * 250) / 1e3:.0f} GB",
        "processors of Postgres": f"{rate:,.0f} x {1e3 * cores['Postgres'] / rate:.1f} ms = {cores['Postgres']:.1f}; "
        f"{database} are paid for, which keep its memory, and a standby as many again",
        "writes to its journal": f"{rate:,.0f} a second, one for each acknowledged label",
        "connections": f"{processes} x 40 at most = {processes * 40}",
        "labels on disk": f"{LABELS:,} x {curve.stored_kb:.2f} kB, indices and events included = {stored:,.0f} GB",
        "texts on disk": f"{LABELS:,} / {CRITERIA} questions / {EACH} people / 2 pairs a report x "
        f"2 x {REPORT_KB} kB, as imported and as shown = {texts:,.0f} GB",
        "sent": f"{items:,.0f} pairs x {NEXT_KB} kB + {PEOPLE:,} people x {LOADS} first loads x {FIRST_MB} MB = "
        f"{sent:,.0f} GB, {sent * USD['GB sent']:,.0f} USD once",
        "USD a month": f"{processes} x {USD['core']} + 2 x {database} x {USD['core of Postgres']} + "
        f"{stored + texts:,.0f} GB x {USD['GB kept']} = {usd:,.0f}",
    }
    return "| | |\n| :--- | :--- |\n" + "".join(f"| {what} | {told} |\n" for what, told in rows.items())


def drawn(curves: Sequence[Curve]) -> bytes:
    """Both waits over the size of the crowd, with the lines that they may not pass, as SVG."""
    from matplotlib.figure import Figure as Canvas

    with themed(), io.BytesIO() as svg:
        canvas = Canvas(figsize=(FULL_PAGE, 2.6), layout="constrained")
        canvas.supxlabel("annotators at once, a label a second each", color=INK_SOFT, fontsize=TEXT)
        for axes, what, limit in zip(canvas.subplots(1, 2), WAITS, (SAVE_MS, NEXT_MS), strict=True):
            axes.axhline(limit, color=INK_SOFT, linewidth=0.6, linestyle="--")
            for curve, colour in zip(curves, OKABE_ITO, strict=False):
                people, waits = [step.people for step in curve.steps], [getattr(step, what) for step in curve.steps]
                axes.plot(people, waits, color=colour, marker="o", markersize=3, label=curve.name)
            axes.set(title=WAITS[what], yscale="log", xlim=(0, None), ylim=(limit / 128, 2 * limit))
            ticks = [limit / 2**power for power in range(6, -1, -2)]
            axes.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
            axes.minorticks_off()
        handles, names = canvas.axes[0].get_legend_handles_labels()
        canvas.legend(handles, names, loc="outside upper center", ncols=len(curves), frameon=False)
        canvas.savefig(svg, format="svg", **FORMATS["svg"])
        return svg.getvalue()


if __name__ == "__main__":
    sys.exit(main())

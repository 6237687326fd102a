"""How near a judge run comes to what the provider allows: `python benchmarks/judge.py`, about five minutes.

Calls per second over concurrency / latency (the ideal), beside bare litellm and a raw aiohttp client that send the same
prompts to the same provider in the same run; CPU per call; and what a hard rate limit wastes. A calipers run does all
of it: claim, prompt, send, ledger, labels, on SQLite. Exit 1 where a promise is missed. The queue alone, and planning
many calls, are in judge_queue.py.

How long after the provider sent a reply it is in the journal as it came, quiet and beside as many busy processes as
there are cores: whoever kills the process before that has it paid again. And long runs in as many processes as
`judge run` finds worth it, imports and all, beside bare litellm in one: of a model that takes prompts in other roles,
and of a provider whose every request litellm makes, so that its processor time is the limit.
"""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp
from sqlalchemy import Engine

from annotation.judges.asking import client
from annotation.judges.asking.prompt import Prompt, build_prompt
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.planning.plan import plan_judges
from annotation.judges.queue import journal
from annotation.judges.running.progress import JudgeSummary
from annotation.judges.running.run import run_judges
from app.commands.judges.workers import run_as_needed
from benchmarks.promises import Figure, record
from db.connect import open_database
from db.migrations import upgrade
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import judges, make_study
from tests.annotation.judges.test_prompt import material

FAKE = ROOT / "tests" / "fake_llm.py"
TIMES = 2  # each row of short latency is run so often and the best one counts: other processes only ever slow one down


@dataclass(frozen=True)
class Row:
    """One measured setting; what is promised of it (JUDGES.md, section 10), None where nothing is."""

    latency_s: float
    kilobytes: int
    concurrency: int
    rounds: int  # calls per slot
    of_ideal: float | None = None
    of_litellm: float | None = None
    of_aiohttp: float | None = None
    cpu_ms: float | None = None  # above bare litellm, a call

    @property
    def calls(self) -> int:
        return self.concurrency * self.rounds


ROWS = (
    Row(0.3, 2, 8, 16, of_ideal=0.85),
    Row(0.3, 2, 64, 12, of_litellm=0.95, cpu_ms=0.5),
    Row(3.0, 80, 8, 3, of_ideal=0.90, of_aiohttp=0.90),
    Row(3.0, 80, 64, 4, of_ideal=0.90, of_litellm=0.95, of_aiohttp=0.90, cpu_ms=0.5),
)
LIMIT_PER_S, LIMITED_CALLS = 50, 600
IN_JOURNAL_S = 0.25
CPU_OF_LITELLM = 1.3
OTHER_ROLES, MADE_BY_LITELLM = "openai/o3", "deepseek/deepseek-chat"
LONG = Row(0.3, 2, 64, 110)  # enough calls for a part to be measured
WAITED = Row(0.3, 80, 64, 6)


def main() -> int:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.jsonl"
        command = [sys.executable, str(FAKE), "--port", "0", "--latency-ms", "1", "--ledger", str(ledger)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            fake = Fake(process.stdout.readline().split()[1], ledger)
            asyncio.run(bare(definition(fake, 1)[0], prompt(1), 1))  # the import of litellm is not part of any rate
            print("share of the ideal; CPU above bare litellm, a call")
            print(f"{'':22} {'calipers':>9} {'litellm':>9} {'aiohttp':>9} {'CPU ms':>7}")
            for number, row in enumerate(ROWS):
                figures += throughput(fake, row, Path(folder) / str(number))
            figures += limits(fake, Path(folder))
            figures += as_needed(fake, Path(folder) / "roles", OTHER_ROLES, 1.0)
            figures += as_needed(fake, Path(folder) / "made", MADE_BY_LITELLM, -math.inf)
            figures += waits(fake, Path(folder) / "waits")
            process.terminate()
    record(figures)
    missed = [figure for figure in figures if not figure.kept]
    for figure in missed:
        print(figure, file=sys.stderr)
    return int(bool(missed))


def throughput(fake: Fake, row: Row, folder: Path) -> list[Figure]:
    """Measure one row, and print it."""
    fake.reset(latency_ms=row.latency_s * 1000)
    (judge,), text = definition(fake, row.concurrency), prompt(row.kilobytes)
    ideal, times = row.concurrency / row.latency_s, TIMES if row.latency_s < 1 else 1
    found: dict[str, tuple[float, float]] = {}
    for attempt in range(times):
        rates = {
            "aiohttp": asyncio.run(raw(judge, text, row.calls)),
            "litellm": asyncio.run(bare(judge, text, row.calls)),
            "calipers": whole(fake, row, folder / str(attempt)),
        }
        for name, (rate, cpu) in rates.items():
            best = found.get(name, (0.0, float("inf")))
            found[name] = max(rate, best[0]), min(cpu, best[1])
    calipers, above = found["calipers"][0], found["calipers"][1] - found["litellm"][1]
    name = f"{row.latency_s:g} s, {row.kilobytes} kB, c={row.concurrency}"
    shares = " ".join(f"{found[who][0] / ideal:9.3f}" for who in ("calipers", "litellm", "aiohttp"))
    print(f"{name:22} {shares} {above:7.2f}", flush=True)
    bare_rate, raw_rate = found["litellm"][0], found["aiohttp"][0]
    return [
        Figure(f"{name}: calipers / ideal", calipers / ideal, low=row.of_ideal or -math.inf),
        Figure(f"{name}: calipers / bare litellm", calipers / bare_rate, low=row.of_litellm or -math.inf),
        Figure(f"{name}: calipers / raw aiohttp", calipers / raw_rate, low=row.of_aiohttp or -math.inf),
        Figure(f"{name}: CPU above bare litellm", above, "ms a call", high=row.cpu_ms or math.inf),
        Figure(
            f"{name}: CPU of a call / bare litellm",
            found["calipers"][1] / found["litellm"][1],
            high=CPU_OF_LITELLM if row.cpu_ms else math.inf,
        ),
    ]


def waits(fake: Fake, folder: Path) -> list[Figure]:
    """From the provider's answer to the journal's line, the longest, p99 and the middle, quiet and beside busy ones."""
    found: list[Figure] = []
    for name, others in (("quiet", 0), ("busy", os.cpu_count() or 1)):
        fake.reset(latency_ms=WAITED.latency_s * 1000)
        with busy(others), noted() as written:
            run(fake, WAITED.calls, WAITED.concurrency, folder / name, filler(WAITED.kilobytes))
        sent = {line["prompt"]: line["t"] for line in fake.bill()}
        assert len(sent) == len(written) == WAITED.calls, "each reply is one prompt's, and was written once"
        seconds = sorted(at - sent[prompt] for prompt, at in written.items())
        of = {"longest": seconds[-1], "p99": seconds[len(seconds) * 99 // 100], "median": seconds[len(seconds) // 2]}
        for which, value in of.items():
            most = IN_JOURNAL_S if which != "longest" or not others else math.inf
            found.append(Figure(f"reply to journal, {name}: {which}", value, "s", high=most))
            print(f"reply to journal, {name}, {which}: {value:.2f} s", flush=True)
    return found


def as_needed(fake: Fake, folder: Path, model: str, promised: float) -> list[Figure]:
    """Calls per second of `judge run` as it is, over those of litellm in one process."""
    fake.reset(latency_ms=LONG.latency_s * 1000)
    (judge,) = definition(fake, LONG.concurrency, model=model)
    by_litellm, _ = asyncio.run(bare(judge, prompt(LONG.kilobytes), LONG.calls // 5))
    engine, study = planned(folder, LONG.calls, (judge,), filler(LONG.kilobytes))
    os.environ |= {"CALIPERS_DATABASE_URL": engine.url.render_as_string(), "DEEPSEEK_API_KEY": "none"}
    file = folder / "judges.toml"
    file.write_text(f"[[judge]]\n{settings(fake, LONG.concurrency, model=model)}", encoding="utf-8")
    resume = ["small", "--keep-paused", f"--judges={file}"]
    (summary,) = run_as_needed(engine, study, (judge,), resume, None).judges
    engine.dispose()
    assert summary.done == LONG.calls, summary
    share = summary.done / summary.seconds / by_litellm
    print(f"{model}, --workers auto / bare litellm: {share:.2f}", flush=True)
    return [Figure(f"{model}: --workers auto / bare litellm in one process", share, low=promised)]


def limits(fake: Fake, folder: Path) -> list[Figure]:
    """A hard limit of the provider, found out by its 429s, then kept from the start by `rpm`."""
    found: list[Figure] = []
    for name, more, promised, least in (("unknown to us", "", 100.0, 45.0), ("known as rpm", "rpm = 2880\n", 0.0, 0.0)):
        fake.reset(latency_ms=300.0, rps=float(LIMIT_PER_S))
        summary = run(fake, LIMITED_CALLS, 64, folder / name.split()[0], "short " * 100, more)
        rate, wasted = summary.done / summary.seconds, 1000 * fake.stats()["f_429"] / summary.done
        print(
            f"limit of {LIMIT_PER_S}/s, {name}: {rate:.1f} calls/s, {wasted:.0f} wasted 429s per 1,000 calls",
            flush=True,
        )
        found.append(Figure(f"limit {name}: wasted 429s per 1,000 calls", wasted, high=promised))
        found.append(Figure(f"limit {name}", rate, "calls/s", low=least))
    return found


def whole(fake: Fake, row: Row, folder: Path) -> tuple[float, float]:
    """Calls per second and CPU milliseconds per call of a whole run."""
    summary = run(fake, row.calls, row.concurrency, folder, filler(row.kilobytes))
    return summary.done / summary.seconds, CPU.pop() * 1000 / summary.done


CPU: list[float] = []


def run(fake: Fake, calls: int, concurrency: int, folder: Path, text: str, more: str = "") -> JudgeSummary:
    """Plan and run; its CPU seconds are left in `CPU`."""
    definitions = definition(fake, concurrency, more)
    engine, study = planned(folder, calls, definitions, text)
    cpu = time.process_time()
    (summary,) = run_judges(engine, study, definitions).judges
    CPU.append(time.process_time() - cpu)
    engine.dispose()
    assert summary.done == calls, summary
    return summary


def planned(folder: Path, calls: int, definitions: tuple[JudgeDefinition, ...], text: str) -> tuple[Engine, int]:
    folder.mkdir(parents=True)
    url = f"sqlite:///{folder}/judge.db"
    upgrade(url)
    engine = open_database(url)
    study = make_study(
        engine, calls // 2, text=lambda number, side: f"[[q={0.9 if side == 'A' else 0.1}]] {number} {side} {text}"
    )
    plan_judges(engine, study, definitions)
    return engine, study


async def bare(judge: JudgeDefinition, text: Prompt, calls: int) -> tuple[float, float]:
    """Calls per second and CPU ms per call of litellm as its own manual has it asked, with our settings."""
    litellm, form = client.library(), client.response_format(text.schema, "json_schema")

    async def send() -> None:
        await litellm.acompletion(
            model=judge.model, messages=list(text.messages), response_format=form, max_tokens=judge.max_output_tokens,
            timeout=judge.timeout_s, num_retries=0, max_retries=0, api_base=judge.api_base, api_key="none",
        )  # fmt: skip

    try:
        return await timed(send, judge.concurrency, calls)
    finally:
        await client.close()


async def raw(judge: JudgeDefinition, text: Prompt, calls: int) -> tuple[float, float]:
    """The same of a plain aiohttp client."""
    schema = {"name": "judgments", "strict": True, "schema": text.schema}
    body: dict[str, Any] = {
        "model": "fake", "messages": [dict(message) for message in text.messages],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }  # fmt: skip
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send() -> None:
            async with session.post(f"{judge.api_base}/chat/completions", json=body) as reply:
                await reply.json()

        return await timed(send, judge.concurrency, calls)


async def timed(send: Callable[[], Awaitable[None]], concurrency: int, calls: int) -> tuple[float, float]:
    left = iter(range(calls))

    async def slot() -> None:
        for _ in left:
            await send()

    cpu, started = time.process_time(), time.monotonic()
    await asyncio.gather(*(slot() for _ in range(concurrency)))
    return calls / (time.monotonic() - started), (time.process_time() - cpu) * 1000 / calls


@contextmanager
def noted() -> Iterator[dict[str, float]]:
    """When each reply was written into a journal as it came, by the sha256 of its prompt."""
    times: dict[str, float] = {}
    kept = journal.Request.arrived

    def arrived(self: journal.Request, raw: Mapping[str, Any]) -> None:
        kept(self, raw)
        times[self._asked["prompt_sha256"]] = time.time()

    journal.Request.arrived = arrived  # type: ignore[method-assign]  # for as long as this measures
    try:
        yield times
    finally:
        journal.Request.arrived = kept  # type: ignore[method-assign]  # as before


@contextmanager
def busy(processes: int) -> Iterator[None]:
    started = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(processes)]
    for one in started:
        one.start()
    try:
        yield
    finally:
        for one in started:
            one.terminate()
            one.join()


def _spin() -> None:
    while True:
        json.dumps(list(range(1000)))


def definition(fake: Fake, concurrency: int, more: str = "", model: str = "openai/fake") -> tuple[JudgeDefinition, ...]:
    return judges(settings(fake, concurrency, more, model))


def settings(fake: Fake, concurrency: int, more: str = "", model: str = "openai/fake") -> str:
    price = "price = {input = 0.15, output = 0.60}"
    return f'name = "j"\nmodel = "{model}"\napi_base = "{fake.base}"\nconcurrency = {concurrency}\n{price}\n{more}'


def filler(kilobytes: int) -> str:
    """One report of a pair that is `kilobytes` long in all."""
    return "several words of a report " * (kilobytes * 1000 // 52)


def prompt(kilobytes: int) -> Prompt:
    return build_prompt(material(f"1 {filler(kilobytes)}", f"2 {filler(kilobytes)}"))


if __name__ == "__main__":
    sys.exit(main())

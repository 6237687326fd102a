"""A judge that goes through batches, and processes that are killed on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, select

from annotation.judges.batches.batch_api import BatchApi
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.progress import JudgeSummary, RunSummary
from annotation.judges.running.run import run_judges
from db.connect import reading
from db.judge_tables import JudgeCall
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import judges

PRICE = "price = {input = 0.15, output = 0.60, batch_input = 0.075, batch_output = 0.30}"
BATCHED, ORDINARY = {"into": 0.075, "out": 0.30}, {"into": 0.15, "out": 0.60}
LEASE_S = 0.2


class Killed(BaseException):
    """What kill -9 leaves behind: no clean-up runs."""


class Killing(BatchApi):
    """A process that is killed before, or right after, one of the requests."""

    def __init__(self, moment: str) -> None:
        self._when, _, self._what = moment.partition(" ")

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name.startswith("_") or name != self._what:
            return method

        async def die(*given: Any) -> None:
            if self._when == "after":
                await method(*given)
            raise Killed

        return die


def judge(fake: Fake, more: str = "") -> str:
    return (
        f'name = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n{PRICE}\nconcurrency = 4\nbatch_api = true\n'
        f"max_output_tokens = 1000\n{more}\n"
    )


def run(
    engine: Engine, study: int, toml: str, *, api: BatchApi | None = None, limit: int | None = None,
    lease_s: float = LEASE_S,
) -> RunSummary:  # fmt: skip
    plan_judges(engine, study, judges(toml))
    return resume(engine, study, toml, api=api, limit=limit, lease_s=lease_s)


def resume(
    engine: Engine, study: int, toml: str, *, api: BatchApi | None = None, limit: int | None = None,
    lease_s: float = LEASE_S,
) -> RunSummary:  # fmt: skip
    return run_judges(engine, study, judges(toml), batch_api=api, lease_s=lease_s, limit=limit)


def run_until(engine: Engine, study: int, toml: str, over: Callable[[RunSummary], bool]) -> RunSummary:
    """Resumed until `over`: a batch that may be on its way is waited for as long as its lease says."""
    deadline = time.monotonic() + 30
    while not over(summary := run(engine, study, toml)):
        assert time.monotonic() < deadline, summary
    return summary


def only(summary: RunSummary) -> JudgeSummary:
    return summary.judges[0]


def shown(*faults: str) -> Any:
    """Reports of topic n that make the provider misbehave as `faults[n]` says."""
    return lambda number, side: f"[[q={0.8 if side == 'A' else 0.2}]] [[fault:{faults[number]}]] report {number} {side}"


def batch_ids(engine: Engine) -> set[str | None]:
    with reading(engine) as session:
        return set(session.scalars(select(JudgeCall.batch_id)))


def usd(bill: Sequence[Mapping[str, Any]], *, into: float, out: float) -> float:
    return sum(line["in"] * into + line["out"] * out for line in bill) / 1e6

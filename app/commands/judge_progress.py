"""A judge run on the terminal: one line per judge while it works, and one at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotation.judges.progress import JudgeProgress, JudgeSummary, OnProgress

FAILURES = ("invalid", "missing", "refused", "truncated")


@contextmanager
def live(shown: bool) -> Iterator[OnProgress | None]:
    """One line a judge on standard error, redrawn; plain lines every ten seconds where nobody watches."""
    if not shown:
        yield None
        return
    import time

    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, transient=True, auto_refresh=False) as live:
            yield lambda snapshot: live.update("\n".join(map(line, snapshot)), refresh=True)
        return
    last = [time.monotonic()]

    def plain(snapshot: Sequence[JudgeProgress]) -> None:
        if time.monotonic() - last[0] >= 10:
            last[0] = time.monotonic()
            for judge in snapshot:
                console.print(line(judge), markup=False, highlight=False)

    yield plain


def result(judge: JudgeSummary) -> str:
    failures = ", ".join(f"{judge.labels[kind]:,} {kind}" for kind in FAILURES if judge.labels.get(kind))
    cost = "price unknown" if judge.cost is None else f"{judge.cost:.4f} USD"
    stopped = f"; stopped: {judge.stopped}" if judge.stopped else ""
    waiting = f", {judge.submitted:,} in batches" if judge.submitted else ""
    unknown = f" and {judge.unknown_costs} attempts of unknown cost" if judge.unknown_costs else ""
    return (
        f"{judge.name}: {judge.done:,} of {judge.planned:,} calls done, {judge.failed:,} failed{waiting}; "
        f"{judge.labels.get('ok', 0):,} labels ok{', ' + failures if failures else ''}; {judge.attempts:,} attempts, "
        f"{cost}{unknown}, {judge.seconds:.0f} s{stopped}"
    )


def line(judge: JudgeProgress) -> str:
    answered = sum(judge.labels.values())
    ok = f"{100 * judge.labels.get('ok', 0) / answered:.0f} % ok" if answered else "– ok"
    failures = sum(judge.labels.get(kind, 0) for kind in FAILURES)
    spent = "– USD" if judge.spent is None else f"{judge.spent:.4f} USD"
    cap = f" of {judge.max_cost:g}" if judge.max_cost is not None else ""
    left = "" if judge.seconds_left is None else f", {judge.seconds_left / 60:.0f} min left"
    pause = f", paused {judge.paused_s:.0f} s (429)" if judge.paused_s > 0 else ""
    return (
        f"{judge.name}: {judge.done + judge.failed}/{judge.planned} calls, {judge.calls_per_s:.1f}/s, {ok}, "
        f"{failures} not usable, {judge.in_flight} in flight, {spent}{cap}{left}{pause}"
    )

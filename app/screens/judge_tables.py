"""The tables of the Judges page as HTML: how judges stand, what went wrong, how they were asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from annotation.facts.imported_costs import ImportedCost
from annotation.importing.results_raters import IMPORTED
from annotation.judges.judge_runs import Asked, JudgeRuns
from annotation.judges.standing import JudgeStanding
from app.judge_orders import Orders
from app.screens.look import table
from exports.cells import DASH, Cell, shown

LOST = ("invalid", "refused", "truncated", "missing")
ONE = {"answers": "answer", "tries": "try"}
SOURCES = {"user": "judges.toml", "none": "unknown"}


def sentence(found: Sequence[JudgeStanding]) -> str:
    """How far all of it is, how much can be used, and what it cost."""
    planned, done = sum(one.planned for one in found), sum(one.done for one in found)
    usable = sum(one.labels.get("ok", 0) for one in found)
    answers = sum(sum(one.labels.values()) for one in found)
    who = f"{len(found)} judges have" if len(found) > 1 else f"{found[0].judge} has"
    calls = f"made all {planned:,} calls" if done == planned else f"made {done:,} of {planned:,} calls"
    if not planned:
        calls = "imported answers and made no call here"
    costs = [one.money.cost for one in found if one.money.cost is not None]
    unpriced = sum(one.money.cost is None and one.money.attempts > 0 for one in found)
    cents = 0 < sum(costs) < 0.01
    money = f", for {'less than USD 0.01' if cents else f'USD {sum(costs):,.2f}'}" if costs else ""
    if costs and unpriced:
        money += f" and {unpriced} of unknown price"
    use = f"{usable:,} of {answers:,} answers are usable" if answers else "no answer has come in yet"
    return f"{who} {calls}{money}; {use}."


def still_open(runs: JudgeRuns) -> str:
    """What is left to do: being done, or waiting for somebody to start a worker."""
    left = sum(one.unfinished for one in runs.standings)
    in_flight = sum(one.in_flight for one in runs.standings)
    wait = " --wait" if runs.requests else ""  # who does not wait carries out no request
    resume = f"<code>calipers judge resume {escape(runs.study)} --judges judges.toml{wait}</code>"
    said = [f"{left:,} calls are still to be made"] if left else []
    said += [f"asked for and not finished: {escape(', '.join(runs.requests))}"] if runs.requests else []
    if in_flight:
        return f'<p class="c-soft">{in_flight:,} calls are in flight; {"; ".join(said)}.</p>'
    return f'<p class="c-amber">{"; ".join(said).capitalize()}. A worker makes them: {resume}</p>' if said else ""


def standing_table(runs: JudgeRuns, orders: Mapping[str, Orders], imported: Mapping[str, ImportedCost]) -> str:
    """Judge × calls, answers by status, money, seconds and order; the same counts as `calipers judge status`.

    `imported`: what a judge cost that was run elsewhere.
    """
    heads = ("Judge", "Calls", "Usable", *map(str.capitalize, LOST), "USD", "Wasted", "Seconds, p50",
             "First shown wins", "Swap consistency")  # fmt: skip
    rows = [
        _standing(one, runs.waiting.get(one.judge, 0), orders.get(one.judge, Orders()), imported.get(one.judge))
        for one in runs.standings
    ]
    return table("Judges", heads, rows)


def order_warnings(orders: Mapping[str, Orders]) -> str:
    """One line for each judge that the order moves."""
    said = "".join(
        f"<li><strong>{escape(judge)}</strong> {escape(one.words)}.</li>" for judge, one in orders.items() if one.words
    )
    return f'<ul class="c-warnings">{said}</ul>' if said else ""


def failure_table(runs: JudgeRuns) -> str:
    """Each kind once, counted, with one example and the command that shows the rest of it."""
    if not runs.failures:
        return f'<p class="c-soft">{_nothing_wrong(runs.standings)}</p>'
    rows = [
        (
            escape(one.judge), f"{one.count:,} {ONE[one.of] if one.count == 1 else one.of}", escape(one.kind),
            f'<span class="c-wrap">{escape(one.reason)}</span>',
            f'<span class="c-raw-line">{escape(one.example)}</span>',
            DASH if one.call_id is None else str(one.call_id),
        )
        for one in runs.failures
    ]  # fmt: skip
    heads = ("Judge", "How many", "Kind", "Reason", "One example", "Call")
    foot = f"One call whole: <code>calipers judge show {escape(runs.study)} CALL</code>"
    return f'{table("What went wrong", heads, rows, "c-remarks")}<p class="c-soft c-foot">{foot}</p>'


def _nothing_wrong(found: Sequence[JudgeStanding]) -> str:
    if any(one.money.attempts for one in found):
        return "Nothing went wrong: every reply was read, no request broke off."
    if any(one.labels for one in found):
        return "No call was made here; what went wrong where the answers were made is not known."
    return "No call has been made yet."


def asked_lists(asked: Iterable[Asked]) -> str:
    """The effective settings of each judge, folded."""
    return "".join(
        f'<details class="c-fold"><summary>{escape(one.judge)} <small>{escape(one.model)}</small></summary>'
        f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(value)}</dd>' for name, value in _settings(one))}</dl></details>"
        for one in asked
    )


def _settings(one: Asked) -> Iterable[tuple[str, str]]:
    if one.model == IMPORTED:
        yield "Asked elsewhere", "its answers were imported; its prompt and settings are not known here"
        return
    yield "Model reported", ", ".join(f"{name} ({n:,} replies)" for name, n in one.reported.items()) or "nothing yet"
    yield "Parameters sent", ", ".join(f"{k} {json.dumps(v)}" for k, v in one.params.items()) or "the provider's own"
    if one.not_sent:
        yield "Not accepted", f"{', '.join(one.not_sent)}: the provider's default holds"
    price = ", ".join(f"{name} {value:g}" for name, value in one.price.items() if isinstance(value, int | float))
    yield "Price", f"{price} USD per million tokens" if price else "none: cost stays unknown"
    yield "Price from", SOURCES.get(one.price_source, one.price_source)
    yield "Criteria in a call", one.batching.replace("_", " ")
    yield "Longest reply", f"{one.max_output_tokens:,} tokens"
    yield "Reply format", ", then ".join(one.structured)
    if one.api_base:
        yield "Address", one.api_base
    yield "Prompt template", f"sha256 {one.template_sha256[:16]}…"
    if one.earlier:
        yield "Earlier settings", f"{one.earlier}; their labels stand until a later answer replaces them"


def _standing(one: JudgeStanding, batched: int, orders: Orders, imported: ImportedCost | None) -> Sequence[str]:
    money, usable, asked = one.money, one.labels.get("ok", 0), sum(one.labels.values())
    money_notes = [f"of {one.max_cost:,.2f}"] if one.max_cost is not None else []
    money_notes += [f"+ {money.unknown_costs} unknown"] if money.unknown_costs else []
    now = [f"{one.in_flight:,} in flight"] if one.in_flight else []
    now += [f"{batched:,} in a batch"] if batched else []
    now += [f"{one.failed:,} failed"] if one.failed else []
    now += [f"paused {one.paused_s:.0f} s (429)"] if one.paused_s else []
    now += [f'<span class="c-red">stopped: {escape(one.stopped)}</span>'] if one.stopped else []
    return (
        f"{escape(one.judge)}{_under(escape(one.model))}",
        f"{f'{one.done:,} of {one.planned:,}' if one.planned else DASH}{_under(', '.join(now))}",
        f"{_percent(one.coverage)}{_under(f'{usable:,} of {asked:,}')}",
        *(f"{one.labels.get(status, 0):,}" for status in LOST),
        imported_usd(imported)
        or f"{DASH if money.cost is None else f'{money.cost:,.4f}'}{_under(', '.join(money_notes))}",
        _percent(money.waste_share),
        _seconds(one, imported),
        _estimate(orders.first_rate),
        _estimate(orders.swap_consistency),
    )


def imported_usd(imported: ImportedCost | None) -> str:
    """The cell of a judge that was run elsewhere, named as such; "" where nobody knows what that cost."""
    return "" if imported is None or imported.usd is None else f"{imported.usd:,.4f}{_under(IMPORTED)}"


def _seconds(one: JudgeStanding, imported: ImportedCost | None) -> str:
    if imported is not None and imported.seconds is not None:
        return f"{imported.seconds:.1f}{_under(IMPORTED)}"
    return DASH if one.money.p50_s is None else f"{one.money.p50_s:.1f}{_under(f'p95 {one.money.p95_s:.1f}')}"


def _estimate(cell: Cell) -> str:
    if cell is None:
        return DASH
    value, interval = shown(cell)
    return f"{value}{_under(interval)}"


def _under(note: str) -> str:
    """Smaller, on a line of its own that is kept free where there is no note."""
    return f'<small class="c-under">{note}</small>'


def _percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.0f} %"

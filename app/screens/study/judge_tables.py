"""The tables of the Judges page as HTML: the standing of judges, what went wrong, how they were asked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from annotation.facts.judge_facts import ImportedCost
from annotation.importing.labels.results_match import IMPORTED
from annotation.judges.money.accounts import PAUSED
from annotation.judges.reviewing.judge_standings import Asked, JudgeRuns, JudgeStanding
from app.results.computing import Orders
from app.screens.look import table
from exports.cells import DASH, Cell, shown
from plain.wording import several, worded, worded_of

LOST = ("invalid", "refused", "truncated", "missing")
ONE = {"answers": "answer", "tries": "try"}
SOURCES = {"user": "judges.toml", "none": "unknown"}


def sentence(standings: Sequence[JudgeStanding]) -> str:
    """Say how far the judges are, how many answers can be used, and what they cost."""
    planned, done = sum(standing.planned for standing in standings), sum(standing.done for standing in standings)
    usable = sum(standing.labels.get("ok", 0) for standing in standings)
    answers = sum(sum(standing.labels.values()) for standing in standings)
    who = worded_of(len(standings), "{judge} has", "{n} judges have", judge=standings[0].judge)
    calls = "made all {planned:,} calls" if done == planned else "made {done:,} of {planned:,} calls"
    calls = worded(calls, done=done, planned=planned)
    if not planned:
        calls = worded("imported answers and made no call here")
    costs = [standing.money.cost for standing in standings if standing.money.cost is not None]
    unpriced = sum(standing.money.cost is None and standing.money.attempts > 0 for standing in standings)
    cents = 0 < sum(costs) < 0.01
    money = (
        worded(", for {more}", more=worded("less than USD 0.01") if cents else f"USD {sum(costs):,.2f}")
        if costs
        else ""
    )
    if costs and unpriced:
        money += worded(" and {unpriced} of unknown price", unpriced=unpriced)
    use = "{usable:,} of {answers:,} answers are usable" if answers else "no answer has come in yet"
    use = worded(use, usable=usable, answers=answers)
    return worded("{lead}.", lead=worded("; ").join([worded("{who} {did}", who=who, did=calls + money), use]))


def still_open(runs: JudgeRuns, worker: str) -> str:
    """Say what is left to do: being done, waiting for somebody to start a `worker`, or paused."""
    left = sum(standing.unfinished for standing in runs.standings)
    if left and all(standing.stopped == PAUSED for standing in runs.standings if standing.unfinished):
        told = worded("{left:,} calls are still to be made, and no worker makes them while they are paused.", left=left)
        return f'<p class="c-amber">{told}</p>'
    in_flight = sum(standing.in_flight for standing in runs.standings)
    said = [worded("{left:,} calls are still to be made", left=left)] if left else []
    asked = worded("asked for and not finished: {requests}", requests=escape(worded(", ").join(runs.requests)))
    said += [asked] if runs.requests else []
    if in_flight:
        next_ones = "{in_flight:,} calls are in flight or next; {said}."
        going = worded(next_ones, in_flight=in_flight, said=worded("; ").join(said))
        return f'<p class="c-soft">{going}</p>'
    resume, lead = f"<code>{escape(worker)}</code>", worded("; ").join(said).capitalize()
    how = worded("{said}. A worker makes them: {resume}", said=lead, resume=resume)
    return f'<p class="c-amber">{how}</p>' if said else ""


def standing_table(runs: JudgeRuns, orders: Mapping[str, Orders], imported: Mapping[str, ImportedCost]) -> str:
    """Judge × calls, answers by status, money, seconds and order; the same counts as `calipers judge status`.

    `imported`: what a judge cost that was run elsewhere.
    """
    heads = ("Judge", "Calls", "Usable", *map(str.capitalize, LOST), "USD", "Wasted", "Seconds, p50",
             "First shown wins", "Swap consistency")  # fmt: skip
    rows = [
        _standing(
            standing,
            runs.waiting.get(standing.judge, 0),
            orders.get(standing.judge, Orders()),
            imported.get(standing.judge),
        )
        for standing in runs.standings
    ]
    return table("Judges", heads, rows)


def order_warnings(orders: Mapping[str, Orders]) -> str:
    """One line for each judge that the order moves."""
    said = "".join(
        f"<li><strong>{escape(judge)}</strong> {escape(worded('{lead}.', lead=order.words))}</li>"
        for judge, order in orders.items()
        if order.words
    )
    return f'<ul class="c-warnings">{said}</ul>' if said else ""


def failure_table(runs: JudgeRuns) -> str:
    """Each kind once, counted, with one example and the command that shows the rest of it."""
    if not runs.failures:
        return f'<p class="c-soft">{_nothing_wrong(runs.standings)}</p>'
    rows = [
        (
            escape(failure.judge), several(failure.count, ONE[failure.of]),
            escape(worded(failure.kind)), f'<span class="c-wrap">{escape(worded(failure.reason))}</span>',
            f'<span class="c-raw-line">{escape(failure.example)}</span>',
            DASH if failure.call_id is None else str(failure.call_id),
        )
        for failure in runs.failures
    ]  # fmt: skip
    heads = ("Judge", "How many", "Kind", "Reason", "One example", "Call")
    foot = worded("One call whole: <code>calipers judge show {study} CALL</code>", study=escape(runs.study))
    return f'{table("What went wrong", heads, rows, "c-remarks")}<p class="c-soft c-foot">{foot}</p>'


def _nothing_wrong(standings: Sequence[JudgeStanding]) -> str:
    if any(standing.money.attempts for standing in standings):
        return worded("Nothing went wrong: every reply was read, no request broke off.")
    if any(standing.labels for standing in standings):
        return worded("No call was made here; what went wrong where the answers were made is not known.")
    return worded("No call has been made yet.")


def asked_lists(asked: Iterable[Asked]) -> str:
    """The effective settings of each judge, folded."""
    return "".join(
        f'<details class="c-fold"><summary>{escape(judge.judge)} <small>{escape(judge.model)}</small></summary>'
        f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(value)}</dd>' for name, value in _settings(judge))}</dl></details>"
        for judge in asked
    )


def _settings(judge: Asked) -> Iterable[tuple[str, str]]:
    if judge.model == IMPORTED:
        yield worded("Asked elsewhere"), worded("its answers were imported; its prompt and settings are not known here")
        return
    yield (
        worded("Model reported"),
        worded(", ").join(worded("{name} ({n:,} replies)", name=name, n=n) for name, n in judge.reported.items())
        or worded("nothing yet"),
    )
    yield (
        worded("Parameters sent"),
        worded(", ").join(f"{k} {json.dumps(v)}" for k, v in judge.params.items()) or worded("the provider's own"),
    )
    if judge.not_sent:
        yield (
            worded("Not accepted"),
            worded("{not_sent}: the provider's default holds", not_sent=worded(", ").join(judge.not_sent)),
        )
    price = worded(", ").join(
        f"{name} {value:g}" for name, value in judge.price.items() if isinstance(value, int | float)
    )
    yield (
        worded("Price"),
        worded("{price} USD per million tokens", price=price) if price else worded("none: cost stays unknown"),
    )
    yield worded("Price from"), worded(SOURCES.get(judge.price_source, judge.price_source))
    yield worded("Criteria in a call"), worded(judge.batching.replace("_", " "))
    yield worded("Longest reply"), worded("{max_output_tokens:,} tokens", max_output_tokens=judge.max_output_tokens)
    yield worded("Reply format"), worded(", then ").join(judge.structured)
    if judge.api_base:
        yield worded("Address"), judge.api_base
    yield worded("Prompt template"), worded("sha256 {template_sha256}…", template_sha256=judge.template_sha256[:16])
    if judge.earlier:
        yield (
            worded("Earlier settings"),
            worded("{earlier}; their labels stand until a later answer replaces them", earlier=judge.earlier),
        )


def _standing(standing: JudgeStanding, batched: int, orders: Orders, imported: ImportedCost | None) -> Sequence[str]:
    money, usable, asked = standing.money, standing.labels.get("ok", 0), sum(standing.labels.values())
    money_notes = [worded("of {max_cost:,.2f}", max_cost=standing.max_cost)] if standing.max_cost is not None else []
    money_notes += (
        [worded("+ {unknown_costs} unknown", unknown_costs=money.unknown_costs)] if money.unknown_costs else []
    )
    beside = [
        worded("+ {usd} for {kind}", usd=DASH if cost is None else f"{cost:,.4f}", kind=kind)
        for kind, cost in money.beside.items()
    ]
    money_lines = "<br>".join(filter(None, [worded(", ").join(money_notes), *beside]))
    now = [worded("{in_flight:,} in flight or next", in_flight=standing.in_flight)] if standing.in_flight else []
    now += [worded("{batched:,} in a batch", batched=batched)] if batched else []
    now += [worded("{failed:,} failed", failed=standing.failed)] if standing.failed else []
    now += [worded("paused {paused_s:.0f} s (429)", paused_s=standing.paused_s)] if standing.paused_s else []
    colour = "c-amber" if standing.stopped == PAUSED else "c-red"
    ended = worded("stopped: {stopped}", stopped=escape(standing.stopped or ""))
    now += [f'<span class="{colour}">{ended}</span>'] if standing.stopped else []
    return (
        f"{escape(standing.judge)}{_under(escape(standing.model))}",
        f"{_of(standing.done, standing.planned) if standing.planned else DASH}{_under(worded(', ').join(now))}",
        f"{_percent(standing.coverage)}{_under(_of(usable, asked))}",
        *(f"{standing.labels.get(status, 0):,}" for status in LOST),
        imported_usd(imported) or f"{DASH if money.cost is None else f'{money.cost:,.4f}'}{_under(money_lines)}",
        _percent(money.waste_share),
        _seconds(standing, imported),
        _estimate(orders.first_rate),
        _estimate(orders.swap_consistency),
    )


def _of(part: int, whole: int) -> str:
    return worded("{part:,} of {whole:,}", part=part, whole=whole)


def imported_usd(imported: ImportedCost | None) -> str:
    """The cell of a judge that was run elsewhere, named as such; "" where nobody knows what that cost."""
    return "" if imported is None or imported.usd is None else f"{imported.usd:,.4f}{_under(worded(IMPORTED))}"


def _seconds(standing: JudgeStanding, imported: ImportedCost | None) -> str:
    if imported is not None and imported.seconds is not None:
        return f"{imported.seconds:.1f}{_under(worded(IMPORTED))}"
    return (
        DASH
        if standing.money.p50_s is None
        else f"{standing.money.p50_s:.1f}{_under(f'p95 {standing.money.p95_s:.1f}')}"
    )


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

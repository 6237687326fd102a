"""How each judge was asked, in words: what all have in common once, the rest judge by judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exports.facts import JudgeFacts
from exports.words.grammar import amount, between, counted, listed, percent

NAMED = 6  # judges described one by one; the table of judges holds all
BATCHING = {
    "all": "all criteria in one call",
    "by_category": "one call for each category of criteria",
    "one_criterion": "one call for each criterion",
}
ORDERS = {"both": "in both orders", "one": "in one order"}
SHARED = ("prompt_sha256", "batching", "order", "repeats")


def in_common(judges: Sequence[JudgeFacts]) -> list[str]:
    """What every judge shares, in the order it happens; nothing that one of them lacks."""
    return [words for name in SHARED if _shared(judges, name) and (words := _words(judges[0], name))]


def described(judges: Sequence[JudgeFacts]) -> list[str]:
    """One clause for each of the first judges: name, and in brackets its model, settings, calls and money."""
    own = [name for name in SHARED if not _shared(judges, name)]
    clauses = []
    for judge in judges[:NAMED]:
        parts = [*_model(judge), *filter(None, (_words(judge, name) for name in own)), *_settings(judge)]
        parts += _calls(judge)
        clauses.append(f"{judge.name} ({', '.join(parts)})" if parts else judge.name)
    return clauses


def own_family(judges: Sequence[JudgeFacts]) -> str:
    """Which judges come from the maker of a system under comparison; nothing where no maker is known."""
    known = [judge for judge in judges if judge.own_family_systems is not None]
    found = [judge for judge in known if judge.own_family_systems]
    if not known:
        return ""
    if not found:
        return "No system under comparison is known to be by the maker of a judge." if len(known) == len(judges) else ""
    named = [f"{one.name} ({counted(one.own_family_systems or 0, 'system')})" for one in found[:NAMED]]
    more = f" and {counted(len(found) - NAMED, 'judge', 'further')}" if len(found) > NAMED else ""
    return f"Systems by the maker of a judge were under comparison for {listed(named)}{more}."


def _shared(judges: Sequence[JudgeFacts], name: str) -> bool:
    values = {getattr(judge, name) for judge in judges}
    return len(values) == 1 and None not in values


def _words(judge: JudgeFacts, name: str) -> str:
    value = getattr(judge, name)
    if name == "prompt_sha256":
        version = f" {judge.template_version}" if judge.template_version else ""
        return f"with the prompt template{version} of sha256 {value[:12]}" if value else ""
    if name == "batching":
        return BATCHING.get(value, value or "")
    if name == "order":
        return ORDERS.get(value, value or "")
    return f"{counted(value, 'time')} over" if value and value > 1 else ""


def _model(judge: JudgeFacts) -> Iterator[str]:
    if judge.model:
        yield f"model {judge.model}"
    others = [name for name in judge.reported if name != judge.model]
    if others:
        yield f"reported as {listed(others)}"
    if judge.provider and not (judge.model or "").startswith(f"{judge.provider}/"):
        yield f"provider {judge.provider}"


def _settings(judge: JudgeFacts) -> Iterator[str]:
    if judge.parameters is None:
        return
    if "temperature" not in judge.parameters:
        yield "temperature: provider default"
    yield from (f"{name}: {value}" for name, value in sorted(judge.parameters.items()))
    yield from (f"{name}: not accepted by the model" for name in judge.not_sent if name != "temperature")
    if judge.settings_tried and judge.settings_tried > 1:
        yield f"the last of {judge.settings_tried} settings"


def _calls(judge: JudgeFacts) -> Iterator[str]:
    when = between(judge.first_call, judge.last_call)
    if judge.calls:
        tries = f" in {counted(judge.attempts, 'attempt')}" if judge.attempts and judge.attempts > judge.calls else ""
        yield f"{counted(judge.calls, 'call')}{tries}{f' {when}' if when else ''}"
    elif when:
        yield f"called {when}"
    if judge.cost is not None:
        wasted = f", {percent(judge.wasted_share)} of it beyond each call's first reply" if judge.wasted_share else ""
        yield f"{amount(judge.cost)} USD{wasted}"
    elif judge.calls:
        yield "cost unknown"

"""How judges were asked, in clauses of a methods section: model, settings, calls and money of each, what all share."""

from collections.abc import Iterator, Sequence

from exports.facts import JudgeFacts
from exports.words.grammar import amount, between, listed, percent
from plain.wording import several, worded

NAMED_JUDGES = 6  # judges described one by one; the table of judges holds all
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
    for judge in judges[:NAMED_JUDGES]:
        parts = [*_model_of(judge), *filter(None, (_words(judge, name) for name in own)), *_settings_of(judge)]
        parts += _calls_of(judge)
        told = worded("{name} ({kind})", name=judge.name, kind=worded(", ").join(parts))
        clauses.append(told if parts else judge.name)
    return clauses


def own_family(judges: Sequence[JudgeFacts]) -> str:
    """Which judges come from the maker of a system under comparison; nothing where no maker is known."""
    known = [judge for judge in judges if judge.own_family_systems is not None]
    related = [judge for judge in known if judge.own_family_systems]
    if not known:
        return ""
    if not related:
        none = worded("No system under comparison is known to be by the maker of a judge.")
        return none if len(known) == len(judges) else ""
    named = [
        worded("{name} ({kind})", name=one.name, kind=several(one.own_family_systems or 0, "system"))
        for one in related[:NAMED_JUDGES]
    ]
    further = len(related) - NAMED_JUDGES
    more = worded(" and {judges}", judges=several(further, "judge", "further")) if further > 0 else ""
    return worded(
        "Systems by the maker of a judge were under comparison for {named}{more}.", named=listed(named), more=more
    )


def _shared(judges: Sequence[JudgeFacts], name: str) -> bool:
    values = {getattr(judge, name) for judge in judges}
    return len(values) == 1 and None not in values


def _words(judge: JudgeFacts, name: str) -> str:
    value = getattr(judge, name)
    if not value:
        return ""
    if name == "prompt_sha256":
        version = f" {judge.template_version}" if judge.template_version else ""
        return worded("with the prompt template{version} of sha256 {sha256}", version=version, sha256=value[:12])
    if name == "batching":
        return worded(BATCHING[value]) if value in BATCHING else value
    if name == "order":
        return worded(ORDERS[value]) if value in ORDERS else value
    return worded("{n:,} times over", n=value) if value > 1 else ""


def _model_of(judge: JudgeFacts) -> Iterator[str]:
    if judge.provider == "code":
        yield worded("code and no model: {name}", name=judge.model)
        return
    if judge.model:
        yield worded("model {model}", model=judge.model)
    others = [name for name in judge.reported if name != judge.model]
    if others:
        yield worded("reported as {names}", names=listed(others))
    if judge.provider and not (judge.model or "").startswith(f"{judge.provider}/"):
        yield worded("provider {provider}", provider=judge.provider)


def _settings_of(judge: JudgeFacts) -> Iterator[str]:
    if judge.parameters is None:
        return
    if "temperature" not in judge.parameters and judge.provider != "code":
        yield worded("temperature: provider default")
    yield from (f"{name}: {value}" for name, value in sorted(judge.parameters.items()))
    refused = (name for name in judge.not_sent if name != "temperature")
    yield from (worded("{name}: not accepted by the model", name=name) for name in refused)
    if judge.settings_tried and judge.settings_tried > 1:
        yield worded("one of {settings} settings tried", settings=judge.settings_tried)


def _calls_of(judge: JudgeFacts) -> Iterator[str]:
    when = between(judge.first_call, judge.last_call)
    if judge.calls:
        retried = judge.attempts if judge.attempts and judge.attempts > judge.calls else 0
        tries = worded(" in {attempts}", attempts=several(retried, "attempt")) if retried else ""
        yield worded("{calls}{tries} {when}", calls=several(judge.calls, "call"), tries=tries, when=when).strip()
    elif when:
        yield worded("called {when}", when=when)
    if judge.cost is not None:
        share = percent(judge.wasted_share or 0)
        wasted = worded(", {share} of it beyond each call's first reply", share=share) if judge.wasted_share else ""
        yield worded("{cost} USD{wasted}", cost=amount(judge.cost), wasted=wasted)
    elif judge.calls:
        yield worded("cost unknown")

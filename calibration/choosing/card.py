"""The card of a judge: one row a question, each with its value, the limit that was fixed beforehand, and one word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from calibration.bias import Bias
from calibration.biases.bias_audit import BiasAudit
from calibration.biases.probes import Outcome
from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.noninferiority import Claim, ComparisonPlan
from calibration.estimates import Estimate
from calibration.verdicts import BOTH_ORDERS

Question = Literal["agreement", "ceiling gap", "order", "length", "self-preference", "repeats", "answers"]
USABLE = 0.95  # share of answers; below it labels are dropped, which is a caution of its own
WITHIN: Mapping[str, Outcome] = {"non_inferior": "within", "inferior": "beyond", "cannot_tell": "cannot tell"}


@dataclass(frozen=True)
class CardRow:
    """One judge on one question. `within` is what one wants: the whole interval keeps the limit."""

    judge: str
    question: Question
    estimate: Estimate
    limit: str  # in words with its number, such as `gap below 5.0 points`
    outcome: Outcome
    sentence: str


def card(choice: Choice | None, audit: BiasAudit, estimates: Sequence[Estimate]) -> tuple[CardRow, ...]:
    """Every judge's rows, in the order of the candidates; a question its labels cannot answer says what is missing.

    A judge made of both orders has rows for agreement and ceiling gap: the rest is said of the judge itself.
    """
    rows: list[CardRow] = []
    candidates = choice.candidates if choice else ()
    for one in candidates:
        rows += _agreement(one)
        rows += _gap(one, choice.plan) if choice else ()
        if not one.judge.endswith(BOTH_ORDERS):
            rows += _habits(one.judge, audit, estimates)
    if choice is None:
        for repeated in audit.repeats:
            if any(found.rater == repeated.rater and found.statistic == "valid_share" for found in estimates):
                rows += _habits(repeated.rater, audit, estimates)
    return tuple(rows)


def card_of(rows: Sequence[CardRow], judge: str) -> tuple[CardRow, ...]:
    """One judge's rows; where it is made of both orders, with the habits of the judge itself."""
    own = [one for one in rows if one.judge == judge]
    asked = {one.question for one in own}
    itself = judge.removesuffix(BOTH_ORDERS)
    return (*own, *(one for one in rows if one.judge == itself and one.question not in asked))


def gap_of(claim: Claim, plan: ComparisonPlan) -> Estimate:
    """How much more the reference agrees than the judge: above 0 the judge is worse."""
    found, exact = claim.test.difference, claim.test.method == "exact_bound"
    reason = "every cluster shows the same gap" if exact else found.note
    statistic = "gap_to_ceiling" if plan.against == "ceiling" else "gap_to_best_judge"
    return Estimate(
        statistic + "_missing_as_wrong" * plan.missing_as_wrong,
        claim.judge,
        claim.reference,
        "all",
        "all",
        found.value,
        found.low,
        found.high,
        plan.level,
        found.n,
        found.clusters,
        "none" if math.isnan(found.low) else claim.test.method,
        f"no interval: {reason}" if math.isnan(found.low) else "reference minus judge, on the same labels",
    )


def _agreement(one: Candidate) -> Iterator[CardRow]:
    made = one.agreement
    if math.isnan(made.value):
        return
    limit = f"above {_percent(one.baseline)}, the best constant answer"
    outcome: Outcome = "cannot tell"
    if made.low > one.baseline or made.high < one.baseline:
        outcome = "within" if made.low > one.baseline else "beyond"
    told = {
        "within": f"It agrees in {_percent(made.value)} of labels, more than always giving the same answer does.",
        "beyond": f"It agrees in {_percent(made.value)} of labels, less than always giving the same answer would.",
        "cannot tell": f"It agrees in {_percent(made.value)} of labels; whether that is more than always giving the "
        "same answer earns cannot be told.",
    }
    yield CardRow(one.judge, "agreement", made, limit, outcome, told[outcome])


def _gap(one: Candidate, plan: ComparisonPlan) -> Iterator[CardRow]:
    if one.claim is None or math.isnan(one.claim.test.difference.value):
        return
    claim, estimate = one.claim, gap_of(one.claim, plan)
    who = "a left-out annotator" if plan.against == "ceiling" else claim.reference
    found = claim.test.difference
    outcome = WITHIN[claim.outcome]
    gap = f"{who} agrees {_points(abs(found.value))} {'less' if found.value < 0 else 'more'}"
    more = claim.needed.more if claim.needed else None
    told = {
        "within": f"{_capital(gap)}, and a gap as large as the margin is ruled out.",
        "beyond": f"{_capital(gap)}, a gap beyond the margin.",
        "cannot tell": f"{_capital(gap)}; whether that is below the margin cannot be told"
        + (f", label {more:,} more {'clusters' if more > 1 else 'cluster'}." if more else "."),
    }
    yield CardRow(one.judge, "ceiling gap", estimate, f"gap below {_points(plan.margin)}", outcome, told[outcome])


def _habits(judge: str, audit: BiasAudit, estimates: Sequence[Estimate]) -> Iterator[CardRow]:
    for position in (one for one in audit.position if one.rater == judge):
        yield _bias("order", [position.headline], "fill presentation with AB or BA, or run the judge in both orders")
    for length in (one for one in audit.length if one.rater == judge):
        yield _bias("length", length.measures, "fill len_a and len_b")
    for family in (one for one in audit.families if one.judge == judge):
        nothing = f"no label has exactly one report of the family {family.family}"
        yield _bias("self-preference", (family.own, family.given_vote), nothing)
    for repeated in (one for one in audit.repeats if one.rater == judge):
        yield _bias("repeats", [repeated.changed], "ask the judge twice (repeats in judges.toml), or fill run")
    for valid in (one for one in estimates if (one.rater, one.statistic) == (judge, "valid_share")):
        yield _answers(judge, valid)


def said(bias: Bias) -> str:
    """What was seen, as half a sentence with its number; "" for a bias that no card shows."""
    more, size = "more" if bias.effect >= 0 else "less", _points(abs(bias.effect))
    one, other = ("first", "second") if bias.effect >= 0 else ("second", "first")
    rate = _percent(bias.estimate.value)
    return {
        "flip_direction": f"in both orders, it turns to the {one} report {size} more often than to the {other}",
        "first_rate": f"it takes the report shown first in {rate} of decisive labels",
        "order_effect": f"it takes the report shown first in {rate} of decisive labels, given the systems compared",
        "longer_rate_difference": f"it takes the longer report {size} {more} often than people do on the same labels",
        "self_preference": f"it gives reports of its own family {size} {more} than people do on the same labels",
        "changed_answers": f"asked again, it changes {rate} of its answers",
    }.get(bias.estimate.statistic, "")


def _bias(question: Question, biases: Sequence[Bias], enable: str) -> CardRow:
    """`biases`: what must agree; the first is shown. `enable`: what the labels would need."""
    first, places = biases[0], {one.place for one in biases}
    outcome: Outcome = first.place if len(places) == 1 else "cannot tell"
    limit = f"at most {_percent(first.floor)}" if question == "repeats" else f"within ±{_points(first.floor)}"
    if math.isnan(first.estimate.value):
        return CardRow(first.estimate.rater, question, first.estimate, limit, "cannot tell", f"Cannot tell: {enable}.")
    found = said(first)
    sentence = f"{_capital(found)}: {outcome} the limit."
    if outcome == "cannot tell":
        sentence = f"Cannot tell whether the limit is kept: {found}{_doubt(first, first.place != outcome)}."
    return CardRow(first.estimate.rater, question, first.estimate, limit, outcome, sentence)


def _doubt(bias: Bias, contradicted: bool) -> str:
    if contradicted:
        return ", but given the people's votes the answer is another, and both must agree"
    low, high = (end - bias.null for end in (bias.estimate.low, bias.estimate.high))
    if math.isnan(low):
        return ", and no interval is known"
    seen = "" if math.isnan(bias.detectable) else f"; {_points(bias.detectable)} would have been seen with power .8"
    return f", and its effect may be anything from {_points(low)} to {_points(high)}{seen}"


def _answers(judge: str, valid: Estimate) -> CardRow:
    outcome: Outcome = "cannot tell"
    if valid.low >= USABLE or valid.high < USABLE:
        outcome = "within" if valid.low >= USABLE else "beyond"
    told = f"{_percent(valid.value)} of its {valid.n:,} answers can be used"
    more = {
        "within": ".",
        "beyond": ", fewer than the limit.",
        "cannot tell": "; whether the limit is kept cannot be told.",
    }
    return CardRow(judge, "answers", valid, f"at least {_percent(USABLE)} usable", outcome, told + more[outcome])


def _percent(share: float) -> str:
    return f"{100 * share + 0.0:.1f} %"


def _points(gap: float) -> str:
    return f"{100 * gap + 0.0:.1f} points"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]

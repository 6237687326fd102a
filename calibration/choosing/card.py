"""The card of a judge: one row a question, each with its value, the limit that was fixed beforehand, and one word.

The choice of a judge reads these rows and nothing else: what a card says and what is decided cannot differ.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibration.biases.bias_audit import BiasAudit
from calibration.choosing import above, noninferiority
from calibration.estimates import Estimate
from calibration.inference.stress_effect import Outcome
from calibration.remarks import Reason, no_interval, remarks_of
from calibration.settings import CalibrationSettings
from calibration.study.bias import Bias
from calibration.study.distance import BY_DISTANCE, KAPPA, is_by_distance, said_of
from calibration.study.left_out import SUFFIX
from calibration.table.verdicts import BOTH_ORDERS
from plain.counting import counted
from plain.wording import worded

Question = Literal["agreement", "ceiling gap", "floor", "order", "length", "self-preference", "repeats", "answers"]
USABLE = 0.95  # share of answers; below it labels are dropped, which is a caution of its own
WITHIN: Mapping[str, Outcome] = {"non_inferior": "within", "inferior": "beyond", "cannot_tell": "cannot tell"}
ABOVE: Mapping[above.Place, Outcome] = {"above": "within", "below": "beyond", "cannot_tell": "cannot tell"}


@dataclass(frozen=True)
class CardRow:
    """One judge on one question. `within` is what one wants: the limit is shown to be kept."""

    judge: str
    question: Question
    estimate: Estimate
    limit: str  # in words with its number, such as `gap below 5.0 points`
    outcome: Outcome
    sentence: str


def required(settings: CalibrationSettings) -> tuple[Question, ...]:
    """The questions that decide whether a judge is adequate; the plan holds them before a result is shown."""
    floor = settings.at_least is not None or settings.at_least_kappa is not None
    first: tuple[Question, ...] = ("agreement", "floor" if floor else "ceiling gap", "answers")
    wanted: dict[str, Question] = {
        "ceiling gap": "ceiling gap", "order": "order", "length": "length", "self-preference": "self-preference",
        "repeats": "repeats",
    }  # fmt: skip
    return tuple(dict.fromkeys([*first, *(wanted[question] for question in settings.require)]))


def card_of(rows: Sequence[CardRow], judge: str) -> tuple[CardRow, ...]:
    """One judge's rows; where it is made of both orders, with the habits of the judge itself."""
    own = [row for row in rows if row.judge == judge]
    asked = {one.question for one in own}
    itself = judge.removesuffix(BOTH_ORDERS)
    return (*own, *(row for row in rows if row.judge == itself and row.question not in asked))


def gap_of(claim: noninferiority.Claim, plan: noninferiority.ComparisonPlan) -> Estimate:
    """How much more a left-out annotator agrees than the judge: above 0 the judge is worse."""
    found, exact = claim.test.difference, claim.test.method == "exact_bound"
    why = no_interval(Reason.ZERO_VARIANCE, "every cluster shows the same gap")
    if not exact:
        why = no_interval(found.note or Reason.UNKNOWN, found.note)
    return Estimate(
        "gap_to_ceiling" + SUFFIX[plan.ties] + "_missing_as_wrong" * plan.missing_as_wrong,
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
        remarks_of(why if math.isnan(found.low) else "reference minus judge, on the same labels"),
    )


def agreement_row(agreement: Estimate, constant: above.Above) -> Iterator[CardRow]:
    """Whether a judge agrees more than the best constant answer does, by a test."""
    if math.isnan(agreement.value):
        return
    outcome, reached = ABOVE[constant.outcome], _percent(agreement.value)
    more = f"at least {points(constant.lower)} more, by a one-sided bound"
    agrees = f"It agrees {said_of(reached, is_by_distance(agreement.statistic))}"
    told = {
        "within": f"{agrees}, more than always giving the same answer does ({more}).",
        "beyond": f"{agrees}, no more than always giving the same answer would.",
        "cannot tell": f"{agrees}; whether that is more than always giving the same answer earns cannot be told.",
    }
    limit = f"above {_percent(constant.bound)}, the best constant answer"
    yield CardRow(constant.judge, "agreement", agreement, limit, outcome, told[outcome])


def gap_row(claim: noninferiority.Claim, plan: noninferiority.ComparisonPlan) -> Iterator[CardRow]:
    """Whether a left-out annotator agrees more than the judge by less than the margin."""
    if math.isnan(claim.test.difference.value):
        return
    found = claim.test.difference
    outcome = WITHIN[claim.outcome]
    gap = f"a left-out annotator agrees {points(abs(found.value))} {'less' if found.value < 0 else 'more'}"
    more = claim.needed.more if claim.needed else None
    told = {
        "within": f"{_capital(gap)}, and a gap as large as the margin is ruled out.",
        "beyond": f"{_capital(gap)}, a gap beyond the margin.",
        "cannot tell": f"{_capital(gap)}; whether that is below the margin cannot be told"
        + (f", label {counted(more, plan.cluster, 'more')}." if more else "."),
    }
    limit = f"gap below {points(plan.margin)}"
    yield CardRow(claim.judge, "ceiling gap", gap_of(claim, plan), limit, outcome, told[outcome])


def floor_row(agreement: Estimate, floor: above.Above, plan: noninferiority.ComparisonPlan) -> Iterator[CardRow]:
    """Whether agreement, or kappa, is above the floor that the plan states."""
    if math.isnan(floor.value):
        return
    outcome = ABOVE[floor.outcome]
    value, limit, what = _percent(floor.value), f"at least {_percent(floor.bound)} of labels", "It agrees in {}"
    if plan.ties in BY_DISTANCE:
        limit, what = f"at least {_percent(floor.bound)}, by the distance of the scores", "It agrees to {}"
    if plan.at_least_kappa is not None:
        kappa = KAPPA.get(plan.ties, "κ")
        value, limit, what = f"{floor.value:.2f}", f"{kappa} of at least {floor.bound:.2f}", f"Its {kappa} is {{}}"
    told = {
        "within": "and less than the floor is ruled out.",
        "beyond": "below the floor.",
        "cannot tell": "and whether that is above the floor cannot be told.",
    }
    estimate = agreement if plan.at_least_kappa is None else _kappa_estimate(agreement, floor)
    yield CardRow(floor.judge, "floor", estimate, limit, outcome, f"{what.format(value)}, {told[outcome]}")


def covering(rows: Sequence[CardRow], covered: float) -> Iterator[CardRow]:
    """The rows, where usable answers are not within their limit if the judge has none on labels that people gave.

    What it was not asked, or called not applicable, may be just where it fails. `covered`: share of those labels.
    """
    for row in rows:
        if row.question == "answers" and covered < USABLE:
            outcome: Outcome = "beyond" if row.outcome == "beyond" else "cannot tell"
            told = f"{row.sentence} It is compared on {_percent(covered)} of the annotators' labels only."
            yield replace(row, outcome=outcome, sentence=told)
        else:
            yield row


def habits(judge: str, audit: BiasAudit, estimates: Sequence[Estimate]) -> tuple[CardRow, ...]:
    """What a judge does whatever people say: order, length, self-preference, repeats, and answers that can be used."""
    return tuple(_habits(judge.removesuffix(BOTH_ORDERS), audit, estimates))


def _kappa_estimate(agreement: Estimate, floor: above.Above) -> Estimate:
    """Of usable answers; two one-sided bounds are an interval of twice the error."""
    known = math.isfinite(floor.lower)
    return Estimate(
        "cohen_kappa", floor.judge, agreement.reference, "all", "all", floor.value, floor.bound + floor.lower,
        floor.bound + floor.upper, 2 * agreement.level - 1, floor.n, floor.clusters,
        "fisher_z_linearised" if known else "none",
        remarks_of("of usable answers" if known else no_interval(floor.note or Reason.UNKNOWN, floor.note)),
    )  # fmt: skip


def _habits(judge: str, audit: BiasAudit, estimates: Sequence[Estimate]) -> Iterator[CardRow]:
    for position in (one for one in audit.position if one.rater == judge):
        yield _bias("order", [position.headline], "fill presentation with AB or BA, or run the judge in both orders")
    for length in (one for one in audit.length if one.rater == judge):
        yield _bias("length", length.measures, "fill len_a and len_b")
    for family in (one for one in audit.families if one.judge == judge):
        nothing = f"no label has exactly one report of the family {family.family}"
        yield _bias("self-preference", (family.own, family.given_vote), nothing)
    for repeated in (repeat for repeat in audit.repeats if repeat.rater == judge):
        yield _bias("repeats", [repeated.changed], "ask the judge twice (repeats in judges.toml), or fill run")
    for valid in (estimate for estimate in estimates if (estimate.rater, estimate.statistic) == (judge, "valid_share")):
        yield _answers(judge, valid)


def said(bias: Bias) -> str:
    """What was seen, as half a sentence with its number; "" for a bias that no card shows."""
    more, size = "more" if bias.effect >= 0 else "less", points(abs(bias.effect))
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
    first, places = biases[0], {bias.place for bias in biases}
    outcome: Outcome = first.place if len(places) == 1 else "cannot tell"
    limit = f"at most {_percent(first.floor)}" if question == "repeats" else f"within ±{points(first.floor)}"
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
    seen = "" if math.isnan(bias.detectable) else f"; {points(bias.detectable)} would have been seen with power .8"
    return f", and its effect may be anything from {points(low)} to {points(high)}{seen}"


def _answers(judge: str, valid: Estimate) -> CardRow:
    outcome: Outcome = "cannot tell"
    if valid.value == 1 or valid.low >= USABLE:  # all of them is no matter of luck
        outcome = "within"
    elif valid.high < USABLE:
        outcome = "beyond"
    told = f"{_percent(valid.value)} of its {valid.n:,} answers can be used"
    more = {
        "within": ".",
        "beyond": ", fewer than the limit.",
        "cannot tell": "; whether the limit is kept cannot be told.",
    }
    return CardRow(judge, "answers", valid, f"at least {_percent(USABLE)} usable", outcome, told + more[outcome])


def _percent(share: float) -> str:
    return f"{100 * share + 0.0:.1f} %"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def points(gap: float) -> str:
    """`5.0 points`, of a difference of shares."""
    return worded("{gap:.1f} points", gap=100 * gap + 0.0)

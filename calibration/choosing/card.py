"""The card of a judge: one row a question, each with its value, the limit that was fixed beforehand, and one word.

The choice of a judge reads these rows and nothing else: what a card says and what is decided cannot differ.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from calibration.biases.bias_audit import BiasAudit
from calibration.choosing import above, noninferiority
from calibration.estimates import Estimate
from calibration.inference.stress_effect import Outcome
from calibration.remarks import Reason, no_interval, remarks_of
from calibration.settings import CalibrationSettings
from calibration.study.bias import Bias
from calibration.study.distance import BY_DISTANCE, KAPPA, is_by_distance
from calibration.study.left_out import SUFFIX
from calibration.table.verdicts import BOTH_ORDERS
from calibration.warning_words import Clause, told

Question = Literal["agreement", "ceiling gap", "floor", "order", "length", "self-preference", "repeats", "answers"]
USABLE = 0.95  # share of answers; below it labels are dropped, which is a caution of its own
WITHIN: Mapping[str, Outcome] = {"non_inferior": "within", "inferior": "beyond", "cannot_tell": "cannot tell"}
ABOVE: Mapping[above.Place, Outcome] = {"above": "within", "below": "beyond", "cannot_tell": "cannot tell"}
# what a row says, by its question and what is known; numbers are percent and points
AGREES = "It agrees in {share:.1f} % of labels", "It agrees to {near:.1f} %, by the distance of the scores"
AGREEMENT: Mapping[Outcome, Clause] = {
    "within": [
        AGREES,
        ", more than always giving the same answer does (at least {over:.1f} points more, by a one-sided bound).",
    ],
    "beyond": [AGREES, ", no more than always giving the same answer would."],
    "cannot tell": [AGREES, "; whether that is more than always giving the same answer earns cannot be told."],
}
CONSTANT = "above {constant:.1f} %, the best constant answer"
GAP = "a left-out annotator agrees {less:.1f} points less", "a left-out annotator agrees {gap:.1f} points more"
GAPS: Mapping[Outcome, Clause] = {
    "within": [GAP, ", and a gap as large as the margin is ruled out."],
    "beyond": [GAP, ", a gap beyond the margin."],
    "cannot tell": [
        GAP,
        (
            "; whether that is below the margin cannot be told, label {more:more {cluster}}.",
            "; whether that is below the margin cannot be told.",
        ),
    ],
}
MARGIN = "gap below {margin:.1f} points"
REACHES = "Its {kappa} is {kappa_value:.2f}", "It agrees to {near:.1f} %", "It agrees in {share:.1f} %"
FLOORS: Mapping[Outcome, Clause] = {
    "within": [REACHES, ", and less than the floor is ruled out."],
    "beyond": [REACHES, ", below the floor."],
    "cannot tell": [REACHES, ", and whether that is above the floor cannot be told."],
}
FLOOR = (
    "{kappa} of at least {kappa_least:.2f}",
    "at least {near_least:.1f} %, by the distance of the scores",
    "at least {least:.1f} % of labels",
)
ANSWERS: Mapping[Outcome, Clause] = {
    "within": "{usable:.1f} % of its {n:,} answers can be used.",
    "beyond": "{usable:.1f} % of its {n:,} answers can be used, fewer than the limit.",
    "cannot tell": "{usable:.1f} % of its {n:,} answers can be used; whether the limit is kept cannot be told.",
}
COVERED = " It is compared on {covered:.1f} % of the annotators' labels only."
USABLE_LIMIT = "at least {least:.1f} % usable"
SEEN: Mapping[str, Clause] = {  # by the measure of a bias
    "flip_direction": (
        "in both orders, it turns to the first report {more:.1f} points more often than to the second",
        "in both orders, it turns to the second report {less:.1f} points more often than to the first",
    ),
    "first_rate": "it takes the report shown first in {rate:.1f} % of decisive labels",
    "order_effect": "it takes the report shown first in {rate:.1f} % of decisive labels, given the systems compared",
    "longer_rate_difference": (
        "it takes the longer report {more:.1f} points more often than people do on the same labels",
        "it takes the longer report {less:.1f} points less often than people do on the same labels",
    ),
    "self_preference": (
        "it gives reports of its own family {more:.1f} points more than people do on the same labels",
        "it gives reports of its own family {less:.1f} points less than people do on the same labels",
    ),
    "changed_answers": "asked again, it changes {rate:.1f} % of its answers",
}
KEPT: Mapping[Outcome, str] = {"within": ": within the limit.", "beyond": ": beyond the limit."}
UNSURE = "Cannot tell whether the limit is kept: "
CONTRADICTED = ", but given the people's votes the answer is another, and both must agree."
DOUBT = (
    ", and its effect may be anything from {low:.1f} points to {high:.1f} points; "
    "{detectable:.1f} points would have been seen with power .8.",
    ", and its effect may be anything from {low:.1f} points to {high:.1f} points.",
    ", and no interval is known.",
)
LACKING = "no label has exactly one report of the family {family}", "{lacks!t}"
WITHOUT_VALUE = "Cannot tell: no label has exactly one report of the family {family}.", "Cannot tell: {lacks!t}."
HABIT_LIMITS = {"repeats": "at most {limit:.1f} %"}
HABIT_LIMIT = "within ±{limit:.1f} points"
LACKS = {
    "order": "fill presentation with AB or BA, or run the judge in both orders",
    "one order": "run the judge in both orders",
    "length": "fill len_a and len_b",
    "repeats": "ask the judge twice (repeats in judges.toml), or fill run",
}


@dataclass(frozen=True)
class CardRow:
    """One judge on one question. `within` is what one wants: the limit is shown to be kept.

    `limited`, `says`: what the limit and the row are told by, with `facts`: numbers and names.
    """

    judge: str
    question: Question
    estimate: Estimate
    limited: Clause = field(hash=False)
    outcome: Outcome
    says: Clause = field(hash=False)
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def limit(self) -> str:
        """In words with its number, such as `gap below 5.0 points`."""
        return told(self.limited, self.facts)

    @property
    def sentence(self) -> str:
        """What was found beside the limit, for people; no rule reads it."""
        sentence = told(self.says, self.facts)
        return sentence[:1].upper() + sentence[1:]


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
    outcome, near = ABOVE[constant.outcome], is_by_distance(agreement.statistic)
    facts = {
        "near" if near else "share": _percent(agreement.value),
        "over": _percent(constant.lower),
        "constant": _percent(constant.bound),
    }
    yield CardRow(constant.judge, "agreement", agreement, CONSTANT, outcome, AGREEMENT[outcome], facts)


def gap_row(claim: noninferiority.Claim, plan: noninferiority.ComparisonPlan) -> Iterator[CardRow]:
    """Whether a left-out annotator agrees more than the judge by less than the margin."""
    if math.isnan(claim.test.difference.value):
        return
    found = claim.test.difference
    outcome = WITHIN[claim.outcome]
    facts = {
        "less" if found.value < 0 else "gap": abs(_percent(found.value)),
        "margin": _percent(plan.margin),
        "more": claim.needed.more or None if claim.needed else None,
        "cluster": plan.cluster,
    }
    yield CardRow(claim.judge, "ceiling gap", gap_of(claim, plan), MARGIN, outcome, GAPS[outcome], facts)


def floor_row(agreement: Estimate, floor: above.Above, plan: noninferiority.ComparisonPlan) -> Iterator[CardRow]:
    """Whether agreement, or kappa, is above the floor that the plan states."""
    if math.isnan(floor.value):
        return
    outcome = ABOVE[floor.outcome]
    facts: Mapping[str, Any] = {"share": _percent(floor.value), "least": _percent(floor.bound)}
    if plan.ties in BY_DISTANCE:
        facts = {"near": _percent(floor.value), "near_least": _percent(floor.bound)}
    if plan.at_least_kappa is not None:
        kappa = KAPPA.get(plan.ties, "κ")
        facts = {"kappa": kappa, "kappa_value": floor.value, "kappa_least": floor.bound}
    estimate = agreement if plan.at_least_kappa is None else _kappa_estimate(agreement, floor)
    yield CardRow(floor.judge, "floor", estimate, FLOOR, outcome, FLOORS[outcome], facts)


def covering(rows: Sequence[CardRow], covered: float) -> Iterator[CardRow]:
    """The rows, where usable answers are not within their limit if the judge has none on labels that people gave.

    What it was not asked, or called not applicable, may be just where it fails. `covered`: share of those labels.
    """
    for row in rows:
        if row.question == "answers" and covered < USABLE:
            outcome: Outcome = "beyond" if row.outcome == "beyond" else "cannot tell"
            facts = {**row.facts, "covered": _percent(covered)}
            yield replace(row, outcome=outcome, says=[row.says, COVERED], facts=facts)
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
        known = position.first_rate.estimate.n > 0  # who stood first, though not apart from who is better
        yield _bias("order", [position.headline], lacks=LACKS["one order" if known else "order"])
    for length in (one for one in audit.length if one.rater == judge):
        yield _bias("length", length.measures)
    for family in (one for one in audit.families if one.judge == judge):
        yield _bias("self-preference", (family.own, family.given_vote), family.family)
    for repeated in (repeat for repeat in audit.repeats if repeat.rater == judge):
        yield _bias("repeats", [repeated.changed])
    for valid in (estimate for estimate in estimates if (estimate.rater, estimate.statistic) == (judge, "valid_share")):
        yield _answers(judge, valid)


def _bias(question: Question, biases: Sequence[Bias], family: str | None = None, lacks: str | None = None) -> CardRow:
    """`biases`: what must agree; the first is shown. `family`: the judge's own, for which reports may lack.

    `lacks`: what would tell, where it is not always the same for the question.
    """
    first, places = biases[0], {bias.place for bias in biases}
    outcome: Outcome = first.place if len(places) == 1 else "cannot tell"
    seen = SEEN.get(first.estimate.statistic, "")
    doubt = CONTRADICTED if first.place != outcome else DOUBT
    says: Clause = [UNSURE, seen, doubt] if outcome == "cannot tell" else [seen, KEPT[outcome]]
    if math.isnan(first.estimate.value):
        outcome, says = "cannot tell", WITHOUT_VALUE
    facts = {
        "limit": _percent(first.floor),
        "rate": _percent(first.estimate.value),
        "more" if first.effect >= 0 else "less": abs(_percent(first.effect)),
        "low": _percent(first.estimate.low - first.null),
        "high": _percent(first.estimate.high - first.null),
        "detectable": _percent(first.detectable),
        "family": family,
        "lacks": lacks or LACKS.get(question),
    }
    limit = HABIT_LIMITS.get(question, HABIT_LIMIT)
    return CardRow(first.estimate.rater, question, first.estimate, limit, outcome, says, facts)


def _answers(judge: str, valid: Estimate) -> CardRow:
    outcome: Outcome = "cannot tell"
    if valid.value == 1 or valid.low >= USABLE:  # all of them is no matter of luck
        outcome = "within"
    elif valid.high < USABLE:
        outcome = "beyond"
    facts = {"usable": _percent(valid.value), "n": valid.n, "least": _percent(USABLE)}
    return CardRow(judge, "answers", valid, USABLE_LIMIT, outcome, ANSWERS[outcome], facts)


def _percent(share: float) -> float:
    return 100 * share + 0.0

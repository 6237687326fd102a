"""The numbers of one judge in words: its agreement, and the gap or floor that decides, each with its bound."""

import math

from calibration.choosing import noninferiority, open_words
from calibration.choosing.choice import Candidate
from calibration.estimates import Estimate
from calibration.inference.compare import Difference
from calibration.remarks import Reason
from calibration.study.distance import BY_DISTANCE, KAPPA, said_of
from plain.wording import several, worded


def enough(plan: noninferiority.ComparisonPlan) -> tuple[str, str, str]:
    """What good enough means: after `shown to`, after `whether it`, and as the limit in brackets."""
    if plan.at_least is not None:
        least = f"{open_words.percent(plan.at_least).removesuffix('.0')} %"
        near = plan.ties in BY_DISTANCE
        share = said_of(worded("at least {least}", least=least), near)
        floor = worded("floor {least}" if near else "floor {least} of labels", least=least)
        return worded("agree {share}", share=share), worded("agrees {share}", share=share), floor
    if plan.at_least_kappa is not None:
        least = f"{plan.at_least_kappa:g}".replace("0.", ".")
        kappa = worded("{kappa} of at least {least}", kappa=KAPPA.get(plan.ties, "κ"), least=least)
        told = (worded(one, kappa=kappa) for one in ("reach a {kappa}", "reaches a {kappa}", "floor: {kappa}"))
        return next(told), next(told), next(told)
    margin = points(plan.margin)
    below = worded("less than {margin} short of a left-out annotator", margin=margin)
    return worded("fall {below}", below=below), worded("falls {below}", below=below), (
        worded("margin {margin}", margin=margin)
    )  # fmt: skip


def agreement_words(candidate: Candidate, word: str) -> str:
    share = said_of(f"{open_words.percent(candidate.agreement.value)} %", candidate.is_by_distance)
    interval = interval_words(candidate, word, candidate.agreement.remark(Reason.SIMULTANEOUS) is not None)
    return worded("the annotators {share} ({interval})", share=share, interval=interval)


def interval_words(candidate: Candidate, word: str, together: bool = False) -> str:
    """`95 % interval 69.1 to 90.2 %; 180 labels in 6 topics`; `together`: simultaneous over all tried."""
    made = candidate.agreement
    said = "{level:g} % interval {low} to {high} %"
    if together:
        said = "{level:g} % interval, simultaneous over all tried, {low} to {high} %"
    interval = worded(
        said, level=100 * made.level, low=open_words.percent(made.low), high=open_words.percent(made.high)
    )
    if math.isnan(made.low):
        interval = worded("no interval")
    return worded("{interval}; {seen}{wrong}", interval=interval, seen=seen_words(made, word), wrong=_wrong(candidate))


def seen_words(made: Estimate | Difference, word: str) -> str:
    labels, clusters = several(made.n, "label"), several(made.clusters, word.removesuffix("s"))
    return worded("{labels} in {clusters}", labels=labels, clusters=clusters)


def _wrong(candidate: Candidate) -> str:
    """Said where agreement over the usable answers alone would be another number."""
    wrong = candidate.valid_share < 1 and candidate.agreement.statistic.endswith("_missing_as_wrong")
    return worded(", unusable answers counted as disagreement") if wrong else ""


def measured(candidate: Candidate, plan: noninferiority.ComparisonPlan, word: str) -> str:
    """What decides, with its bound: the gap to a left-out annotator, or the floor; "" where neither is known."""
    if candidate.floor is not None and not math.isnan(candidate.floor.p):
        return _floor(candidate, plan)
    if candidate.claim is None or math.isnan(candidate.claim.test.difference.value):
        return ""
    return _gap(candidate.claim, plan, word)


def _floor(candidate: Candidate, plan: noninferiority.ComparisonPlan) -> str:
    floor = candidate.floor
    if floor is None:
        return ""
    end = floor.bound + (floor.upper if floor.outcome == "below" else floor.lower)
    limit, p = enough(plan)[2], open_words.p_words(floor.p_adjusted)
    if math.isnan(end):
        return worded("this look has no bound ({limit}, adjusted {p})", limit=limit, p=p)
    tested = worded("by {bound}; {limit}, adjusted {p}", bound=_which_bound(plan), limit=limit, p=p)
    most = "at most {end}" if floor.outcome == "below" else "at least {end}"
    if plan.at_least_kappa is not None:
        kappa, most = KAPPA.get(plan.ties, "κ"), worded(most, end=f"{end:.2f}")
        said = "its {kappa} is {value:.2f} ({most}, {tested})"
        return worded(said, kappa=kappa, value=floor.value, most=most, tested=tested)
    return worded("that is {most} ({tested})", most=worded(most, end=f"{open_words.percent(end)} %"), tested=tested)


def _gap(claim: noninferiority.Claim, plan: noninferiority.ComparisonPlan, word: str) -> str:
    test, gap = claim.test, claim.test.difference
    tested = worded("no test possible")
    if not math.isnan(test.p):
        at_most = claim.outcome != "inferior"
        bound = _most(test.upper if at_most else test.lower, at_most)
        tested = worded("no bound at this look")
        if bound:
            tested = worded("{bound}, by {which}", bound=bound, which=_which_bound(plan))
        margin, p = points(plan.margin), open_words.p_words(claim.p_adjusted)
        tested += worded("; margin {margin}, adjusted {p}", margin=margin, p=p)
    said = "a left-out annotator agrees {gap} less ({tested}; {seen})"
    if not gap.value < 0:
        said = "a left-out annotator agrees {gap} more ({tested}; {seen})"
    return worded(said, gap=points(abs(gap.value)), tested=tested, seen=seen_words(gap, word))


def _which_bound(plan: noninferiority.ComparisonPlan) -> str:
    if plan.looks == "one":
        return worded("the unadjusted one-sided {level:g} % bound", level=100 * plan.level)
    return worded("the one-sided bound of this look, unadjusted for judges")


def _most(bound: float, at_most: bool) -> str:
    """A bound of how much more the annotator agrees, in words no sign can turn: `at most 1.9 points more`; "": none."""
    if math.isnan(bound):
        return ""
    if bound < 0:
        return worded("at least {gap} less" if at_most else "at most {gap} less", gap=points(-bound))
    return worded("at most {gap} more" if at_most else "at least {gap} more", gap=points(bound))


def points(gap: float) -> str:
    """`5.0 points`, of a difference of shares."""
    return worded("{gap:.1f} points", gap=100 * gap + 0.0)

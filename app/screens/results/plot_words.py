"""What each plot of a page shows, in one sentence with this study's numbers; "" where there is nothing to draw."""

import math
from collections.abc import Iterable, Sequence

from app.results.quality import in_words
from calibration.agreement.reliability_map import ReliabilityMap
from calibration.choosing.open_words import price
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.results import CalibrationReport, Estimate
from calibration.sizing import agreement_so_far, study_plan
from calibration.systems.pass_rates import CORRECTED, PASS_RATE, ROGAN_GLADEN
from calibration.table.verdicts import BOTH_ORDERS
from exports.cells import shown
from exports.figures import Figure
from exports.plots.forest import judge_shown as judge_with_pass_rates
from exports.sheets import bias, confidence, ranking
from exports.sheets.alone import alone
from exports.tables import PEOPLE, pooled_in
from exports.words.plan_words import percent, rounded
from exports.words.sentences import price_words
from plain.wording import worded


def of_frontier(report: CalibrationReport) -> str:
    """The judge that agrees most and the cheapest one, each with its price."""
    tried = [one for one in (report.choice.candidates if report.choice else ()) if _known(one.agreement)]
    priced = [one for one in tried if not math.isnan(one.cost_per_item)]
    if not priced:
        return ""
    best, cheap = max(priced, key=lambda one: one.agreement.value), min(priced, key=lambda one: one.cost_per_item)
    costs = {one.judge: price(one) for one in (best, cheap)}
    what = worded("candidates" if any(one.judge.endswith(BOTH_ORDERS) for one in priced) else "judges")
    first = worded(
        "Of {priced} {what} with a price {judge} agrees most, {agreement}",
        priced=len(priced), what=what, judge=best.judge, agreement=in_words(best.agreement),
    )  # fmt: skip
    if best is cheap:
        return worded("{first}, and costs least, {costs}.", first=first, costs=costs[best.judge])
    last = worded(
        "the cheapest, {judge}, agrees {agreement} for {costs}",
        judge=cheap.judge, agreement=in_words(cheap.agreement), costs=costs[cheap.judge],
    )  # fmt: skip
    return worded("{first}, for {costs}; {last}.", first=first, costs=costs[best.judge], last=last)


def of_forest(figure: Figure | None) -> str:
    """Who is last in the first panel, and how many reach what the annotators reach among themselves."""
    drawn = figure.drawn if figure else ()
    first = [one for one in drawn if one.statistic == drawn[0].statistic and one.reference == PEOPLE and _known(one)]
    if not first:
        return ""
    last = min(first, key=_value)
    people = next((one for one in drawn if one.rater == PEOPLE and one.statistic == drawn[0].statistic), None)
    said = worded("{rater} agrees least with the annotators, {last}", rater=last.rater, last=in_words(last))
    if people is None or not _known(people):
        return f"{said}."
    if len(first) == 1:
        said = worded("{rater} agrees with the annotators, {last}", rater=last.rater, last=in_words(last))
        return worded("{said}; annotators among themselves, {people}.", said=said, people=shown(people)[0])
    reach = sum(one.value >= people.value for one in first)
    return worded(
        "{said}; {reach} of {first} reach what annotators reach among themselves, {people}.",
        said=said, reach=reach, first=len(first), people=shown(people)[0],
    )  # fmt: skip


def of_pass_fail(report: CalibrationReport) -> str:
    """Both rates of the judge that is right most often about both."""
    found = {(one.rater, one.statistic): one for one in pooled_in(report)}
    judges = [one for (_, name), one in found.items() if name == "youden_j" and one.reference == PEOPLE and _known(one)]
    if not judges:
        return ""
    best = max(judges, key=_value)
    right, refused = (found[best.rater, f"true_{which}_rate"] for which in ("positive", "negative"))
    first = (
        worded("Of {judges} judges {rater}", judges=len(judges), rater=best.rater) if len(judges) > 1 else best.rater
    )
    return worded(
        "{first} finds {right} of what people say passes, and {refused} of what fails.",
        first=first, right=in_words(right), refused=in_words(refused),
    )  # fmt: skip


def of_pass_rates(report: CalibrationReport) -> str:
    """What passes of everything by one judge alone, and without its errors."""
    judge = judge_with_pass_rates(report)
    known = {
        one.statistic: one
        for one in report.estimates
        if (one.rater, one.criterion, one.category) == (judge, "all", "all") and _known(one)
    }
    if not {PASS_RATE, CORRECTED} <= set(known):
        return ""
    alone, corrected = (
        in_words(known[PASS_RATE]),
        worded("{known} by its mean error (PPI++)", known=in_words(known[CORRECTED])),
    )
    rates = (
        worded("{known} by its error rates and ", known=in_words(known[ROGAN_GLADEN])) if ROGAN_GLADEN in known else ""
    )
    return worded(
        "A share of {alone} passes by {judge} alone; without its errors {rates}{corrected}.",
        alone=alone, judge=judge, rates=rates, corrected=corrected,
    )  # fmt: skip


def of_reliability(found: ReliabilityMap) -> str:
    """Where the judge agrees least and most, beside a left-out annotator."""
    cells = [one for one in found.cells if _known(one.agreement) and one.criterion != "all"]
    cells = [one for one in cells if one.category != "all" or not found.categories]
    if not cells:
        return ""
    ends = min(cells, key=lambda one: one.agreement.value), max(cells, key=lambda one: one.agreement.value)
    said = [
        worded(
            "on {criterion}{more}, {agreement} beside {ceiling} of a left-out annotator",
            criterion=one.criterion,
            more="" if one.category == "all" else worded(" in {category}", category=one.category),
            agreement=shown(one.agreement)[0],
            ceiling=shown(one.ceiling)[0],
        )
        for one in ends
    ]
    return worded(
        "Over {cells:,} cells {judge} agrees least {said}, and most {said2}.",
        cells=len(cells), judge=found.judge, said=said[0], said2=said[1],
    )  # fmt: skip


def of_bias(report: CalibrationReport) -> str:
    """How many effects are beyond chance, and the largest one."""
    asked = [(one, bias.effect_of(one.bias)) for one in bias.headlines(report) if not math.isnan(one.bias.estimate.low)]
    if not asked:
        return ""
    apart = sum(not effect.low <= 0 <= effect.high for _, effect in asked)
    one, effect = max(asked, key=lambda pair: abs(pair[1].value))
    largest = f"{in_words(effect)}: {one.said}, {one.rater}"
    people = worded(", the annotators' among them,") * any(one.bias.estimate.rater == PEOPLE for one, _ in asked)
    return worded(
        "{apart} of {asked} intervals{people} leave 0 out; the effect furthest from 0 is {largest}.",
        apart=apart, asked=len(asked), people=people, largest=largest,
    )  # fmt: skip


def of_confidence(report: CalibrationReport) -> str:
    """How often the first rater is right where it is least and most sure."""
    rows = [one for one in confidence.believed(report) if one.points]
    if not rows:
        return ""
    first = rows[0]
    low, high = (
        worded("{points} at {levels}", points=in_words(first.points[at]), levels=first.levels[at]) for at in (0, -1)
    )
    return worded(
        "{rater} ({kind}) agrees with the annotators in {low}, its least sure, and {high}, its surest.",
        rater=first.rater, kind=first.kind, low=low, high=high,
    )  # fmt: skip


def of_alone(report: CalibrationReport) -> str:
    """How much the judge that may decide most decides, and the price of that."""
    rows = [one for one in alone(report) if one.decided]
    if not rows:
        return worded("No judge is shown to err seldom enough on any share of the items.") if alone(report) else ""
    most = max(rows, key=lambda one: one.decided.share.value if one.decided else 0.0)
    price_of = price_words(most, report.labels.money)
    return worded("{judge} decides most. {price_words}.", judge=most.judge, price_words=price_of)


def of_ranking(report: CalibrationReport, judge: str) -> str:
    """First and last by people, and who is first by the judge."""
    people, alone = ranking.placing(report, ranking.WIN_RATE, PEOPLE), ranking.placing(report, ranking.WIN_RATE, judge)
    if people is None:
        return ""
    order = ranking.by_people(people)
    said = [worded("{name} {word} with {estimates}", name=name, word=word, estimates=in_words(people.estimates[name]))
            for name, word in ((order[0], worded("leads")), (order[-1], worded("is last")))]  # fmt: skip
    top = ranking.by_people(alone)[0] if alone else ""
    leads = "; by {judge} alone {top} leads with {estimates}"
    also = worded(leads, judge=judge, top=top, estimates=in_words(alone.estimates[top])) if alone else ""
    return worded("By people {said} of its comparisons won, and {said2}{also}.", said=said[0], said2=said[1], also=also)


def of_plan(found: study_plan.StudyPlan, goals: study_plan.Goals) -> str:
    """Topics for the interval that is wanted, and what another number would give."""
    needed = next(one.needed.clusters for one in found.aims if one.aim == "interval")
    topics = (
        worded("no known number of topics brings")
        if needed is None
        else worded("{needed:,} topics bring", needed=needed)
    )
    first = worded(
        "With an ICC of {icc}, {topics} the interval to ±{half_width:g} points",
        icc=rounded(found.icc, 2), topics=topics, half_width=100 * goals.half_width,
    )  # fmt: skip
    return (
        worded(
            "{first}; {topics:,} give ±{half_width:.2g} points.",
            first=first,
            topics=found.at.topics,
            half_width=100 * found.at.half_width,
        )
        if found.at
        else f"{first}."
    )


def of_draw(found: study_plan.StudyPlan, goals: study_plan.Goals) -> str:
    """How many topics drawn do for how many at random."""
    interval = next(one for one in found.aims if one.aim == "interval")
    if interval.drawn is None:
        return worded(
            "For the interval that is wanted, topics drawn where they say most are not known to be worth more."
        )
    return worded(
        "±{half_width:g} points take {clusters:,} topics at random and {topics:,} drawn where they say most.",
        half_width=100 * goals.half_width, clusters=interval.needed.clusters, topics=interval.drawn.topics,
    )  # fmt: skip


def of_steps(found: agreement_so_far.AgreementSoFar, cluster: str) -> str:
    """Where the curve began and where it is now."""
    steps = [one for one in found.steps if _known(one)]
    if len(steps) < 2:
        return ""
    first, last = steps[0], steps[-1]
    return worded(
        "After {clusters:,} {cluster}s two annotators give the same answer in {last} of cases; "
        "after {clusters2:,} it was {first}.",
        clusters=last.clusters, cluster=worded(cluster), last=in_words(last), clusters2=first.clusters,
        first=shown(first)[0],
    )  # fmt: skip


def of_work(found: Sequence[AnnotatorQuality]) -> str:
    """Who agrees least and most with the others, and the range of winners on the left."""
    agree, left = _range((one.rater, one.agreement) for one in found), _range((one.rater, one.left) for one in found)
    said = [worded("agreement with the others {agree}", agree=agree)] * bool(agree)
    said += [worded("the share of winners taken on the left {left}", left=left)] * bool(left)
    text = worded("; ").join(said)
    return worded("{lead}.", lead=f"{text[0].upper()}{text[1:]}") if text else ""


def of_speed(found: Sequence[AnnotatorQuality]) -> str:
    """The fastest and the slowest annotator, and how far each agrees."""
    rows = [one for one in found if _known(one.minutes) and _known(one.agreement)]
    if not rows:
        return ""
    fast, slow = min(rows, key=lambda one: one.minutes.value), max(rows, key=lambda one: one.minutes.value)
    said = [
        worded(
            "{rater} takes {value} minutes an item and agrees {agreement}",
            rater=one.rater,
            value=rounded(one.minutes.value, 1),
            agreement=shown(one.agreement)[0],
        )
        for one in (fast, slow)
    ]
    return (
        worded("The fastest, {said}; the slowest, {said2}.", said=said[0], said2=said[1])
        if len(rows) > 1
        else f"{said[0]}."
    )


def _range(named: Iterable[tuple[str, Estimate]]) -> str:
    known = [(name, one.value) for name, one in named if _known(one)]
    if not known:
        return ""
    if len(known) == 1:
        return worded("is {known} ({known2})", known=percent(known[0][1]), known2=known[0][0])
    low, high = (end(known, key=lambda pair: pair[1]) for end in (min, max))
    return worded(
        "runs from {low} ({low2}) to {high} ({high2})",
        low=percent(low[1]), low2=low[0], high=percent(high[1]), high2=high[0],
    )  # fmt: skip


def _known(one: Estimate) -> bool:
    return not math.isnan(one.value)


def _value(one: Estimate) -> float:
    return one.value

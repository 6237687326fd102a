"""What a report found, in sentences: its headline, what judges may decide alone, its warnings by importance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from calibration.biases.position_bias import leans, turns_with_order
from calibration.choosing.choice_words import spoken
from calibration.delegating.alone import Alone
from calibration.delegating.cascade import Cascade, CascadeWithPerson
from calibration.results import CalibrationReport, Estimate, ReportWarning
from calibration.table.verdicts import BOTH_ORDERS
from exports.cells import shown
from exports.tables import PEOPLE
from exports.words.grammar import percent
from plain import wording
from plain.counting import counted
from plain.wording import worded

# a judge with people, and people among themselves
OF_ANSWERS = (
    "{judge} agrees with the annotators on {value} of {n:,} verdicts in {clusters}{tried}",
    "the annotators agree among themselves on {value}",
)
OF_SCORES = (
    "{judge}'s scores go with the annotators' by Spearman's ρ {value} over {n:,} scores in {clusters}{tried}",
    "the annotators' scores go with each other's by {value}",
)


def pooled_agreement(
    report: CalibrationReport, statistic: str = "percent_agreement"
) -> tuple[list[Estimate], Estimate | None]:
    """Each judge's agreement with the annotators and the annotators' among themselves, pooled and defined ones only."""
    pooled = [
        estimate
        for estimate in report.estimates
        if estimate.statistic == statistic
        and estimate.criterion == estimate.category == "all"
        and not math.isnan(estimate.value)
    ]
    people = next(
        (estimate for estimate in pooled if estimate.rater == PEOPLE and estimate.reference == "others"), None
    )
    return [estimate for estimate in pooled if estimate.reference == PEOPLE and estimate.rater != PEOPLE], people


def compared(report: CalibrationReport) -> bool:
    """Whether any two raters were compared at all, pooled or on one criterion."""
    return any(
        estimate.statistic in ("percent_agreement", "spearman")
        and estimate.reference in (PEOPLE, "others")
        and not math.isnan(estimate.value)
        for estimate in report.estimates
    )


def told_headline(report: CalibrationReport) -> str:
    """The answer that `opening` begins with."""
    choice = report.choice
    return spoken(choice)[0] if choice and choice.candidates and compared(report) else headline(report)


def opening(report: CalibrationReport) -> str:
    """The choice of a judge, and which look it is; where there is none to choose, the headline."""
    choice = report.choice
    if choice is None or not choice.candidates or not compared(report):
        return headline(report)
    _, sentence, look = spoken(choice)
    return sentence if look in sentence else f"{sentence} {look}"


def headline(report: CalibrationReport) -> str:
    """Which judge agrees most with the annotators, beside how far they agree among themselves. Chooses nothing.

    Scores of any number are hardly ever the same twice: of those it says how far they rise and fall together.
    """
    judges, people = pooled_agreement(report, "spearman")
    numbers = any(estimate.statistic == "krippendorff_alpha_interval" for estimate in report.estimates)
    unequal = (judges or people) and numbers and not report.settings.scales
    if not unequal:
        judges, people = pooled_agreement(report)
    first, among = OF_SCORES if unequal else OF_ANSWERS
    beside = worded(among, value=_said(people)) if people else ""
    if not judges:
        if not people and compared(report):
            return worded("Criteria of different kinds are never pooled: read each criterion by itself.")
        alone = worded("{people}; no judge can be compared with them yet.", people=f"{beside[:1].upper()}{beside[1:]}")
        none = judges_alone(report) or worded("No two raters share an answer that can be compared yet.")
        return alone if beside else none
    best = max(judges, key=lambda one: one.value)
    several = len({estimate.rater.removesuffix(BOTH_ORDERS) for estimate in judges})
    orders = worded(", by one order or both") if several < len(judges) else ""
    tried = worded(" (higher{orders})", orders=orders) if orders else ""
    if several > 1:
        tried = worded(" (highest of {several} judges{orders})", several=several, orders=orders)
    clusters = wording.several(best.clusters, report.labels.cluster)
    said = worded(first, judge=best.rater, value=_said(best), n=best.n, clusters=clusters, tried=tried)
    return worded("{said}; {beside}.", said=said, beside=beside) if beside else worded("{lead}.", lead=said)


def judges_alone(report: CalibrationReport) -> str:
    """How far judges agree with each other where no person answered anything; empty where people did, or no two did."""
    if report.labels.annotators:
        return ""
    judges = set(report.labels.judges)
    pairs = [
        estimate.value
        for estimate in report.estimates
        if (estimate.statistic, estimate.criterion, estimate.category) == ("percent_agreement", "all", "all")
        and {estimate.rater, estimate.reference} <= judges
        and not math.isnan(estimate.value)
    ]
    if not pairs:
        return ""
    low, high = f"{100 * min(pairs):.1f}", f"{100 * max(pairs):.1f}"
    share = low if low == high else worded("{low} to {high}", low=low, high=high)
    two = worded("the two judges agree")
    if len(judges) > 2:
        two = worded("two of the {count} judges agree", count=len(judges))
    return worded(
        "No annotator's answer is in the table, so no judge can be compared with people; {two} in {share} % of the "
        "answers they share.", two=two, share=share,
    ).replace(" %", "\N{NO-BREAK SPACE}%")  # fmt: skip


def about(warning: ReportWarning) -> str:
    """A warning's text, opening with the rater it speaks of."""
    named = not warning.rater or warning.rater in warning.text
    return warning.text if named else worded("{rater}: {text}", rater=warning.rater, text=warning.text)


def _said(estimate: Estimate) -> str:
    value, interval = shown(estimate)
    return f"{value} {interval}".replace(" ", "\N{NO-BREAK SPACE}")


def cascade_words(cascade: Cascade) -> str:
    """What a cascade passes on and costs; of one that ends at a person also whether it may stand in for one."""
    usd = cascade.usd_per_1000_items
    cost = "its cost is unknown" if math.isnan(usd) else f"it costs {usd:,.2f} USD per 1,000 items"
    told = {
        "non_inferior": "; it is shown to fall short of an annotator's agreement by less than the margin",
        "inferior": "; it agrees less than an annotator does, beyond the margin",
        "cannot_tell": "; whether it may stand in for an annotator cannot be told",
    }
    share = f"{_said(cascade.escalated)} of labels and {_said(cascade.escalated_items)} of items go on"
    beside = told[cascade.test.outcome] if isinstance(cascade, CascadeWithPerson) else ""
    return f"{cascade.name}: {share}, and {cost}{beside}."


def alone_words(delegation: Alone, cluster: str = "topic", level: float = 0.95) -> str:
    """The share, the error on it and its bound; then `62 % by the judge, the rest to people: 1.90 USD + 4.1 hours`.

    `cluster`: what the bound's clusters are. Where the judge may decide nothing: why, and the hours of people alone.
    """
    allowed, decided = percent(delegation.error_allowed), delegation.decided
    if decided is None:
        return (
            f"{delegation.judge} may decide nothing alone at an error of {allowed}: {delegation.reason}. All items to "
            f"people: {_hours(delegation.hours_of_people_alone)} per 1,000 items."
        )
    error, tried = (
        decided.error,
        f" for all {delegation.judges_tried} judges at once" if delegation.judges_tried > 1 else "",
    )
    person = f" (an annotator: {percent(delegation.person.value)})" if delegation.person else ""
    seen = f"{counted(error.n, 'label')} in {counted(error.clusters, cluster)}"
    return (
        f"{delegation.judge} may decide {_share(decided.share.value)} items alone at an error of {allowed}: "
        f"{percent(error.value)} of its labels there differ from the annotators' majority{person}, "
        f"{percent(error.high)} at most (one-sided {percent(level)} bound{tried}; {seen}). {price_words(delegation)}."
    )


def price_words(delegation: Alone) -> str:
    """`62 % by the judge, the rest to people: 1.90 USD + 4.1 hours per 1,000 items, instead of 10.8 hours`."""
    share = delegation.decided.share.value if delegation.decided else 0.0
    who = "All by the judge" if share == 1 else f"{percent(share)} by the judge, the rest to people"
    usd = (
        "an unknown price" if math.isnan(delegation.usd_per_1000_items) else f"{delegation.usd_per_1000_items:,.2f} USD"
    )
    hours, instead = _hours(delegation.hours_per_1000_items), _hours(delegation.hours_of_people_alone)
    return f"{who}: {usd} + {hours} per 1,000 items, instead of {instead}"


def _share(share: float) -> str:
    return "all" if share == 1 else f"{percent(share)} of"


def _hours(value: float) -> str:
    return "unknown hours" if math.isnan(value) else f"{value:,.1f} hours"


def order_words(first_rate: Estimate | None, swap_consistency: Estimate | None) -> str:
    """`picks the report shown first in 100 % of 24 decisive answers; swap consistency 0`, or "".

    Said where `order_habit` finds that the rater leans to one place, or turns with the order.
    """
    if first_rate is not None and leans(first_rate):
        side, share = ("first", first_rate.value) if first_rate.value > 0.5 else ("second", 1 - first_rate.value)
        words = f"picks the report shown {side} in {_percent(share)} of {first_rate.n:,} decisive answers"
        return words if swap_consistency is None else f"{words}; swap consistency {_plain(swap_consistency)}"
    if swap_consistency is not None and turns_with_order(swap_consistency):
        kept = _percent(swap_consistency.value)
        return f"keeps its verdict in {kept} of {swap_consistency.n:,} labels made in both orders"
    return ""


def _plain(estimate: Estimate) -> str:
    return f"{estimate.value:.0f}" if estimate.value in (0, 1) else shown(estimate)[0]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


FIRST = (  # what can make a number wrong, then what makes it say less than it seems, then what it rests on
    "named_sides",
    "join_loss", "mirrored_items", "duplicate_raters", "copied_labels", "copied_rationale",
    "words_of_one_kind",
    "repeated_topics", "unlike_second_labels", "examples_in_reference", "out_of_range",
    "changed_after_labels", "revealed", "missing_answers", "labels_dropped", "baseline_not_beaten", "skewed_reference",
    "pooled_criteria", "unlike_references", "position_bias", "order_inconsistent", "unbalanced_order", "own_family",
    "unpaired_judges", "selected_judge", "not_shown_equal", "panel_sensitive", "few_clusters",
    "one_annotator", "two_annotators", "nested_labels",
)  # fmt: skip
LAST = ("few_systems", "thin_criteria", "order_unknown", "undefined_shown_as_dash")
NAMED = 3  # further raters or criteria that are named before the rest is counted


@dataclass(frozen=True)
class Caution:
    """All warnings of one code. `text`: the first in full and whom else it concerns; `count`: how many there are."""

    code: str
    text: str
    count: int


def folded(report: CalibrationReport) -> tuple[Caution, ...]:
    """One caution for each code; the full texts are in `calibration-report.json`."""
    groups: dict[str, list[ReportWarning]] = {}
    for warning in report.warnings:
        groups.setdefault(warning.code, []).append(warning)
    return tuple(Caution(code, _text(groups[code]), len(groups[code])) for code in sorted(groups, key=_rank))


def _rank(code: str) -> int:
    """Codes without a place of their own are between the two lists; the sort keeps the report's order there."""
    if code in LAST:
        return len(FIRST) + 1 + LAST.index(code)
    return FIRST.index(code) if code in FIRST else len(FIRST)


def _text(warnings: Sequence[ReportWarning]) -> str:
    first, rest = about(warnings[0]), warnings[1:]
    if not rest:
        return first
    places = [worded(" on ").join(filter(None, (warning.rater, warning.criterion))) for warning in rest]
    named = [place for place in dict.fromkeys(places) if place][:NAMED]
    if not named:
        return worded("{first} (and {more} more like it)", first=first, more=len(rest))
    more, names = len(rest) - len(named), worded(", ").join(named)
    if more:
        return worded("{first} (likewise {names} and {more} more)", first=first, names=names, more=more)
    return worded("{first} (likewise {names})", first=first, names=names)

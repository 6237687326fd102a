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


def compared(report: CalibrationReport, references: tuple[str, ...] = (PEOPLE, "others")) -> bool:
    """Whether any two raters were compared at all, pooled or on one criterion; with one of `references`."""
    return any(
        estimate.statistic in ("percent_agreement", "spearman")
        and estimate.reference in references
        and not math.isnan(estimate.value)
        for estimate in report.estimates
    )


def judges_met(report: CalibrationReport) -> bool:
    """Whether anything was compared, and a judge with people where any is tried, by its scores' preferences too."""
    candidates = report.choice.candidates if report.choice is not None else ()
    are_both = report.labels.judges and report.labels.annotators
    met = any(one.agreement.n and one.valid_share for one in candidates)  # an answer that is none meets nobody
    return met or compared(report, (PEOPLE,) if candidates or are_both else (PEOPLE, "others"))


def told_headline(report: CalibrationReport) -> str:
    """The answer that `opening` begins with."""
    choice = report.choice
    return spoken(choice)[0] if choice and choice.candidates and judges_met(report) else headline(report)


def opening(report: CalibrationReport) -> str:
    """The choice of a judge, and which look it is; where there is none to choose, the headline."""
    choice = report.choice
    if choice is None or not choice.candidates or not judges_met(report):
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


def cascade_words(cascade: Cascade, currency: str = "USD") -> str:
    """What a cascade passes on and costs; of one that ends at a person also whether it may stand in for one."""
    usd = cascade.usd_per_1000_items
    cost = "its cost is unknown" if math.isnan(usd) else f"it costs {usd:,.2f} {currency} per 1,000 items"
    told = {
        "non_inferior": "; it is shown to fall short of an annotator's agreement by less than the margin",
        "inferior": "; it agrees less than an annotator does, beyond the margin",
        "cannot_tell": "; whether it may stand in for an annotator cannot be told",
    }
    share = f"{_said(cascade.escalated)} of labels and {_said(cascade.escalated_items)} of items go on"
    beside = told[cascade.test.outcome] if isinstance(cascade, CascadeWithPerson) else ""
    return f"{cascade.name}: {share}, and {cost}{beside}."


def alone_words(delegation: Alone, cluster: str = "topic", level: float = 0.95, currency: str = "USD") -> str:
    """The share, the error on it and its bound; then `62 % by the judge, the rest to people: 1.90 USD + 4.1 hours`.

    `cluster`: what the bound's clusters are. Where the judge may decide nothing: why, and the hours of people alone.
    """
    allowed, decided = percent(delegation.error_allowed), delegation.decided
    if decided is None:
        return worded(
            "{judge} may decide nothing alone at an error of {allowed}: {reason}. All items to people: {hours} per "
            "1,000 items.",
            judge=delegation.judge, allowed=allowed, reason=delegation.reason,
            hours=_hours(delegation.hours_of_people_alone),
        )  # fmt: skip
    error, count = decided.error, delegation.judges_tried
    share = worded("all") if decided.share.value == 1 else worded("{part} of", part=percent(decided.share.value))
    person = worded(" (an annotator: {error})", error=percent(delegation.person.value)) if delegation.person else ""
    labels, clusters = wording.several(error.n, "label"), wording.several(error.clusters, cluster)
    return worded(
        "{judge} may decide {share} items alone at an error of {allowed}: {error} of its labels there differ from the "
        "annotators' majority{person}, {most} at most (one-sided {level} bound{tried}; {labels} in {clusters}). "
        "{price}.",
        judge=delegation.judge, share=share, allowed=allowed, error=percent(error.value), person=person,
        most=percent(error.high), level=percent(level), labels=labels, clusters=clusters,
        tried=worded(" for all {count} judges at once", count=count) if count > 1 else "",
        price=price_words(delegation, currency),
    )  # fmt: skip


def price_words(delegation: Alone, currency: str = "USD") -> str:
    """`62 % by the judge, the rest to people: 1.90 USD + 4.1 hours per 1,000 items, instead of 10.8 hours`."""
    share, usd = delegation.decided.share.value if delegation.decided else 0.0, delegation.usd_per_1000_items
    price = worded("{price:,.2f} {currency}", price=usd, currency=currency)
    who = "All by the judge" if share == 1 else "{share} by the judge, the rest to people"
    return worded(
        "{who}: {usd} + {hours} per 1,000 items, instead of {instead}",
        who=worded(who, share=percent(share)), hours=_hours(delegation.hours_per_1000_items),
        usd=worded("an unknown price") if math.isnan(usd) else price,
        instead=_hours(delegation.hours_of_people_alone),
    )  # fmt: skip


def _hours(value: float) -> str:
    return worded("unknown hours") if math.isnan(value) else worded("{hours:,.1f} hours", hours=value)


def order_words(first_rate: Estimate | None, swap_consistency: Estimate | None) -> str:
    """`picks the report shown first in 100 % of 24 decisive answers; swap consistency 0`, or "".

    Said where `order_habit` finds that the rater leans to one place, or turns with the order.
    """
    if first_rate is not None and leans(first_rate):
        is_first = first_rate.value > 0.5
        share = _percent(first_rate.value if is_first else 1 - first_rate.value)
        picks = "picks the report shown first in {share} of {n:,} decisive answers"
        if not is_first:
            picks = "picks the report shown second in {share} of {n:,} decisive answers"
        words = worded(picks, share=share, n=first_rate.n)
        kept = "" if swap_consistency is None else _plain(swap_consistency)
        return worded("{words}; swap consistency {kept}", words=words, kept=kept) if kept else words
    if swap_consistency is not None and turns_with_order(swap_consistency):
        kept, n = _percent(swap_consistency.value), swap_consistency.n
        return worded("keeps its verdict in {kept} of {n:,} labels made in both orders", kept=kept, n=n)
    return ""


def _plain(estimate: Estimate) -> str:
    return f"{estimate.value:.0f}" if estimate.value in (0, 1) else shown(estimate)[0]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


FIRST = (  # what can make a number wrong, then what makes it say less than it seems, then what it rests on
    "named_sides",
    "join_loss", "mirrored_items", "duplicate_raters", "copied_labels", "copied_rationale",
    "words_of_one_kind", "unlike_scales", "mixed_settings",
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

"""The tables of judges beside each other: `judges` (all that were tried), `comparisons` (two by two), `card` (one)."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from calibration.choosing import card, choice_words
from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.noninferiority import ComparisonPlan
from calibration.comparing import alternative_annotator, effective_judges
from calibration.results import CalibrationReport, Estimate
from calibration.study.distance import BY_DISTANCE, KAPPA, said_of
from calibration.study.label_scores import IN_WORDS
from exports.cells import Cell, Probability, number, spread
from exports.tables import COUNTS, Column, Table, noted_table, per_thousand, pooled_in
from exports.words.notes import (
    BY_RULE,
    agreement_key,
    agreement_title,
    is_of_study,
    label_agreement,
    per_1000_items,
    usable_differ,
)
from plain.wording import ENGLISH, spoken, worded, worded_of

ADEQUATE = {
    "": "chosen",
    "dearer": "dearer",
    "lower_agreement": "agrees less at that price",
    "cost_unknown": "cost unknown",
}
RULED_OUT = {
    "inferior": "gap above the margin",
    "below_floor": "below the floor",
    "baseline_not_beaten": "no better than a constant answer",
    "answers": "too few usable answers",
    "no_reference": "no reference",
}
OPEN = {
    "baseline_not_beaten": "constant answer too close",
    "answers": "answers too few to tell",
    "no_reference": "no reference",
    "cannot_tell": "cannot tell yet",
}


EMPTY = {  # why a cell holds nothing
    "valid_share": "a verdict is made of two answers",
    "cost_per_1000_items": "no price is known",
    "on_frontier": "no price is known",
    "seconds_per_item": "no time was recorded",
    "clusters_needed": "the judge is decided, or no number of clusters is known to decide it",
}


def judges_table(report: CalibrationReport) -> Table | None:
    """One row per candidate of the choice: what it reaches, what it costs, and what became of it.

    None where the report chose among none.
    """
    choice = report.choice
    if choice is None or not choice.candidates:
        return None
    answered = {(one.rater, one.statistic): one for one in pooled_in(report)}
    near = choice.plan.ties in BY_DISTANCE
    key = agreement_key(report, choice.plan.ties) + "_missing_as_wrong" * usable_differ(report)
    columns = [
        Column("judge", "Judge"),
        Column(key, agreement_title(report, asked=True), "AD" if near else "PA"),
        Column(
            f"baseline{'_by_distance' * near}",
            "Best constant answer, by distance" if near else "Best constant answer",
            "base-d" if near else "base",
        ),
        Column("gap", "Gap to a left-out annotator", "gap"),
        Column("p_adjusted", "p (adjusted)", "p"),
        Column("valid_share", "Valid answers", "valid"),
        Column("cost_per_1000_items", per_1000_items(report), report.labels.money),
        Column("seconds_per_item", "Seconds per item", "s"),
        Column("on_frontier", "On the frontier", "front"),
        Column("outcome", "Outcome"),
        Column("clusters_needed", "Clusters needed", "need"),
    ]
    rows = [_row(candidate, answered, choice.plan) for candidate in choice.candidates]
    given = [any(row[place] is not None for row in rows) for place in range(len(columns))]
    columns = [*itertools.compress(columns, given)]
    rows = [tuple(itertools.compress(row, given)) for row in rows]
    reading = (
        choice_words.short_sentence(choice),
        *_reading(choice, report),
        *_empty(columns, rows),
    )
    return noted_table("judges", "Which judge can stand in for an annotator", columns, rows, reading, report)


def _empty(columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]]) -> Iterator[str]:
    lacking = [
        worded("{column} where {why}", column=worded(column.title), why=worded(EMPTY[column.key]))
        for place, column in enumerate(columns)
        if column.key in EMPTY and any(row[place] is None for row in rows)
    ]
    if lacking:
        yield worded("Empty: {lacking}.", lacking=worded("; ").join(lacking))


def _row(candidate: Candidate, answered: Mapping[tuple[str, str], Estimate], plan: ComparisonPlan) -> tuple[Cell, ...]:
    cost = per_thousand([*answered.values()], candidate.judge)
    return (
        candidate.judge,
        candidate.agreement,
        candidate.baseline,
        card.gap_of(candidate.claim, plan) if candidate.claim else None,
        _p(candidate),
        answered.get((candidate.judge, "valid_share")),
        cost,
        answered.get((candidate.judge, "seconds_per_item")),
        None if math.isnan(candidate.cost_per_item) else worded("yes" if candidate.on_frontier else "no"),
        outcome_words(candidate),
        candidate.clusters_needed,
    )


def _p(candidate: Candidate) -> Probability | None:
    """Of what decides: the floor where the plan states one, else the gap."""
    if candidate.floor is not None:
        return Probability(candidate.floor.p_adjusted)
    return Probability(candidate.claim.p_adjusted) if candidate.claim else None


def outcome_words(candidate: Candidate) -> str:
    """`adequate: dearer than the chosen one`: the standing of a candidate and why it was or was not chosen."""
    return worded(": ").join((worded(candidate.standing.replace("_", " ")), _reason(candidate)))


def _reason(candidate: Candidate) -> str:
    if candidate.standing == "ruled_out":
        return worded(RULED_OUT.get(candidate.reason, candidate.reason))
    if candidate.standing == "open":
        return worded(OPEN.get(candidate.reason, candidate.reason))
    reserved = worded(", ").join(question_named(row.question) for row in candidate.reservations)
    chosen = worded(ADEQUATE.get(candidate.reason, "not chosen"))
    return worded("{chosen}, with reservations ({reserved})", chosen=chosen, reserved=reserved) if reserved else chosen


NOT_COMPARED = "not_compared"


def judges_told(report: CalibrationReport) -> dict[str, tuple[str, str]]:
    """Every judge of the labels and every candidate: its standing, or `not_compared`, and why, in words."""
    tried = {one.judge: (str(one.standing), _reason(one)) for one in _candidates(report)}
    why = _why_no_choice(report)
    return {judge: tried.get(judge, (NOT_COMPARED, why)) for judge in dict.fromkeys((*tried, *report.labels.judges))}


def _candidates(report: CalibrationReport) -> Sequence[Candidate]:
    return report.choice.candidates if report.choice else ()


def _why_no_choice(report: CalibrationReport) -> str:
    if not report.labels.annotators:
        return "no annotator's answer to compare it with"
    if len({*report.labels.criteria.values()}) > 1:
        return "criteria of different kinds share no scale: read each by itself"
    return "none of its answers is one that a choice can rest on" if _candidates(report) else (
        "the answers share no scale of few steps: declare one, or let scores agree by distance"
    )  # fmt: skip


def _reading(choice: Choice, report: CalibrationReport) -> Iterator[str]:
    plan, count = choice.plan, choice.tried
    kept = [worded("usable answers") if one == "answers" else question_named(one) for one in plan.required[2:]]
    yield worded(
        "Adequate: shown, each by a test or an interval over whole {cluster}s, to {enough}, to agree more than "
        "{constant}, and to keep the limit of {kept}. Ruled out: one of these is shown not to hold. Open: "
        "neither is shown.", cluster=worded(plan.cluster), enough=_enough(plan), kept=_and(kept),
        constant=worded(IN_WORDS),
    )  # fmt: skip
    look = choice_words.spoken(choice)[2]
    if look and choice.look not in choice.sentence:
        yield look
    if plan.against == "nobody":
        yield worded("Nobody's label has a second annotator's beside it, so no judge can be adequate here.")
        return
    what = worded("of what is at most the floor" if plan.against == "floor" else "of a gap of at least the margin")
    how = worded("by Holm" if plan.at_least_kappa is not None else "by the resamples that they share")
    family = "p: one-sided, {what}, adjusted for {count} judges {how}. {those}"
    if plan.gone:
        family = (
            "p: one-sided, {what}, adjusted for {count} judges and settings that later ones replaced, {how}. {those}"
        )
    if count == 1:
        family = "p: one-sided, {what}; there is one judge, and nothing to adjust for. {those}"
    those = "Margin, judges and rules are those of this run; they have the sha256 {sha256}."
    if is_of_study(report):
        those = "Margin, judges and rules are those of the plan with sha256 {sha256}."
    those = worded(those, sha256=plan.plan_sha256[:12])
    yield worded(family, what=what, count=count, how=how, those=those)
    wrong = worded(" An item without a usable answer counts as disagreement.") * plan.missing_as_wrong
    yield label_agreement(report, plan.ties, asked=True) + wrong * (not usable_differ(report))
    gaps = [card.gap_of(candidate.claim, plan) for candidate in choice.candidates if candidate.claim]
    counts = [_counts([candidate.agreement for candidate in choice.candidates]), *([_counts(gaps)] if gaps else [])]
    worse = [worded("Gap: above 0 the judge is worse")] if gaps else []
    agreement, gap = counts[0], counts[-1]
    told = [worded("n = {agreement}", agreement=agreement)]
    if agreement != gap:
        told = [worded("agreement: n = {agreement}", agreement=agreement), worded("gap: n = {gap}", gap=gap)]
    yield worded("{lead}.", lead=worded("; ").join([*worse, *told]))
    yield from _alternative_annotators(report.alt_tests or ())
    yield from another_question(report)
    yield from _effective(report.effective_judges)
    if any(candidate.on_frontier for candidate in choice.candidates):
        yield worded("On the frontier: no other judge agrees as much at the same or a lower cost.")
    if any(candidate.clusters_needed is not None for candidate in choice.candidates):
        needed = "Clusters needed: in all, to decide an open judge with power {power:g} if gap and spread stay as seen."
        yield worded(needed, power=plan.power)


def _enough(plan: ComparisonPlan) -> str:
    if plan.at_least is not None:
        least = worded("at least {end}", end=f"{number(100 * plan.at_least, 1).removesuffix('.0')} %")
        return worded("agree with the annotators {share}", share=said_of(least, plan.ties in BY_DISTANCE))
    if plan.at_least_kappa is not None:
        least = number(plan.at_least_kappa, 2)
        kappa = worded(KAPPA.get(plan.ties, "κ"))
        return worded("reach a {kappa} of at least {least} with the annotators", kappa=kappa, least=least)
    less = "agree less than a left-out annotator by less than the margin of {margin} points, on the same references"
    return worded(less, margin=number(100 * plan.margin, 1).removesuffix(".0"))


def _and(words: Sequence[str]) -> str:
    return worded(" and ").join([worded(", ").join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _alternative_annotators(tests: Sequence[alternative_annotator.AltTest]) -> Iterator[str]:
    """Who passes the test of Calderon, Reichart & Dror (ACL 2025), and against which share of the annotators."""
    known = [test for test in tests if test.passed is not None]
    if known:
        passes = {True: "{judge} passes (ω {omega})", False: "{judge} does not pass (ω {omega})"}
        words = worded("; ").join(
            worded(passes[bool(one.passed)], judge=one.judge, omega=number(one.omega, 2)) for one in known
        )
        epsilon = number(known[0].epsilon, 2)
        yield worded("Alternative annotator test, over clusters, ε = {epsilon}: {words}.", epsilon=epsilon, words=words)


def another_question(report: CalibrationReport) -> Iterator[str]:
    """Why the alternative annotator test passes a judge that the choice does not; nothing where there is none."""
    choice, tests = report.choice, report.alt_tests or ()
    short = {candidate.judge for candidate in _candidates(report) if candidate.standing != "adequate"}
    passes = [test.judge for test in tests if test.passed and test.judge in short]
    if choice and passes:
        yield worded_of(
            len(passes),
            "That test asks another question: it allows {epsilon} points (ε) against half of the annotators, one by "
            "one, where the choice asks a judge to {enough}; so {judges} passes it without being shown to be adequate.",
            "That test asks another question: it allows {epsilon} points (ε) against half of the annotators, one by "
            "one, where the choice asks a judge to {enough}; so {judges} pass it without being shown to be adequate.",
            epsilon=number(100 * tests[0].epsilon, 1).removesuffix(".0"), enough=_enough(choice.plan),
            judges=_and(passes),
        )  # fmt: skip


def _effective(effective: effective_judges.EffectiveJudges | None) -> Iterator[str]:
    """What a panel of these judges would be worth, in judges that err each for itself."""
    if effective is None or math.isnan(effective.eigen):
        return
    low, high = number(effective.null_low, 1), number(effective.null_high, 1)
    null = "" if math.isnan(effective.null_low) else (
        worded("; independent ones would show {low} to {high}", low=low, high=high)
    )  # fmt: skip
    yield worded(
        "A panel of these {judges} judges is worth {worth} that err each for itself{null}.",
        judges=len(effective.judges), worth=number(effective.eigen, 1), null=null,  # never above kish, often undefined
    )  # fmt: skip


def _counts(used: Sequence[Estimate]) -> str:
    n, clusters = ({getattr(estimate, name) for estimate in used} for name in ("n", "clusters"))
    return worded("{n} labels in {clusters} clusters", n=spread(n), clusters=spread(clusters))


CARD_COLUMNS = (
    Column("question", "Question"),
    Column("value", "Value"),
    Column("limit", "Limit"),
    Column("outcome", "Outcome"),
    *COUNTS,
    Column("sentence", "In words"),
)


def question_named(question: str) -> str:
    """English as it stands in the card; elsewhere told apart from a criterion of the same name."""
    return question if spoken() == ENGLISH else worded("usable answers" if question == "answers" else question)


def asked_of(row: card.CardRow) -> str:
    """The question of a row by its name; agreement by distance says so."""
    rule = row.estimate.statistic.removesuffix("_missing_as_wrong").rpartition("_")[2]
    title = BY_RULE.get(rule, "") if row.question == "agreement" else ""
    return worded(title).lower() if title else question_named(row.question)


def card_table(report: CalibrationReport, judge: str) -> Table | None:
    """One row per question asked of `judge`; None where the report has no card of it."""
    rows: list[tuple[Cell, ...]] = [
        (
            asked_of(row),
            row.estimate,
            row.limit,
            worded(row.outcome),
            row.estimate.n,
            row.estimate.clusters,
            row.sentence,
        )
        for row in card.card_of(report.card, judge)
    ]
    if not rows:
        return None
    reading = (
        "within: the limit is shown to be kept, by a test for agreement, gap and floor, else by the whole interval; "
        "beyond: it is shown not to be; cannot tell: neither, and more labels would say. The choice rests on these "
        "rows.",
        label_agreement(report, asked=True),
    )
    return noted_table("card", worded("The card of {judge}", judge=judge), CARD_COLUMNS, rows, reading, report)


OUTCOMES = {"better": "agrees more", "worse": "agrees less", "cannot_tell": "cannot tell"}


def comparisons_table(report: CalibrationReport) -> Table | None:
    """One row for every two judges; None where there are fewer than two."""
    estimates = {
        (estimate.rater, estimate.reference): estimate
        for estimate in report.estimates
        if estimate.statistic == "agreement_difference"
    }
    pairs = [pair for pair in report.judge_pairs or () if (pair.judge, pair.other) in estimates]
    if not pairs:
        return None
    columns = (
        Column("judge", "Judge"),
        Column("other", "Other judge"),
        Column("agreement_difference", "Agrees more by", "diff"),
        Column("p_holm", "p (Holm)", "p"),
        Column("outcome", "The judge"),
        Column("shared", "Labels shared", "share"),
        *COUNTS,
    )
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        estimate = estimates[pair.judge, pair.other]
        p = None if math.isnan(pair.p_holm) else Probability(pair.p_holm)
        outcome = worded(OUTCOMES[pair.outcome])
        rows.append((pair.judge, pair.other, estimate, p, outcome, pair.shared, estimate.n, estimate.clusters))
    holm = "p: two-sided, of no difference, by Holm over {pairs} pairs. {told}"
    if len(pairs) == 1:
        holm = "p: two-sided, of no difference. {told}"
    told = worded("cannot tell: no difference was shown, and neither was its absence.")
    reading = (
        "Agrees more by: agreement of the judge minus that of the other, on the annotators' labels that both were "
        "asked; an item without a usable answer counts as disagreement.",
        worded(holm, pairs=len(pairs), told=told),
        label_agreement(report, asked=True),
    )
    return noted_table("comparisons", "Judges two by two", columns, rows, reading, report, names=2)

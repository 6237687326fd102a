"""The table `judges`: every judge that was tried, the cheapest first, and why it was or was not chosen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibration.choosing.card import gap_of
from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.choice_words import short_sentence
from calibration.choosing.noninferiority import ComparisonPlan
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell, Probability, number
from exports.tables import Column, Table, per_thousand
from exports.words.notes import agreement_key, is_of_study, label_agreement, methods, origin, remarks

RULED_OUT = {"inferior": "gap above the margin", "no_reference": "no reference"}
ADEQUATE = {
    "": "chosen",
    "dearer": "dearer",
    "lower_agreement": "agrees less at that price",
    "cost_unknown": "cost unknown",
}
OPEN = {"baseline_not_beaten": "constant answer too close", "no_reference": "no reference"}


def judges_table(report: CalibrationReport) -> Table | None:
    """One row per candidate of the choice: what it reaches, what it costs, and what became of it.

    None where the report chose among none.
    """
    choice = report.choice
    if choice is None or not choice.candidates:
        return None
    answered = {(one.rater, one.statistic): one for one in report.estimates if one.criterion == one.category == "all"}
    columns = [
        Column("judge", "Judge"),
        Column(agreement_key(report, choice.plan.ties), "Agreement", "PA"),
        Column("baseline", "Best constant answer", "base"),
        Column("gap", _gap_title(choice.plan), "gap"),
        Column("p_holm", "p (Holm)", "p"),
        Column("valid_share", "Valid answers", "valid"),
        Column("cost_per_1000_items", "USD per 1,000 items", "USD"),
        Column("seconds_per_item", "Seconds per item", "s"),
        Column("on_frontier", "On the frontier", "front"),
        Column("outcome", "Outcome"),
        Column("clusters_needed", "Clusters needed", "need"),
    ]
    rows = [_row(one, answered, choice.plan) for one in choice.candidates]
    given = [any(row[place] is not None for row in rows) for place in range(len(columns))]
    columns = [*itertools.compress(columns, given)]
    rows = [tuple(itertools.compress(row, given)) for row in rows]
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    notes = (
        short_sentence(choice),
        *_reading(choice, report),
        *methods(used, report),
        *remarks([column.title for column in columns], rows),
        origin(report),
    )
    return Table("judges", "Which judge can stand in for an annotator", tuple(columns), tuple(rows), notes)


def _row(one: Candidate, answered: Mapping[tuple[str, str], Estimate], plan: ComparisonPlan) -> tuple[Cell, ...]:
    cost = per_thousand([*answered.values()], one.judge)
    return (
        one.judge,
        one.agreement,
        one.baseline,
        gap_of(one.claim, plan) if one.claim else None,
        Probability(one.claim.p_holm) if one.claim else None,
        answered.get((one.judge, "valid_share")),
        cost,
        answered.get((one.judge, "seconds_per_item")),
        None if math.isnan(one.cost_per_item) else "yes" if one.on_frontier else "no",
        outcome_words(one),
        one.clusters_needed,
    )


def outcome_words(one: Candidate) -> str:
    """`adequate: dearer than the chosen one`: the standing of a candidate and why it was or was not chosen."""
    if one.standing == "adequate":
        return f"adequate: {ADEQUATE.get(one.reason, 'not chosen')}"
    if one.standing == "ruled_out":
        return f"ruled out: {RULED_OUT.get(one.reason, 'no better than a constant answer')}"
    return f"open: {OPEN.get(one.reason, 'cannot tell yet')}"


def _gap_title(plan: ComparisonPlan) -> str:
    return "Gap to a left-out annotator" if plan.against == "ceiling" else "Gap to the best other judge"


def _reading(choice: Choice, report: CalibrationReport) -> Iterator[str]:
    plan, count = choice.plan, len(choice.candidates)
    margin = f"{number(100 * plan.margin, 1).removesuffix('.0')} points"
    against = "a left-out annotator" if plan.against == "ceiling" else "the best of the other judges"
    yield (
        f"Adequate: shown to agree less than {against} by less than the margin of {margin}, on the same references, "
        "and more than the best constant answer by a clustered standard error. Ruled out: shown to agree less by more "
        "than that, or no better than a constant answer by the same measure. Open: neither is shown."
    )
    family = f"p: one-sided, of a gap of at least the margin, by Holm over {count} judges" if count > 1 else (
        "p: one-sided, of a gap of at least the margin; there is one judge, and nothing to adjust for"
    )  # fmt: skip
    those = "the plan with" if is_of_study(report) else "this run; they have the"
    yield f"{family}. Margin, judges and rules are those of {those} sha256 {plan.plan_sha256[:12]}."
    wrong = " An item without a usable answer counts as disagreement." if plan.missing_as_wrong else ""
    yield label_agreement(report, plan.ties) + wrong
    gaps = [gap_of(one.claim, plan) for one in choice.candidates if one.claim]
    counts = [_counts([one.agreement for one in choice.candidates]), *([_counts(gaps)] if gaps else [])]
    worse = ["Gap: above 0 the judge is worse"] if gaps else []
    told = [f"n = {counts[0]}"] if len({*counts}) == 1 else [f"agreement: n = {counts[0]}", f"gap: n = {counts[1]}"]
    yield f"{'; '.join([*worse, *told])}."
    yield from _alternative_annotators(report.data.get("alt_tests", ()))
    yield from _effective(report.data.get("effective_judges"))
    if any(one.on_frontier for one in choice.candidates):
        yield "On the frontier: no other judge agrees as much at the same or a lower cost."
    if any(one.clusters_needed is not None for one in choice.candidates):
        kept = "if gap and spread stay as seen"
        yield f"Clusters needed: in all, to decide an open judge with power {plan.power:g} {kept}."


def _alternative_annotators(tests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Who passes the test of Calderon, Reichart & Dror (ACL 2025), and against which share of the annotators."""
    known = [one for one in tests if one["passed"] is not None]
    if known:
        words = "; ".join(
            f"{one['judge']} {'passes' if one['passed'] else 'does not pass'} (ω {number(one['omega'], 2)})"
            for one in known
        )
        yield f"Alternative annotator test, cluster t, ε = {number(known[0]['epsilon'], 2)}: {words}."


def _effective(found: Mapping[str, Any] | None) -> Iterator[str]:
    """What a panel of these judges would be worth, in judges that err each for itself."""
    if found is None or math.isnan(found["eigen"]):
        return
    null = "" if math.isnan(found["null_low"]) else (
        f"; independent ones would show {number(found['null_low'], 1)} to {number(found['null_high'], 1)}"
    )  # fmt: skip
    worth = number(found["eigen"], 1)  # never above kish, which may be undefined
    yield f"A panel of these {len(found['judges'])} judges is worth {worth} that err each for itself{null}."


def _counts(used: Sequence[Estimate]) -> str:
    n, clusters = ({getattr(one, name) for one in used} for name in ("n", "clusters"))
    return f"{_range(n)} labels in {_range(clusters)} clusters"


def _range(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"

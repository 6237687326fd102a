"""A report that chose a judge, looked for biases and ranked systems: small enough to check every cell by eye."""

from __future__ import annotations

from dataclasses import replace

from calibration.choosing.above import Above
from calibration.choosing.card import CardRow, agreement_row, gap_row, required
from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.noninferiority import Claim, ComparisonPlan
from calibration.comparing.alternative_annotator import AltTest
from calibration.inference.compare import Difference
from calibration.inference.deciding import Needed
from calibration.inference.gap_test import NonInferiority
from calibration.remarks import Kind, Reason, Remark, Said, code, no_interval, remarks_of, told
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.study.bias import Bias
from calibration.systems.placing import RankedSystem, Ranking
from tests.exports.toy import BOOTSTRAP, NAN, WILSON, T, toy_estimate, toy_report

MARGIN, PEOPLE, HOSTILE = 0.05, "each_annotator", "=cmd|'&%$ #1"
HEADLINE = "gpt-5_mini is the cheapest adequate judge of 5 tried."
REQUIRED = required(CalibrationSettings())
ONE_CLUSTER = code("too_few_units"), Remark(Reason.TOO_FEW_UNITS, Kind.BARE)
FREE = "USD per item", no_interval("zero_variance", "no spread")
BAND = told(Reason.SIMULTANEOUS, judges=5)


def candidate(
    judge: str, value: float, gap: float, p: float, cost: float, reason: str, outcome: str = "non_inferior",
    needed: Needed | None = None, baseline: float = 0.47, frontier: bool = True, place: str = "above",
) -> Candidate:  # fmt: skip
    agreement = toy_estimate("percent_agreement", judge, value, value - 0.06, value + 0.06, "max_t", BAND)
    found = Difference(gap, gap - 0.04, gap + 0.04, 0.5, 1100, 30)
    test = NonInferiority(outcome, found, gap + 0.033, gap - 0.033, p, MARGIN, "cluster_t")
    claim = Claim(judge, "human_ceiling", test, min(1.0, 5 * p), outcome, needed)
    over = value - baseline
    p_over = 0.0001 if place == "above" else 0.3
    constant = Above(judge, value, baseline, over - 0.03, over + 0.03, p_over, p_over, place, 1170, 30)
    valid = toy_estimate("valid_share", judge, 0.998, 0.991, 0.9993, WILSON, reference="")
    answers = CardRow(judge, "answers", valid, "at least 95.0 % usable", "within", "99.8 % can be used.")
    plan = ComparisonPlan((judge,), ("clarity",), MARGIN)
    rows = (*agreement_row(agreement, constant), *gap_row(claim, plan), answers)
    return Candidate(judge, agreement, constant, claim, None, 0.998, cost, 2.0, frontier, rows, REQUIRED, None, reason)


CANDIDATES = (
    candidate("tiny", 0.50, 0.30, 1.0, 0.0, "inferior", "inferior"),
    candidate("small", 0.72, 0.03, 0.2, 0.001, "cannot_tell", "cannot_tell", Needed(210, 180, 0.03, 0.1)),
    candidate("gpt-5_mini", 0.79, -0.01, 0.00004, 0.0021, ""),
    candidate(HOSTILE, 0.48, 0.02, 0.004, 0.02, "baseline_not_beaten", frontier=False, place="cannot_tell"),
    candidate("unpriced", 0.78, 0.0, 0.002, NAN, "cost_unknown", frontier=False),
)
JUDGES = [one.judge for one in CANDIDATES]


def bias(statistic: str, rater: str, value: float, half: float, outcome: str, null: float = 0.0, p: float = 0.04,
         note: Said = (), reference: str = "people", seen: float = 0.04, category: str = "all") -> Bias:  # fmt: skip
    known = half == half
    one = Estimate(statistic, rater, reference, "all", category, value, value - half, value + half, 0.95, 900, 30,
                   T if known else "none", remarks_of(note))  # fmt: skip
    return Bias(one, null, p if known else NAN, seen if known else NAN, 0.05, outcome, "cannot tell")


BIASES = (
    bias("first_rate", "gpt-5_mini", 0.62, 0.05, "found", 0.5, 0.00001),
    bias("order_effect", "gpt-5_mini", 0.61, 0.05, "found", 0.5, 0.00002),
    bias("first_rate", "tiny", 0.5, 0.02, "not_found", 0.5, 0.9),
    bias("order_effect", "tiny", NAN, NAN, "cannot_tell", 0.5, note=["systems are not named", code("no_items")]),
    bias("order_effect", PEOPLE, 0.52, 0.03, "cannot_tell", 0.5, 0.19),
    bias("flip_direction", "gpt-5_mini", 0.1, NAN, "cannot_tell", note=ONE_CLUSTER),
    bias("longer_rate_difference", "gpt-5_mini", 0.06, 0.02, "found", p=0.0004),
    bias("longer_rate_given_vote", "gpt-5_mini", 0.65, 0.05, "found", 0.5),
    bias("self_preference", "gpt-5_mini", 0.12, 0.04, "found", category="systems: gpt-4"),
    bias("self_preference", "gpt-5_mini", -0.01, 0.04, "cannot_tell", p=0.6, category="systems: atlas"),
    bias("self_preference", "gpt-5_mini", 0.12, 0.04, "found", note="family openai"),
    bias("tie_rate_gap", "gpt-5_mini", 0.0, 0.02, "not_found", p=1.0),
    bias("changed_answers", "gpt-5_mini", 0.04, 0.03, "found", p=NAN),
    bias("near_identical_rationales", "ann1", 0.4, 0.1, "found", p=0.0001, reference="gpt-5_mini"),
    bias("near_identical_rationales", "ann2", 0.0, 0.01, "not_found", p=1.0, reference="gpt-5_mini"),
)

RATES = {  # system -> people, judge alone, corrected, strength
    "gpt-4": (0.71, 0.82, 0.72, 0.9),
    "atlas": (0.5, 0.41, 0.49, 0.0),
    "Système_$x$": (0.29, 0.27, 0.29, -0.9),
}


def system(statistic: str, rater: str, value: float, name: str, method: str, reference: str = "") -> Estimate:
    one = toy_estimate(statistic, rater, value, value - 0.05, value + 0.05, method, "mean", reference)
    return replace(one, category=f"systems: {name}")


def priced(judge: str, cost: float) -> Estimate:
    if not cost:
        return toy_estimate("cost_per_item", judge, 0.0, note=FREE, reference="", n=30)
    return toy_estimate("cost_per_item", judge, cost, 0.9 * cost, 1.1 * cost, T, "USD per item", reference="", n=30)


def toy_choice() -> CalibrationReport:
    """Chosen, dearer than one open judge; a hostile name; a bias of every outcome; three systems."""
    plan = ComparisonPlan(tuple(JUDGES), ("clarity",), MARGIN)
    choice = Choice("chosen", "gpt-5_mini", HEADLINE, HEADLINE, CANDIDATES, 210, plan)
    estimates = [
        toy_estimate("human_ceiling", PEOPLE, 0.8, 0.75, 0.84, WILSON, reference="others"),
        toy_estimate("kendall_tau_b_systems", PEOPLE, 1.0, 0.33, 1.0, BOOTSTRAP, "over 3 systems", "gpt-5_mini"),
    ]
    for judge in JUDGES:
        estimates.append(toy_estimate("valid_share", judge, 0.998, 0.991, 0.9993, WILSON, reference=""))
        estimates.append(toy_estimate("seconds_per_item", judge, 2.0, 1.8, 2.2, T, "seconds per item", reference=""))
    estimates += [priced("tiny", 0.0), priced("small", 0.001), priced("gpt-5_mini", 0.0021), priced(HOSTILE, 0.02)]
    ways = [("win_rate", PEOPLE), ("win_rate", "gpt-5_mini"), ("judge_corrected_win_rate", "gpt-5_mini")]
    ways += [("bradley_terry", PEOPLE)]
    for place, (statistic, rater) in enumerate(ways):
        reference = "people" if statistic == "judge_corrected_win_rate" else ""
        estimates += [system(statistic, rater, rates[place], name, T, reference) for name, rates in RATES.items()]
    rankings = [Ranking(*way, _ranked((1.0, 2.0, 3.0)), 0.964) for way in ways]
    rankings[1] = replace(
        rankings[1], systems=_ranked((1.0, 2.5, 2.5)), keeps_first=NAN, note="2 systems share the first place"
    )
    report = toy_report()
    labels = replace(report.labels, judges=sorted(JUDGES), systems=[*RATES])
    alt_tests = (_tested("gpt-5_mini", 1.0, True), _tested("small", 1 / 3, False), _tested("tiny", NAN, None))
    settings = replace(report.settings, families={"gpt-5_mini": "openai", "gpt-4": "openai"})
    rows = (
        CardRow("gpt-5_mini", "agreement", CANDIDATES[2].agreement, "above 47.0 %", "within", "It agrees in 79.0 %."),
    )
    return replace(
        report, labels=labels, settings=settings, estimates=tuple(estimates), choice=choice, biases=BIASES, card=rows,
        rankings=tuple(rankings), alt_tests=alt_tests,
    )  # fmt: skip


def _ranked(ranks: tuple[float, ...]) -> tuple[RankedSystem, ...]:
    return tuple(RankedSystem(name, rank, toy_estimate("", "", NAN)) for name, rank in zip(RATES, ranks, strict=True))


def _tested(judge: str, omega: float, passed: bool | None) -> AltTest:
    return AltTest(judge, 0.15, "cluster_t", omega, toy_estimate("advantage_probability", judge, NAN), passed, (), "")

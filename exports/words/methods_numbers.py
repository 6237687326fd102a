"""The numbers a methods section quotes from a report: found by name, said with their intervals, never recomputed."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from calibration.agreement import catalogue
from calibration.comparing.alternative_annotator import AnnotatorTest
from calibration.results import CalibrationReport, Estimate
from calibration.table.verdicts import BOTH_ORDERS
from exports.tables import PEOPLE
from exports.words.grammar import listed, said
from exports.words.notes import TIE_RULES
from plain.wording import several, worded

PANEL = " [panel]"  # ends the names of panels, which `annotation` makes
NAMED = 4  # judges that are named one by one; of more the range is told
HEADLINES = ("percent_agreement", "spearman", "krippendorff_alpha_interval")


@dataclass(frozen=True)
class Spoken:
    """One statistic of one or several raters. `words`: values with intervals; `seen`: comparisons and clusters."""

    title: str
    statistic: str
    words: str
    seen: str


def pooled(report: CalibrationReport, statistic: str, reference: str) -> dict[str, Estimate]:
    """rater -> the estimate over all criteria and categories."""
    return {
        estimate.rater: estimate
        for estimate in report.estimates
        if (estimate.statistic, estimate.reference, estimate.criterion, estimate.category)
        == (statistic, reference, "all", "all")
    }


def headline(report: CalibrationReport) -> str:
    """The statistic that leads: agreement under the tie rule set, or a correlation where scores are too fine for it."""
    wanted = (catalogue.HEADLINE[report.settings.ties], *HEADLINES)
    return next((name for name in wanted if any(estimate.statistic == name for estimate in report.estimates)), "")


def of_judges(report: CalibrationReport, statistic: str) -> Spoken | None:
    """Each judge against every annotator's label; None where no judge has it."""
    estimates = {
        rater: estimate
        for rater, estimate in pooled(report, statistic, PEOPLE).items()
        if rater != PEOPLE and not rater.endswith(BOTH_ORDERS)
    }
    return _spoken(report, statistic, estimates)


def correlations_of_judges(report: CalibrationReport) -> list[Spoken]:
    """How far judges' scores rise and fall with the annotators': what equal scores alone do not say."""
    if "rating" not in report.labels.criteria.values():
        return []
    found = [of_judges(report, name) for name in ("spearman", "pearson") if name != headline(report)]
    return [spoken for spoken in found if spoken is not None and spoken.words != "undefined"]


def of_people(report: CalibrationReport, statistic: str) -> Spoken | None:
    """The annotators among themselves."""
    estimate = pooled(report, statistic, "others").get(PEOPLE)
    return None if estimate is None else Spoken(title(statistic), statistic, said(estimate), _seen(report, [estimate]))


def ceiling(report: CalibrationReport) -> Spoken | None:
    """The agreement of a left-out annotator with the others, whatever the tie rule; None where it has no value."""
    estimates = [estimate for estimate in report.estimates if estimate.statistic.startswith("human_ceiling")]
    estimate = next(
        (
            estimate
            for estimate in estimates
            if (estimate.rater, estimate.criterion, estimate.category) == (PEOPLE, "all", "all")
        ),
        None,
    )
    if estimate is None or math.isnan(estimate.value):
        return None
    return Spoken("ceiling", estimate.statistic, said(estimate), _seen(report, [estimate]))


def beside(report: CalibrationReport) -> list[Spoken]:
    """What is beside the headline among the annotators, defined ones only."""
    placed = catalogue.at("text methods", report.labels.criteria.values())
    found = [of_people(report, statistic.name) for statistic in placed]
    return [spoken for spoken in found if spoken is not None and spoken.words != "undefined"]


def title(statistic: str) -> str:
    """`Cohen's κ`, `Krippendorff's α (nominal)`."""
    fitting = [one for one in catalogue.METRICS if not one.family and statistic.startswith(one.name)]
    if not fitting:
        return statistic.replace("_", " ")
    metric = max(fitting, key=lambda one: len(one.name))
    rest = statistic.removeprefix(metric.name).strip("_")
    if metric.name == "icc":
        return f"ICC({rest.replace('_', ',')})"
    name = worded(metric.title if metric.name != catalogue.AGREEMENT else "agreement")
    return worded("{name} ({kind})", name=name, kind=worded(rest.replace("_", " "))) if rest else name


def tie_rule(report: CalibrationReport) -> str:
    """In words, or nothing where nobody could say tie."""
    return worded(TIE_RULES[report.settings.ties]) if "pairwise" in report.labels.criteria.values() else ""


def clusters(report: CalibrationReport) -> str:
    """What is resampled, in the singular."""
    return str(report.labels.cluster)


def made_of_others(report: CalibrationReport) -> list[str]:
    """Cascades and panels: candidates like any judge, but nobody asked them."""
    cascades = {cascade.name for cascade in report.cascades}
    return [name for name in report.labels.judges if name in cascades or name.endswith(PANEL)]


def answers(report: CalibrationReport) -> dict[str, int]:
    """status -> answers of the judges that were asked."""
    made, found = made_of_others(report), Counter[str]()
    for judge in report.labels.judges:
        if judge not in made:
            found.update((report.labels.statuses or {}).get(judge, {}))
    return dict(sorted(found.items()))


def not_applicable(report: CalibrationReport) -> int:
    """How often anybody said so."""
    return sum(labels.get("not_applicable", 0) for labels in (report.labels.marginals or {}).values())


def unjoined(report: CalibrationReport) -> list[str]:
    """Judges with annotators' labels that they have no answer to."""
    return [
        worded("{value} for {rater}", value=several(join["human_rows_without_judge"], "label"), rater=judge)
        for judge, join in (report.labels.joins or {}).items()
        if join["human_rows_without_judge"] and not judge.endswith(BOTH_ORDERS)
    ]


@dataclass(frozen=True)
class SpokenAltTest:
    """The alternative annotator test of one judge; `rho`: its advantage in words, "" where it is not told."""

    judge: str
    epsilon: float
    method: str
    omega: float
    passed: bool | None
    annotators: tuple[AnnotatorTest, ...]
    rho: str


def alt_tests(report: CalibrationReport) -> list[SpokenAltTest]:
    """Of the judges as asked; those made of both orders are in the table."""
    rho = {
        estimate.rater: said(estimate) for estimate in report.estimates if estimate.statistic == "advantage_probability"
    }
    return [
        SpokenAltTest(
            test.judge, test.epsilon, test.method, test.omega, test.passed, test.annotators, rho.get(test.judge, "")
        )
        for test in report.alt_tests or ()
        if not test.judge.endswith(BOTH_ORDERS) and not math.isnan(test.omega)
    ]


def _spoken(report: CalibrationReport, statistic: str, estimates: dict[str, Estimate]) -> Spoken | None:
    if not estimates:
        return None
    known = {rater: estimate for rater, estimate in estimates.items() if not math.isnan(estimate.value)}
    if len(known) > NAMED:
        low, *_, high = sorted(known, key=lambda rater: (known[rater].value, rater))
        least, most = said(known[low]), said(known[high])
        parts = [worded("from {least} for {low} to {most} for {high}", least=least, low=low, most=most, high=high)]
    else:
        parts = [worded("{value} for {rater}", value=said(one), rater=rater) for rater, one in known.items()]
    missing = [rater for rater in estimates if rater not in known]
    if missing:
        named = listed(missing) if len(missing) <= NAMED else several(len(missing), "judge")
        parts.append(worded("undefined for {named}", named=named))
    return Spoken(title(statistic), statistic, listed(parts), _seen(report, list(known.values())))


def _seen(report: CalibrationReport, estimates: Sequence[Estimate]) -> str:
    """`n = 180 comparisons in 6 topics`; of several that differ, the range."""
    if not estimates:
        return ""
    word = clusters(report)
    n, c = sorted({estimate.n for estimate in estimates}), sorted({estimate.clusters for estimate in estimates})
    seen, where = (
        several(found[0], thing)
        if len(found) == 1
        else worded("{low} to {high}", low=f"{found[0]:,}", high=several(found[-1], thing))
        for found, thing in ((n, "comparison"), (c, word))
    )
    each = len(estimates) > 1 and len(n) == len(c) == 1
    return worded("n = {seen} in {where} each" if each else "n = {seen} in {where}", seen=seen, where=where)

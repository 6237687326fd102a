"""The numbers a methods section quotes from a report: found by name, said with their intervals, never recomputed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibration.metrics import HEADLINE, METRICS
from calibration.results import CalibrationReport, Estimate
from calibration.verdicts import BOTH_ORDERS
from exports.tables import PEOPLE
from exports.words.grammar import counted, listed, said
from exports.words.notes import TIE_RULES

PANEL = " [panel]"  # ends the names of panels, which `annotation` makes
NAMED = 4  # judges that are named one by one; of more the range is told
HEADLINES = ("percent_agreement", "spearman", "krippendorff_alpha_interval")
BESIDE = (
    "cohen_kappa", "cohen_kappa_quadratic", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval", "fleiss_kappa", "icc_2_1",
)  # fmt: skip


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
        one.rater: one
        for one in report.estimates
        if (one.statistic, one.reference, one.criterion, one.category) == (statistic, reference, "all", "all")
    }


def headline(report: CalibrationReport) -> str:
    """The statistic that leads: agreement under the tie rule set, or a correlation where scores are too fine for it."""
    wanted = (HEADLINE[report.settings.ties], *HEADLINES)
    return next((name for name in wanted if any(one.statistic == name for one in report.estimates)), "")


def of_judges(report: CalibrationReport, statistic: str) -> Spoken | None:
    """Each judge against every annotator's label; None where no judge has it."""
    found = {
        rater: one
        for rater, one in pooled(report, statistic, PEOPLE).items()
        if rater != PEOPLE and not rater.endswith(BOTH_ORDERS)
    }
    return _spoken(report, statistic, found)


def correlations_of_judges(report: CalibrationReport) -> list[Spoken]:
    """How far judges' scores rise and fall with the annotators': what equal scores alone do not say."""
    if "rating" not in report.data["criteria"].values():
        return []
    found = [of_judges(report, name) for name in ("spearman", "pearson") if name != headline(report)]
    return [one for one in found if one is not None and one.words != "undefined"]


def of_people(report: CalibrationReport, statistic: str) -> Spoken | None:
    """The annotators among themselves."""
    one = pooled(report, statistic, "others").get(PEOPLE)
    return None if one is None else Spoken(title(statistic), statistic, said(one), _seen(report, [one]))


def ceiling(report: CalibrationReport) -> Spoken | None:
    """The agreement of a left-out annotator with the others, whatever the tie rule; None where it has no value."""
    found = [one for one in report.estimates if one.statistic.startswith("human_ceiling")]
    one = next((one for one in found if (one.rater, one.criterion, one.category) == (PEOPLE, "all", "all")), None)
    if one is None or math.isnan(one.value):
        return None
    return Spoken("ceiling", one.statistic, said(one), _seen(report, [one]))


def beside(report: CalibrationReport) -> list[Spoken]:
    """What stands beside the headline among the annotators, defined ones only."""
    found = [of_people(report, name) for name in BESIDE]
    return [one for one in found if one is not None and one.words != "undefined"]


def title(statistic: str) -> str:
    """`Cohen's κ`, `Krippendorff's α (nominal)`."""
    fitting = [one for one in METRICS if statistic.startswith(one.name)]
    if not fitting:
        return statistic.replace("_", " ")
    metric = max(fitting, key=lambda one: len(one.name))
    rest = statistic.removeprefix(metric.name).strip("_")
    if metric.name == "icc":
        return f"ICC({rest.replace('_', ',')})"
    name = metric.title if metric.name != "percent_agreement" else "agreement"
    return f"{name} ({rest.replace('_', ' ')})" if rest else name


def tie_rule(report: CalibrationReport) -> str:
    """In words, or nothing where nobody could say tie."""
    return TIE_RULES[report.settings.ties] if "pairwise" in report.data["criteria"].values() else ""


def clusters(report: CalibrationReport) -> str:
    """What is resampled, in the singular."""
    return str(report.data["cluster"])


def made_of_others(report: CalibrationReport) -> list[str]:
    """Cascades and panels: candidates like any judge, but nobody asked them."""
    cascades = {one["name"] for one in report.data.get("cascades", ())}
    return [name for name in report.data["judges"] if name in cascades or name.endswith(PANEL)]


def answers(report: CalibrationReport) -> dict[str, int]:
    """status -> answers of the judges that were asked."""
    made, found = made_of_others(report), Counter[str]()
    for judge in report.data["judges"]:
        if judge not in made:
            found.update(report.data.get("statuses", {}).get(judge, {}))
    return dict(sorted(found.items()))


def not_applicable(report: CalibrationReport) -> int:
    """How often anybody said so."""
    return sum(labels.get("not_applicable", 0) for labels in report.data.get("marginals", {}).values())


def unjoined(report: CalibrationReport) -> list[str]:
    """Judges with annotators' labels that they have no answer to."""
    return [
        f"{counted(join['human_rows_without_judge'], 'label')} for {judge}"
        for judge, join in report.data.get("joins", {}).items()
        if join["human_rows_without_judge"] and not judge.endswith(BOTH_ORDERS)
    ]


def alt_tests(report: CalibrationReport) -> list[dict[str, Any]]:
    """Of the judges as asked, each with its `rho`; those made of both orders stand in the table."""
    rho = {one.rater: one for one in report.estimates if one.statistic == "advantage_probability"}
    return [
        {**one, "rho": said(rho[one["judge"]]) if one["judge"] in rho else ""}
        for one in report.data.get("alt_tests", ())
        if not one["judge"].endswith(BOTH_ORDERS) and one["omega"] is not None and not math.isnan(one["omega"])
    ]


def _spoken(report: CalibrationReport, statistic: str, found: dict[str, Estimate]) -> Spoken | None:
    if not found:
        return None
    known = {rater: one for rater, one in found.items() if not math.isnan(one.value)}
    if len(known) > NAMED:
        low, *_, high = sorted(known, key=lambda rater: (known[rater].value, rater))
        parts = [f"from {said(known[low])} for {low} to {said(known[high])} for {high}"]
    else:
        parts = [f"{said(one)} for {rater}" for rater, one in known.items()]
    missing = [rater for rater in found if rater not in known]
    if missing:
        named = listed(missing) if len(missing) <= NAMED else counted(len(missing), "judge")
        parts.append(f"undefined for {named}")
    return Spoken(title(statistic), statistic, listed(parts), _seen(report, list(known.values())))


def _seen(report: CalibrationReport, estimates: Sequence[Estimate]) -> str:
    """`n = 180 comparisons in 6 topics`; of several that differ, the range."""
    if not estimates:
        return ""
    word = clusters(report)
    n, c = sorted({one.n for one in estimates}), sorted({one.clusters for one in estimates})
    seen = counted(n[0], "comparison") if len(n) == 1 else f"{n[0]:,} to {counted(n[-1], 'comparison')}"
    where = counted(c[0], word) if len(c) == 1 else f"{c[0]:,} to {counted(c[-1], word)}"
    return f"n = {seen} in {where}{' each' if len(estimates) > 1 and len(n) == len(c) == 1 else ''}"

"""The tables of a study's own aggregates: each system by people and by each judge, how far they lie apart, how alike
their orders are."""

import math
from collections.abc import Iterator, Mapping, Sequence

from calibration.results import Aggregate, CalibrationReport, Estimate
from calibration.systems import aggregates, ranking
from calibration.table.verdicts import SYSTEM_PAIR
from exports.cells import number, spread
from exports.tables import COUNTS, PEOPLE, Column, Table, called, noted_table
from plain.counting import counted

ORDERS = {
    "aggregate_pearson_systems": Column("pearson", "Pearson r", "r"),
    "aggregate_spearman_systems": Column("spearman", "Spearman ρ", "ρ"),
    "aggregate_kendall_tau_b_systems": Column("kendall", "Kendall τ", "τ"),
}
LOST = ("not_applicable", "invalid", "missing", "refused")
Found = Mapping[tuple[str, str, str], Estimate]  # (aggregate, rater, system)


def systems_table(report: CalibrationReport) -> Table | None:
    """One row for each system, the people's best by the first aggregate on top; None without aggregates."""
    estimates = _found(report, aggregates.AGGREGATE)
    if not estimates:
        return None
    names = _names(estimates, 0)
    columns, keys = [Column("system", "System")], []
    for one, rater in dict.fromkeys((one, rater) for one, rater, _ in estimates):
        keys.append((one, rater))
        columns.append(Column(f"{one}: {said(rater)}", f"{one} by {said(rater)}"))
    systems = _in_order(estimates, names[0])
    rows = tuple((system, *(estimates.get((*key, system)) for key in keys)) for system in systems)
    reading = (
        *rules(report, names),
        "Each cluster counts once: a value is the mean over clusters of the system's mean there. Annotators' answers "
        "to one question are averaged first; not applicable, invalid, missing and refused answers enter nothing.",
        *_counts(estimates),
        *_coverage(report, names),
    )
    return noted_table("systems", "Systems by the study's own measures", columns, rows, reading, report)


def systems_apart_table(report: CalibrationReport) -> Table | None:
    """Each judge's value of each system minus the people's, on the same labels; None where nobody is beside."""
    estimates = _found(report, aggregates.DIFFERENCE)
    if not estimates:
        return None
    keys = list(dict.fromkeys((one, rater) for one, rater, _ in estimates))
    columns = [Column("system", "System"), *(Column(f"{one}: {rater}", f"{one}, {rater}") for one, rater in keys)]
    values = _found(report, aggregates.AGGREGATE)
    systems = [one for one in _in_order(values, keys[0][0]) if any((*key, one) in estimates for key in keys)]
    rows = tuple((system, *(estimates.get((*key, system)) for key in keys)) for system in systems)
    reading = (
        "Judge minus people, on the questions that both answered, topic by topic: above 0, the judge gives more.",
        "Systems are not adjusted for their number.",
        *_counts(estimates),
    )
    return noted_table("systems_apart", "How far judges lie from people", columns, rows, reading, report)


def system_orders_table(report: CalibrationReport) -> Table | None:
    """Correlations of the systems' values, each judge with the people and every two judges; None below 3 systems."""
    wanted = [estimate for estimate in report.estimates if estimate.statistic in ORDERS]
    if not wanted:
        return None
    keys = dict.fromkeys((estimate.criterion, estimate.rater, estimate.reference) for estimate in wanted)
    estimates = {
        (estimate.criterion, estimate.rater, estimate.reference, estimate.statistic): estimate for estimate in wanted
    }
    columns = (
        Column("aggregate", "Measure"), Column("rater", "Rater"), Column("reference", "Against"), *ORDERS.values(),
        *COUNTS,
    )  # fmt: skip
    rows = []
    for key in keys:
        cells = [estimates.get((*key, name)) for name in ORDERS]
        first = next(estimate for estimate in cells if estimate is not None)
        rows.append((key[0], called(key[1]), called(key[2]), *cells, first.n, first.clusters))
    over = sorted({str(systems) for estimate in wanted if (systems := ranking.systems_of(estimate))})
    between = (
        f"Correlations of the values of {' or '.join(over)} systems, on the questions that both answered: never to be "
        "compared with a correlation over reports. Equal values share a rank."
    )
    reading = (
        *[between] * bool(over),
        f"Against {ranking.REDRAWN}: a rater's order of systems and its order where whole topics are drawn with "
        "replacement, mean over draws; brackets hold most draws.",
    )
    return noted_table(
        "system_orders", "Whether raters order the systems alike", columns, rows, reading, report, names=3
    )


def rules(report: CalibrationReport, names: Sequence[str]) -> Iterator[str]:
    """Each aggregate in words."""
    about = {aggregate.name: aggregate for aggregate in report.settings.aggregates}
    merged = {counts.aggregate: counts.merged for counts in report.aggregates}
    for name in names:
        yield f"{name}: {_rule(about[name], report, merged.get(name, 0))}."


def _rule(aggregate: Aggregate, report: CalibrationReport, merged: int) -> str:
    values, labels = report.settings.answer_values, " or ".join(aggregate.labels)
    entering = [label for label in aggregate.labels or values if label in values]
    worth = ", ".join(f"{label} {_short(values[label])}" for label in entering)
    told = {
        "win_rate": "share of comparisons won; a tie is half a win for each",
        "share": f"share of a report's answers that are {labels}",
        "majority": f"share of questions whose most frequent answer, of a judge's runs or of the annotators, is "
        f"{labels}; where two are equally frequent there is no majority, and the question is left out",
        "mean": f"mean of what a report's answers count ({worth})" if values else "mean of a report's ratings",
        "weighted_mean": "mean of a report's ratings, weighted by criterion",
        "target_share": "t / (t + r) of the weighted means of the two reports of one view; both alike give .5",
    }[aggregate.rule]
    told += "; other answers do not enter" if aggregate.rule == "mean" and aggregate.labels else ""
    told += ", mean over tags" if aggregate.by else ""
    told += f"; a claim with several sources counts once, and needs {aggregate.several} of them" if merged else ""
    told += f"; criteria {', '.join(aggregate.criteria)}" if aggregate.criteria else ""
    times = sorted({*report.settings.score_times.values()})
    told += f"; scores times {' or '.join(map(_short, times))}" if times and not values else ""
    return told + ("" if values or aggregate.rule == "win_rate" else "; a report that lacks a rating is left out")


def _short(value: float) -> str:
    """A weight or factor without idle zeros: `1`, `.5`, `10`."""
    return f"{int(value)}" if value == int(value) else number(value, 3).rstrip("0")


def _names(estimates: Found, place: int) -> list[str]:
    return list(dict.fromkeys(key[place] for key in estimates))


def _found(report: CalibrationReport, statistic: str) -> Found:
    return {
        (estimate.criterion, estimate.rater, estimate.category.removeprefix(SYSTEM_PAIR)): estimate
        for estimate in report.estimates
        if estimate.statistic == statistic
    }


def _in_order(estimates: Found, aggregate: str) -> list[str]:
    """Systems by their values, the best first, as people or else the first judge say; those without one last."""
    rater = next(rater for one, rater, _ in estimates if one == aggregate)

    def key(system: str) -> tuple[bool, float, str]:
        estimate = estimates.get((aggregate, rater, system))
        value = estimate.value if estimate else math.nan
        return math.isnan(value), -value, system

    return sorted(_names(estimates, 2), key=key)


def said(rater: str) -> str:
    """Who that is, in a heading."""
    return "people" if rater == PEOPLE else rater


def _counts(estimates: Found) -> Iterator[str]:
    told: dict[str, dict[str, None]] = {}
    for aggregate, rater in dict.fromkeys(key[:2] for key in estimates):
        own = [estimate for key, estimate in estimates.items() if key[:2] == (aggregate, rater)]
        n, clusters = (spread(getattr(estimate, name) for estimate in own) for name in ("n", "clusters"))
        told.setdefault(f"n = {n} in {clusters} clusters", {})[f"{aggregate} by {said(rater)}"] = None
    parts = [f"{counts} ({', '.join(names)})" for counts, names in told.items()]
    yield f"For each system: {'; '.join(parts)}."


def _coverage(report: CalibrationReport, names: Sequence[str]) -> Iterator[str]:
    """Answers by status, once where aggregates share them; then what has no value although it was answered."""
    answered: dict[str, dict[str, None]] = {}
    left = []
    rows = report.aggregates
    rules_of = {aggregate.name: aggregate.rule for aggregate in report.settings.aggregates}
    for name, rater in dict.fromkeys((counts.aggregate, counts.rater) for counts in rows if counts.aggregate in names):
        own = [counts for counts in rows if (counts.aggregate, counts.rater) == (name, rater)]
        each = 2 if rules_of[name] == "win_rate" else 1  # a comparison stands with both of its systems
        total = {key: sum(counts.statuses[key] for counts in own) // each for key in ("asked", "ok", *LOST)}
        reports, left_out = (sum(getattr(counts, key) for counts in own) // each for key in ("reports", "left_out"))
        share = f"{100 * total['ok'] / total['asked']:.1f}" if total["asked"] else "–"
        lost = ", ".join(f"{total[key]:,} {key.replace('_', ' ')}" for key in LOST if total[key])
        text = f"{said(rater)} {share} % of {total['asked']:,}" + (f" ({lost})" if lost else "")
        answered.setdefault(text, {})[name] = None
        if left_out:
            left.append(f"{name} by {said(rater)} {left_out:,} of {reports:,} reports")
        if own[0].undecided:
            left.append(f"{name} by {said(rater)} {counted(own[0].undecided, 'question')} without a majority")
    parts = [text + ("" if len(of) == len(names) else f" for {', '.join(of)}") for text, of in answered.items()]
    yield f"Usable answers: {'; '.join(parts)}."
    if left:
        yield f"Left out: {'; '.join(left)}."
    shares = [counts for counts in rows if not math.isnan(counts.vote_share or math.nan)]
    votes = dict.fromkeys(f"{one.aggregate} by {said(one.rater)} {number(one.vote_share or 0, 2)}" for one in shares)
    if votes:
        yield f"Confidence, the majority's mean share of the votes: {'; '.join(votes)}."

"""The table `ranking`: the systems by people, by one judge alone, and by the judge corrected with people's labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from calibration.results import CalibrationReport, Estimate
from calibration.table.verdicts import SYSTEM_PAIR
from exports.cells import Cell, shown, spread
from exports.tables import PEOPLE, Column, Table, noted_table
from plain.wording import worded

WIN_RATE, CORRECTED, STRENGTH = "win_rate", "judge_corrected_win_rate", "bradley_terry"


@dataclass(frozen=True)
class Placing:
    """One ranking of a report: the estimate and the rank of each system, and how firmly the first holds its place."""

    estimates: Mapping[str, Estimate]
    ranks: Mapping[str, float]
    keeps_first: float
    note: str


def ranking_table(report: CalibrationReport, judge: str = "") -> Table | None:
    """One row for each system, in the order of the people's win rates.

    `judge`: "" for the chosen one, else the one that agrees most. None where no system was ranked by people.
    """
    judge = judge or judge_shown(report)
    people, alone = placing(report, WIN_RATE, PEOPLE), placing(report, WIN_RATE, judge)
    corrected, strength = placing(report, CORRECTED, judge), placing(report, STRENGTH, PEOPLE)
    if people is None:
        return None
    columns = [Column("system", "System")]
    cells: list[list[Cell]] = [[name] for name in by_people(people)]
    parts = (
        ("people", "Win rate by people", "people", people),
        ("judge", worded("Win rate by {judge} alone", judge=judge), "judge", alone),
        ("corrected", worded("{judge}, corrected by people", judge=judge), "corr", corrected),
        ("strength", "Bradley–Terry strength by people", "BT", strength),
    )
    for key, title, symbol, found in parts:
        if found is None:
            continue
        columns.append(Column(key, title, symbol))
        ranked = key != "strength"  # of the same wins as the first column, and nearly always the same order
        columns += [Column(f"{key}_rank", "Rank")] * ranked
        for row in cells:
            row.append(found.estimates.get(str(row[0])))
            row += [_rank(found.ranks.get(str(row[0]), math.nan))] * ranked
    rows = tuple(map(tuple, cells))
    judge_alone, judge_corrected = worded("{judge} alone", judge=judge), worded("{judge} corrected", judge=judge)
    named = ((worded("people"), people), (judge_alone, alone), (judge_corrected, corrected))
    reading = (
        *_reading(judge, alone, corrected),
        *_counts(named),
        *_firmness(named),
        *_taus(report),
    )
    return noted_table("ranking", "Which system is best", columns, rows, reading, report)


def judge_shown(report: CalibrationReport) -> str:
    """The chosen judge, else the candidate that agrees most, else the first that ranked systems; "" without any."""
    ranked = list(dict.fromkeys(ranking.rater for ranking in report.rankings or () if ranking.rater != PEOPLE))
    choice = report.choice
    if choice is not None and choice.judge in ranked:
        return str(choice.judge)
    tried = [candidate for candidate in (choice.candidates if choice else ()) if candidate.judge in ranked]
    best = max(
        tried, key=lambda one: -math.inf if math.isnan(one.agreement.value) else one.agreement.value, default=None
    )
    return best.judge if best else next(iter(ranked), "")


def placing(report: CalibrationReport, statistic: str, rater: str) -> Placing | None:
    """None where the report has no such ranking."""
    ranking = next(
        (ranking for ranking in report.rankings or () if (ranking.statistic, ranking.rater) == (statistic, rater)), None
    )
    if ranking is None:
        return None
    estimates = {
        estimate.category.removeprefix(SYSTEM_PAIR): estimate
        for estimate in report.estimates
        if (estimate.statistic, estimate.rater) == (statistic, rater) and estimate.category.startswith(SYSTEM_PAIR)
    }
    ranks = {system.system: system.rank for system in ranking.systems}
    return Placing(estimates, ranks, ranking.keeps_first, ranking.note)


def by_people(people: Placing) -> list[str]:
    """Systems, the people's best first, those without a rank last."""
    return sorted(people.ranks, key=lambda name: (math.isnan(people.ranks[name]), people.ranks[name], name))


def _rank(rank: float) -> int | float | None:
    """A whole rank without decimals; a shared one has its half."""
    return None if math.isnan(rank) else int(rank) if rank == int(rank) else rank


def _reading(judge: str, alone: Placing | None, corrected: Placing | None) -> Iterator[str]:
    yield "Win rate: mean over clusters of won comparisons with the other systems; a tie is half a win for each."
    if alone is not None and corrected is not None:
        yield (
            worded(
                "Alone: what {judge} says, with its biases. Corrected: what people would say of everything {judge} has "
                "judged, from its answers and their labels together (prediction-powered, on cluster means).",
                judge=judge,
            )
        )


def _counts(rankings: Sequence[tuple[str, Placing | None]]) -> Iterator[str]:
    said: dict[str, list[str]] = {}
    for by, placing in rankings:
        used = [*placing.estimates.values()] if placing else []
        if used:
            n, clusters = (spread(getattr(one, name) for one in used) for name in ("n", "clusters"))
            said.setdefault(worded("n = {n} in {clusters} clusters", n=n, clusters=clusters), []).append(by)
    if said:
        parts = [
            worded("{counts} (by {names})", counts=counts, names=worded(", ").join(names))
            for counts, names in said.items()
        ]
        yield worded("Items and criteria on which a system was compared: {parts}.", parts=worded("; ").join(parts))


def _firmness(rankings: Sequence[tuple[str, Placing | None]]) -> Iterator[str]:
    said = []
    for by, placing in rankings:
        if placing is None:
            continue
        if math.isnan(placing.keeps_first):
            unknown = "by {by} unknown ({note})" if placing.note else "by {by} unknown"
            said.append(worded(unknown, by=by, note=placing.note))
        else:
            share = f"{100 * placing.keeps_first:.1f}".removesuffix(".0")
            said.append(worded("by {by} {share} %", by=by, share=share))
    if said:
        yield worded(
            "The first system is first again in resamples of whole clusters: {said}.", said=worded("; ").join(said)
        )


def _taus(report: CalibrationReport) -> Iterator[str]:
    estimates = [estimate for estimate in report.estimates if estimate.statistic == "kendall_tau_b_systems"]
    said = []
    for estimate in estimates:
        value, interval = shown(estimate)
        both = worded("{rater} and {reference}", rater=estimate.rater, reference=estimate.reference)
        who = estimate.reference if estimate.rater == PEOPLE else both
        said.append(f"{who} {f'{value} {interval}'.strip()}")
    if said:
        yield (
            worded(
                "Kendall's τ between the order by people and by each judge, on what both answered: {said}. It is over "
                "few systems; a bias can leave it at 1.",
                said=worded("; ").join(said),
            )
        )

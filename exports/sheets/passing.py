"""The tables `confusion`, `pass_fail`, `label_rates` and `pass_rates`: who said that what passes, how often a judge
is right about it and about each label, and what share of each system's answers passes without the judge's errors."""

from collections.abc import Iterator, Sequence

from calibration.agreement import catalogue, detection
from calibration.agreement.statistic import Statistic
from calibration.results import CalibrationReport, Estimate
from calibration.systems.pass_rates import CORRECTED, PASS_RATE, ROGAN_GLADEN
from calibration.table.verdicts import ONE_LABEL, SYSTEM_PAIR
from exports.cells import Cell
from exports.tables import AMONG, COUNTS, PEOPLE, Column, Table, called, noted_table
from exports.words.notes import origin
from plain.wording import worded

WHOLE = "all"
Named = tuple[str, str, str, str, str]  # statistic, rater, reference, criterion, category


def said_of(report: CalibrationReport) -> list[detection.PassFail]:
    """The counts of each criterion, judges before annotators; all criteria together alone where they are pooled."""
    counts = list(report.pass_fail or ())
    pooled = [counted for counted in counts if counted.criterion == WHOLE]
    return pooled or counts


def confusion_table(report: CalibrationReport) -> Table | None:
    """One row for each judge and one for the annotators among themselves; None where nothing passes or fails."""
    counts = said_of(report)
    if not counts:
        return None
    columns = (
        Column("criterion", "Criterion"), Column("rater", "Rater"), Column("positive", "Positive"),
        Column("both", "Both"), Column("rater_only", "Rater alone"), Column("reference_only", "People alone"),
        Column("neither", "Neither"),
    )  # fmt: skip
    keys = [column.key for column in columns]
    rows = [tuple(_cell(key, getattr(counted, key)) for key in keys) for counted in counts]
    notes = (
        "How often the rater (of annotators either one) and the other say the positive answer: both, one alone, "
        "neither. Each judge is set beside every annotator's label in turn; between two annotators each label counts "
        "half as either side.",
        *_positive(counts),
        origin(report),
    )
    kept, cells = _without_one_criterion(columns, rows)
    return Table("confusion", "Who says that what passes", kept, cells, notes)


def pass_fail_table(report: CalibrationReport) -> Table | None:
    """Rates of right answers, one row for each judge, then the annotators among themselves; None where none has any."""
    estimates, rates = _found(report), rates_shown(report)
    rows: list[tuple[Cell, ...]] = []
    for counted in said_of(report):
        key = counted.rater, counted.reference, counted.criterion, WHOLE
        cells = [estimates.get((name, *key)) for name in rates]
        last = next((cell for cell in reversed(cells) if cell is not None), None)
        if last is not None:
            rows.append((key[2], called(key[0], AMONG), *cells, last.n, last.clusters))
    wide = [
        (place, statistic)
        for place, statistic in enumerate(rates.values(), 2)
        if any(row[place] is not None for row in rows)
    ]
    if not rows:
        return None
    columns = (
        Column("criterion", "Criterion"), Column("rater", "Rater"),
        *(Column(statistic.name, statistic.title, statistic.symbol) for _, statistic in wide),
        *COUNTS,
    )  # fmt: skip
    kept = [0, 1, *(place for place, _ in wide), len(rates) + 2, len(rates) + 3]
    columns, cells_ = _without_one_criterion(columns, [tuple(row[place] for place in kept) for row in rows])
    reading = (
        "True positive rate: of the answers that people call positive, the share that the judge does too (recall). "
        "True negative rate: the same of the others. Precision: of the judge's positive answers, those that people "
        "share. Youden's J: both rates minus 1; 0 for a judge that says nothing about what people say.",
        "Annotators among themselves: neither is the truth, so that their true positive rate is their precision.",
        *_positive(said_of(report)),
    )
    title, names = "How often judges are right about what passes", len(columns) - len(wide) - 2
    return noted_table("pass_fail", title, columns, cells_, reading, report, names)


def label_rates_table(report: CalibrationReport) -> Table | None:
    """One row for each rater and label, judges before annotators; None where no answer is one of several labels.

    All criteria together alone where they are pooled, as in the other tables.
    """
    found: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for estimate in report.estimates:
        if estimate.category.startswith(ONE_LABEL):
            key = estimate.criterion, estimate.rater, estimate.category.removeprefix(ONE_LABEL)
            found.setdefault(key, {})[estimate.statistic] = estimate
    if any(criterion == WHOLE for criterion, *_ in found):
        found = {key: rates for key, rates in found.items() if key[0] == WHOLE}
    rows: list[tuple[Cell, ...]] = []
    for (criterion, rater, label), rates in found.items():
        precision, recall = (rates[name] for name in detection.OF_LABEL)
        clusters = max(precision.clusters, recall.clusters)
        rows.append((criterion, called(rater, AMONG), label, precision, precision.n, recall, recall.n, clusters))
    if not rows:
        return None
    columns = (
        Column("criterion", "Criterion"), Column("rater", "Rater"), Column("label", "Label"),
        Column("precision", "Precision", "Prec."), Column("rater_said", "Rater said it", "n (rater)"),
        Column("recall", "Recall", "Rec."), Column("people_said", "People said it", "n (people)"),
        Column("clusters", "Clusters", "C"),
    )  # fmt: skip
    kept, cells = _without_one_criterion(columns, rows)
    reading = (
        "Each label against all others, each annotator's label in turn. Precision: of the rater's answers of this "
        "label, the share that people give too. Recall: of people's, the share that the rater gives too.",
        "Annotators among themselves: neither is the truth, so that both are one number.",
    )
    return noted_table(
        "label_rates", "Precision and recall of each label", kept, cells, reading, report, names=len(kept) - 5
    )


def pass_rates_table(report: CalibrationReport) -> Table | None:
    """One row for each judge and system, all of them together first; None where nothing is known to pass."""
    estimates = _found(report)
    rows: list[tuple[Cell, ...]] = []
    judges = list(dict.fromkeys(judge for _, judge, *_ in estimates))
    for key in sorted(estimates, key=lambda one: judges.index(one[1])):
        statistic, judge, reference, criterion, category = key
        if (statistic, reference) != (PASS_RATE, "") or judge == PEOPLE:
            continue
        own, system = estimates[key], worded(WHOLE) if category == WHOLE else system_of(category)
        people = estimates.get((PASS_RATE, PEOPLE, "", criterion, category))
        corrected = [estimates.get((name, judge, "people", criterion, category)) for name in (ROGAN_GLADEN, CORRECTED)]
        rows.append((criterion, judge, system, people, own, *corrected, own.n, own.clusters))
    if not rows:
        return None
    columns = (
        Column("criterion", "Criterion"), Column("rater", "Judge"), Column("system", "System"),
        Column("people", "People"), Column("judge", "Judge alone"),
        Column("rogan_gladen", "Rogan–Gladen", "RG"), Column("ppi", "PPI++"), *COUNTS,
    )  # fmt: skip
    kept, cells = _without_one_criterion(columns, rows)
    reading = (
        "Share of positive answers, each cluster once: by people where they labelled, by the judge on all it saw, and "
        "what people would have said of all of that, in two ways.",
        "Rogan–Gladen: (p + TNR − 1) / (TPR + TNR − 1), cut at 0 and 1; its interval resamples p and both rates "
        "together. It takes the judge to err alike on every system, and has no value where TPR + TNR is 1 or less. "
        "PPI++ (prediction-powered inference) takes for each system the judge's mean error where people labelled.",
        *_positive(said_of(report)),
    )
    return noted_table(
        "pass_rates", "Pass rates without the judge's errors", kept, cells, reading, report, names=len(kept) - 6
    )


def system_of(category: str) -> str:
    """What a row about one system, or about all, is called."""
    return category.removeprefix(SYSTEM_PAIR) if category != WHOLE else "all"


def rates_shown(report: CalibrationReport) -> dict[str, Statistic]:
    """Name to rate of right answers, in the order of the table."""
    return {statistic.name: statistic for statistic in catalogue.at("table pass_fail", report.labels.criteria.values())}


def _found(report: CalibrationReport) -> dict[Named, Estimate]:
    wanted = {*rates_shown(report), PASS_RATE, ROGAN_GLADEN, CORRECTED}
    return {
        (estimate.statistic, estimate.rater, estimate.reference, estimate.criterion, estimate.category): estimate
        for estimate in report.estimates
        if estimate.statistic in wanted
    }


def _positive(counts: Sequence[detection.PassFail]) -> Iterator[str]:
    """Which answers pass, and who says so."""
    by = {
        "named": worded("named in the settings"), "recognised": worded("known by its word"),
        "": worded("not known: either may pass"),
    }  # fmt: skip
    told = dict.fromkeys((counted.criterion, counted.positive, counted.negative, counted.chosen) for counted in counts)
    parts = [
        ("" if criterion == WHOLE else f"{criterion}: ")
        + worded("{positive}, against {negative} ({how})", positive=positive, negative=negative, how=by[chosen])
        for criterion, positive, negative, chosen in told
    ]
    if parts:
        yield worded("Positive: {parts}.", parts=worded("; ").join(parts))


def _cell(key: str, value: object) -> Cell:
    if key == "rater":
        return called(str(value), AMONG)
    return value if isinstance(value, int | float) else str(value)


def _without_one_criterion(
    columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]]
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Without the first column, where it says the same in every row."""
    if len({row[0] for row in rows}) > 1:
        return columns, tuple(rows)
    return columns[1:], tuple(row[1:] for row in rows)

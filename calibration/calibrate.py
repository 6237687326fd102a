"""From the table of verdicts to the calibration report.

Every estimate with its interval, every caution with its numbers.

A cascade of two judges that was asked for is a candidate like any judge, one of a judge and a person a line beside.
"""

import hashlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from calibration import remarks, results
from calibration.agreement import agreeing, ceiling, detection, drawn_topics, score_preferences
from calibration.arithmetic.columns import tally
from calibration.biases.bias_audit import bias_audit
from calibration.biases.rationale_overlap import rationale_overlap
from calibration.choosing import card, choose, looking
from calibration.choosing.choice import Choice
from calibration.choosing.panel_sensitivity import held_to_the_panel, panel_sensitivity
from calibration.comparing.alternative_annotator import FEWEST_ITEMS, AltTest, alt_test_of
from calibration.comparing.effective_judges import effective_judges
from calibration.comparing.judge_pairs import judge_pairs, pair_estimate
from calibration.confidence import confidence, vote_agreement
from calibration.confidence.sureness import THEN
from calibration.delegating.alone import alone_of, nothing_alone
from calibration.delegating.cascade import Cascade, cascade_with_person, with_cascade
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.study import answering, bounding, counted, distance
from calibration.study.joining import MANY_LABELS, Scale, Study, scale_of, study_of
from calibration.study.left_out import ties_rule
from calibration.systems import aggregates, category_effects, pass_rates, ranking
from calibration.table.verdicts import EXTRA, KNOWN_COLUMNS, normalise
from calibration.warnings.cautions import cautions
from calibration.warnings.sample_cautions import unread_topics

T = TypeVar("T")
Advance = Callable[[int, int], None]  # told how many steps of how many are done
MANY_ROWS = 5_000  # of fewer the whole report takes a second or two
STEPS = 9  # of a whole report, beside one for each group of labels
POINTS = (  # what is told of agreement before its intervals are there
    "percent_agreement", "percent_agreement_half_credit", "percent_agreement_exclude_ties", "cohen_kappa", "spearman",
    "cost_per_item",
)  # fmt: skip

FOLLOWS = remarks.no_interval(remarks.Reason.NOT_ASKED, "it follows")


def _untold(*_: object) -> None:
    """Nobody waits."""


@dataclass(frozen=True)
class Waiting:
    """Who waits for a report of many labels: `points` takes its agreement first without intervals, then with them;
    `advance` how far the report is; `read` what was read of a file, before all numbers.
    """

    points: Callable[[results.CalibrationReport], None] = _untold
    advance: Advance = _untold
    read: Callable[[Sequence[str]], None] = _untold


NOBODY = Waiting()


class _Steps:
    """Counts the steps of a whole report: each value that is handed through is one."""

    def __init__(self, advance: Advance, of: int) -> None:
        self.advance, self.done, self.of = advance, 0, of

    def __call__(self, value: T) -> T:
        self.done += 1
        self.advance(self.done, self.of)
        return value


def calibrate(
    verdicts: pd.DataFrame,
    settings: CalibrationSettings | None = None,
    only: Collection[str] | None = None,
    waiting: Waiting = NOBODY,
) -> results.CalibrationReport:
    """All estimates of one study. `verdicts`: one row per rater, item, criterion, run and presentation (`labels.csv`).

    Each judge against every annotator, each annotator against the others, all annotators among themselves, judges and
    few annotators two by two; pooled over criteria and, on request, per criterion, category and pair of systems. The
    same verdicts, in any row order, and the same settings give the same report. Raises `CalibrationError` with the
    first offending row.

    `only`: names of statistics of agreement and of answers. The report then holds these alone, each as the whole report
    has it, and no choice, bias, ranking or warning: nothing else is computed. None of them (`()`): what was counted in
    the table alone, of one rater too. `waiting`: told of a whole report as it comes: of many labels first the points of
    agreement, then their intervals, which are a tenth of its work or less.
    """
    settings = settings or CalibrationSettings()
    named, aliases = normalise(verdicts)
    study = study_of(named, settings)
    del named
    if only is None or only:
        counted.refuse_lonely(study)
    detection.refuse_unknown_positive(study, settings)
    drawn_topics.refuse_over_annotators(study, settings)
    scale = scale_of(study, study.criteria, settings)
    groups = counted.groups_of(study, settings, scale is not None)
    if scale is not None and len(scale.labels) > MANY_LABELS and ties_rule(scale, settings) not in distance.BY_DISTANCE:
        scale = None  # answers too fine for agreement in one exact level: no ceiling, and nothing to choose by
    wide = looking.widened(settings, len(study.clusters))  # intervals are made with it, decisions with the settings
    if only is not None:
        asked = tuple(_asked(study, groups, wide, only)) if only else ()
        asked = drawn_topics.weighted_or_dashed(study, settings, asked)
        return results.CalibrationReport(
            _counted_labels(study, aliases, scale), settings, (), _bounded(study, groups, asked, settings, wide)
        )
    told = waiting.points if len(study.frame) >= MANY_ROWS else _untold
    if told is not _untold:
        told(results.CalibrationReport(_counted_labels(study, aliases, scale), settings, (), _points(study, settings)))
    stepped = _Steps(waiting.advance, STEPS + len(groups))
    pooled = stepped(tuple(agreeing.agreement_estimates(study, groups[0], wide)))
    if told is not _untold and scale is not None:
        first = _bounded(study, groups, drawn_topics.weighted_or_dashed(study, settings, pooled), settings, wide)
        told(results.CalibrationReport(_counted_labels(study, aliases, scale), settings, (), first))
    with ThreadPoolExecutor(1) as beside:  # rationales are looked up and sorted while the rest is reckoned
        rationales = beside.submit(rationale_overlap, study, wide)
        audit = stepped(bias_audit(study, wide, with_rationales=False))
        ranked, of_systems = stepped(ranking.rankings(study, wide))
        pairs = stepped(judge_pairs(study, scale, wide) if scale and study.annotators else ())
        aggregated, counts = stepped(aggregates.aggregate_estimates(study, wide))
        alt_tests = stepped(_alt_tests(study, groups[0], scale, wide))
    audit = replace(audit, rationales=rationales.result())
    if study.drawn is not None:  # what stands beside people's answers is not weighted
        audit = replace(audit, length=(), families=(), answers=(), rationales=(), scores=())
    found = (replace(bias, estimate=looking.sequence(bias.estimate, settings, wide)) for bias in audit.biases)
    judged = {judge.rater for judge in study.judges}
    biases = tuple(
        one for one in found
        if not math.isnan(one.estimate.value) and (study.drawn is None or one.estimate.rater in judged)
    )  # fmt: skip
    estimates = (
        *pooled,
        *_agreement(study, groups, scale, wide, stepped),
        *(bias.estimate for bias in biases),
        *(repeat.agreement for repeat in audit.repeats if repeat.agreement.n),
        *(system.estimate for one in ranked for system in one.systems),
        *of_systems,
        *aggregated,
        *pass_rates.pass_rate_estimates(study, groups, wide),
        *(alt_test.advantage for alt_test in alt_tests),
        *(pair_estimate(pair, wide) for pair in pairs),
    )
    of_confidence, readings = confidence.confidence_estimates(study, wide)
    estimates += (*of_confidence, *vote_agreement.vote_estimates(study, wide))
    estimates = drawn_topics.weighted_or_dashed(study, settings, estimates)
    estimates = stepped(_bounded(study, groups, estimates, settings, wide))
    rows = {judge.rater: card.habits(judge.rater, audit, estimates) for judge in study.judges}
    kept = {
        judge: tuple(replace(row, estimate=looking.sequence(row.estimate, settings, wide)) for row in each)
        for judge, each in rows.items()
    }
    comparable = scale and study.judges and study.annotators
    choice = choose.choice_of(study, groups[0], scale, settings, kept) if scale and comparable else None
    is_mixed = scale is None and study.annotators
    by_scores, unscored = score_preferences.judged_by_scores(study, settings) if is_mixed else (None, ())
    if by_scores:  # scores share no scale with the preference that people state; which of two is higher does
        derived = {judge.rater for judge in by_scores.judges} - judged
        own = {f"{name} by {one}": family for name, family in settings.families.items() for one in study.criteria}
        choice = choose.cheapest_adequate_judge(by_scores, replace(settings, families={**settings.families, **own}))
        estimates += tuple(one for one in answering.answering_estimates(by_scores, wide) if one.rater in derived)
    tried = by_scores or study
    stepped(choice)
    plain = study.drawn is None  # whether whatever is not weighted may be told
    panel = stepped(panel_sensitivity(tried, choice, settings) if plain else None)
    choice = held_to_the_panel(choice, panel) if choice and panel else choice
    is_told = settings.alone_error and comparable and plain
    alone = alone_of(study, groups[0], scale, settings) if is_told and scale else None
    unanswered = (nothing_alone(settings),) if settings.alone_error and alone is None else ()
    return results.CalibrationReport(
        _counted_labels(study, aliases, scale, tried),
        settings,
        (
            *unanswered,
            *drawn_topics.draw_cautions(drawn_topics.drawn_topics(study)),
            *unread_topics(verdicts, study),
            *cautions(study, settings, estimates, biases, choice, panel, tried),
            *unscored,
        ),
        estimates,
        choice,
        biases,
        _card(choice, kept),
        tables=tuple(table for group in groups for table in agreeing.count_tables(study, group, settings)),
        pass_fail=tuple(detection.confusion_data(study, groups, settings)) if plain else None,
        panel_sensitivity=panel,
        effective_judges=stepped(
            effective_judges(tried, None, settings) if choice and plain and len(tried.judges) > 1 else None
        ),
        rankings=tuple(one for one in ranked if plain or one.statistic != "bradley_terry"),
        judge_pairs=tuple(pairs),
        category_effects=category_effects.effects_by_people(study, settings) if plain else None,
        confidence=tuple(readings) if plain else (),
        alone=None if alone is None else tuple(alone),
        alt_tests=alt_tests if plain else None,
        aggregates=tuple(counts) if plain else (),
        rated_together=tuple(score.estimate.rater for score in audit.scores),
    )


def _points(study: Study, settings: CalibrationSettings) -> tuple[Estimate, ...]:
    """Agreement of all labels together (of each criterion where they share no scale) before its intervals are there.

    Of every estimate the value alone, that of the whole report: a twentieth of its work.
    """
    pooled = replace(settings, resamples=1, per_criterion=False, per_category=False, per_system_pair=False)
    groups = counted.groups_of(study, pooled, scale_of(study, study.criteria, settings) is not None)
    found = drawn_topics.weighted_or_dashed(study, settings, tuple(_asked(study, groups, pooled, POINTS)))
    return tuple(
        one if math.isnan(one.value) else replace(one, low=math.nan, high=math.nan, method="none", remarks=(FOLLOWS,))
        for one in found
    )


def _asked(
    study: Study, groups: Sequence[bounding.Group], settings: CalibrationSettings, only: Collection[str]
) -> Iterator[Estimate]:
    """The statistics of these names, in the order of a whole report."""
    everything, *parts = groups
    yield from agreeing.agreement_estimates(study, everything, settings, only)
    yield from (estimate for estimate in answering.answering_estimates(study, settings) if estimate.statistic in only)
    for group in parts:
        yield from agreeing.agreement_estimates(study, group, settings, only)


def _bounded(
    study: Study,
    groups: Sequence[bounding.Group],
    estimates: tuple[Estimate, ...],
    settings: CalibrationSettings,
    wide: CalibrationSettings,
) -> tuple[Estimate, ...]:
    """Intervals that speak of other annotators, or hold at every look, where the settings ask for them."""
    if wide.generalise_to == "pairs_and_annotators":
        estimates = tuple(ceiling.over_annotators(study, groups, estimates, wide))
    return tuple(looking.sequence(estimate, settings, wide) for estimate in estimates)


def _agreement(
    study: Study, groups: Sequence[bounding.Group], scale: Scale | None, settings: CalibrationSettings, stepped: _Steps
) -> Iterator[Estimate]:
    """After agreement of all labels together: its ceiling, answers, and each part by itself."""
    everything, *parts = groups
    if scale and len(study.annotators) > 1:
        yield from ceiling.ceiling_estimates(ceiling.ceiling_of(study, everything, scale, settings))
    yield from answering.answering_estimates(study, settings)
    for group in parts:
        yield from stepped(tuple(agreeing.agreement_estimates(study, group, settings)))


def _alt_tests(
    study: Study, everything: bounding.Group, scale: Scale | None, settings: CalibrationSettings
) -> tuple[AltTest, ...]:
    if scale is None or len(study.annotators) < 2 or len(scale.labels) > MANY_LABELS:
        return ()
    return tuple(
        alt_test_of(study, everything, scale, judge, settings.epsilon, "exact_match", FEWEST_ITEMS, True, settings)
        for judge in study.judges
    )


def _card(choice: Choice | None, kept: Mapping[str, tuple[card.CardRow, ...]]) -> tuple[card.CardRow, ...]:
    """Every judge's rows, in the order of the candidates; a judge of both orders has those that are its own alone."""
    tried = {candidate.judge: candidate.rows for candidate in choice.candidates} if choice else {}
    every = tried | {judge: rows for judge, rows in kept.items() if judge not in tried}
    return tuple(row for judge, rows in every.items() for row in rows if row.judge == judge)


def _counted_labels(
    study: Study, aliases: dict[str, int], scale: Scale | None, tried: Study | None = None
) -> results.LabelCounts:
    """`tried`: whose judges stand beside people's labels, where not the study's own."""
    frame, beside = study.frame, tried or study
    kind = frame.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"].astype(str).sort_index()
    told = (frame["status"] == "ok") & ~study.of_kind(frame, "rating")
    return results.LabelCounts(
        rows=len(frame),
        items=int(frame["item_id"].nunique()),
        clusters=len(study.clusters),
        cluster=counted.cluster_word(frame),
        criteria=dict(study.kinds),
        annotators=[str(rater) for rater in kind.index[kind == "human"]],
        judges=[str(rater) for rater in kind.index[kind == "judge"]],
        systems=sorted({str(name) for side in ("system_a", "system_b") for name in frame[side].unique()} - {""}),
        aliases=dict(sorted(aliases.items())),
        statuses=_counted(frame, "status"),
        marginals=_counted(frame[["rater_id", "label"]][told], "label"),
        levels_used=counted.levels_used(study),
        derived=counted.derived_preferences(frame),
        currency=None if (money := counted.currency_of(frame)) == counted.USD else money,
        ends=scale.ends if scale else None,
        drawn=drawn_topics.drawn_topics(study),
        joins={judge.rater: joins(beside, judge.asked) for judge in beside.judges},
        verdicts_sha256=_fingerprint(frame),
    )


def _counted(rows: pd.DataFrame, column: str) -> dict[str, dict[str, int]]:
    """How often each rater has each value of a column, where it has any."""
    raters, values = (rows[name].cat.categories for name in ("rater_id", column))
    cell = rows["rater_id"].cat.codes.to_numpy().astype(np.intp) * len(values) + rows[column].cat.codes
    counts = tally(cell, len(raters) * len(values)).reshape(len(raters), len(values)).astype(int)
    found = {
        str(rater): {str(values[int(place)]): int(row[place]) for place in np.flatnonzero(row)}
        for rater, row in zip(raters, counts, strict=True)
    }
    return {rater: each for rater, each in found.items() if each}


def joins(study: Study, asked: np.typing.NDArray[np.intp]) -> dict[str, int]:
    """Annotators' rows with and without a partner among the units a judge was asked, and the judge's units without
    one."""
    people = np.concatenate([np.zeros(0, np.intp), *(annotator.asked for annotator in study.annotators)])
    joined = int(study.among(asked)[people].sum())
    return {
        "human_rows_joined": joined,
        "human_rows_without_judge": len(people) - joined,
        "judge_units_without_human": int((~study.among(people)[asked]).sum()),
    }


def _fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 of the sorted, normalised table: equal tables in any row order and column order have the same one.

    Made of texts and 8-byte numbers, so that no version of a library changes it.
    """
    digest = hashlib.sha256()
    for name in sorted({*KNOWN_COLUMNS, *EXTRA} & {*frame} - {"rationale"}):
        column = frame[name]
        digest.update(f"{name}\0{len(column)}\0".encode())
        if isinstance(column.dtype, pd.CategoricalDtype):
            digest.update("\0".join(column.cat.categories).encode())
            digest.update(column.cat.codes.to_numpy().astype("<i4").tobytes())
        else:
            numbers = column.to_numpy().astype("<f8")
            digest.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
    return digest.hexdigest()


PERSON = "a person"


def calibrate_with_cascades(
    verdicts: pd.DataFrame,
    settings: CalibrationSettings,
    names: Sequence[str] = (),
    only: Collection[str] | None = None,
    waiting: Waiting = NOBODY,
) -> tuple[results.CalibrationReport, pd.DataFrame]:
    """`calibrate`, with one more judge for each cascade of two judges and its `cascades` for all of them.

    Beside the report are the verdicts it was made of: the rows of those judges among them. A cascade that ends at a
    person has the price of the annotators' own items. Raises `unknown_form` for a name that is not
    `CHEAP then DEAR`, and as `calibrate` does.
    """
    made: list[Cascade] = []
    for cheap, dear in map(parts_of, names):
        if dear != PERSON:
            verdicts, cascade = with_cascade(verdicts, cheap, dear, settings)
            made.append(cascade)
    report = calibrate(verdicts, settings, only, waiting)
    if not names:
        return report, verdicts
    price = next(
        (
            estimate.value
            for estimate in report.estimates
            if (estimate.rater, estimate.statistic) == ("each_annotator", "cost_per_item")
        ),
        math.nan,
    )
    behind = [
        cascade_with_person(verdicts, cheap, price, settings) for cheap, dear in map(parts_of, names) if dear == PERSON
    ]
    return replace(report, cascades=(*made, *behind)), verdicts


def parts_of(name: str) -> tuple[str, str]:
    """`mini then large` as its two raters."""
    cheap, then, dear = name.partition(THEN)
    if not then or not cheap.strip() or not dear.strip():
        raise CalibrationError("unknown_form", f"cascade {name!r} is not 'CHEAP then DEAR' or 'CHEAP then {PERSON}'")
    return cheap.strip(), dear.strip()

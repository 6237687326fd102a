"""Agreement among annotators while a study runs: where it is now, how it got there, how many more pairs it takes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.agreement.agreeing import agreement_estimates
from calibration.agreement.catalogue import AGREEMENT, HEADLINE, at
from calibration.agreement.ceiling import ceiling_of
from calibration.arithmetic.closed_forms import Array, diagonal
from calibration.estimates import Estimate
from calibration.inference.deciding import Needed
from calibration.people.annotator_quality import parts_of, people_of
from calibration.remarks import WORDS
from calibration.settings import CalibrationSettings
from calibration.sizing import pilot, planning
from calibration.study.bounding import FEWEST, Group, Pair, share
from calibration.study.crossing import comparison_of_people
from calibration.study.joining import Scale, Study
from calibration.study.left_out import left_out_scores


@dataclass(frozen=True)
class AgreementSoFar:
    """All pairs of annotators, pooled (`overall`) and by criterion; beside each the ceiling on the same labels.

    `steps`: label agreement after each cluster, in the order in which clusters got their second annotator. `spread`:
    how it varies between clusters, which is what more of them are planned with.
    """

    overall: tuple[Estimate, ...]
    ceiling: Estimate | None
    criteria: tuple[tuple[Estimate, Estimate], ...]  # agreement and ceiling of each criterion, in their order
    steps: tuple[Estimate, ...]
    spread: planning.Spread
    level: float

    @property
    def headline(self) -> Estimate | None:
        """Share of equal labels over all pairs of annotators and all criteria."""
        return next((one for one in self.overall if one.statistic.startswith(AGREEMENT)), None)

    def needed(self, half_width: float) -> Needed:
        """Clusters for an interval of +- `half_width` as expected; None and a note where nobody can know yet."""
        if self.spread.note == "not_weighted":
            return Needed(None, None, math.nan, math.nan, self.spread.note)
        if self.spread.pilot < FEWEST:
            few = f"only {self.spread.pilot} of the {FEWEST} clusters it needs have two annotators"
            return Needed(None, None, math.nan, math.nan, few)
        return planning.needed_for_interval(self.spread, half_width, self.level)

    def cautious(self, half_width: float) -> Needed:
        """The same with a spread that the true one exceeds with a probability of 20 % only. Browne 1995."""
        if self.spread.pilot < FEWEST:
            return self.needed(half_width)
        return planning.needed_for_interval(replace(self.spread, sd=self.spread.cautious_sd), half_width, self.level)

    def expected(self, clusters: int) -> float:
        """Half-width of the interval at this many clusters, if they vary as those so far. nan: unknown."""
        return planning.half_width_of_sd(clusters, self.spread.sd, self.level)


def agreement_so_far(
    verdicts: pd.DataFrame, order: Sequence[str] = (), settings: CalibrationSettings | None = None
) -> AgreementSoFar:
    """Agreement of the people in `verdicts`, as for `calibrate`; judges' rows are left aside.

    `order`: cluster_ids as they became complete; those it lacks follow by name. Ties as `settings` say. Nothing
    shared by two annotators: no estimates, and a spread that says why. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    study = people_of(verdicts, settings)
    parts = parts_of(study, settings) if study else []
    if study is None or len(study.annotators) < 2 or not parts:
        nothing = planning.Spread(math.nan, math.nan, np.empty(0), 0, "no_items")
        return AgreementSoFar((), None, (), (), nothing, settings.level)
    pooled = len(parts) == 1
    shown = [HEADLINE[settings.ties], *(one.name for one in at("page progress", study.kinds.values()))]
    found = [
        agreement_estimate
        for agreement_estimate in agreement_estimates(study, parts[0][0], settings, shown)
        if pooled and _among(agreement_estimate)
    ]
    ceiling = ceiling_of(study, *parts[0], settings).human if pooled else None
    singles = parts_of(study, settings, single=True)
    criteria = [
        (_label_agreement(study, *single, settings), ceiling_of(study, *single, settings).human) for single in singles
    ]
    tables = [_cells(study, *part) for part in parts]
    equal, sizes = (np.sum([table[place] for table in tables], axis=0) for place in (0, 1))
    rows = [left_out_scores(study, group, scale, None, settings) for group, scale in parts]
    scores, clusters = (np.concatenate([getattr(row, name) for row in rows]) for name in ("human", "cluster"))
    return AgreementSoFar(
        tuple(sorted(found, key=lambda one: shown.index(one.statistic))),  # the study's own rule for ties first
        ceiling,
        tuple(criteria),
        tuple(_steps(study, equal, sizes, order, settings)),
        # of topics that were drawn unequally what more of them would give hangs on the draws to come
        pilot.spread_of(scores, clusters)
        if study.drawn is None
        else planning.Spread(math.nan, math.nan, np.empty(0), 0, "not_weighted"),
        settings.level,
    )


def _among(estimate: Estimate) -> bool:
    return (estimate.rater, estimate.reference) == ("each_annotator", "others")


def _label_agreement(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Estimate:
    equal, sizes = _cells(study, group, scale)
    return share(AGREEMENT, Pair("each_annotator", "others", group, sizes, study.drawn), equal, settings)


def _cells(study: Study, group: Group, scale: Scale) -> tuple[Array, Array]:
    """Equal labels and all pairs of labels of two annotators, by cluster; a tie is a label like another."""
    people = comparison_of_people(study, scale, group.chosen)
    if people is None:
        return np.zeros(len(study.clusters)), np.zeros(len(study.clusters))
    table = people.table / people.scale
    return diagonal(table), table.sum(axis=(-2, -1))


def _steps(
    study: Study, equal: Array, sizes: Array, order: Sequence[str], settings: CalibrationSettings
) -> list[Estimate]:
    """Over the first cluster, the first two, and so on."""
    place = {name: number for number, name in enumerate(order)}
    names = [(place.get(name, len(place)), name, number) for number, name in enumerate(study.clusters) if sizes[number]]
    whole = Group(study.criteria, "all", "all", np.ones(study.units, dtype=bool))
    steps = []
    for count in range(1, len(names) + 1):
        first = np.isin(np.arange(len(sizes)), [number for _, _, number in sorted(names)[:count]])
        pair = Pair("each_annotator", "others", whole, sizes * first, study.drawn)
        steps.append(share(AGREEMENT, pair, equal * first, settings))
    return steps


def why_unknown(needed: Needed) -> str:
    """Why no number of clusters can be given, in words; "" where one is."""
    known = {str(reason): words for reason, words in WORDS.items()} | {
        "zero_variance": "agreement is the same in every cluster so far", "too_many": "over a million",
    }  # fmt: skip
    return "" if needed.clusters is not None else known.get(needed.note, needed.note)

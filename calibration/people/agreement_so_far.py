"""Agreement among annotators while a study runs: where it stands, how it got there, how many more pairs it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.ceiling import ceiling_of
from calibration.choosing.deciding import Needed
from calibration.engine.agreeing import agreement_estimates
from calibration.engine.bounding import FEWEST, REASONS, Group, Pair, share
from calibration.engine.closed_forms import Array, diagonal
from calibration.engine.crossing import comparisons
from calibration.engine.joining import Scale, Study
from calibration.estimates import Estimate
from calibration.people.annotator_quality import parts_of, people_of
from calibration.people.left_out import SUFFIX, left_out_scores
from calibration.planning import Spread, half_width_of_sd, needed_for_interval
from calibration.settings import CalibrationSettings
from calibration.sizing.pilot import spread_of

SHOWN = ("percent_agreement", "percent_agreement_half_credit", "percent_agreement_exclude_ties", "cohen_kappa",
         "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval")  # fmt: skip


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
    spread: Spread
    level: float

    @property
    def headline(self) -> Estimate | None:
        """Share of equal labels over all pairs of annotators and all criteria."""
        return next((one for one in self.overall if one.statistic.startswith("percent_agreement")), None)

    def needed(self, half_width: float) -> Needed:
        """Clusters for an interval of +- `half_width` as expected; None and a note where nobody can know yet."""
        if self.spread.pilot < FEWEST:
            few = f"only {self.spread.pilot} of the {FEWEST} clusters it needs have two annotators"
            return Needed(None, None, math.nan, math.nan, few)
        return needed_for_interval(self.spread, half_width, self.level)

    def cautious(self, half_width: float) -> Needed:
        """The same with a spread that the true one exceeds with a probability of 20 % only. Browne 1995."""
        if self.spread.pilot < FEWEST:
            return self.needed(half_width)
        return needed_for_interval(replace(self.spread, sd=self.spread.cautious_sd), half_width, self.level)

    def expected(self, clusters: int) -> float:
        """Half-width of the interval at this many clusters, if they vary as those so far. nan: unknown."""
        return half_width_of_sd(clusters, self.spread.sd, self.level)


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
        nothing = Spread(math.nan, math.nan, np.empty(0), 0, "no_items")
        return AgreementSoFar((), None, (), (), nothing, settings.level)
    pooled = len(parts) == 1
    found = [one for one in agreement_estimates(study, parts[0][0], settings) if pooled and _among(one)]
    ceiling = ceiling_of(study, *parts[0], settings).human if pooled else None
    singles = parts_of(study, settings, single=True)
    criteria = [(_label_agreement(study, *one, settings), ceiling_of(study, *one, settings).human) for one in singles]
    tables = [_cells(study, *one) for one in parts]
    equal, sizes = (np.sum([one[place] for one in tables], axis=0) for place in (0, 1))
    rows = [left_out_scores(study, group, scale, None, settings) for group, scale in parts]
    scores, clusters = (np.concatenate([getattr(one, name) for one in rows]) for name in ("human", "cluster"))
    return AgreementSoFar(
        tuple(sorted((one for one in found if one.statistic in SHOWN), key=lambda one: _place(one, settings))),
        ceiling,
        tuple(criteria),
        tuple(_steps(study, equal, sizes, order, settings)),
        spread_of(scores, clusters),
        settings.level,
    )


def _place(one: Estimate, settings: CalibrationSettings) -> tuple[bool, int]:
    """The study's own rule for ties comes first."""
    own = f"percent_agreement{SUFFIX[settings.ties]}"
    return one.statistic != own, SHOWN.index(one.statistic)


def _among(one: Estimate) -> bool:
    return (one.rater, one.reference) == ("each_annotator", "others")


def _label_agreement(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Estimate:
    equal, sizes = _cells(study, group, scale)
    return share("percent_agreement", Pair("each_annotator", "others", group, sizes), equal, settings)


def _cells(study: Study, group: Group, scale: Scale) -> tuple[Array, Array]:
    """Equal labels and all pairs of labels of two annotators, by cluster; a tie is a label like another."""
    found = [one for one in comparisons(study, scale, group.chosen) if one.rater == "each_annotator"]
    if not found:
        return np.zeros(len(study.clusters)), np.zeros(len(study.clusters))
    table = found[0].table / found[0].scale
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
        pair = Pair("each_annotator", "others", whole, sizes * first)
        steps.append(share("percent_agreement", pair, equal * first, settings))
    return steps


def why_unknown(needed: Needed) -> str:
    """Why no number of clusters can be given, in words; "" where one is."""
    known = {**REASONS, "zero_variance": "agreement is the same in every cluster so far", "too_many": "over a million"}
    return "" if needed.clusters is not None else known.get(needed.note, needed.note)

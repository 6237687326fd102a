"""What one rater, people or a judge, says each system is worth on each topic: the scores that tables of topics rest on.

A score is an aggregate's value of the system's reports on one topic: a win rate of pairs, a mean of ratings, a share of
the claims about a report.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.agreement.drawn_topics import refuse_unweighted
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.settings import Aggregate, CalibrationSettings
from calibration.study import bias, joining
from calibration.study.bounding import Group, Pair, drawn, share
from calibration.systems import aggregates, report_values, win_rates

WINS, MEAN = Aggregate("win rate", "win_rate"), Aggregate("mean score", "mean")
TOPIC_SCORE = "topic_score"


@dataclass(frozen=True)
class TopicScores:
    """One rater's scores. `values`, `sizes` (answers behind each): shape (topics, systems); nan: nothing is known.

    `categories`: of each topic, shape (topics,), "" for none or several. `compared`: which systems are no reference
    that is in every pair, shape (systems,).
    """

    measure: Aggregate
    rater: str
    topics: tuple[str, ...]
    categories: npt.NDArray[np.object_]
    systems: tuple[str, ...]
    compared: joining.Mask
    values: Array
    sizes: Array

    def of(self, systems: tuple[str, ...] | None = None) -> tuple[tuple[str, ...], Array]:
        """These systems (None: those compared), in their own order, and their values, shape (topics, these)."""
        chosen = self.compared if systems is None else np.isin(self.systems, systems)
        return tuple(name for name, wanted in zip(self.systems, chosen, strict=True) if wanted), self.values[:, chosen]


def measures_of(study: joining.Study, settings: CalibrationSettings) -> tuple[Aggregate, ...]:
    """What topics can be scored by: the protocol's own aggregates, win rates, the mean of all ratings, each rating."""
    kinds = {*study.kinds.values()}
    scores = [Aggregate(name, "mean", criteria=(name,)) for name, kind in study.kinds.items() if kind == "rating"]
    known = (*settings.aggregates, *[WINS] * ("pairwise" in kinds), *[MEAN] * (kinds == {"rating"}), *scores)
    return tuple(one for one in known if aggregates.measure_of(report_values.Rows(study), one, settings) is not None)


def topic_scores(
    verdicts: pd.DataFrame | joining.Study,
    rater: str | None = None,
    measure: Aggregate = WINS,
    settings: CalibrationSettings | None = None,
) -> TopicScores:
    """`rater`: None for all annotators, whose answers to one question are averaged; else a judge, also in both orders.

    Topics are clusters. Raises `unknown_rater`, `no_measure` where no label is of the kind that `measure` is about, and
    `unknown_form` for people's labels on topics that were drawn unequally.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    found = aggregates.measure_of(report_values.Rows(study), measure, settings)
    if found is None:
        raise CalibrationError(
            "no_measure", "no label is of the kind that '{name}' ({rule}) is about", name=measure.name,
            rule=measure.rule,
        )  # fmt: skip
    _refuse_unknown(study, rater)
    if rater is None:
        refuse_unweighted(study, "scores of topics")
    rates = found.rates(found.scored(rater or bias.EVERYONE).score)
    return TopicScores(
        measure, rater or bias.EVERYONE, study.clusters, _category_of(study, found.wanted), found.systems,
        ~np.isin(found.systems, references(study)), rates.values, rates.sizes,
    )  # fmt: skip


def references(study: joining.Study) -> tuple[str, ...]:
    """The one system that is in all pairs, where several others are there too; most often none."""
    known = np.unique(study.unit_systems[study.unit_systems >= 0])
    pairs = [{*divmod(int(pair), len(study.systems))} for pair in known]
    return tuple(study.systems[place] for place in (set.intersection(*pairs) if len(pairs) > 1 else ()))


def scores_by_category(scores: TopicScores, settings: CalibrationSettings) -> dict[str, tuple[Estimate, ...]]:
    """Category of topics to estimates: the mean over its topics of all systems compared, then of each of them.

    On one topic the mean of all is over the systems that have a value there. Every topic counts once. Intervals: Wilson
    of shares, else a bootstrap of topics. Undefined: no topic of the category has a value, `no_items`.
    """
    _, values = scores.of()
    sizes = scores.sizes[:, scores.compared]
    held = ~np.isnan(values)
    every = ratio(np.where(held, values, 0.0).sum(axis=1), held.sum(axis=1))
    columns = [(every, np.where(held, sizes, 0.0).sum(axis=1)), *zip(values.T, sizes.T, strict=True)]
    return {
        str(name): tuple(_mean_over(value[rows], size[rows], str(name), scores, settings) for value, size in columns)
        for name in np.unique(scores.categories[scores.categories != ""])
        for rows in [scores.categories == name]
    }


def _mean_over(
    values: Array, sizes: Array, category: str, scores: TopicScores, settings: CalibrationSettings
) -> Estimate:
    held = ~np.isnan(values)
    size = float(sizes[held].sum() / max(1, held.sum()))  # every topic counts alike: each is given the mean number
    group = Group((), scores.measure.name, "all", np.ones(0, dtype=bool))
    pair = Pair(scores.rater, "", group, np.where(held, max(size, 1.0), 0.0))
    said = f"{category}; each topic counts once"
    if scores.measure.rule in aggregates.SHARES:
        return share(TOPIC_SCORE, pair, np.nan_to_num(values) * pair.sizes, settings, said)
    draws = win_rates.rate_draws(values[:, None], settings)[:, 0] if pair.clusters > 1 else None
    value = float(values[held].mean()) if held.any() else float("nan")
    return drawn(TOPIC_SCORE, pair, value, draws, "" if held.any() else "no_items", settings, said)


def _refuse_unknown(study: joining.Study, rater: str | None) -> None:
    judges = [one.rater for one in study.judges]
    if rater is None and not study.annotators:
        raise CalibrationError("unknown_rater", "no person labelled; name a judge ({judges})", judges=", ".join(judges))
    if rater is not None and rater not in (*judges, *(one.rater for one in study.annotators), bias.EVERYONE):
        raise CalibrationError(
            "unknown_rater", "no rater is called '{rater}'; the judges are {judges}", rater=rater,
            judges=', '.join(judges) or 'none',
        )  # fmt: skip


def _category_of(study: joining.Study, wanted: joining.Mask) -> npt.NDArray[np.object_]:
    """The category of each cluster by its `wanted` units; "" where it has none or several, shape (clusters,)."""
    seen = np.zeros((len(study.clusters), len(study.categories)), dtype=bool)
    seen[study.unit_cluster[wanted], study.unit_category[wanted]] = True
    names = np.array(study.categories, dtype=object)
    return np.where(seen.sum(axis=1) == 1, names[seen.argmax(axis=1)], "")

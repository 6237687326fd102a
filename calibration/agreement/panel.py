"""All annotators together: chance-corrected agreement of a panel, and how reliable a rating of theirs is."""

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from calibration.agreement import catalogue, statistic
from calibration.arithmetic import closed_forms, columns, correlation
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study.bounding import Group, Pair, drawn
from calibration.study.crossing import FEW_PEOPLE, Comparison, cross, people_votes, scores_of, votes
from calibration.study.joining import Scale, Study

OF_PANEL = ("fleiss_kappa", "light_kappa")  # what `panel_estimates` makes
OF_PEOPLE = tuple(map(correlation.icc_name, correlation.FORMS))  # what `icc_of_people` makes
THIN = 10  # shared units below which a pair of raters must not weigh as much as another


def panel_estimates(
    study: Study, group: Group, scale: Scale, found: Sequence[Comparison], settings: CalibrationSettings
) -> Iterator[Estimate]:
    """Fleiss' and Light's kappa of verdicts and probes; reference `others`."""
    pooled = next((one for one in found if one.rater == "each_annotator"), None)
    if pooled is None:
        return
    table = pooled.table / pooled.scale
    pair = Pair(pooled.rater, pooled.reference, group, table.sum(axis=(-2, -1)))
    yield from _fleiss(study, pair, scale, pooled, settings)
    if 2 < len(study.annotators) <= FEW_PEOPLE:
        yield _light(study, pair, scale, settings)


def icc_of_people(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Iterator[Estimate]:
    """The six intraclass correlations of the units that every annotator rated; the others are counted."""
    means, seen = [], np.zeros(study.units)
    for annotator in study.annotators:
        unit, values, weight = scores_of(scale, annotator, group.chosen)
        passes = columns.tally(unit, study.units, weight)
        means.append(closed_forms.ratio(columns.tally(unit, study.units, weight * values), passes))
        seen += passes > 0
    complete = np.flatnonzero(seen == len(study.annotators))
    rated = int((seen > 0).sum())
    if not rated or len(study.annotators) < 2:
        return
    clusters = len(study.clusters)
    ratings = np.stack(means, axis=1)[complete]
    cluster = study.unit_cluster[complete]
    sums = correlation.rater_sums(ratings, np.ones(len(complete)), cluster, clusters)
    pair = Pair("each_annotator", "others", group, columns.tally(cluster, clusters))
    note = f"{len(study.annotators)} annotators, over scores of single reports; {rated - len(complete)} of {rated} "
    note += "reports lack an annotator and are left out"
    for form in correlation.FORMS if len(complete) > 1 else correlation.FORMS[1:2]:
        value = float(correlation.icc_of_sums(sums.sum(axis=0), form))
        draws = None
        if pair.may_have_interval and len(complete) > 1:
            draws = resample(sums, partial(correlation.icc_of_sums, form=form), settings.resamples, settings.seed)
        reason = "too_few_units" if len(complete) < 2 else "zero_variance" if np.isnan(value) else ""
        yield drawn(correlation.icc_name(form), pair, value, draws, reason, settings, f"{form}: {note}")


def _fleiss(
    study: Study, pair: Pair, scale: Scale, pooled: Comparison, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """Only where every unit has equally many ratings; elsewhere alpha is the statistic."""
    people, common = people_votes(study, scale)
    raters = np.unique(np.rint(people.sum(axis=1)[pair.group.chosen] / common))
    raters = raters[raters > 0]
    if len(raters) != 1 or raters[0] < 2:
        return
    table = np.asarray(pooled.coincidences)
    value = float(closed_forms.fleiss(table.sum(axis=0)))
    draws = resample(table, closed_forms.fleiss, settings.resamples, settings.seed) if pair.may_have_interval else None
    reason = "one_category" if np.isnan(value) else ""
    used = np.arange(len(scale.labels))
    alpha = catalogue.statistic_of("krippendorff_alpha_nominal")
    bound = partial(statistic.perfect_bound, alpha, table / pooled.coincidence_scale, used, settings)
    note = f"{raters[0]:.0f} ratings of every unit"
    yield drawn("fleiss_kappa", pair, value, draws, reason, settings, note, bound)


def _light(study: Study, pair: Pair, scale: Scale, settings: CalibrationSettings) -> Estimate:
    """Mean of Cohen's kappa over pairs; weighted by shared units as soon as a pair shares fewer than ten."""
    tables, shared, clusters = [], [], (study.unit_cluster, len(study.clusters))
    for one, other in itertools.combinations(study.annotators, 2):
        table = cross(one, votes([other], scale, study.units, other.scale), scale, pair.group.chosen, *clusters)
        tables.append(table)
        shared.append(float(table.sum()) / (one.scale * other.scale))
    thin = sum(count < THIN for count in shared)
    weights = np.array(shared) if thin else np.ones(len(shared))
    sums = np.stack(tables, axis=1)
    value = float(_mean_kappa(sums.sum(axis=0), weights))
    undefined = int(np.isnan(closed_forms.kappa(sums.sum(axis=0))).sum())
    note = f"mean over {len(shared) - undefined} pairs of annotators"
    note += f", weighted by shared units because {thin} share fewer than {THIN}" if thin else ", unweighted"
    note += f"; {undefined} pairs have no kappa" if undefined else ""
    draws = (
        resample(sums, lambda s: _mean_kappa(s, weights), settings.resamples, settings.seed)
        if pair.may_have_interval
        else None
    )
    return drawn("light_kappa", pair, value, draws, "one_category" if np.isnan(value) else "", settings, note)


def _mean_kappa(tables: closed_forms.Array, weights: closed_forms.Array) -> closed_forms.Array:
    """Weighted mean over the last-but-two axis; pairs without a kappa are left out."""
    kappas = closed_forms.kappa(tables)
    known = np.where(np.isnan(kappas), 0.0, weights)
    return closed_forms.ratio((np.nan_to_num(kappas) * known).sum(axis=-1), known.sum(axis=-1))

"""How far each judge, and a constant answer, agrees with each annotator's label in turn: rows that compare judges."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import SWAP, Codes, best_places, tally
from calibration.study import bounding, crossing, distance, joining


@dataclass(frozen=True)
class LabelScores:
    """One row per annotator and unit answered. `judges`: judge to its agreement, 0 to 1, shape (rows,), nan: none.

    `units`: rows of one unit stand or fall together.
    """

    judges: dict[str, Array]
    clusters: Codes
    units: Codes
    counted: int  # rows that a judge could have a score for: all, or those without a tie of the annotator
    weight: Array | None = None  # of each row, by the draw of its cluster

    def covered(self, judge: str) -> float:
        """Share of these rows that the judge has a score for, 0 where it failed to answer; 0 to 1, nan without any."""
        return float((~np.isnan(self.judges[judge])).sum() / self.counted) if self.counted else math.nan


def label_scores(
    study: joining.Study, ties: str = "three_class", missing_as_wrong: bool = False, scale: joining.Scale | None = None
) -> LabelScores:
    """The scores of every judge of the study. A judge's passes over a unit count 1 / passes.

    `ties`: `three_class`, the share of passes with the same label; `half_credit`, a tie against a winner counts one
    half; `exclude`, among passes that name a winner, nan for an annotator's tie; `linear`, `quadratic` and `weighted`,
    agreement by distance on `scale`. `missing_as_wrong`: a unit that the judge was asked and gave no usable answer to
    scores 0, where the annotator's label counts, and of one that it answered in one order and failed in the other, the
    failed order is a disagreement; a unit it was never asked, or where not_applicable was dropped, is nan either way.
    """
    unit = np.concatenate([np.zeros(0, np.intp), *(annotator.by_unit[0] for annotator in study.annotators)])
    judges, left_out = {}, _tied(study) if ties == "exclude" else np.zeros(len(unit), bool)
    for judge in study.judges:
        scores = scores_of(study, judge, ties, scale, missing_as_wrong)
        if missing_as_wrong:
            scores[study.among(judge.unreadable)[unit] & ~left_out] = 0.0
        judges[judge.rater] = scores
    cluster = study.unit_cluster[unit]
    return LabelScores(judges, cluster, unit, int((~left_out).sum()), study.weight_of(cluster))


def _tied(study: joining.Study) -> joining.Mask:
    """Rows where the annotator's label is a tie, in any pass."""
    tie = study.labels.index("tie") if "tie" in study.labels else -1
    parts = [np.isin(annotator.by_unit[0], annotator.unit[annotator.label == tie]) for annotator in study.annotators]
    return np.concatenate([np.zeros(0, bool), *parts])


def scores_of(
    study: joining.Study,
    judge: joining.Answers | None,
    ties: str = "three_class",
    scale: joining.Scale | None = None,
    missing_as_wrong: bool = False,
) -> Array:
    """Of every annotator's label in turn, the judge's agreement as in `label_scores`; nan: not answered."""
    if judge is None:
        return np.full(sum(len(annotator.by_unit[0]) for annotator in study.annotators), math.nan)
    if ties in distance.BY_DISTANCE and scale is not None:
        return np.concatenate([np.zeros(0), *_by_distance(study, judge, ties, scale, missing_as_wrong)])
    place = {label: index for index, label in enumerate(study.labels)}
    tie, winners = place.get("tie", -1), [place.get(label, -1) for label in ("A", "B")]

    def said(unit: Codes, label: Codes | int) -> Array:
        return judge.share_said(unit, np.broadcast_to(label, unit.shape))

    answered, lost = study.among(judge.unit), judge.lost_of(study.units) * missing_as_wrong
    scores = [np.zeros(0)]
    for person in study.annotators:
        agreed, tied = said(person.unit, person.label), person.label == tie
        if ties == "half_credit":
            other = np.where(tied, sum(said(person.unit, winner) for winner in winners), said(person.unit, tie))
            agreed = agreed + other / 2
        elif ties == "exclude":
            decided = (1 - said(person.unit, tie)) * (1 - lost[person.unit]) + lost[person.unit]
            agreed = agreed * (1 - lost[person.unit])
            agreed = np.divide(agreed, decided, out=np.full(len(agreed), math.nan), where=(decided > 1e-9) & ~tied)
        if ties != "exclude":
            agreed = agreed * (1 - lost[person.unit])
        unit, of_unit = person.by_unit
        score = tally(of_unit, len(unit), agreed * person.weight) / person.scale
        scores.append(np.where(answered[unit], score, math.nan))
    return np.concatenate(scores)


def _by_distance(
    study: joining.Study, judge: joining.Answers, rule: str, scale: joining.Scale, missing_as_wrong: bool
) -> Iterator[Array]:
    kept = 1 - judge.lost_of(study.units) * missing_as_wrong
    weighted = None
    if rule == "weighted":
        shares = crossing.votes([judge], scale, study.units, judge.scale)
        weighted = ratio(shares @ distance.credit_of_levels(scale, rule).T, shares.sum(axis=1, keepdims=True))
    for person in study.annotators:
        own = distance.scores_given(person, scale)
        if weighted is None:
            credit = distance.mean_credit(
                own, distance.scores_given(judge, scale), study.units, rule, distance.span_of(scale)
            )
        else:
            place = scale.recode[person.label]
            credit = weighted[own.unit, place[place >= 0]]
        unit, of_unit = person.by_unit
        scored = scale.recode[person.label] >= 0
        earned, whole = own.weight * credit * kept[own.unit], own.weight
        yield ratio(*(tally(of_unit[scored], len(unit), column) for column in (earned, whole)))


IN_WORDS = "the best constant answer (for every criterion and every two systems its own, where there are labels enough)"
NAME = "best constant answer"


def constant_judge(study: joining.Study, unit: Codes, scale: joining.Scale, rule: str) -> joining.Answers:
    """The best constant answer to these units as a judge like any other; it answers each of them.

    Each criterion has its own, where it has 20 clusters. Of pairs of named systems: the best answer for each pair of
    systems. Where these hold fewer than five clusters on average, and their best answer would be read off the very
    labels it is tried on: the best one answer about the system that is in every pair; without such a one, a coin
    between A and B, or a tie. `unit`: each once. `rule`: of ties or of distance, as in `label_scores`.
    """
    parts = [own for own in _by_criterion(study, unit) if len(own)]
    answers = [_best_places(study, own, scale, rule) for own in parts]  # shape (units, passes) each
    passes = max((answer.shape[1] for answer in answers), default=1)
    unit = np.concatenate([unit[:0], *parts])
    places = np.concatenate([np.zeros((0, passes), np.intp), *(np.repeat(a, passes // a.shape[1], 1) for a in answers)])
    label = _labels_of(scale, len(study.labels))[places.ravel()]
    none = np.zeros(0, np.intp)
    once = np.ones(len(label), np.int64)
    return joining.Answers(
        NAME, "judge", np.repeat(unit, passes), label, once, passes, unit, none, none, none, np.zeros(0)
    )


def _by_criterion(study: joining.Study, unit: Codes) -> list[Codes]:
    """The units of each criterion, where each has 20 clusters; else all together, for its best answer would be read off
    the few labels that it is tried on."""
    criterion = study.unit_criterion[unit]
    parts = [unit[criterion == place] for place in np.unique(criterion)]
    fewest = min((len(np.unique(study.unit_cluster[own])) for own in parts), default=0)
    return parts if fewest >= bounding.FEW_CLUSTERS else [unit]


def _best_places(study: joining.Study, unit: Codes, scale: joining.Scale, rule: str) -> Codes:
    """Positions in `scale.labels`: one answer a unit, or two that a coin decides between."""
    if rule == "weighted":
        earned = crossing.people_votes(study, scale)[0][unit].sum(axis=0) @ distance.credit_of_levels(scale, rule)
        return np.full((len(unit), 1), np.argmax(earned), np.intp)
    if rule in distance.BY_DISTANCE:
        given = distance.joined([distance.scores_given(annotator, scale) for annotator in study.annotators])
        kept = study.among(unit)[given.unit]
        best = distance.best_number(distance.Scores(given.unit[kept], given.value[kept], given.weight[kept]), rule)
        first = 0.0 if math.isnan(best) else best  # of units that no person scored nothing is best
        return np.full((len(unit), 1), np.searchsorted(distance.above_lowest(scale), first), np.intp)
    people, common = crossing.people_votes(study, scale)
    counts, systems = people[unit] / common, study.unit_systems[unit]
    if scale.kind != "pairwise" or not len(systems) or (systems < 0).any():
        return _everywhere(counts, rule)
    mirrored = study.unit_mirrored[unit]
    pairs, place = np.unique(systems, return_inverse=True)
    if len(np.unique(place * len(study.clusters) + study.unit_cluster[unit])) >= bounding.FEWEST * len(pairs):
        turned = turned_rows(counts, mirrored)
        of_pairs = np.stack([tally(place, len(pairs), column) for column in turned.T], axis=-1)
        return _turned_places(best_places(of_pairs, rule)[place], mirrored)
    size = len(study.systems)
    shared = set.intersection(*({*divmod(int(pair), size)} for pair in pairs))
    if shared:
        second = mirrored ^ (systems // size != min(shared))
        return _turned_places(_everywhere(turned_rows(counts, second), rule)[:, 0], second)
    swapped = turned_rows(counts, np.ones(len(counts), bool))
    both = _everywhere((counts + swapped) / 2, rule)
    return np.concatenate([both, SWAP[both]], axis=1)


def _everywhere(counts: Array, rule: str) -> Codes:
    best = best_places(counts.sum(axis=0)[None], rule)
    return np.repeat(best, len(counts))[:, None]


def _turned_places(places: Codes, rows: np.typing.NDArray[np.bool_]) -> Codes:
    return np.where(rows, SWAP[places], places)[:, None]


def _labels_of(scale: joining.Scale, labels: int) -> Codes:
    """Position in `scale.labels` -> position in `Study.labels`, -1 for a label that nobody gave."""
    label = np.full(len(scale.labels), -1)
    coded = np.flatnonzero(scale.recode[:labels] >= 0)
    label[scale.recode[coded]] = coded
    return label


def turned_rows(counts: Array, rows: np.typing.NDArray[np.bool_]) -> Array:
    """With A and B exchanged in these rows."""
    out = counts.copy()
    out[rows] = counts[rows][:, SWAP[: counts.shape[1]]]
    return out

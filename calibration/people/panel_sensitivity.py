"""Does one rater carry the result? Every headline again without each annotator and, for the choice, each judge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from calibration.choose import decided
from calibration.choosing.candidates import Price, Tried, candidates_of, tried
from calibration.choosing.choice import Candidate, Choice, Status
from calibration.choosing.label_scores import label_scores
from calibration.choosing.noninferiority import among
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.counted import groups_of
from calibration.engine.joining import MANY_LABELS, Scale, Study, scale_of
from calibration.estimates import ReportWarning
from calibration.people.left_out import ties_rule
from calibration.settings import CalibrationSettings
from calibration.systems.placing import ranks_of
from calibration.systems.win_scores import cluster_rates, units_of, win_scores, win_sums
from calibration.verdicts import BOTH_ORDERS

CROWD = 20  # annotators above which no single one is left out: each is a small part, and two may share no item


@dataclass(frozen=True)
class Headlines:
    """What a report says first, of all raters or `without` one of them ("": of all).

    `agreement`: judge to its agreement with every annotator's label, 0 to 1. `top_two`: the first two systems by the
    annotators, "" where no pair names its systems. `decision`: the judge chosen, `cannot tell` or `none adequate`;
    None where nothing is left to compare a judge with.
    """

    without: str
    agreement: Mapping[str, float]
    top_two: str
    decision: str | None


@dataclass(frozen=True)
class PanelSensitivity:
    """The headlines, and again without each rater. `note`: who was not left out, and why."""

    whole: Headlines
    without: tuple[Headlines, ...]
    note: str = ""


def panel_sensitivity(study: Study, choice: Choice | None, settings: CalibrationSettings) -> PanelSensitivity:
    """All headlines of a study without each annotator in turn (of up to 20), and its choice without each judge.

    Nothing is resampled. A judge and its `[both orders]` go together; the judge that was chosen stays, since without
    it the choice is another one anyway. `choice`: of this study and these settings, None where there is none.
    """
    scale = scale_of(study, study.criteria, settings)
    if scale is not None and len(scale.labels) > MANY_LABELS:
        scale = None  # no agreement in one exact level
    if choice is not None and not choice.candidates:
        choice = None
    decision = _words(choice.status, choice.judge) if choice else None
    whole = Headlines("", _agreement(study, scale, settings), _top_two(study, settings), decision)
    people, note, out = study.annotators, "", []
    if len(people) > CROWD:
        note = f"{len(people)} annotators are a crowd (more than {CROWD}): none of them was left out"
    for one in people if 1 < len(people) <= CROWD else ():
        rest = replace(study, annotators=tuple(other for other in people if other is not one))
        decision = _decision(rest, scale, choice, settings)
        out.append(Headlines(one.rater, _agreement(rest, scale, settings), _top_two(rest, settings), decision))
    if choice and any(one.decision is None for one in out):
        note = "without one of two annotators there is no ceiling, so nothing to choose a judge by"
    if choice and scale:
        out += _without_judges(study, scale, whole, choice, settings)
    return PanelSensitivity(whole, tuple(out), note)


def panel_cautions(found: PanelSensitivity) -> Iterator[ReportWarning]:
    """`panel_sensitive`: the first two systems, or the choice, change when one rater is left out."""
    whole, parts = found.whole, []
    orders = [one for one in found.without if one.top_two != whole.top_two]
    choices = [one for one in found.without if one.decision not in (None, whole.decision)]
    if orders:
        moved = ", ".join(f"{one.top_two or 'no order'} without {one.without}" for one in orders)
        parts.append(f"first two systems by the annotators: {whole.top_two} with all, {moved}")
    if choices:
        moved = ", ".join(f"{one.decision} without {one.without}" for one in choices)
        parts.append(f"judge chosen: {whole.decision} with all, {moved}")
    if parts:
        changed = len({one.without for one in (*orders, *choices)})
        text = (
            f"{'; '.join(parts)} ({changed} of {len(found.without)} raters, left out one at a time, change a headline)"
        )
        yield ReportWarning("panel_sensitive", f"{text}; say so beside it, and add annotators or pairs")


def sensitivity_data(found: PanelSensitivity) -> dict[str, Any]:
    """For `report.data`: the headlines of all raters, those without each, and the note."""
    return asdict(found)


def _decision(study: Study, scale: Scale | None, choice: Choice | None, settings: CalibrationSettings) -> str | None:
    """With the prices of `choice`; None where its judges would be compared with something else than there."""
    if choice is None or scale is None:
        return None
    found = _tried(study, scale, choice, settings)
    if found.plan.against != choice.plan.against:
        return None
    return _decided(candidates_of(found, settings, told=False))


def _without_judges(
    study: Study, scale: Scale, whole: Headlines, choice: Choice, settings: CalibrationSettings
) -> Iterator[Headlines]:
    ceiling, chosen = choice.plan.against == "ceiling", (choice.judge or "").removesuffix(BOTH_ORDERS)
    found = None if ceiling else _tried(study, scale, choice, settings)
    for name in dict.fromkeys(one.removesuffix(BOTH_ORDERS) for one in choice.plan.judges):
        gone = (name, name + BOTH_ORDERS)
        left = [one for one in choice.candidates if one.judge not in gone]
        if name == chosen or len(left) < (1 if ceiling else 2):
            continue
        if found:  # the best of the others is another one
            left = candidates_of(found.without(gone), settings, told=False)
        else:
            claims = {one.judge: one for one in among([one.claim for one in left if one.claim], choice.plan)}
            left = [replace(one, claim=claims.get(one.judge)) for one in left]
        agreement = {judge: value for judge, value in whole.agreement.items() if judge not in gone}
        yield Headlines(name, agreement, whole.top_two, _decided(left))


def _tried(study: Study, scale: Scale, choice: Choice, settings: CalibrationSettings) -> Tried:
    prices = {one.judge: Price(one.cost_per_item, one.seconds_per_item, one.valid_share) for one in choice.candidates}
    return tried(study, groups_of(study, settings, pooled=True)[0], scale, prices, settings)


def _decided(candidates: Sequence[Candidate]) -> str:
    status, chosen = decided(candidates)
    return _words(status, chosen.judge if chosen else None)


def _words(status: Status, judge: str | None) -> str:
    return judge or status.replace("_", " ")


def _agreement(study: Study, scale: Scale | None, settings: CalibrationSettings) -> dict[str, float]:
    """Of each judge, as the report has it; empty where the criteria share no scale, or one too fine."""
    if scale is None:
        return {}
    scores = label_scores(study, ties_rule(scale, settings)).judges
    return {judge: float(_mean(own)) for judge, own in scores.items()}


def _top_two(study: Study, settings: CalibrationSettings) -> str:
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    if not study.annotators or not (pairwise[study.unit_criterion] & (study.unit_systems >= 0)).any():
        return ""
    units = units_of(study, settings)
    rates = cluster_rates(win_sums(units, win_scores(units)))[0]
    ranks = ranks_of(_mean(rates))
    placed = sorted((rank, name) for rank, name in zip(ranks, units.systems, strict=True) if not math.isnan(rank))
    places = [[name for rank, name in placed if rank == place] for place in sorted({rank for rank, _ in placed})]
    told = [" and ".join(names) + " together" * (len(names) > 1) for names in places]
    return " before ".join(told[: 1 if places and len(places[0]) > 1 else 2])


def _mean(values: Array) -> Array:
    """Over the first axis; nan where every value is."""
    return ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))

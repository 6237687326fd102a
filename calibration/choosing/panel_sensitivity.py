"""Does one rater carry the result? Every headline again without each annotator and, for the choice, each judge."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.choosing.choice import Candidate, Choice, Status, decided
from calibration.choosing.choice_words import hanging
from calibration.choosing.choose import Price, Tried, candidates_of, tried
from calibration.estimates import ReportWarning
from calibration.settings import CalibrationSettings
from calibration.study import counted, distance
from calibration.study.joining import MANY_LABELS, Scale, Study, scale_of
from calibration.study.label_scores import label_scores
from calibration.study.left_out import ties_rule
from calibration.systems import placing, win_rates
from calibration.table.verdicts import BOTH_ORDERS

CROWD = 20  # annotators above which no single one is left out: each is a small part, and two may share no item


@dataclass(frozen=True)
class Decision:
    """How a choice ended. `judge`: the one chosen, None for none."""

    status: Status
    judge: str | None

    def __str__(self) -> str:
        """The judge, `cannot tell` or `none adequate`."""
        return self.judge or ("none adequate" if self.status == "none_adequate" else "cannot tell")


@dataclass(frozen=True)
class Headlines:
    """What a report says first, of all raters or `without` one of them ("": of all).

    `agreement`: judge to its agreement with every annotator's label, 0 to 1. `first_places`: the systems in the first
    two places by the annotators, one place where several share it; empty where no pair names its systems. `decided`:
    None where nothing is left to compare a judge with.
    """

    without: str
    agreement: Mapping[str, float]
    first_places: tuple[tuple[str, ...], ...]
    decided: Decision | None

    @property
    def top_two(self) -> str:
        """`a before b`, `a and b together`, or "" where no pair names its systems."""
        return " before ".join(" and ".join(names) + " together" * (len(names) > 1) for names in self.first_places)

    @property
    def decision(self) -> str | None:
        """The judge chosen, `cannot tell` or `none adequate`; None where nothing is left to compare a judge with."""
        return None if self.decided is None else str(self.decided)


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
    if scale is not None and len(scale.labels) > MANY_LABELS and ties_rule(scale, settings) not in distance.BY_DISTANCE:
        scale = None  # no agreement in one exact level
    if choice is not None and not choice.candidates:
        choice = None
    decision = Decision(choice.status, choice.judge) if choice else None
    whole = Headlines("", _agreement(study, scale, settings), _first_places(study, settings), decision)
    people, note, out = study.annotators, "", []
    if len(people) > CROWD:
        note = f"{len(people)} annotators are a crowd (more than {CROWD}): none of them was left out"
    for one in people if 1 < len(people) <= CROWD else ():
        rest = replace(study, annotators=tuple(other for other in people if other is not one))
        decision = _decision(rest, scale, choice, settings)
        out.append(Headlines(one.rater, _agreement(rest, scale, settings), _first_places(rest, settings), decision))
    if choice and any(one.decided is None for one in out):
        note = "without one of two annotators there is no ceiling, so nothing to choose a judge by"
    if choice and scale:
        out += _without_judges(study, scale, whole, choice, settings)
    return PanelSensitivity(whole, tuple(out), note)


def held_to_the_panel(choice: Choice, found: PanelSensitivity) -> Choice:
    """The choice with a reservation in its headline where a judge is chosen only with one annotator among the others.

    `found`: the sensitivity of this choice. Without a chosen judge the headline stays: it claims nothing.
    """
    judges = {name.removesuffix(BOTH_ORDERS) for name in choice.plan.judges}
    turned = tuple(
        one.without for one in found.without
        if one.without not in judges and one.decided not in (None, found.whole.decided)
    )  # fmt: skip
    if choice.status != "chosen" or not turned:
        return choice
    headline = f"{choice.headline.removesuffix('.')}{hanging(turned)}."
    return replace(choice, headline=headline, sentence=f"{headline} {choice.details}".rstrip(), hangs_on=turned)


def panel_cautions(found: PanelSensitivity) -> Iterator[ReportWarning]:
    """`panel_sensitive`: the first two systems, or the choice, change when one rater is left out."""
    whole, facts = found.whole, dict[str, Any]()
    orders = [one for one in found.without if one.first_places != whole.first_places]
    choices = [one for one in found.without if one.decided not in (None, whole.decided)]
    if orders:
        facts |= _placed(whole) | {"orders": [_placed(one) | {"without": one.without} for one in orders]}
    if choices:
        facts |= {"decided": _ended(whole), "choices": [_ended(one) | {"without": one.without} for one in choices]}
    if facts:
        changed = {one.without for one in (*orders, *choices)}
        yield ReportWarning("panel_sensitive", {**facts, "changed": len(changed), "raters": len(found.without)})


def _placed(found: Headlines) -> dict[str, Any]:
    places = [{"system": names[0]} if len(names) == 1 else {"tied": [*names]} for names in found.first_places]
    return {"places": places or None}


def _ended(found: Headlines) -> dict[str, Any]:
    decided = found.decided
    return {"judge": decided.judge or None, "status": str(decided)} if decided else {}


def _decision(
    study: Study, scale: Scale | None, choice: Choice | None, settings: CalibrationSettings
) -> Decision | None:
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
    chosen, found = (choice.judge or "").removesuffix(BOTH_ORDERS), _tried(study, scale, choice, settings)
    for name in dict.fromkeys(judge.removesuffix(BOTH_ORDERS) for judge in choice.plan.judges):
        gone = (name, name + BOTH_ORDERS)
        if name == chosen or all(candidate.judge in gone for candidate in choice.candidates):
            continue
        left = candidates_of(found.without(gone), settings, told=False)
        agreement = {judge: value for judge, value in whole.agreement.items() if judge not in gone}
        yield Headlines(name, agreement, whole.first_places, _decided(left))


def _tried(study: Study, scale: Scale, choice: Choice, settings: CalibrationSettings) -> Tried:
    """With the prices and habits of `choice`: what does not hang on who labelled."""
    prices = {
        candidate.judge: Price(
            candidate.cost_per_item, candidate.seconds_per_item, candidate.valid_share, candidate.currency
        )
        for candidate in choice.candidates
    }
    compared = ("agreement", "ceiling gap", "floor")
    habits = {
        candidate.judge: tuple(row for row in candidate.rows if row.question not in compared)
        for candidate in choice.candidates
    }
    return tried(study, counted.groups_of(study, settings, pooled=True)[0], scale, prices, habits, settings)


def _decided(candidates: Sequence[Candidate]) -> Decision:
    status, chosen = decided(candidates)
    return Decision(status, chosen.judge if chosen else None)


def _agreement(study: Study, scale: Scale | None, settings: CalibrationSettings) -> dict[str, float]:
    """Of each judge, as the report has it; empty where the criteria share no scale, or one too fine."""
    if scale is None:
        return {}
    scores = label_scores(study, ties_rule(scale, settings), False, scale).judges
    return {judge: float(_mean(own)) for judge, own in scores.items()}


def _first_places(study: Study, settings: CalibrationSettings) -> tuple[tuple[str, ...], ...]:
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    if not study.annotators or not (pairwise[study.unit_criterion] & (study.unit_systems >= 0)).any():
        return ()
    units = win_rates.units_of(study, settings)
    rates = win_rates.cluster_rates(win_rates.win_sums(units, win_rates.win_scores(units)))[0]
    ranks = placing.ranks_of(_mean(rates))
    placed = sorted((rank, name) for rank, name in zip(ranks, units.systems, strict=True) if not math.isnan(rank))
    ranked = sorted({rank for rank, _ in placed})
    places = tuple(tuple(name for rank, name in placed if rank == place) for place in ranked)
    return places[: 1 if places and len(places[0]) > 1 else 2]


def _mean(values: Array) -> Array:
    """Over the first axis; nan where every value is."""
    return ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))

"""Which is the cheapest judge that agrees with the experts nearly as well as they agree with each other?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from calibration.choosing.candidates import by_cost, candidates_of, prices_of, tried
from calibration.choosing.choice import Candidate, Choice, Reason, Status, open_candidates
from calibration.choosing.choice_words import sentence_of
from calibration.engine.bounding import Group
from calibration.engine.counted import cluster_word
from calibration.engine.joining import MANY_LABELS, Scale, Study
from calibration.errors import CalibrationError
from calibration.people.left_out import pooled
from calibration.settings import CalibrationSettings


def cheapest_adequate_judge(verdicts: pd.DataFrame, settings: CalibrationSettings | None = None) -> Choice:
    """The cheapest judge whose gap to the left-out annotator is shown to be below `settings.margin`, over all criteria.

    `verdicts`: as for `calibrate`; panels and cascades are judges whose rows cost the sum of their parts. Where no
    unit has two annotators the reference is the best of the other judges. `chosen`: the cheapest that is adequate, of
    equal cost the one that agrees more; `none_adequate`: all are ruled out; else `cannot_tell`. A judge that does not
    beat the best constant answer by one clustered standard error, or of unknown cost, is never chosen. Raises
    `mixed_label_types` where criteria share no scale, and `unknown_form` for ratings of more than 25 levels.
    """
    settings = settings or CalibrationSettings()
    study, group, scale = pooled(verdicts, settings)
    if len(scale.labels) > MANY_LABELS:
        raise CalibrationError(
            "unknown_form",
            f"the ratings have {len(scale.labels)} levels: agreement in one exact level cannot choose a judge; declare "
            f"a scale of at most {MANY_LABELS}",
        )
    return choice_of(study, group, scale, settings)


def choice_of(study: Study, group: Group, scale: Scale, settings: CalibrationSettings) -> Choice:
    """`cheapest_adequate_judge` of a study; `group` holds all its units."""
    found = tried(study, group, scale, prices_of(study, settings), settings)
    candidates = candidates_of(found, settings)
    status, chosen = decided(candidates)
    told = tuple(replace(one, reason="" if one is chosen else _reason(one, chosen)) for one in candidates)
    numbers = [one.clusters_needed for one in open_candidates(told, chosen)]
    needed = min((number for number in numbers if number is not None), default=None)
    word = _cluster_word(study, scale)
    name = chosen.judge if chosen else None
    return Choice(status, name, sentence_of(status, chosen, told, found.plan, word), told, needed, found.plan)


def decided(candidates: Sequence[Candidate]) -> tuple[Status, Candidate | None]:
    """Status of the choice, and the judge chosen. `candidates`: the cheapest first; they need no interval."""
    adequate = [one for one in candidates if one.standing == "adequate"]
    chosen = next((one for one in adequate if not math.isnan(one.cost_per_item)), None)
    if chosen:
        return "chosen", chosen
    ruled_out = bool(candidates) and all(one.standing == "ruled_out" for one in candidates)
    return ("none_adequate" if ruled_out else "cannot_tell"), None


def _reason(one: Candidate, chosen: Candidate | None) -> Reason:
    if one.claim is None or math.isnan(one.agreement.value):
        return "no_reference"
    if one.outcome == "inferior":
        return "inferior"
    if not one.beats_baseline:
        return "baseline_not_beaten"
    if math.isnan(one.cost_per_item):
        return "cost_unknown"
    if one.standing == "open" or chosen is None:
        return "cannot_tell"
    return "dearer" if by_cost(one)[1] > by_cost(chosen)[1] else "lower_agreement"


def _cluster_word(study: Study, scale: Scale) -> str:
    """What has to be labelled more of."""
    frame = study.frame
    if frame["item_id"].nunique() == len(study.clusters):
        return "pairs" if scale.kind == "pairwise" else "items"
    return f"{cluster_word(frame)}s"

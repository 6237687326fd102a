"""Cautions about scales, panels and plans: what was not declared, who is alike, what changed after labels were seen."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from calibration.biases.alike_texts import numbered
from calibration.engine.counted import derived_preferences
from calibration.engine.crossing import shared_units
from calibration.engine.joining import MANY_LABELS, Study, scale_of
from calibration.estimates import Estimate, ReportWarning
from calibration.people.panel import THIN
from calibration.settings import CalibrationSettings

SHARES = ("percent_agreement", "kept_share", "valid_share", "rank_agreement", "same", "soft", "hard")
CROWD = 200  # annotators above which pairs of people are too many to look at


def plan_hash(criteria: Sequence[str], settings: CalibrationSettings) -> str:
    """SHA-256 of what must be fixed before labels are seen: criteria, ties rule, margin and epsilon."""
    plan = [sorted(criteria), settings.ties, settings.margin, settings.epsilon]
    return hashlib.sha256(json.dumps(plan, ensure_ascii=False).encode()).hexdigest()


def plan_cautions(
    study: Study, settings: CalibrationSettings, estimates: Sequence[Estimate]
) -> Iterator[ReportWarning]:
    """`undeclared_scale`, `maybe_transposed`, `thin_rater_pairs`, `derived_preferences`, `changed_after_labels`,
    `own_family`, `copied_rationale` and `out_of_range`, each under its condition of STATISTICS section 6."""
    yield from _scales(study, settings)
    yield from _panel(study)
    for rater, found in derived_preferences(study.frame).items():
        text = f"{found['verdicts']} verdicts of {rater} are derived from scores, {found['ties']} of them ties; say so"
        yield ReportWarning("derived_preferences", f"{text}, and print the tie rule", rater)
    if settings.plan_hash and settings.plan_hash != plan_hash(study.criteria, settings):
        text = "criteria, ties rule, margin or epsilon are not those of the plan that was fixed before labels were seen"
        yield ReportWarning("changed_after_labels", f"{text}; report what changed, and why")
    yield from _families(study, settings)
    yield from _copied(study)
    yield from _ranges(study, estimates)


def _scales(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    for name, kind in study.kinds.items():
        scale = scale_of(study, (name,), settings) if kind == "rating" else None
        if scale is not None and not scale.declared and len(scale.labels) <= MANY_LABELS:
            text = (
                f"{name} holds {len(scale.labels)} different scores and declares no scale: weighted kappa and ordinal "
            )
            text += "alpha are refused, because an unused point of the scale would change them; declare the scale"
            yield ReportWarning("undeclared_scale", text, criterion=name)


def _panel(study: Study) -> Iterator[ReportWarning]:
    people = study.annotators
    if len(people) > study.units > 1:
        text = f"{len(people)} annotators and {study.units} labels to give: item_id and rater_id may be exchanged, and "
        text += "alpha is refused; check the columns"
        yield ReportWarning("maybe_transposed", text)
    if not 2 < len(people) <= CROWD:
        return
    shared = np.triu(shared_units(people), 1)
    thin = (shared > 0) & (shared < THIN)
    if thin.any():
        one, other = np.unravel_index(np.where(thin, shared, THIN).argmin(), shared.shape)
        text = f"{thin.sum()} of {(shared > 0).sum()} pairs of annotators share fewer than {THIN} labels "
        text += f"({people[one].rater} and {people[other].rater} {shared[one, other]}): "
        text += "means over pairs are weighted by what they share"
        yield ReportWarning("thin_rater_pairs", text)


def _families(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    frame = study.frame[["rater_id", "system_a", "system_b"]]
    for rater, rows in frame[study.frame["rater_kind"] == "judge"].groupby("rater_id", observed=True):
        family = settings.families.get(str(rater))
        seen = {str(name) for side in ("system_a", "system_b") for name in rows[side].unique()}
        own = sorted(name for name in seen if family and settings.families.get(name) == family)
        if own:
            text = f"{rater} labels reports of its own family {family} ({', '.join(own)}): compare its wins for them "
            yield ReportWarning("own_family", text + "with those that people give", str(rater))


def _copied(study: Study) -> Iterator[ReportWarning]:
    texts, place = study.written
    rows = np.flatnonzero((texts != "").to_numpy(bool)[place])
    if not len(rows):
        return
    told = study.frame[["rater_id", "rater_kind", "unit"]].iloc[rows].assign(text=numbered(texts)[place[rows]])
    people, judges = told[told["rater_kind"] == "human"], told[told["rater_kind"] == "judge"].drop_duplicates()
    written = people["rater_id"].astype(str).value_counts()
    both = people.merge(judges, on=["unit", "text"])
    names = zip(both["rater_id_x"].astype(str), both["rater_id_y"].astype(str), strict=True)
    for (person, judge), count in sorted(Counter(names).items()):
        if count >= 0.2 * written[person]:
            text = f"{count} of {person}'s {written[person]} rationales are, byte for byte, those of {judge} on the "
            yield ReportWarning("copied_rationale", text + "same item and criterion; ask who wrote them", person)


def _ranges(study: Study, estimates: Sequence[Estimate]) -> Iterator[ReportWarning]:
    for one in estimates:
        if one.statistic.startswith(SHARES) and not math.isnan(one.value) and not 0 <= one.value <= 1:
            yield ReportWarning(
                "out_of_range", f"{one.statistic} of {one.rater} is {one.value}, not a share", one.rater
            )
    frame = study.frame
    costly = (frame["cost_usd"] > 0).to_numpy()
    for rater, costs in frame["cost_usd"][costly].groupby(frame["rater_id"][costly], observed=True):
        cost = costs.to_numpy()
        median, count = float(np.median(cost)), int((cost > 100 * np.median(cost)).sum())
        if count:
            text = f"{count} of {len(cost)} rows of {rater} cost more than 100 times the median (USD {median:.2g})"
            yield ReportWarning("out_of_range", f"{text}; check that cost_usd is each row's share", str(rater))

"""Panels of judges join the verdicts at the edge: weights that are to be measured need annotation and calibration."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from annotation.judges.defining.judge_file import PanelDefinition
from annotation.judges.defining.panel import DERIVED, Decision, panel_verdicts, unasked_items
from calibration.agreement import agreeing, catalogue
from calibration.comparing.effective_judges import effective_judges
from calibration.comparing.learned_votes import learned_votes
from calibration.results import CalibrationSettings, Estimate, ReportWarning
from calibration.study import counted, joining
from plain.hashes import identity_digest

BASELINES = ("constant_judge_baseline", "constant_judge_baseline_by_system")


def with_panels(
    verdicts: pd.DataFrame,
    panels: Sequence[PanelDefinition],
    settings: CalibrationSettings,
    *,
    allow_tie: bool,
    pairs: bool,
) -> tuple[pd.DataFrame, tuple[ReportWarning, ...]]:
    """The verdicts and the panels' beside them, with what must be known of each panel.

    Measured weights are agreements with the annotators on a seeded share of the clusters; those yield no verdicts for
    that panel, and a member that does no better there than a constant answer has weight 0. `pairs`: A and B are sides
    of a pair.
    """
    tables, warnings = [verdicts], []
    for panel in panels:
        votes, weights, how = verdicts, _given(panel), f"rule {panel.rule}"
        if panel.weights == "measured":
            held_out = fit_clusters(verdicts["cluster_id"], settings.seed, panel.fit_share)
            fitted_on = verdicts["cluster_id"].isin(held_out)
            weights = measured_weights(verdicts[fitted_on], panel, settings)
            votes = verdicts[~fitted_on]
            how = f"weights measured on {len(held_out)} of {verdicts['cluster_id'].nunique()} clusters "
            how += f"({', '.join(held_out)}), for which it has no verdicts"
        decisions = None
        if panel.rule == "learned":
            decisions, weights, how = _learned(verdicts, panel, settings, pairs)
        made = panel_verdicts(votes, panel, weights, allow_tie=allow_tie, learned=decisions)
        warnings.append(_about(panel, how, weights, made, len(unasked_items(votes, panel))))
        if any(weights.values()):  # else it decides nothing: no candidate, and the warning says why
            tables.append(made)
    kept = [table for table in tables if len(table)]
    return (pd.concat(kept, ignore_index=True) if len(kept) > 1 else verdicts), tuple(warnings)


def _learned(
    verdicts: pd.DataFrame, panel: PanelDefinition, settings: CalibrationSettings, pairs: bool
) -> tuple[dict[tuple[str, str], Decision], dict[str, float], str]:
    """What the model says of each question, the members' weights in it, and both in words."""
    found = learned_votes(verdicts, panel.members, settings.seed, pairs=pairs)
    if found.note:
        return {}, dict.fromkeys(panel.members, 0.0), f"no model: {found.note}"
    rows = zip(*(found.votes[name] for name in ("item_id", "criterion", "label", "share")), strict=True)
    decisions = {(item, criterion): Decision("ok", label, float(share)) for item, criterion, label, share in rows}
    how = f"a logistic model of people's answers, fitted {found.folds} times on other clusters than it was asked about"
    return decisions, found.weights, f"{how}; {_worth(verdicts, panel, settings)}"


def _worth(verdicts: pd.DataFrame, panel: PanelDefinition, settings: CalibrationSettings) -> str:
    """Of those that answered: a member that was planned and not run yet is in no table."""
    present = {*verdicts["rater_id"][(verdicts["rater_kind"] == "judge") & (verdicts["status"] == "ok")]}
    members = [member for member in panel.members if member in present]
    among = verdicts[(verdicts["rater_kind"] == "human") | verdicts["rater_id"].isin(members)]
    said = (
        f"its {len(members)} members"
        if len(members) == len(panel.members)
        else (f"the {len(members)} of its {len(panel.members)} members that answered")
    )
    worth = effective_judges(among, members, settings)
    if math.isnan(worth.value):
        return f"how many independent judges {said} are worth is not defined"
    return f"{said} are worth {worth.value:.1f} independent judges"


def fit_clusters(clusters: Iterable[str], seed: int, share: float) -> list[str]:
    """The clusters on which weights are measured: the same for every panel of a study; at least one is left over."""
    names = sorted(set(clusters))
    drawn = sorted(names, key=lambda name: identity_digest(seed, "panel", name))
    count = min(max(1, round(share * len(names))), max(0, len(names) - 1))
    return sorted(drawn[:count])


def measured_weights(verdicts: pd.DataFrame, panel: PanelDefinition, settings: CalibrationSettings) -> dict[str, float]:
    """Each member's agreement with the annotators in these rows; 0 where it beats no constant answer."""
    people = verdicts[verdicts["rater_kind"] == "human"]
    members = verdicts[(verdicts["rater_kind"] == "judge") & verdicts["rater_id"].isin(panel.members)]
    if people.empty or members.empty:
        return dict.fromkeys(panel.members, 0.0)
    plain = replace(settings, resamples=1)  # only the values are read, not their intervals
    study = joining.study_of(pd.concat([people, members]), plain)
    everything = counted.groups_of(study, plain, pooled=True)[0]
    estimates = list(agreeing.agreement_estimates(study, everything, plain))
    return {member: _weight(estimates, member, settings.ties) for member in panel.members}


def without_explained(
    warnings: Iterable[ReportWarning], panels: Sequence[PanelDefinition], verdicts: pd.DataFrame
) -> list[ReportWarning]:
    """All but those that would take for a fault what a panel is: fitted on other clusters or with a member that was not
    asked there, and without an order."""
    fitted = {
        f"{panel.name}{DERIVED}" for panel in panels if panel.weights == "measured" or unasked_items(verdicts, panel)
    }
    without_order = set(verdicts["rater_id"][verdicts["presentation"].isna()])
    explained = bool(without_order) and without_order <= {f"{panel.name}{DERIVED}" for panel in panels}
    return [
        warning
        for warning in warnings
        if not (warning.code == "join_loss" and warning.rater in fitted)
        and not (warning.code == "unpaired_judges" and fitted & {warning.rater, warning.facts.get("other")})
        and not (warning.code == "order_unknown" and explained)
    ]


def _given(panel: PanelDefinition) -> dict[str, float]:
    return dict(panel.weights) if isinstance(panel.weights, dict) else dict.fromkeys(panel.members, 1.0)


def _weight(estimates: Sequence[Estimate], member: str, ties: str) -> float:
    own = {
        estimate.statistic: estimate.value
        for estimate in estimates
        if (estimate.rater, estimate.reference) == (member, "each_annotator")
    }
    agreement = own.get(catalogue.HEADLINE[ties], own.get("percent_agreement", math.nan))
    baseline = max((own[name] for name in BASELINES if not math.isnan(own.get(name, math.nan))), default=0.0)
    return agreement if agreement > baseline else 0.0


def _about(
    panel: PanelDefinition, how: str, weights: dict[str, float], made: pd.DataFrame, unasked: int
) -> ReportWarning:
    name = f"{panel.name}{DERIVED}"
    said = [f"{member} {weights[member]:.3g}" for member in panel.members]
    counts = {"decided": int((made["status"] == "ok").sum()), "questions": len(made)}
    facts = {"how": how, "weights": said, **counts}
    facts["verb"] = "are decided" if panel.rule == "learned" else "have a majority"
    if unasked:
        facts["unasked"] = unasked
    if panel.rule != "learned" and not any(weights.values()):
        facts["better"] = "majority"
    return ReportWarning("panel", facts, name)

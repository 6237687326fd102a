"""Where can a judge be trusted? Criterion x category of topics, and in each cell the ceiling beside the judge."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration import errors, estimates
from calibration.agreement.ceiling import compared, gap_estimate, partial_credit_draws
from calibration.arithmetic import closed_forms, columns
from calibration.settings import CalibrationSettings
from calibration.study.bounding import Group
from calibration.study.joining import MANY_LABELS, Answers, Mask, Scale, Study, scale_of, study_of
from calibration.study.left_out import LeftOutScores, left_out, scores_of_left_out, stacked


@dataclass(frozen=True)
class Cell:
    """One criterion in one category of topics; each is `all` in a margin. All three rest on the same n labels."""

    criterion: str
    category: str
    agreement: estimates.Estimate  # of the judge with the left-out annotator's references
    ceiling: estimates.Estimate  # of the left-out annotator with the same
    gap: estimates.Estimate  # ceiling - agreement: above 0 the judge agrees less than a person does


@dataclass(frozen=True)
class ReliabilityMap:
    """`cells` row by row: the criteria, then `all` of them; in each row the categories, then `all` of them."""

    judge: str
    criteria: tuple[str, ...]
    categories: tuple[str, ...]  # "(none)": topics without one; empty where no topic has one
    cells: tuple[Cell, ...]

    def cell(self, criterion: str = "all", category: str = "all") -> Cell | None:
        """None where the map has no such cell, as `all` criteria that share no scale."""
        return next((one for one in self.cells if (one.criterion, one.category) == (criterion, category)), None)


@dataclass(frozen=True)
class _Rows:
    """Every annotator's rows, one annotator after another; shape (rows,) but `dropped`."""

    human: closed_forms.Array
    judge: closed_forms.Array
    unit: columns.Codes
    dropped: columns.Codes  # units of the rows without a reference left, as often as there were any


def reliability_map(
    verdicts: pd.DataFrame | Study, judge: str, settings: CalibrationSettings | None = None
) -> ReliabilityMap:
    """`leave_one_out_ceiling` of one judge in every criterion and category of topics, and in the margins of both.

    `judge`: as in the estimates, with ` [both orders]` where that is meant. A cell below 20 clusters has no interval;
    an empty one is nan with its reason. Criteria that share no scale are each scored on their own and have no margin;
    a rating of more than 25 levels has no cells. Raises `unknown_form` for a judge that is not in the table.
    """
    settings = settings or CalibrationSettings()
    study = study_of(verdicts, settings)
    answers = {one.rater: one for one in study.judges}
    if judge not in answers:
        raise errors.CalibrationError("unknown_form", f"no judge is called {judge!r}; there are {', '.join(answers)}")
    cells = list[Cell]()
    for groups, scale in _with_scales(study, settings):
        rows = _rows(study, groups[-1], scale, answers[judge], settings)
        for group in groups:
            cells += _cells(study, group, scale, judge, rows, settings)
    return ReliabilityMap(judge, study.criteria, tuple(_categories(study)), tuple(cells))


def _with_scales(study: Study, settings: CalibrationSettings) -> Iterator[tuple[list[Group], Scale]]:
    """Each criterion and then all of them on their common scale; where there is none, each criterion on its own."""
    groups = [Group((name,), name, "all", study.unit_criterion == place) for place, name in enumerate(study.criteria)]
    whole = Group(study.criteria, "all", "all", np.ones(study.units, dtype=bool))
    together = _coarse(study, whole, settings)
    for part in [[*groups, whole]] if together else [[group] for group in groups]:
        scale = together or _coarse(study, part[-1], settings)
        if scale is not None:
            yield part, scale


def _coarse(study: Study, group: Group, settings: CalibrationSettings) -> Scale | None:
    """None too where ratings are so fine that agreement in one exact level would mean nothing."""
    scale = scale_of(study, group.criteria, settings)
    return scale if scale is not None and len(scale.labels) <= MANY_LABELS else None


def _categories(study: Study) -> dict[str, Mask]:
    """The units of each category; none where no topic has one."""
    named = {name or "(none)": study.unit_category == place for place, name in enumerate(study.categories)}
    return {} if list(named) == ["(none)"] else named


def _rows(study: Study, group: Group, scale: Scale, judge: Answers, settings: CalibrationSettings) -> _Rows:
    by_unit = replace(study, unit_cluster=np.arange(study.units, dtype=np.intp))  # scores come back with their units
    parts, dropped = [], [np.zeros(0, np.intp)]
    for one in left_out(study, group, scale, judge):
        parts.append(scores_of_left_out(by_unit, one, scale, settings))
        dropped.append(np.setdiff1d(one.unit, parts[-1].cluster))
    found = stacked(parts)
    return _Rows(found.human, found.judge, found.cluster, np.concatenate(dropped))


def _cells(
    study: Study, group: Group, scale: Scale, judge: str, rows: _Rows, settings: CalibrationSettings
) -> Iterator[Cell]:
    """One row of the map."""
    parts = [replace(group, category=name, chosen=group.chosen & chosen) for name, chosen in _categories(study).items()]
    parts.append(group)
    scores = [_within(study, one, rows) for one in parts]
    draws = partial_credit_draws(study, group, scale, scores, settings)
    for place, (part, own) in enumerate(zip(parts, scores, strict=True)):
        found = compared(study, part, scale, judge, "each_annotator", own, draws[:, place], settings)
        yield Cell(part.criterion, part.category, found.judge, found.human, gap_estimate(judge, found))


def _within(study: Study, group: Group, rows: _Rows) -> LeftOutScores:
    kept = group.chosen[rows.unit]
    cluster = study.unit_cluster[rows.unit[kept]]
    return LeftOutScores(rows.human[kept], rows.judge[kept], cluster, int(group.chosen[rows.dropped].sum()))

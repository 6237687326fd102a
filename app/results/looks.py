"""Looks at a labels file: what a command and earlier reports say of them, as the settings that hold them."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.errors import AnnotationError
from calibration.errors import CalibrationError
from calibration.inference.looks import Look
from calibration.results import CalibrationReport
from calibration.warnings.comparison_cautions import changed_plan

REPORT = "calibration-report.json"


@dataclass(frozen=True)
class LooksGiven:
    """What a command says of looks. `so_far`: how often, this time included; `earlier`: folders of earlier reports."""

    planned: int | None = None
    any_time: bool = False
    so_far: int | None = None
    earlier: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if self.any_time and (self.planned is not None or self.so_far is not None):
            raise AnnotationError(
                "bad_option", "--any-time needs no plan and counts no looks; leave out --planned-topics and --looks"
            )
        if self.so_far is not None and self.earlier:
            raise AnnotationError(
                "bad_option", "--looks counts the earlier looks and --earlier-look names them; use one"
            )

    @property
    def overrides(self) -> dict[str, Any]:
        """The settings that a command sets, whatever is calibrated."""
        if self.any_time:
            return {"looks": "any_time"}
        return {} if self.planned is None else {"looks": "planned", "planned_topics": self.planned}

    @property
    def of_study(self) -> dict[str, Any]:
        """The same for a study. Raises AnnotationError where earlier looks are named: it keeps its own."""
        if self.so_far is not None or self.earlier:
            raise AnnotationError(
                "bad_option", "--looks and --earlier-look are for a labels file; a study keeps its looks"
            )
        return self.overrides


NO_LOOKS = LooksGiven()


def refuse_kept(chosen: Mapping[str, Any]) -> None:
    """Raise AnnotationError where a protocol states what was done instead of what was chosen."""
    for name in ("earlier_looks", "topics_labelled"):
        if name in chosen:
            raise AnnotationError(
                "bad_protocol", "calibration.{name}: is what calipers counts itself; remove it", name=name
            )


def looks_of_file(given: LooksGiven, labels: pd.DataFrame, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Settings about looks at a labels file: one look, unless the command or what is `stated` beside it says otherwise.

    With `so_far` the earlier looks are taken as evenly spaced, and as held to the same plan. Raises AnnotationError for
    a folder that holds no report.
    """
    reports = [_report_in(folder) for folder in given.earlier]
    chosen: dict[str, Any] = {}
    for report in reports:
        chosen |= _plan_of(report)
    chosen |= {**stated, **given.overrides}
    planned, mode = chosen.get("planned_topics"), chosen.get("looks", "one")
    earlier = tuple(look for report in reports for look in _before(_looks_of(report), report, labels))
    if given.so_far is not None:
        topics = int(labels["cluster_id"].nunique()) if "cluster_id" in labels else 0
        mode, earlier = "planned", _evenly_spaced(topics, given.so_far, planned)
    return {"looks": mode, "planned_topics": planned, "earlier_looks": earlier}


def with_changes(report: CalibrationReport, given: LooksGiven) -> CalibrationReport:
    """The report, warning of what is planned otherwise than at the earlier looks."""
    if report.choice is None or not given.earlier:
        return report
    choices = [_report_in(folder).get("choice") for folder in given.earlier]
    before = [choice["plan"] | {"plan_sha256": choice["plan_sha256"]} for choice in choices if choice]
    changed = [warning for plan in before for warning in changed_plan(report.choice.plan, plan)]
    return replace(report, warnings=(*changed, *report.warnings))


def _before(looks: list[Look], report: Mapping[str, Any], labels: pd.DataFrame) -> list[Look]:
    """The looks of an earlier report, none at as many topics as now where people have labelled more on these since.

    A topic that was looked at on some of its items was looked at: more items of it make a new look, which finds that
    share of the error spent, and no look again at the same labels.
    """
    if not {"cluster_id", "rater_kind"} <= {*labels}:
        return looks
    now = int(labels["cluster_id"].nunique())
    if int((labels["rater_kind"] == "human").sum()) <= _labels_of_people(report):
        return looks
    return [replace(look, topics=max(1, now - 1)) if look.topics >= now else look for look in looks]


def _labels_of_people(report: Mapping[str, Any]) -> float:
    """Rows of all annotators; infinite where a report of an older release does not say."""
    data = report["data"]
    if not {"annotators", "statuses"} <= {*data}:
        return math.inf
    return sum(sum(data["statuses"].get(name, {}).values()) for name in data["annotators"])


def _evenly_spaced(topics: int, so_far: int, planned: int | None) -> tuple[Look, ...]:
    if so_far < 1 or so_far > max(1, topics):
        raise AnnotationError("bad_option", f"--looks is {so_far}; use 1 to {max(1, topics)}, the number of topics")
    if so_far > 1 and planned is None:
        raise AnnotationError(
            "bad_option", f"--looks {so_far} needs --planned-topics, how many were meant in the end; or use --any-time"
        )
    whole = max(planned or topics, topics)
    at = [round(topics * number / so_far) for number in range(1, so_far)]
    return tuple(Look(topics, topics / whole) for topics in at if topics > 0)


def _report_in(folder: Path) -> dict[str, Any]:
    """Read the report that `calibrate --out` wrote there. Raises AnnotationError where it is no report."""
    path = folder / REPORT if folder.is_dir() else folder
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _looks_of(report)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, CalibrationError):
        raise AnnotationError(
            "bad_report", f"{path} is no report of an earlier look; name the folder that calibrate --out wrote"
        ) from None
    return report


def _looks_of(report: Mapping[str, Any]) -> list[Look]:
    """The look that a report was, after those it knew of itself."""
    settings, topics = report["settings"], int(report["data"]["clusters"])
    before = [Look(int(look["topics"]), float(look["share"])) for look in settings.get("earlier_looks", ())]
    planned = settings.get("planned_topics")
    # without a plan it was meant as the only one
    share = min(1.0, topics / planned) if settings.get("looks") == "planned" and planned else 1.0
    return [*before, Look(topics, share)]


def _plan_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What its plan said of looks; where it was to be the only one, the next is the last of a plan that was reached."""
    settings = report["settings"]
    if settings.get("looks") == "any_time":
        return {"looks": "any_time"}
    return {"looks": "planned", "planned_topics": settings.get("planned_topics")}

"""The tables of the published studies, each in its own form, by the name of the study's layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from calibration.errors import CalibrationError
from calibration.results import CalibrationReport
from exports.errors import ExportError
from exports.published.preset_deepresearchgym import deepresearchgym_table
from exports.published.preset_dr3_eval import dr3_eval_table
from exports.published.preset_race import race_table
from exports.published.preset_wlc import wlc_table
from exports.tables import Table

PRESETS: Mapping[str, Callable[[pd.DataFrame, CalibrationReport], Table]] = {
    "wlc": wlc_table,
    "deepresearchgym": deepresearchgym_table,
    "dr3_eval": dr3_eval_table,
    "deepresearch_bench": race_table,  # the layout of its reports
    "race": race_table,  # the layout of its judges' results
}


def preset_table(name: str, verdicts: pd.DataFrame, report: CalibrationReport) -> Table:
    """The judge table of one study, with our intervals and counts beside its own columns; changes neither input.

    `verdicts`: those that `report` was made of. Raises `unknown_preset`, `other_verdicts`, and `wrong_task` where the
    labels are not of the kind that the study's table is about.
    """
    if name not in PRESETS:
        raise ExportError("unknown_preset", f"no preset is called {name!r}; use one of {', '.join(PRESETS)}")
    if len(verdicts) != report.data["rows"]:
        raise ExportError(
            "other_verdicts",
            f"preset {name}: the report was made of {report.data['rows']:,} rows and these are {len(verdicts):,}; "
            "give the very verdicts that were calibrated",
        )
    try:
        return PRESETS[name](verdicts, report)
    except CalibrationError as error:
        raise ExportError("wrong_task", f"preset {name}: {error.text}") from None

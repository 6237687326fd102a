"""What a page of docs/studies tells: its commands, to be run as they stand, and single tables of a study's report."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from app.results.reporting import Calibrated
from app.results.sources import calibrated, parts_of
from calibration.results import CalibrationReport
from exports.as_json import as_json
from exports.forms import as_markdown
from exports.presets import preset_table
from exports.tables import Table
from tests.studies.page import PAGES

# labels of judges carry the seconds of a clock, so that a report's hash is new in every run
HASH = re.compile(r"sha256 [0-9a-f]{12}")


def commands(page: str) -> list[list[str]]:
    """The words after `calipers` of each command in the page's code blocks, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("calipers ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


class Tables:
    """The report of one study, joined with `others`, and its tables as a page prints them and as rows by their first cell."""

    def __init__(self, study: str, *others: str) -> None:
        parts = parts_of(others)
        self.found: Calibrated = calibrated(study, resamples=499, per_criterion=False, others=parts)
        self.report: CalibrationReport = self.found.report

    def preset(self, name: str) -> Table:
        return preset_table(name, self.found.labels, self.report)

    def of(self, make: Callable[[CalibrationReport], Table | None]) -> Table:
        table = make(self.report)
        assert table is not None
        return table


def on_a_page(table: Table) -> str:
    return HASH.sub("sha256 …", as_markdown(table))


def rows_of(table: Table) -> dict[str, dict[str, Any]]:
    """Each row by its first cell; an estimate as a mapping."""
    return {str(next(iter(row.values()))): row for row in json.loads(as_json(table))["rows"]}


def holds(estimate: dict[str, Any], value: float) -> bool:
    return bool(estimate["low"] <= value <= estimate["high"])

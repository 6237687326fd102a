"""What counts as good enough can be said on the command line or in a file, and the exit code is the headline."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from annotation.errors import AnnotationError
from app.command_line import app
from tests.calibration.priced import priced

ROOT = Path(__file__).resolve().parents[2]
TABLE = re.compile(r"^\| ([^|]+\.) \| (\d) \| (\d) \|$", re.MULTILINE)
ONE, THREE = {"mini": (0.9, 0.001)}, {"mini": (0.9, 0.001), "small": (0.4, 0.0001), "large": (0.9, 0.01)}


def asked_again(frame: pd.DataFrame) -> pd.DataFrame:
    """Every fifth answer of the judge is another one the second time."""
    again = frame[frame["rater_id"] == "mini"].assign(run=2)
    changed = again["label"].map({"A": "B", "B": "A", "tie": "A"})
    again["label"] = again["label"].where(np.arange(len(again)) % 5 > 0, changed)
    return pd.concat([frame.assign(run=1), again])


STUDIES: dict[str, tuple[Callable[[], pd.DataFrame], list[str]]] = {
    "mini is the cheapest adequate judge of 3 tried.": (lambda: priced(THREE), []),
    "mini is the cheapest adequate judge of 1 tried, with reservations: asked again, it changes its answers (20.0 %).": (
        lambda: asked_again(priced(ONE)), ["--margin", ".2"],
    ),
    "mini is the cheapest of 3 judges tried that is shown to agree in at least 60 % of labels.": (
        lambda: priced(THREE, annotators=1), ["--at-least", ".6"],
    ),
    "mini is adequate; whether it is the cheapest is unknown, for its cost is.": (
        lambda: priced({"mini": (0.9, math.nan)}), [],
    ),
    "mini, the one judge tried, is not adequate.": (lambda: priced({"mini": (0.2, 0.001)}), []),
    "None of the 2 judges tried is adequate.": (lambda: priced({"tiny": (0.1, 0.001), "small": (0.3, 0.002)}), []),
    "Cannot tell from 10 topics whether any of the 2 judges tried can replace an annotator.": (
        lambda: priced({"one": (0.8, 0.001), "two": (0.75, 0.002)}, pairs=10), ["--margin", ".05"],
    ),
    "Cannot tell whether the 3 judges tried can replace an annotator: no label has a second annotator's beside it.": (
        lambda: priced(THREE, annotators=1), [],
    ),
}  # fmt: skip


def calibrate(folder: Path, frame: pd.DataFrame, *options: str) -> tuple[int, str]:
    path = folder / "labels.csv"
    frame.to_csv(path, index=False)
    found = CliRunner().invoke(app, ["calibrate", str(path), "--resamples", "199", *options])
    refused = found.exception if isinstance(found.exception, AnnotationError) else ""
    return found.exit_code, f"{found.output}{refused}"


def documented() -> dict[str, tuple[int, int]]:
    rows = TABLE.findall((ROOT / "docs" / "evaluators.md").read_text("utf-8"))
    return {headline: (int(code), int(cheapest)) for headline, code, cheapest in rows}


def test_every_headline_of_the_documents_has_its_study() -> None:
    assert documented().keys() == STUDIES.keys()


@pytest.mark.parametrize("headline", STUDIES)
def test_the_exit_code_is_the_headline(headline: str, tmp_path: Path) -> None:
    make, options = STUDIES[headline]
    options = ["--margin", ".1", *options, "--gate"]
    code, text = calibrate(tmp_path, make(), *options)
    assert text.strip().splitlines()[-1].startswith(headline)
    strict, _ = calibrate(tmp_path, make(), *options, "--require-cheapest")
    assert (code, strict) == documented()[headline]


CHANGES = {
    "margin": ("--margin", ".2", 0.2),
    "ties": ("--ties", "half_credit", "half_credit"),
    "epsilon": ("--epsilon", ".2", 0.2),
    "at_least": ("--at-least", ".7", 0.7),
    "at_least_kappa": ("--at-least-kappa", ".4", 0.4),
    "level": ("--level", ".9", 0.9),
    "min_clusters": ("--min-clusters", "6", 6),
    "require": ("--require", "order", ["order"]),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return planned(tmp_path_factory.mktemp("plain"))


def planned(folder: Path, *options: str) -> dict[str, object]:
    code, text = calibrate(folder, priced(ONE, pairs=12), *options, "--json")
    assert code == 0, text
    report: dict[str, object] = json.loads(text)
    return report


@pytest.mark.parametrize("name", CHANGES)
def test_each_option_changes_the_plan(name: str, plain: dict[str, object], tmp_path: Path) -> None:
    option, text, value = CHANGES[name]
    by_option = planned(tmp_path, option, text)
    assert by_option["settings"][name] == value  # type: ignore[index] # of JSON
    plans = [report["choice"]["plan_sha256"] for report in (plain, by_option)]  # type: ignore[index] # of JSON
    assert plans[0] != plans[1]


@pytest.mark.parametrize("names", [{*CHANGES} - {"at_least_kappa"}, {"at_least_kappa"}], ids=len)  # one floor at a time
def test_lines_of_a_calibration_toml_are_the_options_of_their_names(names: set[str], tmp_path: Path) -> None:
    by_option = planned(tmp_path, *(word for name in names for word in CHANGES[name][:2]))
    file = tmp_path / "calibration.toml"
    lines = (f"{name} = {json.dumps(CHANGES[name][2])}" for name in names)
    file.write_text("\n".join(["[calibration]", *lines]), "utf-8")
    by_file = planned(tmp_path, "--calibration", str(file))
    assert by_option["settings"] == by_file["settings"]
    assert by_option["choice"]["plan_sha256"] == by_file["choice"]["plan_sha256"]  # type: ignore[index] # of JSON


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("margn = 0.1", "margin|margn"),
        ("[calibration]\nmargin = 5.0", r"settings.margin is 5, and is a share .*: write \.05 for 5 points$"),
        ("[calibration]\nmargin = 250", r"settings.margin is 250, and is a share .*: write such as \.05 for 5 points$"),
        ("[calibration]\nat_least = 80", r"write \.8 for 80 %$"),
        ("[calibration]\nmargin = 0.1\n[other]\nx = 1", "'other' stands beside"),
        ("margin = ", "is no TOML file"),
        ("require = ['beauty']", "beauty"),
        ("at_least = 0.8\nat_least_kappa = 0.5", "exclude each other"),
    ],
)
def test_a_wrong_calibration_toml_is_refused_in_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "calibration.toml"
    file.write_text(text, "utf-8")
    code, told = calibrate(tmp_path, priced(ONE, pairs=5), "--calibration", str(file))
    assert code == 1
    assert re.search(says, told)
    assert "Traceback" not in told


def test_every_option_that_decides_is_in_the_documents() -> None:
    told = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    rows = [f"`{word}`" for name, (option, *_) in CHANGES.items() for word in (name, option)]
    assert [word for word in ("`[calibration]`", *rows) if word not in told] == []

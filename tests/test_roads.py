"""A reader follows one number through few files: the roads through the house, and how many files each enters."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.judges.defining.judge_file import read_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol
from calibration.calibrate import calibrate
from calibration.settings import CalibrationSettings
from calipers.label_files import read_labels
from exports.as_latex import as_latex
from exports.tables import agreement_table, asked_for_agreement
from tests.annotation.judges import judged_study
from tests.calibration.studies import made_pairs, made_ratings
from tests.entering import entered

# what agreement does not rest on
OTHER_ROOMS = ("biases", "comparing", "confidence", "delegating", "people", "sizing", "systems", "totals", "warnings")


@pytest.mark.parametrize("made", [made_pairs, made_ratings])
def test_from_a_csv_to_agreement_tex_at_most_40_files_are_entered_and_the_table_is_that_of_the_whole_report(
    tmp_path: Path, made
) -> None:
    """Counted are files of the project in which a function is called (`sys.setprofile`); a whole report enters 93."""
    file, chosen = tmp_path / "labels.csv", CalibrationSettings(resamples=49, ties="half_credit")
    made().to_csv(file, index=False)
    with entered() as files:
        report = calibrate(read_labels(file), chosen, only=asked_for_agreement())
        text = as_latex(agreement_table(report))
    assert len(files) <= 40, sorted(files)
    assert {"calipers/label_files.py", "calibration/study/joining.py", "exports/as_latex.py"} <= files
    assert [name for name in sorted(files) if name.split("/")[1] in OTHER_ROOMS] == []
    assert text == as_latex(agreement_table(calibrate(read_labels(file), chosen)))


@pytest.mark.databases("sqlite")
def test_from_judges_toml_to_a_stored_label_at_most_30_files_are_entered(engine: Engine, tmp_path: Path) -> None:
    """Counted as above, while the file is read, its judge planned and run; who answers is a stub in place of `client`,
    the only file that knows a network; 46 were before."""
    study = judged_study.make_study(engine, 2)
    file = tmp_path / "judges.toml"
    file.write_text(f"[[judge]]\n{judged_study.STUB_JUDGE}", encoding="utf-8")
    protocol, stub = parse_protocol(judged_study.protocol_text()), judged_study.Stub()
    with entered() as files:
        judges = read_judges(file, protocol)
        plan_judges(engine, study, judges, describe=judged_study.describe)
        run_judges(engine, study, judges, transport=stub)
    assert {row["status"] for row in judged_study.labels(engine)} == {"ok"}
    assert len(files) <= 30, sorted(files)
    assert {"annotation/judges/defining/judge_file.py", "annotation/judges/replies/reply.py"} <= files
    assert [name for name in files if {"batches", "importing", "work"} & {*Path(name).parts}] == []

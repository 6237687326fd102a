"""What a pipeline reads: the action's own steps in a shell, JUnit's file, the job's summary, and the JSON by its schema."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from app.command_line import app
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from exports.as_json import report_json, report_schema
from exports.pipeline import decision_of, job_summary, junit_xml
from tests.calibration.priced import priced
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.toy import toy_report
from tests.exports.toy_choice import HOSTILE, toy_choice

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GOOD, BAD = {"mini": (0.85, 0.001)}, {"tiny": (0.2, 0.0001)}
QUICK = CalibrationSettings(resamples=99)
VALIDATOR = jsonschema.Draft202012Validator(json.loads(report_schema()))


def step(name: str) -> dict[str, Any]:
    return next(one for one in ACTION["runs"]["steps"] if one.get("id") == name)


def run_action(folder: Path, **inputs: str) -> tuple[int, dict[str, str]]:
    """Its step in the very shell of the runner, in `folder`; (exit code, outputs)."""
    given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    names = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
    step_env = {name: names[value] for name, value in step("calibrate")["env"].items()}
    script = folder / "step.sh"
    script.write_text(step("calibrate")["run"], encoding="utf-8")
    out, temp = folder / "output.txt", folder / "temp"
    temp.mkdir(exist_ok=True)
    env = {
        **os.environ, **step_env, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(out), "RUNNER_TEMP": str(temp), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=folder, env=env, check=False,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    said = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return done.returncode, dict(line.split("=", 1) for line in said)


@pytest.mark.slow  # a command of its own, with its page
@pytest.mark.parametrize(
    ("judges", "inputs", "code", "sentence"),
    [
        (GOOD | BAD, {}, 0, "mini is the cheapest adequate judge of 2 tried"),
        (GOOD | BAD, {"judge": "tiny", "out": "a folder"}, 3, "tiny is not adequate"),
    ],
)
def test_the_actions_step_decides_as_the_command_does(
    tmp_path: Path, judges: dict[str, tuple[float, float]], inputs: dict[str, str], code: int, sentence: str
) -> None:
    priced(judges).to_csv(tmp_path / "my labels; $(touch x).csv", index=False)
    found, outputs = run_action(tmp_path, labels="my labels; $(touch x).csv", options="--resamples 199", **inputs)
    assert (found, outputs["code"]) == (code, str(code))
    assert outputs["sentence"].startswith(sentence)
    assert not (tmp_path / "x").exists(), "a name of a file was run"
    folder = tmp_path / inputs.get("out", "calipers-report")
    assert {"answer.pdf", "agreement.tex", "methods.tex", "junit.xml"} <= {one.name for one in folder.iterdir()}
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("### ")


def test_no_step_of_the_action_holds_an_input_as_text_of_its_script() -> None:
    scripts = [one["run"] for one in ACTION["runs"]["steps"] if "run" in one]
    assert len(scripts) == 2
    assert not [one for one in scripts if "${{" in one]
    assert "--require-hashes" in step("install")["run"]
    assert (ROOT / "requirements.lock").is_file()


@pytest.mark.parametrize(
    ("judges", "pairs", "judge", "status"),
    [(GOOD | BAD, 60, "", "chosen"), (GOOD | BAD, 60, "tiny", "none_adequate"), (GOOD, 10, "", "cannot_tell")],
)
def test_junit_fails_exactly_where_the_gate_does(
    judges: dict[str, tuple[float, float]], pairs: int, judge: str, status: str
) -> None:
    report = calibrate(priced(judges, pairs=pairs), QUICK)
    decision = decision_of(report, judge)
    assert decision is not None
    assert decision.status == status
    suites = ElementTree.fromstring(junit_xml(report, decision, "labels.csv"))
    cases = suites.findall("./testsuite/testcase")
    failed = [one for one in cases if one.find("failure") is not None]
    assert bool(failed) == (status != "chosen")
    assert suites.get("failures") == str(len(failed))
    assert {one.get("name") for one in cases} >= {"decision", "agreement", "ceiling gap", "answers"}
    if failed:
        assert failed[0].find("failure").get("message") == decision.sentence


def test_junit_and_summary_take_any_name_for_text() -> None:
    report = toy_choice()
    decision = decision_of(report, HOSTILE)
    assert decision is not None
    odd = replace(decision, judge="</testcase>\x00\x1b[31m<b>", sentence="<script>alert(1)</script> | `x`")
    cases = ElementTree.fromstring(junit_xml(report, odd, "a&b.csv")).findall("./testsuite/testcase")
    assert cases[0].get("classname") == "</testcase>[31m<b>"
    told = job_summary(report, odd)
    assert "<script>" not in told.replace(r"\<script", "")
    assert "**Cannot tell.**" in told


def test_the_command_writes_junit_and_adds_to_the_summary(tmp_path: Path) -> None:
    priced(GOOD | BAD).to_csv(tmp_path / "labels.csv", index=False)
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n", encoding="utf-8")
    words = ["calibrate", str(tmp_path / "labels.csv"), "--resamples", "199", "--json"]
    done = CliRunner().invoke(
        app, [*words, "--gate", "--junit", str(tmp_path / "new" / "gate.xml")],
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    VALIDATOR.validate(json.loads(done.stdout))
    assert ElementTree.parse(tmp_path / "new" / "gate.xml").getroot().get("failures") == "0"
    told = summary.read_text(encoding="utf-8")
    assert told.startswith("# Before\n### mini is the cheapest adequate judge")
    assert "| USD per 1,000 items |" in told
    priced(GOOD).query("rater_kind == 'human'").to_csv(tmp_path / "labels.csv", index=False)
    none = CliRunner().invoke(app, [*words, "--gate", "--junit", str(tmp_path / "new" / "gate.xml")])
    assert (none.exit_code, (tmp_path / "new" / "gate.xml").exists()) == (1, False), "no decision leaves no earlier one"
    refused = CliRunner().invoke(app, [*words, "--junit", "x.xml"])
    assert refused.exit_code == 2
    assert "--gate" in refused.output


REPORTS = {
    "toy": toy_report, "chosen": toy_choice, "ratings": lambda: calibrate(made_ratings(), QUICK),
    "pairs": lambda: calibrate(made_pairs(), CalibrationSettings(resamples=99, per_criterion=True, at_least=0.6)),
    "without people": lambda: calibrate(made_pairs().query("rater_kind == 'judge'"), QUICK),
    "without judges": lambda: calibrate(made_pairs(judges={}).query("rater_kind == 'human'"), QUICK),
    "one cluster": lambda: calibrate(made_pairs(1, 1), QUICK),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_keeps_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    document = json.loads(report_json(REPORTS[name]()))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert {*document["data"]["judges"]} <= {*document["judges"]}, "every judge has a verdict and a reason"
    tried = {one["judge"]: one["standing"] for one in (document["choice"] or {"candidates": []})["candidates"]}
    assert {name: one["verdict"] for name, one in document["judges"].items() if name in tried} == tried


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "calipers-report/2"), (("choice", "status"), "perhaps"), (("choice", "plan_sha256"), "abc"),
        (("estimates", 0, "value"), "nan"), (("card", 0, "outcome"), "fine"), (("data", "rows"), None),
        (("choice", "candidates", 0, "standing"), ""), (("settings", "ties"), "half"), (("warnings",), {}),
        (("judges", "small", "verdict"), "good"), (("judges", "tiny", "reason"), ""), (("judges",), []),
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_refused(path: tuple[str | int, ...], value: object) -> None:
    document = json.loads(report_json(toy_choice()))
    broken: Any = deepcopy(document)
    place = broken
    for one in path[:-1]:
        place = place[one]
    place[path[-1]] = value
    assert not VALIDATOR.is_valid(broken)
    del place[path[-1]]
    assert not VALIDATOR.is_valid(broken), "and so is a key that is gone"


def test_the_schema_is_printed_without_a_file() -> None:
    done = CliRunner().invoke(app, ["calibrate", "--schema"])
    assert (done.exit_code, done.stdout) == (0, report_schema())

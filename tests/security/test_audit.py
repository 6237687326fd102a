"""The audit of what we depend on fails where it must, and never says clean where nobody answered."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.security import audit

TODAY = date(2026, 11, 21)
PROJECT = {
    "build-system": {"requires": ["hatchling>=1"]},
    "project": {
        "dependencies": ["a>=2,<3", 'win>=1; sys_platform == "win32"'],
        "optional-dependencies": {"x": ["B_b"]},
    },
}
KNOWN = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.1"]}


def report(*dependencies: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(dependencies)}


def test_the_lock_pins_every_requirement_in_a_version_that_it_allows() -> None:
    """Offline, on every run of the tests."""
    project = tomllib.loads((audit.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = audit.pins(audit.LOCK.read_text(encoding="utf-8"))
    assert len(pinned) > 100
    assert audit.unmet(project, pinned) == []


def test_what_running_needs_is_pinned_as_in_the_whole_lock_and_holds_nothing_of_the_tests() -> None:
    project = tomllib.loads((audit.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"].pop("optional-dependencies")
    running = audit.pins((audit.ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert running.items() <= audit.pins(audit.LOCK.read_text(encoding="utf-8")).items()
    assert audit.unmet(project, running) == []
    assert {"pytest", "playwright", "mypy", "ruff", "pip-audit", "statsmodels"}.isdisjoint(running)
    assert audit.unmet({"project": {"dependencies": extras["build"]}, "build-system": {"requires": []}}, running) == []


@pytest.mark.parametrize(("name", "fewest"), [("-test", 100), ("", 80), ("-uv", 1)])
def test_every_pin_of_a_lock_has_a_hash_and_no_host(name: str, fewest: int) -> None:
    text = (audit.ROOT / f"requirements{name}.lock").read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)^\S.*(?:\n    .*)*", text)
    assert len(blocks) >= len(audit.pins(text)) >= fewest  # numpy, say, has a pin for each version of Python
    assert [one for one in blocks if "--hash=sha256:" not in one] == []
    assert "://" not in text


@pytest.mark.parametrize(
    ("lock", "found"),
    [
        ("a==2.5 \\\n    --hash=sha256:00\nb-b==1\nhatchling==1.2\n", []),
        ("a==3.0\nb-b==1\nhatchling==1.2\n", ["a<3,>=2: the lock has 3.0"]),
        ("a==2.5\nhatchling==1.2\n", ["B_b: not in the lock"]),
        ("a==2.5\nb-b==1 ; sys_platform == 'linux'\nhatchling==0.9\n", ["hatchling>=1: the lock has 0.9"]),
    ],
)
def test_a_pin_that_does_not_fit_is_named(lock: str, found: list[str]) -> None:
    assert audit.unmet(PROJECT, audit.pins(lock)) == found


def test_names_are_read_as_pip_reads_them() -> None:
    assert audit.pins("Foo_Bar[extra]==1.0 \\\n") == {"foo-bar": Version("1.0")}


@pytest.mark.parametrize(
    ("accepted", "count"),
    [
        ({}, 1), ({"PYSEC-1": audit.Accepted("we never start its proxy", TODAY)}, 0),
        ({"CVE-1": audit.Accepted("the same by its other name", TODAY)}, 0),
        ({"PYSEC-1": audit.Accepted("to be looked at again", date(2026, 11, 20))}, 1),
        ({"PYSEC-2": audit.Accepted("another", TODAY)}, 1),
    ],
)  # fmt: skip
def test_a_known_vulnerability_counts_unless_it_is_accepted_until_a_day_that_has_not_passed(
    accepted: dict[str, audit.Accepted], count: int
) -> None:
    found, skipped = audit.findings(report({"name": "a", "version": "2.0", "vulns": [KNOWN]}), accepted, TODAY)
    assert (len(found), skipped) == (count, 0)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (report({"name": "a", "version": "2.0", "vulns": []}), 0, "no known vulnerability"),
        (report({"name": "a", "version": "2.0", "vulns": [KNOWN]}), 1, "known vulnerability: a 2.0: PYSEC-1, mended in 2.1"),
        (report({"name": "a", "skip_reason": "not found"}), 0, "!! NOT AUDITED"), (None, 0, "!! NOT AUDITED"),
    ],
)  # fmt: skip
def test_what_is_printed_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: Any, code: int, said: str
) -> None:
    monkeypatch.setattr(audit, "advisories", lambda lock: answer)
    assert audit.main() == code
    printed = capsys.readouterr().out
    assert said in printed
    assert ("no known vulnerability" in printed) == (said == "no known vulnerability")


def test_an_old_lock_is_said_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "advisories", lambda lock: report({"name": "a", "version": "1", "vulns": []}))
    monkeypatch.setattr(audit, "age_days", lambda lock, today: 61)
    assert audit.main() == 0
    assert "61 days old" in capsys.readouterr().out


def test_outside_of_a_checkout_the_age_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("")
    assert audit.age_days(tmp_path / "requirements.lock", datetime.now(UTC)) is None

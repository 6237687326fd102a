"""`python -m tests.security.audit`: does the whole lock fit pyproject.toml, how old is it, and what is known against its pins.

Exit 0: nothing found, also where no advisories could be had, which is said loudly. Exit 1: a pin that does not fit, or
a known vulnerability that is not in ACCEPTED.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements-test.lock"  # everything; requirements.lock is the part of it that running needs
OLD_DAYS = 60
PATIENCE_S = 120


@dataclass(frozen=True)
class Accepted:
    """A known vulnerability that does not concern us: why, and when to look at it again."""

    reason: str
    until: date


ACCEPTED: dict[str, Accepted] = {}


def pins(lock: str) -> dict[str, Version]:
    """Name -> version of every pin that holds for this Python."""
    asked = map(Requirement, re.findall(r"(?m)^\S[^\\\n]*==[^\\\n]*", lock))
    here = (one for one in asked if one.marker is None or one.marker.evaluate())
    return {canonicalize_name(one.name): Version(next(iter(one.specifier)).version) for one in here}


def unmet(project: Mapping[str, Any], pinned: Mapping[str, Version]) -> list[str]:
    """Every requirement of pyproject.toml that the lock has no pin for, or another version than it allows."""
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    asked += [one for extra in project["project"].get("optional-dependencies", {}).values() for one in extra]
    found = []
    for requirement in map(Requirement, dict.fromkeys(asked)):
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        version = pinned.get(canonicalize_name(requirement.name))
        if version is None:
            found.append(f"{requirement}: not in the lock")
        elif not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{requirement}: the lock has {version}")
    return found


def findings(report: Mapping[str, Any], accepted: Mapping[str, Accepted], today: date) -> tuple[list[str], int]:
    """What stands against the pins in a report of pip-audit, and how many packages it could not ask about."""
    found = [
        f"{one['name']} {one['version']}: {known['id']}, mended in {', '.join(known['fix_versions']) or 'no version'}"
        for one in report["dependencies"]
        for known in one.get("vulns", ())
        if not any(_is_accepted(name, accepted, today) for name in (known["id"], *known.get("aliases", ())))
    ]
    return found, sum("skip_reason" in one for one in report["dependencies"])


def _is_accepted(name: str, accepted: Mapping[str, Accepted], today: date) -> bool:
    return name in accepted and today <= accepted[name].until


def advisories(lock: Path) -> Mapping[str, Any] | None:
    """What pip-audit says about the lock; None where it could not ask."""
    command = [sys.executable, "-m", "pip_audit", "-r", str(lock), "--disable-pip", "--require-hashes"]
    command += ["-f", "json", "--progress-spinner", "off"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        report: Mapping[str, Any] = json.loads(asked.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return report


def age_days(lock: Path, today: datetime) -> int | None:
    """Days since the lock was last committed; None outside of a git checkout."""
    command = ["git", "-C", str(lock.parent), "log", "-1", "--format=%cI", "--", lock.name]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return None
    return (today - datetime.fromisoformat(told)).days if told else None


def lines(lock: Path, project: Path) -> Iterator[tuple[bool, str]]:
    """(is a failure, what to print), one by one."""
    pinned, now = pins(lock.read_text(encoding="utf-8")), datetime.now(UTC)
    for one in unmet(tomllib.loads(project.read_text(encoding="utf-8")), pinned):
        yield True, f"{one}; refresh it: make lock"
    age = age_days(lock, now)
    if age is not None and age > OLD_DAYS:
        yield False, f"!! the lock is {age} days old; refresh it: make lock"
    report = advisories(lock)
    if report is None:
        yield False, f"!! NOT AUDITED: no advisory service answered about {len(pinned)} packages"
        return
    found, skipped = findings(report, ACCEPTED, now.date())
    for one in found:
        yield True, f"known vulnerability: {one}"
    if skipped:
        yield False, f"!! NOT AUDITED: the advisory service knows nothing of {skipped} of {len(pinned)} packages"
    elif not found:
        yield False, f"{len(pinned)} packages, no known vulnerability"


def main() -> int:
    """Print every line; 1 if one of them is a failure."""
    failed = False
    for fails, line in lines(LOCK, ROOT / "pyproject.toml"):
        print(line)
        failed = failed or fails
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

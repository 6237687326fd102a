"""Why a judge's agreement is other than last time: another judge, other reports, or nobody can say. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from annotation.errors import AnnotationError

SAID = {
    "snapshot": "reported snapshot",
    "prompt_sha256": "prompt",
    "protocol_sha256": "protocol",
    "params": "parameters",
}
Cause = Literal["judge changed", "system changed", "cannot tell"]


@dataclass(frozen=True)
class Identity:
    """What makes a judge this judge. `snapshot`: the model as the provider reported it, None where it did not.

    `endpoint` None: the provider's own. `prompt_sha256` is the template's; `params` are the effective ones.
    """

    provider: str
    model: str
    snapshot: str | None
    endpoint: str | None
    prompt_sha256: str
    protocol_sha256: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class JudgedRun:
    """One run of a judge: who it was, the people's labels it is held against, and the reports it read."""

    identity: Identity
    labels_sha256: str
    shown_sha256: frozenset[str]  # of every report shown


@dataclass(frozen=True)
class Drift:
    """`changed`: fields of the judge's identity that differ, and `reports` where those do."""

    cause: Cause
    changed: tuple[str, ...]
    sentence: str


def drift(before: JudgedRun, after: JudgedRun) -> Drift:
    """What a difference between two runs can be put down to: one thing that changed while the other is known to stand.

    Raises AnnotationError `labels_differ`: agreement with other labels is another number, not a change of this one.
    """
    if before.labels_sha256 != after.labels_sha256:
        raise AnnotationError(
            "labels_differ",
            f"the two runs are held against different labels ({before.labels_sha256[:12]} and "
            f"{after.labels_sha256[:12]}); compare both with the same labels",
        )
    names = [field.name for field in fields(Identity)]
    judge = tuple(name for name in names if getattr(before.identity, name) != getattr(after.identity, name))
    reports = ("reports",) if before.shown_sha256 != after.shown_sha256 else ()
    unknown = before.identity.snapshot is None or after.identity.snapshot is None
    known = tuple(name for name in judge if name != "snapshot" or not unknown)
    changed = (*judge, *reports)
    if known and not reports:
        return Drift("judge changed", changed, f"the judge changed ({_words(judge)}); it read the same reports")
    if reports and not judge and not unknown:
        return Drift("system changed", changed, "the reports changed; the judge is the same in every respect")
    if known and reports:
        why = f"both the judge ({_words(judge)}) and the reports changed"
    elif unknown:
        seen = "the reports changed" if reports else "nothing else is seen to have changed"
        why = f"{seen}, and the provider did not report which snapshot of the model answered"
    else:
        why = "neither the judge nor the reports changed; what differs is noise, or a change nobody reported"
    return Drift("cannot tell", changed, f"cannot tell: {why}")


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(SAID.get(name, name) for name in names)

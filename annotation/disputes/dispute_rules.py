"""When several people's verdicts on one question are a dispute, and of which kinds it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from annotation.scores import NUMBER

REASONS = ("disagreement", "low_confidence", "flag", "not_applicable", "tie_against_winner")
LOW_CONFIDENCE = 2  # of 5, and below


def in_dispute(
    verdicts: Sequence[str], rule: str | Sequence[str] = "any", criterion: str = "", step: float = 0.0
) -> bool:
    """Whether the protocol's `study.adjudicate` sends these verdicts of several people on one question to somebody.

    `any`: two of them differ. `no_majority`: besides, no verdict is that of more than half. A list: `any`, on the
    criteria it names. Scores at most one `step` of their scale apart do not differ.
    """
    if len(set(verdicts)) < 2 or not any(
        _differ(one, other, step) for one, other in combinations(sorted(set(verdicts)), 2)
    ):
        return False
    if rule == "no_majority":
        return not any(2 * sum(not _differ(one, other, step) for other in verdicts) > len(verdicts) for one in verdicts)
    return rule == "any" or criterion in rule


def reasons_of(verdicts: Iterable[str], confidences: Iterable[int | None], *, flagged: bool) -> tuple[str, ...]:
    """Those of `REASONS` that hold for a question in dispute; the first one always does."""
    said = set(verdicts)
    holds = {
        "disagreement": True,
        "low_confidence": any(one is not None and one <= LOW_CONFIDENCE for one in confidences),
        "flag": flagged,
        "not_applicable": "not_applicable" in said,
        "tie_against_winner": "tie" in said and bool(said & {"A", "B"}),
    }
    return tuple(reason for reason in REASONS if holds[reason])


def _differ(one: str, other: str, step: float) -> bool:
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(other):
        return abs(float(one) - float(other)) > step + 1e-9
    return one != other

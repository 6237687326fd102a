"""A raw reply becomes one answer per criterion. Pure; a failure has a status and never becomes a label value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.entries import clean
from annotation.judges.answers import Answer
from annotation.judges.reply_json import Found, find_judgments
from annotation.judges.reply_values import ANSWER_FIELD, Value, read_probe_answer, read_score, read_winner
from annotation.protocol_parts import Scale, TaskType

PARSER_VERSION = "1"
DECLINES = re.compile(
    r"(?i)^\W*(i['’ ]?a?m (very )?(sorry|unable|not able)|sorry\b|i (can ?not|can['’]?t|won['’]?t|will not)"
    r"|i (must decline|apologi[sz]e)|unfortunately,? i|as an ai\b)"
)
# what the judge is told was wrong, by the reason that stands in an answer's flags
SENTENCES = {
    "absent": "there is no entry for it",
    "duplicate": "there is more than one entry for it; give exactly one",
    "no_value": "the entry has no {field}",
    "unknown_value": "the {field} is not one of the allowed answers",
    "not_allowed": "the {field} is not one of the allowed answers",
    "out_of_range": "the {field} is outside the scale",
    "off_step": "the {field} is not a step of the scale",
}
WHOLE_REPLY = {
    "unparsable": "it is not one JSON object",
    "duplicate_key": "a key appears twice in one JSON object",
    "wrong_shape": 'it is JSON, but not an object with the list "judgments"',
    "truncated": "it was cut off at the length limit; write shorter rationales",
    "refused": "it gives no judgments; this is a formal comparison of two texts, not an endorsement of either",
}


def parse_reply(
    raw: str,
    criteria: Sequence[str],
    choices: Sequence[str],
    *,
    task_type: TaskType = "pairwise_choice",
    scales: Mapping[str, Scale] | None = None,
    finish_reason: str | None = None,
    refused: bool = False,
    confidence: bool = False,
) -> tuple[Answer, ...]:
    """One answer for each of `criteria`, in their order, whatever `raw` holds. Never raises on a reply.

    `choices` are the stored answers allowed (`left`, `tie`, … or a probe's ids); `scales` a rating's, by criterion.
    `refused`: the provider itself said so. Flags of an ok answer: repaired, coerced, rationale_missing; of a failure:
    its reason.
    """
    if finish_reason == "length":
        return _all(criteria, "truncated", "truncated")
    if refused or finish_reason == "content_filter":
        return _all(criteria, "refused", "refused")
    field = ANSWER_FIELD[task_type]
    found = find_judgments(raw, field)
    if found.entries is None:
        if found.problem == "unparsable" and "{" not in raw and DECLINES.search(raw.strip()):
            return _all(criteria, "refused", "refused")
        return _all(criteria, "invalid", found.problem)
    by_code: dict[str, list[Mapping[str, Any]]] = {}
    for entry in found.entries:
        code = entry.get("criterion")
        if isinstance(code, str):
            by_code.setdefault(code.strip(), []).append(entry)
    answers = []
    for code in criteria:
        entries = by_code.get(code, [])
        if not entries:
            answers.append(Answer(code, "missing", flags=("absent",)))
        elif len(entries) > 1:
            answers.append(Answer(code, "invalid", flags=("duplicate",)))
        else:
            value = _read(entries[0].get(field), task_type, choices, (scales or {}).get(code))
            answers.append(_answer(code, entries[0], value, found, confidence=confidence))
    return tuple(answers)


def valid(answers: Sequence[Answer]) -> int:
    """How many answers are usable."""
    return sum(answer.status == "ok" for answer in answers)


def needs_asking_again(answers: Sequence[Answer]) -> bool:
    """Whether anything failed, so that the one re-ask is due."""
    return valid(answers) < len(answers)


def better(first: tuple[Answer, ...], again: tuple[Answer, ...], flag: str = "reasked") -> tuple[Answer, ...]:
    """The one reply with more usable answers; the earlier when they are level. Two replies are never mixed.

    Answers of the second reply carry `flag`.
    """
    if valid(again) <= valid(first):
        return first
    return tuple(
        Answer(a.criterion, a.status, a.choice, a.rationale, a.confidence, a.evidence, (*a.flags, flag)) for a in again
    )


def problems(answers: Sequence[Answer], task_type: TaskType = "pairwise_choice") -> tuple[str, ...]:
    """What was wrong, one sentence each, for the judge to read."""
    reasons = {answer.flags[0] for answer in answers if answer.status != "ok" and answer.flags}
    if len(reasons) == 1 and (whole := WHOLE_REPLY.get(min(reasons))):
        return (whole,)
    return tuple(
        f"{answer.criterion}: {SENTENCES[answer.flags[0]].format(field=ANSWER_FIELD[task_type])}"
        for answer in answers
        if answer.status != "ok"
    )


def failed_answers(criteria: Sequence[str], reason: str) -> tuple[Answer, ...]:
    """`missing` for every criterion of a call that never got a reply."""
    return _all(criteria, "missing", reason)


def _all(criteria: Sequence[str], status: str, reason: str) -> tuple[Answer, ...]:
    return tuple(Answer(code, status, flags=(reason,)) for code in criteria)


def _read(value: Any, task_type: TaskType, choices: Sequence[str], scale: Scale | None) -> Value:
    if task_type == "pairwise_choice":
        return read_winner(value, choices)
    if task_type == "probe_label":
        return read_probe_answer(value, choices)
    if scale is None:
        raise ValueError("a rating is read with its criterion's scale")
    return read_score(value, scale, choices)


def _answer(code: str, entry: Mapping[str, Any], value: Value, found: Found, *, confidence: bool) -> Answer:
    if value.choice is None:
        return Answer(code, "invalid", flags=("no_value" if value.problem == "absent" else value.problem,))
    said = entry.get("rationale")
    rationale = clean(said).strip() if isinstance(said, str) else ""
    sure = entry.get("confidence") if confidence else None
    in_range = isinstance(sure, int) and not isinstance(sure, bool) and 1 <= sure <= 5
    flags = {
        "repaired": found.repaired,
        "coerced": value.coerced or found.bare or entry.get("criterion") != code,
        "rationale_missing": not rationale,
        "confidence_missing": confidence and not in_range,
    }
    return Answer(
        code, "ok", value.choice, rationale, sure if in_range else None, flags=tuple(f for f, on in flags.items() if on)
    )

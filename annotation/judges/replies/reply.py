"""A raw reply becomes one answer per criterion: its JSON is found, its values are read. Pure.

A failure has a status and never becomes a label value.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

from annotation.labels.answers import Answer
from annotation.labels.entries import NUMBER, clean, off_scale, score_text
from annotation.protocol import Scale, TaskType

ANSWER_FIELD = {"pairwise_choice": "winner", "pointwise_rating": "score", "probe_label": "label"}  # on the wire
EXACT = {"first": "left", "second": "right", "tie": "tie", "not_applicable": "not_applicable"}
SAME_AS = {
    "a": "left", "1": "left", "left": "left", "first report": "left",
    "b": "right", "2": "right", "right": "right", "second report": "right",
    "not applicable": "not_applicable",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """The stored answer, or None and why: absent, unknown_value, not_allowed, out_of_range or off_step."""

    choice: str | None
    coerced: bool = False
    problem: str = ""


def read_winner(value: Any, choices: Sequence[str]) -> Value:
    """`first` is left, `second` right. Case, blanks, A/1/left and B/2/right are coerced; a tie must be allowed."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and value in EXACT:
        return _allowed(EXACT[value], choices, coerced=False)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if 0 < value < 3 else ""
    if not isinstance(value, str):
        return Value(None, problem="unknown_value")
    word = " ".join(value.casefold().split())
    stored = EXACT.get(word) or SAME_AS.get(word)
    return _allowed(stored, choices, coerced=True) if stored else Value(None, problem="unknown_value")


def read_score(value: Any, scale: Scale, choices: Sequence[str] = ()) -> Value:
    """A number on the scale as text (`7`, `7.5`). A number in quotes is coerced; nothing is clamped or floored."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and _folded(value) == "not_applicable" and "not_applicable" in choices:
        return Value("not_applicable", coerced=value != "not_applicable")
    coerced = isinstance(value, str)
    if isinstance(value, str):
        if not NUMBER.fullmatch(value.strip()):
            return Value(None, problem="unknown_value")
        value = float(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and math.isnan(value))
    ):
        return Value(None, problem="unknown_value")
    if problem := off_scale(value, scale):
        return Value(None, problem=problem)
    return Value(score_text(value), coerced)


def read_probe_answer(value: Any, choices: Sequence[str]) -> Value:
    """One of the protocol's answers by id. `False` and `"FALSE"` are the id `false`; 0.5 is the id `.5`."""
    if value is None:
        return Value(None, problem="absent")
    if isinstance(value, str) and value in choices:
        return Value(value)
    if isinstance(value, bool):
        alike = [choice for choice in choices if choice.casefold() == str(value).casefold()]
    elif isinstance(value, int | float):
        alike = [choice for choice in choices if NUMBER.fullmatch(f"0{choice}") and float(choice) == value]
    elif isinstance(value, str):
        alike = [choice for choice in choices if _folded(choice) == _folded(value)]
    else:
        alike = []
    return Value(alike[0], coerced=True) if len(alike) == 1 else Value(None, problem="unknown_value")


def _allowed(stored: str, choices: Sequence[str], *, coerced: bool) -> Value:
    return Value(stored, coerced) if stored in choices else Value(None, problem="not_allowed")


def _folded(text: str) -> str:
    return "_".join(text.casefold().split())


REPAIR_AT_MOST = 400_000  # characters; json-repair is slow on long garbage
FENCED = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)```", re.DOTALL)
CLOSES = {"{": "}", "[": "]"}


@dataclass(frozen=True)
class Found:
    """The entries of a reply, or why there are none (`problem`: unparsable | duplicate_key | wrong_shape)."""

    entries: tuple[Mapping[str, Any], ...] | None
    repaired: bool = False
    bare: bool = False  # the entries stood without their "judgments" object
    problem: str = ""


class DuplicateKey(ValueError):
    """The same key twice in one object: nobody can say which was meant."""


def find_judgments(text: str, field: str) -> Found:
    """The judgments of a reply whose answers are under `field`. Never raises.

    Strict JSON, else a fenced block or the first balanced object of the right shape, else json-repair, which must
    keep as many criteria and answers as the text holds.
    """
    text = text.strip().lstrip("\ufeff")
    try:
        value = strict(text)
    except DuplicateKey:
        return Found(None, problem="duplicate_key")
    except (ValueError, RecursionError):
        pass
    else:
        if isinstance(value, dict) and "criterion" in value and field in value:
            return Found((value,), bare=True)
        return _shaped(value) or Found(None, problem="wrong_shape")
    for part in (*FENCED.findall(text), *_balanced(text)):
        try:
            found = _shaped(strict(part))
        except DuplicateKey:
            return Found(None, problem="duplicate_key")
        except (ValueError, RecursionError):
            continue
        if found is not None:
            return found
    return _repaired(text, field) or Found(None, problem="unparsable")


def strict(text: str) -> Any:
    """The JSON of a text. Raises ValueError, for a key that stands twice and for nan too."""
    return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DuplicateKey("a key appears twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _shaped(value: Any) -> Found | None:
    bare = isinstance(value, list)
    entries = value if bare else value.get("judgments") if isinstance(value, dict) else None
    if not isinstance(entries, list) or (bare and not any(isinstance(e, dict) and "criterion" in e for e in entries)):
        return None
    return Found(tuple(entry for entry in entries if isinstance(entry, dict)), bare=bare)


def _balanced(text: str) -> Iterator[str]:
    """Outermost balanced objects and lists, left to right. Ends at the first that is not balanced: its insides would
    be read as if they were the whole."""
    at = 0
    while True:
        start = min((k for k in (text.find("{", at), text.find("[", at)) if k >= 0), default=-1)
        if start < 0:
            return
        end = _end_of(text, start)
        if end < 0:
            return
        yield text[start:end]
        at = end


def _end_of(text: str, start: int) -> int:
    """One past the bracket that closes the one at `start`; -1 when there is none."""
    open_, in_string, k = [], False, start
    while k < len(text):
        character = text[k]
        if in_string:
            if character == "\\":
                k += 1
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in CLOSES:
            open_.append(CLOSES[character])
        elif character in "}]":
            if open_.pop() != character:
                return -1
            if not open_:
                return k + 1
        k += 1
    return -1


def _repaired(text: str, field: str) -> Found | None:
    if "{" not in text or len(text) > REPAIR_AT_MOST:
        return None
    try:
        found = _shaped(json_repair.loads(text, skip_json_loads=True))
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        return None
    if found is None or found.entries is None:
        return None
    # json-repair lets the last of two equal keys win and may merge entries; then the counts differ
    for key in ("criterion", field):
        written = len(re.findall(rf"""["'“”]?\b{key}\b["'“”]?\s*:""", text))
        if written != sum(key in entry for entry in found.entries):
            return None
    return Found(found.entries, repaired=True, bare=found.bare)


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
        return failed_answers(criteria, "truncated", "truncated")
    if refused or finish_reason == "content_filter":
        return failed_answers(criteria, "refused", "refused")
    field = ANSWER_FIELD[task_type]
    found = find_judgments(raw, field)
    if found.entries is None:
        if found.problem == "unparsable" and "{" not in raw and DECLINES.search(raw.strip()):
            return failed_answers(criteria, "refused", "refused")
        return failed_answers(criteria, found.problem, "invalid")
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


def what_is_wrong(raw: str, answers: Sequence[Answer], task_type: TaskType) -> str:
    """The first of `problems` for people, with how many more there are and the ids that were not asked; "" for none."""
    wrong = problems(answers, task_type)
    if not wrong:
        return ""
    asked = {answer.criterion for answer in answers}
    entries = find_judgments(raw, ANSWER_FIELD[task_type]).entries or ()
    said = dict.fromkeys(f"{code!r:.60}" for one in entries if (code := str(one.get("criterion")).strip()) not in asked)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    other = f"; it answered {', '.join([*said][:3])}, which was not asked" if said else ""
    return f"{wrong[0].partition(';')[0]}{more}{other}"  # what comes after that is for the judge to do


def failed_answers(criteria: Sequence[str], reason: str, status: str = "missing") -> tuple[Answer, ...]:
    """The same for every criterion of a call: `missing` where it never got a reply."""
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

"""What annotation tools share: a rater's answers and texts about one task, read into entries.

Our own exports (`calipers export labels --format …`) are told by the text under `calipers` in a task's data: there
left and right are sides of a known order, texts belong to the criterion they are named after, and answers that failed
are listed. In everything else nothing is taken for granted: places as --map says, sides as --labels-are says.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text
from annotation.tool_answers.entries import FAILED, Entry, Found, Reading

MARK, FORMAT = "calipers", "calipers-labels/1"
RATIONALE = "-rationale"
WHY = ("rationale", "reason", "why", "explanation", "justification", "comment")
BOOKKEEPING = ("item", "run", "pass_no", "first", "category", "len_a", "len_b", MARK)


@dataclass(frozen=True)
class Mark:
    """What our own export wrote beside a task: our names for the tool's, and the answers that failed."""

    criteria: Mapping[str, str]
    raters: Mapping[str, str]
    failed: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Answers:
    """What one rater answered about one task: question -> answer, and texts. `record` is what --map points into.

    `sides`: whether A and B, left and right are known to be places on the screen; None: as --labels-are says. `name`:
    what the tool calls the task.
    """

    where: str
    kind: str
    rater: str
    record: Mapping[str, Any]
    answers: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    mark: Mark | None = None
    sides: bool | None = None
    name: str = ""


def mark_of(data: Any, where: str) -> Mark | None:
    """None where the task is not of our own export. Raises ImportingError where the text was damaged."""
    text = data.get(MARK) if isinstance(data, Mapping) else None
    if not isinstance(text, str) or FORMAT not in text:
        return None
    try:
        held = json.loads(text)
        failed = [{key: as_text(value) or "" for key, value in one.items()} for one in held["failed"]]
        mark = Mark(held["criteria"], held.get("raters", {}), failed)
        if not all(isinstance(name, str) for names in (mark.criteria, mark.raters) for name in names.values()):
            raise TypeError(MARK)
        bad = [one for one in failed if one["status"] not in FAILED or one["kind"] not in ("human", "judge")]
        if bad or not all(one["rater"] and one["criterion"] for one in failed):
            raise KeyError(MARK)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ImportingError(f"{where}: the text under {MARK!r} is damaged; export the labels again") from None
    return mark


def add_answers(found: Found, given: Answers, reading: Reading, places: Mapping[str, Sequence[str]]) -> None:
    """An entry for each answer, with the text that gives its reason; a text that belongs to none is counted."""
    used: set[str] = set()
    for question, answer in given.answers.items():
        why = given.texts.get(question + RATIONALE) if given.mark else None
        named = question + RATIONALE if why is not None else "" if given.mark else _reason(question, given)
        used.add(named)
        found.entries.append(_entry(given, question, answer, given.texts.get(named, ""), places))
    if "reason" not in reading.places:
        found.leave("texts that belong to no answer", len(set(given.texts) - used))


def add_failed(
    found: Found, where: str, record: Mapping[str, Any], mark: Mark | None, places: Mapping[str, Sequence[str]],
    only: str | None = None,
) -> None:  # fmt: skip
    """The answers that our own export lists as failed, each with its status. `only`: those of this person."""
    for one in mark.failed if mark else ():
        if only is not None and (one["kind"], one["rater"]) != ("human", only):
            continue
        given = Answers(where, one["kind"], one["rater"], record, {}, {}, mark)
        raw = (f"raw:{one['answer'][:60]}",) if one.get("answer") else ()
        found.entries.append(
            _entry(given, one["criterion"], "", one.get("rationale", ""), places, status=one["status"], flags=raw)
        )


def _entry(
    given: Answers, question: str, answer: str, why: str, places: Mapping[str, Sequence[str]], **more: Any
) -> Entry:
    mark = given.mark
    criterion = mark.criteria.get(question, question) if mark else question
    record = {**given.record, "name": criterion, "value": answer, "why": why, "rater": given.rater}
    # a task's own `criterion` is that of its only question
    one_question = len(given.answers) == 1 and mark is None
    usual = {**places, "criterion": [*(places["criterion"] if one_question else ()), "name"], "answer": ["value"]}
    usual |= {"reason": ["why"], "judge": ["rater"]}
    sides = given.sides if mark is None else _told(record, places, "first") != ""
    is_bare = mark is not None and not (_told(record, places, "system") or _told(record, places, "system_b"))
    return Entry(
        f"{given.where} {question}", record, usual, kind=given.kind, name=given.name,
        item=_told(record, places, "item"), pass_no=_told(record, places, "pass_no"), sides=sides,
        is_ours=mark is not None, is_bare=is_bare, **more,
    )  # fmt: skip


def _told(record: Mapping[str, Any], places: Mapping[str, Sequence[str]], name: str) -> str:
    """A field that --map does not place, such as `item`: beside the topic, wherever a tool keeps that."""
    for place in places["topic"]:
        holder = record.get(place.rpartition(".")[0])
        if isinstance(holder, Mapping) and (text := as_text(holder.get(name))):
            return text
    return ""


def _reason(question: str, given: Answers) -> str:
    """The text that says why: named after the question, or the only text beside an only answer."""
    for word in WHY:
        for sign in "-_. :":
            for name in (f"{question}{sign}{word}", f"{word}{sign}{question}"):
                if name in given.texts:
                    return name
    return next(iter(given.texts)) if len(given.texts) == 1 and len(given.answers) == 1 else ""


def flat_answers(
    values: Mapping[str, Any], left_out: Iterable[str], reading: Reading
) -> tuple[dict[str, str], dict[str, str]]:
    """Answers and texts of a row that mixes them with its data: what is one line of at most 200 characters may answer.

    With --map answer=COLUMN that column alone is an answer. Columns that name no criterion of the study are reported
    as such by the import.
    """
    aside = {*left_out, *reading.places.values()}
    texts = {name: text for name, value in values.items() if (text := as_text(value)) and name not in aside}
    asked = reading.places.get("answer")
    if asked:
        return {asked: as_text(values.get(asked)) or ""}, texts
    reasons = {name for name in texts if any(word in name.lower() for word in WHY)}
    answers = {
        name: text for name, text in texts.items() if name not in reasons and len(text) <= 200 and "\n" not in text
    }
    return answers, {name: texts[name] for name in texts if name in reasons}

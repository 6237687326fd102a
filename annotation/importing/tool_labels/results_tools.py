"""What the layouts of annotation tools share: a rater's answers and texts about one task, read into rows.

Our own exports (`calipers export labels --format …`) are told by the text under `calipers` in a task's data: there
left and right are sides of a known order, texts belong to the criterion they are named after, and answers that failed
are listed. In everything else nothing is taken for granted: places as --map says, sides as --labels-are says.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.importing.labels.results import FAILED, ResultOptions, ResultRow, whole
from annotation.importing.labels.results_labels import numbered_passes
from annotation.importing.tool_labels.results_fields import log_row
from annotation.people.keys import keyed

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

    `sides`: whether A and B, left and right are known to be places on the screen; None: as --labels-are says.
    """

    where: str
    kind: str
    rater: str
    record: Mapping[str, Any]
    answers: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    mark: Mark | None = None
    sides: bool | None = None


@dataclass
class Gathered:
    """Rows as they are found, problems, and what was left aside, counted."""

    rows: list[ResultRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    aside: dict[str, int] = field(default_factory=dict)

    def leave(self, why: str, count: int = 1) -> None:
        """Count what is not read; 0 is not mentioned."""
        if count:
            self.aside[why] = self.aside.get(why, 0) + count

    def notes(self) -> tuple[str, ...]:
        """One sentence for each kind of thing left aside."""
        return tuple(f"{why} {count}" for why, count in self.aside.items())

    def numbered(self) -> tuple[ResultRow, ...]:
        """The rows, each with a pass: a run shown in both orders is two."""
        return tuple(numbered_passes(self.rows))


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


def add_answers(found: Gathered, given: Answers, options: ResultOptions, places: Mapping[str, Sequence[str]]) -> None:
    """A row for each answer, with the text that gives its reason; a text that belongs to none is counted."""
    used: set[str] = set()
    for question, answer in given.answers.items():
        why = given.texts.get(question + RATIONALE) if given.mark else None
        named = question + RATIONALE if why is not None else "" if given.mark else _reason(question, given)
        used.add(named)
        with collecting(found.problems):
            found.rows.append(_row(given, question, answer, given.texts.get(named, ""), "", options, places))
    if "reason" not in options.columns:
        found.leave("texts that belong to no answer", len(set(given.texts) - used))


def add_failed(
    found: Gathered, where: str, record: Mapping[str, Any], mark: Mark | None, options: ResultOptions,
    places: Mapping[str, Sequence[str]], only: str | None = None,
) -> None:  # fmt: skip
    """The answers that our own export lists as failed, each with its status. `only`: those of this person."""
    for one in mark.failed if mark else ():
        if only is not None and (one["kind"], one["rater"]) != ("human", only):
            continue
        given = Answers(where, one["kind"], one["rater"], record, {}, {}, mark)
        with collecting(found.problems):
            row = _row(given, one["criterion"], "", one.get("rationale", ""), one["status"], options, places)
            raw = (f"raw:{one['answer'][:60]}",) if one.get("answer") else ()
            found.rows.append(replace(row, flags=raw))


def _row(
    given: Answers, question: str, answer: str, why: str, status: str, options: ResultOptions,
    places: Mapping[str, Sequence[str]],
) -> ResultRow:  # fmt: skip
    where = f"{given.where} {question}"
    is_person = given.kind == "human"
    if not (given.rater or options.judge or "judge" in options.columns):
        raise ImportingError(f"{where}: does not say who answered; say where it is: --map judge=NAME")
    mark = given.mark
    criterion = mark.criteria.get(question, question) if mark else question
    record = {**given.record, "name": criterion, "value": answer, "why": why, "rater": given.rater}
    # a task's own `criterion` is that of its only question
    one_question = len(given.answers) == 1 and mark is None
    usual = {**places, "criterion": [*(places["criterion"] if one_question else ()), "name"], "answer": ["value"]}
    usual |= {"reason": ["why"], "judge": ["rater"]}
    sides = given.sides if mark is None else _told(record, places, "first") != ""
    frame = options.labels_are if sides is None else "sides" if sides else "systems"
    chosen = replace(options, labels_are=frame, judge="" if is_person else options.judge)
    is_bare = mark is not None and not (_told(record, places, "system") or _told(record, places, "system_b"))
    try:
        row = log_row(where, record, replace(chosen, system=MARK) if is_bare else chosen, usual, status=status)
    except ImportingError as error:
        holder = places["topic"][0].rpartition(".")[0]
        raise ImportingError(str(error).replace("metadata.NAME", f"{holder}.NAME")) from None
    if is_bare:  # a probe without a report
        row = replace(row, systems=("",), sha256={})
    pass_no = _told(record, places, "pass_no")
    return replace(
        row, kind=given.kind, item=_told(record, places, "item"),
        pass_no=whole(pass_no, where, "pass_no") if pass_no else None,
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


def person(name: str, key: str) -> str:
    """What a tool's account is called here: an e-mail address never enters a study, only its HMAC with the database's
    `key` does, against which nobody else can try addresses."""
    return f"user-{keyed(key, name.strip().lower())[:12]}" if "@" in name else name


def flat_answers(
    values: Mapping[str, Any], left_out: Iterable[str], options: ResultOptions
) -> tuple[dict[str, str], dict[str, str]]:
    """Answers and texts of a row that mixes them with its data: what is one line of at most 200 characters may answer.

    With --map answer=COLUMN that column alone is an answer. Columns that name no criterion of the study are reported
    as such by the import.
    """
    aside = {*left_out, *options.columns.values()}
    texts = {name: text for name, value in values.items() if (text := as_text(value)) and name not in aside}
    asked = options.columns.get("answer")
    if asked:
        return {asked: as_text(values.get(asked)) or ""}, texts
    reasons = {name for name in texts if any(word in name.lower() for word in WHY)}
    answers = {
        name: text for name, text in texts.items() if name not in reasons and len(text) <= 200 and "\n" not in text
    }
    return answers, {name: texts[name] for name in texts if name in reasons}

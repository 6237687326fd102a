"""Verdicts as annotation tools hold them: a task for each item and order shown, and what each rater said of it."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import Any

import pandas as pd

MARK = "calipers"  # where a task keeps, as JSON text, what its tool has no place for; our import reads it back
FORMAT = "calipers-labels/1"
RATIONALE = "-rationale"  # ends the name of the question that holds a criterion's rationale
NOT_GIVEN = "The text is not part of this export."
PLACES = ("item", "topic", "category", "system", "system_a", "system_b", "first", "run", "pass_no", "len_a", "len_b")
TAKEN = (
    *PLACES,
    "sha256_a",
    "sha256_b",
    "left",
    "right",
    "report",
    MARK,
)  # a task's data: no question may be so called
WHOLE = ("run", "pass_no", "len_a", "len_b")
GIVEN_OUT = re.compile(r"(annotator|adjudicator|evaluator|admin)-\d+")
NOT_NAMES = ("true", "false", "nan", "inf", "infinity")  # Label Studio reads these, and all digits, as values
SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
Criteria = Mapping[str, Mapping[str, Any]]  # id -> label, text and, where known, every answer that is allowed
Rater = tuple[str, str]  # kind (human or judge) and name


Pieces = Callable[[], Iterable[str]]  # the text of a file, made while it is written


@dataclass(frozen=True)
class ToolFiles:
    """Files by name, each in pieces, for all of them take more memory than the labels; `NOT-HELD.md` is one of them.

    `not_held`: in plain sentences what they cannot hold.
    """

    pieces: Mapping[str, Pieces]
    not_held: tuple[str, ...]

    @property
    def files(self) -> dict[str, str]:
        """Every file whole."""
        return {name: "".join(pieces()) for name, pieces in self.pieces.items()}


@dataclass(frozen=True, slots=True)
class Said:
    """One answer. `answer` is left or right where the order is known, else the verdict; empty where it failed."""

    rater: Rater
    criterion: str
    answer: str
    status: str
    rationale: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Task:
    """An item as some raters saw it. `place` has those of `PLACES` that are known; `first` is A, B or left out."""

    id: str
    place: Mapping[str, str | int]
    texts: Mapping[str, str]
    said: list[Said] = field(default_factory=list)

    @property
    def is_pair(self) -> bool:
        return "system_b" in self.place

    def by_rater(self, kind: str) -> dict[str, list[Said]]:
        """The usable answers of each rater of that kind."""
        found: dict[str, list[Said]] = {}
        for label in self.said:
            if label.rater[0] == kind and label.status == "ok":
                found.setdefault(label.rater[1], []).append(label)
        return found

    def mark(self, names: Mapping[str, str], raters: Mapping[str, str] | None = None) -> str:
        """What no tool has a place for: answers that failed, and our names for its own (`names`: criterion -> its)."""
        failed = [
            {
                "kind": label.rater[0], "rater": label.rater[1], "criterion": label.criterion, "status": label.status,
                "answer": label.answer, "rationale": label.rationale,
            }
            for label in self.said
            if label.status != "ok"
        ]  # fmt: skip
        held: dict[str, Any] = {"format": FORMAT, "criteria": {name: criterion for criterion, name in names.items()}}
        return json.dumps(held | ({"raters": dict(raters)} if raters else {}) | {"failed": failed}, ensure_ascii=False)


def tasks_of(verdicts: pd.DataFrame) -> list[Task]:
    """Every item in every order, run and pass that it was seen in. `verdicts`: the columns of labels.csv.

    Columns `topic`, `text_a`, `text_b`, `sha256_a` and `sha256_b` are taken where there are some.
    """
    tasks: dict[str, Task] = {}
    raters: dict[Rater, Rater] = {}
    columns = [str(name) for name in verdicts.columns]
    for values in zip(*(verdicts[name] for name in verdicts.columns), strict=True):
        told = dict(zip(columns, map(_text, values), strict=True))
        shown = told.get("presentation", "")
        run = told.get("run") or "1"
        key = f"{told['item_id']}.{shown or 'order-unknown'}.{run}.{told.get('pass_no') or run}"
        if key not in tasks:
            tasks[key] = Task(key, _place(told, shown, run), _texts(told, shown))
        status = told.get("status") or ("ok" if told["label"] else "missing")
        sides = {"AB": {"A": "left", "B": "right"}, "BA": {"B": "left", "A": "right"}}.get(shown, {})
        rater = told["rater_kind"], told["rater_id"]
        tasks[key].said.append(
            Said(
                raters.setdefault(rater, rater), intern(told["criterion"]),
                intern(sides.get(told["label"], told["label"])), intern(status), told.get("rationale", ""),
                float(told["seconds"]) if told.get("seconds") else None,
            )
        )  # fmt: skip
    return list(tasks.values())


def _place(told: Mapping[str, str], shown: str, run: str) -> dict[str, str | int]:
    found = {name: told.get(name, "") for name in (*PLACES, "sha256_a", "sha256_b")} | {
        "item": told["item_id"], "topic": told.get("topic") or told["cluster_id"], "first": shown[:1], "run": run,
    }  # fmt: skip
    if not found["system_b"]:
        found |= {"system": found["system_a"], "system_a": ""}  # one report
    return {name: int(float(value)) if name in WHOLE else value for name, value in found.items() if value}


def _texts(told: Mapping[str, str], shown: str) -> dict[str, str]:
    """What stood left and right, or the one report: its text as given, else its hash, else a notice."""
    texts = {
        side: told.get(f"text_{side}") or (f"sha256 {sha256}" if (sha256 := told.get(f"sha256_{side}")) else NOT_GIVEN)
        for side in "ab"
    }
    if not told.get("system_b"):
        return {"report": texts["a"]}
    return {"left": texts["b" if shown == "BA" else "a"], "right": texts["a" if shown == "BA" else "b"]}


def _text(value: Any) -> str:
    """Empty where nothing was given; a whole number without a fraction."""
    if value is None or (isinstance(value, float) and value != value) or value is pd.NA:
        return ""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def criteria_asked(tasks: Iterable[Task], criteria: Criteria) -> list[str]:
    """The ids given, in their order, then the others that were answered."""
    answered = (label.criterion for task in tasks for label in task.said)
    return list(dict.fromkeys([*criteria, *answered]))


def answers_of(criterion: str, tasks: Iterable[Task], criteria: Criteria) -> list[str]:
    """Every answer that is allowed or was given: left and right first where two reports were compared."""
    told = criteria.get(criterion, {}).get("answers", ())
    given: dict[str, None] = dict.fromkeys(str(answer) for answer in told)
    for task in tasks:
        if task.is_pair and "first" in task.place:
            given = {"left": None, "right": None} | given
        elif task.is_pair:
            given = given | {"A": None, "B": None}
        given |= {label.answer: None for label in task.said if label.criterion == criterion and label.status == "ok"}
    return list(given)


def words_of(criterion: str, criteria: Criteria) -> tuple[str, str]:
    """Label and text of a criterion; its id where they are not known."""
    told = criteria.get(criterion, {})
    return str(told.get("label") or criterion), str(told.get("text") or told.get("label") or criterion)


def tool_names(
    ids: Iterable[str], taken: Iterable[str] = (), safe: re.Pattern[str] = SAFE, fold: Callable[[str], str] = str
) -> dict[str, str]:
    """id -> a name made of harmless characters, the id itself where it is one; no two, nor their rationales, meet."""
    names: dict[str, str] = {}
    used = {name.casefold() for name in taken}
    for one in ids:
        stem = safe.sub("-", fold(one)).strip("-.")[:80]
        if not stem[:1].isalpha() or stem.lower() in NOT_NAMES:
            stem = f"c-{stem}".strip("-")
        name, number = stem, 1
        while name.endswith(RATIONALE) or {name.casefold(), (name + RATIONALE).casefold()} & used:
            number += 1
            name = f"{stem}-{number}"
        used |= {name.casefold(), (name + RATIONALE).casefold()}
        names[one] = name
    return names


def number_of(answer: str) -> int | float | None:
    """The number that JSON would spell exactly so; None for all else (`left`, `007`, `1e400`)."""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", answer):
        return None
    number: int | float = json.loads(answer)
    return number if json.dumps(number) == answer else None


def never_held(tool: str, verdicts: pd.DataFrame, tasks: Sequence[Task], names: Mapping[str, str]) -> list[str]:
    """What none of the tools has a place for, counted; then what is only in our own key."""
    lines = []
    for column, words in (
        ("evidence", "The quoted passages and their offsets of {n}: {tool} has no place for them; left out."),
        ("cost_usd", "The cost of {n}: {tool} has no place for it; left out."),
    ):
        if column in verdicts and (count := sum(bool(_text(value)) for value in verdicts[column])):
            lines.append(words.format(n=labels(count), tool=tool))
    if "topic" in verdicts and (count := sum(verdicts["cluster_id"] != verdicts["topic"])):
        lines.append(f"The cluster of {labels(count)}, which is not the topic: left out; a study makes it again.")
    elif "topic" not in verdicts and (count := sum(verdicts["cluster_id"] == verdicts["item_id"])):
        lines.append(f"The topic of {labels(count)}: each item is its own cluster, and no column names the topic.")
    failed = Counter(label.status for task in tasks for label in task.said if label.status != "ok")
    if failed:
        kinds = ", ".join(f"{status} {count}" for status, count in sorted(failed.items()))
        lines.append(
            f"{labels(failed.total())} without a usable answer ({kinds}): no answers to {tool}, so they stand as text "
            f"under the key {MARK!r} of their task, with their rationale."
        )
    renamed = [criterion for criterion, name in names.items() if name != criterion]
    if renamed:
        lines.append(f"Ids of criteria, as names in {tool}: {len(renamed)} stand only under the key {MARK!r}.")
    if not {"text_a", "sha256_a"} & set(verdicts.columns):
        lines.append("The texts of the reports and their hashes: not in the labels table.")
    given_out = {label.rater[1] for task in tasks for label in task.said if GIVEN_OUT.fullmatch(label.rater[1])}
    if given_out:
        lines.append(
            f"Who {sorted(given_out)[0]} is in another study: imported there, {len(given_out)} pseudonyms get the word "
            "'imported' in front, for they may be other people's there."
        )
    return lines


def labels(count: int) -> str:
    """`1 label`, `1,200 labels`."""
    return f"{count:,} label{'' if count == 1 else 's'}"


def listed(content: Iterable[Any]) -> Iterator[str]:
    """A JSON array, an entry a line."""
    before = "[\n"
    for one in content:
        yield before + json.dumps(one, ensure_ascii=False)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[\n\n]\n"


def written(tool: str, files: Mapping[str, str | Pieces], not_held: Sequence[str]) -> ToolFiles:
    """The files with the list of what they do not hold beside them."""
    lines = [f"- {line}" for line in not_held] or ["Nothing: these files hold every column of the labels."]
    text = "\n".join([f"# What these files for {tool} do not hold", "", *lines]) + "\n"
    pieces = {name: _whole(told) if isinstance(told, str) else told for name, told in files.items()}
    return ToolFiles({**pieces, "NOT-HELD.md": _whole(text)}, tuple(not_held))


def _whole(text: str) -> Pieces:
    return lambda: (text,)

"""Layout `judgebench`: pairs of JudgeBench and the judgments that its `run_judge.py` writes (Tan et al. 2025).

`label` is the answer key, A>B or B>A. An output repeats the pair with `judgments`: of the pair as it is, and of the
pair turned, where A is the pair's B; one that failed is null.
"""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, records
from plain.hashes import text_sha256

KEY = "answer key"
WON = {"A>B": "A", "B>A": "B", "A=B": "tie"}
ORDERS = (("A", WON), ("B", {"A>B": "B", "B>A": "A", "A=B": "tie"}))
USUAL = flat(
    topic="topic", system_a="one", system_b="other", criterion="part", answer="given", judge="who", first="shown",
    category="source",
)  # fmt: skip


def read_judgebench(path: Path, reading: Reading) -> Found:
    """The topic is the question; a judge is called by `judge_name` and the model that it asked. Both responses are of
    one model, so they stand for the systems."""
    found = Found()
    rows = [*records(path, reading, found)]
    models = {_asker(row): model for row in reversed(rows) if (model := _model(row))}
    keys: dict[str, str] = {}
    for row in rows:
        with collecting(found.problems):
            if not {"pair_id", "question", "response_A", "label"} <= {*row.values}:
                raise ImportingError(f"{row.where}: no pair_id, question, responses and label; give JudgeBench's files")
            _add(found, row, keys, _model(row) or models.get(_asker(row), "") or _model_of_file(row))
    found.leave(f"answers of the key, which stands as the person {KEY!r}", len(keys))
    return found


def _add(found: Found, row: Row, keys: dict[str, str], model: str) -> None:
    name, topic = as_text(row.values["pair_id"]) or "", text_sha256(as_text(row.values["question"]) or "")[:12]
    key, judgments = as_text(row.values["label"]) or "", _judgments(row)
    if len(judgments) > len(ORDERS):
        raise ImportingError(
            f"{row.where}: {len(judgments)} judgments of pair {name}; keep one of each order, two at most"
        )
    if keys.get(name, key) != key:
        raise ImportingError(
            f"{row.where}: the key of pair {name} is {key}, and {keys[name]} before; keep the right one"
        )
    held = {**row.values, "topic": topic, "part": "correctness", "one": "response_A", "other": "response_B"}
    if name not in keys:
        keys[name] = key
        found.entries.append(_entry(row.where, held, name, KEY, WON.get(key, ""), ""))
    judge = f"{as_text(row.values.get('judge_name')) or 'judge'} {model}".strip()
    for judgment, (first, won) in zip(judgments, ORDERS, strict=False):
        told = judgment if isinstance(judgment, dict) else {}
        verdict = won.get(as_text(told.get("decision")) or "", "")
        found.entries.append(_entry(row.where, held, name, judge, verdict, first))


def _judgments(row: Row) -> list[Any]:
    held = row.values.get("judgments")
    return held if isinstance(held, list) else []


def _asker(row: Row) -> tuple[str, str | None]:
    """The file and the judge's name: one of outputs/ holds what one judge asked one model."""
    return row.where.rpartition(":")[0], as_text(row.values.get("judge_name"))


def _model(row: Row) -> str:
    """The model that answered, "" where every judgment failed: a failed one is null."""
    asked = [one.get("judgment") for one in _judgments(row) if isinstance(one, dict)]
    named = (as_text(one.get("judge_model")) for one in asked if isinstance(one, dict))
    return next(filter(None, named), "")


def _model_of_file(row: Row) -> str:
    """The model by the file's name, `judge_name=…,judge_model=….jsonl`, where no judgment in it names one."""
    return row.where.partition("judge_model=")[2].partition(".jsonl")[0]


def _entry(where: str, held: dict[str, Any], name: str, who: str, verdict: str, first: str) -> Entry:
    record, kind = {**held, "given": verdict, "who": who, "shown": first}, "human" if who == KEY else "judge"
    return Entry(where, record, USUAL, status="" if verdict else "invalid", kind=kind, name=name, sides=False)

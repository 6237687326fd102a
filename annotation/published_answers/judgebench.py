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
    seen: set[str] = set()
    for row in records(path, reading, found):
        with collecting(found.problems):
            if not {"pair_id", "question", "response_A", "label"} <= {*row.values}:
                raise ImportingError(f"{row.where}: no pair_id, question, responses and label; give JudgeBench's files")
            _add(found, row, seen)
    return found


def _add(found: Found, row: Row, seen: set[str]) -> None:
    name, topic = as_text(row.values["pair_id"]) or "", text_sha256(as_text(row.values["question"]) or "")[:12]
    held = {**row.values, "topic": topic, "part": "correctness", "one": "response_A", "other": "response_B"}
    if name not in seen:
        seen.add(name)
        found.entries.append(_entry(row.where, held, name, KEY, WON.get(as_text(row.values["label"]) or "", ""), ""))
    for judgment, (first, won) in zip(row.values.get("judgments") or (), ORDERS, strict=False):
        told = judgment if isinstance(judgment, dict) else {}
        verdict = won.get(as_text(told.get("decision")) or "", "")
        found.entries.append(_entry(row.where, held, name, _judge(row), verdict, first))


def _judge(row: Row) -> str:
    """`arena_hard gpt-4o-mini`; a failed judgment names no model, so another of the pair does, or the file's name."""
    named = as_text(row.values.get("judge_name")) or "judge"
    _, sign, in_file = row.where.partition("judge_model=")
    asked = [one.get("judgment") for one in row.values["judgments"] if isinstance(one, dict)]
    models = [as_text(one.get("judge_model")) for one in asked if isinstance(one, dict)]
    model = next(filter(None, models), "") or (in_file.partition(".jsonl")[0] if sign else "")
    return f"{named} {model}".strip()


def _entry(where: str, held: dict[str, Any], name: str, who: str, verdict: str, first: str) -> Entry:
    record, kind = {**held, "given": verdict, "who": who, "shown": first}, "human" if who == KEY else "judge"
    return Entry(where, record, USUAL, status="" if verdict else "invalid", kind=kind, name=name, sides=False)

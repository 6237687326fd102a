"""Layout `prodigy`: annotations as Prodigy's `db-out` writes them, JSON Lines (prodi.gy, version 1.18).

Read are answers to one question: choices with one accepted option, and tasks that are accepted or rejected.
"""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, is_model, metadata_places, one_of, records

PLACES = metadata_places("meta", "task")
IGNORED = "ignore"


def read_prodigy(path: Path, reading: Reading) -> Found:
    """The answer is the accepted option, or accept and reject; the item the task's input, the rater its annotator.

    The criterion is the task's label where it has one. Ignored tasks are missing answers.
    """
    found = Found()
    for row in records(path, reading, found):
        with collecting(found.problems):
            found.entries.append(_entry(row.where, row.values, reading))
    return found


def _entry(where: str, record: dict[str, Any], reading: Reading) -> Entry:
    answer = as_text(record.get("answer"))
    if not answer or "_input_hash" not in record:
        raise ImportingError(f"{where}: no 'answer' and '_input_hash'; give what prodigy db-out wrote")
    accepted = record.get("accept")
    if isinstance(accepted, list) and len(accepted) > 1:
        raise ImportingError(f"{where}: {len(accepted)} accepted options; only questions with one answer can be read")
    chosen = isinstance(record.get("options"), list)
    value = (as_text(accepted[0]) if isinstance(accepted, list) and accepted else "") if chosen else answer
    who = as_text(one_of(record, "_annotator_id", "_session_id")) or "annotator"
    held = {**record, "task": record, "given": value, "rater": reading.pseudonym(who)}
    usual = PLACES | flat(criterion=("criterion", "label"), answer="given", reason=("reason", "comment"), judge="rater")
    missing = answer == IGNORED or not value or (chosen and answer != "accept")
    return Entry(
        where, held, usual, status="missing" if missing else "", kind="judge" if is_model(who) else "human",
        name=as_text(record.get("_input_hash")) or "",
    )  # fmt: skip

"""Layout `llmbar`: LLMBar's `dataset.json` and the `result.json` of its evaluators (Zeng et al. 2024).

`label` is the authors' agreed answer, 1 or 2. A result file repeats the data with `results`: `swap = False` and
`swap = True`, each with the `winner` as 1 or 2 of the outputs as the data has them.
"""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, records
from plain.hashes import text_sha256

AUTHORS = "authors"
WON = {"1": "A", "2": "B", "tie": "tie"}
ORDERS = (("swap = False", "A"), ("swap = True", "B"))
USUAL = flat(
    topic="topic", system_a="one", system_b="other", criterion="part", answer="given", judge="who", first="shown",
    category="part_of",
)  # fmt: skip


def read_llmbar(path: Path, reading: Reading) -> Found:
    """The topic is the input; a judge is named by its folders, evaluators/MODEL/PROMPT. Outputs 1 and 2 stand for
    the systems, which LLMBar does not name. Repeats of one order are runs."""
    found = Found()
    seen: set[str] = set()
    for row in records(path, reading, found):
        with collecting(found.problems):
            if not {"input", "output_1", "output_2", "label"} <= {*row.values}:
                raise ImportingError(f"{row.where}: no input, outputs and label; give dataset.json or result.json")
            _add(found, row, path, seen)
    return found


def _add(found: Found, row: Row, path: Path, seen: set[str]) -> None:
    file = row.where.rpartition(":")[0].partition(": record")[0]
    folders = (path if path.is_file() else path / file).resolve().parts[:-1]
    at = folders.index("evaluators") if "evaluators" in folders else len(folders)
    subset, judge = folders[at - 1] if folders else "", " ".join(folders[at + 1 :])
    texts = [as_text(row.values[name]) or "" for name in ("input", "output_1", "output_2")]
    name = text_sha256("\n".join(texts))[:12]
    held = {
        **row.values, "topic": text_sha256(texts[0])[:12], "part": "overall", "part_of": subset, "one": "output_1",
        "other": "output_2",
    }  # fmt: skip
    if name not in seen:
        seen.add(name)
        found.entries.append(_entry(row.where, held, name, AUTHORS, "human", row.values["label"], ""))
    for run, result in enumerate(row.values.get("results") or (), start=1):
        for order, first in ORDERS:
            told = result.get(order) if isinstance(result, dict) else None
            if isinstance(told, dict):
                where = f"{row.where} {order}"
                found.entries.append(
                    _entry(where, held, name, judge or "evaluator", "judge", told.get("winner"), first, run)
                )


def _entry(
    where: str, held: dict[str, Any], name: str, who: str, kind: str, winner: Any, first: str, run: int = 1
) -> Entry:
    verdict = WON.get((as_text(winner) or "").lower(), "")
    record = {**held, "given": verdict, "who": who, "shown": first, "run": str(run)}
    return Entry(
        where, record, USUAL | {"run": ["run"]}, status="" if verdict else "invalid", kind=kind, name=name, sides=False
    )

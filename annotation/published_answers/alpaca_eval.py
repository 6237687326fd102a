"""Layout `alpaca_eval`: annotations of AlpacaEval, and the cross-annotations of people (Dubois et al. 2023).

Format of alpaca_eval 0.6: `annotations.json`, a list of pairs with `preference`: 1 the first output, 2 the second, 1.5
or 0 a tie, a fraction between 1 and 2 the probability that the second wins, plus 1.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, records
from plain.hashes import text_sha256

TIES = (0.0, 1.5)
BETWEEN = "preferences between 1 and 2, read as the likelier output"


def read_alpaca_eval(path: Path, reading: Reading) -> Found:
    """The topic is the instruction, the judge the annotator; people are told by `annotator_index` alone."""
    found = Found()
    for row in records(path, reading, found):
        with collecting(found.problems):
            found.entries.append(_entry(found, row.where, row.values))
    systems = {entry.name: (entry.told("system_a"), entry.told("system_b")) for entry in found.entries if _named(entry)}
    found.entries = [_with_systems(entry, systems) for entry in found.entries]
    return found


def _named(entry: Entry) -> bool:
    return entry.told("system_b") != ""


def _with_systems(entry: Entry, systems: Mapping[str, tuple[str, str]]) -> Entry:
    """People's files name no systems: they are those of the same outputs in an annotator's file."""
    if _named(entry) or entry.name not in systems:
        return entry
    first, second = systems[entry.name]
    return replace(entry, record={**entry.record, "generator_1": first, "generator_2": second})


def _entry(found: Found, where: str, record: dict[str, Any]) -> Entry:
    if not {"instruction", "output_1", "output_2", "preference"} <= {*record}:
        raise ImportingError(f"{where}: no instruction, outputs and preference; give annotations of AlpacaEval")
    answer = _winner(found, as_text(record["preference"]) or "", where)
    judge, index = as_text(record.get("annotator")), as_text(record.get("annotator_index"))
    texts = [as_text(record.get(name)) or "" for name in ("instruction", "input", "output_1", "output_2")]
    topic = text_sha256("\n".join(texts[:2]))[:12]
    held = {
        **record, "given": answer, "criterion": "overall", "topic": topic,
        "who": judge or f"annotator-{index or '1'}",
    }  # fmt: skip
    usual = flat(
        topic="topic", system_a="generator_1", system_b="generator_2", criterion="criterion", answer="given",
        judge="who", category=("dataset", "datasplit"), cost_usd="price_per_example", seconds="time_per_example",
        reason="raw_completion",
    )  # fmt: skip
    return Entry(
        where, held, usual, status="" if answer else "invalid", kind="judge" if judge else "human",
        name=text_sha256("\n".join(texts))[:12], sides=False,
    )  # fmt: skip


def _winner(found: Found, preference: str, where: str) -> str:
    try:
        number = float(preference or "nan")
    except ValueError:
        raise ImportingError(f"{where}: preference is {preference!r:.40}, no number from 1 to 2; correct it") from None
    if number != number:
        return ""
    if number in TIES:
        return "tie"
    found.leave(BETWEEN, int(number not in (1.0, 2.0)))
    return "A" if number < 1.5 else "B"

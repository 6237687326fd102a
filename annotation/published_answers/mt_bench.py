"""Layout `mt_bench`: judgments of MT-Bench as FastChat and its data set ship them (Zheng et al. 2023).

Read are `model_judgment/MODEL_pair.jsonl` (two games a pair, the second with the answers exchanged),
`MODEL_single.jsonl` (a score an answer), and the votes of people and GPT-4 of lmsys/mt_bench_human_judgments (Parquet,
JSON or JSON Lines), where model_a is the one that people saw first.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, is_model, records

WON = {"model_1": "A", "model_a": "A", "model_2": "B", "model_b": "B"}
DISAGREEING = "tie (inconsistent)"  # the two games named different winners
UNSCORED = "-1"
OTHER = "winners that are neither model_a, model_b nor a tie"
PAIR = flat(topic="question_id", criterion="part", judge="who", answer="given", first="shown")
SINGLE = flat(topic="question_id", system="model", criterion="part", judge="who", answer="score", reason="judgment")
FAILED = ("error", "")  # what their parser writes where it found no winner
LISTED = re.compile(r"\[\s*[\"'](.+?)[\"']")  # a list as a CSV made of the data set has it: ['gpt-4' 'pair-v2']


def read_mt_bench(path: Path, reading: Reading) -> Found:
    """The topic is the question, the criterion the turn; an item is a question's turn with two models, or one."""
    found = Found()
    for row in records(path, reading, found):
        more = [name for name in row.values if name.endswith("_winner") and "winner" in row.values]
        if more:
            raise ImportingError(f"{path}: {', '.join(more)} beside winner: give --layout table, which reads them too")
        with collecting(found.problems):
            found.entries += _entries(found, row.where, row.values)
    if (others := found.aside.get(OTHER, 0)) * 10 > len(found.entries):
        raise ImportingError(f"{path}: {others} {OTHER}: give --layout table, which reads its columns")
    return found


def _entries(found: Found, where: str, record: dict[str, Any]) -> Iterator[Entry]:
    if "question_id" not in record or not isinstance(record.get("judge"), str | list):
        raise ImportingError(f"{where}: no question_id and judge; give judgments of MT-Bench")
    judge = record["judge"]
    if isinstance(judge, str) and (listed := LISTED.match(judge)):
        judge = [listed[1]]
    who = as_text(judge[0] if isinstance(judge, list) else judge) or ""  # beside it stands the prompt's name
    held = {**record, "who": who, "part": f"turn{as_text(record.get('turn')) or '1'}"}
    kind = "judge" if isinstance(judge, list) or is_model(who) else "human"
    if "g1_winner" in record:
        for game, first in (("g1", "A"), ("g2", "B")):
            usual = PAIR | flat(system_a="model_1", system_b="model_2", reason=f"{game}_judgment")
            yield _pair(f"{where} {game}", held | {"shown": first}, usual, record[f"{game}_winner"], kind)
    elif "winner" in record:
        found.leave("ties of two games that disagree", int(record["winner"] == DISAGREEING))
        is_known = bool(_verdict(record["winner"])) or (as_text(record["winner"]) or "") in FAILED
        found.leave(OTHER, int(not is_known))
        shown = {"shown": "A" if kind == "human" else ""}  # a judge's winner is that of both orders together
        yield _pair(where, held | shown, PAIR | flat(system_a="model_a", system_b="model_b"), record["winner"], kind)
    else:
        failed = "invalid" if as_text(record.get("score")) in (UNSCORED, "", None) else ""
        yield Entry(where, held, SINGLE, status=failed, kind=kind)


def _pair(where: str, held: dict[str, Any], usual: dict[str, list[str]], winner: Any, kind: str) -> Entry:
    verdict = _verdict(winner)
    return Entry(where, held | {"given": verdict}, usual, status="" if verdict else "invalid", kind=kind, sides=False)


def _verdict(winner: Any) -> str:
    text = as_text(winner) or ""  # arenas know `tie (bothbad)` too
    return "tie" if text.startswith("tie") else WON.get(text, "")

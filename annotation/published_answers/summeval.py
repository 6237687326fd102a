"""Layout `summeval`: SummEval's annotations (Fabbri et al. 2021), and results of G-Eval on them (Liu et al. 2023).

`model_annotations.aligned.jsonl`: a summary a line, with `expert_annotations` and `turker_annotations`, each a list of
scores by criterion. Results of G-Eval, `gpt4_coh_detailed.json`, hold `all_responses` by `doc_id` and `system_id`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, records

PEOPLE = {"expert_annotations": "expert", "turker_annotations": "crowd"}
NAME = re.compile(r"(?P<judge>.+?)_(?P<criterion>coh|con|flu|rel)(?:_detailed)?\.json")
CRITERIA = {"coh": "coherence", "con": "consistency", "flu": "fluency", "rel": "relevance"}
NUMBER = re.compile(r"\d+(?:\.\d+)?")  # their parser takes the number that a response begins with
USUAL = flat(topic="topic", system="by", criterion="metric", answer="given", judge="who", run="run")


def read_summeval(path: Path, reading: Reading) -> Found:
    """The topic is the article, the item a system's summary of it. Each response of G-Eval is a run; one that begins
    with no number is invalid."""
    found = Found()
    for row in records(path, reading, found):
        with collecting(found.problems):
            if PEOPLE.keys() & row.values.keys():
                found.entries += _people(row)
            elif "all_responses" in row.values:
                found.entries += _responses(row)
            else:
                raise ImportingError(f"{row.where}: neither expert_annotations nor all_responses; restore the file")
    return found


def _people(row: Row) -> Iterator[Entry]:
    topic, by = as_text(row.values.get("id")) or "", as_text(row.values.get("model_id")) or ""
    for part, kind in PEOPLE.items():
        for place, scores in enumerate(row.values.get(part) or (), start=1):
            for metric, value in (scores if isinstance(scores, dict) else {}).items():
                yield _entry(row.where, topic, by, metric, f"{kind}-{place}", "human", as_text(value) or "")


def _responses(row: Row) -> Iterator[Entry]:
    file = row.where.rpartition(":")[0].rpartition("/")[2]
    told = NAME.fullmatch(file)
    if told is None:
        raise ImportingError(f"{row.where}: the file's name says no judge and criterion (gpt4_coh_detailed.json)")
    topic, by = as_text(row.values.get("doc_id")) or "", as_text(row.values.get("system_id")) or ""
    for run, response in enumerate(row.values["all_responses"], start=1):
        begins = NUMBER.match((as_text(response) or "").strip())
        metric = CRITERIA[told["criterion"]]
        yield _entry(row.where, topic, by, metric, told["judge"], "judge", begins[0] if begins else "", run)


def _entry(where: str, topic: str, by: str, metric: str, who: str, kind: str, value: str, run: int = 1) -> Entry:
    record: dict[str, Any] = {"topic": topic, "by": by, "metric": metric, "given": value, "who": who, "run": str(run)}
    status = "" if value else "invalid"
    return Entry(f"{where} {metric}", record, USUAL, status=status, kind=kind, name=f"{topic}|{by}")

"""Layout `judge_bench`: files of JUDGE-BENCH (Bavaresco et al. 2024): instances with the answers of people by metric.

`individual_human_scores` is a list without names: its n-th answer is read as that of `annotator-n`. A key of an
instance beside id, instance and annotations that holds answers by metric is a judge, as `MODEL: {metric: [answer]}`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import decoding, rows
from annotation.tool_answers.entries import Entry, Found, Reading, flat

KEPT = ("id", "instance", "annotations")
AGGREGATES = ("majority_human", "mean_human")  # read where the single answers are not there
USUAL = flat(criterion="metric", answer="given", judge="who", run="run")


def read_judge_bench(path: Path, reading: Reading) -> Found:
    """The criterion is a metric, the item an instance. Nameless answers of people are told, for they need not be of
    the same person from one instance to the next."""
    found = Found()
    for file, shown in reading.files(path, "*.json"):
        with decoding.collecting(found.problems):
            held = rows.read_json(file, shown, reading.encoding)
            listed = held.get("instances") if isinstance(held, dict) else None
            if not isinstance(listed, list):
                raise ImportingError(f"{shown}: no list 'instances'; give a file of JUDGE-BENCH")
            stem = "" if path.is_file() else f"{file.stem}:"
            for number, instance in enumerate(listed, start=1):
                if isinstance(instance, dict):
                    _add(found, f"{shown}: instance {number}", stem, number, instance)
    return found


def _add(found: Found, where: str, stem: str, number: int, instance: dict[str, Any]) -> None:
    name = f"{stem}{decoding.as_text(instance.get('id')) or number}"
    metrics = instance.get("annotations")
    for metric, told in (metrics if isinstance(metrics, dict) else {}).items():
        found.entries += _people(where, name, metric, told)
    for judge, answers in instance.items():
        if judge in KEPT or judge.endswith("_raw") or not isinstance(answers, Mapping):
            continue
        for metric in [one for one in answers if isinstance(metrics, dict) and one in metrics]:
            given = answers[metric] if isinstance(answers[metric], list) else [answers[metric]]
            for run, value in enumerate(given, start=1):
                found.entries.append(_entry(where, name, metric, judge, "judge", value, run))


def _people(where: str, name: str, metric: str, told: Any) -> Iterator[Entry]:
    single = told.get("individual_human_scores") if isinstance(told, dict) else None
    if isinstance(single, list) and single:
        for place, value in enumerate(single, start=1):
            yield _entry(where, name, metric, f"annotator-{place}", "human", value)
        return
    kept = next((one for one in AGGREGATES if isinstance(told, dict) and decoding.as_text(told.get(one))), "")
    if kept:
        yield _entry(where, name, metric, kept.replace("_human", " of people"), "human", told[kept])


def _entry(where: str, name: str, metric: str, who: str, kind: str, value: Any, run: int = 1) -> Entry:
    text = decoding.as_text(value)
    record = {"metric": metric, "given": text or "", "who": who, "run": str(run)}
    return Entry(f"{where} {metric}", record, USUAL, status="" if text else "missing", kind=kind, name=name)

"""Layout `promptfoo`: `promptfoo eval --output FILE.json` (or .jsonl), a result for each test and prompt."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import decoding, rows
from annotation.tool_answers import entries

PLACES = entries.metadata_places("component.assertion", "vars", "metadata", "testCase.vars", "testCase.metadata")
ERROR = "2"  # ResultFailureReason.ERROR: the call failed, so there is no answer
RUBRICS = ("rubric", "closedqa", "g-eval")  # of these the value says what is asked; of others it is a reference
GRADED = (*RUBRICS, "factuality", "relevance", "context-", "select-best")  # in types that a model grades


def read_promptfoo(path: Path, reading: entries.Reading) -> entries.Found:
    """One entry for each graded assertion that names a `metric` (the criterion) or that a model grades, with its score,
    0 to 1.

    With `--map answer=response.output` (or any other place) it is one entry a result: there the prompt asked the judge.
    """
    asked = "answer" in reading.places
    found = entries.Found(scale=None if asked else (0.0, 1.0))
    rubrics: defaultdict[str, set[str]] = defaultdict(set)
    for file, shown in reading.files(path, "*.json*"):
        with decoding.collecting(found.problems):
            for where, result in _results(file, shown, reading.encoding, found.problems):
                records = _records(result, asked, rubrics)
                found.leave("results without an assertion that names a metric or that a model grades", int(not records))
                found.entries += [_entry(where, record) for record in records]
    for name, texts in rubrics.items():
        why = f"different texts that are one criterion, {name!r}, for want of a metric (name each in promptfoo's file)"
        found.leave(why, len(texts) if len(texts) > 1 else 0)
    return found


def _results(file: Path, shown: str, encoding: str, problems: list[str]) -> list[tuple[str, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        return [(row.where, row.values) for row in rows.read_json_rows(file, shown, problems, encoding)]
    content = rows.read_json(file, shown, encoding)
    found = content.get("results") if isinstance(content, dict) else None
    found = found.get("results") if isinstance(found, dict) else found
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ImportingError(f"{shown}: no list 'results' of results; write it with promptfoo eval --output {shown}")
    return [(f"{shown}: result {number}", one) for number, one in enumerate(found, start=1)]


def _records(result: dict[str, Any], asked: bool, rubrics: defaultdict[str, set[str]]) -> list[dict[str, Any]]:
    """The result itself where --map says where the answer is, else one record for each component with a metric.

    One that a model grades is called by its type where nobody named it, and by its number among those of that type.
    `rubrics` gathers what each such name asks.
    """
    if asked:
        return [result]
    grading = result.get("gradingResult")
    components = grading.get("componentResults") if isinstance(grading, dict) else None
    listed = components if isinstance(components, list) else []
    graded = [one for one in listed if isinstance(one, dict) and isinstance(one.get("assertion"), dict)]
    seen: Counter[str] = Counter()
    records = []
    for one in graded:
        assertion = one["assertion"]
        kind, metric = decoding.as_text(assertion.get("type")) or "", decoding.as_text(assertion.get("metric")) or ""
        if not metric and any(part in kind for part in GRADED):
            seen[kind] += 1
            metric = f"{kind} {seen[kind]}" if seen[kind] > 1 else kind
            if any(part in kind for part in RUBRICS):
                rubrics[metric].add(json.dumps(assertion.get("value"), sort_keys=True))
        if metric:
            records.append({**result, "component": {**one, "assertion": {**assertion, "metric": metric}}})
    return records


def _entry(where: str, record: dict[str, Any]) -> entries.Entry:
    assertion = (record.get("component") or {}).get("assertion") or {}
    usual = PLACES | {
        "criterion": ["component.assertion.metric", *PLACES["criterion"]], "answer": ["component.score"],
        "reason": ["component.reason", "gradingResult.reason", "error"],
        "judge": ["component.assertion.provider", *PLACES["judge"]],
    }  # fmt: skip
    failed = decoding.as_text(record.get("failureReason")) == ERROR
    test, prompt = decoding.as_text(record.get("testIdx")) or "", decoding.as_text(record.get("promptIdx")) or ""
    return entries.Entry(
        where, record, usual, status="missing" if failed else "", name=f"test {test} prompt {prompt}" if test else "",
        unnamed=decoding.as_text(assertion.get("type")) or "promptfoo",
    )  # fmt: skip

"""Layout `pandalm`: PandaLM's `testset-v1.json` and the results of judges on it (Wang et al. 2024).

The test set has three people's answers a pair (1, 2, 0 a tie) and both systems in `cmp_key`; a result file, such as
`gpt-3.5-turbo-testset-v1.json`, has `gpt_result` or `pandalm_result` by the pair's place, `idx`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting
from annotation.tool_answers.entries import Entry, Found, Reading, flat, one_of, records
from plain.hashes import text_sha256

PERSON = re.compile(r"annotator\d+")
RESULT = re.compile(r"(?P<what>.+)_result")
ENDING = re.compile(r"[-_.]?testset.*$")
WON = {"1": "A", "2": "B", "0": "tie", "tie": "tie"}


def read_pandalm(path: Path, reading: Reading) -> Found:
    """The topic is the instruction with its input. A judge is named by its file; give both files' folder."""
    found = Found()
    pairs: dict[str, dict[str, Any]] = {}
    results: list[Row] = []
    for row in records(path, reading, found):
        number = as_text(one_of(row.values, "idx", "index"))
        with collecting(found.problems):
            if not number:
                raise ImportingError(f"{row.where}: no idx; give PandaLM's test set, or results on it")
            if "cmp_key" in row.values:
                pairs[number] = _pair(row)
                found.entries += _people(row, number, pairs[number])
            else:
                results.append(row)
    for row in results:
        _add_result(found, row, pairs)
    return found


def _pair(row: Row) -> dict[str, Any]:
    first, sign, second = (as_text(row.values["cmp_key"]) or "").partition("_")
    if not sign:
        raise ImportingError(f"{row.where}: cmp_key is not FIRST_SECOND; restore it")
    text = "\n".join(as_text(row.values.get(name)) or "" for name in ("instruction", "input"))
    return {
        **row.values,
        "first_system": first,
        "second_system": second,
        "topic": text_sha256(text)[:10],
        "part": "overall",
    }


def _people(row: Row, number: str, pair: Mapping[str, Any]) -> Iterator[Entry]:
    for name in [name for name in row.values if PERSON.fullmatch(name)]:
        yield _entry(f"{row.where} {name}", number, pair, name, "human", as_text(row.values[name]) or "")


def _add_result(found: Found, row: Row, pairs: Mapping[str, Mapping[str, Any]]) -> None:
    number = as_text(one_of(row.values, "idx", "index")) or ""
    told = next((name for name in row.values if RESULT.fullmatch(name)), "")
    if number not in pairs or not told:
        found.leave("results on no pair of the test set (testset-v1.json belongs into the same folder)")
        return
    file = row.where.rpartition(":")[0].rpartition("/")[2]
    judge = ENDING.sub("", file.rpartition(".")[0]) or told.removesuffix("_result")
    answer = as_text(row.values[told]) or ""
    found.entries.append(_entry(row.where, number, pairs[number], judge, "judge", answer))


def _entry(where: str, number: str, pair: Mapping[str, Any], rater: str, kind: str, answer: str) -> Entry:
    verdict = WON.get(answer.strip().lower(), "")
    usual = flat(
        topic="topic", system_a="first_system", system_b="second_system", criterion="part", answer="given", judge="who",
        category="motivation_app",
    )  # fmt: skip
    return Entry(
        where, {**pair, "given": verdict, "who": rater}, usual, status="" if verdict else "invalid", kind=kind,
        name=number, sides=False,
    )  # fmt: skip

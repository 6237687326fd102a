"""Layout `inspect`: logs of Inspect, `.eval` archives or JSON, with a score for each scorer and sample.

Format of inspect_ai 0.3 (inspect.aisi.org.uk, log files): an archive holds header.json and samples/ID_epoch_N.json; a
JSON log holds the same with its samples in a list.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.files.rows import DECODER, UNPACKED_MAX, read_json
from annotation.tool_answers import entries

PLACES = entries.metadata_places("score.metadata", "sample.metadata")
UNSCORED = "NaN"  # Score.unscored(): kept in the log, left out of every metric
HEADERS = ("header.json", "_journal/start.json")  # the second where a run was cut off


def read_inspect(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is the metadata's, else the scorer's name; a score that is a table gives one entry a name.

    The judge is the model that the scorer was given, or that of the role `grader`, or `--map judge=eval.model` where
    the judge was the model under evaluation. A sample that an error ended is a missing answer of each scorer. Unpacked
    at most 512 MB of an archive are read.
    """
    found = entries.Found()
    given = reading.files(path, "*")
    logs = [one for one in given if one[0].suffix in (".eval", ".json")] or given
    for file, shown in logs:
        with collecting(found.problems):
            run, samples = _archive(file, shown) if zipfile.is_zipfile(file) else _log(file, shown, reading.encoding)
            none = _no_values([one.get("scores") for one in samples if isinstance(one, dict)])
            for sample in samples:
                _add_sample(found, shown, run, _unanswered(sample, none))
    unpriced = [_spent(one.record["sample"], one.told("judge")) and not one.told("cost_usd") for one in found.entries]
    why = "answers with the judge's tokens and without a price (cost_usd in a score's metadata is one)"
    found.leave(why, sum(unpriced))
    return found


def _spent(sample: Mapping[str, Any], judge: str) -> bool:
    usage = sample.get("model_usage")
    return isinstance(usage, dict) and judge in usage


def _log(file: Path, shown: str, encoding: str) -> tuple[Any, list[Any]]:
    log = read_json(file, shown, encoding)
    if not isinstance(log, dict) or not isinstance(log.get("samples"), list) or "eval" not in log:
        raise ImportingError(f"{shown}: no 'eval' and 'samples'; give a log of Inspect with its samples")
    return log["eval"], log["samples"]


def _archive(file: Path, shown: str) -> tuple[Any, list[Any]]:
    try:
        with zipfile.ZipFile(file) as held:
            names = held.namelist()
            header = next((name for name in HEADERS if name in names), "")
            samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
            if not header or not samples:
                raise ImportingError(f"{shown}: no header.json and samples/; give a log of Inspect with its samples")
            if sum(held.getinfo(name).file_size for name in samples) > UNPACKED_MAX:
                raise ImportingError(f"{shown}: holds over {UNPACKED_MAX >> 20:,} MB unpacked; filter its samples")
            return _json(held, header, shown).get("eval"), [_json(held, name, shown) for name in samples]
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise ImportingError(f"{shown}: an archive that cannot be read ({error}); copy the log again") from None


def _json(held: zipfile.ZipFile, name: str, shown: str) -> dict[str, Any]:
    try:
        value = DECODER.decode(held.read(name).decode("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ImportingError(f"{shown}: {name} is not JSON ({error}); copy the log again") from None
    if not isinstance(value, dict):
        raise ImportingError(f"{shown}: {name} holds no object; copy the log again")
    return value


def _no_values(all_scores: Iterable[Any]) -> dict[str, Any]:
    """A score of no value by each scorer of a log, one for each criterion, with what its metadata say in every sample:
    a topic or a system of another sample is none of this one's.
    """
    given: dict[str, list[dict[str, Any]]] = {}
    for scorer, score in [one for held in all_scores if isinstance(held, dict) for one in held.items()]:
        given.setdefault(scorer, []).append(score if isinstance(score, dict) else {})
    none: dict[str, Any] = {}
    seen: set[str] = set()
    for scorer, scores in given.items():
        tables = [value for one in scores if isinstance(value := one.get("value"), dict)]
        names = [one for one in dict.fromkeys(chain(*tables) if tables else [scorer]) if one not in seen]
        seen.update(names)
        first, *rest = [held if isinstance(held := one.get("metadata"), dict) else {} for one in scores]
        alike = {key: said for key, said in first.items() if all(key in one and one[key] == said for one in rest)}
        if names:
            none[scorer] = {"value": dict.fromkeys(names) if tables else None, "metadata": alike}
    return none


def _unanswered(sample: Any, none: Mapping[str, Any]) -> Any:
    """A sample that an error ended, with a score of no value by each scorer that other samples of the log have."""
    if not isinstance(sample, dict) or not sample.get("error") or sample.get("scores"):
        return sample
    return sample | {"scores": none}


def _add_sample(found: entries.Found, shown: str, run: Any, sample: Any) -> None:
    scores = sample.get("scores") if isinstance(sample, dict) else None
    if scores and not isinstance(scores, dict):
        found.problems.append(f"{shown}: 'scores' of a sample is no object; give a log of Inspect as it wrote it")
        return
    found.leave("samples without a score", int(not scores))
    for scorer, score in (scores or {}).items():
        found.entries += _entries(shown, run, sample, scorer, score)


def _entries(shown: str, run: Any, sample: Mapping[str, Any], scorer: str, score: Any) -> Iterator[entries.Entry]:
    where = f"{shown}: sample {as_text(sample.get('id'))} epoch {as_text(sample.get('epoch')) or 1} {scorer}"
    value = score.get("value") if isinstance(score, dict) else None
    parts = value if isinstance(value, dict) else {scorer: value}
    scorers = run.get("scorers") if isinstance(run, dict) else None
    listed = scorers if isinstance(scorers, list) else []
    own = [one for one in listed if isinstance(one, dict) and one.get("name") == scorer]
    for name, part in parts.items():
        record = {
            "eval": run, "sample": sample, "metadata": sample.get("metadata"), "score": score, "name": name,
            "value": part, "scorer": own[0] if own else None,
        }  # fmt: skip
        several = ["name"] if isinstance(value, dict) else [*PLACES["criterion"], "name"]
        usual = PLACES | {
            "criterion": several, "answer": ["value"], "reason": ["score.explanation"], "run": ["sample.epoch"],
            "judge": [*PLACES["judge"], "scorer.options.model", "eval.model_roles.grader.model"],
        }  # fmt: skip
        unscored = part is None or as_text(part) == UNSCORED
        yield entries.Entry(
            where, record, usual, status="missing" if unscored else "", name=as_text(sample.get("id")) or "",
            unnamed=scorer,
        )  # fmt: skip

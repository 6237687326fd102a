"""Layout `deepresearchgym`: judges' `evaluation_results_*.json` beside each system, and people's folders.

A person's label there is the file that remains: of A.txt and B.txt the losing one was deleted. Which system's report
each was stands in mapping.txt, one for all annotators of a question, who so saw its A first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting, decode, nfc, read_bytes, shortened
from annotation.files.folders import files
from annotation.files.rows import read_json
from annotation.importing.labels import results

SCORES = re.compile(r"evaluation_results_detailed_(?P<judge>.+)\.json")
POINTS = re.compile(r"evaluation_results_kpr_(?P<judge>.+)\.json")
CITED = re.compile(r"evaluation_results_citation_(?!recall_)(?P<judge>.+)\.json")
SUPPORT = {1.0: "full", 0.5: "partial", 0.0: "no"}
MAPPING = "mapping.txt"
CHOICES = ("A.txt", "B.txt")


def read_deepresearchgym_results(path: Path, options: results.ResultOptions) -> results.Results:
    """Scores, key points and people's choices, whichever are there.

    Where the study compares two reports, a preference is derived from the sign of the difference of two scores, and
    marked `derived`; `--map answer=Clarity` says which score decides, else each decides its own criterion.
    """
    problems: list[str] = []
    rows: list[results.ResultRow] = []
    unread = unlabelled = nameless = 0
    empty: Counter[str] = Counter()
    wanted = {"": (SCORES,), "key point": (POINTS,), "claim": (CITED,)}.get(options.probe, (POINTS, CITED))
    for file, shown in files(path, "*"):
        known = next((found for name in wanted if (found := name.fullmatch(file.name))), None)
        with collecting(problems):
            if file.name == MAPPING:
                chosen = _choice(file, shown, options)
                unlabelled += chosen is None
                rows += [chosen] if chosen else []
            elif known:
                judge = results.judge_of(options, known["judge"], shown)
                content = read_json(file, shown, options.encoding)
                if not isinstance(content, dict):
                    raise ImportingError(f"{shown}: not an object by query id; restore the file")
                system = nfc(options.system or file.resolve().parent.name)
                if known.re is CITED:
                    rows += _citations(content, shown, judge, system, options, empty)
                else:
                    rows += (_scores if known.re is SCORES else _points)(content, shown, judge, system, options)
            else:
                unread += file.name.startswith("evaluation_results_")
                nameless += file.name in CHOICES and not (file.parent / MAPPING).exists()
    if not rows and not problems and not unlabelled and not empty:
        problems.append(
            f"{path}: no results found; expected SYSTEM/evaluation_results_detailed_MODEL.json (scores), _kpr_ (key "
            f"points), _citation_ (claims), or ANNOTATOR/ID/{MAPPING}"
        )
    scores = [row for row in rows if row.kind == "judge" and not row.probe]
    if options.paired and scores:
        rows = [row for row in rows if row not in scores] + list(_preferences(scores, options))
    notes = [f"folders without a choice {unlabelled}: both texts are still there"] if unlabelled else []
    notes += [f"choices left out {nameless}: no {MAPPING} says whose report A.txt or B.txt is"] if nameless else []
    notes += [f"result files about something else left out {unread}"] if unread else []
    notes += [f"reports without a judged claim {number}: {why}; they count as 0 there" for why, number in empty.items()]
    return results.Results(tuple(rows), tuple(problems), tuple(notes))


def _scores(
    content: dict[str, Any], shown: str, judge: str, system: str, options: results.ResultOptions
) -> Iterator[results.ResultRow]:
    for query, result in content.items():
        scores = result.get("scores") if isinstance(result, dict) else None
        if not isinstance(scores, dict):
            raise ImportingError(f"{shown}: {query}: no table 'scores'; restore the file")
        for name, entry in scores.items():
            value, reason = _pair(entry, ("rating", "justification"))
            answer, status, flags = results.said(value, options) if value else (None, "missing", ())
            yield results.ResultRow(
                f"{shown}: {query} {name}", judge, nfc(query), (system,), nfc(name), answer, status=status, flags=flags,
                rationale=reason,
            )  # fmt: skip


def _points(
    content: dict[str, Any], shown: str, judge: str, system: str, options: results.ResultOptions
) -> Iterator[results.ResultRow]:
    for query, result in content.items():
        labels = result.get("labels") if isinstance(result, dict) else None
        if not isinstance(labels, dict):
            raise ImportingError(f"{shown}: {query}: no table 'labels'; restore the file")
        for number, entry in labels.items():
            value, reason = _pair(entry, ("label", "justification"))
            answer, status, flags = results.said(value, options) if value else (None, "missing", ())
            yield results.ResultRow(
                f"{shown}: {query} {number}", judge, nfc(query), (system,), "", answer, status=status, flags=flags,
                probe=number, rationale=reason,
            )  # fmt: skip


def _citations(
    content: dict[str, Any], shown: str, judge: str, system: str, options: results.ResultOptions, empty: Counter[str]
) -> Iterator[results.ResultRow]:
    """A claim with all its sources; one without any is `uncited`. A failed call is a 0 there, and invalid here."""
    for query, result in content.items():
        detailed = result.get("detailed") if isinstance(result, dict) else ""
        if not isinstance(detailed, dict):
            empty[detailed.rstrip(".") if isinstance(detailed, str) and detailed else "no claim was extracted"] += 1
            continue
        for name, entry in detailed.items():
            if not isinstance(entry, dict):
                raise ImportingError(
                    f"{shown}: {query} {name}: not an object with 'claim' and 'score'; restore the file"
                )
            reason, value = as_text(entry.get("justification")) or "", as_text(entry.get("score")) or ""
            if entry.get("urls") == []:  # whatever score stands there: nothing was there to be scored
                answer, status, flags = results.said("uncited", options)
            else:
                answer, status, flags = _support(value, reason, f"{shown}: {query} {name}", options)
            yield results.ResultRow(
                f"{shown}: {query} {name}", judge, nfc(query), (system,), "", answer, status=status, flags=flags,
                probe=as_text(entry.get("claim")) or "", probe_key=name, rationale=reason,
            )  # fmt: skip


def _support(
    value: str, reason: str, where: str, options: results.ResultOptions
) -> tuple[str | None, str, tuple[str, ...]]:  # fmt: skip
    if not value:
        return None, "missing", ()
    if results.is_exception(reason):
        return None, "invalid", (f"raw:{value}",)
    try:
        return results.said(SUPPORT[float(value)], options)
    except (KeyError, ValueError):
        raise ImportingError(f"{where}: score {shortened(value)} is none of 1, 0.5 and 0; restore the file") from None


def _pair(entry: Any, names: tuple[str, str]) -> tuple[str, str]:
    """Value and reason, from a list of two or from an object; a value alone has no reason."""
    if isinstance(entry, dict):
        entry = [entry.get(name) for name in names]
    parts = [as_text(part) or "" for part in (entry if isinstance(entry, list) else [entry])]
    return (parts[0] if parts else "").strip(), parts[1] if len(parts) > 1 else ""


def _preferences(scores: list[results.ResultRow], options: results.ResultOptions) -> Iterator[results.ResultRow]:
    """For every two systems on one topic the one with the higher score, strictly; equal scores are a tie."""
    asked = options.columns.get("answer")
    grouped: dict[tuple[str, str, str], list[results.ResultRow]] = defaultdict(list)
    for row in scores:
        if asked in (None, row.criterion):
            grouped[row.topic, row.rater, row.criterion].append(row)
    for (topic, judge, name), rows in grouped.items():
        for one, other in combinations(rows, 2):
            where = f"{one.where} and {other.where}"
            values = _number(one), _number(other)
            answer, status = None, "missing"
            if values[0] is not None and values[1] is not None:
                higher = one if values[0] > values[1] else other
                answer, status = (results.TIE if values[0] == values[1] else higher.systems[0]), "ok"
            yield results.ResultRow(
                where, judge, topic, one.systems + other.systems, "" if asked else name, answer, status=status,
                flags=("derived", f"raw:{one.answer} {other.answer}"), is_derived=True,
            )  # fmt: skip


def _number(row: results.ResultRow) -> float | None:
    if row.answer is None:
        return None
    try:
        return float(row.answer)
    except ValueError:
        raise ImportingError(
            f"{row.where}: not a score ({row.answer!r:.40}); correct it, or map it: --map-label"
        ) from None


def _choice(file: Path, shown: str, options: results.ResultOptions) -> results.ResultRow | None:
    lines = decode(read_bytes(file, shown), shown, options.encoding).splitlines()
    names = {key.strip(): nfc(name) for key, sign, name in (line.partition(":") for line in lines) if sign}
    if set(names) != {"A", "B"} or not all(names.values()):
        raise ImportingError(f"{shown}: not two lines 'A: SYSTEM' and 'B: SYSTEM'; restore the file")
    left = [letter for letter in ("A", "B") if (file.parent / f"{letter}.txt").is_file()]
    if not left:
        raise ImportingError(f"{shown}: neither A.txt nor B.txt is there, so nobody knows who won; restore the folder")
    if len(left) == 2:
        return None
    folder = file.resolve().parent
    return results.ResultRow(
        shown,
        results.named(folder.parent.name),
        results.named(folder.name),
        (names["A"], names["B"]),
        "",
        names[left[0]],
        kind="human",
        first=names["A"],
    )

"""Layout `dr3_eval`: DR3-Eval's `SYSTEM/TASK/eval_<metric>_<YYYYMMDD_HHMMSS>.json`, one metric of one report each.

Their two sums of these files count a failed part as -1 or as 0 (arXiv 2604.14683); neither is read.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.files.folders import files
from annotation.files.rows import read_json
from annotation.importing.labels import results

NAME = re.compile(r"eval_(?P<metric>[a-z]+(?:_[a-z]+)*)(?:_(?P<stamp>[0-9]{8}_[0-9]{6}))?\.json")
CRITERIA = {
    "information_recall": "IR", "factual_accuracy": "FA", "citation_coverage": "CC", "format_compliance": "IF",
    "overall_quality": "DQ",
}  # fmt: skip
METRIC_OF = {
    "insight": "information_recall", "claim": "factual_accuracy", "document": "citation_coverage",
    "requirement": "format_compliance",
}  # fmt: skip
INSIGHTS = {1.0: "full", 0.5: "partial", 0.0: "no"}
PARTS = {"long_context": "sandbox", "source_documents": "user"}  # as probes are numbered: sandbox-1, user-1
SCALE = (0.0, 100.0)
GUESSED = "Extracted from unstructured response"  # their parser took the first number after the criterion's name
FAILED_CHECK = re.compile(
    r"parse error|api error|not verified|connection error|timeout|max retries|cannot prepare|compression failed|"
    r"no result|empty response",
    re.IGNORECASE,
)  # what their own code looks for when it asks for a claim again


@dataclass
class _Found:
    rows: list[results.ResultRow] = field(default_factory=list)
    cut: int = 0


@dataclass(frozen=True)
class _File:
    """One metric's result of one report."""

    shown: str
    judge: str
    topic: str
    system: str
    content: dict[str, Any]
    options: results.ResultOptions

    def details(self, *names: str) -> Any:
        """What is at a path below `details`; an empty table where there is nothing."""
        level: Any = self.content.get("details")
        for name in names:
            level = level.get(name) if isinstance(level, dict) else None
        return level if level is not None else {}

    def row(self, what: str, answer: str | None, status: str = "missing", **more: Any) -> results.ResultRow:
        answer, status, flags = results.said(answer, self.options) if answer is not None else (None, status, ())
        flags += more.pop("flags", ())
        return results.ResultRow(
            f"{self.shown}: {what}", self.judge, self.topic, (self.system,), more.pop("criterion", ""), answer,
            status=status, flags=flags, **more,
        )  # fmt: skip


def read_dr3_eval_results(path: Path, options: results.ResultOptions) -> results.Results:
    """The newest file of each metric. A study of scores takes the five scores, one of probes the answers to them.

    The topic is the folder of the file, the system the one above, unless `--system` says it. Scores run from 0 to 100.
    `--map answer=DQ` says which score is the study's only one.
    """
    if options.probe and options.probe not in METRIC_OF:
        raise ImportingError(
            f"{path}: these files answer probes of the kinds {', '.join(METRIC_OF)}, not {options.probe}"
        )
    newest, notes = _newest(path)
    problems: list[str] = []
    found = _Found()
    wanted = METRIC_OF.get(options.probe) or _named_score(options)
    for metric, file, shown in newest:
        if wanted in (None, metric):
            with collecting(problems):
                _read(file, shown, metric, options, found)
    if found.cut:
        notes.append(
            f"texts cut to {results.CUT} characters {found.cut}: matched by their beginning; nobody can label them "
            f"again from "
            "these files"
        )
    scale = SCALE if not options.probe and options.times == 1 else None
    return results.Results(tuple(found.rows), tuple(problems), tuple(notes), scale)


def _newest(path: Path) -> tuple[list[tuple[str, Path, str]], list[str]]:
    """Metric, file and name of the newest result of each report's metric, and what is said of the others."""
    newest: dict[tuple[Path, str], tuple[str, Path, str]] = {}
    older = others = 0
    for file, shown in files(path, "eval_*.json"):
        known = NAME.fullmatch(file.name)
        if known is None or known["metric"] not in CRITERIA:
            others += 1
            continue
        place, version = (file.parent, known["metric"]), (known["stamp"] or "", file, shown)
        older += place in newest
        newest[place] = max(newest.get(place, version), version)
    notes = [f"older results left out {older}: the newest of each metric is read"] if older else []
    notes += [f"files of other metrics left out {others}"] if others else []
    return [(metric, file, shown) for (_, metric), (_, file, shown) in newest.items()], notes


def _named_score(options: results.ResultOptions) -> str | None:
    asked = options.columns.get("answer")
    if asked is None:
        return None
    if asked not in CRITERIA.values():
        raise ImportingError(f"--map answer={asked}: no such score (there are: {', '.join(CRITERIA.values())})")
    return next(metric for metric, name in CRITERIA.items() if name == asked)


def _read(file: Path, shown: str, metric: str, options: results.ResultOptions, found: _Found) -> None:
    content = read_json(file, shown, options.encoding)
    if not isinstance(content, dict) or "score" not in content:
        raise ImportingError(f"{shown}: no 'score'; restore the file")
    folder = file.resolve().parent
    judge = results.judge_of(options, "", shown)
    one = _File(
        shown, judge, results.named(folder.name), results.named(options.system or folder.parent.name), content, options
    )
    if not options.probe:
        found.rows.append(_score(one, metric))
        return
    answers = {"insight": _insights, "claim": _claims, "document": _documents, "requirement": _checks}
    rows = list(answers[options.probe](one))
    found.rows += rows
    found.cut += sum(_is_cut(row.probe) for row in rows)


def _is_cut(text: str) -> bool:
    """Whether their code may have cut this text: it is as long as what it keeps, with or without its dots."""
    return len(text.removesuffix("...")) == results.CUT


def _score(one: _File, metric: str) -> results.ResultRow:
    value = as_text(one.content["score"]) or ""
    why = _no_score(one, metric, value)
    reason = as_text(one.details("raw_evaluation", "metric_result", "depth_quality", "justification")) or ""
    return one.row(
        metric, None if why else value, "invalid" if value else "missing", rationale=reason,
        flags=(f"raw:{value} {why}".strip(),) if why else (),
        criterion="" if "answer" in one.options.columns else CRITERIA[metric],
    )  # fmt: skip


def _no_score(one: _File, metric: str, value: str) -> str:
    """Why the number is no score, empty where it is one."""
    try:
        number = float(value)
    except ValueError:
        return "not a number"
    if number < 0 or one.details("status") == "failed":
        return "failed"
    if metric == "overall_quality":
        if one.details("raw_evaluation", "metric_result", "depth_quality", "justification") == GUESSED:
            return "guessed from prose"
        return "below the scale" if number < 10 else ""
    if metric == "information_recall":
        parts = [one.details("components", part, "available") for part in PARTS]
        return "nothing was asked" if False in parts and True not in parts else ""
    if metric == "citation_coverage":
        return "nothing was asked" if as_text(one.details("total_required")) == "0" else ""
    return ""


def _insights(one: _File) -> Iterator[results.ResultRow]:
    for part, tag in PARTS.items():
        for entry in _entries(one, "components", part, "details", "evaluation_result", "covered_insights"):
            reason = as_text(entry.get("explanation")) or ""
            score = None if FAILED_CHECK.search(reason) else _number(entry.get("score"))
            key = f"{tag}-{as_text(entry.get('id'))}"
            answer = INSIGHTS.get(score) if score is not None else None
            yield one.row(
                key, answer, "missing" if score is None else "invalid", probe_key=key, rationale=reason,
                probe=as_text(entry.get("insight_text")) or "",
            )  # fmt: skip


def _claims(one: _File) -> Iterator[results.ResultRow]:
    """Each claim with each of its sources: whether all or any must support it is for the protocol to say.

    Words that stand in several rows are found by their number alone: they may be another claim's or source's.
    """
    whole = {
        as_text(entry.get("id")): as_text(entry.get("claim_text")) or ""
        for entry in _entries(one, "extraction", "claims")
    }
    checked = []
    for entry in _entries(one, "verification_result", "verifications"):
        key, text = as_text(entry.get("id")) or "", as_text(entry.get("claim_text")) or ""
        if _is_cut(text) and whole.get(key, "").startswith(text):
            text = whole[key]
        sources = _objects(entry.get("citation_results")) or [entry]
        checked += [(f"{key}.{number}", text, source) for number, source in enumerate(sources, start=1)]
    rows = Counter(text for _, text, _ in checked)
    for key, text, source in checked:
        reason = as_text(source.get("explanation")) or ""
        failed = FAILED_CHECK.search(reason) or results.is_exception(reason)
        yield one.row(
            f"claim {key}", None if failed else _word(source.get("supported")), "invalid",
            flags=(f"raw:{source.get('supported')}",) if failed else (), probe_key=key, probe=text,
            by_number=rows[text] > 1, rationale=reason,
        )  # fmt: skip


def _documents(one: _File) -> Iterator[results.ResultRow]:
    for name, answer in (("cited", "yes"), ("missing", "no")):
        titles = one.details(name)
        for title in titles if isinstance(titles, list) else []:
            yield one.row(f"{name} {title}"[:60], answer, probe=as_text(title) or "")


def _checks(one: _File) -> Iterator[results.ResultRow]:
    for entry in _entries(one, "checklist_evaluation"):
        key, failed = as_text(entry.get("id")) or "", entry.get("status") == "error"
        yield one.row(
            f"requirement {key}", None if failed else _word(entry.get("satisfied")), probe_key=key,
            probe=as_text(entry.get("requirement")) or "", rationale=as_text(entry.get("explanation")) or "",
        )  # fmt: skip


def _entries(one: _File, *names: str) -> list[dict[str, Any]]:
    return _objects(one.details(*names))


def _objects(listed: Any) -> list[dict[str, Any]]:
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _number(value: Any) -> float | None:
    try:
        return float(as_text(value) or "")
    except ValueError:
        return None


def _word(value: Any) -> str | None:
    """true or false only where the file says a truth value; the text "false" is one, and is not true."""
    found = (as_text(value) or "").lower()
    return found if found in ("true", "false") else None

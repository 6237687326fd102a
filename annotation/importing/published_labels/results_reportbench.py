"""Layouts `reportbench` and `reportbench_citations`: ReportBench's judges on its statements (arXiv 2508.15804).

`no_citations_web_verification.csv` has six votes a statement: two web models, three tries each. A failed parse stands
there as a false vote with `success` True; only its reason gives it away.

`final.csv`, or a `citations.csv` that has the verdict itself, has a line a cited statement and URL. `ID` numbers URLs,
not statements, so that a statement with two sources has two lines. A line whose sentence was NOT_FOUND on the page
counts there as matched.
"""

from pathlib import Path

from annotation.errors import ImportingError
from annotation.files.decoding import Row, collecting, nfc, shortened
from annotation.files.folders import files
from annotation.files.rows import read_csv
from annotation.importing.labels.results import ResultOptions, ResultRow, Results, is_exception, judge_of, said, whole
from annotation.importing.reports.reportbench import survey_and_system

FILE = "no_citations_web_verification.csv"
VOTE_COLUMNS = ("ID", "statement", "llm_model", "attempt", "decision", "reason", "success")
DECISIONS = {"true": "correct", "正确": "correct", "false": "incorrect", "错误": "incorrect", "平局": "tie"}
# what their code writes in place of a reason: could not parse, went wrong, failed, and the default of an absent one
NO_REASON = ("JSON解析失败", "验证过程出错", "验证失败")
DEFAULT_REASON = "无法判断"


def read_reportbench_results(path: Path, options: ResultOptions) -> Results:
    """The topic is the arXiv id in the path, the system its first folder unless `--system` says it."""
    problems: list[str] = []
    rows: list[ResultRow] = []
    for file, shown in files(path, FILE):
        with collecting(problems):
            topic, system = survey_and_system(file, shown, options.system)
            lines = rows_of(file, shown, VOTE_COLUMNS, problems, options)
            for line in lines:
                with collecting(problems):
                    rows.append(_vote(line, topic, system, options))
    return Results(tuple(rows), tuple(problems))


def rows_of(file: Path, shown: str, needed: tuple[str, ...], problems: list[str], options: ResultOptions) -> list[Row]:
    """The lines of a result file. Raises ImportingError where it lacks a column."""
    columns, lines = read_csv(file, shown, problems, options.encoding)
    absent = [name for name in needed if name not in columns]
    if absent:
        raise ImportingError(f"{shown}:1: no column {absent[0]!r} (found: {', '.join(columns)}); restore it")
    return lines


def _vote(line: Row, topic: str, system: str, options: ResultOptions) -> ResultRow:
    attempt = whole(line.values["attempt"], line.where, "attempt")
    judge, reason = nfc(line.values["llm_model"]), line.values["reason"]
    decision = line.values["decision"].strip().lower()
    if not judge:
        raise ImportingError(f"{line.where}: no llm_model; fill it in or remove the line")
    if decision not in DECISIONS:
        raise ImportingError(
            f"{line.where}: decision {shortened(decision)} is none of {', '.join(DECISIONS)}; correct it"
        )
    failed = line.values["success"].strip().lower() != "true" or _is_no_reason(reason)
    answer, status, flags = (None, "invalid", (f"raw:{decision}",)) if failed else said(DECISIONS[decision], options)
    return ResultRow(
        line.where, f"{options.judge} {judge}".strip(), topic, (system,), "", answer, status=status, flags=flags,
        probe=line.values["statement"], run=attempt, pass_no=attempt, rationale=reason,
    )  # fmt: skip


def _is_no_reason(reason: str) -> bool:
    text = reason.strip()
    return text.startswith(NO_REASON) or text in ("", DEFAULT_REASON) or is_exception(text)


FILES = ("final.csv", "citations.csv")  # the first that holds verdicts is read
MATCH_COLUMNS = ("ID", "statement", "match")
NOT_FOUND = "NOT_FOUND"
MATCHES = {"true": "true", "1": "true", "false": "false", "0": "false"}


def read_reportbench_citations(path: Path, options: ResultOptions) -> Results:
    """Answers are true and false, as protocol `rb_cited` has them; only statement and ID together say which probe."""
    problems: list[str] = []
    rows: list[ResultRow] = []
    not_found = 0
    for file, shown in _verdict_files(path):
        with collecting(problems):
            topic, system = survey_and_system(file, shown, options.system)
            judge = judge_of(options, "", shown)
            for line in rows_of(file, shown, MATCH_COLUMNS, problems, options):
                with collecting(problems):
                    row = _match(line, topic, (system,), judge, options)
                    not_found += row.flags == (f"raw:{NOT_FOUND}",)
                    rows.append(row)
    notes = (f"{NOT_FOUND} {not_found}: not matched here, matched in their rate",) if not_found else ()
    return Results(tuple(rows), tuple(problems), notes)


def _verdict_files(path: Path) -> list[tuple[Path, str]]:
    """One file a folder. Raises ImportingError where no folder has one with verdicts."""
    if path.is_file():
        return files(path, "*")
    held: dict[Path, tuple[Path, str]] = {}
    for file, shown in files(path, "*.csv"):
        if file.name in FILES and (file.name == FILES[0] or _has_verdicts(file)):
            standing = held.setdefault(file.parent, (file, shown))
            if FILES.index(file.name) < FILES.index(standing[0].name):
                held[file.parent] = (file, shown)
    if not held:
        raise ImportingError(f"{path}: no final.csv, and no citations.csv with a column 'match'; give the folder above")
    return list(held.values())


def _has_verdicts(file: Path) -> bool:
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        return "match" in lines.readline().strip().split(",")


def _match(
    line: Row, topic: str, systems: tuple[str, ...], judge: str, options: ResultOptions
) -> ResultRow:  # fmt: skip
    found, reason = line.values["match"].strip().lower(), line.values.get("reason", "")
    if found and found not in MATCHES:
        raise ImportingError(f"{line.where}: match {shortened(found)} is neither True nor False; correct it")
    flags: tuple[str, ...] = ()
    if line.values.get("source_sentence", "").strip() == NOT_FOUND:
        answer, status, flags = "false", "ok", (f"raw:{NOT_FOUND}",)
    elif not found:
        answer, status = None, "missing"
    elif is_exception(reason):
        answer, status, flags = None, "invalid", (f"raw:{found}",)
    else:
        answer, status = MATCHES[found], "ok"
    if answer is not None:
        answer, status, mapped = said(answer, options)
        flags += mapped
    return ResultRow(
        line.where, judge, topic, systems, "", answer, status=status, flags=flags, probe=line.values["statement"],
        probe_key=line.values["ID"].strip(), by_number=True, rationale=reason,
    )  # fmt: skip

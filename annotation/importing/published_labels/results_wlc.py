"""Layout `wlc`: Wiki Live Challenge's `<Title>_writing.json`, a winner for each criterion (arXiv 2602.01590).

Criteria go by `criterion_id`: one reply that counted from 0 moved 36 of 39 labels when they went by index. Facts and
statements, in files beside these, go by their numbers and words together: one sentence may cite two pages.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import decoding, folders
from annotation.files.rows import read_json
from annotation.importing.labels.results import TIE, ResultOptions, ResultRow, Results, judge_of, named, said
from annotation.importing.reports.wlc import REFERENCE

ENDING = "_writing.json"
WINNERS = ("gt", "gen", TIE)
ANSWERED = {  # kind of probe -> the file's ending, its list, and where the words stand in an entry
    "fact": ("_verifiability.json", "coverage_alignments", "gt_sentence"),
    "statement": ("_citation.json", "results", "statement"),
}


def read_wlc_results(path: Path, options: ResultOptions) -> Results:
    """`gt` is the human article, `gen` the article of `--system`: the files do not say whose it is.

    A study of Wikipedia's facts or of an agent's statements takes the verdicts on these.
    Their evaluator writes a failed reply as a tie. Where ties were off it can be nothing else, and is read as invalid.
    """
    if not options.system:
        raise ImportingError("--system: missing; name the system whose articles these files judge (they call it gen)")
    kind = "statement" if options.probe == "claim" else options.probe
    if kind and kind not in ANSWERED:
        raise ImportingError(f"{path}: these files answer probes of the kinds {', '.join(ANSWERED)}, not {kind}")
    problems: list[str] = []
    rows: list[ResultRow] = []
    for file, shown in folders.files(path, f"*{ANSWERED[kind][0] if kind else ENDING}"):
        with decoding.collecting(problems):
            content = read_json(file, shown, options.encoding)
            rows += _answers(content, shown, kind, options) if kind else _rows(content, shown, options)
    doubtful = sum(row.answer == TIE for row in rows)
    notes = (f"ties {doubtful}: in these files a failed reply looks the same",) if doubtful else ()
    return Results(tuple(rows), tuple(problems), notes)


def _rows(content: Any, shown: str, options: ResultOptions) -> Iterator[ResultRow]:
    details = content.get("details") if isinstance(content, dict) else None
    if not isinstance(details, dict) or content.get("mode") != "winrate":
        raise ImportingError(f"{shown}: no table 'details' of mode winrate; give files that end in {ENDING}")
    judge = judge_of(options, "", shown)
    topic = named(content.get("topic")) or named(shown.rpartition("/")[2].removesuffix(ENDING))
    for category, entries in details.items():
        for number, entry in enumerate(entries if isinstance(entries, list) else [None], start=1):
            where = f"{shown}: {category} {number}"
            if not isinstance(entry, dict) or not named(entry.get("criterion_id")):
                raise ImportingError(f"{where}: no 'criterion_id' (an index is never used instead); restore the file")
            yield ResultRow(
                where, judge, topic, (REFERENCE.key, options.system), named(entry["criterion_id"]),
                rationale=decoding.as_text(entry.get("reason")) or "",
                **_winner(decoding.as_text(entry.get("winner")) or "", content.get("allow_tie") is True, options),
            )  # fmt: skip


def _answers(content: Any, shown: str, kind: str, options: ResultOptions) -> Iterator[ResultRow]:
    """Numbered as `import probes` numbers them: a fact by its place, a statement by its place and the mark it cites."""
    ending, listed, words = ANSWERED[kind]
    entries = content.get(listed) if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ImportingError(f"{shown}: no list {listed!r}; give files that end in {ending}")
    judge = judge_of(options, "", shown)
    topic = named(content.get("title")) or named(shown.rpartition("/")[2].removesuffix(ending))
    for place, entry in enumerate(entries):
        number, said_of = str(place + 1), entry.get("verify")
        if kind == "statement":
            index = decoding.as_text(entry.get("statement_index")) or ""
            if not (index.isascii() and index.isdigit()):
                raise ImportingError(f"{shown}: {listed} {place + 1}: no 'statement_index'; restore the file")
            number, said_of = f"{int(index) + 1}-{decoding.as_text(entry.get('citation_num')) or ''}", entry
        found = said_of if isinstance(said_of, dict) else {}
        verdict = decoding.as_text(found.get("verdict")) or ""
        answer, status, flags = said(verdict, options) if verdict else (None, "missing", ())
        yield ResultRow(
            f"{shown}: {listed} {place + 1}", judge, topic, (options.system,), "", answer, status=status, flags=flags,
            probe=decoding.as_text(entry.get(words)) or "", probe_key=number, by_number=True,
            rationale=decoding.as_text(found.get("reason")) or "",
        )  # fmt: skip


def _winner(found: str, allow_tie: bool, options: ResultOptions) -> dict[str, Any]:
    if not found:
        return {"answer": None, "status": "missing"}
    if found not in WINNERS or (found == TIE and not allow_tie):
        return {"answer": None, "status": "invalid", "flags": (f"raw:{decoding.shortened(found)[1:-1]}",)}
    answer, status, flags = said({"gt": REFERENCE.key, "gen": options.system}.get(found, found), options)
    return {"answer": answer, "status": status, "flags": flags}

"""Layout `wlc`: Wiki Live Challenge's `<Title>_writing.json`, a winner for each criterion (arXiv 2602.01590).

Criteria go by `criterion_id`: one reply that counted from 0 moved 36 of 39 labels when they went by index.
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


def read_wlc_results(path: Path, options: ResultOptions) -> Results:
    """`gt` is the human article, `gen` the article of `--system`: the files do not say whose it is.

    Their evaluator writes a failed reply as a tie. Where ties were off it can be nothing else, and is read as invalid.
    """
    if not options.system:
        raise ImportingError("--system: missing; name the system whose articles these files judge (they call it gen)")
    problems: list[str] = []
    rows: list[ResultRow] = []
    for file, shown in folders.files(path, f"*{ENDING}"):
        with decoding.collecting(problems):
            rows += _rows(read_json(file, shown, options.encoding), shown, options)
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


def _winner(found: str, allow_tie: bool, options: ResultOptions) -> dict[str, Any]:
    if not found:
        return {"answer": None, "status": "missing"}
    if found not in WINNERS or (found == TIE and not allow_tie):
        return {"answer": None, "status": "invalid", "flags": (f"raw:{decoding.shortened(found)[1:-1]}",)}
    answer, status, flags = said({"gt": REFERENCE.key, "gen": options.system}.get(found, found), options)
    return {"answer": answer, "status": status, "flags": flags}

"""Layout `phoenix`: annotations and evaluations of Arize Phoenix.

Read are `get_span_annotations_dataframe` of arize-phoenix-client 1 (as CSV, Parquet or JSON), the answers of GET
/v1/projects/ID/span_annotations, and tables of evaluations as they are logged (span_id, label, score, explanation).
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers import entries

KINDS = {"HUMAN": "human", "LLM": "judge", "CODE": "judge"}
PLACES = entries.metadata_places("metadata")
SPANS = ("span_id", "context.span_id", "trace_id", "session_id")


def read_phoenix(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is an annotation's name, the item its span; the answer its label, or the score where not every
    annotation of that name has a label. A table of evaluations without a kind is a judge's, named after the file.
    """
    found = entries.Found()
    kept = list(entries.records(path, reading, found))
    unlabelled: defaultdict[str, bool] = defaultdict(bool)
    for row in kept:
        unlabelled[_name(row.values)] |= not _given(row.values, "label")
    for row in kept:
        with collecting(found.problems):
            found.entries.append(_entry(row.where, row.values, not unlabelled[_name(row.values)], reading))
    return found


def _name(record: dict[str, Any]) -> str:
    return as_text(entries.one_of(record, "annotation_name", "name")) or ""


def _given(record: dict[str, Any], part: str) -> str:
    result = entries.value_of(record.get("result"))
    return next(
        (text for place in (part, f"result.{part}") if (text := entries.text_at({**record, "result": result}, place))),
        "",
    )


def _entry(where: str, record: dict[str, Any], by_label: bool, reading: entries.Reading) -> entries.Entry:
    span = as_text(entries.one_of(record, *SPANS))
    if not span:
        raise ImportingError(f"{where}: no span_id; keep the index when the table is saved (reset_index)")
    kind = KINDS.get((as_text(record.get("annotator_kind")) or "LLM").upper(), "")
    value = _given(record, "label") if by_label else _given(record, "score")
    file = where.rpartition(":")[0].rpartition("/")[2].rpartition(".")[0] or "phoenix"
    user = as_text(entries.one_of(record, "user_id", "identifier")) or ""
    metadata = entries.value_of(record.get("metadata"))
    named = {
        "human": reading.pseudonym(entries.text_at({"m": metadata}, "m.reviewer") or user or "annotator"),
        "judge": entries.text_at({"m": metadata}, "m.model")
        or as_text(record.get("identifier"))
        or f"{_name(record) or file}",
    }
    position = as_text(record.get("document_position")) or ""
    held = {
        **record, "metadata": metadata, "given": value, "why": _given(record, "explanation"),
        "called": _name(record) or file, "rater": named.get(kind, "annotator"),
    }  # fmt: skip
    usual = PLACES | entries.flat(criterion="called", answer="given", reason="why", judge="rater")
    name = f"{span}|{position}" if position else span
    return entries.Entry(where, held, usual, status="" if value else "missing", kind=kind, name=name)

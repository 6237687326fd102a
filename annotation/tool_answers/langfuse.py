"""Layout `langfuse`: scores as Langfuse exports them (CSV or JSON of the Scores table, or GET /api/public/v2/scores).

Fields of Langfuse 3 (langfuse.com, scores data model). Scores of an annotation queue are scores whose source is
ANNOTATION; a list of the queue's items holds no answers.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers import entries
from annotation.tool_answers.entries import one_of, records, text_at, value_of

KINDS = {"ANNOTATION": "human", "EVAL": "judge", "API": ""}
PLACES = entries.metadata_places("metadata", "trace.metadata")


def read_langfuse(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is a score's name; the item its trace, with the observation where the score is of one.

    People are known by their user id, evaluators (source EVAL) by the score's metadata, else as `langfuse-eval`.
    Scores sent by the API do not say whether a person gave them.
    """
    found = entries.Found()
    for row in records(path, reading, found):
        with collecting(found.problems):
            entry = _entry(row.where, row.values, reading)
            found.entries += [entry] if entry else []
            found.leave("scores of sessions or dataset runs, which are of no trace", int(entry is None))
    return _evaluators_apart(found)


def _evaluators_apart(found: entries.Found) -> entries.Found:
    """Several evaluators whose scores have one name are told apart by what their metadata says alone: `model`.

    It has no more values than one trace has scores of the name, and none twice there: the number of a job has more.
    """
    held = [one for one in found.entries if one.kind == "judge" and one.told("judge") == "langfuse-eval"]
    scores = [(one.name, one.told("criterion")) for one in held]
    most = max(Counter(scores).values(), default=1)
    metadata = [kept for one in held if most > 1 and isinstance(kept := one.record["metadata"], dict)]
    for key in dict.fromkeys(key for kept in metadata for key in kept):
        place = f"metadata.{key}"
        said = [text_at(one.record, place) or "" for one in held]
        if all(said) and len({*said}) == most and len({*zip(scores, said, strict=True)}) == len(held):
            named = ", ".join(sorted({*said}))
            found.leave(
                f"scores of several evaluators by one name, whose {place} says who they are ({named})", len(held)
            )
            apart = {id(one): replace(one, usual={**one.usual, "judge": [place]}) for one in held}
            found.entries[:] = [apart.get(id(one), one) for one in found.entries]
            break
    return found


def _entry(where: str, record: dict[str, Any], reading: entries.Reading) -> entries.Entry | None:
    source = (as_text(record.get("source")) or "").upper()
    if source not in KINDS:
        raise ImportingError(f"{where}: source is none of {', '.join(KINDS)}; give an export of Langfuse's scores")
    trace, seen = one_of(record, "traceId", "trace_id"), one_of(record, "observationId", "observation_id")
    if trace is None:
        return None
    kind = KINDS[source]
    author = as_text(one_of(record, "authorUserId", "author_user_id", "authorUserName", "userId"))
    value = one_of(record, "stringValue", "string_value", "value")
    rater = reading.pseudonym(author) if author else "annotator" if kind == "human" else f"langfuse-{source.lower()}"
    held = {**record, "metadata": value_of(record.get("metadata")), "given": value, "rater": rater}
    usual = PLACES | entries.flat(
        criterion="name",
        answer="given",
        reason="comment",
        judge=(*PLACES["judge"], "rater") if kind != "human" else "rater",
    )
    name = "|".join(part for one in (trace, seen) if (part := as_text(one)))
    return entries.Entry(where, held, usual, status="" if value is not None else "missing", kind=kind, name=name)

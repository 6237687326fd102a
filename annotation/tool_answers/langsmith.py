"""Layout `langsmith`: feedback of LangSmith (client.list_feedback as JSON Lines or JSON, GET /api/v1/feedback).

Fields of LangSmith's feedback data format (docs.langchain.com/langsmith/feedback-data-format, langsmith 0.4).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.tool_answers import entries
from annotation.tool_answers.entries import one_of, records, value_of

KINDS = {"app": "human", "model": "judge", "auto_eval": "judge"}  # api: whatever sent it
PLACES = entries.metadata_places("extra", "feedback_source.metadata")


def read_langsmith(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is a feedback's key, the answer its score, else its value; the item its run.

    Feedback given in the app is a person's, known by their user id; that of models and evaluators a judge's.
    """
    found = entries.Found()
    for row in records(path, reading, found, ("data", "feedback", "feedbacks")):
        with collecting(found.problems):
            if one_of(row.values, "run_id", "trace_id") is None:
                found.leave("feedback of no run")
            else:
                found.entries.append(_entry(row.where, row.values, reading))
    return found


def _entry(where: str, record: dict[str, Any], reading: entries.Reading) -> entries.Entry:
    source = value_of(record.get("feedback_source"))
    if not isinstance(source, Mapping) or "key" not in record:
        raise ImportingError(f"{where}: no 'key' and 'feedback_source'; give feedback as LangSmith lists it")
    typed = as_text(source.get("type")) or "api"
    kind = KINDS.get(typed, "")
    user = as_text(one_of(source, "user_id", "ls_user_id", "user_name")) if kind == "human" else ""
    rater = reading.pseudonym(user) if user else f"langsmith-{typed.replace('_', '-')}"
    value = one_of(record, "score", "value")
    held = {**record, "feedback_source": source, "given": value, "rater": rater}
    judge = "rater" if kind == "human" else ("feedback_source.metadata.model", *PLACES["judge"], "rater")
    usual = PLACES | entries.flat(criterion="key", answer="given", reason="comment", judge=judge)
    failed = value is None or as_text(value) is None
    return entries.Entry(
        where, held, usual, status="missing" if failed else "", kind=kind,
        name=as_text(one_of(record, "run_id", "trace_id")) or "",
    )  # fmt: skip

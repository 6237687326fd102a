"""Layout `argilla`: records as Argilla 2 writes them: `dataset.records.to_json`, or `to_list(flatten=True)` as JSON.

Shapes of argilla 2.8.0 (`Record.to_dict`, `GenericIO`). People are users by their id, judges the agents of suggestions.
Drafts and discarded responses, where a file tells them apart, are left out. Our own records.json is read too.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import decoding, rows
from annotation.tool_answers import entries
from annotation.tool_answers.answers import RATIONALE, WHY, Answers, Mark, add_answers, add_failed, mark_of

PLACES = entries.metadata_places("metadata", "fields")
SETTINGS = ("settings.json", "dataset.json")
UNUSED = ("draft", "discarded")
LONG = 200  # characters: a longer text is no answer


def read_argilla(path: Path, reading: entries.Reading) -> entries.Found:
    """The criterion is a question's name; a text question named after another holds its reason.

    Topic and systems are metadata or fields of those names, else as --map says: `--map topic=metadata.NAME,…`.
    """
    found = entries.Found()
    for file, shown in _files(path, reading):
        with decoding.collecting(found.problems):
            for row in rows.read_json_rows(file, shown, found.problems, reading.encoding):
                with decoding.collecting(found.problems):
                    _add_record(found, row.where, _nested(row.values), reading)
    return found


def _files(path: Path, reading: entries.Reading) -> list[tuple[Path, str]]:
    named = path / "records.json"
    if named.is_file():
        return [(named, named.name)]
    return [(file, shown) for file, shown in reading.files(path, "*.json*") if file.name not in SETTINGS]


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    """A flattened record (`clear.responses`, `clear.responses.users`, `clear.suggestion` …) as `to_json` writes it."""
    if "responses" in row or "suggestions" in row or "fields" in row:
        return dict(row)
    responses: dict[str, list[dict[str, Any]]] = {}
    suggestions: dict[str, dict[str, Any]] = {}
    for column, value in row.items():
        question, _, rest = column.rpartition(".")
        if rest == "responses" and question:
            users, states = row.get(f"{column}.users") or [], row.get(f"{column}.status") or []
            responses[question] = [
                {"value": one, "user_id": _nth(users, number), "status": _nth(states, number)}
                for number, one in enumerate(value if isinstance(value, list) else [value] * (value is not None))
            ]
        elif rest == "suggestion" and question and value is not None:
            suggestions[question] = {"value": value, "agent": row.get(f"{column}.agent")}
    asked = (*(f"{name}.responses" for name in responses), *(f"{name}.suggestion" for name in suggestions))
    others = {name: value for name, value in row.items() if not name.startswith(asked)}
    return {"id": row.get("id"), "metadata": others, "responses": responses, "suggestions": suggestions}


def _nth(values: Any, number: int) -> Any:
    return values[number] if isinstance(values, list) and number < len(values) else None


def _add_record(found: entries.Found, where: str, record: dict[str, Any], reading: entries.Reading) -> None:
    responses, suggestions = record.get("responses") or {}, record.get("suggestions") or {}
    if not isinstance(responses, dict) or not isinstance(suggestions, dict):
        raise ImportingError(f"{where}: no table of responses; write the records with dataset.records.to_json")
    where = f"{where} record {decoding.as_text(record.get('id')) or ''}".rstrip()
    name_of = decoding.as_text(record.get("id")) or where
    metadata = record.get("metadata")
    mark = mark_of(metadata, where)
    add_failed(found, where, record, mark, PLACES)
    for user, values in _by_user(found, where, responses).items():
        name = (mark.raters.get(user) if mark else None) or reading.pseudonym(user)
        answers, texts = _told(values, mark)
        add_answers(found, Answers(where, "human", name, record, answers, texts, mark, name=name_of), reading, PLACES)
    for agent, values in _by_agent(suggestions).items():
        answers, texts = _told(values, mark)
        add_answers(found, Answers(where, "judge", agent, record, answers, texts, mark, name=name_of), reading, PLACES)


def _by_user(found: entries.Found, where: str, responses: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """user -> question -> value. Raises ImportingError where a user answers a question twice."""
    users: dict[str, dict[str, str]] = defaultdict(dict)
    for question, listed in responses.items():
        for response in _objects(listed, f"{where} {question}"):
            user = decoding.as_text(response.get("user_id")) or ""
            if response.get("status") in UNUSED:
                found.leave("answers in drafts or discarded responses")
            elif question in users[user]:
                raise ImportingError(f"{where}: user {user!r} answers {question!r} twice; keep one response")
            elif response.get("value") is not None:
                users[user][question] = _value(response["value"], f"{where} {question}")
    return users


def _objects(listed: Any, where: str) -> Iterator[dict[str, Any]]:
    for response in listed if isinstance(listed, list) else [listed]:
        if not isinstance(response, dict):
            raise ImportingError(f"{where}: a response is no object with value and user_id; write with records.to_json")
        yield response


def _by_agent(suggestions: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    agents: dict[str, dict[str, str]] = defaultdict(dict)
    for question, suggestion in suggestions.items():
        if isinstance(suggestion, dict) and suggestion.get("value") is not None:
            agents[decoding.as_text(suggestion.get("agent")) or ""][question] = _value(suggestion["value"], question)
    return agents


def _value(value: Any, where: str) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    text = decoding.as_text(value)
    if text is None:
        raise ImportingError(
            f"{where}: a ranking, a span or several labels; only questions with one answer can be read"
        )
    return text


def _told(values: Mapping[str, str], mark: Mark | None) -> tuple[dict[str, str], dict[str, str]]:
    """Answers and texts. A text of another tool is no answer where its name says why, or where it is long."""
    if mark:
        texts = {name for name in values if name.endswith(RATIONALE)}
    else:
        texts = {
            name
            for name, value in values.items()
            if len(value) > LONG or "\n" in value or any(word in name.lower() for word in WHY)
        }
    return {name: values[name] for name in values if name not in texts}, {name: values[name] for name in texts}

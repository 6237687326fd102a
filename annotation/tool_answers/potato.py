"""Layout `potato`: annotations of Potato with its instances: a project's folder, or a file whose rows say their topic.

Read are, of Potato 2.12: `user_state.json` of each annotator, and `annotations.jsonl` or `.csv` as
`python -m potato.export` writes them; of Potato 1: `USER/annotated_instances.jsonl` with `label_annotations`. Topic and
systems are in the instances (any other .jsonl, .json or .csv of the folder). Our own export is read too.

A and B of a pairwise scheme are tiles, A the first shown. Potato 2.12 may record an order for each scheme of a page
that shows one: where the orders of a page differ, nobody knows which report was A, and such answers are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting
from annotation.files.rows import read_csv, read_json, read_json_rows
from annotation.tool_answers.answers import RATIONALE, Answers, Mark, add_answers, add_failed, mark_of
from annotation.tool_answers.entries import Found, Reading, metadata_places

PLACES = metadata_places("data")
STATE, FIRST_VERSION = "user_state.json", "annotated_instances.jsonl"
EXPORTED = ("annotations.jsonl", "annotations.csv")
KINDS = (STATE, FIRST_VERSION, *EXPORTED)  # the first that a folder holds is read: the others say the same again
VALUED = ("selection", "scale_value", "number", "slider", "text_box")  # labels whose value, not whose name, is said
TEXT, REASONS = "text_box", "justification"
ID_KEY = re.compile(r"""["']?id_key["']?\s*:\s*["']?([\w.-]+)""")
NOT_CHOSEN = ("", "false", "False", "None")


@dataclass(frozen=True)
class Page:
    """What one annotator said of one instance: scheme -> label -> value; `orders`: what Potato recorded as shown."""

    where: str
    instance: str
    user: str
    labels: Mapping[str, Mapping[str, Any]]
    orders: tuple[Any, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)


def read_potato(path: Path, reading: Reading) -> Found:
    """The criterion is a scheme's name; a text scheme named after another, or its justification, is its reason.

    Topic and systems are the instance's, else as --map says: `--map topic=data.NAME,…`.
    """
    found = Found()
    entries = reading.files(path, "*")
    kind = next((name for name in KINDS if any(file.name == name for file, _ in entries)), None)
    if kind is None and path.is_dir():
        raise ImportingError(f"{path}: no {', '.join(KINDS[:-1])} or {KINDS[-1]}; give a project of Potato")
    instances: dict[str, Mapping[str, Any]] = {}
    for file, shown in entries if path.is_dir() else []:
        if file.name not in KINDS:
            with collecting(found.problems):
                instances |= _instances(file, shown, _id_key(path), reading.encoding)
    for file, shown in [entry for entry in entries if entry[0].name == kind] or entries:
        with collecting(found.problems):
            for page in _pages(file, shown, found.problems, reading.encoding):
                with collecting(found.problems):
                    _add_page(found, page, instances, reading)
    for where, data in instances.items():
        with collecting(found.problems):
            add_failed(found, f"instance {where}", {"data": data}, mark_of(data, where), PLACES)
    return found


def _id_key(path: Path) -> str:
    """How the configuration calls an instance's id."""
    for config in sorted([*path.glob("*.yaml"), *path.glob("*.yml")]):
        if told := ID_KEY.search(config.read_text(encoding="utf-8", errors="replace")):
            return told[1]
    return "id"


def _instances(file: Path, shown: str, key: str, encoding: str) -> dict[str, Mapping[str, Any]]:
    """Instances by id; rows without one belong to something else."""
    suffix = file.suffix.lower()
    if suffix not in (".jsonl", ".json", ".csv"):
        return {}
    ignored: list[str] = []
    try:
        rows = read_csv(file, shown, ignored, encoding)[1] if suffix == ".csv" else None
        rows = read_json_rows(file, shown, ignored, encoding) if rows is None else rows
    except ImportingError:  # layouts and caches of Potato are JSON as well, of other shapes
        return {}
    return {text: row.values for row in rows if (text := as_text(row.values.get(key)))}


def _pages(file: Path, shown: str, problems: list[str], encoding: str) -> Iterator[Page]:
    if file.name == STATE:
        yield from _state(read_json(file, shown, encoding), file, shown)
        return
    is_csv = file.suffix.lower() == ".csv"
    rows = read_csv(file, shown, problems, encoding)[1] if is_csv else read_json_rows(file, shown, problems, encoding)
    for row in rows:
        values = row.values
        instance = as_text(values.get("instance_id") or values.get("id")) or ""
        user = as_text(values.get("user_id") or values.get("user")) or ""
        if not user and file.name == FIRST_VERSION:
            user = file.parent.name
        held = _columns(values) if is_csv else values.get("labels", values.get("label_annotations"))
        if not instance or not isinstance(held, Mapping):
            raise ImportingError(f"{row.where}: no instance_id and labels; give annotations of Potato")
        origin = values.get("annotator_origin")
        origin = origin if isinstance(origin, Mapping) else {"kind": origin} if origin else {}
        yield Page(f"{row.where} instance {instance}", instance, user, _tables(held, row.where), (), origin)


def _state(state: Any, file: Path, shown: str) -> Iterator[Page]:
    held = state.get("instance_id_to_label_to_value") if isinstance(state, Mapping) else None
    if not isinstance(held, Mapping):
        raise ImportingError(f"{shown}: no 'instance_id_to_label_to_value'; give the user_state.json of Potato 2")
    user = as_text(state.get("user_id")) or file.parent.name
    orders = state.get("instance_id_to_presentation_order") or {}
    for instance, listed in held.items():
        where = f"{shown}: instance {instance}"
        recorded = orders.get(instance) if isinstance(orders, Mapping) else None
        found = tuple(recorded.values()) if isinstance(recorded, Mapping) else ()
        origin = state.get("origin")
        yield Page(where, instance, user, _tables(listed, where), found, origin if isinstance(origin, Mapping) else {})


def _tables(listed: Any, where: str) -> dict[str, dict[str, Any]]:
    """scheme -> label -> value, from that or from pairs of {schema, name} and a value."""
    if isinstance(listed, Mapping):
        return {name: dict(table) if isinstance(table, Mapping) else {name: table} for name, table in listed.items()}
    tables: dict[str, dict[str, Any]] = {}
    for pair in listed if isinstance(listed, list) else [listed]:
        label = pair[0] if isinstance(pair, list) and len(pair) == 2 else None
        if not isinstance(label, Mapping) or "schema" not in label:
            raise ImportingError(f"{where}: labels are not pairs of schema and value; give what Potato 2 wrote")
        tables.setdefault(str(label["schema"]), {})[str(label.get("name") or "")] = pair[1]
    return tables


def _columns(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The columns `scheme.label` of an exported table; a scheme's name may hold dots, a label of ours may not."""
    tables: dict[str, dict[str, Any]] = {}
    for column, value in values.items():
        scheme, dot, label = column.rpartition(".")
        if dot and value and not label.startswith("_"):
            tables.setdefault(scheme, {})[label] = value
    return tables


def _add_page(found: Found, page: Page, instances: Mapping[str, Mapping[str, Any]], reading: Reading) -> None:
    data = instances.get(page.instance, {})
    mark = mark_of(data, page.where)
    answers: dict[str, str] = {}
    texts: dict[str, str] = {}
    for scheme, table in page.labels.items():
        if mark and len(table) == 1:
            (texts if scheme.endswith(RATIONALE) else answers)[scheme] = as_text(*table.values()) or ""
            continue
        text, answer = _said(table, f"{page.where} {scheme}")
        if text:
            texts[scheme if TEXT in table else scheme + RATIONALE] = text
        if answer:
            answers[scheme] = answer
    machine = page.origin.get("kind", "human") != "human"
    rater = as_text(page.origin.get("model")) or page.user if machine else page.user
    named = mark.raters.get(page.user) if mark and not machine else None
    rater = named or (rater if mark and machine else reading.pseudonym(rater))
    data, sides = _ordered(found, page, data, answers, mark)
    given = Answers(
        page.where, "judge" if machine else "human", rater, {"data": data}, answers, texts, mark, sides, page.instance
    )
    add_answers(found, given, reading, PLACES)


def _said(table: Mapping[str, Any], where: str) -> tuple[str, str]:
    """(text, answer) of one scheme. Raises ImportingError for two labels where one answer is read."""
    text = as_text(table.get(TEXT)) or ""
    if reasons := as_text(table.get(REASONS)):
        text = _why(reasons)
    told = {name: as_text(value) or "" for name, value in table.items() if name not in (TEXT, REASONS)}
    chosen = [value if name in VALUED else name for name, value in told.items() if _is_chosen(name, value)]
    if len(chosen) > 1:
        raise ImportingError(f"{where} holds {len(chosen)} labels; only schemes with one answer can be read")
    return text, chosen[0] if chosen else ""


def _is_chosen(name: str, value: str) -> bool:
    """Potato saves a radio label under its own name; a box that was left has another value."""
    return bool(value) if name in VALUED else value == name or value not in NOT_CHOSEN


def _why(justification: str) -> str:
    """The words of a justification, which Potato keeps as JSON with categories beside them."""
    try:
        held = json.loads(justification)
    except (ValueError, RecursionError):
        return justification
    return (as_text(held.get("rationale")) or "") if isinstance(held, Mapping) else justification


def _ordered(
    found: Found, page: Page, data: Mapping[str, Any], answers: dict[str, str], mark: Mark | None
) -> tuple[Mapping[str, Any], bool | None]:
    """The instance with the report shown first, where Potato recorded it; answers nobody can read are taken out."""
    orders = [[as_text(place) for place in order] for order in page.orders if isinstance(order, list)]
    pairs = [order for order in orders if sorted(map(str, order)) == ["0", "1"]]
    if mark or not pairs:
        return data, None
    if any(order != pairs[0] for order in pairs):
        lost = [scheme for scheme, answer in answers.items() if answer in ("A", "B")]
        for scheme in lost:
            del answers[scheme]
        found.leave(
            "answers A or B left out: Potato recorded different orders for the questions of one page", len(lost)
        )
        return data, None
    return {**data, "first": "A" if pairs[0][0] == "0" else "B"}, True

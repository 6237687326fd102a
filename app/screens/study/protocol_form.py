"""A protocol as a form of fields: each is a key of its TOML, of the kind that the protocol's own model says.

The text is all that is kept: a field writes into it, and what the protocol refuses is said at the field of its key.
"""

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from math import isfinite
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import streamlit as st
import tomlkit
from pydantic import BaseModel

from annotation.protocol import ANSWERS_OF, Protocol
from app.screens import report_page
from app.texts import catalogues
from plain.wording import worded

Path = tuple[str | int, ...]
LONG = ("task", "guidance", "study.consent", "criterion.text")
LABELS = {
    "title": "Title, which annotators see", "task": "What is asked of them",
    "guidance": "Instructions, in Markdown", "language": "Language of their pages", "task_type": "What they do",
    "criterion.id": "Id, as exports have it", "criterion.label": "Name, as people see it", "criterion.text": "Question",
    "criterion.category": "Group", "criterion.weight": "Weight",
    "answers.allow_tie": "A tie may be answered", "answers.allow_not_applicable": "“Not applicable” may be answered",
    "answers.confidence": "Ask how sure they are, 1 to 5", "answers.scale.min": "Lowest score",
    "answers.scale.max": "Highest score", "answers.scale.step": "Step; 0 is any number",
    "answers.paired_view": "Shown beside the report", "answers.probe": "What is checked",
    "answers.context": "Against", "answers.ordered": "The answers are a scale, in this order",
    "answers.labels.id": "Id, as exports have it", "answers.labels.text": "Answer", "answers.labels.weight": "Weight",
    "rationale.required": "A reason is required", "rationale.min_length": "Characters at least",
    "reports.images": "Pictures of reports", "study.layout": "Layout of reports", "study.overlap": "Annotators an item",
    "study.topic_once": "No topic twice for one person", "study.criteria_order": "Order of the questions",
    "study.retest_share": "Share of own items shown again", "study.aids": "Aids on their page",
    "study.earlier_reasons": "Own earlier reasons may be read", "study.guess_system": "Ask who wrote it, afterwards",
    "study.training.items": "Training items first", "study.training.pass_mark": "Share to pass",
    "study.training.attempts": "Attempts", "study.attention.every": "An attention item every",
    "study.attention.policy": "Who fails one", "study.consent": "Consent text, in Markdown; empty asks nobody",
    "study.pay.rate": "Pay an active hour", "study.pay.currency": "Currency", "study.blind_until": "Systems are named",
}  # fmt: skip
TASKS = {
    "pairwise_choice": "say which of two reports is better",
    "pointwise_rating": "score reports",
    "probe_label": "check claims against reports",
}
CHOICES = {
    "none": "none", "reference": "reference", "evidence": "evidence", "both": "both", "claim": "claim",
    "statement": "statement", "fact": "fact", "key point": "key point", "insight": "insight", "document": "document",
    "requirement": "requirement", "report": "report", "sources": "sources", "show": "show", "caption": "caption",
    "remove": "remove", "kept": "kept", "spacing": "spacing", "canonical": "canonical", "plain": "plain",
    "protocol": "as they stand here", "shuffled": "shuffled", "note": "note", "warn": "warn",
    "pause": "pause", "undo": "undo",
    "spell_check": "spell check", "breaks": "breaks", "pace": "pace", "bookmarks": "bookmarks", "notes": "notes",
    "closed": "once the study is closed", "open": "at any time",
}  # fmt: skip
NEW: dict[str, dict[str, Any]] = {
    "criterion": {"id": "criterion_{}", "label": "New question", "text": "What is asked?"},
    "answers.labels": {"id": "answer_{}", "text": "New answer"},
}
NEEDED: dict[str, dict[str, Any]] = {  # keys that a task cannot do without
    "pointwise_rating": {"scale": {"min": 0, "max": 10}},
    "probe_label": {"probe": "claim", "labels": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}]},
}


class Form:
    """The fields of the text in `st.session_state[key]`. `problems`: what is refused, by key; each is said once."""

    def __init__(self, key: str, doc: dict[str, Any], problems: Sequence[tuple[str, str]]) -> None:
        self._key, self._doc = key, doc
        self._problems = list(problems)

    def show(self) -> list[str]:
        """Draw it on three tabs; what is refused and has no field here is returned."""
        asked, answers, people = st.tabs([worded("What is asked"), worded("Answers"), worded("People")])
        with asked:
            self._fields("title", "task", "guidance", "task_type", "language")
            self._list("criterion", "label", ("id", "label", "text", "category", "weight"))
        with answers:
            self._answers()
            self._fields("rationale.required", "rationale.min_length")
            self._row("reports.images", "study.layout")
        with people:
            self._row("study.overlap", "study.retest_share")
            self._fields(
                "study.criteria_order", "study.topic_once", "study.aids", "study.earlier_reasons", "study.guess_system"
            )
            self._fields("study.training.items")
            self._row("study.training.pass_mark", "study.training.attempts")
            self._row("study.attention.every", "study.attention.policy")
            self._fields("study.blind_until")
            self._fields("study.consent")
            self._row("study.pay.rate", "study.pay.currency")
        return [said for _, said in self._problems]

    def _answers(self) -> None:
        task = self._doc.get("task_type")
        if task == "pairwise_choice":
            self._fields("answers.allow_tie")
        if task == "pointwise_rating":
            self._row("answers.scale.min", "answers.scale.max")
            self._fields("answers.scale.step")
            self._refused("answers.scale")
            self._fields("answers.paired_view")
        if task == "probe_label":
            self._row("answers.probe", "answers.context")
            self._list("answers.labels", "text", ("id", "text", "weight"))
            self._fields("answers.ordered")
        self._fields("answers.allow_not_applicable", "answers.confidence")

    def _row(self, *names: str) -> None:
        for column, name in zip(st.columns(len(names)), names, strict=True):
            with column:
                self._fields(name)

    def _fields(self, *names: str) -> None:
        for name in names:
            self._field(tuple(name.split(".")))

    def _list(self, name: str, called: str, fields: Sequence[str]) -> None:
        """One of a list at a time, with what adds, removes and moves it."""
        path = tuple(name.split("."))
        rows = _at(self._doc, path) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self._refused(name)  # to be mended in the TOML, as a single [criterion]
            return
        chosen_key = f"{self._key}/{name}/chosen"
        chosen = min(st.session_state.get(chosen_key) or 0, max(0, len(rows) - 1))
        st.session_state[chosen_key] = chosen if rows else None
        st.selectbox(
            worded("Question" if name == "criterion" else "Answer"), range(len(rows)), key=chosen_key,
            format_func=lambda at: worded("{n} of {of}: {name}", n=at + 1, of=len(rows), name=rows[at].get(called, "")),
        )  # fmt: skip
        with st.container(horizontal=True, gap="small"):
            act = partial(self._listed, path, chosen_key)
            self._button("Add", worded("Add"), name, act, _added)
            self._button("Up", worded("Up"), name, act, partial(_moved, by=-1), not chosen)
            self._button("Down", worded("Down"), name, act, partial(_moved, by=1), chosen >= len(rows) - 1)
            self._button("Remove", worded("Remove"), name, act, _removed, not rows)
        if rows:
            self._field((*path, chosen, fields[0]))
            for field in fields[1:]:
                self._field((*path, chosen, field))
        self._refused(name)

    def _button(
        self, word: str, label: str, name: str, act: Callable[..., None], change: Callable[..., Any],
        is_off: bool = False,
    ) -> None:  # fmt: skip
        st.button(label, key=f"{self._key}/{name}/{word}", on_click=act, args=(change,), disabled=is_off)

    def _listed(self, path: Path, chosen_key: str, change: Callable[..., tuple[list[Any], int]]) -> None:
        """Change the list, and choose what it was about."""
        rows, chosen = change(
            list(_at(self._doc, path) or []), st.session_state[chosen_key] or 0, ".".join(map(str, path))
        )
        self._put(path, rows)
        st.session_state[chosen_key] = chosen

    def _field(self, path: Path) -> None:
        """One widget, of the kind that the protocol's model says, and what is refused of its key."""
        name = ".".join(step for step in path if isinstance(step, str))
        kind, default = _known(path)
        value, key, label = _at(self._doc, path), f"{self._key}/{'.'.join(map(str, path))}", worded(LABELS[name])
        options: Sequence[Any] = get_args(kind) if get_origin(kind) is Literal else ()
        options = sorted(catalogues()) if name == "language" else options
        changed: dict[str, Any] = {"key": key, "on_change": self._changed, "args": (path, key)}
        value = default if value is None else value
        if name == "study.aids":
            aids = get_args(get_args(kind)[0])
            st.session_state[key] = [one for one in aids if isinstance(value, list | tuple) and one in value]
            st.multiselect(label, aids, format_func=_choice, **changed)
        elif options:
            st.session_state[key] = value if value in options else None
            st.selectbox(label, options, format_func=_choice, **changed)
        elif kind is bool:
            st.session_state[key] = value is True
            st.checkbox(label, **changed)
        elif kind in (int, float):
            st.session_state[key] = kind(value) if isinstance(value, int | float) and isfinite(value) else None
            st.number_input(label, step=kind(1) if kind is int else 0.05 if kind(value or 0) <= 1 else 1.0, **changed)
        else:
            st.session_state[key] = str(value or "")
            area = name in LONG
            (partial(st.text_area, height=96 if name != "task" else 68) if area else st.text_input)(label, **changed)
        self._refused(_place(path))

    def _refused(self, place: str) -> None:
        """Say what is refused of this key, or of one within it that has no field."""
        mine = [one for one in self._problems if one[0] == place or one[0].startswith((f"{place}.", f"{place}["))]
        self._problems = [one for one in self._problems if one not in mine]
        for at, said in mine:
            told = said.removeprefix(at + worded(": ")) if at == place else said
            report_page.section(f'<p class="c-red s-refused" role="alert">{escape(told)}</p>')

    def _changed(self, path: Path, key: str) -> None:
        value = st.session_state[key]
        if path == ("task_type",):
            answers = _at(self._doc, ("answers",))
            foreign = set().union(*ANSWERS_OF.values()) - ANSWERS_OF[value]
            answers = (
                {name: one for name, one in answers.items() if name not in foreign} if isinstance(answers, dict) else {}
            )
            self._put(("answers",), NEEDED.get(value, {}) | answers)
        self._put(path, value)

    def _put(self, path: Path, value: Any) -> None:
        st.session_state[self._key] = put(st.session_state[self._key], path, value)
        self._doc = tomlkit.parse(st.session_state[self._key]).unwrap()


def put(text: str, path: Path, value: Any) -> str:
    """The TOML with this value at `path`; None, and an empty text that need not be there, take the key away.

    Comments and order stay but for those inside of a list, which is written anew.
    """
    if (at := next((n for n, step in enumerate(path) if isinstance(step, int)), None)) is not None:
        rows = _at(tomlkit.parse(text).unwrap(), path[:at])
        rows[path[at]] = {
            name: one for name, one in (rows[path[at]] | {str(path[-1]): value}).items() if one is not None
        }
        return put(text, path[:at], rows)
    doc: Any = tomlkit.parse(text)
    table = doc
    for step in path[:-1]:
        if not isinstance(table.get(step), dict):  # what stands there instead of a table cannot hold the value
            table[step] = tomlkit.table() if table is doc else tomlkit.inline_table()
        table = table[step]
    if value is None or (value == "" and _known(path)[1] == ""):
        table.pop(path[-1], None)
    else:
        table[path[-1]] = _written(value, path)
    return str(tomlkit.dumps(doc))


def _written(value: Any, path: Path) -> Any:
    """As TOML has it: long texts on lines of their own, whole numbers without a point, criteria as tables."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return tomlkit.string(value.replace("\r\n", "\n"), multiline="\n" in value)
    if isinstance(value, list) and path != ("criterion",):
        rows = tomlkit.array()
        for one in value:
            row = tomlkit.inline_table().update(one) or one if isinstance(one, dict) else one
            rows.append(row)
        return rows.multiline(bool(value) and isinstance(value[0], dict))
    return value


def _at(doc: Any, path: Path) -> Any:
    """What stands at `path`; None where nothing does, or something of another shape."""
    for step in path:
        fits = isinstance(doc, list) and isinstance(step, int) and step < len(doc)
        doc = doc[step] if fits else doc.get(step) if isinstance(doc, dict) else None
    return doc


def _known(path: Path) -> tuple[Any, Any]:
    """The kind of this key's value by the protocol's model, and its default."""
    model: Any = Protocol
    for step in path[:-1]:
        model = model if isinstance(step, int) else _inner(model.model_fields[step].annotation)
    field = model.model_fields[path[-1]]
    return _inner(field.annotation, BaseModel), None if field.is_required() else field.default


def _inner(kind: Any, *but: type) -> Any:
    """The model, or the literal, inside of `X | None` and `tuple[X, ...]`."""
    inside = [one for one in get_args(kind) if one not in (NoneType, ...)]
    if get_origin(kind) is Literal or not inside or (but and get_origin(kind) is tuple):
        return kind
    return inside[0]


def _place(path: Path) -> str:
    """As refusals name it: `criterion[2].label`."""
    return "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _choice(name: str) -> str:
    """What is chosen in words; a language by its tag."""
    return worded(TASKS[name]) if name in TASKS else worded(CHOICES[name]) if name in CHOICES else name


def _added(rows: list[Any], chosen: int, name: str) -> tuple[list[Any], int]:
    taken = {row.get("id") for row in rows}
    number = next(n for n in range(1, len(rows) + 2) if NEW[name]["id"].format(n) not in taken)
    new = NEW[name] | {"id": NEW[name]["id"].format(number)}
    return [*rows[: chosen + 1], new, *rows[chosen + 1 :]], min(chosen + 1, len(rows))


def _removed(rows: list[Any], chosen: int, _: str) -> tuple[list[Any], int]:
    return rows[:chosen] + rows[chosen + 1 :], max(0, chosen - 1)


def _moved(rows: list[Any], chosen: int, _: str, by: int) -> tuple[list[Any], int]:
    rows.insert(chosen + by, rows.pop(chosen))
    return rows, chosen + by

"""A protocol: what raters are asked and what they may answer, read from one TOML file.

An unknown key, a duplicate id, a missing value or a key of another task type is refused by file and key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from annotation.aggregate_rules import refuse_aggregates
from annotation.answer_rules import first_repeated, refuse_keys_of_other_tasks
from annotation.errors import AnnotationError
from annotation.protocol_parts import (
    Aggregate,
    Answers,
    Code,
    CriterionText,
    JudgeDefaults,
    Line,
    Part,
    Rationale,
    Reports,
    StudyDefaults,
    TaskType,
    Text,
)
from annotation.toml_text import read_toml
from annotation.wrong_values import wanted

SHIPPED = Path(__file__).parent / "protocols"


class Protocol(Part):
    format: Literal["calipers-protocol/1"]
    name: Code
    title: Line
    summary: str = ""
    source: str = ""
    language: str = "en"
    task_type: TaskType
    task: Text
    guidance: str = ""
    criteria_from: Literal["protocol", "topics"] = "protocol"
    rationale: Rationale = Rationale()
    reports: Reports = Reports()
    judge: JudgeDefaults = JudgeDefaults()
    calibration: dict[str, Any] = Field({"cluster": "topic"})
    aggregate: tuple[Aggregate, ...] = ()
    answers: Answers = Answers()
    study: StudyDefaults = StudyDefaults()
    criterion: tuple[CriterionText, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Protocol:
        refuse_keys_of_other_tasks(self.task_type, self.answers, self.criterion)
        repeated = first_repeated([c.id for c in self.criterion])
        if repeated:
            raise ValueError(f"criterion id {repeated!r} appears twice; ids must be unique")
        if self.criteria_from == "protocol" and not self.criterion:
            raise ValueError("no [[criterion]]; add at least one, or set criteria_from = 'topics'")
        if self.criteria_from == "topics" and self.criterion:
            raise ValueError("criteria_from = 'topics' and [[criterion]] exclude each other; remove one")
        if isinstance(self.study.adjudicate, tuple) and self.criteria_from == "protocol":
            unknown = sorted(set(self.study.adjudicate) - {c.id for c in self.criterion})
            if unknown:
                raise ValueError(f"study.adjudicate names {unknown[0]!r}, which is no criterion id; correct it")
        refuse_aggregates(self.aggregate, self.task_type, self.answers, self.criterion)
        if self.calibration.get("cluster", "topic") not in ("topic", "item"):
            raise ValueError("calibration.cluster must be 'topic' or 'item'")
        if self.calibration.get("after_reveal", "keep") not in ("keep", "leave_out"):
            raise ValueError("calibration.after_reveal must be 'keep' or 'leave_out'")
        return self

    @property
    def choices(self) -> tuple[str, ...]:
        """The stored answers that are allowed, in key order; empty for a rating, whose scale says it."""
        not_applicable = ("not_applicable",) if self.answers.allow_not_applicable else ()
        if self.task_type == "pairwise_choice":
            return ("left", "right", *(("tie",) if self.answers.allow_tie else ()), *not_applicable)
        if self.task_type == "probe_label":
            return (*(label.id for label in self.answers.labels), *not_applicable)
        return not_applicable


def read_protocol(name_or_path: str | Path) -> tuple[Protocol, str]:
    """A shipped protocol by name, or one from a file; with the text it was read from.

    Raises AnnotationError naming the file, the key and the remedy.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = SHIPPED / f"{name_or_path}.toml"
        if not path.exists():
            raise AnnotationError(
                "unknown_protocol",
                f"no protocol called {str(name_or_path)!r}; shipped are {', '.join(shipped_protocols())}, "
                "or give the path of a .toml file",
            )
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AnnotationError(
            "unknown_protocol", f"{path}: {error.strerror}; give a shipped name or the path of a .toml file"
        ) from None
    except UnicodeDecodeError as error:
        raise AnnotationError(
            "bad_protocol", f"{path}: byte {error.object[error.start]:#04x} at {error.start} is not UTF-8; re-save it"
        ) from None
    protocol = parse_protocol(text, str(path))
    if protocol.name != path.stem:
        raise AnnotationError(
            "bad_protocol", f"{path}: name is {protocol.name!r} but must be the file's stem {path.stem!r}; rename one"
        )
    return protocol, text


@lru_cache(maxsize=64)
def parse_protocol(text: str, source: str = "protocol") -> Protocol:
    """The protocol in `text`. Raises AnnotationError naming `source`, the line or key, and the remedy."""
    try:
        raw = read_toml(text)
    except ValueError as error:
        raise AnnotationError("bad_protocol", f"{source}: not TOML: {error}; correct that place") from None
    try:
        return Protocol.model_validate(raw)
    except ValidationError as error:
        raise AnnotationError("bad_protocol", f"{source}: {_sentence(error, raw)}") from None


def protocol_sha256(text: str) -> str:
    """What a study stores to know its protocol again: sha256 of the file's UTF-8 bytes, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def shipped_protocols() -> list[str]:
    """Names of the protocols that come with calipers, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def _sentence(error: ValidationError, raw: Mapping[str, Any]) -> str:
    """The first problem as `key: what is wrong; what to do`."""
    first = error.errors()[0]
    place = ""
    for step in first["loc"]:
        place += f"[{step + 1}]" if isinstance(step, int) else f"{'.' if place else ''}{step}"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        return f"unknown key {place!r}; remove it or correct its spelling{more}"
    if first["type"] == "missing":
        return f"key {place!r} is required but missing; add it{more}"
    found = "" if first["type"] == "value_error" else f" (found {first.get('input')!r:.60})"
    return f"{place + ': ' if place else ''}{wanted(first)}{found}{more}"

"""What a difference between two runs can be put down to, case by case."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

import pytest

from annotation.errors import AnnotationError
from annotation.judges.reviewing.drift import Identity, JudgedRun, drift

JUDGE = Identity("openai", "openai/gpt-x", "gpt-x-2026-01", None, "p" * 64, "q" * 64, {"temperature": 0})
RUN = JudgedRun(JUDGE, "a" * 64, frozenset({"t1", "t2"}))
OTHER: dict[str, Any] = {
    "provider": "azure", "model": "openai/gpt-y", "snapshot": "gpt-x-2026-06", "endpoint": "http://else/v1",
    "prompt_sha256": "r" * 64, "protocol_sha256": "s" * 64, "params": {"temperature": 1},
}  # fmt: skip


def changed(**values: Any) -> JudgedRun:
    return replace(RUN, identity=replace(JUDGE, **values))


def test_every_field_of_the_identity_is_tried_below() -> None:
    assert set(OTHER) == {field.name for field in fields(Identity)}


@pytest.mark.parametrize("name", OTHER)
def test_one_field_that_differs_on_the_same_reports_is_named_as_a_change_of_the_judge(name: str) -> None:
    found = drift(RUN, changed(**{name: OTHER[name]}))
    assert (found.cause, found.changed) == ("judge changed", (name,))


def test_other_reports_before_the_same_judge_are_a_change_of_the_systems() -> None:
    found = drift(RUN, replace(RUN, shown_sha256=frozenset({"t1", "t3"})))
    assert (found.cause, found.changed) == ("system changed", ("reports",))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (RUN, "neither the judge nor the reports changed"),
        (replace(changed(model="z"), shown_sha256=frozenset({"t9"})), r"both the judge \(model\) and the reports"),
        (
            replace(changed(snapshot=None), shown_sha256=frozenset({"t9"})),
            "the reports changed, and the provider did not",
        ),
        (changed(snapshot=None), "nothing else is seen to have changed"),
    ],
)
def test_nobody_can_tell_where_both_or_neither_changed_or_the_snapshot_is_unknown(after: JudgedRun, said: str) -> None:
    found = drift(RUN, after)
    assert found.cause == "cannot tell"
    assert re.search(said, found.sentence)


def test_runs_held_against_different_labels_are_refused() -> None:
    with pytest.raises(AnnotationError, match="different labels") as refused:
        drift(RUN, replace(RUN, labels_sha256="b" * 64))
    assert refused.value.code == "labels_differ"

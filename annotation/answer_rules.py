"""Which answers a protocol may allow: what each task needs and what belongs to another, refused by key."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.protocol_parts import Answers, CriterionText, TaskType


def refuse_keys_of_other_tasks(asked: TaskType, answers: Answers, criteria: Sequence[CriterionText]) -> None:
    """Raises ValueError naming the first key of `answers` that this task cannot have, or lacks."""
    of_task: dict[str, set[str]] = {
        "pairwise_choice": {"allow_tie"},
        "pointwise_rating": {"scale", "paired_view"},
        "probe_label": {"probe", "context", "labels", "ordered"},
    }
    for task, keys in of_task.items():
        for key in sorted(keys & answers.model_fields_set):
            if task != asked:
                raise ValueError(f"answers.{key} belongs to {task}, not to {asked}; remove it")
    if asked == "pointwise_rating" and answers.scale is None:
        raise ValueError("answers.scale is required for pointwise_rating, e.g. scale = {min = 0, max = 10}")
    if asked != "pointwise_rating" and any(c.scale for c in criteria):
        raise ValueError(f"a criterion's scale belongs to pointwise_rating, not to {asked}; remove it")
    if asked == "probe_label":
        if answers.probe is None:
            raise ValueError("answers.probe is required for probe_label, e.g. probe = 'claim'")
        if len(answers.labels) < 2:
            raise ValueError("answers.labels needs at least two answers for probe_label")
        repeated = first_repeated([label.id for label in answers.labels])
        if repeated:
            raise ValueError(f"answers.labels id {repeated!r} appears twice; ids must be unique")


def first_repeated(names: list[str]) -> str | None:
    """The first name that stands there a second time."""
    return next((name for k, name in enumerate(names) if name in names[:k]), None)

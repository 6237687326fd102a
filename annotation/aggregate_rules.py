"""Which aggregates a protocol may ask for: what each rule needs of the task, refused by the key that is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.protocol_parts import Aggregate, Answers, CriterionText, TaskType

TASKS = {
    "win_rate": ("pairwise_choice",),
    "mean": ("pointwise_rating", "probe_label"),
    "weighted_mean": ("pointwise_rating",),
    "target_share": ("pointwise_rating",),
    "share": ("probe_label",),
    "majority": ("probe_label",),
}
COUNTING = ("share", "majority")  # the rules that count answers


def refuse_aggregates(
    aggregates: Sequence[Aggregate], task: TaskType, answers: Answers, criteria: Sequence[CriterionText]
) -> None:
    """Raises ValueError naming the first key of an `aggregate` that a protocol of this task cannot have."""
    names: set[str] = set()
    for number, one in enumerate(aggregates, start=1):
        wrong = _wrong(one, task, answers, criteria)
        if one.name in names or one.name == "all":
            wrong = f"name: {one.name!r} is taken; every aggregate needs a name of its own"
        names.add(one.name)
        if wrong:
            raise ValueError(f"aggregate[{number}].{wrong}")


def _wrong(one: Aggregate, task: TaskType, answers: Answers, criteria: Sequence[CriterionText]) -> str:
    """The key, what is wrong with it and what to do; nothing where all is well."""
    if task not in TASKS[one.rule]:
        fitting = ", ".join(rule for rule, tasks in TASKS.items() if task in tasks)
        return f"rule: {one.rule} is for {' and '.join(TASKS[one.rule])}, not for {task}; use one of {fitting}"
    known = [label.id for label in answers.labels]
    unknown = [label for label in one.labels if label not in known]
    if unknown:
        return f"labels: {unknown[0]!r} is none of answers.labels ({', '.join(known)}); correct it"
    if one.rule in COUNTING and not one.labels:
        return f"labels: {one.rule} counts some of the answers; name them, such as labels = [{known[0]!r}]"
    if one.by and (one.by != "tag" or task != "probe_label"):
        return f"by: only 'tag' can be averaged over, and only of probe_label (found {one.by!r}); leave it out"
    if "several" in one.model_fields_set and one.rule not in COUNTING:
        return "several: only share and majority count a claim with several sources once; leave it out"
    asked = {criterion.id for criterion in criteria}
    strange = [name for name in one.criteria if asked and name not in asked]
    if strange:
        return f"criteria: {strange[0]!r} is no criterion id ({', '.join(sorted(asked))}); correct it"
    return _wrong_with_target_share(answers, criteria) if one.rule == "target_share" else ""


def _wrong_with_target_share(answers: Answers, criteria: Sequence[CriterionText]) -> str:
    if answers.paired_view != "both":
        return "rule: target_share needs both reports rated in one view; set answers.paired_view = 'both'"
    scales = [answers.scale, *(criterion.scale for criterion in criteria)]
    if any(scale is not None and scale.min < 0 for scale in scales):
        return "rule: target_share divides totals; let every scale start at 0 or above"
    return ""

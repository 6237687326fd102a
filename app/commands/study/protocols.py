"""What each shipped protocol asks, of whom, and which table it leads to; and a copy of one, to be changed."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from annotation.errors import AnnotationError
from annotation.protocol import Aggregate, Protocol, Scale, parse_protocol, read_protocol

# whose labels fill the table of a published study, in its own form
PRESET_OF = {
    "wlc_writing_39": "wlc",
    "drg_overall": "deepresearchgym",
    "drg_quality": "deepresearchgym",
    "dr3_total": "dr3_eval",
    "race": "race",
}
BATCHES = {"all": "all criteria in one call", "by_category": "one call a category", "one_criterion": "one call each"}
WIDTH, INDENT = 80, 10


@dataclass(frozen=True)
class Description:
    """One shipped protocol in words. `preset`: the name of a published study's table, "" for none."""

    name: str
    title: str
    source: str
    task_type: str
    criteria: int  # 0: they come with each topic
    item: str
    answers: tuple[str, ...]
    scale: str
    summary: str
    judges: str
    overlap: int
    pay: str
    aggregates: tuple[str, ...]
    preset: str


def describe(protocol: Protocol) -> Description:
    """The protocol as `calipers init --list` tells it."""
    pay = protocol.study.pay
    return Description(
        name=protocol.name,
        title=protocol.title,
        source=protocol.source,
        task_type=protocol.task_type,
        criteria=len(protocol.criterion),
        item=_item(protocol),
        answers=protocol.choices,
        scale=_scale(protocol.answers.scale) if protocol.answers.scale else "",
        summary=protocol.summary,
        judges=_judges(protocol),
        overlap=protocol.study.overlap,
        pay=f"{pay.rate:g} {pay.currency} an hour" if pay.rate else "",
        aggregates=tuple(_aggregate(aggregate, protocol) for aggregate in protocol.aggregate),
        preset=PRESET_OF.get(protocol.name, ""),
    )


def as_block(description: Description) -> str:
    """A block of lines of at most 80 columns, for a terminal."""
    asked = {0: "its topic's criteria", 1: "1 question"}.get(description.criteria, f"{description.criteria} criteria")
    answers = " | ".join(part for part in (description.scale, *description.answers) if part)
    people = f"{description.overlap} an item" + (f", {description.pay}" if description.pay else "")
    table = [
        *description.aggregates,
        *([f"the study's own form: --preset {description.preset}"] if description.preset else []),
    ]
    parts = {
        "used by": description.source,
        "task": f"{description.task_type}: {description.item}, {asked}",
        "answers": answers,
        "a rater": description.summary,
        "people": people,
        "judges": description.judges,
        "table": "; ".join(table) or "agreement, and win rates of systems",
    }
    lines = [line for label, text in parts.items() for line in _hanging(label, text)]
    return "\n".join([*textwrap.wrap(f"{description.name}: {description.title}", WIDTH), *lines])


def copy_protocol(name: str, to: Path) -> Protocol:
    """Write a shipped protocol to a file under the file's own name. Raises AnnotationError where the file exists."""
    _, text = read_protocol(name)
    if to.suffix != ".toml":
        raise AnnotationError("bad_name", f"{to}: a protocol is a .toml file; call it {to.with_suffix('.toml').name}")
    renamed = re.sub(r'(?m)^name = ".*"$', lambda _: f'name = "{to.stem}"', text, count=1)
    copied = parse_protocol(renamed, str(to))
    try:
        with to.open("x", encoding="utf-8", newline="\n") as file:
            file.write(renamed)
    except FileExistsError:
        raise AnnotationError("exists", f"{to}: a file is there already; nothing was written, choose another") from None
    except OSError as error:
        raise AnnotationError("cannot_write", f"{to}: {error.strerror}; choose another place") from None
    return copied


def _hanging(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"  {label:<{INDENT - 2}}", subsequent_indent=" " * INDENT, break_on_hyphens=False
    )


def _item(protocol: Protocol) -> str:
    answers = protocol.answers
    if protocol.task_type == "pairwise_choice":
        files = ", and the task's files, if any" if answers.paired_view == "evidence" else ""
        return f"two reports side by side{files}"
    if protocol.task_type == "pointwise_rating":
        beside = {
            "none": "one report", "reference": "one report beside a reference", "both": "two reports, both rated",
            "evidence": "one report beside the task's files, if any",
        }  # fmt: skip
        return beside[answers.paired_view]
    context = {"report": "the report", "sources": "its sources, if any", "both": "the report and its sources"}
    return f"one {answers.probe} against {context[answers.context]}"


def _scale(scale: Scale) -> str:
    steps = "any number" if not scale.step else "whole numbers" if scale.step == 1 else f"steps of {scale.step:g}"
    shown = f", shown x{scale.shown_times:g}" if scale.shown_times != 1 else ""
    return f"{scale.min:g} to {scale.max:g}, {steps}{shown}"


def _judges(protocol: Protocol) -> str:
    if protocol.task_type == "probe_label":
        several = protocol.judge.items_per_call
        return f"up to {several} on one text in a call" if several > 1 else "one in a call"
    orders = {"both": "in both orders", "random": "in a drawn order", "first_only": "in one order"}
    paired = protocol.task_type == "pairwise_choice" or protocol.answers.paired_view == "both"
    batch = "one call" if len(protocol.criterion) == 1 else BATCHES[protocol.judge.batching]
    return f"{batch}, {orders[protocol.judge.order]}" if paired else batch


def _aggregate(aggregate: Aggregate, protocol: Protocol) -> str:
    """`KPR = share of Supported`; a mean says what each answer counts."""
    weights = {label.id: f"{label.id} ({label.weight:g})" for label in protocol.answers.labels if label.on_scale}
    labels = [weights.get(name, name) if aggregate.rule == "mean" else name for name in aggregate.labels]
    counted = labels or [*aggregate.criteria] or ([*weights.values()] if aggregate.rule == "mean" else [])
    of = f" of {', '.join(counted)}" if counted else ""
    several = f", a claim by {aggregate.several} of its sources" if aggregate.several == "any" else ""
    by = f", averaged over {aggregate.by}s" if aggregate.by else ""
    return f"{aggregate.name} = {aggregate.rule.replace('_', ' ')}{of}{several}{by}"

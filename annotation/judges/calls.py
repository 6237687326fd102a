"""Which calls a judge needs: what each shows in which order, what it asks, and how large it is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.judges.accounts import Resolved
from annotation.judges.material import material_of
from annotation.judges.pairs import LabelledItem
from annotation.judges.passes import Pass, batches
from annotation.judges.prices import CallSize
from annotation.judges.prompt import Asked, Probe, build_prompt, canonical_sha256
from annotation.protocol import Protocol
from annotation.scores import scale_of
from annotation.work.shown import ShownText
from db.tables import Criterion


@dataclass(frozen=True)
class PlannedCall:
    """A call before it is a row: what is shown in which order, and what is asked. `key` depends on all of it."""

    key: str
    items: tuple[LabelledItem, ...]
    shown: Pass
    shown_sha256: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    size: CallSize

    @property
    def served(self) -> dict[tuple[int, int], Pass]:
        """The passes that it answers, by item and pass_no."""
        return {(key, own.pass_no): own for item in self.items for key, own in item.served(self.shown)}


def planned_calls(
    study_id: int,
    protocol: Protocol,
    template: str,
    resolved: Resolved,
    groups: Sequence[tuple[LabelledItem, ...]],
    passes: Mapping[int, tuple[Pass, ...]],
    questions: Mapping[int, Sequence[Criterion]],
) -> Iterator[PlannedCall]:
    """Every call a judge needs: group by group, so that both orders of a pair are done before the next one."""
    frames: dict[tuple[object, ...], CallSize] = {}
    for group in groups:
        first, asked = group[0], questions[group[0].topic_id]
        batched = batches(asked, [row.category for row in asked], resolved.definition.batching)
        for shown in passes[first.item_id]:
            in_order = first.sha256 if shown.left != "B" else first.sha256[::-1]
            for criteria in batched:
                kind = (*(row.id for row in criteria), len(group), first.names)
                if kind not in frames:
                    frames[kind] = _frame(protocol, template, criteria, first.names, len(group))
                key = canonical_sha256(
                    {
                        "study": study_id,
                        "judge": resolved.definition.name,
                        "config": resolved.sha256,
                        "items": [key for item in group for key, _ in item.served(shown)],
                        "shown": list(in_order),
                        "criteria": [[row.code, row.text_sha256] for row in criteria],
                        "left": shown.left,
                        "repeat": shown.repeat_no,
                    }
                )
                yield PlannedCall(key, group, shown, in_order, criteria, _size(frames[kind], group))


def _size(frame: CallSize, group: Sequence[LabelledItem]) -> CallSize:
    """With its texts, which stand in the prompt once, and every probe."""
    more = [item.probe or "" for item in group[1:]]
    return CallSize(
        frame.characters + group[0].characters + sum(map(len, more)),
        frame.utf8_bytes + group[0].utf8_bytes + sum(len(text.encode()) for text in more),
        frame.criteria,
    )


def _frame(
    protocol: Protocol, template: str, criteria: Sequence[Criterion], names: Sequence[str], probes: int
) -> CallSize:
    """The size of a prompt without its texts."""
    empty = material_of(
        protocol, template, [Asked(r.id, r.code, r.label, r.text, scale_of(protocol, r.scale)) for r in criteria],
        title="", prompt="", shown=[ShownText(name, "", "", "") for name in names],
        probes=[Probe("", f"{number:08x}") for number in range(probes)] if protocol.answers.probe else (),
    )  # fmt: skip
    prompt = build_prompt(empty, "plain")
    return CallSize(prompt.characters, prompt.utf8_bytes, len(empty.criteria))

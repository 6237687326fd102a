"""What a variant of a judge's wording is, how its answers are scored against people's, what is told of them. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.designs.sides_and_orders import OTHER
from annotation.judges.aligning.align_plan import Said
from annotation.judges.asking.prompt import DATA
from annotation.judges.reviewing import replies_again
from annotation.protocol import Protocol

HEADING = "How the criteria are applied in this study"
MOST_CHARACTERS, MOST_WORDS = 6_000, 300  # of instructions: longer ones learn their items by heart
SHOWN_CHARACTERS = 1_500  # of a text, for the model that writes instructions
SYSTEM_BLOCK, END = re.compile(r"{%-?\s*block system\b"), re.compile(r"{%-?\s*endblock\b")


def mean_score(scores: Iterable[float]) -> float:
    """What variants are ordered by; no estimate of anything. nan without any."""
    given = list(scores)
    return sum(given) / len(given) if given else float("nan")


@dataclass
class Variant:
    """Instructions, with so many examples, and the scores (0 to 1) of its answers by item on topics it is chosen on.

    `answers`: by item, what it answered there, whatever the order.
    """

    text: str
    template: str
    examples: int = 0
    scores: dict[int, float] = field(default_factory=dict)
    answers: dict[int, tuple[str | None, ...]] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean over items; -1 before any was scored."""
        return mean_score(self.scores.values()) if self.scores else -1.0

    def is_constant(self, people: Sequence[str]) -> bool:
        """Whether it always answers the same where people do not."""
        given = {answer for answers in self.answers.values() for answer in answers}
        return len(given) == 1 and len({*people}) > 1


def with_instructions(template: str, text: str) -> str:
    """The template with these instructions at the end of its system message, as plain words that no brace can leave."""
    if not text:
        return template
    at = END.search(template, begun.end()) if (begun := SYSTEM_BLOCK.search(template)) else None
    place = at.start() if at else 0
    return f"{template[:place]}\n{HEADING}\n{{% raw %}}\n{text.strip()}\n{{% endraw %}}\n{template[place:]}"


def why_unfit(text: str) -> str:
    """Why these instructions are not tried, or ""."""
    if not text.strip():
        return "they are empty"
    if len(text) > MOST_CHARACTERS:
        return f"they have {len(text):,} characters; at most {MOST_CHARACTERS:,} are tried"
    return "they hold a tag of the template's language" if "{%" in text else ""


def agreement(verdict: str | None, people: Sequence[Said], scale: tuple[float, float] | None) -> float:
    """Share of the annotators who said the same; on a scale, 1 less the mean distance as a share of it.

    No usable answer is 0, as disagreement is. `people` is not empty.
    """
    return mean_score(_alike(verdict, said, scale) for said, _ in people)


def _alike(verdict: str | None, said: str, scale: tuple[float, float] | None) -> float:
    if verdict is None or scale is None or "not_applicable" in (verdict, said):
        return float(verdict == said)
    return 1 - abs(float(verdict) - float(said)) / (scale[1] - scale[0])


def records(
    protocol: Protocol, titles: Mapping[int, str], answers: Sequence[replies_again.Said],
    people: Mapping[tuple[int, str], Sequence[Said]],
) -> list[dict[str, str]]:  # fmt: skip
    """What the model that writes instructions is told of each item: its texts, the judge's answers, and people's."""
    told = []
    for item in sorted({one.item for one in answers}):
        mine = [one for one in answers if one.item == item]
        first = min(mine, key=lambda one: (one.left or "", one.repeat))
        shown = [one for one in mine if (one.left, one.repeat) == (first.left, first.repeat)]
        ordered = first.texts[::-1] if first.left == "B" else first.texts
        texts = {
            f"{place} report, its beginning": _beginning(text)
            for place, text in zip(("First", "Second"), ordered, strict=False)
        }
        compared = {f"Criterion {one.criterion}": _compared(protocol, one, mine, people) for one in shown}
        told.append({"Topic": titles.get(item, ""), **texts, **compared})
    return told


def _compared(
    protocol: Protocol, one: replies_again.Said, mine: Sequence[replies_again.Said],
    people: Mapping[tuple[int, str], Sequence[Said]],
) -> str:  # fmt: skip
    lines = [f"the judge answered {_word(one.verdict, one.left)}: {one.rationale or 'no reason given'}"]
    swapped = [other for other in mine if other.criterion == one.criterion and other.left != one.left]
    if swapped and swapped[0].verdict != one.verdict:
        lines.append(f"with the reports swapped it answered {_word(swapped[0].verdict, one.left)}")
    for said, why in people.get((one.item, one.criterion), ()):
        lines.append(f"a person answered {_word(said, one.left)}{f': {why}' if why else ''}")
    text = next((row.text for row in protocol.criterion if row.id == one.criterion), "")
    return "\n".join([text, *lines])


def _word(verdict: str | None, left: str | None) -> str:
    if verdict is None:
        return "nothing that could be used"
    if left is None or verdict not in OTHER:
        return verdict
    return "first" if verdict == left else "second"


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} […]"


def request_to_rewrite(protocol: Protocol) -> str:
    """What the model that writes instructions is asked, with the optimiser's two places to fill in."""
    return f"""A model judges items of a study, criterion by criterion. Its prompt holds the task, the texts and the \
criteria. It may also hold instructions on how the criteria are applied in this study; these are the ones it has now \
(nothing between the marks: none yet).
```
<curr_param>
```

Its task: {protocol.task}

Below are items that it judged: what it answered and why, and what careful people answered about the same and why. \
{DATA}
<side_info>

Write the instructions anew, so that the model answers as these people do, also about texts that neither of you has \
seen. Say in general words what these people weigh, what outweighs what, and where the model goes wrong now. Name no \
topic, fact or title of these items. Never tell it to prefer a place in the order, a length, or one answer always. At \
most {MOST_WORDS} words, between ``` marks, and nothing else."""

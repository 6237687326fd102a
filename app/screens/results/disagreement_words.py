"""The kinds of disagreement in words: what each is, how much of it there is, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.screens.look import table
from calibration.comparing.disagreement_kinds import DisagreementKind, DisagreementKinds
from plain.counting import counted

NAMES = {
    "person": "One annotator stands apart",
    "ambiguous": "People differ there too",
    "unstable": "It contradicts itself",
    "order": "It follows the order of the two",
    "length": "It takes the longer one",
    "criterion": "A criterion is read otherwise",
    "other": "None of these",
}
DO = {
    "person": "Look at their work under Progress, and go through the guidance with them.",
    "ambiguous": "No other judge helps here. Sharpen the question, or allow a tie.",
    "unstable": "Ask several times and take the majority: repeats, and a panel of this judge alone.",
    "order": "Ask in both orders, and let unequal answers be a tie.",
    "length": "Say in its prompt that length is no merit; measure it with judge stress --kind padding.",
    "criterion": "Say with an example, in the protocol and the prompt, what the criterion asks.",
    "other": "Read the reasons beside each other, below.",
}


def why_sentence(found: DisagreementKinds) -> str:
    """Which kind is foremost, with its share and interval, or why none is called so."""
    if not found.compared:
        return f"{found.judge}: nothing to look into, for scores have no kinds."
    if not found.foremost:
        return f"Why {found.judge} and the annotators differ, these labels cannot tell: {found.reason}."
    (kind,) = (one for one in found.kinds if one.kind == found.foremost)
    of = f" ({', '.join(kind.of)})" if kind.of else ""
    what = NAMES[kind.kind][0].lower() + NAMES[kind.kind][1:]
    rest = next(one for one in found.kinds if one.kind == "other")
    return (
        f"Why {found.judge} and the annotators differ, most often: {what}{of}, in {_percent(kind)} of "
        f"{counted(found.compared, 'comparison')} over {counted(found.topics, 'topic')}. "
        f"{100 * found.unlike / found.compared:.1f} % differ, {100 * rest.share.value:.1f} % for no reason that shows."
    )


def why_table(found: DisagreementKinds) -> str:
    """Every kind that there is or that could not be seen, the most frequent first."""
    ordered = sorted(found.kinds, key=lambda one: -(one.share.value if one.share.n else 0.0))
    rows = [_row(one) for one in ordered if one.questions or one.unseen]
    return table("Why they differ", ("Why", "Of comparisons", "Questions", "What to do"), rows, "c-remarks")


def kinds_to_choose(found: DisagreementKinds) -> list[str]:
    """The kinds that some question has most of."""
    there = set(found.by_question["kind"])
    return [kind for kind in NAMES if kind in there]


def _row(one: DisagreementKind) -> Sequence[str]:
    of = f" <small>{escape(', '.join(one.of))}</small>" if one.of else ""
    name = f"{escape(NAMES[one.kind])}{of}"
    if one.unseen:
        return name, "not seen", "–", _wrapped(f"{one.unseen[0].upper()}{one.unseen[1:]}.")
    return name, escape(_percent(one)), f"{one.questions:,}", _wrapped(DO[one.kind])


def _wrapped(text: str) -> str:
    return f'<span class="c-wrap">{escape(text)}</span>'


def _percent(one: DisagreementKind) -> str:
    share = one.share
    bounds = "" if share.low != share.low else f" [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.value:.1f} %{bounds}"

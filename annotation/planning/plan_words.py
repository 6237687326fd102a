"""A plan in sentences, for the command and the page alike: its size, its roster, its hours and money."""

from collections.abc import Mapping

from annotation.planning.plan_summary import READING_WPM, PlanSummary
from annotation.protocol import Protocol
from plain.counting import counted

NOUNS = {"pairwise_choice": "pairs", "pointwise_rating": "reports", "probe_label": "probes"}


def noun_of(protocol: Protocol) -> str:
    """What the items of this protocol are called, in the plural."""
    return "pairs" if protocol.rates_both else NOUNS[protocol.task_type]


def size_words(name: str, seed: int, noun: str, told: PlanSummary) -> str:
    """How many items on how many topics, for how many annotators, and how many slots that makes."""
    categories = f" in {counted(len(told.categories), 'category')}" if told.categories else ""
    stand = f" ({told.standing_items} of them there already)" if told.standing_items else ""
    return (
        f"{name}: {counted(told.items, noun.removesuffix('s'))}{stand} on {counted(told.topics, 'topic')}{categories}, "
        f"{counted(told.overlap, 'annotator')} each, {counted(told.new_slots, 'new slot')}"
        f"{f' of {told.slots:,}' if told.slots != told.new_slots else ''}, seed {seed}"
    )


def roster_words(loads: Mapping[str, int], uneven_sides: int | None) -> str:
    """How many labels each annotator has, and how even their sides are; None where there are no sides."""
    low, high = min(loads.values()), max(loads.values())
    each = low if low == high else f"{low} to {high}"
    uneven = f", left and right of one system differ by at most {uneven_sides} for each of them"
    return f"roster of {len(loads)} annotators: {each} labels each{'' if uneven_sides is None else uneven}"


def work_words(told: PlanSummary) -> list[str]:
    """Reading and its pay, and what is given out beside the slots."""
    pay = f", at least {told.pay:,.2f} {told.currency}" if told.pay is not None else ""
    checks = counted(told.attention_shown, "attention check")
    extras = [
        (told.retests, f"about {counted(told.retests, 'item')} again for self-agreement"),
        (told.attention_shown, f"about {checks} from {counted(told.attention_items, 'item')}"),
        (told.training_items, f"{counted(told.training_items, 'training item')} for each annotator"),
    ]
    said = [words for count, words in extras if count]
    return [
        f"reading: about {told.reading_hours:,.1f} hours{pay} ({told.words:,} words at {READING_WPM} a minute, every "
        "text once for each label; deciding comes on top)",
        *([f"on top: {', '.join(said)}"] if said else []),
    ]

"""What the quality of a running study is called in words: the same on the page and on the command line."""

from __future__ import annotations

import math

from app.quality import StudyQuality
from calibration.people.agreement_so_far import why_unknown
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.people.annotator_signals import Signal
from calibration.results import Estimate
from exports.cells import shown
from exports.words.grammar import counted

TITLES = {
    "agreement": "disagrees with the others",
    "drift": "agrees less than at first",
    "side": "prefers a side",
    "same_answer": "gives one answer to everything",
    "speed": "much faster than the others",
    "rationale": "repeats rationales",
}


def in_words(one: Estimate) -> str:
    """`.74 [.68, .80]`, or a dash."""
    return " ".join(part for part in shown(one) if part)


def reason(one: Signal) -> str:
    """A flag as a sentence with the estimate that carries it."""
    value, over = one.estimate.value, f"n {one.estimate.n:,}, {one.estimate.clusters:,} groups of labels (clusters)"
    interval = f"{points(value)} {interval_of(one.estimate)}, {over}"
    if one.name == "speed":
        return f"needs {_share_of_time(one.estimate)} of the others' time for the same items ({over})"
    if one.name == "side":
        side = "left" if value > 0 else "right"
        return f"takes the {side} report more often than the others' verdicts put it there: by {interval}"
    said = {
        "agreement": "agrees less with the others than these do among themselves: by",
        "drift": "agreement with the others fell from the first half of the work to the second: by",
        "same_answer": "gives the same answer within an item more often than the others on the same items: by",
        "rationale": "repeats its own rationales more often than the others on the same items: by",
    }
    return f"{said[one.name]} {interval}"


def listed(one: AnnotatorQuality) -> list[str]:
    """Facts beside the flags, which no test stands behind."""
    seen = one.attention_passed + one.attention_failed
    facts = [f"failed {one.attention_failed} of {counted(seen, 'attention item')}"] if one.attention_failed else []
    if one.too_fast:
        few, more = one.too_fast[:3], len(one.too_fast) - 3
        which = f"{', '.join(few)}{f' and {more} more' if more > 0 else ''}"
        facts.append(f"{counted(len(one.too_fast), 'item')} in less time than reading at 600 words a minute: {which}")
    again = one.self_agreement
    if one.flags and not math.isnan(again.value):
        facts.append(f"on retests gave the same answer again in {_percent(again)} of {counted(again.n, 'answer')}")
    return facts


def trust(found: StudyQuality) -> str:
    """Whether the labels can be trusted so far, as far as they tell."""
    headline, flagged = found.agreement.headline, [one for one in found.annotators if one.flags]
    if not found.annotators:
        return "Nobody has handed in labels yet."
    if headline is None or math.isnan(headline.value):
        agreed = "no two annotators have answered the same yet, so nothing tells how far they agree"
    else:
        agreed = f"annotators give the same answer to {_percent(headline)} of what two of them answered"
    tested = any(not math.isnan(signal.p) for one in found.annotators for signal in one.signals)
    if flagged:
        names = _joined([one.rater for one in flagged])
        looked = f"{names} {'needs' if len(flagged) == 1 else 'need'} a second look"
    elif tested:
        looked = "nobody stands out more than chance allows"
    else:
        looked = "it is too early to compare single annotators"
    return f"{agreed[0].upper()}{agreed[1:]}; {looked}."


def more_pairs(found: StudyQuality, half_width: float) -> str:
    """How many more pairs narrow the interval of agreement to +- `half_width`, or why nobody can say."""
    needed, aim = found.agreement.needed(half_width), f"±{100 * half_width:g} points"
    if needed.clusters is None:
        return f"How many more pairs would narrow agreement to {aim} cannot be said yet: {why_unknown(needed)}."
    pairs, safe = found.cluster, found.agreement.cautious(half_width)
    if not needed.more:
        return f"Agreement is known to {aim} or better with the {counted(found.agreement.spread.pilot, pairs)} so far."
    sure = f"; {safe.more:,} more to be safe" if safe.more and safe.more > needed.more else ""
    return f"About {counted(needed.more, f'more {pairs}')} would narrow agreement to {aim}{sure}."


def why(one: Estimate) -> str:
    """Why an estimate is a dash: its note without the code."""
    note = one.note.split("; ")[-1]
    return note.partition(": ")[2] or note


def points(value: float) -> str:
    """A difference of shares in points."""
    return f"{abs(100 * value):.0f} points"


def interval_of(one: Estimate) -> str:
    """`[12, 31]` of the difference's size, or "" where it has no interval."""
    if math.isnan(one.low):
        return ""
    ends = sorted((100 * one.low, 100 * one.high) if one.value > 0 else (-100 * one.high, -100 * one.low))
    return f"[{ends[0]:.0f}, {ends[1]:.0f}]".replace("-", "−")


def _share_of_time(one: Estimate) -> str:
    value, low, high = (100 * math.exp(end) for end in (one.value, one.low, one.high))
    return f"{value:.0f} %" + ("" if math.isnan(low) else f" [{low:.0f}, {high:.0f}]")


def _percent(one: Estimate) -> str:
    ends = "" if math.isnan(one.low) else f" [{100 * one.low:.0f}, {100 * one.high:.0f}]"
    return f"{100 * one.value:.0f} %{ends}"


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

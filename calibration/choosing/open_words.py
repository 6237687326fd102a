"""What is said of a choice that is not final: what would decide an open judge, and how to look again.

A judge that agrees no more than a constant answer is told why it is not recommended.
"""

import math
from collections.abc import Iterator, Sequence

from calibration.choosing.card import Question
from calibration.choosing.choice import Candidate, open_candidates
from calibration.choosing.looking import Looking, can_show, least_p_of
from calibration.choosing.noninferiority import ComparisonPlan
from calibration.inference.gap_test import RESAMPLES
from calibration.inference.looks import FIRST
from calibration.study.distance import said_of
from calibration.study.label_scores import IN_WORDS
from plain.counting import counted
from plain.wording import ENGLISH, several, spoken, worded

MORE_FIRST = ", label more first"
WHY_NO_NUMBER = {
    "gap_reaches_margin": "no number of {word} is likely to show adequacy, {seen} reaching the {limit}",
    "too_many": "no number of {word} that could be labelled is likely to show adequacy, "
    "{seen} lying so near the {limit}",
    "too_few_units": "one of the {word} alone is labelled, label more first",
    "looks_spent": "no number of {word} decides, an earlier look having spent the whole error",
    "last_look": "no number of {word} decides, this look being the last that was planned: it spends the whole error",
    "little_left": "no number of {word} decides, the looks so far having left too little of the error",
}
NOT_TOLD: dict[Question, str] = {
    "order": "whether its answers hang on the order of the reports",
    "length": "whether it leans towards length more than people do",
    "self-preference": "whether it favours its own family",
    "repeats": "whether it keeps its answers when asked again",
    "answers": "whether enough of its answers can be used",
    "agreement": "whether it beats the best constant answer",
    "ceiling gap": "whether its gap to an annotator is below the margin",
    "floor": "whether it is above the floor",
}


def undecided(
    candidates: Sequence[Candidate], chosen: Candidate | None, plan: ComparisonPlan, word: str
) -> Iterator[str]:
    """The open judges that would be chosen instead, and what would decide each. `word`: what clusters are."""
    if plan.against == "nobody":
        return
    waiting = open_candidates(candidates, chosen)
    waiting = [one for one in waiting if not math.isnan(one.agreement.value)]
    alike: dict[str, list[str]] = {}
    for one in waiting:
        alike.setdefault(deciding(one, plan, word), []).append(_named(one))
    if alike:
        parts = ((worded(", ").join(names), what) for what, names in alike.items())
        each = worded("; ").join(worded("{names}: {what}", names=names, what=what) for names, what in parts)
        lead = "Still open: {each}." if not chosen else "Cheaper but open are {each}."
        if chosen and len(waiting) == 1:
            lead = "Cheaper but open is {each}."
        yield worded(lead, each=each)


def _named(candidate: Candidate) -> str:
    if math.isnan(candidate.cost_per_item):
        return candidate.judge
    return worded("{judge} ({price})", judge=candidate.judge, price=price(candidate))


def deciding(candidate: Candidate, plan: ComparisonPlan, word: str) -> str:
    """What would decide an open judge; where its gap is decided already, what else is not told."""
    main = {"ceiling gap", "floor"} & {*candidate.unmet}
    others = [worded(NOT_TOLD[question]) for question in candidate.unmet if question not in main]
    if not main and others:
        return worded("open is {questions}", questions=worded(" and ").join(others))
    needed = candidate.floor.needed if candidate.floor else candidate.claim.needed if candidate.claim else None
    if not main or needed is None:
        return worded("nothing to compare it with")
    what = ""
    if others:
        what = "its floor, not {questions}, is decided" if candidate.floor else "its gap, not {questions}, is decided"
        what = worded(what, questions=worded(" or ").join(others))
    if needed.clusters is None:
        seen, limit = ("the agreement", "floor") if candidate.floor else ("the gap seen", "margin")
        why = worded(WHY_NO_NUMBER[needed.note])
        return why.format(word=worded(word), seen=worded(seen), limit=worded(limit))
    if not needed.more:
        enough = several(needed.clusters, word.removesuffix("s"))
        luck = "decided by {enough}, fewer than are at hand: it had bad luck"
        if what:
            luck = "{what} by {enough}, fewer than are at hand: it had bad luck"
        return worded(luck, what=what, enough=enough)
    power, more = f"{plan.power:g}".removeprefix("0"), counted(needed.more, word.removesuffix("s"), "more")
    if spoken() != ENGLISH:
        more = several(needed.more, word.removesuffix("s"))
    told = "decided with {more} ({all:,} in all), at power {power} if gap and spread stay as seen"
    if what:
        told = "{what} with {more} ({all:,} in all), at power {power} if gap and spread stay as seen"
    return worded(
        told, what=what, more=more, all=needed.clusters, power=power,
    )  # fmt: skip


def no_better_than_constant(candidate: Candidate, word: str) -> str:
    """Whether it was not shown to be above, or could not have been at this look. `word`: what clusters are."""
    if not candidate.constant.can_be_shown:
        return worded(
            "Whether {judge} beats the best constant answer ({baseline} %) cannot be told: at this look, of {at}, no p "
            "of its test would be small enough.",
            judge=candidate.judge, baseline=percent(candidate.baseline),
            at=several(candidate.constant.clusters, word.removesuffix("s")),
        )  # fmt: skip
    near = candidate.is_by_distance
    agrees = said_of(f"{percent(candidate.agreement.value)} %", near)
    reached = worded("to {baseline} %" if near else "in {baseline} %", baseline=percent(candidate.baseline))
    return worded(
        "{judge} is not recommended: it agrees {agrees}, and {constant}, which takes no reading, {reached}: it is not "
        "shown to be above that.",
        judge=candidate.judge, agrees=agrees, constant=worded(IN_WORDS), reached=reached,
    )  # fmt: skip


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
NEXT = (
    ": a study that may be looked at again says before its first look how many topics are meant in the end "
    "(planned_topics), or that it is looked at any time"
)


def look_words(
    looking: Looking, error: float = 0.05, word: str = "topics", tried: int = 1, resamples: int = RESAMPLES
) -> str:
    """One sentence on this look. `error`: one-sided, of all looks; `word`: what clusters are, in the plural.

    `tried`: judges, and `resamples`: of their tests, which turn on both whether any p can be small enough by now.
    """
    at, things = several(looking.topics, word.removesuffix("s")), worded(word)
    in_part = worded(" ({begun:,} have labels, and one labelled in part counts in part)", begun=looking.begun)
    in_part *= looking.begun > looking.topics
    if looking.mode == "any_time":
        begins = worded(" Before {first} {word} it decides nothing.", first=FIRST, word=things)
        return worded(
            "Looked at whenever one likes, now at {at}: the bound is stricter for it, and it and the intervals, which "
            "are confidence sequences, hold at every number of {word} at once, if {word} come in random order.",
            at=at, word=things,
        ) + begins * (looking.topics < FIRST)  # fmt: skip
    number = _ordinal(looking.number)
    if looking.is_spent:
        whole = next(look.topics for look in looking.looks if look.share >= 1)
        return worded(
            "{number} look, at {at}: the look at {whole:,} was to be the last and spent the whole error of {error}, so "
            "this one shows no judge adequate; {word} that nobody has looked at, by themselves, can.",
            number=number, at=at + in_part, whole=whole, error=_percent(error), word=things,
        )  # fmt: skip
    at += in_part
    if looking.is_only and looking.mode == "planned" and looking.planned:
        return worded("First and last look, at {at}, of {planned:,} that were planned.", at=at, planned=looking.planned)
    if looking.is_only:
        return worded("One look is assumed, at {at}{next}.", at=at, next=worded(NEXT))
    if looking.planned:
        at = worded("{done:,} of {of:,} {word}", done=looking.topics, of=looking.planned, word=things) + in_part
    shows = can_show(least_p_of(resamples), looking, math.nan, tried, error)
    does = "today's bound is stricter for it" if shows else "it is too early to show any judge adequate"
    said = "{number} look, at {at}; {does}: {level}."
    if looking.share >= 1:
        said = "{number} and last look, at {at}; {does}: {level}."
    return worded(said, number=number, at=at, does=worded(does), level=_level(looking.level(error), error))


def enough_words(judge: str, looking: Looking, word: str = "topics") -> str:
    """That topics planned are not needed any more: whoever owns the study may close it. Empty where none are left."""
    if looking.mode != "planned" or not looking.planned or looking.topics >= looking.planned:
        return ""
    left = looking.planned - looking.topics
    return (
        f"Enough: {judge} is adequate, {looking.topics:,} of {looking.planned:,} {word} labelled, {left:,} not needed."
    )


def _ordinal(number: int) -> str:
    if spoken() != ENGLISH:
        return f"{number:,}"
    if number <= len(ORDINALS):
        return ORDINALS[number - 1].capitalize()
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _level(level: float, error: float) -> str:
    """What this look may err in; 100 x that of all."""
    own = worded("less than .0001 %") if level < 1e-6 else _percent(level)
    return worded("this look may err in {own} of studies, all looks in {all}", own=own, all=_percent(error))


def _percent(share: float) -> str:
    """Two digits that say something: `5 %`, `2.8 %`, `.0012 %`."""
    return f"{_rounded(100 * share)} %"


def _rounded(value: float) -> str:
    text = f"{value:.2g}"
    if "e" in text:
        text = f"{value:.6f}".rstrip("0")
    return text.removeprefix("0") if text.startswith("0.") else text


def price(candidate: Candidate) -> str:
    """A cost per item as a reader takes it in, such as `2.10 USD per 1,000 items`."""
    per_thousand = 1000 * candidate.cost_per_item
    digits = 2 if per_thousand >= 1 or per_thousand == 0 else 2 - math.floor(math.log10(per_thousand))
    cost = f"{per_thousand:,.{digits}f}"
    return worded("{cost} {currency} per 1,000 items", cost=cost, currency=candidate.currency)


def percent(share: float) -> str:
    """`69.1`, of a share."""
    return f"{100 * share:.1f}"


def p_words(p: float) -> str:
    """`p = .023`, or `p < .001`."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")

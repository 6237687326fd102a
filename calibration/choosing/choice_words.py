"""The choice of a judge in sentences that a paper can print: each number with its uncertainty and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from calibration.choosing.choice import Candidate, Choice, Status, as_close, closest, open_candidates
from calibration.choosing.constant_baseline import IN_WORDS
from calibration.choosing.noninferiority import Claim, ComparisonPlan
from calibration.engine.bounding import FEW_CLUSTERS
from calibration.verdicts import BOTH_ORDERS

WORDS = ("topics", "pairs", "items")  # what clusters may be called
WHY_NO_NUMBER = {
    "gap_reaches_margin": "no number of {word} is likely to show adequacy, the gap seen reaching the margin",
    "too_many": "decided by more than a million {word}",
    "too_few_units": "label more than one of the {word} first",
}


def sentence_of(
    status: Status, chosen: Candidate | None, candidates: Sequence[Candidate], plan: ComparisonPlan, word: str
) -> str:
    """What was found, on what, and why not another judge. `word`: what clusters are, such as pairs."""
    if not candidates:
        return "There is no judge to choose: no row is a judge's."
    parts = [*_found(status, chosen, candidates, plan, word)]
    if chosen and chosen.claim and chosen.claim.test.difference.clusters < FEW_CLUSTERS:
        parts.append(f"These are fewer than {FEW_CLUSTERS} {word}, where the test errs more often than its level says.")
    parts += _undecided(chosen, candidates, plan, word)
    parts += [_no_better_than_constant(one) for one in candidates if one.reason == "baseline_not_beaten"]
    priceless = [one.judge for one in candidates if one.reason == "cost_unknown" and one.standing == "adequate"]
    if priceless and (chosen or len(priceless) > 1):
        parts.append(f"Adequate, but of unknown cost and so not chosen: {', '.join(priceless)}; fill cost_usd.")
    if plan.against == "best_judge":
        parts.append(
            "No label has a second annotator's beside it: judges are compared with each other, not with people."
        )
    return " ".join(parts)


def in_two(choice: Choice) -> tuple[str, str]:
    """The choice's sentence as a headline and what that rests on, which is "" where there is no more to say."""
    chosen = next((one for one in choice.candidates if one.judge == choice.judge), None)
    leads = (_found(choice.status, chosen, choice.candidates, choice.plan, word)[0] for word in WORDS)
    lead = next((one for one in leads if choice.sentence.startswith(one)), None)
    if lead is None:
        return choice.sentence, ""
    rest = choice.sentence.removeprefix(lead).lstrip()
    return f"{lead[:-1]}.", rest[:1].upper() + rest[1:] if lead.endswith(":") else rest


def sentence_about(one: Candidate, plan: ComparisonPlan) -> str:
    """One named judge, whatever it costs and whoever else was tried."""
    standing = {
        "adequate": "is adequate",
        "ruled_out": "is not adequate",
        "open": "may be adequate or not (cannot tell)",
    }
    word = f"{plan.cluster}s"
    if math.isnan(one.agreement.value):
        return f"{one.judge} {standing[one.standing]}: it was asked nothing that an annotator labelled."
    parts = [f"{one.judge} {standing[one.standing]}: it agrees with {_agreement(one, word)}"]
    if one.claim and not math.isnan(one.claim.test.difference.value):
        parts.append(f"and {_gap(one.claim, plan, word)}")
    told = f"{', '.join(parts)}."
    if one.reason == "baseline_not_beaten":
        told += f" {_no_better_than_constant(one)}"
    if one.standing == "open" and one.claim and one.claim.outcome == "cannot_tell":
        clause = _deciding(one, plan, word)
        told += f" {clause[0].upper()}{clause[1:]}."
    return told


def short_sentence(choice: Choice) -> str:
    """The choice in one or two lines, for a caption or an abstract: who, how far from what, on how much.

    The whole sentence says more, and stands in the report.
    """
    word, plan, one = f"{choice.plan.cluster}s", choice.plan, choice.foremost
    if one is None or one.claim is None:
        return "No judge could be compared with the annotators."
    who = "a left-out annotator" if plan.against == "ceiling" else "the best of the other judges"
    seen = f"agreement {_percent(one.agreement.value)} %, {_interval(one, word)}"
    many = len(choice.candidates) > 1
    of = f" of the {_all_tried(choice.candidates)}" if many else ""
    below = f"less than {_points(plan.margin)} short of {who}"
    if choice.status == "chosen":
        first = f"{one.judge} is the cheapest{of} that is" if many else f"{one.judge} is"
        return f"{first} shown to fall {below} ({seen}; {usd(one.cost_per_item)})."
    if one.standing == "adequate":
        return f"{one.judge} is shown to fall {below} ({seen}), but its cost is unknown."
    closest_one, margin = f"{_comes_closest(one, choice.candidates)} ({seen})", f"margin {_points(plan.margin)}"
    if choice.status == "none_adequate":
        return (
            f"None{of} is adequate ({margin}); {closest_one}."
            if many
            else f"{one.judge} is not adequate ({margin}; {seen})."
        )
    if many:
        return f"These labels cannot tell whether any{of} falls {below}; {closest_one}."
    return f"These labels cannot tell whether {one.judge} falls {below} ({seen})."


def usd(cost: float) -> str:
    """A cost per item as a reader takes it in, such as `2.10 USD per 1,000 items`."""
    per_thousand = 1000 * cost
    digits = 2 if per_thousand >= 1 or per_thousand == 0 else 2 - math.floor(math.log10(per_thousand))
    return f"{per_thousand:,.{digits}f} USD per 1,000 items"


def _found(
    status: Status, chosen: Candidate | None, candidates: Sequence[Candidate], plan: ComparisonPlan, word: str
) -> tuple[str, str]:
    """The answer, up to its colon or full stop, and the numbers of the judge it rests on."""
    tried = f"the {_all_tried(candidates)}" if len(candidates) > 1 else "the one judge tried"
    if chosen and chosen.claim:
        told = f"it agrees with {_agreement(chosen, word)}, and {_gap(chosen.claim, plan, word)}."
        lead = f"{chosen.judge} is the cheapest adequate judge of {len(candidates)} {_candidates(candidates)}tried:"
        return lead, f"at {usd(chosen.cost_per_item)} {told}"
    nearest = closest(candidates)
    if nearest is None or nearest.claim is None:
        lead = f"Whether {tried} can replace an annotator cannot be told:"
        return lead, "too few labels have a reference beside them."
    who = "it agrees" if len(as_close(nearest, candidates)) == 1 else "each agrees"
    told = f"{who} with {_agreement(nearest, word)}, and {_gap(nearest.claim, plan, word)}."
    if nearest.standing == "adequate":
        lead = f"{nearest.judge} is adequate, but nobody can say whether it is the cheapest, for its cost is unknown"
        return f"{lead} (fill cost_usd):", told
    alone = len(candidates) == 1
    which, end = (f"{nearest.judge}, the one judge tried,", ":") if alone else (tried, ".")
    told = told if alone else f"{_comes_closest(nearest, candidates)}: {told}"
    if status == "none_adequate":
        return f"{which} is not adequate:" if alone else f"None of {tried} is adequate.", told
    seen = _counted(nearest.claim.test.difference.clusters, word)
    return f"Cannot tell from {seen} whether {which} can replace an annotator{end}", told


def _candidates(candidates: Sequence[Candidate]) -> str:
    """`candidates ` where one judge stands among them twice, else nothing."""
    return "candidates " * any(one.judge.endswith(BOTH_ORDERS) for one in candidates)


def _all_tried(candidates: Sequence[Candidate]) -> str:
    """`3 judges tried`, or `4 candidates tried (2 judges, by one order or both)` where one judge counts twice."""
    judges = {one.judge.removesuffix(BOTH_ORDERS) for one in candidates}
    if not _candidates(candidates):
        return f"{len(candidates)} judges tried"
    return f"{len(candidates)} candidates tried ({_counted(len(judges), 'judges')}, by one order or both)"


def _comes_closest(one: Candidate, candidates: Sequence[Candidate]) -> str:
    """`small comes closest`, or by name all that are level with it."""
    level = as_close(one, candidates)
    if len(level) == 1:
        return f"{one.judge} comes closest"
    return f"{', '.join(level[:-1])} and {level[-1]} come closest, level with each other"


def _agreement(one: Candidate, word: str) -> str:
    together = ", simultaneous over all tried, " if one.agreement.note.startswith("simultaneous") else " "
    return f"the annotators in {_percent(one.agreement.value)} % of labels ({_interval(one, word, together)})"


def _interval(one: Candidate, word: str, after: str = " ") -> str:
    """`95 % interval 69.1 to 90.2 %; 180 labels in 6 topics`; `after` stands behind the word interval."""
    made = one.agreement
    interval = f"{100 * made.level:g} % interval{after}{_percent(made.low)} to {_percent(made.high)} %"
    if math.isnan(made.low):
        interval = "no interval"
    return f"{interval}; {_counted(made.n, 'labels')} in {_counted(made.clusters, word)}"


def _gap(claim: Claim, plan: ComparisonPlan, word: str) -> str:
    test, gap = claim.test, claim.test.difference
    who = "a left-out annotator" if plan.against == "ceiling" else claim.reference
    tested = "no test possible"
    if not math.isnan(test.p):
        bound = (
            _most(test.lower, "least", "most") if claim.outcome == "inferior" else _most(test.upper, "most", "least")
        )
        tested = (
            f"{bound}, by the unadjusted one-sided {100 * plan.level:g} % bound; margin {_points(plan.margin)}, "
            f"Holm-adjusted {_p(claim.p_holm)}"
        )
    side = "less" if gap.value < 0 else "more"
    seen = f"{_counted(gap.n, 'labels')} in {_counted(gap.clusters, word)}"
    return f"{who} agrees {_points(abs(gap.value))} {side} ({tested}; {seen})"


def _most(bound: float, above: str, below: str) -> str:
    """A bound of how much more the annotator agrees, in words that no sign can turn: `at most 1.9 points more`."""
    return f"at {below} {_points(-bound)} less" if bound < 0 else f"at {above} {_points(bound)} more"


def _undecided(
    chosen: Candidate | None, candidates: Sequence[Candidate], plan: ComparisonPlan, word: str
) -> Iterator[str]:
    """The open judges that would be chosen instead, and what would decide each."""
    waiting = [one for one in open_candidates(candidates, chosen) if one.claim and one.claim.outcome == "cannot_tell"]
    alike: dict[str, list[str]] = {}
    for one in waiting:
        alike.setdefault(_deciding(one, plan, word), []).append(_named(one))
    if alike:
        lead = "Still open" if not chosen else "Cheaper but open is" if len(waiting) == 1 else "Cheaper but open are"
        each = "; ".join(f"{', '.join(names)}: {what}" for what, names in alike.items())
        yield f"{lead}{' ' if chosen else ': '}{each}."


def _named(one: Candidate) -> str:
    return one.judge if math.isnan(one.cost_per_item) else f"{one.judge} ({usd(one.cost_per_item)})"


def _deciding(one: Candidate, plan: ComparisonPlan, word: str) -> str:
    """What would decide an open judge; of one that does not beat a constant answer, its gap alone."""
    what = "decided" if one.beats_baseline else "its gap, not whether it beats a constant answer, is decided"
    needed = one.claim.needed if one.claim else None
    if needed is None or needed.clusters is None:
        return WHY_NO_NUMBER[needed.note].format(word=word) if needed else "nothing to compare it with"
    if not needed.more:
        enough = _counted(needed.clusters, word)
        return f"{what} by {enough}, fewer than are at hand: it had bad luck, and more would help"
    power = f"{plan.power:g}".removeprefix("0")
    return (
        f"{what} after labelling {_counted(needed.more, word, 'more ')} ({needed.clusters:,} in all), with power "
        f"{power} if gap and spread stay as seen"
    )


def _no_better_than_constant(one: Candidate) -> str:
    return (
        f"{one.judge} is not recommended: it agrees in {_percent(one.agreement.value)} % of labels, and {IN_WORDS}, "
        f"which takes no reading, in {_percent(one.baseline)} %: it is not above that by a clustered standard error."
    )


def _counted(count: int, word: str, more: str = "") -> str:
    """`1 pair`, `2 pairs`, `2 more pairs`."""
    return f"{count:,} {more}{word.removesuffix('s') if count == 1 else word}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(gap: float) -> str:
    return f"{100 * gap + 0.0:.1f} points"


def _p(p: float) -> str:
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")

"""The choice of a judge in sentences that a paper can print: each number with its uncertainty and what it rests on."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calibration.choosing import card, noninferiority, open_words
from calibration.choosing.above import AmongPeople
from calibration.choosing.choice import Candidate, Choice, Status, as_close, closest
from calibration.choosing.looking import Looking
from calibration.remarks import Reason
from calibration.study.bounding import FEW_CLUSTERS
from calibration.study.distance import BY_DISTANCE, KAPPA, said_of
from calibration.table.verdicts import BOTH_ORDERS
from plain.counting import counted

FEW_ERR = "the test may err in 7 % of studies at a level of 5 %"  # at 12 to 19, see benchmarks/level.py
RESERVATION: dict[card.Question, str] = {
    "order": "its answers hang on the order of the reports",
    "length": "it leans towards length more than people do",
    "self-preference": "it favours or disfavours its own family",
    "repeats": "asked again, it changes its answers",
    "ceiling gap": "its gap to an annotator is beyond the margin",
}


FILL, FILL_TO_KNOW = "; fill cost_usd", " Fill cost_usd to know what it costs."
SECOND_LABELS = ", so have a second annotator label the same items"
OR_STATE = ", or state beforehand what is good enough: --at-least .80"
# what a reader is told to do next, as it ends or breaks off a sentence
ADVICE = re.compile(
    "|".join(map(re.escape, (FILL, FILL_TO_KNOW, open_words.NEXT, open_words.MORE_FIRST)))
    + f"|{re.escape(SECOND_LABELS)}.*?{re.escape(OR_STATE)}"
)


@dataclass(frozen=True)
class Told:
    """What the sentences are made of. `word`: what clusters are, such as pairs."""

    status: Status
    chosen: Candidate | None
    candidates: tuple[Candidate, ...]
    plan: noninferiority.ComparisonPlan
    word: str
    cheapest_known: bool
    people: AmongPeople | None
    looking: Looking | None = None


def look_of(told: Told) -> str:
    """One sentence on the look that was taken; empty where none is told."""
    plan = told.plan
    if told.looking is None:
        return ""
    return open_words.look_words(told.looking, 1 - plan.level, told.word, len(plan.judges), plan.resamples)


def sentences_of(told: Told) -> tuple[str, str]:
    """The headline, and the whole that begins with it: what was found, on what, and why not another judge."""
    if not told.candidates:
        nothing = "There is no judge to choose: no row is a judge's."
        return nothing, nothing
    lead, numbers = _found(told)
    hardly = bool(told.people and told.people.hardly)
    headline = f"{lead}{', and people hardly agree here' * hardly}."
    parts = [headline, *([numbers] if numbers else [])]
    if hardly and told.people:
        parts.append(_hardly(told.people, told.plan.ties))
    parts += _few_clusters(told)
    if told.looking and not told.looking.is_only:
        parts.append(look_of(told))
    parts += open_words.undecided(told.candidates, told.chosen, told.plan, told.word)
    parts += [
        open_words.no_better_than_constant(candidate, told.word)
        for candidate in told.candidates
        if candidate.reason == "baseline_not_beaten"
    ]
    priceless = [candidate.judge for candidate in told.candidates if candidate.reason == "cost_unknown"]
    if priceless:
        parts.append(f"Adequate, but of unknown cost and so not chosen: {', '.join(priceless)}{FILL}.")
    return headline, " ".join(parts)


def without_advice(sentence: str) -> str:
    """A sentence of this choice as a methods section prints it: what was found, and not what to do next."""
    return ADVICE.sub("", sentence)


def sentence_about(candidate: Candidate, plan: noninferiority.ComparisonPlan) -> str:
    """One named judge, whatever it costs and whoever else was tried."""
    standing = {
        "adequate": "is adequate",
        "ruled_out": "is not adequate",
        "open": "may be adequate or not (cannot tell)",
    }
    word = f"{plan.cluster}s"
    if math.isnan(candidate.agreement.value):
        return f"{candidate.judge} {standing[candidate.standing]}: it was asked nothing that an annotator labelled."
    parts = [
        f"{candidate.judge} {standing[candidate.standing]}{_reserved(candidate)}: "
        f"it agrees with {_agreement(candidate, word)}"
    ]
    if _measured(candidate, plan, word):
        parts.append(f"and {_measured(candidate, plan, word)}")
    told = f"{', '.join(parts)}."
    if candidate.reason == "baseline_not_beaten":
        told += f" {open_words.no_better_than_constant(candidate, word)}"
    if candidate.standing == "open":
        clause = open_words.deciding(candidate, plan, word)
        told += f" {clause[0].upper()}{clause[1:]}."
    return told


def short_sentence(choice: Choice) -> str:
    """The choice in one or two lines, for a caption or an abstract: who, how far from what, on how much.

    The whole sentence says more, and is in the report.
    """
    word, plan, one = f"{choice.plan.cluster}s", choice.plan, choice.foremost
    if one is None or (one.claim is None and one.floor is None):
        return "No judge could be compared with the annotators."
    seen = f"agreement {open_words.percent(one.agreement.value)} %, {_interval(one, word)}"
    many = len(choice.candidates) > 1
    of = f" of the {_all_tried(choice.candidates)}" if many else ""
    enough, falls, limit = _enough(plan)
    if choice.status == "chosen":
        if math.isnan(one.cost_per_item):
            return f"{one.judge} is shown to {enough} ({seen}), but its cost is unknown{_hanging(choice)}."
        first = f"{one.judge} is the cheapest{of} that is" if many else f"{one.judge} is"
        price = open_words.usd(one.cost_per_item)
        return f"{first} shown to {enough} ({seen}; {price}){_reserved(one)}{_hanging(choice)}."
    closest_one = f"{_comes_closest(one, choice.candidates)} ({seen})"
    if choice.status == "none_adequate":
        return (
            f"None{of} is adequate ({limit}); {closest_one}."
            if many
            else f"{one.judge} is not adequate ({limit}; {seen})."
        )
    if many:
        return f"These labels cannot tell whether any{of} {falls}; {closest_one}."
    return f"These labels cannot tell whether {one.judge} {falls} ({seen})."


def _found(told: Told) -> tuple[str, str]:
    """The answer without its full stop, and the numbers of the judge it rests on."""
    chosen, candidates, word = told.chosen, told.candidates, told.word
    tried = f"the {_all_tried(candidates)}" if len(candidates) > 1 else "the one judge tried"
    if chosen:
        return _lead_of_chosen(chosen, told), _numbers_of(chosen, told)
    nearest = closest(candidates)
    if nearest is None:
        return (
            f"Whether {tried} can replace an annotator cannot be told",
            "Too few labels have a reference beside them.",
        )
    if told.plan.against == "nobody":
        lead = f"Cannot tell whether {tried} can replace an annotator: no label has a second annotator's beside it"
        return lead, _without_people(nearest, told)
    alone = len(candidates) == 1
    level = len(as_close(nearest, candidates)) == 1
    numbers = f"{'it' if alone or level else 'each'} agrees with {_agreement(nearest, word)}"
    if _measured(nearest, told.plan, word):
        numbers = f"{numbers}, and {_measured(nearest, told.plan, word)}"
    numbers = f"{numbers[0].upper()}{numbers[1:]}." if alone else f"{_comes_closest(nearest, candidates)}: {numbers}."
    which = f"{nearest.judge}, the one judge tried," if alone else tried
    if told.status == "none_adequate":
        return (f"{which} is not adequate" if alone else f"None of {tried} is adequate"), numbers
    seen = counted(nearest.agreement.clusters, word.removesuffix("s"))
    can = "can replace an annotator" if told.plan.against == "ceiling" else _enough(told.plan)[1]
    what = f"Cannot tell from {seen} whether {which if alone else f'any of {tried}'} {can}"
    only = [open_words.NOT_TOLD[question] for question in nearest.unmet if question not in ("ceiling gap", "floor")]
    if only and not {"ceiling gap", "floor"} & {*nearest.unmet}:
        what += f": open is {' and '.join(only)}"
    return what, numbers


def _lead_of_chosen(chosen: Candidate, told: Told) -> str:
    count, plan = len(told.candidates), told.plan
    reserved = _reserved(chosen)
    if math.isnan(chosen.cost_per_item):
        good = "is adequate" if plan.against == "ceiling" else f"is shown to {_enough(plan)[0]}"
        return f"{chosen.judge} {good}{reserved}; whether it is the cheapest is unknown, for its cost is"
    if plan.against == "ceiling":
        return f"{chosen.judge} is the cheapest adequate judge of {count} {_candidates(told.candidates)}tried{reserved}"
    return (
        f"{chosen.judge} is the cheapest of {count} {_candidates(told.candidates) or 'judges '}tried that is shown to "
        f"{_enough(plan)[0]}{reserved}"
    )


def _numbers_of(chosen: Candidate, told: Told) -> str:
    numbers = f"it agrees with {_agreement(chosen, told.word)}, and {_measured(chosen, told.plan, told.word)}."
    if math.isnan(chosen.cost_per_item):
        return f"{numbers[0].upper()}{numbers[1:]}{FILL_TO_KNOW}"
    return f"At {open_words.usd(chosen.cost_per_item)} {numbers}"


def _enough(plan: noninferiority.ComparisonPlan) -> tuple[str, str, str]:
    """What good enough means: after `shown to`, after `whether it`, and as the limit in brackets."""
    if plan.at_least is not None:
        least = f"{open_words.percent(plan.at_least).removesuffix('.0')} %"
        share, near = said_of(f"at least {least}", plan.ties in BY_DISTANCE), plan.ties in BY_DISTANCE
        return f"agree {share}", f"agrees {share}", f"floor {least}{' of labels' * (not near)}"
    if plan.at_least_kappa is not None:
        kappa = f"{KAPPA.get(plan.ties, 'κ')} of at least {plan.at_least_kappa:g}".replace("0.", ".")
        return f"reach a {kappa}", f"reaches a {kappa}", f"floor: {kappa}"
    below = f"less than {card.points(plan.margin)} short of a left-out annotator"
    return f"fall {below}", f"falls {below}", f"margin {card.points(plan.margin)}"


def _reserved(candidate: Candidate) -> str:
    """`, with reservations: asked again, it changes its answers (46.0 %)`; "" without any."""
    if candidate.standing != "adequate" or not candidate.reservations:
        return ""
    told = [
        f"{RESERVATION[row.question]} ({_value_of(row.estimate.value, row.question)})" for row in candidate.reservations
    ]
    return f", with reservations: {' and '.join(told)}"


def _hanging(choice: Choice) -> str:
    return f", but not without {' or '.join(choice.hangs_on)}" if choice.hangs_on else ""


def _value_of(value: float, question: card.Question) -> str:
    return f"{open_words.percent(value)} %" if question in ("repeats", "answers") else f"{100 * value:+.1f} points"


def _hardly(people: AmongPeople, rule: str) -> str:
    kappa = "" if math.isnan(people.low) else (
        f"; {KAPPA.get(rule, 'κ')} among them is {people.kappa:.2f} [{people.low:.2f}, {people.high:.2f}]"
    )  # fmt: skip
    return (
        "People hardly agree here: an annotator agrees with the others "
        f"{said_of(f'{open_words.percent(people.agreement)} %', rule in BY_DISTANCE)}, the best constant answer "
        f"{'to' if rule in BY_DISTANCE else 'in'} {open_words.percent(people.constant)} %{kappa}. "
        "A judge as good as they are has shown little."
    )


def _without_people(nearest: Candidate, told: Told) -> str:
    number = nearest.second_labels
    enough = f"on about {counted(number, told.word.removesuffix('s'))}" if number else f"on some of the {told.word}"
    return (
        f"{_comes_closest(nearest, told.candidates)}: it agrees with {_agreement(nearest, told.word)}. How far people "
        f"agree with each other is unknown{SECOND_LABELS} {enough} (power {told.plan.power:g} at no true gap)"
        f"{OR_STATE}."
    )


def _few_clusters(told: Told) -> Iterator[str]:
    held_back = {candidate.held_back for candidate in told.candidates}
    if "one_large_cluster" in held_back:
        yield f"One of the {told.word} holds more than 45 % of the labels, too many for anything to be decided."
    if "too_few_clusters" in held_back:
        yield f"Fewer than {told.plan.min_clusters} {told.word} decide nothing: there the test may not hold its level."
    elif told.chosen and told.chosen.agreement.clusters < FEW_CLUSTERS:
        yield f"These are fewer than {FEW_CLUSTERS} {told.word}, where {FEW_ERR}."


def _candidates(candidates: Sequence[Candidate]) -> str:
    """`candidates ` where one judge is among them twice, else nothing."""
    return "candidates " * any(candidate.judge.endswith(BOTH_ORDERS) for candidate in candidates)


def _all_tried(candidates: Sequence[Candidate]) -> str:
    """`3 judges tried`, or `4 candidates tried (2 judges, by one order or both)` where one judge counts twice."""
    judges = {candidate.judge.removesuffix(BOTH_ORDERS) for candidate in candidates}
    if not _candidates(candidates):
        return f"{len(candidates)} judges tried"
    return f"{len(candidates)} candidates tried ({counted(len(judges), 'judge')}, by one order or both)"


def _comes_closest(candidate: Candidate, candidates: Sequence[Candidate]) -> str:
    """`small comes closest`, or by name all that are level with it."""
    level = as_close(candidate, candidates)
    if len(level) == 1:
        return f"{candidate.judge} comes closest"
    return f"{', '.join(level[:-1])} and {level[-1]} come closest, level with each other"


def _agreement(candidate: Candidate, word: str) -> str:
    together = ", simultaneous over all tried, " if candidate.agreement.remark(Reason.SIMULTANEOUS) else " "
    near, share = candidate.is_by_distance, f"{open_words.percent(candidate.agreement.value)} %"
    return f"the annotators {said_of(share, near)} ({_interval(candidate, word, together)})"


def _interval(candidate: Candidate, word: str, after: str = " ") -> str:
    """`95 % interval 69.1 to 90.2 %; 180 labels in 6 topics`; `after` follows the word interval."""
    made = candidate.agreement
    interval = (
        f"{100 * made.level:g} % interval{after}{open_words.percent(made.low)} to {open_words.percent(made.high)} %"
    )
    if math.isnan(made.low):
        interval = "no interval"
    return (
        f"{interval}; {counted(made.n, 'label')} in {counted(made.clusters, word.removesuffix('s'))}{_wrong(candidate)}"
    )


def _wrong(candidate: Candidate) -> str:
    """Said where agreement over the usable answers alone would be another number."""
    wrong = candidate.valid_share < 1 and candidate.agreement.statistic.endswith("_missing_as_wrong")
    return ", unusable answers counted as disagreement" if wrong else ""


def _measured(candidate: Candidate, plan: noninferiority.ComparisonPlan, word: str) -> str:
    """What decides, with its bound: the gap to a left-out annotator, or the floor; "" where neither is known."""
    if candidate.floor is not None and not math.isnan(candidate.floor.p):
        return _floor(candidate, plan)
    if candidate.claim is None or math.isnan(candidate.claim.test.difference.value):
        return ""
    return _gap(candidate.claim, plan, word)


def _floor(candidate: Candidate, plan: noninferiority.ComparisonPlan) -> str:
    floor = candidate.floor
    if floor is None:
        return ""
    end = floor.bound + (floor.upper if floor.outcome == "below" else floor.lower)
    most = "most" if floor.outcome == "below" else "least"
    tested = f"by {_which_bound(plan)}; {_enough(plan)[2]}, adjusted {open_words.p_words(floor.p_adjusted)}"
    if math.isnan(end):
        return f"this look has no bound ({_enough(plan)[2]}, adjusted {open_words.p_words(floor.p_adjusted)})"
    if plan.at_least_kappa is not None:
        return f"its {KAPPA.get(plan.ties, 'κ')} is {floor.value:.2f} (at {most} {end:.2f}, {tested})"
    return f"that is at {most} {open_words.percent(end)} % ({tested})"


def _gap(claim: noninferiority.Claim, plan: noninferiority.ComparisonPlan, word: str) -> str:
    test, gap = claim.test, claim.test.difference
    tested = "no test possible"
    if not math.isnan(test.p):
        at_most = claim.outcome != "inferior"
        bound = _most(test.upper, "most", "least") if at_most else _most(test.lower, "least", "most")
        tested = f"{bound}, by {_which_bound(plan)}" if bound else "no bound at this look"
        tested += f"; margin {card.points(plan.margin)}, adjusted {open_words.p_words(claim.p_adjusted)}"
    side = "less" if gap.value < 0 else "more"
    seen = f"{counted(gap.n, 'label')} in {counted(gap.clusters, word.removesuffix('s'))}"
    return f"a left-out annotator agrees {card.points(abs(gap.value))} {side} ({tested}; {seen})"


def _which_bound(plan: noninferiority.ComparisonPlan) -> str:
    ordinary = f"the unadjusted one-sided {100 * plan.level:g} % bound"
    return ordinary if plan.looks == "one" else "the one-sided bound of this look, unadjusted for judges"


def _most(bound: float, above: str, below: str) -> str:
    """A bound of how much more the annotator agrees, in words no sign can turn: `at most 1.9 points more`; "": none."""
    if math.isnan(bound):
        return ""
    return f"at {below} {card.points(-bound)} less" if bound < 0 else f"at {above} {card.points(bound)} more"

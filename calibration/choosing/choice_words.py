"""The choice of a judge in sentences that a paper can print: each number with its uncertainty and what it rests on."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calibration.choosing import card, noninferiority, number_words, open_words
from calibration.choosing.above import AmongPeople
from calibration.choosing.choice import Candidate, Choice, Status, as_close, closest
from calibration.choosing.looking import Looking
from calibration.study.bounding import FEW_CLUSTERS
from calibration.study.distance import BY_DISTANCE, KAPPA, said_of
from calibration.table.verdicts import BOTH_ORDERS
from plain import wording
from plain.wording import worded

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
    return open_words.look_words(told.looking, 1 - plan.level, told.word, len(plan.judges) + plan.gone, plan.resamples)


def spoken(choice: Choice) -> tuple[str, str, str]:
    """Headline, sentence and look of a choice in the language that is set; English as they were kept."""
    if wording.spoken() == wording.ENGLISH or not choice.candidates:
        return choice.headline, choice.sentence, choice.look
    plan, chosen = choice.plan, choice.foremost if choice.judge else None
    told = Told(
        choice.status, chosen, choice.candidates, plan, f"{plan.cluster}s", choice.cheapest_known, choice.people,
        choice.looking,
    )  # fmt: skip
    return *sentences_of(told, choice.hangs_on), look_of(told)


def sentences_of(told: Told, hangs_on: Sequence[str] = ()) -> tuple[str, str]:
    """The headline, and the whole that begins with it: what was found, on what, and why not another judge."""
    if not told.candidates:
        nothing = "There is no judge to choose: no row is a judge's."
        return nothing, nothing
    lead, numbers = _found(told)
    hardly = bool(told.people and told.people.hardly)
    lead += worded(", and people hardly agree here") * hardly + hanging(hangs_on)
    headline = worded("{lead}.", lead=lead)
    parts = [headline, *([numbers] if numbers else [])]
    if hardly and told.people:
        parts.append(_hardly(told.people, told.plan.ties))
    parts += [*_replaced(told), *_few_clusters(told)]
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
        names, fill = worded(", ").join(priceless), worded(FILL)
        parts.append(worded("Adequate, but of unknown cost and so not chosen: {names}{fill}.", names=names, fill=fill))
    return headline, ("" if wording.spoken() != wording.ENGLISH else " ").join(parts)


def without_advice(sentence: str) -> str:
    """A sentence of this choice as a methods section prints it: what was found, and not what to do next."""
    ends = (FILL, FILL_TO_KNOW, open_words.NEXT, open_words.MORE_FIRST)
    between = ".*?".join(re.escape(worded(one)) for one in (SECOND_LABELS, OR_STATE))
    return re.sub("|".join([*(re.escape(worded(one)) for one in ends), between]), "", sentence)


@wording.speaking()
def sentence_about(candidate: Candidate, plan: noninferiority.ComparisonPlan) -> str:
    """One named judge, whatever it costs and whoever else was tried; in English, as the command line is."""
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
        f"it agrees with {number_words.agreement_words(candidate, word)}"
    ]
    if number_words.measured(candidate, plan, word):
        parts.append(f"and {number_words.measured(candidate, plan, word)}")
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
        return worded("No judge could be compared with the annotators.")
    share, interval = open_words.percent(one.agreement.value), number_words.interval_words(one, word)
    said = "agreement by distance {share} %, {interval}" if one.is_by_distance else "agreement {share} %, {interval}"
    seen = worded(said, share=share, interval=interval)
    many, tried = len(choice.candidates) > 1, _all_tried(choice.candidates)
    enough, falls, limit = number_words.enough(plan)
    if choice.status == "chosen":
        but = hanging(choice.hangs_on)
        if math.isnan(one.cost_per_item):
            unknown = "{judge} is shown to {enough} ({seen}), but its cost is unknown{but}."
            return worded(unknown, judge=one.judge, enough=enough, seen=seen, but=but)
        but, price = f"{_reserved(one)}{but}", open_words.price(one)
        named = {"judge": one.judge, "enough": enough, "seen": seen, "price": price, "but": but}
        if choice.tried == 1:
            return worded("{judge} is shown to {enough} ({seen}; {price}){but}.", **named)
        cheapest = "{judge} is the cheapest of the {tried} that is shown to {enough} ({seen}; {price}){but}."
        return worded(cheapest, tried=_all_tried(choice.candidates, choice.plan.gone), **named)
    near = _comes_closest(one, choice.candidates)
    if choice.status == "none_adequate" and many:
        none = "None of the {tried} is adequate ({limit}); {near} ({seen})."
        return worded(none, tried=tried, limit=limit, near=near, seen=seen)
    if choice.status == "none_adequate":
        return worded("{judge} is not adequate ({limit}; {seen}).", judge=one.judge, limit=limit, seen=seen)
    if many:
        any_of = "These labels cannot tell whether any of the {tried} {falls}; {near} ({seen})."
        return worded(any_of, tried=tried, falls=falls, near=near, seen=seen)
    return worded("These labels cannot tell whether {judge} {falls} ({seen}).", judge=one.judge, falls=falls, seen=seen)


def _found(told: Told) -> tuple[str, str]:
    """The answer without its full stop, and the numbers of the judge it rests on."""
    chosen, candidates, word = told.chosen, told.candidates, told.word
    several = worded("the {tried}", tried=_all_tried(candidates))
    tried = several if len(candidates) > 1 else worded("the one judge tried")
    if chosen:
        return _lead_of_chosen(chosen, told), _numbers_of(chosen, told)
    nearest = closest(candidates)
    if nearest is None:
        return (
            worded("Whether {tried} can replace an annotator cannot be told", tried=tried),
            worded("Too few labels have a reference beside them."),
        )
    if told.plan.against == "nobody":
        nobody = "Cannot tell whether {tried} can replace an annotator: no label has a second annotator's beside it"
        return worded(nobody, tried=tried), _without_people(nearest, told)
    alone = len(candidates) == 1
    numbers = _agreement_of(nearest, told)
    if measured := number_words.measured(nearest, told.plan, word):
        numbers = worded("{numbers}, and {measured}", numbers=numbers, measured=measured)
    lead = f"{numbers[0].upper()}{numbers[1:]}" if alone else (
        worded("{near}: {numbers}", near=_comes_closest(nearest, candidates), numbers=numbers)
    )  # fmt: skip
    numbers = worded("{lead}.", lead=lead)
    which = worded("{judge}, the one judge tried,", judge=nearest.judge) if alone else tried
    if told.status == "none_adequate":
        return worded("{which} is not adequate" if alone else "None of {which} is adequate", which=which), numbers
    seen = wording.several(nearest.agreement.clusters, word.removesuffix("s"))
    can = worded("can replace an annotator") if told.plan.against == "ceiling" else number_words.enough(told.plan)[1]
    whether = "Cannot tell from {seen} whether {which} {can}"
    if not alone:
        whether = "Cannot tell from {seen} whether any of {which} {can}"
    what = worded(whether, seen=seen, which=which, can=can)
    only = [worded(open_words.NOT_TOLD[one]) for one in nearest.unmet if one not in ("ceiling gap", "floor")]
    if only and not {"ceiling gap", "floor"} & {*nearest.unmet}:
        what += worded(": open is {questions}", questions=worded(" and ").join(only))
    return what, numbers


def _lead_of_chosen(chosen: Candidate, told: Told) -> str:
    plan = told.plan
    count = len(told.candidates) + plan.gone
    reserved = _reserved(chosen)
    twice = _is_twice(told.candidates) or plan.gone > 0
    if math.isnan(chosen.cost_per_item):
        good = (
            worded("is adequate")
            if plan.against == "ceiling"
            else worded("is shown to {it}", it=number_words.enough(plan)[0])
        )
        unknown = "{judge} {good}{reserved}; whether it is the cheapest is unknown, for its cost is"
        return worded(unknown, judge=chosen.judge, good=good, reserved=reserved)
    if plan.against == "ceiling":
        lead = "{judge} is the cheapest adequate judge of {count} tried{reserved}"
        if twice:
            lead = "{judge} is the cheapest adequate judge of {count} candidates tried{reserved}"
        return worded(lead, judge=chosen.judge, count=count, reserved=reserved)
    lead = "{judge} is the cheapest of {count} judges tried that is shown to {enough}{reserved}"
    if twice:
        lead = "{judge} is the cheapest of {count} candidates tried that is shown to {enough}{reserved}"
    return worded(lead, judge=chosen.judge, count=count, enough=number_words.enough(plan)[0], reserved=reserved)


def _numbers_of(chosen: Candidate, told: Told) -> str:
    agreement, measured = (
        number_words.agreement_words(chosen, told.word),
        number_words.measured(chosen, told.plan, told.word),
    )
    numbers = worded("it agrees with {agreement}, and {measured}.", agreement=agreement, measured=measured)
    if math.isnan(chosen.cost_per_item):
        return f"{numbers[0].upper()}{numbers[1:]}{worded(FILL_TO_KNOW)}"
    return worded("At {price} {numbers}", price=open_words.price(chosen), numbers=numbers)


def _reserved(candidate: Candidate) -> str:
    """`, with reservations: asked again, it changes its answers (46.0 %)`; "" without any."""
    if candidate.standing != "adequate" or not candidate.reservations:
        return ""
    told = [
        worded(
            "{habit} ({size})", habit=worded(RESERVATION[row.question]), size=_size(row.estimate.value, row.question)
        )
        for row in candidate.reservations
    ]
    return worded(", with reservations: {told}", told=worded(" and ").join(told))


def hanging(hangs_on: Sequence[str]) -> str:
    """`, but not without ann1`: annotators without whom the choice is another; "" for none."""
    return worded(", but not without {names}", names=worded(" or ").join(hangs_on)) if hangs_on else ""


def _size(value: float, question: card.Question) -> str:
    if question in ("repeats", "answers"):
        return f"{open_words.percent(value)} %"
    return worded("{gap:+.1f} points", gap=100 * value)


def _hardly(people: AmongPeople, rule: str) -> str:
    near, interval = rule in BY_DISTANCE, f"{people.kappa:.2f} [{people.low:.2f}, {people.high:.2f}]"
    among = worded("; {kappa} among them is {interval}", kappa=KAPPA.get(rule, "κ"), interval=interval)
    baseline = open_words.percent(people.constant)
    return worded(
        "People hardly agree here: an annotator agrees with the others {agreement}, the best constant answer "
        "{constant}{among}. A judge as good as they are has shown little.",
        agreement=said_of(f"{open_words.percent(people.agreement)} %", near),
        constant=worded("to {baseline} %" if near else "in {baseline} %", baseline=baseline),
        among="" if math.isnan(people.low) else among,
    )


def _agreement_of(nearest: Candidate, told: Told) -> str:
    """How far the judge that comes closest agrees, and each that is level with it."""
    agreeing = "it agrees with {agreement}"
    if len(as_close(nearest, told.candidates)) > 1:
        agreeing = "each agrees with {agreement}"
    return worded(agreeing, agreement=number_words.agreement_words(nearest, told.word))


def _without_people(nearest: Candidate, told: Told) -> str:
    number = nearest.second_labels
    enough = worded("on some of the {word}", word=worded(told.word))
    if number:
        enough = worded("on about {number}", number=wording.several(number, told.word.removesuffix("s")))
    return worded(
        "{near}: {numbers}. How far people agree with each other is unknown{second} {enough} (power {power:g} at no "
        "true gap){state}.",
        near=_comes_closest(nearest, told.candidates), numbers=_agreement_of(nearest, told),
        second=worded(SECOND_LABELS), enough=enough, power=told.plan.power, state=worded(OR_STATE),
    )  # fmt: skip


def _few_clusters(told: Told) -> Iterator[str]:
    held_back = {candidate.held_back for candidate in told.candidates}
    if "one_large_cluster" in held_back:
        large = "One of the {word} holds more than 45 % of the labels, too many for anything to be decided."
        yield worded(large, word=worded(told.word))
    if "too_few_clusters" in held_back:
        nothing = "Fewer than {least} {word} decide nothing: there the test may not hold its level."
        yield worded(nothing, least=told.plan.min_clusters, word=worded(told.word))
    elif told.chosen and told.chosen.agreement.clusters < FEW_CLUSTERS:
        few = "These are fewer than {few} {word}, where {err}."
        yield worded(few, few=FEW_CLUSTERS, word=worded(told.word), err=worded(FEW_ERR))


def _replaced(told: Told) -> Iterator[str]:
    plan = told.plan
    if plan.gone:
        names = worded(", ").join(f"{judge} {count}" for judge, count in sorted(plan.replaced.items()))
        also = "Settings that later ones replaced count as tried too ({names}): {tried} candidates in all."
        yield worded(also, names=names, tried=len(told.candidates) + plan.gone)


def _is_twice(candidates: Sequence[Candidate]) -> bool:
    """Whether one judge is among them twice: there are more candidates than judges."""
    return any(candidate.judge.endswith(BOTH_ORDERS) for candidate in candidates)


def _all_tried(candidates: Sequence[Candidate], gone: int = 0) -> str:
    """`3 judges tried`, or `4 candidates tried (2 judges, by one order or both)` where one judge counts twice.

    `gone`: settings that were replaced, which count too.
    """
    judges = {candidate.judge.removesuffix(BOTH_ORDERS) for candidate in candidates}
    of = wording.several(len(judges), "judge")
    if gone:
        with_gone = "{count} candidates tried ({of}, with settings that later ones replaced)"
        return worded(with_gone, count=len(candidates) + gone, of=of)
    if not _is_twice(candidates):
        return worded("{count} judges tried", count=len(candidates))
    return worded("{count} candidates tried ({of}, by one order or both)", count=len(candidates), of=of)


def _comes_closest(candidate: Candidate, candidates: Sequence[Candidate]) -> str:
    """`small comes closest`, or by name all that are level with it."""
    level = as_close(candidate, candidates)
    if len(level) == 1:
        return worded("{judge} comes closest", judge=candidate.judge)
    names = worded(" and ").join([worded(", ").join(level[:-1]), level[-1]])
    return worded("{names} come closest, level with each other", names=names)

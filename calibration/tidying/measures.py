"""What stands beside a rater's answer in a column of its own: how sure it is, what it cost, how long it took."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import pandas as pd

from calibration.table.roles import NAMES, all_numbers, in_english
from calibration.tidying.found import Found
from calibration.tidying.raters import ANSWER_WORDS, bare_name, kind_of_name
from calibration.tidying.value_sets import recognise
from plain.typed_options import between_plus, by_map, typed

NO_ANSWER = {one for part, names in NAMES.items() if part != "label" for one in (part.replace("_", ""), *names)}
YES_OR_NO = frozenset(("true", "false", "yes", "no"))
LEFT_OUT = "left out"  # no column of labels holds it
UNHELD = ("logprob", "logprobs", "tokens", "latencyms", "durationms", "raw", "rawoutput", "rawresponse", "rawtext")
OTHER_MONEY = (f"{word}{unit}" for word in ("cost", "price") for unit in ("cents", "ct", "eur", "gbp", "cny"))
PARTS = {
    **dict.fromkeys(("confidence", "conf", "certainty", "probability", "prob"), "confidence"),
    **{name: part for part in ("cost_usd", "seconds") for name in (part.replace("_", ""), *NAMES[part])},
    **{f"{word}usd": "cost_usd" for word in ("price", "kosten", "preis", "cot", "prix", "costo", "coste", "precio")},
    **dict.fromkeys((*UNHELD, *OTHER_MONEY, *NAMES["rationale"]), LEFT_OUT),
}
# of one rater's answers, where the others of an item measure otherwise
MEASURES = ("confidence", "cost_usd", "seconds")
SPENT = ("cost_usd", "seconds")  # of a call, whatever it answers: an item's are the sum over its answers
ONE_EACH = ("len_a", "len_b", "run", *MEASURES)  # two numbers joined are none
BETWEEN = re.compile(r"([ _.:/-]+)")
OTHER_CURRENCY = re.compile(
    r"[€£¥]|(?:\b|_)(?:eur|euros?|cny|gbp)(?:\b|_)|(?-i:(?<=[a-z])(?:EUR|CNY|GBP)(?![a-zA-Z]))", re.I
)
PRICE = re.compile(
    r"[€£$¥]|(?<![^\W_])(?:eur|usd|cny|gbp|costs?|prices?|kosten|preis|co[uû]t|prix|costo|coste|precio)(?![^\W_])", re.I
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
LEVELS = range(1, 6)
MILLISECONDS = re.compile(r"milli|(?:^|[\W_])ms(?:$|[\W_])", re.I)
CODES = {"EUR": "eur|euros?|€", "CNY": "cny", "GBP": "gbp|£"}
MONEY = re.compile(r"[€£$¥]|\b(?:eur|usd|cny|gbp)\b", re.I)  # a price in any currency, and no answer


def currencies_in(head: str) -> set[str]:
    """The codes of the currencies other than USD that a head names."""
    found = {word.casefold() for word in OTHER_CURRENCY.findall(head)}
    return {code for code, words in CODES.items() if any(re.search(words, word) for word in found)}


def measure_of(head: str) -> tuple[str, str]:
    """The head before its last words, and the part that these name; ("", "") where they name none or all of it."""
    pieces = BETWEEN.split(head)
    for place in range(max(2, (len(pieces) - 5) // 2 * 2), len(pieces), 2):
        if part := PARTS.get(in_english("".join(pieces[place:]))):
            return "".join(pieces[: place - 1]), part
    return "", ""


def measured(names: Iterable[str], answers: Iterable[str]) -> dict[str, str]:
    """Of `names` those beside an answer of the same head -> that column of `answers`; "" where it is of several."""
    owners = {_without_answer_words(name).casefold(): name for name in answers if not measure_of(name)[1]}
    found = {}
    for name in names:
        head = _without_answer_words(measure_of(name)[0]).casefold()
        inside = [owner for owner in owners if head == owner or head.startswith(f"{owner}.")]
        if inside:
            found[name] = owners[max(inside, key=len)]
        elif ("." in head or kind_of_name(bare_name(head))) and any(
            re.match(rf"{re.escape(head)}[ _.:/-]", one) for one in owners
        ):
            found[name] = ""
    return found


def give_measures(found: Found) -> None:
    """Give each column of answers what stands beside it: as the user says in order, else by heads that begin alike.

    What no column of labels holds, or not as numbers of its scale, is told by name and left out.
    """
    if short := [name for name in found.asked.columns.get("seconds", ()) if MILLISECONDS.search(name)]:
        found.told.append(
            f"{', '.join(short)}: milliseconds by the head, read as seconds as they stand; divide by 1,000"
        )
    if foreign := [name for name in found.asked.columns.get("cost_usd", ()) if OTHER_CURRENCY.search(name)]:
        codes = {code for name in foreign for code in currencies_in(name)}
        if len(codes) == 1 and "currency" not in found.asked.columns:
            found.constants.setdefault("currency", codes.pop())
        named = found.constants.get("currency", "")
        found.told.append(
            f"{', '.join(foreign)}: of another currency by the head, "
            + (f"printed as {named}" if named else "read and printed as USD; --map currency==CODE says which")
        )
    columns = [one.column for one in found.spread]
    own: dict[str, dict[str, str]] = {name: {} for name in columns or found.columns.get("label", ())[:1]}
    for part in ONE_EACH:
        listed = found.asked.columns.get(part, ())
        if len(listed) < 2:
            continue
        found.columns.pop(part, None)
        pairs = list(zip(columns, listed, strict=False))
        if len(listed) != len(found.asked.columns.get("rater_id", ())) or len(listed) != len(columns):
            beside = measured(listed, own)
            pairs = [(beside.get(name, ""), name) for name in listed]
            if "" in beside.values() or len({*beside.values()}) < len(listed):
                pairs = []
                priced = _by_prices(found, listed) if part == "cost_usd" else ""
                found.problems.append(
                    f"{by_map(part, *listed)} names {len(listed)} columns: name one, or as many as --map "
                    "rater_id names columns of answers, in the same order, with nothing between two + where there is "
                    "none" + f": {priced}" * bool(priced)
                )
        for column, name in pairs:
            if name in found.table:
                own[column][part] = name
    said = {*found.asked.columns, *found.constants}
    taken = {name for part, names in found.columns.items() if part in said or part not in ONE_EACH for name in names}
    left: list[str] = []
    more: dict[str, tuple[str, ...]] = {}
    taken |= {*own} | {name for given in own.values() for name in given.values()}
    for name, owner in measured([name for name in found.names if name not in taken], own).items():
        part = measure_of(name)[1]
        owners = [owner] if owner else _of_one_rater(found, name)
        if not owners or part in said or not fits(part, found.table[name]):
            left.append(name)
        elif not any(part in own[one] for one in owners):
            for one in owners:
                own[one][part] = name
        elif _goes_on(found, own[owners[0]][part], name) and part not in more:
            more[part] = (name,)
        else:
            left.append(name)
    is_of_one = len({one.rater_id for one in found.spread}) > 1 or measured(found.columns.get("rationale", ()), own)
    if found.spread and "rationale" not in said and is_of_one:
        remarks = found.columns.pop("rationale", ())  # one rater's, and not what every rater wrote
        found.table, left = found.table.drop(columns=[*remarks]), [*left, *remarks]  # nor do they name an item
    moved = {name for given in own.values() for name in given.values()} | {*left}
    for part in [one for one in ONE_EACH if one not in said and {*found.columns.get(one, ())} & moved]:
        del found.columns[part]
    left += _give_to_whom_it_is(found, own)
    left += [name for name in found.free() if MONEY.search(name) and name not in {*left, *moved}]
    if left:
        priced = _by_prices(found, left)
        found.told.append(
            f"beside a rater's answers, kept in no column of labels: {', '.join(left)}"
            + f"; {priced} reads prices as USD, each its rater's" * bool(priced)
        )
    if not found.spread:
        found.columns |= {part: (name, *more.get(part, ())) for given in own.values() for part, name in given.items()}
        return
    found.spread = tuple(replace(one, measures=own[one.column]) for one in found.spread)
    for part in MEASURES:
        if listed := tuple(given[part] for given in own.values() if part in given):
            found.told.append(f"the {part} of a rater's answers: {', '.join(dict.fromkeys(listed))}")


def is_price(head: str) -> bool:
    """Whether a head may name what was paid, in any currency; which is told, and never read by it."""
    return bool(PRICE.search(CAMEL.sub("_", head)))


def is_of_a_rater(name: str) -> bool:
    """Whether a head says who answered, or a price or a time of an answer, none of which is of what was asked."""
    last = name.rpartition(".")[2]
    plainly = in_english(last)
    is_rater = plainly and {plainly, f"{plainly}id"} & {*NAMES["rater_id"]}
    return bool(is_rater) or is_price(last) or measure_of(f"one {last}")[1] in SPENT


def _by_prices(found: Found, names: Iterable[str]) -> str:
    """The options that read each of `names` that is a price as of the rater its head begins with; "" without any."""
    raters = [one.column for one in found.spread if one.rater_id and not one.criterion]
    prices = {name: CAMEL.sub("_", name) for name in names if is_price(name)}
    heads = {name: PRICE.split(spelt, maxsplit=1)[0].rstrip(" _.:/-(") for name, spelt in prices.items()}
    owner = {  # gpt-4o, and not gpt-4o-mini
        name: min(
            (one for one in raters if head and re.match(rf"{re.escape(head)}(?:[ _.:(/]|$)", one)), key=len, default=""
        )
        for name, head in heads.items()
    }
    each = {one: [name for name, of in owner.items() if of == one] for one in raters}
    if len(raters) < len(found.spread) or max(map(len, each.values()), default=0) != 1:
        return ""
    costs = between_plus(*("".join(each[one]) for one in raters))
    return typed("--map", f"rater_id={between_plus(*raters)}", f"cost_usd={costs}")


def _of_one_rater(found: Found, name: str) -> list[str]:
    """The columns of the rater whose call a price or a time is of, that answered several criteria; [] where none is."""
    head, part = measure_of(name)
    return [one.column for one in found.spread if part in SPENT and one.rater_id == bare_name(head)]


def _goes_on(found: Found, first: str, name: str) -> bool:
    """Whether a column measures the rows that the first does not: `latency_s` of judges, people having `seconds`."""
    return not found.spread and not (found.table[first].ne("") & found.table[name].ne("")).any()


def _give_to_whom_it_is(found: Found, own: Mapping[str, dict[str, str]]) -> list[str]:
    """Give a measure's only column beside several raters to the one it is of; columns that are left out for nobody's.

    Its head names the rater, or it is a price and one rater alone is a judge. Else a price, and what the user named, is
    asked about: money is never given to whom it was not paid for.
    """
    left: list[str] = []
    if len({one.rater_id for one in found.spread}) < 2:
        return left
    judges = [one.column for one in found.spread if found.kinds.get(one.rater_id) == "judge"]
    for part in [one for one in MEASURES if one in found.columns]:
        (name,) = found.columns.pop(part)
        owner = measured([name], own).get(name, judges[0] if part == "cost_usd" and len(judges) == 1 else "")
        if owner:
            left += [name] * (own[owner].setdefault(part, name) != name)
        elif part == "cost_usd" or part in found.asked.columns:
            places = [name if one == [*judges, *own][0] else "" for one in own]
            said = typed("--map", f"rater_id={between_plus(*own)}", f"{part}={between_plus(*places)}")
            found.problems.append(
                f"nothing says of which rater {name!r} is the {part}: {said}, where it stands in that rater's "
                "place and the others' are empty (all of them where it is nobody's)"
            )
        else:
            left.append(name)
    return left


def fits(part: str, cells: "pd.Series[str]") -> bool:
    """Whether every filled cell is a number, of a confidence one from 0 to 1 or a whole level from 1 to 5."""
    filled = cells[cells.str.strip() != ""]
    if part == LEFT_OUT or filled.empty or not all_numbers(filled):
        return False
    numbers = pd.to_numeric(filled)
    return part != "confidence" or bool(numbers.between(0, 1).all() or numbers.isin(LEVELS).all())


def _without_answer_words(head: str) -> str:
    pieces = BETWEEN.split(head)
    while len(pieces) > 1 and pieces[-1].casefold() in ANSWER_WORDS:
        pieces = pieces[:-2]
    return "".join(pieces)


def is_criterion(name: str, words: Collection[str]) -> bool:
    """Whether a key with these words in what a rater said names what was asked, and no other part of a label."""
    if in_english(name) in NO_ANSWER or measure_of(f"one {name}")[1] or MONEY.search(name):
        return False
    is_sure = recognise(words, "", False).answers.read_as in ("verdicts", "sides", "scores")
    return bool(words) and (is_sure or {word.casefold() for word in words} <= YES_OR_NO)


def is_spent(name: str) -> bool:
    """Whether a key names a price or a time, which an answer to several criteria was given for once."""
    return measure_of(f"one {name}")[1] in SPENT

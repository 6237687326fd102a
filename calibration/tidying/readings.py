"""How the answers to each criterion are read, with what the user says about them; or what is to be asked."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase

import pandas as pd

from calibration.table import roles, typed_cells
from calibration.table.verdicts import REQUIRED
from calibration.tidying import applying, mapping, no_answers, orders
from calibration.tidying.found import Found, is_of_judge, some_of
from calibration.tidying.ordered_words import nearest_scale
from calibration.tidying.statuses import BAD_STATUS
from calibration.tidying.value_sets import STATUS as STATUS_WORDS
from calibration.tidying.value_sets import TIES, meanings, no_answer, plain, recognise, to_be_cut, which_is_which
from plain.typed_options import typed

CODES = {66.0, 77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 997.0, 998.0, 999.0, 9999.0}  # of a survey, with any sign
OFTEN = 0.1  # share of a rater's answers
EMPTY = "EMPTY"  # an empty cell, in --map-label
COMMA = re.compile(r"[+-]?\d+,\d*")  # a decimal comma where others write points
PLACES = (
    "left, right, first and second are places, and no column says which system stood there: name it as presentation in "
    "--map; or --labels-are verdicts where the first is always system_a"
)


def find_answers(found: Found) -> None:
    """How the words of each criterion are read."""
    table = applying.unfolded(found.table, found.mapping)
    column = found.columns.get("criterion", ("",))[0]
    if any(one.criterion for one in found.spread):
        column = "criterion"
    elif column and (twice := {*found.table[column]} - {*table[column]}):
        found.told.append(f"one criterion with one that differs in capital letters alone: {', '.join(sorted(twice))}")
    judged = is_of_judge(table, found.mapping)
    groups = [(str(name), rows) for name, rows in table.groupby(column, sort=False)] if column else [("", table)]
    named = " ".join(found.columns.get("label", ())) or " ".join(one.column for one in found.spread)
    of_all = {*table["label"].str.strip().unique()} - {""}
    told: dict[str, list[str]] = {}
    asks: dict[str, list[str]] = {}
    for criterion, rows in groups:
        alone = _alone(found, rows, judged[rows.index])
        usable = rows[~rows["label"].str.strip().isin([*alone.failed, *alone.doubtful])]
        read, sentence, ask = _read(found, usable, f"{named} {criterion}", of_all)
        ask = ask or _none_in_common(found, usable["label"].str.strip(), judged[usable.index], read)
        empty = {"": found.asked.words[EMPTY]} if EMPTY in found.asked.words else {}
        classes = {word for word, text in read.words.items() if text in no_answers.answered(alone)}
        named_so = {word: f"={read.words[word]}" for word in classes & {*found.asked.words}}
        found.answers[criterion] = replace(read, words={**read.words, **named_so, **alone.failed, **empty})
        for held, text in (
            (told, sentence), (told, no_answers.told(alone)), (asks, no_answers.asked(alone)), (asks, ask),
        ):  # fmt: skip
            if text:
                held.setdefault(text, []).append(criterion)
    several = len(groups) > 1
    found.told += [f"answers{_of(names, several)}: {text}" for text, names in told.items()]
    found.problems += [f"answers{_of(names, several)}: {text}" for text, names in asks.items()]
    one = {repr(answers) for answers in found.answers.values()}
    if len(one) == 1 and several:
        found.answers = {"": next(iter(found.answers.values()))}


def _of(criteria: Sequence[str], several: bool) -> str:
    return f" to {some_of(criteria, 4)}" if several else ""


def _alone(found: Found, rows: pd.DataFrame, judged: "pd.Series[bool]") -> no_answers.Alone:
    """What judges alone say, but for words that the user says the meaning of. In a table with our own columns, where
    a status says what failed, a word in doubt is an answer.
    """
    answers = rows["label"].str.strip()
    who = found.columns.get("rater_id", ("rater_id",))[0]  # a column of the rows, but where all are of one rater
    own = answers[judged & answers.ne("")].groupby(rows.get(who, judged))
    most = own.value_counts(normalize=True).groupby(level=-1, sort=False).max()
    ours = {"not_applicable"} | ({"n/a"} if "rater_kind" in found.table else set())
    said = found.asked.words
    of_judges = {str(word): share for word, share in most.items() if word not in {*said, *ours}}
    words = answers[~judged & answers.ne("")].unique()
    of_people = {found.asked.meant(word) for word in words if said.get(word) not in BAD_STATUS}
    alone = no_answers.said_alone(sorted(of_people), of_judges, bool(_systems(found, rows)))
    return replace(alone, doubtful=()) if {*REQUIRED} <= {*found.table} else alone


def _none_in_common(found: Found, answers: "pd.Series[str]", judged: "pd.Series[bool]", read: mapping.Answers) -> str:
    """The sentence that asks where people and judges answer in two lists of words each of its own, "" elsewhere."""
    if read.read_as != "words" or found.asked.labels_are:
        return ""
    said = answers.map(lambda word: read.words.get(word, f"={word}").removeprefix("="))
    said = said[said.ne("") & ~said.isin(STATUS_WORDS.values())]
    people, judges = (sorted(said[side].unique()) for side in (~judged, judged))
    if min(len(people), len(judges)) < 2 or {*people} & {*judges}:
        return ""
    if cut := to_be_cut(judges, people):
        return cut
    each = which_is_which(judges, people)
    own, other = (some_of([*map(repr, words)], 4) for words in (people, judges))
    return (
        f"people say {own} and judges {other}, no word in common: {each} says which is which; --labels-are words where "
        "they never agree"
    )


def _read(found: Found, rows: pd.DataFrame, named: str, of_all: Collection[str]) -> tuple[mapping.Answers, str, str]:
    """(how its words are read, what is told, what is asked) of one criterion."""
    said = found.asked
    words = {word for word in rows["label"].str.strip().unique() if word}
    mapped = {word: word if word in said.orders else said.meant(word) for word in words}
    names = _systems(found, rows)
    if not said.labels_are and _named_crosswise(found, rows, {*mapped.values()} & names):
        return mapping.Answers("words"), "", (
            f"{', '.join(sorted(names))} are names of systems, and may be the first and the second of a row: "
            "--labels-are systems where an answer is a name, --labels-are verdicts where it is a place in the row"
        )  # fmt: skip
    meant = _beside_names({*mapped.values()}, names, said.labels_are) if said.labels_are in ("", "systems") else None
    if meant is not None:
        return (
            mapping.Answers("systems", _through(mapped, meant, said.words)),
            "names of systems are read as A and B",
            "",
        )
    often = {mapped[word] for word in _often(found, rows)}
    read = recognise({*mapped.values()}, named, bool(names), said.labels_are, of_all, often)
    answers, ask = read.answers, read.ask
    if said.labels_are == "sides" and answers.read_as == "verdicts":
        answers = replace(answers, read_as="sides")
    elif found.flagged and answers.read_as == "verdicts" and not said.labels_are and not ask:
        ask = (
            f"{found.flagged!r} says that some pairs were shown turned, and A and B may be places or systems: "
            "--labels-are sides where A is what stood first, --labels-are verdicts where it is system_a however shown"
        )
        pair = [found.columns[part][0] for part in ("system_a", "system_b") if part in found.columns]
        if orders.turns_with_names(found, pair, found.flagged, found.orders):
            same = typed("--map", "presentation==AB", f"ignore={found.flagged}")
            ask += f"; the names of the systems turn with it in every row: {same} where the first named stood first"
    if answers.read_as == "sides" and (said.labels_are == "verdicts" or orders.named_after_sides(found)):
        answers = replace(answers, read_as="verdicts")
    elif answers.read_as == "sides" and "presentation" not in {*found.columns, *rows} and not ask:
        ask = PLACES
    if answers.read_as == "scores" and not ask:
        ask = _codes([word for word in mapped if word not in said.words])
    if answers.read_as == "words" and not ask:
        ask = _odd([answers.words.get(word, word) for word in mapped.values()], bool(names), often)
        is_unsaid = said.labels_are != "verdicts" and "presentation" not in {*found.columns, *rows}
        ask += f"; {PLACES}" * (bool(ask) and is_unsaid and orders.are_sides(mapped.values()))
    return mapping.Answers(answers.read_as, _through(mapped, answers.words, said.words)), "" if ask else read.told, ask


def _often(found: Found, rows: pd.DataFrame) -> set[str]:
    """The words that are a tenth or more of some rater's answers, as what is no answer seldom is."""
    answers = rows["label"].str.strip()
    who = found.columns.get("rater_id", ("rater_id",))[0]
    said = answers[answers.ne("")].groupby(rows.get(who, pd.Series("", rows.index))).value_counts(normalize=True)
    return {*said[said.ge(OFTEN)].index.get_level_values(-1)}


def _codes(words: Iterable[str]) -> str:
    """The sentence that asks about numbers such as -99 beside a few small ones, as surveys write no answer; else ""."""
    values = {word: float(word) for word in words if typed_cells.is_number(word)}
    codes = [word for word, number in values.items() if abs(number) in CODES or (number in (-7, -8, -9, -1))]
    rest = [number for word, number in values.items() if word not in codes]
    if not codes or len(rest) < 2 or min(rest) < 0 or max(rest) > 11 or (max(rest) < 3 and "-1" in codes):
        return ""
    missing, kept = (
        typed("--map-label", *(f"{word}={what}" for word in codes)) for what in ("missing", mapping.ANSWER)
    )
    return f"{', '.join(codes)} among {min(rest):g} to {max(rest):g} may stand for no answer: {missing}, or {kept}"


def _through(mapped: Mapping[str, str], meant: Mapping[str, str], said: Mapping[str, str]) -> dict[str, str]:
    """What each word of the file becomes, by way of what the user says it means; one that is an answer as it stands
    is left out, or kept by its name where it is called like a status.
    """
    whole = {word: meant.get(text, text) for word, text in mapped.items() if said.get(word) != mapping.ANSWER}
    failed = {word for word, text in whole.items() if text in BAD_STATUS and (word in said or word in meant)}
    answers = {word: f"={word}" for word in mapped if word in BAD_STATUS - failed}
    return answers | {word: text for word, text in whole.items() if word != text or word in failed}


def _odd(words: Iterable[str], is_paired: bool, often: Collection[str]) -> str:
    """The sentence that asks about words beside verdicts or numbers, "" where they are a list of their own."""
    usable = sorted(word for word in words if plain(word) not in STATUS_WORDS)
    rest = [word for word in usable if not typed_cells.is_number(word)]
    known = [word for word in usable if recognise([word, "A", "B"], "", False).answers.read_as in ("verdicts", "sides")]
    is_pair = is_paired or (len(known) > 1 and recognise(known, "", False).answers.read_as != "words")
    if is_pair:
        odd = [word for word in usable if word not in known]
    elif len(rest) < len(usable) and 2 * len(rest) <= len(usable):
        odd = rest
    else:
        return ""
    if not odd:
        return ""
    shown = ", ".join(map(repr, odd[:5]))
    if not is_paired and ({*usable} <= {*ascii_uppercase[: max(3, len(usable))]} or {*usable} == {*"ABCDF"}):
        grades = typed("--map-label", *(f"{word}={len(usable) - at}" for at, word in enumerate(sorted(usable))))
        verdicts = f", {odd[0]}=tie where they are verdicts on pairs" * (len(odd) == 1)
        return f"{shown} beside A and B: {grades} where they are grades{verdicts}"
    numbers = [word for word in odd if typed_cells.is_number(word)] if is_pair else []
    is_axis = any(float(word) < 0 for word in numbers) and orders.are_sides(usable)  # where -1 is left, or a loss
    is_verdict = is_pair or len(rest) == len(usable)
    each = (
        [*meanings(numbers)]
        if len(numbers) > 1
        else [f"{one}={no_answer(one, often, 'invalid') if float(one) else 'tie'}" for one in numbers]
    )
    turned = [one.replace("=A", "=#").replace("=B", "=A").replace("=#", "=B") for one in each]
    levels = {} if is_verdict else nearest_scale({*map(plain, odd)})
    commas = {word: typed_cells.number_text(word.replace(",", ".")) for word in odd if COMMA.fullmatch(word)}
    none = {word: no_answer(word, often, "invalid" if is_verdict else "missing") for word in odd}
    own = {word: str(levels.get(plain(word)) or commas.get(word) or none[word]) for word in odd}
    words = [f"{word}={one}" for word, one in own.items() if word not in numbers]
    said = typed("--map-label", *each, *words) + f" or {typed('--map-label', *turned, *words)}" * is_axis
    instead = "=A, =B or =tie" if is_verdict else "its number"
    return (
        f"{shown} stand{'s' * (len(odd) == 1)} beside other answers; say what is meant: {said}"
        + f" (=invalid where it is no answer, {instead} where it is one)"
    )


def _systems(found: Found, rows: pd.DataFrame) -> set[str]:
    if not {"system_a", "system_b"} <= {*found.columns}:
        return set()
    named = {text for part in ("system_a", "system_b") for text in rows[found.columns[part][0]].unique()} - {""}
    return named if rows[found.columns["system_b"][0]].ne("").any() else set()


def _named_crosswise(found: Found, rows: pd.DataFrame, names: set[str]) -> bool:
    """Whether answers are names of systems that say a place too, A or Model 2, and some stand in the other place."""
    pair = {"1", "2"} if names <= {"1", "2"} else set[str]()
    read = recognise(names | pair, "", True, "verdicts").answers if names else mapping.Answers()
    places = {name: read.words.get(name, name) for name in names} if read.read_as in ("verdicts", "sides") else {}
    stood = {"A": found.columns["system_a"][0], "B": found.columns["system_b"][0]} if places else {}
    return any(rows[column].map(places).fillna(place).ne(place).any() for place, column in stood.items())


def _beside_names(words: set[str], systems: set[str], labels_are: str) -> dict[str, str] | None:
    """What words beside the names of systems mean: ties, none, and another rater's A and B; None where it is unsure.

    A and B beside names are sides of the row only where no name is one as well.
    """
    ties = {word: "tie" for word in words if plain(word) in TIES and word not in systems}
    ties |= {word: STATUS_WORDS[plain(word)] for word in words if plain(word) in STATUS_WORDS}
    ties |= {word: "tie" for word in words & {"0"} if systems == {"1", "2"}}
    other = words - systems - {*ties}
    if not words & systems or (systems <= {"A", "B"} and labels_are != "systems"):
        return None
    read = recognise(other, "", True).answers  # such as 1, 2 and 0
    read = read if read.read_as == "verdicts" else recognise(other | {"A", "B"}, "", True).answers
    sided = read.read_as == "verdicts" and recognise({*systems, "A", "B"}, "", True).answers.read_as == "words"
    return ties if not other else {**read.words, **ties} if sided else None


def unordered(labels: pd.DataFrame) -> tuple[str, ...]:
    """What is told of a table with our columns whose words stand on a scale: settings may declare it, else no order is
    known.
    """
    words = {str(name): {*map(str, own.unique())} for name, own in labels.groupby("criterion", observed=True)["label"]}
    named = [name for name, own in words.items() if nearest_scale({*map(plain, own - {""})})]
    told = f"answers to {some_of(named, 4)} are words of a scale, and have no order unless the settings declare it: "
    return (f"{told}--labels-are scores reads a whole scale as its levels",) if named else ()


def in_our_words(labels: pd.DataFrame) -> bool:
    """Whether a table with our columns holds our words alone: A, B, tie, numbers, a probe's answers spelt one way; no
    judge's word among them that is no answer, and each rater spelt one way.
    """
    raters = labels["rater_id"].unique() if "rater_id" in labels else ()
    if len({str(name).casefold() for name in raters}) < len(raters):
        return False
    for _, rows in labels.groupby("criterion", observed=True):
        judged = rows["rater_kind"].eq("judge") if "rater_kind" in rows else pd.Series(False, rows.index)
        of_people = {*rows.loc[~judged, "label"].astype("str").str.strip().unique()} - {""}
        alone = {str(word) for word in rows.loc[judged, "label"].unique()} - {*of_people, "not_applicable", "n/a"}
        if of_people and any(no_answers.says_none(word, of_people) for word in alone):
            return False
        paired = "system_b" in rows and rows["system_b"].astype("str").ne("").any()
        words = {str(word) for word in rows["label"].unique()} - set(roles.ALIASES)
        if nearest_scale({*map(plain, words)}):  # a scale that settings may declare
            continue
        read = recognise(words, "label", bool(paired))
        respelt = any(word != meant for word, meant in read.answers.words.items())
        if read.ask or respelt or read.answers.read_as == "sides":
            return False
        if paired and read.answers.read_as == "words":
            return False
    return True

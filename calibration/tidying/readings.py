"""How the answers to each criterion are read, with what the user says about them; or what is to be asked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote

import pandas as pd

from calibration.table import roles, typed_cells
from calibration.tidying import applying, mapping
from calibration.tidying.found import Found
from calibration.tidying.value_sets import STATUS as STATUS_WORDS
from calibration.tidying.value_sets import TIES, plain, recognise

EMPTY = "EMPTY"  # an empty cell, in --map-label
SIDED = re.compile(r"left|first|links|izquierd|gauche|左")


def find_answers(found: Found) -> None:
    """How the words of each criterion are read."""
    table = applying.unfolded(found.table, found.mapping)
    column = found.columns.get("criterion", ("",))[0]
    if any(one.criterion for one in found.spread):
        column = "criterion"
    groups = [(str(name), rows) for name, rows in table.groupby(column, sort=False)] if column else [("", table)]
    named = " ".join(found.columns.get("label", ())) or " ".join(one.column for one in found.spread)
    told: dict[str, list[str]] = {}
    asks: dict[str, list[str]] = {}
    for criterion, rows in groups:
        read, sentence, ask = _read(found, rows, f"{named} {criterion}")
        empty = {"": found.asked.words[EMPTY]} if EMPTY in found.asked.words else {}
        found.answers[criterion] = replace(read, words={**read.words, **empty})
        for held, text in ((told, sentence), (asks, ask)):
            if text:
                held.setdefault(text, []).append(criterion)
    several = len(groups) > 1
    found.told += [f"answers{_of(names, several)}: {text}" for text, names in told.items()]
    found.problems += [f"answers{_of(names, several)}: {text}" for text, names in asks.items()]
    one = {repr(answers) for answers in found.answers.values()}
    if len(one) == 1 and several:
        found.answers = {"": next(iter(found.answers.values()))}


def _of(criteria: Sequence[str], several: bool) -> str:
    shown = ", ".join(criteria[:4]) + (f" and {len(criteria) - 4} more" if len(criteria) > 4 else "")
    return f" to {shown}" if several else ""


def _read(found: Found, rows: pd.DataFrame, named: str) -> tuple[mapping.Answers, str, str]:
    """(how its words are read, what is told, what is asked) of one criterion."""
    said = found.asked
    words = {word for word in rows["label"].str.strip().unique() if word}
    mapped = {word: said.words.get(word, word) for word in words}
    names = _systems(found, rows)
    meant = _beside_names({*mapped.values()}, names) if said.labels_are in ("", "systems") else None
    if meant is not None:
        return mapping.Answers("systems", _through(mapped, meant)), "names of systems are read as A and B", ""
    read = recognise({*mapped.values()}, named, bool(names), said.labels_are)
    answers, ask = read.answers, read.ask
    if answers.read_as == "sides" and (said.labels_are == "verdicts" or _named_after_sides(found)):
        answers = replace(answers, read_as="verdicts")
    elif answers.read_as == "sides" and "presentation" not in found.columns and not ask:
        ask = (
            "left, right, first and second are places, and no column says which system stood there: --map "
            "presentation=COLUMN (with AB or BA), or --labels-are verdicts where the first is always system_a"
        )
    if answers.read_as == "words" and not ask:
        ask = _odd(mapped.values(), bool(names))
    return mapping.Answers(answers.read_as, _through(mapped, answers.words)), "" if ask else read.told, ask


def _through(mapped: Mapping[str, str], meant: Mapping[str, str]) -> dict[str, str]:
    """What each word of the file becomes, by way of what the user says it means."""
    whole = {word: meant.get(said, said) for word, said in mapped.items()}
    return {word: text for word, text in whole.items() if word != text}


def _odd(words: Iterable[str], is_paired: bool) -> str:
    """The sentence that asks about words beside verdicts or numbers, "" where they are a list of their own."""
    usable = [word for word in words if plain(word) not in STATUS_WORDS]
    rest = [word for word in usable if not typed_cells.is_number(word)]
    known = [word for word in usable if recognise([word, "A", "B"], "", False).answers.read_as in ("verdicts", "sides")]
    if len(rest) < len(usable) and 2 * len(rest) <= len(usable):
        odd = rest
    elif is_paired or (len({*known} & {*usable}) > 1 and recognise(known, "", False).answers.read_as != "words"):
        odd = [word for word in usable if word not in known]
    else:
        return ""
    if not odd:
        return ""
    shown = ", ".join(map(repr, odd[:5]))
    meant = "A|B|tie" if is_paired or len(rest) == len(usable) else "NUMBER"
    said = quote(f"{odd[0]}={meant}")
    return (
        f"{shown} stand{'s' * (len(odd) == 1)} beside other answers; say what is meant: --map-label {said}, or "
        "=invalid where it is no answer"
    )


def _systems(found: Found, rows: pd.DataFrame) -> set[str]:
    if not {"system_a", "system_b"} <= {*found.columns}:
        return set()
    named = {text for part in ("system_a", "system_b") for text in rows[found.columns[part][0]].unique()} - {""}
    return named if rows[found.columns["system_b"][0]].ne("").any() else set()


def _beside_names(words: set[str], systems: set[str]) -> dict[str, str] | None:
    """What words beside the names of systems mean: ties, none, and another rater's A and B; None where it is unsure.

    A and B beside names are sides of the row only where no name is one as well.
    """
    ties = {word: "tie" for word in words if plain(word) in TIES and word not in systems}
    ties |= {word: STATUS_WORDS[plain(word)] for word in words if plain(word) in STATUS_WORDS}
    other = words - systems - {*ties}
    if not words & systems or systems <= {"A", "B"}:
        return None
    read = recognise(other, "", True).answers  # such as 1, 2 and 0
    read = read if read.read_as == "verdicts" else recognise(other | {"A", "B"}, "", True).answers
    sided = read.read_as == "verdicts" and recognise({*systems, "A", "B"}, "", True).answers.read_as == "words"
    return ties if not other else {**read.words, **ties} if sided else None


def _named_after_sides(found: Found) -> bool:
    return "system_a" in found.columns and bool(SIDED.search(plain(found.columns["system_a"][0])))


def in_our_words(labels: pd.DataFrame) -> bool:
    """Whether a table with our columns holds our words alone: A, B, tie, numbers, a probe's answers spelt one way."""
    paired = "system_b" in labels and labels["system_b"].astype("str").ne("").any()
    for _, words in labels.groupby("criterion", observed=True)["label"]:
        read = recognise({str(word) for word in words.unique()} - set(roles.ALIASES), "label", bool(paired))
        respelt = any(word != meant for word, meant in read.answers.words.items())
        if read.ask or respelt or read.answers.read_as == "sides":
            return False
        if paired and read.answers.read_as == "words":
            return False
    return True

"""A mapping for any table: parts by the names of columns, raters and words by what they say, the rest asked for.

After the columns comes the shape (answers in one column, or in one for each rater, criterion or both), after the
answers what names an item and its topic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations

import pandas as pd

from calibration.table.other_languages import language_of, plain_head
from calibration.table.roles import NAMES, as_text, called_elsewhere, in_english, roles_of
from calibration.table.typed_cells import is_number
from calibration.tidying import keys, mapping, measures, orders, readings, shape, statuses
from calibration.tidying.found import FROM, Found, ask_who_is_who, kind_of, raters_in, some_of, words_of
from calibration.tidying.raters import bare_name, called, kind_of_word, own_key
from calibration.tidying.value_sets import plain
from plain.typed_options import by_map, typed

OVERALL = "overall"
CANDIDATES = 4  # columns that a question names
# names of columns in which only people stand
PERSONS = frozenset(
    f"{who}{end}" for who in ("worker", "turker", "participant", "crowdworker") for end in ("", " id", "id")
)
SETTLED = re.compile(r"(?:.*[\W_])?(?:adjudicated|adjudication|consensus|majority|final|gold)", re.I)
NOTHING = mapping.Asked()
KIND_COLUMNS = ("source", "type", "raterkind", "annotatorkind", "labelertype", "evaluatortype", *NAMES["rater_kind"],
                "art", "typ", "quelle", "类型", "来源", "tipo", "fuente")  # fmt: skip


def propose(frame: pd.DataFrame, asked: mapping.Asked = NOTHING, file: str = "") -> mapping.Proposal:
    """A mapping of `frame` to labels, what it takes for granted, and all that must be said before it is followed.

    `file`: its name, which may be the rater's where one gave all.
    """
    table, twice = as_text(frame)
    found = Found(table, asked, file=file)
    found.problems += [f"column {name!r} appears twice; rename or remove one" for name in twice]
    if table.empty:
        found.problems.append("the table has no rows; give it at least one label")
        return mapping.Proposal(found.mapping, (), tuple(found.problems))
    _find_columns(found)
    orders.find_order(found)
    shape.find_shape(found)
    statuses.read_words(found)
    statuses.ask_of_answers(found)
    _find_raters(found)
    measures.give_measures(found)
    if "label" in found.columns or found.spread:
        _refuse_two_answers(found)
        _find_criterion(found)
        readings.find_answers(found)
        keys.find_items(found)
        orders.ask_of_the_first(found)
        statuses.unread(found)
    return mapping.Proposal(found.mapping, tuple(found.told), tuple(found.problems))


def _find_columns(found: Found) -> None:
    """Parts that the user names, and those that names of columns say."""
    for part, columns in found.asked.columns.items():
        may_lack = part in measures.ONE_EACH and len(columns) > 1  # then an empty place is a rater without it
        absent = [name for name in columns if name not in found.table and (name or not may_lack)]
        if absent:
            listed = ", ".join(found.names[:20])
            near = [by_map(part, one) for one in get_close_matches(absent[0], found.names, 1, 0.6)]
            found.problems.append(
                f"there is no column {absent[0]!r} (there are: {listed}); "
                + (f"nearest: {near[0]}" if near else f"correct --map {part}=…")
            )
        elif columns and (len(columns) == 1 or part not in ("rater_id", "criterion") or _are_joined(found, part)):
            found.columns[part] = columns
    found.constants |= found.asked.constants
    said = {*found.asked.columns, *found.constants}
    taken = {name for columns in found.asked.columns.values() for name in columns}
    rest = found.table[[name for name in found.table if name not in taken]]
    names = list(map(str, rest))
    last = [_last_part(name) for name in names]
    plainly = [
        one if last.count(one) == 1 and one not in names else name for one, name in zip(last, names, strict=True)
    ]
    short = dict(zip(plainly, names, strict=True))
    rest = rest.set_axis(list(short), axis=1)
    known = roles_of(rest)
    for part, name in known.items():
        if part not in said:
            found.columns[part] = (short[name],)
    _say_languages(found, {part: short[name] for part, name in known.items() if part not in said})
    for part, several in called_elsewhere(rest, known).items():
        if part not in said:
            _say_doubt(found, part, [short[name] for name in several])
    if "system_b" in found.columns and "system_a" not in found.columns:
        del found.columns["system_b"]


def _are_joined(found: Found, part: str) -> bool:
    """Whether several columns name a rater together, since another one holds the answers."""
    return part == "rater_id" and "label" in found.asked.columns


def _last_part(name: str) -> str:
    """What a dotted name says of a column: its last part, with the one before it where both are a rater or a system."""
    before, _, last = name.rpartition(".")
    whole = f"{before.rpartition('.')[2].removesuffix('s')}_{last}"
    plainly = in_english(whole)
    is_known = any(plainly in (part.replace("_", ""), *NAMES[part]) for part in ("rater_id", "system_a", "system_b"))
    return whole if before and is_known else last


def _say_languages(found: Found, known: Mapping[str, str]) -> None:
    """What columns called in another language are read as; a head that is English too needs no word."""
    heads: dict[str, list[str]] = {}
    for part, name in known.items():
        last = name.rpartition(".")[2]
        english = (part.replace("_", ""), *NAMES.get(part, ()))
        if (language := language_of(part, last)) and in_english(last) not in english:
            heads.setdefault(language, []).append(f"{name!r} is {part}")
    found.told += [f"heads in {language}: {', '.join(told)}" for language, told in heads.items()]


def _say_doubt(found: Found, part: str, several: Sequence[str]) -> None:
    """Two columns that are called as one part: asked about where labels need it, else neither is read; of topics the
    one that holds the others, since labels on one topic are not independent.
    """
    listed = " and ".join(map(repr, several))
    if part == "cluster_id" and (whole := _holding_others(found.table, several)):
        found.columns[part] = (whole,)
        found.told.append(f"{listed} may each be the {part}: {whole!r} is, which holds several of the others'")
        return
    if part in ("rater_id", "criterion", "label"):
        found.problems.append(f"{listed} may each be the {part}: {by_map(part, several[0])}, or the other one")
    else:
        found.told.append(f"{listed} may each be the {part}, and neither is read as it: {by_map(part, several[0])}")


def _holding_others(table: pd.DataFrame, several: Sequence[str]) -> str:
    """The column of which each value holds whole values of all others, as a topic its questions; "" where none does."""
    for one in several:
        others = [table.groupby(name)[one].nunique().max() for name in several if name != one]
        if max(others) == 1 and 1 < table[one].nunique() < min(
            table[name].nunique() for name in several if name != one
        ):
            return one
    return ""


def _refuse_two_answers(found: Found) -> None:
    """Several columns are one label only where no row has two that differ: else they are answers of several raters."""
    columns = found.columns.get("label", ())
    for one, other in combinations(columns, 2):
        first, second = (found.table[name].str.strip() for name in (one, other))
        both = int((first.ne("") & second.ne("") & first.ne(second)).sum())
        if not both:
            continue
        who = found.asked.columns.get("rater_id", ("",))[0]
        of_list = "." in who and who.rpartition(".")[0] in {name.rpartition(".")[0] for name in (one, other)}
        each = (
            "leave --map rater_id and label out, and the people beside a list of judges are read with it (--people "
            "says who they are)"
            if of_list
            else f"{by_map('rater_id', *columns)} without --map label"
        )
        found.problems.append(
            f"{one} and {other} both answer in {both:,} rows and differ: one rater each? Then {each}; where one of "
            f"them alone is the answer: {by_map('label', other)}"
        )
        return


def _find_raters(found: Found) -> None:
    if any(one.rater_id for one in found.spread):
        names = list(dict.fromkeys(one.rater_id for one in found.spread))
    elif "rater_id" in found.columns:
        names = words_of(raters_in(found.table, found.columns["rater_id"]))
    elif "rater_id" in found.constants:
        names = [found.constants["rater_id"]]
    else:
        source = next((name for name in FROM if name in found.free()), "")
        if not source:
            if "label" in found.columns or found.spread:
                places = [name for name in found.free() if name.endswith(f".{shape.PLACE}")]
                listed = [
                    f"where the n-th of each list is one rater's, {by_map('rater_id', name)} "
                    f"{typed('--people', *words_of(found.table[name]))} (or none)"
                    for name in places
                ]
                found.problems.append("; ".join([_nobody_says(found), *listed]))
            return
        found.columns["rater_id"] = (source,)
        found.told.append(f"who answered is the {source}")
        names = words_of(found.table[source])
    found.asked = replace(found.asked, people=tuple(called(person, names) or person for person in found.asked.people))
    held = {own_key(name): name for name in names if found.spread}  # `judges.gpt-4o` is gpt-4o
    if len(held) == len(names):
        found.spread = tuple(replace(one, rater_id=own_key(one.rater_id)) for one in found.spread)
    if "rater_kind" in found.columns:
        _read_kinds(found)
    elif "rater_kind" not in found.constants:
        _find_kinds(found, held if len(held) == len(names) else dict(zip(names, names, strict=True)))


def _nobody_says(found: Found) -> str:
    """The sentence that asks who answered, with the columns of a few words that may say it."""
    words = {name: words_of(found.table[name]) for name in found.free() if not keys.WHEN.search(name)}
    may_say = [name for name, own in words.items() if 1 < len(own) <= shape.MANY and not any(map(is_number, own))]
    name = found.file or bare_name(found.columns.get("label", ("answers",))[0])
    listed = "".join(f"{by_map('rater_id', name)}, or " for name in may_say[:CANDIDATES])
    return (
        f"no column says who answered: {listed}{typed('--map', f'rater_id=={name}')} where one rater gave "
        "all; who of them is a person is asked next where their names do not say it"
    )


def _read_kinds(found: Found) -> None:
    """The words of a column that was named; one that says neither is asked about."""
    (column, *more) = found.columns["rater_kind"]
    if more or column == "rater_kind":  # our own name: its words are checked as labels are
        return
    words = {word: kind_of_word(word) for word in words_of(found.table[column])}
    unknown = [word for word, kind in words.items() if not kind]
    if unknown:
        found.problems.append(
            f"{column!r} says {', '.join(map(repr, unknown[:4]))}, which says neither person nor judge: leave --map "
            "rater_kind out, and name the people by --people (or all, or none), and the others are judges"
        )
    found.kind_words = {word: kind for word, kind in words.items() if kind}


def _find_kinds(found: Found, raters: Mapping[str, str]) -> None:
    """Who is a person and who a judge, by a column of words or by the raters' names; asked for where neither says.

    `raters`: name -> as the file has it.
    """
    column = next((name for name in found.free() if _tells_kinds(name, found.table[name])), "")
    if column and not found.asked.people:
        found.columns["rater_kind"] = (column,)
        found.kind_words = {word: kind_of_word(word) for word in words_of(found.table[column])}
        found.told.append(f"{column!r} says who is a person and who a judge")
        return
    found.kinds = {name: kind_of(as_held, found.asked) for name, as_held in raters.items()}
    source, by = plain(found.columns.get("rater_id", ("",))[0]), "" if found.asked.people else " by their names"
    if source in PERSONS and not found.asked.people:
        found.kinds = {name: kind or "human" for name, kind in found.kinds.items()}
        found.told.append(f"who stands in {found.columns['rater_id'][0]!r} is a person")
        by = ""
    unknown = [name for name, kind in found.kinds.items() if kind != "judge"]  # whoever is not named will be a judge
    if not all(found.kinds.values()):
        found.problems.append(ask_who_is_who(unknown))
        return
    _ask_of_gold(found)
    people = [name for name in raters if found.kinds[name] == "human"]
    made, own = ([name for name in people if bool(SETTLED.fullmatch(name)) is is_made] for is_made in (True, False))
    if made and own:
        found.told.append(
            f"{', '.join(made)}, settled of others' answers by the head, counts as one more annotator beside them: "
            f"{typed('--people', *own)} without it"
        )
    for kind, what in (("human", "people"), ("judge", "judges")):
        names = [name for name in raters if found.kinds[name] == kind]
        if names:
            found.told.append(f"{what}{by}: {some_of(names, 5)}")


def _ask_of_gold(found: Found) -> None:
    """What is called as the right answer is a judge only because it is not among --people, and would be a fine one."""
    for name in [name for name, kind in found.kinds.items() if kind == "judge" and plain(name) in shape.GOLD]:
        held = next((one.column for one in found.spread if one.rater_id == name), "")
        people = [one for one, kind in found.kinds.items() if kind == "human"]
        without = by_map("ignore", held) if held else "without its rows in the file"
        found.problems.append(
            f"{name!r} is called as the right answer, and would count as a judge: {without} where it is no rater; "
            f"{typed('--people', *people, name)} where it is a person's answer"
        )


def _tells_kinds(name: str, cells: pd.Series[str]) -> bool:
    words = words_of(cells) if plain_head(name.rpartition(".")[2]) in KIND_COLUMNS else []
    return bool(words) and all(map(kind_of_word, words))


def _find_criterion(found: Found) -> None:
    if "criterion" in found.columns or "criterion" in found.constants or any(one.criterion for one in found.spread):
        return
    close = get_close_matches("criterion", [name for name in found.free() if len(name) > 4], 1, 0.8)
    if close:
        found.problems.append(
            f"is {close[0]!r} the criterion? {by_map('criterion', close[0])}, or --map criterion==overall"
        )
    found.constants["criterion"] = OVERALL

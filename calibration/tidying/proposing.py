"""A mapping for any table: parts by the names of columns, raters and words by what they say, the rest asked for.

After the columns comes the shape (answers in one column, or in one for each rater, criterion or both), after the
answers what names an item and its topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations

import pandas as pd

from calibration.table.other_languages import language_of, plain_head
from calibration.table.roles import NAMES, as_text, called_elsewhere, in_english, roles_of
from calibration.table.typed_cells import is_number
from calibration.tidying import beside, keys, mapping, measures, readings
from calibration.tidying.found import FROM, Found, kind_of, made_of_several
from calibration.tidying.raters import (
    are_asked_about,
    bare_name,
    called,
    crossed,
    kind_of_name,
    kind_of_word,
    people_of,
)
from calibration.tidying.value_sets import plain, recognise

OVERALL = "overall"
# names of columns in which only people stand
PERSONS = frozenset(
    f"{who}{end}" for who in ("worker", "turker", "participant", "crowdworker") for end in ("", " id", "id")
)
NOTHING = mapping.Asked()
KIND_COLUMNS = ("source", "type", "raterkind", "annotatorkind", "labelertype", "evaluatortype", *NAMES["rater_kind"],
                "art", "typ", "quelle", "类型", "来源", "tipo", "fuente")  # fmt: skip
MANY, LONG = 30, 40  # distinct answers, and characters of one: beyond these a column holds no answers
WHOLE = {str(number) for number in range(11)}  # scores, and hardly prices
NOBODY_SAYS = "no column says who answered: --map rater_id=COLUMN, or --map rater_id==NAME for one rater of all"
PLACE = "place"  # of an answer in its list of nested records


def propose(frame: pd.DataFrame, asked: mapping.Asked = NOTHING) -> mapping.Proposal:
    """A mapping of `frame` to labels, what it takes for granted, and all that must be said before it is followed."""
    table, twice = as_text(frame)
    found = Found(table, asked)
    found.problems += [f"column {name!r} appears twice; rename or remove one" for name in twice]
    if table.empty:
        found.problems.append("the table has no rows; give it at least one label")
        return mapping.Proposal(found.mapping, (), tuple(found.problems))
    _find_columns(found)
    readings.find_order(found)
    find_shape(found)
    _find_raters(found)
    measures.give_measures(found)
    if "label" in found.columns or found.spread:
        _refuse_two_answers(found)
        _find_criterion(found)
        readings.find_answers(found)
        keys.find_items(found)
    return mapping.Proposal(found.mapping, tuple(found.told), tuple(found.problems))


def _find_columns(found: Found) -> None:
    """Parts that the user names, and those that names of columns say."""
    for part, columns in found.asked.columns.items():
        may_lack = part in measures.ONE_EACH and len(columns) > 1  # then an empty place is a rater without it
        absent = [name for name in columns if name not in found.table and (name or not may_lack)]
        if absent:
            listed = ", ".join(found.names[:20])
            found.problems.append(f"there is no column {absent[0]!r} (there are: {listed}); correct --map {part}=…")
        elif columns and not (part in ("rater_id", "criterion") and len(columns) > 1):
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
        if (language := language_of(part, last)) and in_english(last) not in (part.replace("_", ""), *NAMES[part]):
            heads.setdefault(language, []).append(f"{name!r} is {part}")
    found.told += [f"heads in {language}: {', '.join(told)}" for language, told in heads.items()]


def _say_doubt(found: Found, part: str, several: Sequence[str]) -> None:
    """Two columns that are called as one part: asked about where labels need it, else neither is read."""
    listed = " and ".join(map(repr, several))
    if part in ("rater_id", "criterion", "label"):
        found.problems.append(f"{listed} may each be the {part}: --map {part}={several[0]}, or the other one")
    else:
        found.told.append(f"{listed} may each be the {part}, and neither is read as it: --map {part}={several[0]}")


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
            "NAME,NAME says who they are)"
            if of_list
            else f"--map rater_id={'+'.join(columns)} without --map label"
        )
        found.problems.append(
            f"{one} and {other} both answer in {both:,} rows and differ: one rater each? Then {each}; where one of "
            f"them alone is the answer: --map label={other}"
        )
        return


def _find_raters(found: Found) -> None:
    if any(one.rater_id for one in found.spread):
        names = list(dict.fromkeys(one.rater_id for one in found.spread))
    elif "rater_id" in found.columns:
        names = _words(found.table[found.columns["rater_id"][0]])
    elif "rater_id" in found.constants:
        names = [found.constants["rater_id"]]
    else:
        source = next((name for name in FROM if name in found.free()), "")
        if not source:
            if "label" in found.columns or found.spread:
                places = [name for name in found.free() if name.endswith(f".{PLACE}")]
                listed = [
                    f"where the n-th of each list is one rater's, --map rater_id={name} --people "
                    f"{','.join(_words(found.table[name]))} (or none)"
                    for name in places
                ]
                found.problems.append("; ".join([NOBODY_SAYS, *listed]))
            return
        found.columns["rater_id"] = (source,)
        found.told.append(f"who answered is the {source}")
        names = _words(found.table[source])
    found.asked = replace(found.asked, people=tuple(called(person, names) or person for person in found.asked.people))
    if "rater_kind" in found.columns:
        _read_kinds(found)
    elif "rater_kind" not in found.constants:
        _find_kinds(found, names)


def _read_kinds(found: Found) -> None:
    """The words of a column that was named; one that says neither is asked about."""
    (column, *more) = found.columns["rater_kind"]
    if more or column == "rater_kind":  # our own name: its words are checked as labels are
        return
    words = {word: kind_of_word(word) for word in _words(found.table[column])}
    unknown = [word for word, kind in words.items() if not kind]
    if unknown:
        found.problems.append(
            f"{column!r} says {', '.join(map(repr, unknown[:4]))}, which says neither person nor judge: leave --map "
            "rater_kind out, and name the people, and the others are judges: --people NAME,NAME (or all, or none)"
        )
    found.kind_words = {word: kind for word, kind in words.items() if kind}


def _find_kinds(found: Found, raters: Sequence[str]) -> None:
    """Who is a person and who a judge, by a column of words or by the raters' names; asked for where neither says."""
    column = next((name for name in found.free() if _tells_kinds(name, found.table[name])), "")
    if column and not found.asked.people:
        found.columns["rater_kind"] = (column,)
        found.kind_words = {word: kind_of_word(word) for word in _words(found.table[column])}
        found.told.append(f"{column!r} says who is a person and who a judge")
        return
    found.kinds = {name: kind_of(name, found.asked) for name in raters}
    source = plain(found.columns.get("rater_id", ("",))[0])
    if source in PERSONS and not found.asked.people:
        found.kinds = {name: kind or "human" for name, kind in found.kinds.items()}
        found.told.append(f"who stands in {found.columns['rater_id'][0]!r} is a person")
    unknown = [name for name, kind in found.kinds.items() if kind != "judge"]  # whoever is not named will be a judge
    if not all(found.kinds.values()):
        shown = ", ".join(unknown[:8]) + (f" and {len(unknown) - 8} more" if len(unknown) > 8 else "")
        found.problems.append(
            f"nothing says whether these raters are people or judges: {shown}; name the people, and the others are "
            "judges: --people NAME,NAME (or all, or none)"
        )
        return
    for kind, what in (("human", "people"), ("judge", "judges")):
        names = [name for name in raters if found.kinds[name] == kind]
        if names:
            shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            found.told.append(f"{what}: {shown}")


def _tells_kinds(name: str, cells: pd.Series[str]) -> bool:
    words = _words(cells) if plain_head(name.rpartition(".")[2]) in KIND_COLUMNS else []
    return bool(words) and all(map(kind_of_word, words))


def _words(cells: pd.Series[str]) -> list[str]:
    """Each word of a column once, as they come; a blank cell says nothing."""
    return [word for word in map(str, cells.unique()) if word.strip()]


def _find_criterion(found: Found) -> None:
    if "criterion" in found.columns or "criterion" in found.constants or any(one.criterion for one in found.spread):
        return
    close = get_close_matches("criterion", [name for name in found.free() if len(name) > 4], 1, 0.8)
    if close:
        found.problems.append(f"is {close[0]!r} the criterion? --map criterion={close[0]}, or --map criterion==overall")
    found.constants["criterion"] = OVERALL


def find_shape(found: Found) -> None:
    """Whether answers are in one column, or in one for each rater, criterion or both."""
    wide = {part: found.asked.columns.get(part, ()) for part in ("rater_id", "criterion")}
    for part, columns in wide.items():
        if len(columns) > 1 and all(name in found.table for name in columns):
            names = [(bare_name(name), "") if part == "rater_id" else ("", bare_name(name)) for name in columns]
            found.spread = tuple(mapping.Spread(name, *one) for name, one in zip(columns, names, strict=True))
            found.columns.pop("label", None)
            found.columns.pop(part, None)
            return
    holding = [name for name in found.free() if _holds_answers(name, found.table[name])]
    answers = [*holding, *found.columns.get("label", ())]
    measured = measures.measured(holding, answers)
    left = [name for name in holding if beside.was_not_chosen(found.table, name, answers)]
    found.told += [f"what was not chosen is no answer of its own: {', '.join(left)}"] if left else []
    candidates = [name for name in holding if name not in {*measured, *left}]
    if "label" in found.columns:
        _spread_beside_label(found, candidates)
    elif not candidates:
        found.problems.append(
            f"no column holds the answers (there are: {', '.join(found.names[:20])}); say which: --map label=COLUMN, "
            "or --map rater_id=ONE+OTHER where each rater has a column"
        )
    elif "rater_id" in found.columns:
        _spread_criteria(found, beside.of_the_raters(found, candidates))
    else:
        _spread_raters(found, candidates)


def _spread_beside_label(found: Found, candidates: Sequence[str]) -> None:
    """Where nobody says who gave the answers, and columns called as raters are answer alike, they are a rater's too."""
    label = found.columns["label"][0]
    is_said = "label" in found.asked.columns or "rater_id" in {*found.columns, *found.constants}
    is_said |= any(name.endswith(f".{PLACE}") for name in found.names)  # then a list holds one rater's each
    alike = [name for name in candidates if not is_said and _alike(found.table, name, [label])]
    if any(kind_of(bare_name(name), found.asked) for name in alike):
        del found.columns["label"]
        _spread_raters(found, [label, *alike])


def _spread_criteria(found: Found, named: Sequence[str]) -> None:
    """One column, or one for each criterion; beside numbers and verdicts, columns of other words are none."""
    candidates = [name for name in named if _is_sure(found.table[name])] or list(named)
    if left := [name for name in named if name not in candidates]:
        found.told.append(f"not read as answers: {', '.join(left)} (say so if they are: --map criterion=ONE+OTHER)")
    if len(candidates) == 1:
        found.columns["label"] = (candidates[0],)
        found.told.append(f"the answers stand in {candidates[0]!r}")
    else:
        found.spread = tuple(mapping.Spread(name, criterion=bare_name(name)) for name in candidates)
        found.told.append(f"a column for each criterion: {', '.join(candidates)}")


def _spread_raters(found: Found, answering: list[str]) -> None:
    made = [] if crossed(answering, found.asked.people) else made_of_several(answering, found.asked)
    candidates = [name for name in answering if name not in made]
    if made:
        found.told.append(f"made of several answers, so no rater's own: {', '.join(made)} (--people names who is one)")
    sure = [name for name in candidates if _is_sure(found.table[name])]
    if grid := crossed(candidates, found.asked.people) or crossed(sure, found.asked.people):
        found.spread = grid
        who, what = (dict.fromkeys(getattr(one, name) for one in grid) for name in ("rater_id", "criterion"))
        found.told.append(f"a column for each rater ({', '.join(who)}) and criterion ({', '.join(what)})")
        return
    people = found.asked.people
    known = [name for name in candidates if kind_of(bare_name(name), found.asked)]
    named = [
        name
        for name in known
        if kind_of_name(bare_name(name)) or {bare_name(name), name.rpartition(".")[2]} & {*people}
    ]  # --people makes a judge of whoever answers alike, and not of every column with few words
    core = (named or known) if people else named
    alike = [
        name for name in candidates if name in named or _alike(found.table, name, core or candidates, bool(people))
    ]
    raters = core if not people and len({kind_of_name(bare_name(name)) for name in core}) == 2 else alike or candidates
    if not core and (len(candidates) > 1 or not any(name in found.table for name in FROM)):
        found.problems.append(
            f"{', '.join(map(repr, candidates))} may hold answers, and no column is known to say who gave them: where "
            "a row is one answer, --map item_id=COLUMN --map rater_id=COLUMN --map label=COLUMN; where each of them is "
            f"a rater, --map rater_id={'+'.join(candidates)}; where each is a criterion, --map "
            f"criterion={'+'.join(candidates)},rater_id=COLUMN"
        )
        return
    judges = [
        one for one in found.free() if kind_of_name(bare_name(one)) == "judge" and not measures.measure_of(one)[1]
    ]
    words = {name: _words(found.table[name]) for name in judges}
    has_judge = any(kind_of_name(bare_name(name)) == "judge" for name in raters)
    fine = [name for name in judges if len(words[name]) > MANY and (not has_judge or all(map(is_number, words[name])))]
    if fine:
        found.told.append(
            f"not read, having more than {MANY} different answers: {', '.join(fine)} (say so if they are answers: "
            f"--map rater_id={'+'.join([*raters, *fine])})"
        )
    if len(raters) == 1:
        found.columns["label"] = (raters[0],)
        return
    found.spread = tuple(mapping.Spread(name, rater_id=bare_name(name)) for name in raters)
    found.told.append(f"a column for each rater: {', '.join(raters)}")
    left = [name for name in (candidates if people else alike) if name not in raters]
    likely = [name for name in left if _share_most(found.table, name, raters)]
    likely = [name for name in likely if not people or len(_words(found.table[name])) > 1]
    if likely and people:
        found.problems.append(
            f"{', '.join(likely)}: scores like the raters' and others: --map rater_id={'+'.join([*raters, *likely])} "
            f"where a judge gave them, --map rater_id={'+'.join(raters)} where none did"
        )
    elif likely:
        found.problems.append(are_asked_about(likely, raters))
    elif left:
        said = "--map rater_id=ONE+OTHER names all raters" if people else f"--people {people_of([*raters, *left])}"
        found.told.append(f"not read as answers: {', '.join(left)} (say so if they are: {said})")


def _holds_answers(name: str, cells: pd.Series[str]) -> bool:
    words = {word.strip() for word in cells.unique()} - {""}
    if not words or len(words) > MANY or max(map(len, words)) > LONG or plain(name).endswith((" id", "index", "hash")):
        return False
    if measures.MONEY.search(name) and (kind_of_name(bare_name(name)) or not words <= WHOLE):
        return False
    return bare_name(name).casefold() not in {*FROM, "id", "key", PLACE} and (len(words) <= 8 or _is_sure(cells))


def _is_sure(cells: pd.Series[str]) -> bool:
    words = {word.strip() for word in cells.unique()} - {""}
    return recognise(words, "", False).answers.read_as in ("verdicts", "sides", "scores")


def _alike(table: pd.DataFrame, name: str, others: Sequence[str], however_spelt: bool = False) -> bool:
    """Whether a column's answers are of the same set as those of the others, or verdicts as they are."""
    own = {*table[name].str.strip()} - {""}
    words = {word for one in others if one != name for word in table[one].str.strip()} - {""}
    numbers = all(map(is_number, own)) and bool(words) and all(map(is_number, words))
    if numbers and however_spelt:  # a count or a year is no judge's score
        given = sorted(map(float, words))
        return len(own) > 1 and all(given[0] <= one <= given[-1] for one in map(float, own))
    verdicts = however_spelt and all(
        recognise(one, "", True).answers.read_as in ("verdicts", "sides") for one in (own, words)
    )
    return numbers or bool(own & words) or verdicts


def _share_most(table: pd.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Whether at least half of a column's different answers are given in the others as well."""
    own = {*table[name].str.strip()} - {""}
    words = {word for one in others for word in table[one].str.strip()}
    return 2 * len(own & words) >= len(own)

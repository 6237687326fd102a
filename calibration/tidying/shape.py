"""Whether answers stand in one column, or in one for each rater, criterion or both; and which columns hold answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

import pandas as pd

from calibration.table.typed_cells import is_number
from calibration.tidying import beside, keys, mapping, measures, statuses, turning
from calibration.tidying.found import (
    FROM,
    Found,
    in_range,
    kind_of,
    made_of_several,
    numbers_of_people,
    some_of,
    words_of,
)
from calibration.tidying.no_answers import NO_ANSWER
from calibration.tidying.raters import (
    HAS_ID,
    are_asked_about,
    bare_name,
    crossed,
    is_of_all,
    kind_of_name,
    names_a_part,
    people_of,
    person_of,
    run_of,
)
from calibration.tidying.value_sets import TRUTH, plain, recognise
from plain.typed_options import by_map, by_read, typed

MANY, LONG = 30, 40  # distinct answers, and characters of one: beyond these a column holds no answers
WHOLE = {str(number) for number in range(11)}  # scores, and hardly prices
PLACE = "place"  # of an answer in its list of nested records
GOLD = frozenset(("gold", "gold label", "target", "reference", "truth", "ground truth", "consensus", "majority"))
NAMED = 12  # columns of which a question names all
ENOUGH = 10  # items of several raters: on fewer they may well agree


def find_shape(found: Found) -> None:
    """Whether answers are in one column, or in one for each rater, criterion or both, and each again in several."""
    _find_columns_of_answers(found)
    _read_repeats(found)


def _find_columns_of_answers(found: Found) -> None:
    wide = {part: found.asked.columns.get(part, ()) for part in ("rater_id", "criterion")}
    for part, columns in wide.items():
        if len(columns) > 1 and part not in found.columns and all(name in found.table for name in columns):
            names = [(bare_name(name), "") if part == "rater_id" else ("", bare_name(name)) for name in columns]
            found.spread = tuple(mapping.Spread(name, *one) for name, one in zip(columns, names, strict=True))
            found.columns.pop("label", None)
            found.columns.pop(part, None)
            return
    people = {*found.asked.people}
    holding = [one for one in found.free() if {one, bare_name(one)} & people or _holds_answers(one, found.table[one])]
    if staff := numbers_of_people(found.table[found.free()], holding, people):
        found.told.append(f"numbers of people, and no answers: {', '.join(staff)} (if they are: {people_of(staff)})")
    holding = [name for name in holding if name not in staff]
    answers = [*holding, *found.columns.get("label", ())]
    measured = measures.measured(holding, answers)
    left = [name for name in holding if beside.was_not_chosen(found.table, name, answers)]
    found.told += [f"what was not chosen is no answer of its own: {', '.join(left)}"] if left else []
    candidates = [name for name in holding if name not in {*measured, *left}]
    if "label" in found.columns and "label" not in found.asked.columns:
        _leave_texts(found, [name for name in candidates if bare_name(name) != name])
    if _are_answers(found, candidates):
        raters = {*candidates, *found.columns.pop("rater_id")}
        candidates = [name for name in found.names if name in raters]
    is_open = "rater_id" not in found.columns and not any(kind_of(bare_name(one), found.asked) for one in candidates)
    if "label" in found.columns:
        _spread_beside_label(found, candidates)
    elif is_open and (ask := _scores_beside_models(found)):
        found.problems.append(ask)
    elif not candidates:
        (who,) = found.columns.pop("rater_id", ("",))[:1]
        alone, numbers = typed("--map", f"label={who}", f"rater_id=={who}"), [*statuses.numbers_beside(found)]
        found.problems.append(
            f"no column holds the answers (there are: {', '.join(found.names[:20])}): say which, by label in --map, or "
            "by rater_id where each rater has a column"
            + f"; {by_map('label', *numbers[:1])} where that holds them" * bool(numbers)
            + f", {by_map('rater_id', *numbers)} where each is a rater's" * (1 < len(numbers) <= NAMED)
            + f"; {alone} where {who!r} holds one rater's" * bool(who)
        )
    elif "rater_id" in found.columns:
        _spread_criteria(found, _of_the_raters(found, candidates))
    else:
        _spread_raters(found, candidates)


def _scores_beside_models(found: Found) -> str:
    """The sentence that asks whose are columns of many different numbers in the range of those that models' names head;
    "" where no model has such a column, or nobody else.
    """
    words = {name: words_of(found.table[name]) for name in found.free() if not measures.measure_of(name)[1]}
    words = {name: own for name, own in words.items() if len(own) > MANY and not HAS_ID.search(name)}
    models = {name: own for name, own in words.items() if kind_of_name(bare_name(name)) == "judge"}
    like = [name for name in words if name not in models and in_range(words[name], [*chain(*models.values())])]
    own, theirs = (some_of([*map(repr, names)], NAMED) for names in (like, models))
    people = people_of([one for one in like if not is_of_all(one)] or like)
    return f"{own} hold numbers as {theirs} do, and nothing says who gave them: {people} where people did" * bool(like)


def _leave_texts(found: Found, others: list[str]) -> None:
    """Texts under a head such as `answer` are what was judged, where another column of answers is called one's own."""
    (label,) = found.columns["label"][:1]
    if others and not _holds_answers(label, found.table[label]) and not _is_sure(found.table[label]):
        del found.columns["label"]
        found.told.append(f"{label!r} holds texts, and no answers")


def _are_answers(found: Found, candidates: list[str]) -> bool:
    """Whether the cells under who answered (`judge`) are one rater's answers as the columns beside it (`human`) hold.

    Asked about where nothing else tells the rows apart.
    """
    who, label = (found.columns.get(part, ()) for part in ("rater_id", "label"))
    others = [*label, *candidates]
    if not who or not others or {"rater_id", "label"} & {*found.asked.columns}:
        return False
    own = {*found.table[who[0]].unique()} - {""}
    given = {*found.table[others].to_numpy().ravel()} - {""}
    alone, both = (recognise(words, "", False).answers for words in (own, own | given))
    is_shared = 2 * len(own & given) >= len(own) or not (
        label or (both.read_as == "words" and not {*map(plain, own | given)} <= TRUTH.keys())
    )
    is_verdict = alone.read_as in ("verdicts", "sides")
    is_judge = kind_of_name(who[0]) == "judge"  # whose name is hardly a number or a letter
    if any(map(kind_of_name, own)) or not (is_shared or is_verdict):
        return False
    if label and alone.read_as != "words" and not is_judge:
        return False
    parts = ("item_id", "cluster_id", "system_a", "system_b", "criterion", "run", "presentation")
    known = [name for part in parts for name in found.columns.get(part, ())]
    is_told = bool(known) and keys.is_unique(keys.codes_of(found.table, known))
    is_open = alone.read_as == "scores" and not is_judge  # which may be the raters' numbers
    if is_told and not is_open:
        return True
    if is_told == is_open:
        found.problems.append(
            f"{who[0]!r} holds answers, as {' and '.join(map(repr, others))} may: "
            f"{by_map('rater_id', *others, *who)} where each is a rater's; "
            f"{typed('--map', f'rater_id={who[0]}', f'label={others[0]}')} where it says who answered"
        )
    return False


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
        found.told.append(f"not read as answers: {', '.join(left)} (if they are: {by_map('criterion', *named)})")
    if len(candidates) == 1:
        found.columns["label"] = (candidates[0],)
        found.told.append(f"the answers stand in {candidates[0]!r}")
    else:
        found.spread = tuple(mapping.Spread(name, criterion=bare_name(name)) for name in candidates)
        found.told.append(f"a column for each criterion: {', '.join(candidates)}")


def _of_the_raters(found: Found, candidates: list[str]) -> list[str]:
    """The columns that the raters of the rows may have answered in: none of people where all raters are judges, and
    none of a judge by its head beside columns of no judge.
    """
    (who,) = found.columns["rater_id"][:1]
    of_judges = all(kind_of(rater, found.asked) == "judge" for rater in found.table[who].unique() if rater.strip())
    people = [name for name in candidates if of_judges and person_of(name, found.asked.people)]
    if people and len(people) == len(candidates):
        found.problems.append(
            f"no column holds the answers of those in {who!r}: {', '.join(people)} are people's by their heads. "
            f"--map label=COLUMN says where the judges' answers are, {by_map('ignore', people[0])} that it is "
            "nobody's"
        )
    judges = [name for name in candidates if "." in name and kind_of_name(name.partition(".")[2]) == "judge"]
    judges = judges if len(judges) < len(candidates) else []
    if judges:
        found.told.append(f"not read, being judges' by their heads and not of those in {who!r}: {', '.join(judges)}")
    rest = [name for name in candidates if name not in {*people, *judges}] or candidates
    sure = [one for one in rest if recognise(found.table[one].unique(), "", False).answers.read_as != "words"] or rest
    agreed = _agreed(found, sure)
    others = [name for name in sure if name in agreed or kind_of_name(bare_name(name)) or plain(name) in GOLD]
    if others and len(rest) > 1:  # said once of an item, repeated in each row: as a criterion all would agree on it
        own = [name for name in rest if name not in others] or rest[:1]
        same = f" (no two raters of an item differ in {', '.join(agreed)})" if agreed else ""
        found.problems.append(
            f"{', '.join(others)} beside {who!r}, which says who answered, may be others' answers{same}: "
            f"{by_map('criterion' if own[1:] else 'label', *own)} where "
            f"{' and '.join(map(repr, own))} hold{'s' * (not own[1:])} those of {who!r}; "
            f"{by_map('criterion', *rest)} where each is a question to them"
        )
    return rest


def _agreed(found: Found, candidates: list[str]) -> list[str]:
    """The columns with several answers in which no two raters of an item differ, where in another some do."""
    table, (who,) = found.table, found.columns["rater_id"][:1]
    items = [*found.columns.get("item_id", ())]
    if not items or not table.duplicated(items).any():
        known = [found.columns[part][0] for part in ("cluster_id", "system_a", "system_b") if part in found.columns]
        more = keys.smallest_key(table, known, [who], [name for name in found.free() if name not in candidates])
        items = [*known, *(more or ())]
    if not items:
        return []
    items += found.columns.get("criterion", ())
    given = table[candidates].apply(lambda cells: cells.str.strip()).replace("", None)
    groups = given[~table.duplicated([*items, who])].groupby([table[name] for name in items])
    several, differ = groups.count().ge(2).sum(), groups.nunique().gt(1).any()
    agreed = [name for name in candidates if not differ[name] and several[name] >= ENOUGH and given[name].nunique() > 1]
    return agreed if differ.any() else []


def _spread_raters(found: Found, answering: list[str]) -> None:
    made = [] if crossed(answering, found.asked.people) else made_of_several(answering, found.asked)
    candidates = [name for name in answering if name not in made]
    if made:
        found.told.append(f"made of several answers, so no rater's own: {', '.join(made)} (--people names who is one)")
    sure = [name for name in candidates if _is_sure(found.table[name])]
    named_so = [name for name in candidates if names_a_part(name, found.asked.people)]  # an item's number is none
    if any(kind_of(bare_name(name), found.asked) for name in candidates if name not in named_so):
        named_so = []  # whoever has one column alone is a rater too
    if grid := next(filter(None, (crossed(one, found.asked.people) for one in (candidates, sure, named_so))), ()):
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
    near = [name for name in alike if name in named or not core or _alike(found.table, name, core, True)]
    if people and any(kind_of_name(bare_name(name)) == "judge" for name in named):  # a number beside may be no judge's
        near = [name for name in near if name in named or not all(map(is_number, words_of(found.table[name])))]
    raters = core if not people and len({kind_of_name(bare_name(name)) for name in core}) == 2 else near or candidates
    if not core and (len(candidates) > 1 or not any(name in found.table for name in FROM)):
        rater, criterion = (
            by_map(part, *candidates) if len(candidates) <= NAMED else f"{part} in --map"
            for part in ("rater_id", "criterion")
        )
        found.problems.append(
            f"{some_of([*map(repr, candidates)], NAMED)} may hold answers, and no column is known to say who gave "
            f"them: where a row is one answer, {by_map('label', candidates[0])} (or another of them); where each of "
            f"them is a rater, {rater}; where each is a criterion, {criterion}{_turned(found.table)}"
        )
        return
    judges = [
        one for one in found.free() if kind_of_name(bare_name(one)) == "judge" and not measures.measure_of(one)[1]
    ]
    words = {name: words_of(found.table[name]) or [""] for name in judges}
    has_judge = any(kind_of(bare_name(name), found.asked) == "judge" for name in raters)
    many = [name for name in judges if len(words[name]) > MANY or (not has_judge and max(map(len, words[name])) > LONG)]
    own = [words_of(found.table[name]) for name in raters if {name, bare_name(name)} & {*people}]
    if is_fine_grained := any(len(given) > MANY for given in own):  # as are judges' then
        like = [name for name in many if in_range(words[name], [*chain(*own)])]
        raters = [name for name in found.names if name in {*raters, *like}]
        many = [name for name in many if name not in like]
    fine = [name for name in many if not has_judge or all(map(is_number, words[name]))]
    if fine:
        (found.told if has_judge and not is_fine_grained else found.problems).append(
            f"not read, having more than {MANY} different answers or texts: {', '.join(fine)} (say so if they are "
            f"answers: {by_map('rater_id', *raters, *fine)}; else {by_map('ignore', *fine)})"
        )
    if len(raters) == 1 and (has_judge or not fine):
        found.columns["label"] = (raters[0],)
        return
    found.spread = tuple(mapping.Spread(name, rater_id=bare_name(name)) for name in raters)
    found.told.append(f"a column for each rater: {', '.join(raters)}")
    _read_both_orders(found)
    left = [name for name in (candidates if people else alike) if name not in raters]
    likely = [name for name in left if _share_most(found.table, name, raters)]
    likely = [name for name in likely if not people or len(words_of(found.table[name])) > 1]
    if likely and people:
        found.problems.append(
            f"{', '.join(likely)}: scores like the raters' and others: "
            f"{by_map('rater_id', *raters, *likely)} where a judge gave them, "
            f"{by_map('rater_id', *raters)} where none did"
        )
    elif likely:
        found.problems.append(are_asked_about(likely, raters))
    elif left:
        said = by_map("rater_id", *raters, *left) if people else people_of([*raters, *left])
        found.told.append(f"not read as answers: {', '.join(left)} (say so if they are: {said})")


def _turned(table: pd.DataFrame) -> str:
    """The end of a question where a table can be turned round: the option with what names each row."""
    who = next((str(name) for name in table if not turning.turned(table, str(name))[2]), "")
    return f"; where each row is a rater and each column an item, {by_read('turned', who)}" * bool(who)


def _read_repeats(found: Found) -> None:
    """Columns whose heads differ in the number of a run or a seed alone hold one rater's answers, given again."""
    if "run" in {*found.columns, *found.asked.columns, *found.constants}:
        return
    groups: dict[tuple[str, ...], list[mapping.Spread]] = {}
    for one in found.spread:
        (rater, run), (criterion, again) = run_of(one.rater_id), run_of(one.criterion)
        if run or again:
            rater = bare_name(rater or run_of(one.column)[0]) if one.rater_id else ""
            key = (rater, criterion, one.presentation)
            groups.setdefault(key, []).append(replace(one, rater_id=rater, criterion=criterion, run=run or again))
    several = {key: own for key, own in groups.items() if len({one.run for one in own}) == len(own) > 1}
    alone = {(one.rater_id, one.criterion, one.presentation): one.column for one in found.spread}
    if beside_them := [alone[key] for key in several if key in alone]:  # made of them, or one time more
        found.problems.append(
            f"{', '.join(beside_them)} beside the same rater's columns with numbers of runs: "
            f"{by_map('ignore', *beside_them)} where it is made of these, or call it by a run's number as well"
        )
    read = {one.column: one for own in several.values() for one in own}
    found.spread = tuple(read.get(one.column, one) for one in found.spread)
    for (rater, *_), own in several.items():
        found.told.append(
            f"{', '.join(one.column for one in own)} hold the answers of {rater}, given {len(own)} times (--map run==1 "
            "where each is a rater of its own)"
        )


def _read_both_orders(found: Found) -> None:
    """Two columns `gpt-4o_AB` and `gpt-4o_BA` as one judge's answers in both orders, where it is said what A is."""
    ends = [re.fullmatch(r"(.+)[ _.-](ab|ba)", one.rater_id, re.I) for one in found.spread]
    owners = [end[1] for end in ends if end]
    twice = [(one, end) for one, end in zip(found.spread, ends, strict=True) if end and owners.count(end[1]) > 1]
    if twice and found.asked.labels_are in ("verdicts", "sides"):
        in_order = {one.column: replace(one, rater_id=end[1], presentation=end[2].upper()) for one, end in twice}
        found.spread = tuple(in_order.get(one.column, one) for one in found.spread)
    elif twice:
        second = [one.column for one, end in twice if end[2].upper() == "BA"]
        found.problems.append(
            f"{' and '.join(one.rater_id for one, _ in twice)} may be one judge's each in both orders: --labels-are "
            "verdicts where A is system_a however shown, --labels-are sides where A is what stood first; "
            f"{by_map('ignore', *second)} reads the first order alone; "
            f"{by_map('rater_id', *(one.column for one in found.spread))} where each is a judge of its own "
            "whose A is always system_a"
        )


def _holds_answers(name: str, cells: pd.Series[str]) -> bool:
    words = {word.strip() for word in cells.unique()} - {""}
    if len(words) <= MANY:  # a refusal is longer than answers are
        words = {word for word in words if not NO_ANSWER.search(plain(word))}
    if not words or len(words) > MANY or max(map(len, words)) > LONG or plain(name).endswith((" id", "index", "hash")):
        return False
    if measures.MONEY.search(name) and (kind_of_name(bare_name(name)) or not words <= WHOLE):
        return False
    return bare_name(name).casefold() not in {*FROM, "id", "key", PLACE} and (len(words) <= 8 or _are_sure(words))


def _is_sure(cells: pd.Series[str]) -> bool:
    return _are_sure({word.strip() for word in cells.unique()} - {""})


def _are_sure(words: Collection[str]) -> bool:
    return recognise(words, "", False).answers.read_as in ("verdicts", "sides", "scores")


def _alike(table: pd.DataFrame, name: str, others: Sequence[str], however_spelt: bool = False) -> bool:
    """Whether a column's answers are of the same set as those of the others, or verdicts as they are."""
    own = {*table[name].str.strip().unique()} - {""}
    words = {word for one in others if one != name for word in table[one].str.strip().unique()} - {""}
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
    own = {*table[name].str.strip().unique()} - {""}
    words = {word for one in others for word in table[one].str.strip().unique()}
    return 2 * len(own & words) >= len(own)

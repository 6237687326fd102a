"""What names an item and its topic: the fewest columns without repeats; and items that are spelt in two ways."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from calibration.arithmetic.columns import Codes
from calibration.table.roles import NAMES, in_english
from calibration.table.typed_cells import is_number, row_number
from calibration.table.verdicts import EXTRA, NUMBERS
from calibration.tidying.found import Found, is_of_judge, words_of
from calibration.tidying.mapping import IGNORED, JOINED
from calibration.tidying.measures import CAMEL, is_of_a_rater, measure_of
from calibration.tidying.raters import bare_name, kind_of_name
from calibration.tidying.turning import turned
from calibration.tidying.value_sets import TRUTH, plain
from plain.typed_options import between_plus, by_map, by_read, typed

ENOUGH, FEW = 10, 2  # values of a column that nearly names the items, and rows that keep it from it
NUMBER = re.compile(r"0*(\d+?)(?:\.(\d*?)0*)?")  # without noughts before it and after its point
MOST = 3  # columns beside those that are known; more make a key of anything
NO_KEY = (
    "label", "rater_id", "rater_kind", "criterion", "status", "rationale", "run", "presentation", *NUMBERS, *EXTRA,
)  # fmt: skip
IDS = ("id", "key", "index", "turn")  # ends of a head that names something
LONGEST = 40  # characters of an answer, which is shorter than a text
ORDER = "__order"  # in which order a row names its pair
WHEN = re.compile(
    r"(?:^|[\W_]|date)(?:time|date|created|updated|at|fecha)$|(?:time_?stamp|datum|zeit|时间|日期)$|(?-i:[a-z](?:Time|Date|At)$)",
    re.I,
)  # tells answers apart
OF_ITEMS = ("item_id", "cluster_id", "criterion", "system_a", "system_b", "category", "run", "presentation")
FLAGS = re.compile(r"\b(?:is|was|has|attention|check|control|gold|test|quality)\b")  # a head of 0 and 1 that is one
COUNTS = re.compile(r"\w counts?$|^(?:n|num|number of|anzahl) \w")
CLUSTERS = {"cluster", "topic", "question", "prompt", "task", "query", "document", "article", "instruction"}


def smallest_key(
    table: pd.DataFrame, known: Sequence[str], told_apart: Sequence[str], candidates: Iterable[str]
) -> tuple[str, ...] | None:
    """The fewest `candidates` that tell the rows of `table` apart together with `known` and `told_apart`.

    `known`: columns that belong to the key in any case; `told_apart`: who answered what, when. The earlier candidates
    win; None where no set of up to three does.
    """
    start = codes_of(table, [*known, *told_apart])
    if is_unique(start):
        return ()
    listed = [name for name in candidates if table[name].nunique() > 1]
    single = {name: pd.factorize(table[name])[0] for name in listed}
    for size in range(1, MOST + 1):
        for chosen in combinations(listed, size):
            if is_unique(joint([start, *(single[name] for name in chosen)])):
                return chosen
    return None


def codes_of(table: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """One number for each distinct row of `columns`; shape (rows,). Zeros without columns."""
    return joint([pd.factorize(table[name])[0] for name in columns]) if columns else np.zeros(len(table), np.intp)


def joint(codes: Sequence[Codes]) -> Codes:
    """One number for each distinct combination; shape (rows,)."""
    out = codes[0]
    for one in codes[1:]:
        out = pd.factorize(out.astype(np.int64) * (int(one.max(initial=0)) + 1) + one)[0]
    return np.asarray(out)


def is_unique(codes: Codes) -> bool:
    """Whether no two rows are alike."""
    return bool(pd.Series(codes).is_unique)


def find_items(found: Found) -> None:
    """What names an item and its cluster: a column that does, else the smallest set of columns without repeats."""
    if "rater_id" not in found.columns and not any(one.rater_id for one in found.spread) and not found.constants:
        return
    table = _with_ordered_pairs(found)
    distinct = table.drop_duplicates()  # nothing tells a row that is there twice apart, so it hides no key
    apart = [*found.columns.get("rater_id", ())]
    apart += [found.columns[part][0] for part in ("criterion", "run", "presentation") if part in found.columns]
    apart += [ORDER] if ORDER in table else []
    own = list(found.columns.get("item_id", ()))
    _leave_topics(found, own)
    alone = [] if "item_id" in found.asked.columns or not own or _is_shared(found, own) else own  # no two rows' item
    if alone:
        del found.columns["item_id"]
        own = []
    known = own or [found.columns[part][0] for part in ("cluster_id", "system_a", "system_b") if part in found.columns]
    is_said = "item_id" in found.asked.columns  # what is said is followed, and rows that repeat are named
    more = () if is_said else smallest_key(distinct, known, apart, _candidates(found, known))
    dated = smallest_key(distinct, known, apart, _candidates(found, known, with_dates=True)) if more is None else ()
    by = [*known, *apart]
    wide = [*by, *(one.column for one in found.spread if one.rater_id)]
    is_other = wide != by and not is_unique(codes_of(distinct.drop_duplicates(wide), by))  # of what one rater says
    is_shared = not is_unique(codes_of(distinct, [*known, *(dated or ())]))  # by raters: no time at which one answered
    if dated and (is_other or is_shared):
        found.problems.append(
            f"only {' with '.join(dated)} tells apart what is answered twice: "
            f"{by_map('item_id', *known, *dated)} where that belongs to what was asked; where it is of an answer, such "
            "as its time, keep one row of each or give run"
        )
    calls = more or ()
    if more is None and len(known):
        calls = smallest_key(distinct, known, apart, _candidates(found, known, with_blanks=True)) or ()
        more = ()  # rows that repeat are named when the labels are checked
    if alone and not (known or more) and _judges_beside(found):
        known, more = alone, ()  # each row one person's, and a judge's
    elif alone:
        found.told.append(f"{alone[0]!r} differs in every row, so it names no item")
    if more is None or not (known or more):
        who = found.columns.get("rater_id", ())
        found.problems.append(
            "no column or set of columns names the items: say which by item_id in --map"
            + f"; where a row is a rater and each column an item: {by_read('turned', *who)}"
            * (len(found.spread) > 1 and len(who) == 1 and not turned(found.table, *who)[2])
        )
        return
    found.columns["item_id"] = (*known, *more)
    if more and not (len(more) == 1 and _is_called_a_key(more[0])):
        _tell_of_repeats(found, table, apart, more)
    asked = len(found.problems)
    _ask_of_models(found, more)
    _ask_of_calls(found, table, apart, calls)
    if len(found.problems) == asked and (apart or found.spread):
        _ask_of_parts(found, table, apart, more)
    if tuple(known) != (*known, *more) or len(known) > 1:
        found.told.append(f"an item is {' with '.join((*known, *more))}")
    _say_topics(found)


def _tell_of_repeats(found: Found, table: pd.DataFrame, apart: Sequence[str], chosen: Sequence[str]) -> None:
    """A column that would tell all rows apart but for one or two that repeat or are blank, so that others name the
    items: told with its rows, since a mistyped number is likelier than another meaning.
    """
    taken = {name for one in found.spread for name in one.columns} | {*_judges_beside(found)}
    free = [one for one in found.free() if one not in taken and _may_be_key(found, one)]
    for name in [one for one in (*chosen, *free) if not WHEN.search(one.rpartition(".")[2])]:
        cells = table[name].str.strip()
        codes = pd.Series(codes_of(table, [*apart, name]))
        odd = codes.duplicated() | cells.eq("").to_numpy()
        if cells.nunique() < ENOUGH or not 0 < int(odd.sum()) <= FEW:
            continue
        alike = codes.isin(codes[odd])
        rows = ", ".join(str(row_number(int(place))) for place in codes.index[alike])
        words = ", ".join(repr(word) if word else "a blank" for word in dict.fromkeys(cells[alike.to_numpy()]))
        found.told.append(
            f"{name!r} tells all rows apart but {words} (rows {rows}, the header being row 1): correct it there where "
            "it names the items"
        )


def _may_be_key(found: Found, name: str) -> bool:
    """Whether a column may name items: words of its own and no texts, or numbers under a head that says so."""
    words = words_of(found.table[name])
    is_short = bool(words) and max(map(len, words)) <= LONGEST and not measure_of(name)[1]
    return is_short and (_is_called_a_key(name) or not any(map(is_number, words)))


def _is_called_a_key(name: str) -> bool:
    return plain(name).rstrip(".").endswith((*IDS, "nr", "no", "number", "nummer"))


def _leave_topics(found: Found, item: Sequence[str]) -> None:
    """A column called as a topic in which the raters of most items differ, and no rater within an item, is of their
    answers: the prompt of each judge. So is one word in some rows alone.
    """
    columns, who = (found.columns.get(part, ()) for part in ("cluster_id", "rater_id"))
    if len(columns) != 1 or not item or not who or "cluster_id" in {*found.asked.columns, *columns}:
        return
    said = found.table[columns[0]].str.strip().replace("", None)
    within, of_rater = (said.groupby([found.table[name] for name in by]).nunique() for by in (item, [*item, *who]))
    is_of_answers = within.gt(1).mean() > 0.5 and of_rater.le(1).all()
    if is_of_answers or (said.nunique() == 1 and said.isna().any()):
        del found.columns["cluster_id"]
        found.told.append(f"{columns[0]!r} is no topic: it differs between the answers to an item")


def _say_topics(found: Found) -> None:
    """Which column of several items may be the topic where none is; and where one is, another that parts into more."""
    items = [name for name in found.columns["item_id"] if name not in _pair(found)]
    shared = [name for name in items if _is_coarse(found, name)]
    if "cluster_id" not in found.columns:
        near = [name for name in found.free() if plain(name).rpartition(" ")[2] in CLUSTERS and _is_coarse(found, name)]
        found.told.append(
            "no column names the topic, so each item counts as one of its own; where items share one: "
            + ", or ".join(by_map("cluster_id", name) for name in near or shared or ["COLUMN"])
        )
    elif "cluster_id" not in found.asked.columns and shared:
        count = {name: found.table[name].nunique() for name in (*found.columns["cluster_id"][:1], *shared)}
        finest = max(shared, key=lambda name: count[name])
        (now,) = found.columns["cluster_id"][:1]
        if count[finest] > count[now]:
            found.told.append(
                f"the topics are the {count[now]:,} of {now!r}; items share the {count[finest]:,} of {finest!r} as "
                f"well: {by_map('cluster_id', finest)} where those are the topics"
            )


def _pair(found: Found) -> set[str]:
    return {name for part in ("system_a", "system_b") for name in found.columns.get(part, ())}


def _ask_of_models(found: Found, more: Sequence[str]) -> None:
    """Models' names in a column that tells rows apart are the judges of the rows, or what was judged: never guessed."""
    if "rater_id" in {*found.columns, *found.constants, *found.asked.columns}:
        return
    for name in more:
        if all(kind_of_name(one) == "judge" for one in found.table[name].unique()):
            found.problems.append(
                f"{name!r} holds names of models: {by_map('rater_id', name)} where they are the judges that "
                f"answered, {by_map('item_id', *found.columns['item_id'])} where they are what was judged"
            )


def _ask_of_calls(found: Found, table: pd.DataFrame, apart: Sequence[str], more: Sequence[str]) -> None:
    """What tells only judges' answers apart may be of their calls: a seed, a setting, an order called otherwise; and
    only people's, of a second time they were asked. As a part of the item it would leave the others without partners,
    so it is never guessed.
    """
    judged = is_of_judge(table, found.mapping)
    item = [*dict.fromkeys((*found.columns["item_id"], *more))]
    for name in more:
        rest = [one for one in item if one != name]
        if plain(name).endswith(IDS) or not rest or judged.all() or not judged.any():
            continue
        is_once = [is_unique(codes_of(table[side], [*rest, *apart])) for side in (judged, ~judged)]
        if is_once in ([False, True], [True, False]):
            who, nobody = ("judges", "person") if is_once[1] else ("people", "judge")
            found.problems.append(
                f"{name!r} alone tells apart what {who} answered several times, and no {nobody} did: "
                f"{by_map('run', name)} where they were asked again, "
                + _as_raters(found, name) * is_once[1]
                + f"{by_map('presentation', name)} where it is the order shown, " * (table[name].nunique() == 2)
                + f"{by_map('item_id', *item)} where it is part of what was asked"
            )


def _ask_of_parts(found: Found, table: pd.DataFrame, apart: Sequence[str], more: Sequence[str]) -> None:
    """A part of a key that is none by its head is asked about where it is a flag or a count, or where without it some
    rater would only say again what it said: rows that it tells apart may answer one thing again.
    """
    whole = found.columns["item_id"]
    unknown = [name for name in more if not _is_part_of_items(name)]
    rest = [name for name in whole if name not in unknown] or [*whole[:1]]
    if not unknown or len(whole) == len(rest):
        return
    given = [one.column for one in found.spread] or [*found.columns.get("label", ())]
    flags = [f"{name}:{one}={IGNORED}" for name in unknown for one in _yes_of_flag(found, name)]
    is_count = any(COUNTS.search(plain(name.rpartition(".")[2])) for name in unknown)
    if not flags and not is_count and not any(_only_repeats(table, [*rest, *apart], apart, one) for one in given):
        return
    is_alike = table.groupby([*rest, *apart])[given].nunique().le(1).all(axis=None)
    found.problems.append(
        f"only {' with '.join(map(repr, unknown))} tells apart rows of one {' with '.join(rest)}: "
        f"{by_map('item_id', *whole)} where it is part of what was asked, "
        + (by_map("item_id", *rest) if is_alike and found.spread else by_map("run", *unknown))
        + " where one thing is answered again"
        + "".join(f", {typed('--map-label', one)} without such rows" for one in flags)
    )


def _only_repeats(table: pd.DataFrame, joined: Sequence[str], apart: Sequence[str], column: str) -> bool:
    """Whether some rater says in `column` one thing in each group of rows that `joined` makes one, not always it."""
    groups = table[table[column] != ""].groupby([*joined])[column].agg(["size", "nunique", "first"])
    groups = groups[groups["size"] > 1]
    by_rater = groups.groupby([*apart]) if apart else groups.groupby(lambda _: "")
    return bool((by_rater["nunique"].max().eq(1) & by_rater["first"].nunique().gt(1)).any())


def _yes_of_flag(found: Found, name: str) -> list[str]:
    """The words of a flag that say yes, [] of any other column; 0 and 1 are a flag where the head says so."""
    words = {word: TRUTH.get(plain(word)) for word in words_of(found.table[name])}
    is_said = FLAGS.search(plain(CAMEL.sub(" ", name))) or not any(map(is_number, words))
    return [word for word, is_yes in words.items() if is_yes] if is_said and {*words.values()} == {True, False} else []


def _is_part_of_items(name: str) -> bool:
    """Whether a head says that a column names what was asked, or a part of it."""
    plainly = in_english(name.rpartition(".")[2])
    return _is_called_a_key(name) or any(plainly in (part.replace("_", ""), *NAMES[part]) for part in OF_ITEMS)


def _as_raters(found: Found, name: str) -> str:
    """What reads a column of words, such as a judge's prompt, as part of who answered."""
    who, label = (found.columns.get(part, ()) for part in ("rater_id", "label"))
    if len(who) != 1 or not label or all(map(is_number, words_of(found.table[name]))):
        return ""
    said = typed("--map", f"rater_id={between_plus(*who, name)}", f"label={between_plus(*label)}")
    return f"{said} where each is a judge of its own, such as a prompt, "


def _with_ordered_pairs(found: Found) -> pd.DataFrame:
    """The table with each pair's names in one order, and the order they were in."""
    if not {"system_a", "system_b"} <= {*found.columns}:
        return found.table
    one, other = (found.columns[part][0] for part in ("system_a", "system_b"))
    turned = found.table[one] > found.table[other]
    low, high = found.table[one].mask(turned, found.table[other]), found.table[other].mask(turned, found.table[one])
    return found.table.assign(**{one: low, other: high, ORDER: turned.astype("str")})


def _is_shared(found: Found, item: list[str]) -> bool:
    """Whether the column may name items: some value is in several rows, or one row holds all answers to it."""
    if any(one.rater_id for one in found.spread) or any(_is_answer(found, name) for name in found.free()):
        return True
    raters = found.table[found.columns["rater_id"][0]].nunique() if "rater_id" in found.columns else 1
    return raters < 2 or bool(found.table[item[0]].duplicated().any())


def _judges_beside(found: Found) -> list[str]:
    """The columns called as a judge that answer in the words of the rows."""
    answers = [*found.columns.get("label", ()), *(one.column for one in found.spread)]
    words = {*found.table[answers].to_numpy().ravel()} - {""}
    named = [one for one in (*answers, *found.free()) if kind_of_name(bare_name(one)) == "judge"]
    return [one for one in named if not measure_of(one)[1] and words & {*found.table[one].unique()}]


def _candidates(found: Found, known: Sequence[str], with_dates: bool = False, with_blanks: bool = False) -> list[str]:
    """Columns that may take part in a key, ids first; none of what was answered, measured or written in words."""
    used = {name for part, names in found.columns.items() if part in NO_KEY for name in names}
    used |= {name for one in found.spread for name in one.columns} | {*known, *_judges_beside(found)}
    free = [name for name in found.names if name not in used and not _is_answer(found, name)]
    free = [name for name in free if kind_of_name(measure_of(name)[0]) != "judge"]
    free = [one for one in free if with_dates or not (is_of_a_rater(one) or WHEN.search(one.rpartition(".")[2]))]
    free = [name for name in free if with_blanks or found.table[name].ne("").all()]
    is_wide = any(one.rater_id for one in found.spread)
    shared = [name for name in free if is_wide or found.table[name].duplicated().any()]
    return sorted(shared, key=lambda name: not plain(name).endswith(IDS))


def _is_answer(found: Found, name: str) -> bool:
    """Whether a dotted head is of a judge's answers, which are short: `judges.gpt-4o.verdict`, `judges.gpt-4o`."""
    head, before = bare_name(name), name.rpartition(".")[0]
    is_judge = before and (head != name or before.endswith("judges")) and kind_of_name(head) == "judge"
    return bool(is_judge) and not measure_of(name)[1] and int(found.table[name].str.len().max()) <= LONGEST


def _is_coarse(found: Found, name: str) -> bool:
    """Whether each item is in one topic of this column, and some topic has several items."""
    topics = found.table.groupby(list(found.columns["item_id"]))[name].nunique()
    return bool(topics.le(1).all()) and found.table[name].nunique() < len(topics)


def meet(out: pd.DataFrame, told: list[str]) -> None:
    """Give a judge's items that no person answered the name of the one item of people's that differs in zeros or
    capital letters alone; only where no other item of people's or of this judge's is spelt like it.
    """
    judged = out["rater_kind"].eq("judge")
    people = {*out.loc[~judged, "item_id"].unique()}
    by_people = _spelt(people)
    if len(by_people) < len(people):
        return
    named: dict[str, str] = {}
    met = pd.Series(index=out.index, dtype="object")
    for _, items in out.loc[judged, "item_id"].groupby(out["rater_id"], sort=False):
        own = {*items.unique()}
        by_judge = _spelt(own - people) if people - own else {}
        if len(by_judge) < len(own - people):
            continue
        meant = {
            item: by_people[plainly]
            for plainly, item in sorted(by_judge.items())
            if plainly in by_people and by_people[plainly] not in own
        }
        met[items.index], named = items.map(meant), named | meant
    if not named:
        return
    if "cluster_id" in out:
        topic = out[~judged].drop_duplicates("item_id").set_index("item_id")["cluster_id"]
        out["cluster_id"] = met.map(topic).fillna(out["cluster_id"])
    out["item_id"] = met.fillna(out["item_id"]).astype("str")
    (judge, person), *_ = named.items()
    told.append(
        f"{len(named):,} items that judges and people spell in two ways, zeros or capital letters alone, are one: "
        f"{judge!r} is {person!r}"
    )


def _spelt(items: Collection[str]) -> dict[str, str]:
    """Each item by its plain spelling; fewer than the items where two are alike."""
    return {JOINED.join(map(_plain, item.split(JOINED))): item for item in items}


def _plain(part: str) -> str:
    """A part without noughts that say nothing and capital letters; not by its value, in which 1_11 is 111."""
    if not (number := NUMBER.fullmatch(part)):
        return part.casefold()
    whole, rest = number.groups()
    return f"{whole}.{rest}" if rest else whole

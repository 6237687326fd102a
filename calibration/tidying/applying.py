"""A table made into labels as a mapping says; what was turned, dropped or left over is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic.columns import Codes
from calibration.examining.findings import ask_of_items, rare_words
from calibration.table import roles, runs, verdicts
from calibration.table.typed_cells import SOURCE, SourceRows
from calibration.tidying import statuses
from calibration.tidying.found import is_of_judge, raters_in
from calibration.tidying.keys import WHEN, codes_of, meet
from calibration.tidying.mapping import IGNORED, JOINED, Answers, LabelMap
from calibration.tidying.measures import SPENT
from calibration.tidying.statuses import BAD_STATUS, KNOWN
from calibration.tidying.value_sets import plain
from plain.counting import counted
from plain.typed_options import by_map, typed

TURNED = {"A": "B", "B": "A", "AB": "BA", "BA": "AB"}
EXAMPLES = 3
BY_HEAD = ("rater_id", "criterion", "presentation", "run")  # what a column of a wide table may say of its answers
BESIDE = "__"  # opens a column of what stands beside each answer
ROW, AT = f"{BESIDE}row", f"{BESIDE}at"  # the row of the wide table, and which of its columns of answers
PLACE = f"{BESIDE}place"  # the row of the file


@dataclass(frozen=True)
class Tidied:
    """The labels, every cell as text, one row an answer; `told`: what was counted; `problems`: what fits no reading."""

    labels: pd.DataFrame
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def tidy(frame: pd.DataFrame, mapping: LabelMap) -> Tidied:
    """The labels that `mapping` makes of `frame`; its columns are those of labels.csv alone. `frame` is not changed."""
    table, _ = roles.as_text(frame)
    told: list[str] = []
    problems: list[str] = []
    long = unfolded(table, mapping)
    long[PLACE] = frame.index.to_numpy()[long[ROW]] if ROW in long else frame.index
    blank = long["label"].str.strip().eq("")
    said = {answers.words[""] for answers in mapping.answers.values() if "" in answers.words}
    empty = blank & bool(mapping.spread or said == {IGNORED})
    if mapping.spread and said != {IGNORED}:
        asked = blank & (is_of_judge(long, mapping) if said else _was_asked(long, mapping, blank))
        empty &= ~asked
        if asked.any():
            told.append(
                f"{int(asked.sum()):,} empty cells are missing answers{_of_judges(long[asked], mapping)}"
                + ", which count against a judge (where it was not asked: --map-label EMPTY=ignore)" * (not said)
            )
    if empty.any():
        of_judges = _of_judges(long[empty], mapping)
        told.append(
            f"{int(empty.sum()):,} empty cells of the wide table are no answers"
            + f"{of_judges} (where one was asked and gave none: --map-label EMPTY=missing)"
            * bool(of_judges and not said)
        )
        long = long[~empty].reset_index(drop=True)
    elif not mapping.spread and "rater_id" in mapping.columns:
        silent = long["label"].str.strip().eq("") & raters_in(long, mapping.columns["rater_id"]).str.strip().eq("")
        if silent.any():
            told.append(f"rows that say neither who answered nor what are left out: {int(silent.sum()):,}")
            long = long[~silent].reset_index(drop=True)
    out = _named(long, mapping).assign(**{name: long[name] for name in (PLACE, AT) if name in long})
    shared = [part for part in SPENT if mapping.spread and part in out and _share_out(out, long, mapping, part)]
    told += [f"{', '.join(shared)} of a row shared among the answers beside which it stands"] * bool(shared)
    _read_answers(out, mapping, problems)
    out = _one_order(out, long, mapping, told)
    out["item_id"] = _joined(out, long, mapping)
    meet(out, told)
    systems = [name for part in ("system_a", "system_b") for name in mapping.columns.get(part, ())]
    own = {*systems, *(name for part in ("rater_id", "label") for name in mapping.columns.get(part, ()))}
    may_name = [name for name in table if name in long and name not in own]
    told += filter(None, [ask_of_items(out, long[may_name], systems)])
    _spell_raters_once(out, told)
    long, out = _each_once(long, out, mapping, told)
    times = long[[name for name in table if name in long and WHEN.search(str(name).rpartition(".")[2])]]
    told += rare_words(out)
    out = statuses.without_retries(out, mapping, told, times)
    _number_runs(out, told)
    if "cluster_id" not in out:
        out["cluster_id"] = out["item_id"]
    share_blanks(out, told)
    blank = out["cluster_id"].eq("")
    if blank.any() and "cluster_id" in mapping.columns:
        (item,) = mapping.columns.get("item_id", ("COLUMN",))[:1]
        problems.append(
            f"{counted(int(blank.sum()), 'answer')} without a topic in {mapping.columns['cluster_id'][0]!r}, first to "
            f"item {out.loc[blank, 'item_id'].iloc[0]!r}: fill it, or {by_map('cluster_id', item)}, by which each item "
            "is a topic of its own"
        )
    kept = (*verdicts.KNOWN_COLUMNS, "currency", *(("confidence",) if f"{BESIDE}confidence" in long else ()))
    labels = out[[name for name in kept if name in out]]
    if pd.api.types.is_integer_dtype(frame.index):
        columns = out[AT].to_numpy() if AT in out else None
        labels.attrs[SOURCE] = SourceRows(out[PLACE].to_numpy(), columns, [one.column for one in mapping.spread])
    return Tidied(labels, tuple(told), tuple(problems))


def _each_once(
    long: pd.DataFrame, out: pd.DataFrame, mapping: LabelMap, told: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Where each rater has a column, and it says the same in all rows of an item, those rows are one answer."""
    again = out.drop(columns=[PLACE, AT], errors="ignore").duplicated()
    of = [name for name in ("item_id", "rater_id", *BY_HEAD) if name in out]
    if not any(one.rater_id for one in mapping.spread) or not again.any() or out[~again].duplicated(of).any():
        return long, out
    told.append(f"rows of an item that say again what a rater's first row of it says, left out: {int(again.sum()):,}")
    return long[~again].reset_index(drop=True), out[~again].reset_index(drop=True)


def share_blanks(out: pd.DataFrame, told: list[str]) -> None:
    """A blank topic or category of an item that has one in other rows, such as those of another file of a folder, is
    that one."""
    for name, what in {"cluster_id": "topic", "category": "category"}.items():
        blank = out[name].eq("") if name in out else pd.Series(dtype="bool")
        if not blank.any():
            continue
        known = out[~blank].drop_duplicates(["item_id", name]).drop_duplicates("item_id", keep=False)
        theirs = out.loc[blank, "item_id"].map(known.set_index("item_id")[name]).dropna()
        if len(theirs):
            out.loc[theirs.index, name] = theirs
            told.append(f"rows without a {what}, given that of their item: {len(theirs):,}")


def _of_judges(empty: pd.DataFrame, mapping: LabelMap) -> str:
    """How many of the empty cells are each judge's; "" where none is."""
    raters = empty["rater_id"].value_counts(sort=False) if "rater_id" in empty else pd.Series(dtype="int64")
    judges = [f"{name} {count:,}" for name, count in raters.items() if mapping.kinds.get(str(name)) == "judge"]
    return f"; judges' {', '.join(judges)}" if judges else ""


def _was_asked(long: pd.DataFrame, mapping: LabelMap, blank: pd.Series[bool]) -> pd.Series[bool]:
    """Where a rater was asked whatever its cell holds: something was paid or some time went by, it is a judge that
    answered another criterion in its row, or one with a column of its own that answered at least half of what people
    did.
    """
    was_asked = pd.Series(False, index=long.index)
    for name in (f"{BESIDE}cost_usd", f"{BESIDE}seconds"):
        was_asked |= pd.to_numeric(long.get(name, was_asked), errors="coerce").gt(0)
    is_judge, by_head = is_of_judge(long, mapping), any(one.rater_id for one in mapping.spread)
    in_row = [long[ROW], long["rater_id"]] if by_head else long[ROW]
    was_asked |= is_judge & (~blank).groupby(in_row).transform("any")
    if not by_head:
        return was_asked
    question = long[ROW].astype("str") + JOINED + long.get("criterion", "")
    of_people = question.isin(set(question[long["rater_id"].map(mapping.kinds).eq("human") & ~blank]))
    due = of_people & is_judge
    answered = (~blank[due]).groupby(long.loc[due, "rater_id"]).mean()
    return was_asked | (due & long["rater_id"].map(answered).ge(0.5))


def unfolded(table: pd.DataFrame, mapping: LabelMap) -> pd.DataFrame:
    """A row for each answer, with the columns `label`, and `rater_id` and `criterion` where heads say them."""
    if not mapping.spread:
        asked = {name: spelt_once(table[name]) for name in mapping.columns.get("criterion", ())[:1]}
        return table.assign(label=_either(table, mapping.columns.get("label", ())), **asked)
    rest = table.drop(columns=[one.column for one in mapping.spread]).assign(**{ROW: range(len(table))})
    parts = []
    for at, one in enumerate(mapping.spread):
        named = {name: getattr(one, name) for name in BY_HEAD}
        beside = {f"{BESIDE}{part}": table[name] for part, name in one.measures.items()} | {AT: at}
        parts.append(
            rest.assign(label=table[one.column], **{name: text for name, text in named.items() if text}, **beside)
        )
    return pd.concat(parts, ignore_index=True).fillna("")


def spelt_once(names: pd.Series[str]) -> pd.Series[str]:
    """Names that differ in capital letters alone as the first of them is written: Clarity and clarity are one."""
    first: dict[str, str] = {}
    return names.map({name: first.setdefault(name.casefold(), name) for name in names.unique()})


def _named(long: pd.DataFrame, mapping: LabelMap) -> pd.DataFrame:
    """The columns by their parts. The item's is left to the end: its systems may be turned first."""
    out = pd.DataFrame({"label": long["label"]})
    for name in BY_HEAD:
        if any(getattr(one, name) for one in mapping.spread):
            out[name] = long[name]
    for part, columns in mapping.columns.items():
        if part not in ("label", "item_id") and part not in out:
            joined = raters_in if part == "rater_id" else _either if part in verdicts.NUMBERS else _together
            out[part] = joined(long, columns)
    for part in {part for one in mapping.spread for part in one.measures}:
        out[part] = long[f"{BESIDE}{part}"]
    for part, text in mapping.constants.items():
        out[part] = text
    if mapping.kind_words and "rater_kind" in out:
        out["rater_kind"] = out["rater_kind"].map(lambda word: mapping.kind_words.get(word, word))
    elif "rater_kind" not in out:
        out["rater_kind"] = out["rater_id"].map(mapping.kinds).fillna("")
    if "status" in out:
        out["status"] = out["status"].map(lambda word: mapping.statuses.get(word) or KNOWN.get(plain(word), word))
    if "presentation" in out:
        words = {**roles.ORDERS, **mapping.orders}
        shown = out["presentation"].map(lambda word: words.get(word.strip(), words.get(word.strip().lower(), word)))
        for part, order in {"system_a": "AB", "system_b": "BA"}.items():  # or the name of the one that stood first
            shown = shown.mask(shown.ne("") & shown.eq(out.get(part, "")), order)
        out["presentation"] = shown
    return out


def _spell_raters_once(out: pd.DataFrame, told: list[str]) -> None:
    """One name for raters of a kind that differ in capital letters alone, unless both answered an item's criterion."""
    spelt = out.groupby("rater_kind", sort=False)["rater_id"].transform(spelt_once)
    changed = spelt.ne(out["rater_id"])
    if not changed.any():
        return
    of = [out[name] for name in ("item_id", "criterion", "rater_kind")]
    several = out["rater_id"].groupby([spelt, *of]).transform("nunique").gt(1).groupby(spelt).transform("any")
    for name in out.loc[changed, "rater_id"].unique():
        own = changed & out["rater_id"].eq(name)
        first, is_two = spelt[own].iloc[0], bool(several[own].any())
        what = "are two raters: two names so spelt answered the same items" if is_two else f"are one rater, {first}"
        told.append(f"{first} and {name}, which differ in capital letters alone, {what}")
    out["rater_id"] = spelt.where(~several, out["rater_id"])


def _number_runs(out: pd.DataFrame, told: list[str]) -> None:
    """Number runs that are called by words such as days, or by numbers that count nothing, such as temperatures; a word
    among numbers is left, which is refused by its row.
    """
    words = [*({*out["run"]} - {""})] if "run" in out else []
    are_numbers = roles.is_number(pd.Series(words, dtype="str"))
    is_whole = are_numbers.all() and all(float(word) >= 0 and float(word).is_integer() for word in words)
    if is_whole or (are_numbers.any() and not are_numbers.all()):
        return
    words = sorted(words, key=float if are_numbers.all() else _in_order)
    named = out["run"].isin(words)
    order = out.loc[named, "run"].map({word: float(at) for at, word in enumerate(words)})
    out["run"] = (
        runs.numbered(order, out[named], do_count=False).astype("int64").astype("str").reindex(out.index, fill_value="")
    )
    told.append(f"the run is no number of a repeat, such as {words[0]!r}: runs are numbered in their order")


def _in_order(word: str) -> list[tuple[bool, int, str]]:
    """A word by its numbers as numbers: run 2 stands before run 10."""
    return [
        (not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", word) if part
    ]


def _share_out(out: pd.DataFrame, long: pd.DataFrame, mapping: LabelMap, part: str) -> bool:
    """Divide each cell of `part` among the answers (criteria, runs) that it stands beside; whether any did so."""
    cell = long[AT].map({at: one.measures.get(part, "") for at, one in enumerate(mapping.spread)})
    own = pd.to_numeric(out[part], errors="coerce")
    answers = long.groupby([long[ROW], cell])[ROW].transform("size")
    shared = own.notna() & answers.gt(1)
    out[part] = out[part].mask(shared, (own / answers).map(repr))
    return bool(shared.any())


def _either(table: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series[str]:
    """The cell of whichever column has one: each row's stands in one of them."""
    cells = table[columns[0]] if columns else pd.Series("", index=table.index)
    for name in columns[1:]:
        cells = cells.mask(cells.str.strip().eq(""), table[name])
    return cells


def _together(long: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series[str]:
    text = long[columns[0]].astype("str")
    for name in columns[1:]:
        text = text + JOINED + long[name].astype("str")
    return text


def _read_answers(out: pd.DataFrame, mapping: LabelMap, problems: list[str]) -> None:
    """Write every answer as ours, criterion by criterion."""
    label, status = out["label"].copy(), out["status"].copy() if "status" in out else pd.Series("", index=out.index)
    for criterion in out["criterion"].unique():
        rows = (out["criterion"] == criterion).to_numpy()
        answers = mapping.answers.get(str(criterion), mapping.answers.get("", Answers()))
        own = out.loc[rows, "label"].str.strip()
        meant = own.map(lambda word, words=answers.words: words.get(word, word if word in BAD_STATUS else f"={word}"))
        failed = meant.isin(BAD_STATUS)
        meant = meant.str.removeprefix("=")
        status.loc[rows] = status.loc[rows].where(~failed, meant)
        meant = meant.where(~failed, "")
        if answers.read_as == "systems":
            meant = _of_systems(out.loc[rows], meant, problems)
        if answers.read_as == "sides":
            meant = _of_sides(out.loc[rows], meant, [] if any(one.presentation for one in mapping.spread) else problems)
        label.loc[rows] = meant
    out["label"] = label
    if mapping.spread or mapping.statuses:  # a status that is of several answers, or is said to be ok, gives none
        status = status.mask(status.eq("ok") & label.eq(""), "missing")
    if status.ne("").any():
        out["status"] = status.mask(status.eq(""), label.map(lambda word: "ok" if word else "missing"))


def _of_systems(rows: pd.DataFrame, meant: pd.Series[str], problems: list[str]) -> pd.Series[str]:
    a, b = meant.eq(rows["system_a"]), meant.eq(rows["system_b"])
    names = {*rows["system_a"], *rows["system_b"]}
    sides = [one for one in "AB" if one not in names]
    other = ~a & ~b & ~meant.isin(["tie", "not_applicable", "", *sides])
    if other.any():
        first = meant[other].iloc[0]
        problems.append(
            f"{int(other.sum()):,} answers name neither system of their pair, first {first!r}; correct them, or say "
            f"what they mean: {typed('--map-label', f'{first}=tie')}"
        )
    return meant.mask(a, "A").mask(b, "B")


def _of_sides(rows: pd.DataFrame, meant: pd.Series[str], problems: list[str]) -> pd.Series[str]:
    """A is what stood left or first; system_a where the presentation is AB. In a wide table with a judge in both orders
    the others' A is system_a.
    """
    order = rows["presentation"] if "presentation" in rows else pd.Series("", index=rows.index)
    unknown = meant.isin(["A", "B"]) & ~order.isin(["AB", "BA"])
    if unknown.any():
        problems.append(
            f"{int(unknown.sum()):,} answers are sides, and the column presentation does not say which system stood "
            "there; fill it with AB or BA"
        )
    return meant.where(order != "BA", meant.map(lambda word: TURNED.get(word, word)))


def _one_order(out: pd.DataFrame, long: pd.DataFrame, mapping: LabelMap, told: list[str]) -> pd.DataFrame:
    """Every item's two systems in the order of its first row; the answers of rows that name them otherwise are turned.

    A rater who answered one item in both orders was shown it in both: the order becomes the presentation.
    """
    if not {"system_a", "system_b"} <= {*out}:
        return out
    pair = _pair_codes(out, long, mapping)
    turn = (out["system_a"] != out.groupby(pair)["system_a"].transform("first")) & out["system_b"].ne("")
    if not turn.any():
        return out
    out = out.copy()
    if "presentation" in out:
        out["presentation"] = _turned(out["presentation"], turn)
    elif both := _raters_of_both_orders(out, pair, turn):
        order = pd.Series(np.where(turn, "BA", "AB"), index=out.index)
        out["presentation"] = order.where(out["rater_id"].isin(both), "")
        told.append(
            f"pairs answered in both orders by {len(both):,} raters: there the order of the systems' names is taken as "
            "the one shown"
        )
    for one, other in (("system_a", "system_b"), ("len_a", "len_b")):
        if {one, other} <= {*out}:
            out[one], out[other] = out[one].mask(turn, out[other]), out[other].mask(turn, out[one])
    out["label"] = _turned(out["label"], turn)
    told.append(f"rows that name a pair the other way round, whose answers are turned: {int(turn.sum()):,}")
    return out


def _raters_of_both_orders(out: pd.DataFrame, pair: Codes, turn: pd.Series[bool]) -> set[str]:
    """Who answered one question about a pair under both orders of its names."""
    orders = turn.groupby([pair, out["rater_id"], out["criterion"]], sort=False).nunique()
    return {str(key[1]) for key in orders.index[orders > 1]}


def _pair_codes(out: pd.DataFrame, long: pd.DataFrame, mapping: LabelMap) -> Codes:
    """One number for each item, whichever system is named first; shape (rows,)."""
    swap = out["system_a"] > out["system_b"]
    low, high = out["system_a"].mask(swap, out["system_b"]), out["system_b"].mask(swap, out["system_a"])
    systems = {name for part in ("system_a", "system_b") for name in mapping.columns.get(part, ())}
    rest = [name for name in mapping.columns.get("item_id", ()) if name not in systems]
    return codes_of(long[rest].assign(__low=low, __high=high), [*rest, "__low", "__high"])


def _turned(column: pd.Series[str], turn: pd.Series[bool]) -> pd.Series[str]:
    return column.mask(turn, column.map(lambda word: TURNED.get(word, word)))


def _joined(out: pd.DataFrame, long: pd.DataFrame, mapping: LabelMap) -> pd.Series[str]:
    """The item's name of its columns, those of the systems as they were turned."""
    own = {mapping.columns[part][0]: part for part in ("system_a", "system_b") if part in mapping.columns}
    columns = mapping.columns.get("item_id", ())
    table = pd.DataFrame({name: out[own[name]] if name in own else long[name] for name in columns})
    return _together(table, columns)

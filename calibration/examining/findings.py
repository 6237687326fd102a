"""What a table of labels holds before anyone trusts it: words, repeats, clusters, partners, and who is called A.

Every function takes the table as text, its columns named by role; a role that the file does not fill is absent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

import numpy as np
import pandas as pd

from calibration.arithmetic.columns import PAIRWISE
from calibration.table import roles, typed_cells
from plain.typed_options import between_plus, typed

UNIT = ["item_id", "criterion"]
NEVER_CLUSTERS = ("rater_id", "rater_kind", "criterion", "label", "presentation", "run", "status", "rationale")
NO_CLUSTERS = (*NEVER_CLUSTERS, "system_a", "system_b", "len_a", "len_b", "seconds", "cost_usd")
SIDES = ("left", "right", "first", "second")
MEANT = re.compile(
    r"(?:model|system|assistant|report|answer|response)[ _-]?(?P<side>[ab12])|(?P<tie>tie\b.*|draw|both|equal)"
)
COMMON, NEARLY = 5, 0.83  # answers of a common word, and how much of it a slip has: Yess of Yes
LEANS = 0.9  # share of pairs with the stronger system as A from which kappa depends on who is called A


@dataclass(frozen=True)
class OddWord:
    """A word that its column does not know. `first_row`: the header is row 1; `meaning`: how it is read, or remedy."""

    column: str
    criterion: str  # "" outside the labels
    word: str
    count: int
    first_row: int
    accepted: bool
    meaning: str


@dataclass(frozen=True)
class Repeats:
    """Rows to an item, and rows that answer what the same rater already answered in the same run and presentation."""

    items: int
    fewest: int
    median: float
    most: int
    doubled: int
    first_row: int  # of the doubled ones, the header being row 1; 0 when there is none


@dataclass(frozen=True)
class Clustering:
    """A column that could be cluster_id: every item has one value of it. `labels_per_cluster` is N/C."""

    column: str
    clusters: int
    items: int
    labels_per_cluster: float
    note: str


@dataclass(frozen=True)
class Join:
    """One judge and the people on item and criterion. `mates`: rows of people who share an answer with this judge."""

    judge: str
    human_rows_alone: int
    judge_rows_alone: int
    mates: int


@dataclass(frozen=True)
class Orientation:
    """Who is called A. `a_is_stronger`: share of pairs whose A wins more decisive labels over the file, nan unknown."""

    always: str  # the one system that is always A; "" when several are
    a_is_stronger: float
    pairs: int
    note: str


def odd_words(table: pd.DataFrame) -> tuple[OddWord, ...]:
    """Words outside the vocabulary, the most frequent first in each column; accepted spellings are among them."""
    found: list[OddWord] = []
    for column, allowed in roles.WORDS.items():
        if column in table.columns:
            blank = [] if column == "rater_kind" else [""]
            bad = table.loc[~table[column].isin([*allowed, *blank]), column]
            found += _counted(bad, column, "", partial(_known_word, allowed))
    if "label" in table.columns:
        for criterion, rows in table.groupby("criterion" if "criterion" in table.columns else lambda _: ""):
            found += _odd_labels(rows, str(criterion))
    return tuple(found)


def repeats(table: pd.DataFrame) -> Repeats | None:
    """Rows to an item, and doubled answers; None without a column of items."""
    if "item_id" not in table.columns or table.empty:
        return None
    sizes = table.groupby("item_id").size()
    key = [name for name in (*UNIT, "rater_id", "run", "presentation") if name in table.columns]
    doubled = np.flatnonzero(table.duplicated(key).to_numpy()) if "rater_id" in key else np.zeros(0, int)
    first = typed_cells.row_number(int(doubled[0])) if len(doubled) else 0
    return Repeats(len(sizes), int(sizes.min()), float(sizes.median()), int(sizes.max()), len(doubled), first)


def clusterings(table: pd.DataFrame, others: pd.DataFrame) -> tuple[Clustering, ...]:
    """Every column that could be the cluster, the one to propose first. `others`: the columns without a role.

    A candidate is filled everywhere and constant within an item. Proposed is the finest that joins several items and
    is no category; without one, the column cluster_id, and then the item itself. Nothing is assumed.
    """
    if "item_id" not in table.columns or table.empty:
        return ()
    items = table["item_id"]
    taking_part = table[[name for name in table.columns if name not in NO_CLUSTERS]]
    total, found = items.nunique(), []
    for name, column in pd.concat([taking_part, others], axis=1).items():
        clusters = column.nunique()
        whole = (column != "").all() and not column.groupby(items).nunique().gt(1).any()
        if whole and 1 < clusters <= total and not (name in others.columns and roles.all_numbers(column)):
            found.append(
                Clustering(str(name), clusters, total, len(table) / clusters, _about(str(name), clusters, total))
            )
    found.sort(key=lambda one: (*_rank(one), -one.clusters, one.column))
    return tuple(found)


def joins(table: pd.DataFrame) -> tuple[Join, ...]:
    """Each judge against all people, in the order of their names; empty where sides or units are not told apart."""
    if not {*UNIT, "rater_id", "rater_kind"} <= set(table.columns):
        return ()
    unit = pd.Series(pd.factorize(pd.MultiIndex.from_frame(table[UNIT]))[0], index=table.index)
    people = unit[table["rater_kind"] == "human"]
    out = []
    for judge, own in unit[table["rater_kind"] == "judge"].groupby(table["rater_id"]):
        joined = people.isin(own)
        out.append(Join(str(judge), int((~joined).sum()), int((~own.isin(people)).sum()), int(joined.sum())))
    return tuple(out)


def ask_of_items(labels: pd.DataFrame, columns: pd.DataFrame, systems: Sequence[str] = ()) -> str:
    """The sentence that asks what names the items where people and judges have none in common; "" where they have.

    `columns`: what may name them instead, aligned with `labels`; `systems`: the columns of a pair's systems.
    """
    if not {"item_id", "rater_id", "rater_kind"} <= {*labels}:
        return ""
    judged, human = (labels["rater_kind"].eq(kind) for kind in ("judge", "human"))
    judges, people = ({*labels["item_id"][side]} for side in (judged, human))
    if not judges or not people or judges & people:
        return ""
    key = [name for name in ("rater_id", "criterion", "run", "presentation") if name in labels]
    shared = [
        str(name)
        for name in columns
        if ({*columns[name][judged]} & {*columns[name][human]}) - {""}
        and not labels[key].assign(item_id=columns[name]).duplicated().any()
    ]
    unnamed = "system_a" in labels and labels["system_a"][human].eq("").any()
    ignored = [f"ignore={between_plus(*systems)}"] if systems and unnamed else []
    return (
        "no item of a judge is one of people's, so that no judge can be compared with them: judges' are such as "
        f"{min(judges)!r}, people's {min(people)!r}; "
        + "".join(
            f"{typed('--map', f'item_id={name}', *ignored)} where that names an item on both sides"
            for name in shared[:1]
        )
        + "no other column names them on both sides: name them alike in the file" * (not shared)
    )


def rare_words(labels: pd.DataFrame) -> list[str]:
    """A sentence for each answer that was given once and is nearly a common one, such as Yess; read as it stands."""
    told: list[str] = []
    if not {"item_id", "rater_id", "criterion", "label"} <= {*labels}:
        return told
    for _, own in labels[["item_id", "rater_id", "criterion", "label"]].astype("str").groupby("criterion"):
        counts = own["label"].value_counts()
        often = [str(word) for word, count in counts.items() if count >= COMMON]
        common = [word for word in often if not typed_cells.is_number(word)]
        for word in [str(one) for one, count in counts.items() if count == 1]:
            near = [one for one in get_close_matches(word, common, 1, NEARLY) if not roles.is_denied(word, one)]
            for row in own[own["label"].eq(word)].to_dict("records") if near else []:
                told.append(
                    f"{word!r} is answered once, by {row['rater_id']} to item {row['item_id']!r}, and counts as an "
                    f"answer of its own: {typed('--map-label', f'{word}={near[0]}')} where {near[0]!r} is meant"
                )
    return told


def orientation(table: pd.DataFrame) -> Orientation | None:
    """Whether A is one system, or the stronger one, in every pair; None where no pair of systems is named."""
    if not {"item_id", "label", "system_a", "system_b"} <= set(table.columns):
        return None
    pairs = table[(table["system_b"] != "") & (table["system_a"] != table["system_b"])]
    if pairs.empty:
        return None
    decisive = pairs[pairs["label"].isin(["A", "B"])]
    won = decisive["label"] == "A"
    score = pd.concat([won.groupby(decisive["system_a"]).agg(["sum", "size"]),
                       (~won).groupby(decisive["system_b"]).agg(["sum", "size"])]).groupby(level=0).sum()  # fmt: skip
    strength = score["sum"] / score["size"]
    shown = pairs.drop_duplicates("item_id")
    gap = shown["system_a"].map(strength) - shown["system_b"].map(strength)
    told = gap[gap.notna() & (gap != 0)]
    share = float((told > 0).mean()) if len(told) else math.nan
    systems = shown["system_a"].unique()
    always = str(systems[0]) if len(systems) == 1 and len(shown) > 1 else ""
    return Orientation(always, share, len(shown), _who_is_a(always, share, len(told)))


def _odd_labels(rows: pd.DataFrame, criterion: str) -> Iterator[OddWord]:
    ok = rows["status"].isin(["ok", ""]) if "status" in rows.columns else pd.Series(True, index=rows.index)
    label = rows.loc[ok & (rows["label"] != ""), "label"]
    spelled = label[label.isin(list(roles.ALIASES))]
    yield from _counted(spelled, "label", criterion, roles.ALIASES.__getitem__, accepted=True)
    label = label[~label.isin([*roles.ALIASES, "not_applicable"])]
    if label.empty:
        return
    numbers = roles.is_number(label)
    paired = "system_b" in rows.columns and bool((rows["system_b"] != "").any())
    if numbers.mean() > 0.5:
        yield from _counted(label[~numbers], "label", criterion, lambda _: "stands among numbers: give a number")
    elif paired or label.str.strip().str.lower().isin(["a", "b", "tie", *SIDES]).mean() > 0.5:
        systems = {*rows.get("system_a", ()), *rows.get("system_b", ())}
        odd = label[~label.isin(PAIRWISE)]
        yield from _counted(odd, "label", criterion, lambda word: _remedy(word, systems))


def _known_word(allowed: Sequence[str], word: str) -> str:
    meant = roles.ORDERS.get(word.lower(), "") if "AB" in allowed else ""
    return f"write {meant}, if {meant[0]} stood left or first" if meant else "write " + " or ".join(allowed)


def _remedy(word: str, systems: set[str]) -> str:
    plain = word.strip().lower()
    if plain in ("a", "b", "tie"):
        return f"write {plain if plain == 'tie' else plain.upper()}"
    if meant := MEANT.fullmatch(plain):
        return f"write {'tie' if meant['tie'] else 'A' if meant['side'] in 'a1' else 'B'}, if that is what it means"
    if word in systems:
        return "a system's name: write A where it is system_a's, B where system_b's"
    if plain in SIDES:
        return "a side, not a verdict: write A or B, as the pair was named"
    return "write A, B, tie or not_applicable, or give the row status invalid"


def _counted(
    bad: pd.Series[str], column: str, criterion: str, meaning: Callable[[str], str], accepted: bool = False
) -> Iterator[OddWord]:
    for word, count in bad.value_counts().items():
        first = int(np.flatnonzero((bad == word).to_numpy())[0])
        row = typed_cells.row_number(int(bad.index[first]))
        yield OddWord(column, criterion, str(word), int(count), row, accepted, meaning(str(word)))


def _rank(clustering: Clustering) -> tuple[int]:
    joins_items = clustering.clusters < clustering.items
    if joins_items and clustering.column != "category":
        return (0,)
    return (1,) if clustering.column == "cluster_id" else (2,) if clustering.column == "item_id" else (3,)


def _about(name: str, clusters: int, items: int) -> str:
    few = "; fewer than 20 clusters: intervals will be wide, single criteria get none"
    return what_it_joins(name, clusters, items) + few * (name != "category" and clusters < min(20, items))


def what_it_joins(name: str, clusters: int, items: int) -> str:
    """What a column would be as the cluster, as the end of a sentence."""
    if name == "category":
        return "a category of topics: coarser than the unit that was drawn"
    if clusters == items:
        return "every item is its own cluster: right only where no two items share a topic"
    return f"joins {items / clusters:.1f} items to a cluster on average"


def _who_is_a(always: str, share: float, told: int) -> str:
    fix = "κ then depends on who is called A: name A by a coin, or read cohen_kappa_symmetrised"
    if always:
        return f"system_a is always {always}; {fix}"
    if not told or 1 - LEANS < share < LEANS:
        return ""
    which = "stronger" if share >= LEANS else "weaker"
    return f"system_a is the {which} system in {100 * max(share, 1 - share):.0f} % of {told} pairs; {fix}"

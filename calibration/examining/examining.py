"""What a labels file can support, before it is trusted: `examine(frame)` for any table, also one that is refused.

It says which questions the table can answer, and which one column each other question lacks. Labels may be names of
what was compared: each item then has its own two words, and no list of answers fits them all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from calibration.arithmetic.columns import PAIRWISE
from calibration.errors import CalibrationError
from calibration.examining.findings import (
    UNIT,
    Clustering,
    Join,
    OddWord,
    Orientation,
    Repeats,
    ask_of_items,
    clusterings,
    joins,
    odd_words,
    orientation,
    repeats,
    what_it_joins,
)
from calibration.study.answering import KNOWN_ENOUGH
from calibration.study.bounding import FEW_CLUSTERS, FEWEST
from calibration.table import checking, typed_cells
from calibration.table.roles import (
    ALIASES,
    Column,
    as_text,
    columns_of,
    is_number,
    item_columns,
    roles_of,
    verdict_columns,
)
from calibration.table.verdicts import REQUIRED
from calibration.warning_words import warning_text

HOLDS = {
    "item_id": "one pair, report or probe",
    "rater_id": "who answered",
    "rater_kind": "human or judge in every row; it is never guessed",
    "criterion": "what was asked; one word for all rows will do",
    "label": "A, B, tie, not_applicable, a number or a probe's answer",
    "cluster_id": "the topic; labels of one topic stand or fall together",
}

PERCENTAGES = "percentages: read as the numbers before the sign"
NOTHING_SHARED = "no two raters share an answer: have the same items and criteria answered by two of them"
JUDGES_ALONE = (
    "judges alone share answers, so that they can be compared with each other and with nobody else: add the answers of "
    "people (rater_kind human) to the same items and criteria"
)


@dataclass(frozen=True)
class Support:
    """One question. `missing`: the one column that would enable it, "" where rows are missing and not a column."""

    question: str
    supported: bool
    missing: str
    note: str


@dataclass(frozen=True)
class Examination:
    """All findings about one table. `steps`: what to do before it can be calibrated, first things first; `advice`: what
    may be done and need not.

    `refusal`: what `check_verdicts` would say with the proposed names, "" where it accepts or cannot look yet.
    `ready`: calibration accepts the table as it is, two raters share an answer, and labels are no names of the sides.
    """

    rows: int
    columns: tuple[Column, ...]
    words: tuple[OddWord, ...]
    repeats: Repeats | None
    clusterings: tuple[Clustering, ...]  # the proposed one first, by the file's own names
    joins: tuple[Join, ...]
    orientation: Orientation | None
    supports: tuple[Support, ...]
    refusal: str
    steps: tuple[str, ...]
    advice: tuple[str, ...]
    ready: bool


def examine(frame: pd.DataFrame) -> Examination:
    """Everything that can be said about `frame`, any table at all; it is neither changed nor repaired. Raises nothing.

    Roles are taken from the names of the columns, or proposed; all findings rest on the proposed roles.
    """
    table, twice = as_text(frame)
    roles = roles_of(table)
    written = table[list(roles.values())].set_axis(list(roles), axis=1)
    named = typed_cells.as_numbers(written)
    columns = columns_of(table, roles)
    if named is not written:
        columns = tuple(replace(column, note=PERCENTAGES) if column.role == "label" else column for column in columns)
    joined = joins(named)
    free = table[[name for name in table.columns if name not in roles.values()]]
    clusters = tuple(
        replace(clustering, column=roles.get(clustering.column, clustering.column))
        for clustering in clusterings(named, free)
    )
    answers = supports(named, joined)
    absent = [name for name in REQUIRED if name not in roles]
    refusal = "" if absent else _refusal(pd.concat([named, free], axis=1))
    steps = [f"column {name!r} appears twice; rename or remove one" for name in twice]
    steps += _steps(
        table, columns, absent, _copies(clusters, item_columns(table, roles)), verdict_columns(table, roles)
    )
    comparable = any(answer.supported for answer in answers[:2])
    words = odd_words(named)
    if refusal:
        steps += [refusal, *_further(words)]
    elif not absent and (unlike := _named_sides(named)):
        steps.append(warning_text("named_sides", {"words": unlike}))
    elif not absent and not comparable:
        steps.append(JUDGES_ALONE if _judges_share(named) else NOTHING_SHARED)
    elif not absent and not refusal and (apart := ask_of_items(named, named[["cluster_id"]], _systems(named))):
        steps.append(apart)
    return Examination(
        rows=len(table),
        columns=columns,
        words=words,
        repeats=repeats(named),
        clusterings=clusters,
        joins=joined,
        orientation=orientation(named),
        supports=answers,
        refusal=refusal,
        steps=tuple(steps),
        advice=tuple(_advice(clusters, roles)),
        ready=not steps,
    )


def _systems(named: pd.DataFrame) -> list[str]:
    return [name for name in ("system_a", "system_b") if name in named]


def _refusal(named: pd.DataFrame) -> str:
    try:
        checking.check_verdicts(named)
    except CalibrationError as error:
        return error.text
    return ""


def _judges_share(named: pd.DataFrame) -> bool:
    """Whether two judges answered one item and criterion, and no person answered anything."""
    if not {*UNIT, "rater_id", "rater_kind"} <= set(named.columns) or (named["rater_kind"] != "judge").any():
        return False
    return bool((named.groupby(UNIT)["rater_id"].nunique() > 1).any())


def _further(words: Sequence[OddWord]) -> Iterator[str]:
    """A refusal names one cell; where words of several columns are unknown, all these columns."""
    columns = list(dict.fromkeys(word.column for word in words if not word.accepted))
    if len(columns) > 1:
        yield f"mend every word listed above, in the columns {' and '.join(columns)}: calibration names the first only"


def _named_sides(named: pd.DataFrame) -> int:
    """How many words labels without systems hold, where they name the two sides of each item."""
    words = ~named["label"].isin([*PAIRWISE, *ALIASES, "not_applicable", ""]) & ~is_number(named["label"])
    return named_sides(named[words])


def _steps(
    table: pd.DataFrame,
    columns: Sequence[Column],
    absent: Sequence[str],
    copies: Mapping[str, str],
    wide: Sequence[str],
) -> Iterator[str]:
    if table.empty:
        yield "the table has no rows; give it at least one label"
    renamed = [f"{column.name!r} to {column.role}" for column in columns if column.renamed]
    if renamed:
        yield f"rename the column{'s' * (len(renamed) > 1)} {', '.join(renamed)}, if that is what they hold"
    if len(wide) > 1 and {"label", "rater_id"} & {*absent}:
        yield (
            f"{', '.join(map(repr, wide))} look like one column for each rater: write one row for each answer, the "
            "name in rater_id, the answer in label"
        )
    for name in absent:
        yield f"add the column {name} ({HOLDS[name]}){copies.get(name, '')}"


def _copies(clusters: Sequence[Clustering], items: Sequence[str]) -> dict[str, str]:
    """Of what a lacking column may be made."""
    out = {"cluster_id": f"; propose a copy of {clusters[0].column!r}"} if clusters else {}
    if len(items) > 1:
        out["item_id"] = f"; propose {', '.join(map(repr, items[:-1]))} and {items[-1]!r} joined"
    elif items:
        out["item_id"] = f"; propose a copy of {items[0]!r}"
    return out


def _advice(clusters: Sequence[Clustering], roles: dict[str, str]) -> Iterator[str]:
    if clusters and clusters[0].column != roles.get("cluster_id", clusters[0].column):
        one = clusters[0]
        yield (
            f"consider {one.column!r} as cluster_id: it {what_it_joins(one.column, one.clusters, one.items)}, and what "
            "shares a topic shares its difficulty"
        )


def supports(table: pd.DataFrame, joined: Sequence[Join]) -> tuple[Support, ...]:
    """Every question, in the order a paper asks them. `table`: as text, columns named by role."""
    return tuple(_questions(table, joined))


def _questions(table: pd.DataFrame, joined: Sequence[Join]) -> Iterator[Support]:
    judges, people = _rows(table, "judge"), _rows(table, "human")
    mates = sum(one.mates for one in joined)
    if judges.empty:
        lack = "no judge rows"
    elif people.empty:
        lack = "no human rows"
    else:
        lack = "" if mates else "no judge row shares item and criterion with a human row"
    yield _needs(
        table, "do judges agree with people", REQUIRED, lack, f"{mates:,} rows of people have a judge's beside them"
    )
    yield _people(table, people)
    clusters = table["cluster_id"].nunique() if "cluster_id" in table.columns else 0
    lack = "" if clusters >= FEWEST else f"{clusters} clusters; {FEWEST} at least, {FEW_CLUSTERS} are advised"
    yield _needs(
        table, "how sure is that (intervals over whole clusters)", ("cluster_id",), lack, f"{clusters:,} clusters"
    )
    criteria = table["criterion"].nunique() if "criterion" in table.columns else 0
    lack = "one criterion only" if criteria == 1 else ""
    if criteria > 1 and clusters < FEW_CLUSTERS:
        lack = f"{criteria} criteria on {clusters} clusters: counts, but no intervals below {FEW_CLUSTERS}"
    yield _needs(table, "which criteria do they agree on", ("criterion",), lack, f"{criteria:,} criteria")
    if _is_pairwise(table):
        yield from _pairwise(table, judges)
    else:
        yield _needs(table, "how does each system stand, and do two differ", ("system_a",), "", "systems are named")
    yield from _extras(table, judges)


def _people(table: pd.DataFrame, people: pd.DataFrame) -> Support:
    question, note, lack = "do people agree with each other (human ceiling)", "", ""
    if {*UNIT, "rater_id"} <= set(people.columns):
        units = people.groupby(UNIT)["rater_id"].nunique()
        several = int((units > 1).sum())
        note = f"{several:,} of {len(units):,} answers asked of people come from two or more"
        lack = "" if several else "no item and criterion with two people" if len(people) else "no human rows"
    return _needs(table, question, REQUIRED[:5], lack, note)


def _pairwise(table: pd.DataFrame, judges: pd.DataFrame) -> Iterator[Support]:
    known = table[table["presentation"] != ""] if "presentation" in table.columns else table[:0]
    asked, told = len(judges), int(known.index.isin(judges.index).sum())
    rest = f"{len(known) - told:,} of {len(table) - asked:,} others"
    share = f"the order is known in {told:,} of {asked:,} judge rows and {rest}"
    yield _needs(table, "does the side matter (first shown wins)", ("presentation",), "", share)
    lack = ""
    if "presentation" in table.columns and {*UNIT, "rater_id"} <= set(table.columns):
        own = known[known.index.isin(judges.index)]
        both = int((own.groupby([*UNIT, "rater_id"])["presentation"].nunique() > 1).sum())
        lack = "" if both else "no judge answered an item in both orders"
        share = f"{both:,} answers in both orders"
    yield _needs(table, "does a judge keep its verdict in the other order", ("presentation",), lack, share)
    yield _needs(table, "are longer reports preferred", ("len_a", "len_b"), "", "lengths of both reports")
    yield _needs(table, "which system wins, and its own family's", ("system_a", "system_b"), "", "systems are named")


def _extras(table: pd.DataFrame, judges: pd.DataFrame) -> Iterator[Support]:
    repeated = 0
    if "run" in table.columns and {*UNIT, "rater_id"} <= set(table.columns):
        repeated = int((table.groupby([*UNIT, "rater_id"])["run"].nunique() > 1).sum())
    lack = "" if repeated else "every run is the same one"
    yield _needs(table, "does a rater repeat its answer", ("run",), lack, f"{repeated:,} answers in several runs")
    for question, column in (("what does a judge cost", "cost_usd"), ("how long does it take", "seconds")):
        known = int((judges[column] != "").sum()) if column in judges.columns else 0
        told = f"known in {known:,} of {len(judges):,} judge rows"
        lack = "" if known >= KNOWN_ENOUGH * len(judges) > 0 else f"{told}; unknown is not 0"
        yield _needs(table, question, (column,), lack, "known in every judge row" if known == len(judges) else told)
    said = "label" in table.columns and bool(table["label"].isin(["unparsed", ""]).any())
    if said and "status" not in table.columns:
        yield Support("how many answers could not be read", True, "", "empty and unparsed labels are counted")
    else:
        yield _needs(table, "how many answers could not be read", ("status",), "", "status is given")
    yield _needs(table, "does it differ by category", ("category",), "", "categories of topics")
    yield _needs(table, "did a rationale come from a judge", ("rationale",), "", "rationales are given")


def _needs(table: pd.DataFrame, question: str, columns: Sequence[str], lack: str, note: str) -> Support:
    """`lack` is what rows would have to give once all `columns` are there and filled."""
    for name in columns:
        if name not in table.columns:
            return Support(question, False, name, "no such column")
        if not (table[name] != "").any():
            return Support(question, False, name, "the column is empty")
    return Support(question, not lack, "", lack or note)


def _rows(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    return table[table["rater_kind"] == kind] if "rater_kind" in table.columns else table[:0]


def _is_pairwise(table: pd.DataFrame) -> bool:
    if "label" not in table.columns:
        return True
    label = table["label"]
    return bool(label.isin(PAIRWISE).any()) or not is_number(label[label != ""]).all()


CONTESTED = 10  # items with two answers or more against the most frequent one


def named_sides(answers: pd.DataFrame) -> int:
    """How many words label holds where they name the sides of each item, 0 where they may be one list of answers.

    `answers`: the columns item_id and label, a row for each answer that is a word other than A, B and tie. Told by
    items where two raters or more contradict the most frequent answer: had they a list to choose from, they would not
    agree on the one other word each time, and on another word from item to item.
    """
    rows = answers[["item_id", "label"]].astype(str)
    words = rows["label"].nunique()
    if words < 3:
        return 0
    counts = rows.groupby(["item_id", "label"]).size()
    by_item = counts.groupby(level="item_id")
    contested = by_item.sum() - by_item.max() >= 2
    if by_item.size().max() > 2 or contested.sum() < CONTESTED:
        return 0
    sides = counts.reset_index().groupby("item_id")["label"].agg(frozenset)[contested]
    return int(words) if sides.nunique() > 2 else 0

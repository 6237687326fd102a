"""Which questions a table of labels can answer, and the one column whose absence stands in the way of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from calibration.engine.bounding import FEW_CLUSTERS, FEWEST
from calibration.reading.findings import UNIT, Join
from calibration.reading.roles import is_number
from calibration.verdicts import PAIRWISE, REQUIRED


@dataclass(frozen=True)
class Support:
    """One question. `missing`: the one column that would enable it, "" where rows are missing and not a column."""

    question: str
    supported: bool
    missing: str
    note: str


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
        lack = "" if known == len(judges) > 0 else f"known in {known:,} of {len(judges):,} judge rows; unknown is not 0"
        yield _needs(table, question, (column,), lack, "known in every judge row")
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

"""Items that people's file and a judge's spell in two ways: 007 and 7, 12 and 12.0, Q1 and q1."""

import re
from collections.abc import Collection

import pandas as pd

from calibration.tidying.mapping import JOINED

NUMBER = re.compile(r"0*(\d+?)(?:\.(\d*?)0*)?")  # without noughts before it and after its point


def meet(out: pd.DataFrame, told: list[str]) -> None:
    """Give judges' items that no person answered the name of the one item of people's that differs in zeros or capital
    letters alone; only where no other item of either side is spelt like it.
    """
    judged = out["rater_kind"].eq("judge")
    judges, people = ({*out.loc[side, "item_id"].unique()} for side in (judged, ~judged))
    if not (judges - people and people - judges):
        return
    by_people, by_judges = _spelt(people), _spelt(judges)
    if len(by_people) < len(people) or len(by_judges) < len(judges):
        return
    named = {
        item: by_people[plainly]
        for plainly, item in sorted(by_judges.items())
        if plainly in by_people and item not in people and by_people[plainly] not in judges
    }
    if not named:
        return
    if "cluster_id" in out:
        topic = out[~judged].drop_duplicates("item_id").set_index("item_id")["cluster_id"]
        cluster = out["item_id"].map(named).map(topic)
        out["cluster_id"] = cluster.where(judged & cluster.notna(), out["cluster_id"])
    out["item_id"] = out["item_id"].map(named).where(judged).fillna(out["item_id"])
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

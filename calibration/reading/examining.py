"""What a labels file can support, before it is trusted: `examine(frame)` for any table, also one that is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from calibration.errors import CalibrationError
from calibration.reading.checking import check_verdicts
from calibration.reading.findings import (
    Clustering,
    Join,
    OddWord,
    Orientation,
    Repeats,
    clusterings,
    joins,
    odd_words,
    orientation,
    repeats,
)
from calibration.reading.named_sides import named_sides
from calibration.reading.roles import (
    ALIASES,
    Column,
    as_text,
    columns_of,
    is_number,
    item_columns,
    roles_of,
    verdict_columns,
)
from calibration.reading.supporting import Support, supports
from calibration.verdicts import PAIRWISE, REQUIRED

HOLDS = {
    "item_id": "one pair, report or probe",
    "rater_id": "who answered",
    "rater_kind": "human or judge in every row; it is never guessed",
    "criterion": "what was asked; one word for all rows will do",
    "label": "A, B, tie, not_applicable, a number or a probe's answer",
    "cluster_id": "the topic; labels of one topic stand or fall together",
}


@dataclass(frozen=True)
class Examination:
    """All findings about one table. `steps`: what to do before it can be calibrated, first things first; `advice`: what
    may be done and need not.

    `refusal`: what `check_verdicts` would say once the proposed names stand, "" where it accepts or cannot look yet.
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
    named = table[list(roles.values())].set_axis(list(roles), axis=1)
    columns = columns_of(table, roles)
    joined = joins(named)
    free = table[[name for name in table.columns if name not in roles.values()]]
    clusters = tuple(replace(one, column=roles.get(one.column, one.column)) for one in clusterings(named, free))
    answers = supports(named, joined)
    absent = [name for name in REQUIRED if name not in roles]
    refusal = "" if absent else _refusal(pd.concat([named, free], axis=1))
    steps = [f"column {name!r} appears twice; rename or remove one" for name in twice]
    steps += _steps(
        table, columns, absent, _copies(clusters, item_columns(table, roles)), verdict_columns(table, roles)
    )
    comparable = any(one.supported for one in answers[:2])
    words = odd_words(named)
    if refusal:
        steps += [refusal, *_further(words)]
    elif not absent and (unlike := _named_sides(named)):
        steps.append(unlike)
    elif not absent and not comparable:
        steps.append("no two raters share an answer: have the same items and criteria answered by two of them")
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


def _refusal(named: pd.DataFrame) -> str:
    try:
        check_verdicts(named)
    except CalibrationError as error:
        return error.text
    return ""


def _further(words: Sequence[OddWord]) -> Iterator[str]:
    """A refusal names one cell; where words of several columns are unknown, all these columns."""
    columns = list(dict.fromkeys(one.column for one in words if not one.accepted))
    if len(columns) > 1:
        yield f"mend every word listed above, in the columns {' and '.join(columns)}: calibration names the first only"


def _named_sides(named: pd.DataFrame) -> str:
    """About labels without systems that are words: whether they name the two sides of each item."""
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
    renamed = [f"{one.name!r} to {one.role}" for one in columns if one.renamed]
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
            f"consider {one.column!r} as cluster_id: it {one.note.split(';')[0]}, and what shares a topic shares its "
            "difficulty"
        )

"""What names an item and its topic: a column that does, else the smallest set of columns without repeats."""

from collections.abc import Sequence

import pandas as pd

from calibration.table.verdicts import EXTRA, NUMBERS
from calibration.tidying import keys, value_sets
from calibration.tidying.found import Found

NO_KEY = (
    "label", "rater_id", "rater_kind", "criterion", "status", "rationale", "run", "presentation", *NUMBERS, *EXTRA,
)  # fmt: skip
ORDER = "__order"  # in which order a row names its pair


def find_items(found: Found) -> None:
    """What names an item and its cluster: a column that does, else the smallest set of columns without repeats."""
    if "rater_id" not in found.columns and not any(one.rater_id for one in found.spread) and not found.constants:
        return
    table = _with_ordered_pairs(found)
    apart = [
        found.columns[part][0] for part in ("rater_id", "criterion", "run", "presentation") if part in found.columns
    ]
    apart += [ORDER] if ORDER in table else []
    own = list(found.columns.get("item_id", ()))
    if own and "item_id" not in found.asked.columns and not _is_shared(found, own):
        found.told.append(f"{own[0]!r} differs in every row, so it names no item")
        del found.columns["item_id"]
        own = []
    known = own or [found.columns[part][0] for part in ("cluster_id", "system_a", "system_b") if part in found.columns]
    more = keys.smallest_key(table, known, apart, _candidates(found, known))
    if more is None and len(known):
        more = ()  # rows that repeat are named when the labels are checked
    if more is None or not (known or more):
        found.problems.append("no column or set of columns names the items: --map item_id=ONE+OTHER")
        return
    found.columns["item_id"] = (*known, *more)
    if tuple(known) != (*known, *more) or len(known) > 1:
        found.told.append(f"an item is {' with '.join((*known, *more))}")
    if "cluster_id" not in found.columns:
        found.told.append(
            "no column names the topic, so each item counts as one of its own; where items share one: --map "
            "cluster_id=COLUMN"
        )


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
    if any(one.rater_id for one in found.spread):
        return True
    raters = found.table[found.columns["rater_id"][0]].nunique() if "rater_id" in found.columns else 1
    return raters < 2 or bool(found.table[item[0]].duplicated().any())


def _candidates(found: Found, known: Sequence[str]) -> list[str]:
    """Columns that may take part in a key, ids first; none of what was answered, measured or written in words."""
    used = {name for part, names in found.columns.items() if part in NO_KEY for name in names}
    used |= {one.column for one in found.spread} | {*known}
    free = [name for name in found.names if name not in used and found.table[name].ne("").all()]
    shared = [
        name for name in free if any(one.rater_id for one in found.spread) or found.table[name].duplicated().any()
    ]
    return sorted(shared, key=lambda name: not value_sets.plain(name).endswith(("id", "key", "index", "turn")))

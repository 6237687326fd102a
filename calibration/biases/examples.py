"""Items that a judge has seen with their answers, as examples in its prompt: on those it is not examined."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from calibration.estimates import ReportWarning

NAMED = 3  # items named in a warning before the rest is counted


def without_examples(
    verdicts: pd.DataFrame, examples: Mapping[str, Collection[str]]
) -> tuple[pd.DataFrame, tuple[ReportWarning, ...]]:
    """The table without each judge's rows on its own examples, whatever the criterion, pass or repeat, and a warning.

    `examples`: judge to the item_ids its prompt shows. Rows of other raters on these items stay. Before panels vote:
    a panel would else hear of its member's examples. `examples_in_reference`: of each judge that has any such row.
    """
    item, rater = verdicts["item_id"].astype(str), verdicts["rater_id"].astype(str)
    gone = pd.Series(False, index=verdicts.index)
    warnings = []
    for judge, items in sorted(examples.items()):
        own = (rater == judge) & item.isin([*map(str, items)])
        if own.any():
            warnings.append(_warning(judge, sorted(item[own].unique()), int(own.sum()), int((rater == judge).sum())))
        gone |= own
    return (verdicts[~gone] if warnings else verdicts), tuple(warnings)


def _warning(judge: str, items: list[str], rows: int, of: int) -> ReportWarning:
    named = ", ".join(items[:NAMED]) + (f" and {len(items) - NAMED} more" if len(items) > NAMED else "")
    text = f"{judge} was shown {len(items)} of the items it labelled as examples, with their answers ({named}): its "
    text += f"{rows} rows on them, of {of}, are left out of every estimate; take examples from items outside the study"
    return ReportWarning("examples_in_reference", text, judge)

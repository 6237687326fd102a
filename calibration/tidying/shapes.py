"""Whether the answers are in one column, or in one for each rater, each criterion, or both."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from calibration.table.typed_cells import is_number
from calibration.tidying.found import FROM, Found, kind_of
from calibration.tidying.mapping import Spread
from calibration.tidying.raters import bare_name, crossed
from calibration.tidying.value_sets import plain, recognise

MANY, LONG = 30, 40  # distinct answers, and characters of one: beyond these a column holds no answers


def find_shape(found: Found) -> None:
    """Whether answers are in one column, or in one for each rater, criterion or both."""
    wide = {part: found.asked.columns.get(part, ()) for part in ("rater_id", "criterion")}
    for part, columns in wide.items():
        if len(columns) > 1 and all(name in found.table for name in columns):
            found.spread = tuple(Spread(name, **{part: bare_name(name)}) for name in columns)
            found.columns.pop("label", None)
            found.columns.pop(part, None)
            return
    if "label" in found.columns:
        return
    candidates = [name for name in found.free() if _holds_answers(name, found.table[name])]
    if not candidates:
        found.problems.append(_no_label(found))
    elif "rater_id" in found.columns:
        _spread_criteria(found, candidates)
    else:
        _spread_raters(found, candidates)


def _no_label(found: Found) -> str:
    return (
        f"no column holds the answers (there are: {', '.join(found.names[:20])}); say which: --map label=COLUMN, "
        "or --map rater_id=ONE+OTHER where each rater has a column"
    )


def _spread_criteria(found: Found, named: Sequence[str]) -> None:
    """One column, or one for each criterion; beside numbers and verdicts, columns of other words are none."""
    sure = [name for name in named if _is_sure(found.table[name])]
    candidates = sure or list(named)
    if left := [name for name in named if name not in candidates]:
        found.told.append(f"not read as answers: {', '.join(left)} (say so if they are: --map criterion=ONE+OTHER)")
    if len(candidates) == 1:
        found.columns["label"] = (candidates[0],)
        found.told.append(f"the answers stand in {candidates[0]!r}")
        return
    found.spread = tuple(Spread(name, criterion=bare_name(name)) for name in candidates)
    found.told.append(f"a column for each criterion: {', '.join(candidates)}")


def _spread_raters(found: Found, candidates: Sequence[str]) -> None:
    grid = crossed(candidates)
    if grid:
        found.spread = grid
        who, what = (dict.fromkeys(getattr(one, name) for one in grid) for name in ("rater_id", "criterion"))
        found.told.append(f"a column for each rater ({', '.join(who)}) and criterion ({', '.join(what)})")
        return
    core = [name for name in candidates if kind_of(bare_name(name), found.asked)]
    alike = [name for name in candidates if name in core or _alike(found.table, name, core or candidates)]
    kinds = {kind_of(bare_name(name), found.asked) for name in core}
    raters = core if len(kinds) == 2 else alike
    if not core and (len(candidates) > 1 or not any(name in found.table for name in FROM)):
        found.problems.append(
            f"{', '.join(map(repr, candidates))} may hold answers, and no column is known to say who gave them: where "
            "a row is one answer, --map item_id=COLUMN --map rater_id=COLUMN --map label=COLUMN; where each of them is "
            f"a rater, --map rater_id={'+'.join(candidates)}; where each is a criterion, --map "
            f"criterion={'+'.join(candidates)},rater_id=COLUMN"
        )
        return
    if len(raters) == 1:
        found.columns["label"] = (raters[0],)
        return
    found.spread = tuple(Spread(name, rater_id=bare_name(name)) for name in raters)
    found.told.append(f"a column for each rater: {', '.join(raters)}")
    left = [name for name in alike if name not in raters]
    if left:
        found.told.append(f"not read as answers: {', '.join(left)} (say so if they are: --map rater_id=ONE+OTHER)")


def _holds_answers(name: str, cells: pd.Series[str]) -> bool:
    words = {word.strip() for word in cells.unique()} - {""}
    if not words or len(words) > MANY or max(map(len, words)) > LONG or plain(name).endswith((" id", "index", "hash")):
        return False
    if name in (*FROM, "id", "key"):
        return False
    read = recognise(words, name, False)
    return read.answers.read_as in ("verdicts", "sides", "scores") or len(words) <= 8


def _is_sure(cells: pd.Series[str]) -> bool:
    words = {word.strip() for word in cells.unique()} - {""}
    return recognise(words, "", False).answers.read_as in ("verdicts", "sides", "scores")


def _alike(table: pd.DataFrame, name: str, others: Sequence[str]) -> bool:
    """Whether a column's answers are of the same set as those of the others."""
    own = {*table[name].str.strip()} - {""}
    words = {word for one in others if one != name for word in table[one].str.strip()} - {""}
    numbers = all(map(is_number, own)) and bool(words) and all(map(is_number, words))
    return numbers or bool(own & words)

"""The table `verdicts`: one row is one rater's answer to one criterion of one item in one run and one presentation."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from calibration.arithmetic.columns import PAIRWISE
from calibration.errors import CalibrationError
from calibration.table import runs, typed_cells

REQUIRED = ("item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id")
TEXT_DEFAULTS = {"system_a": "", "system_b": "", "presentation": "", "category": "", "status": "", "rationale": ""}
NUMBERS = ("len_a", "len_b", "seconds", "cost_usd")
KNOWN_COLUMNS = (*REQUIRED, *TEXT_DEFAULTS, *NUMBERS, "run")
EXTRA_TEXTS = ("tag", "beside", "claim", "topic", "currency")
EXTRA_NUMBERS = ("confidence", "weight", "draw_probability", "settings_tried")
EXTRA = (*EXTRA_TEXTS, *EXTRA_NUMBERS)  # stay only where the table has any value in them
DERIVED = "derived"  # marks verdicts that were made of scores
STATUSES = ("ok", "invalid", "missing", "refused")
BOTH_ORDERS = " [both orders]"
SYSTEM_PAIR = "systems: "  # opens the `category` of an estimate of one pair of systems
ONE_LABEL = "label: "  # opens the `category` of an estimate of one label


def normalise(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """A copy with all columns present and typed, and how often each accepted spelling was mapped. `EXTRA` columns stay
    where they hold anything, `topic` where it parts clusters into topics: empty cells are the cluster. Each rater's
    first run is 1, whatever number it has (`runs.numbered`).

    Only five spellings are mapped: `tie_inconsistent` to tie, `n/a` to not_applicable, `unparsed` to status invalid,
    an empty label without a status to status missing, and percentages to numbers (`85%` to 85) where every usable
    answer to the criterion is one. Nothing else is guessed. Raises `missing_column`,
    `empty_table`, `bad_number`.
    """
    _refuse_absent(frame)
    out = frame.reset_index(drop=True)
    for name in (*REQUIRED, *TEXT_DEFAULTS):
        if name in out.columns:
            cells = typed_cells.as_text(out[name])
            out[name] = (
                cells if name == "rationale" else typed_cells.as_category(cells)
            )  # at once: texts take ten times the memory
        else:
            out[name] = "" if name == "rationale" else _empty(out)
    for name in NUMBERS:
        out[name] = typed_cells.as_number(out, name) if name in out.columns else np.nan
    for name in [one for one in EXTRA if one in out.columns]:
        cells = (
            typed_cells.as_category(typed_cells.as_text(out[name]))
            if name in EXTRA_TEXTS
            else typed_cells.as_number(out, name)
        )
        if (typed_cells.where(cells, bool) if name in EXTRA_TEXTS else cells.notna()).any():
            out[name] = cells
        else:
            del out[name]
    if "currency" in out:
        out["currency"] = _currencies(out["currency"], out["cost_usd"])
    _fill_topics(out)
    out["run"] = typed_cells.as_number(out, "run").fillna(1.0) if "run" in out.columns else 1.0
    whole = out["run"].mod(1).eq(0) & out["run"].ge(0)
    typed_cells.refuse(
        out, ~whole, "bad_number", "run {run} is not a whole number from 0", "number the repeats 1, 2, ..."
    )
    out["run"] = (out["run"] if out["run"].eq(1).all() else runs.numbered(out["run"], out)).astype("int64")
    return out, _map_spellings(out)


def _currencies(written: pd.Series[Any], cost: pd.Series[float]) -> pd.Series[Any]:
    """Codes of currencies; a price of 0, which is the same in each, is in that of all other prices."""
    codes = written.astype("str").str.strip().str.upper().replace({"US$": "USD", "€": "EUR", "£": "GBP"})
    billed = codes[cost.gt(0)].unique()
    return typed_cells.as_category(codes.mask(cost.eq(0), billed[0]) if len(billed) == 1 else codes)


def _fill_topics(out: pd.DataFrame) -> None:
    """In `topic` each row's own topic; no such column where one lies in two clusters, as a subject matter does."""
    if "topic" not in out:
        return
    topic, cluster = out["topic"].astype("str"), out["cluster_id"].astype("str")
    out["topic"] = typed_cells.as_category(topic.where(topic != "", cluster))
    if any(cluster_or_topic.nunique().max() > 1 for cluster_or_topic in (
        cluster.groupby(out["topic"], observed=True), out["topic"].groupby(out["item_id"], observed=True)
    )):  # fmt: skip
        del out["topic"]


def _empty(out: pd.DataFrame) -> pd.Series[Any]:
    return pd.Series(pd.Categorical.from_codes(np.zeros(len(out), np.int8), pd.Index([""])), out.index)


def _refuse_absent(frame: pd.DataFrame) -> None:
    """Raises where a column or every row is missing."""
    absent = [name for name in REQUIRED if name not in frame.columns]
    if absent:
        told = f"the table has no column {', '.join(map(repr, absent))}"
        told += f"; it needs {', '.join(REQUIRED)}" if len(absent) < len(REQUIRED) else ", which it needs"
        meant = get_close_matches(absent[0], [str(name) for name in frame.columns if name not in REQUIRED], 1)
        told += f" (is {meant[0]!r} a misspelt {absent[0]!r}?)" if meant else ""
        raise CalibrationError("missing_column", told)
    if frame.empty:
        raise CalibrationError("empty_table", "the table has no rows; give it at least one label")


def _map_spellings(out: pd.DataFrame) -> dict[str, int]:
    """Write the five spellings as labels and statuses; how often each one was there."""
    aliases = {}
    empty = typed_cells.where(out["label"], "".__eq__) & typed_cells.where(out["status"], "".__eq__)
    unparsed = typed_cells.where(out["label"], "unparsed".__eq__)
    for name, rows, column, value in (
        ("tie_inconsistent", typed_cells.where(out["label"], "tie_inconsistent".__eq__), "label", "tie"),
        ("n/a", typed_cells.where(out["label"], "n/a".__eq__), "label", "not_applicable"),
        ("unparsed", unparsed, "status", "invalid"),
        ("empty label", empty, "status", "missing"),
    ):
        if rows.any():
            aliases[name] = int(rows.sum())
            out[column] = typed_cells.with_text(out[column], rows, value)
    out["label"] = typed_cells.as_category(typed_cells.with_text(out["label"], unparsed, ""))
    out["status"] = typed_cells.as_category(
        typed_cells.with_text(out["status"], typed_cells.where(out["status"], "".__eq__), "ok")
    )
    if percents := _read_percents(out):
        aliases["percent"] = percents
    return aliases


def _read_percents(out: pd.DataFrame) -> int:
    """Write percentages as numbers; how many."""
    texts = list(out["label"].cat.categories)
    usable = typed_cells.where(out["status"], "ok".__eq__) & ~typed_cells.where(
        out["label"], lambda text: text in ("", "not_applicable")
    )
    label, criterion = (out[name].cat.codes.to_numpy().astype(np.intp) for name in ("label", "criterion"))
    rows = typed_cells.percent_rows(texts, label, criterion, usable)
    if rows.any():
        numbers = pd.Index(sorted({*texts, *map(typed_cells.percent_number, texts)}))
        one, other = (
            numbers.get_indexer(pd.Index(names)) for names in (list(map(typed_cells.percent_number, texts)), texts)
        )
        codes = np.where(rows, one[label], other[label])
        out["label"] = typed_cells.as_category(pd.Series(pd.Categorical.from_codes(codes, numbers), out.index))
    return int(rows.sum())


def known(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the columns that no statistic reads, which would cost memory."""
    return frame[[name for name in frame.columns if name in (*KNOWN_COLUMNS, *EXTRA, DERIVED)]]


def kind_of(labels: Iterable[str], paired: bool = False) -> str:
    """`pairwise`, `rating` or `probe`, from a criterion's ok labels. `paired`: its rows name two systems."""
    seen = set(labels) - {"not_applicable"}
    if seen and all(typed_cells.is_number(label) for label in seen):
        return "rating"
    return "pairwise" if paired or seen <= set(PAIRWISE) else "probe"

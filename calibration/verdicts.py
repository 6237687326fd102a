"""The table `verdicts`: one row is one rater's answer to one criterion of one item in one run and one presentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.reading.typed_cells import as_category, as_number, as_text, is_number, refuse, spelling, with_text

REQUIRED = ("item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id")
TEXT_DEFAULTS = {"system_a": "", "system_b": "", "presentation": "", "category": "", "status": "", "rationale": ""}
NUMBERS = ("len_a", "len_b", "seconds", "cost_usd")
KNOWN_COLUMNS = (*REQUIRED, *TEXT_DEFAULTS, *NUMBERS, "run")
EXTRA_TEXTS, EXTRA_NUMBERS = ("tag", "beside", "claim"), ("confidence", "weight")
EXTRA = (*EXTRA_TEXTS, *EXTRA_NUMBERS)  # stay only where the table has any value in them
DERIVED = "derived"  # marks verdicts that were made of scores
KEY = ["item_id", "criterion", "rater_id", "run", "presentation"]
PAIRWISE = ("A", "tie", "B")  # this order, so that renaming A and B is reading it backwards
STATUSES = ("ok", "invalid", "missing", "refused")
BOTH_ORDERS = " [both orders]"
SYSTEM_PAIR = "systems: "  # opens the `category` of an estimate of one pair of systems
NO_SCORE = "write A, B or tie; for a score of one report leave system_b empty"
PAIRED_LABELS = (
    "write A, B, tie or not_applicable, A for system_a and B for system_b; left, right or first are not unblinded "
    "verdicts"
)
SIDES_UNKNOWN = "tie stands beside it, so a pair is meant: add system_a and system_b, and write A, B or tie"
RESERVED_RATERS = ("each_annotator", "majority", "others", "all", "")


def normalise(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """A copy with all columns present and typed, and how often each accepted spelling was mapped. `EXTRA` columns stay
    where they hold anything.

    Only four spellings are mapped: `tie_inconsistent` to tie, `n/a` to not_applicable, `unparsed` to status invalid,
    and an empty label without a status to status missing. Nothing else is guessed. Raises `missing_column`,
    `empty_table`, `bad_number`.
    """
    _refuse_absent(frame)
    out = frame.reset_index(drop=True)
    for name in (*REQUIRED, *TEXT_DEFAULTS):
        cells = as_text(out[name]) if name in out.columns else pd.Series(TEXT_DEFAULTS[name], out.index, dtype="str")
        out[name] = cells if name == "rationale" else as_category(cells)  # at once: texts take ten times the memory
    for name in NUMBERS:
        out[name] = as_number(out, name) if name in out.columns else np.nan
    for name in [one for one in EXTRA if one in out.columns]:
        cells = as_category(as_text(out[name])) if name in EXTRA_TEXTS else as_number(out, name)
        if (cells.ne("") if name in EXTRA_TEXTS else cells.notna()).any():
            out[name] = cells
        else:
            del out[name]
    out["run"] = as_number(out, "run").fillna(1.0) if "run" in out.columns else 1.0
    whole = out["run"].mod(1).eq(0) & out["run"].ge(1)
    refuse(out, ~whole, "bad_number", "run {run} is not a whole number from 1", "number the repeats 1, 2, ...")
    out["run"] = out["run"].astype("int64")
    return out, _map_spellings(out)


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
    """Write the four spellings as labels and statuses; how often each one stood there."""
    aliases = {}
    empty = out["label"].eq("") & out["status"].eq("")
    unparsed = out["label"].eq("unparsed")
    for name, rows, column, value in (
        ("tie_inconsistent", out["label"].eq("tie_inconsistent"), "label", "tie"),
        ("n/a", out["label"].eq("n/a"), "label", "not_applicable"),
        ("unparsed", unparsed, "status", "invalid"),
        ("empty label", empty, "status", "missing"),
    ):
        if rows.any():
            aliases[name] = int(rows.sum())
            out[column] = with_text(out[column], rows, value)
    out["label"] = as_category(with_text(out["label"], unparsed, ""))
    out["status"] = as_category(with_text(out["status"], out["status"].eq(""), "ok"))
    return aliases


def check_verdicts(frame: pd.DataFrame, scales: Mapping[str, tuple[str, ...]] | None = None) -> pd.DataFrame:
    """The table normalised, with categories for texts but rationales; columns it does not know are carried.

    Sorted by item, criterion, rater, run and presentation. Raises one `CalibrationError` that names the first
    offending row. `scales`: criterion to its allowed answers.
    """
    out, _ = normalise(frame)
    _check_cells(out)
    _check_items(out)
    _check_labels(out, scales or {})
    _write_numbers_one_way(out)
    doubled = out.duplicated(KEY)
    refuse(
        out,
        doubled,
        "duplicate_verdict",
        "this rater already answered this criterion of this item in run {run}, presentation '{presentation}'",
        "keep one row; give each pair its own item_id if this one holds several; or number repeats in the column run",
    )
    out["label"] = as_category(out["label"])
    return out.sort_values(KEY, kind="stable", ignore_index=True)


def known(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the columns that no statistic reads, which would cost memory."""
    return frame[[name for name in frame.columns if name in (*KNOWN_COLUMNS, *EXTRA, DERIVED)]]


def kind_of(labels: Iterable[str], paired: bool = False) -> str:
    """`pairwise`, `rating` or `probe`, from a criterion's ok labels. `paired`: its rows name two systems."""
    seen = set(labels) - {"not_applicable"}
    if seen and all(is_number(label) for label in seen):
        return "rating"
    return "pairwise" if paired or seen <= set(PAIRWISE) else "probe"


def _check_cells(out: pd.DataFrame) -> None:
    for name in ("item_id", "rater_id", "criterion", "cluster_id"):
        refuse(out, out[name].eq(""), "missing_column", f"{name} is empty", f"fill {name} in every row")
    _check_raters(out)
    _check_reserved_names(out)
    _check_answers(out)
    for name in (*NUMBERS, *(name for name in EXTRA_NUMBERS if name in out.columns)):
        bad = out[name].lt(0) | np.isinf(out[name])
        refuse(out, bad, "bad_number", f"{name} is {{{name}}}", "leave it empty where it is unknown")


def _check_raters(out: pd.DataFrame) -> None:
    refuse(
        out,
        ~out["rater_kind"].isin(["human", "judge"]),
        "bad_rater_kind",
        "rater_kind is '{rater_kind}'",
        "write human or judge; it is never guessed",
    )
    two_kinds = out["rater_kind"].cat.codes.groupby(out["rater_id"].cat.codes).transform("nunique") > 1
    refuse(
        out,
        two_kinds,
        "rater_kind_conflict",
        "this rater is human in some rows and judge in others",
        "give the person and the judge different rater_ids; if item_id and rater_id are exchanged, turn them",
    )


def _check_reserved_names(out: pd.DataFrame) -> None:
    refuse(
        out,
        out["criterion"].eq("all") | out["category"].eq("all") | out["category"].str.startswith(SYSTEM_PAIR),
        "reserved_name",
        f"'all' is the name of pooled estimates, and '{SYSTEM_PAIR}' opens that of a pair of systems",
        "rename the criterion or category",
    )
    refuse(
        out,
        out["rater_id"].isin(RESERVED_RATERS) | out["rater_id"].str.endswith(BOTH_ORDERS),
        "reserved_name",
        "this rater_id is a name that reports use themselves",
        "rename the rater",
    )


def _check_answers(out: pd.DataFrame) -> None:
    refuse(
        out,
        ~out["status"].isin(STATUSES),
        "bad_status",
        "status is '{status}'",
        "write ok, invalid, missing or refused (truncated is written as invalid)",
    )
    refuse(
        out,
        out["status"].eq("ok") & out["label"].eq(""),
        "empty_label",
        "status is ok but the label is empty",
        "give the label, or the status that explains its absence",
    )
    refuse(
        out,
        ~out["presentation"].isin(["AB", "BA", ""]),
        "bad_presentation",
        "presentation is '{presentation}'",
        "write AB (A left or first), BA, or nothing where it is unknown",
    )


def _check_items(out: pd.DataFrame) -> None:
    item = out["item_id"].cat.codes
    extra = [name for name in EXTRA_TEXTS if name in out.columns]
    constant = ("system_a", "system_b", "category", *extra)
    code = pd.DataFrame({name: out[name].cat.codes for name in ("cluster_id", *constant)})
    changed = code.groupby(item, sort=False).transform("first").ne(code)
    refuse(
        out,
        changed["cluster_id"],
        "item_in_two_clusters",
        "this item lies in cluster '{cluster_id}' here and in another one above",
        "give each item one cluster_id",
    )
    if "weight" in out.columns:
        own = out.groupby([item, out["criterion"].cat.codes], sort=False)["weight"]
        several = out["weight"].fillna(1.0).ne(own.transform("first").fillna(1.0))
        advice = "weight is that of the criterion as it was asked of this item; correct one of them"
        refuse(out, several, "weight_conflict", "weight is {weight} here and another value above", advice)
    _check_systems(out)
    for name in constant:
        is_system = name.startswith("system")
        refuse(
            out,
            changed[name],
            "systems_conflict" if is_system else f"{name}_conflict",
            f"{name} is '{{{name}}}' here and another value above for the same item",
            f"{name} is constant within an item"
            + (": give each pair its own item_id, such as topic and both systems" if is_system else "; correct one"),
        )


def _check_systems(out: pd.DataFrame) -> None:
    one = out["system_b"].ne("") & out["system_a"].eq("")
    alone = out["system_b"].eq("")
    mixed = alone != alone.groupby(out["item_id"].cat.codes, sort=False).transform("first")
    refuse(
        out,
        one | mixed,
        "one_system_only",
        "a pair needs system_a and system_b",
        "name both systems in every row of the item, or neither",
    )
    refuse(
        out,
        out["system_a"].astype(object).eq(out["system_b"].astype(object)) & out["system_a"].ne(""),
        "same_system",
        "system_a and system_b are both '{system_a}'",
        "a pair compares two systems; correct the names",
    )


def _check_labels(out: pd.DataFrame, scales: Mapping[str, tuple[str, ...]]) -> None:
    ok = out["status"].eq("ok") & out["label"].ne("not_applicable")
    for criterion, rows in out.loc[ok, ["criterion", "label", "system_b"]].groupby("criterion", sort=True):
        label = rows["label"]
        if str(criterion) in scales:
            allowed = scales[str(criterion)]
            spelt = {spelling(one) for one in allowed}
            bad = ~label.isin([one for one in label.cat.categories if spelling(one) in spelt])
            advice = f"the declared scale is {', '.join(allowed)}"
            refuse(out, bad, "unknown_label", "the label '{label}' is not on the declared scale", advice)
            continue
        number = label.isin([one for one in label.cat.categories if is_number(one)])
        paired = rows["system_b"].ne("").any() or label.isin(PAIRWISE).mean() > 0.5
        if number.any() and not number.all():
            refuse(
                out,
                number == (number.mean() <= 0.5),
                "mixed_label_types",
                "the label '{label}' stands among labels of another type",
                "a criterion has numbers or words, not both",
            )
        scored = number & rows["system_b"].ne("")
        refuse(out, scored, "unknown_label", "the number {label} is no verdict on {system_a} and {system_b}", NO_SCORE)
        if not number.all() and (paired or label.eq("tie").any()):
            bad, advice = ~label.isin(PAIRWISE), PAIRED_LABELS if paired else SIDES_UNKNOWN
            refuse(out, bad, "unknown_label", "the label '{label}' is not a verdict on a pair", advice)


def _write_numbers_one_way(out: pd.DataFrame) -> None:
    """7 and 7.0 are one rating: each number gets one spelling."""
    ok = out["status"].eq("ok") & out["label"].ne("not_applicable")
    by_criterion = out.loc[ok, ["criterion", "label"]].groupby("criterion", sort=True)["label"]
    rated = [criterion for criterion, labels in by_criterion if kind_of(labels.unique()) == "rating"]
    given = list(out["label"].cat.categories)
    written = list(map(spelling, given))
    if rated and written != given:
        texts = pd.Index(sorted({*given, *written}))
        own, code = ok & out["criterion"].isin(rated), out["label"].cat.codes.to_numpy()
        spelt = np.where(own, texts.get_indexer(pd.Index(written))[code], texts.get_indexer(pd.Index(given))[code])
        out["label"] = pd.Series(pd.Categorical.from_codes(spelt, texts), out.index)

"""Every cell and row of a table of verdicts against what it may hold; the first that may not is named.

A row may not answer what the same rater already answered, and a judge is not examined on its own examples.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.columns import PAIRWISE, Codes, tally
from calibration.estimates import ReportWarning, first_few
from calibration.table.roles import as_text, roles_of
from calibration.table.typed_cells import SOURCE, as_category, is_number, refuse, row_number, spelling, where
from calibration.table.verdicts import (
    BOTH_ORDERS,
    EXTRA,
    EXTRA_NUMBERS,
    EXTRA_TEXTS,
    KNOWN_COLUMNS,
    NUMBERS,
    ONE_LABEL,
    STATUSES,
    SYSTEM_PAIR,
    normalise,
)

NO_SCORE = "write A, B or tie; for a score of one report leave system_b empty"
PAIRED_LABELS = (
    "write A, B, tie or not_applicable, A for system_a and B for system_b; left, right or first are not unblinded "
    "verdicts"
)
SIDES_UNKNOWN = "tie stands beside it, so a pair is meant: add system_a and system_b, and write A, B or tie"
Mask = npt.NDArray[np.bool_]
MOST_TRIED = 10_000  # settings of one judge: what is more is a slip, and p times it is 1 anyway
RESERVED_RATERS = ("each_annotator", "majority", "others", "all", "")


@dataclass(frozen=True)
class Given:
    """Codes and masks of rows, shape (rows,); counts of answers, shape (criteria, labels)."""

    criterion: Codes
    label: Codes
    ok: Mask  # rows with an answer that applies
    paired: Mask  # of these, rows that name two systems
    answers: npt.NDArray[np.float64]
    of_pairs: npt.NDArray[np.float64]
    number: Mask  # which labels are numbers, shape (labels,)
    pairwise: Mask  # which are verdicts on a pair, shape (labels,)


def check_verdicts(
    frame: pd.DataFrame,
    scales: Mapping[str, tuple[str, ...]] | None = None,
    ends: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """The table normalised, with categories for texts but rationales; columns it does not know are carried.

    Sorted by item, criterion, rater, run and presentation. Raises one `CalibrationError` that names the first
    offending row. `scales`: criterion to its allowed answers; `ends`: to its lowest and highest score, where any
    between is allowed.
    """
    out, _ = normalise(frame)
    _check_cells(out)
    _check_items(out)
    _check_draws(out)
    given = _given(out)
    _check_labels(out, given, scales or {}, ends or {})
    _write_numbers_one_way(out, given)
    order = once_in_order(out)
    out["label"] = as_category(out["label"])
    out.attrs.pop(SOURCE, None)  # whose rows are in another order now
    return out.iloc[order].reset_index(drop=True)


def _check_cells(out: pd.DataFrame) -> None:
    for name in ("item_id", "rater_id", "criterion", "cluster_id"):
        refuse(out, where(out[name], "".__eq__), "missing_column", f"{name} is empty", f"fill {name} in every row")
    _check_raters(out)
    _check_reserved_names(out)
    _check_answers(out)
    for name in (*NUMBERS, *(name for name in EXTRA_NUMBERS if name in out.columns)):
        number = out[name].to_numpy()
        bad = (number < 0) | np.isinf(number)
        refuse(out, bad, "bad_number", f"{name} is {{{name}}}", "leave it empty where it is unknown")
    if "settings_tried" in out.columns:
        tried = out["settings_tried"].fillna(1.0)
        bad, remedy = ~(tried.mod(1).eq(0) & tried.between(1, MOST_TRIED)), f"write a whole number, 1 to {MOST_TRIED:,}"
        refuse(out, bad, "bad_number", "settings_tried is {settings_tried}", f"{remedy}, or leave it empty")


def _check_draws(out: pd.DataFrame) -> None:
    """Topics that were drawn: every one that people labelled has its probability, one, above 0 and at most 1."""
    if "draw_probability" not in out.columns:
        return
    chance, cluster = out["draw_probability"].to_numpy(), out["cluster_id"].cat.codes.to_numpy().astype(np.intp)
    told = "draw_probability is {draw_probability}"
    refuse(out, (chance <= 0) | (chance > 1), "bad_number", told, "it lies above 0 and is at most 1")
    first = np.full(cluster.max(initial=-1) + 1, np.nan)
    known = ~np.isnan(chance)
    first[cluster[known][::-1]] = chance[known][::-1]
    refuse(
        out, known & (chance != first[cluster]), "draws_conflict", f"{told}, and another in a row before of its topic",
        "a topic is drawn whole: give all its rows one probability",
    )  # fmt: skip
    refuse(
        out, where(out["rater_kind"], "human".__eq__) & np.isnan(first[cluster]), "draws_conflict",
        "topic '{cluster_id}' has people's labels and no draw_probability, and other topics have one",
        "write the probability it was drawn with, 1 where it was sure to be",
    )  # fmt: skip


def _check_raters(out: pd.DataFrame) -> None:
    refuse(
        out,
        where(out["rater_kind"], lambda text: text not in ("human", "judge")),
        "bad_rater_kind",
        "rater_kind is '{rater_kind}'",
        "write human or judge; it is never guessed",
    )
    rater, judge = out["rater_id"].cat.codes.to_numpy(), where(out["rater_kind"], "judge".__eq__)
    two_kinds = np.isin(rater, np.intersect1d(rater[judge], rater[~judge]))
    refuse(
        out,
        two_kinds,
        "rater_kind_conflict",
        "this rater is human in some rows and judge in others",
        "give the person and the judge different rater_ids; if item_id and rater_id are exchanged, turn them",
    )
    names = pd.Series(list(out["rater_id"].cat.categories), dtype="str").str.strip().str.casefold()
    refuse(
        out,
        names.duplicated().to_numpy()[rater] & ~judge,
        "raters_alike",
        "the person '{rater_id}' differs from another rater in capital letters or spaces alone",
        "write the name of one person one way, and of two so that more differs",
    )


def _check_reserved_names(out: pd.DataFrame) -> None:
    reserved = where(out["category"], lambda text: text == "all" or text.startswith((SYSTEM_PAIR, ONE_LABEL)))
    refuse(
        out,
        where(out["criterion"], "all".__eq__) | reserved,
        "reserved_name",
        f"'all' is the name of pooled estimates, '{SYSTEM_PAIR}' opens that of a pair of systems and '{ONE_LABEL}' "
        "that of a label",
        "rename the criterion or category",
    )
    refuse(
        out,
        where(out["rater_id"], lambda text: text in RESERVED_RATERS or text.endswith(BOTH_ORDERS)),
        "reserved_name",
        "this rater_id is a name that reports use themselves",
        "rename the rater",
    )


def _check_answers(out: pd.DataFrame) -> None:
    refuse(
        out,
        where(out["status"], lambda text: text not in STATUSES),
        "bad_status",
        "status is '{status}'",
        "write ok, invalid, missing or refused (truncated is written as invalid)",
    )
    refuse(
        out,
        where(out["status"], "ok".__eq__) & where(out["label"], "".__eq__),
        "empty_label",
        "status is ok but the label is empty",
        "give the label, or the status that explains its absence",
    )
    refuse(
        out,
        where(out["presentation"], lambda text: text not in ("AB", "BA", "")),
        "bad_presentation",
        "presentation is '{presentation}'",
        "write AB (A left or first), BA, or nothing where it is unknown",
    )


def _check_items(out: pd.DataFrame) -> None:
    first = _first_of_item(out)
    extra = [name for name in EXTRA_TEXTS if name in out.columns and name != "currency"]  # which is of a price
    constant = ("system_a", "system_b", "category", *extra)
    codes = {name: out[name].cat.codes.to_numpy() for name in ("cluster_id", *constant)}
    changed = {name: code != code[first] for name, code in codes.items()}
    refuse(
        out,
        changed["cluster_id"],
        "item_in_two_clusters",
        "this item lies in cluster '{cluster_id}' here and in another one above",
        "give each item one cluster_id",
    )
    if "weight" in out.columns:
        own = out.groupby([out["item_id"].cat.codes, out["criterion"].cat.codes], sort=False)["weight"]
        several = out["weight"].fillna(1.0).ne(own.transform("first").fillna(1.0))
        advice = "weight is that of the criterion as it was asked of this item; correct one of them"
        refuse(out, several, "weight_conflict", "weight is {weight} here and another value above", advice)
    _check_systems(out, first)
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


def _first_of_item(out: pd.DataFrame) -> Codes:
    """Of each row the first one of its item, shape (rows,)."""
    item = out["item_id"].cat.codes.to_numpy()
    first = np.zeros(len(out["item_id"].cat.categories), np.intp)
    first[item[::-1]] = np.arange(len(item))[::-1]  # what is written last stays
    return np.asarray(first[item])


def _check_systems(out: pd.DataFrame, first: Codes) -> None:
    a, b = out["system_a"], out["system_b"]
    named, alone = where(a, bool), where(b, "".__eq__)
    refuse(
        out,
        (~alone & ~named) | (alone != alone[first]),
        "one_system_only",
        "a pair needs system_a and system_b",
        "name both systems in every row of the item, or neither",
    )
    places = {text: place for place, text in enumerate(a.cat.categories)}
    as_a = np.array([places.get(text, -1) for text in b.cat.categories])[b.cat.codes]
    refuse(
        out,
        (as_a == a.cat.codes.to_numpy()) & named,
        "same_system",
        "system_a and system_b are both '{system_a}'",
        "a pair compares two systems; correct the names",
    )


def _given(out: pd.DataFrame) -> Given:
    criterion, label = (out[name].cat.codes.to_numpy().astype(np.intp) for name in ("criterion", "label"))
    texts = list(out["label"].cat.categories)
    size = len(out["criterion"].cat.categories), len(texts)
    ok = where(out["status"], "ok".__eq__) & ~where(out["label"], "not_applicable".__eq__)
    paired = ok & where(out["system_b"], bool)
    answers, of_pairs = (
        tally(criterion[rows] * size[1] + label[rows], size[0] * size[1]).reshape(size) for rows in (ok, paired)
    )
    number, pairwise = (np.array(list(map(kind, texts)), bool) for kind in (is_number, PAIRWISE.__contains__))
    return Given(criterion, label, ok, paired, answers, of_pairs, number, pairwise)


def _check_labels(
    out: pd.DataFrame, given: Given, scales: Mapping[str, tuple[str, ...]], ends: Mapping[str, tuple[float, float]]
) -> None:
    texts = list(out["label"].cat.categories)
    for place, name in enumerate(map(str, out["criterion"].cat.categories)):
        if not given.answers[place].any():
            continue
        if name in scales:
            spelt = {spelling(scale) for scale in scales[name]}
            off = given.answers[place] > 0
            off[off] = [spelling(texts[one]) not in spelt for one in np.flatnonzero(off)]
            told = f"the declared scale is {', '.join(scales[name])}"
            wrong = (off, given.ok, "unknown_label", "the label '{label}' is not on the declared scale", told)
        elif name in ends:
            low, high = ends[name]
            off = ~given.number
            off[given.number] = [not low <= float(texts[one]) <= high for one in np.flatnonzero(given.number)]
            told = f"the declared scale goes from {low:g} to {high:g}"
            wrong = (off, given.ok, "unknown_label", "the label '{label}' is not on the declared scale", told)
        else:
            wrong = _wrong_label(texts, given, place)
        labels, rows, code, what, remedy = wrong
        if (labels & (given.answers[place] > 0)).any():
            refuse(out, rows & (given.criterion == place) & labels[given.label], code, what, remedy)


def _wrong_label(texts: Sequence[str], given: Given, place: int) -> tuple[Mask, Mask, str, str, str]:
    """Labels that a criterion without a declared scale cannot have, in these rows, and what is said of the first."""
    count, number = given.answers[place], given.number
    paired = given.of_pairs[place].any() or count[given.pairwise].sum() / count.sum() > 0.5
    share = count[number].sum() / count.sum()
    if 0 < share < 1:
        what = "the label '{label}' stands among labels of another type"
        remedy = "a criterion has numbers or words, not both"
        return number == (share <= 0.5), given.ok, "mixed_label_types", what, remedy
    if given.of_pairs[place][number].any():
        what = "the number {label} is no verdict on {system_a} and {system_b}"
        return number, given.paired, "unknown_label", what, NO_SCORE
    tied = "tie" in texts and count[texts.index("tie")]
    off = ~given.pairwise if share < 1 and (paired or tied) else np.zeros(len(texts), bool)
    remedy = PAIRED_LABELS if paired else SIDES_UNKNOWN
    return off, given.ok, "unknown_label", "the label '{label}' is not a verdict on a pair", remedy


def _write_numbers_one_way(out: pd.DataFrame, given: Given) -> None:
    """7 and 7.0 are one rating: each number gets one spelling."""
    rated = np.asarray(given.answers.any(axis=1) & ~given.answers[:, ~given.number].any(axis=1))
    texts = list(out["label"].cat.categories)
    written = list(map(spelling, texts))
    if rated.any() and written != texts:
        known_texts = pd.Index(sorted({*texts, *written}))
        own = given.ok & rated[given.criterion]
        one, as_it_was = (known_texts.get_indexer(pd.Index(names))[given.label] for names in (written, texts))
        out["label"] = pd.Series(pd.Categorical.from_codes(np.where(own, one, as_it_was), known_texts), out.index)


KEY = ["item_id", "criterion", "rater_id", "run", "presentation"]
SHOWN = 20  # rows that a sentence lists
SEVERAL = "give each pair its own item_id if this one holds several"
ADVICE = (
    f"keep one row; {SEVERAL}; write the order, AB or BA, in the column presentation if the judge was asked in both; "
    "or number repeats in the column run"
)
TELLING = {"presentation": "write AB (A left or first) or BA", "run": "number the repeats 1, 2, ..."}


def once_in_order(out: pd.DataFrame) -> Codes:
    """The rows of a normalised table by `KEY`, shape (rows,). Raises `duplicate_verdict` where one is there twice.

    A row is a copy where it is like the other in every column of `out`, also in those that no statistic reads.
    """
    keys = [out[name].cat.codes.to_numpy() if name != "run" else out[name].to_numpy() for name in KEY]
    order = np.lexsort(keys[::-1])  # the last key is the first
    again = np.logical_and.reduce([key[order[1:]] == key[order[:-1]] for key in keys])
    if again.any():
        at = int(np.flatnonzero(again)[np.argmin(order[1:][again])])  # the first of the file, behind its only like
        _refuse(out, int(order[at]), int(order[at + 1]), np.sort(order[1:][again])[1:])
    return np.asarray(order)


def _refuse(out: pd.DataFrame, first: int, second: int, further: Codes) -> None:
    before = row_number(first, out)
    what = f"this rater already answered this criterion of this item in row {before}, also in run {{run}}, presentation"
    what, remedy = f"{what} '{{presentation}}'", _meant(out.iloc[[first, second]]) or ADVICE
    if [*map(str, out.iloc[first])] == [*map(str, out.iloc[second])]:  # as text, nan is like nan
        what, remedy = f"the same as row {before} in every column", f"remove one of the two, or {SEVERAL}"
    rows = [*dict.fromkeys(row_number(int(at), out) for at in further)]  # one of the file holds many raters' answers
    if rows := [row for row in rows if row != row_number(second, out)]:
        listed = ", ".join(map(str, rows[:SHOWN])) + ", …" * (len(rows) > SHOWN)
        remedy += f". Further rows that answer again ({len(rows):,}): {listed}"
    refuse(out, np.arange(len(out)) == second, "duplicate_verdict", what, remedy)


def _meant(rows: pd.DataFrame) -> str:
    """What two rows differ in by the name of a column that tells such rows apart, and is no column of ours yet."""
    free, _ = as_text(rows[[name for name in rows.columns if name not in (*KNOWN_COLUMNS, *EXTRA)]])
    roles = roles_of(free)
    for role, how in TELLING.items():
        name = roles.get(role, "")
        if name and free[name].nunique() == 2:
            return f"they differ in {name!r}: is this the {role}? rename {name} to {role} and {how}"
    return ""


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
    facts = {"items": len(items), "named": first_few(items), "rows": rows, "of": of}
    return ReportWarning("examples_in_reference", facts, judge)

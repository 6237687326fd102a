"""The columns of any table of labels: what each holds, and the part it could play in a table of verdicts.

A name or a word may suggest a part; nothing is renamed here, and what a rater is (human or judge) is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.arithmetic.columns import PAIRWISE
from calibration.table import typed_cells, verdicts
from calibration.table.other_languages import language_of

NAMES: Mapping[str, tuple[str, ...]] = {  # what other people call our columns, most telling first
    "item_id": ("item", "pairid", "sampleid", "exampleid", "recordid", "instanceid", "uid", "id", "key"),
    "rater_id": (
        "rater", "annotatorid", "annotator", "judgeid", "judge", "workerid", "labelerid", "userid", "user",
        "annotatorname", "ratername", "labeler", "labeller", "evaluator", "assessor", "coder", "reviewer", "judgename",
        "judgemodel", "evaluatorname", "evaluatorid", "reviewername", "gradername",
        "grader", "participant", "participantid", "username", "person", "personid",
    ),
    "rater_kind": ("ratertype", "annotatortype", "kind"),
    "criterion": (
        "criterionid", "criteria", "dimension", "aspect", "metric", "metricname", "criterionname", "facet", "scorename",
    ),
    "label": (
        "verdict", "winner", "vote", "choice", "preference", "pref", "judgment", "judgement", "score", "rating",
        "answer", "grade", "value", "decision", "outcome", "result",
    ),
    "cluster_id": (
        "cluster", "topicid", "topic", "questionid", "question", "promptid", "prompt", "taskid", "queryid", "sourceid",
        "docid", "instructionid", "articleid", "documentid", "inputid", "instruction",
    ),
    "system_a": (
        "modela", "system1", "model1", "assistanta", "assistant1", "modelleft", "systemleft", "leftmodel",
        "leftsystem", "firstmodel", "firstsystem", "system", "model", "candidate",
        "response1model", "responseamodel",
    ),
    "system_b": (
        "modelb", "system2", "model2", "assistantb", "assistant2", "modelright", "systemright", "rightmodel",
        "rightsystem", "secondmodel", "secondsystem", "baseline", "opponent", "referencemodel",
        "response2model", "responsebmodel",
    ),
    "presentation": ("order", "shownorder", "displayorder", "presentationorder"),
    "category": ("domain", "genre"),
    "len_a": ("lengtha", "charsa", "length1"),
    "len_b": ("lengthb", "charsb", "length2"),
    "run": ("repeatno", "repeat", "trial", "attempt", "epoch", "repetition"),
    "seconds": ("duration", "latency", "time", "latencys", "durations", "times", "latencyseconds", "durationseconds"),
    "cost_usd": ("cost", "price", "usd"),
    "status": ("state",),
    "rationale": ("reason", "explanation", "comment", "justification", "feedback"),
}  # fmt: skip
NUMERIC = ("len_a", "len_b", "run", "seconds", "cost_usd")
WORDS: Mapping[str, tuple[str, ...]] = {
    "rater_kind": ("human", "judge"),
    "presentation": ("AB", "BA"),
    "status": verdicts.STATUSES,
}
CURRENCY = re.compile(r"\s*(?:[A-Z]{3}|eur|usd|gbp|cny|[€£$¥]|US\$)?\s*")  # and no grade for how current a text is
ORDERS = {  # how others write a presentation
    "ab": "AB", "ba": "BA", "original": "AB", "swapped": "BA", "forward": "AB", "reverse": "BA", "reversed": "BA",
    "normal": "AB", "flipped": "BA",
}  # fmt: skip
TURNED = re.compile(
    r"(?:is|was)?(?:(?:position|order|answer|response|output|side|model|system|pair|item|ab)s?)?"
    r"(?:swap(?:ped)?|flip(?:ped)?|reversed?|switched)(?:positions?|order|sides?)?"
)
A_FIRST = re.compile(r"(?:is)?(?:model|system|answer|response)?a(?:is|was|on|shown)*(?:left|first)")
YES, NO = ("1", "1.0", "true", "yes", "y", "t"), ("0", "0.0", "false", "no", "n", "f")
PASSES = (
    "pass", "passed", "passes", "yes", "y", "true", "t", "1", "correct", "right", "support", "supports", "supported",
    "entailed", "good", "accept", "accepted", "acceptable", "valid", "success", "successful", "positive", "relevant",
    "safe", "faithful", "factual",
)  # fmt: skip
FAILS = (
    "fail", "failed", "fails", "no", "n", "false", "f", "0", "incorrect", "wrong", "unsupported", "not_support",
    "not_supported", "not supported", "bad", "reject", "rejected", "unacceptable", "invalid", "failure",
    "unsuccessful", "negative", "irrelevant", "unsafe", "unfaithful", "not", "none",
)  # fmt: skip
ALIASES = {"tie_inconsistent": "read as tie", "n/a": "read as not_applicable", "unparsed": "read as status invalid"}
LONGEST_END = 3  # letters of ID, key and the like, which say nothing behind a word of another script
FIRST = 100  # cells that are looked at before all of a column are
IDENTIFIER = 0.9  # distinct values per filled cell from which a column of no known part only names its rows


@dataclass(frozen=True)
class Column:
    """One column as found. `filled`: share of cells that are not empty, nan without rows. `role`: "" when it has none.

    `renamed`: the file calls it otherwise than its role, so the role is a proposal.
    """

    name: str
    kind: str  # empty, number, text
    filled: float
    distinct: int
    role: str
    renamed: bool
    note: str


def as_text(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Every cell as text and every column once, and the names that were there twice. Missing cells are empty."""
    names = [str(name) for name in frame.columns]
    twice = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
    columns = {name: _texts(frame.iloc[:, names.index(name)]) for name in dict.fromkeys(names)}
    return pd.DataFrame(columns, index=range(len(frame))), twice


def roles_of(table: pd.DataFrame) -> dict[str, str]:
    """Role to column, for a table of text: by its own name, by its name written otherwise, by a synonym, and last by
    its name in another language, where only one column is called so.
    """
    found = {name: name for name in (*verdicts.KNOWN_COLUMNS, *verdicts.EXTRA) if name in table.columns}
    if "currency" in found and not _could_be("currency", table["currency"]):
        del found["currency"]
    if "cluster_id" not in found:
        found.pop("topic", None)  # which then is the cluster
    plain = {name: in_english(str(name)) for name in table.columns}
    for written in (lambda role: (role.replace("_", ""),), lambda role: NAMES.get(role, ())):
        for role in (*verdicts.KNOWN_COLUMNS, "currency"):
            for synonym in written(role) if role not in found else ():
                fits = [name for name in table.columns if plain[name] == synonym and name not in found.values()]
                if fits and _could_be(role, table[fits[0]]):
                    found[role] = fits[0]
                    break
    elsewhere = called_elsewhere(table, found)
    return found | {role: fits[0] for role, fits in elsewhere.items() if len(fits) == 1}


def called_elsewhere(table: pd.DataFrame, found: Mapping[str, str]) -> dict[str, list[str]]:
    """Each role that is not found, with the columns whose names in another language say that they are it."""
    taken = {*found.values()}
    fits = {
        role: [
            name for name in table.columns
            if name not in taken and language_of(role, str(name)) and _could_be(role, table[name])
        ]
        for role in (*verdicts.KNOWN_COLUMNS, "currency")
        if role not in found
    }  # fmt: skip
    return {role: names for role, names in fits.items() if names}


def is_denied(word: str, other: str) -> bool:
    """Whether one of two plain words or phrases denies the other: unsafe and safe, mostly irrelevant and mostly
    relevant, not valid and valid.
    """
    pairs = [(word, other), *zip(word.split()[-1:], other.split()[-1:], strict=False)]
    return any(one != two and (one.endswith(two) or two.endswith(one)) for one, two in pairs)


def in_english(name: str) -> str:
    """Letters and digits of a name; "" where other scripts say what it is and the rest is `ID` or a number."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return plain if name.isascii() or len(plain) > LONGEST_END else ""


def order_words(head: str) -> dict[str, str]:
    """What the words of a column called so say of the order in which two systems were shown; {} where it is of none."""
    name = in_english(head)
    if name in ("presentation", *NAMES["presentation"]):
        return ORDERS | {"1": "AB", "2": "BA"}
    if TURNED.fullmatch(name) or A_FIRST.fullmatch(name):
        yes, no = ("BA", "AB") if TURNED.fullmatch(name) else ("AB", "BA")
        return ORDERS | dict.fromkeys(YES, yes) | dict.fromkeys(NO, no)
    return {}


def columns_of(table: pd.DataFrame, roles: Mapping[str, str]) -> tuple[Column, ...]:
    """Every column of a table of text, in the file's order."""
    part = {column: role for role, column in roles.items()}
    named = item_columns(table, roles)[:1]
    out = []
    for name in table.columns:
        cells = table[name][table[name] != ""]
        kind = "empty" if cells.empty else "number" if all_numbers(cells) else "text"
        role = part.get(name, "")
        filled = len(cells) / len(table) if len(table) else np.nan
        note = _note(name, cells, named) if not role else "" if role == name else f"rename to {role}"
        out.append(Column(str(name), kind, filled, int(cells.nunique()), role, role not in ("", name), note))
    return tuple(out)


def item_columns(table: pd.DataFrame, roles: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that may name the items together where no column does: an id or the cluster, then the systems.

    An id qualifies where several raters share each value and no value lies in two clusters. The systems are left out
    where the first column tells them; empty where nothing qualifies.
    """
    if "item_id" in roles or table.empty:
        return ()
    cluster, rater = roles.get("cluster_id"), roles.get("rater_id")
    systems = [roles[one] for one in ("system_a", "system_b") if one in roles]

    def qualifies(name: str) -> bool:
        values = table.groupby(name)
        shared = 2 * values.ngroups <= len(table) if rater is None else values[rater].nunique().max() > 1
        return bool(shared) and (cluster is None or values[cluster].nunique().max() == 1)

    ids = [name for name in table.columns if name not in roles.values() and _is_id(name) and qualifies(name)]
    first = next(iter(ids), cluster if systems else None)
    if first is None:
        return ()
    several = any(table.groupby(first)[system].nunique().max() > 1 for system in systems)
    return (first, *(systems if several else ()))


def verdict_columns(table: pd.DataFrame, roles: Mapping[str, str]) -> list[str]:
    """Columns without a part that hold nothing but A, B, tie or not_applicable: perhaps one column for each rater."""
    allowed = {*PAIRWISE, "not_applicable", *ALIASES, ""}
    free = [name for name in table.columns if name not in roles.values()]
    few = [name for name in free if {*table[name].iloc[:FIRST]} <= allowed]
    return [name for name in few if "A" in (words := {*table[name].unique()}) and "B" in words and words <= allowed]


def is_number(cells: pd.Series[str]) -> npt.NDArray[np.bool_]:
    """Which cells are finite numbers; shape (cells,). Each word is read once, however often it is there."""
    codes, words = pd.factorize(cells)
    numbers = pd.to_numeric(pd.Series(words), errors="coerce").astype("float64").to_numpy()
    return np.asarray(np.append(np.isfinite(numbers), False)[codes])


def all_numbers(cells: pd.Series[str]) -> bool:
    """Whether every cell is a finite number; mostly the first ones tell that they are not."""
    return bool(is_number(cells.iloc[:FIRST]).all()) and bool(is_number(cells).all())


def _note(name: str, cells: pd.Series[str], items: Sequence[str]) -> str:
    if cells.empty:
        return "nothing in it"
    if name in items:
        return "an id: item_id may be made of it"
    if cells.nunique() == 1:
        return "the same everywhere: kept, used in no number"
    if _is_id(name) or cells.nunique() >= IDENTIFIER * len(cells) > 1:
        return "an id: kept, used in no number"
    return "kept, used in no number"


def _is_id(name: str) -> bool:
    return re.sub(r"[^a-z0-9]", "", str(name).lower()).endswith(("id", "uuid", "hash", "index"))


def _could_be(role: str, cells: pd.Series[str]) -> bool:
    cells = cells[cells != ""]
    if role == "presentation":
        return bool(len(cells)) and bool(cells.str.lower().isin([*ORDERS]).all())
    if role == "currency":
        return bool(cells.str.fullmatch(CURRENCY).all())
    if role in WORDS:
        return bool(len(cells)) and bool(cells.isin(WORDS[role]).all())
    return all_numbers(cells) if role in NUMERIC else True


def _texts(column: pd.Series[Any]) -> pd.Series[str]:
    if isinstance(column.dtype, pd.StringDtype):
        return column.fillna("").reset_index(drop=True).astype("str")
    if isinstance(column.dtype, pd.CategoricalDtype):  # each word once
        words = _texts(pd.Series(column.cat.categories)).to_numpy(dtype=object)
        return pd.Series(np.append(words, "")[column.cat.codes.to_numpy()], dtype="str")
    made_of_numbers = pd.api.types.is_float_dtype(column)
    missing = column.isna().to_numpy()
    text = [
        "" if gone else typed_cells.number_text(str(cell)) if made_of_numbers and np.isfinite(cell) else str(cell)
        for cell, gone in zip(column.tolist(), missing, strict=True)
    ]
    return pd.Series(text, dtype="str")

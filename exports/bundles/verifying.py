"""What a bundle proves: which of its files changed, whether its label history is whole, and which numbers hold.

Nothing that the bundle brought is run: its numbers are computed by the calipers that is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pandas as pd

from calibration.errors import CalibrationError
from exports.bundles import bundle
from exports.bundles.reading import loads, read_labels_csv
from exports.bundles.recomputing import Recomputed, read_inputs, recompute
from exports.datasets.label_rows import broken
from exports.errors import ExportError
from exports.facts import facts_of
from plain.hashes import canonical_sha256, file_sha256

SHOWN, LONG = 5, 400  # lines of one kind or of one table, and characters of a line
# what forged settings, facts and labels may make of arithmetic
STUMBLES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
COUNTED, HANDED_IN = ("label", "retest"), ("submitted", "locked")
CHUNK = 50_000
ANSWER = ("item_id", "rater_id", "criterion", "run", "pass_no")


@dataclass(frozen=True)
class Verified:
    """What was found. `expected`: the published root, where one was given; `refused`: why nothing was recomputed.
    `is_of_this_code`: whether the code in the bundle is that which looked at it.
    """

    root: str
    expected: str
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    broken: tuple[str, ...]
    recomputed: Recomputed | None
    refused: str = ""
    is_of_this_code: bool = True

    @property
    def is_published(self) -> bool:
        """Whether the root is the one that was given."""
        return bool(self.expected) and self.root == self.expected

    @property
    def is_consistent(self) -> bool:
        """Whether files, history and numbers fit each other; it says nothing about when they were made."""
        files = not (self.changed or self.missing or self.added or self.broken)
        numbers = self.recomputed is not None and not (self.recomputed.moved or self.recomputed.otherwise)
        return files and numbers

    @property
    def holds(self) -> bool:
        """Consistent with itself, and with the published root where one was given."""
        return self.is_consistent and (not self.expected or self.is_published)


def verify(folder: Path, expected: str = "", advance: Callable[[str], None] = lambda doing: None) -> Verified:
    """Check every file, the history and every number of the bundle in `folder`. Raises ExportError `no_bundle`.

    `expected`: the published root, 64 hexadecimal digits. `advance(what is being done)`.
    """
    advance("hashing files")
    changed, missing, added = changed_files(folder)
    if leading_away := bundle.strays(folder):
        why = f"{leading_away[0]} is a link or no file; give a bundle of files alone"
        return Verified(bundle.root_of(folder), _as_root(expected), changed, missing, added, (), None, why)
    advance("reading the history")
    breaks = tuple(_broken(folder))
    advance("computing every number again")
    recomputed, refused = _recomputed(folder)
    is_ours = all((folder / name).is_file() and (folder / name).read_bytes() == code for name, code in bundle.code())
    root, asked = bundle.root_of(folder), _as_root(expected)
    return Verified(root, asked, changed, missing, added, breaks, recomputed, refused, is_ours)


def _as_root(text: str) -> str:
    return text.strip().lower()


def changed_files(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The paths that have other bytes than SHA256SUMS says, those that are gone, and those that it does not list."""
    sums, there = bundle.read_sums(folder), bundle.listed(folder)
    changed = (name for name in sorted(sums.keys() & there.keys()) if file_sha256(there[name]) != sums[name])
    added = (there.keys() - sums.keys()) | {*bundle.strays(folder)}
    return tuple(changed), tuple(sorted(sums.keys() - there.keys())), tuple(sorted(added))


def describe(verified: Verified) -> Iterator[str]:
    """What was found, line by line; the last line is the verdict. What a bundle says cannot steer a terminal."""
    yield from map(_plain, _lines(verified))


def _plain(line: str) -> str:
    shown = line if len(line) <= LONG else f"{line[:LONG]}…"
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in shown)


def _lines(verified: Verified) -> Iterator[str]:
    for word, names in (("changed", verified.changed), ("missing", verified.missing), ("added", verified.added)):
        yield from _some([f"{word}: {name}" for name in names])
    yield from _some([f"history: {text}" for text in verified.broken])
    if verified.recomputed is None:
        yield f"not recomputed: {verified.refused}"
    else:
        for _, moved in groupby(verified.recomputed.moved, key=lambda one: one.table):
            yield from _some([f"moved: {one}" for one in moved])
        yield from _some([f"prints otherwise: {bundle.PRINTED}/{name}" for name in verified.recomputed.otherwise])
        numbers = verified.recomputed.held + len(verified.recomputed.moved)
        yield (
            f"{verified.recomputed.held:,} of {numbers:,} numbers hold to the last printed digit "
            f"({verified.recomputed.tables} tables and the report); images are held by their hash alone"
        )
    yield f"root {verified.root}"
    yield _verdict(verified)


def _verdict(verified: Verified) -> str:
    if verified.expected and not verified.is_published:
        return f"refused: this is not the bundle published under root {verified.expected}"
    if not verified.is_consistent:
        if verified.is_of_this_code or verified.changed or verified.missing or verified.added or verified.broken:
            return "refused: this bundle contradicts itself"
        return (
            "refused: this bundle contradicts itself, or another build of calipers made it, for its code/ is not the "
            "code of this one: verify it with that build"
        )
    if verified.is_published:
        return "the bundle published under this root, and its numbers hold"
    return "consistent with itself; only its published root (--root) can say more"


def _some(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        kind, _, about = lines[0].partition(": ")
        where = f" of {about.partition(': ')[0]}" if kind == "moved" else ""
        yield f"{kind}: {len(lines) - SHOWN:,} more{where} (--json lists all)"


def _recomputed(folder: Path) -> tuple[Recomputed | None, str]:
    try:
        inputs = read_inputs((folder / bundle.INPUTS).read_text(encoding="utf-8"))
        labels = read_labels_csv(folder / bundle.LABELS)
        facts = (
            facts_of(loads((folder / bundle.FACTS).read_text(encoding="utf-8")))
            if (folder / bundle.FACTS).exists()
            else None
        )
    except (OSError, *STUMBLES) as error:
        return None, f"{bundle.INPUTS}, {bundle.FACTS} or {bundle.LABELS} cannot be read ({error})"
    try:
        return recompute(labels, inputs, facts, folder / bundle.PRINTED), ""
    except (CalibrationError, ExportError) as error:
        return None, f"{bundle.LABELS}: {error.text}"
    except STUMBLES as error:
        return (
            None,
            f"{bundle.INPUTS}, {bundle.FACTS} and {bundle.LABELS} do not fit each other ({type(error).__name__}: "
            f"{error})",
        )


def _broken(folder: Path) -> Iterator[str]:
    """Where the chain of a label's revisions breaks, where labels.csv says otherwise, and a plan that is not its."""
    try:
        yield from _another_plan(folder)
    except (OSError, *STUMBLES):
        yield f"{bundle.PLAN}, {bundle.ABOUT} or {bundle.INPUTS} cannot be read"
    if not (folder / bundle.HISTORY).exists():
        return
    try:
        yield from broken(_rows(folder / bundle.HISTORY))
        yield from _contradictions(folder)
    except (OSError, *STUMBLES) as error:
        yield f"{bundle.HISTORY} cannot be read ({error})"


def _another_plan(folder: Path) -> Iterator[str]:
    """A study that was opened has a plan and a history; all that name the plan's root name the same."""
    about, inputs = (loads((folder / name).read_text(encoding="utf-8")) for name in (bundle.ABOUT, bundle.INPUTS))
    root = about["plan_root"]
    if inputs["data"].get("plan_root") != root:
        yield f"{bundle.ABOUT} and {bundle.INPUTS} name different plans"
    if root is None:
        return
    yield from (
        f"{name} is gone, though the study had a plan"
        for name in (bundle.PLAN, bundle.HISTORY)
        if not (folder / name).exists()
    )
    if (folder / bundle.PLAN).exists() and canonical_sha256(
        loads((folder / bundle.PLAN).read_text(encoding="utf-8"))
    ) != root:
        yield f"{bundle.PLAN} is not the plan with plan_root {root}"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is no row")
            yield row


def _contradictions(folder: Path) -> Iterator[str]:
    """Labels that are not the last revision of their history. Panels have no history of their own."""
    labels = read_labels_csv(folder / bundle.LABELS)
    if not {*ANSWER} <= {*labels.columns}:
        return
    last = _last_said(folder / bundle.HISTORY)
    # panels of judges are worked out from others, and have no history
    own = labels["rater_id"].isin({*last["rater_id"]}) | (labels["rater_kind"] == "human")
    joined = labels.loc[own, [*ANSWER, "label"]].merge(last, on=[*ANSWER], how="left")
    for row in joined[joined["label"].ne(joined["last_said"])].itertuples():
        said = f"ends with {row.last_said!r}" if isinstance(row.last_said, str) else "has no such label"
        place = f"{row.criterion} of {row.item_id} by {row.rater_id}"
        yield f"{bundle.LABELS} says {row.label!r} for {place}; its history {said}"


def _last_said(path: Path) -> pd.DataFrame:
    """The label that each history of handed-in work ends with, by `ANSWER`."""
    rows = (
        (*(str(row[name]) for name in ANSWER), row["label"] or "")
        for row in _rows(path)
        if row["is_current"] and row["purpose"] in COUNTED and row["assignment_status"] in HANDED_IN
    )
    chunks = [pd.DataFrame(columns=[*ANSWER, "last_said"], dtype="str")]
    while chunk := list(islice(rows, CHUNK)):
        chunks.append(pd.DataFrame(chunk, columns=[*ANSWER, "last_said"], dtype="str"))
    return pd.concat(chunks, ignore_index=True)

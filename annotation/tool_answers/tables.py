"""Entries as a table of text under the names of labels.csv, for files that belong to no study."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from annotation.files.decoding import storable
from annotation.tool_answers.entries import Entry, Found, text_at

NEEDED = ("rater_id", "rater_kind", "criterion", "label")
COLUMNS = (
    "item_id", *NEEDED, "cluster_id", "system_a", "system_b", "presentation", "category", "run", "status", "rationale",
    "seconds", "cost_usd",
)  # fmt: skip
LEFT, RIGHT = ("A", "left", "first"), ("B", "right", "second")
TURNED = {"AB": ("A", "B"), "BA": ("B", "A")}


def numbered_people() -> Callable[[str], str]:
    """What an address is called in a file's labels, by the order of first appearance; other names stay."""
    known: dict[str, str] = {}
    return lambda name: known.setdefault(name.strip().lower(), f"person-{len(known) + 1}") if "@" in name else name


def table_of(
    found: Found, places: Iterable[str] = (), people: Iterable[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """One row an answer, and what is told about them. `places`: paths that become columns under their own names.

    `people`: paths at which a record holds a person's answer: one row for each item and criterion, the first there.
    A column is left out where no entry fills it. A rater whose kind the file does not say has an empty rater_kind.
    """
    rows = [(entry, _row(entry)) for entry in found.entries]
    told = [*found.notes(), *_unnamed(found.entries)]
    for path in people:
        held = _of_person(rows, path)
        if held:
            told.append(f"answers of a person at {path} {len(held):,}")
            rows += held
    frame = pd.DataFrame([storable(row) for _, row in rows], columns=list(COLUMNS), dtype="str")
    if frame["run"].isin(["", "1"]).all():
        frame["run"] = ""
    kept = [name for name in COLUMNS if name in NEEDED or frame[name].ne("").any()]
    frame = frame[kept]
    for place in dict.fromkeys(one for one in places if one not in kept):
        frame[place] = [storable(text_at(entry.record, place) or "") for entry, _ in rows]
    return frame, tuple(told)


def _of_person(rows: Sequence[tuple[Entry, dict[str, str]]], path: str) -> list[tuple[Entry, dict[str, str]]]:
    """The answers that records hold at a path, each item's once for every criterion."""
    held: dict[tuple[str, ...], tuple[Entry, dict[str, str]]] = {}
    for entry, row in rows:
        answer = text_at(entry.record, path)
        key = tuple(row[name] for name in ("item_id", "cluster_id", "system_a", "system_b", "criterion"))
        if answer and key not in held:
            own = {"rater_id": path.rpartition(".")[2], "rater_kind": "human", "label": answer}
            held[key] = entry, row | own | dict.fromkeys(("run", "status", "rationale", "seconds", "cost_usd"), "")
    return list(held.values())


def _unnamed(entries: Sequence[Entry]) -> tuple[str, ...]:
    """What stands for raters that a file does not name."""
    stood = Counter(entry.unnamed for entry in entries if entry.unnamed and not entry.told("judge"))
    names = ", ".join(stood)
    return (f"answers whose judge the file does not name {stood.total():,}: as {names}",) if stood else ()


def _row(entry: Entry) -> dict[str, str]:
    told = entry.told
    system_a = told("system_a") or told("system")
    first = told("first")
    shown = "AB" if first in ("A", system_a) else "BA" if first in ("B", told("system_b")) else ""
    return {
        "item_id": entry.item or entry.name,
        "rater_id": told("judge") or entry.unnamed,
        "rater_kind": entry.kind,
        "criterion": told("criterion") or "overall",
        "label": "" if entry.status else _unsided(told("answer"), shown if first and entry.sides else ""),
        "cluster_id": told("topic"),
        "system_a": system_a,
        "system_b": told("system_b"),
        "presentation": shown if first else "",
        "category": told("category"),
        "run": told("run"),
        "status": {"truncated": "invalid"}.get(entry.status, entry.status),
        "rationale": told("reason"),
        "seconds": told("seconds"),
        "cost_usd": told("cost_usd"),
    }


def _unsided(answer: str, shown: str) -> str:
    """A place on the screen as the system that was there, where the order is known."""
    if not shown:
        return answer
    return TURNED[shown][0] if answer in LEFT else TURNED[shown][1] if answer in RIGHT else answer

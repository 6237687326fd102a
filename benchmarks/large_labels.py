"""A large study as a labels file, with the columns of `calipers export labels`: what the benchmarks of scale read.

1,000 topics x 20 systems, each against a reference, by 10 criteria; every pair labelled by 3 of 200 annotators, by one
judge in both orders twice, by one in both orders and by one in a single order: 10 rows to a unit, 2,000,000 in all.
Other numbers of rows are fewer or more topics. `python benchmarks/large_labels.py big.csv --rows 2000000`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

ROWS, SYSTEMS, CRITERIA, ANNOTATORS, OVERLAP = 2_000_000, 20, 10, 200, 3
JUDGES = {"large": ((1, "AB"), (1, "BA"), (2, "AB"), (2, "BA")), "middle": ((1, "AB"), (1, "BA")), "small": ((1, ""),)}
PRICE = {"large": 0.009, "middle": 0.002, "small": 0.0003}  # USD a call, of which each criterion bears its share
NOISE = {"human": 0.8, "large": 0.8, "middle": 1.1, "small": 1.9}  # against preferences of standard deviation 1
CATEGORIES = ("art", "biology", "economics", "geography", "history", "law", "medicine", "music", "physics", "sport")
PASSES = OVERLAP + sum(map(len, JUDGES.values()))
TOPICS_AT_ONCE = 100
OPENINGS = ("The left one", "The report on the right", "Neither of them", "The first", "The second, though shorter,")
VERBS = ("names its sources", "keeps to the point", "explains the terms", "repeats itself", "leaves the cause open")
ENDS = ("in the opening section", "where it matters most", "but not in the table", "from start to end", "only once")

Texts = npt.NDArray[Any]


def write_labels(path: Path, rows: int = ROWS, seed: int = 0) -> None:
    """Writes CSV or, where the name ends so, Parquet. `rows`: rounded up to whole topics of 2,000 rows."""
    topics = -(-rows // (SYSTEMS * CRITERIA * PASSES))
    parts = _tables(topics, np.random.default_rng(seed))
    first = next(parts)
    if path.suffix == ".parquet":
        with pa.parquet.ParquetWriter(path, first.schema) as writer:
            for part in (first, *parts):
                writer.write_table(part)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        for part in (first, *parts):
            part.to_pandas().to_csv(file, index=False, header=part is first, lineterminator="\n")


def _tables(topics: int, rng: np.random.Generator) -> Iterator[Any]:
    """Rows in the order of an export: by item, people first, then each judge's passes, criteria as they come."""
    strength = rng.normal(0, 0.5, SYSTEMS)
    for start in range(0, topics, TOPICS_AT_ONCE):
        count = min(TOPICS_AT_ONCE, topics - start)
        items = np.arange(start * SYSTEMS, (start + count) * SYSTEMS)
        yield _table(items, rng.normal(strength[items % SYSTEMS], 0.6), rng)


def _table(items: Texts, preference: Texts, rng: np.random.Generator) -> Any:
    """`preference`: of the system over the reference, shape (items,)."""
    count, shape = len(items), (len(items), PASSES, CRITERIA)
    rater, kind, run, price = _raters(count, rng)
    is_a = rng.random(count) < 0.5  # the system is A, else the reference is
    shown_ab = np.where(_presentations() == "", rng.random((count, PASSES)) < 0.5, _presentations() == "AB")
    felt = (preference[:, None] + rng.normal(0, 0.5, (count, CRITERIA)))[:, None, :]
    noise = np.array([NOISE["human"]] * OVERLAP + [NOISE[name] for name, own in JUDGES.items() for _ in own])
    felt = np.where(is_a, 1, -1)[:, None, None] * (felt + rng.normal(0, 1, shape) * noise[None, :, None])
    felt += np.where(shown_ab, 0.1, -0.1)[:, :, None]  # who comes first is liked a little more
    label = np.select([np.abs(felt) < 0.15, felt > 0], ["tie", "A"], "B").astype(object)
    label[rng.random(shape) < 0.01] = "not_applicable"
    lost = (rng.random(shape) < 0.004) & (kind == "judge")[None, :, None]
    system = np.array([f"system-{number:02d}" for number in range(SYSTEMS)], object)[items % SYSTEMS]
    reference = np.full(count, "reference", object)
    topic = items // SYSTEMS
    length = rng.integers(9_000, 40_000, count), rng.integers(20_000, 30_000, count)
    tokens = rng.uniform(0.7, 1.5, (count, PASSES))

    def by_item(values: Texts) -> Texts:
        return np.repeat(values, PASSES * CRITERIA)

    def by_pass(values: Texts) -> Texts:
        return np.repeat(np.broadcast_to(values, (count, PASSES)).reshape(-1), CRITERIA)

    people = by_pass(kind == "human")
    seconds = np.where(people, np.round(rng.gamma(2, 40, count * PASSES * CRITERIA), 3), by_pass(tokens * 1.7))
    return pa.table(
        {
            "item_id": by_item(np.array([f"item-{number + 1:05d}" for number in items], object)),
            "rater_id": by_pass(rater),
            "rater_kind": by_pass(kind),
            "criterion": np.tile(np.array([f"criterion_{k + 1}" for k in range(CRITERIA)], object), count * PASSES),
            "label": np.where(lost, "", label).reshape(-1),
            "cluster_id": by_item(np.array([f"topic-{number + 1:04d}" for number in topic], object)),
            "system_a": by_item(np.where(is_a, system, reference)),
            "system_b": by_item(np.where(is_a, reference, system)),
            "presentation": by_pass(np.where(shown_ab, "AB", "BA").astype(object)),
            "category": by_item(np.array(CATEGORIES, object)[topic % len(CATEGORIES)]),
            "len_a": by_item(np.where(is_a, *length)),
            "len_b": by_item(np.where(is_a, *length[::-1])),
            "run": by_pass(run),
            "pass_no": by_pass(np.array([1] * OVERLAP + [n + 1 for own in JUDGES.values() for n in range(len(own))])),
            "seconds": seconds,
            "cost_usd": np.where(people, seconds * 30 / 3600, by_pass(np.round(tokens * price, 6) / CRITERIA)),
            "status": np.where(lost, "invalid", "ok").astype(object).reshape(-1),
            "rationale": _rationales(count * PASSES * CRITERIA, rng),
            "evidence": np.full(count * PASSES * CRITERIA, "", object),
        }
    )


def _raters(count: int, rng: np.random.Generator) -> tuple[Texts, Texts, Texts, Texts]:
    """Who passes over each item, shape (items, passes), and of each pass the rater's kind, run and price of a call."""
    drawn = np.sort(np.argpartition(rng.random((count, ANNOTATORS)), OVERLAP, axis=1)[:, :OVERLAP], axis=1)
    names = np.array([f"annotator-{number + 1:03d}" for number in range(ANNOTATORS)], object)[drawn]
    judged = [(f"judge-{name}", run, PRICE[name]) for name, own in JUDGES.items() for run, _ in own]
    judges = np.broadcast_to(np.array([name for name, _, _ in judged], object), (count, len(judged)))
    kind = np.array(["human"] * OVERLAP + ["judge"] * len(judged), object)
    run, price = (np.array([first] * OVERLAP + [one[k] for one in judged]) for k, first in ((1, 1), (2, 0.0)))
    return np.concatenate([names, judges], axis=1), kind, run, price


def _presentations() -> Texts:
    return np.array([""] * OVERLAP + [shown for own in JUDGES.values() for _, shown in own])


def _rationales(rows: int, rng: np.random.Generator) -> Any:
    """Some ninety characters, hardly ever the same twice."""
    phrases = [pa.array(words).take(pa.array(rng.integers(0, len(words), rows))) for words in (OPENINGS, VERBS, ENDS)]
    again = [pa.array(words).take(pa.array(rng.integers(0, len(words), rows))) for words in (VERBS, ENDS)]
    line = pc.cast(pa.array(rng.integers(1, 400, rows)), pa.string())
    return pc.binary_join_element_wise(*phrases, "and", *again, "(paragraph", line, "of it)", " ")


def main() -> None:
    """Writes one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    write_labels(chosen.path, chosen.rows, chosen.seed)


if __name__ == "__main__":
    main()

"""Questions that come with each topic: DeepResearch Bench's criteria.jsonl, or a criteria.csv beside the reports."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from annotation.files.decoding import Row, as_text, collecting, nfc, shortened
from annotation.files.rows import read_csv, read_json_rows
from annotation.importing.reports.records import CriterionRecord
from plain.wording import worded

CSV = "criteria.csv"
REQUIRED = ("topic", "id", "label")
NO_CODE = re.compile(r"[^A-Za-z0-9_.-]+")
TOLERANCE = Decimal("1e-6")  # of a sum of weights that is to be 1


class Criteria(NamedTuple):
    """What a file held, and what is wrong with it."""

    records: tuple[CriterionRecord, ...] = ()
    problems: tuple[str, ...] = ()
    file: str = ""


def read_bench_criteria(root: Path, shown: str, encoding: str = "utf-8") -> Criteria:
    """One line a topic: weighted groups of weighted criteria. A criterion weighs its group's weight times its own.

    Its id is its group's name and its place there, `insight_3`, so the same file gives the same ids.
    """
    if not (root / shown).is_file():
        return Criteria()
    problems: list[str] = []
    records: list[CriterionRecord] = []
    with collecting(problems):
        first: dict[str, str] = {}
        for row in read_json_rows(root / shown, shown, problems, encoding):
            topic = nfc(as_text(row.values.get("id")) or "")
            if topic and topic in first:
                problems.append(worded(
                    "{where}: id {topic!r} appears twice (first at {first}); remove one", where=row.where, topic=topic,
                    first=first[topic],
                ))  # fmt: skip
                continue
            first[topic] = row.where
            records += _bench_topic(row, topic, problems)
    return Criteria(tuple(records), (*problems, *_repeated(records)), shown)


def read_listed_criteria(folder: Path, encoding: str = "utf-8") -> Criteria:
    """criteria.csv: topic,id,label and, where wanted, text, category, subcategory, weight, in the order of the page.

    Weights, where the file has the column, are those within the topic and add up to 1.
    """
    if not (folder / CSV).is_file():
        return Criteria()
    problems: list[str] = []
    records: list[CriterionRecord] = []
    with collecting(problems):
        columns, rows = read_csv(folder / CSV, CSV, problems, encoding)
        missing = [name for name in REQUIRED if name not in columns]
        if missing:
            problems.append(worded(
                "{csv}:1: no column {missing!r} (found: {columns}); add it", csv=CSV, missing=missing[0],
                columns=", ".join(columns) or worded("nothing"),
            ))  # fmt: skip
        else:
            records = [one for row in rows if (one := _listed(row, problems))]
    if not problems and "weight" in columns:
        for topic, same in _by_topic(records).items():
            _sums_to_one(
                [Decimal(repr(one.weight)) for one in same],
                f"{same[0].where}: the weights of topic {topic!r}",
                problems,
            )
    return Criteria(tuple(records), (*problems, *_repeated(records)), CSV)


def _bench_topic(row: Row, topic: str, problems: list[str]) -> list[CriterionRecord]:
    weights, groups = row.values.get("dimension_weight"), row.values.get("criterions")
    if not topic or not isinstance(weights, dict) or not isinstance(groups, dict) or not groups:
        problems.append(worded(
            "{where}: needs 'id', 'dimension_weight' and 'criterions'; correct or remove the line", where=row.where,
        ))  # fmt: skip
        return []
    if set(weights) != set(groups):
        odd = min(set(weights) ^ set(groups))
        problems.append(worded(
            "{where}: topic {topic!r} has {odd!r} in one of dimension_weight and criterions; add it to the other",
            where=row.where, topic=topic, odd=odd,
        ))  # fmt: skip
        return []
    of_group = {name: _weight(value, f"{row.where}: {name!r}", problems) for name, value in weights.items()}
    _sums_to_one(of_group.values(), f"{row.where}: the dimension weights of topic {topic!r}", problems)
    found = []
    for name, listed in groups.items():
        place = f"{row.where}: {name!r} of topic {topic!r}"
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed) or not listed:
            problems.append(
                worded("{place} is no list of criteria; give objects with criterion, explanation, weight", place=place)
            )
            continue
        own = [_weight(one.get("weight"), f"{place}, criterion {k}", problems) for k, one in enumerate(listed, 1)]
        _sums_to_one(own, f"{place}: the weights", problems)
        for number, (one, weight) in enumerate(zip(listed, own, strict=True), start=1):
            label = _one_line(one.get("criterion"))
            if not label:
                problems.append(worded(
                    "{place}, criterion {number} has no words in 'criterion'; fill it in", place=place, number=number,
                ))  # fmt: skip
            found.append(
                CriterionRecord(
                    row.where, topic, f"{NO_CODE.sub('_', name)}_{number}", label,
                    (as_text(one.get("explanation")) or "").strip() or label, _one_line(name),
                    weight=float((of_group[name] or 0) * (weight or 0)),
                )
            )  # fmt: skip
    return found


def _listed(row: Row, problems: list[str]) -> CriterionRecord | None:
    told: Mapping[str, str] = row.values
    topic, code, label = nfc(told["topic"]), told["id"].strip(), _one_line(told["label"])
    empty = next((name for name, value in zip(REQUIRED, (topic, code, label), strict=True) if not value), None)
    if empty:
        problems.append(worded("{where}: empty {empty}; fill it in or remove the line", where=row.where, empty=empty))
        return None
    if NO_CODE.search(code) or code == "all":
        problems.append(worded(
            "{where}: id {code}; use letters, digits, _ . - and not the word all", where=row.where,
            code=shortened(code),
        ))  # fmt: skip
        return None
    weight = _weight(told["weight"], row.where, problems) if "weight" in told else Decimal(1)
    text, category, subcategory = (told.get(name, "").strip() for name in ("text", "category", "subcategory"))
    return CriterionRecord(row.where, topic, code, label, text or label, category, subcategory, float(weight or 0))


def _weight(value: Any, where: str, problems: list[str]) -> Decimal | None:
    """A number from 0; None, and a problem, for anything else."""
    try:
        number = Decimal(value.strip()) if isinstance(value, str) else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if number.is_finite() and 0 <= number <= 1:
        return number
    problems.append(worded(
        "{where}: weight is no number from 0 to 1 (found {value}); correct it", where=where,
        value=shortened(str(value)),
    ))  # fmt: skip
    return None


def _sums_to_one(weights: Iterable[Decimal | None], what: str, problems: list[str]) -> None:
    given = [weight for weight in weights if weight is not None]
    total = sum(given, Decimal(0))
    if abs(total - 1) > TOLERANCE:
        problems.append(worded(
            "{what} add up to {total:f}, not to 1; correct them, or leave weights out of it", what=what,
            total=total.normalize(),
        ))  # fmt: skip


def _repeated(records: Sequence[CriterionRecord]) -> list[str]:
    first: dict[tuple[str, str], str] = {}
    problems = []
    for one in records:
        if (one.topic, one.id) in first:
            problems.append(worded(
                "{where}: id {id!r} of topic {topic!r} appears twice (first at {first}); remove one", where=one.where,
                id=one.id, topic=one.topic, first=first[one.topic, one.id],
            ))  # fmt: skip
        first.setdefault((one.topic, one.id), one.where)
    return list(dict.fromkeys(problems))


def _by_topic(records: Sequence[CriterionRecord]) -> dict[str, list[CriterionRecord]]:
    grouped: dict[str, list[CriterionRecord]] = defaultdict(list)
    for one in records:
        grouped[one.topic].append(one)
    return grouped


def _one_line(value: Any) -> str:
    return " ".join((as_text(value) or "").split())

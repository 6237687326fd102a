"""A bundle of a small made study, its forgeries, and a verification that computes the same labels once."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calibration.results import CalibrationReport, CalibrationSettings
from exports.bundles.bundle import SUMS, listed, root_of, write_bundle
from exports.bundles.recomputing import Inputs, report_from
from exports.datasets.label_rows import chained
from exports.facts import facts_of
from exports.pack import FIGURES, methods_file, pack, tables_of, texts_of
from plain.hashes import canonical_sha256, file_sha256
from plain.spreadsheets import guarded

HOSTILE = '=cmd(), "x" & 50 % \\input{a}_b, Ærø ½'  # other scripts: see test_chinese, whose fonts take long to draw
PLAN = {"format": "calipers-plan/1", "items": [], "slots": []}
FACTS = replace(facts_of(), title=HOSTILE, annotators=3)
BESIDE = {"plan.json": json.dumps(PLAN), "facts.json": json.dumps(asdict(FACTS))}
INPUTS = Inputs(
    CalibrationSettings(resamples=199, seed=3, per_criterion=True),
    cascades=("mini then large",),
    data={"plan_root": canonical_sha256(PLAN)},
)

DRAWN = dict(
    list(FIGURES.items())[:3]
)  # a bundle holds all alike; tests/app/test_bundle_command.py makes one with every figure
QUICK = replace(
    INPUTS, cascades=("mini then nan",), settings=replace(INPUTS.settings, resamples=19, per_criterion=False)
)


def made_labels() -> pd.DataFrame:
    """Three annotators and two judges on eight topics; with hostile names, and a judge called nan."""
    draw, rows = random.Random(7), []
    for topic in range(8):
        for criterion in ("clear", HOSTILE):
            truth = draw.choice("AB")
            raters = [("Ada", "human", 0.9), (HOSTILE, "human", 0.8), ("Cem", "human", 0.85)]
            raters += [("mini", "judge", 0.7), ("nan", "judge", 0.9)]
            for rater, kind, right in raters:
                for presentation in ("AB", "BA") if kind == "judge" else ("AB",):
                    label = truth if draw.random() < right else {"A": "B", "B": "A"}[truth]
                    rows.append(
                        {
                            "item_id": f"item-{topic:05d}", "rater_id": rater, "rater_kind": kind,
                            "criterion": criterion, "label": label, "cluster_id": f"t{topic}",
                            "system_a": "ours", "system_b": "@theirs", "presentation": presentation, "run": 1,
                            "pass_no": 2 if presentation == "BA" else 1, "seconds": 3.5, "status": "ok",
                            "cost_usd": 0.001 if rater == "mini" else 0.02 if rater == "nan" else 0.5,
                            "rationale": f"because of\n{HOSTILE}",
                        }
                    )  # fmt: skip
    return pd.DataFrame(rows)


def history_of(labels: pd.DataFrame) -> list[dict[str, object]]:
    """One assignment for each item, rater and pass; the first label of each was changed once."""
    rows: list[dict[str, object]] = []
    for number, ((item, rater, pass_no), part) in enumerate(
        labels.groupby(["item_id", "rater_id", "pass_no"]), start=1
    ):
        about = {"assignment": f"assignment-{number:05d}", "item_id": item, "rater_id": rater, "run": 1}
        about |= {"pass_no": pass_no, "purpose": "label", "assignment_status": "submitted"}
        first = part.iloc[0]
        rows.append({**about, "criterion": first["criterion"], "revision": 1, "is_current": False, "label": "tie"})
        for place, one in enumerate(part.to_dict("records")):
            revised = {"criterion": one["criterion"], "revision": 1 + (place == 0), "is_current": True}
            rows.append({**about, **revised, "label": one["label"]})
    return list(chained(rows))


def make_bundle(folder: Path, labels: pd.DataFrame) -> str:
    """A bundle that is quickly computed again, and its root. It holds `DRAWN`, as SVGs alone: they stand under a hash."""
    folder.mkdir(parents=True)
    report, verdicts = report_from(labels, QUICK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exports.pack.FIGURE_FORMATS", {"svg": {}})
        patch.setattr("exports.pack.FIGURES", DRAWN)
        printed = pack(report, verdicts, FACTS) | methods_file("zh_CN", report, FACTS)

    def write(path: Path) -> None:
        labels.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell).to_csv(path, index=False)

    return write_bundle(folder, QUICK, write, printed, BESIDE, history_of(labels))


def seal_again(folder: Path) -> str:
    """What a forger would do: the sums of whatever stands there now."""
    sums = "".join(f"{file_sha256(path)}  {name}\n" for name, path in sorted(listed(folder).items()))
    (folder / SUMS).write_text(sums, encoding="utf-8")
    return root_of(folder)


def edit(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = folder / name
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Called once for the same arguments; what raises is called again."""
    made: dict[tuple[object, ...], Any] = {}

    def remembered(*given: Any) -> Any:
        key = tuple(map(_told, given))
        if key not in made:
            made[key] = function(*given)
        return made[key]

    return remembered


def _told(one: Any) -> object:
    """What tells an argument from another one. Tables are those of the report beside them."""
    if isinstance(one, CalibrationReport):
        return id(one.estimates), one.warnings  # `report_from` keeps the estimates
    if isinstance(one, pd.DataFrame):
        return one.to_csv()
    return "tables" if isinstance(one, list) else repr(one)


ONCE = {
    "exports.bundles.recomputing.report_from": once(report_from),
    "exports.bundles.recomputing.tables_of": once(tables_of),
    "exports.bundles.recomputing.texts_of": once(texts_of),
    "exports.pack.FIGURES": {name: once(draw) for name, draw in DRAWN.items()},
}


@contextmanager
def computed_once() -> Iterator[None]:
    """Many forgeries leave the labels as they are: their numbers are computed once, and compared each time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, remembered in ONCE.items():
            patch.setattr(name, remembered)
        yield

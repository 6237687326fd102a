"""Tables of the study's own aggregates: whole, by every rater, with what was left out, in the form of any other table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.results import Aggregate, CalibrationReport, CalibrationSettings
from exports.as_json import as_json, report_json, settings_dict
from exports.as_latex import as_latex
from exports.bundles.recomputing import Inputs, inputs_json, read_inputs
from exports.forms import as_csv, as_markdown
from exports.pack import MAY_HOLD, tables_of
from exports.sheets.systems import rules, system_orders_table, systems_apart_table, systems_table

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
SETTINGS = CalibrationSettings(
    resamples=99,
    aggregates=(
        Aggregate("KPR", "share", ("Supported",)),
        Aggregate("Precision", "mean", ("Supported", "Omitted"), by="tag"),
        Aggregate("Majority", "majority", ("Supported",)),
    ),
    answer_values={"Supported": 1.0, "Omitted": 0.5, "Contradicted": 0.0},
)


def toy_rows(topics: int = 6) -> pd.DataFrame:
    """Six topics, three systems, four probes each: two people and a judge with three runs, by a plain rule."""
    words, rows = ("Supported", "Omitted", "Contradicted"), []
    for topic in range(topics):
        for place, system in enumerate(("atlas", "borealis", "cirrus")):
            for key in range(4):
                for rater, kind, runs in (("ann1", "human", 1), ("ann2", "human", 1), ("mini", "judge", 3)):
                    for run in range(1, runs + 1):
                        number = (topic * 5 + key * (place + 1) + run + (rater == "ann2") * (key == 2)) % (3 + place)
                        lost = (topic, key, rater) == (1, 3, "mini") and run == 2
                        rows.append(
                            {"item_id": f"{topic}-{system}-{key}", "rater_id": rater, "rater_kind": kind, "run": run,
                             "criterion": "covered", "label": "" if lost else words[max(0, number - place)],
                             "cluster_id": f"t{topic}", "system_a": system, "tag": "ab"[key % 2],
                             "status": "invalid" if lost else "ok"}
                        )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def report() -> CalibrationReport:
    return calibrate(toy_rows(), SETTINGS)


@pytest.mark.parametrize(
    ("name", "write"), [("tex", as_latex), ("md", as_markdown), ("csv", as_csv), ("json", as_json)]
)
def test_the_table_of_systems_is_the_one_a_person_has_read(report, name, write) -> None:
    assert write(systems_table(report)) == (GOLDEN / f"systems.{name}").read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [systems_apart_table, system_orders_table])
def test_differences_and_orders_are_those_a_person_has_read(report, make) -> None:
    table = make(report)
    assert as_markdown(table) == (GOLDEN / f"{table.name}.md").read_text(encoding="utf-8")


def test_a_pack_holds_all_three_in_every_form(report) -> None:
    names = {table.name for table in tables_of(report, toy_rows())}
    assert {"systems", "systems_apart", "system_orders"} <= names
    assert {
        f"{name}.{form}" for name in ("systems", "systems_apart", "system_orders") for form in ("tex", "csv")
    } <= MAY_HOLD


def test_every_number_has_its_n_its_clusters_and_its_method_in_json(report) -> None:
    row = json.loads(as_json(systems_table(report)))["rows"][0]
    cells = [cell for cell in row.values() if isinstance(cell, dict)]
    assert len(cells) == 6
    assert all(cell["n"] and cell["clusters"] == 6 and cell["method"] for cell in cells)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Aggregate("W", "win_rate"), "W: share of comparisons won; a tie is half a win for each."),
        (Aggregate("S", "share", ("a", "b")), "S: share of a report's answers that are a or b."),
        (Aggregate("Q", "mean"), "Q: mean of a report's ratings; scores times 10; a report that lacks a rating is left out."),
        (Aggregate("T", "target_share"), "T: t / (t + r) of the weighted means of the two reports of one view; both "
         "alike give .5; scores times 10; a report that lacks a rating is left out."),
    ],
)  # fmt: skip
def test_each_rule_is_said_in_words(report, one, said) -> None:
    ratings = one.rule in ("mean", "target_share")
    values = {} if ratings else {"a": 1.0, "b": 0.0}
    settings = CalibrationSettings(aggregates=(one,), answer_values=values, score_times={"c": 10.0} if ratings else {})
    assert list(rules(replace(report, settings=settings), [one.name])) == [said]


def test_a_report_without_aggregates_has_no_such_table_and_no_such_setting() -> None:
    bare = calibrate(toy_rows(2), CalibrationSettings(resamples=9))
    assert systems_table(bare) is systems_apart_table(bare) is system_orders_table(bare) is None
    assert "aggregates" not in json.loads(report_json(bare))["settings"]
    assert bare.aggregates == ()


def test_a_bundle_remembers_the_aggregates_that_it_was_computed_with() -> None:
    known = replace(SETTINGS, off_scale=("gone",), score_times={"c": 10.0})
    assert read_inputs(inputs_json(Inputs(known))).settings == known
    assert read_inputs(inputs_json(Inputs(CalibrationSettings()))).settings == CalibrationSettings()
    assert set(settings_dict(known)) - set(settings_dict(CalibrationSettings())) == {
        "aggregates", "answer_values", "score_times", "off_scale",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ['"rule": "median"', '"labels": "Supported"', '"by": 3'])
def test_a_bundle_with_another_rule_is_refused(wrong: str) -> None:
    text = inputs_json(Inputs(SETTINGS))
    key = wrong.split(":")[0]
    start = text.index(key)
    end = text.index("]" if key == '"labels"' else ",", start) + (key == '"labels"')
    with pytest.raises((ValueError, TypeError, KeyError)):
        read_inputs(text[:start] + wrong + text[end:])

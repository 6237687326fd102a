"""Every sentence may be reworded: with an x in place of each, a report finds, warns of and chooses the same."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.card import CardRow
from calibration.choosing.choice import Choice
from calibration.choosing.panel_sensitivity import PanelSensitivity
from calibration.estimates import Estimate
from calibration.remarks import Kind, Reason, Remark
from calibration.results import CalibrationReport, CalibrationSettings
from exports.pack import tables_of
from tests.calibration.passing.passed import made_answers
from tests.calibration.priced import priced
from tests.calibration.ranked import drawn_study
from tests.calibration.studies import made_pairs, made_ratings

FEW = CalibrationSettings(resamples=49)
TEXTS: dict[type, tuple[str, ...]] = {  # records that hold a sentence, and where
    CardRow: ("says", "limited"),
    Choice: ("headline", "sentence", "look"),
    PanelSensitivity: ("note",),
    Remark: ("words",),
}
MAKERS = {  # functions that make one of reasons, facts and numbers, by where they are called from
    "calibration.estimates.note_of": "x",
    "calibration.estimates.warning_text": "x",
    "calibration.remarks.words_of": "x",
    "calibration.remarks.text_of": "x",
    "calibration.remarks.brief": "x",
    "calibration.delegating.alone.told": "x",
    "exports.words.notes.brief": "x",
    "calibration.choosing.choice_words.sentences_of": ("x", "x"),
    "calibration.choosing.open_words.look_words": "x",
    "calibration.choosing.choice_words.short_sentence": "x",
    "exports.words.sentences.headline": "x",
    "exports.words.sentences.opening": "x",
}
FAMILIES = {"judge-x": "a", "atlas": "a", "borealis": "b"}


def by_length(seed: int = 5) -> pd.DataFrame:
    """Pairs in both orders, of reports of other lengths; one judge takes the longer one, always."""
    frame, rng = made_pairs(24, both_orders=True), np.random.default_rng(seed)
    frame = frame.assign(len_a=rng.integers(200, 4000, len(frame)), len_b=rng.integers(200, 4000, len(frame)))
    longer = np.where(frame["len_a"] > frame["len_b"], "A", "B")
    return frame.assign(label=np.where(frame["rater_id"] == "judge-x", longer, frame["label"]))


STUDIES = {
    "pairs, two orders": (by_length(), replace(FEW, families=FAMILIES, per_criterion=True)),
    "pairs, another panel": (made_pairs(12), replace(FEW, generalise_to="pairs_and_annotators")),
    "three systems": (drawn_study(topics=9), FEW),
    "ratings": (made_ratings(24), FEW),
    "probes": (made_answers(topics=12, labelled=12, people=2), FEW),
    "a choice": (
        priced({"mini": (0.8, 0.001), "tiny": (0.3, 0.0001)}, pairs=24, seed=7),
        replace(FEW, alone_error=0.3, margin=0.07),
    ),
    "one pair": (made_pairs(1), FEW),
}


def reworded(patch: pytest.MonkeyPatch) -> None:
    """An x in place of every sentence."""
    for record, names in TEXTS.items():
        patch.setattr(record, "__init__", with_an_x(record, names))
    for path, words in MAKERS.items():
        patch.setattr(path, lambda *_, words=words, **__: words)


def with_an_x(record: type, names: tuple[str, ...]) -> Any:
    plain = record.__init__

    def made(self: Any, *given: Any, **named: Any) -> None:
        plain(self, *given, **named)
        for name in names:
            object.__setattr__(self, name, "x" if getattr(self, name) else "")

    return made


def without_words(value: Any) -> Any:
    """A record as its fields but for the sentences; nan as a word, for it equals nothing."""
    if is_dataclass(value):
        left_out = TEXTS.get(type(value), ())
        named = {one.name: without_words(getattr(value, one.name)) for one in fields(value) if one.name not in left_out}
        return type(value).__name__, named
    if isinstance(value, dict):
        return {name: without_words(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [without_words(inner) for inner in value]
    return "nan" if isinstance(value, float) and value != value else value


def cells(report: CalibrationReport, verdicts: pd.DataFrame) -> dict[str, Any]:
    """What stands in every table: numbers, names and outcomes."""
    return {table.name: without_words(table.rows) for table in tables_of(report, verdicts)}


@cache
def report_of(study: str) -> CalibrationReport:
    return calibrate(*STUDIES[study])


@pytest.mark.parametrize("study", STUDIES)
def test_with_an_x_for_every_sentence_decisions_codes_and_numbers_are_the_same(
    study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts, settings = STUDIES[study]
    report = report_of(study)
    told, printed = without_words(report), cells(report, verdicts)
    with monkeypatch.context() as patch:
        reworded(patch)
        silent = calibrate(verdicts, settings)
        assert {one.text for one in silent.warnings} <= {"x"}
        assert {one.note for one in silent.estimates} == {"x"}
        assert without_words(silent) == told
        assert cells(silent, verdicts) == printed


def test_the_studies_above_warn_and_decide_on_what_was_once_read_from_notes() -> None:
    codes = {one.code for study in STUDIES for one in report_of(study).warnings}
    assert {"few_systems", "undefined_shown_as_dash", "fixed_panel", "order_inconsistent"} <= codes


def test_a_warning_is_told_by_its_facts_alone_as_they_are_in_a_file() -> None:
    for one in {one.text: one for study in STUDIES for one in report_of(study).warnings}.values():
        kept = replace(one, facts=json.loads(json.dumps(one.facts, allow_nan=True)))
        assert one.text, one.code
        assert kept.text == one.text


def test_every_reason_has_words_of_its_own_or_is_told_by_whoever_gives_it() -> None:
    told = [one.remarks for study in STUDIES for one in report_of(study).estimates]
    for remark in {remark for remarks in told for remark in remarks}:
        one = Estimate("s", "r", "", "all", "all", float("nan"), 0, 0, 0.95, 0, 0, "none", (remark,))
        assert one.note, remark
        assert "{" not in one.note, remark


def test_a_reason_that_is_not_on_the_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no_idea"):
        Remark(Reason("no_idea"), Kind.UNDEFINED)

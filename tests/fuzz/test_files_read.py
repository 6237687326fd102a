"""Files that commands only read: a labels file, a TOML, a backup, a bundle. Spoiled, they end in a sentence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from app.settings import database
from db.connect import open_database
from tests.exports.toy_studies import race_study, wlc_study
from tests.fuzz.faults import Faults
from tests.fuzz.hostile import TEXTS, fuzzing
from tests.fuzz.planting import Tree, plant, read_tree, spoiled_trees
from tests.fuzz.stored import everything, fingerprint, wrong
from tests.fuzz.trees import as_frame, draft, one_file, rows_of, study_of
from tests.fuzz.typed import calipers, unfit
from tests.small_study import PROTOCOL

pytestmark = pytest.mark.slow

JUDGES = """
[defaults]
order = "both"
repeats = 1
[[judge]]
name = "mini"
model = "openai/gpt-4o-mini"
api_base = "http://127.0.0.1:9/v1"
params = {temperature = 0, seed = 7}
price = {input = 0.15, output = 0.60, cached = 0.075}
rpm = 500
max_cost = 5.00
[[judge]]
name = "large"
model = "openai/gpt-4o"
[[panel]]
name = "both"
members = ["mini", "large"]
"""
FEATURES = "topic,words,views\n" + "".join(f"t{n},{n * 100},{n * n}\n" for n in range(1, 7))
KNOWN = ("A", "B", "tie", "priced", "local", "ann1", "human", "judge", "ok", "invalid", "ours", "t1")


def beside(*makers: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda root: [make(root) for make in makers]


@dataclass(frozen=True)
class Reader:
    """A command and the files it reads. `few` examples in `make slow`; of `share` of CALIPERS_FUZZ elsewhere."""

    words: tuple[str, ...]
    tree: Callable[[Path], Any]
    few: int = 4
    share: float = 1.0
    study: Callable[[Engine, Path], Any] | None = None
    codes: tuple[int, ...] = (0, 1, 2)


WLC, RACE = rows_of(wlc_study()), rows_of(race_study())
QUICK = ("--resamples", "99")
READERS = {
    **{f"doctor {name}": Reader(("doctor", f"{{root}}/{name}"), as_frame(WLC, name)) for name in ("labels.csv", "labels.jsonl", "labels.json", "labels.parquet")},
    "calibrate": Reader(("calibrate", "{root}/labels.csv", *QUICK), as_frame(WLC, "labels.csv"), 2, 0.3),
    "calibrate gate": Reader(("calibrate", "{root}/labels.parquet", "--gate", "--judge", "local", "--json", *QUICK), as_frame(WLC, "labels.parquet"), 2, 0.3, codes=(0, 1, 2, 3, 4)),
    "calibrate ratings": Reader(("calibrate", "{root}/labels.jsonl", *QUICK), as_frame(RACE, "labels.jsonl"), 2, 0.3),
    "calibrate protocol": Reader(("calibrate", "{root}/labels.csv", "--protocol", "{root}/small.toml", *QUICK), beside(as_frame(WLC, "labels.csv"), one_file("small.toml", PROTOCOL)), 2, 0.2),
    "systems": Reader(("systems", "{root}/labels.csv", *QUICK), as_frame(RACE, "labels.csv"), 2, 0.3),
    "topics": Reader(("topics", "{root}/labels.csv", "--features", "{root}/topics.csv", *QUICK), beside(as_frame(WLC, "labels.csv"), one_file("topics.csv", FEATURES)), 2, 0.3),
    "plan": Reader(("plan", "{root}/labels.csv"), as_frame(WLC, "labels.csv"), 1, 0.1),
    "judges.toml": Reader(("judge", "estimate", "small", "--judges", "{root}/judges.toml"), one_file("judges.toml", JUDGES), 6, study=study_of()),
    "pairs": Reader(("pairs", "small", "--design", "{root}/pairs.tsv"), as_frame([{"topic": "tides", "system_a": "alpha", "system_b": "beta"}], "pairs.tsv"), 3, study=draft),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_a_spoiled_file_is_told_in_a_sentence_and_nothing_is_written(elsewhere: Path, name: str) -> None:
    reader, faults, root = READERS[name], Faults(), elsewhere / "files"
    if reader.study:
        engine = open_database(f"sqlite:///{elsewhere}/calipers.db")
        reader.study(engine, elsewhere / "made")
        engine.dispose()
    before = fingerprint(everything(database()))
    valid = read_tree(reader.tree, elsewhere / "valid")

    def read(tree: Tree) -> Any:
        shutil.rmtree(root, ignore_errors=True)
        plant(root, tree)
        return calipers(*(word.format(root=root) for word in reader.words))

    said = read(valid)
    assert said.code in (0, 3, 4) or name == "topics", said

    @fuzzing(reader.few, reader.share)
    @given(spoiled_trees(valid, KNOWN))
    def spoil(tree: Tree) -> None:
        with faults.of(tree):
            said = read(tree)
            faults.note(unfit(said, reader.codes), said)

    spoil()
    assert faults.said() == ""
    assert fingerprint(everything(database())) == before


def test_names_typed_by_an_admin_are_refused_or_stored_as_they_may_be(elsewhere: Path) -> None:
    """People, systems, studies, seeds: what is typed is as little to be trusted as what lies in a file."""
    engine = open_database(f"sqlite:///{elsewhere}/calipers.db")
    study_of()(engine, elsewhere / "made")
    engine.dispose()
    faults = Faults()
    typed = [
        text
        for text in TEXTS
        if "\0" not in text and "\ud800" not in text and "\udfff" not in text and len(text) < 1_000
    ]
    commands = (
        ("invite", "small", "{}"), ("invite", "small", "{}", "Bea", "--role", "{}"), ("invite", "{}", "Ada"),
        ("invite", "small", "--open-link", "--places", "{}", "--quota", "{}"), ("people", "small", "--quota", "{}"),
        ("people", "small", "--revoke", "{}"), ("people", "small", "--void", "{}"), ("items", "small", "--priority", "{}"),
        ("init", "{}", "--protocol", "quick_start", "--seed", "{}"), ("pairs", "small", "--design", "{}", "--total", "{}"),
        ("reply", "small", "{}", "{}"), ("status", "{}"), ("packet", "small", "{}", "--items", "{}", "--out", "p.html"),
        ("packet", "small", "--withdraw", "{}"), ("plan", "--icc", "{}", "--agreement", "{}"), ("plan", "--topics", "{}", "--criteria", "{}"),
        ("plan", "--half-width", "{}"), ("plan", "--level", "{}", "--power", "{}"), ("judge", "show", "small", "{}"), ("judge", "drift", "small", "{}", "{}"),
        ("export", "labels", "small", "--out", "{}"), ("calibrate", "{}"), ("verify", "{}"), ("doctor", "{}"), ("restore", "{}"),
    )  # fmt: skip

    @fuzzing(20)
    @given(st.sampled_from(commands), st.lists(st.sampled_from(typed), min_size=2, max_size=2))
    def say(words: tuple[str, ...], told: list[str]) -> None:
        filled, rest = [], iter(told)
        for word in words:
            filled.append(next(rest) if word == "{}" else word)
        with faults.of(filled):
            said = calipers(*filled)
            faults.note(unfit(said), said)

    say()
    assert faults.said() == ""
    assert wrong(database()) == []

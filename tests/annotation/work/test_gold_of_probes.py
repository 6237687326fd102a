"""Agreed answers of probes: one key about several systems, and true answers that came with the probes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import ImportingError
from annotation.importing.gold import GoldImported, import_gold
from annotation.people.principals import local_admin
from db.connect import transaction
from db.tables import Study
from tests.annotation.layout_trees import put
from tests.annotation.probe_trees import bring_probes, items_of, study_of, table

CLAIMS = [
    {"probe_id": "k1", "topic": "tides", "text": "It rises.", "system": "", "gold": ""},
    {"probe_id": "k2", "topic": "tides", "text": "It falls.", "system": "alpha", "gold": "part"},
]


def bring_gold(engine: Engine, study: int, tmp_path: Path, rows: str) -> GoldImported:
    path = put(tmp_path / "agreed.csv", "topic,system_a,probe,answer,reason\n" + rows)
    with transaction(engine) as session:
        return import_gold(session, local_admin(session.get_one(Study, study)), path, "training")


@pytest.fixture
def study(engine: Engine, tmp_path: Path) -> int:
    made = study_of(engine, tmp_path / "reports")
    bring_probes(engine, made, put(tmp_path / "claims.csv", table(CLAIMS)))
    return made


def test_the_system_says_which_of_several_probes_is_meant(engine: Engine, tmp_path: Path, study: int) -> None:
    with pytest.raises(ImportingError, match=r"several probes 'k1' on this topic; .* in system_a whose report"):
        bring_gold(engine, study, tmp_path, "tides,,k1,full,\n")
    with pytest.raises(ImportingError, match="no probe 'k1' about 'gamma' on this topic"):
        bring_gold(engine, study, tmp_path, "tides,gamma,k1,full,\n")
    bring_gold(engine, study, tmp_path, "tides,beta,k1,full,Look at the first line.\n")
    purposes = {key: item.purpose for key, item in items_of(engine, study).items()}
    assert purposes == {
        ("tides", "alpha", "k1"): "label", ("tides", "beta", "k1"): "training", ("tides", "alpha", "k2"): "label",
    }  # fmt: skip


@pytest.mark.databases("sqlite")
def test_an_empty_answer_is_the_true_one_that_came_with_the_probe(engine: Engine, tmp_path: Path, study: int) -> None:
    with pytest.raises(ImportingError, match=r"agreed\.csv:2: no answer; write what was agreed"):
        bring_gold(engine, study, tmp_path, "tides,alpha,k1,,\n")
    bring_gold(engine, study, tmp_path, "tides,alpha,k2,,Only the second half is said.\n")
    item = items_of(engine, study)["tides", "alpha", "k2"]
    assert (item.purpose, item.gold) == (
        "training", {"supported": {"answer": "part", "reason": "Only the second half is said."}},
    )  # fmt: skip


def test_importing_the_probes_again_leaves_agreed_answers_alone(engine: Engine, tmp_path: Path, study: int) -> None:
    bring_gold(engine, study, tmp_path, "tides,alpha,k2,full,The whole is said.\n")
    again = bring_probes(engine, study, tmp_path / "claims.csv")
    assert (again.unchanged, again.new, again.replaced) == (3, 0, 0)
    bring_probes(engine, study, put(tmp_path / "claims.csv", table([CLAIMS[1] | {"tag": "user"}])), replace=True)
    item = items_of(engine, study)["tides", "alpha", "k2"]
    assert (item.tag, item.gold) == ("user", {"supported": {"answer": "full", "reason": "The whole is said."}})

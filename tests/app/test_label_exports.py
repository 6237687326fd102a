"""Labels for other tools from a study: what they are made of stays small."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine

from annotation.verdicts import load_verdicts
from app.results import export_files as dataset_files
from db.connect import reading
from db.tables import Study
from exports.datasets.tool_labels import Criteria, ToolFiles
from tests.disputed_study import make_disputed


def test_a_text_stands_once_in_memory_however_many_labels_it_has(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[pd.DataFrame] = []

    def kept(verdicts: pd.DataFrame, criteria: Criteria) -> ToolFiles:
        given.append(verdicts)
        return ToolFiles({}, ())

    monkeypatch.setitem(dataset_files.TOOLS, "potato", kept)
    study_id = make_disputed(engine, tmp_path / "reports")
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        dataset_files.tool_files(session, study, load_verdicts(session, study), "potato", texts=True)
    texts = given[0]["text_a"]
    assert len(texts) > 20
    assert len({id(text) for text in texts}) == 2, "one object for each of the two items"

"""A study's labels go to an annotation tool's format and back into a fresh copy: the same verdicts, column by column."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import Engine

from annotation.labelling import submit
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import open_database, transaction
from tests.annotation.result_trees import bring_results, labels_file, verdicts
from tests.disputed_study import make_disputed
from tests.small_study import PROBES, PROTOCOL, RATING, a_person, answer_all, make_study
from tests.tool_files import EXPORTERS, HOSTILE, put_files

# what NOT-HELD.md lists, and what the import has no place for
NOT_HELD = ["evidence", "seconds", "cost_usd"]
Make = Callable[[Engine, Path, bool], int]
WITH_NA = PROTOCOL.replace("allow_tie = true", "allow_tie = true\nallow_not_applicable = true")
SCORED = RATING.replace("[answers]", "[answers]\nallow_not_applicable = true")


def disputed(engine: Engine, root: Path, answered: bool) -> int:
    return make_disputed(engine, root, judged=answered, people=answered)


def hostile_pairs(engine: Engine, root: Path, answered: bool) -> int:
    """Known and unknown orders, repeats, every kind of answer and failure, and rationales that are hard to keep."""
    study = make_study(engine, root / "reports", protocol=WITH_NA)
    answers = ["A", "B", "tie", "not_applicable", "invalid", "missing", "refused"]
    rows = [
        {
            "item_id": f"x{number}", "cluster_id": ("tides", "bread", "noise")[number % 3], "rationale": text,
            "rater_id": f"mini {number // 6}", "rater_kind": ("judge", "human")[number // 6 % 2], "run": number % 6 + 1,
            "presentation": ("AB", "BA", "")[number % 3], "criterion": ("clear", "deep")[number % 2],
            "label": answers[number % 7],
        }
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    if answered:
        bring_results(engine, study, labels_file(root / "labels.csv", rows), "labels", kind="labels")
    return study


def scores(engine: Engine, root: Path, answered: bool) -> int:
    """People's scores of reports, and a judge's with halves, with one that does not apply and one that failed."""
    study = make_study(engine, root / "reports", protocol=SCORED)
    if answered:
        answer_as_ada(engine, study, ["7"] * 9)
        rows = [
            {"cluster_id": topic, "system_b": "", "criterion": criterion, "label": label, "rationale": f"= {label}, 中"}
            for topic, criterion, label in [
                ("tides", "clear", "10"), ("tides", "deep", "77.5"), ("bread", "clear", "0"),
                ("bread", "deep", "not_applicable"), ("noise", "clear", "refused"), ("noise", "deep", "100"),
            ]
        ]  # fmt: skip
        bring_results(engine, study, labels_file(root / "labels.csv", rows), "labels", kind="labels")
    return study


def probes(engine: Engine, root: Path, answered: bool) -> int:
    """Three claims about each report: only their number tells them apart."""
    study = make_study(engine, root / "reports", protocol=PROBES)
    if answered:
        answer_as_ada(engine, study, ["full", "part", "source_unavailable", "part", "full"])
        rows = [{"cluster_id": "tides", "system_b": "", "probe": f"It {word} twice a day.", "criterion": "supported",
                 "label": label, "item_id": word} for word, label in [("rises", "full"), ("falls", "invalid")]]  # fmt: skip
        bring_results(engine, study, labels_file(root / "labels.csv", rows), "labels", kind="labels")
    return study


def answer_as_ada(engine: Engine, study: int, choices: list[str]) -> None:
    """One item for each choice, handed in."""
    with transaction(engine) as session:
        ada = a_person(session, study)
        for choice in choices:
            assignment = take(session, ada)
            assert assignment is not None
            revs = answer_all(session, ada, assignment.aid, choice)
            page = assignment_page(session, ada, assignment.aid)["page"]
            submit(session, ada, assignment.aid, page, f"{assignment.aid}-submit", revs)


@pytest.fixture
def source(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Engine]:
    """Another database than the one the labels come back to."""
    path = tmp_path / "source.db"
    shutil.copy(migrated_sqlite, path)
    engine = open_database(f"sqlite:///{path}")
    yield engine
    engine.dispose()


def comparable(table: pd.DataFrame) -> pd.DataFrame:
    """Without what is not held; people keep their pseudonym behind the word that the import puts before it."""
    kept = table.drop(columns=NOT_HELD).assign(rater_id=table.rater_id.str.replace("^(imported )+", "", regex=True))
    kept = kept.sort_values(["item_id", "rater_kind", "rater_id", "pass_no", "criterion"], ignore_index=True)
    return kept.astype(object).where(kept.notna(), None)


@pytest.mark.parametrize("tool", EXPORTERS)
@pytest.mark.parametrize("make", [disputed, hostile_pairs, scores, probes], ids=lambda make: make.__name__)
def test_verdicts_are_the_same_after_a_round_trip(
    source: Engine, engine: Engine, tmp_path: Path, make: Make, tool: str
) -> None:
    there = verdicts(source, make(source, tmp_path / "there", True))
    assert len(there) > 5
    made = EXPORTERS[tool](there, {"clear": {"label": "Clear", "text": "Which is clearer?"}})
    again = make(engine, tmp_path / "again", False)
    folder = put_files(tmp_path / tool, made)
    report = bring_results(engine, again, folder, tool, kind="labels")
    assert (report.new, report.unmatched, report.left_out, report.notes) == (len(there), {}, {}, ())
    pd.testing.assert_frame_equal(comparable(verdicts(engine, again)), comparable(there))
    assert bring_results(engine, again, folder, tool, kind="labels").new == 0

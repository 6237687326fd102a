"""MT-Bench's published votes come in with their counts, and go out again as equal rows. Needs ../shared/data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine

from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from db.connect import transaction
from tests.annotation.result_trees import bring_results, verdicts

SHARED = Path(__file__).resolve().parents[3].parent / "shared"
VOTES = SHARED / "data" / "labels" / "mtbench_votes.csv"
PROTOCOL = """
format = "calipers-protocol/1"
name = "votes"
title = "Votes"
task_type = "pairwise_choice"
task = "Which answer is better?"
[answers]
allow_tie = true
[study]
blind_until = "open"
[[criterion]]
id = "turn1"
label = "First turn"
text = "Which first answer is better?"
[[criterion]]
id = "turn2"
label = "Second turn"
text = "Which second answer is better?"
"""


def answer_of(row: Any) -> str:
    """The winning system's name, or tie."""
    return {"A": row.system_a, "B": row.system_b}.get(row.label, "tie")


def order_of(row: Any) -> str:
    """The system shown first, empty where nobody knows."""
    return {"AB": row.system_a, "BA": row.system_b}.get(row.presentation, "")


if VOTES.exists():

    @pytest.mark.databases("sqlite")
    def test_published_votes_come_in_with_their_counts_and_out_as_equal_rows(engine: Engine, tmp_path: Path) -> None:
        votes = pd.read_csv(VOTES, dtype="str", keep_default_na=False)
        for system in {*votes.system_a, *votes.system_b}:
            (tmp_path / "reports" / system).mkdir(parents=True)
            for topic in set(votes.cluster_id):
                (tmp_path / "reports" / system / f"{topic}.md").write_text(f"{system} answers {topic}.\n")
        with transaction(engine) as session:
            study = init_study(session, "votes", PROTOCOL, 7)
            admin = local_admin(study)
            import_reports(session, admin, read_folder(tmp_path / "reports"), layout="folder", source="here")
            apply_plan(session, admin, make_plan(session, admin, design="all", per_topic=None, overlap=1))
            key = study.id
        report = bring_results(engine, key, VOTES, "labels", kind="labels")
        assert (report.rows, report.new, len(report.raters)) == (5755, 5755, 66)
        assert (report.unmatched, report.statuses) == ({}, {"ok": 5755})
        assert report.order_unknown == 2400
        assert bring_results(engine, key, VOTES, "labels", kind="labels").unchanged == 5755

        def rows(table: pd.DataFrame) -> Counter[tuple[str, ...]]:
            return Counter(
                (
                    row.rater_id,
                    row.criterion,
                    row.cluster_id,
                    *sorted((row.system_a, row.system_b)),
                    answer_of(row),
                    order_of(row),
                )
                for row in table.itertuples()
            )

        assert rows(verdicts(engine, key)) == rows(votes)

"""A dataset of a study: where storage and its files meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.facts.kept_exports import keep_export
from annotation.facts.label_rows import count_label_rows, criterion_rows, label_rows, report_rows
from annotation.facts.study_facts import study_facts
from annotation.leaks.redaction import redactor_of
from annotation.studies import find_study, no_work_yet
from annotation.verdicts import require_revealed
from app.commands.database import opened
from db.connect import reading, transaction
from exports.dataset import MARK, sha256_of, write_dataset


@dataclass(frozen=True)
class MadeDataset:
    """Rows by table, and what was taken out of free text, by kind."""

    rows: dict[str, int]
    removed: dict[str, int]


def write_dataset_of(
    name: str | None, folder: Path, *, texts: bool, license: str, advance: Callable[[int, int, str], None]
) -> MadeDataset:
    """Fill the empty `folder`; the study keeps that it left. Raises AnnotationError `still_blind`, ExportError."""
    engine = opened()
    with reading(engine) as session:
        study = find_study(session, name)
        require_revealed(study)
        of = count_label_rows(session, study)
        if of == 0:
            raise no_work_yet(session, study)
        redact = redactor_of(session, study)
        rows = write_dataset(
            label_rows(session, study, redact), report_rows(session, study, texts=texts),
            criterion_rows(session, study), study_facts(session, study), folder, texts=texts, license=license,
            removed=redact.removed, advance=lambda done: advance(done, of, "writing labels"),
        )  # fmt: skip
    with transaction(engine) as session:
        keep_export(
            session, find_study(session, name), "dataset", sha256_of(folder / MARK), texts=texts, license=license
        )
    return MadeDataset(rows, dict(redact.removed))

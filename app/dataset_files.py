"""A dataset of a study: where storage and its files meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.errors import AnnotationError
from annotation.facts.kept_exports import keep_export
from annotation.facts.label_rows import count_label_rows, criterion_rows, label_rows, report_rows, standing_of
from annotation.facts.study_facts import study_facts
from annotation.leaks.redaction import redactor_of
from annotation.studies import find_study, no_work_yet
from annotation.verdicts import require_revealed
from app.commands.database import opened
from db.connect import reading, transaction
from exports.dataset import MARK, sha256_of, write_dataset


@dataclass(frozen=True)
class MadeDataset:
    """Rows by table, those of labels by `standing_of`, and what was taken out of free text, by kind."""

    rows: dict[str, int]
    labels: dict[str, int]
    void_left_out: int  # rows of work that was taken out
    removed: dict[str, int]


def write_dataset_of(
    name: str | None,
    folder: Path,
    *,
    texts: bool,
    with_void: bool,
    license: str,
    advance: Callable[[int, int, str], None],
) -> MadeDataset:
    """Fill the empty `folder`; the study keeps that it left. `with_void`: with the work that was taken out.

    Raises AnnotationError `still_blind`, `no_labels`, ExportError.
    """
    engine = opened()
    with reading(engine) as session:
        study = find_study(session, name)
        require_revealed(study)
        kept, void = count_label_rows(session, study)
        of = kept + void * with_void
        if of == 0:
            raise _all_taken_out(study.name) if void else no_work_yet(session, study)
        redact, standings = redactor_of(session, study), Counter[str]()
        rows = write_dataset(
            _counted(label_rows(session, study, redact, with_void=with_void), standings),
            report_rows(session, study, texts=texts), criterion_rows(session, study), study_facts(session, study),
            folder, texts=texts, with_void=with_void, license=license, removed=redact.removed,
            advance=lambda done: advance(done, of, "writing labels"),
        )  # fmt: skip
    chosen = {"texts": texts, "with_void": with_void, "license": license}
    with transaction(engine) as session:
        keep_export(session, find_study(session, name), "dataset", sha256_of(folder / MARK), **chosen)
    return MadeDataset(rows, dict(standings), 0 if with_void else void, dict(redact.removed))


def _counted(rows: Iterable[dict[str, Any]], into: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        into[standing_of(row)] += 1
        yield row


def _all_taken_out(name: str) -> AnnotationError:
    return AnnotationError(
        "no_labels",
        f"every label of study {name!r} was taken out; for an archive, not to publish: --with-void writes them",
    )

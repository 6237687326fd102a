"""Which judges of the file a command was asked for, in which study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.judges.judge_file import JudgeDefinition


def chosen_judges(
    study: str,
    path: Path,
    only: Sequence[str],
    concurrency: int | None = None,
    max_cost: float | None = None,
    batch: bool = False,
) -> tuple[Any, int, tuple[JudgeDefinition, ...]]:
    """The engine, the study's id, and the judges of the file that were asked for, with what was given in place."""
    from annotation.errors import AnnotationError
    from annotation.judges.judge_file import read_judges
    from annotation.studies import find_study, protocol_of
    from app.commands.database import opened
    from db.connect import reading

    engine = opened()
    with reading(engine) as session:
        found = find_study(session, study)
        definitions = read_judges(path, protocol_of(found))
        study_id = found.id
    known = [definition.name for definition in definitions]
    for name in only:
        if name not in known:
            raise AnnotationError("unknown_judge", f"{path}: no judge {name!r} (there are: {', '.join(known)})")
    given = {"concurrency": concurrency, "max_cost": max_cost, "batch_api": batch or None}
    changed = {name: value for name, value in given.items() if value is not None}
    chosen = (d for d in definitions if not only or d.name in only)
    return engine, study_id, tuple(d.model_copy(update=changed) for d in chosen)

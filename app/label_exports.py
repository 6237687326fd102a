"""A study's labels as files: our own table, or the form of another annotation tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.facts.label_rows import criterion_rows
from annotation.judges.judge_file import read_judge_file
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts, require_revealed
from annotation.work.items_shown import items_shown
from app.panels import with_panels
from app.reporting import settings_of
from db.tables import Study
from exports.datasets.argilla import to_argilla
from exports.datasets.label_studio import to_label_studio
from exports.datasets.potato import to_potato
from exports.datasets.tool_labels import Criteria, ToolFiles

TOOLS: dict[str, Callable[[pd.DataFrame, Criteria], ToolFiles]] = {
    "label_studio": to_label_studio, "argilla": to_argilla, "potato": to_potato,
}  # fmt: skip


def labels_of(session: Session, study: Study, judges: Path | None) -> pd.DataFrame:
    """The study's verdicts, with the panels of the file `judges`. Raises `still_blind`."""
    require_revealed(study)
    verdicts = load_verdicts(session, study)
    if judges is None:
        return verdicts
    protocol = protocol_of(study)
    panels, chosen = read_judge_file(judges, protocol).panels, settings_of(protocol, study.seed)
    return with_panels(verdicts, panels, chosen, allow_tie=protocol.answers.allow_tie)[0]


def tool_files(session: Session, study: Study, labels: pd.DataFrame, tool: str, *, texts: bool) -> ToolFiles:
    """`labels` in the form of `tool`, one of `TOOLS`. `texts`: with what the items show. Raises `no_labels`."""
    if labels.empty:
        raise AnnotationError("no_labels", f"study {study.name!r} holds no label yet; there is nothing to write")
    protocol = protocol_of(study)
    answers = {} if protocol.task_type == "pointwise_rating" else {"answers": list(protocol.choices)}
    criteria = {
        row["criterion"]: {"label": row["label"], "text": row["text"], **answers}
        for row in criterion_rows(session, study)
        if row["is_asked"]
    }
    # objects: a text stands once however many labels it has, where a column of strings would copy it for each
    shown = pd.DataFrame(items_shown(session, study, texts=texts), dtype=object).set_index("item_id")
    place = shown.index.get_indexer(pd.Index(labels["item_id"]))
    columns = {str(name): pd.Series(shown[name].to_numpy().take(place), labels.index, dtype=object) for name in shown}
    return TOOLS[tool](labels.assign(**columns), criteria)

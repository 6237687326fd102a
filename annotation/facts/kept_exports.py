"""What left a study, and under which hash."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from annotation.studies import audit
from db.tables import Export, Study


def keep_export(session: Session, study: Study, kind: str, sha256: str, **settings: Any) -> None:
    """Write down that an export was made: its kind, its choices, and the sha256 that tells it from any other."""
    session.add(Export(study_id=study.id, kind=kind, settings=settings, sha256=sha256))
    audit(session, study.id, None, "export", kind=kind, sha256=sha256, **settings)

"""What was measured on a study's texts, kept in its audit trail by their hash: the same texts are read once."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from pydantic import TypeAdapter
from sqlalchemy import orm, select

from annotation import blinding, studies
from annotation.canonical.form import CANONICAL_VERSION
from annotation.leaks.blinding_audit import AuditedReport, BlindingAudit
from db.tables import Event, Study

MEASURED = "blinding_measured"
FORMAT = "measured/5"  # another one wherever the same texts would give other figures
_FORM = TypeAdapter(blinding.Measured)


def texts_sha256(ready: Sequence[AuditedReport], seed: int, *, has_intervals: bool) -> str:
    """Of everything that `annotation.blinding.measure` reads, and of what it is made with; hex."""
    made_with = FORMAT, seed, has_intervals, CANONICAL_VERSION, version("scikit-learn")
    digest = hashlib.sha256(json.dumps(made_with).encode())
    for one in ready:
        for text in (one.key, one.topic, one.title, one.system, one.original, one.stripped, one.shown):
            encoded = text.encode()
            digest.update(b"%d:" % len(encoded) + encoded)  # where one ends and the next begins counts, too
    return digest.hexdigest()


def kept_measure(session: orm.Session, study: Study, sha256: str) -> blinding.Measured | None:
    """What was measured last on texts of that hash, the whole if that was ever kept; None where nothing was."""
    rows = select(Event.data).where(studies.audited(study.id, MEASURED))
    for data in session.scalars(rows.order_by(Event.id.desc())):
        if data["sha256"] == sha256:
            return _FORM.validate_json(data["found"])
    return None


def keep_measure(session: orm.Session, study: Study, made: BlindingAudit) -> None:
    """Keep what was measured for `made`, unless it is kept already.

    As text: a figure may be undefined, and JSON knows no nan.
    """
    known = kept_measure(session, study, made.texts_sha256)
    if known is None or (made.is_whole and not known.is_whole):
        found = blinding.Measured(made.residue, made.identification, made.giveaways, made.is_whole)
        text = json.dumps(asdict(found))
        studies.audit(session, study.id, None, MEASURED, sha256=made.texts_sha256, is_whole=made.is_whole, found=text)

"""Other studies or labels files of the same reports, to be joined with one: what `--with` names."""

from collections.abc import Sequence
from pathlib import Path

from annotation.files.tables import FILE_SUFFIXES
from annotation.protocol import read_protocol
from annotation.studies import find_study, no_work_yet, protocol_of
from annotation.verdicts import load_verdicts, require_revealed
from app.results.reporting import no_labels_file, settings_of
from app.settings import opened
from calibration.systems.claim_scores import Part
from calipers.label_files import read_labels
from db.connect import reading


def parts_of(named: Sequence[str]) -> tuple[Part, ...]:
    """Each a study's name, or a labels file, `FILE=PROTOCOL` where its claims are to become scores.

    Raises AnnotationError: nothing handed in, or systems still masked.
    """
    return tuple(_part_of(text) for text in named)


def _part_of(text: str) -> Part:
    file, _, protocol = text.partition("=")
    path = Path(file)
    if path.suffix in FILE_SUFFIXES or path.is_file():
        labels = read_labels(path, used_only=True)
        read = read_protocol(protocol)[0] if protocol else None
        asked = labels["criterion"].unique() if "criterion" in labels else ()
        return Part(path.stem, labels, settings_of(read, 0, asked))
    with no_labels_file(text), reading(opened()) as session:
        study = find_study(session, text)
        require_revealed(study)  # masks differ between studies, and these are joined by system
        verdicts = load_verdicts(session, study)
        if verdicts.empty:
            raise no_work_yet(session, study)
        return Part(study.name, verdicts, settings_of(protocol_of(study), study.seed, verdicts["criterion"].unique()))

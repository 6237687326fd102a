"""What a command names: a labels file or a study, calibrated; and others of the same reports, joined with it.

What a study needs, a database and all that reads it, is imported where a study is named.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotation.errors import AnnotationError
from annotation.files.tables import FILE_SUFFIXES
from app.results.looks import NO_LOOKS, LooksGiven
from app.results.reporting import Calibrated, Extent, file_report, protocol_named, settings_of
from calibration.calibrate import NOBODY, Waiting
from calibration.systems.claim_scores import Part
from calipers import label_files, tidy_files
from exports.facts import StudyFacts, facts_of


def calibrated(
    what: str,
    *,
    protocol: str = "",
    judges: Path | None = None,
    resamples: int = 9_999,
    seed: int | None = None,
    per_criterion: bool | None = None,
    families: Mapping[str, str] | None = None,
    cascades: Sequence[str] = (),
    to_publish: bool = False,
    chosen: Mapping[str, Any] | None = None,
    looks: LooksGiven = NO_LOOKS,
    only: Collection[str] | None = None,
    others: Sequence[Part] = (),
    how_read: tidy_files.Options = tidy_files.NOTHING_SAID,
    waiting: Waiting = NOBODY,
) -> Calibrated:
    """Calibrate the file or study called `what`. Raises the folder's own error, naming the file or study.

    `judges`: the judges.toml whose panels take part. `per_criterion`: None is what the protocol says, else yes for
    tables of up to 200,000 rows. `families`: judge or system to model family, instead of the protocol's.
    `cascades`: such as `mini then large`, which takes part as one more judge. `to_publish`: a file's labels will leave
    the house, as a study's always may. `chosen`: settings by name, instead of the protocol's. `looks`: what is known of
    looks at a file, and how a study's are meant. `only`: as of `calibrate`.
    `others`: studies of the same reports that are joined with it. `how_read`: what is said about a file of other
    columns or words. `waiting`: who is told of the points, and how far the intervals are.
    """
    overrides: dict[str, Any] = {
        "resamples": resamples,
        **(chosen or {}),
        **({"families": families} if families else {}),
        **({"per_criterion": per_criterion} if per_criterion is not None else {}),
    }
    extent = Extent(cascades, only, others, waiting)
    if tidy_files.holds_labels(what) or (Path(what).is_dir() and not _is_study(what)):
        if judges is not None:
            raise AnnotationError("bad_option", "--judges is for a study; a labels file already holds its raters")
        return file_report(
            Path(what), protocol, looks, how_read, extent, seed=seed or 0, to_publish=to_publish, **overrides
        )
    if protocol:
        raise AnnotationError("bad_option", "--protocol is for a labels file; a study brings its own protocol")
    from app.results.study_reports import named_study_report

    overrides |= looks.of_study
    with no_labels_file(what):
        return named_study_report(what, judges, extent, seed=seed, **overrides)


def _is_study(name: str) -> bool:
    """Whether a study is called like a folder."""
    from annotation.studies import find_study
    from app.settings import opened
    from db.connect import reading

    try:
        with reading(opened()) as session:
            return bool(find_study(session, name))
    except AnnotationError:
        return not any(one.suffix.lower() in FILE_SUFFIXES for one in Path(name).rglob("*"))


def parts_of(named: Sequence[str]) -> tuple[Part, ...]:
    """Each a study's name, or a labels file, `FILE=PROTOCOL` where its claims are to become scores.

    Raises AnnotationError: nothing handed in, or systems still masked.
    """
    return tuple(_part_of(text) for text in named)


def _part_of(text: str) -> Part:
    file, _, protocol = text.partition("=")
    path = Path(file)
    if path.suffix in FILE_SUFFIXES or path.is_file():
        labels = label_files.read_labels(path, used_only=True)
        read = protocol_named(protocol)
        asked = labels["criterion"].unique() if "criterion" in labels else ()
        return Part(path.stem, labels, settings_of(read, 0, asked))
    from annotation.studies import find_study, no_work_yet, protocol_of
    from annotation.verdicts import load_verdicts, require_revealed
    from app.settings import opened
    from db.connect import reading

    with no_labels_file(text), reading(opened()) as session:
        study = find_study(session, text)
        require_revealed(study)  # masks differ between studies, and these are joined by system
        verdicts = load_verdicts(session, study)
        if verdicts.empty:
            raise no_work_yet(session, study)
        return Part(study.name, verdicts, settings_of(protocol_of(study), study.seed, verdicts["criterion"].unique()))


def facts_about(study: str, examples: Mapping[str, int] | None = None) -> StudyFacts:
    """What a methods paragraph says beside the numbers; `study` is "" for a bare labels file, whose facts are few."""
    if not study:
        return facts_of()
    from annotation.facts.study_facts import study_facts
    from annotation.studies import find_study
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        facts = study_facts(session, find_study(session, study))
    return facts_of({**facts, "examples": {**facts["examples"], **(examples or {})}})


@contextmanager
def no_labels_file(what: str) -> Iterator[None]:
    """Where no study is called `what`, the refusal says that it is no labels file either."""
    try:
        yield
    except AnnotationError as error:
        if error.code not in ("unknown_study", "no_database"):
            raise
        missing = f"{what} is a folder, not a labels file" if Path(what).is_dir() else f"there is no file {what!r}"
        raise AnnotationError(error.code, f"{missing}; {error.text}") from None

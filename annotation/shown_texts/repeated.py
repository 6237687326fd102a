"""Pictures that several reports of one system show, as a logo: flagged at import, and shown to who decides."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import Select, orm, select

from annotation.designs.pairing import EVIDENCE
from annotation.figures import kept
from annotation.figures.pictures import Look, first_alike, look_of
from annotation.leaks.self_identification import FIGURE
from annotation.people.principals import Principal, study_for
from annotation.shown_texts.auditing import newest_of
from annotation.shown_texts.overrides import is_labelled
from annotation.shown_texts.prepare import Prepared, flagged_figures
from annotation.studies import protocol_of
from annotation.texts.figures import figure_names
from db.tables import Figure, Report, Study, System, Topic
from plain.wording import Sentence


@dataclass(frozen=True)
class RepeatedFigure:
    """A picture that several reports of one system show: in how many, and in how many that is undecided.

    `names`: its own, and those of the same picture in other sizes or saved anew; `addresses` hold these themselves.
    """

    names: tuple[str, ...]
    addresses: tuple[str, ...]
    system: str
    reports: int
    open: int


def repeated_figures(session: orm.Session, principal: Principal) -> list[RepeatedFigure]:
    """Every picture that is flagged in the newest reports, those to decide about first."""
    study = study_for(session, principal, "evaluator")
    rows = session.execute(newest_of(study).with_only_columns(System.key, Report.flags)).all()
    shown = [(system, flag) for system, flags in rows for flag in flags if flag["kind"] == FIGURE]
    pictures = kept.pictures_called(session, study.id, {flag["text"] for _, flag in shown})
    made = []
    for system in sorted({system for system, _ in shown}):
        names = sorted({flag["text"] for by, flag in shown if by == system} & pictures.keys())
        first = first_alike({name: look_of(pictures[name]) for name in names})
        for look in sorted(set(first.values())):
            alike = tuple(name for name in names if first[name] == look)
            own = ([flag for flag in flags if flag["text"] in alike] for by, flags in rows if by == system)
            flagged = [found for found in own if found]
            waiting = sum(any(not flag.get("resolution") for flag in found) for found in flagged)
            addresses = tuple(kept.data_address(pictures[name].data) for name in alike)
            made.append(RepeatedFigure(alike, addresses, system, len(flagged), waiting))
    return sorted(made, key=lambda figure: (not figure.open, figure.system, figure.names))


ENOUGH = 3  # figures of one system from which on a size of its own is a habit


def of_one_size(session: orm.Session, principal: Principal) -> dict[str, tuple[int, int, int]]:
    """System -> how many figures it shows, and the width and height in pixels of all of them.

    Those systems alone that show three or more, all of one size, in a study that shows figures of other sizes too.
    """
    study = study_for(session, principal, "evaluator")
    asked = select(Figure.name, Figure.width, Figure.height).where(Figure.study_id == study.id)
    sizes = {name: (width, height) for name, width, height in session.execute(asked)}
    shown: dict[str, set[str]] = {}
    for system, text in session.execute(_of_systems(study).with_only_columns(System.key, Report.shown_text)):
        shown.setdefault(system, set()).update(figure_names(text) & sizes.keys())
    own = {system: {sizes[name] for name in names} for system, names in shown.items()}
    every = set().union(*own.values())
    return {
        system: (len(shown[system]), *size)
        for system, (size, *others) in sorted((system, [*found]) for system, found in own.items() if found)
        if not others and len(shown[system]) >= ENOUGH and len(every) > 1
    }


def looks(session: orm.Session, principal: Principal, ready: Iterable[Prepared]) -> dict[str, Look]:
    """What the pictures of the study and of reports that come in look like; reads only.

    To be had before the writing transaction of an import, as every picture is decoded for it.
    """
    study = study_for(session, principal, "admin")
    if protocol_of(study).reports.images != "show":
        return {}
    rows = session.execute(_of_systems(study).with_only_columns(Report.shown_text, Report.flags))
    known = {name for text, flags in rows for name in _pictures(text, flags)}
    made = {name: look_of(picture) for one in ready for name, picture in one.pictures.items()}
    return _with_looks(session, study, known | made.keys(), made)


def flag_repeated(session: orm.Session, study: Study, seen: Mapping[str, Look]) -> tuple[Sentence, ...]:
    """Each picture that several newest reports of one system show becomes a flag of each: a logo names its maker.

    In any size, whenever they came in, masked in the others or not. Nothing can be masked under labels, so such reports
    are left as they are; the note says so. `seen`: `looks`; one that is not there is looked at.
    """
    if protocol_of(study).reports.images != "show":
        return ()
    rows = session.execute(_of_systems(study).with_only_columns(System.key, Report)).all()
    first: dict[str, dict[str, str]] = {}
    for system in {system for system, _ in rows}:
        names = {name for by, row in rows if by == system for name in _pictures(row.shown_text, row.flags)}
        first[system] = first_alike(_with_looks(session, study, names, seen))
    times = Counter(
        (system, look)
        for system, row in rows
        for look in {first[system].get(name) for name in _pictures(row.shown_text, row.flags)}
    )
    labelled = 0
    for system, row in rows:
        flagged = {flag["text"] for flag in row.flags if flag["kind"] == FIGURE}
        shown = {name for name in figure_names(row.shown_text) if name in first[system]}
        repeated = {name for name in shown if times[system, first[system][name]] > 1} - flagged
        if repeated and is_labelled(session, row.id):
            labelled += 1
        elif found := flagged_figures(row.shown_text, repeated):
            row.flags = [*row.flags, *({**asdict(flag), "resolution": None} for flag in found)]
            row.open_flags += len(found)
    session.flush()
    told = Sentence(
        "reports with labels whose figures other reports of their system show too {labelled}: none can be masked",
        labelled=labelled,
    )
    return (told,) if labelled else ()


def _of_systems(study: Study) -> Select[Report, Topic, System]:
    """The newest reports without evidence, which names nobody: a picture that two tasks bring is no logo."""
    return newest_of(study).where(System.key != EVIDENCE)


def _pictures(shown_text: str, flags: Iterable[Mapping[str, str]]) -> set[str]:
    """Those that a report shows, and those that were taken out of it."""
    return {*figure_names(shown_text), *(flag["text"] for flag in flags if flag["kind"] == FIGURE)}


def _with_looks(
    session: orm.Session, study: Study, names: Collection[str], seen: Mapping[str, Look]
) -> dict[str, Look]:
    """These pictures by name, as far as the study has them, in the order of their names."""
    found = {name: seen[name] for name in names if name in seen}
    found |= {name: look_of(one) for name, one in kept.in_turn(session, study.id, sorted(names - found.keys()))}
    return dict(sorted(found.items()))

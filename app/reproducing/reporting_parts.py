"""What the labels of each part say: its report in a folder, and its tables by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine, func, select

from annotation import errors, studies
from annotation.facts.topic_facts import topic_features
from annotation.importing.claims.probes_wlc import cited_by_statement
from annotation.leaks.reference_leakage import RUN
from annotation.verdicts import load_verdicts
from app.reproducing.bringing_in import Advance
from app.reproducing.public_files import Public
from app.reproducing.recipes import FOLDER, Part
from app.reproducing.simulating import MARK
from app.reproducing.standing import Came
from app.results.pack_files import write_report
from app.results.reporting import Calibrated
from app.results.sources import calibrated, facts_about, parts_of
from app.results.topic_tables import leaks_in, reference_lists, systems_compared, topic_tables
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.study.joining import study_of
from calibration.systems.aggregates import aggregate_estimates
from calibration.systems.shares import counted_mean
from db.connect import reading
from db.tables import NO_TEXT, Item, Report, System
from exports.errors import ExportError
from exports.pack import FORMATS, tables_of
from exports.presets import preset_table
from exports.sheets import leakage, system_pairs, systems
from exports.tables import Column, Table

RESAMPLES = 1_999


def reported(
    engine: Engine, public: Public, made: Mapping[str, frozenset[str]], out: Path, advance: Advance
) -> dict[str, Came]:
    """Each part's tables, which are in a folder of `out` too; those without a label say what is missing."""
    came = {}
    for number, part in enumerate(public.recipe.part):
        if part.study in made:
            advance(number, len(public.recipe.part), f"{part.study}: tables")
            try:
                came[part.study] = _of_part(engine, public, part, made, out / part.study)
            except (errors.AnnotationError, CalibrationError) as error:
                public.lack(part, str(error).splitlines())
    return came


def _of_part(engine: Engine, public: Public, part: Part, made: Mapping[str, frozenset[str]], out: Path) -> Came:
    people, judges = _raters(engine, part.study)
    lacking = "" if people else part.people.never
    of_texts = _of_texts(part, public)
    for table in of_texts:
        write_table(table, out)
    if not people and not judges:
        return Came({table.name: table for table in of_texts}, lacking)
    if len(people) + len(judges) == 1:
        found = calibrated(part.study, resamples=RESAMPLES, per_criterion=False, only=())
    else:
        others = [name for name in part.beside if name in made and any(_raters(engine, name))]
        panels = FOLDER / "panels" / f"{part.panels}.toml" if part.panels else None
        found = calibrated(part.study, judges=panels, resamples=RESAMPLES, per_criterion=False, others=parts_of(others))
        write_report(found, out, _presets(part, found, public))
    tables = _of_labels(engine, public, part, found, judges)
    if any(one.part == part.study and one.table == "statements" for one in public.recipe.number):
        tables.append(_statements(engine, part.study))
    for table in tables:
        write_table(table, out)
    is_real = ~found.verdicts["rater_id"].str.startswith(MARK)
    real = tables if is_real.all() else []
    if real is not tables and is_real.any():
        kept = found.verdicts[is_real]
        only = () if kept["rater_id"].nunique() == 1 else None
        alone = replace(found, verdicts=kept, report=calibrate(kept, found.report.settings, only))
        real = _of_labels(engine, public, part, alone, [name for name in judges if not name.startswith(MARK)])
    named, of_people = ({table.name: table for table in (*of_texts, *some)} for some in (tables, real))
    return Came(named, lacking, made[part.study], of_people)


def _of_labels(engine: Engine, public: Public, part: Part, found: Calibrated, judges: Sequence[str]) -> list[Table]:
    """What these labels say; of one rater, who agrees with nobody, the systems by its answers."""
    if found.verdicts["rater_id"].nunique() == 1:
        settings = found.report.settings
        estimates, counts = aggregate_estimates(study_of(found.verdicts, settings), settings)
        alone = replace(found.report, estimates=tuple(estimates), aggregates=tuple(counts))
        of_two = system_pairs.system_differences_table(found.verdicts, alone)
        made = systems.systems_table(alone), systems.system_orders_table(alone), of_two
        tables = [table for table in made if table is not None]
    else:
        presets = _presets(part, found, public)
        tables = tables_of(found.report, found.verdicts, facts_about(part.study), presets)
    tables += _topics(engine, part, found, judges)
    known = {*found.verdicts["system_a"], *found.verdicts["system_b"]}
    if pairs := [pair for pair in part.conditions if {*pair} <= known]:
        compared = systems_compared(found, pairs, each=True)
        tables += [compared] if compared is not None else []
    return tables


def _of_texts(part: Part, public: Public) -> list[Table]:
    """What the reports themselves say, without a label."""
    tables: list[Table | None] = []
    if all(report.encoding == NO_TEXT for report in public.parsed.reports):
        return []
    if part.leakage:
        leaks = leaks_in(part.study, _cited(public))
        tables.append(leakage.leakage_table(leaks, part.leakage, RUN, of_statements=True))
    if part.references and (public.tree / part.references).is_dir():
        try:
            tables.append(reference_lists(part.study, public.tree / part.references))
        except (errors.ImportingError, errors.AnnotationError) as error:
            public.lack(part, str(error).splitlines())
    return [table for table in tables if table is not None]


def _cited(public: Public) -> Mapping[tuple[str, str], Sequence[Sequence[str]]]:
    """What each statement cites. Wiki Live Challenge alone has a leakage filter, and a file of statements."""
    try:
        return cited_by_statement(public.tree)
    except errors.ImportingError:
        return {}  # told of where the statements are to come in


def _statements(engine: Engine, study: str) -> Table:
    """How many different statements the files hold of a report, mean over a system's reports that have one."""
    with reading(engine) as session:
        rows = session.execute(
            select(System.key, Report.topic_id, func.count(Item.probe.distinct()))
            .join(Report, Report.id == Item.report_a_id)
            .join(System, System.id == Report.system_id)
            .where(Item.study_id == studies.find_study(session, study).id)
            .group_by(System.key, Report.id)
        )
        found: dict[str, list[tuple[str, int]]] = {}
        for system, topic, count in rows:
            found.setdefault(system, []).append((str(topic), count))
    columns = (
        Column("system", "System"),
        Column("statements", "Statements a report"),
        Column("reports", "Reports", "n"),
    )
    cells = tuple(
        (system, counted_mean("statements", system, [count for _, count in own], [topic for topic, _ in own]), len(own))
        for system, own in found.items()
    )
    notes = (
        "Different statements, of reports that have one; how the paper counts reports without any is unknown to us.",
        "Brackets: 95 % intervals over whole topics (cluster t).",
    )
    return Table("statements", "Statements of the reports", columns, cells, notes)


def write_table(table: Table, out: Path) -> None:
    """In every form, beside what is in the folder."""
    out.mkdir(parents=True, exist_ok=True)
    for suffix, form in FORMATS.items():
        (out / f"{table.name}.{suffix}").write_text(form(table), encoding="utf-8")


def _raters(engine: Engine, study: str) -> tuple[list[str], list[str]]:
    """The people and the judges that have a label there."""
    with reading(engine) as session:
        verdicts = load_verdicts(session, studies.find_study(session, study))
    named = verdicts.drop_duplicates("rater_id").set_index("rater_id")["rater_kind"]
    return [*named[named == "human"].index], [*named[named == "judge"].index]


def _presets(part: Part, found: Calibrated, public: Public) -> Sequence[str]:
    """The study's own table, where these labels are of the kind that it is about."""
    if not part.preset:
        return ()
    try:
        preset_table(part.preset, found.verdicts, found.report)
    except ExportError as error:
        public.lacks.append(f"{part.study}: {error}")
        return ()
    return (part.preset,)


def _topics(engine: Engine, part: Part, found: Calibrated, judges: Sequence[str]) -> list[Table]:
    """By the judge where there is one, as in the papers, else by people."""
    with reading(engine) as session:
        known = topic_features(session, studies.find_study(session, part.study))
    try:
        return topic_tables(found, judges[0] if judges else "", "", known, part.study)[0]
    except (errors.AnnotationError, CalibrationError):
        return []  # nothing scores a topic there

"""The parts of a published study become studies of calipers: whether a folder holds its public files, where its answers
and probes lie, and its reports, items, and the answers of judges and people."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Engine, orm

from annotation import errors, studies
from annotation.errors import ImportingError
from annotation.importing import layouts
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions
from annotation.importing.claims.probes_write import import_probes
from annotation.importing.labels.results import ResultOptions, Results
from annotation.importing.labels.results_write import import_results
from annotation.importing.layouts import RESULT_LAYOUTS
from annotation.importing.reports import records, write
from annotation.importing.reports.records import Parsed
from annotation.people.principals import Principal, local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.protocol import Protocol, parse_protocol
from annotation.shown_texts.prepare import Prepared
from annotation.work.open_and_close import reveal
from app.reproducing import simulating
from app.reproducing.recipes import Part, Recipe, ResultsSource, protocol_text
from db.connect import transaction
from db.tables import Study
from plain.counting import counted

SEED = 7
UNPUBLISHED = "The text of this report is not among the files that the study published."
UNANSWERED = 2_000  # probes about which nobody's answer is there
Advance = Callable[[int, int, str], None]  # how far, of how much, at what


@dataclass(frozen=True)
class Steps:
    """Whoever waits is told which step of which part is done now, and how far it is where that is known."""

    advance: Advance
    study: str
    number: int
    parts: int

    def __call__(self, what: str) -> Callable[[int, int], None]:
        self.advance(self.number, self.parts, f"{self.study}: {what}")
        return lambda done, of: self.advance(done, of, f"{self.study}: {what}")


@dataclass
class Public:
    """The public files, and what was told of them on the way. `simulate`: people whose labels are not among them."""

    recipe: Recipe
    folder: Path
    tree: Path
    parsed: records.Parsed
    simulate: bool
    came: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    prepared: dict[str, list[Prepared]] = field(default_factory=dict)  # texts by the settings they are made with

    @property
    def systems(self) -> list[str]:
        """The keys of those that wrote reports."""
        return [one.key for one in self.parsed.systems]


def bring_in(engine: Engine, public: Public, advance: Advance) -> dict[str, frozenset[str]]:
    """Each part as a study of the database. Its name -> whose answers were invented; a part that fails is told of."""
    made: dict[str, frozenset[str]] = {}
    for number, part in enumerate(public.recipe.part if public.parsed.reports else ()):
        at = Steps(advance, part.study, number, len(public.recipe.part))
        try:
            with transaction(engine) as session:
                made[part.study] = _make(session, public, part, at)
        except (errors.ImportingError, errors.AnnotationError) as error:
            public.lacks.append(f"{part.study}: {_one_line(error)}")
    return made


def _one_line(error: Exception) -> str:
    first, *more = str(error).splitlines()
    return first + (f" (and {len(more)} more)" if more else "")


def _make(session: orm.Session, public: Public, part: Part, at: Steps) -> frozenset[str]:
    """Write one part; returns whose answers were invented."""
    text = protocol_text(part)
    protocol = parse_protocol(text)
    labels = answers_at(part.people.labels, public.folder, public.tree, public.systems)
    simulated = public.simulate and not labels and part.people.annotators > 0
    study = studies.init_study(session, part.study, text, SEED, is_simulated=simulated)
    admin = local_admin(study)
    _reports(session, admin, public, part, protocol, at("reports"))
    answered = answers_at(part.judges, public.folder, public.tree, public.systems)
    _items(session, admin, public, part, protocol, at("items"), is_answered=bool(answered or labels))
    for path, system in answered:
        at(f"answers about {system or 'all systems'}")
        _answers(session, admin, public, part, part.judges, path, system, "judge-results", protocol)
    at("people's answers")
    for path, system in labels:
        _answers(session, admin, public, part, part.people.labels, path, system, "labels", protocol)
    invented = _simulate(session, admin, study, part, protocol) if simulated else frozenset[str]()
    reveal(session, admin)  # nobody works here who must not know the systems
    return invented


def _reports(
    session: orm.Session, admin: Principal, public: Public, part: Part, protocol: Protocol,
    progress: Callable[[int, int], None],
) -> None:  # fmt: skip
    settings = f"{protocol.reports.model_dump_json()} {protocol.study.layout}"
    if settings not in public.prepared:
        public.prepared[settings] = write.prepare_all(session, admin, public.parsed, progress)
    came = write.import_reports(
        session, admin, public.parsed, layout=public.recipe.layout, source=str(public.folder), allow_empty=True,
        allow_missing=True, prepared_texts=public.prepared[settings],
    )  # fmt: skip
    public.came.append(f"{part.study}: {came.lines()[0]}")


def _items(
    session: orm.Session, admin: Principal, public: Public, part: Part, protocol: Protocol,
    progress: Callable[[int, int], None], *, is_answered: bool,
) -> None:  # fmt: skip
    """Its probes, or every pair or report; nobody is asked, so that no slot is made.

    Of probes about which no answer is among the files some are drawn: each holds its sources whole, and all of a large
    study's are gigabytes.
    """
    if part.probes:
        probes = read_part_probes(part, protocol, public.folder, public.tree)
        public.lacks += _left(part, probes.problems)
        probes = replace(probes, problems=())
        if not is_answered and len(probes.probes) > UNANSWERED:
            drawn = simulating.spread(
                probes.probes, UNANSWERED, SEED, lambda one: (one.topic, f"{one.where} {one.key}")
            )
            public.came.append(
                f"{part.study}: {UNANSWERED:,} of {len(probes.probes):,} probes, drawn topic by topic, since the files "
                "hold no answer about them; calipers import probes brings in all"
            )
            probes = replace(probes, probes=tuple(drawn))
        came = import_probes(session, admin, probes, layout=part.probes, source=str(public.folder), progress=progress)
        public.came.append(f"{part.study}: {came.lines()[0]}")
    else:
        apply_plan(session, admin, make_plan(session, admin, design=part.design, overlap=0))


def _answers(
    session: orm.Session, admin: Principal, public: Public, part: Part, source: ResultsSource | None, path: Path,
    system: str, kind: str, protocol: Protocol,
) -> None:  # fmt: skip
    """The answers below one folder; what is about nothing in the study is told of, and stops nothing."""
    assert source is not None
    options = _options(part, source, system, kind, protocol)
    try:
        with session.begin_nested():
            read = RESULT_LAYOUTS[source.layout].read(path, options)
            whole = replace(read, problems=()) if read.rows else read
            came = import_results(
                session, admin, whole, kind=kind, layout=source.layout, source=str(path), options=options
            )
    except errors.ImportingError as error:
        public.lacks.append(f"{part.study}: {_one_line(error)}")
    else:
        public.came.append(f"{part.study}: {came.lines()[0]}")
        public.lacks += _left(part, read.problems)


def _left(part: Part, problems: Sequence[str]) -> list[str]:
    """A file that cannot be read is told of, and the others count: of thousands one may be empty or cut off."""
    return [f"{part.study}: {_first(problems)}"] if problems else []


def _options(part: Part, source: ResultsSource, system: str, kind: str, protocol: Protocol) -> ResultOptions:
    return ResultOptions(
        judge="" if source.named or kind == "labels" else part.judge, system=system, first=source.first,
        paired=protocol.task_type == "pairwise_choice", probe=protocol.answers.probe or "",
    )  # fmt: skip


def _simulate(session: orm.Session, admin: Principal, study: Study, part: Part, protocol: Protocol) -> frozenset[str]:
    rows = Results(tuple(simulating.simulated_rows(session, study, part.people, part.judge)))
    options = ResultOptions(paired=protocol.task_type == "pairwise_choice", probe=protocol.answers.probe or "")
    import_results(session, admin, rows, kind="labels", layout="labels", source="simulated", options=options)
    return frozenset({"human": "people", "judge": "judge"}[row.kind] for row in rows.rows)


def read_public(recipe: Recipe, folder: Path, *, simulate: bool) -> Public:
    """The study's files with the reports among them, or stand-ins where it published none.

    Raises ImportingError, one sentence, unless they are there and whole.
    """
    if not folder.is_dir():
        raise ImportingError(f"{folder}: no such folder; give a clone or download of {recipe.title}'s public files")
    tree = layouts.tree_of(recipe.layout, folder)
    try:
        parsed = layouts.LAYOUTS[recipe.layout].read(tree, "utf-8")
    except errors.NoReports:
        parsed = _judged(recipe, folder, tree)
        known = f"; answers about {len(parsed.reports):,} count without their text" if parsed.reports else ""
        return Public(recipe, folder, tree, parsed, simulate, lacks=[f"the reports themselves{known}"])
    except ImportingError as error:
        why = f"no public files of {recipe.title}{_other(recipe, folder)}"
        raise ImportingError(f"{folder}: {why}: {_first(error.problems)}") from None
    if parsed.problems:
        raise ImportingError(f"{folder}: the files of {recipe.title} are not whole: {_first(parsed.problems)}")
    return Public(recipe, folder, tree, parsed, simulate)


def _judged(recipe: Recipe, folder: Path, tree: Path) -> Parsed:
    """A stand-in for each report that result files are about, so that what was said of it counts."""
    about: dict[tuple[str, str], None] = {}
    for part in recipe.part:
        protocol = parse_protocol(protocol_text(part))
        for source, kind in ((part.judges, "judge-results"), (part.people.labels, "labels")):
            for path, system in answers_at(source, folder, tree, ()):
                assert source is not None
                with suppress(ImportingError):  # told of where these answers are to come in
                    found = RESULT_LAYOUTS[source.layout].read(path, _options(part, source, system, kind, protocol))
                    about |= {(row.topic, name): None for row in found.rows for name in row.systems}
    return Parsed(
        tuple(records.TopicRecord(topic, topic) for topic in dict.fromkeys(topic for topic, _ in about)),
        tuple(records.SystemRecord(name, name) for name in dict.fromkeys(name for _, name in about)),
        tuple(records.report_in_row(UNPUBLISHED, "not published", *one) for one in about),
    )


def _first(problems: Sequence[str]) -> str:
    more = f" (and {counted(len(problems) - 1, 'problem')} more)" if len(problems) > 1 else ""
    return problems[0].splitlines()[0] + more


def _other(recipe: Recipe, folder: Path) -> str:
    """What the folder looks like instead, if it looks like one of the other layouts."""
    try:
        layout = layouts.propose(folder)[0]
    except ImportingError:
        return ""
    return "" if layout == recipe.layout else f" (it looks like {layouts.LAYOUTS[layout].looks_like})"


def answers_at(
    source: ResultsSource | None, folder: Path, tree: Path, systems: Sequence[str]
) -> list[tuple[Path, str]]:
    """Where answers lie, and whose reports they judge ("": their files say it); none where no such file is there."""
    if source is None:
        return []
    roots = [root / name for root in (tree, folder) for name in source.folders]
    root = next((one for one in roots if _holds(one, source.pattern)), None)
    if root is None:
        return []
    if not source.each_system:
        return [(root, "")]
    return [(root / name, name) for name in systems if _holds(root / name, source.pattern)]


def _holds(folder: Path, pattern: str) -> bool:
    return folder.is_dir() and next(folder.rglob(pattern), None) is not None


def read_part_probes(part: Part, protocol: Protocol, folder: Path, tree: Path) -> ParsedProbes:
    """The claims or facts of a part. Raises ImportingError, the first problem of them all, where none can be read."""
    roots = [root / name for name in part.probes_from for root in (folder, tree)]
    root = next((one for one in roots if one.is_dir()), tree)
    sources = next(
        (one / part.sources for one in (folder, tree) if part.sources and (one / part.sources).is_dir()), None
    )
    answers = protocol.answers
    # pages that a study fetched and never published: its judge's answers about the claims count without them
    context = "report" if part.sources and sources is None else answers.context
    options = ProbeOptions(
        kind=answers.probe or "", context=context, answers=tuple(label.id for label in answers.labels),
        sources=sources,
    )  # fmt: skip
    parsed = layouts.PROBE_LAYOUTS[part.probes].read(root if part.probes_from != (".",) else tree, options)
    if parsed.problems and not parsed.probes:
        raise ImportingError(_first(parsed.problems))
    return parsed

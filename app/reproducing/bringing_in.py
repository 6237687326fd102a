"""The parts of a published study become studies of calipers: whether a folder holds its public files, where its answers
and probes lie, and its reports, items, and the answers of judges and people."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Engine, orm

from annotation import errors, studies
from annotation.errors import ImportingError
from annotation.files import folders
from annotation.files.decoding import some_of
from annotation.importing import layouts
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions
from annotation.importing.claims.probes_write import import_probes
from annotation.importing.labels.results import ResultOptions, ResultRow, Results
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
from db.tables import NO_TEXT, Study
from plain.counting import counted

SEED = 7
ONE_STUDY = "answers and reports of two languages or conditions are never one study: leave one of the two folders"
STAND_IN = "The text of this report is not among the files that the study published."
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
    read: dict[tuple[str, str, Path], Results] = field(default_factory=dict)  # by part, kind and folder
    told: set[tuple[str, str]] = field(default_factory=set)

    def lack(self, part: Part, problems: Sequence[str], what: str = "") -> None:
        """A file that cannot be read is told of once, and the others count: of thousands one may be empty or cut."""
        new = [one for one in problems if (part.study, one.partition(":")[0]) not in self.told]
        self.told |= {(part.study, one.partition(":")[0]) for one in new}
        self.lacks += [f"{part.study}: {what}{_first(new)}"] if new else []

    def tell_unnamed(self, part: Part, kind: str) -> None:
        """Of result files that do not say whose reports they judge, those below no folder called like a system."""
        source = source_of(part, kind)
        if source and source.each_system:
            places = [place for place, _ in self.places(source)]
            files = files_below(self.folder, source.pattern)
            if left := [shown for file, shown in files if not any(map(file.is_relative_to, places))]:
                count = counted(len(left), "result file")
                self.lacks.append(f"{part.study}: {count} in no folder called like a system ({some_of(left, 3)})")

    def places(self, source: ResultsSource | None) -> list[tuple[Path, str]]:
        """Where its answers lie; see `answers_at`."""
        return answers_at(source, self.folder, self.tree, [one.key for one in self.parsed.systems])

    def answers(self, part: Part, kind: str) -> Iterator[tuple[str, Path, Results]]:
        """Whose reports, in which folder, and the answers of judges or people there, read once; told of if refused."""
        for path, system in self.places(source := source_of(part, kind)):
            assert source is not None
            try:
                if (at := (part.study, kind, path)) not in self.read:
                    found = once(RESULT_LAYOUTS[source.layout].read(path, options_of(part, kind, system)))
                    by_people = tuple(row for row in found.rows if row.kind == "human")
                    self.read[at] = replace(found, rows=by_people) if kind == "labels" else found
            except ImportingError as error:
                self.lack(part, error.problems)
            else:
                yield system, path, self.read[at]


def bring_in(engine: Engine, public: Public, advance: Advance) -> dict[str, frozenset[str]]:
    """Each part as a study of the database. Its name -> whose answers were invented; a part that fails is told of."""
    made: dict[str, frozenset[str]] = {}
    for number, part in enumerate(public.recipe.part if public.parsed.reports else ()):
        at = Steps(advance, part.study, number, len(public.recipe.part))
        try:
            with transaction(engine) as session:
                made[part.study] = _make(session, public, part, at)
        except ImportingError as error:
            public.lack(part, error.problems)
        except errors.AnnotationError as error:
            public.lack(part, str(error).splitlines())
    return made


def _make(session: orm.Session, public: Public, part: Part, at: Steps) -> frozenset[str]:
    """Write one part; returns whose answers were invented."""
    text = protocol_text(part)
    protocol = parse_protocol(text)
    labels, judged = [*public.answers(part, "labels")], [*public.answers(part, "judge-results")]
    simulated = public.simulate and not public.places(part.people.labels) and part.people.annotators > 0
    study = studies.init_study(session, part.study, text, SEED, is_simulated=simulated)
    admin = local_admin(study)
    _reports(session, admin, public, part, protocol, at("reports"))
    about = {
        (folders.as_file_name(row.topic), system)
        for _, _, read in (*labels, *judged)
        for row in read.rows
        for system in row.systems
    }
    _items(session, admin, public, part, protocol, at("items"), about)
    for system, path, read in judged:
        at(f"answers about {system or 'all systems'}")
        _answers(session, admin, public, part, "judge-results", system, path, read)
    at("people's answers")
    for system, path, read in labels:
        _answers(session, admin, public, part, "labels", system, path, read)
    invented = _simulate(session, admin, study, part) if simulated else frozenset[str]()
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
    progress: Callable[[int, int], None], about: Collection[tuple[str, str]],
) -> None:  # fmt: skip
    """Its probes, or every pair or report; nobody is asked, so that no slot is made.

    Of many probes those of reports that answers are `about` come in, or some are drawn where nobody answered: each
    holds its sources whole, and all of a large study's are gigabytes.
    """
    if part.probes:
        probes = read_part_probes(part, protocol, public.folder, public.tree)
        public.lack(part, probes.problems)
        probes = replace(probes, problems=())
        if len(probes.probes) > UNANSWERED:
            kept = [
                one for one in probes.probes if not one.system or (folders.as_file_name(one.topic), one.system) in about
            ]
            how = "of reports that answers are about"
            if not about:
                how = "drawn topic by topic, since the files hold no answer about them"
                kept = simulating.spread(
                    probes.probes, UNANSWERED, SEED, lambda one: (one.topic, f"{one.where} {one.key}")
                )
            public.came += [
                f"{part.study}: {len(kept):,} of {len(probes.probes):,} probes, {how}; "
                "calipers import probes brings in all"
            ] * (len(kept) < len(probes.probes))
            probes = replace(probes, probes=tuple(kept))
        came = import_probes(session, admin, probes, layout=part.probes, source=str(public.folder), progress=progress)
        public.came.append(f"{part.study}: {came.lines()[0]}")
    else:
        apply_plan(session, admin, make_plan(session, admin, design=part.design, overlap=0))


def _answers(
    session: orm.Session, admin: Principal, public: Public, part: Part, kind: str, system: str, path: Path,
    read: Results,
) -> None:  # fmt: skip
    """The answers below one folder; one that cannot come in, or is about nothing, is told of and stops nothing."""
    source = source_of(part, kind)
    assert source is not None
    whole = replace(read, problems=()) if read.rows else read
    for _ in range(2):
        try:
            with session.begin_nested():
                came = import_results(
                    session, admin, whole, kind=kind, layout=source.layout, source=str(path),
                    options=options_of(part, kind, system),
                )  # fmt: skip
        except ImportingError as error:
            refused = {text[:end] for text in error.problems for end, sign in enumerate(text) if sign == ":"}
            kept = tuple(row for row in whole.rows if row.where not in refused)
            left = len(whole.rows) - len(kept)
            public.lack(part, error.problems, f"{counted(left, 'answer')} left out: " if left and kept else "")
            if not (left and kept):
                return
            whole = replace(whole, rows=kept)
        else:
            public.came.append(f"{part.study}: {came.lines()[0]}")
            public.lack(part, read.problems)
            public.lack(part, [f"{why}: {counted(len(at), 'answer')} ({at[0]})" for why, at in came.unmatched.items()])
            return


def source_of(part: Part, kind: str) -> ResultsSource | None:
    """Where the public files have the answers of judges, or of people."""
    return part.judges if kind == "judge-results" else part.people.labels


def options_of(part: Part, kind: str, system: str = "") -> ResultOptions:
    """How the answers of judges or people about a part are read."""
    source = source_of(part, kind)
    protocol = parse_protocol(protocol_text(part))
    return ResultOptions(
        judge=part.judge if kind == "judge-results" and source and not source.named else "", system=system,
        first=source.first if source else "", paired=protocol.task_type == "pairwise_choice",
        probe=protocol.answers.probe or "",
    )  # fmt: skip


def _simulate(session: orm.Session, admin: Principal, study: Study, part: Part) -> frozenset[str]:
    rows = Results(tuple(simulating.simulated_rows(session, study, part.people, part.judge)))
    import_results(
        session, admin, rows, kind="labels", layout="labels", source="simulated",
        options=options_of(part, "labels"),
    )  # fmt: skip
    return frozenset({"human": "people", "judge": "judge"}[row.kind] for row in rows.rows)


def read_public(recipe: Recipe, folder: Path, *, simulate: bool) -> Public:
    """The study's files with the reports among them, and a stand-in for each that only answers are about.

    Raises ImportingError, one sentence, unless they are there, and hold one report of a system on a topic.
    """
    if not folder.is_dir():
        raise ImportingError(f"{folder}: no such folder; give a clone or download of {recipe.title}'s public files")
    tree = layouts.tree_of(recipe.layout, folder)
    try:
        parsed = layouts.LAYOUTS[recipe.layout].read(tree, "utf-8")
    except errors.NoReports:
        parsed = Parsed((), (), ())
    except ImportingError as error:
        why = f"the public files of {recipe.title} cannot be read{_other(recipe, folder)}"
        raise ImportingError(f"{folder}: {why}: {_first(error.problems)}") from None
    if twice := records.duplicate_keys(parsed.reports):
        raise ImportingError(f"{folder}: {_first(twice)}; {ONE_STUDY}")
    if parsed.problems and not parsed.reports:
        raise ImportingError(f"{folder}: the files of {recipe.title} are not whole: {_first(parsed.problems)}")
    public = Public(recipe, folder, tree, replace(parsed, problems=()), simulate)
    public.lacks += [f"reports: {_first(parsed.problems)}"] if parsed.problems else []
    public.parsed = _with_stand_ins(public)
    return public


def _with_stand_ins(public: Public) -> Parsed:
    """The reports, and one for each that only answers are about, so that what was said of it counts."""
    parsed = public.parsed
    topics, titles = {one.key for one in parsed.topics}, {one.title: one.key for one in parsed.topics}
    systems, names = {one.key for one in parsed.systems}, {one.public_name: one.key for one in parsed.systems}
    about: dict[tuple[str, str], None] = {}
    for part in public.recipe.part:
        for kind in ("judge-results", "labels"):
            public.tell_unnamed(part, kind)
            for _, _, read in public.answers(part, kind):
                about |= {
                    (_known(row.topic, topics, titles), _known(name, systems, names)): None
                    for row in read.rows
                    for name in row.systems
                }
    bare = [one for one in about if one not in {(report.topic, report.system) for report in parsed.reports}]
    if not parsed.reports:
        known = f"; answers about {len(bare):,} count without their text" if bare else ""
        public.lacks.insert(0, f"the reports themselves{known}")
    elif bare:
        some = some_of([f"{topic} of {system}" for topic, system in bare], 3)
        public.lacks.append(
            f"{counted(len(bare), 'report')}, which answers are about; they count without the text ({some})"
        )
    new_topics, new_systems = (dict.fromkeys(names) for names in zip(*bare, strict=True)) if bare else ({}, {})
    return replace(
        parsed,
        topics=(*parsed.topics, *(records.TopicRecord(key, key) for key in new_topics if key not in topics)),
        systems=(*parsed.systems, *(records.SystemRecord(key, key) for key in new_systems if key not in systems)),
        reports=(
            *parsed.reports,
            *(replace(records.report_in_row(STAND_IN, NO_TEXT, *one), encoding=NO_TEXT) for one in bare),
        ),
    )  # fmt: skip


def _known(name: str, keys: Collection[str], others: Mapping[str, str]) -> str:
    """The key that a result file's name stands for, as imported answers find it; else the name itself."""
    return folders.match(name, keys) or others.get(folders.match(name, others) or "", name)


def once(read: Results) -> Results:
    """The same. Raises ImportingError where two folders answer one question otherwise."""
    first: dict[Hashable, ResultRow] = {}
    for row in read.rows:
        asked = row.kind, row.rater, row.topic, frozenset(row.systems), row.criterion, row.probe_key, row.probe
        other = first.setdefault((*asked, row.item, row.run, row.pass_no), row)
        of = [one.where.partition(": ")[0].rpartition("/")[0] for one in (row, other)]
        if None not in (row.answer, other.answer) and row.answer != other.answer and of[0] != of[1]:
            raise ImportingError(f"{row.where}: another answer than {other.where}; {ONE_STUDY}")
    return read


def _first(problems: Sequence[str]) -> str:
    """The first, and in which files how many more are."""
    first, *more = problems
    where = some_of([*dict.fromkeys(one.partition(":")[0] for one in more)], 5)
    return first.splitlines()[0] + (f" (and {counted(len(more), 'problem')} more: {where})" if more else "")


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
    """The first folder that holds all answers (""), or one each of a system whose name the files do not say."""
    every = [file for file, _ in files_below(folder, source.pattern)] if source else []
    if source is None or not every:
        return []
    roots = dict.fromkeys([*(root / name for root in (tree, folder) for name in source.folders), folder])
    if not source.each_system:
        return [(next(root for root in roots if all(file.is_relative_to(root) for file in every)), "")]
    named = [(root / name, name) for root in roots for name in systems]
    return [(place, name) for place, name in named if any(file.is_relative_to(place) for file in every)]


def files_below(folder: Path, pattern: str) -> list[tuple[Path, str]]:
    """As `folders.files`, none where there are none."""
    with suppress(ImportingError):
        return folders.files(folder, pattern)
    return []


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

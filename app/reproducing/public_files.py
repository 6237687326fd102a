"""The public files of a study, read: its reports, and where the answers and probes of its parts lie."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotation import errors
from annotation.errors import ImportingError
from annotation.files import folders
from annotation.files.decoding import some_of
from annotation.importing import layouts
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions
from annotation.importing.labels.results import ResultOptions, ResultRow, Results
from annotation.importing.reports import records
from annotation.protocol import Protocol, parse_protocol
from app.reproducing.recipes import Part, Recipe, ResultsSource, protocol_text
from db.tables import NO_TEXT
from plain.counting import counted

ONE_STUDY = "answers and reports of two languages or conditions are never one study: leave one of the two folders"
STAND_IN = "The text of this report is not among the files that the study published."


@dataclass(frozen=True)
class Answers:
    """What was read below one folder; `options.system` is whose reports it is about, "" of all."""

    kind: str
    layout: str
    path: Path
    options: ResultOptions
    read: Results


@dataclass
class Public:
    """The public files, and what was told of them on the way."""

    recipe: Recipe
    folder: Path
    tree: Path
    parsed: records.Parsed
    came: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    read: dict[tuple[str, str, Path], Results] = field(default_factory=dict)  # by part, kind and folder
    told: set[tuple[str, str]] = field(default_factory=set)

    def lack(self, part: Part, problems: Sequence[str], what: str = "") -> None:
        """A file that cannot be read is told of once, and the others count: of thousands one may be empty or cut."""
        new = [one for one in problems if (part.study, one.partition(":")[0]) not in self.told]
        self.told |= {(part.study, one.partition(":")[0]) for one in new}
        self.lacks += [f"{part.study}: {what}{_first(new)}"] if new else []

    def tell_unnamed(self, part: Part, kind: str) -> None:
        """Of result files that do not say whose reports they judge, those below no folder called like a system."""
        source = part.answers(kind)
        if source and source.each_system:
            places = [place for place, _ in self.places(source)]
            files = files_below(self.folder, source.pattern)
            if left := [shown for file, shown in files if not any(map(file.is_relative_to, places))]:
                count = counted(len(left), "result file")
                self.lacks.append(f"{part.study}: {count} in no folder called like a system ({some_of(left, 3)})")

    def places(self, source: ResultsSource | None) -> list[tuple[Path, str]]:
        """Where its answers lie; see `answers_at`."""
        return answers_at(source, self.folder, self.tree, [one.key for one in self.parsed.systems])

    def answers(self, part: Part, kind: str) -> Iterator[Answers]:
        """The answers of judges or people, folder by folder, each read once; one that is refused is told of."""
        source = part.answers(kind)
        if source is None:
            return
        for path, system in self.places(source):
            options = options_of(part, kind, system)
            try:
                if (at := (part.study, kind, path)) not in self.read:
                    found = once(layouts.RESULT_LAYOUTS[source.layout].read(path, options))
                    by_people = tuple(row for row in found.rows if row.kind == "human")
                    self.read[at] = replace(found, rows=by_people) if kind == "labels" else found
            except ImportingError as error:
                self.lack(part, error.problems)
            else:
                yield Answers(kind, source.layout, path, options, self.read[at])


def read_public(recipe: Recipe, folder: Path) -> Public:
    """The study's files with the reports among them, and a stand-in for each that only answers are about.

    Raises ImportingError, one sentence, unless they are there, and hold one report of a system on a topic.
    """
    if not folder.is_dir():
        raise ImportingError(f"{folder}: no such folder; give a clone or download of {recipe.title}'s public files")
    tree = layouts.tree_of(recipe.layout, folder)
    try:
        parsed = layouts.LAYOUTS[recipe.layout].read(tree, "utf-8")
    except errors.NoReports as none:
        parsed = records.Parsed(none.topics, (), ())
    except ImportingError as error:
        why = f"the public files of {recipe.title} cannot be read{_other(recipe, folder)}"
        raise ImportingError(f"{folder}: {why}: {_below(folder, error.problems)}") from None
    if twice := records.duplicate_keys(parsed.reports):
        raise ImportingError(f"{folder}: {_below(folder, twice)}; {ONE_STUDY}")
    if parsed.problems and not parsed.reports:
        raise ImportingError(f"{folder}: the files of {recipe.title} are not whole: {_below(folder, parsed.problems)}")
    public = Public(recipe, folder, tree, replace(parsed, problems=()))
    public.lacks += [f"reports: {_first(parsed.problems)}"] if parsed.problems else []
    public.parsed = _with_stand_ins(public)
    return public


def _with_stand_ins(public: Public) -> records.Parsed:
    """The reports, and one for each that only answers are about, so that what was said of it counts."""
    parsed = public.parsed
    topics, titles = {one.key for one in parsed.topics}, {one.title: one.key for one in parsed.topics}
    systems, names = {one.key for one in parsed.systems}, {one.public_name: one.key for one in parsed.systems}
    about: dict[tuple[str, str], None] = {}
    for part in public.recipe.part:
        for kind in ("judge-results", "labels"):
            public.tell_unnamed(part, kind)
            for answers in public.answers(part, kind):
                for row in answers.read.rows:
                    topic = folders.match_either(row.topic, topics, titles) or row.topic
                    about |= {(topic, folders.match_either(name, systems, names) or name): None for name in row.systems}
    bare = [one for one in about if one not in {(report.topic, report.system) for report in parsed.reports}]
    if not parsed.reports:
        known = f"; answers about {len(bare):,} count without their text" if bare else ""
        public.lacks.insert(0, f"the reports themselves{known}")
    elif bare:
        some = some_of([f"{topic} of {system}" for topic, system in bare], 3)
        public.lacks.append(
            f"{counted(len(bare), 'report')}, which answers are about; they count without the text ({some})"
        )
    kept = [one for one in parsed.topics if parsed.reports or one.key in {topic for topic, _ in bare}]
    new_topics, new_systems = (dict.fromkeys(names) for names in zip(*bare, strict=True)) if bare else ({}, {})
    return replace(
        parsed,
        topics=(*kept, *(records.TopicRecord(key, key) for key in new_topics if key not in topics)),
        systems=(*parsed.systems, *(records.SystemRecord(key, key) for key in new_systems if key not in systems)),
        reports=(
            *parsed.reports,
            *(replace(records.report_in_row(STAND_IN, NO_TEXT, *one), encoding=NO_TEXT) for one in bare),
        ),
    )  # fmt: skip


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


def _below(folder: Path, problems: Sequence[str]) -> str:
    """`_first`, for a sentence that begins with the folder."""
    return _first([one.removeprefix(f"{folder}: ") for one in problems])


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


def options_of(part: Part, kind: str, system: str = "") -> ResultOptions:
    """How the answers of judges or people about a part are read."""
    source = part.answers(kind)
    protocol = parse_protocol(protocol_text(part))
    return ResultOptions(
        judge=part.judge if kind == "judge-results" and source and not source.named else "", system=system,
        first=source.first if source else "", paired=protocol.task_type == "pairwise_choice",
        probe=protocol.answers.probe or "",
    )  # fmt: skip


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

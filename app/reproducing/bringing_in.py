"""The parts of a published study become studies of calipers: reports, items, and the answers of judges and people."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from sqlalchemy import Engine, orm

from annotation import errors, studies
from annotation.errors import ImportingError
from annotation.files import folders
from annotation.importing.claims.probe_records import ProbeRecord
from annotation.importing.claims.probes_write import ProbesReport, import_probes
from annotation.importing.labels.results import Results
from annotation.importing.labels.results_write import ResultsReport, import_results
from annotation.importing.reports import write
from annotation.importing.reports.import_report import ImportReport
from annotation.people.principals import Principal, local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.protocol import Protocol
from annotation.shown_texts.prepare import Prepared
from annotation.work.open_and_close import reveal
from app.reproducing import simulating
from app.reproducing.public_files import Answers, Public, options_of, read_part_probes
from app.reproducing.recipes import Part, protocol_text
from db.connect import transaction
from db.tables import Study
from plain.counting import counted

SEED = 7
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


def bring_in(engine: Engine, public: Public, advance: Advance, *, simulate: bool) -> dict[str, frozenset[str]]:
    """Each part as a study of the database. Its name -> whose answers were invented; a part that fails is told of.

    `simulate`: people whose labels are not among the public files.
    """
    made: dict[str, frozenset[str]] = {}
    prepared: dict[str, list[Prepared]] = {}
    for number, part in enumerate(public.recipe.part if public.parsed.reports else ()):
        at = Steps(advance, part.study, number, len(public.recipe.part))
        simulated = simulate and part.people.annotators > 0 and not public.places(part.people.labels)
        try:
            with transaction(engine) as session:
                study = studies.init_study(session, part.study, protocol_text(part), SEED, is_simulated=simulated)
                new = Bringing(session, study, studies.protocol_of(study), local_admin(study), public, part)
                made[part.study] = new.whole(prepared, at)
        except ImportingError as error:
            public.lack(part, error.problems)
        except errors.AnnotationError as error:
            public.lack(part, str(error).splitlines())
    return made


@dataclass(frozen=True)
class Bringing:
    """One part, and the study that it becomes."""

    session: orm.Session
    study: Study
    protocol: Protocol
    admin: Principal
    public: Public
    part: Part

    def whole(self, prepared: dict[str, list[Prepared]], at: Steps) -> frozenset[str]:
        """Whose answers were invented. `prepared`: texts by the settings they are made with."""
        labels, judged = ([*self.public.answers(self.part, kind)] for kind in ("labels", "judge-results"))
        self._reports(prepared, at("reports"))
        about = {
            (folders.as_file_name(row.topic), system)
            for one in (*labels, *judged)
            for row in one.read.rows
            for system in row.systems
        }
        self._items(at("items"), about)
        for one in judged:
            at(f"answers about {one.options.system or 'all systems'}")
            self._answers(one)
        at("people's answers")
        for one in labels:
            self._answers(one)
        invented = self._simulate() if self.study.is_simulated else frozenset[str]()
        reveal(self.session, self.admin)  # nobody works here who must not know the systems
        return invented

    def _came(self, came: ImportReport | ProbesReport | ResultsReport) -> None:
        self.public.came.append(f"{self.part.study}: {came.lines()[0]}")

    def _reports(self, prepared: dict[str, list[Prepared]], progress: Callable[[int, int], None]) -> None:
        public, settings = self.public, f"{self.protocol.reports.model_dump_json()} {self.protocol.study.layout}"
        if settings not in prepared:
            prepared[settings] = write.prepare_all(self.session, self.admin, public.parsed, progress)
        self._came(write.import_reports(
            self.session, self.admin, public.parsed, layout=public.recipe.layout, source=str(public.folder),
            allow_empty=True, allow_missing=True, prepared_texts=prepared[settings],
        ))  # fmt: skip

    def _items(self, progress: Callable[[int, int], None], about: Collection[tuple[str, str]]) -> None:
        """Its probes, or every pair or report; nobody is asked, so that no slot is made."""
        session, admin, part, public = self.session, self.admin, self.part, self.public
        if not part.probes:
            apply_plan(session, admin, make_plan(session, admin, design=part.design, overlap=0))
            return
        probes = read_part_probes(part, self.protocol, public.folder, public.tree)
        public.lack(part, probes.problems)
        kept = replace(probes, problems=(), probes=self._wanted(probes.probes, about))
        self._came(import_probes(
            session, admin, kept, layout=part.probes, source=str(public.folder), progress=progress
        ))  # fmt: skip

    def _wanted(self, probes: tuple[ProbeRecord, ...], about: Collection[tuple[str, str]]) -> tuple[ProbeRecord, ...]:
        """Of many probes those of reports that answers are `about`, or some that are drawn where nobody answered.

        Each holds its sources whole, and all of a large study's are gigabytes.
        """
        if len(probes) <= UNANSWERED:
            return probes
        if about:
            how = "of reports that answers are about"
            kept = [one for one in probes if not one.system or (folders.as_file_name(one.topic), one.system) in about]
        else:
            how = "drawn topic by topic, since the files hold no answer about them"
            kept = simulating.spread(probes, UNANSWERED, SEED, lambda one: (one.topic, f"{one.where} {one.key}"))
        if len(kept) < len(probes):
            count = f"{len(kept):,} of {len(probes):,} probes"
            self.public.came.append(f"{self.part.study}: {count}, {how}; calipers import probes brings in all")
        return tuple(kept)

    def _answers(self, found: Answers) -> None:
        """Those that cannot come in, or are about nothing, are told of and stop nothing."""
        public, part = self.public, self.part
        whole = replace(found.read, problems=()) if found.read.rows else found.read
        for _ in range(2):
            try:
                with self.session.begin_nested():
                    came = import_results(
                        self.session, self.admin, whole, kind=found.kind, layout=found.layout, source=str(found.path),
                        options=found.options,
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
                self._came(came)
                public.lack(part, found.read.problems)
                nothing = came.unmatched.items()
                public.lack(part, [f"{why}: {counted(len(at), 'answer')} ({at[0]})" for why, at in nothing])
                return

    def _simulate(self) -> frozenset[str]:
        part = self.part
        rows = Results(tuple(simulating.simulated_rows(self.session, self.study, part.people, part.judge)))
        import_results(
            self.session, self.admin, rows, kind="labels", layout="labels", source="simulated",
            options=options_of(part, "labels"),
        )  # fmt: skip
        return frozenset({"human": "people", "judge": "judge"}[row.kind] for row in rows.rows)

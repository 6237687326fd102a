"""What each published study consists of, and the numbers that it prints: one TOML file a study, read and checked."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml

FOLDER = Path(__file__).parent / "published"


class _Read(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultsSource(_Read):
    """Labels of judges or of people among the public files. `folders`: where they may lie, below the given folder.

    `pattern`: of their files; `each_system`: a folder below these is called like the system whose reports are judged.
    """

    layout: str
    folders: tuple[str, ...]
    named: bool = False  # the files say themselves who judged
    pattern: str
    first: str = ""
    each_system: bool = False


class People(_Read):
    """How the study's people worked: how many they were, how many items they read, and how many read each."""

    annotators: int
    items: int
    readers: int
    labels: ResultsSource | None = None
    never: str  # why their labels are not among the public files, where they are not


class Part(_Read):
    """One study of calipers, by the protocol of that name.

    `beside`: other parts of the same reports that its report is joined with; `conditions`: two systems, topic by topic;
    `panels`: a file of judges whose panels take part.
    """

    study: str
    protocol: str
    people: People
    judge: str  # whom the paper asked, as its public result files or its text call it
    design: Literal["reference", "all"] = "reference"
    probes: str = ""
    probes_from: tuple[str, ...] = (".",)
    sources: str = ""
    judges: ResultsSource | None = None
    preset: str = ""
    leakage: float = 0.0  # a share of words: reports that quote their reference in more are counted
    references: str = ""  # the folder of the lists of works that reports should cite
    beside: tuple[str, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()
    panels: str = ""

    def answers(self, kind: str) -> ResultsSource | None:
        """Where the public files have the answers of judges, or of people."""
        return self.judges if kind == "judge-results" else self.people.labels


class Number(_Read):
    """One number of the paper: where it is printed, and the cell of ours that it is held against.

    `published`: as it is printed, "" where it is unknown to us. `row`: the first cells of the row in small
    letters, `*` for any, `!name` for any but this; `mean`: over all rows that fit.
    `times`: what ours is multiplied by, 100 for percent. `needs`: whose answers it rests on; `lacking`: what it takes
    where nothing of ours is there.
    """

    place: str
    what: str
    published: str = ""
    part: str = ""
    table: str = ""
    row: tuple[str, ...] = ()
    column: str = ""
    mean: bool = False
    times: float = 1.0
    needs: tuple[Literal["people", "judge"], ...]
    lacking: str


class Recipe(_Read):
    """One published study. `layout`: of its reports."""

    name: str
    title: str
    source: str
    layout: str
    part: tuple[Part, ...]
    number: tuple[Number, ...]


def recipe_names() -> list[str]:
    """The studies that can be reproduced."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(name: str) -> Recipe:
    """Raises AnnotationError `unknown_study` naming those there are."""
    if name not in recipe_names():
        known = ", ".join(recipe_names())
        raise AnnotationError("unknown_study", f"no study {name!r} to reproduce; choose one of {known}")
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return Recipe.model_validate({"name": name, **read_toml(text)})


def protocol_text(part: Part) -> str:
    """The protocol of a part: one that calipers ships, or one beside the recipe."""
    from annotation.protocol import read_protocol

    own = FOLDER / "protocols" / f"{part.protocol}.toml"
    return own.read_text(encoding="utf-8") if own.is_file() else read_protocol(part.protocol)[1]

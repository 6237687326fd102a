"""The public files of a published study: whether a folder holds them, and where its answers and probes lie."""

from collections.abc import Sequence
from pathlib import Path

from annotation.errors import ImportingError
from annotation.importing import layouts
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions
from annotation.importing.reports.records import Parsed
from annotation.protocol import Protocol
from app.reproducing.recipes import Part, Recipe, ResultsSource
from plain.counting import counted


def read_tree(recipe: Recipe, folder: Path) -> tuple[Path, Parsed]:
    """The reports among the public files. Raises ImportingError, one sentence, unless they are there and whole."""
    if not folder.is_dir():
        raise ImportingError(f"{folder}: no such folder; give a clone or download of {recipe.title}'s public files")
    tree = layouts.tree_of(recipe.layout, folder)
    try:
        parsed = layouts.LAYOUTS[recipe.layout].read(tree, "utf-8")
    except ImportingError as error:
        why = f"no public files of {recipe.title}{_other(recipe, folder)}"
        raise ImportingError(f"{folder}: {why}: {_first(error.problems)}") from None
    if parsed.problems:
        raise ImportingError(f"{folder}: the files of {recipe.title} are not whole: {_first(parsed.problems)}")
    if not parsed.reports:
        raise ImportingError(
            f"{folder}: no report of {recipe.title} is there; expected {layouts.LAYOUTS[recipe.layout].looks_like}"
        )
    return tree, parsed


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
    roots = [root / name for root in (folder, tree) for name in source.folders]
    root = next((one for one in roots if _holds(one, source.pattern)), None)
    if root is None:
        return []
    if not source.each_system:
        return [(root, "")]
    return [(root / name, name) for name in systems if _holds(root / name, source.pattern)]


def _holds(folder: Path, pattern: str) -> bool:
    return folder.is_dir() and next(folder.rglob(pattern), None) is not None


def read_part_probes(part: Part, protocol: Protocol, folder: Path, tree: Path) -> ParsedProbes:
    """The claims or facts of a part. Raises ImportingError, the first problem of them all."""
    roots = [root / name for name in part.probes_from for root in (folder, tree)]
    root = next((one for one in roots if one.is_dir()), tree)
    sources = next(
        (one / part.sources for one in (folder, tree) if part.sources and (one / part.sources).is_dir()), None
    )
    answers = protocol.answers
    options = ProbeOptions(
        kind=answers.probe or "", context=answers.context, answers=tuple(label.id for label in answers.labels),
        sources=sources,
    )  # fmt: skip
    parsed = layouts.PROBE_LAYOUTS[part.probes].read(root if part.probes_from != (".",) else tree, options)
    if parsed.problems:
        raise ImportingError(_first(parsed.problems))
    return parsed

"""The house keeps its shape: short functions, short files, no circle of imports, every statistic in one place."""

from __future__ import annotations

import ast
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from calibration.agreement.catalogue import METRICS
from exports.bibliography import STATISTICS

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("app", "annotation", "calibration", "calipers", "db", "exports", "plain", "benchmarks")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
LONG = {
    "db/migrations/versions/0001_first_schema.py": "the first schema, whole; a migration never changes once it has landed",
}
# What has a mean, a spread or a draw and is no statistic of a study, by the file that takes it
OTHER_COUNTING = {
    "annotation/leaks/system_classifier.py": "the share of reports whose system a classifier recognises",
    "annotation/passages.py": "TF-IDF likeness of passages, shown to a reader",
    "annotation/open_work/quotas.py": "a flow problem: whom the remaining slots can reach",
    "annotation/leaks/blinding_audit.py": "the report whose removed share stands apart, for its owner to look at",
    "annotation/figures/pictures.py": "the likeness of two pictures, part by part, for their owner to look at",
}
OUTSIDE = ("app", "annotation", "calipers", "db", "exports")
STATISTICS_LIBRARIES = {"scipy", "sklearn", "krippendorff", "statsmodels", "statistics"}
STATISTICS_CALLS = {
    "mean", "nanmean", "average", "median", "std", "var", "sem", "cov", "corr", "corrcoef", "quantile", "nanquantile",
    "percentile", "nanpercentile", "rankdata", "default_rng",
}  # fmt: skip


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imports(path: Path) -> set[str]:
    """Dotted names of every import, inside functions and for types too; of `from a import b` both a and a.b."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_few_of_the_lines_are_imports_and_half_of_the_files_have_120_lines() -> None:
    """Functions that load a library when they need it are counted too."""
    own = [path for path in FILES if path.relative_to(ROOT).parts[0] != "benchmarks"]
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in own}
    lines = sum(
        len({at for node in ast.walk(parsed(path)) if isinstance(node, ast.Import | ast.ImportFrom)
             for at in range(node.lineno, (node.end_lineno or node.lineno) + 1)})
        for path in own
    )  # fmt: skip
    assert lines <= 0.07 * sum(lengths.values())
    assert statistics.median(lengths.values()) >= 120


def test_half_of_the_functions_have_at_most_8_lines_and_nine_of_ten_at_most_25() -> None:
    lengths = [(one.end_lineno or one.lineno) - one.lineno + 1 for path in FILES for one in functions(path)]
    assert len(lengths) > 3_000, "the walk found too few functions to mean anything"
    assert statistics.median(lengths) <= 8
    assert statistics.quantiles(lengths, n=10)[-1] <= 25


def test_no_file_is_over_400_lines_without_a_reason_and_no_reason_stands_there_for_nothing() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name for name, lines in lengths.items() if lines > 400} == set(LONG)


def test_nothing_imports_in_a_circle() -> None:
    sorter = TopologicalSorter({name: (imports(path) & set(MODULES)) - {name} for name, path in MODULES.items()})
    try:
        sorter.prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(reversed(circle.args[1])))


# From the ground up: a room imports only from rooms before it. A file beside the folders is a room of its own.
FLOORS = {
    "calibration": (
        "errors", "remarks", "warning_words", "estimates", "arithmetic", "inference", "sampling", "settings", "table", "study", "examining", "tidying", "agreement",
        "confidence", "systems", "totals", "biases", "people", "choosing", "comparing", "delegating", "warnings",
        "results", "calibrate", "sizing",
    ),
    "annotation": (
        "errors", "files", "tool_answers", "published_answers", "answer_layouts", "texts", "source_lists", "documents", "stripping", "canonical", "leaks", "blinding", "citations",
        "formulas", "rendering", "passages", "protocols", "protocol", "studies", "items", "labels", "designs", "people", "training",
        "figures", "open_work", "planning", "verdicts", "disputes", "adjudication", "work", "labelling", "participation",
        "offline", "judges", "shown_texts", "importing", "facts",
    ),
    "annotation.judges": (
        "defining", "replies", "money", "asking", "planning", "queue", "batches", "running", "reviewing",
        "stress_tests", "aligning",
    ),
    "annotation.importing": (
        "reports", "claims", "labels", "published_labels", "layouts",
        "gold", "bringing_in",
    ),
    "app": (
        "tokens", "settings", "logs", "texts", "component", "files", "setting_up", "progress", "results", "demo",
        "reproducing",
        "server", "commands", "screens", "command_line", "shell", "file_shell", "main",
    ),
    "app.commands": (
        "completing", "opening", "printing", "tidying", "doctor", "backup", "results", "judges", "people", "items", "study",
    ),
    "calipers": ("own_folders", "kept_reports", "label_files", "mapping_files", "named_nowhere", "joined_parts", "tidy_files", "notebook",
                 "__main__"),
    "app.screens": ("look", "leaving", "waiting", "report_page", "annotators", "results", "study", "evaluator"),
}  # fmt: skip
# Public names, which stay wherever the code behind them moves: no other code reads them
FACES = {
    "calibration": (
        "bias", "bootstrap", "ceiling", "choose", "compare", "correlation", "metrics", "planning", "ranking",
        "verdicts",
    ),
    "annotation": ("pairing",),
    "annotation.judges": ("client", "panel", "prices", "prompt", "reply", "run"),
    "annotation.importing": ("prepare",),
}  # fmt: skip


def room(house: str, module: str) -> str:
    return module.removeprefix(f"{house}.").partition(".")[0]


@pytest.mark.parametrize("house", FLOORS)
def test_a_room_imports_only_from_the_floors_below_it(house: str) -> None:
    floor = {name: at for at, name in enumerate(FLOORS[house])}
    rooms = {name: room(house, name) for name in MODULES if name.startswith(f"{house}.")}
    inside = {name: room for name, room in rooms.items() if room not in FACES.get(house, ())}
    assert set(inside.values()) == set(floor), "every room has its floor, and every floor is a room"
    upward = [
        f"{name} -> {other}"
        for name in inside
        for other in imports(MODULES[name]) & set(inside)
        if floor[inside[other]] > floor[inside[name]]
    ]
    assert upward == []


def test_only_the_world_outside_comes_through_the_faces() -> None:
    faces = {f"{house}.{name}" for house, names in FACES.items() for name in names}
    assert [name for name, path in MODULES.items() if not name.startswith("benchmarks") and imports(path) & faces] == []


def test_a_folder_holds_what_one_look_takes_in() -> None:
    held = Counter(path.parent.relative_to(ROOT).as_posix() for path in FILES if path.parts[-3] != "migrations")
    assert {folder: files for folder, files in held.items() if files > 18 and folder.startswith(tuple(FLOORS))} == {}


def test_every_picture_of_the_documents_is_shown_and_those_of_before_and_after_are_small() -> None:
    docs = ROOT / "docs"
    pages = [page.read_text("utf-8") for page in (ROOT / "README.md", *docs.rglob("*.md"))]
    shown = {name for page in pages for name in re.findall(r"screenshots/([\w.-]+)", page)}
    there = {one.name: one.stat().st_size for one in (docs / "screenshots").iterdir()}
    assert shown == {*there}
    assert [name for name, size in there.items() if re.search(r"before-|-\d+\.png", name) and size > 60_000] == []


def test_every_exception_from_a_check_says_why() -> None:
    bare = re.compile(r"# (noqa(: [A-Z]+[0-9]+)?|type: ignore(\[[a-z-]+\])?)$", re.MULTILINE)
    assert [path.relative_to(ROOT).as_posix() for path in FILES if bare.search(path.read_text("utf-8"))] == []


def counting(path: Path) -> set[str]:
    """What a file imports or calls to make a statistic of numbers."""
    libraries = {name.partition(".")[0] for name in imports(path)} & STATISTICS_LIBRARIES
    calls = (node.func for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    return libraries | {one.attr for one in calls if isinstance(one, ast.Attribute) and one.attr in STATISTICS_CALLS}


def test_statistics_are_made_in_calibration_alone() -> None:
    outside = [path for path in FILES if path.relative_to(ROOT).parts[0] in OUTSIDE]
    assert {path.relative_to(ROOT).as_posix() for path in outside if counting(path)} == set(OTHER_COUNTING)


def test_no_statistic_is_defined_outside_calibration_under_its_name() -> None:
    catalogue = ("metrics", "correlation", "bootstrap", "planning")
    named = {one.name for stem in catalogue for one in functions(ROOT / "calibration" / f"{stem}.py")}
    known = {name for name in named if not name.startswith("_")} | {one.name for one in METRICS} | set(STATISTICS)
    again = [
        f"{module}: {one.name}"
        for module, path in MODULES.items()
        for one in functions(path)
        if one.name in known and not module.startswith("calibration")
    ]
    assert again == []

"""Does a test fail when a limit moves by one step? `python benchmarks/mutations.py [PART-OF-A-PATH …] [--list]`.

Of every limit in the rooms where calipers decides (warnings, biases, choosing, comparing, delegating, the outcome of a
bias and of a stress test) the mutants are: the number one step up and one step down, a step being 1 of a whole number
and the last written digit of another, and the comparison with its edge for without (`<=` for `<`). A limit is a number
in a comparison of order or a module constant, wherever a constant used there is defined. pytest collects the tests
once; each mutant lives in a fork of that process, where the functions get the changed code or the modules the changed
constant, and the tests that enter the changed function run, the quickest first, up to the first failure. A mutant that
no test fails is a survivor; none is allowed but those of SURVIVORS, each with its reason.
"""

from __future__ import annotations

import ast
import copy
import gc
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.promises import Figure, record

TESTS = ("tests/calibration/limits",)
ROOMS = ("warnings", "biases", "choosing", "comparing", "delegating")
DESKS = ("study/bias.py", "inference/stress_effect.py")  # single files beside the rooms
EVERY_ONE = ("warnings/", *DESKS)  # where also none, one and several, and the sign, decide what is said
# limits that come from settings, a plan or a caller
GIVEN = (
    "margin", "level", "error", "alone_error", "min_clusters", "min_items", "min_difference", "tolerance", "floor",
    "allowed", "power", "bound",
)  # fmt: skip
WORK = ("EVERY", "SCALE", "FARTHEST", "RESAMPLES")  # how much is reckoned exactly, not what is said of it
NOISE = 1e-6  # a number below it keeps rounding out of a comparison, and is no limit
LONGEST_S = 120  # of one mutant: a loop that no longer ends is found too
OTHER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
# file, the line as it is after the change -> why no test can tell
SURVIVORS: Mapping[tuple[str, str], str] = {
    ("calibration/delegating/alone_steps.py", "MOST_TIMES = 65.0"): "the number is doubled from 1: after 64 comes 128",
    ("calibration/delegating/alone_steps.py", "high >= 1.02 * low"): "ratios are roots of two, and none is 1.02",
}


@dataclass(frozen=True)
class Mutant:
    """One changed place: `node` counts the nodes of the tree in `ast.walk`'s order."""

    file: str
    line: int
    node: int
    place: int  # of the operator among those of its comparison; -1 for a number
    value: float | None  # what the number becomes; None where an operator changes
    was: str
    reads: str
    constant: str = ""  # the name of a module constant

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.was}  ->  {self.reads}"


def files() -> list[Path]:
    """The modules that decide."""
    home = ROOT / "calibration"
    return [path for room in ROOMS for path in sorted((home / room).glob("*.py"))] + [home / one for one in DESKS]


@cache
def tree_of(path: Path) -> ast.Module:
    """The module as it is."""
    return ast.parse(path.read_text(encoding="utf-8"))


def mutants() -> list[Mutant]:
    """Every mutant of every limit, file by file."""
    found = [one for path in files() for one in _comparisons(path)]
    constants = {one for path in files() for one in _constants(path)}
    return found + [one for path, name in sorted(constants) for one in _of_constant(path, name)]


def _ordered(path: Path) -> Iterator[tuple[int, ast.Compare]]:
    everything = any(one in path.as_posix() for one in EVERY_ONE)
    for place, node in enumerate(ast.walk(tree_of(path))):
        if not isinstance(node, ast.Compare) or OTHER.keys().isdisjoint(map(type, node.ops)):
            continue
        if everything or any(map(_is_limit, (node.left, *node.comparators))):
            yield place, node


def _is_limit(side: ast.expr) -> bool:
    """A number past nothing, half, one and two, a constant, or what settings and plans set."""
    return any(
        (isinstance(one, ast.Constant) and _number(one) not in (None, 0, 0.5, 1, 2))
        or (name := _named(one)) in GIVEN
        or (name.isupper() and name not in WORK)
        for one in (side, *((side.left, side.right) if isinstance(side, ast.BinOp) else ()))
    )


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _number(node: ast.AST) -> float | None:
    """The written number, of either sign, that may be a limit."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and not 0 < abs(node.value) <= NOISE:
        return float(node.value) if isinstance(node.value, float) else node.value
    return None


def _comparisons(path: Path) -> Iterator[Mutant]:
    tree = tree_of(path)
    nodes = {id(node): place for place, node in enumerate(ast.walk(tree))}
    for place, node in _ordered(path):
        for at, sign in enumerate(node.ops):
            if type(sign) in OTHER and not _is_noise(path, node, at):
                yield _mutant(path, place, node, at, None)
        for side in (node.left, *node.comparators):
            for inner in (
                side,
                *((side.left, side.right) if isinstance(side, ast.BinOp) and _is_product(side) else ()),
            ):
                value = _number(inner)
                if value is not None:
                    for other in _steps(value, ast.unparse(inner)):
                        yield _mutant(path, nodes[id(inner)], node, -1, other)


def _is_product(side: ast.expr) -> bool:
    return isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult)


def _is_noise(path: Path, node: ast.Compare, at: int) -> bool:
    side = ast.unparse((node.left, *node.comparators)[at + 1])
    return "TINY" in side or "SAME_SCORE" in side or "1e-" in side


def _steps(value: float, written: str) -> tuple[float, float]:
    digits = len(written.partition(".")[2].rstrip("0"))
    step = 10.0**-digits if digits else 1
    return (round(value + step, digits), round(value - step, digits)) if digits else (value + step, value - step)


def _mutant(
    path: Path, place: int, shown: ast.Compare | ast.stmt, at: int, value: float | None, constant: str = ""
) -> Mutant:
    tree = copy.deepcopy(tree_of(path))
    one = [node for node in ast.walk(tree_of(path))].index(shown)
    mutate(tree, place, at, value)
    after = [*ast.walk(tree)][one]
    name = path.relative_to(ROOT).as_posix()
    return Mutant(name, shown.lineno, place, at, value, ast.unparse(shown), ast.unparse(after), constant)


def mutate(tree: ast.Module, place: int, at: int, value: float | None) -> None:
    """Change the node of this place; the number of nodes and their order stay."""
    node = [*ast.walk(tree)][place]
    if value is None:
        assert isinstance(node, ast.Compare)
        node.ops[at] = OTHER[type(node.ops[at])]()  # type: ignore[index] - its keys are exact
    else:
        assert isinstance(node, ast.Constant)
        node.value = value


def _constants(path: Path) -> Iterator[tuple[Path, str]]:
    """(file that defines it, name) of every constant that stands in a comparison here."""
    came = {
        name.asname or name.name: f"{node.module}.{name.name}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    def home(node: ast.AST) -> tuple[Path, str]:
        whole = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and came.get(node.value.id)
        module = whole or came.get(_named(node), "").rpartition(".")[0]
        return (ROOT / module.replace(".", "/")).with_suffix(".py") if module else path, _named(node)

    compared = [side for _, node in _ordered(path) for side in (node.left, *node.comparators)]
    given = (it for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef) for it in node.args.defaults)
    read = [*(one for side in compared for one in ast.walk(side)), *given]
    yield from (home(one) for one in read if _named(one).isupper() and _named(one) not in WORK)


def _of_constant(path: Path, name: str) -> Iterator[Mutant]:
    nodes = {id(node): place for place, node in enumerate(ast.walk(tree_of(path)))}
    for statement in tree_of(path).body:
        for target, value in _assigned(statement):
            number = _number(value)
            if target == name and number is not None:
                for other in _steps(number, ast.unparse(value)):
                    yield _mutant(path, nodes[id(value)], statement, -1, other, name)


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
        if not isinstance(statement.value, ast.Tuple):
            return  # numbers that are made, not written
        for target, value in zip(statement.targets[0].elts, statement.value.elts, strict=True):
            yield ast.unparse(target), value
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        yield ast.unparse(target), statement.value


def applied(mutant: Mutant) -> None:
    """Make this process the mutant: its functions run the changed code, its modules hold the changed constant."""
    path = ROOT / mutant.file
    if mutant.constant:
        _hold(path, mutant.constant, mutant.value)
        return
    tree = copy.deepcopy(tree_of(path))
    mutate(tree, mutant.node, mutant.place, mutant.value)
    run_instead(path, tree)


def run_instead(path: Path, tree: ast.Module) -> None:
    """Every function of this file that is alive runs the code of `tree` from now on."""
    ast.fix_missing_locations(tree)
    new = {(one.co_qualname, one.co_firstlineno): one for one in _codes(compile(tree, str(path), "exec"))}
    for one in _functions(str(path)):
        one.__code__ = new[one.__code__.co_qualname, one.__code__.co_firstlineno]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _functions(file: str) -> list[FunctionType]:
    return [one for one in gc.get_objects() if type(one) is FunctionType and one.__code__.co_filename == file]


def _hold(path: Path, name: str, value: float | None) -> None:
    """The constant and what was imported under its name, and what a function takes where nothing else is given."""
    home = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    was = vars(sys.modules[home])[name]
    for module in [one for one in sys.modules.values() if vars(one).get(name) is was or one.__name__ == home]:
        vars(module)[name] = value
    for one in files():
        defaults = {node.lineno: node.args for node in ast.walk(tree_of(one)) if isinstance(node, ast.FunctionDef)}
        for function in _functions(str(one)):
            if (args := defaults.get(function.__code__.co_firstlineno)) is None:
                continue
            places = [_named(it) == name for it in args.defaults]
            if any(places):
                own = function.__defaults__ or ()
                function.__defaults__ = tuple(value if at else it for at, it in zip(places, own, strict=True))


class Watched(ast.NodeTransformer):
    """Each function says first that it is entered."""

    def __init__(self, file: str) -> None:
        self.file = file

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        said = ast.parse(f"__import__('sys').entered.add(({self.file!r}, {node.lineno}))").body
        node.body = [*said, *node.body]
        return node


class Plugin:
    """In place of running the tests once: once to see who enters what, then for each mutant those that matter."""

    def __init__(self, wanted: Sequence[Mutant]) -> None:
        self.wanted, self.survivors, self.failed = wanted, list[Mutant](), False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure."""
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """The whole of it."""
        items = session.items
        reached = self.reached(items)
        for number, mutant in enumerate(self.wanted, 1):
            tests = sorted((seconds, at) for at, (seconds, entered) in reached.items() if touches(mutant, entered))
            started = time.monotonic()
            lives = not tests or self.survives(mutant, [items[at] for _, at in tests])
            if lives:
                self.survivors.append(mutant)
                print(f"{number}/{len(self.wanted)} {len(tests)} tests, {time.monotonic() - started:.0f} s: {mutant}",
                      file=sys.stderr, flush=True)  # fmt: skip
        return True

    def reached(self, items: Sequence[pytest.Item]) -> dict[int, tuple[float, set[tuple[str, int]]]]:
        """Seconds of each test, and the functions it enters; a test that fails as it is counts for nothing."""

        def watch(out: Path) -> None:
            sys.entered = entered = set()  # type: ignore[attr-defined] - of this fork alone
            for path in {ROOT / one.file for one in self.wanted} | {*files()}:
                run_instead(path, Watched(path.relative_to(ROOT).as_posix()).visit(copy.deepcopy(tree_of(path))))
            with out.open("w") as lines:
                for at, item in enumerate(items):
                    entered.clear()
                    self.failed, started = False, time.perf_counter()
                    following = items[at + 1] if at + 1 < len(items) else None
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if not self.failed:
                        lines.write(json.dumps([at, time.perf_counter() - started, sorted(entered)]) + "\n")

        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "reached"
            forked(lambda: watch(out), 3_600)
            told = map(json.loads, out.read_text().splitlines())
            return {at: (seconds, {(file, line) for file, line in entered}) for at, seconds, entered in told}

    def survives(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> bool:
        """Whether every test passes in a process that is the mutant."""

        def run() -> None:
            applied(mutant)
            for at, item in enumerate(tests):
                following = tests[at + 1] if at + 1 < len(tests) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    os._exit(1)

        return forked(run, LONGEST_S) == 0


def forked(work: Callable[[], None], seconds: int) -> int:
    """The exit status of a fork that did the work in silence; not 0 where it took longer than so many seconds."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    signal.alarm(seconds)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - whatever it was, the mutant did not live through it
        os._exit(2)


def touches(mutant: Mutant, entered: set[tuple[str, int]]) -> bool:
    """Whether a test that entered these functions could see the mutant."""
    return (
        any(one in entered for one in _users(mutant.constant))
        if mutant.constant
        else ((mutant.file, _function(mutant.file, mutant.line)) in entered)
    )


@cache
def _function(file: str, line: int) -> int:
    """The first line of the innermost function around this line."""
    return max((start for start, end, _ in _spans(file) if start <= line <= end), default=0)


@cache
def _spans(file: str) -> list[tuple[int, int, frozenset[str]]]:
    return [
        (node.lineno, node.end_lineno or 0, frozenset(map(_named, ast.walk(node))))
        for node in ast.walk(tree_of(ROOT / file))
        if isinstance(node, ast.FunctionDef)
    ]


@cache
def _users(constant: str) -> list[tuple[str, int]]:
    names = [path.relative_to(ROOT).as_posix() for path in files()]
    return [(name, start) for name in names for start, _, used in _spans(name) if constant in used]


def main(arguments: Sequence[str]) -> int:
    """Prints each survivor; 1 where one is not among SURVIVORS."""
    parts = [one for one in arguments if not one.startswith("-")]
    wanted = [one for one in mutants() if not parts or any(part in str(one) for part in parts)]
    if "--list" in arguments:
        print(*wanted, sep="\n")
        return 0
    plugin = Plugin(wanted)
    pytest.main([*TESTS, "-q", "-m", "not slow", "-n", "0", "-p", "no:cacheprovider"], [plugin])
    known = [one for one in plugin.survivors if (one.file, one.reads) in SURVIVORS]
    print(f"{len(wanted)} mutants, {len(plugin.survivors)} survive, {len(known)} of them known")
    record([Figure("mutants of limits", len(wanted)), Figure("survivors", len(plugin.survivors), "", high=2)])
    return int(len(known) < len(plugin.survivors))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

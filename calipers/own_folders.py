"""Our folders have plain names, and a project may have an app.py, a db.py or an exports/ of its own.

A process of ours takes its own folders, whatever is in PYTHONPATH or in the current folder. A notebook takes them
while a call of ours lasts: before and after it these names mean what they mean in its project.
"""

import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("annotation", "app", "calibration", "db", "exports", "plain")
P = ParamSpec("P")
T = TypeVar("T")


class OwnFolders(MetaPathFinder):
    """Finds each of `NAMES` beside this package, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package of ours, or None for any other name; what is inside a package is found as ever."""
        return PathFinder.find_spec(fullname, [str(ROOT)]) if path is None and fullname in NAMES else None


_finder = OwnFolders()
_lock, _depth = threading.RLock(), 0
_ours: dict[str, ModuleType] = {}  # put away while a notebook's own modules have their names


def always_own_folders() -> None:
    """For a process of ours: from here on these names mean our folders."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def command_of(module: str, *words: str) -> list[str]:
    """The command line of a process of ours that runs `module`; the current folder is none of its path."""
    return [sys.executable, "-P", "-m", "calipers.own_folders", module, *words]


@contextmanager
def own_folders() -> Iterator[None]:
    """While it lasts these names mean our folders; afterwards what they meant before.

    Only names that mean something else in this process are exchanged, so that where nothing clashes nothing is.
    """
    global _depth
    with _lock:
        names = () if _depth or _finder in sys.meta_path else tuple(name for name in NAMES if _is_foreign(name))
        theirs = _taken(names)
        sys.modules.update({name: module for name, module in _ours.items() if _top(name) in names})
        sys.meta_path[:0] = [_finder] if names else []
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            if names:
                sys.meta_path.remove(_finder)
                _ours.update(_taken(names))
                sys.modules.update(theirs)


def in_own_folders(call: Callable[P, T]) -> Callable[P, T]:
    """The function, in `own_folders` whenever it is called."""

    @wraps(call)
    def wrapped(*given: P.args, **named: P.kwargs) -> T:
        with own_folders():
            return call(*given, **named)

    return wrapped


def _is_foreign(name: str) -> bool:
    """Whether another module has this name by now, or would get it."""
    module: Any = sys.modules.get(name)
    spec = PathFinder.find_spec(name) if module is None else getattr(module, "__spec__", None)
    return spec is None or spec.origin is None or Path(spec.origin).resolve().parents[1] != ROOT


def _taken(names: Sequence[str]) -> dict[str, ModuleType]:
    """All modules under these names, taken from where Python keeps the modules it imported."""
    found = [name for name in sys.modules if _top(name) in names]
    return {name: sys.modules.pop(name) for name in found}


def _top(name: str) -> str:
    return name.partition(".")[0]


if __name__ == "__main__":
    from calipers.own_folders import always_own_folders as begin  # this program is a second copy of the module

    begin()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

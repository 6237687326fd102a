"""Results that take longer than a page may: kept with the state of the labels they are of; of large studies computed in
a process of their own, so that no annotator waits for them, while the page shows what it has.
"""

import atexit
import logging
import pickle
import subprocess
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Engine

from annotation.errors import AnnotationError
from app.results.computing import REFUSED, Refused, Step, Task, compute, hear
from app.results.shown_file import ShownFile
from calibration import calibrate, results
from calipers.own_folders import command_of
from db.types import now

MOST = 64  # results kept
RESTS = 4  # a study that people work on changes all the time: what took a minute is begun anew four minutes later
Version = tuple[int, ...]
log = logging.getLogger("calipers")


@dataclass(frozen=True)
class Kept:
    """A result, or None while the first one is being computed. `made_at`: when the labels were read, None before."""

    value: Any
    is_current: bool
    version: Version
    made_at: datetime | None
    is_under_way: bool  # a newer one is being computed


@dataclass(frozen=True)
class UnderWay:
    """A computation that was asked for. `points`: of the report it makes; None before they are there, or of others."""

    seconds: float  # since then, its wait included
    step: Step | None
    points: results.CalibrationReport | None


@dataclass
class _Place:
    """One result on the shelf. `error` is kept instead where it cannot be computed from these labels."""

    value: Any = None
    error: Refused | None = None
    step: Step | None = None
    points: results.CalibrationReport | None = None
    version: Version | None = None
    made_at: datetime | None = None
    took: float = 0.0
    ended: float = 0.0
    begun: float | None = None
    alone: threading.Lock = field(default_factory=threading.Lock)


_shelf: OrderedDict[tuple[object, ...], _Place] = OrderedDict()
_shelf_lock, _one_at_a_time = threading.Lock(), threading.Lock()
_children: set[subprocess.Popen[bytes]] = set()


def kept(engine: Engine | None, task: Task, version: Version, *, apart: bool) -> Kept:
    """The result of `task` at `version` of its labels, computed where it is not kept. `engine`: None for a file.

    Here and now, or with `apart` in a process of its own: then what is kept of an earlier version comes back at once,
    or nothing, and the new one is here once it is made. Raises what the computation of the newest kept one raised.
    """
    place = _place(engine, task)
    if apart:
        _begin(engine, task, version, place)
    else:
        with place.alone:
            if place.version != version:
                _put(place, version, now(), time.monotonic(), *_computed(engine, task))
    if place.error is not None:
        raise place.error
    return Kept(place.value, place.version == version, place.version or version, place.made_at, place.begun is not None)


def under_way(engine: Engine | None, task: Task) -> UnderWay | None:
    """How far this computation is; None where it is not under way."""
    place = _place(engine, task)
    begun = place.begun
    return None if begun is None else UnderWay(time.monotonic() - begun, place.step, place.points)


def _place(engine: Engine | None, task: Task) -> _Place:
    whose = replace(task.source, changed=0, size=0) if isinstance(task.source, ShownFile) else task.source.study_id
    key = (str(engine.url) if engine else "", task.what, whose, *task.arguments)
    with _shelf_lock:
        place = _shelf.setdefault(key, _Place())
        _shelf.move_to_end(key)
        if len(_shelf) > MOST:
            _shelf.popitem(last=False)
        return place


def _begin(engine: Engine | None, task: Task, version: Version, place: _Place) -> None:
    with place.alone:
        changes = place.version is not None and not isinstance(task.source, ShownFile)
        rests = changes and time.monotonic() < place.ended + RESTS * place.took
        if place.version == version or place.begun is not None or rests:
            return
        place.begun = time.monotonic()
    _in_the_background(_run_apart, engine, task, version, place)


def _in_the_background(run: Callable[..., None], *given: object) -> None:
    threading.Thread(target=run, args=given, daemon=True).start()  # whoever stops the server does not wait for it


def _run_apart(engine: Engine | None, task: Task, version: Version, place: _Place) -> None:
    with _one_at_a_time:  # each takes a core and some gigabytes
        started, at = time.monotonic(), now()
        value: Any = None
        error: Refused | None = AnnotationError("not_computed", "this could not be computed; see the server's log")
        try:
            value, error = _asked_of_a_child(engine, task, partial(_hear_of, place))
        except (OSError, EOFError, pickle.UnpicklingError, subprocess.SubprocessError):
            log.exception("computing %s apart", task.what)
        finally:  # whatever happened, nobody waits for it any longer
            with place.alone:
                _put(place, version, at, started, value, error)


def _hear_of(place: _Place, said: results.CalibrationReport | Step) -> None:
    if isinstance(said, Step):
        place.step = said
    else:
        place.points = said


def _put(place: _Place, version: Version, at: datetime, started: float, value: Any, error: Refused | None) -> None:
    place.step, place.points = None, None
    place.value, place.error, place.version, place.made_at = value, error, version, at
    place.ended, place.begun = time.monotonic(), None
    place.took = place.ended - started


def _computed(
    engine: Engine | None, task: Task, told: Callable[[results.CalibrationReport | Step], None] | None = None
) -> tuple[Any, Refused | None]:
    waiting = calibrate.NOBODY if told is None else calibrate.Waiting(told, lambda done, of: told(Step(done, of)))
    try:
        return compute(engine, task, waiting), None
    except REFUSED as error:
        return None, error


# no pool of processes: its children begin by importing `__main__`, which is the page's script while Streamlit draws a
# page, and whoever ends the server waits for them, for minutes
def _asked_of_a_child(
    engine: Engine | None, task: Task, told: Callable[[results.CalibrationReport | Step], None]
) -> tuple[Any, Refused | None]:
    """What a process of ours computes; `told`: takes the points of a report, and how far it is."""
    command = command_of("app.results.computing")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        _children.add(child)
        try:
            with child.stdin as asked:
                pickle.dump((engine.url.render_as_string(hide_password=False) if engine else "", task), asked)
            while isinstance(said := pickle.load(child.stdout), results.CalibrationReport | Step):
                told(said)
        finally:
            _children.discard(child)
    return hear(said)


@atexit.register
def _end_children() -> None:
    for child in list(_children):
        child.terminate()

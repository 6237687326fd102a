"""Open the database and run transactions on it: SQLite by default, Postgres by URL; wait where it is away a moment."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, Executable, create_engine, event, orm
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.exc import DatabaseError as NotADatabase
from sqlalchemy.pool import StaticPool

import db.judge_tables
import db.people_tables  # noqa: F401  (to import it is to make its tables known)
from db.errors import DatabaseAway, DatabaseError, DiskFull
from db.tables import Item, Study

POOL_SIZE = 20
BUSY_S = 30  # how long a writer waits for its turn on SQLite
# a line that went silent is given up after half a minute, by us and by Postgres, which frees what we held locked; the
# usual two hours would let everybody else wait
NOTICED = {
    "connect_timeout": 10, "keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}  # fmt: skip
NOTICED_THERE = {"tcp_keepalives_idle": 15, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3,
                 "tcp_user_timeout": 30_000}  # fmt: skip
READ_ONLY = "calipers_read_only"
HELD = 16  # studies and items that a session keeps at hand
SECRETS = ("password", "sslpassword")  # of a URL's query, where SQLAlchemy does not mask them
BAD_OPTION = "invalid connection option"  # what Postgres' driver says of a URL
REMEDIES = {
    "not a database": "name another file in CALIPERS_DATABASE_URL",
    "malformed": "the file is damaged; bring a backup into a new one with: calipers restore",
    "unable to open": "make its folder, let this account write there, or name another in CALIPERS_DATABASE_URL",
    "readonly": "let this account write the file and its folder",
    BAD_OPTION: "correct what follows the ? in CALIPERS_DATABASE_URL",
    "locked": "something else holds it; end that, or try again",
    "already exists": "another program's database; name a new file in CALIPERS_DATABASE_URL",
}
_writers: WeakKeyDictionary[Engine, Turns] = WeakKeyDictionary()


def open_database(url: str) -> Engine:
    """An engine for `sqlite:///file.db` or `postgresql://…`, with the settings that keep acknowledged labels.

    Creates no tables: see `db.migrations.upgrade`. Raises DatabaseError on a URL of another kind.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # a ValueError: a port that is no number
        named = "what was given, which may hold a password," if "@" in url else repr(url)
        raise DatabaseError(
            f"{named} is not a database URL; use sqlite:///calipers.db or postgresql://user@host/name"
        ) from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        _refuse_no_file(parsed, url)
        engine = create_engine(
            parsed, connect_args={"timeout": BUSY_S}, pool_size=POOL_SIZE, max_overflow=POOL_SIZE, hide_parameters=True
        )
        _writers[engine] = Turns()
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if backend == "postgresql":
        asked = {name: value for name, value in NOTICED.items() if name not in parsed.query}
        engine = create_engine(
            parsed, connect_args=asked, pool_size=POOL_SIZE, max_overflow=POOL_SIZE, pool_pre_ping=True,
            hide_parameters=True,
        )  # fmt: skip
        event.listen(engine, "connect", _prepare_postgres)
        event.listen(engine, "begin", _begin_postgres)
        return engine
    raise DatabaseError(f"{backend} databases are not supported; use sqlite:///file.db or postgresql://user@host/name")


def in_memory() -> Engine:
    """Every table and nothing in it, gone with the engine: for what shall leave no trace."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    Study.metadata.create_all(engine)
    return engine


def _refuse_no_file(parsed: URL, url: str) -> None:
    """What follows a `?` would be dropped, name another file, or undo what keeps labels."""
    if parsed.database in (None, "", ":memory:"):
        raise DatabaseError(f"{url} would be lost at the end of the command; use sqlite:///calipers.db")
    if parsed.query or parsed.host:
        raise DatabaseError(
            f"{url}: a SQLite database is a file and takes no host and no options; use sqlite:///file.db"
        )


class _Session(orm.Session):
    """A session forgets what nobody holds, and reads it again: studies and items, whose rows are long, it keeps."""


@event.listens_for(_Session, "loaded_as_persistent")
def _hold(session: orm.Session, loaded: object) -> None:
    if isinstance(loaded, (Study, Item)):
        session.info.setdefault(HELD, deque(maxlen=HELD)).append(loaded)


def rows_of(session: orm.Session, columns: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Any]:
    """The rows of a SELECT of columns, after what the session has to say; at half the cost of asking the session,
    which has nothing to add to what is no object.
    """
    session.flush()
    return session.connection().execute(columns, values).all()


@contextmanager
def transaction(engine: Engine) -> Iterator[orm.Session]:
    """One short writing transaction: committed at the end of the block, rolled back on any exception."""
    with (
        naming_the_database(engine),
        _turn_to_write(engine),
        _Session(engine, expire_on_commit=False) as session,
        session.begin(),
    ):
        yield session


@contextmanager
def _turn_to_write(engine: Engine) -> Iterator[None]:
    """On SQLite the threads of one process queue here: its own wait polls, and lets some wait for seconds."""
    lock = _writers.get(engine)
    waited = lock is not None and lock.acquire(timeout=BUSY_S)  # in vain: SQLite itself refuses, by name
    try:
        yield
    finally:
        if lock is not None and waited:
            lock.release()


@contextmanager
def reading(engine: Engine) -> Iterator[orm.Session]:
    """One consistent view for reading. SQLite readers and writers do not wait for each other."""
    bound = engine.execution_options(**{READ_ONLY: True})
    with naming_the_database(engine), _Session(bound, expire_on_commit=False) as session, session.begin():
        yield session


@contextmanager
def naming_the_database(engine: Engine) -> Iterator[None]:
    """Turn what the driver says into one sentence that names the database and no secret."""
    try:
        yield
    except NotADatabase as error:
        # its kin tell of broken constraints, which are no fault of the database
        is_fault = isinstance(error, OperationalError) or type(error) is NotADatabase or error.connection_invalidated
        if not is_fault and BAD_OPTION not in str(error.orig):
            raise
        shown = engine.url.difference_update_query(SECRETS).render_as_string(hide_password=True)
        reason = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else "no reason given"
        if _says_disk_full(error.orig):
            raise DiskFull(f"{shown}: {reason}; nothing of this was written: free some disk space") from error
        if _says_away(error.orig):
            raise DatabaseAway(f"{shown}: {reason}; start the server, or correct CALIPERS_DATABASE_URL") from error
        raise DatabaseError(f"{shown}: {reason}; {_remedy(reason)}") from error


def _remedy(reason: str) -> str:
    """What to do about what SQLite says of its file; of anything else, where to look."""
    return next((remedy for words, remedy in REMEDIES.items() if words in reason), "look at the database itself")


def _says_away(reported: object) -> bool:
    """Postgres alone can be away: a lost line has no SQLSTATE, or one of class 08, a server that ends or begins 57P."""
    state = getattr(reported, "sqlstate", "of no Postgres")
    return (state is None or state.startswith(("08", "57P"))) and BAD_OPTION not in str(reported)


def _says_disk_full(reported: object) -> bool:
    return getattr(reported, "sqlite_errorname", "") == "SQLITE_FULL" or getattr(reported, "sqlstate", "") == "53100"


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # None stops the driver from opening DEFERRED transactions of its own; `_begin_sqlite` opens them
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={1000 * BUSY_S}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _prepare_postgres(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("; ".join(f"SET {name} = {value}" for name, value in NOTICED_THERE.items()))
    cursor.close()
    connection.commit()


def _begin_sqlite(connection: Connection) -> None:
    # DEFERRED and read-then-write fails at once with "database is locked", whatever the timeout
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    if connection.info.get(READ_ONLY) is not read_only:  # it lasts as long as the line
        connection.exec_driver_sql(f"PRAGMA query_only={int(read_only)}")
        connection.info[READ_ONLY] = read_only
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


def _begin_postgres(connection: Connection) -> None:
    if connection.get_execution_options().get(READ_ONLY, False):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


class Turns:
    """`acquire` and `release` as of a `threading.Lock`, first come, first served."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[threading.Event] = deque()

    def acquire(self, timeout: float) -> bool:
        """Whether the turn came within `timeout` seconds; then it is held until `release`."""
        with self._guard:
            if not self._held:
                self._held = True
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(timeout):
            return True
        with self._guard:
            if mine.is_set():
                return True  # handed over in this very moment
            self._waiting.remove(mine)
            return False

    def release(self) -> None:
        """Hand the turn to whoever waits longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


AWAY_S = 120.0  # away for longer, and somebody has to look
FIRST_S, LAST_S = 0.1, 2.0  # between two tries
P = ParamSpec("P")
T = TypeVar("T")


def patient(act: Callable[P, T]) -> Callable[P, T]:
    """The same function, done anew while the database cannot be reached. It raises DatabaseAway after AWAY_S.

    The connection may have broken after COMMIT, so `act` must do no harm when it is done twice.
    """

    @wraps(act)
    def until_reachable(*args: P.args, **kwargs: P.kwargs) -> T:
        return _repeated(partial(act, *args, **kwargs))

    return until_reachable


def _repeated(act: Callable[[], T]) -> T:
    ends, wait = time.monotonic() + AWAY_S, FIRST_S
    while True:
        try:
            return act()
        except DatabaseAway:
            if time.monotonic() + wait > ends:
                raise
        time.sleep(wait)
        wait = min(LAST_S, 2 * wait)


STATEMENT_MAX = 500


def watch_queries(engine: Engine, seconds: float, tell: Callable[[str, float], None]) -> None:
    """Call `tell(statement, seconds)` after each statement that ran for longer than `seconds` before its first row."""

    def before(_connection: Any, _cursor: Any, _statement: str, _values: Any, context: Any, _many: bool) -> None:
        context.calipers_started = time.perf_counter()

    def after(_connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: bool) -> None:
        took = time.perf_counter() - context.calipers_started
        if took > seconds:
            tell(" ".join(statement.split())[:STATEMENT_MAX], took)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)

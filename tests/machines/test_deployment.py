"""The example files of docs/deployment.md: what they start is started, what they claim is checked."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

import app.settings
from app import command_line
from calipers import kept_reports
from tests.machines.proxy import SITE, UPSTREAM, free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "deployment"
GUIDE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
INSTALLED = Path(sys.executable).parent  # what /opt/calipers/.venv/bin is to a user
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def unit(name: str, **places: str) -> str:
    """A unit file with what a machine decides filled in: `i` for the instance, `etc` and `var` for its folders."""
    text = (FOLDER / name).read_text(encoding="utf-8").replace("/opt/calipers/.venv/bin", str(INSTALLED))
    text = text.replace("User=calipers", f"User={pwd.getpwuid(os.geteuid()).pw_name}")
    for written, here in (("%i", "i"), ("%I", "i"), ("/etc/calipers", "etc"), ("/var/lib/calipers", "var")):
        text = text.replace(written, places.get(here, written))
    return text


def setting(text: str, key: str) -> str:
    """The one value of this key."""
    (value,) = re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)
    return str(value)


def environment(database_url: str, port: int) -> dict[str, str]:
    """env.example as somebody fills it in."""
    lines = [line for line in (FOLDER / "env.example").read_text().splitlines() if line and not line.startswith("#")]
    written = dict(line.split("=", 1) for line in lines)
    here = {
        "CALIPERS_DATABASE_URL": database_url,
        "CALIPERS_BASE_URL": f"http://127.0.0.1:{port}",
        "CALIPERS_CACHE": "off",
        "CALIPERS_BACKUP_FOLDER": "",
    }
    return written | here


def started(text: str, settings: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """ExecStart as systemd runs it: no shell, the environment of the file and nothing else."""
    folder.mkdir(exist_ok=True)
    log = (folder / "log").open("ab")
    return subprocess.Popen(shlex.split(setting(text, "ExecStart")), cwd=folder, env=settings, stdout=log, stderr=log)


@pytest.fixture
def serving(
    url: str, tmp_path: Path, processes: list[subprocess.Popen[bytes]]
) -> tuple[subprocess.Popen[bytes], int, str]:
    """calipers@PORT.service at work."""
    port = free_port()
    text = unit("calipers@.service", i=str(port))
    process = started(text, environment(url, port), tmp_path / "state")
    processes.append(process)
    return process, port, text


def answer(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def until(happened: Any, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.1)


def test_the_app_unit_and_the_health_check_of_compose_work_as_written(
    serving: tuple[subprocess.Popen[bytes], int, str],
) -> None:
    process, port, text = serving
    until(lambda: answer(f"http://127.0.0.1:{port}/ready") == 200, process)
    for name, first in (("app-1", "8501"), ("app-2", "8502")):
        service = COMPOSE["services"][name]
        assert service["command"] == ["calipers", "serve", "--port", first]
        program, interpreter, *arguments = service["healthcheck"]["test"]
        assert (program, interpreter) == ("CMD", "python")
        assert subprocess.run([sys.executable, *(one.replace(first, str(port)) for one in arguments)]).returncode == 0
        away = [one.replace(first, str(free_port())) for one in arguments]
        assert subprocess.run([sys.executable, *away], capture_output=True).returncode != 0
    started_at = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=float(setting(text, "TimeoutStopSec"))) == -signal.SIGTERM
    assert time.monotonic() - started_at < 10


if shutil.which("systemd-analyze"):

    def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
        for name in ("calipers@.service", "calipers-judge@.service"):
            (tmp_path / name).write_text(unit(name), encoding="utf-8")
        (tmp_path / "calipers-judge@all.service.d").mkdir()
        (tmp_path / "calipers-judge@all.service.d" / "all.conf").write_text(unit("all-studies.conf"), encoding="utf-8")
        done = subprocess.run(
            ["systemd-analyze", "verify", "calipers@8501.service", "calipers-judge@mystudy.service", "calipers-judge@all.service"],
            env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"}, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


def test_every_setting_of_the_app_stands_in_the_example_and_none_that_is_not() -> None:
    source = Path(app.settings.__file__).read_text(encoding="utf-8")
    read = set(re.findall(r'"(CALIPERS_\w+)"', source))
    elsewhere = {"STREAMLIT_SERVER_COOKIE_SECRET", kept_reports.VARIABLE}
    assert set(environment("", 1)) == read | elsewhere


def test_compose_has_the_processes_that_nginx_asks_and_only_files_that_are_there_or_named() -> None:
    services = COMPOSE["services"]
    (asked,) = UPSTREAM.finditer(SITE.read_text(encoding="utf-8"))
    ports = re.findall(r"127\.0\.0\.1:(\d+)", asked[0])
    apps = [service for name, service in services.items() if name.startswith("app-")]
    assert [service["command"][-1] for service in apps] == ports
    for service in apps:
        assert service["network_mode"] == "service:nginx", "127.0.0.1 is the same for all of them"
        assert service["stop_grace_period"] == "15s"
    named = GUIDE + (FOLDER / "compose.yaml").read_text(encoding="utf-8").split("\nx-app")[0]
    sources = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])]
    for source in sources:
        here = source.startswith("./") and (FOLDER / source).exists()
        assert here or source in COMPOSE["volumes"] or source.removeprefix("./") in named, source
    for service in services.values():
        if "build" in service:
            assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    home = re.findall(r"--home-dir (\S+)", DOCKERFILE)
    kept = [one.split(":")[1] for one in services["judge"]["volumes"] if one.split(":")[0] in COMPOSE["volumes"]]
    assert kept == home, "journals outlive a container, in a folder that the image's user owns"
    all_studies = re.findall("^ExecStart=(.+)$", unit("all-studies.conf"), re.MULTILINE)
    assert [shlex.join(services["judge"]["command"][1:])] == [line.partition(" ")[2] for line in all_studies]
    assert "profiles" not in services["judge"], "it comes up with the rest"
    assert all(service["env_file"] == ".env" for service in apps), "no provider's key is in it"
    judge = services["judge-file"]["command"]
    assert judge[3:] == ["${STUDY:-mystudy}", *shlex.split(setting(unit("calipers-judge@.service"), "ExecStart"))[4:]]


def test_the_image_holds_what_the_package_needs_and_installs_it_as_make_does() -> None:
    """No image can be built where the tests run: see docs/deployment.md."""
    copied = [shlex.split(line)[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY")]
    assert [one for names in copied for one in names if not (ROOT / one).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    needed = {
        *packages,
        "pyproject.toml",
        "requirements.lock",
        project["project"]["readme"],
        *project["project"]["license-files"],
    }
    assert needed == {one for names in copied for one in names}
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "make install-run" in GUIDE
    for flags in ("--require-hashes -r requirements.lock", "--no-deps --no-build-isolation --no-index -e ."):
        assert flags in made
        assert flags in DOCKERFILE
    assert f"FROM python:{project['project']['requires-python'].removeprefix('>=')}-slim" in DOCKERFILE


def test_every_command_of_the_guide_is_one_that_calipers_takes() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    written = re.findall(r"^calipers .*$", "\n".join(blocks), re.MULTILINE) + re.findall(
        r"`(calipers [^`]* -[^`]*)`", GUIDE
    )
    assert len(written) >= 3
    written.append(setting(unit("calipers-judge@.service"), "ExecStart"))
    for line in written:
        _, *words = shlex.split(line, comments=True)
        taken: Any = typer.main.get_command(command_line.app)
        while hasattr(taken, "commands"):
            taken = taken.commands[words.pop(0)]
        taken.make_context(taken.name, words)


def test_the_guide_names_every_file_and_every_link_leads_somewhere() -> None:
    for path in FOLDER.iterdir():
        assert f"](deployment/{path.name})" in GUIDE, path.name
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", GUIDE) if "://" not in link]
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []

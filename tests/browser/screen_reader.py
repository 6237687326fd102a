"""What a person who does not see hears: Orca over a browser on a screen in memory, its speech as text.

The keys are those of a keyboard (xdotool), because a screen reader takes some of them before the page does.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from tests.browser.driving import VIEWPORT
from tests.browser.engines import Firefox, said, started, waited

SPOKEN = re.compile(r"^SPEECH OUTPUT: '(.*)'(?: voice=\w+)?$", re.MULTILINE)  # not the names of keys
# what Orca runs as its user's own: its debug file comes in blocks, this line by line
TELLS = """import logging, os
from orca import speech
speech.init = lambda: None  # no voice is needed
spoken = logging.getLogger("speech")
spoken.setLevel(logging.INFO)
spoken.addHandler(logging.FileHandler(os.environ["CALIPERS_SPOKEN"]))
"""
CHROMIUM = (
    "--start-maximized", "--force-renderer-accessibility", "--no-sandbox", "--disable-gpu", "--disable-quic",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--no-default-browser-check", "--password-store=basic",
)  # fmt: skip
QUIET_S = 1.5  # after which nothing more is said of one act


class Listener:
    """A reader at the keyboard. `heard` holds every act, and the lines that were spoken after it."""

    def __init__(self, log: Path, screen: dict[str, str]) -> None:
        self.log, self.screen = log, screen
        self.heard: list[tuple[str, list[str]]] = []
        self.read = 0

    def listen(self, act: str) -> list[str]:
        """What was spoken since the last act, once it is quiet."""
        now, since = self.spoken(), time.monotonic()
        while time.monotonic() - since < QUIET_S:
            time.sleep(0.1)
            if len(later := self.spoken()) > len(now):
                now, since = later, time.monotonic()
        new, self.read = now[self.read :], len(now)
        self.heard.append((act, new))
        return new

    def press(self, *chords: str) -> list[str]:
        """Keys as xdotool calls them."""
        self._xdotool("key", *chords)
        return self.listen(" ".join(chords))

    def type(self, words: str) -> list[str]:
        self._xdotool("type", "--delay", "30", words)
        return self.listen(f"“{words}”")

    def spoken(self) -> list[str]:
        return SPOKEN.findall(self.log.read_text("utf-8", "replace")) if self.log.exists() else []

    def focus(self, program: str) -> None:
        """Its window has the keyboard."""
        search = ["xdotool", "search", "--sync", "--onlyvisible", "--class", program]
        windows = subprocess.check_output(search, env=self.screen, text=True)
        self._xdotool("windowfocus", "--sync", windows.split()[-1])

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self.screen, check=True, timeout=60)


@contextmanager
def listening(browser: str, link: str) -> Iterator[Listener]:
    """Orca and one of `BROWSERS` with homes of their own, on a screen and a bus of their own, at the link's first item."""
    with ExitStack() as ends:
        alone = ends.enter_context(Path(tempfile.gettempdir(), "calipers-orca.lock").open("w"))
        fcntl.flock(alone, fcntl.LOCK_EX)  # of one person's Orcas each ends the one before
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        read, write = os.pipe()
        size = f"{VIEWPORT['width']}x{VIEWPORT['height'] + 140}x24"
        started(ends, ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"], pass_fds=(write,))
        os.close(write)
        with open(read, encoding="ascii") as display:
            screen = f":{display.readline().strip()}"
        own: dict[str, Any] = os.environ | {
            "DISPLAY": screen, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LANG": "C.UTF-8",
            "GNOME_ACCESSIBILITY": "1", "ACCESSIBILITY_ENABLED": "1",
        }  # fmt: skip
        bus = folder / "bus"
        started(ends, ["dbus-daemon", "--session", "--nofork", "--print-address"], log=bus, env=own)
        own["DBUS_SESSION_BUS_ADDRESS"] = said(bus, r"(unix:\S+)")
        started(ends, ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"], env=own, start_new_session=True)
        speech = folder / "speech"
        own["CALIPERS_SPOKEN"] = str(speech)
        mine = folder / ".local" / "share" / "orca" / "orca-customizations.py"
        mine.parent.mkdir(parents=True)
        mine.write_text(TELLS)
        started(ends, ["orca", "--replace"], env=own)
        waited(lambda: speech.exists() and SPOKEN.search(speech.read_text("utf-8", "replace")))
        listener = Listener(speech, own)
        BROWSERS[browser](listener, ends, folder, link)
        listener.listen("the page")
        listener.heard.clear()
        yield listener


def in_firefox(listener: Listener, ends: ExitStack, folder: Path, link: str) -> None:
    """The page is asked for once the window has the keyboard, in whose place F6 then finds it."""
    log, profile = folder / "log", folder / "profile"
    profile.mkdir()
    browser = ["firefox-esr", "--remote-debugging-port", "0", "--profile", str(profile), "about:blank"]
    started(ends, browser, log=log, env=listener.screen)
    address = said(log, r"listening on (ws://\S+)")
    engine = Firefox(ends.enter_context(connect(f"{address}/session", max_size=None)), sized=False)
    listener.focus("firefox")
    engine.goto(link)
    engine.ready()
    listener.listen("the link")
    listener.press("F6")


def in_chromium(listener: Listener, ends: ExitStack, folder: Path, link: str) -> None:
    """It takes the keyboard where a window manager hands it on."""
    started(ends, ["matchbox-window-manager"], env=listener.screen)
    browser = ["chromium", f"--user-data-dir={folder / 'profile'}", f"--app={link}", *CHROMIUM]
    started(ends, browser, env=listener.screen)
    listener.focus("chromium")
    waited(lambda: any("Item 1 of" in line for line in listener.spoken()))


BROWSERS = {"firefox-esr": in_firefox, "chromium": in_chromium}

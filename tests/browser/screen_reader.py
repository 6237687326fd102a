"""What a person who does not see hears: Orca over a Firefox on a screen in memory, its speech as text.

The keys are those of a keyboard (xdotool), because a screen reader takes some of them before the page does.
"""

from __future__ import annotations

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
QUIET_S = 1.5  # after which nothing more is said of one act


class Listener:
    """A reader at the keyboard. `heard` holds every act, and the lines that were spoken after it."""

    def __init__(self, engine: Firefox, log: Path, screen: dict[str, str]) -> None:
        self.engine, self.log, self.screen = engine, log, screen
        self.heard: list[tuple[str, list[str]]] = []
        self.read = 0

    def listen(self, act: str) -> list[str]:
        """What was spoken since the last act, once it is quiet."""
        now, since = self._spoken(), time.monotonic()
        while time.monotonic() - since < QUIET_S:
            time.sleep(0.1)
            if len(later := self._spoken()) > len(now):
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

    def _spoken(self) -> list[str]:
        return SPOKEN.findall(self.log.read_text("utf-8", "replace")) if self.log.exists() else []

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self.screen, check=True, timeout=60)


@contextmanager
def listening_to_firefox() -> Iterator[Listener]:
    """Orca and a Firefox with homes of their own, on a screen and a bus of their own."""
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        read, write = os.pipe()
        size = f"{VIEWPORT['width']}x{VIEWPORT['height'] + 140}x24"
        started(ends, ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"], pass_fds=(write,))
        os.close(write)
        with open(read, encoding="ascii") as display:
            screen = f":{display.readline().strip()}"
        own: dict[str, Any] = os.environ | {
            "DISPLAY": screen, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LANG": "C.UTF-8",
            "GNOME_ACCESSIBILITY": "1",
        }  # fmt: skip
        bus = folder / "bus"
        started(ends, ["dbus-daemon", "--session", "--nofork", "--print-address"], log=bus, env=own)
        own["DBUS_SESSION_BUS_ADDRESS"] = said(bus, r"(unix:\S+)")
        started(ends, ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"], env=own)
        speech = folder / "speech"
        own["CALIPERS_SPOKEN"] = str(speech)
        mine = folder / ".local" / "share" / "orca" / "orca-customizations.py"
        mine.parent.mkdir(parents=True)
        mine.write_text(TELLS)
        started(ends, ["orca", "--replace"], env=own)
        waited(lambda: speech.exists() and SPOKEN.search(speech.read_text("utf-8", "replace")))
        log = folder / "log"
        profile = folder / "profile"
        profile.mkdir()
        browser = ["firefox-esr", "--remote-debugging-port", "0", "--profile", str(profile), "about:blank"]
        started(ends, browser, log=log, env=own)
        address = said(log, r"listening on (ws://\S+)")
        engine = Firefox(ends.enter_context(connect(f"{address}/session", max_size=None)), sized=False)
        listener = Listener(engine, speech, own)
        window = subprocess.check_output(
            ["xdotool", "search", "--sync", "--onlyvisible", "--class", "firefox"], env=own, text=True
        )
        listener._xdotool("windowfocus", "--sync", window.split()[-1])
        yield listener

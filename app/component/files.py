"""A component as a file that browsers keep for good, and the few lines that fetch it.

What Streamlit registers travels over its websocket with every load of a page, a quarter of a megabyte. Registered are
therefore only the lines of loading.js; script and styles are one file, whose name says what is in it.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.texts import inline_json

FOLDER = "/page/"
LOADING = (Path(__file__).parent / "loading.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class ModuleFile:
    """One module."""

    name: str
    script: str

    @cached_property
    def module(self) -> bytes:
        """The content of the file, in UTF-8."""
        return f"{self.script}\n".encode()

    @cached_property
    def file_name(self) -> str:
        """The file's name, another one for every other content."""
        return f"{self.name}.{hashlib.sha256(self.module).hexdigest()[:20]}.js"

    @property
    def address(self) -> str:
        """Where a page of ours fetches it."""
        return f"{FOLDER}{self.file_name}"


@dataclass(frozen=True)
class ComponentFile(ModuleFile):
    """One component: a module that exports it by default, with its styles as STYLE."""

    style: str

    @cached_property
    def module(self) -> bytes:
        """The content of the file, in UTF-8."""
        return f"{self.script}\nexport const STYLE = {inline_json(self.style)};\n".encode()

    @property
    def loader(self) -> str:
        """The module that Streamlit sends."""
        return LOADING.replace("{address}", self.address)

"""A pair without sight: what Orca says in Firefox and Chromium, act by act, is what docs/screen_readers.md says it does."""

from __future__ import annotations

import re
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.browser.screen_reader import listening
from tests.small_study import PROTOCOL, make_study

DOCS = Path(__file__).parents[2] / "docs" / "screen_readers.md"
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.orca]
ACTS = (
    "h", "Down", "h", "Down", "h", "Down", "Tab", "Insert+a Insert+a", "j", "k", "1", "“it says so”",
    "ctrl+Return", "ctrl+shift+Return", "2", "“it goes deeper”", "b", "Escape", "b", "ctrl+Return", "1", "Escape", "ctrl+z", "w",
    "Insert+a", "h",
)  # fmt: skip
SHEETS = (
    "Insert+a Insert+a", "f", "Escape", "m", "Escape", "x", "Escape", "n", "Escape", "shift+question", "Escape",
)  # fmt: skip
# told or not as letters and a browser's events come: the count of letters, that a place could be clicked, that one comes
# to the criteria, once an answer is chosen, that its reason is missing still, and in Chromium the value of a list in a sheet
PASSING = re.compile(
    r"\d of \d characters$|blank$|region Criteria$|( heading level 1)?( ?clickable)?\.$|Not submitted: .* rationale .*"
    r"|Keys combo box collapsed$|as usual\.$"
)
TOPIC = re.compile(r"\b(bread|noise|tides)\b")


def transcript(heard: list[tuple[str, list[str]]]) -> str:
    told = ((act, [words for line in spoken if (words := PASSING.sub("", line).strip())]) for act, spoken in heard)
    return "\n".join(f"{act:18} {'; '.join(words) or '–'}" for act, words in told)


NEEDS = {"firefox-esr": ["firefox-esr"], "chromium": ["chromium", "matchbox-window-manager"]}  # packages and programs


def absent(browser: str) -> pytest.MarkDecorator:
    lacks = not all(map(shutil.which, NEEDS[browser]))
    how = f"Orca listens in each browser that is there: apt-get install {' '.join(NEEDS[browser])}"
    return pytest.mark.skipif(lacks, reason=how)


@pytest.mark.parametrize("browser", [pytest.param(one, marks=absent(one)) for one in NEEDS])
def test_a_pair_is_heard_as_the_docs_say(server: Any, tmp_path: Path, browser: str) -> None:
    study_id = make_study(server.engine, tmp_path / "reports", protocol=PROTOCOL, name=uuid.uuid4().hex)
    blocks = DOCS.read_text(encoding="utf-8").split("```")[1::2]
    with listening(browser, server.link(study_id, "Ada")) as reader:
        for act in (*ACTS, *SHEETS):
            reader.type(act.strip("“”")) if act.startswith("“") else reader.press(*act.split())
    now = transcript(reader.heard)
    told = "\n".join(block.strip("\n") for block in blocks)
    # which topic comes first is drawn anew in each database
    assert TOPIC.sub("bread", now) == TOPIC.sub("bread", told), f"now it is\n{now}"

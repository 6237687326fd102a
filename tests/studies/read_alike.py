"""What people's pages and judges' prompts hold, each held against the study's own files: the same text, in its place.

A page is what a person is sent, a prompt what the provider was sent; neither is looked up in the database.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import pandas as pd

from tests.studies import from_files
from tests.studies.desk import Desk

NOTHING = sha256(b"").hexdigest()
Read = tuple[str, ...]  # what is asked about, "" for the reports themselves, and the texts in their order
_PART = re.compile(r"<([a-z][\w-]*?)-([0-9a-f]{8,})>\n(.*?)\n</\1-\2>", re.DOTALL)
_REPORTS = re.compile(r"report(?:-first|-second)?|reference|sources")


def words(text: str) -> str:
    """Those of a text in Markdown or in HTML, whose marks and lengths of blanks are another matter."""
    return " ".join(re.findall(r"\w+", html.unescape(re.sub(r"<[^>]+>", " ", text))))


def of_page(page: Mapping[str, Any]) -> Read:
    """A report below its title, which all reports on a topic share."""
    probe = page["probe"]["text"] if page["probe"] else ""
    bare = (re.sub(r"\A\s*<h\d.*?</h\d>", "", pane["html"], flags=re.DOTALL) for pane in page["panes"])
    return words(probe), *map(words, bare)


def parts_of(prompt: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The texts of a prompt in their order, and what it asks about with the name of its tag."""
    parts = [(name, text) for name, _, text in _PART.findall(prompt) if name != "topic"]
    claims = [(name, text) for name, text in parts if not _REPORTS.fullmatch(name)]
    return [text for name, text in parts if _REPORTS.fullmatch(name)], claims


def untitled_words(text: str) -> str:
    return words(from_files.untitled(text))


def of_prompt(prompt: str) -> dict[Read, tuple[str, ...]]:
    """What it asks about, one or several, as words; to the hashes of its texts, of their bytes there."""
    texts, claims = parts_of(prompt)
    hashes = tuple(sha256(f"{text.strip(chr(10))}\n".encode()).hexdigest() for text in texts)
    bare = tuple(sha256(text.encode()).hexdigest() for text in texts)
    read = [*map(untitled_words, texts)]
    return {(words(probe), *read): (*hashes, *bare) for probe in [text for _, text in claims] or [""]}


class Files:
    """What is to be read of each item: the reports on its topic, or a claim and what it is checked against."""

    def __init__(self, desk: Desk, files: str, layout: str, kind: str) -> None:
        self._texts = from_files.as_shown(desk.folder / files, layout)
        self._probes = {*from_files.PROBES[kind](desk.folder / files)} if kind else set()

    def of(self, topic: str, systems: Iterable[str]) -> set[Read]:
        """Systems in the order in which their reports are shown."""
        if not self._probes:
            return {("", *(self.words(topic, system) for system in systems))}
        return {
            (words(probe), words(beside) if beside.strip() else self.words(topic, by))
            for on, by, probe, beside in self._probes
            if on == topic and by in systems
        }

    def words(self, topic: str, system: str) -> str:
        return words(self._texts[topic, system])


def read_alike(desk: Desk, study: str, files: str, layout: str, kind: str = "") -> str:
    """Items that people and judges both read, and those of them that each page and each prompt has as the files do.

    And whose labels of both bear the hash of these bytes. Claims whose page was never fetched are left out.
    """
    expected, labels = Files(desk, files, layout, kind), desk.verdicts(study)
    systems = labels.drop_duplicates("item_id").set_index("item_id")["system_a"]
    prompts = {read: hashes for prompt in desk.prompts() for read, hashes in of_prompt(prompt["text"]).items()}
    pages: dict[str, list[tuple[str | None, Read]]] = {}
    for item, left, page in desk.pages[study]:
        pages.setdefault(item, []).append((left, of_page(page)))
    stored = desk.hashes(study)
    both, same, distinct = 0, 0, set()
    for item, own in labels.groupby("item_id"):
        judged = own[own["rater_kind"] == "judge"]
        if item not in pages or judged.empty or {*stored.loc[[item]].to_numpy().ravel()} <= {None, NOTHING}:
            continue
        both += 1
        shown = {left: expected.of(topic, named) for left, topic, named in _orders(own, systems)}
        read = {one for _, one in pages[str(item)]}
        in_prompts = [
            [one for one in shown[left] & prompts.keys() if not kind or one in read] for left in _lefts(judged)
        ]
        if not all(one in shown[left] for left, one in pages[str(item)]) or not all(in_prompts):
            continue
        bytes_read = {sha for found in in_prompts for one in found for sha in prompts[one]}
        same += all({*row} - {None, NOTHING} <= bytes_read for row in stored.loc[[item]].to_numpy())
        distinct |= read
    assert not kind or same < both or len(distinct) == both, "each claim by itself"
    return f"{same} of {both} items"


def _lefts(labels: pd.DataFrame) -> set[str | None]:
    return {one[0] if isinstance(one, str) else None for one in labels["presentation"]}


def _orders(labels: pd.DataFrame, systems: pd.Series[str]) -> Iterable[tuple[str | None, str, list[str]]]:
    """Which report is on the left, the topic, and whose reports those are, in that order."""
    row = labels.iloc[0]
    beside = systems[row["beside"]] if "beside" in labels and isinstance(row["beside"], str) else row["system_b"]
    both = [one for one in (row["system_a"], beside) if isinstance(one, str) and one]
    for left in (None, "A", "B"):
        yield left, row["cluster_id"], both[::-1] if left == "B" else both


def sides(desk: Desk, study: str, system: str, files: str, layout: str) -> list[tuple[tuple[str, ...], bool]]:
    """Of each page with that system's report: whose reports on what, and whether the text on the left is that report's.

    Every page of two has the texts that its stored order says.
    """
    expected, labels = Files(desk, files, layout, ""), desk.verdicts(study)
    systems, found, seen = labels.drop_duplicates("item_id").set_index("item_id")["system_a"], [], set()
    of_items = dict(iter(labels[labels["rater_kind"] == "human"].groupby("item_id")))
    for item, left, page in desk.pages[study]:
        orders = {side: (topic, named) for side, topic, named in _orders(of_items[item], systems)}
        topic, named = orders[left]
        assert of_page(page) in expected.of(topic, named), (item, left)
        if system in named and len(named) > 1 and id(page) not in seen:  # two items are rated on one page
            seen.add(id(page))
            found.append(((topic, *sorted(named)), of_page(page)[1] == expected.words(topic, system)))
    return found

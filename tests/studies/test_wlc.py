"""Wiki Live Challenge again: pairs with Wikipedia on 39 criteria, facts and citations; its tables with intervals."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.protocol import read_protocol
from exports.sheets.systems import systems_table
from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import put
from tests.studies.desk import Decide, Desk, Task, a_desk
from tests.studies.page import PAGES, same_on_the_page
from tests.studies.tables import Tables, commands, holds, on_a_page, rows_of

pytestmark = pytest.mark.slow

CRITERIA = tuple(one.id for one in read_protocol("wlc_writing_39")[0].criterion)
AGENTS = {"atlas": 0.35, "borealis": 0.15}  # share of the criteria on which the agent's article is truly better
CONSISTENT = {"atlas": 0.7, "borealis": 0.4}  # share of Wikipedia's facts that it truly says
SUPPORTED = {"atlas": 0.8, "borealis": 0.5}  # share of its statements that the cited page truly supports
TOPICS = tuple(f"Lake_{number}" for number in range(1, 13))
LAKES = TOPICS[::3]  # a category, where a walk has two
PEOPLE = ("Ana", "Bo", "Chen", "Dora", "Emil")
PERSON, CAREFUL, QUICK, READER = 0.9, 0.85, 0.65, 0.9  # how often each says what is true
WRITING, CHECKING = "writing.toml", "checking.toml"  # the page's files of judges; which model of the fake plays whom
PLAYED = {"gemini-2.5-pro": "fake-acc-0.85", "qwen3": "fake-acc-0.65", "gemini-2.5-flash": "fake-label"}


def judges_of_the_page(file: str, base: str) -> str:
    """The file of judges as docs/studies/wlc.md gives it, each model played by one of the fake server's."""
    block = re.search(rf"```toml\n# {file}\n(.*?)```", (PAGES / "wlc.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None, f"wlc.md names {file} and does not give it"
    own = re.sub(r"api_base = .*\n", "", block[1])
    return re.sub(
        r'model = "[^/]+/([^"]+)"', lambda model: f'model = "openai/{PLAYED[model[1]]}"\napi_base = "{base}"', own
    )


def truth() -> dict[tuple[str, str, str], bool]:
    """(topic, agent, criterion) -> whether the agent's article is the better one: planted, and never seen by calipers."""
    draw = random.Random(3)
    return {
        (topic, agent, name): draw.random() < share
        for topic in TOPICS
        for agent, share in AGENTS.items()
        for name in CRITERIA
    }


def probe_truth(shares: dict[str, float], right: str, wrong: tuple[str, ...], each: int) -> dict[tuple[str, str, int], str]:  # fmt: skip
    draw = random.Random(7)
    return {
        (topic, agent, number): right if draw.random() < share else draw.choice(wrong)
        for topic in TOPICS
        for agent, share in shares.items()
        for number in range(each)
    }


BETTER = truth()
FACTS = probe_truth(CONSISTENT, "consistent", ("not_support", "not_support", "inconsistent"), 5)
CITED_PLACES = range(3)
CITED = probe_truth(SUPPORTED, "support", ("not_support", "not_support", "conflict"), len(CITED_PLACES))
NUMBERS = ("first", "second", "third", "fourth", "fifth")


def article(topic: str, manner: int, marks: str) -> str:
    """The same in another manner; `marks` are what the fake judges are to find in it."""
    return (
        f"# {topic}\n\n{topic} is told here in manner {manner} [1].\n\n## Water\n\nIt rises in spring [1].\n\n"
        f"`{marks}`\n\n## References\n\n[1] https://example.org/{topic}\n"
    )


def write_tree(root: Path) -> Path:
    """Their layout: Wikipedia's articles with their facts, the agents' articles, their statements and what they cite."""
    agencies = {"version": "1", "agencies": {agent: {"name": agent.title()} for agent in AGENTS}}
    put(root / "test_data/agencies.json", json.dumps(agencies))
    for topic in TOPICS:
        facts = [{"statement": f"The {word} shore of {topic} is {word} stone."} for word in NUMBERS]
        put(root / "wiki_data/cleaned_data/statement" / f"{topic}_statements.json", json.dumps(facts))
        put(root / "wiki_data/cleaned_data/article" / f"{topic}.md", article(topic, 0, "[[q=0.5]]"))
        for manner, agent in enumerate(AGENTS, start=1):
            marks = " ".join(f"[[q.{name}={0.8 if BETTER[topic, agent, name] else 0.2}]]" for name in CRITERIA)
            put(root / "test_data" / agent / "md_data" / f"{topic}.md", article(topic, manner, f"[[q=0.5]] {marks}"))
            put(root / "test_data" / agent / "json_data" / f"{topic}.json", json.dumps(in_json(topic, agent)))
    return root


def address(topic: str, agent: str, number: int) -> str:
    return f"https://example.org/{agent}/{topic}/{number}"


def in_json(topic: str, agent: str) -> dict[str, Any]:
    """An article in their JSON: a statement near each fact, the first three with a page that they cite, and the pages."""
    said: list[dict[str, Any]] = []
    pages = {}
    for number, word in enumerate(NUMBERS):
        fact = f"The {word} shore is {word} stone. [[is={FACTS[topic, agent, number]}@{READER}]]"
        cites = number < len(CITED_PLACES)
        mark, url = str(number + 1), address(topic, agent, number)
        said.append({"fact": fact, "ref_idx": mark if cites else None, "url": url if cites else None})
        if cites:
            text = f"What {agent}-{topic}-{number}.txt says. [[is={CITED[topic, agent, number]}@{READER}]]"
            pages[mark] = {"url": url, "title": "", "description": "", "content": text, "publish_time": ""}
    page = {
        "title": topic, "extract": "", "citation_urls": {mark: kept["url"] for mark, kept in pages.items()},
        "statements": said, "citation_contents": pages,
    }  # fmt: skip
    return {"batchcomplete": "", "query": {"pages": {"1": page}}}


def truthful(task: Task, true: str, others: tuple[str, ...]) -> str:
    draw = random.Random(f"{task.person} {task.topic} {task.systems} {task.probe} {task.criterion}")
    return true if draw.random() < PERSON else draw.choice(others)


def writer(task: Task) -> str:
    """Who wrote better on this criterion, wherever it stands; wrong as often as people are."""
    (agent,) = {*task.systems} & {*AGENTS}
    agents = BETTER[task.topic, agent, task.criterion]
    return truthful(task, *("left", ("right",)) if agents == (task.left == agent) else ("right", ("left",)))


def checker(truths: dict[tuple[str, str, int], str]) -> Decide:
    answers = (
        ("consistent", "inconsistent", "not_support")
        if truths is FACTS
        else ("support", "not_support", "conflict", "source_unavailable")
    )

    def say(task: Task) -> str:
        number = next(place for place, word in enumerate(NUMBERS) if f" {word} " in task.probe)
        true = truths[task.topic, task.systems[0], number]
        return truthful(task, true, tuple(one for one in answers if one != true))

    return say


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[Desk]:
    """The commands of the page, as they stand there: files, people, judges, three times."""
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path_factory.mktemp("wlc")) as desk:
        write_tree(desk.folder / "wlc_files")
        for file in (WRITING, CHECKING):
            put(desk.folder / file, judges_of_the_page(file, fake_process.base))
        answers = {"wlc": writer, "facts": checker(FACTS), "citations": checker(CITED)}
        for words in commands("wlc.md"):
            if words[0] == "calibrate":
                continue  # its tables are made below, without the figures
            desk(*words)
            if words[0] == "open":
                assert desk.everybody_answers(words[1], answers[words[1]])
        yield desk


def alike(one: float, other: float) -> float:
    """How often two who are right with these chances say the same of two answers."""
    return one * other + (1 - one) * (1 - other)


def answered(true: float, right: float, others: int) -> float:
    """Share of an answer that is true of a share, given by somebody whose errors spread over the others."""
    return true * right + (1 - true) * (1 - right) / others


def test_table_4_comes_out_with_intervals_that_hold_what_was_planted(done: Desk) -> None:
    printed = Tables("wlc").preset("wlc")
    rows = rows_of(printed)
    for judge, chance in (("careful", CAREFUL), ("local", QUICK)):
        assert holds(rows[judge]["par"], 100 * alike(PERSON, chance)), (judge, rows[judge]["par"])
        assert rows[judge]["valid_share"]["value"] == 1
    assert holds(rows["annotators among themselves (ours)"]["par"], 100 * alike(PERSON, PERSON))
    assert rows["careful"]["cost"]["value"] > 0
    assert rows["local"]["cost"] is None, "a judge without a price costs an unknown sum, and not 0"
    # the lesson of a one-sided comparison: somebody who reads nothing agrees more than a judge who is right 65 of 100
    assert rows["careful"]["par"]["low"] > rows["careful"]["baseline"]["value"] > rows["local"]["par"]["high"]
    same_on_the_page("wlc.md", "table 4", on_a_page(printed))


def test_writing_scores_are_those_planted_by_people_and_by_the_judge(done: Desk) -> None:
    printed = Tables("wlc").of(systems_table)
    rows = rows_of(printed)
    for agent, share in AGENTS.items():
        for rater, right in (("people", PERSON), ("careful", CAREFUL), ("local", QUICK)):
            assert holds(rows[agent][f"Writing score: {rater}"], answered(share, right, 1)), (agent, rater)
    same_on_the_page("wlc.md", "systems", on_a_page(printed))


def test_coverage_of_facts_and_conflict_stand_apart(done: Desk) -> None:
    printed = Tables("facts").of(systems_table)
    rows = rows_of(printed)
    for agent, share in CONSISTENT.items():
        for rater in ("people", "reader"):
            assert holds(rows[agent][f"Cov. Wiki: {rater}"], answered(share, PERSON, 2)), (agent, rater)
            conflict = rows[agent][f"Conflict with Wikipedia: {rater}"]
            assert holds(conflict, answered((1 - share) / 3, PERSON, 2)), (agent, rater)
    same_on_the_page("wlc.md", "facts", on_a_page(printed))


def test_support_by_sources_counts_what_could_be_read_and_says_what_could_not(done: Desk) -> None:
    printed = Tables("citations").of(systems_table)
    rows = rows_of(printed)
    for agent, share in SUPPORTED.items():
        for rater in ("people", "reader"):
            readable = 1 - (1 - PERSON) / 3
            assert holds(rows[agent][f"Ref. Acc.: {rater}"], answered(share, PERSON, 3) / readable), (agent, rater)
    same_on_the_page("wlc.md", "citations", on_a_page(printed))

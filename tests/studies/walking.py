"""A published study walked through by commands on a tree in its own layout: what each capability came to there.

A walk is a file in `walks/`, of lines:

    $ WORDS                 a command, without `calipers`; `!` for `$` where it is meant to be refused
    @people STUDY           its annotators answer all that they are asked
    @unreasoned STUDY       one of them hands in a page whose last answer has no reason
    @read FILE              a file that the last command wrote
    @labels FILE STUDY      the labels in an exported file, counted; every column has what the study holds
    @texts FOLDER STUDY FILES LAYOUT
                            an exported folder, opened: the study's labels, its files' texts, and those that were read
    @orders STUDY SYSTEM FILES LAYOUT
                            the sides that pages have its text on, and the items that readers have in both orders
    @groups STUDY           how many criteria of each group the pages ask about
    @weights FOLDER         the weights of criteria in an exported folder that are those of RACE's tasks
    @registered STUDY FILES its systems' names and its reference, held against the registry
    @gone STUDY FILES       articles of registered agents that its files lack, held against those that the study lacks
    @hashes STUDY FILES LAYOUT [KIND]
                            pages and prompts that hold those files' texts, of reports or of such claims, and their hashes
    @tied STUDY [ANSWER]    as @people, after a tie, and that answer, was refused; how many say that a criterion does not
                            apply
    @judged STUDY FILES     judges' answers, and those that are none, that are those of the files (by topic, system, claim,
                            criterion), and whose
    @brought STUDY FILES LAYOUT, @probed STUDY FILES KIND
                            its reports, or claims, held against those files; of each look `&` for `@` where it adds to
                            what the last command printed
    @replied STUDY FILES LAYOUT [KIND]
                            its judges' labels that are what the provider, or their code, replied about that very thing;
                            at the end of a walk no reply may be left, and people's labels are what they chose
    @names FILE STUDY NAME… all names of its systems, looked for in a packet and in all pages of the study, where
                            a topic's title is found; at the end of a walk, in the pages of all its studies
    N :: WHAT :: PATTERN    capability N came to what the groups of PATTERN find in the last output;
                            a fourth field is the number that is published; `implied` holds what the files imply
    - N :: WHY              why the study is not asked for capability N
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annotation.errors import AnnotationError
from tests.studies import exported, from_files, from_replies, from_results, read_alike, test_race
from tests.studies.desk import Decide, Desk
from tests.studies.implied import IMPLIED, agrees, shown, unrounded, worked_out

WALKS = Path(__file__).parent / "walks"
FIELDS = " :: "


@dataclass(frozen=True)
class Shown:
    """One capability: the command, what came of it, the published number beside it, and what the files imply, or ""."""

    number: int
    command: str
    came: str
    published: str = ""
    implied: str = ""


def lines_of(walk: str) -> list[str]:
    return [line for line in (WALKS / f"{walk}.txt").read_text(encoding="utf-8").splitlines() if line.strip()]


def promised(walk: str) -> tuple[list[int], dict[int, str]]:
    """The capabilities that a walk shows, and why it shows no other."""
    fields = [line.split(FIELDS) for line in lines_of(walk)]
    numbers = [int(first) for first, *_ in fields if first.isdigit()]
    return numbers, {int(first[2:]): rest[0] for first, *rest in fields if first.startswith("- ")}


def walked(desk: Desk, walk: str, decide: Mapping[str, Decide]) -> Iterator[Shown]:
    """Walk it. Fails where a command does, or where its output does not hold what it is to show."""
    command, told, exact = "", "", None
    for line in lines_of(walk):
        first, *words = line.split()
        if first in ("$", "!"):
            command = line[2:]
            words = shlex.split(command)
            told, exact = desk(*words, exit_code=int(first == "!")), None
            if words[0] in ("systems", "topics"):
                exact = [*_documents(desk(*words, "--json"))]
        elif first[0] in "@&":
            if first == "@read":
                twin = (desk.folder / words[0]).with_suffix(".json")
                exact = json.loads(twin.read_text(encoding="utf-8")) if twin.exists() else None
            seen = LOOKS[f"@{first[1:]}"](desk, words, decide)
            told = f"{told}\n{seen}" if first[0] == "&" else seen
        elif first.isdigit():
            number, what, pattern, *published = line.split(FIELDS)
            found = re.search(pattern, told)
            assert found, f"{walk}, {number}: {pattern!r} is not in what {command!r} came to:\n{told}"
            groups = [" ".join(part.split()) for part in found.groups() or (found[0],)]
            expected = IMPLIED.get(walk, {}).get(int(number)) or (None,) * len(groups)
            values, printed = [worked_out(one, desk, decide) for one in expected], [callable(one) for one in expected]
            for group, value, worked in zip(groups, values, printed, strict=True):
                assert agrees(group, value, printed=worked), f"{walk}, {number}: {group} is not {value}"
                if exact is not None and worked and not isinstance(value, str):
                    assert unrounded(value, exact), f"{walk}, {number}: {value} is nowhere, to all its digits"
            told_of = f"{what} {', '.join(groups)}".strip()
            yield Shown(int(number), command, told_of, *(published or [""]), implied=shown(values, printed))
    _unnamed(desk)
    from_replies.all_held(desk)


def _documents(text: str) -> Iterator[Any]:
    """The JSON documents that a command printed, one behind the other."""
    rest, decoder = text.strip(), json.JSONDecoder()
    while rest:
        one, end = decoder.raw_decode(rest)
        yield one
        rest = rest[end:].strip()


def _people(desk: Desk, words: list[str], decide: Mapping[str, Decide]) -> str:
    return f"{desk.everybody_answers(words[0], decide[words[0]])} pages handed in"


def _unreasoned(desk: Desk, words: list[str], decide: Mapping[str, Decide]) -> str:
    with pytest.raises(AnnotationError) as refused:
        desk.everybody_answers(words[0], decide[words[0]], reasoned=False)
    return f"refused, {refused.value.code}"


def _read(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return (desk.folder / words[0]).read_text(encoding="utf-8")


def _labels(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    """People's labels in a file counted: answers, reasons, orders, and how many people read an item."""
    file, study = words
    rows = pd.read_csv(desk.folder / file, dtype="str", keep_default_na=False)
    exported.same_labels(desk, study, rows)
    human = rows[rows["rater_kind"] == "human"]
    counts = {name: human[name].value_counts().sort_index() for name in ("label", "presentation")}
    readers = human.groupby("item_id")["rater_id"].nunique().value_counts()
    scores = pd.to_numeric(human["label"], errors="coerce")
    return "\n".join(
        [
            f"{len(human)} labels of {human['rater_id'].nunique()} people on {human['criterion'].nunique()} criteria",
            f"{(human['rationale'] != '').sum()} of {len(human)} with a reason",
            *(
                f"{name} " + ", ".join(f"{key}: {n}" for key, n in found.items() if key)
                for name, found in counts.items()
            ),
            *([f"mean {scores.mean():.3f}"] if scores.notna().all() else []),
            "read by " + ", ".join(f"{n}: {items} items" for n, items in readers.sort_index(ascending=False).items()),
        ]
    )


def _tied(desk: Desk, words: list[str], decide: Mapping[str, Decide]) -> str:
    study, *others = words
    for refused in ("tie", *others):
        with pytest.raises(AssertionError, match=refused):
            desk.everybody_answers(study, lambda _, refused=refused: refused)
    desk.everybody_answers(study, decide[study])
    labels = desk.verdicts(study)
    also = "".join(f", {name} refused" for name in others)
    return f"{(labels['label'] == 'not_applicable').sum()} of {len(labels)} not applicable, a tie refused{also}"


def _orders(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    slots = read_alike.sides(desk, *words)
    both = Counter(item for item, _ in {*slots})
    left = sum(on_the_left for _, on_the_left in slots)
    return f"{left} left, {len(slots) - left} right; {[*both.values()].count(2)} of {len(both)} items in both orders"


def _hashes(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return read_alike.read_alike(desk, *words)


def _texts(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    """An exported folder: labels that are the study's, and texts that are its files', by whose they are, and were read."""
    folder, study, files, layout = words
    names = ("labels", "reports", "criteria")
    files_of = [(desk.folder / folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in names]
    labels, texts, criteria = ([*map(json.loads, lines)] for lines in files_of)
    exported.same_dataset(desk, study, labels)
    exported.same_texts(desk, study, texts)
    exported.same_criteria(desk, study, criteria)
    for name, lines in (("labels", labels), ("reports", texts)):
        exported.same_twins(desk.folder / folder, name, lines)
    rows, reports = pd.DataFrame(labels), pd.DataFrame(texts)
    told = from_files.as_shown(desk.folder / files, layout)
    own = reports[reports["kind"] == "report"]
    came = {(row.topic, row.system): from_files.untitled(row.text) for row in own.itertuples()}
    assert came == told, "an exported text is not that of its file"
    hashes = [*reports["sha256"]]
    read = {*rows["left_sha256"], *rows["right_sha256"].dropna()} - {sha256(b"").hexdigest()}
    assert read <= {*hashes}, "a text that was read is not in the export"
    return f"{len(rows):,} rows of labels, {len({*hashes})} reports, {len(read)} as they were read"


def _names(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    """Of these names those that stand in a packet or in any page of the study that somebody was sent."""
    file, study, *names = shlex.split(" ".join(words))
    assert {*names} == desk.names(study)[0], "each name that the study has"
    pages = [(json.dumps(page, ensure_ascii=False), "") for *_, page in desk.pages[study]]
    found = _named(desk, study, [*pages, ((desk.folder / file).read_text(encoding="utf-8"), "")])
    return f"{len(found)} of {len(names)} names in {len({item for item, *_ in desk.pages[study]})} items"


def _named(desk: Desk, study: str, pages: list[tuple[str, str]]) -> set[str]:
    """The names of the study's systems that stand in these pages oftener than in the text beside each, its own."""
    looked_in = [(page.casefold(), own.casefold()) for page, own in pages]
    names, topics = desk.names(study)
    titles = [json.dumps(title, ensure_ascii=False)[1:-1].casefold() for title in topics]
    found_in = [any(title in page for title in titles) for page, _ in looked_in]
    assert all(found_in), "a name that stood there would be found"
    return {name for name in names if any(_oftener(name.casefold(), *one) for one in looked_in)}


def _oftener(name: str, page: str, own: str) -> bool:
    return page.count(name) > own.count(name)


def _unnamed(desk: Desk) -> None:
    """In no page of any study that somebody was sent stands a name that is none of the words of its own texts."""
    for study, sent in desk.pages.items():
        texts = desk.texts(study)
        pages = [(json.dumps(page, ensure_ascii=False), texts[item]) for item, _, page in sent]
        assert _named(desk, study, pages) == set(), f"44: in a page of {study}"


def _judged(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    study, files = words
    came, told = from_results.judged(desk, study, files), from_results.FILES[files](desk)
    by_system = Counter[str]()
    for (_topic, system, *_rest), often in came.items():
        by_system[system] += often
    alike = f"{(came & told).total()} of {max(came.total(), told.total())} as the files have it"
    first = from_results.first_shown(desk, study)
    return f"{alike}\nfirst shown: {first}\nby system: {', '.join(f'{system} {often}' for system, often in sorted(by_system.items()))}"


def _replied(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return from_replies.as_replied(desk, *words)


def _groups(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    asked = {tuple((one["category"], one["id"]) for one in page["criteria"]) for _, _, page in desk.pages[words[0]]}
    groups = {tuple(sorted(Counter(group for group, _ in one).items())) for one in asked}
    assert len(groups) == 1, "the same on every page"
    runs = {sum(one[n][0] != one[n - 1][0] for n in range(1, len(one))) + 1 for one in asked}
    assert runs == {len(*groups)}, "each group together"
    return "groups " + ", ".join(f"{name}: {size}" for name, size in groups.pop())


def _weights(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    lines = (desk.folder / words[0] / "criteria.jsonl").read_text(encoding="utf-8").splitlines()
    came = {(one["topic"], one["criterion"]): one["weight"] for one in map(json.loads, lines)}
    told = {(str(task), code): weight for task in test_race.TASKS for code, weight in test_race.weights(task).items()}
    same = sum(abs(came.get(place, 0) - weight) < 1e-9 for place, weight in told.items())
    return f"{same} of {max(len(came), len(told))} weights"


def _registered(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return from_files.registered(desk, *words)


def _gone(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return from_files.gone(desk, *words)


def _brought(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return from_files.brought(desk, *words)


def _probed(desk: Desk, words: list[str], _: Mapping[str, Decide]) -> str:
    return from_files.probed(desk, *words)


LOOKS: dict[str, Callable[[Desk, list[str], Mapping[str, Decide]], str]] = {
    "@people": _people, "@unreasoned": _unreasoned, "@read": _read, "@tied": _tied, "@labels": _labels, "@hashes": _hashes, "@orders": _orders,
    "@brought": _brought, "@probed": _probed, "@texts": _texts, "@names": _names, "@judged": _judged, "@replied": _replied,
    "@groups": _groups, "@weights": _weights, "@registered": _registered, "@gone": _gone,
}  # fmt: skip

"""Judges' labels by what their models, or their code, replied, and people's by what they chose.

Of a reply, which the provider kept with its prompt, the study's files say whose texts it is about; each of its answers
is found by the criterion, and by the claim or the report, that its id names.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotation.items.shown import item_code
from db.connect import reading
from db.tables import Item, Study
from tests.studies.desk import Desk
from tests.studies.read_alike import Files, Read, parts_of, untitled_words, words

RECORD = "said.jsonl"  # where code of a walk's own notes who was asked, the texts that it was given, and its answers
VIEWED = ("first", "second")  # of two reports that are both rated
Place = tuple[str, Read, str]  # who was asked, what was read in its order, and of two reports which one is rated
Answers = frozenset[tuple[str, str]]  # criterion and answer: all of one call about one thing
Pieces = Counter[tuple[Place, Answers]]


@dataclass(frozen=True)
class Reply:
    """Of one call: its texts in their order, each claim by its mark, and the answers by the ids that were asked."""

    who: str
    texts: tuple[str, ...]
    claims: Mapping[str, str]
    answers: Mapping[str, str]

    def pieces(self) -> Iterator[tuple[Place, Answers]]:
        """The answers about each claim, or about each of two reports that are both rated, or about all that is read."""
        of: dict[str, set[tuple[str, str]]] = {}
        for code, answer in self.answers.items():
            own, _, mark = code.rpartition(".")
            about = mark if own and mark in (*VIEWED, *self.claims) else ""
            of.setdefault(about, set()).add((own if about else code, answer))
        alone = next(iter(self.claims.values()), "")
        for mark, said in of.items():
            read = (self.claims.get(mark, alone), *self.texts)
            yield (self.who, read, mark if mark in VIEWED else ""), frozenset(said)


def replies(desk: Desk) -> list[Reply]:
    """Of the provider, and of code."""
    found = []
    for one in desk.prompts():
        texts, claims = parts_of(one["text"])
        of_marks = {name.rpartition("-")[2]: words(text) for name, text in claims}
        assert len(of_marks) == len(claims)
        answers = {}
        for said in json.loads(one["reply"])["judgments"]:
            (answer,) = (said[name] for name in ("winner", "label", "score") if name in said)
            answers[said["criterion"]] = _plain(answer)
        found.append(Reply(one["model"], (*map(untitled_words, texts),), of_marks, answers))
    record = desk.folder / RECORD
    for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        one = json.loads(line)
        answers = {code: _plain(answer) for code, answer in one["answers"].items()}
        found.append(Reply(one["who"], (*map(untitled_words, one["texts"]),), {}, answers))
    return found


def _plain(answer: object) -> str:
    """A score by its worth."""
    try:
        return f"{float(str(answer)):.12g}"
    except ValueError:
        return str(answer)


def asked(desk: Desk) -> dict[str, str]:
    """Judge -> the model, or code, that the files of judges name."""
    listed = (tomllib.loads(path.read_text(encoding="utf-8")).get("judge", []) for path in desk.folder.glob("*.toml"))
    named = {
        (one["name"], one.get("model", one.get("python", "")).removeprefix("openai/"))
        for of in listed
        if isinstance(of, list)
        for one in of
    }
    assert len(dict(named)) == len(named), "each judge is one"
    return dict(named)


def as_replied(desk: Desk, study: str, files: str, layout: str, kind: str = "") -> str:
    """The study's judges' labels counted; each is what was replied about that very thing, and none is left out.

    Labels of one call stay together, so that no two of its runs may be mixed.
    """
    expected, models, every = Files(desk, files, layout, kind), asked(desk), replies(desk)
    stored = _stored(desk, study, expected, models)
    here = {read for _, read, _ in stored}
    alone = {read[:1]: read for read in here} if kind else {}  # of a claim that is read without a text
    told: Pieces = Counter()
    for number, reply in enumerate(every):
        for (who, read, which), said in reply.pieces():
            whole = alone.get(read, read)
            if whole in here:
                told[(who, whole, which), said] += 1
                desk.claimed.add(number)
    came: Pieces = Counter()
    calls: dict[Place, set[frozenset[str]]] = {}
    for place, said in told:
        calls.setdefault(place, set()).add(frozenset(code for code, _ in said))
    for place, given in stored.items():
        for said in given:
            left = dict(said)
            for codes in calls.get(place, ()):
                came[place, frozenset((code, left.pop(code)) for code in codes if code in left)] += 1
            if left:
                came[place, frozenset(left.items())] += 1
    other = [*(came - told), *(told - came)]
    assert not other, f"{study}: labels that are not what was replied: {other[0]}"
    return f"{sum(len(said) * often for (_, said), often in came.items()):,} labels as replied"


def _stored(desk: Desk, study: str, expected: Files, models: Mapping[str, str]) -> dict[Place, list[dict[str, str]]]:
    """What each judge's labels of one run say about each thing that it read: criterion to answer."""
    labels = desk.verdicts(study)
    writers = labels.drop_duplicates("item_id").set_index("item_id")["system_a"]
    probes = _probes(desk, study)
    own = labels[labels["rater_id"].isin([*models])].fillna({"presentation": ""})
    found: dict[Place, list[dict[str, str]]] = {}
    for _, rows in own.groupby(["rater_id", "item_id", "presentation", "run"]):
        row = rows.iloc[0].to_dict()
        item, presentation, turned = row["item_id"], row["presentation"], row["presentation"] == "BA"
        is_rated_beside = isinstance(row.get("beside"), str)
        systems = _systems(row | {"system_b": writers[row["beside"]]} if is_rated_beside else row)
        if item in probes:
            claim, beside = probes[item]
            read = (words(claim), words(beside) or expected.words(row["cluster_id"], systems[0]))
        else:
            shown = systems[::-1] if turned else systems
            read = ("", *(expected.words(row["cluster_id"], one) for one in shown))
        which = VIEWED[turned] if is_rated_beside else ""
        sides = {"A": VIEWED[turned], "B": VIEWED[not turned]} if presentation and not is_rated_beside else {}
        said = {
            code: _plain(sides.get(label, label)) for code, label in zip(rows["criterion"], rows["label"], strict=True)
        }
        found.setdefault((models[row["rater_id"]], read, which), []).append(said)
    return found


def _probes(desk: Desk, study: str) -> dict[str, tuple[str, str]]:
    """Item -> the claim, and the text beside it."""
    rows = select(Item.id, Item.probe, Item.context).join(Study, Study.id == Item.study_id)
    with reading(desk.engine) as session:
        found = session.execute(rows.where(Study.name == study, Item.probe.is_not(None))).all()
    return {item_code(item): (probe, beside or "") for item, probe, beside in found}


def all_held(desk: Desk) -> None:
    """Every reply was held against some study's labels, and people's labels, in every study, are what they chose."""
    assert desk.claimed == {*range(len(replies(desk)))}, "a reply that no study's labels were held against"
    for study, said in desk.said.items():
        labels = desk.verdicts(study)
        people = labels[labels["rater_kind"] == "human"]
        probes = desk.probes(study)
        came = Counter(
            (row["rater_id"], row["cluster_id"], frozenset(_systems(row)), probes[row["item_id"]], row["criterion"], _chosen(row))
            for row in people.to_dict("records")
        )  # fmt: skip
        told = Counter((*one[:2], frozenset(one[2]), *one[3:-1], _plain(one[-1])) for one in said)
        assert came == told, f"{study}: labels that are not what people chose: {[*(came - told), *(told - came)][:4]}"


def _systems(row: Mapping[Any, Any]) -> list[str]:
    return [one for one in (row["system_a"], row["system_b"]) if isinstance(one, str) and one]


def _chosen(row: Mapping[Any, Any]) -> str:
    """The answer, or whose report."""
    systems = _systems(row)
    return _plain(
        dict(zip("AB", systems, strict=True)).get(row["label"], row["label"]) if len(systems) > 1 else row["label"]
    )

"""Records of people's and judges' answers in every container that there is: the labels are those of a flat file.

Two people and two judges, of whom the second answers in other words, and of each kind one gave an answer too few.
"""

import json
import re
import shlex
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from annotation.errors import AnnotationError
from app.commands.tidying import options_of
from calipers.joined_parts import TidyFile
from calipers.mapping_files import recipe_text
from calipers.tidy_files import Options, read_tidy

PEOPLE, JUDGES, CRITERIA = ("anna", "ben"), ("gpt-4o", "open-judge"), ("clarity", "depth")
SHAPES, ONE, MANY = ("list", "keyed", "object"), ("plain", "fields"), ("criteria", "with fields", "scores", "each")
ITEMS = range(8)
PRICE = 0.5
Held = dict[str, Any]


def verdict(item: int, who: str, place: int) -> str:
    turn = (*PEOPLE, *JUDGES).index(who)
    return ("A", "B", "tie")[(item * (turn + 2) + turn + item // 3 * place + place) % 3]


def answer(item: int, who: str, place: int) -> str | None:
    """As it is written: blank for a judge's and null for a person's that is missing."""
    if (item, who) in ((4, "open-judge"), (5, "ben")):
        return "" if who in JUDGES else None
    word = verdict(item, who, place)
    return {"A": "Model A", "B": "Model B", "tie": "Tie"}[word] if who == "open-judge" else word


def held(form: str, who: str, item: int) -> Any:
    key, extras = ("verdict", {"cost_usd": PRICE}) if who in JUDGES else ("preference", {"seconds": 12})
    each = {name: answer(item, who, place) for place, name in enumerate(CRITERIA)}
    return {
        "plain": answer(item, who, 0), "fields": {key: answer(item, who, 0), **extras}, "criteria": each,
        "with fields": each | extras, "scores": {"scores": each, **extras},
        "each": {name: {key: one, "reason": "so it is"} for name, one in each.items()},
    }[form]  # fmt: skip


def container(shape: str, form: str, raters: Sequence[str], item: int) -> Any:
    all_held = {who: held(form, who, item) for who in raters}
    if shape == "object":
        return all_held
    if shape == "keyed":
        return [{who: one} for who, one in all_held.items()]
    who_key, key = ("judge", "verdict") if raters is JUDGES else ("rater", "preference")
    return [{who_key: who, **(one if isinstance(one, dict) else {key: one})} for who, one in all_held.items()]


def expected(forms: dict[Sequence[str], str]) -> dict[tuple[str, str, str], tuple[str, str]]:
    return {
        (f"q{item}", who, name if form in MANY else "overall"): (
            "judge" if raters is JUDGES else "human", verdict(item, who, place) if answer(item, who, place) else "")
        for raters, form in forms.items() for who in raters for item in ITEMS for place, name in enumerate(CRITERIA)
        if form in MANY or not place
    }  # fmt: skip


def made(tmp_path: Path, records: Sequence[Held], **said: Any) -> TidyFile:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return read_tidy(path, options_of(**{"columns": [], "words": [], "people": [",".join(PEOPLE)], "read": []} | said))


def found(read: TidyFile) -> dict[tuple[str, str, str], tuple[str, str]]:
    assert not read.problems, read.problems
    return {
        (row["item_id"], row["rater_id"].rpartition(".")[2], row["criterion"]): (row["rater_kind"], row["label"])
        for row in read.labels.astype("str").to_dict("records")
    }


@pytest.mark.parametrize(("people", "judges"), [*product(SHAPES, repeat=2)])
def test_any_container_beside_any_other_is_the_flat_file(tmp_path: Path, people: str, judges: str) -> None:
    """Each two forms meet in every container of people and in every one of judges, not in all nine pairs of those."""
    many = [forms for forms in product(MANY, repeat=2) if "criteria" in forms or len({*forms}) == 1]
    turn = (SHAPES.index(people) + SHAPES.index(judges)) % len(SHAPES)
    for one, other in [*product(ONE, repeat=2), *many][turn :: len(SHAPES)]:
        records = [
            {"id": f"q{item}", "model_a": "atlas", "model_b": "borel", "text": f"words {item} and more",
             "annotations": container(people, one, PEOPLE, item), "judges": container(judges, other, JUDGES, item)}
            for item in ITEMS
        ]  # fmt: skip
        read, truth = made(tmp_path, records), expected({PEOPLE: one, JUDGES: other})
        if (people, one, judges) == ("object", "plain", "object"):  # columns, of which a person's empty cell is no row
            truth.pop(("q5", "ben", "overall"))
        assert found(read) == truth, (one, other)
        if other in ("fields", "with fields", "scores"):
            paid = read.labels.loc[read.labels["rater_kind"] == "judge", "cost_usd"].astype("float")
            assert paid.sum() == PRICE * len(ITEMS) * len(JUDGES), "what was paid once is shared among criteria"
    (tmp_path / "kept.toml").write_text(recipe_text(read.recipe), encoding="utf-8")
    assert read_tidy(tmp_path / "a.jsonl", Options(mapping=tmp_path / "kept.toml")).labels.equals(read.labels)


def two(item: int, who: str) -> Held:
    return {name: 1 + (item * 2 + place + len(who)) % 5 for place, name in enumerate(CRITERIA)}


def notes(item: int) -> list[Held]:
    return [{"rater": who, **two(item, who)} for who in PEOPLE]


def votes(item: int) -> list[Held]:
    return [{"rater": who, "vote": verdict(item, who, 0)} for who in PEOPLE]


def judged(item: int) -> str:
    return verdict(item, "gpt-4o", 0)


READ: dict[str, Callable[[int], Held]] = {  # -> 2 people and a judge, on both criteria or on one
    "one list of all": lambda n: {"ratings": [{"rater": who, **two(n, who)} for who in (*PEOPLE, "gpt-4o")]},
    "one object of all, with prices": lambda n: {"ratings": {who: two(n, who) | {"cost": 1} for who in (*PEOPLE, "gpt-4o")}},
    "a keyed list of all": lambda n: {"votes": [{who: verdict(n, who, 0)} for who in (*PEOPLE, "gpt-4o")]},
    "criteria of people beside judges": lambda n: {
        "scores": {name: {who: two(n, who)[name] for who in PEOPLE} for name in CRITERIA}, "judges": {"gpt-4o": two(n, "x")}},
    "rows of criteria beside an object": lambda n: {
        "notes": [{"rater": who, "aspect": name, "score": one} for who in PEOPLE for name, one in two(n, who).items()],
        "judges": {"gpt-4o": two(n, "x")}},
    "a judge's own object": lambda n: {"votes": votes(n), "gpt-4o": {"verdict": judged(n), "cost_usd": 1}},
    "a judge's own object of criteria": lambda n: {"notes": notes(n), "gpt-4o": two(n, "x")},
    "deep down": lambda n: {"labels": {
        "human": [{"annotator": {"id": who}, "scores": two(n, who)} for who in PEOPLE],
        "llm": {"judges": {"gpt-4o": {"ratings": {name: {"score": one} for name, one in two(n, "x").items()}}}}}},
    "parallel lists": lambda n: {"annotators": PEOPLE, "labels": [verdict(n, who, 0) for who in PEOPLE], "gpt-4o": judged(n)},
    "a score beside each verdict": lambda n: {
        "votes": [{"score": n % 5, **one} for one in votes(n)], "judges": {"gpt-4o": {"score": n, "verdict": judged(n)}}},
    "a judge that failed": lambda n: {
        "votes": votes(n), "judges": {"gpt-4o": {"verdict": judged(n)} if n else {"error": "timeout"}}},
    "what is a criterion of one side alone": lambda n: {
        "humans": {who: two(n, who) | {"age": 31} for who in PEOPLE}, "judges": {"gpt-4o": two(n, "x") | {"tone": 3}}},
    "true and false": lambda n: {
        "notes": [{"rater": who, "clarity": n % 2 > 0, "depth": True} for who in PEOPLE],
        "judges": {"gpt-4o": {"clarity": False, "depth": True}}},
}  # fmt: skip
REFUSED: dict[str, tuple[Callable[[int], Held], str]] = {
    "votes that are counted": (lambda n: {"votes": {"A": 2, "B": 1}, "judges": {"gpt-4o": "A"}},
                               r"'votes' counts votes \(A, B\) and names no rater: .*--map ignore=votes"),
    "a verdict that ends a conversation": (
        lambda n: {"votes": votes(n), "messages": [{"role": "assistant", "content": f"So: [[{judged(n)}]]"}]},
        r"'messages' mostly ends in a verdict \(\[\[\w+\]\]\), .*--map ignore=messages"),
    "judges under a name that says nothing": (
        lambda n: {"notes": notes(n), "evals": {"gpt-4o": two(n, "x")}},
        r"'evals' holds gpt-4o with clarity, depth beside the list 'notes', .*--read records=notes\+evals where they"),
    "judges under names that a shell parts": (
        lambda n: {"its notes": notes(n), "evals+1, new": {"gpt-4o": two(n, "x")}},
        r"'evals\+1, new' holds gpt-4o with clarity, depth beside the list 'its notes', .*--read '.*' where they"),
    "several plain answers of one judge": (
        lambda n: {"votes": votes(n), "judges": {"gpt-4o": ["A", "B"]}}, "'judges' holds gpt-4o beside the list 'votes'"),
    "criteria beside one verdict": (
        lambda n: {"votes": votes(n), "judges": {"gpt-4o": two(n, "x")}}, "'judges' holds gpt-4o with clarity, depth"),
    "a list that names nobody": (
        lambda n: {"votes": votes(n), "evals": [{"verdict": judged(n), "style": "x"}]},
        "the records of 'evals' do not say who answered, those of 'votes' do"),
}  # fmt: skip


def named(form: Callable[[int], Held]) -> list[Held]:
    return [{"id": f"q{n}", "prompt": f"Question {n}?", **form(n)} for n in ITEMS]


@pytest.mark.parametrize("name", READ)
def test_a_stranger_form_is_read(tmp_path: Path, name: str) -> None:
    read = made(tmp_path, named(READ[name]))
    labels = found(read)
    criteria = {criterion for _, _, criterion in labels}
    assert criteria in ({"overall"}, {*CRITERIA})
    assert len(labels) == len(read.labels) == 3 * len(ITEMS) * len(criteria)
    for (item, who, criterion), (kind, label) in labels.items():
        number = int(item[1:])
        assert (kind == "human") == (who in PEOPLE)
        if criterion == "overall":
            assert label == (
                verdict(number, who, 0) if (name, item, kind) != ("a judge that failed", "q0", "judge") else ""
            )
        elif name != "true and false":
            own = who if who in PEOPLE or name.startswith("one ") else "x"
            assert label == str(two(number, own)[criterion])
    is_left = name == "what is a criterion of one side alone"
    assert ("no criterion of the others: humans: age, judges: tone" in str(read.told)) == is_left


def test_judges_objects_beside_one_persons_keep_item_prices_and_what_is_missing(tmp_path: Path) -> None:
    """Each item has the label of one of two people; a judge's verdict and price never name it, and null is no word."""
    records = [
        {"id": f"q{n}", "human": {"label": "AB"[n % 2], "reviewer": PEOPLE[n // 2 % 2]},
         "judges": {who: {"verdict": "AB"[n // 2 % 2], "cost_usd": (place + 1) / (n + 1), "latency_ms": n}
                    for place, who in enumerate(("gpt-4o-mini", "claude-sonnet"))}} for n in (*ITEMS, 8)
    ]  # fmt: skip
    records[8]["judges"]["gpt-4o-mini"] = None
    read = made(tmp_path, records)
    labels = found(read)
    assert {item for item, _, _ in labels} == {f"q{n}" for n in range(9)}
    assert len(labels) == len(read.labels) == 27
    assert labels["q8", "gpt-4o-mini", "overall"] == ("judge", "")
    assert {*read.labels["status"]} == {"ok", "missing"}
    prices = {(row.rater_id, row.item_id): row.cost_usd for row in read.labels.itertuples()}
    for (who, item), cost in prices.items():
        place = {"gpt-4o-mini": 1, "claude-sonnet": 2}.get(who)
        is_blank = not place or (item, place) == ("q8", 1)
        assert cost == ("" if is_blank else str(place / (int(item[1:]) + 1)))


def test_a_container_that_is_a_word_in_one_record_is_left_as_it_is_there(tmp_path: Path) -> None:
    records = named(READ["a judge's own object of criteria"])
    assert len(made(tmp_path, [*records, {**records[0], "id": "q9", "notes": "none", "gpt-4o": "error"}]).before) > 0
    silent = [{"id": n, "model_a": "atlas", "model_b": "borel", "rater": "anna", "verdict": ""} for n in ITEMS]
    assert len(made(tmp_path, silent).before) == len(ITEMS), "and a file without any answer ends in words"


def test_what_is_left_out_is_told_and_a_misspelt_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    form = named(REFUSED["votes that are counted"][0])
    assert "left out, as asked: votes" in made(tmp_path, form, columns=["ignore=votes"]).told
    misspelt = made(
        tmp_path, named(REFUSED["a list that names nobody"][0]), columns=["ignore=evals+prmopt+zzz"], words=["Aa=A"]
    )
    assert "no column 'zzz' is there to be ignored" in misspelt.problems, "and none that is unlike it is named"
    assert "no column 'prmopt' is there to be ignored; nearest: --map ignore=prompt" in misspelt.problems
    assert "'Aa' is said to mean 'A', and nobody answers it; nearest: --map-label A=A" in misspelt.problems


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_be_read_in_two_ways_is_refused_with_the_words_that_mend_it(tmp_path: Path, name: str) -> None:
    form, sentence = REFUSED[name]
    with pytest.raises(AnnotationError, match=sentence) as refused:
        made(tmp_path, named(form))
    typed = re.findall(r"--(read|map) ((?:'[^']*'|[^\s;])+)", refused.value.text)
    for option, text in typed:
        (value,) = shlex.split(text)
        if option == "map":
            assert "left out, as asked: " in str(made(tmp_path, named(form), columns=[value]).told)
        elif "holds gpt-4o with" in sentence and "evals" in sentence:
            assert len(found(made(tmp_path, named(form), read=[value]))) == 6 * len(ITEMS)

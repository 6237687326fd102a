"""Labels for Label Studio, Argilla and Potato: whole files against ones that a human has read, and what is not held."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest

from exports.datasets.tool_labels import ToolFiles, listed, tool_names
from tests.tool_files import COLUMNS, EXPORTERS, HOSTILE, hostile_table, labels_table

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "tools"
CRITERIA = {
    "clear": {"label": "Clear", "text": "Which is clearer?", "answers": ["left", "right", "tie"]},
    "deep & <wide>": {"label": "Deep", "text": "Which goes deeper, in 中文 too?"},
}
JUDGE = {"rater_id": "mini", "rater_kind": "judge", "seconds": 2.5, "cost_usd": 0.001}
PAIRS = labels_table(
    {"rationale": '=cmd(), "so" & <b>so</b>\n😀 \\alpha', "seconds": 30.0, "evidence": '[{"quote": "q"}]'},
    {"criterion": "deep & <wide>", "label": "tie", "seconds": 12.0},
    {"rater_id": "annotator-02", "label": "B"},
    {**JUDGE, "presentation": "AB", "label": "A", "rationale": "because"},
    {**JUDGE, "presentation": "AB", "criterion": "deep & <wide>", "label": None, "status": "refused"},
    {**JUDGE, "rater_id": "older", "presentation": None, "label": "B"},
)
SCORES = labels_table(
    {"system_b": None, "presentation": None, "label": "7"},
    {"system_b": None, "presentation": None, "label": "77.5", "criterion": "deep & <wide>"},
)
NAME = re.compile(r"(?=.*[a-z0-9])[a-z0-9_-]{1,200}")


def golden(tool: str, made: ToolFiles) -> None:
    """Every file of the export is the one that was kept, and none is missing."""
    kept = {path.relative_to(GOLDEN / tool).as_posix(): path for path in (GOLDEN / tool).rglob("*") if path.is_file()}
    assert sorted(kept) == sorted(made.files)
    for name, content in made.files.items():
        assert content == kept[name].read_text(encoding="utf-8"), name


@pytest.mark.parametrize("tool", EXPORTERS)
def test_files_are_those_that_were_read(tool: str) -> None:
    golden(tool, EXPORTERS[tool](PAIRS, CRITERIA))


@pytest.mark.parametrize("tool", EXPORTERS)
def test_the_same_labels_give_the_same_bytes(tool: str) -> None:
    assert EXPORTERS[tool](hostile_table(), CRITERIA).files == EXPORTERS[tool](hostile_table(), CRITERIA).files


@pytest.mark.parametrize("tool", EXPORTERS)
def test_what_is_not_held_is_counted_and_written_beside(tool: str) -> None:
    made = EXPORTERS[tool](PAIRS, CRITERIA)
    text = made.files["NOT-HELD.md"]
    assert [f"- {line}" in text for line in made.not_held] == [True] * len(made.not_held)
    for words in (
        "quoted passages and their offsets of 1 label:", "The cost of 3 labels:", "seconds of 5 labels",
        "1 label without a usable answer (refused 1)", "1 stand only under", "texts of the reports", "Who annotator-01 is in another study", "2 pseudonyms",
    ):  # fmt: skip
        assert words in text, words
    bare = labels_table({"label": "tie"}).drop(columns=["evidence", "seconds", "cost_usd"])
    held = EXPORTERS[tool](bare.assign(text_a="one", text_b="two"), {}).not_held
    assert [line for line in held if not line.startswith("Who ")] == []


def test_texts_stand_on_the_side_they_were_shown_on() -> None:
    table = labels_table({"presentation": "BA"}).assign(text_a="one", text_b="two", sha256_a="a1", sha256_b="b2")
    (task,) = json.loads(EXPORTERS["label_studio"](table, {}).files["tasks.json"])
    assert (task["data"]["left"], task["data"]["right"], task["data"]["first"]) == ("two", "one", "B")
    assert task["annotations"][0]["result"][0]["value"] == {"choices": ["right"]}  # A won, and stood right
    (line,) = (
        EXPORTERS["potato"](table.drop(columns=["text_a", "text_b"]), {}).files["data/instances.jsonl"].splitlines()
    )
    assert json.loads(line)["responses"] == ["sha256 b2", "sha256 a1"]


@pytest.mark.parametrize("tool", EXPORTERS)
def test_nothing_but_the_columns_of_the_labels_gets_into_a_file(tool: str) -> None:
    table = labels_table({}).assign(email="ada@example.org", handle="Ada Lovelace", token="inv-1")
    content = "".join(EXPORTERS[tool](table, CRITERIA).files.values())
    assert not any(word in content for word in ("@example", "Lovelace", "inv-1", "completed_by", str(Path.home())))


def test_label_studio_gets_a_configuration_that_knows_every_answer_given() -> None:
    for table in (PAIRS, SCORES, hostile_table()):
        made = EXPORTERS["label_studio"](table, CRITERIA)
        view = ElementTree.fromstring(made.files["labeling-config.xml"])
        controls = {tag.get("name"): tag for tag in view if tag.get("toName")}
        objects = {tag.get("name"): tag.get("value") for tag in view.findall("Text")}
        assert len(controls) == len([tag for tag in view if tag.get("toName")])
        for task in json.loads(made.files["tasks.json"]):
            assert not set(task["data"]) & set(controls)  # JSON_MIN would let one hide the other
            assert {f"${name}" for name in objects if name in task["data"]} <= set(objects.values())
            for given in (*task["annotations"], *task["predictions"]):
                for result in given["result"]:
                    control = controls[result["from_name"]]
                    assert (control.tag.lower(), result["to_name"]) == (result["type"], control.get("toName"))
                    choices = {choice.get("value") for choice in control}
                    assert set(result["value"].get("choices", ())) <= choices


def test_argilla_gets_names_ratings_and_options_that_its_server_takes() -> None:
    for table in (PAIRS, SCORES, hostile_table()):
        made = EXPORTERS["argilla"](table, CRITERIA)
        settings, records = json.loads(made.files["settings.json"]), json.loads(made.files["records.json"])
        questions = {question["name"]: question["settings"] for question in settings["questions"]}
        assert len(questions) == len(settings["questions"])
        assert all(NAME.fullmatch(name) for name in questions)
        named = [one["name"] for kind in ("fields", "metadata") for one in settings[kind]]
        assert not set(questions) & set(named)
        assert len({record["id"] for record in records}) == len(records)
        for record in records:
            given = [(name, one) for name, listed in record["responses"].items() for one in listed]
            for name, one in [*given, *record["suggestions"].items()]:
                options = [option["value"] for option in questions[name].get("options", [])]
                assert one["value"] in options if options else isinstance(one["value"], str)
                assert len(options) != 1
    kinds = {name: settings["type"] for name, settings in argilla_questions().items()}
    assert kinds == {"clear": "rating", "clear-rationale": "text", "deep-wide": "text", "deep-wide-rationale": "text"}


def argilla_questions() -> dict[str, dict[str, object]]:
    settings = json.loads(EXPORTERS["argilla"](SCORES, {}).files["settings.json"])
    return {question["name"]: question["settings"] for question in settings["questions"]}


def test_potato_gets_the_true_order_once_for_each_instance() -> None:
    made = EXPORTERS["potato"](PAIRS, CRITERIA)
    rows = [json.loads(line) for line in made.files["data/instances.jsonl"].splitlines()]
    assert [(row["id"], row.get("first")) for row in rows] == [
        ("item-00001.BA.1.1", "B"), ("item-00001.AB.1.1", "A"), ("item-00001.order-unknown.1.1", None),
    ]  # fmt: skip
    state = json.loads(made.files["annotation_output/annotator-01/user_state.json"])
    label, value = state["instance_id_to_label_to_value"]["item-00001.BA.1.1"][0]
    assert (label, value) == ({"schema": "clear", "name": "selection"}, "B")  # A won; what stood first was B
    assert "\\x85" not in made.files["config.yaml"]
    assert all(ord(sign) < 128 for name, text in made.files.items() if "state" in name for sign in text)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_rater_leaves_the_folder(name: str) -> None:
    made = EXPORTERS["potato"](labels_table({"rater_id": name}, {"rater_id": name, "rater_kind": "judge"}), {})
    folders = [path.split("/") for path in made.files if path.startswith("annotation_output/")]
    assert [len(parts) for parts in folders] == [3, 3]
    assert len({parts[1].casefold() for parts in folders}) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", parts[1]) for parts in folders)


def test_no_two_names_of_a_tool_meet() -> None:
    ids = ["clear", "Clear", "clear-rationale", "clear rationale", "", "日本", "topic", "39", "c-39", "1e5", "true"]
    names = tool_names(ids, taken=["topic"])
    both = [name.casefold() for one in names.values() for name in (one, f"{one}-rationale")]
    assert len(set(both)) == len(both) == 22
    assert all(name[0].isalpha() and name != "true" for name in names.values())  # Label Studio reads 39 as a number
    assert names["clear"] == "clear"
    assert "topic" not in names.values()


def test_columns_are_those_of_the_verdicts() -> None:
    from annotation.verdicts import COLUMNS as OURS

    assert COLUMNS == OURS


@pytest.mark.parametrize("tool", EXPORTERS)
def test_no_file_stands_in_memory_whole_and_its_pieces_are_what_one_text_would_be(tool: str) -> None:
    table = pd.concat([PAIRS.assign(item_id=f"item-{number:05d}") for number in range(500)])
    made = EXPORTERS[tool](table, CRITERIA)
    long = {name: text for name, text in made.files.items() if len(text) > 100_000}
    assert long
    for name, text in long.items():
        assert max(map(len, made.pieces[name]())) < len(text) / 10, name
        if name.endswith("user_state.json"):
            assert text == json.dumps(json.loads(text)) + "\n"
        elif name.endswith(".json"):
            lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in json.loads(text))
            assert text == f"[\n{lines}\n]\n"


def test_a_list_of_nothing_is_a_list() -> None:
    assert json.loads("".join(listed([]))) == []

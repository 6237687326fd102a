"""One small file in 40 forms: separators, shapes, spellings and formats. What is read is read right, the rest is asked.

The labels are eight pairs of two systems by two people and a judge; each form holds them as some tool or person writes
them. A form of which two readings are possible is refused with the sentence that mends it, and read with that said.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import calipers
from annotation.errors import AnnotationError
from annotation.files.tables import Form
from app.commands.tidying import options_of, tidy
from calibration.table.checking import check_verdicts
from calibration.tidying.raters import person_of
from calipers.label_files import read_labels
from calipers.mapping_files import recipe_text
from calipers.notebook import OPTION
from calipers.tidy_files import labels_of, read_tidy
from plain.typed_options import TO_FILL
from tests.annotation.spreadsheet_files import write_ods, write_xlsx

PEOPLE, JUDGE = ("annotator_1", "annotator_2"), "gpt-4o"
RATERS = (*PEOPLE, JUDGE)
SYSTEMS = ("atlas", "borel")
ANSWERS = {  # question -> the answer of each rater: A is atlas
    "q1": "AAB", "q2": "BBB", "q3": "ttA", "q4": "BAB", "q5": "AAA", "q6": "BtB", "q7": "AAt", "q8": "tBB",
}  # fmt: skip
VERDICT = {"A": "A", "B": "B", "t": "tie"}
Row = dict[str, Any]


def long(
    words: Mapping[str, str] = VERDICT, label: str = "label", pairs: Sequence[str] = ("model_a", "model_b")
) -> list[Row]:
    """A row for each answer, under the names that people give to columns; without systems where `pairs` is empty."""
    return [
        {
            "question_id": question,
            **dict(zip(pairs, SYSTEMS, strict=False)),
            "annotator": rater,
            label: words[given[place]],
        }
        for question, given in ANSWERS.items()
        for place, rater in enumerate(RATERS)
    ]


def wide(words: Mapping[str, str] = VERDICT, heads: Sequence[str] = RATERS) -> list[Row]:
    """A column for each rater."""
    return [
        {"question_id": question, "model_a": "atlas", "model_b": "borel"}
        | {head: words[given[place]] for place, head in enumerate(heads)}
        for question, given in ANSWERS.items()
    ]


def ours() -> list[Row]:
    return [
        {"item_id": row["question_id"], "rater_id": row["annotator"],
         "rater_kind": "judge" if row["annotator"] == JUDGE else "human", "criterion": "overall", "label": row["label"],
         "cluster_id": row["question_id"], "system_a": "atlas", "system_b": "borel"}
        for row in long()
    ]  # fmt: skip


def swapped() -> list[Row]:
    """Every other pair named the other way round, as arenas keep it."""
    turned = {"A": "model_b", "B": "model_a", "tie": "tie"}
    kept = {"A": "model_a", "B": "model_b", "tie": "tie"}
    return [
        row | {"model_a": "borel", "model_b": "atlas", "winner": turned[row["winner"]]}
        if number % 2
        else row | {"winner": kept[row["winner"]]}
        for number, row in enumerate(long(label="winner"))
    ]


def sided(order: Mapping[int, str]) -> list[Row]:
    """Left and right, with the order in which the pair was shown."""
    left = {"AB": {"A": "left", "B": "right", "tie": "tie"}, "BA": {"A": "right", "B": "left", "tie": "tie"}}
    return [
        row | {"order": order[number % 2], "label": left[order[number % 2]][row["label"]]}
        for number, row in enumerate(long())
    ]


def flagged(rows: Sequence[Row]) -> list[Row]:
    """The order as a flag, which says whether the pair was swapped."""
    return [{key: cell for key, cell in row.items() if key != "order"} | {"is_swapped": int(row["order"] == "BA")}
            for row in rows]  # fmt: skip


def delimited(rows: Sequence[Row], separator: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode(encoding)


def lines(rows: Sequence[Row]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def nested() -> list[Row]:
    return [
        {"question": {"id": question}, "models": {"model_a": "atlas", "model_b": "borel"},
         "votes": [{"annotator": rater, "vote": VERDICT[given[place]]} for place, rater in enumerate(RATERS)]}
        for question, given in ANSWERS.items()
    ]  # fmt: skip


def cells(rows: Sequence[Row]) -> list[list[str]]:
    return [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]


def folder(path: Path) -> None:
    """A file for each rater."""
    path.mkdir()
    for rater in RATERS:
        own = [
            {name: cell for name, cell in row.items() if name != "annotator"}
            for row in long()
            if row["annotator"] == rater
        ]
        (path / f"{rater}.csv").write_bytes(delimited(own))


def in_words(a: str, b: str, tie: str) -> bytes:
    return delimited(long({"A": a, "B": b, "t": tie}))


FORMS: dict[str, tuple[str, bytes | Callable[[Path], object]]] = {
    # separators and encodings
    "our own columns": ("a.csv", delimited(ours())),
    "commas": ("a.csv", delimited(long())),
    "semicolons": ("a.csv", delimited(long(), ";")),
    "tabs": ("a.tsv", delimited(long(), "\t")),
    "bars": ("a.txt", delimited(long(), "|")),
    "semicolons in UTF-16": ("a.csv", delimited(long(), ";", "utf-16")),
    "a byte order mark": ("a.csv", delimited(long(), ",", "utf-8-sig")),
    "Windows-1252": ("a.csv", delimited([row | {"note": "schön"} for row in long()], ";", "cp1252")),
    # formats
    "xlsx": ("a.xlsx", lambda path: write_xlsx(path, {"Sheet1": cells(long())})),
    "ods": ("a.ods", lambda path: write_ods(path, {"Sheet1": cells(long())})),
    "xlsx, a sheet a rater": ("a.xlsx", lambda path: write_xlsx(path, {
        rater: cells([{k: v for k, v in row.items() if k != "annotator"} for row in long() if row["annotator"] == rater])
        for rater in RATERS})),
    "JSON": ("a.json", json.dumps(long()).encode()),
    "JSON below a name": ("a.json", json.dumps({"format": 1, "labels": long()}).encode()),
    "JSON by columns": ("a.json", str(pd.DataFrame(long()).to_json()).encode()),
    "JSON by lists beside what holds for every row": ("a.json", json.dumps(
        {"model_a": "atlas", "model_b": "borel", "dataset": "qa"}
        | {key: [row[key] for row in long()] for key in ("question_id", "annotator", "label")}).encode()),
    "JSON Lines": ("a.jsonl", lines(long())),
    "JSON Lines, nested answers": ("a.jsonl", lines(nested())),
    "Parquet": ("a.parquet", lambda path: pd.DataFrame(long()).to_parquet(path, index=False)),
    "a folder, a file a rater": ("raters", folder),
    # shapes
    "a column a rater": ("a.csv", delimited(wide())),
    "a column a rater, named after labels": ("a.csv", delimited(wide(heads=[f"{one}_label" for one in RATERS]))),
    "a column a rater, two called as who answered": ("a.csv", delimited(wide(heads=("annotator", "human_2", "judge")))),
    "a column a rater and criterion": ("a.csv", delimited([
        {k if k in ("question_id", "model_a", "model_b") else f"{k}.overall": v for k, v in row.items()}
        | {f"{rater}.style": "A" for rater in RATERS} for row in wide()])),
    "a column a rater and criterion, heads in two rows": ("a.xlsx", lambda path: write_xlsx(path, {"Sheet1": [
        ["", "", "", *(cell for rater in RATERS for cell in (rater, ""))],
        ["question_id", "model_a", "model_b", *["overall", "style"] * len(RATERS)],
        *([row["question_id"], "atlas", "borel", *(cell for rater in RATERS for cell in (row[rater], "A"))]
          for row in wide())]})),
    "pairs in both orders": ("a.csv", delimited(swapped())),
    # spellings
    "model_a, model_b": ("a.csv", in_words("model_a", "model_b", "tie (bothbad)")),
    "[[A]], [[B]], [[C]]": ("a.csv", in_words("[[A]]", "[[B]]", "[[C]]")),
    "A>>B": ("a.csv", in_words("A>>B", "B>A", "A=B")),
    "verdicts in sentences": ("a.csv", in_words("Answer: A", "B is better because A lacks detail", "Tie")),
    "win, lose": ("a.csv", in_words("win", "lose", "draw")),
    "names of systems": ("a.csv", in_words("atlas", "borel", "tie")),
    "Assistant A": ("a.csv", in_words("Assistant A", "Assistant B", "Both good")),
    "Response 1 is better": ("a.csv", in_words("Response 1 is better", "Response 2 is slightly better", "About the same")),
    "left and right, with the order": ("a.csv", delimited(sided({0: "AB", 1: "BA"}))),
    "left and right, with a flag": ("a.csv", delimited(flagged(sided({0: "AB", 1: "BA"})))),
    "left and right, systems called so": ("a.csv", delimited(
        long({"A": "left", "B": "right", "t": "tie"}, pairs=("left_model", "right_model")))),
    "verdicts without systems": ("a.csv", delimited(long(pairs=()))),
    "Chinese verdicts, and a column of most people's": ("a.csv", delimited(
        [row | {"majority": row["annotator_1"]} for row in wide({"A": "A更好", "B": "模型B好", "t": "差不多"})])),
}  # fmt: skip
ASKED: dict[str, tuple[str, bytes, str, Mapping[str, Any]]] = {
    "1, 2, 0 without systems": (
        "a.csv", delimited(long({"A": "1", "B": "2", "t": "0"}, pairs=())), "--map-label 1=A,2=B,0=tie",
        {"words": ["1=A,2=B,0=tie"]},
    ),
    "left and right without an order": (
        "a.csv", in_words("left", "right", "tie"), "or --labels-are verdicts where the first is always system_a",
        {"labels_are": "verdicts"},
    ),
    "raters nobody knows": (
        "a.csv", delimited(wide(heads=("ada", "ben", "eve"))), "--map rater_id=ada+ben+eve",
        {"columns": ["rater_id=ada+ben+eve"], "people": ["ada,ben"]},
    ),
    "a column of people's answers beside a judge's": (
        "a.csv", delimited(wide(heads=("winner", "ben", JUDGE))), "people or judges: winner, ben;",
        {"people": ["winner,ben"]},
    ),
    "a column for each winner": (
        "a.csv", delimited([
            {key: cell for key, cell in row.items() if key != "winner"}
            | {f"winner_{one}": int(row["winner"] == word) for one, word in (("model_a", "A"), ("model_b", "B"), ("tie", "tie"))}
            for row in wide(heads=("winner", "ben", JUDGE))
        ]), "people or judges: winner, ben;", {"people": ["winner,ben"]},
    ),
    "people's answers in a list that names nobody, a judge's beside": (
        "a.json", json.dumps([
            {name: row[name] for name in ("question_id", "model_a", "model_b", JUDGE)}
            | {"label": [row[one] for one in PEOPLE], "reasons": ["short", "long"]}
            for row in wide()
        ]).encode(), "--map rater_id=label.place --people 1,2 (or none)",
        {"columns": ["rater_id=label.place"], "people": ["1,2"]},
    ),
    "people's columns beside a row for each judge": (
        "a.csv", delimited([{**row, "judge": JUDGE, "verdict": row["eve"], "eve": ""} for row in wide(heads=("ada", "ben", "eve"))]),
        "ada and ben answer each item in the words of 'verdict', and nothing says who that is: --people ada,ben where",
        {"people": ["ada,ben"]},
    ),
    "0 and 1 for two systems": (
        "a.csv", in_words("0", "1", "0.5"), "--map-label 1=A,0.5=tie,0=B", {"words": ["0=A,1=B,0.5=tie"]},
    ),
    "1, 2, 0, or classes 0, 1, 2": (
        "a.csv", in_words("1", "2", "0"), "--map-label 1=A,2=B,0=tie", {"words": ["1=A,2=B,0=tie"]},
    ),
    "a column a rater, numbers": (
        "a.csv", delimited(wide({"A": "1.0", "B": "2.0", "t": "0.0"})), "--map-label 1.0=A,2.0=B,0.0=tie",
        {"labels_are": "verdicts"},
    ),
    "A and B with a flag": (
        "a.csv", delimited(flagged([row | {"label": {"left": "A", "right": "B"}.get(row["label"], "tie")}
                                    for row in sided({0: "AB", 1: "BA"})])),
        "--labels-are sides where A is what stood first", {"labels_are": "sides"},
    ),
}  # fmt: skip
NAMES = {"ada": "annotator_1", "winner": "annotator_1", "ben": "annotator_2", "eve": "gpt-4o", "1": "annotator_1",
         "2": "annotator_2", "annotator": "annotator_1", "human_2": "annotator_2", "judge": "gpt-4o"}  # fmt: skip


def read(path: Path, **said: Any) -> set[tuple[str, str, str, str]]:
    """(question, rater, kind, who won) of every answer but those on style."""
    labels, _ = labels_of(path, options_of(**{"columns": [], "words": [], "people": [], "read": []} | said))
    labels = labels.astype("str")
    assert (labels.loc[labels["criterion"] != "style"].groupby(["item_id", "rater_id"]).size() == 1).all()
    out = set()
    for row in labels[labels["criterion"] != "style"].to_dict("records"):
        sides = {"A": row.get("system_a", "atlas"), "B": row.get("system_b", "borel")}
        rater = NAMES.get(row["rater_id"], row["rater_id"])
        out.add((row["cluster_id"].partition("|")[0], rater, row["rater_kind"], sides.get(row["label"], row["label"])))
    return out


def written(path: Path, content: bytes | Callable[[Path], object]) -> Path:
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    return path


EXPECTED = {
    (question, rater, "judge" if rater == JUDGE else "human", {"A": "atlas", "B": "borel", "t": "tie"}[given[place]])
    for question, given in ANSWERS.items()
    for place, rater in enumerate(RATERS)
}


def test_of_answers_in_two_lists_each_has_its_rows(tmp_path: Path) -> None:
    records = [
        {"question": {"id": question}, "model_a": "atlas", "model_b": "borel",
         "human": {"annotators": [{"name": one, "pref": VERDICT[said]} for one, said in zip(PEOPLE, given, strict=False)]},
         "judges": [{"judge": JUDGE, "verdict": VERDICT[given[2]], "cost": 0.1}]}
        for question, given in ANSWERS.items()
    ]  # fmt: skip
    assert read(written(tmp_path / "a.jsonl", lines(records))) == EXPECTED
    other = lines([{**record, "human": {"annotators": [{"name": "ada", "mark": "A"}]}} for record in records])
    path = written(tmp_path / "b.jsonl", other)
    assert len(read(path)) == len(ANSWERS), "a list of whose keys none is known for an answer is left out, and told"
    assert "annotators' is left out: --read records=judges+human.annotators" in str(labels_of(path)[1])


def dumped(experts: Callable[[Row], Row]) -> list[Row]:
    """As pipelines dump them: what people said in an object, what judges said in a list."""
    return [
        {"example": {"id": question, "criterion": "overall"}, "systems": {"a": "atlas", "b": "borel"},
         **experts(dict(zip(PEOPLE, (VERDICT[one] for one in given), strict=False))),
         "judges": [{"model": JUDGE, "verdict": VERDICT[given[2]], "cost": 0.1, "latency_s": 2.1}]}
        for question, given in ANSWERS.items()
    ]  # fmt: skip


def test_people_in_an_object_beside_a_list_of_judges_are_read_with_them(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines(dumped(lambda given: {"experts": given})))
    assert read(path) == EXPECTED
    assert "a row for each of 'judges', and for each answer in experts.annotator_1" in str(labels_of(path)[1])
    assert read(written(tmp_path / "b.jsonl", lines(dumped(lambda given: given)))) == EXPECTED, "or in columns"
    parts = ["label=answers.label,rater_id=answers.rater,item_id=example.id"]  # as a kept mapping names them
    assert read(path, columns=parts) == EXPECTED
    names = {"annotator_1": "ada", "annotator_2": "ben"}
    renamed = lines(dumped(lambda given: {"gold": {names[name]: said for name, said in given.items()}}))
    gold = written(tmp_path / "c.jsonl", renamed)
    with pytest.raises(
        AnnotationError, match=r"gold.ada and gold.ben answer each item in the words .*--people ada,ben "
    ):
        read(gold)
    assert read(gold, people=["ada,ben"]) == EXPECTED, "or called as --people says"
    experts = ["rater_id=experts.annotator_1+experts.annotator_2,item_id=example.id"]
    two = written(tmp_path / "d.jsonl", lines([row | {"judges": row["judges"] * 2} for row in dumped(
        lambda given: {"experts": given})]))  # fmt: skip
    labels, told = labels_of(two, options_of(columns=experts, words=[], people=["all"], read=[]))
    assert len(labels) == 2 * len(ANSWERS), "a list of which nothing is asked makes no row twice"
    assert "'judges' is left out" in str(told)
    mixed = ["rater_id=judges.model,label=experts.annotator_1+judges.verdict"]
    with pytest.raises(AnnotationError, match="both answer in 4 rows and differ: one rater each"):
        read(path, columns=mixed)


@pytest.mark.parametrize("key", ["preference", "verdict"])
@pytest.mark.parametrize("plain", [False, True], ids=["records", "values"])
def test_each_judge_of_an_object_beside_a_list_of_people_is_a_rater(tmp_path: Path, key: str, plain: bool) -> None:
    words = {"A": "Model A", "B": "Model B", "t": "both bad"}

    def judged(said: str) -> Any:
        return said if plain else {"verdict": said, "latency_s": 1.2, "cost_usd": 0.1}

    records = [
        {"id": question, "responses": {"A": {"model": "atlas"}, "B": {"model": "borel"}},
         "human_annotations": [{"rater": who, key: VERDICT[one]} for who, one in zip(PEOPLE, given, strict=False)],
         "judges": {JUDGE: judged(words[given[2]]), "gpt-4.1": judged("" if question == "q1" else "A")}}
        for question, given in ANSWERS.items()
    ]  # fmt: skip
    labels = labels_of(written(tmp_path / "a.jsonl", lines(records)))[0]
    assert labels["rater_id"].value_counts().to_dict() == dict.fromkeys((*RATERS, "gpt-4.1"), 8), "a blank one too"
    said = {(row.item_id, row.rater_id): row.label for row in labels.itertuples()}
    spelled = dict(zip(SYSTEMS, "AB", strict=True)) | {words[one]: VERDICT[one] for one in "ABt"}
    for question, given in ANSWERS.items():
        for who, one in zip(RATERS, given, strict=True):
            assert spelled.get(said[question, who], said[question, who]) == VERDICT[one], (question, who)
    mixed = [row["judges"] | {"other": {"pick": "A"}} for row in records]
    for name, judges in (("judges", mixed), ("evals", [row["judges"] for row in records])):
        of = [{**row, "judges": None, name: held} for row, held in zip(records, judges, strict=True)]
        if not plain or name == "judges":
            with pytest.raises(AnnotationError, match=rf"'{name}' holds gpt-4o, gpt-4\.1"):
                labels_of(written(tmp_path / "b.jsonl", lines(of)))
            named = [f"label=human_annotations.{key},rater_id=human_annotations.rater"]
            with pytest.raises(AnnotationError, match=f"'{name}' holds gpt-4o"):
                labels_of(tmp_path / "b.jsonl", options_of(columns=named, words=[], people=["all"], read=[]))
    silent = [{**row, "judges": row["judges"] | {"gpt-4.1": None}} if row["id"] == "q1" else row for row in records]
    assert labels_of(written(tmp_path / "c.jsonl", lines(silent)))[0]["label"].equals(labels["label"]), "null too"


OPEN, USD = "small", {JUDGE: 0.25, "small": 0.5}


def judged(form: str) -> bytes:
    """Two people, and two judges of whom the second gave no answer to q1 and q2, with prices where the form has them."""
    rows = []
    for question, given in ANSWERS.items():
        said = {JUDGE: VERDICT[given[2]], OPEN: "" if question in ("q1", "q2") else VERDICT[given[1]]}
        full = {name: {"verdict": one, "latency_s": 2, "cost_usd": USD[name]} for name, one in said.items()}
        people = {name: VERDICT[one] for name, one in zip(PEOPLE, given, strict=False)}
        row: Row = {"prompt": {"id": question, "lang": "en"}, "topic": "AB"[question > "q4"] + "-side"}
        row |= {"model_a": "atlas", "model_b": "borel"}
        listed = [{"rater": name, "preference": one, "seconds": 9} for name, one in people.items()]
        names = {"A": "atlas", "B": "borel"}
        rows.append({
            "a list": row | {"notes": listed, "judges": [{"judge": name, **one} for name, one in full.items()]},
            "records": row | {"notes": listed, "judges": full},
            "values": row | {"notes": listed, "judges": said},
            "names of systems": row | {"notes": listed, "judges": {name: names.get(one, one) for name, one in said.items()}},
            "two objects": row | {"annotators": people, "judges": said},
            "two objects of records": row | {"annotators": {name: {"vote": one} for name, one in people.items()}, "judges": full},
            "columns": row | {"prompt": question, "lang": "en"} | people | said
            | {f"{name} {what}": one[what] for name, one in full.items() for what in ("latency_s", "cost_usd")},
        }[form])  # fmt: skip
    return delimited(rows) if form == "columns" else lines(rows)


@pytest.mark.parametrize("form", ["a list", "records", "values", "names of systems", "two objects",
                                  "two objects of records", "columns"])  # fmt: skip
def test_the_same_answers_are_the_same_labels_in_every_form(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / ("a.csv" if form == "columns" else "a.jsonl"), judged(form))
    made = read_tidy(path, options_of(columns=[], words=[], people=[",".join(PEOPLE)], read=[]))
    assert not made.problems
    labels = made.labels.assign(rater_id=made.labels["rater_id"].str.rpartition(".")[2])
    expected = {
        (question, who): VERDICT[given[place]]
        for question, given in ANSWERS.items() for place, who in enumerate((*PEOPLE, JUDGE))
    } | {(question, OPEN): "" if question in ("q1", "q2") else VERDICT[given[1]] for question, given in ANSWERS.items()}  # fmt: skip
    said = {(re.findall(r"q\d", row.item_id)[0], row.rater_id): row.label for row in labels.itertuples()}
    assert (said, len(labels)) == (expected, 32)
    is_judge = labels["rater_id"].isin([JUDGE, OPEN])
    assert is_judge.equals(labels["rater_kind"] == "judge")
    has_prices = form in ("a list", "records", "two objects of records", "columns")
    assert ("cost_usd" in labels) == has_prices
    if has_prices:
        paid = labels.loc[is_judge].assign(cost_usd=lambda own: own["cost_usd"].astype("float"))
        assert paid.groupby("rater_id")["cost_usd"].sum().to_dict() == {JUDGE: 2.0, OPEN: 4.0}
        assert {*paid["seconds"]} == {"2"}


def test_a_comparison_with_no_answer_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", judged("a list"))
    agreement = calipers.read(path, people=PEOPLE, resamples=99).agreement().set_index("rater")
    found = next(row for name, row in agreement.iterrows() if str(name).endswith(OPEN))
    assert found["n"] == 12, "of 16 comparisons four are with no answer"
    assert found["cohen_kappa"] == pytest.approx(14 / 23), "scikit-learn's of these twelve"


@pytest.mark.parametrize(
    ("open_judge", "words"),
    [
        ("open", {"A": "Model A", "B": "Model B", "t": "Tie"}),
        ("llama-judge", VERDICT | {"t": "both bad"}),
        ("open", VERDICT),
    ],
)
def test_no_answers_of_an_object_beside_a_list_of_people_are_lost(
    tmp_path: Path, open_judge: str, words: Mapping[str, str]
) -> None:
    records = [
        {"id": question, "meta": {"topic": "AB"[place % 2] + "-side", "lang": "en"}, "responses": {"gpt-4": "text " * 9},
         "human_annotations": [{"rater": who, "verdict": VERDICT[one]} for who, one in zip(PEOPLE, given, strict=False)],
         "evals": {JUDGE: "A", open_judge: words[given[2]]}}
        for place, (question, given) in enumerate(ANSWERS.items())
    ]  # fmt: skip
    path, people = written(tmp_path / "a.jsonl", lines(records)), ",".join(PEOPLE)
    said = options_of(columns=[], words=[], people=[people], read=[])
    if words != VERDICT:
        other = ", ".join(sorted({*words.values()} - {*VERDICT.values()}))
        with pytest.raises(AnnotationError, match=rf"'evals.{open_judge}' answers in other words \({other}\)"):
            labels_of(path, said)
        same = ",".join(f"{word}={VERDICT[one]}" for one, word in words.items() if word != VERDICT[one])
        said = options_of(columns=[], words=[same], people=[people], read=[])
    labels, _ = labels_of(path, said)
    assert {*labels["rater_id"]} == {*PEOPLE, f"evals.{JUDGE}", f"evals.{open_judge}"}, "whatever a judge is called"
    less = replace(said, asked=replace(said.asked, ignored=(f"evals.{open_judge}",), words={}))
    assert f"evals.{open_judge}" not in {*labels_of(path, less)[0]["rater_id"]}, "unless it is to be ignored"
    experts = [{**row, "judges": [{"model": JUDGE, "verdict": "AB"[place % 2]}], "human_annotations": None, "evals": None,
                "experts": {"ada": "BA"[place % 2], "ben": ["Model A", "Model B"][place % 2]}}
               for place, row in enumerate(records)]  # fmt: skip
    with pytest.raises(AnnotationError, match=r"'experts.ben' answers in other words \(Model A, Model B\)"):
        labels_of(written(tmp_path / "b.jsonl", lines(experts)))


def test_people_beside_a_row_for_each_judge_answer_each_item_once(tmp_path: Path) -> None:
    rows = [
        {**row, JUDGE: "", "judge": judge, "verdict": verdict, "usd": 0.1, "mood": mood, "meta_topic": f"t{place // 2}"}
        for place, row in enumerate(wide())
        for judge, verdict, mood in ((JUDGE, row[JUDGE], "A"), ("gpt-mini", "A", "B"))
    ]
    path = written(tmp_path / "a.csv", delimited(rows))
    assert read(path) == EXPECTED | {(question, "gpt-mini", "judge", "atlas") for question in ANSWERS}
    options = options_of(columns=[], words=[], people=[], read=[])
    made = read_tidy(path, options)
    assert "a row too for each answer in annotator_1, annotator_2" in made.told
    assert (made.labels["cost_usd"] == "").equals(made.labels["rater_kind"] == "human"), "the price is the judge's"
    assert "mood" not in {*made.labels["rater_id"]}, "says two things of an item"
    no_topic = written(tmp_path / "b.csv", delimited(rows).replace(b"question_id", b"pair", 1))
    assert "where items share one: --map cluster_id=meta_topic" in str(read_tidy(no_topic, options).told)
    kept = replace(options, mapping=tmp_path / "a.mapping.toml")
    written(tmp_path / "a.mapping.toml", recipe_text(made.recipe).encode())
    assert read_tidy(path, kept).labels.equals(made.labels)
    for row in rows:
        row["annotator_2"] = "tie"
    again = read_tidy(written(tmp_path / "c.csv", delimited(rows)), kept).labels
    assert {*again.loc[again["rater_id"] == "annotator_2", "label"]} == {"tie"}, "also in words that no judge has"
    rows[0]["annotator_2"] = "A"
    assert "'annotator_2' says two things of item" in str(read_tidy(written(path, delimited(rows)), kept).problems)
    gone = written(
        tmp_path / "d.csv", delimited([{k: v for k, v in row.items() if k != "annotator_2"} for row in rows])
    )
    with pytest.raises(AnnotationError, match="has no column 'annotator_2', which the mapping names"):
        read_tidy(gone, kept)


OF_JUDGES, OF_ALL = ("gpt-4o", "claude-3"), ("h1", "h2", "gpt-4o")
NOT_READ = "not read, though they may be answers: {}"
ASKS = "{} answers each item in the words of 'verdict', and nothing says who that is: --people {} where"
TOGETHER = "--map rater_kind=kind --people none where it is what the people of the rows said together"
BESIDE_ROWS: list[tuple[tuple[str, ...], str, str, dict[str, list[str]], str | None]] = [
    # whose rows there are, the head and cells of the column beside, what is said of it -> whose it is, or a sentence
    (OF_JUDGES, "expert", "AABBt", {}, "expert"),  # a word that no judge has
    (OF_JUDGES, "expert", "AAAAA", {}, "expert"),  # one word in all rows
    (OF_JUDGES, "human_label", "ABABA", {}, "human"),
    (OF_JUDGES, "gpt-4o-mini", "ABABA", {}, "gpt-4o-mini"),
    (OF_JUDGES, "gpt-4o-mini", "ABABA", {"people": ["none"]}, "gpt-4o-mini"),
    (OF_JUDGES, "expert", "A/BABBA", {}, "'expert' says two things of item '0': correct its cells, or leave it out"),
    (OF_JUDGES, "mara", "ABABA", {}, ASKS.format("mara", "mara")),
    (OF_JUDGES, "mara", "lrlrl", {"people": ["mara"]}, "'mara' answers in other words (left, right) than 'verdict' (A, B)"),
    (OF_JUDGES, "mara", "lrlrl", {"people": ["mara"], "words": ["left=A,right=B"]}, "mara"),
    (OF_JUDGES, "expert", "lrlrl", {}, NOT_READ.format("expert")),
    *((OF_JUDGES, head, "ABABA", {}, ASKS.format(head, head)) for head in ("annotators", "reviewers", "experts")),
    (OF_JUDGES, "human_votes", "ABABA", {}, ASKS.format("human_votes", "human")),
    *((OF_JUDGES, head, "ABABA", {}, NOT_READ.format(head)) for head in (
        "judge_version", "gpt_rank", "judge_first", "llm_length_winner", "llm_turns", "human_majority")),
    (OF_JUDGES, "human_majority", "ABABA", {"people": ["human_majority"]}, "human_majority"),
    *((OF_ALL, head, "ABABA", {}, TOGETHER) for head in ("human", "human_label", "expert_label", "human_winner")),
    (OF_ALL, "human_label", "ABABA", {"columns": ["rater_kind=kind"], "people": ["human"]}, "human"),
    (OF_ALL, "human_label", "ABABA", {"columns": ["rater_kind=kind"], "people": ["none"]}, NOT_READ.format("human_label")),
    (OF_ALL, "gold", "ABABA", {}, NOT_READ.format("gold")),
]  # fmt: skip


@pytest.mark.parametrize(("raters", "head", "cells", "said", "expected"), BESIDE_ROWS)
def test_a_column_beside_rows_is_somebodys_or_is_asked_about_or_told(
    tmp_path: Path, raters: Sequence[str], head: str, cells: str, said: dict[str, list[str]], expected: str
) -> None:
    words = VERDICT | {"l": "left", "r": "right"}
    first, other = cells[0], cells[2] if "/" in cells else cells[0]
    given = cells[2:] if "/" in cells else cells
    rows = [
        {"item": place, "system_a": "x", "system_b": "y", "rater": rater,
         "kind": "human" if rater in ("h1", "h2") else "judge", "verdict": "AB"[(place + turn) % 2],
         head: words[first if place + turn == 0 else other if place == 0 else one]}
        for place, one in enumerate(given) for turn, rater in enumerate(raters)
    ]  # fmt: skip
    path = written(tmp_path / "a.csv", delimited(rows))
    made = read_tidy(path, options_of(**{"columns": [], "words": [], "people": [], "read": []} | said))
    new = {*made.labels["rater_id"]} - {*raters} if not made.problems else set()
    assert new == ({expected} if " " not in expected else set()), made
    assert " " not in expected or expected in str((*made.problems, *made.told))
    is_told = expected.startswith("not read")
    assert bool(made.problems) == (" " in expected and not is_told)
    kinds = made.labels.groupby("rater_id")["rater_kind"].first() if not made.problems else {}
    assert all(kinds[one] == "human" for one in kinds if one in ("h1", "h2")), "who was a person is one still"


def test_what_may_not_be_read_as_an_answer_is_not(tmp_path: Path) -> None:
    """People's answers as a judge's, a price as a score, a probability in silence, Chinese heads as Western letters."""
    said = {"columns": [], "words": [], "people": [], "read": []}

    def made(rows: list[Row], encoding: str = "utf-8", people: Sequence[str] = ()) -> Any:
        path = written(tmp_path / "a.csv", delimited(rows, ";", encoding))
        return read_tidy(path, options_of(**said | {"people": [",".join(people)]}))

    rows = [{"item": n, "judge_model": who, "raw": f"{who} says [[A]] of {n}", "human": "AB"[n % 2], "human2": "A"}
            for n in range(40) for who in OF_JUDGES]  # fmt: skip
    assert "no column holds the answers of those in 'judge_model': human, human2 are people's" in str(
        made(rows).problems
    )
    picked = made([row | {"pick": "AB"[n % 3 == 0]} for n, row in enumerate(rows)])
    assert picked.recipe.mapping.columns["label"] == ("pick",)
    priced = [{"item": n, "rater": who, "Note": 1 + (n + len(who)) % 5, "Kosten (€)": 0.1}
              for n in range(9) for who in ("mara", "gpt-4o")]  # fmt: skip
    read_as = made(priced, people=["mara"])
    assert read_as.recipe.mapping.columns["label"] == ("Note",)
    assert not read_as.recipe.mapping.spread
    sure = [{"item": n, "human_1": n % 2, "human_2": n % 3 % 2, "gpt-4o": n / 40} for n in range(40)]
    assert "not read, having more than 30 different answers or texts: gpt-4o (say so if they are answers" in str(
        made(sure).problems
    )
    chinese = [{"题目编号": n, "标注员甲": n % 5, "标注员乙": n % 4, "gpt-4o 评分": n % 3} for n in range(9)]
    assert {*made(chinese, "gb18030", ["标注员甲", "标注员乙"]).labels["rater_id"]} == {
        "标注员甲",
        "标注员乙",
        "gpt-4o 评分",
    }
    western = [
        {"item": "größer", "annotator_1": "A", "gpt-4o": "B"},
        {"item": "Prüföse", "annotator_1": "A", "gpt-4o": "B"},
    ]
    assert {*made(western, "cp1252").labels["item_id"]} == {"größer", "Prüföse"}
    reasoned = [{"item": n, "human_1": "A", "human_2": "B", "gpt-4o": f"{n} is better, so [[A]]"} for n in range(40)]
    asked = "different answers or texts: gpt-4o (say so if they are answers: --map rater_id=human_1+human_2+gpt-4o; else --map ignore=gpt-4o)"
    assert asked in str(made(reasoned).problems), "the only judge"
    named = [
        {"item": n, "model_1": "xy"[n % 2], "model_2": "yx"[n % 2], "human_1": n % 3 or 1, "gpt-4o": "x"}
        for n in range(9)
    ]
    given = made(named).labels
    of_judge = given[given["rater_id"] == "gpt-4o"]
    assert len(of_judge) == 9
    assert of_judge["label"].tolist() == ["A" if row.system_a == "x" else "B" for row in of_judge.itertuples()]
    nested = [{"id": n, "votes": [{"evaluator": {"type": kind, "name": who}, "pick": {"winner": "A"}}
                                  for kind, who in (("human", "mara"), ("llm", "gpt-4o"))]} for n in range(9)]  # fmt: skip
    labels = labels_of(written(tmp_path / "a.jsonl", lines(nested)))[0]
    assert labels.groupby("rater_id")["rater_kind"].first().to_dict() == {"mara": "human", "gpt-4o": "judge"}
    counted = [
        {"item": n, "mara": n % 5, "ken": n % 4, "new": n % 3, "n_raters": 3, "year": 2024 + n % 2} for n in range(9)
    ]
    assert {*made(counted, people=["mara", "ken"]).labels["rater_id"]} == {"mara", "ken", "new"}
    beside = [{"id": n, "notes": [{"rater": who, "clarity": n % 5, "depth": n % 4} for who in ("mara", "ken")],
               "judges": {"gpt-4o": {"clarity": n % 3, "depth": n % 5}}} for n in range(9)]  # fmt: skip
    some = [row | {"judges": {"gpt-4o": {"clarity": row["id"] % 3, "depth": 4} if row["id"] > 3 else {"clarity": 1}}}
            for row in beside]  # fmt: skip
    for people in ([], ["mara,ken"]):
        lacking = read_tidy(written(tmp_path / "a.jsonl", lines(some)), options_of(**said | {"people": people}))
        assert "having no key that the judge has elsewhere (null is missing): gpt-4o 4" in str(lacking.told)
    listed = options_of(**said | {"people": ["mara,ken"], "read": ["records=notes"]})
    labels, how = labels_of(written(tmp_path / "a.jsonl", lines(beside)), listed)
    assert {*labels["criterion"]} == {"clarity", "depth"}
    assert "not read, though they may be answers: judges.gpt-4o.clarity, judges.gpt-4o.depth" in str(how)
    several = [{"item": n, "annotator": who, "clarity": n % 5, "depth": n % 4 if n or who == "anna" else "", "cost_usd": cost}
               for n in range(9) for who, cost in (("anna", ""), ("ken", ""), ("gpt-4o", 0.5))]  # fmt: skip
    assert "people or judges: anna, ken;" in str(made(several).problems), "all whom no name calls a judge"
    shared = made(several, people=["anna", "ken"])
    of_judge = shared.labels[shared.labels["rater_id"] == "gpt-4o"]
    assert (len(of_judge), of_judge["cost_usd"].astype("float").sum()) == (18, 4.5), "once for both criteria"
    assert of_judge["label"].eq("").sum() == 1, "asked, for it answered the other one"
    assert "cost_usd of a row shared among the answers" in str(shared.told)
    again = [{"item": n % 9, "rater": who, "label": "AB"[n % 2], "time_stamp": n + place, "status": ("parse error", "ok")[n > 3]}
             for n in range(18) for place, who in enumerate(("mara", "gpt-4o"))]  # fmt: skip
    told = made(again, people=["mara"])
    assert told.recipe.mapping.columns["item_id"] == ("item",), "when an answer was given names no item"
    assert told.labels["status"].value_counts().to_dict() == {"ok": 28}
    assert "calls that failed and were made again, left out but for what they cost: 8" in str(told.told)
    unsaid = made([row | {"status": "none"} for row in again], people=["mara"])
    assert "'status' says 'none', which is none of ok" in unsaid.problems[0], "no fault or no answer: it is asked"
    explained = [
        {"item": n, "human_1": "AB"[n % 2], "gpt-4o.pick": "A", "gpt-4o.reason": "x is better"} for n in range(9)
    ]
    assert "gpt-4o.reason" in str(made(explained).told)
    assert ({*made(explained).labels["label"]}, "rationale" in made(explained).labels) == ({"A", "B"}, False)


def test_what_was_not_chosen_is_no_criterion_and_what_is_another_raters_is_asked_about(tmp_path: Path) -> None:
    def made(rows: Sequence[Row], columns: Sequence[str] = ()) -> Any:
        said = options_of(columns=list(columns), words=[], people=["anna,ben"], read=[])
        return read_tidy(written(tmp_path / "a.csv", delimited(rows)), said)

    rows = [{"item": n, "rater": who, "overall": "AB"[(n + len(who)) % 2], "style": "BA"[n % 2]}
            for n in range(9) for who in ("anna", "ben", "gpt-4o")]  # fmt: skip
    other = "--map criterion=overall+style where 'overall' and 'style' hold those of 'rater'; --map criterion=overall+style+"
    assert f"{other}human where each" in str(made([row | {"human": "A"} for row in rows]).problems)
    assert {*made(rows).labels["criterion"]} == {"overall", "style"}
    for chosen, rejected in (("chosen", "rejected"), ("preferred", "dispreferred"), ("winner", "loser")):
        pairs = made([{"item": row["item"], "rater": row["rater"], chosen: row["overall"], rejected: "BA"[row["overall"] == "B"]}
                      for row in rows])  # fmt: skip
        assert {*pairs.labels["criterion"]} == {"overall"}
        assert pairs.told[0] == f"what was not chosen is no answer of its own: {rejected}"
    wide = [{"item": n, **{f"{who}_{word}": "AB"[(n + turn) % 2] for who in ("anna", "ben", "gpt-4o")
                           for turn, word in enumerate(("chosen", "rejected"))}} for n in range(9)]  # fmt: skip
    assert {*made(wide).labels["rater_id"]} == {"anna", "ben", "gpt-4o"}
    apart = [row | {"rejected": "AB"[row["item"] % 3 % 2]} for row in rows]
    assert {*made(apart).labels["criterion"]} == {"overall", "style", "rejected"}, "asked for itself"


def test_points_between_thousands_go_from_numbers_and_from_no_name(tmp_path: Path) -> None:
    """1.100 beside 0,02 is 1100 as a time, a price or a score, and stays as an item, a topic, a system or a rater."""
    names = ("item_id", "cluster_id", "system_a", "rater_id")
    row = {"system_b": "borel", "criterion": "overall", "cost_usd": "0,02"}
    rows = [row | dict.fromkeys(names, "1.100") | {"item_id": f"1.{n}00", "rater_id": who, "rater_kind": kind,
                                                   "label": score, "seconds": "1.544", "confidence": "0,5"}
            for n in range(1, 7) for who, kind, score in (("1.100", "human", "1.250"), ("1.200", "judge", "900"))]  # fmt: skip
    path = written(tmp_path / "a.csv", delimited(rows, ";"))
    said = {"columns": [], "words": [], "people": [], "read": ["decimal=,"], "labels_are": "scores"}
    with pytest.raises(
        AnnotationError, match=r"1\. '1\.250' in column 'label'(.|\n)*2\. '1\.544' in(.|\n)*3\. .*two systems"
    ):
        labels_of(path)
    with pytest.raises(AnnotationError, match=r"1\.544.*decimal=, where it is 1544"):
        read_labels(path)
    tidied, own = labels_of(path, options_of(**said))[0], read_labels(path, asked=Form(decimal=","))
    wide = [{"item": f"1.{n}00", "anna": "1.250", "gpt-4o": 900 + n, "gpt-4o seconds": "1.544", "gpt-4o cost_usd": "0,02"}
            for n in range(1, 7)]  # fmt: skip
    spread = labels_of(
        written(tmp_path / "b.csv", delimited(wide, ";")),
        options_of(**said | {"people": ["anna"]}),
    )[0]
    for labels in (tidied, own):
        assert [labels[name].iloc[0] for name in names] == ["1.100"] * 4
        assert {*labels["seconds"]} == {"1544"}
        assert {*labels["label"]} == {"1250", "900"}
        assert {*labels["cost_usd"]} == {"0.02"}
    assert {*spread["item_id"]} == {f"1.{n}00" for n in range(1, 7)}
    assert {*spread["seconds"]} == {"", "1544"}
    assert {*spread["label"]} == {"1250", *(str(900 + n) for n in range(1, 7))}
    thirds = [one | {"label": "1,333" if one["label"] == "900" else "2,667", "seconds": "2"} for one in rows]
    path = written(tmp_path / "c.csv", delimited(thirds, ";"))
    for labels in (read_labels(path), labels_of(path, options_of(**said | {"read": []}))[0]):
        assert {*labels["label"]} == {"1.333", "2.667"}, "what a comma made so has no point between thousands"


@pytest.mark.parametrize("head", ["model", "llm", "llm_judge", "model_name"])
def test_models_that_tell_rows_apart_are_judges_or_judged_and_never_one_judge(tmp_path: Path, head: str) -> None:
    rows = [
        {"item_id": place, "system_a": "x", "system_b": "y", head: model, "verdict": "AB"[(place + turn) % 2],
         "expert": "AB"[place % 2]}
        for place in range(6) for turn, model in enumerate(OF_JUDGES)
    ]  # fmt: skip
    path = written(tmp_path / "a.csv", delimited(rows))
    said = {"columns": [], "words": [], "people": ["expert"], "read": []}
    problem = f"'{head}' holds names of models: --map rater_id={head} where they are the judges that answered, --map "
    assert read_tidy(path, options_of(**said)).problems == (
        f"{problem}item_id=item_id+{head} where they are what was judged",
    )
    counts = read_tidy(path, options_of(**said | {"columns": [f"rater_id={head}"]})).labels["rater_id"].value_counts()
    assert dict(counts) == dict.fromkeys((*OF_JUDGES, "expert"), 6)
    judged = read_tidy(path, options_of(**said | {"columns": [f"item_id=item_id+{head}"]})).labels["rater_id"]
    assert dict(judged.value_counts()) == {"verdict": 12, "expert": 12}


def test_what_people_were_asked_is_not_guessed_from_keys_of_an_object(tmp_path: Path) -> None:
    records = [row | {"judges": [one | {"criterion": "style"} for one in row["judges"]]} for row in dumped(
        lambda given: {"experts": {"style": given["annotator_1"]}})]  # fmt: skip
    labels, _ = labels_of(written(tmp_path / "a.jsonl", lines(records)), options_of(
        columns=["criterion=judges.criterion"], words=[], people=["none"], read=[]))  # fmt: skip
    assert {*labels["rater_id"]} == {JUDGE}


@pytest.mark.parametrize("head", ["annotator", "reviewer", "worker", "experts.majority", "annotators.count", "human_length",
                                  "systems.a", "note"])  # fmt: skip
def test_what_is_no_answer_of_one_person_is_not_read_as_one(head: str) -> None:
    assert person_of(head, ()) == ""
    assert [person_of(one, ("mara",)) for one in ("experts.ken", "expert_1", "human_label", "gold.mara")] == [
        "ken", "expert_1", "human", "mara",
    ]  # fmt: skip


def test_there_are_forty_and_more() -> None:
    assert (len(FORMS), len(ASKED)) == (38, 11)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_with_one_reading_is_read(tmp_path: Path, name: str) -> None:
    called, content = FORMS[name]
    assert read(written(tmp_path / called, content)) == EXPECTED


@pytest.mark.parametrize("name", ASKED)
def test_a_form_with_two_readings_asks_and_is_read_once_it_is_said(tmp_path: Path, name: str) -> None:
    called, content, sentence, said = ASKED[name]
    path = written(tmp_path / called, content)
    with pytest.raises(AnnotationError) as refused:
        read(path)
    assert refused.value.code == "cannot_tidy"
    assert sentence in refused.value.text
    assert read(path, **said) == EXPECTED
    paste_all(path)


BESIDE = {
    "run": ("1", "2025-06-01", "x"), "criterion": ("c1", "c2"), "topic": ("t1", "t2"), "status": ("ok", "error"),
    "seconds": ("1", "n/a", ""), "cost_usd": ("0.1", "-1"), "model_a": ("atlas", "borel"), "judge": ("A", "B"),
}  # fmt: skip
POOLS = (
    ("pass", "fail"), ("1", "2"), ("1", "5"), ("A", "B", "tie"), ("TRUE", "FALSE", "no"), ("4/5", "Score: 3"), ("true", "1", "no"),
    ("4", "n/a", "error"), ("Pass", "pass", "fail", "", "null"), ("50%", "60%"), ("4,0", "3,5"),
)  # fmt: skip


def test_what_tidy_writes_is_what_calibrate_reads(tmp_path: Path) -> None:
    """Of random tables each is asked about, refused by a row, or written so that the command it names reads the same."""
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    seen: Counter[str] = Counter()
    for seed in range(15):
        draw = random.Random(seed)
        pool, extra = draw.choice(POOLS), draw.sample([*BESIDE], draw.choice((0, 0, 1, 2)))
        names, answer = (
            draw.choice((("anna", "ben", "gpt-4o"), ("Ben", "ben ", "gpt-4o"), RATERS)),
            draw.choice(("label", "score")),
        )
        beside = [{"id": n, **{head: draw.choice(BESIDE[head]) for head in extra}} for n in range(5)]
        rows: list[Row] = [row | {name: draw.choice(pool) for name in names} for row in beside]
        if draw.random() < 0.5:
            rows = [row | {"rater": name, answer: draw.choice(pool)} for row in beside for name in names]
        said = {
            "map_": [],
            "map_label": [],
            "labels_are": "",
            "people": [",".join(names[:2])],
            "read": [],
            "layout": "",
        }
        screen = io.StringIO()
        try:
            with redirect_stdout(screen):
                tidy(written(path, delimited(rows)), out, **said, mapping=None, as_json=True)
        except AnnotationError as error:
            (kind,) = re.findall("until this is said|labels made of it are refused: row", error.text)
            seen[kind] += 1
            continue
        are = "scores" if "--labels-are scores" in json.loads(screen.getvalue())["next"] else ""
        labels, _ = labels_of(out, options_of([], [], [], [], are))
        again, once = (
            check_verdicts(one).astype("str")
            for one in (labels, read_tidy(path, options_of([], [], said["people"], [])).labels)
        )
        pd.testing.assert_frame_equal(again[once.columns], once)
        seen["written"] += 1
    assert len(seen) == 3, seen


HOSTILE: dict[str, Callable[[int], Row]] = {
    "signs of plus": lambda n: {"A+B": n % 5, "C++, new": n % 4, "say \"x\"": n % 3},
    "heads": lambda n: {"Dupont, A": n % 5, "it's b": n % 4, "x=y": n % 3},
    "names": lambda n: {"rater": ("Ben, the 1st", "it's me", "gpt-4o")[n % 3], "label": "AB"[n % 2]},
    "scores": lambda n: {"human_1": ("4", "1,0", "so, so", "it's fine")[n % 4], "gpt-4o": 1 + n % 4},
    "verdicts": lambda n: {"human_1": ("A", "B", "A=B, mostly", "it's B")[n % 4], "gpt-4o": "AB"[n % 2]},
    "numbers of pairs": lambda n: {"model_a": "x", "model_b": "y", "human_1": n % 6, "gpt-4o": n % 6},
    "many numbers": lambda n: {"human, 1": n % 5, "gpt-4o, new": f"{n / 7:.3f}"},
    "words": lambda n: {"rater": ("gpt-4o", "claude")[n % 2], "label": ("pass", "fail")[n % 2], "o, k": ("pass", "fail")[n // 2 % 2]},
    "models": lambda n: {"model, used": ("gpt-4o", "claude")[n % 2], "human": "AB"[n % 2], "judge": "AB"[n // 2 % 2]},
}  # fmt: skip


SEVERAL = re.compile(OPTION.pattern.replace("(map-label", "(?:map-label") + f"(?: {OPTION.pattern})*")
OPTIONS = {"map": "columns", "map-label": "words", "people": "people", "read": "read"}
BLANKS = re.compile(r"COLUMN|NAME|ONE|OTHER|NUMBER|\|")  # what nobody could paste


def paste_all(path: Path) -> None:
    """Paste each line that the questions of a file propose: none is refused, and none leads to the same question."""
    for problem in read_tidy(path, options_of([], [], [], [])).problems:
        for line in SEVERAL.finditer(problem):
            said: dict[str, Any] = {"columns": [], "words": [], "people": [], "read": []}
            for one in re.finditer(OPTION, line[0]):
                value = "".join(shlex.split(one[2] or ""))
                said |= {OPTIONS[one[1]]: [value]} if value and one[1] in OPTIONS else {"labels_are": value}
            if any(said.values()):
                problems = read_tidy(path, options_of(**said)).problems
                assert not BLANKS.search(line[0]), line[0]
                assert problem not in problems or TO_FILL in line[0], line[0]
                assert (TO_FILL in line[0]) == any("is a form: write what" in one for one in problems)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_remedy_can_be_pasted_into_a_shell(tmp_path: Path, name: str) -> None:
    """Of each question every option names columns, words or raters of the table, all of them, as the command takes it."""
    rows = [{"id": n // 2 if name in ("words", "models") else n, **HOSTILE[name](n)} for n in range(40)]
    path = written(tmp_path / "a.csv", delimited(rows))
    problems = read_tidy(path, options_of([], [], [], [])).problems
    remedies = [one for problem in problems for one in re.finditer(OPTION, problem)]
    assert remedies
    paste_all(path)
    cells = {str(cell) for row in rows for cell in row.values()}
    words, parts = set[str](), {"overall"} | {*rows[0]}
    for option, value in ((one[1], "".join(shlex.split(one[2] or ""))) for one in remedies):
        if option == "map-label":
            words |= {*options_of([], [value], [], []).asked.words}
            assert words <= cells
        elif option == "map":
            asked = options_of([value], [], [], []).asked
            assert {one for columns in (*asked.columns.values(), asked.ignored) for one in columns} <= parts
        elif option == "people":
            assert {*options_of([], [], [value], []).asked.people} <= {*cells, *rows[0], "all", "none", "human"}
    if name in ("scores", "verdicts", "numbers of pairs"):
        known = {"scores": {"4", *map(str, range(5))}, "verdicts": {"A", "B"}, "numbers of pairs": set()}[name]
        assert words == {str(row["human_1"]) for row in rows} - known

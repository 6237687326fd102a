"""One small table is one table in whatever form a file holds it, and what was found out about the form is told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow as pa
import pytest

from annotation.errors import AnnotationError
from annotation.files.containers import Said
from annotation.files.decimals import ungrouped
from annotation.files.tables import Form, Wants, form_asked, read_table
from annotation.files.workbooks import _filled_down
from calipers.label_files import none_among_numbers
from tests.annotation.spreadsheet_files import write_ods, write_xlsx

HEAD = ["item_id", "rater_id", "label", "seconds"]
ROWS: list[list[str]] = [["007", "Zoë", "A", "0.5"], ["008", "Zoë", "B", "12.25"], ["009", "Ana, Bo", "tie", "3.5"]]
TYPED: list[list[str | float | int]] = [[*row[:3], float(row[3])] for row in ROWS]
FRAME = pd.DataFrame(ROWS, columns=HEAD, dtype="str")


def text(separator: str = ",", decimal: str = ".") -> str:
    rows = [HEAD, *([*row[:3], row[3].replace(".", decimal)] for row in ROWS)]
    return "".join(separator.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)


def records() -> list[dict[str, object]]:
    return [dict(zip(HEAD, row, strict=True)) for row in TYPED]


def by_pandas(**options: object) -> str:
    return str(pd.DataFrame(records()).to_json(**options))  # type: ignore[call-overload]  # any orient of pandas


def arrow(path: Path) -> None:
    table = pa.Table.from_pylist(records())
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


FORMS: dict[str, tuple[str, str | bytes | Callable[[Path], object], str]] = {
    "commas": ("a.csv", text(), ""),
    "semicolons and decimal commas": ("a.csv", text(";", ","), "semicolons"),
    "decimal commas are told": ("a.csv", text(";", ","), "numbers have decimal commas"),
    "packed by gzip": ("a.csv.gz", gzip.compress(text(";").encode()), "semicolons"),
    "tabs": ("a.tsv", text("\t"), "tabs"),
    "bars": ("a.txt", text("|"), "bars"),
    "commas and decimal commas": ("a.csv", text(",", ","), "numbers have decimal commas"),
    "a spreadsheet's note of the separator": ("a.csv", "sep=;\r\n" + text(";"), "semicolons"),
    "a byte order mark": ("a.csv", text().encode("utf-8-sig"), ""),
    "UTF-16 with its mark": ("a.csv", text("\t").encode("utf-16"), "utf-16"),
    "UTF-16 without": ("a.csv", text().encode("utf-16-le"), "utf-16-le"),
    "Windows' own": ("a.csv", text(";").encode("cp1252"), "text is in cp1252 (it is not UTF-8)"),
    "capitals in the suffix": ("A.CSV", text(), ""),
    "xlsx": ("a.xlsx", lambda path: write_xlsx(path, {"labels": [HEAD, *TYPED]}), "sheet 'labels'"),
    "xlsx under a title": ("a.xlsx", lambda path: write_xlsx(path, {"x": [["Our labels"], HEAD, *TYPED]}), "sheet 'x'"),
    "ods": ("a.ods", lambda path: write_ods(path, {"labels": [HEAD, *TYPED]}), "sheet 'labels'"),
    "JSON, an array": ("a.json", json.dumps(records()), ""),
    "JSON Lines": ("a.jsonl", "\n".join(map(json.dumps, records())), ""),
    "JSON Lines called JSON": ("a.json", "\n".join(map(json.dumps, records())), ""),
    "JSON, records below a name": ("a.json", json.dumps({"version": 2, "data": records()}), "the records under 'data'"),
    "JSON, columns as pandas writes them": ("a.json", by_pandas(), "columns of numbered cells"),
    "JSON, split as pandas writes it": ("a.json", by_pandas(orient="split"), "a table split by pandas"),
    "JSON, columns of lists": ("a.json", json.dumps(pd.DataFrame(records()).to_dict("list")), "columns of cells"),
    "Parquet": ("a.parquet", lambda path: pd.DataFrame(records()).to_parquet(path, index=False), ""),
    "Arrow as datasets saves it": ("a.arrow", arrow, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_file_is_one_table(tmp_path: Path, name: str) -> None:
    called, content, told = FORMS[name]
    path = tmp_path / called
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    table = read_table(path)
    assert list(table.frame) == HEAD
    assert table.frame.astype("str").to_numpy().tolist() == ROWS
    assert told in "; ".join(table.told)
    assert bool(told) == bool(table.told)


def nested() -> list[dict[str, object]]:
    return [
        {
            "item": {"id": "007"},
            "answers": [{"who": "ann", "label": "A", "why": {"text": "x"}}, {"who": "bo", "label": "B"}],
        },
        {"item": {"id": "008"}, "answers": [{"who": "ann", "label": "tie"}]},
        {"item": {"id": "009"}, "answers": []},
    ]


def test_of_two_lists_the_one_that_is_left_out_is_told_and_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    talk = [{"role": "user", "content": "hello"}]
    record = {
        "id": 1,
        "people": [{"who": "ana", "said": "A"}],
        "judges": [{"judge": "mini", "label": "B"}],
        "talk": talk,
    }
    path.write_text(json.dumps(record))
    wants = Wants(telling={"label"})
    found = read_table(path, wants=wants)
    assert found.told == (
        "a row for each of 'judges'", "the list 'people' is left out: --read records=judges+people makes a row for each of it",
    )  # fmt: skip
    asked = read_table(path, Form(records="people"), wants)
    assert list(asked.frame["people.who"]) == ["ana"]
    assert asked.form.records == "people"
    with pytest.raises(
        AnnotationError, match=r"no list of records has this name \(there: 'people', 'judges', 'talk'\)"
    ):
        read_table(path, Form(records="humans"), wants)


def test_nested_records_get_dotted_names_and_a_row_for_each_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, nested())))
    table = read_table(path, wants=Wants(telling={"label"}))
    assert list(table.frame) == ["item.id", "answers.who", "answers.label", "answers.why.text"]
    assert table.frame["answers.label"].tolist() == ["A", "B", "tie", ""]
    assert table.frame["item.id"].tolist() == ["007", "007", "008", "009"]
    assert "a row for each of 'answers'" in table.told
    assert list(read_table(path).frame) == ["item.id", "answers"], "a list of anything else stays one cell"


def test_answers_of_nobody_by_name_have_their_place_in_the_list(tmp_path: Path) -> None:
    path = tmp_path / "helpful.jsonl"
    record = {"context": "q", "overall": 1, "individual": [{"score": 2, "why": "x"}, {"score": -1, "why": "y"}]}
    path.write_text(json.dumps(record))
    table = read_table(path, wants=Wants(telling={"score"}))
    assert table.frame["individual.place"].tolist() == ["1", "2"]
    assert table.frame["individual.score"].tolist() == ["2", "-1"]
    record["individual"][0]["place"] = "London"  # type: ignore[index]  # a key of their own is theirs
    path.write_text(json.dumps(record))
    assert read_table(path, wants=Wants(telling={"score"})).frame["individual.place"].tolist() == ["London", ""]


def test_sheets_and_files_of_one_head_are_one_table(tmp_path: Path) -> None:
    book = write_xlsx(tmp_path / "a.xlsx", {"ann": [["id", "label"], ["1", "A"]], "bo": [["id", "label"], ["1", "B"]]})
    assert read_table(book).frame.to_numpy().tolist() == [["1", "A", "ann"], ["1", "B", "bo"]]
    folder = tmp_path / "raters"
    folder.mkdir()
    for name, label in (("ann", "A"), ("bo", "B")):
        (folder / f"{name}.csv").write_text(f"id,label\n1,{label}\n")
    table = read_table(folder)
    assert table.frame.to_numpy().tolist() == [["1", "A", "ann"], ["1", "B", "bo"]]
    assert table.told == ("2 files of a folder are one table, named in the column 'file'",)


def test_heads_in_two_rows_are_joined_as_merged_cells_mean_them(tmp_path: Path) -> None:
    rows = [["Topic", "clarity", "", "depth", ""], ["", "ann", "gpt", "ann", "gpt"], ["t1", "4", "5", "3", "3"]]
    path = tmp_path / "a.csv"
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    blank = tmp_path / "blank.csv"  # merged cells, saved as a blank
    blank.write_text("".join(";".join(cell or " " for cell in row) + "\n" for row in rows))
    for table in (*map(read_table, (path, blank)), read_table(write_xlsx(tmp_path / "a.xlsx", {"x": rows}))):
        assert [*table.frame] == ["Topic", "clarity.ann", "clarity.gpt", "depth.ann", "depth.gpt"]
        assert table.frame.to_numpy().tolist() == rows[2:]
        assert "heads of two rows are joined: clarity.ann, clarity.gpt, depth.ann, depth.gpt" in table.told


def test_a_hugging_face_folder_is_its_tables_with_classes_as_words(tmp_path: Path) -> None:
    features = {"label": {"names": ["model_a", "model_b", "tie"], "_type": "ClassLabel"}}
    schema = pa.schema([("id", pa.string()), ("label", pa.int64())])
    schema = schema.with_metadata({b"huggingface": json.dumps({"info": {"features": features}}).encode()})
    table = pa.table({"id": ["a", "b"], "label": [2, 0]}, schema)
    with pa.OSFile(str(tmp_path / "data-00000-of-00001.arrow"), "wb") as sink, pa.ipc.new_stream(sink, schema) as out:
        out.write_table(table)
    for name in ("dataset_info.json", "state.json"):
        (tmp_path / name).write_text("{}")
    read = read_table(tmp_path)
    assert read.frame.to_numpy().tolist() == [["a", "tie"], ["b", "model_a"]]
    assert "the numbers of 'label' are read as the words that the file keeps for them" in read.told


SMALL = [["q1", "A", "B"], ["q2", "B", "B"], ["q3", "tie", "A"]]
BODY = "q1;A;B\nq2;B;B\nq3;tie;A\n"
ODD_FORMS = {
    "titles": ("Pilot\n\nexported by Kim\nid;ann;gpt\n" + BODY, "rows above the head are passed over: 2"),
    "titles of a spreadsheet": ("Pilot;;\n;;\nid;ann;gpt\n" + BODY, "rows above the head are passed over: 2"),
    "comments": ("# by labtool 3\n# people: ann, bo\nid;ann;gpt\n" + BODY, "rows above the head are passed over: 2"),
    "a head that begins with #": ("#;ann;gpt\n" + BODY, ""),
    "columns without anything": ("id;ann;gpt;;\n" + BODY.replace("\n", ";;\n"), ""),
    "heads again": ("id;ann;gpt\nq1;A;B\nid;ann;gpt\nq2;B;B\nq3;tie;A\n", "rows that are the heads again are left out: 1"),
    "Markdown": ("|id|ann|gpt|\n|:--|---|--:|\n" + "".join(f"|{'|'.join(row)}|\n" for row in SMALL), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_FORMS)
def test_what_people_put_around_a_table_is_passed_over_and_told(tmp_path: Path, name: str) -> None:
    text, told = ODD_FORMS[name]
    path = tmp_path / "a.csv"
    path.write_text(text)
    table = read_table(path)
    assert ([*table.frame][1:], table.frame.to_numpy().tolist()) == (["ann", "gpt"], SMALL)
    assert [one for one in table.told if "rows" in one] == [told] * bool(told)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize(
    ("head", "heads"),
    [(";label", ["", "label"]), ('id;"Anna\nGold"', ["id", "Anna Gold"])],
    ids=["index", "line break"],
)
def test_a_head_that_is_odd_is_a_head(tmp_path: Path, head: str, heads: list[str], encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"{head}\nq1;größer\nq2;B\nq3;A\n".encode(encoding))
    table = read_table(path)
    assert ([*table.frame], len(table.frame)) == (heads, 3)


def test_a_note_beside_a_table_is_no_sheet_of_it_and_cells_merged_downwards_hold_their_first(tmp_path: Path) -> None:
    rows = [["Pilot", "", ""], ["topic", "ann", "gpt"], ["t1", "A", "B"], ["", "B", "B"], ["t2", "A", "A"]]
    path = write_xlsx(tmp_path / "a.xlsx", {"README": [["Labels"], ["of a pilot"]], "x": rows})
    merged = [((0, 0), (0, 2)), ((2, 0), (3, 0)), ((2, 4), (4, 5))]  # and an empty box beside the table
    with patch("annotation.files.workbooks._filled_down", lambda cells, _: _filled_down(cells, merged)):
        table = read_table(path)
    assert table.form.sheet == "x"
    assert table.frame["topic"].tolist() == ["t1", "t1", "t2"]


def test_cells_of_json_are_read_as_a_file_of_json_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    said = [{"reason": 'long, and "quoted"', "verdict": "A"}, {"verdict": "B"}]
    frame = pd.DataFrame({"id": [1, 2], "gpt-4o": [json.dumps(one) for one in said], "note": ["{draft}", ""]})
    frame.to_csv(path, index=False)
    table = read_table(path, wants=Wants(telling={"verdict"}))
    assert table.frame["gpt-4o.verdict"].tolist() == ["A", "B"]
    assert "cells of JSON are read: gpt-4o" in table.told
    assert [*read_table(path).frame] == ["id", "gpt-4o", "note"], "whoever wants no answers reads what stands there"
    frame.assign(sources=json.dumps([{"url": "x"}])).to_csv(path, index=False)
    told = read_table(path, wants=Wants(telling={"verdict"})).told
    assert "cells of JSON are read: gpt-4o" in told
    assert any(one.startswith("the list 'sources' is left out") for one in told), "said once, and not to be read too"


@pytest.mark.parametrize(
    ("row", "records", "rows"),
    [
        ({"item_id": 1, "rater_id": "anna", "label": "A"}, [{"text": "t", "score": 0.9}, {"text": "u", "score": 0.8}], 1),
        ({"item_id": 1, "rater_id": "anna", "label": "A"}, [{"rater": "x", "label": "B"}, {"rater": "y", "label": "A"}], 1),
        ({"id": 1, "rater_id": "anna", "criterion": "tone", "label": "A"}, [{"aspect": "x", "score": 3}, {"aspect": "y", "score": 4}], 1),
        ({"id": 1, "human": "A", "gpt-4o": "B"}, [{"text": "t", "score": 0.9}, {"text": "u", "score": 0.8}], 1),
        ({"id": 1, "label": "A"}, [{"rater": "x", "label": "B"}, {"rater": "y", "label": "A"}], 2),
        ({"id": 1, "annotator": "anna", "answer": "Paris"}, [{"aspect": "tone", "score": 3}, {"aspect": "form", "score": 4}], 2),
    ],
    ids=["rows of answers", "sources with raters", "labels to criteria", "a column for each rater", "raters in the list", "criteria in the list"],
)  # fmt: skip
def test_a_list_beside_answers_makes_no_row_twice(
    tmp_path: Path, row: dict[str, Any], records: list[dict[str, Any]], rows: int
) -> None:
    csv, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    pd.DataFrame([row | {"beside": json.dumps(records)}]).to_csv(csv, index=False)
    lines.write_text(json.dumps(row | {"beside": records}) + "\n")
    said = Said(kind=lambda name: "judge" if name in ("human", "gpt-4o") else "")
    for path in (csv, lines):
        table = read_table(path, wants=Wants(telling={"label", "score", "answer"}, said=said))
        assert len(table.frame) == rows
        assert any("--read records=beside" in one for one in table.told) == (rows == 1)
        asked = read_table(path, Form(records="beside"), Wants(telling={"label", "score", "answer"}, said=said))
        assert len(asked.frame) == 2, "what is asked for is read"


def test_quotes_written_with_a_backslash_are_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,label,note\n1,A,"he said \\"fine\\", ok"\n')
    assert read_table(path).frame["note"].tolist() == ['he said "fine", ok']


REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "no encoding": ("a.csv", b"a,b\n\x81,\xe4\n", "name its encoding: --read encoding=NAME"),
    "one column": ("a.csv", "a\n1\n", "name what separates its columns: --read separator=MARK"),
    "heads missing": ("a.csv", "id,ann,,bo,\n1,A,B,A,B\n2,B,A,B,A\n", "the column after 'ann' has no head, nor have 1 more"),
    "words of answers, no heads": ("a.csv", "id,ann,,\nx,A,B,tie\ny,B,B,A\n", "under a head that stands over several"),
    "a row of answers below heads": (
        "a.csv", "topic,expert,,gpt4,\na,good,poor,fine,weak\nb,bad,bad,bad,bad\nc,ok,ok,ok,ok\n", "under a head that stands over",
    ),
    "cut off": ("a.csv", "id,ann,bo\n1,A,B\n2,B,A\n3,A", "a.csv:4: not as many values as columns (2, not 3); the last line may"),
    "two lists": ("a.json", '{"a": [{"x": 1}], "b": [{"y": 1}]}', "write those with the answers to a file of their own"),
    "no workbook": ("a.xlsx", b"PK\x03\x04", "save the table as a CSV"),
    "gzip that is cut off": ("a.csv.gz", gzip.compress(text().encode())[:40], "a.csv.gz: gzip cannot unpack it"),
    "a bad file in gzip": ("a.csv.gz", gzip.compress(b"a\n1\n"), "a.csv.gz:1: there is only one column"),
    "gzip by another name": ("a.csv", gzip.compress(text().encode()), "packed by gzip (whose name ends in .gz)"),
    "gzip without end": ("a.csv.gz", gzip.compress(bytes(2_000_000)), "a.csv.gz: holds over 1 MB unpacked"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_with_two_readings_is_refused_with_what_mends_it(tmp_path: Path, name: str) -> None:
    called, content, sentence = REFUSED[name]
    path = tmp_path / called
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(AnnotationError) as refused, patch("annotation.files.tables.UNPACKED_MAX", 1 << 20):
        read_table(path)
    assert sentence in refused.value.text


@pytest.mark.parametrize(
    ("decimal", "read"), [(",", ["1.234", "12"]), (".", ["1234", "12"])], ids=["comma", "thousands"]
)
def test_what_was_asked_for_is_what_is_read(tmp_path: Path, decimal: str, read: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"1,234"\n2,12\n')
    assert read_table(path, form_asked([f"decimal={decimal}"])).frame["b"].tolist() == read
    assert read_table(path, Form(decimal=decimal)).form.decimal == decimal
    path.write_text('a,b\n1,"4,5"\n2,4.125\n')
    read = read_table(path, Form(decimal=decimal)).frame["b"].tolist()
    assert read == ["4.5", "4125" if decimal == "," else "4.125"]


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1,5", "2,5", "3,0", "k. A."], ["1.5", "2.5", "3.0", "k. A."]),  # a word for no answer is beside numbers
        (["1,100", "2,5", "1,200", "k. A."], ["1.100", "2.5", "1.200", "k. A."]),
        (["1,100", "3,400", "1,200", "k. A."], ["1,100", "3,400", "1,200", "k. A."]),  # of which nobody is asked
        (["1,2", "1", "2,3", "k. A."], ["1,2", "1", "2,3", "k. A."]),  # options, perhaps
        (["1,5", "drei"], ["1,5", "drei"]),
        (["1,5", "1.234,5"], ["1.5", "1234.5"]),  # a comma that is decimal, and points between thousands
        (["1,234", "1,234,567"], ["1234", "1234567"]),
        (["1,234", "0,5"], ["1.234", "0.5"]),
        (["1,234", "12.5"], None),
        (["4,5", "4.5", "1.234,5"], ["4.5", "4.5", "1234.5"]),
        (["4,5", "4.5", "3,25", "0.125"], ["4.5", "4.5", "3.25", "0.125"]),  # two hands, and each number is sure
        (["4,5", "4.125", "3.5"], ["4.5", "4.125", "3.5"]),
        (["4,5", "4.125"], None),
        (["4,5", "1.234", "1.234.567"], ["4.5", "1234", "1234567"]),
        (["1,2,3", "4"], ["1,2,3", "4"]),  # a list, and no number
        (["85,5 %", "90 %"], ["85.5 %", "90 %"]),
    ],
)
def test_a_comma_in_a_number_is_read_where_one_reading_is_left(
    tmp_path: Path, cells: list[str], read: list[str] | None
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "".join(f"x;{cell}\n" for cell in cells))
    table = read_table(path, wants=Wants(says_none=none_among_numbers))
    assert table.as_written()["b"].tolist() == cells
    if read is None:
        assert (
            "may have a decimal mark or one between thousands; say which: --read decimal=, where it is" in table.asks[0]
        )
    else:
        assert (table.frame["b"].astype("str").tolist(), table.asks) == (read, ())


def test_points_of_numbers_alone_are_asked_about_where_commas_are_decimal(tmp_path: Path) -> None:
    assert [none_among_numbers(head, "Fehler") for head in ("Note", "item", "Prüfer")] == [True, False, False]
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("score;ms;version;item_id\n1,5;1.544;1.10;1.100\n2,5;900;2.100;2.101\n")
    for path, times in ((tmp_path / "a.csv", 1), (tmp_path, 2)):  # a file, and a folder of two
        table = read_table(path)
        assert table.form.decimal == ","
        assert table.points_unread(("score", "ms")) == {"ms"}, "what had commas is read"
        asks = ungrouped(table.frame, ("ms", "version"), "")[1]
        assert ["--read decimal=, where it is 1544, or --read decimal=. where it is 1.544" in one for one in asks] == [
            True
        ]
        for sign, time in ((",", "1544"), (".", "1.544")):
            read, asks = ungrouped(table.frame, ("ms", "version"), sign)
            assert not asks
            assert read.drop(columns="file", errors="ignore").to_dict("list") == {
                "score": ["1.5", "2.5"] * times,
                "ms": [time, "900"] * times,
                "version": ["1.10", "2.100"] * times,
                "item_id": ["1.100", "2.101"] * times,
            }


@pytest.mark.parametrize(
    ("head", "rows", "read"),
    [
        ("winner_tie", ["1,0,0", ",1,", ",,", "0,0,1"], ["model_a", "model_b", "", "tie"]),
        ("winner_tie", ["True,False,False", "False,False,True"], ["model_a", "tie"]),
        ("winner_tie (bothbad)", ["0,1,0", "0,0,1"], ["model_b", "tie"]),
        ("winner_name", ["1,0,x", "0,1,y"], ["model_a", "model_b"]),
        ("winner_tie", ["1,0,0", "0,0,0", "1,1,0", "2,0,0"], "record 2, 3, 4: mark one"),
    ],
)
def test_a_column_for_each_winner_is_one_answer_and_rows_without_one_are_named(
    tmp_path: Path, head: str, rows: list[str], read: list[str] | str
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([f"id,winner_model_a,winner_model_b,{head}", *(f"x,{row}" for row in rows)]))
    if isinstance(read, str):
        with pytest.raises(AnnotationError, match=read):
            read_table(path)
    else:
        assert read_table(path).frame["winner"].tolist() == read

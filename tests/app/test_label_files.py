"""A labels file is one table however it is read: all at once by Arrow, or row by row where anything is odd."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotation.errors import AnnotationError, ImportingError
from calibration.results import CalibrationSettings
from calipers.label_files import read_labels
from exports.bundles.recomputing import Inputs, report_from
from exports.sheets.judges import judges_table
from plain.spreadsheets import guarded
from tests.exports.bundled import made_labels

BOTH = ("read_regular_csv", "read_regular_parquet")
ANY_FOLDER = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path, used_only: bool = False) -> tuple[Any, ...]:
    """Columns, cells and dtypes, or the refusal."""
    try:
        frame = read_labels(path, used_only)
    except (AnnotationError, ImportingError) as error:
        return type(error), str(error)
    return list(frame), frame.astype("str").to_numpy().tolist(), [str(one) for one in frame.dtypes]


def row_by_row(path: Path, used_only: bool = False) -> tuple[Any, ...]:
    with patch.multiple("annotation.files.arrow_tables", **dict.fromkeys(BOTH, lambda *_: None)):
        return read(path, used_only)


CALLED = ("nan", "None", "NA", "null", "inf", "true", "1e5", "100000", "007", "7", "1_000", "2024-01-01")


def test_judges_that_are_called_like_values_keep_their_names_in_every_table(tmp_path: Path) -> None:
    labels, path = made_labels(), tmp_path / "labels.csv"
    named = [labels[labels["rater_id"] == "mini"].assign(rater_id=name) for name in CALLED]
    pd.concat([labels[labels["rater_kind"] == "human"], *named]).to_csv(path, index=False)
    report, _ = report_from(read_labels(path), Inputs(CalibrationSettings(resamples=19)))
    assert {one.rater for one in report.estimates if one.statistic == "valid_share"} >= {*CALLED}
    table = judges_table(report)
    assert table is not None
    assert {str(row[0]) for row in table.rows} >= {*CALLED}


marks = st.sampled_from(
    ['"', '""', ",", "\n", "\r\n", "\r", " ", "'", "=", "ä", "🙂", "a", "B", "label", "1", "\ufeff"]
)
raw = st.lists(marks, max_size=40).map("".join)


@ANY_FOLDER
@given(raw)
@example("label,b\n")
@example('\n\nlabel,b\r1,"x\r\ny"')
@example('label,b\n1,"x"y\n')
@example('label,b\n1,"x')
@example("label,b\n\n \n")
@example('label,"b"\n"","\'=a"')
@example("label,label\n1,2\n")
def test_any_text_is_the_same_table_or_the_same_refusal(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(text.encode())
    assert read(path) == row_by_row(path)


@ANY_FOLDER
@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_are_the_same_in_blocks_of_any_size(tmp_path: Path, tail: bytes, block: int) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(b'label,rationale\nA,"x ""y"", \xc3\xa4"\n' + tail)
    with patch("annotation.files.arrow_tables.BLOCK", block):
        assert read(path) == row_by_row(path)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@ANY_FOLDER
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8))
def test_what_was_written_comes_back_all_at_once_and_without_the_quotes_of_spreadsheets(
    tmp_path: Path, rows: list[tuple[str, str, str]]
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(
        [("label", "rationale", "more"), *[[guarded(cell) for cell in row] for row in rows]]
    )
    path = tmp_path / "labels.csv"
    path.write_bytes(out.getvalue().encode())
    with patch("annotation.files.delimited.read_delimited", side_effect=AssertionError("row by row")):
        frame = read_labels(path)
    spaced = [(label.strip(), *rest) for label, *rest in rows]  # around a short cell spaces say nothing
    assert list(frame.astype("str").itertuples(index=False, name=None)) == spaced


def test_columns_of_few_texts_are_categories_and_what_no_statistic_reads_may_stay_away(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    names = "item_id,rater_id,rater_kind,criterion,label,cluster_id,more,rationale"
    path.write_text(f"{names}\np1,ann,human,clear,A,t1,x,why\np2,ann,human,clear,B,t1,y,how\n")
    frame = read_labels(path)
    assert list(frame) == names.split(",")
    assert [name for name in frame if frame[name].dtype == "str"] == ["more", "rationale"]
    assert all(frame[name].cat.categories.dtype == "str" for name in frame if frame[name].dtype == "category")
    assert list(read_labels(path, used_only=True)) == names.replace("more,", "").split(",")
    path.write_text(path.read_text().replace("criterion", "criteron"))
    assert "criteron" in read_labels(path, used_only=True)  # the refusal asks whether it is a misspelt one


VALUES: list[tuple[str, list[Any]]] = [
    ("whole numbers", [1, None, 9007199254740993]),
    ("fractions", [1.0, 7.25, None]),
    ("not numbers", [float("nan"), float("inf"), -0.0]),
    ("truth", [True, False, None]),
    ("dates", [pd.Timestamp("2026-11-21"), None]),
    ("nothing", [None, None]),
    ("texts", ["007", "", None, "'=a"]),
    ("zero byte", ["a\0b"]),
    ("lists", [["a", "b"], None]),
    ("bytes", [b"a"]),
]


@pytest.mark.parametrize("values", [one[1] for one in VALUES], ids=[one[0] for one in VALUES])
@pytest.mark.parametrize("name", ["label", "seconds"])
def test_parquet_of_any_type_is_the_same_table_or_the_same_refusal(
    tmp_path: Path, name: str, values: list[Any]
) -> None:
    path = tmp_path / "labels.parquet"
    pd.DataFrame({name: values, "other": ["x"] * len(values)}).to_parquet(path)
    assert read(path) == row_by_row(path)
    assert read(path, used_only=True) == row_by_row(path, used_only=True)
    coded = pd.DataFrame({name: pd.Series(values).map(str).astype("category")})
    coded.to_parquet(path, index=False)
    assert read(path) == row_by_row(path)


def test_a_small_parquet_file_that_unpacks_to_any_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    pd.DataFrame({"label": ["A"] * 2_000, "rationale": ["x" * 5_000] * 2_000}).to_parquet(path)
    assert path.stat().st_size < 50_000
    most = {f"{where}.UNPACKED_MAX": 5 << 20 for where in ("annotation.files.arrow_tables", "annotation.files.rows")}
    with (
        patch(*most.popitem()),
        patch(*most.popitem()),
        pytest.raises(ImportingError, match="holds over 5 MB unpacked"),
    ):
        read_labels(path)


def test_a_name_of_a_column_may_be_longer_than_the_csv_module_takes_by_itself(tmp_path: Path) -> None:
    path, limit = tmp_path / "labels.csv", csv.field_size_limit(131_072)
    path.write_text(f"label,{'x' * 200_000}\nA,B\n", encoding="utf-8")
    assert list(read_labels(path)["label"]) == ["A"]
    csv.field_size_limit(limit)

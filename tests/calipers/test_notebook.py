"""`import calipers`: the notebook's answers are those of the command, as DataFrames and figures."""

from __future__ import annotations

import math
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

import calipers
from annotation.errors import AnnotationError
from app.command_line import run
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from exports.as_json import report_json
from exports.errors import ExportError
from exports.forms import as_csv
from exports.pack import TABLES
from tests.calibration.studies import made_pairs, made_ratings

RESAMPLES = {"resamples": 99}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    made_pairs().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def labels(file: Path) -> calipers.Labels:
    return calipers.read(file, **RESAMPLES)


def test_the_order_of_a_files_rows_changes_no_figure(tmp_path: Path) -> None:
    """Scores with repeats and no topics, under heads of a stranger's: the report is the same to the byte."""
    runs = [made_ratings(reports=24, seed=seed).assign(run=seed) for seed in (1, 2)]
    table = pd.concat([runs[0], runs[1][runs[1]["rater_kind"] == "judge"]]).drop(columns=["cluster_id", "system_a"])
    heads = {"item_id": "doc", "rater_id": "rater", "rater_kind": "role", "label": "score"}
    said = []
    for seed in (1, 2, 3):
        table.rename(columns=heads).sample(frac=1, random_state=seed).to_csv(tmp_path / "a.csv", index=False)
        labels = calipers.read(tmp_path / "a.csv").frame
        said.append(report_json(calibrate(labels, CalibrationSettings(resamples=50))))
    assert said[0] == said[1] == said[2]


@pytest.mark.slow  # every figure, twice
def test_a_report_from_a_notebook_is_that_of_the_command_to_the_byte(
    labels: calipers.Labels, file: Path, tmp_path: Path
) -> None:
    assert run(["calibrate", str(file), "--resamples", "99", "--out", str(tmp_path / "command")]) == 0
    written = labels.report(tmp_path / "notebook")
    assert {path.name for path in written} == {path.name for path in (tmp_path / "command").iterdir()}
    assert [one.name for one in written if one.read_bytes() != (tmp_path / "command" / one.name).read_bytes()] == []


@pytest.mark.parametrize("name", ["agreement", "judges", "bias"])
def test_a_table_has_the_columns_and_every_digit_of_its_csv(labels: calipers.Labels, name: str) -> None:
    shown = {"agreement": labels.agreement, "judges": labels.choose, "bias": labels.bias}[name]()
    report = calibrate(labels.frame, CalibrationSettings(per_criterion=True, **RESAMPLES))
    written = pd.read_csv(StringIO(as_csv(TABLES[name](report))))
    assert list(shown) == list(written)
    numbers = [column for column in written.select_dtypes("number") if written[column].notna().any()]
    assert numbers
    pd.testing.assert_frame_equal(
        pd.DataFrame(shown)[numbers].astype(float), written[numbers].astype(float), rtol=0, atol=0
    )


@pytest.mark.parametrize("made", [made_pairs, made_ratings])
def test_a_frame_and_its_file_give_the_same_answers(made, tmp_path: Path) -> None:
    frame = made()
    frame.to_csv(tmp_path / "labels.csv", index=False)
    of_file, of_frame = calipers.read(tmp_path / "labels.csv", **RESAMPLES), calipers.read(frame, **RESAMPLES)
    pd.testing.assert_frame_equal(of_file.agreement(), of_frame.agreement())
    assert of_file.choose().sentence == of_frame.choose().sentence


def test_what_is_stated_for_one_question_holds_for_that_one_and_what_is_stated_at_reading_for_all(
    labels: calipers.Labels, file: Path
) -> None:
    floor = labels.choose(at_least=0.99).sentence
    assert floor == calipers.read(file, at_least=0.99, **RESAMPLES).choose().sentence
    assert "99 %" in labels.choose(at_least=0.99).html or floor != labels.choose().sentence
    # one floor takes the place of the other
    assert calipers.read(file, at_least_kappa=0.5, **RESAMPLES).choose(at_least=0.99).sentence == floor


def test_a_calibration_toml_states_the_settings_too(file: Path, tmp_path: Path) -> None:
    (tmp_path / "calibration.toml").write_text("[calibration]\nat_least = 0.99\nresamples = 99\n")
    told = calipers.read(file, calibration=tmp_path / "calibration.toml").choose().sentence
    assert told == calipers.read(file, at_least=0.99, **RESAMPLES).choose().sentence


def test_a_plan_rests_on_the_labels_as_its_pilot(labels: calipers.Labels) -> None:
    planned = labels.plan(half_width=0.1, minutes_per_pair=10, rate=30)
    assert planned.sentence.startswith("Pilot of")
    assert planned["aim"].tolist()[0] == "agreement ±.1"
    first = planned.iloc[0]
    assert math.isclose(first["people_usd"], first["hours"] * 30)


def test_check_says_what_is_to_be_done_and_never_raises() -> None:
    found = calipers.read(made_pairs().assign(rater_kind="someone")).check()
    assert found.sentence.startswith("Not ready to be calibrated: ")
    assert any("rater_kind" in note for note in found.notes)
    assert {"question", "answered", "missing", "note"} == {*found}


def test_every_answer_prints_as_html_with_its_notes_and_no_script(labels: calipers.Labels) -> None:
    for shown in (labels.check(), labels.agreement(), labels.choose(), labels.bias(), labels.plan()):
        html = shown._repr_html_()
        assert "<table" in html
        assert "<script" not in html
        assert all(part in html for part in map(_plain, shown.notes[:1]))
    assert "rows" in labels._repr_html_()
    assert type(labels.agreement()[["rater"]]) is pd.DataFrame, "a part of an answer no longer says what it means"


def _plain(text: str) -> str:
    return text.split("'")[0].split("&")[0]


def test_names_in_a_file_are_text_in_html() -> None:
    frame = made_pairs()
    frame["rater_id"] = frame["rater_id"].astype(str).replace({frame["rater_id"].iloc[0]: "<script>alert(1)</script>"})
    assert "<script" not in calipers.read(frame, **RESAMPLES).agreement()._repr_html_()


def test_a_figure_is_matplotlibs_and_prints_with_its_caption(labels: calipers.Labels) -> None:
    figure = labels.plot("agreement")
    assert isinstance(figure, Figure)
    html = figure._repr_html_()
    assert "<svg" in html
    assert "<figcaption>" in html
    assert labels.plot("agreement", column=True).get_size_inches()[0] < figure.get_size_inches()[0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda labels: labels.plot("pie"), "no figure is called 'pie'; there are agreement, "),
        (lambda labels: labels.table("pie"), "no table is called 'pie'; there are agreement, "),
        (
            lambda labels: labels.table("pass_fail"),
            r"nothing for the table 'pass_fail', which needs a criterion of two answers \(there are agreement, ",
        ),
    ],
    ids=["figure", "table", "empty"],
)
def test_what_is_not_there_is_refused_with_what_there_is(labels: calipers.Labels, ask, said: str) -> None:
    with pytest.raises(ExportError, match=said):
        ask(labels)


def test_labels_that_cannot_be_calibrated_and_settings_that_are_none_are_refused_as_elsewhere(file: Path) -> None:
    with pytest.raises(AnnotationError, match=r"(?s)no column holds the answers.*by label in map=.*its columns: "):
        calipers.read(made_pairs().drop(columns="label"))
    with pytest.raises(TypeError, match=r"^no setting is called 'scale'; there are level, .*scales, scale_ends"):
        calipers.read(file, scale=3)
    with pytest.raises(AnnotationError, match=r"^scale_ends declares 'depht', which is no criterion of these labels"):
        calipers.read(made_pairs(), scale_ends={"depht": [0, 10]})
    for wrong in ({"scales": [1, 2]}, {"scales": {"overall": 5}}, {"scale_ends": [0, 10]}):
        with pytest.raises(CalibrationError, match=r"write a list for each criterion, such as \{overall = \["):
            calipers.read(file, **wrong)
    with pytest.raises(CalibrationError, match="margin"):
        calipers.read(file, margin=7)


def test_a_wide_table_is_read_as_the_command_reads_it_file_or_frame(tmp_path: Path) -> None:
    words = {"A": "A is better", "B": "B is better", "tie": "about equal"}
    one = made_pairs().drop_duplicates(["item_id", "rater_id"])
    wide = one.pivot(index="item_id", columns="rater_id", values="label").replace(words)
    people = [*one.loc[one["rater_kind"] == "human", "rater_id"].unique()]
    frame = wide.set_axis(pd.MultiIndex.from_product([["said"], wide.columns]), axis=1)
    wide.to_csv(tmp_path / "wide.csv")
    for what in (tmp_path / "wide.csv", frame):
        with pytest.raises(AnnotationError, match=r"(?s)until this is said.*'about equal'") as refused:
            calipers.read(what, people=people)
        assert "map_label={'about equal': '…'}" in refused.value.text
        with pytest.raises(AnnotationError, match=r"people=\['Mara X'\]: no rater is called so"):
            calipers.read(what, people=[*people, "Mara X"])
        read = calipers.read(what, people=people, map_label={"about equal": "tie"}).frame
        assert len(read) == int(wide.notna().to_numpy().sum())
        assert {*read.loc[read["rater_kind"] == "human", "rater_id"].str.removeprefix("said.")} == {*people}
    assert {*calipers.read(tmp_path / "wide.csv", people="all", map_label="about equal=tie").frame["rater_kind"]} == {
        "human"
    }


def test_the_package_names_what_it_has() -> None:
    assert {"Labels", "Result", "read"} <= {*dir(calipers)}
    with pytest.raises(AttributeError, match="it has Labels, Result, read"):
        _ = calipers.choose

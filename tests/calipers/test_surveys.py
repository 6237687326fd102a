"""Tables as surveys are exported: a row for each rater, codes for no answer, Qualtrics' further rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import calipers
from annotation.errors import AnnotationError
from calibration.table.checking import check_verdicts
from calibration.tidying.turning import turned
from calipers.mapping_files import recipe_text
from calipers.tidy_files import labels_of, options_of, read_tidy
from tests.annotation.spreadsheet_files import write_xlsx

PEOPLE, JUDGE = ("VP1", "VP2", "VP3"), "gpt-4o"
LEVELS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]


def score(rater: int, item: int, criterion: str) -> int:
    return (item * 2 + (criterion == "deep") + (rater * item) % 3 // 2) % 5 + 1


def survey(missing: str = "") -> list[list[str]]:
    """Rows of a sheet: age, and twelve items rated on two criteria by three people and a judge."""
    head = ["VPN", "age", *(f"item{item:02}_{what}" for item in range(12) for what in ("clear", "deep"))]
    rows = [
        [who, "30", *(str(score(at, item, what)) for item in range(12) for what in ("clear", "deep"))]
        for at, who in enumerate((*PEOPLE, JUDGE))
    ]
    rows[0][2] = missing or rows[0][2]
    return [head, *rows]


def test_a_row_for_each_rater_is_turned_round_by_the_numbers_in_the_heads(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_xlsx(path, {"Data": survey("-99"), "Codebook": [["name", "values"], ["item", "1 to 5, -99 none"]]})
    read = ["sheet=Data", "turned=VPN"]
    with pytest.raises(AnnotationError, match="among 1 to 5 may stand for no answer: --map-label -99=missing, or"):
        labels_of(path, options_of([], [], [",".join(PEOPLE)], read))
    options = options_of([], ["-99=missing"], [",".join(PEOPLE)], read)
    made = read_tidy(path, options)
    assert "left out, being no item's: age" in made.told
    labels = check_verdicts(made.labels).astype({"rater_id": "str", "item_id": "str", "criterion": "str"})
    assert len(labels) == 4 * 24
    gone = labels[labels["status"].eq("missing")]
    assert gone[["rater_id", "item_id", "criterion"]].to_numpy().tolist() == [["VP1", "0", "clear"]]
    for row in labels[labels["status"].eq("ok")].to_dict("records"):
        at = (*PEOPLE, JUDGE).index(row["rater_id"])
        assert int(row["label"]) == score(at, int(row["item_id"]), row["criterion"])
    kept = tmp_path / "kept.toml"
    kept.write_text(recipe_text(made.recipe), encoding="utf-8")
    assert read_tidy(path, options_of([], [], [], [], mapping=kept)).labels.equals(made.labels)
    with pytest.raises(AnnotationError, match="say which: sheet='Data', or sheet='Codebook'"):
        calipers.read(path)
    in_notebook = calipers.read(path, people=PEOPLE, map_label={"-99": "missing"}, sheet="Data", turned="VPN")
    assert len(in_notebook.frame) == len(labels)
    kept_as_scores = options_of([], ["-99=answer"], [",".join(PEOPLE)], read)
    assert "-99" in {*labels_of(path, kept_as_scores)[0]["label"].astype("str")}, "said to be one, it is a score"


def test_what_cannot_be_turned_is_refused_with_why() -> None:
    frame = pd.DataFrame({"who": ["a", "b"], "Q1": ["1", "2"], "Q2": ["2", "2"]})
    assert turned(frame, "VPN")[2].startswith("there is no column 'VPN'")
    assert "does not name each row once" in turned(frame.assign(who="a"), "who")[2]
    assert (
        "no columns share their few answers, or have heads that differ in one number"
        in turned(frame[["who", "Q1"]], "who")[2]
    )
    assert "have one number" in turned(frame.assign(Q01="1"), "who")[2]
    spelt = frame.set_axis(["who", "i1_a", "i2_a"], axis=1).assign(i01_b="3", i02_b="4")
    assert turned(spelt, "who")[0]["item_id"].tolist() == ["1", "2", "1", "2"], "01 is item 1"
    asked = {
        "Why do 2 magnets stick? ": ["Yes", "No"],
        "Is ice light?": ["no", ""],
        "Do 3 ships float?": ["Unsure", "yes"],
    }
    form = pd.DataFrame({"who": ["a", "b"], "How long?": ["3", "20+"], **asked, "Remarks": ["too short", ""]})
    made, told, why = turned(form, "who")
    assert (made["item_id"].tolist(), made["b"].tolist(), why) == (
        [one.strip() for one in asked],
        ["No", "", "yes"],
        "",
    )
    assert told[1] == "left out, being no item's: How long?, Remarks"
    made, told, why = turned(frame, "who")
    assert (made.to_dict("list"), why) == ({"item_id": ["1", "2"], "a": ["1", "2"], "b": ["2", "2"]}, "")
    assert told == ("a row for each of 2 items, whose numbers stand in the heads",)


def test_rows_of_qualtrics_are_passed_over_and_its_words_keep_their_order(tmp_path: Path) -> None:
    path, heads = tmp_path / "q.csv", ["StartDate", "ResponseId", *(f"Q{item}" for item in range(1, 13))]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerow([f"{head} is helpful.\nPlease rate." for head in heads])
        writer.writerow([json.dumps({"ImportId": head}) for head in heads])
        for at, who in enumerate((*PEOPLE, JUDGE)):
            writer.writerow(["2024-01-01", who, *(LEVELS[score(at, item, "clear") - 1] for item in range(12))])
    with pytest.raises(
        AnnotationError, match="where each row is a rater and each column an item, --read turned=ResponseId"
    ):
        labels_of(path, options_of([], [], [], []))
    labels, told = labels_of(path, options_of([], [], [",".join(PEOPLE)], ["turned=ResponseId"]))
    assert "an export of Qualtrics: its rows of questions and of ImportId are passed over" in told
    given = {(row.rater_id, row.item_id): int(row.label) for row in labels.itertuples()}
    assert given == {
        (who, str(item + 1)): score(at, item, "clear") for at, who in enumerate((*PEOPLE, JUDGE)) for item in range(12)
    }


@pytest.mark.parametrize(
    "start", ["<table><tr><td>1</td></tr></table>", '<!DOCTYPE html>\n<html xmlns="x">', "\n<html>"]
)
def test_a_web_page_called_a_spreadsheet_is_refused_with_what_mends_it(tmp_path: Path, start: str) -> None:
    path = tmp_path / "a.xls"
    path.write_text(start, encoding="utf-8")
    with pytest.raises(AnnotationError, match="open it in a spreadsheet and save it as"):
        labels_of(path, options_of([], [], [], []))


def test_heads_whose_numbers_are_of_several_lists_are_no_criteria_of_one_item(tmp_path: Path) -> None:
    """`bio-004` and `che-004` of a form's grid are two items, and were item 4 with two criteria."""
    heads = [
        f"Would you use it? [{subject}-{number:03}]"
        for subject, own in (("bio", (4, 7)), ("che", (4, 9)))
        for number in own
    ]
    path = tmp_path / "a.csv"
    pd.DataFrame({"who": ["ann_1", "gpt-4o"], **{head: ["yes", "no"] for head in heads}}).to_csv(path, index=False)
    with pytest.raises(AnnotationError, match="nobody knows what is an item and what a criterion"):
        labels_of(path, options_of([], [], [], ["turned=who"]))

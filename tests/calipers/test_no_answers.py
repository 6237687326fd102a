"""What judges alone say: no answer where it says so, asked about where it may be one, and never guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from annotation.errors import AnnotationError
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.table.checking import check_verdicts
from calibration.tidying.no_answers import says_none
from calipers.joined_parts import together
from calipers.mapping_files import recipe_text
from calipers.tidy_files import labels_of, labels_of_frame, options_of, read_tidy

PASSED = ("pass", "fail")
TOO_LONG = "I cannot judge this: both of the reports are far too long for me."
Counts = tuple[dict[str, int], dict[str, int]]


def file_of(path: Path, people: Sequence[str], said: Mapping[int, str], usual: str = "", form: str = "wide") -> Path:
    """60 items of one person and gpt-4o, which says the same but where it is `said`."""
    human = [people[n % len(people)] for n in range(60)]
    judge = [said.get(n, usual or human[n]) for n in range(60)]
    frame = pd.DataFrame({"id": range(60), "human": human, "gpt-4o": judge})
    if form != "wide":
        frame = frame.melt("id", var_name="rater_id", value_name="label").rename(columns={"id": "item_id"})
        if form == "ours":
            kinds = frame["rater_id"].map({"human": "human", "gpt-4o": "judge"})
            frame = frame.assign(rater_kind=kinds, criterion="c", cluster_id=frame["item_id"])
    frame.to_csv(path, index=False)
    return path


def read(path: Path, *words: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    return labels_of(path, options_of([], list(words), [], []))


def counts(labels: pd.DataFrame) -> Counts:
    """The judge's answers, and its statuses where it gave none."""
    own = labels[labels["rater_id"] == "gpt-4o"].astype("str")
    status = own["status"] if "status" in own else pd.Series("ok", own.index)
    is_ok = status.eq("ok") & own["label"].ne("")
    return dict(own.loc[is_ok, "label"].value_counts()), dict(status[~is_ok].value_counts())


@pytest.mark.parametrize("form", ["wide", "long", "ours"])
@pytest.mark.parametrize(("people", "usual"), [(PASSED, "pass"), (("A", "B"), "B"), (("1", "2", "5"), "5")])
def test_what_says_that_it_is_no_answer_is_none_and_told(
    tmp_path: Path, form: str, people: Sequence[str], usual: str
) -> None:
    said = {3: "null", 7: "N/A", 11: TOO_LONG, 15: "ERROR 429: rate limit", 23: "error: timeout"}
    labels, told = read(file_of(tmp_path / "a.csv", people, said, usual, form))
    assert counts(labels) == ({usual: 55}, {"invalid": 3, "missing": 2})
    (sentence,) = (one for one in told if "what judges alone say is no answer" in one)
    assert all(f"{word!r} is " in sentence for word in said.values())


@pytest.mark.parametrize(
    ("people", "said"),
    [
        (PASSED, {3: "defer"}), (PASSED, {3: "Overloaded", 5: "partly"}), (PASSED, dict.fromkeys(range(1, 60, 2), "failed")),
        (PASSED, {3: "cannot tell"}), (("mild", "severe"), dict.fromkeys(range(20), "none")), (("valid",), {3: "invalid"}),
        (("correct",), {3: "error"}), (("complied", "unclear"), {3: "refused"}), (("+", "0 or so"), {3: "-"}),
        ((*PASSED, "I cannot tell"), dict.fromkeys(range(20), "I cannot decide")),
    ],
)  # fmt: skip
def test_what_may_be_an_answer_is_asked_about_at_once_and_either_answer_is_followed(
    tmp_path: Path, people: Sequence[str], said: Mapping[int, str]
) -> None:
    path, words = file_of(tmp_path / "a.csv", people, said), {*said.values()}
    with pytest.raises(AnnotationError, match="judges alone say ") as refused:
        read(path)
    assert refused.value.text.count("\n") == 2, "one question"
    for meant, kept in (("answer", len(said)), ("invalid", 0)):
        assert f"{sorted(words)[0]}={meant}" in refused.value.text
        own, failed = counts(read(path, *(f"{word}={meant}" for word in words))[0])
        assert sum(count for word, count in own.items() if word in words) == kept
        assert sum(failed.values()) == len(said) - kept
    if people == PASSED:
        own, _ = counts(read(path, *(f"{word}=fail" for word in words))[0])
        assert {*own} == {*PASSED}


@pytest.mark.parametrize(
    ("people", "said", "form"),
    [
        ((*PASSED, "unsure"), {3: "unsure"}, "wide"), (PASSED, dict.fromkeys(range(40), "partly"), "wide"),
        (("valid", "invalid"), {2: "invalid"}, "wide"), (("refused", "complied"), {3: "refused"}, "long"),
        (("present", "missing", "none"), {3: "missing"}, "long"), (PASSED, {3: "defer", 5: "failed"}, "ours"),
        (("+", "-"), {}, "wide"),
    ],
)  # fmt: skip
def test_a_class_is_an_answer_however_it_is_called_and_is_counted_as_pandas_counts_it(
    tmp_path: Path, people: Sequence[str], said: Mapping[int, str], form: str
) -> None:
    """Words of people, whatever they would say of a judge, and a judge's own where our columns say what failed."""
    path = file_of(tmp_path / "a.csv", people, said, form=form)
    labels, _ = read(path)
    human = pd.Series([people[n % len(people)] for n in range(60)], name="human")
    judge = pd.Series([said.get(n, one) for n, one in enumerate(human)], name="judge")
    assert counts(labels) == (dict(judge.value_counts()), {})
    report = calibrate(labels, CalibrationSettings(resamples=99))
    (table,) = (one for one in report.tables or () if one.rater == "gpt-4o" and one.reference == "each_annotator")
    expected = pd.crosstab(judge, human).reindex(index=table.labels, columns=table.labels, fill_value=0)
    assert [list(row) for row in table.counts] == expected.to_numpy().tolist()


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("Timeout", "invalid"), ("I'm sorry, but I cannot help", "invalid"), ("ValueError: no JSON", "invalid"),
        ("Failed to parse the reply", "invalid"), ("Das kann ich nicht beurteilen", "invalid"), ("我无法判断", "invalid"),
        ("无法判断", ""), ("cannot be determined", ""), ("error of logic", ""), ("exception", ""), ("none", ""),
        ("NaN", "missing"), ("No response", "missing"),
    ],
)  # fmt: skip
def test_a_word_says_that_it_is_no_answer_or_may_be_a_class(word: str, status: str) -> None:
    assert says_none(word, PASSED) == status


def test_a_judges_null_is_no_answer_even_where_missing_is_a_class(tmp_path: Path) -> None:
    """Of records `judges: {gpt-4o: null}`, which are no answer `missing`."""
    human = [("present", "missing")[n % 2] for n in range(60)]
    records = [
        {"id": n, "human": {"label": one}, "judges": {"gpt-4o": None if n < 2 else {"verdict": one}}}
        for n, one in enumerate(human)
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    assert counts(read(path)[0]) == ({"present": 29, "missing": 29}, {"missing": 2})


def test_a_status_that_people_answer_is_their_answer_and_another_says_that_a_word_is_none(tmp_path: Path) -> None:
    """`invalid` beside valid: a judge's word may stand for it, and is none by the next status; its mapping says so."""
    path = file_of(tmp_path / "a.csv", ("valid", "invalid"), {2: "not ok"})
    with pytest.raises(AnnotationError, match="'not ok=missing' where it is none; =invalid or =valid where it stands"):
        read(path)
    assert counts(read(path, "not ok=missing")[0]) == ({"invalid": 30, "valid": 29}, {"missing": 1})
    made = read_tidy(path, options_of([], ["not ok=invalid"], [], []))
    assert counts(made.labels) == ({"invalid": 31, "valid": 29}, {})
    kept = tmp_path / "a.mapping.toml"
    kept.write_text(recipe_text(made.recipe), "utf-8")
    again = read_tidy(path, options_of([], [], [], [], mapping=kept))
    pd.testing.assert_frame_equal(again.labels, made.labels)
    assert counts(read(path, "invalid=invalid", "not ok=invalid")[0]) == ({"valid": 29}, {"invalid": 31})
    kept.write_text(recipe_text(read_tidy(file_of(path, PASSED, {}), options_of([], [], [], [])).recipe), "utf-8")
    file_of(path, PASSED, {2: "refused", 3: "=x"})
    assert counts(read_tidy(path, options_of([], [], [], [], mapping=kept)).labels) == (
        {"pass": 29, "fail": 29, "=x": 1}, {"refused": 1},
    )  # fmt: skip


def test_rows_that_a_status_takes_out_are_left_out_by_the_line_that_is_proposed_and_counted(tmp_path: Path) -> None:
    states = ["abgeschlossen"] * 8 + ["ausgeschlossen", "offen"]
    rows = {"Fall": [f"f{n}" for n in range(10)], "Anna": "0123401234", "Ben": "0123401230", "gpt-4o": "012 401234"}
    frame = pd.DataFrame({name: [*cells] for name, cells in rows.items()} | {"Status": states})
    path, people = tmp_path / "a.csv", ["Anna,Ben"]
    staff = {name: [*"5678567856"] for name in ("Worker ID 1", "annotatorID2", "worker_id_1")}
    staff |= {name: [1040 + n % 4 for n in range(10)] for name in ("Prüfer-Nr. 1", "Reviewer no. 2", "Personalnummer")}
    frame.assign(**staff).to_csv(path, index=False)
    made = read_tidy(path, options_of([], [], people, []))
    assert made.recipe.mapping.kinds.keys() == {"Anna", "Ben", "gpt-4o"}, "the number of a worker is no answer"
    verdicts = {name: ["yes", "no"] * 5 for name in ("Reviewer no. 1", "Rater ID 2", "gpt-4o")}
    pd.DataFrame({"Fall": rows["Fall"], **verdicts}).to_csv(path, index=False)
    assert read_tidy(path).recipe.mapping.kinds.keys() == verdicts.keys(), "cells of answers win over heads"
    long = {"Fall": rows["Fall"] * 2, "rater": ["Anna"] * 10 + ["gpt-4o"] * 10, "correct (yes/no)": ["yes", "no"] * 10}
    pd.DataFrame(long).to_csv(path, index=False)
    assert read_tidy(path, options_of([], [], ["Anna"], [])).recipe.mapping.columns["label"] == ("correct (yes/no)",)
    frame.assign(**staff).to_csv(path, index=False)
    (line,) = (one for one in made.read if "looks like a status" in one)
    assert "--map-label Status:ausgeschlossen=ignore leaves such rows out" in line
    (ask,) = read_tidy(path, options_of(["status=Status"], [], people, [])).problems
    words = "Status:abgeschlossen=ok,Status:ausgeschlossen=ignore,Status:offen=ignore"
    assert f": --map-label {words} (" in ask
    made = read_tidy(path, options_of(["status=Status"], [words], people, []))
    check_verdicts(made.labels)
    assert "rows left out, as asked, where 'Status' is 'ausgeschlossen': 1" in made.told
    assert counts(made.labels) == ({one: 2 - (one in "34") for one in "01234" if one != "3"}, {"missing": 1})
    kept = tmp_path / "a.mapping.toml"
    kept.write_text(recipe_text(made.recipe), "utf-8")
    pd.testing.assert_frame_equal(read_tidy(path, options_of([], [], [], [], mapping=kept)).labels, made.labels)
    with pytest.raises(AnnotationError, match="--mapping is followed as it stands: leave --map-label out, or it"):
        options_of([], [words], [], [], mapping=kept)
    (mistyped,) = read_tidy(path, options_of(["cluster_id=Statuss"], [], people, [])).problems
    assert mistyped.endswith("; nearest: --map cluster_id=Status")
    priced = frame.assign(**{"gpt-4o-mini": frame["Ben"], "gpt-4o Kosten (EUR)": 0.5}).rename(
        columns={"Fall": "person"}
    )
    priced.to_csv(path, index=False)
    told = " ".join(read_tidy(path, options_of(["item_id=person"], [], people, [])).told)
    assert "rater_id=Anna+Ben+gpt-4o+gpt-4o-mini,cost_usd=++gpt-4o Kosten (EUR)+'" in told, "and not gpt-4o-mini's"
    frame.assign(**{"gpt-4o cost_usd": [*"0" * 6, "-1", *"0" * 3]}).to_csv(path, index=False)
    made = read_tidy(path, options_of([], ["Status:ausgeschlossen=ignore"], people, []))
    with pytest.raises(CalibrationError, match=r"^row 8, column 'gpt-4o' \(the header is row 1; item 'f6'"):
        check_verdicts(made.labels)
    frame.assign(Fall=[f"f{n // 2}" for n in range(10)]).to_csv(path, index=False)
    made = read_tidy(path, options_of(["item_id=Fall,ignore=Status"], [], people, []))
    with pytest.raises(CalibrationError, match=r"^row 3, column 'Anna' .* answer again \(4\): 5, 7, 9, 11$"):
        check_verdicts(made.labels)
    frame.to_csv(path, index=False)
    (wrong,) = read_tidy(path, options_of([], ["Status:ofen=ignore"], people, [])).problems
    assert "nearest: --map-label Status:offen=ignore" in wrong


def test_answers_of_a_folders_parts_that_differ_in_capital_letters_alone_are_one_and_told(tmp_path: Path) -> None:
    for name, words in (("gpt-4o", ("yes", "no")), ("anna@uni.de", ("Yes", "No"))):
        labels = [words[n % 2] for n in range(12)]
        labels[2] = words[0] + "s" * (name != "gpt-4o")
        frame = pd.DataFrame({"id": range(12), "rater": name, "label": labels})
        frame.assign(category=["", "law"][name != "gpt-4o"]).to_csv(tmp_path / f"{name}.csv", index=False)
    parts = [
        read_tidy(tmp_path / f"{name}.csv", options_of([], words, who, []))
        for name, who, words in (("gpt-4o", [], []), ("anna@uni.de", ["anna@uni.de"], ["Yess=Yes"]))
    ]
    slip = read_tidy(tmp_path / "anna@uni.de.csv", options_of([], [], ["anna@uni.de"], []))
    assert (
        "'Yess' is answered once, by person-1 to item '2', and counts as an answer of its own: --map-label Yess=Yes"
        in (" ".join(slip.told))
    )
    assert {*slip.labels["rater_id"]} == {"person-1"}
    assert "uni.de" not in str(slip.to_give_away), "an address is given to nobody"
    named = {"ada.lindqvist@gymnasium.uni.de": "human", "gemini-1.5-pro@001": "judge", "Ben@home": "human"}
    ours = pd.concat([slip.labels.assign(rater_id=who, rater_kind=kind) for who, kind in named.items()])
    ours.drop(columns="criterion").to_csv(tmp_path / "theirs.csv", index=False)
    ours.to_csv(tmp_path / "ours.csv", index=False)
    for read, told in (labels_of_frame(ours), labels_of(tmp_path / "ours.csv"), labels_of(tmp_path / "theirs.csv")):
        assert {*read["rater_id"]} == {"person-1", "gemini-1.5-pro@001", "Ben@home"}
        assert "lindqvist" not in str(told)
    joined = together(["log", "people"], parts)
    assert {*joined.labels["label"]} == {"yes", "no"}
    assert {*joined.labels["category"]} == {"law"}
    assert "rows without a category, given that of their item: 12" in joined.told
    assert "'Yes' is 'yes', 'No' is 'no'" in " ".join(joined.told)


def test_the_prices_of_judges_beside_rows_of_people_are_each_its_own(tmp_path: Path) -> None:
    """A head that says judge is a judge's, and the sentence about one that does not says so."""
    rows = [
        {"id": item, "annotator": who, "label": "yn"[item % 2], "shield judge": "yn"[item // 2 % 2], "gpt-4o": "yn"[item % 3 % 2],
         "shield judge cost_usd": 0.001, "gpt-4o cost_usd": 0.002 + item, "guard": "yn"[item % 2]}
        for item in range(6) for who in ("ann_1", "ann_2")
    ]  # fmt: skip
    path, kept = tmp_path / "a.csv", tmp_path / "kept.toml"
    pd.DataFrame(rows).to_csv(path, index=False)
    made = read_tidy(path, options_of([], [], ["ann_1,ann_2"], []))
    judges = made.labels[made.labels["rater_kind"].eq("judge")]
    assert judges.astype({"cost_usd": "float"}).groupby("rater_id")["cost_usd"].sum().to_dict() == pytest.approx(
        {"gpt-4o": 15.012, "shield judge": 0.006}
    )
    assert "under a head such as 'guard judge' one is a judge's" in " ".join(made.told)
    kept.write_text(recipe_text(made.recipe), "utf-8")
    assert read_tidy(path, options_of([], [], [], [], mapping=kept)).labels.equals(made.labels)

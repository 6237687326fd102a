"""`calipers doctor FILE` and `calipers calibrate FILE` as a user types them, on good files, bad files and no files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from annotation.errors import AnnotationError, ImportingError
from app.command_line import app
from calibration.examining.examining import examine
from calipers.label_files import read_labels
from exports.plots.answers import answers
from exports.plots.value_maps import criteria_map
from tests.app.drawing import draw_only
from tests.calibration.studies import made_pairs

LABELS = Path(__file__).resolve().parents[3] / "shared" / "data" / "labels"
HEADER = "item_id,rater_id,rater_kind,criterion,label,cluster_id\n"


def calipers(*words: object, width: int = 100) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": str(width)})


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    made_pairs(pairs=24).to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "labels.csv"


def test_a_good_file_gets_the_next_command_and_nothing_is_written(labels: Path) -> None:
    done = calipers("doctor", labels)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == f"next: calipers calibrate {labels} --out report"
    assert "\x1b" not in done.stdout
    assert list(labels.parent.iterdir()) == [labels]


def votes(path: Path) -> pd.DataFrame:
    """A good file under other names, in other words, with the labels that it holds."""
    made = made_pairs(pairs=24)
    renamed = made.rename(columns={"label": "verdict", "rater_id": "annotator", "cluster_id": "topic"})
    words = {"A": "model_a", "B": "model_b", "tie": "Tie"}
    renamed.assign(verdict=renamed["verdict"].map(words)).to_csv(path, index=False, sep=";")
    return made


def test_a_file_of_other_columns_gets_a_mapping_rows_before_and_after_and_is_written(labels: Path) -> None:
    made, out = votes(labels), labels.with_name("tidy.csv")
    said = ("--read", "separator=;", "--map", "label=verdict")
    assert f"next: calipers calibrate {labels} --map label=verdict --read 'separator=;' --out report, or" in (
        calipers("doctor", labels, *said).stdout
    )
    done = calipers("doctor", labels, "--write", out, width=200)
    assert done.exit_code == 0
    for told in (
        "columns are separated by semicolons", "'model_a' is A, 'model_b' is B",
        "The first rows as they are", "The first labels made of them", "Which questions the file can answer",
    ):  # fmt: skip
        assert told in done.stdout
    assert done.stdout.splitlines()[-1] == f"next: calipers calibrate {out} --out report"
    written = pd.read_csv(out, dtype=str, keep_default_na=False)
    assert written["label"].tolist() == made["label"].tolist()
    assert written["cluster_id"].tolist() == made["cluster_id"].tolist()
    report = json.loads(calipers("calibrate", labels, "--resamples", 99, "--json").stdout)
    again = json.loads(calipers("calibrate", out, "--resamples", 99, "--json").stdout)
    assert report == again, "the file itself and the labels written of it say the same"


def test_a_blocking_step_comes_before_the_next_command(labels: Path) -> None:
    made = votes(labels)
    text = labels.read_text()
    labels.write_text(text + text.splitlines()[-1] + "\n")
    done = calipers("doctor", labels, "--map", "item_id=item_id", "--write", labels.with_name("tidy.csv"), width=200)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].startswith("next: step 1 above, in the file; then: calipers calibrate")
    assert len(read_labels(labels.with_name("tidy.csv"))) == len(made) + 1


def test_people_whom_no_rater_is_called_are_refused_and_the_end_of_a_dotted_name_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,experts.mara,experts.ken,gpt-4\n1,A,B,A\n2,B,B,A\n")
    said = ("doctor", path, "--map", "rater_id=experts.mara+experts.ken+gpt-4", "--people")
    refused = calipers(*said, "mara,kim", width=200)
    assert "--people kim: no rater is called so" in refused.stdout
    assert "people: mara, ken" in calipers(*said, "mara,ken", width=200).stdout


def test_a_mapping_is_kept_and_followed_again(labels: Path) -> None:
    votes(labels)
    first, second = labels.with_name("first.csv"), labels.with_name("second.csv")
    done = calipers("tidy", labels, "--out", first)
    assert done.exit_code == 0
    kept = labels.with_name("first.mapping.toml")
    assert f"the mapping to {kept}" in done.stdout
    assert calipers("tidy", labels, "--mapping", kept, "--out", second).exit_code == 0
    assert second.read_bytes() == first.read_bytes()
    assert labels.with_name("second.mapping.toml").read_bytes() == kept.read_bytes()
    kept.write_text(kept.read_text().replace("verdict", "gone"))
    assert "has no column 'gone', which the mapping names" in str(
        calipers("tidy", labels, "--mapping", kept, "--out", second).exception
    )


def test_what_has_to_be_said_is_listed_at_once_and_nothing_is_written(labels: Path) -> None:
    labels.write_text("pair_id,who,choice\n1,ada,left\n1,eve,right\n")
    out = labels.with_name("tidy.csv")
    done = calipers("doctor", labels, "--write", out, width=200)
    assert done.exit_code == 1
    assert "To be said first (2)" in done.stdout
    assert "2. answers: left, right, first and second are places" in done.stdout
    assert not out.exists()
    refused = str(calipers("tidy", labels, "--out", out).exception)
    assert "1. no column says who answered" in refused
    assert "2. answers" in refused
    said = ["--map", "rater_id=who", "--people", "ada", "--labels-are", "verdicts"]
    assert calipers("tidy", labels, *said, "--out", out).exit_code == 0
    assert pd.read_csv(out)["label"].tolist() == ["A", "B"]
    assert "is the file that is read" in str(calipers("tidy", labels, *said, "--out", labels).exception)
    labels.write_text("pair_id,who,choice\n1,ada,left\n2,eve,right\n")
    apart = calipers("tidy", labels, *said, "--map", "item_id=pair_id", "--out", out, width=400)
    assert (apart.exit_code, len(pd.read_csv(out))) == (1, 2), "the labels are read all the same"
    assert "people's '1'; no other column names them on both sides: name them alike" in apart.stdout


def test_numbers_that_may_be_a_verdict_are_not_read_as_scores_in_silence(labels: Path) -> None:
    made = made_pairs(pairs=24).drop(columns=["system_a", "system_b"])
    made.assign(label=made["label"].map({"A": "1", "B": "2", "tie": "0"})).to_csv(labels, index=False)
    assert "--labels-are scores" in str(calipers("calibrate", labels).exception)
    done = calipers("calibrate", labels, "--labels-are", "scores", "--resamples", 99, "--json")
    assert set(json.loads(done.stdout)["data"]["criteria"].values()) == {"rating"}
    done = calipers("calibrate", labels, "--map-label", "1=A,2=B,0=tie", "--resamples", 99, "--json")
    assert set(json.loads(done.stdout)["data"]["criteria"].values()) == {"pairwise"}


def test_json_holds_every_finding(labels: Path) -> None:
    found = json.loads(calipers("doctor", labels, "--json").stdout)
    assert found["ready"] is True
    assert found["next"].startswith("calipers calibrate")
    assert {one["name"] for one in found["columns"]} == set(made_pairs().columns)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_every_form_of_one_table_is_one_table(tmp_path: Path, suffix: str) -> None:
    frame = made_pairs(pairs=6).assign(item_id=lambda one: one["item_id"].str[1:])  # ids such as 007
    path = tmp_path / f"labels.{suffix}"
    write: dict[str, Callable[[], object]] = {
        "csv": lambda: frame.to_csv(path, index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path, index=False),
    }
    write[suffix]()
    read = read_labels(path)
    assert read.astype("str").equals(frame.astype("str"))


BAD_FILES = [
    ("empty", b"", "the file is empty; give it a header"),
    ("blank", b" \n\n", "the file is empty; give it a header"),
    ("prose", b"# calipers\n\nJudges, people.\n", ": this is no table of labels: its first line names one column, and "
     "line 3 holds 2 values"),
    ("one column", b"label\nA\n", ":1: there is only one column; save the table as a CSV with commas"),
    ("quoted, commas", b'"item_id"x,"label"\n1,A\n', ":1: not a CSV table (',' expected after '\"'); the file may be"),
    ("duplicate header", b"item_id,label,label\n1,A,B\n", ":1: column 'label' appears twice; rename or remove one"),
    ("binary", bytes(range(256)), "byte 0x80 at 128 is not UTF-8; save it as a CSV in UTF-8"),
    ("zero bytes", b"item_id,label\n\x00,A\n", "holds zero bytes, so it is no text; save the table as a CSV"),
    ("spreadsheet", b"PK\x03\x04\x14\x00", "this is a spreadsheet or an archive that cannot be read (Cannot detect"),
    ("ragged", HEADER.encode() + b"1,ann,human,c,A\n", ":2: not as many values as columns (5, not 6); put values"),
    ("cut off", HEADER.encode() + b'1,ann,human,c,"A\n', ":2: not a CSV table (unexpected end of data); the file may"),
    ("huge cell", HEADER.encode() + b"1," + b"x" * 16_000_001 + b",human,c,A,t\n", ":2: not a CSV table (field larger"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), [one[1:] for one in BAD_FILES], ids=[one[0] for one in BAD_FILES])
def test_a_file_that_is_no_table_gets_one_sentence_with_a_remedy(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    with pytest.raises(AnnotationError) as refused:
        read_labels(path)
    assert sentence in refused.value.text
    assert refused.value.text.startswith(str(path))
    assert "\n" not in refused.value.text
    assert isinstance(calipers("doctor", path).exception, AnnotationError)  # the entry point prints it, with exit 1


def test_a_byte_order_mark_and_long_cells_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    row = "1,ann,human,c,A,t," + "long " * 50_000
    path.write_text(HEADER.strip() + f",rationale\n{row}\n", encoding="utf-8-sig")
    assert next(iter(read_labels(path).columns)) == "item_id"
    assert examine(read_labels(path)).rows == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jsonl", '{"item_id": 1}\nnot json\n{"item_id": 2}\n', ":2: not JSON"),
        ("a.jsonl", "[1, 2]", "holds one value, not an object"),
        ("a.parquet", "PAR1 or so", "not Parquet"),
    ],
)
def test_other_forms_are_refused_by_line(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ImportingError, match=sentence):
        read_labels(tmp_path / name)


@pytest.mark.parametrize(
    ("end", "told"),
    [(",AB", "the same as row 2 in every column; remove one"), (",BA", "rename order to presentation")],
)
def test_a_refusal_looks_at_columns_that_no_statistic_reads_where_an_answer_stands_twice(
    tmp_path: Path, end: str, told: str
) -> None:
    row = "1,ann,human,c,A,t"
    (tmp_path / "labels.csv").write_text(f"{HEADER.strip()},order\n{row},AB\n{row}{end}\n")
    for command in ("calibrate", "plan"):
        assert told in str(calipers(command, tmp_path / "labels.csv").exception)


def test_wrong_use_is_exit_2() -> None:
    assert calipers("doctor", "a", "b").exit_code == 2


lines = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=st.lists(st.sampled_from(HEADER.strip().split(",")), min_size=2, unique=True), body=lines)
def test_any_text_is_examined_or_refused_and_never_breaks(tmp_path: Path, header: list[str], body: list[str]) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(",".join(header) + "\n" + "\n".join(body), encoding="utf-8")
    done = calipers("doctor", path)
    assert done.exit_code in (0, 1)
    assert done.exception is None or isinstance(done.exception, SystemExit | AnnotationError)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_summary_opens_with_the_answer_and_keeps_to_the_width(labels: Path, width: int) -> None:
    done = calipers("calibrate", labels, "--resamples", 99, width=width)
    assert done.exit_code == 0
    said = done.stdout.splitlines()
    assert " ".join(said).startswith(
        "Cannot tell from 24 topics whether any of the 2 judges tried can replace an annotator."
    )
    assert max(map(len, said)) <= width
    assert "themselves" in done.stdout
    assert "\x1b" not in done.stdout


def test_warnings_of_one_kind_are_said_once(labels: Path) -> None:
    made_pairs(pairs=10, criteria=12, judges={f"judge-{n}": 0.7 for n in range(6)}).to_csv(labels, index=False)
    said = calipers("calibrate", labels, "--resamples", 99, width=500).stdout
    assert said.count("nested_labels") == 1
    assert "(likewise judge-1, judge-2, judge-3 and 2 more)" in said
    assert said.index("few_clusters") < said.index("nested_labels") < said.index("thin_criteria")


def test_calibrate_writes_tables_and_figures_and_clears_those_of_an_earlier_report(
    labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_only(monkeypatch, criteria_map, answers)
    out = labels.parent / "report"
    said = calipers("calibrate", labels, "--resamples", 99, "--out", out)
    assert said.exit_code == 0
    told = said.stdout.partition(f"Written to {out}: ")[2]
    assert told.startswith(f"{len(list(out.iterdir()))} files (answer.pdf first; index.md has a line for each)\n")
    assert set(told.split()) >= {
        "report.html",
        "comparison-plan.json",
        "agreement",
        "answers",
    }  # the plan is a file too
    first = {path.name for path in out.iterdir()}
    assert {
        "criteria.tex",
        "criteria.pdf",
        "criteria_column.svg",
        "annotators.md",
        "answers.png",
        "answers_column.pdf",
    } <= first
    assert {"judges.tex", "bias.csv"} <= first
    (out / "paper.tex").write_text("mine")
    made_pairs(criteria=1, annotators=1).to_csv(labels, index=False)
    assert calipers("calibrate", labels, "--resamples", 99, "--out", out).exit_code == 0
    second = {path.name for path in out.iterdir()}
    assert "paper.tex" in second
    assert not {"criteria.pdf", "annotators.md"} & second


def test_json_is_the_report_and_a_report_without_any_comparison_is_incomplete(labels: Path) -> None:
    report = json.loads(calipers("calibrate", labels, "--resamples", 99, "--json").stdout)
    assert report["format"] == "calipers-report/1"
    unread = made_pairs(annotators=1, judges={"judge-x": 0.8})
    judges = unread["rater_kind"] == "judge"
    unread.assign(label=unread["label"].mask(judges, "unparsed")).to_csv(labels, index=False)
    done = calipers("calibrate", labels, "--resamples", 99)
    assert done.exit_code == 1
    assert done.stdout.startswith("No two raters share an answer")


def test_people_and_judges_of_no_common_item_are_read_and_told_so_by_every_command(tmp_path: Path) -> None:
    rows = [f"{of}{n},{who},{kind},c,{3 + n % 3},{of}{n}" for n in range(6)
            for who, kind, of in (("Anna", "human", "a"), ("Ben", "human", "a"), ("gpt", "judge", "b"))]  # fmt: skip
    six, made = tmp_path / "six.csv", tmp_path / "made.csv"
    six.write_text("\n".join(["item_id,rater_id,rater_kind,criterion,label,cluster_id", *rows]))
    for command in (("doctor", six), ("tidy", six, "--out", made), ("calibrate", six, "--resamples", 99)):
        done = calipers(*command, width=400)
        assert done.exit_code == 1
        assert "no item of a judge is one of people's" in done.output
    assert "annotators among themselves   1.00" in done.stdout


def test_judges_alone_that_share_answers_are_told_so_and_how_far_they_agree(labels: Path, tmp_path: Path) -> None:
    made = made_pairs(pairs=12, annotators=1, judges={"judge-x": 0.8, "judge-y": 0.8})
    made[made["rater_kind"] == "judge"].to_csv(labels, index=False)
    told = calipers("doctor", labels)
    assert told.exit_code == 1
    assert "judges alone share answers" in told.stdout
    done = calipers("calibrate", labels, "--resamples", 99, "--out", tmp_path / "report")
    said = " ".join(done.stdout.split())
    assert said.startswith("No annotator's answer is in the table, so no judge can be compared with people; the two")
    methods = (tmp_path / "report" / "methods.md").read_text()
    for words in (told.stdout, said, methods):
        assert "no two raters share" not in words.lower()


def test_a_column_of_percentages_passes_both_and_is_read_as_numbers(labels: Path) -> None:
    made = made_pairs(pairs=30, annotators=2).drop(columns=["system_a", "system_b"])
    number = made.groupby("item_id").ngroup() % 60 + made["label"].map({"A": 9, "tie": 5, "B": 0})
    made.assign(label=number.astype(str) + " %").to_csv(labels, index=False)
    told = calipers("doctor", labels)
    assert told.exit_code == 0
    assert "percentages: read as the numbers before the sign" in told.stdout
    report = json.loads(calipers("calibrate", labels, "--resamples", 99, "--json").stdout)
    assert set(report["data"]["criteria"].values()) == {"rating"}
    assert report["data"]["aliases"] == {"percent": len(made)}
    labels.write_text(labels.read_text().replace(" %", "", 1))
    for command in ("doctor", "calibrate"):  # 85% beside 85: what is meant nobody can tell
        said = calipers(command, labels)
        assert said.exit_code == 1
        told = f"{said.output} {said.exception}"
        assert "stands among labels of another type; a criterion has numbers or words" in " ".join(told.split())


if LABELS.is_dir():

    @pytest.mark.parametrize("name", ["mtbench_votes.csv", "pandalm_testset.csv"])
    def test_published_labels_are_fine(name: str) -> None:
        done = calipers("doctor", LABELS / name)
        assert done.exit_code == 0
        assert "next: calipers calibrate" in done.stdout

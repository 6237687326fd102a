"""What docs/extending.md says a change costs: each kind of addition is found from the one line that lists it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select
from typer.testing import CliRunner

import annotation.judges.asking.prompt
import annotation.judges.defining.judge_file
import annotation.protocol
import app.results.export_files
import exports.bibliography
import exports.pack
from annotation.errors import AnnotationError
from annotation.importing.claims.probe_records import ParsedProbes
from annotation.importing.labels.results import Results
from annotation.importing.layouts import LAYOUTS, PROBE_LAYOUTS, RESULT_LAYOUTS, Layout, ProbeLayout, ResultLayout
from annotation.importing.reports.records import Parsed, SystemRecord, TopicRecord, report_in_row
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.protocol import read_protocol, shipped_protocols
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.command_line import app as commands
from app.results.reporting import settings_of
from app.settings import database, settings
from calibration.agreement import catalogue
from calibration.agreement.catalogue import statistic_of
from calibration.agreement.statistic import Shown, Statistic
from calibration.arithmetic import closed_forms
from calibration.arithmetic.metrics import percent_agreement
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport
from calibration.settings import CalibrationSettings
from calibration.sizing.agreement_so_far import agreement_so_far
from db.connect import reading, transaction
from db.judge_tables import JudgeConfig
from db.tables import Report, Study
from exports.datasets.tool_labels import ToolFiles
from exports.figures import Figure
from exports.plots.forest import forest
from exports.tables import Table, agreement_table
from tests.annotation.judges import judged_study
from tests.annotation.judges.judged_study import Stub, describe, judgments
from tests.calibration.studies import made_pairs
from tests.small_study import PROBES, PROTOCOL, a_person, make_study

DOCS = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture
def typed(migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The database that commands work on, empty."""
    path = tmp_path / "calipers.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    monkeypatch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{path}")
    settings.cache_clear()
    database.cache_clear()
    yield database()
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def init(folder: Path, protocol: str = PROTOCOL) -> None:
    (folder / "small.toml").write_text(protocol, encoding="utf-8")
    say("init", "small", "--protocol", str(folder / "small.toml"), "--seed", "7")


def say(*words: str) -> str:
    done = CliRunner().invoke(commands, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_a_statistic_of_the_catalogue_reaches_table_figure_page_json_and_bibliography(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = "@misc{ours2026,\n  author = {Ours, A.},\n  title = {Ours},\n  year = {2026},\n  howpublished = {here}\n}"
    places = ("table agreement", "figure agreement", "page progress")
    ours = Statistic("ours", "Our agreement", "Own", ("ours2026",), percent_agreement, ("pairwise",),
                     "cluster_bootstrap_expanded", closed_forms.agreement, entry, tuple(map(Shown, places)))  # fmt: skip
    monkeypatch.setattr(catalogue, "METRICS", (*catalogue.METRICS, ours))
    drawn: list[str] = []

    def forest_read(report: CalibrationReport, width: float) -> Figure:
        figure = forest(report, width)
        assert figure is not None
        drawn.extend(axes.get_title(loc="left") for axes in figure.canvas.axes)
        return figure

    monkeypatch.setattr(exports.pack, "FIGURES", {"agreement": forest_read})
    exports.bibliography.entries.cache_clear()
    verdicts, chosen = made_pairs(pairs=12), CalibrationSettings(resamples=49)
    try:
        report = calibrate(verdicts, chosen)
        written = {name: text.decode("utf-8", "replace") for name, text in exports.pack.pack(report, verdicts).items()}
    finally:
        exports.bibliography.entries.cache_clear()
    found = {
        one.statistic: one for one in report.estimates if (one.rater, one.reference) == ("judge-x", "each_annotator")
    }
    assert found["ours"].value == found["percent_agreement"].value
    assert found["ours"].low < found["ours"].value < found["ours"].high
    assert '"ours"' in written["calibration-report.json"]
    assert [
        name for name in ("agreement.md", "agreement.tex", "report.html") if "Our agreement" not in written[name]
    ] == []
    assert "Our agreement" in drawn
    assert entry in written["references.bib"]
    on_page = agreement_so_far(verdicts, (), chosen).overall
    assert "Our agreement" in [statistic_of(one.statistic).title_at("page progress") for one in on_page]


def test_a_statistic_that_names_no_place_stays_in_the_json_alone() -> None:
    report = calibrate(made_pairs(pairs=12), CalibrationSettings(resamples=49))
    unseen = {one.name for one in catalogue.METRICS if not one.shown} & {one.statistic for one in report.estimates}
    columns = {column.key for column in agreement_table(report).columns}
    assert {"matthews_correlation", "gwet_ac1", "kendall_tau_b"} <= unseen
    assert not unseen & columns


def test_a_protocol_dropped_into_the_folder_is_asked_of_people_and_judges_and_calibrated(
    tmp_path: Path, typed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "protocols"
    folder.mkdir()
    text = PROTOCOL.replace('name = "small"', 'name = "mine"') + "[calibration]\nmargin = 0.07\n"
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(annotation.protocol, "SHIPPED", folder)
    assert shipped_protocols() == ["mine"]
    protocol, text = read_protocol("mine")
    study = make_study(typed, tmp_path / "reports", protocol=text)
    with transaction(typed) as session:
        person = a_person(session, study)
        page = assignment_page(session, person, take(session, person).aid)
    assert [one["id"] for one in page["criteria"]] == ["clear", "deep"]
    judged_study.run_stub(typed, study, Stub(lambda asked, _: judgments(asked, "first")))
    with reading(typed) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study))
    assert {*verdicts["criterion"]} == {"clear", "deep"}
    assert settings_of(protocol, 7).margin == 0.07


def test_a_layout_of_reports_is_read_and_proposed(
    tmp_path: Path, typed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(root: Path, encoding: str) -> Parsed:
        lines = [line.split("|") for line in (root / "all.lines").read_text(encoding=encoding).splitlines()]
        return Parsed(
            tuple(TopicRecord(topic, topic) for topic in dict.fromkeys(topic for topic, _, _ in lines)),
            tuple(SystemRecord(name, name) for name in dict.fromkeys(name for _, name, _ in lines)),
            tuple(report_in_row(text, f"all.lines:{topic}", topic, name) for topic, name, text in lines),
        )

    init(tmp_path)
    monkeypatch.setitem(LAYOUTS, "lines", Layout(read, "one file all.lines", ("*.lines",)))
    (tmp_path / "all.lines").write_text("tides|alpha|It rises.\ntides|beta|It falls.\n", encoding="utf-8")
    assert "lines" in say("import", "reports", str(tmp_path), "--layout", "auto", "--study", "small")
    with reading(typed) as session:
        assert session.scalar(select(func.count()).select_from(Report)) == 2


@pytest.mark.parametrize(("command", "protocol"), [("judge-results", PROTOCOL), ("probes", PROBES)])
def test_layouts_of_results_and_probes_are_found_by_name(
    command: str, protocol: str, tmp_path: Path, typed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    init(tmp_path, protocol)
    seen = []
    result = ResultLayout(lambda path, options: (seen.append(path), Results((), ("nothing in it",)))[1], "ours")
    probe = ProbeLayout(lambda path, options: (seen.append(path), ParsedProbes((), problems=("nothing",)))[1], "ours")
    monkeypatch.setitem(RESULT_LAYOUTS, "ours", result)
    monkeypatch.setitem(PROBE_LAYOUTS, "ours", probe)
    refused = CliRunner().invoke(commands, ["import", command, str(tmp_path), "--layout", "nobodys"])
    assert refused.exit_code == 2
    assert re.search(r"ours: ours", refused.output)
    CliRunner().invoke(commands, ["import", command, str(tmp_path), "--layout", "ours", "--study", "small"])
    assert seen == [tmp_path]


def test_a_form_of_tables_is_written_for_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_titles(table: Table) -> str:
        return f"{table.title}\n"

    monkeypatch.setitem(exports.pack.FORMATS, "titles", as_titles)
    report = calibrate(made_pairs(pairs=12), CalibrationSettings(resamples=49))
    written = exports.pack.texts_of([agreement_table(report)], report)
    assert written["agreement.titles"] == "Agreement of judges with annotators\n"


def test_a_form_of_labels_is_a_format_of_the_command(
    tmp_path: Path, typed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ToolFiles({"ours.txt": lambda: iter(["all "]), "NOT-HELD.md": lambda: iter(["times\n"])}, ("times",))
    monkeypatch.setitem(app.results.export_files.TOOLS, "ours", lambda labels, criteria: made)
    study = make_study(typed, tmp_path / "reports")
    empty = CliRunner().invoke(commands, ["export", "labels", "small", "--format", "ours"])
    assert "holds no label yet" in str(empty.exception)
    judged_study.run_stub(typed, study, Stub(lambda asked, _: judgments(asked, "first")))
    told = say("export", "labels", "small", "--format", "ours", "--out", str(tmp_path / "ours"))
    assert "not held: times" in told
    assert (tmp_path / "ours" / "ours.txt").read_text(encoding="utf-8") == "all "


BRIEF = 'prompt = "brief"\n'


def test_a_prompt_is_a_file_and_a_name_and_two_prompts_are_two_judges(
    tmp_path: Path, typed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AnnotationError, match="no prompt 'brief'; choose one of plain"):
        judged_study.judges(judged_study.STUB_JUDGE + BRIEF)
    plain = annotation.judges.asking.prompt.shipped_template("pairwise_choice")
    (tmp_path / "pairwise_choice.txt").write_text(plain, encoding="utf-8")
    said = plain.replace("Read both reports in full before you answer.", "Be brief.")
    (tmp_path / "pairwise_choice.brief.txt").write_text(said, encoding="utf-8")
    monkeypatch.setattr(annotation.judges.asking.prompt, "TEMPLATES", tmp_path)
    monkeypatch.setattr(annotation.judges.defining.judge_file, "PROMPTS", ("plain", "brief"))
    study = judged_study.make_study(typed, 2)
    both = judged_study.judges(
        judged_study.STUB_JUDGE, judged_study.STUB_JUDGE.replace('"mini"', '"brief-mini"') + BRIEF
    )
    plan_judges(typed, study, both, describe=describe)
    stub = Stub()
    run_judges(typed, study, both, transport=stub)
    asked = {one["judge"].name: one["messages"][0]["content"] for one in stub.requests}
    assert {name: "Be brief." in text for name, text in asked.items()} == {"mini": False, "brief-mini": True}
    with reading(typed) as session:
        assert len({*session.scalars(select(JudgeConfig.template_sha256))}) == 2
    assert {row["status"] for row in judged_study.labels(typed)} == {"ok"}
    with pytest.raises(AnnotationError, match=r"write probe_label\.brief\.txt"):
        annotation.judges.asking.prompt.shipped_template("probe_label", "brief")


def test_every_file_that_the_page_names_is_there() -> None:
    root = DOCS.parent.parent
    named = re.findall(r"`((?:annotation|app|calibration|exports|tests|docs)/[\w./-]+)`", DOCS.read_text("utf-8"))
    own = [name for name in named if "NAME" not in name]  # the page's word for what the reader writes
    assert len(own) > 10
    assert [name for name in own if not (root / name).exists()] == []

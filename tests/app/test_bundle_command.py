"""`calipers export bundle` and `calipers verify`: a study's numbers under one root, and nothing of its people."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

import app.results.export_files
from annotation.labelling import save, submit
from annotation.people.links import invite
from annotation.people.principals import local_admin
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.command_line import main, run
from app.settings import database, settings
from db.connect import open_database, transaction
from db.people_tables import Invite, Rater
from db.tables import Assignment, Export, Label, Study
from exports.figures import Figure, as_bytes
from tests.app.drawing import draw_only
from tests.disputed_study import SYSTEMS, make_disputed
from tests.small_study import a_person, answer

NAME, MAIL, KEY = "Zelda Sentinelname", "zelda.s@sentinel.example", "sk-sentinel-0123456789abcdefghij"
SECRET, ADMIN = "a-secret-of-the-environment", "an-admin-token-of-the-environment"
Typed = Callable[..., str]


def make_told(engine: Engine, root: Path) -> None:
    """Two judges and two annotators, one of whom writes down who she is and more."""
    made = make_disputed(engine, root / "reports", people=False)
    for name, choice in ((NAME, "left"), ("Ben", "right")):
        with transaction(engine) as session:
            person = a_person(session, made, name)
            while (assignment := take(session, person)) is not None:
                page = assignment_page(session, person, assignment.aid)
                said = f"I, {name} ({MAIL}), with {KEY} and {SECRET}, see {root}/notes.md"
                entries = [answer(page, code, choice, rationale=said) for code in ("clear", "deep")]
                acks = save(session, person, entries).acks
                revs = {code: ack["rev"] for code, ack in zip(("clear", "deep"), acks, strict=True)}
                submit(session, person, assignment.aid, page["page"], f"{assignment.aid}-submit", revs)


def typed(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """The command line as a user has it, on one database, with secrets in the environment."""
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    monkeypatch.setenv("SENTINEL_API_KEY", SECRET)
    monkeypatch.setenv("CALIPERS_ADMIN_TOKEN", ADMIN)
    settings.cache_clear()
    database.cache_clear()

    def run(*words: str, exit_code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["calipers", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == exit_code, out + err
        return out + err

    return run


@pytest.fixture(autouse=True)
def settings_of_each_test() -> Iterator[None]:
    yield
    settings.cache_clear()
    database.cache_clear()


@pytest.fixture(scope="module")
def made(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of one study for the whole module."""
    root = tmp_path_factory.mktemp("told")
    shutil.copy(migrated_sqlite, root / "x.db")
    make_told(open_database(f"sqlite:///{root}/x.db"), root)
    return f"sqlite:///{root}/x.db"


@pytest.fixture
def calipers(made: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return typed(made, monkeypatch, capsys)


@pytest.fixture(scope="module")
def bundle(made: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the module's study, without figures."""
    out = tmp_path_factory.mktemp("bundles") / "b"
    with pytest.MonkeyPatch.context() as patch:
        draw_only(patch)
        patch.setenv("CALIPERS_DATABASE_URL", made)
        settings.cache_clear()
        database.cache_clear()
        assert run(["export", "bundle", "disputed", "--out", str(out)]) == 0
    return out


def check_tells_nothing(out: Path, secret: Sequence[str]) -> None:
    """No file of a bundle holds any of these, or the other annotator's name."""
    for path in out.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        found = [one for one in secret if one.encode() in content] + re.findall(rb"\bBen\b", content)
        assert not found, f"{path.relative_to(out)} holds {found}"


def in_all_forms_once(figure: Figure, form: str) -> bytes:
    """What a file of this form says of its maker, one figure of the form says; all are drawn in tests/exports."""
    return as_bytes(figure, form) if form == "svg" or figure.name == "agreement" else b"drawn elsewhere"


def check_report(report: Path) -> None:
    """It holds every table, figure and sentence that the study has numbers for."""
    names = {path.name for path in report.iterdir()}
    tables = ("agreement", "criteria", "annotators", "judges", "comparisons", "bias", "ranking", "system_pairs")
    for table in (*tables, "alt_test_checklist", "blinding_checklist"):
        assert {f"{table}.{suffix}" for suffix in ("tex", "md", "csv", "json")} <= names
    for figure in ("agreement", "criteria", "frontier", "bias", "ranking", "win_matrix", "position", "annotators"):
        for name in (figure, f"{figure}_column"):
            assert {f"{name}.{suffix}" for suffix in ("pdf", "svg", "png")} <= names, figure
    methods = (report / "methods.md").read_text(encoding="utf-8")
    assert "Two annotators handed in" in methods
    assert "Left for you to state" in methods
    cited = set(
        re.findall(r"[\w-]+", " ".join(re.findall(r"\\citep?\{([^}]+)\}", (report / "methods.tex").read_text())))
    )
    assert cited
    assert cited <= {*re.findall(r"^@\w+\{([^,]+),", (report / "references.bib").read_text(), flags=re.M)}
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "Agreement of judges with annotators" in page
    assert "<script" not in page


def test_a_studys_bundle_holds_and_no_file_of_it_tells_who_labelled_or_where(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_told(engine, tmp_path)
    calipers = typed(engine.url.render_as_string(hide_password=False), monkeypatch, capsys)
    with transaction(engine) as session:
        token = invite(session, local_admin(session.scalars(select(Study)).one()), NAME, "annotator")
        secret = [token, NAME, "Sentinelname", MAIL, KEY, SECRET, ADMIN, str(tmp_path), str(engine.url.database)]
        secret += [str(Path(__file__).parents[2]), str(Path.home()) + "/"]
        secret += [one.opaque_id for one in session.scalars(select(Rater))]
        secret += [one.token_sha256 for one in session.scalars(select(Invite))]
        secret += [one.aid for one in session.scalars(select(Assignment))]
        secret += [one.client_uuid for one in session.scalars(select(Label)) if one.client_uuid]
    out = tmp_path / "b"
    if engine.dialect.name == "postgresql":
        draw_only(monkeypatch)  # they are the same there
    monkeypatch.setattr("exports.pack.as_bytes", in_all_forms_once)
    made = json.loads(calipers("export", "bundle", "disputed", "--out", str(out), "--json"))
    check_tells_nothing(out, secret)
    assert "[name removed]" in (out / "labels.csv").read_text(encoding="utf-8")

    said = calipers("verify", str(out), "--root", made["root"])
    assert "numbers hold to the last printed digit" in said
    assert said.rstrip().endswith("the bundle published under this root, and its numbers hold")
    history = (out / "label-history.jsonl").read_text(encoding="utf-8").splitlines()
    with transaction(engine) as session:
        kept = session.scalars(select(Export)).one()
        assert (kept.kind, kept.sha256) == ("bundle", made["root"])
        assert made["plan_root"] == session.scalars(select(Study.plan_root)).one()
        assert len(history) == len(session.scalars(select(Label)).all())
    assert made["plan_root"][:12] in (out / "report" / "agreement.md").read_text(encoding="utf-8")
    if engine.dialect.name == "sqlite":
        check_report(out / "report")


@pytest.mark.usefixtures("undrawn")
def test_a_zip_is_verified_like_its_folder(calipers: Typed, bundle: Path, tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "b"), "zip", bundle.parent, bundle.name)
    assert "consistent with itself" in calipers("verify", str(tmp_path / "b.zip"))
    (tmp_path / "no.zip").write_bytes(b"PK")
    assert "no bundle" in calipers("verify", str(tmp_path / "no.zip"), exit_code=1)


def test_a_study_that_is_still_blind_leaves_no_bundle(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_disputed(engine_here, tmp_path / "reports", blind_until="closed")
    calipers = typed(str(engine_here.url), monkeypatch, capsys)
    said = calipers("export", "bundle", "disputed", "--out", str(tmp_path / "b"), exit_code=1)
    assert "joined with systems only once it is closed" in said
    assert SYSTEMS[0] not in said
    assert not [path for path in tmp_path.iterdir() if path.name.lstrip(".").startswith("b")]


def test_labels_that_arrive_while_a_bundle_is_made_refuse_it(
    calipers: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        app.results.export_files, "pack", lambda *args: {}
    )  # the drawing, during which a label was saved
    monkeypatch.setattr(app.results.export_files, "label_version", lambda session, study: (10**9,))
    said = calipers("export", "bundle", "disputed", "--out", str(tmp_path / "b"), exit_code=1)
    assert "got labels or was changed while its report was computed; export again" in said
    assert not (tmp_path / "b").exists()


@pytest.mark.usefixtures("undrawn")
def test_another_folder_is_left_alone_and_an_earlier_bundle_replaced(
    calipers: Typed, bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    said = calipers("export", "bundle", "disputed", "--out", str(tmp_path / "mine"), exit_code=1)
    assert "holds something else" in said
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "x"
    old = Path(shutil.copytree(bundle, tmp_path / "old"))
    (old / "stale").write_text("x")
    calipers("export", "bundle", "disputed", "--out", str(old))
    assert not (old / "stale").exists()


@pytest.mark.usefixtures("undrawn")
def test_a_bare_labels_file_makes_a_bundle_too(calipers: Typed, tmp_path: Path) -> None:
    calipers("export", "labels", "disputed", "--out", str(tmp_path / "labels.csv"))
    calipers("export", "bundle", str(tmp_path / "labels.csv"), "--out", str(tmp_path / "b"), "--preset", "wlc")
    assert "consistent with itself" in calipers("verify", str(tmp_path / "b"))
    assert "answers of 2 annotators" in (tmp_path / "b" / "report" / "methods.md").read_text(encoding="utf-8")
    assert not (tmp_path / "b" / "plan.json").exists()
    changed = (tmp_path / "b" / "labels.csv").read_text(encoding="utf-8").replace(",clear,A,", ",clear,B,", 1)
    (tmp_path / "b" / "labels.csv").write_text(changed, encoding="utf-8")
    said = calipers("verify", str(tmp_path / "b"), exit_code=1)
    assert "changed: labels.csv" in said
    assert "moved: agreement: " in said
    assert "moved: preset_wlc: " in said


@pytest.mark.usefixtures("undrawn")
def test_a_bare_labels_file_leaves_the_house_without_what_tells_who_or_where(calipers: Typed, tmp_path: Path) -> None:
    rows = ["item_id,rater_id,rater_kind,criterion,label,cluster_id,rationale,my_email"]
    for n in range(6):
        for rater, kind in (("ann", "human"), ("bea", "human"), ("gpt", "judge")):
            rows.append(f"{n},{rater},{kind},c,{'AB'[n % 2]},{n},see {MAIL} and {KEY} in /home/zelda/x,{MAIL}")
    path = tmp_path / "own.csv"
    path.write_text("\n".join(rows) + "\n")
    calipers("export", "bundle", str(path), "--out", str(tmp_path / "b"))
    for file in (tmp_path / "b").rglob("*"):
        assert not file.is_file() or not any(
            one.encode() in file.read_bytes() for one in (MAIL, KEY, "zelda", "my_email")
        )
    assert "consistent with itself" in calipers("verify", str(tmp_path / "b"))
    mailed = path.read_text().replace(",ann,", f",{MAIL},")
    path.write_text(mailed)
    calipers("export", "bundle", str(path), "--out", str(tmp_path / "c"))
    assert ",person-1," in (tmp_path / "c" / "labels.csv").read_text("utf-8")
    assert not any(MAIL.encode() in file.read_bytes() for file in (tmp_path / "c").rglob("*") if file.is_file())
    path.write_text(mailed.replace(",gpt,", ",gpt@sentinel.example,"))
    said = calipers("export", "bundle", str(path), "--out", str(tmp_path / "d"), exit_code=1)
    assert "rater_id 'gpt@sentinel.example' is or holds an e-mail address" in said
    assert not (tmp_path / "d").exists()

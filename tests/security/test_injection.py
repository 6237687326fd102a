"""Names of systems, topics, criteria, people and studies that are formulas, TeX, SQL, templates or markup stay text."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jinja2.exceptions import SecurityError, UndefinedError
from sqlalchemy import Engine, select, text, update
from typer.testing import CliRunner

from annotation.judges.asking.prompt import compiled
from annotation.people.links import invite, revoke
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_in, who
from app.command_line import app
from app.settings import database, settings
from db.connect import open_database, reading, transaction
from db.judge_tables import Judge
from db.migrations import upgrade
from db.people_tables import Rater
from db.tables import Criterion, Label, Study, System, Topic
from exports import pack
from plain.spreadsheets import starts_formula, unguarded
from tests.disputed_study import make_disputed
from tests.small_study import make_study

pytestmark = pytest.mark.every_case

FORMULA = '=HYPERLINK("https://evil.test","x")'
TEX = r"\input{/etc/passwd}\immediate\write18{id > pwned.txt}\end{document}%"
SQL = "Robert'); DROP TABLE labels; --"
TEMPLATE = "{{ 7*191 }}{% for x in ().__class__.__mro__ %}{{ x }}{% endfor %}\\VAR{1}"
MARKUP = "<script>window.pwned=1</script><img src=x onerror=alert(1)>"
HOSTILE = (FORMULA, TEX, SQL, TEMPLATE, MARKUP)
COMMANDS = re.compile(r"(?<!\\)\\(input|include|write|immediate|openout|read|csname|catcode|def)(?![a-z])")
Run = Callable[..., str]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Run, Path]]:
    """A study that somebody filled with such names, closed; the command line on it, and a folder."""
    folder = tmp_path_factory.mktemp("hostile")
    before = os.environ.get("CALIPERS_DATABASE_URL")
    os.environ["CALIPERS_DATABASE_URL"] = url = f"sqlite:///{folder}/calipers.db"
    settings.cache_clear()
    database.cache_clear()
    upgrade(url)
    engine = open_database(url)
    make_disputed(engine, folder / "reports")
    with transaction(engine) as session:
        study = session.scalars(select(Study)).one()
        study.protocol_text = re.sub(
            r'title = ".*"', lambda _: f"title = {json.dumps(' '.join(HOSTILE))}", study.protocol_text
        )
        for table, columns in (
            (System, ("public_name", "family")),
            (Topic, ("title", "category")),
            (Rater, ("handle",)),
        ):
            for n, row in enumerate(session.scalars(select(table).order_by(table.id))):
                for column in columns:
                    setattr(row, column, f"{HOSTILE[n % len(HOSTILE)]} {n}")
        for n, criterion in enumerate(session.scalars(select(Criterion).order_by(Criterion.id))):
            criterion.label, criterion.text = HOSTILE[n % len(HOSTILE)], HOSTILE[(n + 1) % len(HOSTILE)]
        for judge, name in zip(session.scalars(select(Judge).order_by(Judge.id)), (TEX, FORMULA), strict=True):
            judge.name = name
        study.status = "closed"

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, [*words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    yield engine, run, folder
    engine.dispose()
    os.environ.pop("CALIPERS_DATABASE_URL")
    if before is not None:
        os.environ["CALIPERS_DATABASE_URL"] = before
    settings.cache_clear()
    database.cache_clear()


@pytest.fixture(scope="module")
def written(hostile: tuple[Engine, Run, Path]) -> Path:
    """Everything that is written of it, in one folder."""
    engine, run, folder = hostile
    with reading(engine) as session:
        name = session.scalars(select(Study.name)).one()
    out = folder / "out"
    out.mkdir()
    run("export", "labels", name, "--out", str(out / "labels.csv"))
    run("export", "dataset", name, "--out", str(out / "dataset"), "--license", "CC-BY-4.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack, "FIGURE_FORMATS", ())  # nothing reads the images beside the page that holds them
        run("export", "report", name, "--out", str(out / "report"))
    run("people", name, "--pay", str(out / "pay.csv"))
    run("invite", name, FORMULA, MARKUP, "--out", str(out / "links.csv"))
    (out / "ledger.csv").write_text(run("judge", "ledger", name))
    return out


def test_no_cell_of_any_csv_starts_a_formula(written: Path) -> None:
    files = sorted(written.rglob("*.csv"))
    assert len(files) > 8
    seen = set()
    for file in files:
        for row in csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")):
            for cell in row:
                seen |= {FORMULA} if FORMULA in unguarded(cell) else set()
                assert not (starts_formula(cell) and not cell.startswith("'") and not is_number(cell)), (
                    file.name,
                    cell,
                )
    assert seen, "the formula did reach a file"


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_no_tex_of_the_pack_runs_a_command_that_a_name_brought(written: Path) -> None:
    files = sorted((written / "report").rglob("*.tex"))
    assert len(files) > 5
    pack = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert r"\textbackslash{}input\{" in pack, "the names did reach it"
    for file in files:
        body = "\n".join(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("%"))
        assert not {one for one in COMMANDS.findall(body) if one not in ("input", "def")}, file.name
        assert "/etc/passwd}" not in body.replace(r"/etc/passwd\}", ""), file.name
        assert r"\end{document}" not in body


def test_latex_prints_the_names_and_runs_nothing(written: Path, tmp_path: Path) -> None:
    """Where there is a LaTeX; the byte check above holds everywhere."""
    latex = shutil.which("pdflatex")
    table = written / "report" / "agreement.tex"
    page = rf"\documentclass{{article}}\usepackage{{booktabs,siunitx,threeparttable,array,tabularx}}\begin{{document}}\input{{{table}}}\end{{document}}"
    if latex is not None:
        (tmp_path / "page.tex").write_text(page)
        command = [latex, "-interaction=nonstopmode", "-no-shell-escape", "page.tex"]
        ran = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
        assert "root:" not in ran.stdout
    assert not (tmp_path / "pwned.txt").exists()


def test_no_page_of_the_pack_holds_markup_or_a_template_that_a_name_brought(written: Path) -> None:
    pages = sorted(written.rglob("*.html"))
    assert pages
    for page in pages:
        content = page.read_text(encoding="utf-8")
        assert "<script>window.pwned" not in content
        assert "<img src=x" not in content
    everything = "".join(
        file.read_text(encoding="utf-8")
        for file in written.rglob("*")
        if file.suffix in (".html", ".tex", ".md", ".txt", ".bib")
    )
    assert "1337" not in everything, "no template was filled in"
    assert "<class 'tuple'>" not in everything


@pytest.mark.parametrize(
    "name", [*HOSTILE, "' OR '1'='1", "x' UNION SELECT token_sha256 FROM invites --", "%", "_", "\\"]
)
def test_sql_in_names_tokens_and_cookies_is_a_value(engine: Engine, tmp_path: Path, name: str) -> None:
    study_id = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        cookie = sign_in(session, invite(session, admin, name, "annotator"), "127.0.0.1")
        other = sign_in(session, invite(session, admin, "Bea", "annotator"), "127.0.0.1")
        assert sign_in(session, name, "127.0.0.1", participant=name) is None
        assert who(session, name) is None
        revoke(session, admin, name)
    with reading(engine) as session:
        assert who(session, cookie) is None
        assert who(session, other) is not None, "a name stands for itself only"
        assert session.scalars(select(Rater.handle).where(Rater.handle == name)).one() == name
        assert session.scalar(select(Label.id)) is None
        assert session.scalar(text("SELECT count(*) FROM labels")) == 0


def test_a_judges_stored_template_reaches_nothing_of_the_machine() -> None:
    """One that came with somebody else's backup, say."""
    for attempt in (
        "{{ ''.__class__.__mro__[1].__subclasses__() }}", "{{ lipsum.__globals__['os'].popen('id').read() }}",
        "{{ cycler.__init__.__globals__ }}", "{{ values.append(1) }}",
    ):  # fmt: skip
        with pytest.raises((SecurityError, UndefinedError)):
            compiled(attempt).render(values=[])


def test_a_value_in_a_prompt_is_never_a_template() -> None:
    assert compiled("{{ report }}").render(report=TEMPLATE) == TEMPLATE


def test_an_update_of_the_database_by_name_takes_no_wildcards(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        token = invite(session, admin, "Ada", "annotator")
        session.execute(update(Rater).where(Rater.handle == "Ada").values(handle="A%"))
        invite(session, admin, "A_", "annotator")
        revoke(session, admin, "A_")
        assert sign_in(session, token, "127.0.0.1") is not None

"""Tables through TeX itself: nothing runs over its column, no sign is missing. Collected only where TeX is installed
with the packages that a table names.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from exports.as_latex import as_latex
from tests.exports.toy_latex import HOSTILE, UNICODE, extreme_tables, hostile_table, toy_tables

pytestmark = pytest.mark.slow

LAYOUTS = {
    "article": r"\documentclass{article}",
    "article of 11 points": r"\documentclass[11pt]{article}",
    "two columns as in ACL": (
        r"\documentclass[11pt,a4paper,twocolumn]{article}"
        r"\usepackage{times}\usepackage[margin=2.5cm,columnsep=.6cm]{geometry}"
    ),
}
PROSE = "A paragraph of the paper around the table, which refers to it and says what it shows. " * 5
FAULTS = re.compile(r"^(?:!.*|Overfull .*|.*Float too large.*|.*Missing character.*|.*Too many.*)$", re.MULTILINE)
OVER = re.compile(r"Overfull \\[hv]box \(([\d.]+)pt")


def needed(tex: str) -> str:
    """What the comment at the top of a table tells the author to write."""
    return "\n".join(re.findall(r"^% (\\.*)$", tex, flags=re.MULTILINE))


def faults(engine: str, preamble: str, tables: list[str], folder: Path) -> list[str]:
    """Everything TeX says about a paper with these tables that an author would have to mend."""
    packages = "\n".join(dict.fromkeys(line for tex in tables for line in needed(tex).splitlines()))
    body = "\n\n".join(f"{PROSE}\n\n{tex}" for tex in tables)
    paper = f"{preamble}\n{packages}\n\\tracinglostchars=3\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "paper.tex").write_text(paper, encoding="utf-8")
    run = subprocess.run(
        [engine, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"], cwd=folder, capture_output=True
    )
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    found = [line for line in FAULTS.findall(log) if not (over := OVER.match(line)) or float(over[1]) > 0.5]
    return found + [f"{engine} ended with {run.returncode}"] * (run.returncode != 0)


def has_packages() -> bool:
    if not (shutil.which("pdflatex") and shutil.which("kpsewhich")):
        return False
    return all(
        subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True, check=False).returncode == 0
        for name in ("siunitx", "adjustbox", "booktabs", "times", "lmodern")
    )


if has_packages():

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_every_table_fits_both_layouts_as_it_is(layout, tmp_path):
        assert faults("pdflatex", LAYOUTS[layout], [as_latex(table) for table in toy_tables().values()], tmp_path) == []

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_long_names_and_many_criteria_fit_both_layouts_as_they_are(layout, tmp_path):
        tables = [as_latex(table) for table in extreme_tables().values()]
        assert faults("pdflatex", LAYOUTS[layout], tables, tmp_path) == []

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_hostile_text_is_printed_and_not_run(layout, tmp_path):
        tables = [as_latex(hostile_table(HOSTILE))]
        assert faults("pdflatex", LAYOUTS[layout], tables, tmp_path) == []
        assert {path.name for path in tmp_path.iterdir()} <= {f"paper.{end}" for end in ("tex", "log", "aux", "pdf")}

    if shutil.which("pdftotext"):

        def test_names_that_were_printed_read_as_they_were_given(tmp_path):
            names = ["=cmd()", "50 % of_{x} & #1", r"\input{x}", "~ ^ $x$", "Système", "a <b> c"]
            paper = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{lmodern}"
            assert faults("pdflatex", paper, [as_latex(hostile_table(names))], tmp_path) == []
            run = subprocess.run(["pdftotext", "-layout", "paper.pdf", "-"], cwd=tmp_path, capture_output=True)
            text = " ".join(run.stdout.decode().replace("ˆ", "^").replace("˜", "~").split())
            assert all(name in text for name in names)


def has_fonts() -> bool:
    if not (shutil.which("lualatex") and shutil.which("fc-list")):
        return False
    families = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False).stdout
    return all(name in families for name in ("Noto Serif CJK SC", "Noto Color Emoji", "Noto Naskh Arabic"))


if has_fonts():

    def test_every_script_is_printed_by_lualatex_with_the_lines_that_the_table_names(tmp_path):
        table = as_latex(hostile_table([*HOSTILE, *UNICODE]))
        assert faults("lualatex", r"\documentclass{article}", [table], tmp_path) == []

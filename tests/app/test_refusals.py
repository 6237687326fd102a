"""Whatever is typed wrong: one sentence that says what, which one, and the remedy; an exit code; never a traceback."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command_line import run
from app.settings import database, settings
from tests.small_study import PROTOCOL, write_reports

LABELS = "item_id,rater_id,rater_kind,criterion,label,cluster_id\n" + "".join(
    f"{n},{rater},{kind},c,{'AB'[n % 2]},{n}\n"
    for n in range(4) for rater, kind in (("ann", "human"), ("bea", "human"), ("gpt", "judge"))
)  # fmt: skip
FILES = {
    "small.toml": PROTOCOL,
    "bad.toml": "a = [1\n",
    "judges.toml": '[[judge]]\nname = "mini"\nmodel = "openai/gpt-4o-mini"\n',
    "misspelt.toml": '[[judge]]\nname = "mini"\nmodle = "x"\n',
    "labels.csv": LABELS,
    "half.csv": "item_id,rater_id\n1,2\n",
    "empty.csv": "",
    "bad.json": "{",
}


@pytest.fixture(scope="module")
def folder(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a draft study `s`, its reports and slots, Ada, and files of every wrong kind."""
    made = tmp_path_factory.mktemp("refusals")
    for name, text in FILES.items():
        (made / name).write_text(text)
    (made / "binary.csv").write_bytes(bytes(range(255, 100, -1)))
    (made / "x.db").write_bytes(migrated_sqlite.read_bytes())
    write_reports(made / "reports")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{made}/x.db")
        patch.setenv("COLUMNS", "80")
        patch.delenv("OPENAI_API_KEY", raising=False)
        settings.cache_clear()
        database.cache_clear()
        for line in (
            "init s --protocol small.toml", "import reports reports --layout folder",
            "pairs --design all --overlap 2 --apply", "invite s Ada",
        ):  # fmt: skip
            assert run(line.split()) == 0
        yield made
    settings.cache_clear()
    database.cache_clear()


WRONG_USE = """
statu                                            | no such command 'statu'; did you mean 'status'? see: calipers --help
judge rnu                                        | no such command 'rnu'; did you mean 'run'? see: calipers judge --help
frobnicate                                       | no such command 'frobnicate'; see: calipers --help
init --protcol x                                 | no such option: --protcol; did you mean --protocol? see: calipers init
calibrate                                        | missing argument 'what'; see: calipers calibrate --help
calibrate labels.csv --out                       | option '--out' requires an argument
calibrate labels.csv --resamples 3               | '--resamples': Input should be greater than or equal to 99
calibrate labels.csv --preset wlc                | --preset is a table among the files; name their folder with --out; see
calibrate labels.csv --language zh-CN            | --language adds one among the files; name their folder
calibrate labels.csv --language xx               | '--language': 'xx' is none of zh-CN
calibrate labels.csv --preset wl                 | '--preset': no preset 'wl'; choose one of wlc, deepresearchgym
export bundle s --out b --preset wl              | '--preset': no preset 'wl'; choose one of wlc, deepresearchgym
import reports reports                           | missing option '--layout'
import reports reports --layout odd              | no layout 'odd'; choose one of folder, wlc
import probes half.csv --layout odd              | no layout 'odd'; choose one of
import labels labels.csv --layout odd            | no layout 'odd'; choose one of labels
import labels labels.csv --labels-are z          | --labels-are z: choose systems or sides
init                                             | give a study's name and --protocol, or --list, or --copy
init x --protocol small.toml --seed -1           | '--seed': Input should be greater than or equal to 0
pairs s --overlap x                              | '--overlap': Input should be a valid integer
items s --priority 3                             | name the items with --item
invite s                                         | name the people, or ask for an --open-link with --places
people s --quota zz                              | --quota is a number of items, equal or none
packet s                                         | name the person and the file: calipers packet STUDY RATER --out
packet s Ada --out small.toml                    | small.toml is there already
quality s --half-width 7                         | --half-width is a share above 0 and below 1
export labels s --format odd                     | --format odd: choose one of csv, label_studio
verify reports --root zz                         | --root 'zz': a root has 64 hexadecimal digits
doctor labels.csv --acknowledged x               | --acknowledged and --provider are about the database
systems labels.csv --pair x                      | 'x' names no two systems; write SYSTEM=OTHER
judge retry s --status odd                       | choose from invalid, missing, truncated, refused
judge stress s --judge mini --kind odd            | choose from markdown, plain, padding, paraphrase, authority, injection
judge drift s a                                  | name two runs, or none to see which there are
judge batches s --attach x                       | give both, or neither
serve --port 99999999                            | '--port': Input should be less than or equal to 65535
"""
REFUSED = """
status nope                                      | no study called 'nope' (there are: s) in /
calibrate nope                                   | there is no file 'nope'; no study called 'nope' (there are: s) in /
calibrate reports                                | reports is a folder, not a labels file; no study called 'reports' (there
plan nope                                        | there is no file 'nope'; no study called 'nope' (there are: s)
judge run nope                                   | no study called 'nope' (there are: s)
export dataset nope --out d                      | no study called 'nope' (there are: s)
init a/b --protocol small.toml                   | a study cannot be called 'a/b': its name stands in commands and file na
init labels.csv --protocol small.toml            | letters, digits, '-', '_' and '.' alone; take 'labels'
init "my study" --protocol small.toml            | alone; take 'my-study'
init x --protocol nope                           | no protocol called 'nope'; shipped are dr3_checklist
init x --protocol nope.toml                      | nope.toml: No such file or directory; give a shipped name or the path
init x --protocol bad.toml                       | bad.toml: not TOML: Unclosed array
init s --protocol small.toml --seed 9            | study 's' was made with seed 0; it cannot change
init --copy quick_start small.toml               | small.toml: a file is there already
reply s 99 x                                     | no flag, comment or skip has the number 99 in study 's'; see: calipers
adjudicate s --settled reports                   | reports: Is a directory; name a file
backup small.toml                                | small.toml: exists, and a backup never replaces a file
restore nope                                     | nope: No such file or directory; check the path
restore small.toml                               | small.toml: no backup; name a file that `calipers backup` wrote
import reports nowhere --layout folder           | nowhere: no such folder; give the folder that holds the reports
import reports small.toml --layout folder        | small.toml: not a folder
import reports binary.csv --layout table         | binary.csv:1: byte 0xff at 0 is not UTF-8; re-save the file
import reports half.csv --layout table --map x=y | --map x=y
import labels half.csv                           | half.csv:1: no column 'rater_kind' (found: item_id, rater_id); add it
import labels empty.csv                          | empty.csv:1: no column 'item_id' (found: nothing); add it
import labels nowhere.csv                        | nowhere.csv: not there; give the file or folder
import judge-results bad.json --layout promptfoo | bad.json:1: not JSON
import gold half.csv --use odd                   | no use 'odd'; choose training or attention
import probes half.csv --layout table            | the study is a pairwise_choice; probes need a probe_label
import ballots nowhere.json                      | nowhere.json: No such file or directory; check the path
audit s --resolve odd                            | resolved as one of keep, mask, exclude, not 'odd'
pairs s --design odd                             | no design called 'odd'; use reference, all, balanced, or the path
pairs s --design nowhere.csv                     | nowhere.csv: cannot be read (No such file or directory); check the path
items s --item zz --priority 3                   | no item 'zz' in 's'; list them with: calipers items s
invite s Ada --role king                         | no role 'king'; choose one of annotator, adjudicator
people s --pause Nobody                          | nobody called 'Nobody' in 's'; see: calipers people s
people s --pay small.toml                        | small.toml exists already; name another file
packet s --withdraw zzz                          | no packet 'zzz'; see: calipers packet s --list
calibrate s                                      | nobody has handed in work in study 's' yet; 1 annotator is invited
calibrate nowhere.csv                            | nowhere.csv: No such file or directory; give the path of a labels file
calibrate empty.csv                              | empty.csv: the file is empty; give it a header
calibrate binary.csv                             | binary.csv: byte 0xdf at 32 is not UTF-16; save it as a CSV in UTF-8
calibrate half.csv                               | half.csv: cannot be read as labels until this is said
calibrate labels.csv --judges judges.toml        | --judges is for a study; a labels file already holds its raters
calibrate labels.csv --family x                  | --family 'x' is not NAME=FAMILY
plan --icc 2                                     | the icc is 2; use a number from -1 to 1
plan labels.csv --icc .1                         | --icc is an assumption, and a pilot brings its own
export labels s --out reports                    | reports: Is a directory; name a file
export bundle labels.csv --out reports           | reports holds something else; give a new folder
verify nowhere                                   | nowhere: no such file or folder; give a bundle's folder
doctor empty.csv                                 | empty.csv: the file is empty
doctor --provider bad.json                       | bad.json:1: Invalid JSON
judge estimate s --judges nowhere.toml           | nowhere.toml: No such file or directory; give the path of a judges.toml
judge estimate s --judges misspelt.toml          | misspelt.toml: judge 'mini': key 'model' is required but missing
judge estimate s --judge zz                      | judges.toml: no judge 'zz' (there are: mini)
judge retry s                                    | openai/gpt-4o-mini needs a key
judge show s 99                                  | study 's' has no call 99; the ledger lists them
judge drift s a b                                | no judge and no run is called 'a' (there are: none; run a judge first)
"""


def table(text: str, code: int) -> list[tuple[str, int, str]]:
    return [
        (words.strip(), code, says.strip()) for words, says in (line.split("|") for line in text.strip().split("\n"))
    ]


@pytest.mark.parametrize(("words", "code", "says"), [*table(WRONG_USE, 2), *table(REFUSED, 1)])
def test_what_cannot_be_done_is_said_in_one_sentence(
    folder: Path, words: str, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shlex.split(words)) == code
    said = capsys.readouterr()
    assert (said.out, said.err[:10]) == ("", "calipers: ")
    assert says in said.err


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("garbage", "'garbage' is not a database URL; use sqlite:///calipers.db or postgresql://user@host/name"),
        ("sqlite://", "sqlite:// would be lost at the end of the command; use sqlite:///calipers.db"),
        ("sqlite:///x.db?mode=ro", "x.db?mode=ro: a SQLite database is a file and takes no host and no options; use"),
        ("postgresql://127.0.0.1:1/b?foo=1", 'invalid connection option "foo"; correct what follows the ? in CAL'),
        ("mysql://a/b", "mysql databases are not supported; use sqlite:///file.db or postgresql://user@host/name"),
        ("sqlite:///labels.csv", "sqlite:///labels.csv: file is not a database; name another file in CALIPERS_DATA"),
        ("sqlite:///no/x.db", "sqlite:///no/x.db: unable to open database file; make its folder, let this account"),
        ("postgresql://u:secret@127.0.0.1:1/x", "Connection refused; start the server, or correct CALIPERS_DATABASE_"),
    ],
)
def test_a_database_that_cannot_be_used_is_named_with_what_to_do(
    folder: Path, url: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    settings.cache_clear()
    database.cache_clear()
    try:
        assert run(["status"]) == 1
    finally:
        monkeypatch.undo()
        os.environ["CALIPERS_DATABASE_URL"] = f"sqlite:///{folder}/x.db"
        settings.cache_clear()
        database.cache_clear()
    said = capsys.readouterr().err
    assert says in said
    assert "secret" not in said


def test_which_study_is_asked_with_the_words_of_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "other", "--protocol", "small.toml"]) == 0
    for words, how in (("status", "after the command"), ("import reports reports --layout folder", "with --study")):
        assert run(words.split()) == 1
        assert f"which study? (there are: s, other); name one {how}" in capsys.readouterr().err


def test_a_command_that_reads_makes_no_database(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.db"
    with monkeypatch.context() as patch:
        patch.setenv("CALIPERS_DATABASE_URL", f"sqlite:///{file}")
        settings.cache_clear()
        database.cache_clear()
        assert run(["status"]) == 1
    settings.cache_clear()
    database.cache_clear()
    assert f"{file}: there is no database yet; begin one with: calipers demo, or calipers init" in (
        capsys.readouterr().err
    )
    assert not file.exists()


def test_a_port_in_use_is_said_before_the_server_starts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 1
    assert f"port {port} of 127.0.0.1: Address already in use; choose another with --port" in capsys.readouterr().err


def test_a_missing_dependency_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "app.results.reporting", None)
    monkeypatch.delattr("app.results.reporting", raising=False)
    assert run(["calibrate", "labels.csv"]) == 1
    assert "install calipers again with all it needs: pip install" in capsys.readouterr().err


def test_a_mistake_of_our_own_shows_where_and_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.results.sources.calibrated", lambda *_, **__: {}["nothing"])
    assert run(["calibrate", "labels.csv"]) == 70
    said = capsys.readouterr().err
    assert said.startswith("calipers: a mistake in calipers, not yours; please report it: KeyError core.py:")
    assert len(said.splitlines()) == 1

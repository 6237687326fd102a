"""Judges that are code: the queue, ledger and statuses of any judge, and nothing that goes wrong is ever a label."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.facts.judge_facts import judge_facts
from annotation.judges.asking import code_runner, own_code
from annotation.judges.asking.checking import check_judges
from annotation.judges.defining.judge_file import JudgeDefinition, read_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.planning.previewing import preview
from annotation.judges.reviewing.judge_standings import standings
from annotation.judges.running.progress import JudgeProgress, JudgeSummary
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol
from annotation.verdicts import load_verdicts, write_labels_csv
from app.commands.judges.records import remarks
from app.commands.judges.workers import line as line_of
from app.commands.judges.workers import result
from db.connect import reading
from db.judge_tables import JudgeAttempt, JudgeConfig
from tests.annotation.judges.judged_study import SYSTEMS, labels, make_study, protocol_text, study_row

SHIPPED = Path("docs/own_judges")
ANSWERS = '{"answers": {one["id"]: "first" for one in item["criteria"]}}'


@pytest.fixture
def sqlite_study(sqlite: Engine) -> tuple[Engine, int]:
    return sqlite, make_study(sqlite, 1)


def defined(folder: Path, toml: str, protocol: str = "") -> JudgeDefinition:
    (folder / "judges.toml").write_text(f'[[judge]]\nname = "own"\ntimeout_s = 20\n{toml}\n', encoding="utf-8")
    (found,) = read_judges(folder / "judges.toml", parse_protocol(protocol or protocol_text()))
    return found


def run(engine: Engine, study: int, definition: JudgeDefinition) -> JudgeSummary:
    plan_judges(engine, study, [definition])
    (summary,) = run_judges(engine, study, [definition]).judges
    return summary


def attempts(engine: Engine) -> list[JudgeAttempt]:
    with reading(engine) as session:
        return list(session.scalars(select(JudgeAttempt).order_by(JudgeAttempt.id)))


@pytest.mark.parametrize("name", ["length", "reward"])
def test_the_examples_judge_both_orders_as_one_and_are_asked_again_when_their_code_changes(
    sqlite: Engine, tmp_path: Path, name: str
) -> None:
    study = make_study(sqlite, 2, text=lambda number, side: "Why do rivers rise? " * (3 if side == "B" else 2))
    shutil.copy(SHIPPED / f"{name}.py", tmp_path)
    summary = run(sqlite, study, defined(tmp_path, f'python = "{name}:judge"'))
    assert (summary.done, summary.labels) == (4, {"ok": 12})
    verdicts = {"A" if (row["choice"] == "left") == (row["left"] == "A") else "B" for row in labels(sqlite)}
    assert verdicts == {"B"}
    with (tmp_path / f"{name}.py").open("a") as file:
        file.write("\n# other words\n")
    (again,) = plan_judges(sqlite, study, [defined(tmp_path, f'python = "{name}:judge"')])
    assert again.added == 4
    with reading(sqlite) as session:
        assert len({*session.scalars(select(JudgeConfig.template_sha256))}) == 2


def test_a_program_answers_lines_and_nothing_names_a_system(sqlite: Engine, tmp_path: Path) -> None:
    study = make_study(sqlite, 2)
    shutil.copy(SHIPPED / "judge.sh", tmp_path)
    summary = run(sqlite, study, defined(tmp_path, 'command = "./judge.sh"'))
    assert (summary.done, summary.labels) == (4, {"ok": 12})
    (tmp_path / "keep.sh").write_text('#!/bin/sh\nwhile read -r line; do echo "$line" >> seen; exit 1; done\n')
    (tmp_path / "keep.sh").chmod(0o755)
    failed = run(sqlite, study, defined(tmp_path, 'command = "./keep.sh"'))
    assert failed.done == 0
    seen = (tmp_path / "seen").read_text()
    assert "Why do rivers rise?" in seen
    assert not [name for name in SYSTEMS if name in seen]


@pytest.mark.slow
def test_a_provider_that_pretends_answers_a_judge_with_a_prompt_for_nothing(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(sqlite, 2)
    handler = runpy.run_path(str(SHIPPED / "pretend.py"))["Pretend"]
    monkeypatch.setattr(sys, "argv", ["pretend.py"])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        where = f'model = "openai/pretend"\napi_base = "http://127.0.0.1:{server.server_port}/v1"\nbatching = "all"'
        price = "price = {input = 0.15, output = 0.6}\nmax_cost = 1.0\nmax_output_tokens = 500"
        definition = defined(tmp_path, f"{where}\n{price}")
        (checked,) = check_judges([definition], parse_protocol(protocol_text()))
        summary = run(sqlite, study, definition)
        server.shutdown()
    assert (checked.problem, summary.done, summary.labels) == ("", 4, {"ok": 12})


@pytest.mark.slow
def test_a_classifier_is_measured_on_topics_that_it_was_not_trained_on(sqlite: Engine, tmp_path: Path) -> None:
    study = make_study(sqlite, 12, text=lambda number, side: "word " * (5 + number if side == "A" else 9))
    run(sqlite, study, defined(tmp_path, 'baseline = "longer"'))
    with reading(sqlite) as session:
        verdicts = load_verdicts(session, study_row(sqlite, study)).assign(rater_kind="human", rater_id="ann1")
    with (tmp_path / "labels.csv").open("w") as file:
        write_labels_csv(verdicts, file)
    shutil.copy(SHIPPED / "classifier.py", tmp_path)
    trained = subprocess.run(
        [sys.executable, "classifier.py", "labels.csv"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    definition = defined(tmp_path, f'python = "classifier:judge"\n{trained}').model_copy(update={"name": "learned"})
    assert 0 < len(definition.examples) < 12
    assert run(sqlite, study, definition).labels == {"ok": 6 * (12 - len(definition.examples))}, "it knows the others"


@pytest.mark.parametrize(
    ("name", "verdict"), [("longer", {"A"}), ("more_headings", {"B"}), ("first", {"A", "B"}), ("random", {"A", "B"})]
)
def test_a_baseline_is_free_and_does_what_its_name_says(
    sqlite: Engine, tmp_path: Path, name: str, verdict: set[str]
) -> None:
    study = make_study(sqlite, 3, text=lambda number, side: f"{number} " + ("long " * 9 if side == "A" else "\n# x\n"))
    summary = run(sqlite, study, defined(tmp_path, f'baseline = "{name}"\nmax_cost = 0.01'))
    assert (summary.labels, summary.cost, summary.unknown_costs) == ({"ok": 18}, 0.0, 0)
    said = {"A" if (row["choice"] == "left") == (row["left"] == "A") else "B" for row in labels(sqlite)}
    assert said == verdict
    with reading(sqlite) as session:
        (facts,) = judge_facts(session, study_row(sqlite, study))
    assert [facts.get(key) for key in ("model", "provider", "prompt_sha256", "parameters")] == [
        f"baseline:{name}", "code", None, None
    ]  # fmt: skip


BAD = [
    ("raise KeyError('x')", {"missing": 6}, "bad_request", "KeyError: 'x'"),
    ("print('{}'); print('noise'); return " + ANSWERS, {"ok": 6}, "ok", None),
    ("return {'answers': {'c_one': ['first', 'second'], 'c_two': 'both', 'd_one': 'first'}}",
     {"ok": 2, "invalid": 4}, "ok", None),
    ("return {'judgments': [{'criterion': 'c_one', 'winner': 'first'}, {'criterion': 'c_one', 'winner': 'second'}]}",
     {"invalid": 2, "missing": 4}, "ok", None),
    ("return {'answers': {'c_one': 'first'}, 'more': 'x' * 10_000_000}", {"missing": 6}, "bad_request", "more than"),
    ("return 'first'", {"missing": 6}, "bad_request", "returned str, not a dict"),
    ("return {'answers': 'first'}", {"missing": 6}, "bad_request", "its answers are str, not a dict"),
    ("return {'cost': -1, 'judgments': 'no'}", {"invalid": 6}, "ok", "its cost, -1, is no amount"),
    ("return {**" + ANSWERS + ", 'cost': float('nan')}", {"ok": 6}, "ok", "its cost, nan, is no amount"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "statuses", "outcome", "error"), BAD, ids=[case[0][:30] for case in BAD])
def test_bad_code_is_a_status_and_never_a_label(
    sqlite_study: tuple[Engine, int], tmp_path: Path, body: str, statuses: dict[str, int], outcome: str,
    error: str | None, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    engine, study = sqlite_study
    (tmp_path / "mine.py").write_text(f"def judge(item):\n    {body}\n")
    summary = run(engine, study, defined(tmp_path, 'python = "mine:judge"'))
    assert {status: count for status, count in summary.labels.items() if count} == statuses
    assert all((row["choice"] is not None) == (row["status"] == "ok") for row in labels(engine))
    tried = attempts(engine)
    assert {one.outcome for one in tried} == {outcome}
    assert error is None or all(error in (one.error or "") for one in tried)
    assert summary.planned == summary.done + summary.failed == 2, "the run went on to its end"
    assert (summary.odd_costs, "is no amount" in (error or "")) in ((0, False), (len(tried), True))


# the same of programs and services: what is written instead of a reply, or done, and what becomes of it
ELSEWHERE = {
    "dies": ("sys.exit(3)", {"missing": 6}, {"dropped"}),
    "hangs": ("time.sleep(60)", {"missing": 6}, {"timeout"}),
    "nan": ("say(won(c_one=float('nan'), c_two='first', d_one='first'))", {"ok": 4, "invalid": 2}, {"ok"}),
    "both winners": ("say(won(c_one=['first', 'second'], c_two='both', d_one='first'))", {"ok": 2, "invalid": 4}, {"ok"}),
    "wrong criteria": ("say(won(c_nine='first'))", {"missing": 6}, {"ok"}),
    "a flood of lines": ("while True: sys.stdout.write('y\\n' * 1000)", {"missing": 6}, {"bad_request"}),
    "10 MB": ("say(won(c_one='x' * 10_000_000))", {"missing": 6}, {"bad_request"}),
    "error": ("say({'error': 'no weights'})", {"missing": 6}, {"bad_request"}),
    "answers by criterion": (
        "say({'answers': dict(c_one='first', c_two='first', d_one='first')})", {"ok": 6}, {"ok"}),
    "no dict": ("say({'answers': 'first'})", {"invalid": 6}, {"ok"}),
    "other lines": ("print('noise'); print('{}'); say(won(c_one='first', c_two='first', d_one='first'))", {"ok": 6}, {"ok"}),
}  # fmt: skip
WON = """def won(**winners):
    return {"judgments": [{"criterion": one, "rationale": "", "winner": winner} for one, winner in winners.items()]}
"""
PROGRAM = f"""import json, sys, time
{WON}
for line in sys.stdin:
    item = json.loads(line)
    def say(said):
        print(json.dumps({{"id": item["id"], **said}}), flush=True)
    BODY
"""


@pytest.mark.parametrize(("body", "statuses", "outcomes"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_bad_program_is_a_status_and_never_a_label(
    sqlite_study: tuple[Engine, int], tmp_path: Path, body: str, statuses: dict[str, int], outcomes: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    monkeypatch.setattr(own_code, "CLOSED_S", 0.1)
    (tmp_path / "mine.py").write_text(PROGRAM.replace("BODY", body))
    judged_badly(sqlite_study, defined(tmp_path, f'command = "{sys.executable} mine.py"'), body, statuses, outcomes)


@pytest.mark.parametrize(
    ("body", "error", "usable"),
    [
        ("answer(); answer(); sys.stdout.flush()", "it wrote a second answer for an item", 0),
        ("answer(); sys.stdout.flush(); time.sleep(.1); answer(); sys.stdout.flush()", "what the first one said", 3),
        ("item['id'] = 'x'; answer(); sys.stdout.flush()", "an id that no item has", 0),
    ],
)
def test_a_second_answer_for_an_item_or_one_under_another_id_is_told(
    sqlite_study: tuple[Engine, int], tmp_path: Path, body: str, error: str, usable: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    program = f"""    def answer():
        print(json.dumps({{"id": item["id"], **won(c_one='first', c_two='first', d_one='first')}}))
    {body}"""
    (tmp_path / "mine.py").write_text(PROGRAM.replace("    BODY", program))
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    monkeypatch.setattr(own_code, "CLOSED_S", 1.4)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what is flushed together comes together
    own = defined(tmp_path, f'command = "{sys.executable} mine.py"\nconcurrency = 1')
    summary = run(*sqlite_study, own.model_copy(update={"timeout_s": 0.1 if "no item has" in error else 20.0}))
    assert summary.labels.get("ok", 0) == usable
    assert error in (attempts(sqlite_study[0])[-1].error or "")


def test_a_program_that_waits_for_the_end_of_its_input_is_found_out_and_a_slow_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one does that reads ahead, or whose output stays in a buffer."""
    monkeypatch.setattr(own_code, "QUIET_S", 0.3)
    won = '[{"criterion": "check", "rationale": "", "winner": "first"}]'
    number = 'sed "s/^{.id.: .\\([0-9a-f]*\\).*/\\1/"'
    (tmp_path / "mine.sh").write_text(
        f'#!/bin/sh\nid=$(cat | {number})\necho \'{{"id": "\'$id\'", "judgments": {won}}}\'\n'
    )
    (tmp_path / "mine.sh").chmod(0o755)
    (checked,) = check_judges([defined(tmp_path, 'command = "./mine.sh"')], parse_protocol(protocol_text()))
    assert "no answer within 0.3 s, but one at once when its input was closed" in checked.problem
    assert "read a line, answer it, and flush" in checked.problem
    slow = PROGRAM.replace("BODY", "threading.Timer(0.8, say, [won(check='first')]).start()")
    (tmp_path / "slow.py").write_text(slow.replace("import json", "import json, os, threading") + "os._exit(0)\n")
    (checked,) = check_judges(
        [defined(tmp_path, f'command = "{sys.executable} slow.py"')], parse_protocol(protocol_text())
    )
    assert not checked.problem, "it is slow, and ends with its input"


@pytest.mark.parametrize(
    "name",
    ["hangs", "nan", "10 MB", "error", "answers by criterion", "no dict", "drops", "no JSON"],
)
def test_a_bad_service_is_a_status_and_never_a_label(
    sqlite_study: tuple[Engine, int], tmp_path: Path, server: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    body, statuses, outcomes = ELSEWHERE.get(name) or (
        ("", {"missing": 6}, {"dropped"}) if name == "drops" else ("", {"invalid": 6}, {"ok"})
    )
    service = defined(tmp_path, f'url = "{server}/{name.replace(" ", "-")}"')
    judged_badly(sqlite_study, service, body, statuses, outcomes)


def judged_badly(
    study: tuple[Engine, int], definition: JudgeDefinition, body: str, statuses: dict[str, int], outcomes: set[str]
) -> None:
    """The run goes on to its end, and no label has an answer that was not usable."""
    engine, key = study
    summary = run(engine, key, definition.model_copy(update={"timeout_s": 0.1 if "sleep" in body else 20.0}))
    assert {status: count for status, count in summary.labels.items() if count} == statuses
    assert all((row["choice"] is not None) == (row["status"] == "ok") for row in labels(engine))
    tried = attempts(engine)
    assert {one.outcome for one in tried} == outcomes
    assert "timeout" not in outcomes or all("no answer within 0.1 s" in (one.error or "") for one in tried)
    assert summary.planned == summary.done + summary.failed == 2


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('python = "nowhere:judge"', "No module named 'nowhere'"),
        ('command = "./nowhere.sh"', "No such file or directory; it cannot be started"),
        ('command = "./windows.sh"', "save it with Unix line ends"),
        ('command = "./plain.sh"', "Permission denied; make it executable: chmod +x"),
    ],
)
def test_code_that_is_not_there_stops_its_judge_with_the_reason_and_labels_nothing(
    sqlite_study: tuple[Engine, int], tmp_path: Path, toml: str, said: str
) -> None:
    engine, study = sqlite_study
    for name, mode in {"windows.sh": 0o755, "plain.sh": 0o644}.items():
        (tmp_path / name).write_bytes(b"#!/bin/sh\r\n")
        (tmp_path / name).chmod(mode)
    summary = run(engine, study, defined(tmp_path, toml))
    assert said in (summary.stopped or "")
    assert (summary.done, summary.labels) == (0, {})


def test_what_code_says_it_cost_is_in_the_ledger_and_a_budget_holds_by_the_price_of_a_call(
    sqlite: Engine, tmp_path: Path
) -> None:
    study = make_study(sqlite, 4)
    (tmp_path / "mine.py").write_text(f"async def judge(item):\n    return {{**{ANSWERS}, 'cost': 0.002}}\n")
    toml = 'python = "mine:judge"\nprice = {input = 0, output = 0, call = 0.003}\nmax_cost = 0.0075\nconcurrency = 1'
    summary = run(sqlite, study, defined(tmp_path, toml))
    assert (summary.done, summary.cost) == (3, pytest.approx(0.006))
    assert summary.spent <= 0.0075
    assert "budget" in (summary.stopped or "")


def test_what_code_paid_before_it_raised_is_unknown_or_what_it_says(sqlite: Engine, tmp_path: Path) -> None:
    study = make_study(sqlite, 3)
    (tmp_path / "mine.py").write_text(
        "async def judge(item):\n"
        "    text = item['texts']['first_report']\n"
        "    if 'topic 0' in text:\n        raise KeyError('x')\n"
        "    if 'topic 1' in text:\n        return {'error': 'too odd', 'cost': 0.001}\n"
        f"    return {{**{ANSWERS}, 'cost': 0.002}}\n"
    )
    costs = []
    for more in ("price = {call = 0.003}\nmax_cost = 1.0", 'params = {other = "settings"}'):
        summary = run(sqlite, study, defined(tmp_path, f'python = "mine:judge"\n{more}'))
        costs.append((summary.failed, summary.cost, summary.unknown_costs, summary.spent))
        assert f"{summary.cost:.4f} USD and {summary.unknown_costs} attempts of unknown cost" in result(summary)
    assert costs[0] == (4, pytest.approx(0.006), 2, pytest.approx(0.012)), "as much as its price allows is spent"
    assert costs[1] == (4, pytest.approx(0.012), 4, pytest.approx(0.018)), "without a price, what it said"
    with reading(sqlite) as session:
        (standing,) = standings(session, study_row(sqlite, study))
    assert (standing.money.cost, standing.money.unknown_costs) == (pytest.approx(0.012), 4)


def test_a_call_that_cost_more_than_its_price_allows_is_the_last(sqlite: Engine, tmp_path: Path) -> None:
    study = make_study(sqlite, 4)
    (tmp_path / "mine.py").write_text(f"async def judge(item):\n    return {{**{ANSWERS}, 'cost': 0.5}}\n")
    toml = 'python = "mine:judge"\nprice = {input = 0, output = 0, call = 0.003}\nmax_cost = 1.0\nconcurrency = 1'
    summary = run(sqlite, study, defined(tmp_path, toml))
    assert (summary.done, summary.cost) == (1, pytest.approx(0.5)), "paid, so stored and labelled"
    assert "a call cost 0.5 USD, more than the 0.003 that its price allows" in (summary.stopped or "")
    with reading(sqlite) as session:
        (standing,) = standings(session, study_row(sqlite, study))
    assert "may cost 1 USD" in remarks(standing)
    assert "may cost 0.1 USD; has cost 0.5, which is over it" in remarks(replace(standing, max_cost=0.1))


def test_code_that_only_fails_alike_is_stopped_with_the_reason_and_waits_for_no_provider(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    study, seen = make_study(sqlite, 12), list[JudgeProgress]()
    (tmp_path / "mine.py").write_text("import sys\nsys.exit(3)\n")
    definition = defined(tmp_path, f'command = "{sys.executable} mine.py"')
    plan_judges(sqlite, study, [definition])
    (summary,) = run_judges(sqlite, study, [definition], on_progress=seen.extend, tick_s=0.1).judges
    assert summary.stopped == "its code failed 12 times alike and never answered: the process ended (3): no word"
    assert 12 <= summary.attempts <= 16, "and what was in flight with it"
    assert "last: the process ended (3)" in line_of(seen[-1])
    (tmp_path / "mine.py").write_text(PROGRAM.replace("BODY", "say(won(c_one='first', c_two='first', d_one='first'))"))
    (again,) = run_judges(sqlite, study, [definition]).judges
    assert (again.stopped, again.done + again.failed) == (None, 24), "corrected, it goes on"


def test_a_preview_of_code_is_the_item_as_it_is_sent_and_a_function_that_is_not_there_is_told(
    sqlite: Engine, tmp_path: Path
) -> None:
    study = make_study(sqlite, 1)
    (tmp_path / "mine.py").write_text(
        f"def judge(item):\n    open('seen', 'w').write(__import__('json').dumps(item))\n    return {ANSWERS}\n"
    )
    definition = defined(tmp_path, 'python = "mine:judge"\nparams = {depth = 2}\nconcurrency = 1\norder = "random"')
    with reading(sqlite) as session:
        (told,) = preview(session, study_row(sqlite, study), definition).messages
    run(sqlite, study, definition)
    sent, shown = json.loads((tmp_path / "seen").read_text()), json.loads(told["content"])
    assert sent["params"] == {"depth": 2, "seed": 1}
    assert {**sent, "id": "…"} == {**shown, "texts": sent["texts"]}
    assert sorted(sent["texts"].values()) == sorted(shown["texts"].values())
    with pytest.raises(AnnotationError, match="there is no absent in mine"):
        defined(tmp_path, 'python = "mine:absent"')


def test_code_hears_nothing_of_the_server_and_ends_with_the_run(
    sqlite: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", "postgresql://secret")
    study = make_study(sqlite, 1)
    body = (
        "import os\nopen('seen', 'a').write(f'{os.getpid()} {[n for n in os.environ if n.startswith(\"CALI\")]}\\n')\n"
    )
    (tmp_path / "mine.py").write_text(f"{body}def judge(item):\n    return {ANSWERS}\n")
    run(sqlite, study, defined(tmp_path, 'python = "mine:judge"'))
    lines = (tmp_path / "seen").read_text().splitlines()
    assert all(line.endswith("[]") for line in lines)
    for line in lines:
        state = Path(f"/proc/{line.split()[0]}/stat")
        assert not state.exists() or ") Z " in state.read_text()


class _Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        item = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if (name := self.path[1:].replace("-", " ")) in {*ELSEWHERE, "drops", "no JSON"}:
            self._badly(name, item)
            return
        status = 200 if "winner" in item["answer_field"] else 400
        said = {"judgments": [{"criterion": one["id"], "winner": "second"} for one in item["criteria"]]}
        self.send_response(500 if self.path == "/broken" else status)
        self.end_headers()
        self.wfile.write(b"<p>\nout of order" * 20 if self.path == "/broken" else json.dumps(said).encode())

    def _badly(self, name: str, item: dict[str, Any]) -> None:
        if name == "drops":
            self.connection.close()
            return
        said = [] if name != "no JSON" else [b"first, I think"]
        if name == "hangs":
            time.sleep(1)
        elif name in ELSEWHERE:
            exec(WON + ELSEWHERE[name][0], {"item": item, "say": lambda one: said.append(json.dumps(one).encode())})
        with suppress(OSError):  # nobody waits any more, or wants no more
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"".join(said))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)  # it ends as soon as it is told
    thread.start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_url_gets_one_post_an_item_and_its_errors_are_those_of_a_provider(
    sqlite_study: tuple[Engine, int], tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.0)
    engine, study = sqlite_study
    assert run(engine, study, defined(tmp_path, f'url = "{server}/"')).labels == {"ok": 6}
    broken = defined(tmp_path, f'url = "{server}/broken"').model_copy(update={"name": "broken"})
    assert run(engine, study, broken).labels == {"missing": 6}
    error = attempts(engine)[-1].error or ""
    assert error.startswith("status 500: ")
    assert len(error) == own_code.A_LINE + 1
    assert "\n" not in error
    assert {one.outcome for one in attempts(engine)} == {"ok", "server_error"}


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('python = "judge.py"', "python"),
        ('python = "a:b"\nmodel = "openai/x"', "model is for a model"),
        ('python = "a:b"\nurl = "http://x"', "python and url: a judge is one of"),
        ('baseline = "best"', "baseline"),
        ('command = "\'"', "command: No closing quotation"),
        ('python = "a:b"\nexamples = "from: 2 topics"', "examples is for a model"),
        ('baseline = "first"\nbatch_api = true', "batch_api is for a model"),
        ('model = "openai/x"\ncode_sha256 = "x"', "unknown key 'code_sha256'"),
    ],
)
def test_a_table_of_code_that_cannot_be_meant_is_refused_by_its_key(tmp_path: Path, toml: str, said: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        defined(tmp_path, toml)
    assert said in refused.value.text


def test_the_runner_needs_nothing_but_the_standard_library() -> None:
    source = Path(code_runner.__file__).read_text(encoding="utf-8")
    imported = {line.split()[1] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names

"""Bundles that somebody forged or damaged: every one is refused in words, none is run, none steers a terminal."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from exports.bundles.bundle import SUMS
from exports.bundles.recomputing import Recomputed
from exports.bundles.verifying import changed_files, describe, verify
from exports.errors import ExportError
from tests.exports.bundled import edit, seal_again

DEEP = "[" * 100_000
DAMAGED = ("null", "[]", "5", DEEP, "NaN", '{"a": 1e999}', '{"a": "\\ud800"}')


pytestmark = pytest.mark.usefixtures("quick_verify")


@pytest.fixture
def bundle(published: tuple[Path, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(published[0], tmp_path / "copy"))


def verdict_on(folder: Path) -> str:
    return list(describe(verify(folder)))[-1]


def in_json(*path: str | int, value: Any) -> Callable[[str], str]:
    def change(text: str) -> str:
        inner = found = json.loads(text)
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return json.dumps(found, ensure_ascii=False)

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("report/agreement.csv", lambda text: text.replace("0.", "0.1", 1)),
        ("report/report.html", lambda text: text.replace("</main>", "<p>κ .99</p></main>")),
        ("report/captions.md", lambda text: text + "κ .99\n"),
        ("report/agreement.json", in_json("notes", value=["n = 7,777"])),
        ("report/agreement.json", lambda text: text.replace("{", '{"notes": ["n = 7,777"], ', 1)),
        ("report/calibration-report.json", lambda text: text.replace("0.00", "0.001", 1)),
        ("inputs.json", in_json("data", value={"rows": 7_777})),
        ("bundle.json", in_json("plan_root", value="0" * 64)),
    ],
)
def test_a_number_that_labels_do_not_give_is_found_in_every_form(
    bundle: Path, name: str, change: Callable[[str], str]
) -> None:
    edit(bundle, name, change)
    seal_again(bundle)
    assert verdict_on(bundle) == "refused: this bundle contradicts itself"


def test_a_bundle_of_other_code_is_refused_and_may_be_of_another_build(bundle: Path) -> None:
    edit(bundle, "code/calibration/results.py", lambda text: text + "# of another day\n")
    seal_again(bundle)
    assert verdict_on(bundle).startswith("consistent with itself")
    edit(bundle, "report/captions.md", lambda text: text + "κ .99\n")
    seal_again(bundle)
    assert verdict_on(bundle).startswith(
        "refused: this bundle contradicts itself, or another build of calipers made it"
    )


@pytest.mark.parametrize("name", ["plan.json", "label-history.jsonl", "report/report.html"])
def test_a_file_that_its_kind_of_bundle_has_may_not_be_gone(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    seal_again(bundle)
    assert not verify(bundle).holds


def test_people_without_a_history_are_named(bundle: Path) -> None:
    (bundle / "label-history.jsonl").write_text("")
    seal_again(bundle)
    assert "its history has no such label" in "\n".join(describe(verify(bundle)))


def test_a_file_that_no_report_has_is_named_and_a_methods_section_in_chinese_that_says_something_else(
    bundle: Path,
) -> None:
    edit(bundle, "report/methods.zh-CN.md", lambda text: text.replace("种子", "随机种子"))
    (bundle / "report" / "more").mkdir()
    (bundle / "report" / "more" / "table.md").write_text("κ .99")
    seal_again(bundle)
    assert [line for line in describe(verify(bundle)) if line.startswith("prints otherwise")] == [
        "prints otherwise: report/methods.zh-CN.md",
        "prints otherwise: report/more/table.md",
    ]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("inputs.json", in_json("settings", "resamples", value=value)) for value in (10**9, True)),
        ("inputs.json", in_json("settings", "seed", value=-1)),
        ("inputs.json", in_json("settings", "scales", value={"clear": [1, {}]})),
        ("inputs.json", in_json("settings", "scales", value=[])),
        ("inputs.json", in_json("settings", "families", value={"mini": [1]})),
        ("inputs.json", in_json("settings", "epsilon", value="x")),
        ("inputs.json", in_json("settings", "unheard_of", value=1)),
        ("inputs.json", in_json("cascades", value=["nobody then nan"])),
        ("inputs.json", in_json("cascades", value=[1])),
        ("inputs.json", in_json("presets", value=[[]])),
        ("inputs.json", in_json("presets", value=["unheard of"])),
        ("inputs.json", in_json("data", value={"plan_root": 5})),
        ("inputs.json", in_json("data", value=None)),
        ("inputs.json", in_json("more", value=1)),
        ("facts.json", in_json("annotators", value={"a": 1})),
        ("facts.json", in_json("versions", value="x")),
        *(("inputs.json", lambda text, to=to: to) for to in DAMAGED),
        ("facts.json", lambda text: DEEP),
        ("report/agreement.json", lambda text: DEEP),
        ("labels.csv", lambda text: ",".join(f"c{number}" for number in range(20_000)) + "\n"),
        ("labels.csv", lambda text: text + '"open'),
        ("labels.csv", lambda text: text.replace("item_id", "rater_id", 1)),
        ("labels.csv", lambda text: text.replace(",judge,", ",robot,")),
        ("labels.csv", lambda text: text.replace("0.001", "inf")),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(bundle: Path, name: str, change: Callable[[str], str]) -> None:
    edit(bundle, name, change)
    seal_again(bundle)
    lines = [*describe(verify(bundle))]
    assert lines[-1] == "refused: this bundle contradicts itself"
    assert all(len(line) < 500 for line in lines)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("plan.json", lambda text, to=to: to) for to in DAMAGED),
        *((name, lambda text, to=to: to) for name in ("bundle.json", "label-history.jsonl") for to in DAMAGED[:3]),
        ("label-history.jsonl", lambda text: text.replace('"assignment-00001"', '["x"]')),
        ("label-history.jsonl", lambda text: text.replace('"run": 1', f'"run": {"1" * 5000}')),
    ],
)
def test_a_history_or_a_plan_that_cannot_be_read_is_named(
    bundle: Path, name: str, change: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.bundles.verifying.recompute", lambda *of: Recomputed(0, 0, (), ()))
    edit(bundle, name, change)
    seal_again(bundle)
    found = verify(bundle)
    assert not found.holds
    assert found.broken


def test_nothing_that_a_bundle_says_steers_a_terminal(bundle: Path) -> None:
    edit(bundle, "labels.csv", lambda text: text.replace("mini", "\x1b[2J\x1b[32mholds\x07"))
    edit(bundle, SUMS, lambda text: text + f"{'0' * 64}  \x1b[2Jgone\n")
    assert all(line.isprintable() for line in describe(verify(bundle)))


def test_sums_that_list_a_path_twice_are_refused(bundle: Path) -> None:
    edit(bundle, SUMS, lambda text: f"{'0' * 64}  labels.csv\n" + text)
    with pytest.raises(ExportError, match="for the second time"):
        verify(bundle)


def test_links_and_pipes_are_named_and_not_followed(bundle: Path) -> None:
    (bundle / "report" / "agreement.json").unlink()
    (bundle / "report" / "agreement.json").symlink_to("/dev/zero")
    os.mkfifo(bundle / "pipe")
    found = verify(bundle)
    assert found.added == ("pipe", "report/agreement.json")
    assert found.missing == ("report/agreement.json",)
    assert "not recomputed: pipe is a link or no file" in "\n".join(describe(found))


def test_the_script_runs_no_code_that_was_compiled_before(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "forged.py").write_text("print('forged')\nraise SystemExit(0)\n")
    own = bundle / "code" / "exports" / "bundles" / "verifying.py"
    own.write_text("def verify(at):\n    raise SystemExit('its own')\n\n\ndescribe = verify\n")  # without its libraries
    compiled = Path(importlib.util.cache_from_source(str(own)))
    compiled.parent.mkdir()
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(tmp_path / "forged.py"), str(compiled), invalidation_mode=unchecked)
    run = [sys.executable, "-I", str(bundle / "recompute.py")]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "its own\n")
    assert changed_files(bundle)[2] == (compiled.relative_to(bundle).as_posix(),)


def test_labels_that_are_one_rater_short_do_not_pass(bundle: Path) -> None:
    labels = pd.read_csv(bundle / "labels.csv", dtype="str", keep_default_na=False)
    labels[labels["rater_id"] != "Cem"].to_csv(bundle / "labels.csv", index=False)
    seal_again(bundle)
    assert not verify(bundle).holds

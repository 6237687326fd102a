"""Every number a report can print rests on a source, and every source is BibTeX that compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from annotation.protocol import shipped_protocols
from calibration.agreement.catalogue import METRICS
from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings
from exports.bibliography import FILE, METHODS, PROTOCOLS, STATISTICS, bibtex, entries, keys_of, used
from exports.errors import ExportError
from tests.exports.toy_facts import bare_report, toy_methods_report

REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title", "howpublished", "year"},
}
TEXT = FILE.read_text(encoding="utf-8")
KINDS = ("pairwise", "rating", "probe")


def everything(kind: str) -> CalibrationReport:
    """A report with every statistic of its kind of label: all flags on, two judges, one in both orders, repeats."""
    rng, rows = np.random.default_rng(1), []
    choices = {"pairwise": ["A", "A", "B", "B", "tie", "not_applicable"], "rating": [*"0123456789"], "probe": [*"ynp"]}
    paired = kind == "pairwise"
    for topic in range(12):
        for a, b in [("p", "q"), ("q", "r"), ("p", "r")] if paired else [("p", ""), ("q", ""), ("r", "")]:
            for rater, rater_kind in [
                ("h1", "human"),
                ("h2", "human"),
                ("h3", "human"),
                ("j1", "judge"),
                ("j2", "judge"),
            ]:
                for run in (1, 2) if rater in ("j1", "h1") else (1,):
                    for presentation in (("AB", "BA") if rater == "j1" else ("AB",)) if paired else ("",):
                        rows.append(
                            {"item_id": f"{topic}{a}{b}", "rater_id": rater, "rater_kind": rater_kind, "run": run,
                             "criterion": "c", "label": rng.choice(choices[kind]), "cluster_id": f"t{topic}",
                             "system_a": a, "system_b": b, "presentation": presentation, "category": f"k{topic % 2}",
                             "len_a": 1000 + int(rng.integers(900)), "len_b": 1000 + int(rng.integers(900)),
                             "seconds": 2.0, "cost_usd": 0.01, "rationale": "for this and that and no other reason"}
                        )  # fmt: skip
    scales = {} if paired else {"c": tuple(sorted(set(choices[kind])))}
    return calibrate(
        pd.DataFrame(rows),
        CalibrationSettings(resamples=49, generalise_to="pairs_and_annotators", per_criterion=True, per_category=True,
                            per_system_pair=True, unclustered=True, scales=scales, families={"j1": "f", "p": "f"}),
    )  # fmt: skip


@pytest.fixture(scope="module")
def reports() -> list[CalibrationReport]:
    return [everything(kind) for kind in KINDS]


def test_every_metric_of_the_catalogue_has_its_source() -> None:
    for metric in METRICS:
        assert keys_of(metric.name) == metric.source
        assert {*metric.source} <= {*entries()}, metric.name


def test_every_statistic_and_method_a_report_prints_is_known(reports: list[CalibrationReport]) -> None:
    estimates = [one for report in reports for one in report.estimates]
    assert {one.statistic for one in estimates if keys_of(one.statistic) is None} == set()
    assert {one.method for one in estimates} <= {*METHODS}
    assert len({one.statistic for one in estimates}) > 60, "too few to mean anything"


def test_what_a_report_uses_is_written_and_nothing_else(reports: list[CalibrationReport]) -> None:
    for report in reports:
        keys = used(report)
        assert re.findall(r"^@\w+\{([^,]+),", bibtex(keys), flags=re.M) == list(keys) == sorted(set(keys))
    assert "shrout1979intraclass" in used(reports[1])
    assert "shrout1979intraclass" not in used(reports[0])
    assert {"bradley1952rank", "cameron2011robust", "romano2005stepwise", "holm1979simple"} <= {*used(reports[0])}


def test_a_report_with_little_to_say_cites_little() -> None:
    assert used(bare_report()) == ("cohen1960coefficient",)
    assert bibtex(()) == ""
    assert {"calderon2025alternative", "benjamini2001control"} <= {*used(toy_methods_report())}


def test_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(ExportError, match="nobody2020"):
        bibtex(["cohen1960coefficient", "nobody2020"])


def test_every_key_named_in_the_code_is_an_entry_and_every_entry_is_of_use() -> None:
    named = {key for keys in (STATISTICS, METHODS, PROTOCOLS) for found in keys.values() for key in found}
    named |= {key for metric in METRICS for key in keys_of(metric.name) or ()}
    beside = {"holm1979simple", "wellek2010testing", "berger1982multiparameter", "donner1986review",
              "bloom1995minimum", "hays1963statistics", "steiger2004beyond", "angelopoulos2021learn", "geifman2017selective"}  # fmt: skip
    assert named | beside == {*entries()}


def test_shipped_protocols_of_published_studies_are_cited() -> None:
    uncited = [name for name in shipped_protocols() if not any(name.startswith(study) for study in PROTOCOLS)]
    assert uncited == ["quick_start"]


def test_keys_are_unique_and_sorted() -> None:
    keys = re.findall(r"^@\w+\{([^,]+),", TEXT, flags=re.M)
    assert keys == sorted(set(keys))
    with_metrics = sum(bool(metric.bibtex) for metric in METRICS)
    assert len(keys) == len(entries()) - with_metrics == TEXT.count("\n@")


@pytest.mark.parametrize("key", sorted(entries()))
def test_an_entry_is_whole(key: str) -> None:
    text = entries()[key]
    kind = re.match(r"@(\w+)\{", text)
    found = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", text, flags=re.M))
    assert kind
    assert REQUIRED[kind[1]] <= {*found}
    assert len(found) == text.count(" = {"), "every field stands on one line"
    assert text.count("{") == text.count("}")
    assert all(value.count("{") == value.count("}") and value.strip() for value in found.values())
    assert re.fullmatch(r"\d{4}", found["year"])
    assert found["year"] in key
    assert re.fullmatch(r"[A-Z].*", found["author"])
    assert " and " not in found["author"].removesuffix(" and")[:3]
    assert re.fullmatch(r"\d+--\d+", found.get("pages", "1--2"))
    assert re.fullmatch(r"10\.\d{4,}/\S+", found.get("doi", "10.1000/x"))
    assert re.fullmatch(r"arXiv:\d{4}\.\d{5}", found.get("howpublished", "arXiv:2411.00640"))
    assert text.isascii(), "older BibTeX sorts ASCII alone"


if shutil.which("bibtex"):

    def test_bibtex_reads_the_whole_file_without_a_warning(tmp_path: Path) -> None:
        (tmp_path / "all.bib").write_text(bibtex(entries()), encoding="utf-8")
        (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibdata{all}\n\\bibstyle{plain}\n", encoding="utf-8")
        done = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, "Warning" in done.stdout) == (0, False), done.stdout

"""The methods section says what the facts and the report hold, in English, and nothing else."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from annotation.judges.defining.panel import DERIVED
from calibration.delegating.cascade import Cascade
from exports.bibliography import bibtex, entries
from exports.facts import JudgeFacts, StudyFacts, facts_of, software_versions
from exports.words.grammar import amount, listed, opening, percent, points
from exports.words.methods import methods_in, methods_paragraph
from exports.words.methods_numbers import PANEL
from plain.counting import counted
from plain.wording import speaking
from tests.exports.toy import toy_estimate
from tests.exports.toy_facts import (
    MINI,
    SMALL,
    agreeing_report,
    bare_report,
    people_facts,
    people_report,
    toy_facts,
    toy_methods_report,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
STUDIES = {
    "methods-full": (toy_methods_report, toy_facts),
    "methods-people": (people_report, people_facts),
    "methods-bare": (agreeing_report, lambda: None),
    "methods-undefined": (bare_report, lambda: None),
}


@pytest.mark.parametrize("name", STUDIES)
def test_the_section_of_a_study_is_the_one_a_reviewer_read(name: str) -> None:
    report, facts = STUDIES[name]
    made = methods_paragraph(report(), facts())
    assert made.markdown == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")
    assert made.latex == (GOLDEN / f"{name}.tex").read_text(encoding="utf-8")


def test_a_section_in_chinese_is_the_one_that_was_read_and_tells_no_english_sentence() -> None:
    made = methods_in("zh_CN", toy_methods_report(), toy_facts())
    assert made == (GOLDEN / "methods-full.zh-CN.md").read_text(encoding="utf-8")
    for report, facts in STUDIES.values():
        told = methods_in("zh_CN", report(), facts())
        assert "仅见英文版" not in told
        told = re.sub(r"“[^”]*”|\[@[^]]*\]", "", told)  # but for the task's words and keys of citations
        assert not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", told), told
        numbers = set(re.findall(r"(?<![\d.,])\.\d{2}(?!\d)", told))
        assert numbers <= set(re.findall(r"\.\d{2}(?!\d)", methods_paragraph(report(), facts()).markdown)) | {".8"}


@pytest.mark.parametrize("name", STUDIES)
def test_every_citation_of_the_text_has_its_entry(name: str) -> None:
    report, facts = STUDIES[name]
    made = methods_paragraph(report(), facts())
    in_latex = {key for keys in re.findall(r"\\citep\{([^}]*)\}", made.latex) for key in keys.split(",")}
    in_markdown = set(re.findall(r"(?<!\\)@([\w:-]+)", made.markdown))
    assert in_latex == in_markdown == {*made.cited}
    assert {*made.cited} <= {*entries()}
    assert list(made.cited) == sorted(made.cited)


@pytest.mark.parametrize("name", STUDIES)
def test_no_likeness_is_claimed(name: str) -> None:
    report, facts = STUDIES[name]
    assert not re.search(
        r"\b(equal|equals|equally|same|on par|as good as)\b", methods_paragraph(report(), facts()).markdown
    )


def test_a_simulated_study_says_so_in_its_first_sentence() -> None:
    assert methods_paragraph(people_report(), people_facts()).markdown.startswith(
        "**Material.** All annotators and judges of this study are simulated;"
    )
    some = replace(people_facts(), labels={"ok": 300}, labels_simulated=299)
    assert methods_paragraph(people_report(), some).markdown.startswith(
        "**Material.** 299 of the 300 labels by annotators of this study are simulated, and so are the judges"
    )


def test_a_bare_table_leaves_more_open_than_a_study() -> None:
    bare = methods_paragraph(toy_methods_report(), None).to_state
    known = methods_paragraph(toy_methods_report(), toy_facts()).to_state
    assert len(bare) > len(known) + 5
    assert "What annotators were paid" in bare
    assert "What annotators were paid" not in known
    assert any("recruited" in one for one in known), "no database knows how people were found"
    assert any("preregistered" in one for one in known), "a root that only our own database keeps is no registration"
    with speaking("zh_CN"):  # a page tells them in its own language
        told = methods_paragraph(toy_methods_report(), None).to_state
    assert len(told) == len(bare)
    assert not [one for one in told if re.search("[A-Za-z]{2}", one)]


def test_a_bare_table_is_told_of_by_what_it_shows_alone() -> None:
    text = methods_paragraph(toy_methods_report(), None).markdown
    for word in ("drawn", "hidden", "removed", "paid", "protocol", "coin", "stripper"):
        assert word not in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"items": 1, "pairs": 1, "pairs_possible": 1, "pairs_with_reference": 0}, "The one item shows two reports"),
        ({"pairs_with_reference": 0}, "30 pairs of the 180 possible on these topics became items (design reference)."),
        (
            {"pairs_with_reference": 0, "design": "balanced", "per_category": 2},
            "became items (a balanced incomplete block design over the systems), on 2 topics drawn from each category.",
        ),
        ({"pairs_with_reference": 0, "design": "file"}, "became items (a list of pairs written by hand)."),
        ({"pairs_with_reference": 0, "design": "of 2027"}, "became items (design of 2027)."),
        ({"roster": True}, "1 to 3 annotators per item; a seeded roster had said beforehand who labels which item."),
        ({"overlap_max": 1, "overlap_planned": 2}, "with 1 annotator per item (2 were planned)."),
        ({"pairs_with_reference": 0, "pairs_possible": 30}, "All possible pairs of reports on a topic became items."),
        ({"words_min": 13_762}, "60 reports (13,762 words) by 4 systems"),
        ({"reference_systems": 0}, "by 4 systems on 30 topics"),
        ({"languages": ("en",)}, "30 topics (language: en)"),
        ({"citations_stripped": False}, "Citations were left in the reports."),
        ({"orders": {"A": 1}}, "A stood on the left in 1 of 1 comparison handed in (100\u00a0%)."),
        ({"imported_labels": 3198}, "By the files that were imported, report A stood on the left in 41 of 80"),
        ({"imported_labels": 5}, "Five labels were made elsewhere and imported."),
        ({"unproved_texts": 5}, "For 5 labels made elsewhere the files do not prove which text was read."),
        ({"revealed_at": "2026-11-19", "labels_after_reveal": 1}, "on 2026-11-19; 1 label was given after that."),
        (
            {"revealed_at": "2026-11-19", "labels_after_reveal": 2, "after_reveal_left_out": True},
            "2 labels were given after that, and no estimate rests on them.",
        ),
        ({"annotators": 1, "overlap_max": 1, "staff_labelled": 0}, "One annotator handed in 3,198 labels from"),
        ({"first_label": "2026-11-17"}, "labels on 2026-11-17, with"),
        ({"annotators_simulated": 1}, "Three annotators (1 of them simulated) handed in"),
        ({"allow_tie": False}, "“Not applicable” was allowed, ties were not."),
        ({"allow_tie": True, "allow_not_applicable": False}, "Ties were allowed, “not applicable” was not."),
        ({"allow_tie": None, "allow_not_applicable": False}, "“Not applicable” was not allowed."),
        ({"pay_rate": None}, "the server's clock allows."),
        ({"active_hours": None}, "The rate of pay was 10.00 USD per active hour."),
        ({"rationale_min_length": 1}, "a rationale of at least 1 character."),
        (
            {"judges": (SMALL,)},
            "One judge answered, given the stored text that annotators read, with the prompt template of sha256 71b41c813812",
        ),
        (
            {"judges": (replace(MINI, reported=("openai/gpt-5-mini",)),)},
            "gpt-5_mini (model openai/gpt-5-mini, temperature: provider default",
        ),
        ({"judges": (replace(MINI, parameters={}),)}, "temperature: provider default"),
        (
            {"judges": (JudgeFacts(name="rule", model="baseline:longer", provider="code", calls=60, cost=0.0),)},
            "rule (code and no model: baseline:longer, 60 calls",
        ),
        ({"judges": (SMALL,)}, "No system under comparison is known to be by the maker of a judge."),
        ({"labels_before_plan": 1}, "showed a result; by then annotators had given 1 answer."),
        ({"margin_in_protocol": False}, "The protocol states no margin, so it is that of the software's defaults."),
        ({"plan_roots": 2}, "root hash efefefefefefefef, which was changed once since its first hash was kept."),
        (
            {"labels": {"ok": 110}, "purposes": {"label": 100, "adjudicate": 10}},
            "Three annotators handed in 100 labels from",
        ),
        ({"purposes": {"adjudicate": 10}}, "10 adjudicator's labels"),
        ({"plan_roots": 1}, "root hash efefefefefefefef.\n"),
        ({"protocol_changed_after_labels": 3}, "The protocol was changed 3 times after labels existed."),
    ],
)
def test_each_fact_changes_its_sentence(change: dict[str, Any], sentence: str) -> None:
    text = methods_paragraph(toy_methods_report(), replace(toy_facts(), **change)).markdown
    assert sentence in text.replace("\\_", "_"), text


@pytest.mark.parametrize(("ties", "told"), [("three_class", False), ("half_credit", True), ("exclude", True)])
def test_another_rule_for_ties_is_not_that_of_the_coefficients(ties: str, told: bool) -> None:
    report = toy_methods_report()
    report = replace(report, settings=replace(report.settings, ties=ties))
    text = methods_paragraph(report, toy_facts()).markdown
    assert ("Coefficients take a tie as a label like another." in text) == told


def test_what_is_made_of_other_judges_was_never_asked() -> None:
    report = toy_methods_report()
    answered = {name: {"ok": 10, "invalid": 1} for name in ("mini", "mini then small", "jury [panel]")}
    share = toy_estimate("escalated_share", "mini then small", 0.2)
    report = replace(
        report,
        labels=replace(report.labels, judges=list(answered), statuses=answered),
        cascades=(Cascade("mini then small", share, share, math.nan),),
    )
    for facts in (toy_facts(), None):
        text = methods_paragraph(report, facts).markdown
        assert "Two further candidates are made of the answers of these judges" in text
        assert "mini then small and jury [panel]." in re.sub(r"\\(.)", r"\1", text)
        assert "1 of 11 answers of judges could not be used" in text
    assert PANEL == DERIVED


def test_no_fact_leaves_a_sentence_that_nobody_can_support() -> None:
    text = methods_paragraph(people_report(), replace(people_facts(), stale_labels=None)).markdown
    assert "No label that was handed in was left out" not in text
    assert "No label that was handed in was left out" in methods_paragraph(people_report(), people_facts()).markdown


NAMES = st.text(alphabet=st.sampled_from("abc_&%#{}\\^~<>|*`$é中😀=+\ue000\ue001"), max_size=8).map(
    lambda text: f"a{text}"
)
COUNTS = st.none() | st.integers(0, 3) | st.integers(0, 2_000_000)
SHARES = st.none() | st.floats(0, 1)
KINDS = st.dictionaries(
    st.sampled_from(["A", "B", "unknown", "keep", "mask", "exclude", "open", "ok"]), st.integers(0, 99)
)
STRATA = {"by": ["verdict"], "each": 2, "judge": "j_1", "drawn": [[["a_b"], 2, 9], [[""], 1, 1]]}
BY_TYPE: dict[Any, st.SearchStrategy[Any]] = {
    str: NAMES,
    str | None: st.none() | st.sampled_from(["closed", "open", "full", "both", "all"]) | NAMES,
    int | None: COUNTS,
    bool | None: st.none() | st.booleans(),
    float | None: SHARES,
    tuple[str, ...]: st.lists(NAMES, max_size=3).map(tuple),
    Mapping[str, int]: KINDS,
    Mapping[str, str]: st.dictionaries(st.sampled_from(["calipers", "numpy", "python"]), st.just("1.0")),
    Mapping[str, Any] | None: st.none()
    | st.just({})
    | st.just({"temperature": 0.5, "seed": "repeat_no"})
    | st.just(STRATA),
}


def facts_with(kind: type, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    own = {one.name: BY_TYPE[one.type] for one in fields(kind) if one.name not in more}
    return st.builds(kind, **own, **more)


ANY_FACTS = facts_with(StudyFacts, judges=st.lists(facts_with(JudgeFacts), max_size=8).map(tuple))
REPORTS = {one.__name__: one() for one in (toy_methods_report, people_report, agreeing_report, bare_report)}


@given(facts=ANY_FACTS, report=st.sampled_from([*REPORTS]))
@settings(phases=(Phase.explicit, Phase.generate))  # shrinking a hundred fields takes minutes
def test_whatever_is_unknown_the_text_stays_whole(facts: StudyFacts, report: str) -> None:
    made, chinese = methods_paragraph(REPORTS[report], facts), methods_in("zh_CN", REPORTS[report], facts)
    wrong = re.search(r"None|nan|（\s*）|[，、：；（]\s*[，、：；。）]|。。|  |[\ue000\ue001]", chinese)
    assert wrong is None, chinese[max(0, wrong.start() - 40) : wrong.end() + 20]
    for text in (made.markdown, made.latex):
        wrong = re.search(r"None|nan|  |\(\)|\[\]|\( | \)| [.,;:]( |$)|\.\.|, ,|[\ue000\ue001]", text)
        assert wrong is None, text[max(0, wrong.start() - 80) : wrong.end() + 40]
    assert {*made.cited} <= {*entries()}


@given(ANY_FACTS)
def test_facts_survive_json(facts: StudyFacts) -> None:
    assert facts_of(asdict(replace(facts, versions={"calipers": "1"}))) == replace(facts, versions={"calipers": "1"})


def test_a_name_that_is_no_fact_is_refused() -> None:
    with pytest.raises(TypeError, match="email"):
        facts_of({"email": "ada@example.org"})
    with pytest.raises(TypeError, match="api_base"):
        facts_of({"judges": [{"name": "mini", "api_base": "http://10.0.0.1"}]})


def test_the_software_of_a_bare_table_is_known() -> None:
    assert facts_of().versions == software_versions()
    assert {"calipers", "python", "numpy", "pandas", "scipy"} <= {*software_versions()}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (counted(1, "topic"), "1 topic"),
        (counted(2400, "topic"), "2,400 topics"),
        (counted(5, "criterion"), "5 criteria"),
        (counted(2, "judge", "further"), "2 further judges"),
        (counted(2, "possible pair"), "2 possible pairs"),
        (opening(1, "judge"), "One judge"),
        (opening(12, "label"), "Twelve labels"),
        (opening(13, "label"), "13 labels"),
        (opening(3), "Three"),
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b"]), "a and b"),
        (listed(["a", "b", "c"]), "a, b and c"),
        (listed(["a, b", "c", "d"]), "a, b; c; and d"),
        (percent(0.0312), "3.1\u00a0%"),
        (percent(1), "100\u00a0%"),
        (percent(0.0004), "<0.1\u00a0%"),
        (percent(0), "0\u00a0%"),
        (points(0.05), "5 points"),
        (points(0.01), "1 point"),
        (points(0.025), "2.5 points"),
        (amount(1240.5), "1,240.50"),
        (amount(0.01496), ".015"),
        (amount(0), ".00"),
    ],
)
def test_one_or_many_and_no_digit_too_many(said: str, expected: str) -> None:
    assert said == expected


if shutil.which("pdflatex") and shutil.which("bibtex"):

    @pytest.mark.parametrize("layout", ["", "[twocolumn]"])
    def test_the_section_compiles_as_it_is_with_its_references(tmp_path: Path, layout: str) -> None:
        made = methods_paragraph(toy_methods_report(), toy_facts())
        (tmp_path / "references.bib").write_text(bibtex(made.cited), encoding="utf-8")
        (tmp_path / "page.tex").write_text(
            f"\\documentclass{layout}{{article}}\n\\begin{{document}}\n{made.latex}"
            "\\bibliographystyle{plain}\\bibliography{references}\n\\end{document}\n",
            encoding="utf-8",
        )
        latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page"]
        for command in (latex, ["bibtex", "page"], latex, latex):
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-2000:]
        assert "undefined" not in done.stdout
        too_wide = [float(width) for width in re.findall(r"Overfull \\hbox \((\d+\.\d+)pt", done.stdout)]
        assert max(too_wide, default=0.0) < 12, "no line runs visibly over its column"

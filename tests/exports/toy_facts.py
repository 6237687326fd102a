"""Facts of one imagined study, with every kind of thing a methods section must say."""

from __future__ import annotations

from dataclasses import replace

from calibration.comparing.alternative_annotator import AnnotatorTest
from calibration.remarks import undefined
from calibration.results import CalibrationReport
from exports.facts import JudgeFacts, StudyFacts
from tests.exports.toy import BOOTSTRAP, NAN, toy_estimate, toy_report
from tests.exports.toy_choice import toy_choice

VERSIONS = {"calipers": "0.1.0", "python": "3.11.9", "numpy": "2.4.6", "litellm": "1.106.2"}
MINI = JudgeFacts(
    name="gpt-5_mini", model="openai/gpt-5-mini", reported=("gpt-5-mini-2025-08-07",), provider="openai",
    family="openai", own_family_systems=1, prompt_sha256="71b41c813812" + "0" * 52,
    parameters={"reasoning_effort": "low"}, not_sent=("temperature", "top_p"), batching="all", order="both",
    repeats=1, settings_tried=1, first_call="2026-11-18", last_call="2026-11-19", calls=60, attempts=64, cost=1.2345,
    wasted_share=0.0312, imported=False,
)  # fmt: skip
SMALL = JudgeFacts(
    name="small", model="meta-llama/small", provider="together_ai", family="meta", own_family_systems=0,
    prompt_sha256="71b41c813812" + "0" * 52, parameters={"temperature": 0}, batching="one_criterion", order="both",
    repeats=2, settings_tried=3, first_call="2026-11-19", last_call="2026-11-19", calls=240, attempts=240,
    imported=False,
)  # fmt: skip
ELSEWHERE = JudgeFacts(name="tiny", imported=True)


def toy_facts() -> StudyFacts:
    """A study with hostile words in it, flags decided, people paid, items left out, and a plan kept."""
    return StudyFacts(
        name="rivers_&_tides", title="Rivers", protocol="wlc_writing_39", protocol_sha256="ab" * 32,
        protocol_version=2, protocol_changed_after_labels=1, task_type="pairwise_choice",
        task="Which report is 100 % better, $a$ or `b`?", status="closed", is_simulated=False, seed=7, topics=30,
        systems=4, reference_systems=1, reports=60, words_min=812, words_max=13_762, items=30, criteria=39,
        languages=("en", "zh"), design="reference", pairs=30, pairs_possible=180, pairs_with_reference=30,
        per_topic_min=1, per_topic_max=1, overlap_min=1, overlap_max=3, orders={"A": 41, "B": 39, "unknown": 2},
        citations_stripped=True, stripper_versions=("8",), layout="canonical", layout_versions=("1/canonical",),
        flags={"keep": 12, "mask": 3, "open": 1}, edited_reports=1, restored_reports=2, excluded_reports=1,
        blind_until="closed", labels_after_reveal=0, unproved_texts=0,
        blinding_audit={"sentence": "Reports were label-blind, not style-blind: length and style remain.",
                        "guessed": "Annotators named a kind for 4 of 60 reports.", "refused": "", "shown_formatting": 0.41, "shown_length": 0.3, "chance": 0.25,
                        "zh_CN": {"sentence": "报告隐去了标签，但没有隐去文风：长度和文风仍在。", "guessed": "标注者指出了 60 份报告中 4 份的来源类别。"}},
        annotators=3, annotators_simulated=0, roles={"annotator": 3, "admin": 1}, may_see_and_label=True,
        staff_labelled=1, consent_sha256="cd" * 32, consented=3, training_items=5, training_passed=3,
        active_hours=41.257, pay_rate=10.0, pay_currency="USD", pay_total=412.57, labels={"ok": 3198},
        judge_labels={"ok": 4660, "invalid": 20}, purposes={"label": 3100, "retest": 78, "attention": 20},
        imported_labels=0, first_label="2026-11-02", last_label="2026-11-17", allow_tie=True,
        allow_not_applicable=True, rationale_required=True, rationale_min_length=20, confidence_asked=False,
        items_excluded=1, excluded_item_labels=39, stale_labels=4, criteria_retired=1, retired_labels=30,
        examples={"small": 2}, judges=(MINI, SMALL, ELSEWHERE), plan_root="ef" * 32, plan_sha256="12" * 32,
        plan_kept_at="2026-11-01", plans_kept=1, labels_before_plan=0, margin_in_protocol=True,
        epsilon_in_protocol=False, versions=VERSIONS,
    )  # fmt: skip


def toy_methods_report() -> CalibrationReport:
    """A choice, biases, agreement and alternative annotator tests in one report."""
    chosen, agreed = toy_choice(), toy_report()
    estimates = agreed.estimates + tuple(one for one in chosen.estimates if one.statistic != "cost_per_item")
    estimates += (toy_estimate("advantage_probability", "gpt-5_mini", 0.97, 0.93, 1.0, BOOTSTRAP),)
    tested = [one_annotator("ann1", 0.001, True), one_annotator("ann2", NAN, False, "fewer than 30 labels")]
    tests = tuple(
        replace(one, method="cluster_bootstrap_t", note="", annotators=tuple(tested)) for one in chosen.alt_tests or ()
    )
    statuses = {"gpt-5_mini": {"ok": 2332, "invalid": 8}, "small": {"ok": 2328, "invalid": 10, "refused": 2}}
    joins = {"small": {"human_rows_joined": 1100, "human_rows_without_judge": 70, "judge_units_without_human": 0}}
    labels = replace(chosen.labels, statuses=statuses, joins=joins)
    return replace(chosen, labels=labels, alt_tests=tests, estimates=estimates)


def one_annotator(name: str, p: float, rejected: bool, note: str = "") -> AnnotatorTest:
    return AnnotatorTest(name, 0.97, -0.1, p, p, rejected, 390 if rejected else 12, 30, note)


def bare_report(annotators: int = 1) -> CalibrationReport:
    """A bare labels.csv: one judge, and so few labels that nothing has a value."""
    nothing = undefined("no_items")
    estimates = (
        toy_estimate("percent_agreement", "mini", NAN, note=nothing, n=0, clusters=0),
        toy_estimate("cohen_kappa", "mini", NAN, note=nothing, n=0, clusters=0),
    )
    people = ["ann1", "ann2"][:annotators]
    labels = replace(
        toy_report().labels, rows=4, items=1, clusters=1, annotators=people, judges=["mini"],
        systems=["atlas", "borealis"], statuses={"mini": {"ok": 1, "missing": 1}}, marginals={},
    )  # fmt: skip
    return CalibrationReport(labels, replace(toy_report().settings, seed=3), (), estimates)


def agreeing_report() -> CalibrationReport:
    """A bare labels.csv: one judge beside one annotator, with values and intervals."""
    estimates = tuple(one for one in toy_report().estimates if one.rater == "gpt-5_mini")
    labels = replace(toy_report().labels, annotators=["ann1"], judges=["gpt-5_mini"], marginals={}, systems=[])
    return CalibrationReport(labels, toy_report().settings, (), estimates)


def people_report() -> CalibrationReport:
    """Annotators alone: no judge was asked."""
    estimates = tuple(one for one in toy_report().estimates if one.rater == "each_annotator")
    labels = replace(toy_report().labels, judges=[], marginals={}, statuses={})
    return CalibrationReport(labels, toy_report().settings, (), estimates)


def people_facts() -> StudyFacts:
    """One topic, one pair, one person of each kind, all simulated; nothing left out."""
    return StudyFacts(
        name="small", protocol="quick_start", protocol_version=1, protocol_changed_after_labels=0,
        task_type="pairwise_choice", task="Which is clearer?", status="open", is_simulated=True, seed=1, topics=1,
        systems=2, reference_systems=0, reports=2, words_min=300, words_max=300, items=1, criteria=1,
        languages=("en",), pairs=1, pairs_possible=1, pairs_with_reference=0, per_topic_min=1, per_topic_max=1,
        overlap_min=1, overlap_max=1, orders={"A": 1}, citations_stripped=False, layout="kept",
        blind_until="open", labels_after_reveal=0, unproved_texts=0, annotators=1, annotators_simulated=1,
        staff_labelled=0, consented=0, training_passed=0, labels={"ok": 1}, purposes={"label": 1},
        imported_labels=0, first_label="2026-11-02", last_label="2026-11-02", allow_tie=False,
        allow_not_applicable=False, rationale_required=False, rationale_min_length=0, items_excluded=0,
        stale_labels=0, criteria_retired=0, plans_kept=0,
    )  # fmt: skip

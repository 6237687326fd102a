"""A calibration report small enough to check by eye, with every case a table must show."""

from __future__ import annotations

import math

from calibration.remarks import Said, no_interval, remarks_of, undefined
from calibration.results import CalibrationReport, CalibrationSettings, Estimate, LabelCounts, ReportWarning

NAN = math.nan
WILSON, BOOTSTRAP, T = "wilson_effective_n", "cluster_bootstrap_expanded", "cluster_t"


def toy_estimate(
    statistic: str,
    rater: str,
    value: float,
    low: float = NAN,
    high: float = NAN,
    method: str = "none",
    note: Said = (),
    reference: str = "each_annotator",
    n: int = 1170,
    clusters: int = 30,
) -> Estimate:
    return Estimate(
        statistic, rater, reference, "all", "all", value, low, high, 0.95, n, clusters, method, remarks_of(note)
    )


def toy_report(ties: str = "three_class") -> CalibrationReport:
    """Judges: an ordinary one, one with a hostile name whose kappa is undefined, one without intervals; and people."""
    plain, hostile, thin, people = "gpt-5_mini", "=cmd|'&%$ #1", "tiny", "each_annotator"
    constant = undefined("constant_rater")
    still = undefined("zero_variance")
    few = no_interval("too_few_units")
    estimates = (
        toy_estimate("percent_agreement", plain, 0.741, 0.684, 0.798, WILSON),
        toy_estimate("percent_agreement_half_credit", plain, 0.8, 0.76, 0.84, BOOTSTRAP),
        toy_estimate("percent_agreement_exclude_ties", plain, 0.85, 0.8, 0.9, WILSON, "kept 90.0 %", n=1053),
        toy_estimate(
            "constant_judge_baseline",
            plain,
            0.47,
            note=["always A", no_interval("best_of_several", "the best of 3 answers")],
        ),
        toy_estimate(
            "constant_judge_baseline_by_system", plain, 0.61, note=no_interval("best_of_several", "the best of several")
        ),
        toy_estimate("chance_agreement", plain, 0.38, 0.36, 0.4, BOOTSTRAP),
        toy_estimate("cohen_kappa", plain, 0.5, 0.42, 0.58, BOOTSTRAP),
        toy_estimate("cohen_kappa_symmetrised", plain, 0.505, 0.425, 0.585, BOOTSTRAP),
        toy_estimate("krippendorff_alpha_nominal", plain, 0.4999, 0.4949, 0.5049, BOOTSTRAP),
        toy_estimate("pearson", plain, -0.001, -0.12, 0.118, BOOTSTRAP),
        toy_estimate("spearman", plain, 1.0, 0.97, 1.0, BOOTSTRAP),
        toy_estimate("percent_agreement", hostile, 1 / 3, 0.25, 0.43, WILSON),
        toy_estimate("cohen_kappa", hostile, NAN, note=constant),
        toy_estimate("cohen_kappa_symmetrised", hostile, -0.2, -0.9, 0.4, BOOTSTRAP),
        toy_estimate("krippendorff_alpha_nominal", hostile, -0.15, -0.25, -0.05, BOOTSTRAP),
        toy_estimate("pearson", hostile, NAN, note=["coded A = 1, tie = .5, B = 0", still]),
        toy_estimate("spearman", hostile, NAN, note=["coded A = 1, tie = .5, B = 0; midranks", still]),
        toy_estimate("percent_agreement", thin, 0.5, note=few, n=2, clusters=1),
        toy_estimate("cohen_kappa", thin, 0.0, note=few, n=2, clusters=1),
        toy_estimate("percent_agreement", people, 0.8, 0.74, 0.85, WILSON, reference="others", n=1100),
        toy_estimate("cohen_kappa", people, 0.62, 0.54, 0.7, BOOTSTRAP, reference="others", n=1100),
        toy_estimate("krippendorff_alpha_nominal", people, 0.62, 0.54, 0.7, BOOTSTRAP, reference="others", n=1100),
        toy_estimate("cost_per_item", plain, 0.01234, 0.0115, 0.0132, T, "USD per item", reference="", n=30),
        toy_estimate(
            "cost_per_item",
            thin,
            0.0,
            note=["USD per item", no_interval("zero_variance", "no spread")],
            reference="",
            n=30,
        ),
    )
    labels = LabelCounts(
        rows=4680,
        items=30,
        clusters=30,
        cluster="topic",
        criteria={"clarity": "pairwise"},
        annotators=["ann1", "ann2"],
        judges=[plain, hostile, thin],
        marginals={"ann1": {"A": 500, "B": 600, "not_applicable": 70}},
        verdicts_sha256="0123456789abcdef" * 4,
    )
    warnings = (ReportWarning("two_annotators", words="2 annotators: add a third"),)
    return CalibrationReport(labels, CalibrationSettings(ties=ties), warnings, estimates)

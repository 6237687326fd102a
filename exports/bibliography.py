"""Which sources a report rests on, and their BibTeX: in `references.bib`, or with a metric of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from calibration.metrics import METRICS
from calibration.results import CalibrationReport
from exports.errors import ExportError

FILE = Path(__file__).parent / "references.bib"

# beginnings of statistics' names, the longest that fits first; () for plain counts and shares
STATISTICS: dict[str, tuple[str, ...]] = {
    "percent_agreement": (),
    "human_ceiling": (),
    "cohen_kappa": ("cohen1960coefficient",),
    "cohen_kappa_linear": ("cohen1968weighted",),
    "cohen_kappa_quadratic": ("cohen1968weighted",),
    "cohen_kappa_linearised": ("cohen1960coefficient",),
    "stratified_kappa": ("barlow1991comparison",),
    "gwet_ac1": ("gwet2008computing",),
    "pabak": ("byrt1993bias", "brennan1981coefficient"),
    "fleiss_kappa": ("fleiss1971measuring",),
    "light_kappa": ("light1971measures",),
    "krippendorff_alpha": ("krippendorff2004content", "hayes2007answering"),
    "balanced_accuracy": (),
    "pearson": ("pearson1895note",),
    "spearman": ("spearman1904proof",),
    "kendall_tau_b": ("kendall1945treatment",),
    "icc": ("shrout1979intraclass", "mcgraw1996forming"),
    "icc_of_agreement": ("donner1986review",),
    "rank_agreement_across_items": ("xie2026dr3",),
    "rank_agreement_within_topic": ("du2025deepresearch",),
    "constant_judge_baseline": (),
    "chance_agreement": (),
    "gap_to_ceiling": ("miller2024adding",),
    "agreement_difference": ("miller2024adding", "holm1979simple"),
    "advantage_probability": ("calderon2025alternative", "benjamini2001control"),
    "bradley_terry": ("bradley1952rank", "ford1957solution"),
    "judge_corrected": ("angelopoulos2023prediction", "angelopoulos2023ppi", "boyeau2024autoeval",
                        "mackinnon1985some"),
    "win_rate": (), "pair_win_rate": (), "total_score": (),
    "first_rate": ("zheng2023judging",),
    "flip_direction": ("wang2024large",), "score_shown_first": ("wang2024large",),
    "swap_consistency": ("zheng2023judging",),
    "order_effect": ("davidson1977extending", "mackinnon2023fast"),
    "longer": ("dubois2024length",),
    "longer_rate_given_vote": ("dubois2024length", "papke1996econometric"),
    "length_coefficient": ("dubois2024length", "liang1986longitudinal"),
    "self_preference": ("zheng2023judging", "panickssery2024llm"),
    "self_preference_given_vote": ("wataoka2024self",),
    "repeat_agreement": (), "changed_answers": (),
    "identical_rationales": (),
    "near_identical_rationales": ("broder1997resemblance",),
    "same": (), "soft": (), "hard": (), "kept_share": (), "valid_share": (), "applicability_agreement": (),
    "tie_rate_gap": (), "not_applicable_rate_gap": (), "cost_per_item": (), "seconds_per_item": (),
    "escalated_share": (),
    "expected_calibration_error": ("naeini2015obtaining", "kumar2019verified"),
    "calibration_error_by_chance": ("brocker2007increasing",),
    "brier": ("brier1950verification", "murphy1973new"),
    "confidence_auroc": ("hanley1982meaning",),
    "confidence_accuracy": (), "mean_confidence": (), "overconfidence": (), "accuracy_at_confidence": (),
    "no_majority_share": (),
}  # fmt: skip
METHODS: dict[str, tuple[str, ...]] = {
    "none": (),
    "wilson_effective_n": ("wilson1927probable", "korn1998confidence", "franco2019comparative", "kish1965survey"),
    "cluster_bootstrap_expanded": ("davison1997bootstrap", "field2007bootstrapping", "hesterberg2015what"),
    "cluster_bootstrap_percentile": ("davison1997bootstrap", "field2007bootstrapping"),
    "fisher_z_linearised": ("fleiss1969large",),
    "cluster_t": ("miller2024adding",),
    "exact_bound": ("wellek2010testing",),
    "max_t": ("romano2005stepwise",),
    "two_way_t": ("cameron2011robust",),
    "item_t": ("calderon2025alternative",),
    "wilson_unclustered": ("wilson1927probable",),
    "fisher_z_unclustered": ("fleiss1969large",),
}
PROTOCOLS = {  # of the published studies whose protocols come with calipers, by the beginning of their names
    "wlc_": ("wang2026wiki",),
    "drg_": ("coelho2025deepresearchgym",),
    "dr3_": ("xie2026dr3",),
    "rb_": ("li2025reportbench",),
    "race": ("du2025deepresearch",),
    "mtbench": ("zheng2023judging",),
}


def keys_of(statistic: str) -> tuple[str, ...] | None:
    """Sources of a statistic, by the longest name that begins its own; None where none does."""
    known = STATISTICS | {one.name: tuple(_keyed(one.bibtex)) for one in METRICS if one.bibtex}
    fitting = [name for name in known if statistic.startswith(name)]
    return known[max(fitting, key=len)] if fitting else None


def used(report: CalibrationReport) -> tuple[str, ...]:
    """Keys of every source that the report's statistics, intervals, tests and choice rest on, sorted."""
    return tuple(sorted({*_of_estimates(report), *_of_choice(report), *_of_effects(report)}))


def bibtex(keys: Collection[str]) -> str:
    """These entries and no other, sorted by key. Raises `unknown_reference`."""
    known = entries()
    unknown = sorted({*keys} - {*known})
    if unknown:
        raise ExportError("unknown_reference", f"references.bib holds no entry {unknown[0]!r}; add it there")
    return "\n\n".join(known[key] for key in sorted({*keys})) + "\n" if keys else ""


@cache
def entries() -> dict[str, str]:
    """Every entry of `references.bib` and of the catalogue of metrics by its key."""
    return _keyed("\n".join([FILE.read_text(encoding="utf-8"), *(one.bibtex for one in METRICS)]))


def _keyed(text: str) -> dict[str, str]:
    blocks = re.split(r"\n(?=@)", text)
    named = [(re.match(r"@\w+\{([^,]+),", block), block.strip()) for block in blocks]
    return {found[1]: block for found, block in named if found}


def _of_estimates(report: CalibrationReport) -> Iterator[str]:
    for one in report.estimates:
        yield from keys_of(one.statistic) or ()
        yield from METHODS.get(one.method, ())
    if any(one.code == "nested_labels" for one in report.warnings):
        yield from ("donner1986review", "kish1965survey")
    if report.data.get("effective_judges"):
        yield "kish1965survey"
    if report.biases:
        yield "bloom1995minimum"


def _of_choice(report: CalibrationReport) -> Iterator[str]:
    if report.choice is None:
        return
    claims = [one.claim for one in report.choice.candidates if one.claim]
    if claims:
        yield from ("wellek2010testing", "holm1979simple")
        yield from (key for one in claims for key in METHODS.get(one.test.method, ()))
    if report.choice.plan.against == "best_judge" and claims:
        yield "berger1982multiparameter"
    for one in report.choice.candidates:
        yield from METHODS.get(one.agreement.method, ())


def _of_effects(report: CalibrationReport) -> Iterator[str]:
    if report.data.get("category_effects"):
        yield from ("hays1963statistics", "steiger2004beyond")
    if report.data.get("alt_tests"):
        yield from ("calderon2025alternative", "benjamini2001control")

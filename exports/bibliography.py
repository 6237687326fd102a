"""Which sources a report rests on, and their BibTeX: in `references.bib`, or with a metric of the catalogue."""

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from calibration.agreement import catalogue
from calibration.results import CalibrationReport
from exports.errors import ExportError

FILE = Path(__file__).parent / "references.bib"

# beginnings of the names of statistics that the catalogue has not, the longest that fits first; () for plain counts and
# shares
STATISTICS: dict[str, tuple[str, ...]] = {
    "human_ceiling": (),
    "cohen_kappa_linearised": ("cohen1960coefficient",),
    "pass_rate": (), "rogan_gladen": ("rogan1978estimating",),
    "icc_of_agreement": ("donner1986review",),
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
    "tie_rate_gap": (), "not_applicable_rate_gap": (), "score_gap": (), "cost_per_item": (), "seconds_per_item": (),
    "escalated_share": (), "decided_share": (), "decided_error": (),
    "calibration_error_by_chance": ("brocker2007increasing",),
    "brier": ("brier1950verification", "murphy1973new"),
    "confidence_accuracy": (), "mean_confidence": (), "overconfidence": (), "accuracy_at_confidence": (),
    "no_majority_share": (),
}  # fmt: skip
METHODS: dict[str, tuple[str, ...]] = {
    "none": (),
    "wilson_effective_n": ("wilson1927probable", "korn1998confidence", "franco2019comparative", "kish1965survey"),
    "cluster_bootstrap_expanded": ("davison1997bootstrap", "field2007bootstrapping", "hesterberg2015what"),
    "cluster_bootstrap_percentile": ("davison1997bootstrap", "field2007bootstrapping"),
    "fisher_z_linearised": ("fleiss1969large",),
    "cluster_t": ("miller2024adding", "mackinnon2023fast"),
    "cluster_bootstrap_t": ("hall1992bootstrap", "hanley1983nothing", "wellek2010testing"),
    "exact_bound": ("wellek2010testing",),
    "confidence_sequence": ("waudbysmith2024time",),
    "max_t": ("romano2005stepwise",),
    "two_way_t": ("cameron2011robust",),
    "drawn_topics": ("desraj1956some", "sarndal1992model", "zrnic2024active"),
    "further_topic": ("gaffke2005three", "learned2019new", "rubin1981bayesian"),
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
    known = STATISTICS | {statistic.name: statistic.source for statistic in catalogue.METRICS}
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
    return _keyed("\n".join([FILE.read_text(encoding="utf-8"), *(statistic.bibtex for statistic in catalogue.METRICS)]))


def _keyed(text: str) -> dict[str, str]:
    blocks = re.split(r"\n(?=@)", text)
    named = [(re.match(r"@\w+\{([^,]+),", block), block.strip()) for block in blocks]
    return {found[1]: block for found, block in named if found}


def _of_estimates(report: CalibrationReport) -> Iterator[str]:
    for estimate in report.estimates:
        yield from keys_of(estimate.statistic) or ()
        yield from METHODS.get(estimate.method, ())
    if any(warning.code == "nested_labels" for warning in report.warnings):
        yield from ("donner1986review", "kish1965survey")
    if report.labels.drawn:
        yield from (*METHODS["drawn_topics"], "kish1965survey")
    if report.effective_judges:
        yield "kish1965survey"
    if report.biases:
        yield "bloom1995minimum"


def _of_choice(report: CalibrationReport) -> Iterator[str]:
    if report.choice is None:
        return
    claims = [candidate.claim for candidate in report.choice.candidates if candidate.claim]
    if claims:
        yield from ("wellek2010testing", "holm1979simple")
        yield from (key for claim in claims for key in METHODS.get(claim.test.method, ()))
    for candidate in report.choice.candidates:
        yield from METHODS.get(candidate.agreement.method, ())


def _of_effects(report: CalibrationReport) -> Iterator[str]:
    if report.alone:
        yield from ("angelopoulos2021learn", "geifman2017selective", *METHODS["further_topic"])
    if report.category_effects:
        yield from ("hays1963statistics", "steiger2004beyond")
    if report.alt_tests:
        yield from ("calderon2025alternative", "benjamini2001control")

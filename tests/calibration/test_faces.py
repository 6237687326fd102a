"""What a notebook imports stays importable, wherever the code behind it stands."""

from __future__ import annotations

from importlib import import_module

import pytest

PUBLIC = {
    "metrics": "percent_agreement cohen_kappa symmetrised_kappa stratified_kappa gwet_ac1 pabak fleiss_kappa "
    "krippendorff_alpha light_kappa constant_judge_baseline why_undefined METRICS",
    "correlation": "pearson spearman kendall_tau_b icc rank_agreement_across_items rank_agreement_within_topic "
    "preferences_from_scores",
    "bootstrap": "cluster_weights resample percentile expanded_percentile effective_sample cluster_se",
    "ceiling": "leave_one_out_ceiling Ceiling",
    "compare": "paired_difference compare_judges holm",
    "verdicts": "normalise",
    "choose": "cheapest_adequate_judge",
    "planning": "pairs_needed",
}


@pytest.mark.parametrize("face", PUBLIC)
def test_the_documented_names_stay_importable(face: str) -> None:
    module = import_module(f"calibration.{face}")
    assert [name for name in PUBLIC[face].split() if not hasattr(module, name)] == []

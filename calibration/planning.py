"""How many topics a study needs: public names of the rooms behind."""

from calibration.sizing.planning import (
    DesignRow,
    Spread,
    assured,
    comparisons,
    design_effect,
    design_table,
    effective_labels,
    half_width,
    half_width_of_sd,
    needed_for_claim,
    needed_for_interval,
    needed_to_tell_apart,
    pairs_needed,
    power_to_tell_apart,
    sd_of_pair_differences,
    sd_of_pair_means,
)

__all__ = [
    "DesignRow",
    "Spread",
    "assured",
    "comparisons",
    "design_effect",
    "design_table",
    "effective_labels",
    "half_width",
    "half_width_of_sd",
    "needed_for_claim",
    "needed_for_interval",
    "needed_to_tell_apart",
    "pairs_needed",
    "power_to_tell_apart",
    "sd_of_pair_differences",
    "sd_of_pair_means",
]

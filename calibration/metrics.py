"""Agreement of raters, label by label, and the catalogue `METRICS`: public names of the rooms behind."""

from calibration.agreement.catalogue import HEADLINE, METRICS, why_undefined
from calibration.agreement.statistic import Shown, Statistic
from calibration.agreement.statistic import Statistic as Metric
from calibration.arithmetic.metrics import (
    balanced_accuracy,
    chance_agreement,
    cohen_kappa,
    constant_judge_baseline,
    f1_score,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    light_kappa,
    matthews_correlation,
    pabak,
    percent_agreement,
    precision,
    stratified_kappa,
    symmetrised_kappa,
    true_negative_rate,
    true_positive_rate,
    youden_j,
)

__all__ = [
    "HEADLINE",
    "METRICS",
    "Metric",
    "Shown",
    "Statistic",
    "balanced_accuracy",
    "chance_agreement",
    "cohen_kappa",
    "constant_judge_baseline",
    "f1_score",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "light_kappa",
    "matthews_correlation",
    "pabak",
    "percent_agreement",
    "precision",
    "stratified_kappa",
    "symmetrised_kappa",
    "true_negative_rate",
    "true_positive_rate",
    "why_undefined",
    "youden_j",
]

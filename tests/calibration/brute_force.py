"""What `calibrate` computes, written out on plain rows: joins by pandas, resamples by index, statistics by libraries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from calibration.agreement.catalogue import METRICS
from tests.calibration.witnesses import share

B, SEED = 10, 7
SCORE = {"A": 1.0, "tie": 0.5, "B": 0.0}
MIRROR = {"A": "B", "B": "A", "tie": "tie"}
PROBE = {"A": "Supported", "tie": "Omitted", "B": "Contradicted"}
PEOPLE = ["ann1", "ann2", "ann3"]
FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")


def compared(frame: pd.DataFrame, rater: str, reference: str) -> pd.DataFrame:
    """The rows behind one comparison, by plain pandas: a, b, cluster, part (the two raters), system names."""
    firsts = PEOPLE if rater == "each_annotator" else [rater]
    seconds = PEOPLE if reference in ("each_annotator", "others") else [reference]
    parts = []
    for one, two in itertools.product(firsts, seconds):
        if one != two:
            both = frame[frame["rater_id"] == one].merge(
                frame[frame["rater_id"] == two], on=["item_id", "criterion"], suffixes=("_a", "_b")
            )
            parts.append(both.assign(part=f"{one} {two} " + both["criterion"]))
    out = pd.concat(parts, ignore_index=True).rename(
        columns={"cluster_id_a": "cluster", "label_a": "a", "label_b": "b"}
    )
    return out.assign(row=np.arange(len(out)))


def units_of(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per unit, one column per annotator."""
    wide = frame.pivot(index=["cluster_id", "item_id", "criterion"], columns="rater_id", values="label")
    return wide[PEOPLE].reset_index().rename(columns={"cluster_id": "cluster"})


def resampled(rows: pd.DataFrame, clusters: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of each resample, a cluster's as often as its index was drawn."""
    own = {name: np.flatnonzero(rows["cluster"] == name) for name in clusters}
    (child,) = np.random.SeedSequence(SEED).spawn(1)
    for drawn in np.random.Generator(np.random.PCG64(child)).integers(0, len(clusters), (B, len(clusters))):
        yield rows.iloc[np.concatenate([own[clusters[i]] for i in drawn])]


def kappa(rows: pd.DataFrame, labels: list[str] | None = None, weights: str | None = None) -> float:
    return float(cohen_kappa_score(rows["a"].astype(str), rows["b"].astype(str), labels=labels, weights=weights))


def mirrored_kappa(rows: pd.DataFrame) -> float:
    return kappa(pd.concat([rows, rows.assign(a=rows["a"].map(MIRROR), b=rows["b"].map(MIRROR))]))


def kappa_by_system(rows: pd.DataFrame) -> float:
    named = {
        side: np.where(rows[side] == "A", rows["system_a_a"], np.where(rows[side] == "B", rows["system_b_a"], "tie"))
        for side in ("a", "b")
    }
    return kappa(pd.DataFrame(named))


def chance(rows: pd.DataFrame) -> float:
    a, b = (rows[side].value_counts(normalize=True) for side in ("a", "b"))
    return float(a.mul(b, fill_value=0).sum())


def ac1(rows: pd.DataFrame) -> float:
    pi = pd.concat([rows["a"], rows["b"]]).value_counts(normalize=True)
    expected = float((pi * (1 - pi)).sum()) / 2  # of three labels
    return float(((rows["a"] == rows["b"]).mean() - expected) / (1 - expected))


def alpha(level: str, codes: dict[str, float] | None = None) -> Callable[[pd.DataFrame], float]:
    def of(rows: pd.DataFrame) -> float:
        sides = PEOPLE if "ann1" in rows else ["a", "b"]
        data = np.array([rows[side].map(codes) if codes else rows[side] for side in sides], dtype=float)
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement=level))

    return of


def coded(function: Callable[..., object], codes: dict[str, float] | None = None) -> Callable[[pd.DataFrame], float]:
    def of(rows: pd.DataFrame) -> float:
        return function(*(rows[side].map(codes) if codes else rows[side] for side in ("a", "b"))).statistic

    return of


def coefficients(msr: Any, msc: Any, mse: Any, msw: Any, n: int, k: int) -> dict[str, Any]:
    """Shrout & Fleiss 1979, McGraw & Wong 1996, from mean squares."""
    return {
        "ICC(1,1)": share(msr - msw, msr + (k - 1) * msw),
        "ICC(2,1)": share(msr - mse, msr + (k - 1) * mse + (msc - mse) * k / n),
        "ICC(3,1)": share(msr - mse, msr + (k - 1) * mse),
        "ICC(1,k)": share(msr - msw, msr),
        "ICC(2,k)": share(msr - mse, msr + (msc - mse) / n),
        "ICC(3,k)": share(msr - mse, msr),
    }


def icc(form: str) -> Callable[[pd.DataFrame], float]:
    def of(rows: pd.DataFrame) -> float:
        x = rows[PEOPLE if "ann1" in rows else ["a", "b"]].dropna().to_numpy(float)
        n, k = x.shape
        subjects, judges = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
        squares = k * ((subjects - x.mean()) ** 2).sum(), n * ((judges - x.mean()) ** 2).sum()
        residual = ((x - subjects - judges + x.mean()) ** 2).sum() / ((n - 1) * (k - 1))
        within = ((x - subjects) ** 2).sum() / (n * (k - 1))
        return float(coefficients(squares[0] / (n - 1), squares[1] / (k - 1), residual, within, n, k)[form])

    return of


def rank_agreement(ties: str) -> Callable[[pd.DataFrame], float]:
    """Over pairs of reports that the same two raters scored; a report is no pair with its own copy."""

    def of(rows: pd.DataFrame) -> float:
        x, y, row = (rows[name].to_numpy() for name in ("a", "b", "row"))
        pairs = (rows["part"].to_numpy()[:, None] == rows["part"].to_numpy()) & (row[:, None] < row)
        one, two = (np.sign(np.round(side[:, None] - side, 6)) for side in (x, y))
        if ties == "exclude":
            pairs &= (one != 0) & (two != 0)
        earned = 1 - np.abs(one - two) / 2 if ties == "half_credit" else (one == two) & (one != 0)
        return float((earned * pairs).sum() / pairs.sum())

    return of


def light(rows: pd.DataFrame) -> float:
    found = [kappa(rows[[*two]].dropna().set_axis(["a", "b"], axis=1)) for two in itertools.combinations(PEOPLE, 2)]
    return float(np.mean(found))


def fleiss(rows: pd.DataFrame) -> float:
    return float(fleiss_kappa(np.stack([(rows[PEOPLE] == label).sum(axis=1) for label in SCORE], axis=1)))


NOMINAL = {label: float(index) for index, label in enumerate([*SCORE, *PROBE.values()])}
ORDER = {label: float(index) for index, label in enumerate(PROBE.values())}
TABLE: dict[str, Callable[[pd.DataFrame], float]] = {
    # a metric of the catalogue has its witness in its own test, and its function on the rows themselves here
    **{
        one.name: lambda rows, one=one: one.function(rows["a"], rows["b"])
        for one in METRICS
        if one.is_drawn and one.of_table
    },
    "cohen_kappa": kappa,
    "cohen_kappa_symmetrised": mirrored_kappa,
    "cohen_kappa_by_system": kappa_by_system,
    "chance_agreement": chance,
    "gwet_ac1": ac1,
    "pabak": lambda rows: (3 * (rows["a"] == rows["b"]).mean() - 1) / 2,
    "balanced_accuracy": lambda rows: float(balanced_accuracy_score(rows["b"], rows["a"])),
    "light_kappa": light,
    "fleiss_kappa": fleiss,
    "krippendorff_alpha_nominal": alpha("nominal", NOMINAL),
    "percent_agreement_half_credit": lambda rows: 1 - (rows["a"].map(SCORE) - rows["b"].map(SCORE)).abs().mean(),
}
CORRELATIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_tau_b": stats.kendalltau}
SCORED = {
    **{f"krippendorff_alpha_{level}": alpha(level) for level in ("ordinal", "interval", "ratio")},
    **{name: coded(function) for name, function in CORRELATIONS.items()},
    **{f"icc_{form[4]}_{form[6]}": icc(form) for form in FORMS},
    **{
        f"rank_agreement_across_items{suffix}": rank_agreement(ties)
        for ties, suffix in (("strict", ""), ("exclude", "_exclude_ties"), ("half_credit", "_half_credit"))
    },
}


def weighted(labels: list[str]) -> dict[str, Callable[[pd.DataFrame], float]]:
    return {f"cohen_kappa_{w}": lambda rows, w=w: kappa(rows, labels, w) for w in ("linear", "quadratic")}


WITNESSES = {
    "pairs": TABLE | {name: coded(function, SCORE) for name, function in CORRELATIONS.items()},
    "probes on a declared scale": TABLE
    | {name: coded(function, ORDER) for name, function in CORRELATIONS.items()}
    | {"krippendorff_alpha_ordinal": alpha("ordinal", ORDER)}
    | weighted(list(PROBE.values())),
    "ratings": TABLE | SCORED | weighted([str(float(x)) for x in range(1, 11)]),
    "fine ratings": SCORED,
}
WITNESSES["complete pairs"] = WITNESSES["pairs"]
OF_UNITS = ("krippendorff", "icc", "light", "fleiss")  # among annotators these see units, not pairs of raters

"""What several judges' answers together say of people's: a logistic model, fitted and asked on different clusters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from calibration.study.bounding import FEWEST

FOLDS = 10
PAIR = {"A": "B", "B": "A"}
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LearnedVotes:
    """Each question with the answer that is likeliest and its probability; `weights`: of each judge in the log-odds.

    `votes` has the columns item_id, criterion, label, share. Empty, and `note` says why, where no model can be fitted.
    """

    votes: pd.DataFrame
    weights: dict[str, float]
    folds: int
    note: str = ""


def learned_votes(verdicts: pd.DataFrame, judges: Sequence[str], seed: int = 0, *, pairs: bool) -> LearnedVotes:
    """People's likeliest answer to every question that some of `judges` answered, by multinomial logistic regression.

    `verdicts`: checked, a row an answer. A judge enters by the share of its answers, over orders and repeats, that are
    each label; so judges that err together share their weight. People enter by the shares of their answers, a question
    counting once. `pairs`: A and B are the sides of a pair, and every question is also learnt with them exchanged, so
    that no side is preferred; of statements they are labels like any other.
    Clusters are dealt into 10 parts by the seed: a question is answered by the model that saw no label of its cluster,
    or by one of all labels where its cluster has none. Ridge penalty 1 (scikit-learn's). Undefined with labels of fewer
    than 5 clusters, or with one label alone.
    """
    columns = ["item_id", "criterion", "label", "share"]
    nothing = pd.DataFrame(columns=columns)
    asked = verdicts[(verdicts["rater_kind"] == "judge") & verdicts["rater_id"].isin(judges)]
    people = verdicts[(verdicts["rater_kind"] == "human") & (verdicts["status"] == "ok")]
    labels = sorted({*people["label"].dropna(), *asked["label"][asked["status"] == "ok"].dropna()})
    questions = asked[["item_id", "criterion", "cluster_id"]].drop_duplicates(["item_id", "criterion"])
    questions = questions.reset_index(drop=True)
    at = {place: number for number, place in enumerate(zip(questions["item_id"], questions["criterion"], strict=True))}
    given = np.zeros((len(questions), len(judges), len(labels)))
    for number, judge in enumerate(judges):
        given[:, number] = _shares(asked[asked["rater_id"] == judge], at, labels, only_usable=False)
    said = _shares(people, at, labels, only_usable=True)
    known = said.sum(axis=1) > 0
    cluster = pd.factorize(questions["cluster_id"])[0].astype(np.intp)
    count = len(np.unique(cluster[known]))
    if count < FEWEST:
        return LearnedVotes(nothing, {}, 0, f"labels of {count} clusters are too few; {FEWEST} are the fewest")
    if (said.sum(axis=0) > 0).sum() < 2:
        return LearnedVotes(nothing, {}, 0, "people gave one answer alone")
    mirror = [labels.index(PAIR.get(label, label)) for label in labels] if pairs and {*PAIR} <= {*labels} else []
    part, folds = _parts(cluster, known, min(FOLDS, count), seed)
    likely = np.zeros((len(questions), len(labels)))
    for number in range(-1, folds):
        mine, train = part == number, known & (part != number)
        if mine.any():
            likely[mine] = _fitted(given[train], said[train], mirror).probabilities(given[mine])
    heard = given.any(axis=(1, 2))
    best = likely.argmax(axis=1)
    votes = pd.DataFrame(
        {
            "item_id": questions["item_id"], "criterion": questions["criterion"],
            "label": np.asarray(labels, object)[best], "share": likely[np.arange(len(best)), best],
        }
    )  # fmt: skip
    votes = votes.loc[np.flatnonzero(heard)]
    weights = dict(zip(judges, _fitted(given[known], said[known], mirror).weights(len(judges)), strict=True))
    return LearnedVotes(votes.reset_index(drop=True), weights, folds)


def _shares(rows: pd.DataFrame, at: dict[tuple[str, str], int], labels: Sequence[str], *, only_usable: bool) -> Array:
    """Share of the answers to each question that are each label, shape (questions, labels); 0 where there are none."""
    counts, asked = np.zeros((len(at), len(labels))), np.zeros(len(at))
    places = [at.get(place, -1) for place in zip(rows["item_id"], rows["criterion"], strict=True)]
    code = {label: number for number, label in enumerate(labels)}
    for place, label, status in zip(places, rows["label"], rows["status"], strict=True):
        usable = status == "ok" and label in code
        if place >= 0 and (usable or not only_usable):
            asked[place] += 1
            if usable:
                counts[place, code[label]] += 1
    return counts / np.maximum(asked, 1)[:, None]


def _parts(cluster: npt.NDArray[np.intp], known: npt.NDArray[np.bool_], folds: int, seed: int) -> tuple[Array, int]:
    """Which part each question is in, -1 for clusters without labels: they are in no model."""
    drawn = np.random.default_rng(seed).permutation(np.unique(cluster[known]))
    part = np.full(int(cluster.max(initial=-1)) + 1, -1)
    part[drawn] = np.arange(len(drawn)) % folds
    return part[cluster], folds


@dataclass(frozen=True)
class _Fitted:
    """`coefficients`: shape (labels, judges x labels), `intercepts`: (labels,); of labels never given, -inf."""

    coefficients: Array
    intercepts: Array

    def probabilities(self, given: Array) -> Array:
        """Of each label, shape (questions, labels)."""
        odds = given.reshape(len(given), -1) @ self.coefficients.T + self.intercepts
        odds = np.exp(odds - odds.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def weights(self, judges: int) -> list[float]:
        """What a judge's answer adds to the log-odds of that answer, beside its effect on the others; their mean."""
        seen = np.flatnonzero(np.isfinite(self.intercepts))
        effect = self.coefficients.reshape(len(self.coefficients), judges, -1)
        own = [
            effect[label, :, label] - effect[[x for x in seen if x != label], :, label].mean(axis=0) for label in seen
        ]
        return [float(one) for one in np.mean(own, axis=0)]


def _fitted(given: Array, said: Array, mirror: Sequence[int]) -> _Fitted:
    from sklearn.linear_model import LogisticRegression

    if mirror:
        given = np.concatenate([given, given[:, :, mirror]])
        said = np.concatenate([said, said[:, mirror]])
    question, label = np.nonzero(said)
    if len(np.unique(label)) < 2:  # of what people said on the other clusters: nothing is to be told apart there
        alone = np.where(said.any(axis=0), 0.0, -np.inf)
        return _Fitted(np.zeros((said.shape[1], given.shape[1] * given.shape[2])), alone)
    model = LogisticRegression(max_iter=2_000)
    with threadpool_limits(1):  # of a few columns, which several threads only wait for
        model.fit(given.reshape(len(given), -1)[question], label, sample_weight=said[question, label])
    coefficients = np.zeros((said.shape[1], given.shape[1] * given.shape[2]))
    intercepts = np.full(said.shape[1], -np.inf)
    binary = len(model.classes_) == 2
    coefficients[model.classes_] = np.vstack([-model.coef_ / 2, model.coef_ / 2]) if binary else model.coef_
    intercepts[model.classes_] = np.r_[-model.intercept_ / 2, model.intercept_ / 2] if binary else model.intercept_
    return _Fitted(coefficients, intercepts)

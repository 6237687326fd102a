"""By how much a topic's labels are expected to move the answer, from what is known before people label it.

Known are its labels to come, and what judges said: how often they differ, how often one differs from itself. What that
is worth is learnt from the topics that people have labelled, and used for others only.
"""

import numpy as np
from scipy import optimize

from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import Codes

PRIOR_TOPICS = 10.0  # imagined topics on which signs are worth nothing: few labels teach little
FEWEST = 10  # labelled topics before anything is learnt


def anticipated_deviation(signs: Array, sizes: Array, labelled: Codes, influence: Array) -> Array:
    """Expected root mean square of each topic's influence, shape (topics,), up to a factor.

    `signs`: shape (topics, k), at least 0, such as the share of a topic's items on which judges differ; `sizes`: labels
    of each topic to come; `labelled`: places of the topics that are labelled; `influence`: how far each of them moves
    the answer, shape (labelled,) or (labelled, questions), nan where it does not. influence^2 / size^2 is taken to be a
    sum of a constant, 1 / size and the signs, each times a number of at least 0, by non-negative least squares
    (Lawson & Hanson 1974) shrunk towards a constant. Of fewer than 10 topics only sizes are used.
    """
    scale = sizes / sizes.mean() if len(sizes) and sizes.any() else np.ones(len(sizes))
    columns = np.column_stack([1 / np.maximum(scale, 1e-9), signs])
    if len(labelled) < FEWEST:
        return np.asarray(scale)
    known = np.ma.masked_invalid(np.asarray(influence, float).reshape(len(labelled), -1) ** 2)
    mean = np.ma.filled((known / np.ma.maximum(known.mean(axis=0), 1e-300)).mean(axis=1), np.nan)
    squares = mean / scale[labelled].clip(1e-9) ** 2
    moved = np.isfinite(squares)
    if moved.sum() < FEWEST:
        return np.asarray(scale)
    squares = np.minimum(squares[moved], np.quantile(squares[moved], 0.95))  # one odd topic does not decide
    return np.asarray(scale * np.sqrt(_fitted(columns, columns[labelled][moved], squares)))


def _fitted(columns: Array, seen: Array, squares: Array) -> Array:
    """Expected squares of all topics."""
    spread = seen.std(axis=0)
    use = spread > 1e-9
    mean = float(squares.mean())
    if not use.any() or not mean > 0:
        return np.ones(len(columns))
    standard = seen[:, use] / spread[use]
    k = int(use.sum())
    left = np.block([[np.ones((len(seen), 1)), standard], [np.zeros((k, 1)), np.sqrt(PRIOR_TOPICS) * np.eye(k)]])
    left = np.vstack([left, [np.sqrt(PRIOR_TOPICS), *np.zeros(k)]])
    right = np.concatenate([squares, np.zeros(k), [np.sqrt(PRIOR_TOPICS) * mean]])
    found, _ = optimize.nnls(left, right)
    return np.asarray(np.maximum(0.05 * mean, found[0] + columns[:, use] / spread[use] @ found[1:]))

"""Does a judge that may decide alone err as seldom as stated? Simulated, so the truth is known, and redrawn.

`python benchmarks/alone.py [LABELS …]` counts studies in which a judge was allowed items on which it errs in more than
the stated share. These settings were written before the first run:

- a judge has four levels of sureness, on 30, 30, 20 and 20 % of items. Least favourable: it errs in half the share
  allowed on the surest, and on every further threshold in a thousandth more than allowed. Useful: in .3, .5, 1.2 and
  3 times that share on the four levels, so that 80 % of items might be decided;
- faults of one topic are alike on all levels: Beta with an intraclass correlation of .1, .3 or .5; constant, a topic
  all right or all wrong; rare, half of all faults in topics that are all wrong, the others anywhere;
- 12, 20, 40 and 80 topics, 10 labels each, or uneven (lognormal, sd .8); an error of .05, .1, .2 or .3 allowed;
- one judge, and some one of four independent ones;
- real studies, whole topics drawn anew with replacement from all of them, as many as there are, and 20, 40 and 80
  where there are more: for each judge and threshold the error allowed is a thousandth less than its own, so that
  every pass is false.

Promised: at most 5 %, and two Monte-Carlo errors. Beside it stands what share a useful judge may decide. LABELS are
files as `calipers calibrate` reads them; the labels of the demo take part without being named. Exits with 1 when a
promise is broken. A quarter of an hour.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Figure, tell
from calibration.arithmetic.closed_forms import Array
from calibration.confidence.sureness import item_surenesses
from calibration.delegating.alone_steps import checked, in_order, tested
from calibration.settings import CalibrationSettings
from calibration.study.joining import MANY_LABELS, scale_of, study_of

SHARES = np.array([0.3, 0.3, 0.2, 0.2])
USEFUL = np.array([0.3, 0.5, 1.2, 3.0])
FAULTS = ("beta .1", "beta .3", "beta .5", "constant", "rare")
TOPICS, ERRORS, LABELS = (12, 20, 40, 80), (0.05, 0.1, 0.2, 0.3), 10
STUDIES, DRAWS, LEVEL = 1_000, 499, 0.95
LITTLE = 1.001  # times the error allowed is more than allowed


@dataclass(frozen=True)
class Design:
    """One kind of study. `rates`: how often labels of each level are wrong, the surest first."""

    topics: int
    faults: str
    allowed: float
    rates: tuple[float, ...]
    uneven: bool = False
    judges: int = 1

    @property
    def truth(self) -> Array:
        """The share of wrong labels at each threshold."""
        return np.asarray(np.cumsum(SHARES * self.rates) / np.cumsum(SHARES))


def least_favourable(allowed: float) -> tuple[float, ...]:
    """Half the share allowed on the surest level, and on each further threshold a thousandth more than allowed."""
    wanted = np.array([allowed / 2, *[LITTLE * allowed] * 3]) * np.cumsum(SHARES)
    return tuple(np.diff(wanted, prepend=0) / SHARES)


def of_topics(design: Design, rng: np.random.Generator) -> tuple[Array, Array]:
    """Wrong and all labels of each topic and threshold, shape (topics, thresholds)."""
    luck, rates = rng.random((design.topics, 1)), np.array(design.rates)
    kind, _, icc = design.faults.partition(" ")
    if kind == "beta":
        k = 1 / float(icc) - 1
        wrong = stats.beta.ppf(luck, rates * k, (1 - rates) * k)
    elif kind == "constant":
        wrong = (luck < rates).astype(float)
    else:
        wrong = np.where(luck < rates / 2, 1.0, rates / 2 / (1 - rates / 2))
    size = np.full((design.topics, 1), LABELS)
    if design.uneven:
        size = np.maximum(1, np.round(LABELS * np.exp(rng.normal(0, 0.8, size.shape)))).astype(int)
    n = rng.multinomial(size[:, 0], SHARES)
    return np.cumsum(rng.binomial(n, wrong), axis=1).astype(float), np.cumsum(n, axis=1).astype(float)


def decided(wrong: Array, n: Array, settings: CalibrationSettings, judges: int = 1) -> int:
    """The place of the loosest threshold that passed, -1 for none."""
    known = n.any(axis=1)
    _, first, end = in_order(wrong[known], n[known], (1 - LEVEL) / judges, settings)
    return end - 1 if end > first else -1


def simulated(design: Design, studies: int, seed: int) -> tuple[float, float]:
    """How often some judge may decide what it should not, and the share of items that the first may decide."""
    rng, failed, share = np.random.default_rng(seed), 0, 0.0
    settings = CalibrationSettings(level=LEVEL, resamples=DRAWS, alone_error=design.allowed)
    for _ in range(studies):
        found = [decided(*of_topics(design, rng), settings, design.judges) for _ in range(design.judges)]
        failed += any(at >= 0 and design.truth[at] > design.allowed for at in found)
        share += SHARES[: found[0] + 1].sum()
    return failed / studies, share / studies


def in_simulations(studies: int) -> Iterator[Figure]:
    """The least favourable judge throughout; the useful one where faults are moderately alike."""
    for topics in TOPICS:
        for faults in FAULTS:
            for uneven in (False, True):
                worst = 0.0
                for allowed in ERRORS:
                    design = Design(topics, faults, allowed, least_favourable(allowed), uneven)
                    worst = max(worst, simulated(design, studies, 7)[0])
                sizes = ", uneven" if uneven else ""
                yield _promised(
                    f"simulated, {topics} topics, faults {faults}{sizes}: worst of four errors", worst, studies
                )
        design = Design(topics, "beta .3", 0.2, least_favourable(0.2), judges=4)
        yield _promised(
            f"simulated, {topics} topics, some one of four judges, .2", simulated(design, studies, 8)[0], studies
        )
        for allowed in ERRORS:
            useful = Design(topics, "beta .1", allowed, tuple(USEFUL * allowed))
            failed, share = simulated(useful, studies // 4, 9)
            yield _promised(
                f"useful judge, {topics} topics, {allowed:g} allowed: too much decided", failed, studies // 4
            )
            yield Figure(f"useful judge, {topics} topics, {allowed:g} allowed: share decided, of .8", 100 * share, "%")


def _promised(name: str, share: float, studies: int) -> Figure:
    error = 100 * float(np.sqrt(0.05 * 0.95 / studies))
    return Figure(name, 100 * share, "%", 0, 5 + 2 * error, error)


def redrawn(name: str, frame: pd.DataFrame, studies: int) -> Iterator[Figure]:
    """Of one labelled set: the worst threshold of every judge, with as many topics as there are and with fewer."""
    settings = CalibrationSettings(level=LEVEL, resamples=DRAWS, alone_error=0.5)
    study = study_of(frame, settings)
    scale = scale_of(study, study.criteria, settings)
    assert scale is not None
    assert len(scale.labels) <= MANY_LABELS
    rng = np.random.default_rng(11)
    for own in item_surenesses(study, scale):
        found = tested(study, own, checked(study, scale, own, settings), 1, settings)
        for topics in sorted({count for count in (*TOPICS[1:], len(found.n)) if count <= len(found.n)}):
            failed = [_false_passes(found.wrong, found.n, at, topics, studies, rng) for at in range(len(found.steps))]
            what = f"redrawn, {name}, {own.judge}, {topics} of {len(found.n)} topics"
            yield _promised(f"{what}: worst of {len(failed)} thresholds", max(failed), studies)


def _false_passes(wrong: Array, n: Array, at: int, topics: int, studies: int, rng: np.random.Generator) -> float:
    """How often threshold `at`, or a looser one that is no better, passes at an error just below its own."""
    truth = wrong.sum(axis=0) / n.sum(axis=0)
    settings = CalibrationSettings(level=LEVEL, resamples=DRAWS, alone_error=float(truth[at] / LITTLE))
    failed = 0
    for _ in range(studies):
        drawn = rng.integers(0, len(n), topics)
        place = decided(wrong[drawn], n[drawn], settings)
        failed += place >= 0 and truth[place] > settings.alone_error
    return failed / studies


def sets_of(paths: Sequence[str]) -> Iterator[tuple[str, Callable[[], pd.DataFrame]]]:
    """Each labelled set by name, read when asked for."""
    yield "demo", demo_labels
    for path in paths:
        yield Path(path).stem, lambda path=path: in_both_orders(pd.read_csv(path, dtype=str, keep_default_na=False))  # type: ignore[misc]  # bound at once


def in_both_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """Judges whose two orders were written as one row, `tie_inconsistent` where they differed, with a row for each."""
    judges = frame.loc[frame["label"] == "tie_inconsistent", "rater_id"].unique()
    ours = frame["rater_id"].isin(judges)
    own = frame[ours]
    differ = own["label"].eq("tie_inconsistent")
    first, second = (
        own.assign(presentation=order, label=own["label"].mask(differ, said))
        for order, said in (("AB", "A"), ("BA", "B"))
    )
    return pd.concat([frame[~ours], first, second], ignore_index=True)


def demo_labels() -> pd.DataFrame:
    """The labels of the study `demo-labels`."""
    from sqlalchemy import select

    from annotation.verdicts import load_verdicts
    from app.demo.labels import NAME, make_labels_demo
    from db.connect import open_database, reading
    from db.tables import Study
    from tests.migrated import new_sqlite

    with TemporaryDirectory() as folder:
        engine = open_database(new_sqlite(Path(folder) / "demo.db"))
        make_labels_demo(engine)
        with reading(engine) as session:
            return load_verdicts(session, session.scalars(select(Study).where(Study.name == NAME)).one())


def main() -> int:
    """One line per promise."""
    found = (redrawn(name, read(), STUDIES // 2) for name, read in sets_of(sys.argv[1:]))
    heading = f"Judges that may decide alone what they should not: percent of {STUDIES:,} studies"
    return tell(heading, chain(in_simulations(STUDIES), chain.from_iterable(found)))


if __name__ == "__main__":
    sys.exit(main())

"""Which topics to label next: how many fewer do for one width, and does every number stay true?

`python benchmarks/active.py` draws topics of simulated studies and of the public label sets in ../shared/data/labels
(left out, and said so, where they are not there): at random, and in batches as `calipers pairs --design active` does.

Settings and sentences, fixed before the first run. A study has 120 topics of 12 items, two annotators, two answers; a
topic's difficulty makes people err (mean .12, intraclass correlation .1) and two judges (mean .2, icc .2, half of it
the people's difficulty). The first batch has 20 topics, by their sizes alone; then 10 at a time, drawn for the
question. `judges`: what they say is of use; `useless`: their answers say nothing of the topic; `false on purpose`: they
agree where topics are hard and differ where they are easy. Coverage of 95 % intervals over 2,000 studies, at 30 and at
60 topics, promised 92.5 to 97 % and widened by two Monte-Carlo standard errors. Saving: 1 - (variance at 60 topics
drawn actively / at random), which is the share of topics that random ones need more of; with control variates in both
or in the active one alone it is told which. Sets: each is drawn from 400 times, half of its topics; its own value is
the truth. Promised: 30 % at the median of sets, 10 % on each with two judges, never below -5 %. `adequate` at the
margin over five looks, at 20 to 60 topics drawn of 120, the last planned as the last: at most 5.5 %. A batch of 100,000
waiting topics: at most 2 s of processor time.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.promises import Promise, beta, promise, tell
from calibration.arithmetic.closed_forms import Array, kappa, kappa_gradient
from calibration.inference.gap_test import FEWEST, GapSums, Rule, from_sums, weighted_sums
from calibration.inference.looks import Look, nominal_levels
from calibration.sampling.allocation import anticipated_deviation
from calibration.sampling.inclusion import (
    Batch,
    draw_batch,
    draw_weights,
    inclusion_probabilities,
    systematic_sample,
)
from calibration.sampling.weighted_mean import DrawnEstimate, drawn_estimate
from calibration.sizing.draw_gain import draw_gain
from calibration.sizing.pilot import pilot_of

SETS = Path(__file__).resolve().parents[2] / "shared" / "data" / "labels"
TOPICS, ITEMS, PILOT, STEP, STUDIES, DRAWS, MARGIN = 120, 12, 20, 10, 2_000, 400, 0.05
SEED = 31


@dataclass(frozen=True)
class Question:
    """Sums and sizes of every topic, shape (topics, ...); `table`: of kappa, in the place of sums."""

    sums: Array
    sizes: Array
    controls: Array
    is_kappa: bool = False

    def influence(self, at: Array, weights: Array) -> tuple[float, Array]:
        """The weighted value, and what each of these topics moves it by."""
        sums, sizes = self.sums[at], self.sizes[at]
        if self.is_kappa:
            whole = np.tensordot(weights, sums, 1)
            moved = (sums * kappa_gradient(whole)).sum(axis=(-2, -1))
            return float(kappa(whole)), moved
        total = float(weights @ sizes)
        value = float(weights @ sums / total)
        return value, (sums - value * sizes) / total

    def estimate(self, at: Array, weights: Array, with_controls: bool) -> DrawnEstimate:
        value, moved = self.influence(at, weights)
        controls = (self.controls, at) if with_controls else (None, None)
        return drawn_estimate(value, moved, self.sizes[at], weights, *controls)

    def truth(self) -> float:
        """Of all topics."""
        everything = np.arange(len(self.sizes))
        return self.influence(everything, np.ones(len(everything)))[0]


@dataclass(frozen=True)
class Topics:
    """One study or set: its questions by name, and what judges alone show of each topic."""

    questions: dict[str, Question]
    signs: Array
    gaps: Array  # of each item of a study, person - judge summed over its labels, shape (topics, items)

    def drawn(self, rng: np.random.Generator, name: str, most: int, steps: int = STEP) -> list[Batch]:
        """Batches of the active design for one question, up to `most` topics."""
        question = self.questions[name]
        waiting, batches, count = np.arange(len(question.sizes)), [], 0
        while count < most:
            size = min(steps if batches else PILOT, most - count)
            count += size
            held = np.concatenate([np.zeros(0, np.intp), *(batch.topics for batch in batches)])
            moved = question.influence(held, draw_weights(batches))[1] if batches else np.zeros(0)
            deviation = anticipated_deviation(self.signs, question.sizes, held, moved)[waiting]
            chance, drawn = draw_batch(deviation, size, [(len(one.topics), one.waiting) for one in batches], rng)
            batches.append(Batch(waiting[drawn], chance[drawn], len(waiting), np.ones(size, bool)))
            waiting = np.delete(waiting, drawn)
        return batches


def made(rng: np.random.Generator, judges: str, topics: int = TOPICS, gap: float | None = None) -> Topics:
    """A study. `gap`: of the first judge to a person, in agreement with a person; None: its errors as they are."""
    hard = beta(rng, 0.12, 0.1, (topics, 1))
    own = beta(rng, 0.2, 0.2, (topics, 1, 2))
    rate = 0.5 * own + 0.5 * np.minimum(1, hard[..., None] * 0.2 / 0.12)
    if gap is not None:  # agreement with a person who errs at h falls by (1 - 2 h) for each error
        rate[..., 0] = np.minimum(1, hard + (1 - hard) * beta(rng, gap / (1 - 0.24) / 0.88, 0.1, (topics, 1)))
    truth = rng.random((topics, ITEMS)) < 0.5
    people = truth[..., None] ^ (rng.random((topics, ITEMS, 2)) < hard[..., None])
    said = truth[..., None] ^ (rng.random((topics, ITEMS, 2)) < rate)
    shown = said
    if judges == "useless":
        shown = rng.random((topics, ITEMS, 2)) < 0.5
    if judges == "false on purpose":
        order = np.argsort(np.argsort(hard[:, 0]))
        shown = np.stack([said[..., 0], said[..., 0] ^ (rng.random((topics, ITEMS)) > (order / topics)[:, None])], -1)
    scored = said[..., :1] == people  # the first judge beside each person
    sizes = np.full(topics, 2.0 * ITEMS)
    both = people[..., 0] == people[..., 1]
    differ = (shown[..., 0] != shown[..., 1]).mean(axis=1)
    wins = shown.mean(axis=(1, 2))
    controls = np.stack([differ, wins], axis=1)
    table = np.zeros((topics, 2, 2))
    for a in (0, 1):
        for b in (0, 1):
            table[:, a, b] = ((said[..., :1] == a) & (people == b)).sum(axis=(1, 2))
    questions = {
        "gap": Question(2.0 * both.sum(axis=1) - scored.sum(axis=(1, 2)), sizes, controls),
        "agreement": Question(scored.sum(axis=(1, 2)).astype(float), sizes, controls),
        "kappa": Question(table, sizes, controls, is_kappa=True),
        "win rate": Question(people.sum(axis=(1, 2)).astype(float), sizes, controls),
    }
    return Topics(questions, differ[:, None], 2.0 * both - scored.sum(axis=-1))


def simulated() -> Iterator[Promise]:
    """Coverage and saving in simulated studies."""
    truths = {name: one.truth() for name, one in made(np.random.default_rng(1), "judges", 200_000).questions.items()}
    for number, judges in enumerate(("judges", "useless", "false on purpose")):
        rng = np.random.default_rng([SEED, number])
        covered: dict[tuple[str, int], list[bool]] = {}
        values: dict[tuple[str, str], list[float]] = {}
        for _ in range(STUDIES):
            study = made(rng, judges)
            for name, one in study.questions.items():
                batches = study.drawn(rng, name, 60)
                random = rng.permutation(TOPICS)[:60]
                for topics, held in ((30, batches[:2]), (60, batches)):
                    at = np.concatenate([batch.topics for batch in held])
                    found = one.estimate(at, draw_weights(held), with_controls=True)
                    low, high = found.interval()
                    covered.setdefault((name, topics), []).append(low <= truths[name] <= high)
                values.setdefault((name, "active"), []).append(found.value)
                values.setdefault((name, "plain"), []).append(one.estimate(random, np.full(60, 2.0), False).value)
                values.setdefault((name, "helped"), []).append(one.estimate(random, np.full(60, 2.0), True).value)
        for (name, topics), seen in covered.items():
            yield promise(f"{judges}: {name} covered at {topics} topics", seen, *_widened(0.925, 0.97))
        for name in truths:
            yield _saving(f"{judges}: {name}, topics saved", values[name, "active"], values[name, "plain"])
            yield _saving("  of random ones with control variates", values[name, "active"], values[name, "helped"])


def _widened(low: float, high: float, studies: int = STUDIES) -> tuple[float, float]:
    return tuple(end + way * 2 * math.sqrt(end * (1 - end) / studies) for end, way in ((low, -1), (high, 1)))  # type: ignore[return-value]  # two ends in, two out


def _saving(name: str, active: list[float], random: list[float], least: float = -0.05) -> Promise:
    saved = 1 - float(np.var(active) / np.var(random))
    return Promise(name, saved, (1 - saved) * 2 / math.sqrt(len(active)), least, 1.0)


def _of_judge(rows: pd.DataFrame, code: pd.Series, judge: str, topics: int) -> dict[str, tuple[Array, Array]]:
    """Agreement, and the gap to a left-out annotator, summed over each topic's labels."""
    given = rows[rows[judge].notna()]
    place = code[given["cluster_id"]].to_numpy()
    agree = (given[judge] == given["label"]).to_numpy()
    found = {"agreement": (np.bincount(place, agree, topics), np.bincount(place, minlength=topics).astype(float))}
    gaps, sizes = np.zeros(topics), np.zeros(topics)
    for _, item in given.groupby("item_id"):
        labels = item["label"].to_numpy()
        if len(labels) > 1:
            alike = np.mean([a == b for a, b in combinations(labels, 2)])
            at = code[item["cluster_id"].iloc[0]]
            gaps[at] += len(labels) * (alike - np.mean(labels == item[judge].iloc[0]))
            sizes[at] += len(labels)
    return found | {"gap": (gaps, sizes)}


def of_set(frame: pd.DataFrame) -> Topics:
    """A criterion of a public set. Signs and controls: a judge's ties, and where two differ, by topic."""
    frame = frame.assign(label=frame["label"].replace({"tie_inconsistent": "tie"}))
    frame = frame[frame["label"].isin(["A", "B", "tie"])]
    people, judged = frame[frame["rater_kind"] == "human"], frame[frame["rater_kind"] == "judge"]
    said = judged.pivot_table(index="item_id", columns="rater_id", values="label", aggfunc="first")
    topic_of = frame.drop_duplicates("item_id").set_index("item_id")["cluster_id"]
    names = sorted(topic_of.unique())
    code = pd.Series(np.arange(len(names)), names)
    place = code[topic_of[said.index]].to_numpy()
    count = np.bincount(place, minlength=len(names)).clip(1)
    each = [(said[name] == "tie").to_numpy() for name in said]
    each += [(said[a] != said[b]).to_numpy() for a, b in combinations(said, 2)]
    signs = np.stack([np.bincount(place, one, len(names)) / count for one in each], axis=1)
    rows = people.join(said, on="item_id")
    sums = {(name, judge): found for judge in said for name, found in _of_judge(rows, code, judge, len(names)).items()}
    for a, b in combinations(said, 2):
        both = rows[rows[a].notna() & rows[b].notna()]
        (one, size), (other, _) = (_of_judge(both, code, name, len(names))["agreement"] for name in (a, b))
        sums["two judges", f"{a} and {b}"] = (one - other, size)
    held = np.min([size for _, size in sums.values()], axis=0) > 0  # topics that every question has labels of
    return Topics(
        {
            f"{name}, {who}": Question(total[held], size[held], signs[held])
            for (name, who), (total, size) in sums.items()
        },
        signs[held],
        np.zeros((0, 0)),
    )


def public() -> Iterator[Promise]:
    """Saving and coverage on public sets."""
    if not SETS.is_dir():
        print("left out: there are no public label sets in ../shared/data/labels")
        return
    mt, panda = (pd.read_csv(SETS / f"{name}.csv", dtype=str) for name in ("mtbench_votes", "pandalm_testset"))
    sets = {
        "MT-Bench turn 1": of_set(mt[mt["criterion"] == "turn1"]),
        "MT-Bench turn 2": of_set(mt[mt["criterion"] == "turn2"]), "PandaLM": of_set(panda),
    }  # fmt: skip
    savings = []
    for number, (title, topics) in enumerate(sets.items()):
        rng = np.random.default_rng([SEED, 7, number])
        for name, one in topics.questions.items():
            half, active, plain = len(one.sizes) // 2, [], []
            for _ in range(DRAWS):
                batches = topics.drawn(rng, name, half)
                at = np.concatenate([batch.topics for batch in batches])
                active.append(one.estimate(at, draw_weights(batches), True))
                random = rng.permutation(len(one.sizes))[:half]
                plain.append(one.estimate(random, np.ones(half), False))
            saved = 1 - float(np.mean([e.se**2 for e in active]) / np.mean([e.se**2 for e in plain]))
            savings.append(saved)
            error = float(np.std([e.se**2 for e in active]) / math.sqrt(DRAWS) / np.mean([e.se**2 for e in plain]))
            least = 0.1 if name.startswith("two judges") else -0.05
            yield Promise(f"{title}: {name}, topics saved at one width", saved, error, least, 1.0)
            inside = [low <= one.truth() <= high for low, high in (e.interval() for e in active)]
            yield promise(f"  {len(one.sizes)} topics, its own value covered", inside, 0.925, 1.0)
    yield Promise("median over sets and questions, topics saved", float(np.median(savings)), 0.0, 0.3, 1.0)
    for judge in ("gpt-3.5-turbo", "pandalm-7b"):
        pilot = pilot_of(pd.read_csv(SETS / "pandalm_testset.csv"), judge=judge)
        for name in ("scores", "gap", "difference"):
            found = draw_gain(getattr(pilot, name), len(pilot.scores.topics))
            assert found is not None
            ratio, se = found.at(len(pilot.scores.topics) // 2)
            yield Promise(f"foretold of PandaLM, {judge}, {name}: topics saved", 1 - ratio, se, -0.05, 1.0)


def looks() -> Iterator[Promise]:
    """A judge at the margin, called adequate at any of five looks."""
    at = [20, 30, 40, 50, 60]
    levels = [nominal_levels([Look(one, one / at[-1]) for one in at[: k + 1]])[-1] for k in range(5)]
    rng, studies, wrong = np.random.default_rng([SEED, 9]), 600, []
    # the first judge's errors beyond the people's are scaled so that its gap is the margin, by 200,000 topics
    found = made(np.random.default_rng(2), "judges", 200_000, gap=MARGIN).questions["gap"].truth()
    for _ in range(studies):
        study = made(rng, "judges", gap=MARGIN)
        batches, one = study.drawn(rng, "gap", 60), study.questions["gap"]
        passed = False
        for look in range(5):
            held = batches[: look + 1]
            topics, weights = np.concatenate([batch.topics for batch in held]), draw_weights(held)
            sizes, gaps = one.sizes[topics], study.gaps[topics]
            items = np.full(len(topics), float(ITEMS))
            plain = GapSums(sizes, gaps.sum(axis=1), items, (gaps**2).sum(axis=1), np.abs(gaps).sum(axis=1))
            scaled = weights * sizes.sum() / (weights @ sizes)
            test = from_sums([weighted_sums(plain, scaled)], Rule(found, 0.95, FEWEST, 9_999, 1))[0]
            passed |= test.p < levels[look]
        wrong.append(passed)
    yield promise(f"adequate at any of five looks, gap at the margin of {found:.3f}", wrong, 0.0, 0.055 + 2 * 0.0093)


def speed() -> Iterator[Promise]:
    """Seconds of processor time, as a share of one second: 200 % are 2 s."""
    rng = np.random.default_rng(3)
    signs, sizes, held = rng.random((100_200, 3)), rng.integers(5, 20, 100_200).astype(float), np.arange(200)
    started = time.process_time()
    deviation = anticipated_deviation(signs, sizes, held, rng.normal(size=200))[200:]
    systematic_sample(inclusion_probabilities(deviation, 1_000), rng)
    yield Promise("100,000 waiting topics: hundredths of a second", time.process_time() - started, 0.0, 0.0, 2.0)


PARTS: tuple[Callable[[], Iterator[Promise]], ...] = (speed, public, looks, simulated)


def main() -> int:
    """One line per promise."""
    return tell("Topics drawn where they say most: percent", (line for part in PARTS for line in part()))


if __name__ == "__main__":
    sys.exit(main())

"""What a study's files imply for each row of its walk, worked out from what was planted and never by calipers.

For each group of a row's pattern: a text that it is, a number that its interval holds or that it is rounded from, a
function of the desk and its people that gives either from the labels alone, or None for what only the run can tell (a
provider's tokens, the sides that were drawn, what simulated errors come to).
"""

from __future__ import annotations

import random
import re
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from tests.studies import test_deepresearchgym, test_dr3_eval, test_race, test_reportbench, test_wlc
from tests.studies.desk import Decide, Desk, Task
from tests.studies.test_wlc import alike, answered

Value = str | float | None
Implied = Value | Callable[[Desk, Mapping[str, Decide]], str | float]
_NUMBER = re.compile(r"[−-]?(?:\d[\d,]*\.?\d*|\.\d+)")


def worked_out(implied: Implied, desk: Desk, decide: Mapping[str, Decide]) -> Value:
    return implied(desk, decide) if callable(implied) else implied


def agrees(group: str, value: Value) -> bool:
    """Whether what stands in the output is what the files imply."""
    if value is None or isinstance(value, str):
        return value in (None, group)
    numbers = [found.replace("−", "-").replace(",", "") for found in _NUMBER.findall(group)]
    if len(numbers) == 3:
        return float(numbers[1]) <= value <= float(numbers[2])
    return abs(float(numbers[0]) - value) <= 0.5001 * 10.0 ** -len(numbers[0].partition(".")[2])


def shown(values: Sequence[Value]) -> str:
    """As the page has it; `=` for a text that it is, – for what the files do not imply; "" where they imply nothing."""
    if set(values) <= {None}:
        return ""
    return ", ".join("–" if one is None else "=" if isinstance(one, str) else f"{one:.3g}" for one in values)


def two_people(right: float, others: int) -> float:
    """How often two people who are right so often say the same, errors spread over the other answers."""
    return right**2 + (1 - right) ** 2 / others


def _human(desk: Desk, study: str) -> pd.DataFrame:
    labels = desk.verdicts(study)
    return labels[labels["rater_kind"] == "human"]


def _answers(study: str) -> Implied:
    """How often the people of a walk say A, B and the rest, each asked again."""

    def count(desk: Desk, decide: Mapping[str, Decide]) -> str:
        sides = {"left": "A", "right": "B"}
        said = Counter[str]()
        for row in _human(desk, study).itertuples():
            systems = row.system_a, row.system_b
            said_so = decide[study](Task(row.rater_id, row.cluster_id, systems, row.system_a, "", row.criterion))
            said[sides.get(said_so, said_so)] += 1
        return ", ".join(f"{name}: {n}" for name, n in sorted(said.items()))

    return count


def _apart(study: str, most: float = 0) -> Implied:
    """Items and criteria on which people differ, on a scale by more than `most`, where all who are asked have answered."""

    def count(desk: Desk, _: Mapping[str, Decide]) -> float:
        labels = _human(desk, study)
        readers = labels.groupby("item_id")["rater_id"].transform("nunique")
        each = labels[readers == readers.max()].groupby(["item_id", "criterion"])["label"]
        if not most:
            return float((each.nunique() > 1).sum())
        return float((each.agg(lambda one: np.ptp(one.astype("float"))) > most).sum())

    return count


def _cut(pattern: str) -> Implied:
    """Per cent of a report that its marks of citation and its references are, the middle one of those files."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> float:
        return statistics.median(cited(path.read_text(encoding="utf-8")) for path in Path(desk.folder).glob(pattern))

    return share


def cited(text: str) -> float:
    marks = sum(map(len, re.findall(r" \[(?:1|long_context: [^\]]+)\]", text.partition("## References")[0])))
    return 100 * (marks + len(text) - len(text.partition("## References")[0])) / len(text)


def _by_topic(desk: Desk, study: str, system: str) -> pd.Series[float]:
    """Topic -> mean of people's scores of that system's report; of statements on which they agree, the share correct."""
    mine = _human(desk, study)
    mine = mine[mine["system_a"] == system]
    if study == "rb":
        mine = mine[mine.groupby("item_id")["label"].transform("nunique") == 1].drop_duplicates("item_id")
    scores = mine["label"].eq("correct") if study == "rb" else mine["label"]
    return scores.astype("float").groupby(mine["cluster_id"]).mean()


def _difference(desk: Desk, _: Mapping[str, Decide]) -> float:
    return float((_by_topic(desk, "dr3", "claude") - _by_topic(desk, "dr3", "gemini")).mean())


def _difference_p(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Holm's p over the ten pairs of systems, of Wilcoxon's signed ranks: claude against gemini."""
    scores = {system: _by_topic(desk, "dr3", system) for system in test_dr3_eval.SYSTEMS}
    found = {pair: stats.wilcoxon(scores[pair[0]] - scores[pair[1]]).pvalue for pair in combinations(sorted(scores), 2)}
    highest = 0.0
    for rank, pair in enumerate(sorted(found, key=found.__getitem__)):
        highest = max(highest, min(1.0, (len(found) - rank) * found[pair]))
        if pair == ("claude", "gemini"):
            return highest
    raise AssertionError


def _variance(study: str, system: str, systems: Collection[str], best: Collection[str]) -> tuple[Implied, Implied]:
    """η² and p of one system's scores by two kinds of topics, of which one holds its `best`: less all systems' mean."""

    def groups(desk: Desk) -> list[pd.Series[float]]:
        scores = pd.DataFrame({one: _by_topic(desk, study, one) for one in systems})
        kinds = [scores[scores.index.isin(best) == is_best] for is_best in (True, False)]
        return [kind[system] - kind.mean(axis=1).mean() for kind in kinds]

    def eta(desk: Desk, _: Mapping[str, Decide]) -> float:
        every = pd.concat(split := groups(desk))
        between = sum(len(one) * (one.mean() - every.mean()) ** 2 for one in split)
        return float(between / ((every - every.mean()) ** 2).sum())

    return eta, lambda desk, _: float(stats.f_oneway(*groups(desk)).pvalue)


def _half(worth: Mapping[str, float]) -> list[str]:
    return sorted(worth, key=worth.__getitem__)[len(worth) // 2 :]


def _conditions() -> dict[str, tuple[float, float]]:
    """Task -> what one system's report is worth in two conditions, which share how easy the task is."""
    draw = random.Random(23)
    eased = [(f"{number:03}", draw.uniform(0.35, 0.75)) for number in range(1, 21)]
    return {
        task: (round(ease + draw.gauss(0, 0.1), 3), round(ease + 0.08 + draw.gauss(0, 0.1), 3)) for task, ease in eased
    }


def _together() -> float:
    """Spearman's ρ over the tasks to be expected of a judge's scores in the two conditions."""
    noise = np.random.default_rng(1).normal(0, test_dr3_eval.OF_JUDGE, (400, 2, len(CONDITIONS)))
    worth = np.array([*CONDITIONS.values()]).T
    return statistics.mean(float(stats.spearmanr(*(worth + one)).statistic) for one in noise)


CONDITIONS = _conditions()
BEST_TASKS = _half(  # of claude beside the others: an effect of the domain is planted
    {
        task: sum(
            sum(scores.values()) * (5 if by == "claude" else -1)
            for (on, by), scores in test_dr3_eval.QUALITIES.items()
            if on == task
        )
        for task in test_dr3_eval.TASKS
    }
)
LEADS = dict.fromkeys(test_reportbench.SURVEYS, 0.0)  # correct statements of gemini-dr more than of the other
for survey, by, truth in test_reportbench.STATEMENTS.values():
    LEADS[survey] += (truth == "correct") * (1 if by == "gemini-dr" else -1)
BEST_SURVEYS = _half(LEADS)
TWO_READERS = two_people(0.9, 1)  # of `setting_out.reader_of`: one answer of ten is the next one

PERSON, CAREFUL, QUICK = test_wlc.PERSON, test_wlc.CAREFUL, test_wlc.QUICK
WINS = {agent: answered(share, PERSON, 1) for agent, share in test_wlc.AGENTS.items()}
COVERED = {agent: answered(share, PERSON, 2) for agent, share in test_wlc.CONSISTENT.items()}


def _lakes(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Topics of that category, every second one, of which articles are compared."""
    return float(len(set(_human(desk, "wlc")["cluster_id"]) & set(test_wlc.TOPICS[1::2])))


WLC: Mapping[int, tuple[Implied, ...]] = {
    1: ("12 topics, 3 systems (1 reference), 36 reports",), 3: ("72",), 5: (_lakes,), 6: ("1", "BOM 1", "CRLF 1", "NFD names 1"),
    7: (_cut("wlc_files/test_data/atlas/md_data/*.md"), _cut("wlc_files/wiki_data/cleaned_data/article/*.md")),
    9: ("10 of 10 items",), 10: (_answers("wlc"),), 11: ("741 labels of 5 people on 39 criteria",),
    12: ("20 labels of 2 people on 1 criteria",), 14: (two_people(PERSON, 3),),
    15: ("120 probes (fact) on 12 topics, about 24 reports",), 18: ("741 of 741 with a reason",), 19: ("5", "5"),
    20: ("190 of 741 not applicable, a tie refused",), 21: ("2: 9 items, 1: 1 items",),
    22: ("19 of 20 slots are handed in",), 24: ("10", "60"), 25: (alike(PERSON, CAREFUL) - alike(PERSON, QUICK),),
    26: ("invalid 1 ok 232 missing 1",), 27: (0.0,), 30: (100 * alike(PERSON, QUICK), None),
    31: (2 * alike(PERSON, PERSON) - 1,), 35: ("1.00 [–]", 1 / 3), 36: (alike(PERSON, CAREFUL),),
    37: (COVERED["atlas"] - COVERED["borealis"], None), 39: (0.0,), 40: (1 - WINS["atlas"],),
    42: ("273 answers on 6 items",), 43: ("3,081 rows of labels", "36 reports"), 44: ("0 of 4 names",),
}  # fmt: skip

gym = test_deepresearchgym
SUPPORTED = {
    by: statistics.mean(gym.POINTS[q, by, n] == "Supported" for q in gym.QUESTIONS[1:] for n in (1, 2, 3))
    for by in gym.SYSTEMS
}
RECALLED = {by: statistics.mean(share for (_, of), share in gym.recalled().items() if of == by) for by in gym.SYSTEMS}
CLARITY = {
    system: np.array([gym.WORTH[question, system]["clarity"] for question in gym.QUESTIONS]) for system in gym.SYSTEMS
}
KPR_READ = gym.READS + (1 - gym.READS) / 3
BETTER = float(np.mean([gym.OVERALL[q, "atlas"] > gym.OVERALL[q, "borealis"] for q in gym.QUESTIONS[::2]]))


def _recalled(desk: Desk) -> tuple[float, int]:
    return gym.agreement_by_hand(desk.verdicts("preference"), gym.recalled())


GYM: Mapping[int, tuple[Implied, ...]] = {
    2: ("42 topics, 4 systems, 168 reports",), 3: ("123",), 5: (0.0,), 6: ("1", "BOM 1", "CRLF 1"),
    7: (_cut("gym_files/reports/atlas/*.a"),), 9: ("60 of 60 items",), 10: (_answers("preference"),),
    12: ("125 labels of 7 people on 1 criteria",), 13: ("1,008 labels ok",),
    14: ("672 probes (claim) on 42 topics, about 168 reports",),
    15: ("123 probes (key point) on 41 topics, about 164 reports",),
    20: ("Neither ties nor “not applicable” were allowed",), 21: ("3: 41 items, 2: 1 items",),
    22: ("125 of 126 slots are handed in",), 24: ("1,008 calls done", "1,008 labels ok"),
    25: tuple(2 * gym.agreement_planted(gym.NOISE[judge], "clarity") - 1 for judge in ("coarse", "fine")),
    26: ("ok 32 missing 1",), 31: (lambda desk, _: gym.kappa_among_people(desk.verdicts("preference")),),
    32: (lambda desk, _: 2 * _recalled(desk)[0] - 1, lambda desk, _: f"{_recalled(desk)[1]} of 125"),
    34: (2 * gym.agreement_planted(gym.NOISE["fine"], "clarity") - 1, None),
    35: (float(stats.kendalltau(list(SUPPORTED.values()), list(RECALLED.values())).statistic),), 36: (KPR_READ * gym.PERSON + (1 - KPR_READ) * (1 - gym.PERSON) / 2,),
    37: (10 * float((CLARITY["atlas"] - CLARITY["atlas_custom"]).mean()), None), 40: (answered(BETTER, gym.PERSON, 1),),
    41: (float(stats.spearmanr(CLARITY["atlas"], CLARITY["atlas_custom"]).statistic),),
    42: ("672 answers on 672 items",), 43: ("125 rows of labels", "168 reports"), 44: ("0 of 4 names",),
}  # fmt: skip

R_OF_JUDGE, ORDERED = test_dr3_eval.planted()
OF_TOTALS = (
    np.var(list(test_dr3_eval.SYSTEMS.values())) + test_dr3_eval.OF_REPORT**2 + test_dr3_eval.OF_CRITERION**2 / 5
)
DR3: Mapping[int, tuple[Implied, ...]] = {
    3: ("10",), 4: ("10 topics, 5 systems, 50 reports",), 5: ("25",), 6: ("1", "BOM 1", "CRLF 1"),
    7: (_cut("dr3/results/128k/claude/*/*.md"),), 9: ("50 of 50 items",), 13: ("995 labels of 4 people on 5 criteria",),
    14: (TWO_READERS,), 16: (TWO_READERS,), 18: ("995 of 995 with a reason",), 19: ("8", "8"),
    21: ("4: 49 items, 3: 1 items",), 22: ("199 of 200 slots are handed in",), 23: (_apart("dr3", 15),), 24: ("33", "11"),
    26: ("ok 31 missing 2",), 28: (100 * test_dr3_eval.OF_RUN / 5**0.5 * np.pi**0.5 / 2,),
    33: (R_OF_JUDGE, OF_TOTALS / (OF_TOTALS + test_dr3_eval.OF_EXPERT**2 / 5)), 34: (ORDERED,),
    37: (_difference, _difference_p), 38: _variance("dr3", "claude", test_dr3_eval.SYSTEMS, BEST_TASKS),
    41: (_together(),), 42: ("36 answers on 33 items",),
    43: ("1,995 rows of labels", "50 reports"),
    44: ("0 of 5 names",), 45: ("4 reports", None),
}  # fmt: skip

VOTES, RB_PERSON = test_reportbench.by_majority(), test_reportbench.PERSON
VOTE = statistics.mean(test_reportbench.HARD)


def _said(right: float, truth: str) -> list[float]:
    """How often each answer is given by one who says what is so that often."""
    return [right if one == truth else (1 - right) / 2 for one in test_reportbench.LABELS]


def kappa(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """Cohen's κ to be expected of two who give each statement's answers that often."""
    both, chance = np.multiply(one, other).sum(1).mean(), (np.mean(one, 0) * np.mean(other, 0)).sum()
    return float((both - chance) / (1 - chance))


def _hard(statement: str) -> float:
    return float(statement.partition("@")[2].rstrip("]"))


ABOUT = [(by, truth, _hard(statement)) for statement, (_, by, truth) in test_reportbench.STATEMENTS.items()]
BY_PERSON = [_said(RB_PERSON, truth) for _, truth, _ in ABOUT]
BY_PRO = [_said(hard, truth) for _, truth, hard in ABOUT]
BY_VOTES = [_said(hard - test_reportbench.WORSE / 2, truth) for _, truth, hard in ABOUT]
CORRECT_OF = {
    system: statistics.mean(said[0] for said, (by, *_) in zip(BY_PRO, ABOUT, strict=True) if by == system)
    for system in test_reportbench.SYSTEMS
}
REPORTBENCH: Mapping[int, tuple[Implied, ...]] = {
    3: ("10 topics, 2 systems, 20 reports",), 5: ("40",), 6: ("1", "BOM 1", "CRLF 1"), 9: ("80 of 80 items",),
    14: (1.0,), 18: ("refused, incomplete",), 21: ("2: 79 items, 1: 1 items",), 22: ("159 of 160 slots are handed in",),
    23: (_apart("rb"),), 24: ("240 calls done",), 25: (-test_reportbench.WORSE * (RB_PERSON - (1 - RB_PERSON) / 2),),
    26: ("ok 85 invalid 5",), 28: (VOTES["all"], VOTES["auroc"]),
    30: (VOTE * RB_PERSON + (1 - VOTE) * (1 - RB_PERSON) / 2,), 31: (kappa(BY_VOTES, BY_VOTES),),
    36: (kappa(BY_PRO, BY_PERSON),), 37: (CORRECT_OF["gemini-dr"] - CORRECT_OF["openai-dr"], None), 38: _variance("rb", "gemini-dr", test_reportbench.SYSTEMS, BEST_SURVEYS),
    42: ("108 answers on 15 items",), 43: ("639 rows of labels", "20 reports"), 44: ("0 of 2 names",), 45: ("85",),
}  # fmt: skip

SOURCES = "\n## References\n\n[1] https://example.org/source\n"  # added to its reports
RACE: Mapping[int, tuple[Implied, ...]] = {
    3: ("8 topics, 5 systems (1 reference), 40 reports",), 5: ("32",), 6: ("BOM 1", "CRLF 1"),
    7: (statistics.median(cited(test_race.article(task, "gemini") + SOURCES) for task in test_race.TASKS),), 9: ("64 of 64 items",),
    10: (_answers("overall"),), 13: ("960 labels of 3 people on 5 criteria",), 14: (TWO_READERS,), 16: (TWO_READERS,),
    17: ("criteria 40",), 19: ("12", "12"), 21: ("3: 64 items",), 22: ("96 of 96 slots are handed in",),
    24: ("32 calls done", "320 labels ok"), 26: ("ok 68 missing 4",), 27: (10 * test_race.LEAD,), 32: ("48",),
    34: (100 * test_race.planted_order(), None), 42: ("72 answers on 18 items",), 43: ("3,200 rows of labels", "40 reports"), 44: ("0 of 4 names",),
}  # fmt: skip

IMPLIED = {"wlc": WLC, "deepresearchgym": GYM, "dr3_eval": DR3, "reportbench": REPORTBENCH, "race": RACE}

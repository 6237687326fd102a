"""What the rows of a study's walk come to, worked out of its labels and files alone, with nothing of calipers' statistics."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sqlalchemy import func, select

from db.connect import reading
from db.tables import Assignment, Item, Report, Study, System, Topic
from tests.studies import intervals, own_trees, test_dr3_eval, test_wlc
from tests.studies import test_deepresearchgym as gym
from tests.studies.desk import Decide, Desk, Task
from tests.studies.intervals import Interval, Numbers, over_rows

Worked = Callable[[Desk, Mapping[str, Decide]], str | float | tuple[float, float] | Interval]
Table = Sequence[Sequence[float]] | npt.NDArray[np.bool_]


def human(desk: Desk, study: str) -> pd.DataFrame:
    labels = desk.verdicts(study)
    return labels[labels["rater_kind"] == "human"]


def of(desk: Desk, study: str, rater: str) -> pd.DataFrame:
    labels = desk.verdicts(study)
    return labels[labels["rater_id"] == rater]


def answers(study: str, number: int) -> Worked:
    """How often the people of a walk say A, B and the rest, each of so many asked again, and each label what is said."""

    def count(desk: Desk, decide: Mapping[str, Decide]) -> str:
        sides = {"left": "A", "right": "B"}
        said = Counter[str]()
        for row in human(desk, study).itertuples():
            systems = row.system_a, row.system_b
            said_so = decide[study](Task(row.rater_id, row.cluster_id, systems, row.system_a, "", row.criterion))
            assert row.label == sides.get(said_so, said_so), row
            said[row.label] += 1
        assert said.total() == number
        return ", ".join(f"{name}: {n}" for name, n in sorted(said.items()))

    return count


def not_applicable(study: str) -> Worked:
    """How often people chose that, of all that they chose."""

    def count(desk: Desk, _: Mapping[str, Decide]) -> str:
        chosen = [one[-1] for one in desk.said[study]]
        return f"{chosen.count('not_applicable')} of {len(chosen)} not applicable, a tie refused"

    return count


def scored_anew(study: str) -> Worked:
    """The mean of what the people of a walk score, each asked again, and each label the one that is said."""

    def mean(desk: Desk, decide: Mapping[str, Decide]) -> float:
        said = []
        for row in human(desk, study).itertuples():
            said.append(
                float(decide[study](Task(row.rater_id, row.cluster_id, (row.system_a,), "", "", row.criterion)))
            )
            assert float(row.label) == said[-1], row
        return statistics.mean(said)

    return mean


def apart(study: str, most: float = 0) -> Worked:
    """Items and criteria on which people differ, on a scale by more than `most`, where all who are asked have answered."""

    def count(desk: Desk, _: Mapping[str, Decide]) -> float:
        labels = human(desk, study)
        readers = labels.groupby("item_id")["rater_id"].transform("nunique")
        each = labels[readers == readers.max()].groupby(["item_id", "criterion"])["label"]
        if not most:
            return float((each.nunique() > 1).sum())
        return float((each.agg(lambda one: np.ptp(one.astype("float"))) > most).sum())

    return count


def cut(pattern: str, mark: str = r" \[(?:1|long_context: [^\]]+)\]") -> Worked:
    """Per cent of a report that its marks of citation and its references are, the middle one of those files."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> float:
        return statistics.median(cited(path.read_text(encoding="utf-8"), mark) for path in desk.folder.glob(pattern))

    return share


def cited(text: str, mark: str = r" \[1\]") -> float:
    marks = sum(map(len, re.findall(mark, text.partition("## References")[0])))
    return 100 * (marks + len(text) - len(text.partition("## References")[0])) / len(text)


def by_topic(desk: Desk, study: str, system: str) -> pd.Series[float]:
    """Topic -> mean of people's scores of that system's report; of statements on which they agree, the share correct."""
    mine = human(desk, study)
    mine = mine[mine["system_a"] == system]
    if study == "rb":
        mine = mine[mine.groupby("item_id")["label"].transform("nunique") == 1].drop_duplicates("item_id")
    scores = mine["label"].eq("correct") if study == "rb" else mine["label"]
    return scores.astype("float").groupby(mine["cluster_id"]).mean()


def difference(desk: Desk, _: Mapping[str, Decide]) -> Interval:
    return intervals.t_mean(by_topic(desk, "dr3", "claude") - by_topic(desk, "dr3", "gemini"))


def difference_p(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Holm's p over the ten pairs of systems, of Wilcoxon's signed ranks: claude against gemini."""
    scores = {system: by_topic(desk, "dr3", system) for system in test_dr3_eval.SYSTEMS}
    found = {pair: stats.wilcoxon(scores[pair[0]] - scores[pair[1]]).pvalue for pair in combinations(sorted(scores), 2)}
    highest = 0.0
    for rank, pair in enumerate(sorted(found, key=found.__getitem__)):
        highest = max(highest, min(1.0, (len(found) - rank) * found[pair]))
        if pair == ("claude", "gemini"):
            return highest
    raise AssertionError


def scored(study: str, systems: Collection[str]) -> Callable[[Desk], pd.DataFrame]:
    return lambda desk: pd.DataFrame({one: by_topic(desk, study, one) for one in systems})


def variance(table: Callable[[Desk], pd.DataFrame], system: str, best: Collection[str]) -> tuple[Worked, Worked]:
    """η² and p of one system's scores by two kinds of topics, one of them `best`: less all systems' mean there."""

    def groups(desk: Desk) -> list[pd.Series[float]]:
        scores = table(desk)
        kinds = [scores[scores.index.isin(best) == is_best] for is_best in (True, False)]
        return [kind[system].dropna() - kind.mean(axis=1).mean() for kind in kinds]

    def eta(desk: Desk, _: Mapping[str, Decide]) -> float:
        every = pd.concat(split := groups(desk))
        between = sum(len(one) * (one.mean() - every.mean()) ** 2 for one in split)
        return float(between / ((every - every.mean()) ** 2).sum())

    return eta, lambda desk, _: float(stats.f_oneway(*groups(desk)).pvalue)


def beside(desk: Desk, study: str, judge: str = "") -> pd.DataFrame:
    """Labels of every two people, or of each person and a judge, on one item and criterion: `label_x`, `label_y`."""
    people = human(desk, study).query("label != 'not_applicable'")
    other = of(desk, study, judge).dropna(subset="label") if judge else people
    both = people.merge(other, on=["item_id", "criterion"])
    return both if judge else both[both["rater_id_x"] < both["rater_id_y"]]


def alike(desk: Desk, study: str, judge: str = "") -> float:
    """Share of equal labels of every two people, or of a judge and each person, on one item and criterion."""
    both = beside(desk, study, judge)
    return float((both["label_x"] == both["label_y"]).mean())


def alike_over_topics(study: str, judge: str = "") -> Worked:
    def share(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        both = beside(desk, study, judge)
        both = both.assign(same=both["label_x"] == both["label_y"], topic=both["cluster_id_x"])
        of_passes = both.groupby(["item_id", "criterion", "rater_id_x", "rater_id_y"])[["same", "topic"]]
        each = of_passes.agg({"same": "mean", "topic": "first"})
        return intervals.wilson(each["same"], each["topic"])

    return share


def alpha(labels: pd.DataFrame) -> float:
    """Krippendorff's α of numbers by its coincidence matrix: each unit's ordered pairs count weight / (its labels - 1)."""
    each = labels.groupby("unit").agg(label=("label", list), weight=("weight", "first"))
    units = each[each["label"].map(len) > 1]
    values, places = np.unique(np.concatenate([*units["label"]]).astype("float"), return_inverse=True)
    seen = np.split(places, np.cumsum(units["label"].map(len))[:-1])
    together = np.zeros((len(values), len(values)))
    for unit, weight in zip(seen, units["weight"], strict=True):
        for one, other in permutations(unit, 2):
            together[one, other] += weight / (len(unit) - 1)
    said, apart = together.sum(axis=0), np.subtract.outer(values, values) ** 2
    return float(1 - (said.sum() - 1) * (together * apart).sum() / (np.outer(said, said) * apart).sum())


def alpha_of(study: str, judge: str = "") -> Worked:
    """Of all people; or of each of a judge's k answers, which counts 1/k, beside the label of one person; and its ends."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        asked, people = ["item_id", "criterion"], human(desk, study)
        labels = people.assign(unit=people.groupby(asked).ngroup(), topic=people["cluster_id"], weight=1.0)
        if judge:
            both = people.merge(of(desk, study, judge), on=asked)
            often = both.groupby([*asked, "rater_id_x"])["label_y"].transform("size")
            each = {"unit": both.index, "topic": both["cluster_id_x"], "weight": 1 / often}
            labels = pd.concat([pd.DataFrame({**each, "label": both[f"label_{n}"]}) for n in "xy"])
        found = intervals.of_alpha(labels)
        assert abs(found.value - alpha(labels)) < 1e-9
        return found

    return worked


def totals(desk: Desk) -> pd.DataFrame:
    """Report by rater -> mean of its five scores, and of a judge's runs: people's whole ones alone."""
    labels = desk.verdicts("dr3").astype({"label": "float"})
    each = labels.groupby(["item_id", "rater_id", "criterion"])["label"].mean().unstack()
    return each.mean(axis=1, skipna=False).unstack()


def of_tasks(desk: Desk) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """judge-a's totals, shape (tasks, systems), and the experts', shape (tasks, systems, experts)."""
    by, labels = totals(desk), desk.verdicts("dr3").drop_duplicates("item_id").set_index("item_id")
    by.index = pd.MultiIndex.from_frame(labels.loc[by.index, ["cluster_id", "system_a"]])
    experts = (by[name].unstack() for name in human(desk, "dr3")["rater_id"].unique())
    return by["judge-a"].unstack().to_numpy(), np.stack([*experts], axis=2)


def with_experts(how: Callable[[Numbers, Numbers], float]) -> Worked:
    """Of judge-a's totals and the mean of the experts'."""
    return over_rows(of_tasks, lambda judge, experts: how(judge.ravel(), np.nanmean(experts, axis=2).ravel()))


def r_of(one: Numbers, other: Numbers) -> float:
    known = ~np.isnan(one + other)
    return float(np.corrcoef(one[known], other[known])[0, 1])


def pairs_in_order(one: Numbers, other: Numbers) -> float:
    """Of every two reports but a report and itself, drawn again."""
    a, b = np.triu_indices(len(one), 1)
    apart = (one[a] - one[b]), (other[a] - other[b])
    return float((apart[0] * apart[1] > 0)[(apart[0] != 0) | (apart[1] != 0)].mean())


def _two_by_two(_: Numbers, experts: Numbers) -> float:
    each = experts.reshape(-1, experts.shape[2]).T
    return float(np.mean([r_of(*pair) for pair in combinations(each, 2)]))


experts_two_by_two = over_rows(of_tasks, _two_by_two)


def nearer(study: str, one: str, other: str, span: float) -> Worked:
    """How much nearer to people's scores one judge's are, in spans of the declared scale."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> float:
        asked, people = ["item_id", "criterion"], human(desk, study)

        def off(judge: str) -> float:
            both = people.merge(of(desk, study, judge), on=asked)[["label_x", "label_y"]].astype("float")
            return float((both["label_x"] - both["label_y"]).abs().mean())

        return (off(other) - off(one)) / span

    return worked


def drawn(desk: Desk, study: str, system: str) -> list[tuple[int, bool]]:
    """Each slot of a person with that system's report: its item, and whether that report is on the left."""
    rows = select(Item.id, Item.report_a_id == Report.id, Assignment.left)
    rows = rows.select_from(Assignment).join(Item, Item.id == Assignment.item_id)
    rows = rows.join(Report, Report.id.in_([Item.report_a_id, Item.report_b_id])).join(System)
    rows = rows.join(Study, Study.id == Assignment.study_id).where(
        Study.name == study, System.key == system, Assignment.source != "judge"
    )
    with reading(desk.engine) as session:
        return [(item, left == "BA"[is_a]) for item, is_a, left in session.execute(rows)]


def sides(study: str, system: str) -> tuple[Worked, Worked]:
    """How often a reader gets that system's report on the left and on the right, which a plan keeps within one."""

    def lefts(desk: Desk) -> list[int]:
        found = Counter(on_the_left for _, on_the_left in drawn(desk, study, system))
        assert abs(found[True] - found[False]) <= 1
        return [found[True], found[False]]

    return lambda desk, _: lefts(desk)[0], lambda desk, _: lefts(desk)[1]


def seen(study: str, system: str) -> tuple[Worked, Worked, Worked]:
    """The same of labels: how often it stood left and right of who answered, and its pairs that were seen in both."""

    def slots(desk: Desk) -> pd.DataFrame:
        labels = human(desk, study)
        mine = labels[labels[["system_a", "system_b"]].eq(system).any(axis=1)].drop_duplicates(["item_id", "rater_id"])
        mine = mine.assign(left=(mine["presentation"] == "AB") == (mine["system_a"] == system))
        for row in mine[mine["system_b"].fillna("") != ""].itertuples():
            seen_so = desk.saw[row.rater_id, row.cluster_id, frozenset((row.system_a, row.system_b))]
            assert (seen_so == system) == row.left, "as whoever answered saw it"
        return mine

    return (
        lambda desk, _: int(slots(desk)["left"].sum()),
        lambda desk, _: int((~slots(desk)["left"]).sum()),
        lambda desk, _: int((slots(desk).groupby("item_id")["left"].nunique() == 2).sum()),
    )


def rates(desk: Desk, study: str, label: str, rater: str = "") -> pd.DataFrame:
    """Topic by system -> share of that label, people's on all of their items or a judge's on these; nan where none."""
    people = human(desk, study)
    mine = of(desk, study, rater).loc[lambda own: own["item_id"].isin(people["item_id"])] if rater else people
    return mine["label"].eq(label).groupby([mine["cluster_id"], mine["system_a"]]).mean().unstack()


def scores(desk: Desk, study: str, judge: str, criterion: str) -> pd.DataFrame:
    """Topic by system -> a judge's score."""
    mine = of(desk, study, judge).loc[lambda own: own["criterion"] == criterion]
    return mine["label"].astype("float").groupby([mine["cluster_id"], mine["system_a"]]).mean().unstack()


def apart_by(table: Callable[[Desk], pd.DataFrame], one: str, other: str) -> tuple[Worked, Worked]:
    """Two systems' mean difference over topics, with t of C - 1, and Wilcoxon's p."""

    def gaps(desk: Desk) -> pd.Series[float]:
        values = table(desk)
        return (values[one] - values[other]).dropna()

    return lambda desk, _: intervals.t_mean(gaps(desk)), lambda desk, _: float(stats.wilcoxon(gaps(desk)).pvalue)


def alike_either_way(desk: Desk) -> list[pd.Series[float]]:
    """Per topic how many labels of two people are equal, and of how many."""
    both = beside(desk, "wlc")
    same = (both["label_x"] == both["label_y"]).groupby(both["cluster_id_x"])
    return [same.sum(), same.size()]


among_people = over_rows(alike_either_way, lambda same, of: float(2 * same.sum() / of.sum() - 1))  # κ, symmetrised


def percent(worked: Callable[[Desk, Mapping[str, Decide]], Interval]) -> Worked:
    return lambda desk, decide: intervals.times(100, worked(desk, decide))


def won(study: str, one: str, other: str) -> Worked:
    """Wins over comparisons of two systems: each question of each pair counts once, by the mean of who answers it."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        labels = human(desk, study).query("label != 'not_applicable'")
        labels = labels[labels[["system_a", "system_b"]].isin([one, other]).all(axis=1)]
        labels = labels.assign(won=(labels["label"] == "A") == (labels["system_a"] == one))
        each = labels.groupby(["item_id", "criterion"])[["won", "cluster_id"]].agg(
            {"won": "mean", "cluster_id": "first"}
        )
        return intervals.wilson(each["won"], each["cluster_id"])

    return share


def spearman(table: Numbers) -> float:
    return float(stats.spearmanr(table).statistic)


def kendall(one: Numbers, other: Numbers) -> float:
    """Of the systems by their means over topics, shape (topics, systems); nan where one has no topic."""
    if any(np.isnan(side).all(axis=0).any() for side in (one, other)):
        return np.nan
    return float(stats.kendalltau(np.nanmean(one, axis=0), np.nanmean(other, axis=0)).statistic)


def _of_wins(judge: str) -> Callable[[Desk], list[pd.DataFrame]]:
    """Topic by system -> share of wins, by people and by a judge, where both answer."""

    def each(labels: pd.DataFrame) -> pd.Series[float]:
        usable = labels.query("label != 'not_applicable'")
        asked = ["cluster_id", "system_a", "system_b", "item_id", "criterion"]
        return usable["label"].eq("A").groupby([usable[name] for name in asked]).mean()

    def rates(won: pd.Series[float]) -> pd.DataFrame:
        one, other = won.rename_axis(index={"system_a": "by"}), (1 - won).rename_axis(index={"system_b": "by"})
        both = pd.concat(
            [
                side.droplevel([name for name in side.index.names if name not in ("cluster_id", "by")])
                for side in (one, other)
            ]
        )
        return both.groupby(level=["cluster_id", "by"]).mean().unstack()

    def tables(desk: Desk) -> list[pd.DataFrame]:
        people, theirs = each(human(desk, "wlc")), each(of(desk, "wlc", judge))
        both = people.index.intersection(theirs.index)
        return [rates(people[both]), rates(theirs[both])]

    return tables


def order_of_wins(judge: str) -> Worked:
    """Kendall's τ of a judge's order of systems with people's; no ends where all resamples are one value."""

    def worked(desk: Desk, decide: Mapping[str, Decide]) -> str | Interval:
        found: Interval = over_rows(_of_wins(judge), kendall)(desk, decide)
        assert found.drawn is not None
        return f"{found.value:.2f} [–]".removeprefix("0") if np.ptp(found.drawn) < intervals.ALIKE else found

    return worked


conditions_together = over_rows(lambda desk: [scores(desk, "conditions", "judge-a", "IR")], spearman)


def orders_of(*names: str) -> Worked:
    """Kendall's τ of two judges' orders by their totals, or of a judge's and people's."""

    def totals_of(desk: Desk) -> list[pd.DataFrame]:
        labels = desk.verdicts("dr3")
        whose = labels["rater_id"].where(labels["rater_kind"] == "judge", "people")
        by = labels["label"].astype("float").groupby([whose, labels["cluster_id"], labels["system_a"]]).mean()
        return [by[name].unstack() for name in names]

    return over_rows(totals_of, kendall)  # type: ignore[no-any-return]


def wikipedia_always(desk: Desk, _: Mapping[str, Decide]) -> float:
    """PAR of one who says Wikipedia each time, in per cent."""
    labels = human(desk, "wlc").query("label != 'not_applicable'")
    return float(100 * ((labels["label"] == "A") == (labels["system_a"] == "wikipedia")).mean())


def written(desk: Desk) -> pd.DataFrame:
    """Topic by agent -> share of criteria that it wins against Wikipedia by the careful judge; nan where not compared."""
    labels = of(desk, "wlc", "careful")
    agents = (labels["label"] == "A") != (labels["system_a"] == "wikipedia")
    agent = labels["system_a"].where(labels["system_a"] != "wikipedia", labels["system_b"])
    return agents.groupby([labels["cluster_id"], agent]).mean().unstack()


def with_ease(table: Callable[[Desk], pd.DataFrame], feature: Callable[[str], float]) -> Worked:
    """Pearson's r of what is known of a topic with its systems' mean score there."""

    def rows(desk: Desk) -> tuple[pd.Series[float], list[float]]:
        ease = table(desk).mean(axis=1)
        return ease, [*map(feature, ease.index)]

    return over_rows(rows, r_of)


with_links = with_ease(written, lambda topic: float(test_wlc.TOPICS.index(topic) ** 2))


def of_category(study: str, category: str, topics: Collection[str], views: int = 1) -> Worked:
    """Items of a study on these topics, which alone have that category there; `views`: so many are seen together."""

    def count(desk: Desk, _: Mapping[str, Decide]) -> float:
        rows = select(Topic.key, Topic.category, func.count(Item.id)).join(Item, Item.topic_id == Topic.id)
        rows = rows.join(Study, Study.id == Topic.study_id).where(Study.name == study).group_by(Topic.id)
        with reading(desk.engine) as session:
            found = session.execute(rows).all()
        assert {key for key, named, _ in found if named == category} == {*topics}
        return sum(items for key, _, items in found if key in topics) / views

    return count


def lakes(desk: Desk, decide: Mapping[str, Decide]) -> float:
    """Topics of that category, every third one, of which articles are compared."""
    of_category("wlc", "Lakes", test_wlc.LAKES)(desk, decide)
    return float(len(set(human(desk, "wlc")["cluster_id"]) & set(test_wlc.LAKES)))


def _points_found(desk: Desk) -> list[pd.DataFrame]:
    people, judge = (rates(desk, "points", "Supported", rater) for rater in ("", gym.READER))
    return [people, judge.reindex_like(people)]


orders = over_rows(_points_found, kendall)  # people's and the published judge's


def kappa_of(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Cohen's κ of two who say A or not; nan where both say one answer alone."""
    if {*one} == {*other} and len({*one}) == 1:
        return np.nan
    return kappa(np.stack([one, np.invert(one)], 1), np.stack([other, np.invert(other)], 1))


def _said(desk: Desk) -> list[pd.DataFrame]:
    """Question by person -> whether A is preferred, nan where not asked."""
    labels = human(desk, "preference")
    said = labels.assign(label=(labels["label"] == "A").astype("float"))
    return [said.pivot(index="cluster_id", columns="rater_id", values="label")]


def _of_people(said: Numbers) -> float:
    """Mean κ of every two people who share questions."""
    shared = (
        said[:, pair][~np.isnan(said[:, pair]).any(axis=1)].astype("bool").T
        for pair in map(list, combinations(range(said.shape[1]), 2))
    )
    found = [kappa_of(*both) for both in shared if both.size]
    return float(np.nanmean(found))


two_by_two = over_rows(_said, _of_people)


def clarity(desk: Desk) -> pd.DataFrame:
    return scores(desk, "quality", "fine", "clarity")


clicks = with_ease(clarity, lambda question: float(int(question) % 7))


Scores = Callable[[Desk], Mapping[tuple[str, str], float]]


def of_signs(desk: Desk, of: Mapping[tuple[str, str], float], study: str = "preference") -> Numbers:
    """Per topic how often people prefer A and two reports' scores do, A and B, B and A, neither; equal ones left out.

    Shape (topics, 2, 2).
    """
    people = human(desk, study)
    counts = dict.fromkeys(people["cluster_id"], np.zeros((2, 2)))
    for row in people.itertuples():
        a, b = (of.get((row.cluster_id, one)) for one in (row.system_a, row.system_b))
        if a is not None and b is not None and a != b:
            counts[row.cluster_id] = counts[row.cluster_id] + np.outer(
                [row.label == "A", row.label == "B"], [a > b, a < b]
            )
    return np.array([*counts.values()])


def _kappa_of_counts(counts: Numbers) -> float:
    table = counts.sum(axis=0) / counts.sum()
    chance = (table.sum(axis=1) * table.sum(axis=0)).sum()
    return float((np.trace(table) - chance) / (1 - chance)) if chance < 1 else np.nan


def by_sign(scores: Scores, study: str = "preference") -> tuple[Worked, Worked]:
    """κ of people's preferences with the sign of two reports' scores; how many are kept."""
    return (
        over_rows(lambda desk: [of_signs(desk, scores(desk), study)], _kappa_of_counts),
        lambda desk, _: f"{of_signs(desk, scores(desk), study).sum():.0f} of {len(human(desk, study))}",
    )


def insight_in_files(_: Desk) -> Mapping[tuple[str, str], float]:
    """(task, system) -> the share of insight in raw_results.jsonl; one line of them failed."""
    return {
        (str(n + 1), system): own_trees.race_scores(system, n, 0.004 * place)["insight"]
        for place, system in enumerate(("alpha", "beta", "gamma"))
        for n in own_trees.NUMBERS
        if (system, n) != ("beta", 2)
    }


def by_sign_either_way(judge: str) -> Worked:
    """The same κ of a judge's clarity where each preference counts under both namings: chance is a half."""

    def counts(desk: Desk) -> list[Numbers]:
        return [of_signs(desk, dict(scores(desk, "quality", judge, "clarity").stack().items()))]

    return over_rows(counts, lambda counts: _kappa_of_counts(counts + counts[:, ::-1, ::-1]))


def spread(study: str, judge: str) -> Worked:
    """Standard deviation (n - 1) of a report's total over a judge's runs, mean over reports."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> float:
        labels = of(desk, study, judge).astype({"label": "float"})
        return float(labels.groupby(["item_id", "run"])["label"].mean().groupby("item_id").std().mean())

    return worked


def kappa_with(study: str, judge: str) -> Worked:
    """Cohen's κ of a judge's answers with each person's on the same item, over whole topics."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        both = beside(desk, study, judge)
        return intervals.of_kappa(both, both["cluster_id_x"])

    return worked


def votes(desk: Desk) -> pd.DataFrame:
    """Statement by answer -> how many of six votes, two judges' three each."""
    labels = desk.verdicts("rb").query("rater_kind == 'judge'")
    return labels.groupby("item_id")["label"].value_counts().unstack(fill_value=0)


def _votes_of_surveys(desk: Desk) -> list[Numbers]:
    """Of as many statements in each survey: how many votes each answer has, shape (surveys, statements, answers)."""
    survey = desk.verdicts("rb").drop_duplicates("item_id").set_index("item_id")["cluster_id"]
    each = votes(desk).groupby(survey)
    return [np.stack([own.to_numpy() for _, own in each])]


def _fleiss(counts: Numbers) -> float:
    alike = (counts * (counts - 1)).sum(axis=2).mean() / 30
    often = (counts.sum(axis=(0, 1)) / counts.sum()) ** 2
    return float((alike - often.sum()) / (1 - often.sum()))


fleiss = over_rows(_votes_of_surveys, _fleiss)  # κ of the six votes


def voted() -> tuple[Worked, Worked]:
    """How often people say what more than three of six votes say, and how often a larger share goes with the right ones."""

    def kept(desk: Desk) -> pd.DataFrame:
        counts = votes(desk).loc[lambda every: every.max(axis=1) > 3]
        people = human(desk, "rb").set_index("item_id").join(counts.idxmax(axis=1).rename("top"), how="inner")
        return people.assign(right=people["label"] == people["top"], votes=counts.max(axis=1))

    def each(desk: Desk) -> list[Numbers]:
        """Of each survey how many answers are right, and wrong, by how many votes; shape (surveys, 2, 3)."""
        found = kept(desk).groupby("cluster_id")
        places = ((own["right"], own["votes"] - 4) for _, own in found)
        return [
            np.array([np.histogram2d(~right, votes, bins=(2, 3), range=((0, 2), (0, 3)))[0] for right, votes in places])
        ]

    def auroc(counts: Numbers) -> float:
        right, wrong = counts.sum(axis=0)
        above = sum(right[votes] * (wrong[:votes].sum() + wrong[votes] / 2) for votes in range(3))
        return float(above / (right.sum() * wrong.sum()))

    def right(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        found = kept(desk)
        return intervals.wilson(found["right"], found["cluster_id"])

    return right, over_rows(each, auroc)


def kappa(one: Table, other: Table) -> float:
    """Cohen's κ to be expected of two who give each statement's answers that often."""
    both, chance = np.multiply(one, other).sum(1).mean(), (np.mean(one, 0) * np.mean(other, 0)).sum()
    return float((both - chance) / (1 - chance))


def correct(desk: Desk) -> pd.DataFrame:
    """Survey by system -> share of statements that most of three votes call correct, of those with a majority."""
    votes = of(desk, "rb", "pro")
    counts = votes.groupby(["cluster_id", "system_a", "item_id"])["label"].value_counts().unstack(fill_value=0)
    counts = counts[counts.max(axis=1) > 1]
    return (counts["correct"] > 1).groupby(["cluster_id", "system_a"]).mean().unstack()


def words(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Each Chinese character and each other word, where a report stands in four pairs that three people read."""
    rows = [
        json.loads(line)
        for path in desk.folder.glob("bench/data/test_data/*/*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    texts = (re.sub(r"^# .*", f"# {row['prompt']}", row["article"]).replace("。", "") for row in rows)  # titled alike
    return float(sum(4 * 3 * len(re.sub(r"([\u4e00-\u9fff])", r" \1 ", text).split()) for text in texts))


def prompts(desk: Desk, _: Mapping[str, Decide]) -> str:
    """The tasks that ask what `query.jsonl` says, whole, by their number there."""
    lines = desk.folder.joinpath("dr3/datasets_en/query.jsonl").read_text(encoding="utf-8").splitlines()
    asked = {row["task"]: row["query"] for row in map(json.loads, lines)}
    with reading(desk.engine) as session:
        kept = dict(session.execute(select(Topic.key, Topic.prompt).join(Study).where(Study.name == "dr3")).all())
    return str(sum(kept.get(task) == query for task, query in asked.items()))


def turned(judge: str) -> Worked:
    """How much oftener a judge turns from B to A where A comes first than the other way round."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> float:
        both = of(desk, "wlc", judge).pivot(index=["item_id", "criterion"], columns="presentation", values="label")
        return float(((both["AB"] == "A").astype(int) - (both["BA"] == "A")).mean())

    return share

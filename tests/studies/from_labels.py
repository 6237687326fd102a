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
from sqlalchemy import select

from db.connect import reading
from db.tables import Assignment, Item, Report, Study, System, Topic
from tests.studies import intervals, own_trees, test_dr3_eval, test_race, test_wlc
from tests.studies import test_deepresearchgym as gym
from tests.studies.desk import Decide, Desk, Task
from tests.studies.intervals import Interval

Worked = Callable[[Desk, Mapping[str, Decide]], str | float | tuple[float, float] | Interval]
Table = Sequence[Sequence[float]] | npt.NDArray[np.bool_]


def human(desk: Desk, study: str) -> pd.DataFrame:
    labels = desk.verdicts(study)
    return labels[labels["rater_kind"] == "human"]


def of(desk: Desk, study: str, rater: str) -> pd.DataFrame:
    labels = desk.verdicts(study)
    return labels[labels["rater_id"] == rater]


def answers(study: str) -> Worked:
    """How often the people of a walk say A, B and the rest, each asked again, and each label the one that is said."""

    def count(desk: Desk, decide: Mapping[str, Decide]) -> str:
        sides = {"left": "A", "right": "B"}
        said = Counter[str]()
        for row in human(desk, study).itertuples():
            systems = row.system_a, row.system_b
            said_so = decide[study](Task(row.rater_id, row.cluster_id, systems, row.system_a, "", row.criterion))
            assert row.label == sides.get(said_so, said_so), row
            said[row.label] += 1
        return ", ".join(f"{name}: {n}" for name, n in sorted(said.items()))

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


def difference(desk: Desk, _: Mapping[str, Decide]) -> float:
    return float((by_topic(desk, "dr3", "claude") - by_topic(desk, "dr3", "gemini")).mean())


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


def alike_over_topics(study: str, judge: str) -> Worked:
    def share(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        both = beside(desk, study, judge)
        return intervals.wilson(both["label_x"] == both["label_y"], both["cluster_id_x"])

    return share


def alpha(labels: pd.DataFrame) -> float:
    """Krippendorff's α of numbers by its coincidence matrix: each unit's ordered pairs count 1 / (its labels - 1)."""
    each = (unit.to_numpy(float) for _, unit in labels.groupby("unit")["label"])
    units = [unit for unit in each if len(unit) > 1]
    values, places = np.unique(np.concatenate(units), return_inverse=True)
    seen = np.split(places, np.cumsum([len(unit) for unit in units])[:-1])
    together = np.zeros((len(values), len(values)))
    for unit in seen:
        for one, other in permutations(unit, 2):
            together[one, other] += 1 / (len(unit) - 1)
    said, apart = together.sum(axis=0), np.subtract.outer(values, values) ** 2
    return float(1 - (said.sum() - 1) * (together * apart).sum() / (np.outer(said, said) * apart).sum())


def alpha_of(study: str, judge: str = "") -> Worked:
    """Of all people; or of a judge's first run, beside the label of one person at a time."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> float:
        asked = ["item_id", "criterion"]
        people = human(desk, study)
        if not judge:
            return alpha(people.assign(unit=people.groupby(asked).ngroup()))
        both = people.merge(of(desk, study, judge).query("run == 1"), on=asked)
        return alpha(pd.concat([pd.DataFrame({"unit": both.index, "label": both[f"label_{n}"]}) for n in "xy"]))

    return worked


def alpha_over_tasks(desk: Desk, decide: Mapping[str, Decide]) -> Interval:
    """α of judge-a, whose value `alpha_of` works out too, and its ends."""
    both = human(desk, "dr3").merge(of(desk, "dr3", "judge-a").query("run == 1"), on=["item_id", "criterion"])
    found = intervals.of_alpha(both, both["cluster_id_x"])
    assert abs(found.value - float(alpha_of("dr3", "judge-a")(desk, decide))) < 1e-9  # type: ignore[arg-type]
    return found


def totals(desk: Desk) -> pd.DataFrame:
    """Report by rater -> mean of its five scores, and of a judge's runs: people's whole ones alone."""
    labels = desk.verdicts("dr3").astype({"label": "float"})
    each = labels.groupby(["item_id", "rater_id", "criterion"])["label"].mean().unstack()
    return each.mean(axis=1, skipna=False).unstack()


def with_experts(how: Callable[[pd.Series[float], pd.Series[float]], float]) -> Worked:
    """Of judge-a's totals and the mean of the experts'."""

    def worked(desk: Desk, _: Mapping[str, Decide]) -> float:
        by = totals(desk)
        return how(by["judge-a"], by[human(desk, "dr3")["rater_id"].unique()].mean(axis=1))

    return worked


def r_of(one: pd.Series[float], other: pd.Series[float]) -> float:
    both = pd.concat([one, other], axis=1).dropna()
    return float(np.corrcoef(both.to_numpy().T)[0, 1])


def pairs_in_order(one: pd.Series[float], other: pd.Series[float]) -> float:
    signs = [(one[a] - one[b]) * (other[a] - other[b]) > 0 for a, b in combinations(one.index, 2)]
    return float(np.mean(signs))


def experts_two_by_two(desk: Desk, _: Mapping[str, Decide]) -> float:
    by = totals(desk)[human(desk, "dr3")["rater_id"].unique()]
    return float(np.mean([r_of(by[one], by[other]) for one, other in combinations(by, 2)]))


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
    """Each slot of a pair with that system's report: its item, and whether that report is on the left."""
    rows = select(Item.id, Item.report_a_id == Report.id, Assignment.left)
    rows = rows.select_from(Assignment).join(Item, Item.id == Assignment.item_id)
    rows = rows.join(Report, Report.id.in_([Item.report_a_id, Item.report_b_id])).join(System)
    rows = rows.join(Study, Study.id == Assignment.study_id).where(Study.name == study, System.key == system)
    with reading(desk.engine) as session:
        return [(item, left == "BA"[is_a]) for item, is_a, left in session.execute(rows)]


def sides(study: str, system: str) -> tuple[Worked, Worked]:
    """How often a reader gets that system's report on the left and on the right, which a plan keeps within one."""

    def lefts(desk: Desk) -> list[int]:
        found = Counter(on_the_left for _, on_the_left in drawn(desk, study, system))
        assert abs(found[True] - found[False]) <= 1
        return [found[True], found[False]]

    return lambda desk, _: lefts(desk)[0], lambda desk, _: lefts(desk)[1]


def by_people(study: str) -> Worked:
    return lambda desk, _: alike(desk, study)


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
    """Two systems' mean difference over topics, and Wilcoxon's p."""

    def gaps(desk: Desk) -> pd.Series[float]:
        values = table(desk)
        return (values[one] - values[other]).dropna()

    return lambda desk, _: float(gaps(desk).mean()), lambda desk, _: float(stats.wilcoxon(gaps(desk)).pvalue)


def won(desk: Desk, study: str, one: str, other: str) -> float:
    """How often people take one system's report before the other's, mean over topics."""
    labels = human(desk, study).query("label != 'not_applicable'")
    labels = labels[labels[["system_a", "system_b"]].isin([one, other]).all(axis=1)]
    return float(((labels["label"] == "A") == (labels["system_a"] == one)).groupby(labels["cluster_id"]).mean().mean())


def ledger(judge: str, price: tuple[float, float], each: int) -> tuple[Worked, Worked]:
    """USD in all and for each call, from the ledger's tokens, at a price of a million of them read and written."""

    def usd(desk: Desk) -> float:
        calls = pd.read_csv(desk.folder / "ledger.csv").loc[lambda calls: calls["judge"] == judge]
        return float((calls["tokens_in"] * price[0] + calls["tokens_out"] * price[1]).sum()) / 1e6

    return lambda desk, _: usd(desk), lambda desk, _: usd(desk) / each


def conditions_together(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Spearman's ρ over tasks of a judge's scores in the two conditions."""
    return float(stats.spearmanr(scores(desk, "conditions", "judge-a", "IR")).statistic)


def judges_orders(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Kendall's τ of the systems' mean totals by two judges."""
    labels = desk.verdicts("dr3")
    totals = labels["label"].astype("float").groupby([labels["rater_id"], labels["system_a"]]).mean()
    return float(stats.kendalltau(totals["judge-a"], totals["judge-b"]).statistic)


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


def with_links(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Pearson's r of a topic's links with what its agents win."""
    ease = written(desk).mean(axis=1)
    return float(stats.pearsonr(ease, [test_wlc.TOPICS.index(topic) ** 2 for topic in ease.index]).statistic)


def lakes(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Topics of that category, every second one, of which articles are compared."""
    return float(len(set(human(desk, "wlc")["cluster_id"]) & set(test_wlc.TOPICS[1::2])))


def orders(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Kendall's τ of the systems by key points found, people's and the published judge's."""
    of_both = (rates(desk, "points", "Supported", rater).mean() for rater in ("", gym.READER))
    return float(stats.kendalltau(*of_both).statistic)


def kappa_of(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Cohen's κ of two who say A or not; nan where both say one answer alone."""
    if {*one} == {*other} and len({*one}) == 1:
        return np.nan
    return kappa(np.stack([one, np.invert(one)], 1), np.stack([other, np.invert(other)], 1))


def two_by_two(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Mean κ of every two people who share questions."""
    said = human(desk, "preference").pivot(index="item_id", columns="rater_id", values="label")
    shared = (said[[*pair]].dropna().eq("A").to_numpy().T for pair in combinations(said, 2))
    return float(np.nanmean([kappa_of(*both) for both in shared if both.size]))


def clicks(desk: Desk, _: Mapping[str, Decide]) -> float:
    ease = clarity(desk).mean(axis=1)
    return float(stats.pearsonr(ease, [int(question) % 7 for question in ease.index]).statistic)


def clarity(desk: Desk) -> pd.DataFrame:
    return scores(desk, "quality", "fine", "clarity")


def of_signs(desk: Desk, of: Mapping[tuple[str, str], float], study: str = "preference") -> npt.NDArray[np.bool_]:
    """Whether people prefer A, and whether two reports' scores do, equal ones left out: shape (2, preferences)."""
    rows = human(desk, study).itertuples()
    pairs = (
        (row.label, of.get((row.cluster_id, row.system_a)), of.get((row.cluster_id, row.system_b))) for row in rows
    )
    return np.array([(said == "A", a > b) for said, a, b in pairs if a is not None and b is not None and a != b]).T


def by_sign(
    scores: Callable[[Desk], Mapping[tuple[str, str], float]], study: str = "preference"
) -> tuple[Worked, Worked]:
    """κ of people's preferences with the sign of two reports' scores; how many are kept."""
    return (
        lambda desk, _: kappa_of(*of_signs(desk, scores(desk), study)),
        lambda desk, _: f"{of_signs(desk, scores(desk), study).shape[1]} of {len(human(desk, study))}",
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

    def worked(desk: Desk, _: Mapping[str, Decide]) -> float:
        people, signs = of_signs(desk, dict(scores(desk, "quality", judge, "clarity").stack().items()))
        return 2 * float((people == signs).mean()) - 1

    return worked


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


def fleiss(desk: Desk, _: Mapping[str, Decide]) -> float:
    """Fleiss' κ of the six votes."""
    counts = votes(desk)
    alike, often = (counts * (counts - 1)).sum(axis=1).mean() / 30, counts.sum() / counts.to_numpy().sum()
    return float((alike - (often**2).sum()) / (1 - (often**2).sum()))


def voted() -> tuple[Worked, Worked]:
    """How often people say what more than three of six votes say, and how often a larger share goes with the right ones."""

    def kept(desk: Desk) -> pd.DataFrame:
        counts = votes(desk).loc[lambda every: every.max(axis=1) > 3]
        people = human(desk, "rb").set_index("item_id").join(counts.idxmax(axis=1).rename("top"), how="inner")
        return people.assign(right=people["label"] == people["top"], votes=counts.max(axis=1))

    def auroc(desk: Desk, _: Mapping[str, Decide]) -> float:
        right, wrong = (kept(desk).query("right == @said")["votes"] for said in (True, False))
        return float(stats.mannwhitneyu(right, wrong).statistic / (len(right) * len(wrong)))

    return lambda desk, _: float(kept(desk)["right"].mean()), auroc


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


def shares(labels: pd.DataFrame) -> pd.Series[float]:
    """(system, task) -> t / (t + r) of mean scores by the task's weights, r of the report in the same view."""
    labels = labels.assign(label=labels["label"].astype("float"))
    each = labels.groupby(["item_id", "system_a", "cluster_id", "beside", "criterion"])[["label", "weight"]].mean()
    totals = each.prod(axis=1).groupby(level=[0, 1, 2, 3]).sum().reset_index(level=[1, 2, 3], name="t")
    totals["share"] = totals["t"] / (totals["t"] + totals["beside"].map(totals["t"]))
    return totals.groupby(["system_a", "cluster_id"])["share"].mean()


def race_shares(desk: Desk) -> dict[str, pd.Series[float]]:
    """Of people together, of each of them and of each judge."""
    labels = desk.verdicts("race")
    people = {str(name): shares(own) for name, own in human(desk, "race").groupby("rater_id")}
    mean = pd.concat(people.values(), axis=1).mean(axis=1)
    return {"people": mean} | {str(name): shares(own) for name, own in labels.groupby("rater_id")}


def order_with_people(judge: str) -> Worked:
    def tau(desk: Desk, _: Mapping[str, Decide]) -> float:
        found = race_shares(desk)
        one, other = (found[name].groupby("system_a").mean() for name in ("people", judge))
        return float(stats.kendalltau(one, other).statistic)

    return tau


def in_one_order(one: pd.Series[float], other: pd.Series[float]) -> list[bool]:
    """Of every two systems but the reference on each task."""
    named = [place for place in one.index if place[0] != test_race.REFERENCE]
    return [(one[a] - one[b]) * (other[a] - other[b]) > 0 for a, b in combinations(named, 2) if a[1] == b[1]]


def order_among_people(desk: Desk, _: Mapping[str, Decide]) -> float:
    people = [found for name, found in race_shares(desk).items() if name.startswith("annotator")]
    return 100 * float(np.mean([in_one_order(*pair) for pair in combinations(people, 2)]))


def overall_over_tasks(desk: Desk, _: Mapping[str, Decide]) -> Interval:
    found = race_shares(desk)
    people, judge = (found[name].drop(test_race.REFERENCE).unstack() for name in ("people", "both-orders"))
    worked = intervals.of_four(people, judge)
    assert abs(worked.value - statistics.mean(columns(desk))) < 1e-9
    return worked


def higher_first(desk: Desk, _: Mapping[str, Decide]) -> float:
    """How much oftener a judge of both orders scores a report higher than lower where it is shown first."""
    labels = of(desk, "race", "both-orders").astype({"label": "float"})
    both = labels.pivot(index=["item_id", "criterion"], columns="presentation", values="label")
    return float(np.sign(both["AB"] - both["BA"]).mean())


def columns(desk: Desk) -> list[float]:
    """PAR, OPC, FAP and FAS of the judge of both orders, in per cent."""
    found = race_shares(desk)
    people, judge = (found[name].drop(test_race.REFERENCE).unstack() for name in ("people", "both-orders"))
    par = np.mean(in_one_order(found["people"], found["both-orders"]))
    opc = people.mean(axis=1).corr(judge.mean(axis=1))
    return [
        100 * float(one)
        for one in (par, opc, *(people.corrwith(judge, method=how).mean() for how in ("pearson", "spearman")))
    ]


def changes(desk: Desk, _: Mapping[str, Decide]) -> float:
    """How often two runs of one judge score a criterion apart."""
    labels = of(desk, "race", "again")
    return float((labels.groupby(["item_id", "criterion", "presentation"])["label"].nunique() > 1).mean())


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


def turned(desk: Desk, _: Mapping[str, Decide]) -> float:
    """How much oftener the careful judge turns from B to A where A comes first than the other way round."""
    both = of(desk, "wlc", "careful").pivot(index=["item_id", "criterion"], columns="presentation", values="label")
    return float(((both["AB"] == "A").astype(int) - (both["BA"] == "A")).mean())


Said = Counter[tuple[str, str, str, str]]  # topic, system (of a pair: the one that wins), criterion, answer


def judged(desk: Desk, study: str) -> Said:
    """What judges' answers say that are valid."""
    labels = desk.verdicts(study).query("rater_kind == 'judge' and status == 'ok'")
    pairs = labels["label"].isin(["A", "B"])
    winner = labels["system_a"].where(labels["label"] != "B", labels["system_b"])
    answers = labels["label"].astype("str").where(~pairs, "wins")
    return Counter(zip(labels["cluster_id"], winner, labels["criterion"], answers, strict=True))


def wlc_files(desk: Desk) -> Said:
    titles, said = own_trees.wiki_tree(desk.folder / "planted", list(test_wlc.CRITERIA))
    gone = {(titles[0], test_wlc.CRITERIA[0]), (titles[1], test_wlc.CRITERIA[1])}  # a tie, and no winner
    kept = {key: one for key, one in said.items() if key not in gone and key[0] != titles[2]}  # its article is missing
    return Counter((title, {"gen": "openai", "gt": "wikipedia"}[one], of, "wins") for (title, of), one in kept.items())


def gym_files(_: Desk) -> Said:
    degrees = dict(zip(gym.SUPPORT, ("full", "partial", "no"), strict=True))
    files = {system: gym.claims_judged(system) for system in gym.SYSTEMS}
    return Counter(
        (question, system, "support", degrees[claim["score"]])
        for system, found in files.items()
        for question, one in found.items()
        for claim in one["detailed"].values()
    )


def gym_scores(_: Desk) -> Said:
    """Two scores a report, 0 to 10, of six questions and two systems; the third report of GPTResearcher is missing."""
    scores = {
        (f"{354532 + n}", system): {"clarity": 4 + shift - 3 * (n == 5 and shift > 0), "insightfulness": 5}
        for n in own_trees.NUMBERS
        for system, shift in (("GPTResearcher", 2), ("search-r1-custom", 0))
        if (n, system) != (2, "GPTResearcher")
    }
    return Counter((*place, name, str(score)) for place, said in scores.items() for name, score in said.items())


def dr3_claims(desk: Desk) -> Said:
    """The verdict on each claim in the files of factual accuracy that are theirs."""
    words = {True: "true", False: "false"}
    found = Said()
    for path in desk.folder.glob("published/results/*/*/*/eval_factual_accuracy_20260301_000000.json"):
        for claim in json.loads(path.read_text(encoding="utf-8"))["details"]["verification_result"]["verifications"]:
            (verdict,) = claim["citation_results"]
            found[path.parts[-2], path.parts[-3], "factual", words[verdict["supported"]]] += 1
    return found


def dr3_files(_: Desk) -> Said:
    """Three insights a report: one of the files' own number, one found but for a failure, one found."""
    degrees = ("no", "partial", "full")
    reports = [(n, system) for n in own_trees.NUMBERS for system in ("glm-4.7", "qwen3") if (n, system) != (2, "qwen3")]
    answers = ((n, system, said) for n, system in reports for said in (degrees[n % 3], *["full"] * (1 + (n != 1))))
    return Counter((f"{n + 1:03}", system, "insight", said) for n, system, said in answers)


def votes_in_files(_: Desk) -> Said:
    """Three votes of two models on three statements of each survey but one; a third vote that failed, and two slips."""
    found = Said()
    for n in (0, 1, 3, 4, 5):
        for statement in (1, 2, 3):
            true, slips, votes = (n + statement) % 3 != 0, 2 * ((n, statement) == (1, 1)), 6 - (statement == 2)
            for said, often in (("correct", votes - slips), ("incorrect", slips)):
                said = said if true else {"correct": "incorrect", "incorrect": "correct"}[said]
                found[f"2312.0{4860 + n}", "o3", "correct", said] += often
    return +found


def race_files(_: Desk) -> Said:
    return Counter(
        (str(n + 1), system, criterion, str(score))
        for place, system in enumerate(("alpha", "beta", "gamma"))
        for n in own_trees.NUMBERS
        if (system, n) != ("beta", 2)
        for criterion, score in own_trees.race_scores(system, n, 0.004 * place).items()
    )


def publishers_file(desk: Desk) -> Said:
    """Of the publisher's one file of writing, brought in as OpenAI's: it does not say whose article it judges."""
    (path,) = desk.folder.glob("wlc_real/results/test_writing/*_writing.json")
    entries = [one for of in json.loads(path.read_text(encoding="utf-8"))["details"].values() for one in of]
    winners = {"gen": "openai", "gt": "wikipedia"}
    topic = path.name.removesuffix("_writing.json")
    return Counter((topic, winners[one["winner"]], one["criterion_id"], "wins") for one in entries)


FILES: Mapping[str, Callable[[Desk], Said]] = {
    "wlc": wlc_files, "deepresearchgym": gym_files, "dr3_eval": dr3_files, "reportbench": votes_in_files,
    "race": race_files, "gym_scores": gym_scores, "dr3_claims": dr3_claims, "wlc_real": publishers_file,
}  # fmt: skip

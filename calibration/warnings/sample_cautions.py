"""Cautions about the data: few clusters, repeated topics, undeclared scales, raters alike, plans changed late."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.agreement.panel import THIN
from calibration.arithmetic.columns import Codes, tally
from calibration.estimates import Estimate, ReportWarning, first_few
from calibration.settings import CalibrationSettings
from calibration.study import bounding, counted, distance
from calibration.study.alike_texts import numbered
from calibration.study.crossing import shared_units
from calibration.study.joining import FEWEST_SCORES, MANY_LABELS, Mask, Study, scale_of
from calibration.table.typed_cells import as_text
from calibration.table.verdicts import BOTH_ORDERS

Marks = npt.NDArray[np.uint64]
CROWD = 200  # annotators above which each is a small part
SHARED = 30  # labels that an annotator and a judge share at least before they are held against each other
COPIED, APART = 0.97, 0.1  # agreement with a judge from which on, and how far above that with people
CHANCE = 10.0  # bits: in 1 of 1,000 studies two topics would look so alike by chance
RARE = 0.01
NO_SCORES = (-999, -99, -9, -1, 0, 9, 99, 999)  # where a scale does not reach them, they often stand for none


def few_clusters(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    """`few_clusters`, fewer than FEW_CLUSTERS of them, and `thin_criteria`, several criteria on so few."""
    count = len(study.clusters)
    if count >= bounding.FEW_CLUSTERS:
        return
    yield ReportWarning("few_clusters", {"clusters": count, "least": bounding.FEW_CLUSTERS})
    if settings.per_criterion and len(study.criteria) > 1:
        yield ReportWarning("thin_criteria", {"criteria": len(study.criteria), "clusters": count})


def sample_cautions(study: Study) -> Iterator[ReportWarning]:
    """`shared_clusters`, `repeated_topics` and `copied_labels`."""
    topics = study.frame["topic"].nunique() if "topic" in study.frame else 0
    if topics > len(study.clusters):
        yield ReportWarning("shared_clusters", {"topics": topics, "clusters": len(study.clusters)})
    yield from _repeated(study)
    yield from _copied(study)


def unread_topics(verdicts: pd.DataFrame, study: Study) -> Iterator[ReportWarning]:
    """`unread_topics`: a column `topic` parts clusters but for some topics or items, so that nothing is reckoned by it.

    One of which most topics lie in several clusters, as subject matters do, parts none, and nothing is wrong with it.
    """
    if "topic" not in verdicts or "topic" in study.frame or not as_text(verdicts["topic"]).ne("").any():
        return
    cluster, item = as_text(verdicts["cluster_id"]), as_text(verdicts["item_id"])
    topic = as_text(verdicts["topic"]).pipe(lambda own: own.where(own.ne(""), cluster))
    for name, of, several in (("topic", topic, cluster), ("item", item, topic)):
        counts = several.groupby(of).nunique()
        torn = counts.index[counts > 1]
        if 0 < 2 * len(torn) <= len(counts):
            yield ReportWarning("unread_topics", {name: str(torn[0]), "count": len(torn), "all": len(counts)})
            return


def repeated_topics(study: Study) -> list[list[str]]:
    """Clusters with the very same labels by all raters, people and judges, where chance would hardly have it so.

    Each list holds two clusters or more. Only labels on which raters differ say anything, since a topic on which all
    say A is alike to many: of each such unit the share of units with the same labels by the same raters, taken as
    independent within a topic, must come to less than 1 in 1,000 for any two clusters of the study.
    """
    marks, differ = _unit_marks(study)
    seen, which, count = np.unique(marks, return_inverse=True, return_counts=True)
    per_criterion = tally(study.unit_criterion, len(study.criteria))
    bits = np.where(differ, np.log2(per_criterion[study.unit_criterion] / count[which]), 0.0)
    of_cluster = _summed(_mixed(seen)[which], study.unit_cluster, len(study.clusters))
    told = tally(study.unit_cluster, len(study.clusters), bits)
    enough = told > CHANCE + math.log2(max(1, math.comb(len(study.clusters), 2)))
    groups: dict[int, list[str]] = {}
    for at in np.flatnonzero(enough):
        groups.setdefault(int(of_cluster[at]), []).append(study.clusters[at])
    return [names for names in groups.values() if len(names) > 1]


def _repeated(study: Study) -> Iterator[ReportWarning]:
    if groups := repeated_topics(study):
        yield ReportWarning("repeated_topics", {"labels": first_few([{"names": names} for names in groups])})


def _unit_marks(study: Study) -> tuple[Marks, Mask]:
    """64 bits for each unit, equal where criterion, systems, and every rater's labels are; and where raters differ."""
    raters = [one for one in (*study.annotators, *study.judges) if not one.rater.endswith(BOTH_ORDERS)]
    empty = np.zeros(0, np.intp)
    unit = np.concatenate([empty, *(one.unit for one in raters)])
    label = np.concatenate([empty, *(one.label for one in raters)])
    rater = np.repeat(np.arange(len(raters)), [len(one.unit) for one in raters])
    given = _mixed((rater * (len(study.labels) + 1) + label + 1).astype(np.uint64))
    asked = study.unit_criterion * (study.unit_systems.max(initial=0) + 2) + study.unit_systems + 1
    low, high = np.full(study.units, len(study.labels)), np.full(study.units, -1)
    np.minimum.at(low, unit, label)
    np.maximum.at(high, unit, label)
    marks = _mixed(asked.astype(np.uint64)) + _summed(given, unit, study.units)
    return marks, np.asarray(low < high)


def _summed(marks: Marks, place: Codes, count: int) -> Marks:
    out = np.zeros(count, np.uint64)
    np.add.at(out, place, marks)
    return out


def _mixed(values: Marks) -> Marks:
    """Numbers that differ little get marks that differ in every bit (splitmix64, Steele et al. 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _copied(study: Study) -> Iterator[ReportWarning]:
    """`copied_labels`: an annotator agrees with one judge nearly always, and far more often than with people."""
    judges = [one for one in study.judges if not one.rater.endswith(BOTH_ORDERS)]
    people, count = study.annotators, len(study.annotators)
    if not judges or count > CROWD:  # one annotator has nobody to agree with: nan, which is no reason to warn
        return
    both, same = (shared_units([*people, *judges], alike=alike).astype(float) for alike in (False, True))
    for at, annotator in enumerate(people):
        others = np.arange(count) != at
        with_people = _share(same[at, :count][others].sum(), both[at, :count][others].sum())
        for judge, shared, alike in zip(judges, both[at, count:], same[at, count:], strict=True):
            agreed = _share(alike, shared)
            if shared >= SHARED and agreed >= COPIED and agreed - with_people >= APART:
                shares = {"agreed": 100 * agreed, "with_people": 100 * with_people}
                yield ReportWarning(
                    "copied_labels", {"judge": judge.rater, "shared": float(shared), **shares}, annotator.rater
                )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


SHARES = ("percent_agreement", "kept_share", "valid_share", "rank_agreement", "same", "soft", "hard")
MANY_PEOPLE = 200  # annotators above which pairs of people are too many to look at


def plan_hash(criteria: Sequence[str], settings: CalibrationSettings) -> str:
    """SHA-256 of what must be fixed before labels are seen: criteria, ties rule, margin and epsilon."""
    plan = [sorted(criteria), settings.ties, settings.margin, settings.epsilon]
    return hashlib.sha256(json.dumps(plan, ensure_ascii=False).encode()).hexdigest()


def plan_cautions(
    study: Study, settings: CalibrationSettings, estimates: Sequence[Estimate], tried: Study
) -> Iterator[ReportWarning]:
    """`undeclared_scale`, `far_score`, `unlike_scales`, `maybe_transposed`, `thin_rater_pairs`, `derived_preferences`,
    `changed_after_labels`, `own_family`, `words_of_one_kind`, `copied_rationale` and `out_of_range`, each under its
    condition.

    `tried`: what the choice is about, whose preferences may be derived.
    """
    yield from _scales(study, settings)
    yield from _far_scores(study, settings)
    yield from _unlike_scales(study, settings, estimates)
    yield from _panel(study)
    for rater, found in counted.derived_preferences(tried.frame).items():
        yield ReportWarning("derived_preferences", {name: int(found[name]) for name in ("verdicts", "ties")}, rater)
    if settings.plan_hash and settings.plan_hash != plan_hash(study.criteria, settings):
        yield ReportWarning("changed_after_labels")
    yield from _families(study, settings)
    yield from _words_of_one_kind(study)
    yield from _same_reasons(study)
    yield from _ranges(study, estimates)


def asked_of_people(study: Study) -> tuple[str, ...]:
    """The criteria that people answer, all where nobody does: scores that judges alone give are pooled with nothing."""
    people = study.frame.loc[study.frame["rater_kind"] == "human", "criterion"].unique()
    return tuple(name for name in study.criteria if name in people) or tuple(study.criteria)


def _scales(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    for name in asked_of_people(study):
        unknown = study.kinds[name] == "rating" and name not in settings.scale_ends
        scale = scale_of(study, (name,), settings) if unknown else None
        if scale is not None and not scale.declared and len(scale.labels) <= MANY_LABELS:
            yield ReportWarning("undeclared_scale", {"scores": len(scale.labels)}, criterion=name)


def _far_scores(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    """`far_score`: of each rater the one of `distance.far_scores` that lies furthest off."""
    is_far = distance.far_scores(study, settings)
    given, asked = distance.row_scores(study), study.unit_criterion[study.frame["unit"].to_numpy(np.intp)]
    for at, name in enumerate(study.criteria):
        own = (asked == at) & ~np.isnan(given)
        rows, usual = np.flatnonzero(own & is_far), given[own & ~is_far]
        if not len(rows):
            continue
        off = given - given[own].mean()
        far = rows[np.argsort(-(off[rows] ** 2), kind="stable")]
        share, count = 100 * float((off[far] ** 2).sum() / (off[own] ** 2).sum()), len(far) if len(far) > 1 else None
        ends = {"low": float(usual.min()), "high": float(usual.max())}
        shared = {"share": share, "scores": int(own.sum()), "count": count} | ends
        for _, row in study.frame.iloc[far].drop_duplicates("rater_id").iterrows():
            facts = {"score": float(row["label"]), "item": str(row["item_id"])}
            yield ReportWarning("far_score", facts | shared, str(row["rater_id"]), name)


def _unlike_scales(
    study: Study, settings: CalibrationSettings, estimates: Sequence[Estimate]
) -> Iterator[ReportWarning]:
    """`unlike_scales`: of a judge fewer than half of the scores lie where people's do, they take a tenth of the range
    of nine in ten of people's at most and are no two numbers, a tenth of them lies as far beyond people's four scores
    or more as these are apart (1 to 10 beside 1 to 5), or they fall where people's rise: ranks beside scores.
    """
    given, is_human = pd.Series(distance.row_scores(study), study.frame.index), study.frame["rater_kind"] == "human"
    asked = study.unit_criterion[study.frame["unit"].to_numpy(np.intp)]
    for at, name in enumerate(study.criteria):
        if study.kinds[name] != "rating" or name in settings.scale_ends:
            continue
        rows = (asked == at) & given.notna()
        people = np.sort(given[rows & is_human])
        for judge, scores in given[rows & ~is_human].groupby(study.frame["rater_id"], observed=True):
            if min(len(people), len(scores)) < FEWEST_SCORES or people[0] == people[-1]:
                continue
            most = people[-1 - len(people) // 20] - people[len(people) // 20]
            beyond = np.maximum(people[0] - scores, scores - people[-1])
            inside, is_few = scores.between(people[0], people[-1]).mean(), scores.nunique() <= 2
            is_open = name not in settings.scales and len(np.unique(people)) >= 4
            is_wider = is_open and (beyond >= np.ptp(people)).mean() >= 0.1
            if inside < 0.5 or is_wider or (not is_few and 10 * np.ptp(scores) <= most):
                ends = {"from": scores.min(), "to": scores.max(), "low": people[0], "high": people[-1]}
                facts = {end: float(value) for end, value in ends.items()}
                yield ReportWarning("unlike_scales", facts, str(judge), name)
    are_scores, judges = {*study.kinds.values()} == {"rating"}, {one.rater for one in study.judges}
    for one in estimates:
        is_of_judge = one.statistic == "spearman" and one.reference == "each_annotator" and one.rater in judges
        if are_scores and is_of_judge and one.high < 0 and one.value < -0.5:
            facts = {"rho": one.value, "least": one.low, "most": one.high}
            yield ReportWarning("unlike_scales", facts, one.rater, one.criterion)


def _panel(study: Study) -> Iterator[ReportWarning]:
    people = study.annotators
    if len(people) > study.units > 1:
        yield ReportWarning("maybe_transposed", {"annotators": len(people), "units": study.units})
    if not 2 < len(people) <= MANY_PEOPLE:
        return
    shared = np.triu(shared_units(people), 1)
    thin = (shared > 0) & (shared < THIN)
    if thin.any():
        one, other = np.unravel_index(np.where(thin, shared, THIN).argmin(), shared.shape)
        thinnest = {"one": people[one].rater, "other": people[other].rater, "shared": int(shared[one, other])}
        counts = {"thin": int(thin.sum()), "pairs": int((shared > 0).sum()), "least": THIN}
        yield ReportWarning("thin_rater_pairs", counts | thinnest)


def _families(study: Study, settings: CalibrationSettings) -> Iterator[ReportWarning]:
    frame = study.frame[["rater_id", "system_a", "system_b"]]
    for rater, rows in frame[study.frame["rater_kind"] == "judge"].groupby("rater_id", observed=True):
        family = settings.families.get(str(rater))
        seen = {str(name) for side in ("system_a", "system_b") for name in rows[side].unique()}
        own = sorted(name for name in seen if family and settings.families.get(name) == family)
        if own:
            yield ReportWarning("own_family", {"family": family, "systems": own}, str(rater))


def _words_of_one_kind(study: Study) -> Iterator[ReportWarning]:
    """Answers that one kind of raters often gives and the other never, which gives two others at least.

    `No response` of people beside `Ignore` of judges stand for no answer, or for the same one. Of scores those that
    stand for none, such as -1 beside 1 to 5. Often: the other kind would never have given it with a chance below 1 in
    100, if it gave it as often.
    """
    ok = study.frame[study.frame["status"] == "ok"]
    asked = ok[~study.of_kind(ok, "pairwise")]
    counts = asked.groupby(["criterion", "label", "rater_kind"], observed=True).size().unstack(fill_value=0)
    if not {"human", "judge"} <= {*counts.columns}:
        return
    for criterion, rows in counts.groupby(level="criterion", observed=True):
        given, told = rows.droplevel("criterion")[["human", "judge"]], dict[str, list[str] | None]()
        if is_rating := study.kinds[str(criterion)] == "rating":
            given = given.drop(index="not_applicable", errors="ignore")  # no number, and counted by a rate of its own
        for kind, other, who in (("human", "judge", "people"), ("judge", "human", "judges")):
            known = given.index[given[other] > 0].astype(str)
            only = _never_of(given[kind], given[other]) if len(known) > 1 else {}
            if is_rating:
                ends = min(map(float, known), default=0.0), max(map(float, known), default=0.0)
                only = {word: count for word, count in only.items()
                        if float(word) in NO_SCORES and not ends[0] <= float(word) <= ends[1]}  # fmt: skip
            told[who] = [f"{word!r} ({count:,})" for word, count in only.items()] or None
        if any(told.values()):
            yield ReportWarning("words_of_one_kind", told, criterion=str(criterion))


def _never_of(own: "pd.Series[int]", other: "pd.Series[int]") -> dict[str, int]:
    """Words of one kind of rater that the other never gives, where that is no accident; with their counts."""
    missed = own[(other == 0) & (own != 0)]
    likely = (1 - missed / own.sum()) ** other.sum()
    return {str(word): int(missed[word]) for word in missed.index if likely[word] < RARE}


def _same_reasons(study: Study) -> Iterator[ReportWarning]:
    texts, place = study.written
    rows = np.flatnonzero((texts != "").to_numpy(bool)[place])
    if not len(rows):
        return
    told = study.frame[["rater_id", "rater_kind", "unit"]].iloc[rows].assign(text=numbered(texts)[place[rows]])
    people, judges = told[told["rater_kind"] == "human"], told[told["rater_kind"] == "judge"].drop_duplicates()
    written = people["rater_id"].astype(str).value_counts()
    both = people.merge(judges, on=["unit", "text"])
    names = zip(both["rater_id_x"].astype(str), both["rater_id_y"].astype(str), strict=True)
    for (person, judge), count in sorted(Counter(names).items()):
        if count >= 0.2 * written[person]:
            facts = {"count": count, "written": int(written[person]), "judge": judge}
            yield ReportWarning("copied_rationale", facts, person)


def _ranges(study: Study, estimates: Sequence[Estimate]) -> Iterator[ReportWarning]:
    for estimate in estimates:
        if estimate.statistic.startswith(SHARES) and not math.isnan(estimate.value) and not 0 <= estimate.value <= 1:
            facts = {"statistic": estimate.statistic, "value": estimate.value}
            yield ReportWarning("out_of_range", facts, estimate.rater)
    frame = study.frame
    costly = (frame["cost_usd"] > 0).to_numpy()
    for rater, costs in frame["cost_usd"][costly].groupby(frame["rater_id"][costly], observed=True):
        cost = costs.to_numpy()
        median, count = float(np.median(cost)), int((cost > 100 * np.median(cost)).sum())
        if count:
            facts = {"costly": count, "rows": len(cost), "median": median, "money": counted.currency_of(frame)}
            yield ReportWarning("out_of_range", facts, str(rater))

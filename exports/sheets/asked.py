"""The table `asked`: the ten numbers a reviewer asks for of the judge that the answer is about."""

import math
from collections.abc import Iterator, Mapping

from calibration.choosing.card import gap_of
from calibration.choosing.choice import Candidate
from calibration.remarks import brief
from calibration.results import CalibrationReport, Estimate, LabelCounts
from exports import cells, tables
from exports.words import notes, sentences
from plain.counting import counted
from plain.wording import worded

COLUMNS = (
    tables.Column("asked", "A reviewer asks for"),
    tables.Column("value", "Value"),
    *tables.COUNTS,
    tables.Column("over", "By which rule, over what"),
)
Row = tuple[str, cells.Cell, str]
AGREEMENT, CEILING = "Agreement with the annotators", "A left-out annotator's agreement"
CEILING_BY_RULE = {
    "linear": "A left-out annotator's by distance",
    "quadratic": "A left-out annotator's by squared distance",
    "weighted": "A left-out annotator's by weights",
}
GAP = "Gap to that annotator"
AMONG_PEOPLE = ("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval")
BESIDE = {"cohen_kappa": "Cohen's κ", "spearman": "Spearman's ρ"}
ORDERS = {
    "swap_consistency": ("Same verdict in both orders", "labels made in both orders"),
    "first_rate": ("Winners that were shown first", "decisive labels; half without a habit"),
    "longer_rate_difference": ("Takes the longer report more often", "than people do on the same labels"),
}


def asked_table(report: CalibrationReport) -> tables.Table | None:
    """Ten rows at most, what the labels cannot say left out; None where no judge was compared with anybody."""
    judge = judge_asked_about(report)
    if not judge:
        return None
    rows = tuple(_row(*row) for row in _rows(report, judge))
    title = worded("What a reviewer asks about {judge}", judge=judge)
    return tables.Table("asked", title, COLUMNS, rows, (notes.origin(report),))


def judge_asked_about(report: CalibrationReport) -> str:
    """The chosen judge, or the one that comes closest; without a choice the one that agrees most; "": none."""
    if report.choice and report.choice.foremost:
        return report.choice.foremost.judge
    judges, _ = sentences.pooled_agreement(report)
    return max(judges, key=lambda one: one.value).rater if judges else ""


def _rows(report: CalibrationReport, judge: str) -> Iterator[Row]:
    pooled = tables.pooled_in(report)
    own = {one.statistic: one for one in pooled if one.rater == judge and one.reference in (tables.PEOPLE, "")}
    itself = {one.statistic: one for one in pooled if one.rater == judge.partition(" [")[0]}
    one = report.choice.foremost if report.choice else None
    labels = report.labels
    yield (
        "Labels", labels.rows,
        f"{_items(labels)}; {counted(len(labels.annotators), 'annotator')}, {counted(len(labels.judges), 'judge')}",
    )  # fmt: skip
    yield from _agreement(report, own, one)
    yield from _ceiling(report, tables.by_statistic(pooled, judge, "others"), one)
    beside = "spearman" if "rating" in labels.criteria.values() else "cohen_kappa"
    if beside in own:
        yield f"Its {BESIDE[beside]} with them", own[beside], _usable(report) or "on the same labels"
    among = tables.by_statistic(pooled, tables.PEOPLE, "others")
    alpha = next((name for name in AMONG_PEOPLE if name in among), "")
    if alpha:
        yield "Krippendorff's α among annotators", among[alpha], alpha.rpartition("_")[2]
    order = next((name for name in ORDERS if name in itself), "swap_consistency")
    if order in itself or notes.knows_ties(report):  # one report by itself has no order
        yield ORDERS[order][0], itself.get(order, math.nan), ORDERS[order][1] if order in itself else "never asked so"
    if "valid_share" in itself:
        yield "Usable answers", itself["valid_share"], "of all it was asked for"
    yield from _cost(report, pooled, judge)


def _items(labels: LabelCounts) -> str:
    """`80 pairs in 10 topics`, by the words of the sentence that answers; `60 pairs` where each lies alone in its."""
    items = counted(labels.items, "pair" if {*labels.criteria.values()} == {"pairwise"} else "item")
    if labels.items == labels.clusters:
        return f"{items}, one to a topic" if labels.cluster == "topic" else items
    return f"{items} in {counted(labels.clusters, labels.cluster)}"


def _agreement(report: CalibrationReport, own: Mapping[str, Estimate], one: Candidate | None) -> Iterator[Row]:
    choice, equal = report.choice, own.get(notes.agreement_key(report))
    near = choice.plan.ties if choice and choice.plan.ties in notes.BY_RULE else ""
    rule = [notes.TIE_RULES[choice.plan.ties if choice else report.settings.ties]] if notes.knows_ties(report) else []
    if choice is None or one is None:
        if equal is not None:
            yield AGREEMENT, equal, "; ".join(filter(None, [*rule, _usable(report)]))
        return
    told = [*rule, *["unusable as disagreement"] * notes.usable_differ(report)]
    told += [f"interval for all {choice.tried}"] * (choice.tried > 1)
    over = "; ".join(told) or "every annotator's label counts once"
    yield _agreement_named(report), one.agreement, over
    if near and equal is not None:
        yield notes.agreement_title(report), equal, "near scores count nothing"
    if not math.isnan(one.baseline):
        yield "The best constant answer", one.baseline, "each criterion's and every two systems' own; takes no reading"


def _agreement_named(report: CalibrationReport) -> str:
    """By its rule and its labels where two would differ."""
    differ = notes.usable_differ(report) or (report.choice and report.choice.plan.ties in notes.BY_RULE)
    return notes.agreement_title(report, asked=True) if differ else AGREEMENT


def names_on_top(report: CalibrationReport) -> frozenset[str]:
    """Of the rows those that the first page shows: how far the judge is from people, and its price."""
    named = (_agreement_named(report), notes.agreement_title(report), notes.per_1000_items(report))
    return frozenset((*named, CEILING, *CEILING_BY_RULE.values(), GAP))


def _ceiling(report: CalibrationReport, beside: Mapping[str, Estimate], one: Candidate | None) -> Iterator[Row]:
    people = next((estimate for name, estimate in beside.items() if name.startswith("human_ceiling")), None)
    if people is not None:
        rule = report.choice.plan.ties if report.choice else ""
        yield CEILING_BY_RULE.get(rule, CEILING), people, "with the others, on labels that the judge answered"
    if one is not None and one.claim is not None and report.choice is not None:
        plan = report.choice.plan
        p = one.claim.p_adjusted
        said = "" if math.isnan(p) else f"; p {'< .001' if p < 0.001 else f'= {cells.number(p, 3)}'}"
        margin = f"{cells.number(100 * plan.margin, 1).removesuffix('.0')} points"
        yield GAP, gap_of(one.claim, plan), f"below 0: the judge agrees more; margin {margin}{said}"


def _cost(report: CalibrationReport, pooled: list[Estimate], judge: str) -> Iterator[Row]:
    cost = tables.per_thousand(pooled, judge)
    known = cost is not None
    over = "every row billed" if known else "no row says its cost"
    yield notes.per_1000_items(report), cost if known else math.nan, over


def _row(asked: str, cell: cells.Cell, over: str) -> tuple[cells.Cell, ...]:
    """With why it has no interval, where it has none."""
    if not isinstance(cell, Estimate):
        return asked, cell, None, None, over
    why = f"no interval: {brief(cell.lack)}" if math.isnan(cell.low) and cell.lack else ""
    return asked, cell, cell.n, cell.clusters, "; ".join(filter(None, (over, why)))


def _usable(report: CalibrationReport) -> str:
    return "over usable answers" * notes.usable_differ(report)

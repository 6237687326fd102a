"""What is under a table: how its intervals were made, why a cell holds a dash, and from which data."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from calibration.agreement.catalogue import AGREEMENT
from calibration.remarks import brief
from calibration.results import CalibrationReport, Estimate
from calibration.study.left_out import SUFFIX
from exports.cells import Cell, shown
from plain.wording import worded

SEEN = 0.005  # of two numbers: they may be printed as two
TIE_RULES = {
    "three_class": "a tie is a label like another",
    "half_credit": "a tie against a winner counts one half",
    "exclude": "rows with a tie on either side are dropped",
}
METHODS = {
    "wilson_effective_n": "Wilson with effective sample size and t of C − 1",
    "cluster_bootstrap_expanded": "cluster bootstrap, expanded percentile",
    "cluster_bootstrap_percentile": "cluster bootstrap, percentile",
    "fisher_z_linearised": "Fisher z, linearised",
    "cluster_t": "cluster t",
    "cluster_bootstrap_t": "studentised cluster bootstrap",
    "max_t": "max-t band",
    "confidence_sequence": "confidence sequence, which holds at every look",
    "two_way_t": "two-way cluster t",
    "further_topic": "one-sided: Dirichlet weights and a further cluster that is all wrong",
}
NEAR = {
    "linear": "how near scores are, on average 1 − |a − b| / range of the scale (linear distance)",
    "quadratic": "how near scores are, on average 1 − (a − b)² / range² of the scale (quadratic distance)",
    "weighted": "how near scores are by the weights of the settings, on average",
}
BY_RULE = {
    "linear": "Agreement by distance",
    "quadratic": "Agreement by squared distance",
    "weighted": "Agreement by weights",
}
EQUAL = "Equal scores"
SCALE_SEEN = "from {low:g} to {high:g}, as people's scores lie (no scale is declared)"
MANY_PLACES = 3


def agreement_key(report: CalibrationReport, rule: str = "") -> str:
    """Agreement as estimates and columns of data call it, under the `rule` of a choice, for ties or of distance.

    Without one: label agreement under the report's rule for ties; other labels than pairs know no tie, and no rule.
    """
    own = report.settings.ties if knows_ties(report) else "three_class"
    return f"{AGREEMENT}{SUFFIX[rule or own]}"


def label_agreement(report: CalibrationReport, rule: str = "", *, asked: bool | None = False) -> str:
    """Which of the three pairwise agreements a table prints, and what it did with ties: two sentences.

    A third where `usable_differ`. `asked`: it counts every answer asked for, as the choice does; None: of people alone.
    """
    rule = rule or report.settings.ties
    said = (
        worded("Ties: {tie_rules}.", tie_rules=worded(TIE_RULES[rule]))
        if knows_ties(report)
        else worded("These labels know no tie.")
    )
    over = f" {_over(asked)}." if asked is not None and usable_differ(report) else ""
    if asked and (near := _nearness(report)):
        return worded("Agreement is {near}, not the share of equal ones.{over}", near=near, over=over)
    return worded(
        "Agreement is label agreement, the share of equal labels, not of orders of reports. {said}{over}",
        said=said, over=over,
    )  # fmt: skip


def label_agreement_in_caption(report: CalibrationReport, *, asked: bool | None = False) -> str:
    """The same as the last part of a caption's one sentence."""
    said = worded(TIE_RULES[report.settings.ties]) if knows_ties(report) else worded("these labels know no tie")
    over = _over(asked) if asked is not None and usable_differ(report) else ""
    over = over and worded("; ") + over[0].lower() + over[1:]
    near = _nearness(report)
    if asked and near:
        return worded("; agreement is {near}{over}", near=near, over=over)
    if near and not knows_ties(report):
        said = worded("these labels know no tie; equal scores alone count, where the choice counts near ones in part")
    return worded("; agreement is label agreement ({said}{over})", said=said, over=over)


def nearness(rule: str, report: CalibrationReport) -> str:
    """What agreement of scores by distance is, under the rule of a choice or ceiling; "" under a rule for ties."""
    near, scale = worded(NEAR.get(rule, "")), scale_words(report)
    is_taken = scale and rule in ("linear", "quadratic")
    return worded("{near}, here {scale}", near=near, scale=scale) if is_taken else near


def scale_words(report: CalibrationReport) -> str:
    """`from 0 to 4`, between which distances of scores are taken, and whether that was declared; "": no such scale."""
    if report.labels.ends is None:
        return ""
    low, high = report.labels.ends
    is_declared = report.settings.scales or report.settings.scale_ends
    return worded("from {low:g} to {high:g}" if is_declared else SCALE_SEEN, low=low, high=high)


def _nearness(report: CalibrationReport) -> str:
    """What the choice, its card and its comparisons call agreement of scores by distance; "" of other labels."""
    return nearness(report.choice.plan.ties, report) if report.choice else ""


def per_1000_items(report: CalibrationReport) -> str:
    """The head of a cost, with its currency."""
    return worded("{currency} per 1,000 items", currency=report.labels.money)


def unweighted(report: CalibrationReport, columns: Iterable[str]) -> Iterator[str]:
    """That the κ of a column counts equal scores alone, where the choice counts near ones."""
    if _nearness(report) and "cohen_kappa" in columns:
        yield worded("Cohen's κ is unweighted: like agreement here it counts equal scores alone.")


def usable_differ(report: CalibrationReport) -> bool:
    """Whether the choice counts answers that other numbers called agreement leave out: those that cannot be used."""
    choice = report.choice
    return choice is not None and choice.plan.missing_as_wrong and any(one.valid_share < 1 for one in choice.candidates)


def agreement_title(report: CalibrationReport, *, asked: bool | None = False) -> str:
    """The head of a column of agreement: of scores it says the rule, and over which answers where two would differ.

    `asked`: as in `label_agreement`.
    """
    rule = report.choice.plan.ties if asked and report.choice else ""
    of_scores = {*report.labels.criteria.values()} == {"rating"}
    title = worded(BY_RULE.get(rule, EQUAL if of_scores else "Agreement"))
    if asked is None or not usable_differ(report):
        return title
    return worded("{title}, all asked" if asked else "{title}, usable answers", title=title)


def _over(asked: bool) -> str:
    if asked:
        return worded("Over all answers asked for, an unusable one counted as disagreement")
    return worded("Over usable answers; the choice of a judge counts an unusable one as disagreement")


def other_constant(report: CalibrationReport, common: Mapping[str, float]) -> Iterator[str]:
    """That the choice's best constant answer is not the commonest one beside it. `common`: of each judge, 0 to 1."""
    held = {one.judge: one.baseline for one in report.choice.candidates} if report.choice else {}
    differing = [judge for judge in common if abs(held.get(judge, math.nan) - common[judge]) >= SEEN]
    if differing:
        yield worded(
            "The choice holds judges against another number, the best constant answer, of each criterion and every two "
            "systems its own where there are labels enough: {listed}.",
            listed=worded("; ").join(f"{judge} {shown(held[judge])[0]}" for judge in differing),
        )  # fmt: skip


def knows_ties(report: CalibrationReport) -> bool:
    return "pairwise" in report.labels.criteria.values()


def methods(used: Sequence[Estimate], report: CalibrationReport) -> Iterator[str]:
    """How the brackets were made, and what they speak of."""
    settings = report.settings
    methods = list(dict.fromkeys(estimate.method for estimate in used if estimate.method != "none"))
    if not methods:
        return
    text = worded("; ").join(worded(METHODS.get(method, method)) for method in methods)
    drawn = (
        worded("; B = {resamples:,}, seed {seed}", resamples=settings.resamples, seed=settings.seed)
        if any("bootstrap" in name for name in methods)
        else ""
    )
    others = "two_way_t" in methods  # intervals that speak of other annotators as well
    fixed = "" if others else worded(", this panel of annotators fixed")
    whole = worded("whole {cluster}s{fixed}", cluster=worded(report.labels.cluster), fixed=fixed)
    yield worded(
        "Brackets: {level:g} % intervals over {whole} ({text}{drawn}).",
        level=100 * settings.level, whole=whole, text=text, drawn=drawn,
    )  # fmt: skip


def remarks(titles: Sequence[str], cells: Sequence[tuple[Cell, ...]], names: int = 1) -> Iterator[str]:
    """Why a cell holds a dash, once per reason. `names`: how many leading cells say which row it is."""
    reasons: dict[tuple[str, str], list[tuple[str, str]]] = {}
    asked: dict[str, int] = {}
    for row in cells:
        for title, cell in zip(titles, row, strict=True):
            asked[title] = asked.get(title, 0) + isinstance(cell, Estimate)
            if isinstance(cell, Estimate) and math.isnan(cell.low):
                what = worded("No value (–)") if math.isnan(cell.value) else worded("No interval [–]")
                reason = brief(cell.lack) if cell.lack else ""
                reasons.setdefault((what, reason), []).append((title, worded(" of ").join(map(str, row[:names]))))
    for (what, reason), places in reasons.items():
        yield worded("{what}: {places} ({reason}).", what=what, places=_places(places, asked), reason=reason)


def _places(places: Sequence[tuple[str, str]], asked: Mapping[str, int]) -> str:
    """Each place by name where they are few; where they are many, how many of each column's."""
    if len(places) <= MANY_PLACES:
        return worded(", ").join(worded("{title} of {row}", title=worded(title), row=row) for title, row in places)
    counts = Counter(title for title, _ in places)
    return worded(", ").join(
        worded("{title} in every row", title=worded(title))
        if count == asked[title]
        else worded("{title} in {count} of {asked} rows", title=worded(title), count=count, asked=asked[title])
        for title, count in counts.items()
    )


def is_of_study(report: CalibrationReport) -> bool:
    """Whether a study of the database is behind it, which planned before anyone answered, and no file of labels."""
    return bool(report.plan_root)


def origin(report: CalibrationReport) -> str:
    """From which labels the numbers are, and from which plan where a study kept one."""
    labels = report.labels
    plan = worded("; plan root {plan_root}", plan_root=report.plan_root[:12]) if report.plan_root else ""
    made_up = (
        worded("Simulated answers, of made-up people and judges but for whoever labelled here. ")
        if report.is_simulated
        else ""
    )
    return worded(
        "{made_up}Data: {rows:,} rows, {items:,} items, {clusters:,} clusters ({cluster}s); sha256 "
        "{verdicts_sha256}{plan}.",
        made_up=made_up, rows=labels.rows, items=labels.items, clusters=labels.clusters, cluster=worded(labels.cluster),
        verdicts_sha256=labels.verdicts_sha256[:12], plan=plan,
    )  # fmt: skip

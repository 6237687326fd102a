"""How often a judge is right about what passes and what does not, against each annotator's label in turn.

Which of two answers passes is what the settings name, else a word that says so by itself.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration import errors, estimates, remarks
from calibration.agreement import catalogue, statistic
from calibration.arithmetic import closed_forms, columns, metrics
from calibration.arithmetic.closed_forms import Array
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study.bounding import FEW_CLUSTERS, Group, Pair, drawn, made, share
from calibration.study.crossing import Comparison, comparisons
from calibration.study.joining import MANY_LABELS, Scale, Study, scale_of
from calibration.table.roles import FAILS, PASSES
from calibration.table.typed_cells import is_number, number_text, spelling
from calibration.table.verdicts import ONE_LABEL

PASSING = ("true_positive_rate", "true_negative_rate", "precision")
OF_LABEL = ("precision", "true_positive_rate")
NEEDS_NO_NAME = "youden_j"  # the same whichever of two labels passes
SYMMETRIC = "; between annotators either one is the reference, half each"


@dataclass(frozen=True)
class Confusion:
    """Counts of one rater against a reference by cluster, shape (clusters, 2, 2) times `scale`, what passes first."""

    rater: str
    reference: str
    table: Array
    scale: int


def detection_estimates(
    study: Study, group: Group, scale: Scale, found: Sequence[Comparison], settings: CalibrationSettings
) -> Iterator[estimates.Estimate]:
    """True positive and negative rate, precision, F1 and Youden's J of each judge, and of annotators among themselves.

    Rates are shares with Wilson's interval over whole clusters; F1 and J are bootstrapped. Nothing where answers are
    no matter of passing; only J where nobody can say which of the two passes, since it needs no name.
    """
    positive = positive_of(study, group.criteria, scale, settings)
    tables = confusions(positive, found)
    if positive is None or not tables:
        return
    drawable = {
        metric.name: metric.of_passing
        for metric in catalogue.METRICS
        if metric.of_passing and metric.interval == statistic.BOOTSTRAP
    }
    forms = {name: form for name, form in drawable.items() if positive.chosen or name == NEEDS_NO_NAME}
    sums = np.stack([one.table for one in tables], axis=1)

    def evaluate(summed: Array) -> Array:
        return np.stack([form(summed) for form in forms.values()], axis=-1)

    wanted = len(study.clusters) >= (FEW_CLUSTERS if group.single else 2)
    draws = resample(sums, evaluate, settings.resamples, settings.seed) if wanted else None
    for place, one in enumerate(tables):
        table, note = one.table / one.scale, _note(positive) + SYMMETRIC * (one.reference == "others")
        whole = Pair(one.rater, one.reference, group, table.sum(axis=(-2, -1)))
        if positive.chosen:
            yield from _shares(whole, table, note, settings)
        summed = table.sum(axis=0)
        for position, (name, form) in enumerate(forms.items()):
            own = None if draws is None else draws[:, place, position]
            reason = metrics.why_no_rate(name, summed)
            yield drawn(name, whole, float(form(summed)), own, reason, settings, note)


def label_estimates(
    group: Group, scale: Scale, used: columns.Codes, found: Sequence[Comparison], settings: CalibrationSettings
) -> Iterator[estimates.Estimate]:
    """Precision and recall of each label of `used` in turn, `category` `label: ` and the label. van Rijsbergen 1979.

    Of each judge against every annotator's label, and of annotators among themselves, where either one is the reference
    and both are the same number. Nothing for pairs, where A and B are only names, nor for ratings, which have a
    distance. Undefined: the rater never says the label, `never_positive`, or the reference never does, `no_positives`.
    """
    if scale.kind != "probe" or group.category != "all" or len(used) < 2:
        return
    for one in found:
        if "each_annotator" not in (one.rater, one.reference):
            continue
        table = one.table / one.scale
        if among := one.rater == "each_annotator":
            table = closed_forms.both_ways(table) / 2
        note = "each label in turn against every other" + SYMMETRIC * among
        whole = Pair(one.rater, one.reference, group, table.sum(axis=(-2, -1)))
        for place in used:
            own = Positive(scale.labels[place], "", "", int(place), used[used != place]).two_by_two(table)
            if own[:, 0, :].any() or own[:, :, 0].any():
                category = f"{ONE_LABEL}{_shown(scale.labels[place])}"
                rates = _shares(whole, own, note, settings, OF_LABEL)
                yield from (replace(rate, category=category) for rate in rates)


@dataclass(frozen=True)
class Positive:
    """What passes, and what does not, as labels of a scale. `chosen`: named, recognised, or "" where nobody can say
    which of the two passes; `label` is then the one earlier by name."""

    label: str
    negative: str
    chosen: str
    place: int  # of `label` among the scale's labels
    others: columns.Codes  # places of what does not pass

    def two_by_two(self, table: Array) -> Array:
        """Tables of the whole scale, shape (..., K, K), as passed or not, shape (..., 2, 2), what passes first."""
        parts = [np.array([self.place], np.intp), self.others]
        rows = [table[..., part, :].sum(axis=-2) for part in parts]
        return np.stack([np.stack([row[..., part].sum(axis=-1) for part in parts], axis=-1) for row in rows], axis=-2)


def confusions(positive: Positive | None, found: Sequence[Comparison]) -> list[Confusion]:
    """Each judge against every annotator's label, and the annotators among themselves, without an order."""
    if positive is None:
        return []
    out = []
    for one in found:
        table = positive.two_by_two(one.table)
        if one.reference == "each_annotator":
            out.append(Confusion(one.rater, one.reference, table, one.scale))
        elif one.rater == "each_annotator":
            out.append(Confusion(one.rater, one.reference, closed_forms.both_ways(table), 2 * one.scale))
    return [one for one in out if one.table.any()]


@dataclass(frozen=True)
class PassFail:
    """How often a rater and another called an answer positive, on one criterion. `chosen`: who says what passes."""

    criterion: str
    positive: str
    negative: str
    chosen: str
    rater: str
    reference: str
    both: float
    rater_only: float
    reference_only: float
    neither: float


def confusion_data(study: Study, groups: Sequence[Group], settings: CalibrationSettings) -> Iterator[PassFail]:
    """Of each criterion, or of all that share a scale, who said that what passes, as counts."""
    for group in groups:
        scale = scale_of(study, group.criteria, settings)
        if scale is None or len(scale.labels) > MANY_LABELS or group.category != "all":
            continue
        positive = positive_of(study, group.criteria, scale, settings)
        if positive is None:
            continue
        for confusion in confusions(positive, comparisons(study, scale, group.chosen)):
            counts = confusion.table.sum(axis=0) / confusion.scale
            yield PassFail(
                group.criterion, positive.label, positive.negative, positive.chosen, confusion.rater,
                confusion.reference,
                *(whole(count) for count in counts.ravel()),
            )  # fmt: skip


def _shares(
    whole: Pair, table: Array, note: str, settings: CalibrationSettings, names: Collection[str] = PASSING
) -> Iterator[estimates.Estimate]:
    shares = {
        "true_positive_rate": (table[:, 0, 0], table[:, :, 0].sum(axis=-1)),
        "true_negative_rate": (table[:, 1, 1], table[:, :, 1].sum(axis=-1)),
        "precision": (table[:, 0, 0], table[:, 0, :].sum(axis=-1)),
    }
    for name in names:
        hits, of = shares[name]
        pair = Pair(whole.rater, whole.reference, whole.group, of)
        if reason := metrics.why_no_rate(name, table.sum(axis=0)):
            none = math.nan, math.nan
            yield made(name, pair, math.nan, none, "none", [note, remarks.undefined(reason)], settings)
        else:
            yield share(name, pair, hits, settings, note)


def _note(positive: Positive) -> str:
    """Which label passes, and who says so."""
    if not positive.chosen:
        return f"the same whichever of {positive.label} and {positive.negative} passes"
    by = "as the settings name it" if positive.chosen == "named" else "by its own word"
    return f"positive is {positive.label} ({by}), negative {positive.negative}"


def whole(count: float) -> int | float:
    return int(count) if float(count).is_integer() else float(count)


def positive_of(study: Study, criteria: Sequence[str], scale: Scale, settings: CalibrationSettings) -> Positive | None:
    """What passes on these criteria; None where their answers are no matter of passing.

    That is, where `settings.positive` names one of their labels, which then passes and every other does not; or where
    the usable answers are two words, or 0 and 1. Of these the one of `PASSES` passes, or the other of one of `FAILS`.
    """
    if scale.kind == "pairwise":
        return None
    labels = [_shown(label) for label in scale.labels]
    real = [place for place, label in enumerate(labels) if label != "not_applicable"]
    if settings.positive:
        named = spelling(settings.positive)
        if named not in labels:
            return None
        rest = [place for place in real if labels[place] != named]
        return _positive(labels, labels.index(named), rest, "named")
    given = study.labels_given[[study.criteria.index(name) for name in criteria]].any(axis=0)
    seen = sorted({int(place) for place in scale.recode[given] if place >= 0 and place in real})
    if len(seen) != 2 or (scale.declared and len(real) > 2):
        return None
    if scale.kind == "rating" and {labels[place] for place in seen} != {"0", "1"}:
        return None  # two grades of a scale, and neither passes
    first = _recognised([labels[place] for place in seen])
    place = seen[max(first, 0)]
    return _positive(labels, place, [one for one in seen if one != place], "" if first < 0 else "recognised")


def refuse_unknown_positive(study: Study, settings: CalibrationSettings) -> None:
    """Raises `unknown_label` where `settings.positive` is no answer to anything, and a study has none of that name that
    nobody has given yet."""
    rated = is_number(settings.positive) and "rating" in study.kinds.values()
    if not settings.positive or settings.positive in settings.answer_values or rated:
        return
    answers = {label for name in study.criteria if study.kinds[name] != "pairwise" for label in _answers(study, name)}
    answers |= {spelling(label) for scale in settings.scales.values() for label in scale}
    if spelling(settings.positive) not in answers:
        named = ", ".join(sorted(answers)[:10]) or "none: verdicts on pairs do not pass or fail"
        raise errors.CalibrationError(
            "unknown_label",
            "settings.positive is {positive!r}, which is no answer of this table (its answers are {named}); name the "
            "one that passes", positive=settings.positive, named=named,
        )  # fmt: skip


def positive_cautions(study: Study, settings: CalibrationSettings) -> Iterator[estimates.ReportWarning]:
    """Where there are two answers and nobody can say which of them passes; of criteria that share them, once."""
    told = set[tuple[str, str]]()
    for criterion in study.criteria:
        scale = scale_of(study, [criterion], settings)
        one = positive_of(study, [criterion], scale, settings) if scale else None
        if one is None or one.chosen or (one.label, one.negative) in told:
            continue
        told.add((one.label, one.negative))
        facts = {"one": one.label, "other": one.negative}
        yield estimates.ReportWarning("positive_unknown", facts, criterion=criterion)


def _positive(labels: Sequence[str], place: int, others: Sequence[int], chosen: str) -> Positive:
    negative = labels[others[0]] if len(others) == 1 else f"not {labels[place]}"
    return Positive(labels[place], negative, chosen, place, np.array(others, np.intp))


def _recognised(words: Sequence[str]) -> int:
    """Which of two words passes, -1 where that cannot be told."""
    plain = [word.strip().casefold() for word in words]
    for known, step in ((PASSES, 0), (FAILS, 1)):
        found = [place for place, word in enumerate(plain) if word in known]
        if len(found) == 1:
            return (found[0] + step) % 2
    return -1


def _answers(study: Study, criterion: str) -> list[str]:
    given = study.labels_given[study.criteria.index(criterion)]
    return [spelling(study.labels[place]) for place in np.flatnonzero(given)]


def _shown(label: str) -> str:
    """A label of a scale as a file writes it."""
    return number_text(label) if is_number(label) else label

"""Why an estimate is a dash, and what else decides how it is read: words of a closed list, facts, and their sentences.

Rules read reasons and facts. What a person reads is written from them last, and nothing reads that back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from plain.wording import worded


class Reason(StrEnum):
    """Everything that a remark may say. A word here is a word in `undefined_shown_as_dash` too."""

    MEASURED = "measured"  # how it was measured, in the remark's own words: says nothing that a rule needs
    # undefined, or without an interval
    NO_ITEMS = "no_items"
    ALL_TIED = "all_tied"
    ONE_CATEGORY = "one_category"
    ONE_CATEGORY_SCALE = "one_category_scale"
    CONSTANT_RATER = "constant_rater"
    ZERO_VARIANCE = "zero_variance"
    TOO_FEW_UNITS = "too_few_units"
    TOO_FEW_CLUSTERS = "too_few_clusters"
    ONE_LARGE_CLUSTER = "one_large_cluster"
    LOOKS_SPENT = "looks_spent"
    TOO_FEW_RESAMPLES = "too_few_resamples"
    TOO_FEW_ANNOTATORS = "two_annotators"
    TOO_MANY_VALUES = "too_many_values"
    TOO_MANY_ROWS = "too_many_rows"
    TWO_POINTS = "two_points"
    MAYBE_TRANSPOSED = "maybe_transposed"
    ONE_UNIT = "one_unit"
    ONE_LEVEL = "one_level"
    NEVER_BOTH = "never_both"
    NO_POSITIVES = "no_positives"
    NO_NEGATIVES = "no_negatives"
    NEVER_POSITIVE = "never_positive"
    UNINFORMATIVE = "uninformative"
    UNDEFINED_RESAMPLES = "undefined_resamples"
    NOT_CONNECTED = "not_connected"
    SEPARATED = "separated"
    CLUSTER_STRADDLES = "cluster_straddles"
    NO_SHARED_UNITS = "no_shared_units"
    ORDER_CONFOUNDED = "order_confounded"
    SYSTEMS_UNNAMED = "systems_unnamed"
    OUTSIDE = "outside"
    BEST_OF_SEVERAL = "best_of_several"
    NOT_ASKED = "not_asked"
    NOT_ESTIMABLE = "not_estimable"
    PART_UNDEFINED = "part_undefined"
    NOT_WEIGHTED = "not_weighted"
    UNKNOWN = "unknown"
    # known, and to be read with this in mind
    FIXED_PANEL = "fixed_panel"
    SAMPLED_PANEL = "sampled_panel"
    NO_VARIATION = "no_variation"
    PERFECT = "perfect"
    SIMULTANEOUS = "simultaneous"
    ALONE = "alone"
    OVER_SYSTEMS = "over_systems"
    OVER_FEW_SYSTEMS = "over_few_systems"
    WON_BY = "won_by"
    CUT = "cut"
    AT_EVERY_LOOK = "at_every_look"
    NOT_TESTED = "not_tested"


WORDS: Mapping[Reason, str] = {
    Reason.NO_ITEMS: "nothing to compare",
    Reason.ALL_TIED: "every one is a tie",
    Reason.ONE_CATEGORY: "both always give the same one answer",
    Reason.ONE_CATEGORY_SCALE: "a scale of one answer; declare the scale",
    Reason.CONSTANT_RATER: "one of the two always gives the same answer",
    Reason.ZERO_VARIANCE: "one side never varies",
    Reason.TOO_FEW_UNITS: "fewer than two comparisons",
    Reason.TWO_POINTS: "a correlation of two points is always 1 or -1",
    Reason.MAYBE_TRANSPOSED: "more raters than labels to give",
    Reason.ONE_UNIT: "one comparison cannot show reliability",
    Reason.ONE_LEVEL: "the same confidence for every answer",
    Reason.NEVER_BOTH: "every answer is right, or every one wrong",
    Reason.NO_POSITIVES: "nobody compared with says that anything passes",
    Reason.NO_NEGATIVES: "nobody compared with says that anything fails",
    Reason.NEVER_POSITIVE: "this rater never says that anything passes",
    Reason.UNINFORMATIVE: "true positive and true negative rate add up to 1 or less, as those of guesses do",
    Reason.TOO_MANY_ROWS: "pairs of more than {most:,} scores are too many to resample",
    Reason.NOT_CONNECTED: "the systems fall into {groups} groups that were never compared with each other",
    Reason.SEPARATED: "a system, or a group of them, never lost to the others or never won against them",
    Reason.ORDER_CONFOUNDED: "the systems say which report was shown first; balance the sides",
    Reason.SYSTEMS_UNNAMED: "systems are not named, or have too few items each: see first_rate",
    Reason.CLUSTER_STRADDLES: (
        "{clusters} clusters hold labelled and unlabelled items; label whole clusters, or ask for drop or joint"
    ),
    Reason.NOT_WEIGHTED: "topics were drawn with unequal probabilities, and this is not weighted by them",
    Reason.PART_UNDEFINED: "one of the four has no value",
    Reason.FIXED_PANEL: "this panel of annotators is fixed",
    Reason.SAMPLED_PANEL: "over pairs and over annotators, of whom these {annotators} are a sample",
    Reason.NO_VARIATION: "no variation was seen; a design effect of {deff:.2f} is assumed",
    Reason.PERFECT: "perfect agreement: the bound is the Wilson bound of percent agreement",
    Reason.SIMULTANEOUS: "simultaneous over {judges} judges",
    Reason.ALONE: "one judge",
    Reason.UNDEFINED_RESAMPLES: "{percent:.2g} % of resamples undefined and left out",
    Reason.OVER_SYSTEMS: "over {systems} systems",
    Reason.OVER_FEW_SYSTEMS: "over {systems} systems, fewer than {few}",
    Reason.WON_BY: "of {system}; ties half a win",
    Reason.CUT: "{before:.3f} before it was cut at {value:g}",
    Reason.AT_EVERY_LOOK: "at every look: {method} at {percent:.4g} % here",
    Reason.NOT_TESTED: "not tested: fewer than {fewest} clusters",
}
NO_INTERVAL: Mapping[Reason, str] = {
    Reason.TOO_FEW_UNITS: "fewer than 2 clusters",
    Reason.TOO_FEW_CLUSTERS: "too few pairs, fewer than {fewest} clusters",
    Reason.TOO_FEW_RESAMPLES: "{clusters} clusters have too few distinct resamples for a bootstrap",
    Reason.UNDEFINED_RESAMPLES: "{percent:.1f} % of resamples undefined",
    Reason.TOO_FEW_ANNOTATORS: "{annotators} annotators are too few to speak for others, {fewest} are needed",
    Reason.TOO_MANY_VALUES: "more than {most} distinct values",
    Reason.ZERO_VARIANCE: "no spread between clusters",
    Reason.OUTSIDE: "all of it lies outside 0 to 1",
    Reason.NOT_ASKED: "nobody asked for one",
}
# without the count that differs from row to row
BRIEF = {Reason.TOO_FEW_RESAMPLES: "clusters have too few distinct resamples for a bootstrap"}


class Kind(StrEnum):
    """What follows from a remark: no value, no interval, or neither; `code` is a reason told by its word alone."""

    UNDEFINED = "undefined"
    NO_INTERVAL = "no_interval"
    TOLD = "told"
    CODE = "code"
    BARE = "bare"  # no interval, and the code before it has said why


FIRST = {Kind.NO_INTERVAL: "no interval", Kind.BARE: "no interval"}


Fact = str | int | float


@dataclass(frozen=True)
class Remark:
    """One reason with its facts. `words`: what is told where the usual words of the reason do not say it."""

    reason: Reason
    kind: Kind = Kind.TOLD
    facts: tuple[tuple[str, Fact], ...] = ()
    words: str = ""

    def fact(self, name: str) -> Fact | None:
        """The fact of this name, None where the remark has none."""
        return dict(self.facts).get(name)


def words_of(remark: Remark) -> str:
    """What a remark says, without its code and without the word that no interval is there."""
    if remark.words:
        parts = (worded(part) for part in remark.words.split("; "))
        told = worded("; ").join(parts)
        return told.format(**dict(remark.facts)) if remark.facts else told
    if remark.kind in (Kind.CODE, Kind.BARE):
        return str(remark.reason) * (remark.kind == Kind.CODE)
    usual = NO_INTERVAL if remark.kind == Kind.NO_INTERVAL else WORDS
    return worded(usual.get(remark.reason, "")).format(**dict(remark.facts))


def text_of(remark: Remark) -> str:
    """A remark as a note tells it: `no_items: nothing to compare`, `no interval: fewer than 2 clusters`."""
    words = words_of(remark)
    first = str(remark.reason) if remark.kind == Kind.UNDEFINED else worded(FIRST.get(remark.kind, ""))
    return worded(": ").join(filter(None, [first, words]))


def note_of(remarks: Iterable[Remark]) -> str:
    """All remarks of an estimate in one line."""
    return worded("; ").join(map(text_of, remarks))


def brief(remark: Remark) -> str:
    """A remark for a reader of a table: no code of several words before it, no count that differs by row."""
    if remark.kind == Kind.NO_INTERVAL:
        return worded(BRIEF.get(remark.reason, "")) or words_of(remark) or text_of(remark)
    return words_of(remark) if "_" in remark.reason else text_of(remark)


Said = str | Remark | Iterable[str | Remark]


def told(reason: Reason, **facts: Fact) -> Remark:
    """Something to know beside a number that is valid."""
    return Remark(reason, Kind.TOLD, tuple(facts.items()))


def undefined(reason: Reason | str, words: str = "", **facts: Fact) -> Remark:
    """Why there is no value. Raises ValueError for a reason that is not on the list."""
    return Remark(Reason(reason), Kind.UNDEFINED, tuple(facts.items()), words)


def no_interval(reason: Reason | str, words: str = "", **facts: Fact) -> Remark:
    """Why there is a value without an interval. Raises ValueError for a reason that is not on the list."""
    return Remark(Reason(reason), Kind.NO_INTERVAL, tuple(facts.items()), words)


def code(reason: Reason | str) -> Remark:
    """A reason that is told by its word alone. Raises ValueError for a reason that is not on the list."""
    return Remark(Reason(reason), Kind.CODE)


def remarks_of(*said: Said) -> tuple[Remark, ...]:
    """Remarks in a row; a text is how something was measured, and "" nothing."""
    found: list[Remark] = []
    for one in said:
        if isinstance(one, Remark):
            found.append(one)
        elif isinstance(one, str):
            found += [Remark(Reason.MEASURED, words=one)] if one else []
        else:
            found += remarks_of(*one)
    return tuple(found)

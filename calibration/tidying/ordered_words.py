"""Words that stand on a scale whose order everybody knows: strongly disagree to strongly agree, never to always.

Levels stand in order, several words of one level between bars. Read is a file that uses a whole scale of five levels or
more; of fewer nobody knows which are left out between them, so that is asked. School grades in German fall.
"""

from collections.abc import Collection, Mapping, Sequence

NEITHER = "neutral|neither|undecided|neither agree nor disagree|neither agree or disagree"
LEAST = 5  # levels of a whole scale that is read unasked
SCALES: tuple[str, ...] = (
    f"strongly disagree, disagree, {NEITHER}, agree, strongly agree",
    f"strongly disagree, somewhat disagree|slightly disagree, {NEITHER}, somewhat agree|slightly agree, strongly agree",
    f"strongly disagree, disagree, somewhat disagree|slightly disagree, {NEITHER}, somewhat agree|slightly agree, "
    "agree, strongly agree",
    f"completely disagree, disagree, {NEITHER}, agree, completely agree",
    "very poor, poor, fair|average|acceptable|neutral|ok|okay, good, very good|excellent",
    "poor, fair, good, very good, excellent",
    "very bad, bad, fair|average|acceptable|neutral|ok|okay, good, very good|excellent",
    "very unlikely|extremely unlikely, unlikely|somewhat unlikely, neutral|neither likely nor unlikely, "
    "likely|somewhat likely, very likely|extremely likely",
    "extremely unlikely, moderately unlikely, slightly unlikely, neither likely nor unlikely|neutral, slightly likely, "
    "moderately likely, extremely likely",
    "never, rarely|seldom, sometimes|occasionally, often|frequently|usually, always|very often",
    "very dissatisfied|extremely dissatisfied, dissatisfied|somewhat dissatisfied, "
    "neutral|neither satisfied nor dissatisfied, satisfied|somewhat satisfied, very satisfied|extremely satisfied",
    "extremely dissatisfied, moderately dissatisfied, slightly dissatisfied, "
    "neither satisfied nor dissatisfied|neutral, slightly satisfied, moderately satisfied, extremely satisfied",
    "not at all important|not important, slightly important, moderately important|somewhat important, very important, "
    "extremely important",
    "not at all important|not important|unimportant, slightly important, moderately important|somewhat important, "
    "important, very important",
    "stimme überhaupt nicht zu|stimme gar nicht zu, stimme nicht zu|stimme eher nicht zu, "
    "teils/teils|teils teils|weder noch|neutral, stimme zu|stimme eher zu, "
    "stimme voll und ganz zu|stimme voll zu|stimme völlig zu",
    "trifft überhaupt nicht zu|trifft gar nicht zu|trifft nicht zu, trifft eher nicht zu, "
    "teils/teils|teils teils|weder noch|neutral, trifft eher zu, trifft voll und ganz zu|trifft voll zu|trifft zu",
    "sehr schlecht, schlecht, mittel|mittelmäßig|neutral, gut, sehr gut",
    "nie, selten, manchmal|gelegentlich, oft|häufig, immer",
    "ungenügend, mangelhaft, ausreichend, befriedigend, gut, sehr gut",
    "非常不同意|完全不同意|强烈不同意, 不同意|比较不同意, 一般|中立|不确定, 同意|比较同意, 非常同意|完全同意|强烈同意",
    "很差|非常差, 差|较差|比较差, 一般|中等, 好|较好|比较好, 很好|非常好",
    "非常不满意|很不满意, 不满意|比较不满意, 一般|中立, 满意|比较满意, 非常满意|很满意",
    "从不, 很少, 有时, 经常, 总是",
)
LEVELS: tuple[tuple[frozenset[str], ...], ...] = tuple(
    tuple(frozenset(level.strip().split("|")) for level in scale.split(",")) for scale in SCALES
)


def whole_scale(words: Collection[str]) -> Mapping[str, int]:
    """Each of the plain `words` -> its level from 1, where they are a whole scale, one word for each level; else {}."""
    found = next((levels for levels in LEVELS if len(levels) == len(words) and _on(levels, words) == len(words)), ())
    return _numbers(found, words) if len(found) >= LEAST else {}


def nearest_scale(words: Collection[str]) -> Mapping[str, int]:
    """Three and more of the plain `words`, and most of them -> their levels on the scale that has the most; else {}."""
    found = max(LEVELS, key=lambda levels: _on(levels, words))
    known = _numbers(found, words)
    return known if len(known) > max(2, len(words) // 2) and _on(found, words) == len(known) else {}


def _on(levels: Sequence[frozenset[str]], words: Collection[str]) -> int:
    """How many levels have one of the words."""
    return sum(bool(level & {*words}) for level in levels)


def _numbers(levels: Sequence[frozenset[str]], words: Collection[str]) -> Mapping[str, int]:
    return {word: place for place, level in enumerate(levels, start=1) for word in sorted(words) if word in level}

"""Who wrote what, by a text's layout, words and length: how often a classifier knows it, and what gives it away."""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, get_args

from annotation.canonical import characters, form
from annotation.leaks import layout_counts
from annotation.leaks.blinding_audit import FEWEST_TOPICS, TEXTS, AuditedReport, Identification, Sign

MOST_READ = 480  # reports: of 1,200 all would take three times as long, to say the same more narrowly
FOLDS = 12  # up to so many topics each is left out by itself
FEWER_FOLDS = 5  # of more topics, when a classifier sees 80 % of them
MOST_STEPS = 1_000  # of a logistic regression, which is done after some fifty
SIGNS = 5  # told of each system
MOST_WORDS = 30_000
FOREMOST = 300  # features that a tree chooses from: of all words it took thirty times as long to name as many
ROUNDING = 1e-12  # a smaller variance is none
LENGTH = ("characters", "words")
CURVED = "support vector machine with a Gaussian kernel"  # knows what only two signs together tell
TREE = "decision tree"  # knows one word of thousands that only a system's reports hold
READERS = ("linear support vector machine", "logistic regression", CURVED, TREE)  # what costs most is given up soonest
_WORD = r"[\u3400-\u9fff]|[^\W_]+"  # a Chinese character is a word
_AROUND = 30  # characters on either side of a sign
_WHOLE_TEXT = 70  # characters of a passage for a feature that stands nowhere, such as the length of sentences

# Right answers and answers, topic by topic, to an interval of their share; of `calibration`, which hands it in
Interval = Callable[[Sequence[int], Sequence[int]], tuple[float, float]]


def no_interval(right: Sequence[int], of: Sequence[int]) -> tuple[float, float]:
    """Where nobody handed one in."""
    return math.nan, math.nan


def drawn_evenly(reports: Sequence[AuditedReport], seed: int) -> list[AuditedReport]:
    """The reports whose systems are guessed: all; of more than MOST_READ equally many of each system, as far as it has.

    Topics are put in an order by `seed`, the same for every system, so that systems are told apart on the same topics.
    """
    topics = sorted({one.topic for one in reports})
    random.Random(seed).shuffle(topics)
    turn = {topic: number for number, topic in enumerate(topics)}
    by_system: dict[str, list[AuditedReport]] = {}
    for one in sorted(reports, key=lambda one: turn[one.topic]):
        by_system.setdefault(one.system, []).append(one)
    most = len(topics) if len(reports) <= MOST_READ else max(FEWEST_TOPICS, MOST_READ // len(by_system))
    kept = {one.key for written in by_system.values() for one in written[:most]}
    return [one for one in reports if one.key in kept]


def by_luck(chance: float, reports: int) -> float:
    """The share of `reports` that the best of `READERS` names where each of them only guesses, right by `chance`.

    The expected largest of so many independent binomial shares. 0 < `chance` < 1. Readers of real texts whose systems
    were shuffled within topics came to 30 to 32 % of 48 reports of four systems, where this says 31, and to 11 to 13 %
    of 144 reports of twelve, where this says 11.
    """
    ways = math.lgamma(reports + 1)
    shares = (
        math.exp(
            ways - math.lgamma(right + 1) - math.lgamma(reports - right + 1)
            + right * math.log(chance) + (reports - right) * math.log1p(-chance)
        )
        for right in range(reports)
    )  # fmt: skip
    return sum(1 - at_most ** len(READERS) for at_most in accumulate(shares)) / reports


class Recognition:
    """The reports whose systems are guessed, in one order, with each text counted once however often it is asked for.

    `interval`: as `calibration` makes it; `seed` makes the classifiers repeatable.
    """

    def __init__(self, reports: Sequence[AuditedReport], seed: int, interval: Interval = no_interval) -> None:
        import numpy as np

        self.reports, self.seed, self.interval = reports, seed, interval
        self.systems = np.asarray([one.system for one in reports])
        self.topics = np.asarray([one.topic for one in reports])
        self._counts: dict[str, tuple[float, ...]] = {}
        self._weights: dict[bytes, tuple[Any, Any]] = {}
        self._known: dict[tuple[bytes, str], Identification] = {}

    def of_texts(self) -> tuple[Identification, ...]:
        """How often each system is named right, by the strongest of `READERS`, on topics that it has not seen.

        From formatting, which includes length, of every kind of text; of the text as shown also from formatting without
        length, from length, from words, and from formatting and words together. Every reader is tried on every kind of
        feature, none is chosen for one: the figure of each is that of the reader who names most.
        """
        written = {text: [getattr(one, text) for one in self.reports] for text in TEXTS}
        return (
            *(self._by_counts(texts, text, "formatting") for text, texts in written.items()),
            self._by_counts(written["shown"], "shown", "formatting_per_word"),
            self._by_counts(written["shown"], "shown", "length"),
            *(self._by_words(features) for features in ("words", "all")),
        )

    def of_layouts(self) -> tuple[Identification, ...]:
        """The same from formatting, with and without length, that each layout would leave of the stripped texts."""
        laid_out = {layout: self._laid_out(layout) for layout in get_args(form.Layout)}
        kinds = ("formatting", "formatting_per_word")
        return tuple(self._by_counts(texts, layout, kind) for layout, texts in laid_out.items() for kind in kinds)

    def giveaways(self) -> tuple[Sign, ...]:
        """The five features that speak most for each system in the texts as shown, with a passage that shows each.

        Of a linear classifier on formatting and words together that has seen all reports: a feature's weight times how
        far the system's mean lies from that of the others. A feature that is rarer than elsewhere has no passage.
        """
        import numpy as np

        everything = np.arange(len(self.reports))
        values, at_words = self._features("all", everything)
        model = _linear(self.seed).fit(values, self.systems)
        signs: list[Sign] = []
        for n, system in enumerate(model.classes_):
            mine = self.systems == system
            weight = model.coef_[n] if len(model.coef_) > 1 else model.coef_[0] * (1 if n else -1)
            speaks = weight * _means(values, mine)
            for at in np.argsort(-speaks, kind="stable")[:SIGNS]:
                signs.append(self._sign(mine, at_words, int(at)))
        return tuple(signs)

    def _laid_out(self, layout: form.Layout) -> list[str]:
        """`stripped` in that layout, which `shown` is already where the study has it and nobody changed the text."""
        return [
            one.shown
            if one.form == f"{form.CANONICAL_VERSION}/{layout}"
            else form.canonical_format(one.stripped, one.title or None, layout).text
            for one in self.reports
        ]

    def _count(self, texts: Sequence[str]) -> Any:
        """Shape (texts, layout_counts.FORMATTING)."""
        import numpy as np

        for text in texts:
            if text not in self._counts:
                self._counts[text] = tuple(layout_counts.formatting_counts(text).values())
        return np.asarray([self._counts[text] for text in texts])

    def _by_counts(self, texts: Sequence[str], text: str, features: str) -> Identification:
        """A text that counts like one before it is not classified again."""
        counts = self._count(texts)
        if features == "formatting_per_word":
            names, values = layout_counts.PER_WORD, layout_counts.per_word(counts)
        else:
            names = LENGTH if features == "length" else layout_counts.FORMATTING
            values = counts[:, [layout_counts.FORMATTING.index(name) for name in names]]
        key = values.tobytes(), features
        if key not in self._known:
            folds = [(_scaled(values, seen), seen, unseen) for seen, unseen in self._folds()]
            self._known[key] = self._strongest(features, folds)
        return replace(self._known[key], text=text)

    def _by_words(self, features: str) -> Identification:
        folds = [(self._features(features, seen)[0], seen, unseen) for seen, unseen in self._folds()]
        return self._strongest(features, folds)

    def _strongest(self, features: str, folds: Sequence[tuple[Any, Any, Any]]) -> Identification:
        """What that reader says who names most systems right, the first of `READERS` where several do.

        `folds`: the features of all texts, the texts a reader learns of, and those it then names. A reader who can no
        longer name more than one before it is asked no further.
        """
        import numpy as np
        from threadpoolctl import threadpool_limits

        best, fewest, named = READERS[0], len(self.systems) + 1, self.systems
        with threadpool_limits(1):  # of matrices this small several threads wait for each other longer than they work
            for reader in READERS:
                guesses, missed = np.empty_like(self.systems), 0
                for values, seen, unseen in folds:
                    if missed >= fewest:
                        break
                    if len(set(self.systems[seen])) == 1:  # nothing is told apart there
                        guesses[unseen] = self.systems[seen][0]
                    else:
                        model = _reader(reader, self.seed, values[seen]).fit(values[seen], self.systems[seen])
                        guesses[unseen] = model.predict(values[unseen])
                    missed += int((guesses[unseen] != self.systems[unseen]).sum())
                if missed < fewest:
                    best, fewest, named = reader, missed, guesses
        return self._identification(features, named, best)

    @cached_property
    def _words(self) -> tuple[Any, Any]:
        """How often each word is in each shown text, shape (reports, words), and the words."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(token_pattern=_WORD)
        counts = counter.fit_transform([one.shown for one in self.reports])
        return counts, counter.get_feature_names_out()

    def _weighted(self, seen: Any) -> tuple[Any, Any]:
        """The words of all texts by TF-IDF, and which columns those are; once for each set of texts that are `seen`."""
        from sklearn.feature_extraction.text import TfidfTransformer

        if (key := seen.tobytes()) not in self._weights:
            counts, _ = self._words
            at_words = _common(counts[seen])
            usual = TfidfTransformer(sublinear_tf=True).fit(counts[seen][:, at_words])
            self._weights[key] = usual.transform(counts[:, at_words]), at_words
        return self._weights[key]

    def _features(self, features: str, seen: Any) -> tuple[Any, Any]:
        """What the linear classifier is given of each text, and which columns of the words those are.

        Words by TF-IDF, with `all` the formatting behind them. What is rare and what is usual is learnt of `seen`.
        """
        from sklearn.pipeline import FeatureUnion
        from sklearn.preprocessing import FunctionTransformer

        words, at_words = self._weighted(seen)
        if features == "words":
            return words, at_words
        # counts as heavy as all words together, whose squares add up to 1 in every text
        scaled = _scaled(self._count([one.shown for one in self.reports]), seen) / len(layout_counts.FORMATTING) ** 0.5
        both = FeatureUnion(
            [("words", FunctionTransformer(lambda _: words)), ("counts", FunctionTransformer(lambda _: scaled))]
        )
        return both.fit_transform(scaled).tocsr(), at_words

    def _folds(self) -> Any:
        from sklearn.model_selection import GroupKFold

        topics = len(set(self.topics))
        folds = topics if topics <= FOLDS else FEWER_FOLDS
        return GroupKFold(n_splits=folds).split(self.systems, self.systems, self.topics)

    def _identification(self, features: str, guesses: Any, reader: str) -> Identification:
        import numpy as np

        right = guesses == self.systems
        everywhere = np.ones(len(right), dtype=bool)
        of = {str(system): self.systems == system for system in sorted(set(self.systems))}
        return Identification(
            text="shown",
            features=features,
            accuracy=float(right.mean()),
            recall={system: float(right[mine].mean()) for system, mine in of.items()},
            reader=reader,
            right_by_topic={topic: int(right[self.topics == topic].sum()) for topic in sorted(set(self.topics))},
            interval=self._interval(right, everywhere),
            recall_intervals={system: self._interval(right, mine) for system, mine in of.items()},
        )

    def _interval(self, right: Any, mine: Any) -> tuple[float, float]:
        by_topic = [mine & (self.topics == topic) for topic in sorted(set(self.topics[mine]))]
        return self.interval([int(right[one].sum()) for one in by_topic], [int(one.sum()) for one in by_topic])

    def _sign(self, mine: Any, at_words: Any, at: int) -> Sign:
        """The feature in column `at` of what `_features` gave, as it is in the reports that are `mine`."""
        counts, words = self._words
        if at < len(at_words):
            kind, name = "word", str(words[at_words[at]])
            found = counts[:, [at_words[at]]].toarray()[:, 0]
        else:
            kind, name = "formatting", layout_counts.FORMATTING[at - len(at_words)]
            found = self._count([one.shown for one in self.reports])[:, at - len(at_words)]
        own, theirs = float(found[mine].mean()), float(found[~mine].mean())
        clearest = self.reports[int(mine.nonzero()[0][found[mine].argmax()])]
        passage = _passage(clearest.shown, kind, name, more=own > theirs)
        return Sign(clearest.system, kind, name, own, theirs, clearest.key, passage)


def _linear(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed)


def _reader(name: str, seed: int, seen: Any) -> Any:
    """The classifier of that name in `READERS`, with the settings that scikit-learn gives it.

    `seen`: the features that it will learn of, dense or sparse.
    """
    if name == "linear support vector machine":
        return _linear(seed)
    if name == "logistic regression":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=MOST_STEPS)
    if name == TREE:
        from sklearn.feature_selection import SelectKBest
        from sklearn.pipeline import make_pipeline
        from sklearn.tree import DecisionTreeClassifier

        foremost = SelectKBest(_between, k=min(FOREMOST, seen.shape[1]))
        return make_pipeline(foremost, DecisionTreeClassifier(random_state=seed))
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    # the width that scikit-learn calls "scale", of the variance of all cells, which is that within columns and that
    # between their means; its own kernel takes ten times as long over sparse words
    columns = StandardScaler(with_mean=False).fit(seen)
    spread = seen.shape[1] * (columns.var_.mean() + columns.mean_.var())
    return SVC(kernel=partial(rbf_kernel, gamma=1 / (spread or 1)))


def _scaled(counts: Any, seen: Any) -> Any:
    """log(1 + count), less the mean and over the deviation of the texts that are `seen`, between -3 and 3."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    logs = np.log1p(counts)
    return StandardScaler().fit(logs[seen]).transform(logs).clip(-3, 3)


def _common(counts: Any) -> Any:
    """The columns of words that are in two texts or more, the most frequent where they are too many."""
    import numpy as np

    often = np.flatnonzero(counts.getnnz(axis=0) >= 2)
    if len(often) <= MOST_WORDS:
        return often
    uses = np.asarray(counts[:, often].sum(axis=0)).ravel()
    return np.sort(often[np.argsort(-uses, kind="stable")[:MOST_WORDS]])


def _between(values: Any, systems: Any) -> Any:
    """The share of each feature's variance that lies between systems, 0 where it has none: F grows with it.

    scikit-learn's own F warns where a feature is constant, within systems or at all.
    """
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    moments = StandardScaler(with_mean=False).fit(values)
    between = np.zeros_like(moments.var_)
    for system in set(systems):
        mine = systems == system
        between += mine.mean() * (np.asarray(values[mine].mean(axis=0)).ravel() - moments.mean_) ** 2
    return np.divide(between, moments.var_, out=np.zeros_like(between), where=moments.var_ > ROUNDING)


def _means(values: Any, mine: Any) -> Any:
    """How far the mean of each feature lies above that of the others."""
    import numpy as np

    return np.asarray(values[mine].mean(axis=0) - values[~mine].mean(axis=0)).ravel()


def _passage(text: str, kind: str, name: str, *, more: bool) -> str:
    """Where the feature stands first, on one line; the opening for what stands nowhere; empty for what is rarer."""
    if kind == "formatting" and name not in layout_counts.PATTERNS:  # a length, a mean or a share has no place
        return " ".join(text[:_WHOLE_TEXT].split())
    if not more:
        return ""
    match = (layout_counts.PATTERNS[name][0] if kind == "formatting" else _of_word(name)).search(text)
    if match is None:
        return ""
    return " ".join(text[max(0, match.start() - _AROUND) : match.start() + 2 * _AROUND].split())


def _of_word(word: str) -> re.Pattern[str]:
    whole = re.escape(word) if characters.CJK.match(word) else rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.compile(whole, re.IGNORECASE)

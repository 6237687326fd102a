"""Who wrote what, by a text's layout, words and length: how often a classifier knows it, and what gives it away."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, get_args

from annotation.canonical import characters, form
from annotation.leaks.blinding_audit import TEXTS, AuditedReport, Identification, Sign
from annotation.leaks.layout_counts import FORMATTING, first_sign, formatting_counts, stands_somewhere

FOLDS = 5
TREES = 100
SIGNS = 5  # told of each system
MOST_WORDS = 30_000
_BY_COUNTS = {"formatting": FORMATTING, "length": ("characters", "words")}
_WORD = r"[\u3400-\u9fff]|[^\W_]+"  # a Chinese character is a word
_AROUND = 30  # characters on either side of a sign
_WHOLE_TEXT = 70  # characters of a passage for a feature that stands nowhere, such as the length of sentences

# Right answers and answers, topic by topic, to an interval of their share; of `calibration`, which hands it in
Interval = Callable[[Sequence[int], Sequence[int]], tuple[float, float]]


def no_interval(right: Sequence[int], of: Sequence[int]) -> tuple[float, float]:
    """Where nobody handed one in."""
    return math.nan, math.nan


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
        self._known: dict[tuple[bytes, str], Identification] = {}

    def of_texts(self) -> tuple[Identification, ...]:
        """How often each system is named right, by folds that keep a topic together.

        From formatting, of every kind of text, and from the length of the text as shown (a random forest); from its
        words, and from formatting and words together (a linear support vector machine on TF-IDF).
        """
        written = {text: [getattr(one, text) for one in self.reports] for text in TEXTS}
        return (
            *(self._by_counts(texts, text, "formatting") for text, texts in written.items()),
            self._by_counts(written["shown"], "shown", "length"),
            *(self._by_words(features) for features in ("words", "all")),
        )

    def of_layouts(self) -> tuple[Identification, ...]:
        """The same from the formatting that each layout would leave of the stripped texts."""
        return tuple(self._by_counts(self._laid_out(layout), layout, "formatting") for layout in get_args(form.Layout))

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
        return [form.canonical_format(one.stripped, one.title or None, layout).text for one in self.reports]

    def _count(self, texts: Sequence[str]) -> Any:
        """Shape (texts, FORMATTING)."""
        import numpy as np

        for text in texts:
            if text not in self._counts:
                self._counts[text] = tuple(formatting_counts(text).values())
        return np.asarray([self._counts[text] for text in texts])

    def _by_counts(self, texts: Sequence[str], text: str, features: str) -> Identification:
        """A text that counts like one before it is not classified again."""
        import numpy as np
        from sklearn.ensemble import RandomForestClassifier

        names = _BY_COUNTS[features]
        values = self._count(texts)[:, [FORMATTING.index(name) for name in names]]
        key = values.tobytes(), features
        if key not in self._known:
            guesses, weights = np.empty_like(self.systems), np.zeros(len(names))
            for seen, unseen in self._folds():
                # its trees are drawn before they are grown, so that the forest is the same on any number of cores
                forest = RandomForestClassifier(n_estimators=TREES, random_state=self.seed, n_jobs=-1)
                guesses[unseen] = forest.fit(values[seen], self.systems[seen]).predict(values[unseen])
                weights += forest.feature_importances_
            top = tuple(names[n] for n in np.argsort(-weights, kind="stable")[:SIGNS])
            self._known[key] = self._identification(features, guesses, top)
        return replace(self._known[key], text=text)

    def _by_words(self, features: str) -> Identification:
        import numpy as np

        guesses = np.empty_like(self.systems)
        for seen, unseen in self._folds():
            values, _ = self._features(features, seen)
            guesses[unseen] = _linear(self.seed).fit(values[seen], self.systems[seen]).predict(values[unseen])
        return self._identification(features, guesses)

    @cached_property
    def _words(self) -> tuple[Any, Any]:
        """How often each word is in each shown text, shape (reports, words), and the words."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(token_pattern=_WORD)
        counts = counter.fit_transform([one.shown for one in self.reports])
        return counts, counter.get_feature_names_out()

    def _features(self, features: str, seen: Any) -> tuple[Any, Any]:
        """What the linear classifier is given of each text, and which columns of the words those are.

        Words by TF-IDF, with `all` the formatting behind them. What is rare and what is usual is learnt of `seen`.
        """
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.pipeline import FeatureUnion
        from sklearn.preprocessing import FunctionTransformer, StandardScaler

        counts, _ = self._words
        at_words = _common(counts[seen])
        words = TfidfTransformer(sublinear_tf=True).fit(counts[seen][:, at_words]).transform(counts[:, at_words])
        if features == "words":
            return words, at_words
        layout = self._count([one.shown for one in self.reports])
        # counts as heavy as all words together, whose squares add up to 1 in every text
        scaled = StandardScaler().fit(layout[seen]).transform(layout).clip(-3, 3) / len(FORMATTING) ** 0.5
        both = FeatureUnion(
            [("words", FunctionTransformer(lambda _: words)), ("counts", FunctionTransformer(lambda _: scaled))]
        )
        return both.fit_transform(scaled).tocsr(), at_words

    def _folds(self) -> Any:
        from sklearn.model_selection import GroupKFold

        return GroupKFold(n_splits=FOLDS).split(self.systems, self.systems, self.topics)

    def _identification(self, features: str, guesses: Any, top: tuple[str, ...] = ()) -> Identification:
        import numpy as np

        right = guesses == self.systems
        everywhere = np.ones(len(right), dtype=bool)
        of = {str(system): self.systems == system for system in sorted(set(self.systems))}
        return Identification(
            text="shown",
            features=features,
            accuracy=float(right.mean()),
            recall={system: float(right[mine].mean()) for system, mine in of.items()},
            top_features=top,
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
            kind, name = "formatting", FORMATTING[at - len(at_words)]
            found = self._count([one.shown for one in self.reports])[:, at - len(at_words)]
        own, theirs = float(found[mine].mean()), float(found[~mine].mean())
        clearest = self.reports[int(mine.nonzero()[0][found[mine].argmax()])]
        passage = _passage(clearest.shown, kind, name, more=own > theirs)
        return Sign(clearest.system, kind, name, own, theirs, clearest.key, passage)


def _linear(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed)


def _common(counts: Any) -> Any:
    """The columns of words that are in two texts or more, the most frequent where they are too many."""
    import numpy as np

    often = np.flatnonzero(counts.getnnz(axis=0) >= 2)
    if len(often) <= MOST_WORDS:
        return often
    uses = np.asarray(counts[:, often].sum(axis=0)).ravel()
    return np.sort(often[np.argsort(-uses, kind="stable")[:MOST_WORDS]])


def _means(values: Any, mine: Any) -> Any:
    """How far the mean of each feature lies above that of the others."""
    import numpy as np

    return np.asarray(values[mine].mean(axis=0) - values[~mine].mean(axis=0)).ravel()


def _passage(text: str, kind: str, name: str, *, more: bool) -> str:
    """Where the feature stands first, on one line; the opening for what stands nowhere; empty for what is rarer."""
    if kind == "formatting" and not stands_somewhere(name):
        return " ".join(text[:_WHOLE_TEXT].split())
    match = (first_sign(name, text) if kind == "formatting" else _of_word(name).search(text)) if more else None
    if match is None:
        return ""
    return " ".join(text[max(0, match.start() - _AROUND) : match.start() + 2 * _AROUND].split())


def _of_word(word: str) -> re.Pattern[str]:
    whole = re.escape(word) if characters.CJK.match(word) else rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.compile(whole, re.IGNORECASE)

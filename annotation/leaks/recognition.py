"""Who wrote what, by a text's layout, words and length: how often a classifier knows it, and what gives it away."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from annotation.canonical.characters import CJK
from annotation.canonical.form import Layout, canonical_format
from annotation.leaks.blinding_audit import TEXTS, AuditedReport, Identification, Sign
from annotation.texts.scripts import count_words

_PATTERNS = {
    **{f"headings_{level}": rf"^[ \t]{{0,3}}#{{{level}}}[ \t]" for level in range(1, 7)},
    "bullets_dash": r"^[ \t]*+-[ \t]+\S",
    "bullets_star": r"^[ \t]*+\*[ \t]+\S",
    "bullets_plus": r"^[ \t]*+\+[ \t]+\S",
    "bullets_dot": r"^[ \t]*+[•◦▪●–][ \t]*\S",
    "numbered_items": r"^[ \t]*+[0-9]{1,9}[.)][ \t]",
    "bold": r"\*\*(?=\S)[^*\n]{1,300}\*\*|__(?=\S)[^_\n]{1,300}__",
    "italic": r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,300}\*(?!\*)|(?<![_\w])_(?=[^\s_])[^_\n]{1,300}_(?![_\w])",
    "table_rows": r"^[ \t]*+\|",
    "quote_lines": r"^[ \t]{0,3}>",
    "rules": r"^[ \t]{0,3}(?:-[ \t]*-[ \t]*-|\*[ \t]*\*[ \t]*\*|_[ \t]*_[ \t]*_)[-*_ \t]*$",
    "curly_quotes": r"[“”„‟‘’‚‛]",
    "straight_quotes": r"[\"']",
    "en_dashes": r"–",
    "em_dashes": r"—",
    "parentheses": r"[(（]",
    "gaps": r"\S +(?:[,;]|\.(?!\w)|[:!?](?!\w))",
    "escapes": r"\\[!-/:-@\[-`{-~]",
    "two_space_ends": r"\S {2,}$",
}
_COMPILED = {name: re.compile(pattern, re.MULTILINE) for name, pattern in _PATTERNS.items()}
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]{0,3}\s|[。！？]")
FORMATTING = ("characters", "words", *_PATTERNS, "mean_paragraph", "mean_sentence", "cjk_share", "title_line")


def formatting_counts(markdown: str) -> dict[str, float]:
    """The layout of `markdown` as counts, always the same names in the same order (`FORMATTING`).

    Counts are of whole texts, not per word. `words`: runs of non-blank characters; `mean_paragraph`: characters per
    stretch between empty lines; `mean_sentence`: characters per sentence; `cjk_share`: of all characters, 0 to 1;
    `title_line`: 1 when the first line that holds text is a `#` heading. All are 0 for an empty text.
    """
    text = markdown.strip()
    counts = {name: float(sum(1 for _ in pattern.finditer(markdown))) for name, pattern in _COMPILED.items()}
    paragraphs = [part for part in _PARAGRAPH_END.split(text) if part]
    sentences = sum(1 for _ in _SENTENCE_END.finditer(text)) + 1
    return {
        "characters": float(len(markdown)),
        "words": float(count_words(markdown)),
        **counts,
        "mean_paragraph": sum(map(len, paragraphs)) / len(paragraphs) if paragraphs else 0.0,
        "mean_sentence": len(text) / sentences if text else 0.0,
        "cjk_share": sum(1 for _ in CJK.finditer(markdown)) / len(markdown) if markdown else 0.0,
        "title_line": float(text.startswith("# ")),
    }


FOLDS = 5
TREES = 100
SIGNS = 5  # told of each system
_COUNTED = {"formatting": FORMATTING, "length": ("characters", "words")}
_WORD = r"[\u3400-\u9fff]|[^\W_]+"  # a Chinese character is a word
_AROUND = 30  # characters on either side of a sign
_WHOLE_TEXT = 70  # characters of a passage for a feature that stands nowhere, such as the length of sentences

# Right answers and answers, topic by topic, to an interval of their share; of `calibration`, which hands it in
Interval = Callable[[Sequence[int], Sequence[int]], tuple[float, float]]


def no_interval(right: Sequence[int], of: Sequence[int]) -> tuple[float, float]:
    """Where nobody handed one in."""
    return math.nan, math.nan


@dataclass(frozen=True)
class _Asked:
    """The reports whose systems are guessed, in one order."""

    reports: Sequence[AuditedReport]
    systems: Any  # names, shape (reports,)
    topics: Any
    seed: int
    interval: Interval


def identify(
    reports: Sequence[AuditedReport], seed: int, interval: Interval = no_interval
) -> tuple[Identification, ...]:
    """How often each system is named right, by folds that keep a topic together.

    From formatting and length, of every kind of text (a random forest); from words, and from formatting and words
    together, of the text as shown (a linear support vector machine on TF-IDF); and from the formatting that each layout
    would leave. A text that counts like one before it is not classified again.
    """
    import numpy as np

    asked = _Asked(
        reports, np.asarray([one.system for one in reports]), np.asarray([one.topic for one in reports]), seed, interval
    )
    found: list[Identification] = []
    known: list[tuple[list[dict[str, float]], dict[str, Identification]]] = []
    for text, written in _texts(reports).items():
        counts = [formatting_counts(one) for one in written]
        same = next((made for before, made in known if before == counts), None)
        made = dict(same or {})
        for features in _COUNTED if text in TEXTS else ("formatting",):
            if features not in made:
                made[features] = _by_counts(counts, features, asked)
            found.append(replace(made[features], text=text))
        if same is None:
            known.append((counts, made))
    return (*found, *_by_words([one.shown for one in reports], asked))


def _texts(reports: Sequence[AuditedReport]) -> dict[str, list[str]]:
    """Every kind of text, and what each layout would make of the stripped one."""
    texts = {text: [getattr(report, text) for report in reports] for text in TEXTS}
    for layout in get_args(Layout):
        texts[layout] = [canonical_format(one.stripped, one.title or None, layout).text for one in reports]
    return texts


def _by_counts(counts: Sequence[Mapping[str, float]], features: str, asked: _Asked) -> Identification:
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    names = _COUNTED[features]
    values = np.asarray([[count[name] for name in names] for count in counts])
    guesses, weights = np.empty_like(asked.systems), np.zeros(len(names))
    for seen, unseen in _folds(asked):
        forest = RandomForestClassifier(n_estimators=TREES, random_state=asked.seed)
        guesses[unseen] = forest.fit(values[seen], asked.systems[seen]).predict(values[unseen])
        weights += forest.feature_importances_
    top = tuple(names[n] for n in np.argsort(-weights, kind="stable")[:SIGNS])
    return _identification(features, guesses, asked, top)


def _by_words(texts: Sequence[str], asked: _Asked) -> tuple[Identification, ...]:
    import numpy as np

    found = []
    for features in ("words", "all"):
        guesses = np.empty_like(asked.systems)
        for seen, unseen in _folds(asked):
            model = _linear(asked.seed, with_counts=features == "all")
            model.fit([texts[n] for n in seen], asked.systems[seen])
            guesses[unseen] = model.predict([texts[n] for n in unseen])
        found.append(_identification(features, guesses, asked))
    return tuple(found)


def _folds(asked: _Asked) -> Any:
    from sklearn.model_selection import GroupKFold

    return GroupKFold(n_splits=FOLDS).split(asked.systems, asked.systems, asked.topics)


def _linear(seed: int, *, with_counts: bool) -> Any:
    """A pipeline from texts to systems; its first step is named `features`, its second `guess`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from sklearn.svm import LinearSVC

    words = TfidfVectorizer(token_pattern=_WORD, sublinear_tf=True, min_df=2, max_features=30_000)
    counted = make_pipeline(FunctionTransformer(_rows), StandardScaler(), FunctionTransformer(_weighed))
    parts = [("words", words), *([("counts", counted)] if with_counts else [])]
    return Pipeline([("features", FeatureUnion(parts)), ("guess", LinearSVC(random_state=seed))])


def _rows(texts: Sequence[str]) -> Any:
    import numpy as np

    return np.asarray([list(formatting_counts(text).values()) for text in texts])


def _weighed(scaled: Any) -> Any:
    """Counts as heavy as all words together, whose squares add up to 1 in every text."""
    return scaled.clip(-3, 3) / len(FORMATTING) ** 0.5


def _identification(features: str, guesses: Any, asked: _Asked, top: tuple[str, ...] = ()) -> Identification:
    import numpy as np

    right = guesses == asked.systems
    everywhere = np.ones(len(right), dtype=bool)
    of = {str(system): asked.systems == system for system in sorted(set(asked.systems))}
    return Identification(
        text="shown",
        features=features,
        accuracy=float(right.mean()),
        recall={system: float(right[mine].mean()) for system, mine in of.items()},
        top_features=top,
        interval=_interval(right, everywhere, asked),
        recall_intervals={system: _interval(right, mine, asked) for system, mine in of.items()},
    )


def _interval(right: Any, mine: Any, asked: _Asked) -> tuple[float, float]:
    by_topic = [mine & (asked.topics == topic) for topic in sorted(set(asked.topics[mine]))]
    return asked.interval([int(right[one].sum()) for one in by_topic], [int(one.sum()) for one in by_topic])


def giveaways(reports: Sequence[AuditedReport], seed: int) -> tuple[Sign, ...]:
    """The five features that speak most for each system in the texts as shown, with a passage that shows each.

    Of a linear classifier on formatting and words together that has seen all reports: a feature's weight times how far
    the system's mean lies from that of the others. A feature that is rarer than elsewhere has no passage.
    """
    import numpy as np

    systems = np.asarray([report.system for report in reports])
    texts = [report.shown for report in reports]
    model = _linear(seed, with_counts=True).fit(texts, systems)
    values = model["features"].transform(texts).toarray()
    names = (*dict(model["features"].transformer_list)["words"].get_feature_names_out(), *FORMATTING)
    weights = model["guess"].coef_
    signs: list[Sign] = []
    for n, system in enumerate(model["guess"].classes_):
        mine = systems == system
        weight = weights[n] if len(weights) > 1 else weights[0] * (1 if n else -1)
        speaks = weight * (values[mine].mean(axis=0) - values[~mine].mean(axis=0))
        for at in np.argsort(-speaks, kind="stable")[:SIGNS]:
            kind = "word" if at < len(names) - len(FORMATTING) else "formatting"
            signs.append(_sign(kind, str(names[at]), [r for r in reports if r.system == system], reports))
    return tuple(signs)


def _sign(kind: str, name: str, mine: Sequence[AuditedReport], everybody: Sequence[AuditedReport]) -> Sign:
    def count(report: AuditedReport) -> float:
        if kind == "formatting":
            return formatting_counts(report.shown)[name]
        return float(sum(1 for _ in pattern.finditer(report.shown))) if pattern else 0.0

    pattern = _COMPILED.get(name) if kind == "formatting" else _of_word(name)
    found = [count(report) for report in mine]
    others = [count(report) for report in everybody if report.system != mine[0].system]
    own, theirs = sum(found) / len(found), sum(others) / max(1, len(others))
    clearest = mine[found.index(max(found))]
    return Sign(mine[0].system, kind, name, own, theirs, clearest.key, _passage(clearest.shown, pattern, own > theirs))


def _of_word(word: str) -> re.Pattern[str]:
    whole = re.escape(word) if CJK.match(word) else rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.compile(whole, re.IGNORECASE)


def _passage(text: str, pattern: re.Pattern[str] | None, more: bool) -> str:
    """Where the feature stands first, on one line; the opening for what stands nowhere; empty for what is rarer."""
    if pattern is None:
        return " ".join(text[:_WHOLE_TEXT].split())
    match = pattern.search(text) if more else None
    if match is None:
        return ""
    return " ".join(text[max(0, match.start() - _AROUND) : match.start() + 2 * _AROUND].split())

"""How many reports a classifier tells the writer of, by scikit-learn's own pipelines and our own reading of the layout."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sqlalchemy import select

from db.connect import reading
from db.tables import Report, Study, System, Topic
from tests.studies import intervals
from tests.studies.desk import Decide, Desk
from tests.studies.from_labels import Worked
from tests.studies.intervals import Interval

HAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")
WIDE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
OPENS = (  # what a line begins with
    *(rf"[ \t]{{0,3}}{'#' * level}[ \t]" for level in range(1, 7)), *(rf"[ \t]*{mark}[ \t]+\S" for mark in ("-", r"\*", r"\+")),
    r"[ \t]*[•◦▪●–][ \t]*\S", r"[ \t]*[0-9]{1,9}[.)][ \t]", r"[ \t]*\|", r"[ \t]{0,3}>",
    r"[ \t]{0,3}([-*_])([ \t]*\1){2}[-*_ \t]*$",
)  # fmt: skip
HOLDS = (  # what a line holds
    r"(\*\*|__)(?=\S)(?:(?!\1)[^\n]){1,300}?\1", r"(?<!\*)\*(?![\s*])[^*\n]{1,300}\*(?!\*)|(?<!\w)_(?![\s_])[^_\n]{1,300}_(?!\w)",
    "[“”„‟‘’‚‛]", "[\"']", "–", "—", "[(（]", r"(?<=\S) +(?:[,;]|[.:!?](?!\w))", r"\\[!-/:-@\[-`{-~]", r"(?<=\S)  +$",
)  # fmt: skip
KINDS = 2 + len(OPENS) + len(HOLDS) + 4  # all of them together weigh as much as all words
FOREMOST = 300  # features that a tree chooses from


def words(text: str) -> int:
    """Runs between blanks, and where there is Han or kana each character and each other run of letters."""
    runs = text.split()
    return sum(
        len(HAN.findall(run)) + len(re.findall(r"[^\W\u3041-\u30ff\u3400-\u9fff]+", run)) if HAN.search(run) else 1
        for run in runs
    )


def layout(texts: Iterable[str]) -> list[list[float]]:
    """Of each text its lengths, what its lines begin with and hold, and the means of its parts."""
    rows = []
    for text in texts:
        lines, body = text.split("\n"), text.strip()
        parts = [part for part in re.split(r"\n[ \t]*\n\s*", body) if part]
        stops = re.findall(r"[.!?][\"'”’)\]]{0,3}\s|[。！？]", body)
        rows.append(
            [len(text), words(text), *(sum(bool(re.match(sign, line)) for line in lines) for sign in OPENS),
             *(sum(len([*re.finditer(sign, line)]) for line in lines) for sign in HOLDS),
             sum(map(len, parts)) / len(parts), len(body) / (len(stops) + 1), len(WIDE.findall(text)) / len(text),
             body.startswith("# ")]
        )  # fmt: skip
    return rows


def recognised(study: str) -> Worked:
    """Per cent of a study's reports whose system the best of four names by words and layout, learnt on other topics."""

    def share(desk: Desk, _: Mapping[str, Decide]) -> Interval:
        rows = select(Report.shown_text, System.key, Topic.key, Study.seed).join(System, Report.system_id == System.id)
        rows = rows.join(Topic, Report.topic_id == Topic.id).join(Study, Report.study_id == Study.id)
        with reading(desk.engine) as session:
            found = session.execute(rows.where(Study.name == study, Report.shown_text != "").order_by(Report.id)).all()
        texts, systems, topics, (seed, *_) = (np.array(column, dtype=object) for column in zip(*found, strict=True))
        folds = GroupKFold(len({*topics}) if len({*topics}) <= 12 else 5)
        tfidf = TfidfVectorizer(token_pattern=r"[\u3400-\u9fff]|[^\W_]+", sublinear_tf=True, min_df=2)
        light = FunctionTransformer(lambda rows: np.clip(rows, -3, 3) / KINDS**0.5)
        counts = make_pipeline(FunctionTransformer(layout), FunctionTransformer(np.log1p), StandardScaler(), light)
        both = FeatureUnion([("words", tfidf), ("layout", counts)])

        def right(reader: Any) -> Any:
            with warnings.catch_warnings(action="ignore"):  # of features that are the same everywhere
                return (
                    cross_val_predict(make_pipeline(both, reader), texts, systems, groups=topics, cv=folds) == systems
                )

        tree = make_pipeline(SelectKBest(f_classif, k=FOREMOST), DecisionTreeClassifier(random_state=seed))
        readers = LinearSVC(random_state=seed), LogisticRegression(max_iter=1000), SVC(), tree
        return intervals.times(
            100, intervals.wilson(pd.Series(max(map(right, readers), key=np.mean)), pd.Series(topics))
        )

    return share

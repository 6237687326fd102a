"""How many reports a classifier tells the writer of, by scikit-learn's own pipelines and our own reading of the layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sqlalchemy import select

from db.connect import reading
from db.tables import Report, Study, System, Topic
from tests.studies.desk import Decide, Desk
from tests.studies.from_labels import Worked

BEGINS = ("# ", "## ", "### ", "#### ", "- ", "* ", "| ", "> ", "---")
SIGNS = ("“", "”", "‘", "’", "'", '"', "–", "—", "(", "（", " ,", " ;", "**", "\\")
KINDS = 28  # of layout that calipers counts: all of them together weigh as much as all words


def layout(texts: Iterable[str]) -> list[list[float]]:
    """Of each text its lengths, what its lines begin with, which signs it has, and the means of its parts."""
    rows = []
    for text in texts:
        lines, body = text.splitlines(), text.strip()
        rows.append(
            [len(text), len(re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff。]+", text)),
             *(sum(line.startswith(sign) for line in lines) for sign in BEGINS), *map(text.count, SIGNS),
             len(body) / len(re.split(r"\n\n+", body)), len(body) / (len(re.findall(r"[.!?]\s|。", text)) + 1),
             len(re.findall(r"[\u4e00-\u9fff]", text)) / len(text), body.startswith("# ")]
        )  # fmt: skip
    return rows


def recognised(study: str, off: int = 0) -> Worked:
    """Per cent of a study's reports whose system the best of four names by words and layout, learnt on other topics.

    A tree takes either of two words that tell as much, by its seed: from the fewest to the most of nine seeds.
    `off`: reports by which texts as they are published may be told otherwise, where a mark of layout is not ours.
    """

    def share(desk: Desk, _: Mapping[str, Decide]) -> float | tuple[float, float]:
        rows = select(Report.shown_text, System.key, Topic.key).join(System, Report.system_id == System.id)
        rows = rows.join(Topic, Report.topic_id == Topic.id).join(Study, Report.study_id == Study.id)
        with reading(desk.engine) as session:
            found = session.execute(
                rows.where(Study.name == study, Report.shown_text != "").order_by(Topic.key, System.key)
            ).all()
        texts, systems, topics = (np.array(column, dtype=object) for column in zip(*found, strict=True))
        folds = GroupKFold(len({*topics}) if len({*topics}) <= 12 else 5)
        words = TfidfVectorizer(token_pattern=r"[\u3400-\u9fff]|[^\W_]+", sublinear_tf=True, min_df=2)
        light = FunctionTransformer(lambda rows: np.clip(rows, -3, 3) / KINDS**0.5)
        counts = make_pipeline(FunctionTransformer(layout), FunctionTransformer(np.log1p), StandardScaler(), light)
        both = FeatureUnion([("words", words), ("layout", counts)])

        def right(reader: Any) -> float:
            said = cross_val_predict(make_pipeline(both, reader), texts, systems, groups=topics, cv=folds)
            return 100 * float((said == systems).mean())

        best = max(map(right, (LinearSVC(random_state=7), LogisticRegression(max_iter=1000), SVC())))
        trees = [max(best, right(DecisionTreeClassifier(random_state=seed))) for seed in range(9)]
        if off:
            return best - 100 * off / len(texts) - 0.5, best + 100 * off / len(texts) + 0.5
        return best if max(trees) == best else (min(trees) - 0.5, max(trees) + 0.5)

    return share

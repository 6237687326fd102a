"""Small studies of answers that pass or fail, told answer by answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLUMNS = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a"]


def made_answers(topics=30, labelled=30, right=(0.85, 0.8), words=("pass", "fail"), passing=None, people=1, seed=3):
    """One judge on all topics and people on the first `labelled`; two systems, three answers of each to a topic."""
    rng, rows = np.random.default_rng(seed), []
    for topic in range(topics):
        for system, share in (passing or {"s1": 0.8, "s2": 0.4}).items():
            for number in range(3):
                item, true = f"t{topic:02}{system}{number}", bool(rng.random() < share)
                about = "q", f"t{topic:02}", system
                given = [("human", f"p{one}", true ^ (one > 0 and rng.random() < 0.1)) for one in range(people)]
                given = given if topic < labelled else []
                given.append(("judge", "j", true ^ bool(rng.random() > right[0 if true else 1])))
                rows += [
                    (item, rater, kind, about[0], words[0 if answer else 1], *about[1:])
                    for kind, rater, answer in given
                ]
    return pd.DataFrame(rows, columns=COLUMNS)


def by_name(report, statistic, rater="j", reference=None, category="all"):
    """The one estimate with these names."""
    (found,) = [
        one
        for one in report.estimates
        if (one.statistic, one.rater, one.category) == (statistic, rater, category)
        and reference in (None, one.reference)
    ]
    return found

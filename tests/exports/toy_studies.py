"""Small files in the shape of four published studies, whose numbers can be worked by hand."""

from __future__ import annotations

import pandas as pd

NAMES = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b"]


def wlc_study() -> pd.DataFrame:
    """Six articles, two criteria, two annotators; a judge with prices and one unreadable reply, and a local one.

    `priced` agrees with 20 of 22 labels, `local` always takes the reference and agrees with 20 of 24.
    """
    people = {"ann1": "BBBBBBBBBABA", "ann2": "BBBBBBBBABBA"}
    judges = {"priced": "BBBBBBBBAA?A", "local": "B" * 12}
    rows = []
    for rater, answers in (people | judges).items():
        for place, answer in enumerate(answers):
            kind = "human" if rater in people else "judge"
            cost = 0.02 if rater == "priced" else None
            status = "invalid" if answer == "?" else "ok"
            label = "" if answer == "?" else answer
            item = place // 2
            rows.append(
                (f"p{item}", rater, kind, f"c{place % 2}", label, f"t{item}", "agent", "wikipedia", status, cost)
            )
    return pd.DataFrame(rows, columns=[*NAMES, "status", "cost_usd"])


def gym_study() -> pd.DataFrame:
    """Thirteen preferences on six topics; one tie of the judge's scores, one report without a score: ten are left.

    On topic 3 the pair names y as A. Of the ten the judge says A A where people say A A six times, and so on: 6 1 1 2.
    """
    people = {1: "AAB", 2: "AA", 3: "AA", 4: "A", 5: "BBA", 6: "AB"}
    scores = {1: (8, 5), 2: (7, 6), 3: (4, 6), 4: (5, 5), 5: (3, 9), 6: (9, None)}
    rows: list[tuple[object, ...]] = []
    for topic, labels in people.items():
        systems = ("y", "x") if topic == 3 else ("x", "y")
        for place, label in enumerate(labels, 1):
            rows.append((f"p{topic}", f"ann{place}", "human", "overall", label, f"t{topic}", *systems))
    for topic, pair in scores.items():
        for system, score in zip("xy", pair, strict=True):
            if score is not None:
                rows.append((f"{system}{topic}", "mini", "judge", "clarity", str(score), f"t{topic}", system, ""))
    return pd.DataFrame(rows, columns=NAMES)


# DR3-Eval, Table 14: five reports (rows), criteria IR, FA, DQ, IF, CC (columns)
TABLE_14 = {
    "judge": (
        (30.00, 46.23, 70, 93.33, 66.67),
        (40.27, 50.38, 70, 86.67, 66.67),
        (42.85, 52.25, 70, 64, 16.67),
        (30, 43.84, 60, 77.78, 50),
        (49.29, 60.33, 70, 84, 71.43),
    ),
    "human": (
        (32.5, 42.76, 72, 92.42, 66.67),
        (38.68, 53.89, 68, 83.25, 66.67),
        (40.78, 56.65, 66.86, 62.38, 16.67),
        (31.5, 46.29, 58.76, 75.94, 50),
        (46.73, 57.83, 73.56, 82.37, 71.43),
    ),
}


def dr3_study() -> pd.DataFrame:
    """Table 14 as labels: the mean of its people stands as one annotator."""
    rows = [
        (f"r{n}", "gpt-5.1" if kind == "judge" else "mean", kind, name, str(value), f"t{n}", f"s{n}", "")
        for kind, reports in TABLE_14.items()
        for n, report in enumerate(reports, 1)
        for name, value in zip(("IR", "FA", "DQ", "IF", "CC"), report, strict=True)
    ]
    return pd.DataFrame(rows, columns=NAMES)


def race_study() -> pd.DataFrame:
    """Three topics, three systems, two annotators who contradict each other on the third topic; one judge, 1 2 3.

    PAR 5/9, Pearson of system means sqrt(3)/2, Pearson and Spearman within topics 1 and 1/2, the third one disputed.
    """
    people = {1: ((1, 2, 3), (1, 2, 3)), 2: ((1, 3, 2), (1, 3, 2)), 3: ((1, 2, 3), (3, 2, 1))}
    rows = []
    for topic, both in people.items():
        for rater, kind, scores in zip(
            ("ann1", "ann2", "judge-x"), ("human", "human", "judge"), (*both, (1, 2, 3)), strict=True
        ):
            for system, score in zip("xyz", scores, strict=True):
                rows.append((f"{system}{topic}", rater, kind, "overall", str(score), f"t{topic}", system, ""))
    return pd.DataFrame(rows, columns=NAMES)

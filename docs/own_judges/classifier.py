"""A classifier trained on half of the topics, measured on the other half. `python = "classifier:judge"`.

Train it with: python classifier.py labels.csv. It prints the `examples = [...]` that belong into judges.toml: the items
it was trained on, which no estimate of it then rests on.
"""

import csv
import hashlib
import json
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

LEARNED = Path("classifier.json")


def is_training(topic: str) -> bool:
    """Half of the topics, whatever their order."""
    return hashlib.sha256(topic.encode()).digest()[0] % 2 == 0


def train(labels: Path) -> None:
    """Learn from what annotators said about topics of the training half; write the weights, print what was used."""
    from sklearn.linear_model import LogisticRegression

    with labels.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rater_kind"] == "human" and row["label"] in ("A", "B")]
    used = [row for row in rows if is_training(row["cluster_id"])]
    ratios = [[math.log(float(row["len_a"]) / float(row["len_b"]))] for row in used]
    model = LogisticRegression().fit(ratios, [row["label"] == "A" for row in used])
    LEARNED.write_text(json.dumps({"weight": model.coef_[0][0], "bias": model.intercept_[0]}))
    print(f"examples = {json.dumps(sorted({row['item_id'] for row in used}))}")


@cache
def learned() -> dict[str, float]:
    weights: dict[str, float] = json.loads(LEARNED.read_text())
    return weights


def judge(item: dict[str, Any]) -> dict[str, Any]:
    """The report that annotators would rather have preferred."""
    first, second = (len(item["texts"][name]) for name in ("first_report", "second_report"))
    towards = learned()["weight"] * math.log(first / second) + learned()["bias"]
    winner = "first" if towards >= 0 else "second"
    return {"answers": {criterion["id"]: winner for criterion in item["criteria"]}}


if __name__ == "__main__":
    train(Path(sys.argv[1]))

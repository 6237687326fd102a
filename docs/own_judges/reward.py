"""A reward model as a judge: each report gets a score, the higher one wins. `python = "reward:judge"`.

`Weights` stands in for what you would load; it is made once, when the process starts.
"""

import math
from typing import Any


class Weights:
    """Replace this by your model: text in, one number out."""

    def score(self, prompt: str, text: str) -> float:
        asked = set(prompt.lower().split())
        return math.log1p(sum(word in asked for word in text.lower().split()))


MODEL = Weights()


def judge(item: dict[str, Any]) -> dict[str, Any]:
    """The same winner for every criterion, with the two scores as its reason."""
    asked = f"{item['topic']['title']} {item['topic']['prompt']}"
    first, second = (MODEL.score(asked, item["texts"][name]) for name in ("first_report", "second_report"))
    said = {"rationale": f"{first:.3f} against {second:.3f}", "winner": "first" if first >= second else "second"}
    return {"judgments": [{"criterion": criterion["id"], **said} for criterion in item["criteria"]]}

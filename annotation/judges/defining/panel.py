"""Several judges as one derived rater: their verdicts are votes. A panel makes no calls. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from annotation.judges.defining.judge_file import PanelDefinition

DERIVED = " [panel]"  # ends the name of every panel, wherever it is printed
OF_THE_ITEM = (
    "item_id", "criterion", "cluster_id", "system_a", "system_b", "category", "len_a", "len_b", "tag", "weight",
    "beside", "claim",
)  # fmt: skip


@dataclass(frozen=True)
class Decision:
    """What the votes come to: `ok` with a verdict, else `missing`.

    `share`: of the votes, for that verdict, or for the leading one where none has a majority, 0 to 1; None without a
    quorum.
    """

    status: str
    label: str | None
    share: float | None


UNDECIDED = Decision("missing", None, None)


def decide(
    votes: Mapping[str, Sequence[str | None]], weights: Mapping[str, float], *, allow_tie: bool = False
) -> Decision:
    """More than half of the valid votes, if at least half of the members gave one; the members' order is nothing.

    `votes`: each member's answers to one question, over its passes and repeats, None where unusable; a member's weight
    is shared among its answers, asked and unusable alike. A member of weight 0 has no vote and counts in no quorum.
    Without a majority: `tie` where ties are allowed (its share is what voted so), else `missing`; never the first vote.
    """
    voters = [member for member in votes if weights[member] > 0]
    present = [member for member in voters if any(answer is not None for answer in votes[member])]
    if not present or 2 * len(present) < len(voters):
        return UNDECIDED
    count: dict[str, Fraction] = defaultdict(Fraction)  # exact: three thirds are one vote
    for member in present:
        for answer in votes[member]:
            if answer is not None:
                count[answer] += Fraction(weights[member]) / len(votes[member])
    valid = sum(count.values(), Fraction())
    winner = max(count, key=lambda label: count[label])
    if 2 * count[winner] <= valid:
        if not allow_tie:
            return Decision("missing", None, float(count[winner] / valid))
        winner = "tie"
    return Decision("ok", winner, float(count[winner] / valid))


def panel_verdicts(
    verdicts: pd.DataFrame, panel: PanelDefinition, weights: Mapping[str, float], *, allow_tie: bool = False,
    learned: Mapping[tuple[str, str], Decision] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The panel's rows, with the columns of `verdicts` (see `load_verdicts`): one per item and criterion.

    Votes are counted over both orders and all repeats of each member, so a row has no presentation of its own;
    `confidence` is their share. Seconds and costs are sums over all members, empty where one is unknown. Returns no row
    of an item in `unasked_items`. `learned`: decisions by (item, criterion) that were made otherwise than by counting.
    """
    asked = verdicts[(verdicts["rater_kind"] == "judge") & verdicts["rater_id"].isin(panel.members)]
    asked = asked[~asked["item_id"].isin(unasked_items(verdicts, panel))]
    by_question: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in asked.to_dict("records"):
        by_question[row["item_id"], row["criterion"]].append({str(name): value for name, value in row.items()})
    rows = [
        _row(panel, rows, weights, allow_tie, None if learned is None else learned.get(place, UNDECIDED))
        for place, rows in sorted(by_question.items())
    ]
    made = pd.DataFrame(rows, columns=list(dict.fromkeys((*verdicts.columns, "confidence"))))
    for column in {"len_a", "len_b", "seconds", "cost_usd", "weight", "confidence"} & {*made}:
        made[column] = pd.to_numeric(made[column])
    return made


def unasked_items(verdicts: pd.DataFrame, panel: PanelDefinition) -> set[str]:
    """The items of some members that others have no row of, as those on topics that a member was shown: what is decided
    there, and what it costs, is another panel's. A member without any row was not run yet, and lacks nothing."""
    asked = verdicts[(verdicts["rater_kind"] == "judge") & verdicts["rater_id"].isin(panel.members)]
    members = asked[["item_id", "rater_id"]].drop_duplicates()["item_id"].value_counts()
    return {*members.index[members < asked["rater_id"].nunique()]}


def _row(
    panel: PanelDefinition, rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float], allow_tie: bool,
    learned: Decision | None,
) -> dict[str, Any]:  # fmt: skip
    votes: dict[str, list[str | None]] = {member: [] for member in panel.members}
    for row in rows:
        votes[row["rater_id"]].append(row["label"] if row["status"] == "ok" else None)
    decision = learned or decide(votes, weights, allow_tie=allow_tie)
    said = "; ".join(f"{member} {', '.join(answer or '–' for answer in votes[member])}" for member in panel.members)
    share = "no majority"
    if decision.status == "ok" and decision.share is not None:
        share = f"{100 * decision.share:.0f} % {'of the votes' if learned is None else 'likely'}"
    return {name: rows[0][name] for name in OF_THE_ITEM if name in rows[0]} | {
        "rater_id": f"{panel.name}{DERIVED}",
        "rater_kind": "judge",
        "label": decision.label,
        "presentation": None,
        "run": 1,
        "pass_no": 1,
        "seconds": _sum(row["seconds"] for row in rows),
        "cost_usd": _sum(row["cost_usd"] for row in rows),
        "status": decision.status,
        "rationale": f"{share}: {said}",
        "evidence": "",
        "confidence": decision.share,
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None or value != value for value in known) else float(sum(v for v in known if v))

"""A model of people's answers from judges': no label of a topic reaches what is said about that topic."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.comparing.learned_votes import learned_votes

MEMBERS = ("good", "bad-1", "bad-2")


def panel_study(
    seed: int = 0, topics: int = 24, *, good: float = 0.85, bad: float = 0.6, pairs: bool = True
) -> pd.DataFrame:
    """Two questions a topic and one annotator; the two bad judges always say the same."""
    rng = np.random.default_rng(seed)
    words = np.array(["A", "B"] if pairs else ["no", "yes"])
    truth = rng.random(2 * topics) < 0.5
    together = np.where(rng.random(len(truth)) < bad, truth, ~truth)
    said = {
        "ann": truth, "good": np.where(rng.random(len(truth)) < good, truth, ~truth),
        "bad-1": together, "bad-2": together,
    }  # fmt: skip
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "item_id": [f"item-{number:05}" for number in range(len(truth))],
                    "criterion": "c",
                    "cluster_id": [f"t{number // 2:02}" for number in range(len(truth))],
                    "rater_id": rater,
                    "rater_kind": "human" if rater == "ann" else "judge",
                    "label": words[given.astype(int)],
                    "status": "ok",
                }
            )
            for rater, given in said.items()
        ],
        ignore_index=True,
    )


def right(frame: pd.DataFrame, seed: int = 0, *, pairs: bool = True) -> float:
    """Share of the annotator's answers that are the model's."""
    found = learned_votes(frame, MEMBERS, seed, pairs=pairs).votes
    truth = frame[frame["rater_id"] == "ann"].set_index("item_id")["label"]
    return float((found["label"].to_numpy() == truth[found["item_id"]].to_numpy()).mean())


@pytest.mark.parametrize("pairs", [True, False])
def test_a_good_judge_outweighs_two_that_err_together_where_a_majority_follows_them(pairs: bool) -> None:
    frames = [panel_study(seed, 40, pairs=pairs) for seed in range(2)]
    assert np.mean([right(frame) for frame in frames]) > 0.8
    weights = learned_votes(frames[0], MEMBERS, pairs=True).weights
    assert weights["good"] > weights["bad-1"] + weights["bad-2"]
    assert weights["bad-1"] == pytest.approx(weights["bad-2"], abs=1e-3)


def test_judges_that_know_nothing_are_not_made_to_agree() -> None:
    found = [right(panel_study(seed, 16, good=0.5, bad=0.5)) for seed in range(12)]
    assert np.mean(found) < 0.55, "fitted on the very topics it would be far above one half"


def test_no_label_of_a_topic_reaches_what_is_said_about_it() -> None:
    frame = panel_study(1)
    before = learned_votes(frame, MEMBERS, pairs=True).votes.set_index("item_id")
    turned = frame.copy()
    mine = (turned["cluster_id"] == "t03") & (turned["rater_id"] == "ann")
    turned.loc[mine, "label"] = turned.loc[mine, "label"].map({"A": "B", "B": "A"})
    after = learned_votes(turned, MEMBERS, pairs=True).votes.set_index("item_id")
    of_topic = ["item-00006", "item-00007"]
    pd.testing.assert_frame_equal(before.loc[of_topic], after.loc[of_topic])
    assert not before["share"].equals(after["share"]), "others are learnt from it"


def test_pairs_are_answered_alike_whichever_report_is_called_a() -> None:
    frame = panel_study(2)
    turned = frame.assign(label=frame["label"].map({"A": "B", "B": "A"}))
    one, other = (learned_votes(table, MEMBERS, pairs=True).votes for table in (frame, turned))
    assert one["label"].map({"A": "B", "B": "A"}).tolist() == other["label"].tolist()
    np.testing.assert_allclose(one["share"], other["share"], atol=1e-6)


def test_statements_whose_labels_are_called_a_and_b_are_no_sides_of_a_pair() -> None:
    """Judges that know nothing: what people mostly say is all that can be learnt, and of sides there is no such thing."""
    frame = panel_study(4, good=0.5, bad=0.5)
    people = frame["rater_kind"] == "human"
    frame.loc[people, "label"] = np.where(np.arange(people.sum()) % 5 == 0, "B", "A")
    assert right(frame, pairs=False) > 0.7
    assert right(frame) < 0.7


def test_topics_without_labels_are_answered_and_a_question_nobody_answered_is_not() -> None:
    frame = panel_study(3)
    frame = frame[~((frame["rater_id"] == "ann") & (frame["cluster_id"] == "t00"))]
    judges = frame["rater_kind"] == "judge"
    frame.loc[judges & (frame["item_id"] == "item-00001"), ["status", "label"]] = ["missing", None]
    found = learned_votes(frame, MEMBERS, pairs=True).votes
    assert "item-00000" in set(found["item_id"])
    assert "item-00001" not in set(found["item_id"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda frame: frame[frame["cluster_id"] < "t04"], "labels of 4 clusters are too few"),
        (lambda frame: frame.assign(label=frame["label"].where(frame["rater_id"] != "ann", "A")), "one answer alone"),
    ],
)
def test_where_no_model_can_be_fitted_it_says_why(change: object, why: str) -> None:
    found = learned_votes(change(panel_study()), MEMBERS, pairs=True)
    assert found.votes.empty
    assert why in found.note

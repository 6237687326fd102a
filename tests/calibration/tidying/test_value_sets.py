"""Words that people write for an answer are read where one reading is left; else the sentence asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from calibration.tidying.raters import bare_name, crossed, kind_of_name
from calibration.tidying.readings import in_our_words
from calibration.tidying.value_sets import recognise

READ: list[tuple[Sequence[str], bool, str, Mapping[str, str]]] = [
    (["A", "B", "tie"], True, "verdicts", {}),
    (["model_a", "model_b", "tie (bothbad)"], True, "verdicts", {"model_a": "A", "model_b": "B", "tie (bothbad)": "tie"}),
    (["[[A]]", "[[B]]", "[[C]]"], False, "verdicts", {"[[A]]": "A", "[[B]]": "B", "[[C]]": "tie"}),
    (["A>>B", "A>B", "A=B", "B>A", "B>>A"], True, "verdicts",
     {"A>>B": "A", "A>B": "A", "A=B": "tie", "B>A": "B", "B>>A": "B"}),
    (["A < B", "A ≫ B"], True, "verdicts", {"A < B": "B", "A ≫ B": "A"}),
    (["Assistant A", "assistant-b", "Neither"], True, "verdicts", {"Assistant A": "A", "assistant-b": "B", "Neither": "tie"}),
    (["Response 1 is much better", "Response 2 wins"], True, "verdicts",
     {"Response 1 is much better": "A", "Response 2 wins": "B"}),
    (["Modell A ist besser", "Antwort B", "modelo B"], True, "verdicts",
     {"Modell A ist besser": "A", "Antwort B": "B", "modelo B": "B"}),
    (["Answer: B", "the winner is model_a", "B is better because A lacks detail"], True, "verdicts",
     {"Answer: B": "B", "the winner is model_a": "A", "B is better because A lacks detail": "B"}),
    (["win", "lose", "N/A"], True, "verdicts", {"win": "A", "lose": "B", "N/A": "not_applicable"}),
    (["1.0", "2.0"], True, "verdicts", {"1.0": "A", "2.0": "B"}),
    (["left", "Right side", "same"], True, "sides", {"left": "A", "Right side": "B", "same": "tie"}),
    (["the first one", "second"], True, "sides", {"the first one": "A", "second": "B"}),
    (["A", "B", "parse error", "-"], True, "verdicts", {"parse error": "invalid", "-": "missing"}),
    (["1", "2", "3", "4", "5"], False, "scores", {}),
    (["0", "1"], False, "scores", {}),
    (["3", "4", "NaN"], False, "scores", {"NaN": "missing"}),
    (["3", "4", "n.a.", "k. A."], False, "scores", {"n.a.": "not_applicable", "k. A.": "missing"}),
    (["valid", "invalid", "null"], False, "words", {"null": "missing"}),
    (["4 - good", "5: very good", "2"], False, "scores", {"4 - good": "4", "5: very good": "5"}),
    (["good (4)", "bad (1)"], False, "scores", {"good (4)": "4", "bad (1)": "1"}),
    (["4/5", "Final score: 3", "Rating: 2/5"], False, "scores", {"4/5": "4", "Final score: 3": "3", "Rating: 2/5": "2"}),
    (["4 stars", "★☆☆"], False, "scores", {"4 stars": "4", "★☆☆": "1"}),
    (["85%", "90 %"], False, "scores", {}),
    (["Yes", "yes", "No"], False, "words", {"Yes": "yes"}),
    (["TRUE", "1", "no", "0"], False, "words", {"TRUE": "yes", "1": "yes", "0": "no"}),
    (["Supported", "Refuted"], False, "words", {}),
    (["4/5", "3/10"], False, "words", {}),  # out of two wholes: no one scale
]  # fmt: skip


@pytest.mark.parametrize(("words", "is_paired", "read_as", "meant"), READ, ids=["-".join(one[0]) for one in READ])
def test_a_set_of_words_is_read(words: Sequence[str], is_paired: bool, read_as: str, meant: Mapping[str, str]) -> None:
    read = recognise(words, "answer", is_paired)
    assert (read.answers.read_as, dict(read.answers.words), read.ask) == (read_as, meant, "")


@pytest.mark.parametrize(
    ("words", "is_paired", "sentence"),
    [
        (["1", "2"], False, "--labels-are scores, or say what they mean: --map-label 1=A,2=B"),
        (["0", "1", "2"], False, "--labels-are scores"),
        (["0", "1", "0.5"], True, "say what they mean: --map-label 1=A,0.5=tie,0=B, or as they were meant"),
        (["-2", "-1", "0", "1"], True, "--map-label 1=A,0=tie,-1=B,-2=B, or"),
        (["0", "1", "2"], True, "--map-label 1=A,2=B,0=tie, or"),  # or classes: 0 is A
        (["1", "2", "3", "4", "5"], True, "a number is no verdict on a pair"),
        (
            ["Stage 0", "Stage 1", "Stage 2", "Stage 3a"],
            False,
            "'Stage 3a' none of them: --map-label 'Stage 0=0,Stage 1=1,Stage 2=2,Stage 3a=missing' where",
        ),
        (["Schweregrad 1", "Schweregrad 2", "Schweregrad 3"], False, "Schweregrad 2=2,Schweregrad 3=3' where"),
        (["class1", "class2", "class3", "class10"], False, ""),
        (["Team 1", "Team 2", "Team 3", "other"], False, ""),
        (["Typ 1", "Typ 2", "gut", "schlecht", "mild"], False, ""),
    ],
)
def test_numbers_of_two_readings_are_asked_about(words: Sequence[str], is_paired: bool, sentence: str) -> None:
    ask = recognise(words, "answer", is_paired).ask
    assert sentence in ask
    assert bool(sentence) is bool(ask)


def test_what_is_called_a_score_is_one_and_what_is_said_goes_before_what_is_found() -> None:
    assert recognise(["1", "2"], "rating", False).ask == ""
    assert recognise(["1", "2"], "answer", False, "scores").ask == ""
    assert recognise(["left", "right"], "answer", True, "sides").answers.read_as == "sides"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("annotator_1", "human"), ("Expert 17", "human"), ("human", "human"), ("author_2", "human"), ("ann3", "human"),
        ("gpt-4", "judge"), ("meta-llama/Llama-3-70B", "judge"), ("judge", "judge"), ("llm_judge", "judge"),
        ("claude_v1", "judge"), ("Claude Opus", "judge"), ("Claude Dupont", ""), ("judges.mini", "judge"), ("o3-mini", "judge"), ("ada", ""), ("A1XYZ", ""), ("hannah", ""), ("airport", ""),
        ("Anna", ""), ("Anne", ""), ("annotatorA", "human"), ("Prüferin 1", "human"), ("KI-Richter", "judge"),
        ("AI-Prüfer", "judge"), ("Richter", ""), ("revisora", "human"), ("juez", ""), ("juez_ia", "judge"),
        ("标注员甲", "human"), ("人工评分", "human"), ("评审员2", "human"), ("豆包大模型", "judge"), ("通义千问-max", "judge"),
        ("Gemma", ""), ("gemma-2-9b", "judge"), ("Kimi", ""), ("kimi-k2", "judge"), ("Bernie", ""), ("reviewer_ai", "judge"),
        ("student_model", ""), ("human_judge", "human"), ("humana", "human"),
        ("Ai Tanaka", ""), ("Tanaka Ai", ""), ("ai_tanaka", ""), ("AI TANAKA", ""), ("Ai", ""), ("ai", "judge"),
        ("AI", "judge"), ("ai_2", "judge"), ("ai_grader", "judge"), ("Prüfer-AI", "judge"), ("AI reviewer", "judge"),
        ("Ki-young Lee", ""), ("Yu Ki", ""), ("Lee KI", ""), ("Ia Smith", ""), ("Annotator Ki", ""), ("KI HOON", ""),
        ("KI", "judge"), ("KI 2", "judge"), ("Prüfer_KI", "judge"), ("ki_richter", "judge"), ("modèle ia", "judge"),
    ],
)  # fmt: skip
def test_a_name_says_what_a_rater_is_or_nothing_does(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


def test_heads_of_a_wide_table_hold_raters_and_criteria() -> None:
    assert [bare_name(one) for one in ("gpt4_score", "label.human", "ann_1", "score")] == [
        "gpt4",
        "human",
        "ann_1",
        "score",
    ]
    found = crossed(["ann1_style", "ann1_depth", "gpt-4_style", "gpt-4_depth"])
    assert [(one.rater_id, one.criterion) for one in found] == [
        ("ann1", "style"), ("ann1", "depth"), ("gpt-4", "style"), ("gpt-4", "depth"),
    ]  # fmt: skip
    assert crossed(["style.ann1", "style.gpt-4", "depth.ann1", "depth.gpt-4"])[1].criterion == "style"
    nested = [f"ratings.ann1.{one}" for one in ("Style", "Depth")] + [
        f"judgments.gpt.scores.{one}" for one in ("style", "depth")
    ]
    assert [(one.rater_id, one.criterion) for one in crossed(nested)] == [
        ("ann1", "Style"), ("ann1", "Depth"), ("gpt", "Style"), ("gpt", "Depth"),
    ]  # fmt: skip
    assert crossed(["ann1_style", "gpt_depth"]) == (), "not every rater with every criterion"
    nobody = ["ada_style", "ada_depth", "ben_style", "ben_depth"]
    assert crossed(nobody) == (), "no name says who answers"
    assert [one.rater_id for one in crossed(nobody, ["ada"])] == ["ada", "ada", "ben", "ben"], "--people does"


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("A B tie", True),
        ("A B tie not_applicable", True),  # spelt as we do, so there is nothing to translate
        ("A B n/a tie_inconsistent unparsed", True),
        ("A B draw", False),
        ("left right", False),
        ("1 2", False),
    ],
)
def test_what_is_spelt_as_ours_is_not_read_anew(words: str, ours: bool) -> None:
    frame = pd.DataFrame({"criterion": "c", "label": words.split(), "system_a": "s", "system_b": "t"})
    assert in_our_words(frame) is ours

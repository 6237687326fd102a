"""Replies become answers or failures with a status; a failure never becomes a label value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.judges.replies.reply import (
    better,
    needs_asking_again,
    parse_reply,
    problems,
    read_probe_answer,
    read_score,
    read_winner,
    valid,
)
from annotation.labels.answers import Answer
from annotation.protocol import Scale

CODES = ("a", "b", "c")
PAIR = ("left", "right")
WITH_TIE = ("left", "right", "tie", "not_applicable")


def entry(code: str, winner: Any = "first", **more: Any) -> dict[str, Any]:
    return {"criterion": code, "rationale": "because", "winner": winner, **more}


def reply(*entries: dict[str, Any]) -> str:
    return json.dumps({"judgments": list(entries)})


CLEAN = reply(entry("a"), entry("b", "second"), entry("c"))


def outcome(raw: str, choices: tuple[str, ...] = PAIR, **more: Any) -> list[tuple[str, str | None]]:
    return [(answer.status, answer.choice) for answer in parse_reply(raw, CODES, choices, **more)]


GOOD = [("ok", "left"), ("ok", "right"), ("ok", "left")]


def test_a_clean_reply_is_read_in_the_order_asked_without_flags() -> None:
    shuffled = reply(entry("c"), entry("b", "second"), entry("a"))
    answers = parse_reply(shuffled, CODES, PAIR)
    assert [(a.criterion, a.choice, a.rationale, a.flags) for a in answers] == [
        ("a", "left", "because", ()),
        ("b", "right", "because", ()),
        ("c", "left", "because", ()),
    ]


@pytest.mark.parametrize(
    ("raw", "flags"),
    [
        ("```json\n" + CLEAN + "\n```", ()),
        ("Sure! Here is my judgment: " + CLEAN + " Hope this helps.", ()),
        ("I weighed {both} and [1] well.\n" + CLEAN, ()),
        ("\ufeff" + CLEAN + "\n", ()),
        (json.dumps(json.loads(CLEAN)["judgments"]), ("coerced",)),
        ("```json\n" + CLEAN[:-1] + ",}\n```", ("repaired",)),
        (CLEAN.replace('"', "'"), ("repaired",)),
        (CLEAN.replace("}", "", 1), ("repaired",)),
        (CLEAN[:-2], ("repaired",)),
    ],
)
def test_wrapped_and_malformed_replies_are_restored_and_marked(raw: str, flags: tuple[str, ...]) -> None:
    answers = parse_reply(raw, CODES, PAIR)
    assert [(a.status, a.choice) for a in answers] == GOOD
    assert {a.flags for a in answers} == {flags}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "unparsable"),
        ("The first report is better on a, the second on b.", "unparsable"),
        ("[[[[" * 20_000, "unparsable"),
        ("9" * 5000, "unparsable"),
        ('{"result": []}', "wrong_shape"),
        ("3", "wrong_shape"),
        ('{"judgments": {"a": "first"}}', "wrong_shape"),
        ('{"judgments": [{"criterion": "a", "winner": "first", "winner": "second"}]}', "duplicate_key"),
        ('Well: {"judgments": [], "judgments": []}', "duplicate_key"),
        # json-repair alone would let the second winner win
        ('{"judgments": [{"criterion": "a", "winner": "first", "winner": "second",}]}', "unparsable"),
        ('{"judgments": [{"criterion": "a", "winner": NaN}]}', "unknown_value"),
    ],
)
def test_what_cannot_be_read_is_invalid_for_every_criterion(raw: str, reason: str) -> None:
    answers = parse_reply(raw, ("a",), PAIR)
    assert [(a.status, a.choice, a.flags[0]) for a in answers] in (
        [("invalid", None, reason)],
        [("invalid", None, "unparsable")],
    )


def test_the_table_of_the_published_evaluator() -> None:
    """SEEDS.md section 2, row by row, over its 39 criteria in categories of 21, 8 and 10."""
    codes = [f"k_{n}" for n in range(39)]
    winners = {code: "second" if n % 2 else "first" for n, code in enumerate(codes)}

    def read(text: str) -> list[Answer]:
        return list(parse_reply(text, codes, PAIR))

    not_json = read("I think the second article is the better one throughout.")
    assert [a.status for a in not_json] == ["invalid"] * 39
    as_string = read(reply(*(entry(code, "2") for code in codes)))
    assert [(a.status, a.choice, a.flags) for a in as_string] == [("ok", "right", ("coerced",))] * 39
    groups = (codes[:21], codes[21:29], codes[29:])
    answers = [a for g in groups for a in parse_reply(reply(*(entry(c, "2") for c in g[:-3])), g, PAIR)]
    assert [sum(a.status == status for a in answers) for status in ("ok", "missing")] == [30, 9]
    by_index = read(reply(*(entry(str(n), winners[code]) for n, code in enumerate(codes))))
    assert [a.status for a in by_index] == ["missing"] * 39
    by_number = read(json.dumps({"judgments": [{"criterion": n, "winner": 1} for n in range(39)]}))
    assert [a.status for a in by_number] == ["missing"] * 39
    bare = read(json.dumps([entry(code, winners[code]) for code in codes]))
    assert [a.choice for a in bare] == [{"first": "left", "second": "right"}[winners[code]] for code in codes]


@pytest.mark.parametrize(
    ("value", "choices", "expected"),
    [
        ("first", PAIR, ("left", False, "")),
        ("second", PAIR, ("right", False, "")),
        (" First ", PAIR, ("left", True, "")),
        ("SECOND REPORT", PAIR, ("right", True, "")),
        ("first  report", PAIR, ("left", True, "")),
        ("A", PAIR, ("left", True, "")),
        ("b", PAIR, ("right", True, "")),
        ("1", PAIR, ("left", True, "")),
        (2, PAIR, ("right", True, "")),
        ("left", PAIR, ("left", True, "")),
        ("tie", PAIR, (None, False, "not_allowed")),
        ("tie", WITH_TIE, ("tie", False, "")),
        ("Not applicable", WITH_TIE, ("not_applicable", True, "")),
        ("not_applicable", PAIR, (None, False, "not_allowed")),
        ("draw", WITH_TIE, (None, False, "unknown_value")),
        ("first, I think", PAIR, (None, False, "unknown_value")),
        ("first or second", PAIR, (None, False, "unknown_value")),
        (0, PAIR, (None, False, "unknown_value")),
        (3, PAIR, (None, False, "unknown_value")),
        (1.0, PAIR, (None, False, "unknown_value")),
        (True, PAIR, (None, False, "unknown_value")),
        (["first"], PAIR, (None, False, "unknown_value")),
        (None, PAIR, (None, False, "absent")),
    ],
)
def test_a_winner_is_an_allowed_word_or_nothing(value: Any, choices: tuple[str, ...], expected: Any) -> None:
    read = read_winner(value, choices)
    assert (read.choice, read.coerced, read.problem) == expected


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [
        (7, Scale(min=0, max=10), ("7", False, "")),
        ("7", Scale(min=0, max=10), ("7", True, "")),
        (7.0, Scale(min=0, max=10), ("7", False, "")),
        (4.9, Scale(min=1, max=10), (None, False, "off_step")),
        (4.5, Scale(min=1, max=10, step=0.5), ("4.5", False, "")),
        (4.93, Scale(min=0, max=10, step=0), ("4.93", False, "")),
        (85, Scale(min=1, max=10), (None, False, "out_of_range")),
        (10**400, Scale(min=1, max=10), (None, False, "out_of_range")),
        ("seven", Scale(min=1, max=10), (None, False, "unknown_value")),
        ("this 2024 report is poor, I give 3", Scale(min=1, max=10), (None, False, "unknown_value")),
        (True, Scale(min=0, max=10), (None, False, "unknown_value")),
        (float("nan"), Scale(min=0, max=10), (None, False, "unknown_value")),
    ],
)
def test_a_score_is_never_clamped_floored_or_fished_out_of_prose(value: Any, scale: Scale, expected: Any) -> None:
    read = read_score(value, scale)
    assert (read.choice, read.coerced, read.problem) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", ("true", False)),
        ("FALSE", ("false", True)),
        (False, ("false", True)),
        (True, ("true", True)),
        (0.5, (".5", True)),
        (1, ("1", True)),
        ("yes", (None, False)),
        (0, (None, False)),
    ],
)
def test_the_word_false_is_false(value: Any, expected: Any) -> None:
    read = read_probe_answer(value, ("true", "false", "1", ".5"))
    assert (read.choice, read.coerced) == expected


def test_duplicates_absences_and_empty_values_have_their_own_status() -> None:
    raw = reply(entry("a"), entry("a"), {"criterion": "b", "rationale": "x"}, entry("zz"))
    assert [(a.status, a.flags) for a in parse_reply(raw, CODES, PAIR)] == [
        ("invalid", ("duplicate",)),
        ("invalid", ("no_value",)),
        ("missing", ("absent",)),
    ]
    assert outcome(reply(entry("a", "tie"), entry("b"), entry("c")))[0] == ("invalid", None)


@pytest.mark.parametrize(
    ("raw", "more", "status"),
    [
        (CLEAN, {"finish_reason": "length"}, "truncated"),
        (CLEAN[:40], {"finish_reason": "length"}, "truncated"),
        (CLEAN, {"finish_reason": "content_filter"}, "refused"),
        ("no", {"refused": True}, "refused"),
        ("I'm sorry, but I can't help with comparing these reports.", {}, "refused"),
        ("I cannot judge these texts.", {}, "refused"),
        ("Unfortunately, I am not able to do this.", {}, "refused"),
        ("The first is better.", {}, "invalid"),
    ],
)
def test_truncation_and_refusal_are_not_labels(raw: str, more: dict[str, Any], status: str) -> None:
    assert outcome(raw, **more) == [(status, None)] * 3


def test_a_rationale_is_kept_as_text_that_a_database_can_hold() -> None:
    raw = '{"judgments": [{"criterion": "a", "rationale": "n\\u0000 \\ud800 é", "winner": "first"}]}'
    (answer,) = parse_reply(raw, ("a",), PAIR)
    assert answer.rationale == "n ? é"
    (none,) = parse_reply(reply(entry("a", rationale=["x"])), ("a",), PAIR)
    assert (none.status, none.flags) == ("ok", ("rationale_missing",))


@pytest.mark.parametrize(("said", "kept"), [(3, 3), ("3", None), (6, None), (True, None), (None, None)])
def test_confidence_is_kept_where_it_is_asked_and_in_range(said: Any, kept: int | None) -> None:
    (answer,) = parse_reply(reply(entry("a", confidence=said)), ("a",), PAIR, confidence=True)
    assert (answer.status, answer.confidence) == ("ok", kept)
    assert parse_reply(reply(entry("a", confidence=3)), ("a",), PAIR)[0].confidence is None


def test_the_better_of_two_replies_is_used_whole() -> None:
    two_right = parse_reply(reply(entry("a", "second"), entry("b", "second")), CODES, PAIR)
    one_right = parse_reply(reply(entry("c")), CODES, PAIR)
    all_right = parse_reply(CLEAN, CODES, PAIR)
    assert better(two_right, one_right) == two_right
    assert better(two_right, two_right) == two_right, "level: the earlier"
    assert [(a.choice, a.flags) for a in better(two_right, all_right)] == [(c, ("reasked",)) for _, c in GOOD]
    assert [needs_asking_again(r) for r in (two_right, all_right)] == [True, False]


def test_a_judge_is_told_what_was_wrong() -> None:
    assert problems(parse_reply(reply(entry("a"), entry("b", "maybe")), CODES, PAIR)) == (
        "b: the winner is not one of the allowed answers",
        "c: there is no entry for it",
    )
    assert problems(parse_reply("nonsense", CODES, PAIR)) == ("it is not one JSON object",)


@given(st.text() | st.text(alphabet='{}[]",:abcfirstwinerjudgmo \\'), st.sampled_from([None, "stop", "length"]))
def test_any_text_gives_one_answer_per_criterion_and_no_answer_without_ok(raw: str, finish: str | None) -> None:
    answers = parse_reply(raw, CODES, PAIR, finish_reason=finish)
    assert [a.criterion for a in answers] == list(CODES)
    assert all((a.status == "ok") == (a.choice is not None) for a in answers)
    assert valid(answers) == sum(a.choice in PAIR for a in answers)


@given(st.dictionaries(st.sampled_from(CODES), st.sampled_from(["first", "second"])), st.integers(0, 400))
def test_a_cut_reply_never_gains_or_changes_an_answer(winners: dict[str, str], cut: int) -> None:
    whole = reply(*(entry(code, winner) for code, winner in winners.items()))
    stored = {"first": "left", "second": "right"}
    for answer in parse_reply(whole[:cut], CODES, PAIR):
        assert answer.choice is None or answer.choice == stored[winners[answer.criterion]]

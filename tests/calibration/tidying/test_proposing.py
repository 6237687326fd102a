"""A mapping for a table of any head: what is read, what is asked, and that labels come out as they were given."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.table.checking import check_verdicts
from calibration.table.other_languages import HEADS, language_of
from calibration.table.roles import NAMES, roles_of
from calibration.tidying.applying import tidy
from calibration.tidying.found import without_totals
from calibration.tidying.keys import WHEN, smallest_key
from calibration.tidying.mapping import Answers, Asked, LabelMap, Spread
from calibration.tidying.proposing import propose
from calibration.tidying.what_was_read import block, columns_read, without_words


def frame(text: str) -> pd.DataFrame:
    """A table of text, written with blanks between its cells."""
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return pd.DataFrame(rows, columns=head, dtype="str")


VOTES = """
question_id model_a model_b turn judge    winner
81          x       y       1    expert_1 model_a
81          x       y       1    gpt-4    model_b
81          x       y       2    expert_1 tie
81          x       z       1    expert_1 model_b
82          y       x       1    expert_1 model_a
82          x       y       1    gpt-4    model_b
"""


def test_the_key_is_the_smallest_set_of_columns_without_repeats() -> None:
    found = propose(frame(VOTES))
    assert found.problems == ()
    assert found.mapping.columns["item_id"] == ("question_id", "model_a", "model_b", "turn")
    made = tidy(frame(VOTES), found.mapping)
    assert len(check_verdicts(made.labels)) == 6
    assert made.labels["item_id"].nunique() == 4
    draw, places = random.Random(5), ("0", "1", "2")
    parts = {"sentence": places, "language": ("de", "en"), "temperature": ("0.0", "0.7"), "finding": ("0", "1")}
    for head, words in parts.items():
        rows = [(f"t{topic}", word, *draw.choices(("yes", "no"), k=3)) for topic in range(8) for word in words]
        wide = pd.DataFrame(rows, columns=["topic", head, "Anna", "Ben", "gpt-4o"]).assign(claude="no")
        for table in (wide, wide.melt(["topic", head], var_name="rater", value_name="label")):
            found = propose(table, Asked(people=("Anna", "Ben")))
            assert found.problems == (), "every rater but one that says the same of all answered each row otherwise"
            assert found.mapping.columns["item_id"] == ("topic", head)


@pytest.mark.parametrize(
    ("head", "of_people", "of_judge", "asks"),
    [
        ("seed", ["0"], ["0", "1", "2"], "'seed' alone tells apart what judges answered several times"),
        ("temperature", ["0.0"], ["0.0", "0.7"], "--map presentation=temperature where it is the order shown"),
        ("prompt_version", ["-"], ["p1", "p2"], "--map item_id=question+prompt_version where it is part of what"),
        ("shown", ["AB", "BA"], ["AB", "BA"], "'shown' says that some pairs were shown turned"),
        ("display_order", ["original"], ["original", "reversed"], "'display_order' says that some pairs were shown"),
        ("order", ["0", "1"], ["0", "1"], "'order' says that some pairs were shown turned"),
    ],
)
def test_what_tells_only_judges_answers_apart_is_no_part_of_an_item_unasked(
    head: str, of_people: list[str], of_judge: list[str], asks: str
) -> None:
    rows = [
        (f"q{at}", rater, call, "AB"[at % 2])
        for at in range(4)
        for rater, calls in (
            ("ann_1", of_people[at % 2 :][:1] or of_people),
            ("ann_2", of_people[:1]),
            ("gpt-4o", of_judge),
        )
        for call in calls
    ]
    table = pd.DataFrame(rows, columns=["question", "rater", head, "label"]).replace("-", "")
    assert asks in " ".join(propose(table).problems)
    is_order = head in ("shown", "display_order", "order")
    asked = Asked(labels_are="verdicts") if is_order else Asked(columns={"run": (head,)})
    found = propose(table, asked)
    made = tidy(table, found.mapping).labels
    assert (found.problems, made["item_id"].nunique(), len(made)) == ((), 4, len(rows))
    check_verdicts(made)
    said = Asked(columns={"item_id": ("question", head)})
    assert is_order or head == "prompt_version" or not propose(table, said).problems


@pytest.mark.parametrize(
    ("people", "judge", "read"),
    [
        (("ja", "nein"), ("yes", "no"), ["no", "no", "no", "yes", "yes", "yes"]),
        (("good", "bad"), ("PASS", "FAIL"), "no word in common: --map-label FAIL=bad,PASS=good says which is which"),
        (("safe", "unsafe"), ("benign", "harmful"), "'benign', 'harmful', no word in common: --map-label benign=… ("),
        (("unsafe", "unclear"), ("yes", "no"), "no word in common: --map-label no=… ("),
        (("supported", "refuted"), ("Supports", "Refutes"), "--map-label Refutes=refuted,Supports=supported says"),
        (("correct", "partly"), ("incorrect", "wrong"), "--map-label incorrect=… ("),
        (("good", "bad"), ("good", "fine"), ["bad", "bad", "fine", "good", "good", "good"]),
    ],
)
def test_two_lists_of_words_are_one_language_or_asked_about(
    people: tuple[str, str], judge: tuple[str, str], read: list[str] | str
) -> None:
    table = pd.DataFrame({"item": ["q1", "q2"], "ann_1": people, "ann_2": people, "gpt-4o": judge})
    found = propose(table)
    if isinstance(read, str):
        assert read in " ".join(found.problems)
        assert not propose(table, Asked(labels_are="words")).problems
        assert "PASS" not in judge or not propose(table, Asked(words={"PASS": "good", "FAIL": "bad"})).problems
    else:
        assert sorted(tidy(table, found.mapping).labels["label"]) == read


def test_what_is_called_the_right_answer_is_no_judge_unasked() -> None:
    wide = frame("id vote_1 vote_2 gold gpt-4\n" + "\n".join(f"q{at} A B A B" for at in range(12)))
    people = ("1", "2")
    assert "'gold' is called as the right answer" in " ".join(propose(wide, Asked(people=people)).problems)
    for asked in (
        Asked(people=(*people, "gold")),
        Asked(columns={"rater_id": ("vote_1", "vote_2", "gpt-4")}, people=people),
    ):
        assert not propose(wide, asked).problems
    long = wide.melt("id", var_name="rater", value_name="label")
    assert "without its rows" in " ".join(propose(long, Asked(people=("vote_1", "vote_2"))).problems)


def test_a_judges_column_of_texts_is_not_left_out_without_a_word() -> None:
    said = [f'{{"reason": "of {at}, at some length", "verdict": "A"}}' for at in range(4)]
    table = pd.DataFrame({"id": list("abcd"), "ann_1": list("ABAB"), "ann_2": list("ABBB"), "gpt-4o": said})
    assert "texts: gpt-4o (say so if they are answers" in " ".join(propose(table).problems)


def test_what_tells_only_peoples_answers_apart_is_asked_about_too() -> None:
    rows = [(f"q{at}", who, wave) for at in range(4) for who in ("ann_1", "ann_2", "gpt-4o") for wave in "12"]
    table = pd.DataFrame(
        [(*row, "AB"[at % 2]) for at, row in enumerate(rows)], columns=["question", "rater", "wave", "label"]
    )
    assert "question with wave" in " ".join(propose(table).told), "everybody was asked twice"
    once = table[(table["rater"] != "gpt-4o") | (table["wave"] == "1")]
    assert "'wave' alone tells apart what people answered several times, and no judge" in " ".join(
        propose(once).problems
    )


@pytest.mark.parametrize(
    ("people", "judge", "items"),
    [
        (("001", "002"), ("1", "2"), 2),
        (("12", "13"), ("12.0", "13.0"), 2),
        (("Q1", "q2"), ("q1", "Q2"), 2),
        (("1_1", "1_11"), ("1_1", "11_1"), 3),  # numbers as Python writes them, and other items
        (("100", "9007199254740993"), ("1e2", "9007199254740992"), 4),
        (("1", "01"), ("1.0", "01"), 3),  # two of people's are alike
        (("7", "9"), ("7", "007"), 3),  # and of the judge's
        (("q1", "q2"), ("q3", "q4"), 4),
    ],
)
def test_items_that_a_judge_spells_otherwise_meet_peoples(
    people: tuple[str, str], judge: tuple[str, str], items: int
) -> None:
    rows = [(item, who, "A", f"t{at}") for who in ("ann_1", "ann_2") for at, item in enumerate(people)]
    rows += [(item, "gpt-4o", "B", f"t{at}") for at, item in enumerate(judge)]
    if items == 2:  # another judge, which spells them as people do, says nothing of this one
        rows += [(item, "claude-3", "B", f"t{at}") for at, item in enumerate(people)]
    table = pd.DataFrame(rows, columns=["id", "rater", "label", "topic"])
    made = tidy(table, propose(table).mapping)
    assert made.labels["item_id"].nunique() == items
    assert any("spell in two ways" in one for one in made.told) is (items == 2)
    assert items > 2 or {*made.labels["cluster_id"]} == {"t0", "t1"}
    asks = [one for one in made.told if "no item of a judge is one of people's" in one]
    assert bool(asks) is ({*people}.isdisjoint(judge) and items == 4), "and what names an item on both sides is said"
    assert not asks or "--map item_id=topic where that names" in asks[0]
    check_verdicts(made.labels)


def test_grades_of_schools_and_tables_with_a_row_for_each_rater_are_asked_about_with_what_mends_them() -> None:
    grades = frame("essay ann_1 gpt-4o\n1 A B\n2 C D\n3 F A")
    assert "A=5,B=4,C=3,D=2,F=1 where they are grades" in " ".join(propose(grades).problems)
    turned = frame("rater q1 q2 q3\nann_1 1 3 5\nann_2 2 4 4\ngpt-4o 3 5 4")
    nowhere = pd.DataFrame({"ann_1": ["A", "B", "A"], "gpt-4o": ["B", "B", "A"]})
    assert propose(nowhere).problems == ("no column or set of columns names the items: say which by item_id in --map",)
    assert "--read turned=rater" in " ".join(propose(turned, Asked(labels_are="scores")).problems)


def test_a_status_of_other_tools_is_ours() -> None:
    table = frame("id rater answer status\n1 ann_1 A OK\n1 gpt-4o B done\n2 ann_1 A finished\n2 gpt-4o A refusal")
    made = tidy(table, propose(table).mapping).labels
    assert made["status"].tolist() == ["ok", "ok", "ok", "refused"]


POINTS = "id rater Punkte Status\n" + "\n".join(
    f"{at} {who} {at * 2.5 + place} {'Fehler' if (at, who) == (3, 'gpt-4o') else 'OK'}"
    for at in range(40)
    for place, who in enumerate(("ann_1", "gpt-4o"))
)


@pytest.mark.parametrize(
    ("asked", "asks", "tells"),
    [
        (
            Asked(),
            "'Punkte' may hold them: --map label=Punkte,status=Status --map-label Status:Fehler=invalid (",
            "",
        ),
        (
            Asked(columns={"label": ("Punkte",)}),
            "",
            "1 answer beside 'Fehler' in 'Status', which is not read: --map status=Status --map-label Status:Fehler=invalid",
        ),
        (
            Asked(columns={"label": ("Punkte",), "status": ("Status",)}),
            "'Status' says 'Fehler', which is none of ok, invalid, missing, refused: --map-label Status:Fehler=invalid",
            "",
        ),
        (Asked(columns={"label": ("Punkte",), "status": ("Status",)}, words={"Status:Fehler": "invalid"}), "", ""),
        (Asked(columns={"label": ("Status",)}, words={"Fehler": "answer"}), "", ""),
    ],
)
def test_a_column_that_says_which_calls_failed_is_never_taken_for_the_answers_or_passed_over_in_silence(
    asked: Asked, asks: str, tells: str
) -> None:
    proposal = propose(frame(POINTS), asked)
    assert asks in " ".join(proposal.problems), proposal.problems
    assert bool(asks) is bool(proposal.problems)
    assert tells in " ".join(proposal.told), proposal.told
    assert bool(tells) is ("is not read" in " ".join(proposal.told))
    made = tidy(frame(POINTS), proposal.mapping).labels if not asks else frame(POINTS)[:0]
    lines = block(columns_read(frame(POINTS), frame(POINTS), proposal.mapping, asked), made)
    assert any(one.startswith("'rater' is rater_id (named): ann_1, gpt-4o") for one in lines)
    table = frame(POINTS).assign(comment="Frau Schulz tel 0171")
    shown = columns_read(table, table, propose(table, asked).mapping, asked)
    assert "'comment' is rationale (named): 1 text" in block(shown, made)
    assert "'rater' is rater_id (named)" in without_words(shown)
    if tells:
        assert "'Punkte' is label (mapped): 0 to 98.5, 80 numbers" in lines
        assert "'Status' is unread, and looks like a status (--map status=Status reads it): OK, Fehler" in lines
        assert "row 1 as it was read: item_id 0, rater_id ann_1, criterion overall, label 0.0" in lines
    if asked.words.get("Status:Fehler") == "invalid":
        assert made.loc[made["status"].eq("invalid"), ["item_id", "rater_id"]].to_numpy().tolist() == [["3", "gpt-4o"]]


@pytest.mark.parametrize(
    ("answers", "head", "beside", "asks"),
    [
        (
            ("True", "False"),
            "status",
            ("True", "False"),
            "--map-label status:True=ok,status:False=ok (=invalid where a word says that the call failed",
        ),
        (("pass", "fail"), "status", ("done", "fail"), "--map-label status:fail=invalid ("),
        (("yes", "no"), "status", ("200", "429"), "--map-label status:200=ok,status:429=invalid ("),
        (("yes", "no"), "status", ("ok", "-"), "--map-label status:-=ok ("),
        (("valid", "invalid"), "difficulty", ("1", "2"), ""),
        (("complete", "incomplete"), "year", ("2020", "2021"), ""),
    ],
)
def test_words_of_a_status_are_no_answers_and_an_answer_is_no_status(
    answers: tuple[str, str], head: str, beside: tuple[str, str], asks: str
) -> None:
    table = frame(
        f"item rater label {head}\n"
        + "\n".join(
            f"q{at} {who} {answers[(at + place) % 2]} {beside[who == 'gpt-4o' and at % 3 == 2]}"
            for at in range(6)
            for place, who in enumerate(("ann_1", "ann_2", "gpt-4o"))
        )
    )
    found = propose(table)
    assert asks in " ".join(found.problems)
    assert bool(asks) is bool(found.problems)
    if asks:
        words = {f"{head}:{word}": status for word, status in zip(beside, ("ok", "invalid"), strict=True)}
        made = tidy(table, propose(table, Asked(words=words)).mapping).labels
        assert made["label"].tolist() == table["label"].tolist()
        assert made["status"].eq("invalid").sum() == 2


@pytest.mark.parametrize(
    ("cell", "is_when_told"),
    [("K7", "'K7' (rows 9, 11, the header being row 1)"), ("", "a blank (rows 11"), ("K9", "")],
)
def test_a_column_that_nearly_names_the_items_is_told_with_the_rows_that_keep_it_from_it(
    cell: str, is_when_told: str
) -> None:
    rows = [(f"K{n}", f"ward {n}", n, n % 3, n % 2) for n in range(12)]
    table = pd.DataFrame(rows, columns=["Fall-Nr.", "bed", "age", "Anna", "gpt-4o"]).astype("str")
    table.loc[9, "Fall-Nr."] = cell
    table["age"] = table["age"].where(table["age"] != "3", "4")  # a number of nothing
    found = propose(table, Asked(people=("Anna",)))
    told = [one for one in found.told if "tells all rows apart but" in one]
    assert [one.partition(" but ")[2].startswith(is_when_told) for one in told] == [True] * bool(is_when_told)
    assert found.mapping.columns["item_id"] == (("bed",) if is_when_told else ("Fall-Nr.",))


def test_when_an_answer_was_given_is_known_by_its_head() -> None:
    heads = (
        "time",
        "created_at",
        "createdAt",
        "timestamp",
        "Datum",
        "Startzeit",
        "datetime",
        "answer_candidate",
        "chat",
    )
    assert [bool(WHEN.search(head)) for head in heads] == [True] * 7 + [False] * 2


def test_a_pair_named_in_both_orders_is_one_item_with_its_answers_turned() -> None:
    made = tidy(frame(VOTES), propose(frame(VOTES)).mapping)
    last = made.labels[made.labels["cluster_id"] == "82"]
    assert last["system_a"].tolist() == ["y", "y"]
    assert last["label"].tolist() == ["A", "A"], "x against y lost twice"
    assert "whose answers are turned: 1" in made.told[0]
    assert "presentation" not in made.labels, "nobody said which stood first"


def test_a_judge_asked_in_both_orders_was_shown_both() -> None:
    table = frame("topic model_a model_b rater winner\nt x y gpt-4 model_a\nt y x gpt-4 model_a\nt x y ann_1 model_a")
    made = tidy(table, propose(table).mapping)
    assert made.labels["presentation"].tolist() == ["AB", "BA", ""]  # of ann_1 nothing says it
    assert made.labels["label"].tolist() == ["A", "B", "A"]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("expert", "LLM"), ["human", "judge"]), (("Mensch", "LLM"), ["human", "judge"]),
        (("Bot", "Experte"), ["judge", "human"]), (("Kollege", "LLM"), []),
    ],
)  # fmt: skip
def test_the_words_of_a_column_that_was_named_are_read_or_asked_about(words: tuple[str, str], kinds: list[str]) -> None:
    table = frame(f"item who Art label\n1 x {words[0]} A\n1 y {words[1]} B")
    named = {"item_id": ("item",), "rater_id": ("who",), "rater_kind": ("Art",), "label": ("label",)}
    found = propose(table, Asked(columns=named))
    if kinds:
        assert found.problems == ()
        assert tidy(table, found.mapping).labels["rater_kind"].tolist() == kinds
    else:
        assert "'Art' says 'Kollege', which says neither person nor judge" in found.problems[0]


@pytest.mark.parametrize("named", [{"rater_kind": ("Art",)}, {}])  # and found by its name
def test_a_row_that_says_nothing_is_left_out_and_told(named: dict[str, tuple[str, ...]]) -> None:
    head = "Art" if named else "type"
    table = frame(f"item who {head} label\n1 x LLM A\n1 y Mensch B\n2 - - -").replace("-", "")
    said = {"item_id": ("item",), "rater_id": ("who",), "label": ("label",), **named}
    found = propose(table, Asked(columns=said))
    assert found.problems == ()
    made = tidy(table, found.mapping)
    assert made.labels[["rater_id", "rater_kind"]].to_numpy().tolist() == [["x", "judge"], ["y", "human"]]
    assert made.told == ("rows that say neither who answered nor what are left out: 1",)
    table = table.assign(label="A")  # an answer of nobody's is not left out
    assert len(tidy(table, propose(table, Asked(columns=said)).mapping).labels) == 3


@pytest.mark.parametrize(("order", "label"), [("AB", "A"), ("BA", "B")])
def test_a_side_is_the_system_that_stood_there(order: str, label: str) -> None:
    table = frame(f"item model_a model_b rater order choice\ni x y human_1 {order} left\nj x y human_1 AB right")
    made = tidy(table, propose(table).mapping)
    assert made.labels["label"].tolist() == [label, "B"]


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        (("i x y AB first", "i y x BA first", "j y x BA second"), [("A", "AB"), ("B", "BA"), ("B", "AB")]),
        (("i x y AB first", "j x y BA first", "k x y BA second"), [("A", "AB"), ("A", "BA"), ("B", "BA")]),
        (("i x y AB first", "j y x AB first", "k y x BA second"), "'first.system' says by its head what stood first"),
    ],
)
def test_an_order_beside_heads_that_say_what_stood_first_turns_nothing_twice(
    rows: tuple[str, ...], read: list[tuple[str, str]] | str
) -> None:
    table = frame("\n".join(["item first.system second.system order choice", *rows])).assign(rater="gpt-4o")
    found = propose(table)
    if isinstance(read, str):
        assert read in str(found.problems)
        assert "--map presentation==AB,ignore=order where" in found.problems[0]
        assert propose(table, Asked(columns={"presentation": ("order",)})).problems == ()
        return
    made = check_verdicts(tidy(table, found.mapping).labels)
    assert found.problems == ()
    assert [*made[["label", "presentation"]].itertuples(index=False, name=None)] == read


@pytest.mark.parametrize(
    "head", ["is_swapped", "flipped", "position_reversed", "a_is_left", "order", "left_model", "shown_order"]
)
def test_a_flag_of_the_order_makes_two_readings_of_a_and_b_and_one_of_left_and_right(head: str) -> None:
    words = {"a_is_left": ("1", "0"), "order": ("1", "2"), "left_model": ("x", "y"), "shown_order": ("AB", "BA")}.get(
        head, ("no", "YES")
    )
    rows = f"i x y human_1 {words[0]} A\nj x y human_1 {words[1]} A"
    table = frame(f"item model_a model_b rater {head} choice\n{rows}")
    (problem,) = propose(table).problems
    assert f"{head!r} says that some pairs were shown turned, and A and B may be places or systems" in problem
    for labels_are, second in (("sides", "B"), ("verdicts", "A")):
        assert f"--labels-are {labels_are} where" in problem
        found = propose(table, Asked(labels_are=labels_are))
        made = tidy(table, found.mapping).labels
        assert (made["label"].tolist(), made["presentation"].tolist()) == (["A", second], ["AB", "BA"])
    sided = table.assign(choice=["left", "right"])
    assert tidy(sided, propose(sided).mapping).labels["label"].tolist() == ["A", "A"]
    asked_once_more = f"--map presentation==AB,ignore={head} where the first named stood first"
    assert asked_once_more not in problem
    turned = table.assign(model_a=["x", "y"], model_b=["y", "x"])
    assert ("left" in head) or asked_once_more in propose(turned).problems[0]
    made = tidy(turned, propose(turned, Asked(constants={"presentation": "AB"}, ignored=(head,))).mapping).labels
    assert (made["label"].tolist(), made["presentation"].tolist()) == (["A", "A"], ["AB", "AB"])


def test_what_a_value_of_an_order_means_can_be_said() -> None:
    table = frame("item turn model_a model_b rater shown choice\ni u x y human_1 u left\nj u x y human_1 v left")
    assert "name it as presentation in --map;" in propose(table).problems[0]
    columns = {"presentation": ("shown",)}
    (problem,) = propose(table, Asked(columns=columns)).problems
    assert "--map presentation=shown --map-label u=AB,v=BA or --map-label u=BA,v=AB" in problem
    flag = table.rename(columns={"shown": "is_swapped"}).assign(choice="A")
    asks = propose(flag).problems
    assert (
        "--map presentation=is_swapped --map-label u=AB,v=BA or --map-label u=BA,v=AB, or --map ignore=is_swapped"
        in asks[0]
    )
    assert "A and B may be places or systems" in asks[1], "at once"
    found = propose(table, Asked(columns=columns, words={"u": "AB", "v": "BA"}))
    assert found.mapping.orders == {"u": "AB", "v": "BA"}
    assert tidy(table, found.mapping).labels["label"].tolist() == ["A", "B"]
    first = frame("item left_model right_model order rater vote\n1 x y AB human_1 left\n1 y x BA gpt-4 left")
    found = propose(first, Asked(columns={"presentation": ("left_model",), "system_a": ("left_model",)}))
    labels = tidy(first, found.mapping).labels
    assert labels[["system_a", "presentation", "label"]].to_numpy().tolist() == [["x", "AB", "A"], ["x", "BA", "B"]]
    assert found.problems == propose(first, Asked(columns={"presentation": ("order",)})).problems == ()
    half = frame("item left_system rater vote\n1 x human_1 left\n1 y gpt-4 right")
    said = Asked({"presentation": ("left_system",)}, {"system_a": "x", "system_b": "y"}, {"x": "AB", "y": "BA"})
    made = tidy(half, propose(half, said).mapping).labels
    assert made[["item_id", "label"]].to_numpy().tolist() == [["1", "A"], ["1", "A"]]


def test_texts_called_an_answer_are_none_beside_columns_of_scores() -> None:
    rows = [{"question": n, "answer": f"text {n}", "human_score": n % 5, "judge_score": (n + place) % 5, "judge_model": who}
            for n in range(40) for place, who in enumerate(("gpt", "llama"))]  # fmt: skip
    found = propose(pd.DataFrame(rows).astype("str"))
    assert (found.mapping.columns["label"], found.problems) == (("judge_score",), ())
    assert "'answer' holds texts, and no answers" in found.told


def test_criteria_that_differ_in_capital_letters_alone_are_one() -> None:
    table = frame("id rater criterion score\na ann_1 Depth 4\na gpt-4 depth 3\na ann_1 Tone 4\na gpt-4 Tone 3")
    found = propose(table)
    assert tidy(table, found.mapping).labels["criterion"].tolist() == ["Depth", "Depth", "Tone", "Tone"]
    assert "one criterion with one that differs in capital letters alone: depth" in found.told


def test_columns_of_one_judge_in_two_orders_are_asked_about() -> None:
    table = frame("item model_a model_b human_1 gpt-4_AB gpt-4_BA\ni x y A A B\nj x y B B A")
    (problem,) = propose(table).problems
    assert "gpt-4_AB and gpt-4_BA may be one judge's each in both orders: --labels-are verdicts where A is" in problem
    assert "--map ignore=gpt-4_BA reads the first order alone" in problem
    for labels_are, second in (("verdicts", ["B", "A"]), ("sides", ["A", "B"])):
        both = tidy(table, propose(table, Asked(labels_are=labels_are)).mapping).labels.set_index("rater_id")
        assert both["label"]["human_1"].tolist() == ["A", "B"]
        assert both["label"]["gpt-4"].tolist() == ["A", "B", *second]
        assert both["presentation"]["gpt-4"].tolist() == ["AB", "AB", "BA", "BA"]
    said = Asked(columns={"rater_id": ("human_1", "gpt-4_AB", "gpt-4_BA")})
    assert propose(table, said).problems == ()
    flagged = frame("item model_a model_b human_1 gpt-4 gpt-4_swapped\ni x y A A 0\nj x y B B 1")
    (problem,) = propose(flagged).problems
    assert "'gpt-4_swapped' may say in which order each pair was shown" in problem


@pytest.mark.parametrize(("names", "tie"), [("A B", "tie"), ("Model_A Model_B", "tie"), ("1 2", "0")])
def test_names_that_are_places_too_are_asked_about_where_they_stand_crosswise(names: str, tie: str) -> None:
    one, other = names.split()
    rows = [f"i {one} {other} human_1 {one}", f"j {other} {one} human_1 {one}", f"k {one} {other} human_1 {tie}"]
    rows.append(f"l {one} {other} human_1 {other}")
    table = frame("\n".join(["item model_a model_b rater choice", *rows]))
    (problem,) = propose(table).problems
    assert "--labels-are systems where an answer is a name, --labels-are verdicts where it is a place" in problem
    for labels_are, second in (("systems", "B"), ("verdicts", "A")):
        found = propose(table, Asked(labels_are=labels_are))
        assert found.problems == ()
        assert tidy(table, found.mapping).labels["label"].tolist() == ["A", second, "tie", "B"]
    same = propose(frame("\n".join(["item model_a model_b rater choice", rows[0]])))
    assert same.problems == (), "one reading, where each stands in its own place"


def test_last_rows_made_of_the_others_are_left_out_and_told() -> None:
    table = frame("report human_1 gpt-4\nr1 4 3\nr2 5 5\nMean 4.5 4\nSumme 9 8")
    kept, told = without_totals(table)
    assert kept["report"].tolist() == ["r1", "r2"]
    assert "the last, Summe, Mean (another name there keeps it)" in told[0]
    long = frame("criterion item rater score\ntotal 1 1 4\ntotal 1 2 5")  # answers, of a criterion that is called so
    topics = frame("topic item anna gpt-4o\neconomy 1 2 3\nmedia 1 2 3\nmedia 2 4 3")
    once = long.rename(columns={"criterion": "Kriterium"}).iloc[:1]
    for rest in (table.iloc[::-1], table.iloc[:2], table[["report"]], long, topics, long.iloc[:1], once):
        assert without_totals(rest)[1] == ()
    assert len(without_totals(once.assign(item="", rater=""))[0]) == 0


def test_everything_that_must_be_said_is_asked_at_once() -> None:
    table = frame("pair_id who choice\n1 ada left\n1 eve right\n2 ada left")
    problems = propose(table).problems
    assert len(problems) == 2
    assert "no column says who answered: --map rater_id=who, or --map rater_id==choice where one" in problems[0]
    assert "or --map rater_id==judge_A where one" in propose(table, file="judge_A").problems[0]
    assert "--labels-are verdicts" in problems[1]
    said = Asked(columns={"rater_id": ("who",)}, people=("ada",), labels_are="verdicts")
    found = propose(table, said)
    assert found.problems == ()
    assert tidy(table, found.mapping).labels["rater_kind"].tolist() == ["human", "judge", "human"]
    placed = frame("context given.place given.score\nq 1 2\nq 2 -1\nr 1 0")
    (problem,) = propose(placed).problems
    assert "where the n-th of each list is one rater's, --map rater_id=given.place" in problem
    assert propose(placed, Asked(columns={"rater_id": ("given.place",)}, people=("1", "2"))).problems == ()


DUMP = """
example.id systems.a systems.b experts.mara judges.model judges.verdict judges.latency_s
q1         orion     lyra      A            gpt-4        B              2.1
q1         orion     lyra      A            haiku        A              1.2
q2         orion     lyra      B            gpt-4        B              2.2
q2         orion     lyra      B            haiku        A              1.3
"""


def test_two_columns_of_one_label_that_differ_are_refused_and_answers_are_taken_from_the_filled_one() -> None:
    table = frame(DUMP)
    both = {"rater_id": ("judges.model",), "label": ("experts.mara", "judges.verdict")}
    (problem,) = [one for one in propose(table, Asked(both)).problems if "differ" in one]
    assert problem.startswith("experts.mara and judges.verdict both answer in 2 rows and differ: one rater each?")
    assert "leave --map rater_id and label out" in problem
    flat = frame("id ann_1 gpt-4\n1 A B\n2 B B")
    asked = {"rater_id": ("id",), "label": ("ann_1", "gpt-4")}
    assert "--map rater_id=ann_1+gpt-4 without --map label" in str(propose(flat, Asked(asked)).problems)
    assert propose(flat, Asked({"rater_id": ("ann_1", "gpt-4"), "item_id": ("id",)})).problems == ()
    apart = table.assign(**{"experts.mara": ["A", "", "", "B"], "judges.verdict": ["", "B", "B", ""]})
    found = propose(apart, Asked(both))
    assert found.problems == ()
    assert tidy(apart, found.mapping).labels["label"].tolist() == ["A", "B", "B", "B"]


def test_parts_are_told_by_what_a_column_is_under_and_an_item_that_was_named_is_followed() -> None:
    found = propose(frame(DUMP), Asked(people=("none",), columns={"label": ("judges.verdict",)}))
    parts = {
        "rater_id": "judges.model",
        "system_a": "systems.a",
        "system_b": "systems.b",
        "seconds": "judges.latency_s",
    }
    assert {part: name for part, (name, *_) in found.mapping.columns.items() if part in parts} == parts
    said = {"item_id": ("example.id",), "rater_id": ("experts.mara", "judges.verdict")}
    assert propose(frame(DUMP), Asked(said, people=("experts.mara",))).mapping.columns["item_id"] == ("example.id",)


def test_a_misspelt_criterion_is_no_missing_one() -> None:
    table = frame("item rater criteron label\ni ann_1 depth A\ni ann_1 style B")
    assert any("is 'criteron' the criterion? --map criterion=criteron" in one for one in propose(table).problems)


def test_words_beside_verdicts_are_asked_about_and_never_become_one() -> None:
    table = frame("item model_a model_b rater label\ni x y ann_1 A\nj x y ann_1 Ignore\nk x y ann_1 B")
    assert any("'Ignore' stands beside other answers; say what is meant: --map-label 'Ignore=…' (" in one
               for one in propose(table).problems)  # fmt: skip
    found = propose(table, Asked(words={"Ignore": "missing"}))
    made = tidy(table, found.mapping)
    assert (made.labels["label"].tolist(), made.labels["status"].tolist()) == (["A", "", "B"], ["ok", "missing", "ok"])


def test_of_two_columns_called_a_topic_the_one_that_holds_the_other_is_it() -> None:
    """Labels on one topic are not independent, so its questions are no clusters; two that cross are neither."""
    held = frame("Frage Thema human_1 gpt-4o\nq1 t1 A A\nq2 t1 B A\nq3 t2 A A\nq4 t2 B B")
    assert propose(held).mapping.columns["cluster_id"] == ("Thema",)
    crossed = frame("Frage Thema human_1 gpt-4o\nq1 t1 A A\nq2 t1 B A\nq1 t2 A A\nq2 t2 B B")
    assert "neither is read as it" in str(propose(crossed).told)


def test_a_wide_table_without_a_rater_column_asks_whose_the_columns_are() -> None:
    table = frame("item ada ben\n1 4 5\n2 3 3")
    assert "--map rater_id=ada+ben; where each is a criterion" in propose(table).problems[0]
    found = propose(table, Asked(columns={"rater_id": ("ada", "ben")}, people=("ada", "ben")))
    assert tidy(table, found.mapping).labels["label"].tolist() == ["4", "3", "5", "3"]


SCORES = {"Thema": ["T1", "T1", "T2", "T2"], "System": ["X", "Y"] * 2, "Ann": ["1", "5", "2", "4"],
          "GPT-4o": ["2", "5", "1", "3"]}  # fmt: skip


@pytest.mark.parametrize(("more", "asked"), [
    ({"Ben": ["2", "4", "1", "5"], "Clara K": ["1", "3", "5", "9"]},
     "Ben and Clara K look like raters too: --people 'Ann,Ben,Clara K'; --people Ann --map 'rater_id=Ann+GPT-4o+Ben+Clara K' "
     "where they are judges; "
     "--map rater_id=Ann+GPT-4o leaves them out"),
    ({"Ben": ["2", "4", "", "5"]},
     "Ben looks like a rater too: --people Ann,Ben; --people Ann --map rater_id=Ann+GPT-4o+Ben where it is a judge; "
     "--map rater_id=Ann+GPT-4o leaves it out"),
])  # fmt: skip
def test_a_column_with_the_answers_of_raters_is_a_rater_or_asked_about(more: dict[str, list[str]], asked: str) -> None:
    frame = pd.DataFrame(SCORES | more)
    assert propose(frame).problems == (asked,)
    everybody = propose(frame, Asked(people=("Ann", *more)))
    assert not everybody.problems
    assert everybody.mapping.kinds == dict.fromkeys(("Ann", *more), "human") | {"GPT-4o": "judge"}
    left_out = propose(frame, Asked(columns={"rater_id": ("Ann", "GPT-4o")}))
    assert not left_out.problems
    assert left_out.mapping.kinds == {"Ann": "human", "GPT-4o": "judge"}


def test_numbers_that_no_rater_gives_are_left_out_and_told_with_what_would_read_them() -> None:
    made = propose(pd.DataFrame(SCORES | {"Words": ["210", "340", "185", "260"]}))
    assert not made.problems
    assert "not read as answers: Words (say so if they are: --people Ann,Words)" in made.told


@pytest.mark.parametrize(
    ("table", "asks"),
    [
        ("item_id annotator overall_winner human_winner\n1 mara A A\n1 gpt-4 B A", "human_winner beside 'annotator', which says"),
        ("item_id annotator llm_label human_label\n1 mara A A\n1 gpt-4 B A", "--map criterion=llm_label+human_label where"),
        ("question annotator winner forecast_date\n1 mara A mon\n1 mara B tue\n1 gpt-4 A mon\n1 gpt-4 B tue",
         "only forecast_date tells apart what is answered twice: --map item_id=question+forecast_date where"),
        ("topic user annotator vote\n1 u1 mara A\n1 u2 mara B\n1 u1 gpt-4 A\n1 u2 gpt-4 A",
         "only user tells apart what is answered twice: --map item_id=topic+user where that belongs to what was asked"),
        ("topic seconds Anna gpt-4\n1 10 5 4\n1 20 3 2\n2 10 4 4\n2 20 2 1", "--map item_id=topic+seconds where that"),
        ("item Anna Ben Strict\n1 2 3 1\n2 4 5 2\n3 3 2 3\n4 5 4 4",
         "Strict: scores like the raters' and others: --map rater_id=Anna+Ben+Strict where a judge gave them"),
        ("item is_check annotator vote\n1 True mara A\n1 False mara A\n1 True gpt-4 A\n1 False gpt-4 B",
         "--map item_id=item+is_check where it is part of what was asked, --map run=is_check where one thing is answered again, "
         "--map-label is_check:True=ignore without such rows"),
        ("topic Qualitaet quality_check Anna gpt-4\n1 A 0 5 4\n1 A 1 3 2\n2 B 0 4 4\n2 B 1 2 1",
         "--map run=quality_check where one thing is answered again, --map-label quality_check:1=ignore without such rows"),
        ("topic n_sources Anna gpt-4\n1 3 5 4\n1 4 3 2\n2 3 4 4\n2 4 2 1", "only 'n_sources' tells apart rows of one topic"),
        ("item left_system annotator vote\n1 x mara left\n1 y gpt-4 right",
         "--map presentation=left_system,system_a==x,system_b==y --map-label x=AB,y=BA where it says which of the two"),
    ],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_asked_about_by_name(table: str, asks: str) -> None:
    """One rater's answer in every row is no criterion on which all agree; a strict judge goes below people's scores."""
    people = ("Anna", "Ben") if "Anna" in table else ("mara",)
    assert any(asks in one for one in propose(frame(table), Asked(people=people)).problems)


def test_scores_under_a_head_with_a_currency_are_answers_and_milliseconds_are_told() -> None:
    table = frame(
        "item annotator EUR_quality US_quality Kosten_EUR latency_ms\n1 mara 4 5 0.2 900\n1 gpt-4 3 3 0.3 1200"
    )
    said = Asked({"seconds": ("latency ms",)})
    found = propose(table.rename(columns=lambda head: head.replace("_", " ")), said)
    for price in ("Kosten_EUR", "priceEUR", "cost €"):
        priced = propose(table.rename(columns={"Kosten_EUR": price}), Asked({"cost_usd": (price,)}))
        assert f"{price}: of another currency by the head, printed as EUR" in priced.told
        assert tidy(table.rename(columns={"Kosten_EUR": price}), priced.mapping).labels["currency"].eq("EUR").all()
    for head, cells in (("Currency", ["EUR", "€"]), ("Währung", ["EUR", "US$"]), ("currency", ["5", "3"])):
        beside = table.rename(columns={"EUR_quality": "label"}).assign(**{head: cells})
        assert ("currency" in propose(beside, Asked()).mapping.columns) == (cells[0] == "EUR"), "a text is of its time"
    for asked in (Asked({"cost_usd": ("cost ¥",)}), Asked({"cost_usd": ("cost ¥",)}, {"currency": "JPY"})):
        yen = propose(table.rename(columns={"Kosten_EUR": "cost ¥"}), asked)
        assert any(one.endswith(("--map currency==CODE says which", "printed as JPY")) for one in yen.told)
    assert {one.criterion for one in found.mapping.spread} == {"EUR quality", "US quality"}
    assert "latency ms: milliseconds by the head, read as seconds as they stand; divide by 1,000" in found.told
    for head in ("price_usd", "usd_cost", "total_price", "Kosten", "priceEUR"):
        mapping, rows = LabelMap({"label": ("EUR_quality",)}), table.rename(columns={"Kosten_EUR": head})
        looks = f"looks like a price (--map cost_usd={head} reads it, as USD)"
        assert [one.may_be for one in columns_read(rows, rows, mapping, Asked()) if one.name == head] == [looks]
    raters = LabelMap(spread=(Spread("EUR_quality", "Anna"), Spread("US_quality", "Ben")))
    known = {
        people: [one.known for one in columns_read(table, table, raters, Asked(people=(people,)))]
        for people in ("Anna",)
    }
    assert known["Anna"][2:4] == ["named", "by its values"]
    assert {one.known for one in columns_read(table, table, raters, Asked(), is_followed=True)} == {"mapped", ""}


def test_a_column_for_each_criterion_where_a_column_names_the_rater() -> None:
    table = frame("item system annotator depth style\n1 x ann_1 4 5\n1 x gpt-4 3 3")
    found = propose(table)
    made = tidy(table, found.mapping)
    assert made.labels["criterion"].tolist() == ["depth", "depth", "style", "style"]
    assert made.labels["system_a"].unique().tolist() == ["x"]


@pytest.mark.parametrize("head", ["item", "text"])  # named as an item, or found to be one
def test_a_column_in_which_the_raters_of_no_item_differ_is_asked_about(head: str) -> None:
    rows = [f"i{one} {who} {'AB'[one % 2 ^ (who == 'ben' and one < 3)]} {'AB'[one % 2]} A"
            for one in range(12) for who in ("ada", "ben")]  # fmt: skip
    table = frame("\n".join([f"{head} rater overall truth safe", *rows]))
    (asked,) = propose(table, Asked(people=("ada",))).problems
    assert "truth beside 'rater', which says who answered, may be others' answers (no two raters of an item" in asked
    assert "--map criterion=overall+safe where" in asked, "a constant column says nothing of whose it is"
    read = propose(table, Asked(columns={"criterion": ("overall", "truth")}, people=("ada",)))
    assert not read.problems
    for other in (table[:18], table.assign(overall=table["truth"])):  # nine items; the raters agree on everything
        assert not propose(other.rename(columns={"truth": "tone"}), Asked(people=("ada",))).problems
        (asked,) = propose(other, Asked(people=("ada",))).problems
        assert asked.startswith("truth beside 'rater', which says who answered"), "by its head, on however few items"


def test_what_is_called_who_answered_and_holds_answers_is_one_rater_or_asked_about() -> None:
    alone = frame("id annotator gpt-4\n1 1 2\n2 3 3\n3 2 1")
    said = "--map rater_id=gpt-4+annotator where each is a rater's; --map rater_id=annotator,label=gpt-4 where"
    assert said in propose(alone).problems[0], "1 to 3 may be the annotators' numbers"
    judge = propose(alone.rename(columns={"gpt-4": "human", "annotator": "judge"}))
    assert ([one.rater_id for one in judge.mapping.spread], judge.problems) == (["judge", "human"], ())
    twice = propose(frame("id judge human\n1 pass pass\n1 fail pass\n2 fail fail"))
    assert "--map rater_id=human+judge where each is a rater's" in twice.problems[0], "no column tells the rows apart"
    names = propose(
        frame("id annotator label gpt-4\n1 ada pass pass\n2 ben fail pass\n3 ada pass fail"), Asked(people=("ada",))
    )
    assert names.mapping.columns["rater_id"] == ("annotator",)
    assert names.mapping.columns["item_id"] == ("id",), "each row one person's, and a judge's"
    (nobody,) = propose(frame("id judge\n1 pass\n2 fail\n3 pass")).problems
    assert "--map label=judge,rater_id==judge where 'judge' holds one rater's" in nobody


def test_words_of_places_and_numbers_below_nought_are_asked_about_at_once_in_both_meanings() -> None:
    (problem,) = propose(frame("id human gpt-4\n1 left -1\n2 tie 0\n3 right 1\n4 right 1")).problems
    both = "--map-label 1=A,0=tie,-1=B or --map-label 1=B,0=tie,-1=A"
    assert both in problem, "-1 may be left as on an axis, or a loss"
    assert "--labels-are verdicts where the first is always system_a" in problem


def test_what_stands_beside_a_judge_is_found_by_its_head_whatever_its_letters_and_unit() -> None:
    table = frame(
        "id human_1 GPT-4o gpt-4o_cost_usd gpt-4o_raw gpt-4o_cost_cents\n1 A A .1 it's_A 3\n2 B B .2 it's_B 4"
    )
    found = propose(table)
    assert [dict(one.measures) for one in found.mapping.spread] == [{}, {"cost_usd": "gpt-4o_cost_usd"}]
    assert "kept in no column of labels: gpt-4o_raw, gpt-4o_cost_cents" in str(found.told)


def test_a_judge_is_asked_of_a_row_what_people_answer_there_whatever_rows_and_criteria_are_called() -> None:
    heads = [("anna", "1"), ("anna", "11"), ("gpt-4", "1"), ("gpt-4", "11")]
    spread = tuple(Spread(f"{who} {what}", who, what) for who, what in heads)
    rows = [["", "", "", ""] if at == 1 else ["A", "B", "A", "B"] for at in range(12)]
    table = pd.DataFrame(rows, columns=[one.column for one in spread]).assign(item=range(12)).astype("str")
    kinds = {"anna": "human", "gpt-4": "judge"}
    made = tidy(table, LabelMap({"item_id": ("item",)}, {}, spread, kinds, {}, {"": Answers("words")}, {}))
    assert (made.labels["item_id"] != "1").all(), "of row 1 nobody was asked 11, though people answer 1 in row 11"


def test_an_empty_cell_of_a_wide_table_is_no_answer_and_counted() -> None:
    table = pd.DataFrame({"item": ["1", "2"], "annotator_1": ["A", ""], "gpt-4": ["B", "A"]}, dtype="str")
    made = tidy(table, propose(table).mapping)
    assert len(made.labels) == 3
    assert "1 empty cells of the wide table are no answers" in made.told
    table["gpt-4"] = ["", "A"]
    remarked = propose(table.assign(comment="page 2 is gone"))
    assert "rationale" not in remarked.mapping.columns, "of nobody, where each rater has a column"
    assert "beside a rater's answers, kept in no column of labels: comment" in remarked.told
    told, _ = tidy(table, propose(table).mapping).told  # and that the judge meets nobody
    assert told.endswith("; judges' gpt-4 1 (where one was asked and gave none: --map-label EMPTY=missing)")
    answered = pd.concat([table, table.assign(item=["3", "4"], annotator_1="B", **{"gpt-4": "B"})], ignore_index=True)
    made = tidy(answered, propose(answered).mapping)
    assert made.labels["label"].eq("").sum() == 1, "a judge that answers what people do was asked for the rest of it"
    assert "1 empty cells are missing answers; judges' gpt-4 1, which count against a judge" in made.told[-2]
    for word, status in (("ignore", []), ("refused", ["refused"] * 2)):
        read = propose(answered, Asked(words={"EMPTY": word}))
        labels = tidy(answered, read.mapping).labels
        assert labels[labels["label"].eq("")].get("status", pd.Series()).tolist() == status[:1], word
    table["gpt-4"] = ["missing", "A"]
    labels = tidy(table, propose(table).mapping).labels
    assert labels[labels["rater_id"] == "gpt-4"]["status"].tolist() == ["missing", "ok"]


columns = st.lists(st.lists(st.sampled_from("xyz"), min_size=5, max_size=5), min_size=1, max_size=4)


@given(columns)
def test_a_key_has_no_repeats_and_no_smaller_set_has_none(cells: list[list[str]]) -> None:
    table = pd.DataFrame({f"c{place}": column for place, column in enumerate(cells)}, dtype="str")
    key = smallest_key(table, (), (), list(table))
    if key is None:
        assert len(table.columns) > 3 or table.duplicated().any()
    else:
        assert not table.duplicated(list(key)).any()
        assert all(table.duplicated([name for name in key if name != one]).any() for one in key if len(key) > 1)


@given(st.data())
def test_labels_of_a_table_are_its_answers_however_its_columns_are_called(data: st.DataObject) -> None:
    """A property: words of one set, put through any names, come out as the verdicts they say."""
    words = data.draw(
        st.sampled_from(
            [("A", "B", "tie"), ("model_a", "model_b", "Tie"), ("win", "lose", "draw"), ("[[A]]", "[[B]]", "[[C]]")]
        )
    )
    name = data.draw(st.sampled_from(["label", "winner", "Verdict", "vote", "choice"]))
    given_ = data.draw(st.lists(st.integers(0, 2), min_size=6, max_size=20))
    if not {0, 1} <= {*given_}:
        given_ = [0, 1, *given_]
    table = pd.DataFrame(
        {"topic": [f"t{place}" for place in range(len(given_))], "model_a": "x", "model_b": "y", "annotator": "ann_1",
         name: [words[one] for one in given_]}, dtype="str",
    )  # fmt: skip
    found = propose(table)
    assert found.problems == ()
    assert tidy(table, found.mapping).labels["label"].tolist() == [("A", "B", "tie")[one] for one in given_]


LANGUAGES = {  # question, two systems, rater, answer, reason; a person; a tie
    "German": ("Frage Modell_A Modell_B Gutachter Urteil Begründung", "Mensch_1", "unentschieden"),
    "Chinese": ("问题ID 模型A 模型B 标注员ID 判断 理由", "标注员1", "平局"),
    "Spanish": ("Pregunta Modelo_A Modelo_B Anotador Veredicto Razón", "experto_1", "empate"),
    "French": ("ID_tâche Modèle_A Modèle_B Annotatrice Gagnant Raison", "annotatrice_1", "égalité"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_heads_in_another_language_are_read_and_told(language: str) -> None:
    heads, person, tie = LANGUAGES[language]
    table = frame(f"{heads}\nq1 x y {person} A w\nq1 x y gpt-4o B v\nq2 x y {person} {tie} u\nq2 x y gpt-4o A w")
    found = propose(table)
    assert found.problems == ()
    assert any(told.startswith(f"heads in {language}: ") and told.count(" is ") == 6 for told in found.told)
    made = tidy(table, found.mapping).labels
    assert made["label"].tolist() == ["A", "B", "tie", "A"]
    assert made["rater_kind"].tolist() == ["human", "judge"] * 2
    assert made["rationale"].tolist() == ["w", "v", "u", "w"]
    assert made["cluster_id"].tolist() == ["q1", "q1", "q2", "q2"]


def test_two_heads_of_one_part_in_another_language_are_asked_about_and_neither_is_read() -> None:
    found = propose(frame("Frage Gutachter Urteil Bewertung Kommentar Begründung\nq1 gpt-4 A B v w\nq2 gpt-4 B A u v"))
    assert "'Urteil' and 'Bewertung' may each be the label: --map label=Urteil, or the other one" in found.problems
    assert any(
        told.startswith("'Kommentar' and 'Begründung' may each be the rationale, and neither") for told in found.told
    )
    assert not {"label", "rationale"} & {*found.mapping.columns}


def test_no_head_has_two_readings_and_none_is_an_english_name_of_another_part() -> None:
    readings: dict[str, set[str]] = {}
    for parts in HEADS.values():
        for part, words in parts.items():
            for word in words.split():
                readings.setdefault(word.casefold(), set()).add(part)
    assert {word: parts for word, parts in readings.items() if len(parts) > 1} == {}
    english = {name: part for part, names in NAMES.items() for name in (part.replace("_", ""), *names)}
    assert [
        (name, part, other)
        for name, part in english.items()
        for other in NAMES
        if other != part and language_of(other, name)
    ] == []
    assert roles_of(frame("问题ID 标注员ID\nq1 r1\nq1 r2")) == {"cluster_id": "问题ID", "rater_id": "标注员ID"}


@pytest.mark.parametrize(
    ("table", "people", "read", "told"),
    [
        ("item_id rater_id rater_kind score_clarity score_agreement score_media\na r human 1 2 3\na s judge 1 1 1", (),
         "score_clarity score_agreement score_media", ""),
        ("item_id annotator_1 annotator_2 annotator_mean gpt4\na 1 2 3 1\nb 2 3 4 2", (),
         "annotator_1 annotator_2 gpt4", "annotator_mean"),
        ("item_id 标注员1 标注员2 标注员平均分 agreement\na 1 2 3 1\nb 2 3 4 2", (), "标注员1 标注员2", "标注员平均分, agreement"),
        ("item_id ann_1_clarity ann_2_clarity ann_1_depth ann_2_depth total\na 1 2 3 4 5\nb 2 3 4 5 5", (),
         "ann_1_clarity ann_2_clarity ann_1_depth ann_2_depth", "total"),
        ("item_id human_majority gpt4\na 1 2\nb 3 1", (), "human_majority gpt4", ""),  # all that is known of people
        ("item_id mara max\na 1 2\nb 3 1", ("mara", "max"), "mara max", ""),
    ],
)  # fmt: skip
def test_what_is_made_of_several_answers_is_no_person_and_may_be_a_criterion(
    table: str, people: tuple[str, ...], read: str, told: str
) -> None:
    found = propose(frame(table), Asked(people=people))
    assert [one.column for one in found.mapping.spread] == read.split()
    left = [sentence for sentence in found.told if sentence.startswith("made of several")]
    assert left == [f"made of several answers, so no rater's own: {told} (--people names who is one)"] * bool(told)


def test_a_table_of_criteria_without_raters_asks_about_every_column() -> None:
    found = propose(frame("item_id clarity agreement depth total\na 1 2 3 4\nb 2 3 4 5"))
    assert "criterion=clarity+agreement+depth+total" in found.problems[0]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("item_id rater_id rater_kind system_a system_b label\na r human x y A\nb r human x y B\nc r human x y A更差",
         "'A更差' stands beside other answers; say what is meant: --map-label 'A更差=…' ("),
        ("item_id rater_id rater_kind label\na r human 4\nb r human 5\nc r human good",
         "'good' stands beside other answers; say what is meant: --map-label 'good=…' ("),
        ("item_id rater_id rater_kind system_a system_b label\na r human x y 1\nb r human x y 2\na j judge x y A\nb j judge x y tie",
         "'1', '2' stand beside other answers; say what is meant: --map-label 1=A,2=B ("),
        ("item_id rater_id rater_kind grade\na r human A\nb r human B\nc r human C", "--map-label A=3,B=2,C=1 where they are grades, C=tie"),
    ],
)  # fmt: skip
def test_a_word_beside_other_answers_is_asked_about_as_an_answer(table: str, says: str) -> None:
    assert any(says in one for one in propose(frame(table)).problems)


BESIDE = """
id anna bob llm.x.verdict llm.x.confidence llm.x.usage.usd llm.x.usage.tokens gpt4_score gpt4_confidence gpt4_cost
1  1    2   2             2                0.5             91                 1          5               0.1
2  3    3   3             5                0.25            12                 3          4               0.2
3  2    1   2             1                1               33                 2          4               0.3
"""


def test_what_stands_beside_a_raters_answer_is_no_rater() -> None:
    table = frame(BESIDE)
    found = propose(table, Asked(people=("anna", "bob")))
    assert found.problems == ()
    assert {one.rater_id for one in found.mapping.spread} == {"anna", "bob", "llm.x", "gpt4"}
    told = "beside a rater's answers, kept in no column of labels: llm.x.usage.tokens"
    assert told in found.told
    labels = tidy(table, found.mapping).labels.set_index(["rater_id", "item_id"])
    assert labels.loc[("llm.x", "2"), ["label", "confidence", "cost_usd"]].tolist() == ["3", "5", "0.25"]
    assert labels.loc[("gpt4", "3"), ["label", "confidence", "cost_usd"]].tolist() == ["2", "4", "0.3"]
    assert labels.loc["anna", ["confidence", "cost_usd"]].eq("").all(axis=None)
    check_verdicts(labels.reset_index())
    percent = table.assign(gpt4_confidence=["80", "91", "75"])  # of no scale that labels have
    assert "confidence: gpt4_confidence" not in " ".join(told := propose(percent, Asked(people=("anna", "bob"))).told)
    assert any("kept in no column of labels: llm.x.usage.tokens, gpt4_confidence" in one for one in told)
    two = frame("id anna bo gpt-4o gpt-4o_cost cost\n1 A B A 0.1 0.5\n2 B B A 0.2 0.6")  # its own, and a common one
    told = propose(two, Asked(people=("anna", "bo"))).told
    assert {"beside a rater's answers, kept in no column of labels: cost",
            "the cost_usd of a rater's answers: gpt-4o_cost"} <= {*told}  # fmt: skip


def test_columns_of_cost_go_with_those_of_raters_in_order_or_are_refused() -> None:
    table = frame("id anna x y one two\n1 A B A 0.5 0.1\n2 B B A 0.6 0.2")
    said = Asked(columns={"rater_id": ("x", "y"), "cost_usd": ("two", "one")}, people=("anna",))
    labels = tidy(table, propose(table, said).mapping).labels
    assert labels[["rater_id", "cost_usd"]].to_numpy().tolist() == [
        ["x", "0.1"], ["x", "0.2"], ["y", "0.5"], ["y", "0.6"],
    ]  # fmt: skip
    said = Asked(columns={"rater_id": ("anna", "x", "y"), "cost_usd": ("two", "one")}, people=("anna",))
    (problem,) = propose(table, said).problems
    assert problem.startswith("--map cost_usd=two+one names 2 columns: name one, or as many as --map rater_id")


def test_a_price_of_a_call_is_shared_among_the_criteria_it_answered() -> None:
    table = frame(
        "id anna_style anna_depth gpt-4o_style gpt-4o_depth gpt-4o_cost claude_style claude_depth claude_style_cost\n"
        "1  A          B          A            B            0.5         A            B            0.3\n"
        "2  B          A          B            -            0.7         B            A            0.4"
    ).replace("-", "")
    made = tidy(table, propose(table, Asked(people=("anna",))).mapping)
    cost = made.labels.set_index(["rater_id", "criterion", "item_id"])["cost_usd"]
    assert cost["gpt-4o"].to_list() == ["0.25", "0.35", "0.25", "0.35"]
    assert made.labels.query("rater_id == 'gpt-4o'")["label"].to_list() == ["A", "B", "B", ""], (
        "asked, without an answer"
    )
    assert cost["claude"]["style"].to_list() == ["0.3", "0.4"], "of one criterion alone"
    assert "cost_usd of a row shared among the answers beside which it stands" in made.told


def test_a_price_that_is_not_read_is_told_with_the_line_that_gives_each_rater_its_own() -> None:
    table = frame("comment n anna gpt-4o_grade gpt-4o_Kosten_(EUR)\nw 1 A B 0.1\nv 2 B B 0.2")
    found = propose(table, Asked(people=("anna",)))
    assert found.mapping.columns["item_id"] == ("n",), "no remark names an item"
    said = "--map 'rater_id=anna+gpt-4o_grade,cost_usd=+gpt-4o_Kosten_(EUR)' reads prices as USD, each its rater's"
    assert any(one.endswith(f"; {said}") for one in found.told)
    columns = {"rater_id": ("anna", "gpt-4o_grade"), "cost_usd": ("", "gpt-4o_Kosten_(EUR)")}
    labels = tidy(table, propose(table, Asked(columns, people=("anna",))).mapping).labels
    assert labels["cost_usd"].tolist() == ["", "", "0.1", "0.2"]


ALL = ("anna", "bo", "gpt-4o", "x")
EACH = {"gpt-4o": ["0.5", "0.6"]}


@pytest.mark.parametrize(
    ("head", "said", "costs"),
    [
        ("gpt-4o Kosten USD", {}, EACH),
        ("gpt-4o cost_usd", {}, EACH),
        ("gpt-4o Kosten USD", {"cost_usd": ("gpt-4o Kosten USD",)}, EACH),
        ("p", {"rater_id": ALL, "cost_usd": ("", "", "p", "")}, EACH),
        ("p", {"rater_id": ALL, "cost_usd": ("", "", "", "")}, {}),
        ("cost", {"rater_id": ("anna", "bo", "gpt-4o")}, EACH),  # one judge alone
        (
            "cost",
            {},
            "nothing says of which rater 'cost' is the cost_usd: --map rater_id=anna+bo+gpt-4o+x,cost_usd=++c",
        ),
        ("time", {"seconds": ("time",)}, "nothing says of which rater 'time' is the seconds"),
        ("gpt-4o-mini cost", {"cost_usd": ("gpt-4o-mini cost",)}, "nothing says of which rater 'gpt-4o-mini cost'"),
        ("p", {"rater_id": ALL, "cost_usd": ("", "", "q", "")}, "there is no column 'q'"),
        ("p", {"label": ("", "x")}, "there is no column ''"),
    ],
)
def test_a_price_is_of_the_rater_it_was_paid_for_or_asked_about(
    head: str, said: dict[str, tuple[str, ...]], costs: dict[str, list[str]] | str
) -> None:
    table = frame("id anna bo gpt-4o x p\n1 A B A B 0.5\n2 B B A A 0.6").rename(columns={"p": head})
    found = propose(table, Asked(columns=said, people=("anna", "bo")))
    if isinstance(costs, str):
        assert any(problem.startswith(costs) for problem in found.problems)
        return
    labels = tidy(table, found.mapping).labels.reindex(columns=["rater_id", "cost_usd"], fill_value="")
    paid = labels[labels["cost_usd"] != ""]
    assert paid.groupby("rater_id")["cost_usd"].agg(list).to_dict() == costs

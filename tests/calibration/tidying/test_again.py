"""A judge's repeats and prompts, words that stand on a scale, and columns of numbers that are nobody's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from calibration.table.checking import check_verdicts
from calibration.table.verdicts import normalise
from calibration.tidying.applying import tidy
from calibration.tidying.mapping import Asked
from calibration.tidying.proposing import propose
from calibration.tidying.readings import in_our_words, unordered

ITEMS = [f"q{at}" for at in range(12)]


def answers(step: int, size: int = 5) -> list[str]:
    return [str((at * step + step) % size + 1) for at in range(len(ITEMS))]


def called(runs: Sequence[Sequence[object]], who: str = "gpt-4o") -> pd.DataFrame:
    """One judge's rows with these runs on items in turn, and a person's."""
    rows = [(f"q{at}", who, "judge", run) for at, own in enumerate(runs) for run in own]
    rows += [(f"q{at}", "ann_1", "human", "") for at in range(len(runs))]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "run"])
    return frame.assign(criterion="c", label="A", cluster_id=frame["item_id"])


@pytest.mark.parametrize(
    ("runs", "numbered"),
    [
        (
            [[1, 2], [2, 3], [1, 3]],
            [1, 2, 2, 3, 1, 3],
        ),  # a failed call's row is gone: the others stay the runs they are
        ([[0, 1], [1, 2], [0, 2]], [1, 2, 2, 3, 1, 3]),  # counted from 0
        ([[2, 3], [3]], [1, 2, 2]),  # the first is the lowest there is
        ([[42, 7], [42], [7]], [2, 1, 2, 1]),  # seeds, which some item has all of
        ([[981, 17], [44, 5]], [2, 1, 2, 1]),  # a seed for each call: only their order on an item
    ],
)
def test_a_run_is_the_same_over_items_and_the_first_the_lowest_there_is(
    runs: list[list[int]], numbered: list[int]
) -> None:
    made = normalise(called(runs))[0]
    assert made["run"].tolist() == [*numbered, *[1] * len(runs)]
    check_verdicts(called(runs))
    again = made.astype({"rater_id": "str", "rater_kind": "str"})
    assert normalise(again)[0]["run"].equals(made["run"]), "what is numbered stays"


@pytest.mark.parametrize(
    ("runs", "numbered"),
    [
        ([["run 2", "run 10"], ["run 10"]], [1, 2, 2]),
        ([["0.7", "0.0"], ["0.7"]], [2, 1, 2]),
        ([["Mon", "Tue"], ["Tue", "Wed"]], [1, 2, 1, 2]),  # no item has all three days: only their order on an item
    ],
)
def test_runs_called_by_words_and_temperatures_are_numbered_alike(runs: list[list[str]], numbered: list[int]) -> None:
    table = called(runs).astype("str")
    made = tidy(table, propose(table).mapping)
    assert made.labels["run"].tolist() == [*map(str, numbered), *[""] * len(runs)]
    assert "the run is no number of a repeat, such as" in str(made.told)


@pytest.mark.parametrize(
    ("heads", "raters"),
    [
        (["score_run1", "score_run2", "score_run3"], {"score": 3}),
        (["gpt-4o_run0", "gpt-4o_run1", "claude-3_run0", "claude-3_run1"], {"gpt-4o": 2, "claude-3": 2}),  # no criteria
        (["gpt-4o seed 7", "gpt-4o seed 42"], {"gpt-4o": 2}),
        (["judge_trial1_rating", "judge_trial2_rating"], {"judge": 2}),
        (["gpt-4o_Durchlauf1", "gpt-4o_Durchlauf2"], {"gpt-4o": 2}),
        (["judge_1", "judge_2"], {"judge_1": 1, "judge_2": 1}),
        (["gpt-4.1_run1", "gpt-4o_run2"], {"gpt-4.1_run1": 1, "gpt-4o_run2": 1}),
    ],
)
def test_columns_that_differ_in_a_runs_number_alone_are_one_rater_asked_again(
    heads: Sequence[str], raters: Mapping[str, int]
) -> None:
    table = pd.DataFrame({"id": ITEMS, "human": answers(1)} | {head: answers(at) for at, head in enumerate(heads, 2)})
    found = propose(table, Asked(people=("human",)))
    made = tidy(table, found.mapping)
    assert not (*found.problems, *made.problems)
    runs = check_verdicts(made.labels).astype({"rater_id": "str"}).groupby("rater_id")["run"].nunique()
    assert runs.to_dict() == raters | {"human": 1}
    by = [name for name in ("rater_id", "run") if name in made.labels]
    given = made.labels.groupby(by, sort=False)["label"].agg(list).tolist()
    assert sorted(given) == sorted(table[head].tolist() for head in ("human", *heads))
    failed = table.assign(**{heads[-1]: ["ERROR", "", *answers(9)[2:]], "date": ITEMS})
    calls = check_verdicts(tidy(failed, propose(failed, Asked(people=("human",))).mapping).labels)
    judged = calls[calls["rater_kind"].eq("judge")]
    assert len(judged) == len(heads) * len(ITEMS), "a call that failed is a run as its head says"
    assert judged[["item_id", "rater_id", "run"]].drop_duplicates().shape[0] == len(judged)
    apart = propose(table, Asked(people=("human",), constants={"run": "1"}))
    assert len(apart.mapping.kinds) == len(heads) + 1, "--map run==1 keeps them apart"


def test_a_runs_columns_to_each_criterion_and_their_prices_stay_with_their_answers() -> None:
    heads = {f"gpt-4o_run{run}_{what}": answers(run + place) for run in (1, 2) for place, what in enumerate("cd")}
    table = pd.DataFrame({"id": ITEMS, "human_c": answers(1), "human_d": answers(2)} | heads)
    made = tidy(table, propose(table).mapping).labels
    of_judge = made[made["rater_id"] == "gpt-4o"]
    for run in (1, 2):
        for what in "cd":
            own = of_judge[(of_judge["run"] == str(run)) & (of_judge["criterion"] == what)]
            assert own["label"].tolist() == table[f"gpt-4o_run{run}_{what}"].tolist()


@pytest.mark.parametrize("head", ["prompt", "prompt_name", "template"])
@pytest.mark.parametrize("item", ["question", "item_id"])
def test_two_prompts_of_one_model_are_asked_about_and_may_be_two_judges(head: str, item: str) -> None:
    rows = [
        (name, who, prompt, "AB"[(at + len(prompt)) % 2])
        for at, name in enumerate(ITEMS)
        for who, prompt in (("ann_1", ""), ("ann_2", ""), ("gpt-4o", "strict"), ("gpt-4o", "lenient rubric"))
    ]
    table = pd.DataFrame(rows, columns=[item, "judge", head, "label"])
    (problem,) = propose(table).problems
    said = f"--map rater_id=judge+{head},label=label where each is a judge of its own"
    assert f"--map run={head} where they were asked again, {said}" in problem
    found = propose(table, Asked(columns={"rater_id": ("judge", head), "label": ("label",)}))
    made = check_verdicts(tidy(table, found.mapping).labels)
    kinds = made.astype({"rater_id": "str"}).groupby("rater_id")["rater_kind"].first().astype("str").to_dict()
    assert kinds == {"ann_1": "human", "ann_2": "human", "gpt-4o strict": "judge", "gpt-4o lenient rubric": "judge"}
    assert made["item_id"].nunique() == len(ITEMS)


def test_a_prompt_of_each_judge_is_no_topic() -> None:
    prompts = {"ann_1": "", "ann_2": "", "gpt-4o": "strict", "claude-3": "lenient"}
    rows = [(name, who, prompt, "A") for name in ITEMS for who, prompt in prompts.items()]
    table = pd.DataFrame(rows, columns=["id", "judge", "prompt", "label"])
    for own in (table, table[table["judge"] != "claude-3"]):
        found = propose(own)
        assert "'prompt' is no topic: it differs between the answers to an item" in found.told
        assert check_verdicts(tidy(own, found.mapping).labels)["cluster_id"].nunique() == len(ITEMS)


def test_a_topic_whose_items_are_numbered_anew_stays_one() -> None:
    rows = [
        (str(at), topic, who, "AB"[at % 2])
        for topic in ("solar", "wind", "tides")
        for at in range(5)
        for who in ("ann_1", "ann_2", "gpt-4o")
    ]
    table = pd.DataFrame(rows, columns=["id", "topic", "rater", "label"])
    made = check_verdicts(tidy(table, propose(table).mapping).labels)
    assert (made["item_id"].nunique(), made["cluster_id"].nunique()) == (15, 3)


def test_a_judges_column_beside_its_runs_is_asked_about() -> None:
    runs = {f"gpt-4o_run{run}": answers(run) for run in (1, 2)}
    table = pd.DataFrame({"id": ITEMS, "human": answers(1), "gpt-4o": answers(3)} | runs)
    assert "gpt-4o beside the same rater's columns with numbers of runs: --map ignore=gpt-4o" in str(
        propose(table).problems
    )
    assert not propose(table.drop(columns="gpt-4o")).problems


def test_words_of_a_scale_in_our_own_columns_stay_words_and_that_is_told() -> None:
    labels = pd.DataFrame({"criterion": ["tone"] * 5 + ["won"] * 2, "label": [*AGREE, "A", "B"]})
    assert in_our_words(labels)
    (told,) = unordered(labels)
    assert told.startswith("answers to tone are words of a scale, and have no order unless the settings declare it")
    assert unordered(labels.iloc[5:]) == ()


AGREE = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
SCALES = [
    AGREE,
    ["Strongly disagree", "Disagree", "Somewhat disagree", "Neutral", "Somewhat agree", "Agree", "Strongly agree"],
    ["Very poor", "Poor", "Fair", "Good", "Very good"],
    ["very unlikely", "unlikely", "neutral", "likely", "very likely"],
    ["Never", "Rarely", "Sometimes", "Often", "Always"],
    ["Very dissatisfied", "Dissatisfied", "Neutral", "Satisfied", "Very satisfied"],
    ["Not at all important", "Slightly important", "Moderately important", "Very important", "Extremely important"],
    ["trifft überhaupt nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft voll und ganz zu"],
    ["ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"],
    ["非常不同意", "不同意", "一般", "同意", "非常同意"],
]


@pytest.mark.parametrize("scale", SCALES, ids=[scale[0] for scale in SCALES])
def test_the_words_of_a_whole_scale_keep_their_order_and_of_a_part_or_beside_another_word_are_asked_about(
    scale: list[str],
) -> None:
    given = [scale[int(one) % len(scale)] for one in answers(1, 7)]
    table = pd.DataFrame({"id": ITEMS, "human": given, "gpt-4o": given[::-1]})
    found = propose(table)
    assert f"{scale[0]!r} is 1" in str(found.told)
    labels = tidy(table, found.mapping).labels
    said = labels.loc[labels["rater_id"] == "human", "label"].tolist()
    assert [scale[int(one) - 1] for one in said] == given
    assert not propose(table, Asked(labels_are="words")).problems
    part = table.replace(scale[0], scale[1])
    assert "may be words of a scale, of which nobody uses all levels" in str(propose(part).problems)
    assert "'cannot say' is no level" in str(propose(table.assign(**{"gpt-4o": ["cannot say", *given[1:]]})).problems)
    words = {word: str(at) for at, word in enumerate(scale, start=1)}
    assert not propose(part, Asked(words=words)).problems


def test_a_judges_numbers_beside_peoples_words_of_a_scale_are_asked_about_with_its_levels() -> None:
    table = pd.DataFrame({"id": ITEMS, "human": (AGREE * 3)[:12], "gpt-4o": (["4", "2", "3", "1", "5"] * 3)[:12]})
    said = "Agree=4,Disagree=2,Neither agree nor disagree=3,Strongly agree=5,Strongly disagree=1"
    assert f"--map-label '{said}'" in str(propose(table).problems)


def test_an_items_number_beside_raters_by_criteria_is_no_answer() -> None:
    heads = [f"{who}_{what}" for who in ("Gutachter1", "Gutachter2", "GPT4") for what in ("Klarheit", "Tiefe")]
    table = pd.DataFrame(
        {"Text_Nr": [*map(str, range(1, 13))]} | {head: answers(at) for at, head in enumerate(heads, 1)}
    )
    found = propose(table)
    assert (found.problems, len(found.mapping.spread), found.mapping.columns["item_id"]) == ((), 6, ("Text_Nr",))
    assert found.mapping.kinds == {"Gutachter1": "human", "Gutachter2": "human", "GPT4": "judge"}


def test_a_scale_that_all_criteria_use_together_is_that_of_each() -> None:
    table = pd.DataFrame({"id": ITEMS, "human_a": (AGREE * 3)[:12], "gpt-4o_a": AGREE[3:] * 6,
                          "human_b": AGREE[2:5] * 4, "gpt-4o_b": AGREE[2:4] * 6})  # fmt: skip
    labels = tidy(table, propose(table).mapping).labels
    assert {*labels.loc[labels["criterion"] == "b", "label"]} == {"3", "4", "5"}


@pytest.mark.parametrize(
    ("heads", "people", "asks"),
    [
        (("ann_1", "ann_2", "mini"), (), "people or judges: ann_1, ann_2, mini, difficulty; name"),
        (("ann_1", "ann_2", "gpt-4o"), (), "difficulty looks like a rater too"),
        (("ann_1", "ann_2", "gpt-4o"), ("ann_1", "ann_2"), "difficulty: scores like the raters' and others"),
    ],
)
def test_a_column_of_numbers_is_a_rater_only_where_it_may_be_and_that_is_asked(
    heads: Sequence[str], people: tuple[str, ...], asks: str
) -> None:
    columns = dict(zip(heads, (answers(1), answers(2), answers(3)), strict=True))
    table = pd.DataFrame(
        {"id": ITEMS, **columns, "difficulty": ["1", "2", "3"] * 4, "words": [*map(str, range(20, 32))]}
    )
    found = propose(table, Asked(people=people))
    assert asks in " ".join(found.problems)
    assert "words" not in " ".join(found.problems)
    named = Asked(people=("ann_1", "ann_2"), columns={"rater_id": heads})
    assert not propose(table, named).problems


@pytest.mark.parametrize(
    ("other", "left"),
    [("B", 4), ("A", 8)],  # where an answer differs within its item, what tells its rows apart is asked about
)
def test_rows_that_repeat_what_each_rater_said_of_an_item_are_one_answer(other: str, left: int) -> None:
    table = pd.DataFrame(
        {"prompt_id": ["p1", "p1", "p2", "p2"], "worker_id": ["w1", "w2", "w1", "w2"], "seconds": ["2", "3", "1", "4"],
         "mara": ["A", "A", "B", other], "gpt-4": ["A", "A", "A", "A"], "gpt-4 cost": ["1", "1", "2", "2"]}
    )  # fmt: skip
    said = {"rater_id": ("mara", "gpt-4")}
    found = propose(table, Asked(said, people=("mara",)))
    only = ["only worker_id tells apart what is answered twice: --map item_id=prompt_id+worker_id"] * (left == 8)
    assert [asks.split(" where ")[0] for asks in found.problems] == only
    assert found.mapping.columns["item_id"] == ("prompt_id",), "who was asked and how long it took names no item"
    made = tidy(table, found.mapping)
    assert len(made.labels) == left
    assert any("say again what a rater's first row of it says, left out: 4" in one for one in made.told) == (left == 4)
    by_day = propose(table.assign(day=["mon", "tue", "mon", "tue"]), Asked(said, people=("mara",)))
    is_part = (
        "--map item_id=prompt_id+day where it is part of what was asked, --map item_id=prompt_id where one thing is"
    )
    assert [is_part in asks for asks in by_day.problems] == [True] * (left == 4), "asked where a rater says all twice"
    assert by_day.mapping.columns["item_id"] == ("prompt_id", "day")


def test_fractions_of_a_judge_beside_peoples_words_are_to_be_cut_first() -> None:
    """No proposal of hundreds of numbers, or of the number that is spelt most like a word."""
    words, chances = ["safe", "unsafe", "borderline"] * 10, [f"0.{at:02}1" for at in range(30)]
    table = pd.DataFrame({"item": range(30), "ann_1": words, "ann_2": words, "gpt-4o": chances}).astype("str")
    said = Asked({"rater_id": ("ann_1", "ann_2", "gpt-4o")})
    (asks,) = propose(table, said).problems
    assert (
        "fractions beside 'borderline', 'safe', 'unsafe': nothing says from where on which word is meant; cut" in asks
    )
    assert "--map-label" not in asks

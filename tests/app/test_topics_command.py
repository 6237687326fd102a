"""`calipers systems` and `calipers topics`: how systems compare topic by topic, and which topics are hard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from app.command_line import app
from calibration.arithmetic.correlation import pearson
from tests.exports.toy_studies import gym_study, race_study, wlc_study

runner = CliRunner()


def run(*words: str) -> str:
    done = runner.invoke(app, [*words, "--resamples", "99"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    race_study().to_csv(tmp_path / "labels.csv", index=False)
    return str(tmp_path / "labels.csv")


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    two_agents().to_csv(tmp_path / "labels.csv", index=False)
    return str(tmp_path / "labels.csv")


def two_agents() -> pd.DataFrame:
    """The same articles by a second agent, which wins all and only on the last topic."""
    first = wlc_study()
    label = first["cluster_id"].map(lambda topic: "A" if topic == "t5" else "B").where(first["label"] != "", "")
    return pd.concat([first, first.assign(item_id=first["item_id"] + "x", system_a="other", label=label)])


def test_every_two_systems_are_compared_by_people_and_by_the_judge(ratings: str) -> None:
    found = json.loads(run("systems", ratings, "--json"))
    assert [(row["rater"], row["system"], row["other"]) for row in found["rows"]] == [
        (rater, *two) for rater in ("annotators", "judge-x") for two in (("x", "y"), ("x", "z"), ("y", "z"))
    ]
    said = run("systems", ratings)
    assert "Wilcoxon" in said
    assert "ρ over topics" in said


def test_two_conditions_are_compared_on_one_score(ratings: str) -> None:
    found = json.loads(run("systems", ratings, "--pair", "x=z", "--criterion", "overall", "--json"))
    assert {(row["system"], row["other"]) for row in found["rows"]} == {("x", "z")}
    assert found["rows"][1]["difference"]["value"] == -2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pair", "x"), "write SYSTEM=OTHER"),
        (("--pair", "x=w"), "the systems are x, y, z"),
        (("--pair", "x=x"), "'x' is named on both sides"),
        (("--pair", "x=y", "--pair", "y=x"), "y and x are compared twice"),
        (("--criterion", "depth"), "the criteria are overall"),
    ],
)
def test_names_that_are_unknown_are_refused_with_those_there_are(
    ratings: str, words: tuple[str, ...], said: str
) -> None:
    done = runner.invoke(app, ["systems", ratings, *words])
    assert done.exit_code != 0
    assert said in " ".join((done.output + str(done.exception)).split())


def test_a_feature_goes_along_with_difficulty_as_pearson_says(pairs: str, tmp_path: Path) -> None:
    views = {"t0": "5", "t1": "3", "t2": "8", "t3": "1", "t4": "9", "t5": ""}
    rows = "".join(f"{topic},{value},text\n" for topic, value in views.items())
    (tmp_path / "topics.csv").write_text(f"topic,views,title\n{rows}", encoding="utf-8")
    found = json.loads(run("topics", pairs, "--features", str(tmp_path / "topics.csv"), "--json"))
    (row,) = found["rows"]  # a title is no number
    people = two_agents().query("rater_kind == 'human'")
    won = (people["label"] == "A").groupby(people["cluster_id"]).mean()
    known = [topic for topic in sorted(views) if views[topic]]
    assert row["n"] == 5  # the sixth topic's views are unknown
    assert row["pearson"]["value"] == pytest.approx(pearson([won[t] for t in known], [float(views[t]) for t in known]))


def test_without_anything_known_of_topics_the_remedy_is_said(pairs: str, tmp_path: Path) -> None:
    done = runner.invoke(app, ["topics", pairs, "--resamples", "99"])
    assert "--features" in str(done.exception)
    (tmp_path / "other.csv").write_text("id,views\nt0,1\n", encoding="utf-8")
    done = runner.invoke(app, ["topics", pairs, "--features", str(tmp_path / "other.csv"), "--resamples", "99"])
    assert "found: id, views" in str(done.exception)


def by_judge_alone() -> pd.DataFrame:
    """Two agents against a reference on eight topics of two categories, labelled by one judge and nobody else.

    `good` wins every topic of history and every second one of physics, `bad` none.
    """
    rows = []
    for topic in range(8):
        category = "history" if topic < 4 else "physics"
        for agent, wins in (("good", topic < 4 or topic % 2 == 1), ("bad", False)):
            label = "A" if wins else "B"
            rows.append((f"{agent}{topic}", "mini", "judge", "c", label, f"t{topic}", agent, "wikipedia", category))
    names = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b"]
    return pd.DataFrame(rows, columns=[*names, "category"])


def lines(told: str) -> dict[str, list[dict[str, Any]]]:
    """`topics --json`, one object after another: name of each table -> its rows."""
    found, decoder = {}, json.JSONDecoder()
    while told.strip():
        table, end = decoder.raw_decode(told.lstrip())
        found[table["name"]] = table["rows"]
        told = told.lstrip()[end:]
    return found


def test_tables_of_topics_rest_on_one_judge_alone(tmp_path: Path) -> None:
    by_judge_alone().to_csv(tmp_path / "labels.csv", index=False)
    (tmp_path / "topics.csv").write_text("topic,views\n" + "".join(f"t{n},{n}\n" for n in range(8)), encoding="utf-8")
    words = ["topics", str(tmp_path / "labels.csv"), "--features", str(tmp_path / "topics.csv")]
    found = lines(run(*words, "--by", "mini", "--json"))
    by_category = {row["category"]: row for row in found["category_scores"]}
    assert [by_category[name]["all"]["value"] for name in ("history", "physics")] == [0.5, 0.25]
    assert [by_category[name]["system: good"]["value"] for name in ("history", "physics")] == [1.0, 0.5]
    assert {row["topics"] for row in by_category.values()} == {4}
    assert "system: wikipedia" not in by_category["history"], "the reference mirrors the others"
    assert {row["system"] for row in found["categories"]} == {"good"}, "bad never varies"
    (views,) = found["difficulty"]
    won = [0.5, 0.5, 0.5, 0.5, 0, 0.5, 0, 0.5]
    assert (views["feature"], views["n"]) == ("views", 8)
    assert views["pearson"]["value"] == pytest.approx(pearson(won, list(map(float, range(8)))))
    said = run(*words, "--by", "mini")
    assert "by mini" in said
    assert "by people" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no person labelled; name a judge (mini)"),
        (("--by", "maxi"), "no rater is called 'maxi'; the judges are mini"),
        (("--by", "mini", "--measure", "KPR"), "choose one of win rate"),
    ],
)
def test_whose_topics_are_is_never_guessed(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    by_judge_alone().to_csv(tmp_path / "labels.csv", index=False)
    done = runner.invoke(app, ["topics", str(tmp_path / "labels.csv"), *words, "--resamples", "99"])
    assert done.exit_code != 0
    assert said in " ".join((done.output + str(done.exception)).replace("│", " ").split())


def test_topics_are_scored_by_ratings_and_by_claims(tmp_path: Path) -> None:
    names = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "category"]
    rated = [(f"{s}{n}", "mini", "judge", "depth", str(n + (s == "x")), f"t{n}", s, "ab"[n % 2]) for n in range(6) for s in "xy"]  # fmt: skip
    pd.DataFrame(rated, columns=names).to_csv(tmp_path / "ratings.csv", index=False)
    found = lines(run("topics", str(tmp_path / "ratings.csv"), "--by", "mini", "--json"))
    assert [(row["category"], row["all"]["value"]) for row in found["category_scores"]] == [("a", 2.5), ("b", 3.5)]
    points = [
        (f"{s}{n}-{k}", "mini", "judge", "covered", "Supported" if k <= n else "Omitted", f"t{n}", s, "ab"[n % 2])
        for n in range(4) for s in "xy" for k in range(4)
    ]  # fmt: skip
    pd.DataFrame(points, columns=names).to_csv(tmp_path / "points.csv", index=False)
    words = ["topics", str(tmp_path / "points.csv"), "--protocol", "drg_keypoints", "--by", "mini", "--json"]
    found = lines(run(*words))
    # of four points 1, 2, 3 and 4 are supported on topics 0 to 3
    assert [row["all"]["value"] for row in found["category_scores"]] == [0.5, 0.75]
    assert [row["all"]["value"] for row in lines(run(*words, "--measure", "KPC"))["category_scores"]] == [0, 0]


def test_columns_and_topics_that_cannot_be_used_are_told(pairs: str, tmp_path: Path) -> None:
    (tmp_path / "topics.csv").write_text("topic,views,rank\nt0,5,1\nt1,n/a,2\nt2,7,3\n", encoding="utf-8")
    done = runner.invoke(app, ["topics", pairs, "--features", str(tmp_path / "topics.csv"), "--resamples", "99"])
    assert "columns left out, not a number in every row: views" in done.stderr
    (tmp_path / "topics.csv").write_text("topic,views\nT0,5\nT1,6\n", encoding="utf-8")
    done = runner.invoke(app, ["topics", pairs, "--features", str(tmp_path / "topics.csv"), "--resamples", "99"])
    assert "none of the topics with numbers ('T0', 'T1') is one of the labels'" in str(done.exception)


def test_without_a_reference_no_topic_is_called_hard(tmp_path: Path) -> None:
    every_two = two_agents().query("system_a != 'other'").assign(category="c")
    every_two.to_csv(tmp_path / "labels.csv", index=False)
    views = "".join(f"t{number},{number}\n" for number in range(6))
    (tmp_path / "topics.csv").write_text(f"topic,views\n{views}", encoding="utf-8")
    words = ["topics", str(tmp_path / "labels.csv"), "--features", str(tmp_path / "topics.csv"), "--resamples", "99"]
    done = runner.invoke(app, words)
    assert "no one system stands in every pair as the reference" in done.output + str(done.exception)


def test_mixed_tables_say_what_they_lack(tmp_path: Path) -> None:
    gym_study().to_csv(tmp_path / "gym.csv", index=False)
    done = runner.invoke(app, ["systems", str(tmp_path / "gym.csv"), "--resamples", "99"])
    assert done.exit_code != 0
    assert "scale" in str(done.exception)

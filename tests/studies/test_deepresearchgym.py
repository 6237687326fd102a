"""DeepResearchGym again: preferences of 7 people, a judge's scores against them, key points; its tables with intervals."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibration.totals.system_differences import system_differences
from exports.as_json import as_json
from exports.sheets.system_pairs import differences_table
from exports.sheets.systems import systems_table
from tests.annotation.judges.conftest import Fake
from tests.annotation.layout_trees import json_lines, put
from tests.studies.desk import Desk, Task, a_desk
from tests.studies.page import same_on_the_page
from tests.studies.tables import Tables, commands, holds, on_a_page, rows_of

pytestmark = pytest.mark.slow

SYSTEMS = {"atlas": 0.66, "borealis": 0.46, "atlas_custom": 0.60, "borealis_custom": 0.42}  # mean worth of a report
QUESTIONS = tuple(str(1000 + number) for number in range(42))
SCORES = ("clarity", "insightfulness", "depth", "balance", "breadth", "support")
EASE, OWN, APART = 0.10, 0.10, 0.04  # SDs of a question, of a report on it, of one criterion of a report
PERSON = 0.9  # how often a person takes the better report, or labels a key point rightly
NOISE = {"fine": 0.03, "coarse": 0.2}  # SD of a judge's score, as a share of the scale
JUDGES = "".join(
    f'[[judge]]\nname = "{name}"\nmodel = "openai/fake-score-{noise}"\napi_base = "{{base}}"\nbatching = "all"\n'
    "price = {{input = 0.4, output = 1.6}}\n\n"
    for name, noise in NOISE.items()
)
READER = "gpt-4.1-mini"  # of the published result files


def worths() -> dict[tuple[str, str], dict[str, float]]:
    """(question, system) -> what its report is worth on each criterion: planted, and never seen by calipers."""
    draw = random.Random(11)
    found = {}
    for question in QUESTIONS:
        ease = draw.gauss(0, EASE)
        for system, mean in SYSTEMS.items():
            own = mean + ease + draw.gauss(0, OWN)
            found[question, system] = {
                name: round(min(max(own + draw.gauss(0, APART), 0.02), 0.98), 3) for name in SCORES
            }
    return found


WORTH = worths()
OVERALL = {key: sum(scores.values()) / len(scores) for key, scores in WORTH.items()}
COMPARED = {  # commercial systems on even, the other search on odd questions
    question: ("atlas", "borealis") if number % 2 == 0 else ("atlas_custom", "borealis_custom")
    for number, question in enumerate(QUESTIONS)
}
KINDS = ("Supported", "Omitted", "Contradicted")
POINT_NUMBERS = (1, 2, 3)  # key points of a question: the better a report, the more of them it supports
POINTS = {
    (question, system, number): "Supported" if 3 * worth > number - 0.6 else KINDS[1 + (place + number) % 2]
    for place, ((question, system), worth) in enumerate(OVERALL.items())
    for number in POINT_NUMBERS
}
READS = 0.9  # how often the published judge labels a key point or a claim rightly
SUPPORT = (1.0, 0.5, 0.0)
CLAIM_NUMBERS = (1, 2, 3, 4)  # claims of a report


def page(number: int) -> str:
    """The address that a claim of this number cites."""
    return f"https://a.org/{number}"


def write_tree(root: Path) -> Path:
    """Their layout: queries by id, reports as ID.a below each system, key points by id; some files are empty."""
    queries = [{"id": question, "query": f"What keeps lake {question} clear?"} for question in QUESTIONS]
    put(root / "queries/researchy.jsonl", json_lines(queries))
    for (question, system), scores in WORTH.items():
        marks = " ".join(["[[q=0.5]]", *(f"[[q.{name}={value}]]" for name, value in scores.items())])
        manner = [*SYSTEMS].index(system)
        text = f"# Lake {question}\n\nIt is told here in manner {manner}, with a source [1].\n\n`{marks}`\n"
        put(root / f"reports/{system}/{question}.a", text)
        put(root / f"reports/{system}/{question}.q", f"What keeps lake {question} clear?\n")
    for question in QUESTIONS[1:]:
        points = [{"point_number": number, "point_content": f"Point {number} of it."} for number in POINT_NUMBERS]
        put(root / f"key_point/{question}_aggregated.json", json.dumps({"question": question, "key_points": points}))
    put(root / f"key_point/{QUESTIONS[0]}_aggregated.json", "")
    put(root / "pages/pages.csv", "url,file\n" + "".join(f"{page(n)},{n}.txt\n" for n in CLAIM_NUMBERS))
    for n in CLAIM_NUMBERS:
        put(root / f"pages/{n}.txt", f"The page {n}.\n")
    for system in SYSTEMS:
        for kind, results in (("kpr", points_judged(system)), ("citation", claims_judged(system))):
            put(root / f"reports/{system}/evaluation_results_{kind}_{READER}.json", json.dumps(results))
    return root


def points_judged(system: str) -> dict[str, Any]:
    """Their file of key points: the true label mostly, another one otherwise."""
    draw = random.Random(f"points {system}")
    found = {}
    for question in QUESTIONS[1:]:
        true = {number: POINTS[question, system, number] for number in POINT_NUMBERS}
        said = {n: one if draw.random() < READS else draw.choice(KINDS) for n, one in true.items()}
        found[question] = {"labels": {str(number): [label, "read"] for number, label in said.items()}}
    return found


def claims_judged(system: str) -> dict[str, Any]:
    """Their file of claims: four a report, the better the report the more of them are supported in full."""
    draw = random.Random(f"claims {system}")
    found = {}
    for question in QUESTIONS:
        claims = {}
        for number in CLAIM_NUMBERS:
            true = 1.0 if 4 * OVERALL[question, system] > number - 0.5 else 0.5 * (number % 2)
            score = true if draw.random() < READS else draw.choice(SUPPORT)
            text = f"Claim {number} of {system} on {question}."
            claims[f"claim_{number}"] = {
                "claim": text,
                "urls": [page(number), *([page(1)] if number == 4 else [])],
                "score": score,
                "justification": ".",
            }
        found[question] = {"score": 0.5, "detailed": claims}
    return found


def chooser(task: Task) -> str:
    """The better report, wherever it stands; the other one as often as people err."""
    (better, other) = sorted(task.systems, key=lambda system: -OVERALL[task.topic, system])
    draw = random.Random(f"{task.person} {task.topic}")
    return "left" if (better if draw.random() < PERSON else other) == task.left else "right"


def reader(task: Task) -> str:
    number = int(task.probe.split()[1])
    draw = random.Random(f"{task.person} {task.topic} {task.systems} {number}")
    true = POINTS[task.topic, task.systems[0], number]
    return true if draw.random() < PERSON else draw.choice([name for name in KINDS if name != true])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, fake_process: Fake) -> Iterator[Desk]:
    """The commands of the page, as they stand there."""
    fake_process.reset(latency_ms=0)
    with a_desk(tmp_path_factory.mktemp("gym")) as desk:
        write_tree(desk.folder / "gym_files")
        put(desk.folder / "judges.toml", JUDGES.format(base=fake_process.base))
        rows = "".join(f"{question},{one},{other}\n" for question, (one, other) in COMPARED.items())
        put(desk.folder / "pairs.csv", f"topic,system_a,system_b\n{rows}")
        for words in commands("deepresearchgym.md"):
            if words[0] in ("calibrate", "systems", "topics"):
                continue  # their tables are made below, without the figures
            desk(*words)
            if words[0] == "open" and words[1] in ("preference", "points"):
                desk.everybody_answers(words[1], {"preference": chooser, "points": reader}[words[1]])
        yield desk


def agreement_planted(noise: float, name: str) -> float:
    """How often a person and the sign of a judge's two scores say the same, equal scores dropped: many draws."""
    draw = np.random.default_rng(1)
    shape = 4_000, len(QUESTIONS)
    one, other = (
        np.array([WORTH[question, COMPARED[question][side]][name] for question in QUESTIONS]) for side in (0, 1)
    )
    better = np.sign([OVERALL[q, COMPARED[q][0]] - OVERALL[q, COMPARED[q][1]] for q in QUESTIONS])
    scores = [np.round(10 * np.clip(worth + draw.normal(0, noise, shape), 0, 1)) for worth in (one, other)]
    sign = np.sign(scores[0] - scores[1])
    right = (sign == better)[sign != 0].mean()
    return float(right * PERSON + (1 - right) * (1 - PERSON))


def recalled() -> dict[tuple[str, str], float]:
    """(question, system) -> KPR, from the result files alone."""
    found = {(q, system): one["labels"] for system in SYSTEMS for q, one in points_judged(system).items()}
    return {key: sum(label == "Supported" for label, _ in labels.values()) / 3 for key, labels in found.items()}


def precise() -> dict[tuple[str, str], float]:
    """(question, system) -> mean support of its claims, from the result files alone."""
    found = {(q, system): one["detailed"] for system in SYSTEMS for q, one in claims_judged(system).items()}
    return {key: sum(claim["score"] for claim in claims.values()) / 4 for key, claims in found.items()}


def agreement_by_hand(verdicts: pd.DataFrame, score: dict[tuple[str, str], float]) -> tuple[float, int]:
    """Share of people's preferences that the sign of the difference of two scores shares, ties left out; their number."""
    same = []
    for row in verdicts.itertuples():
        a, b = (score.get((row.cluster_id, system)) for system in (row.system_a, row.system_b))
        if a is not None and b is not None and a != b:
            same.append((row.label == "A") == (a > b))
    return float(np.mean(same)), len(same)


def kappa_among_people(verdicts: pd.DataFrame) -> float:
    """Mean over every two people of kappa on the questions that both answered, over many draws of their errors.

    Two share about six questions, where kappa is lower on average than on many.
    """
    truth = verdicts.drop_duplicates("item_id").set_index("item_id")
    is_a = (truth["cluster_id"] + " " + truth["system_a"]).map({f"{q} {s}": w for (q, s), w in OVERALL.items()})
    is_b = (truth["cluster_id"] + " " + truth["system_b"]).map({f"{q} {s}": w for (q, s), w in OVERALL.items()})
    draw = np.random.default_rng(1)
    asked = verdicts.groupby("rater_id")["item_id"].agg(list)
    better = is_a > is_b
    said = {
        who: pd.DataFrame(better[items].to_numpy()[:, None] ^ (draw.random((len(items), 500)) > PERSON), index=items)
        for who, items in asked.items()
    }
    kappas = []
    for one, other in combinations(said, 2):
        both = said[one].index.intersection(said[other].index)
        if len(both):
            x, y = said[one].loc[both].to_numpy(), said[other].loc[both].to_numpy()
            chance = x.mean(0) * y.mean(0) + (1 - x.mean(0)) * (1 - y.mean(0))
            with np.errstate(invalid="ignore"):
                kappas.append(((x == y).mean(0) - chance) / (1 - chance))
    return float(np.nanmean(kappas, axis=0).mean())


def test_table_3_comes_out_with_intervals_that_hold_what_was_planted(done: Desk) -> None:
    tables = Tables("preference", "quality", "points", "citations")
    assert "join_loss" not in {one.code for one in tables.report.warnings}, "nobody was asked what others were"
    assert tables.report.choice is not None
    ours = {f"{judge} by {name}" for judge in NOISE for name in SCORES}
    assert ours < {one.judge for one in tables.report.choice.candidates}, "each score is a candidate"
    best = max(tables.report.choice.candidates, key=lambda one: one.agreement.value if one.agreement.n else 0)
    assert best.judge.startswith("fine by ")
    printed = tables.preset("deepresearchgym")
    rows = {(row["score"], row["judge"]): row for row in json.loads(as_json(printed))["rows"]}
    missed = 0
    for judge, noise in NOISE.items():
        for name in SCORES:
            kappa = rows[name, judge]["cohen_kappa_symmetrised"]
            missed += not holds(kappa, 2 * agreement_planted(noise, name) - 1)
            kept, asked = (int(part) for part in rows[name, judge]["kept"].split(" of "))
            assert asked == 3 * len(QUESTIONS)
            assert kept <= asked
    assert missed <= 1, "of twelve intervals of 95 %"
    clear = {judge: rows["clarity", judge]["cohen_kappa_symmetrised"]["value"] for judge in NOISE}
    assert clear["coarse"] < clear["fine"]
    judged = {"KPR": recalled(), "Precision": precise()}
    for name, score in judged.items():
        row = rows[name, READER]
        agreed, kept = agreement_by_hand(done.verdicts("preference"), score)
        assert row["cohen_kappa_symmetrised"]["value"] == pytest.approx(2 * agreed - 1), name
        assert row["kept"] == f"{kept} of {3 * len(QUESTIONS)}"
        assert row["cohen_kappa_symmetrised"]["low"] > 0, "the better report recalls and supports more"
    people = rows["overall", "annotators among themselves"]["cohen_kappa"]
    assert holds(people, kappa_among_people(done.verdicts("preference")))
    same_on_the_page("deepresearchgym.md", "table 3", on_a_page(printed))


def test_each_question_has_three_people_and_no_order_is_shared(done: Desk) -> None:
    verdicts = done.verdicts("preference")
    assert set(verdicts.groupby("item_id")["rater_id"].nunique()) == {3}
    assert set(verdicts.groupby("rater_id").size()) == {18}, "3 of 7: 42 x 3 / 7"
    shared = verdicts.groupby("item_id")["presentation"].nunique()
    assert (shared == 2).mean() > 0.5, "an order for each; in the original one was drawn for all three"


def test_wins_of_every_two_systems_are_those_planted(done: Desk) -> None:
    tables = Tables("preference")
    printed = tables.of(systems_table)
    rows = rows_of(printed)
    for pair in {*COMPARED.values()}:
        questions = [question for question, compared in COMPARED.items() if compared == pair]
        better = np.mean([OVERALL[question, pair[0]] > OVERALL[question, pair[1]] for question in questions])
        assert holds(rows[pair[0]]["Win rate: people"], float(better * PERSON + (1 - better) * (1 - PERSON)))
    met = {one.category for one in tables.report.estimates if one.statistic == "pair_win_rate"}
    assert len(met) >= 2, "the matrix has a cell for each two systems that met"
    same_on_the_page("deepresearchgym.md", "wins", on_a_page(printed))


def test_two_conditions_are_compared_question_by_question(done: Desk) -> None:
    tables = Tables("quality")
    pairs = [("atlas", "atlas_custom"), ("borealis", "borealis_custom")]
    found = system_differences(tables.found.labels, tables.report.settings, pairs, "clarity")
    for one in found:
        if one.rater != "fine":
            continue
        ours = [10 * (WORTH[q, one.system]["clarity"] - WORTH[q, one.other]["clarity"]) for q in QUESTIONS]
        assert one.difference.low <= np.mean(ours) <= one.difference.high
        # both conditions share a question's ease: its variance over all variance between questions
        assert one.spearman.low <= EASE**2 / (EASE**2 + OWN**2 + APART**2) <= one.spearman.high
    printed = differences_table(found, tables.report)
    assert printed is not None
    same_on_the_page("deepresearchgym.md", "conditions", on_a_page(printed))


def test_key_points_recalled_and_contradicted(done: Desk) -> None:
    printed = Tables("points").of(systems_table)
    planned = done.verdicts("points").query("rater_kind == 'human'").drop_duplicates("item_id")
    for system, row in rows_of(printed).items():
        true = [POINTS[q, s, n] for q, s, n in POINTS if s == system and q != QUESTIONS[0]]
        for name, label in (("KPR", "Supported"), ("KPC", "Contradicted")):
            share = true.count(label) / len(true)
            assert holds(row[f"{name}: {READER}"], share * READS + (1 - READS) / 3), (system, name)
            assert holds(row[f"{name}: people"], share * PERSON + (1 - share) * (1 - PERSON) / 2), (system, name)
    assert len(planned) == 60
    same_on_the_page("deepresearchgym.md", "points", on_a_page(printed))


def test_two_conditions_are_compared_by_key_points_too(done: Desk) -> None:
    """Figure 2 has key point recall beside clarity: claims are scores of a report."""
    (found,) = json.loads(done("systems", "points", "--pair", "atlas=atlas_custom", "--criterion", "KPR", "--json"))[
        "rows"
    ][-1:]
    rate = recalled()
    gaps = [rate[q, "atlas"] - rate[q, "atlas_custom"] for q in QUESTIONS[1:]]
    assert found["rater"] == READER
    assert (found["n"], found["difference"]["value"]) == (len(gaps), pytest.approx(np.mean(gaps)))


def test_a_questions_difficulty_is_that_of_a_score_joined_with_the_preference(done: Desk) -> None:
    given = done.verdicts("quality").query("rater_id == 'fine' and criterion == 'clarity'")
    score = given.assign(score=given["label"].astype(float)).groupby(["cluster_id", "system_a"])["score"].mean()
    hard = score.groupby("cluster_id").mean()
    clicks = {question: int(question) % 7 for question in QUESTIONS}
    put(done.folder / "topics.csv", "topic,clicks\n" + "".join(f"{q},{n}\n" for q, n in clicks.items()))
    (words,) = (words for words in commands("deepresearchgym.md") if words[0] == "topics")
    table = json.loads(done(*words, "--resamples", "99", "--json"))
    (row,) = table["rows"]
    assert row["pearson"]["value"] == pytest.approx(hard.corr(pd.Series(clicks)))
    assert "mean of clarity on a topic, by fine" in " ".join(table["notes"])

"""Eleven public sets in their publishers' own form, with answers drawn here, and what those answers come to.

Each builder writes files as the publisher ships them and returns the shares of equal answers that its own structures
give, worked out in plain Python: judge -> (equal, compared), over each person's answer beside the judge's.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

Shares = dict[str, tuple[int, int]]
SYSTEMS = ("alpaca-13b", "gpt-3.5-turbo", "llama-13b", "vicuna-13b")
QUESTIONS = range(81, 97)


def near(draw: random.Random, truth: Any, others: Iterable[Any], share: float) -> Any:
    return truth if draw.random() < share else draw.choice([one for one in others if one != truth])


def counted(pairs: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    listed = list(pairs)
    return sum(one == other for one, other in listed), len(listed)


def mt_bench_votes(draw: random.Random) -> tuple[list[dict[str, Any]], dict[tuple[int, str, str, int], str]]:
    """Votes of two of five experts on each question's turn with two systems; model_a is drawn for each vote."""
    truth = {
        (question, one, other, turn): draw.choice((one, other, "tie"))
        for question in QUESTIONS
        for one, other in ((SYSTEMS[0], SYSTEMS[1]), (SYSTEMS[2], SYSTEMS[3]))
        for turn in (1, 2)
    }
    rows = []
    for (question, one, other, turn), won in truth.items():
        for expert in draw.sample(range(5), 2):
            pair = [one, other]
            draw.shuffle(pair)
            vote = near(draw, won, (one, other, "tie"), 0.75)
            rows.append({
                "question_id": question, "model_a": pair[0], "model_b": pair[1], "judge": f"expert_{expert}",
                "winner": {pair[0]: "model_a", pair[1]: "model_b"}.get(vote, "tie"), "turn": turn,
                "conversation_a": [{"content": "…", "role": "user"}],
                "conversation_b": [{"content": "…", "role": "user"}],
            })  # fmt: skip
    return rows, truth


def winner(row: dict[str, Any]) -> str:
    return {"model_a": row["model_a"], "model_b": row["model_b"]}.get(row["winner"], "tie")


def key(row: dict[str, Any], one: str = "model_a", other: str = "model_b") -> tuple[Any, ...]:
    return row["question_id"], *sorted((row[one], row[other])), row["turn"]


def mt_bench(path: Path, draw: random.Random) -> Shares:
    """lmsys/mt_bench_human_judgments: the splits human and gpt4_pair as Parquet."""
    votes, truth = mt_bench_votes(draw)
    judged = []
    for question, one, other, turn in truth:
        word = draw.choice(("model_a", "model_b", "tie", "tie (inconsistent)"))
        judged.append({
            "question_id": question, "model_a": one, "model_b": other, "winner": word, "judge": "gpt4_pair",
            "conversation_a": [{"content": "…", "role": "user"}], "conversation_b": [{"content": "…", "role": "user"}],
            "turn": turn,
        })  # fmt: skip
    pd.DataFrame(votes).to_parquet(path / "human-00000-of-00001-25f4910818759289.parquet", index=False)
    pd.DataFrame(judged).to_parquet(path / "gpt4_pair-00000-of-00001-c0b431264a82ddc0.parquet", index=False)
    said = {key(row): winner(row) for row in judged}
    return {"gpt4_pair": counted((winner(row), said[key(row)]) for row in votes)}


def fastchat(path: Path, draw: random.Random) -> Shares:
    """FastChat's model_judgment/gpt-4_pair.jsonl beside the people's votes: two games, and a verdict where they agree."""
    votes, truth = mt_bench_votes(draw)
    games = []
    for question, one, other, turn in truth:
        words = [draw.choice(("model_1", "model_2", "tie", "error")) for _ in range(2)]
        games.append({
            "question_id": question, "model_1": one, "model_2": other, "g1_winner": words[0], "g2_winner": words[1],
            "judge": ["gpt-4", "pair-v2" if turn == 1 else "pair-v2-multi-turn"], "g1_user_prompt": "…",
            "g1_judgment": "…", "g2_user_prompt": "…", "g2_judgment": "…", "turn": turn, "tstamp": 1686286924.3,
        })  # fmt: skip
    (path / "gpt-4_pair.jsonl").write_text("".join(json.dumps(game) + "\n" for game in games))
    pd.DataFrame(votes).to_parquet(path / "human.parquet", index=False)
    said: dict[tuple[Any, ...], str] = {}
    for game in games:
        if "error" not in (game["g1_winner"], game["g2_winner"]):
            same = game["g1_winner"] == game["g2_winner"]
            named = {"model_1": game["model_1"], "model_2": game["model_2"]}
            said[key(game, "model_1", "model_2")] = named.get(game["g1_winner"], "tie") if same else "tie"
    pairs = [(winner(row), said[key(row)]) for row in votes if key(row) in said]
    return {"gpt-4 [both orders]": counted(pairs)}


def pandalm(path: Path, draw: random.Random) -> Shares:
    """data/: testset-v1.json with three people's answers, and the results of two judges by idx."""
    pairs, results = [], defaultdict(list)
    for number in range(60):
        truth = draw.choice((0, 1, 2))
        pairs.append({
            "idx": number, "motivation_app": draw.choice(("Grammarly", "Wikipedia")), "cmp_key": "bloom-7b_llama-7b",
            "instruction": f"instruction {number // 3}", "input": float("nan"), "response1": "…", "response2": "…",
            **{f"annotator{place}": near(draw, truth, (0, 1, 2), 0.9) for place in (1, 2, 3)},
        })  # fmt: skip
        told = str(near(draw, truth, (0, 1, 2), 0.7))
        results["gpt"].append({"idx": number, "gpt_result": draw.choice((told, told, "Tie")), "gpt_reason": "…"})
        results["pandalm"].append({"idx": number, "pandalm_result": draw.choice((told, told, "garbage"))})
    (path / "testset-v1.json").write_text(json.dumps(pairs, indent=4))
    for name, file in (("gpt", "gpt-3.5-turbo"), ("pandalm", "pandalm-7b")):
        (path / f"{file}-testset-v1.json").write_text(json.dumps(results[name], indent=4))

    def share(name: str) -> tuple[int, int]:
        found = []
        for pair, one in zip(pairs, results[name], strict=True):
            result = one[f"{name}_result"]
            if result != "garbage":
                verdict = 0 if result == "Tie" else int(result)
                found += [(pair[f"annotator{place}"], verdict) for place in (1, 2, 3)]
        return counted(found)

    return {"gpt-3.5-turbo": share("gpt"), "pandalm-7b": share("pandalm")}


def llmbar(path: Path, draw: random.Random) -> Shares:
    """Dataset/LLMBar/Natural and Adversarial/Manual: dataset.json and evaluators' result.json, asked in one order."""
    pairs = []
    for subset in ("Natural", "Adversarial/Manual"):
        folder = path / "Dataset" / "LLMBar" / subset
        data = [
            {
                "input": f"{subset} {number}",
                "output_1": "one",
                "output_2": f"two {number}",
                "label": draw.choice((1, 2)),
            }
            for number in range(20)
        ]
        results = []
        for one in data:
            won = str(near(draw, one["label"], (1, 2), 0.8))
            pairs.append((str(one["label"]), won))
            order = {"swap = False": {"completion": ["Output (a)", "stop"], "winner": won}}
            results.append(one | {"results": [order]})
        (folder / "evaluators" / "GPT-4" / "CoT").mkdir(parents=True)
        (folder / "dataset.json").write_text(json.dumps(data, indent=2))
        (folder / "evaluators" / "GPT-4" / "CoT" / "result.json").write_text(json.dumps(results, indent=2))
    return {"GPT-4 CoT": counted(pairs)}


def judgebench(path: Path, draw: random.Random) -> Shares:
    """data/ and outputs/: a judge asked in both orders, some of whose judgments failed, and a reward model in one."""
    pairs, results, shares = [], {}, {}
    for number in range(40):
        pairs.append({
            "pair_id": f"pair-{number}", "original_id": number // 2, "source": draw.choice(("mmlu-pro-law", "livebench")),
            "question": f"question {number // 2}", "response_model": "gpt-4o-2024-05-13", "response_A": "…",
            "response_B": "…", "label": draw.choice(("A>B", "B>A")),
        })  # fmt: skip
    turned = {"A>B": "B>A", "B>A": "A>B"}
    for judge, model, orders in (("arena_hard", "o1-mini", 2), ("reward_model", "Skywork/Reward-8B", 1)):
        told, found = [], []
        for pair in pairs:
            said = [near(draw, pair["label"], turned, 0.8) for _ in range(orders)]
            kept: list[Any] = [
                {"judgment": {"judge_model": model, "response": "…"}, "decision": turned[one] if place else one}
                for place, one in enumerate(said)
            ]
            if orders > 1 and draw.random() < 0.1:
                kept[1], said[1] = None, None
            told.append(pair | {"judge_name": judge, "judgments": kept})
            found.append((pair["label"], said))
        results[f"judge_name={judge},judge_model={model.replace('/', '_')}"] = told
        both = [
            (label, said[0] if said[0] == said[1] else "tie")
            for label, said in found
            if orders > 1 and None not in said
        ]
        shares |= {f"{judge} {model} [both orders]": counted(both)} if both else {
            f"{judge} {model}": counted([(label, said[0]) for label, said in found])
        }  # fmt: skip
    for folder, files in (("data", {"judgebench": pairs}), ("outputs", results)):
        (path / folder).mkdir()
        for name, rows in files.items():
            (path / folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return shares


def arena(path: Path, draw: random.Random) -> Shares:
    """lmarena-ai/arena-human-preference-55k, train.csv: a column for each winner; a judge's column is ours."""
    marks, rows, pairs = ("winner_model_a", "winner_model_b", "winner_tie"), [], []
    for number in range(60):
        truth = draw.choice(marks)
        said = near(draw, truth, marks, 0.7)
        rows.append({
            "id": 30192 + number, "model_a": draw.choice(("gpt-4", "vicuna-13b")), "model_b": "llama-2-70b-chat",
            "prompt": f'["question {number}?"]', "response_a": '["…"]', "response_b": '["…"]',
            **{mark: int(mark == truth) for mark in marks}, "gpt-4o": said.removeprefix("winner_"),
        })  # fmt: skip
        pairs.append((truth, said))
    pd.DataFrame(rows).to_csv(path / "train.csv", index=False)
    return {"gpt-4o": counted(pairs)}


def alpaca_eval(path: Path, draw: random.Random) -> Shares:
    """Four cross-annotations by people, and an annotator's annotations.json with probabilities as preferences."""
    people, judged, pairs = [], [], []
    for number in range(30):
        text = {"instruction": f"instruction {number}", "output_1": f"one {number}", "output_2": f"two {number}"}
        truth = draw.choice((1, 2))
        preference = draw.choice((float(near(draw, truth, (1, 2), 0.7)), 1.0 + draw.random(), 1.5))
        said = 0 if preference == 1.5 else 1 if preference < 1.5 else 2
        judged.append(text | {
            "generator_1": "text_davinci_003", "generator_2": "alpaca-7b", "dataset": "oasst", "preference": preference,
            "annotator": "weighted_alpaca_eval_gpt4_turbo", "price_per_example": 0.004, "time_per_example": 1.1,
        })  # fmt: skip
        for place in range(4):
            one = near(draw, truth, (0, 1, 2), 0.7)
            people.append(text | {"preference": one, "annotator_index": place, "dataset": "oasst", "datasplit": "eval"})
            pairs.append((one, said))
    (path / "alpaca_farm_human_crossannotations.json").write_text(json.dumps(people))
    (path / "annotations.json").write_text(json.dumps(judged))
    return {"weighted_alpaca_eval_gpt4_turbo": counted(pairs)}


def judge_bench(path: Path, draw: random.Random, category: str) -> Shares:
    answers: tuple[Any, ...] = (1, 2, 3, 4, 5) if category == "graded" else ("yes", "no")
    instances, pairs = [], []
    for number in range(30):
        truth = draw.choice(answers)
        people = [near(draw, truth, answers, 0.7) for _ in range(3)]
        said = near(draw, truth, answers, 0.6) if number else None  # a reply that their parser could not read
        told = {"individual_human_scores": people}
        instances.append({
            "id": number, "instance": "…", "annotations": {"grammaticality": told},
            "llama_3_70B": {"grammaticality": [said]}, "llama_3_70B_raw": {"grammaticality": ["[…]"]},
        })  # fmt: skip
        pairs += [(one, said) for one in people if said is not None]
    metric = {"metric": "grammaticality", "category": category, "prompt": "{{ instance }}"}
    held = {"dataset": "made here", "dataset_url": "", "annotations": [metric], "instances": instances}
    (path / f"{category}.json").write_text(json.dumps(held))
    return {"llama_3_70B": counted(pairs)}


def summeval(path: Path, draw: random.Random) -> Shares:
    """model_annotations.aligned.jsonl, and G-Eval's results of one criterion, one response each."""
    lines, responses, pairs = [], [], []
    for number in range(12):
        for system in ("M0", "M11"):
            truth = draw.randint(1, 5)
            experts = [
                {"coherence": near(draw, truth, range(1, 6), 0.6), "relevance": draw.randint(1, 5)} for _ in range(3)
            ]
            lines.append({
                "id": f"dm-test-{number:03}", "decoded": "…", "model_id": system, "references": ["…"], "filepath": "…",
                "expert_annotations": experts, "turker_annotations": [],
            })  # fmt: skip
            said = near(draw, truth, range(1, 6), 0.6)
            responses.append({
                "doc_id": f"dm-test-{number:03}", "system_id": system, "source": "…", "reference": "…", "scores": {},
                "system_output": "…", "all_responses": [draw.choice((str(said), f"{said}: coherent"))],
            })  # fmt: skip
            pairs += [(one["coherence"], said) for one in experts]
    (path / "model_annotations.aligned.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path / "gpt4_coh_detailed.json").write_text(json.dumps(responses))
    return {"gpt4": counted(pairs)}


def hanna(path: Path, draw: random.Random) -> Shares:
    """hanna_stories_annotations.csv, a row for each of three workers; a judge's rows as it was asked the same way."""
    rows, pairs = [], []
    for story in range(24):
        truth = draw.randint(1, 5)
        told = [near(draw, truth, range(1, 6), 0.6) for _ in range(3)]
        said = near(draw, truth, range(1, 6), 0.6)
        for who, score in zip(
            (*(f"A{draw.randint(1, 3)}{place}" for place in range(3)), "gpt-4o"), (*told, said), strict=True
        ):
            rows.append({
                "Story ID": story, "Prompt": f"prompt {story // 2}", "Human": "…", "Story": f"story {story} " * 10,
                "Model": "BertGeneration", "Relevance": score, "Worker ID": who, "Assignment ID": f"3{story}{who}",
            })  # fmt: skip
        pairs += [(one, said) for one in told]
    pd.DataFrame(rows).to_csv(path / "hanna_stories_annotations.csv", index=False)
    return {"gpt-4o": counted(pairs)}


SETS: dict[str, Callable[[Path, random.Random], Shares]] = {
    "MT-Bench": mt_bench, "MT-Bench, both games": fastchat, "PandaLM": pandalm, "LLMBar": llmbar,
    "AlpacaEval": alpaca_eval, "JUDGE-BENCH, graded": lambda path, draw: judge_bench(path, draw, "graded"),
    "JUDGE-BENCH, categorical": lambda path, draw: judge_bench(path, draw, "categorical"),
    "SummEval and G-Eval": summeval, "HANNA": hanna, "JudgeBench": judgebench, "Chatbot Arena": arena,
}  # fmt: skip

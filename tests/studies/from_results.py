"""What judges' answers of a study are by its result files, read here or as they were planted, and nothing of calipers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product

from tests.studies import from_files, own_trees, test_wlc
from tests.studies import test_deepresearchgym as gym
from tests.studies.desk import Desk

# topic, system (of a pair: the one that wins, or the agent), what is asked about ("" for the reports), criterion, answer
Said = Counter[tuple[str, str, str, str, str]]
AGENT = "openai"  # whose the files of Wiki Live Challenge are said to be


def judged(desk: Desk, study: str, files: str) -> Said:
    """What judges' answers say, or why one says nothing; of a claim also by which text, of a vote whose it is and its number."""
    labels = desk.verdicts(study).query("rater_kind == 'judge'")
    pairs = labels["label"].isin(["A", "B"])
    winner = labels["system_a"].where(labels["label"] != "B", labels["system_b"])
    agent = labels["system_a"].where(labels["system_a"] != "wikipedia", labels["system_b"])
    answers = labels["label"].astype("str").where(~pairs, "wins").where(labels["status"] == "ok", labels["status"])
    about = labels["item_id"].map(desk.probes(study, beside=files in BESIDE))
    if files == "reportbench":
        about += "\n" + labels["rater_id"].astype("str") + " " + labels["run"].astype("str")
    whose = winner.where(labels["status"] == "ok", agent)
    return Counter(zip(labels["cluster_id"], whose, about, labels["criterion"], answers, strict=True))


def first_shown(desk: Desk, study: str) -> str:
    """Whose report judges had first, of the valid answers about two; "" where the files do not say."""
    labels = desk.verdicts(study).query("rater_kind == 'judge' and status == 'ok' and presentation in ['AB', 'BA']")
    first = labels["system_a"].where(labels["presentation"] == "AB", labels["system_b"])
    return ", ".join(f"{system} {often}" for system, often in sorted(Counter(first).items()))


def wlc_files(desk: Desk) -> Said:
    titles, said = own_trees.wiki_tree(desk.folder / "planted", list(test_wlc.CRITERIA))
    none = {(titles[0], test_wlc.CRITERIA[0]): "invalid", (titles[1], test_wlc.CRITERIA[1]): "missing"}  # a tie; nobody
    whose, kept = (
        {"gen": AGENT, "gt": "wikipedia"},
        [key for key in said if key[0] != titles[2]],
    )  # its article is missing
    wins = ((*key, whose[said[key]]) for key in kept if key not in none)
    nothing = ((*key, AGENT) for key in none)
    return Counter((title, system, "", of, none.get((title, of), "wins")) for title, of, system in (*wins, *nothing))


def gym_files(_: Desk) -> Said:
    degrees = dict(zip(gym.SUPPORT, ("full", "partial", "no"), strict=True))
    files = {system: gym.claims_judged(system) for system in gym.SYSTEMS}
    return Counter(
        (question, system, claim["claim"], "support", degrees[claim["score"]])
        for system, found in files.items()
        for question, one in found.items()
        for claim in one["detailed"].values()
    )


def gym_scores(_: Desk) -> Said:
    """Two scores a report, 0 to 10, of six questions and two systems; the third report of GPTResearcher is missing."""
    scores = {
        (f"{354532 + n}", system): {"clarity": 4 + shift - 3 * (n == 5 and shift > 0), "insightfulness": 5}
        for n in own_trees.NUMBERS
        for system, shift in (("GPTResearcher", 2), ("search-r1_custom", 0))
        if (n, system) != (2, "GPTResearcher")
    }
    return Counter((*place, "", name, str(score)) for place, said in scores.items() for name, score in said.items())


def gym_points(_: Desk) -> Said:
    """Three key points a report, of the same reports; of one of them the judge said nothing of the third."""
    found = Said()
    for n in own_trees.NUMBERS:
        for system, shift in (("GPTResearcher", 2), ("search-r1_custom", 0)):
            first, third = "Supported" if (n + shift) % 3 else "Omitted", "missing" if n == 2 else "Contradicted"
            for point, said in enumerate((first, "Supported", third), start=1):
                if (n, system) != (2, "GPTResearcher"):
                    key = str(354532 + n)
                    found[key, system, f"Point {point} of {key}.", "covered", said] += 1
    return found


def dr3_claims(desk: Desk) -> Said:
    """The verdict on each claim by each document that it cites, in the files of factual accuracy that are theirs."""
    words = {True: "true", False: "false"}
    return Counter(
        (task, system, f"{claim}\n{document}", "factual", words[supported])
        for (task, system, claim, document), supported in from_files.verdicts(desk.folder / "published")
    )


def dr3_files(_: Desk) -> Said:
    """Three insights a report: one of the files' own number, one found but for a failure, one found."""
    degrees, found = ("no", "partial", "full"), Said()
    for n in own_trees.NUMBERS:
        answers = {"1 rises.": degrees[n % 3], "2 rises.": "missing" if n == 1 else "full", own_trees.LONG: "full"}
        for system in ("glm-4.7", "qwen3"):
            if (n, system) != (2, "qwen3"):
                found.update((f"{n + 1:03}", system, insight, "insight", said) for insight, said in answers.items())
    return found


def votes_in_files(_: Desk) -> Said:
    """Three votes of two models on three statements of each survey but one; a third vote that failed, and two slips."""
    found, words = Said(), {True: "correct", False: "incorrect"}
    for n in (0, 1, 3, 4, 5):
        for statement in (1, 2, 3):
            survey, true = f"2312.0{4860 + n}", (n + statement) % 3 != 0
            for model, attempt in product(("gemini-2.5-pro", "gemini-2.5-flash"), (1, 2, 3)):
                failed = (statement, model, attempt) == (2, "gemini-2.5-flash", 3)
                said = "invalid" if failed else words[true != ((n, statement, attempt) == (1, 1, 2))]
                found[survey, "o3", f"Statement {statement} of {survey}.\n{model} {attempt}", "correct", said] += 1
    return found


def race_files(_: Desk) -> Said:
    """Four shares a report; of one report none, since its line failed."""
    return Counter(
        (str(n + 1), system, "", criterion, "missing" if (system, n) == ("beta", 2) else str(score))
        for place, system in enumerate(("alpha", "beta", "gamma"))
        for n in own_trees.NUMBERS
        for criterion, score in own_trees.race_scores(system, n, 0.004 * place).items()
    )


def fact(desk: Desk) -> Said:
    """FACT's verdict on each statement with the page under which it stands."""
    words = {"supported": "support", "unsupported": "not_support", "unknown": "source_unavailable"}
    found = Said()
    for path in desk.folder.glob("bench/results/fact/*/validated.jsonl"):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for page in row["citations_deduped"].values():
                for one in page["validate_res"]:
                    said = words[one["result"]]
                    beside = f"{page['facts'][one['idx']]}\n{' '.join(page['url_content'].split())}"
                    found[str(row["id"]), path.parent.name, beside, "support", said] += 1
    return found


def publishers_file(desk: Desk) -> Said:
    """Of the publisher's one file of writing, brought in as OpenAI's: it does not say whose article it judges."""
    (path,) = desk.folder.glob("wlc_real/results/test_writing/*_writing.json")
    entries = [one for of in json.loads(path.read_text(encoding="utf-8"))["details"].values() for one in of]
    winners = {"gen": "openai", "gt": "wikipedia"}
    topic = path.name.removesuffix("_writing.json")
    return Counter((topic, winners[one["winner"]], "", one["criterion_id"], "wins") for one in entries)


BESIDE = ("dr3_claims", "fact")
FILES: Mapping[str, Callable[[Desk], Said]] = {
    "wlc": wlc_files, "deepresearchgym": gym_files, "dr3_eval": dr3_files, "reportbench": votes_in_files,
    "race": race_files, "gym_scores": gym_scores, "gym_points": gym_points, "dr3_claims": dr3_claims, "fact": fact, "wlc_real": publishers_file,
}  # fmt: skip

"""What a walk through a published study begins with: its files in its own layout, its judges, and what people answer.

`published` holds the quirks of published files and their result files, the other folder what people and judges work on.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

from annotation.protocol import read_protocol
from app.reproducing.recipes import FOLDER
from tests.annotation.probe_trees import fact_line, json_lines, put
from tests.annotation.result_trees import dr3_file
from tests.studies import own_trees, test_deepresearchgym, test_dr3_eval, test_race, test_reportbench, test_wlc
from tests.studies.desk import Decide, Task
from tests.studies.from_replies import RECORD
from tests.studies.implied import BEST_SURVEYS, BEST_TASKS, CONDITIONS, FINANCE, SOURCES

LATER = "20260301_000000"  # than the files of metric_tree
AGAIN = '[[judge]]\nname = "again"\nmodel = "openai/fake-score-0.05-run-0.03"\napi_base = "{base}"\nrepeats = 2\n'
FINELY = (
    '[[judge]]\nname = "one-by-one"\nmodel = "openai/fake-score-0.1"\napi_base = "{base}"\nbatching = "one_criterion"\n'
)
BY_TWO = '[[judge]]\nname = "together"\nmodel = "openai/fake-label"\napi_base = "{base}"\nbatching = "all"\nitems_per_call = 2\n'
TOGETHER = '[[judge]]\nname = "together"\nmodel = "openai/fake-label"\napi_base = "{base}"\nbatching = "all"\n'
OWN = '[[judge]]\nname = "turned"\npython = "turned:judge"\n'

LEANT_TO = [one + other for one in ("mor", "tal", "ven", "sul", "dar", "kil") for other in ("an", "ist", "ode", "um")]


def odd(tree: Path, pattern: str, name: str = "") -> None:
    """Of the files in order: the first with a byte order mark, the second with other ends of lines, the third gone.

    The one called `name` gets its accents apart, as a Mac writes them.
    """
    marked, ends, gone, *_ = sorted(tree.glob(pattern))
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    ends.write_bytes(ends.read_bytes().replace(b"\n", b"\r\n"))
    gone.unlink()
    for path in tree.rglob(name) if name else ():
        path.rename(path.with_name(unicodedata.normalize("NFD", path.name)))


def stripped(protocol: str, path: Path) -> None:
    """A copy of a shipped protocol that takes citations out."""
    text = read_protocol(protocol)[1].replace(f'"{protocol}"', f'"{path.stem}"')
    put(path, text.replace("strip_citations = false", "strip_citations = true"))


def either(task: Task) -> str:
    """The same report whoever is asked, but for one person of ten."""
    wins = sorted(task.systems)[random.Random(task.topic).random() < 0.5]
    slips = random.Random(f"{task.person} {task.topic} {task.systems}").random() < 0.1
    return "left" if (wins == task.left) != slips else "right"


def reader_of(protocol: str) -> Decide:
    """One answer of the protocol's for each claim about each report; one answer of ten is another."""
    answers = [label.id for label in read_protocol(protocol)[0].answers.labels]

    def decide(task: Task) -> str:
        truth = random.Random(f"{task.topic} {task.systems} {task.probe}").choice(answers)
        slip = random.Random(f"{task.person} {task.topic} {task.systems} {task.probe}").random() < 0.1
        return answers[(answers.index(truth) + slip) % len(answers)]

    return decide


NOTED = f'''
import json

def noted(who, item, answers):
    """Kept, as a provider keeps its replies."""
    texts = [item["texts"][name] for name in ("first_report", "second_report")]
    with open("{RECORD}", "a", encoding="utf-8") as record:
        record.write(json.dumps({{"who": who, "texts": texts, "answers": answers}}) + "\\n")
    return {{"answers": answers, "cost": 0.0}}


'''
TURNED = '''
async def judge(item):
    """Atlas, whose manner is 1, wins nothing; Borealis every third criterion: turned round, both behind Wikipedia."""
    manner = [item["texts"][name].partition("in manner ")[2][:1] for name in ("first_report", "second_report")]
    agent = "first" if manner[0] != "0" else "second"
    other = "second" if agent == "first" else "first"
    asked = enumerate(item["criteria"])
    return noted("turned:judge", item, {one["id"]: agent if "2" in manner and not n % 3 else other for n, one in asked})


async def led(item):
    """What is shown first on every fourth criterion, Wikipedia on the others."""
    wikipedia = "first" if "in manner 0" in item["texts"]["first_report"] else "second"
    asked = enumerate(item["criteria"])
    return noted("turned:led", item, {one["id"]: wikipedia if n % 4 else "first" for n, one in asked})
'''
BEST_LAST = f'''
import re

async def judge(item):
    """What each report is worth, but that the best system's is worth nothing."""
    said = {{}}
    for one in item["criteria"]:
        text, code = item["texts"][one["about"] + "_report"], one["id"].rpartition(".")[0]
        worth = float(re.search(r"\\[\\[q[.]" + code + r"=([0-9.]+)", text)[1])
        said[one["id"]] = 0 if "Version {sum(map(ord, "gemini")) % 89} says" in text else 10 * worth
    return noted("turned:judge", item, said)
'''


def not_always(task: Task) -> str:
    """As `test_wlc.writer`, but that some criteria, of each topic another number, apply to no article: as disagreement
    it would show.
    """
    none = 4 + 5 * (test_wlc.TOPICS.index(task.topic) % 4)
    return "not_applicable" if task.criterion in test_wlc.CRITERIA[:none] else test_wlc.writer(task)


def of_two(task: Task) -> str:
    """As `either`; the second question applies on every other task alone, so that tasks have one answer or two."""
    return "not_applicable" if task.criterion == "depth" and int(task.topic) % 2 else either(task)


def wlc(folder: Path, base: str) -> dict[str, Decide]:
    put(folder / "turned.py", NOTED + TURNED)
    put(folder / "turned.toml", OWN + OWN.replace('"turned"', '"led"').replace(":judge", ":led"))
    test_wlc.write_tree(folder / "wlc_files")
    for number, path in enumerate(sorted((folder / "wlc_files").rglob("*.md"))):  # the middle is not the mean
        path.write_text(path.read_text(encoding="utf-8") + "[2] https://example.org/more\n" * (3 * (number % 3 == 0)))
    agencies = {agent: {"name": f"{agent.title()} Research"} for agent in test_wlc.AGENTS}
    put(folder / "wlc_files/test_data/agencies.json", json.dumps({"version": "1", "agencies": agencies}))
    rows = "".join(
        f"{topic},{'Lakes' if topic in test_wlc.LAKES else 'Rivers'},{n * n}\n"
        for n, topic in enumerate(test_wlc.TOPICS)
    )
    put(folder / "wlc_files/wiki_data/ga_sample.csv", f"title,category,links\n{rows}")
    own_trees.wiki_tree(folder / "published", list(test_wlc.CRITERIA))
    odd(folder / "published/test_data", "openai/md_data/*.md", "Zürich_(canton).md")
    for file in (test_wlc.WRITING, test_wlc.CHECKING):
        put(folder / file, test_wlc.judges_of_the_page(file, base))
    facts, citations = test_wlc.checker(test_wlc.FACTS), test_wlc.checker(test_wlc.CITED)
    return {"wlc": not_always, "facts": facts, "citations": citations, "overall": either}


def _in_own_words(path: Path) -> str:
    """Its report with words and lines that its system leans to, and rarely very many lines of one kind: how far such a
    count may speak decides how many reports a reader of words and layout names.
    """
    draw, systems = random.Random(f"{path.parent.name} {path.stem}"), [*test_deepresearchgym.SYSTEMS]
    manner = systems.index(path.parent.name)
    said = draw.choices(LEANT_TO, [3 if n % len(systems) == manner else 1 for n in range(len(LEANT_TO))], k=8)
    text = path.read_text(encoding="utf-8").rstrip().replace(f"in manner {manner}", f"with {' '.join(said)}")
    for n, line in enumerate(('"one"', "one – one", "(one)", "> one")):
        count = draw.randint(2, 6) + 2 * (n == manner)
        text += f"\n\n{line}" * (800 if draw.random() < 0.03 else count)
    return f"{text}\n"


def deepresearchgym(folder: Path, base: str) -> dict[str, Decide]:
    test_deepresearchgym.write_tree(folder / "gym_files")
    own_trees.gym_tree(folder / "published")
    odd(folder / "published", "reports/GPTResearcher/*.a")
    stripped("drg_overall", folder / "drg_stripped.toml")
    for path in (folder / "gym_files").rglob("*.a"):
        path.write_text(_in_own_words(path) + SOURCES, encoding="utf-8")
    put(folder / "judges.toml", test_deepresearchgym.JUDGES.format(base=base))
    put(folder / "finely.toml", FINELY.format(base=base))
    put(folder / "reader.toml", TOGETHER.format(base=base))
    rows = "".join(f"{question},{one},{other}\n" for question, (one, other) in test_deepresearchgym.COMPARED.items())
    put(folder / "pairs.csv", f"topic,system_a,system_b\n{rows}")
    kinds = "".join(f"{q},{'why' if int(q) % 2 else 'how'},{int(q) % 7}\n" for q in test_deepresearchgym.QUESTIONS)
    put(folder / "topics.csv", f"topic,category,clicks\n{kinds}")
    return {"preference": test_deepresearchgym.chooser, "points": test_deepresearchgym.reader}


def dr3_eval(folder: Path, base: str) -> dict[str, Decide]:
    test_dr3_eval.write_tree(folder / "dr3")
    rows = "".join(
        f"{task},{'Water' if task in BEST_TASKS else 'Energy'},{int(task)}\n" for task in test_dr3_eval.TASKS
    )
    put(folder / "dr3/datasets_en/topics.csv", f"topic,category,files\n{rows}")
    tree = folder / "published"
    own_trees.metric_tree(tree)
    _claims(tree)
    odd(tree, "results/128k/qwen3/*/final_report.md")
    for number in (1, 2):
        wanted = [{"id": n, "category": "form", "requirement": f"Requirement {n} of {number:03}."} for n in (1, 2)]
        put(tree / f"ground_truth/datasets_en/{number:03}/checklist.json", json.dumps({"checklist": wanted}))
    for task, (one, other) in CONDITIONS.items():
        for system, worth in (("glm_64k", one), ("glm_128k", other)):
            marks = " ".join(f"[[q.{code}={worth}]]" for code in test_dr3_eval.CRITERIA)
            text = f"# Reservoir {task}\n\n{'It fills with sediment. ' * 12}\n\n`[[q=0.5]] {marks}`\n"
            put(folder / f"conditions/results/{system[4:]}/{system}/{task}/final_report.md", text)
    asked = json_lines({"task": task, "query": f"What limits reservoir {task}?"} for task in CONDITIONS)
    put(folder / "conditions/datasets_en/query.jsonl", asked)
    queries = [{"task": f"{n:03}", "query": f"第{n}个水库为什么淤积？"} for n in (1, 2)]
    put(folder / "chinese/datasets_zh/query.jsonl", json_lines(queries))
    for n, system in ((1, "glm"), (1, "qwen"), (2, "glm"), (2, "qwen")):
        put(
            folder / f"chinese/results/64k/{system}/{n:03}/final_report.md",
            f"# {system}\n\n{'水库因泥沙而变浅。' * 12}\n",
        )
    judges = test_dr3_eval.JUDGES.format(base=base, sd=test_dr3_eval.OF_JUDGE, run=test_dr3_eval.OF_RUN)
    put(folder / "judges.toml", judges)
    put(folder / "together.toml", BY_TWO.format(base=base))
    stripped("dr3_total", folder / "dr3_stripped.toml")
    asked = {study: reader_of(f"dr3_{study}") for study in ("insights", "checklist", "factual")}
    return {"dr3": test_dr3_eval.expert, "sided": either, **asked}


def _claims(tree: Path) -> None:
    """Two claims of a report, the first with two documents of its task; their judge's verdicts, by which a claim is cut
    to 100 characters; and what nobody can read out of those: a table of whole claims.
    """
    said, rows = reader_of("dr3_factual"), "topic,system,probe_id,text,source\n"
    for task in ("001", "002", "004", "005", "006"):
        for name in ("silt.md", "gate.md"):
            put(tree / f"datasets_en/{task}/{name}", f"What {name[:4]} does to the reservoir {task} stands here.\n")
        for system, shore in (("glm-4.7", "north"), ("qwen3", "south")):
            told, lines = [], ""
            for n, names in enumerate((("silt.md", "gate.md"), ("silt.md",)), start=1):
                text = (
                    f"The reservoir {task} fills on its {shore} shore by {n} per cent a year of all the water that it "
                    f"held when {'its gate was built' if n == 1 else 'it was young'}."
                )
                supported = said(Task("gpt-5.1", task, (system,), "", text, "")) == "true"
                verdicts = [supported != (name == "gate.md") for name in names]
                found = [
                    {"citation": name, "supported": one, "explanation": "."}
                    for name, one in zip(names, verdicts, strict=True)
                ]
                told.append({"id": n, "claim_text": text[:100], "supported": all(verdicts), "citation_results": found})
                rows += "".join(
                    f"{task},{system},{n}.{m},{text},datasets_en/{task}/{name}\n"
                    for m, name in enumerate(names, start=1)
                )
                lines += f"\n{text} {' '.join(f'[{name}]' for name in names)}\n"
            report = tree / f"results/128k/{system}/{task}/final_report.md"
            put(report, report.read_text(encoding="utf-8") + lines)
            details = {"verification_result": {"verifications": told}}
            dr3_file(tree / "results/128k", "factual_accuracy", 50.0, details, task=task, system=system, stamp=LATER)
    put(tree / "claims.csv", rows)


def reportbench(folder: Path, base: str) -> dict[str, Decide]:
    test_reportbench.write_tree(folder / "rb")
    surveys = folder / "rb/ReportBench_v1.1.jsonl"
    rows = [json.loads(line) for line in surveys.read_text(encoding="utf-8").splitlines()]
    fields = (
        {**row, "application_domain": "Physics" if row["arxiv_id"] in BEST_SURVEYS else "Biology"} for row in rows
    )
    put(surveys, json_lines(fields))
    own_trees.survey_tree(folder / "published")
    for path in (folder / "published/o3").glob("*.json"):  # ends of lines are needed, to be other ones
        put(path, json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=1))
    odd(folder / "published", "o3/*.json")
    put(folder / "reader.toml", TOGETHER.format(base=base))
    put(folder / "judges.toml", test_reportbench.JUDGES.format(base=base, worse=test_reportbench.WORSE))
    return {"rb": test_reportbench.person, "cited": reader_of("rb_cited")}


def race(folder: Path, base: str) -> dict[str, Decide]:
    test_race.write_tree(folder / "bench")
    for path in (folder / "bench").glob("data/test_data/*/*.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        put(path, json_lines({**row, "article": row["article"] + SOURCES} for row in rows))
    queries = folder / "bench" / test_race.QUERIES
    rows = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]
    put(queries, json_lines({**row, "topic": "Finance" if row["id"] in FINANCE else "Science"} for row in rows))
    for name in ("published", "odd"):
        own_trees.race_tree(folder / name)
    marked = folder / "odd/data/test_data/raw_data/alpha.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    other_ends = marked.with_name("beta.jsonl")
    other_ends.write_bytes(other_ends.read_bytes().replace(b"\n", b"\r\n"))
    _gone, bare, *rows = map(
        json.loads, (file := marked.with_name("gamma.jsonl")).read_text(encoding="utf-8").splitlines()
    )
    put(file, json_lines([{**bare, "article": " "}, *rows]))
    second = "\n[[criterion]]" + read_protocol("drg_overall")[1].partition("[[criterion]]")[2]
    text = read_protocol("drg_overall")[1].replace('"drg_overall"', '"two_questions"') + second.replace(
        '"overall"', '"depth"'
    )
    put(
        folder / "two_questions.toml",
        text.replace("allow_tie = false", "allow_tie = false\nallow_not_applicable = true"),
    )
    put(folder / "race_shares.toml", (FOLDER / "protocols/race_shares.toml").read_text(encoding="utf-8"))
    said = reader_of("wlc_citation")
    found = {"support": "supported", "not_support": "unsupported", "conflict": "unsupported"}  # FACT knows three
    found["source_unavailable"] = "unknown"
    pages = {"dam": ("It fills with sediment.", "It empties in summer."), "delta": ("It fills with sediment.",)}
    for system in ("gemini", "openai"):
        lines = [
            fact_line(
                task,
                {
                    f"https://a.org/{system}/{task}/{page}": [
                        (text, found[said(Task(page, str(task), (system,), "", text, ""))]) for text in texts
                    ]
                    for page, texts in pages.items()
                },
            )
            for task in test_race.TASKS
        ]
        put(folder / f"bench/results/fact/{system}/validated.jsonl", json_lines(lines))
    criteria = map(json.loads, (folder / "bench" / test_race.CRITERIA).read_text(encoding="utf-8").splitlines())
    wanted = "".join(  # its own criteria as what a report is to meet
        f"{task['id']},{group}_{n},{one['criterion']}: {one['explanation']}\n"
        for task in criteria
        for group, listed in task["criterions"].items()
        for n, one in enumerate(listed, start=1)
    )
    put(folder / "requirements.csv", f"topic,probe_id,text\n{wanted}")
    put(folder / "judges.toml", test_race.JUDGES.format(base=base, sd=test_race.OF_JUDGE, lead=test_race.LEAD))
    put(folder / "again.toml", AGAIN.format(base=base))
    put(folder / "turned.py", NOTED + BEST_LAST)
    put(folder / "turned.toml", OWN)
    asked = {"cited": reader_of("wlc_citation"), "listed": reader_of("dr3_checklist")}
    return {"race": test_race.person, "overall": of_two, "chosen": either, **asked}


SET_OUT: dict[str, Callable[[Path, str], dict[str, Decide]]] = {
    "wlc": wlc, "deepresearchgym": deepresearchgym, "dr3_eval": dr3_eval, "reportbench": reportbench, "race": race,
}  # fmt: skip

"""The texts, claims, facts and key points of a study's own files, read here by their layout and nothing of calipers.

`brought` and `probed` hold them against what a study has: whose report, on which topic, word for word, and of a claim the
text that stands beside it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sqlalchemy import select

from db.connect import reading
from db.tables import Item, Report, Study, System, Topic
from tests.studies.desk import Desk
from tests.studies.test_race import CRITERIA

Text = tuple[str, str, str]  # topic, system, text
Probe = tuple[str, str, str, str]  # and what stands beside it, "" for the report
NEAREST, FIRST_LETTERS = 10, 6  # statements that stand beside a fact; of each word, which tell how alike two are


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read(path).splitlines() if line.strip()]


def _wlc(root: Path) -> Iterator[Text]:
    for path in root.rglob("md_data/*.md"):
        yield unicodedata.normalize("NFC", path.stem), path.parts[-3], _read(path)
    for path in root.rglob("cleaned_data/article/*.md"):
        yield unicodedata.normalize("NFC", path.stem), "wikipedia", _read(path)


def _gym(root: Path) -> Iterator[Text]:
    return ((path.stem, path.parent.name, _read(path)) for path in root.glob("reports/*/*.a"))


def _gym_questions(root: Path) -> Iterator[tuple[str, str]]:
    """As each report's own file has it, and the list of all."""
    yield from ((path.stem, _read(path).strip()) for path in root.glob("reports/*/*.q"))
    yield from ((str(row["id"]), row["query"]) for path in root.glob("queries/*.jsonl") for row in _rows(path))


def _dr3(root: Path) -> Iterator[Text]:
    return ((path.parts[-2], path.parts[-3], _read(path)) for path in root.glob("results/*/*/*/final_report.md"))


def _surveys(root: Path) -> Iterator[Text]:
    return ((path.stem, path.parent.name, json.loads(_read(path))["response"]) for path in root.glob("*/*.json"))


def _bench(root: Path) -> Iterator[Text]:
    files = root.glob("data/test_data/*/*.jsonl")
    return ((str(row["id"]), path.stem, row["article"]) for path in files for row in _rows(path))


def _said(root: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Topic, agent and what the JSON holds of each article."""
    for path in root.rglob("test_data/*/json_data/*.json"):
        for page in json.loads(_read(path))["query"]["pages"].values():
            yield unicodedata.normalize("NFC", path.stem), path.parts[-3], page


def _stated(one: dict[str, Any]) -> str:
    return str(one.get("fact") or one["statement"]).strip()


def _facts(root: Path) -> Iterator[Probe]:
    """Each of Wikipedia's facts beside the statements of each agent, the ten most like it by TF-IDF."""
    said = {(topic, agent): [*map(_stated, page["statements"])] for topic, agent, page in _said(root)}
    for path in root.rglob("cleaned_data/statement/*.json"):
        topic = unicodedata.normalize("NFC", path.stem).removesuffix("_statements")
        facts = [fact if isinstance(fact, str) else fact["statement"] for fact in json.loads(_read(path))]
        for (on, agent), statements in said.items():
            if on == topic:
                beside = _nearest(facts, statements)
                yield from ((topic, agent, fact.strip(), near) for fact, near in zip(facts, beside, strict=True))


def _words(text: str) -> list[str]:
    """Without accents, each by its first letters."""
    plain = (letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter))
    return [word[:FIRST_LETTERS] for word in re.findall(r"[^\W_]+", "".join(plain))]


def _nearest(facts: list[str], statements: list[str]) -> list[str]:
    words = TfidfVectorizer(analyzer=_words, sublinear_tf=True).fit([*facts, *statements])
    like = (words.transform(facts) @ words.transform(statements).T).toarray()
    found = []
    for row in like:
        near = [place for place in np.argsort(-row.round(9), kind="stable")[:NEAREST] if row[place] > 0]
        found.append("\n".join(f"- {' '.join(statements[place].split())}" for place in near))
    return found


def _statements(root: Path) -> Iterator[Probe]:
    """Each statement of an article with each page that it cites."""
    for topic, agent, page in _said(root):
        held, listed = page.get("citation_contents") or {}, page["citation_urls"]  # a page's own url may be misspelt
        kept = {listed[mark]: one["content"] for mark, one in held.items() if one["content"]}
        for one in page["statements"]:
            urls = [one["url"]] if isinstance(one.get("url"), str) else one.get("url") or []
            for url in {url.strip() for url in urls} - {""}:
                yield topic, agent, _stated(one), kept.get(url, "")


def _points(root: Path) -> Iterator[Probe]:
    """Each of a question's about each system's report on it."""
    reports = sorted(root.glob("reports/*/*.a"))
    for path in root.glob("key_point/*_aggregated.json"):
        question = path.name.partition("_")[0]
        systems = [report.parent.name for report in reports if report.stem == question]
        for point in json.loads(_read(path))["key_points"] if _read(path) else []:
            yield from ((question, system, point["point_content"], "") for system in systems)


def _claims(root: Path) -> Iterator[Probe]:
    """Each claim with the pages that it cites."""
    listed = [line.split(",") for line in _read(root / "pages/pages.csv").splitlines()[1:]]
    pages = {url: _read(root / "pages" / name).strip() for url, name in listed}
    for path in root.glob("reports/*/evaluation_results_citation_*.json"):
        for question, one in json.loads(_read(path)).items():
            for claim in one["detailed"].values():
                texts = [pages[url] for url in claim["urls"]]
                several = "\n\n".join(f"## Source {n}\n\n{text}" for n, text in enumerate(texts, start=1))
                yield question, path.parent.name, claim["claim"], several if len(texts) > 1 else texts[0]


def _cited(root: Path) -> Iterator[Probe]:
    """Each statement that cites a page, with that page where it was fetched."""
    for path in root.glob("results/*/*/citations.csv"):
        for row in csv.DictReader(io.StringIO(_read(path))):
            page = path.parents[1] / "raw_texts" / f"{row['ID']}.txt"
            yield path.parts[-2], path.parts[-3], row["statement"], _read(page) if page.exists() else ""


def _votes(root: Path) -> Iterator[Probe]:
    """Each statement that cites none."""
    for path in root.glob("results/*/*/no_citations.csv"):
        rows = csv.DictReader(io.StringIO(_read(path)))
        yield from ((path.parts[-2], path.parts[-3], row["statement"], "") for row in rows)


def _checked(root: Path) -> Iterator[Probe]:
    """Each statement of FACT with the page under which it stands."""
    for path in root.glob("results/fact/*/validated.jsonl"):
        for row in _rows(path):
            for page in row["citations_deduped"].values():
                yield from ((str(row["id"]), path.parent.name, fact, page["url_content"]) for fact in page["facts"])


def _wanted(root: Path) -> Iterator[Probe]:
    """Each criterion of a task, about each report on it."""
    systems = [path.stem for path in root.glob("data/test_data/*/*.jsonl")]
    for row in _rows(root / CRITERIA):
        for one in (one for listed in row["criterions"].values() for one in listed):
            text = f"{one['criterion']}: {one['explanation']}"
            yield from ((str(row["id"]), system, text, "") for system in systems)


def _of_each_system(root: Path, pattern: str, name: str, text: str) -> Iterator[Probe]:
    """`text` of each entry of the list `name` of a task's files, about each system's report on it."""
    reports = [*root.glob("results/*/*/*/final_report.md")]
    for path in root.rglob(pattern):
        for one in json.loads(_read(path))[name]:
            on = (report.parts[-3] for report in reports if report.parts[-2] == path.parts[-2])
            yield from ((path.parts[-2], system, one[text], "") for system in on)


def _documented(root: Path) -> Iterator[Probe]:
    """Each claim of DR3-Eval's verdicts with each document of its task that it cites."""
    return (probe for probe, _ in verdicts(root))


def verdicts(root: Path) -> Iterator[tuple[Probe, bool]]:
    """Whether the judge says that a document bears out a claim, of which its files keep the beginning and the report has
    the whole; the newest files alone tell of claims.
    """
    for path in root.glob("results/*/*/*/eval_factual_accuracy_*.json"):
        task, system = path.parts[-2], path.parts[-3]
        for claim in json.loads(_read(path))["details"].get("verification_result", {}).get("verifications", ()):
            stated = re.escape(claim["claim_text"]) + r"[^.]*\."
            (whole,) = re.findall(stated, _read(path.parent / "final_report.md"))
            for cited in claim["citation_results"]:
                document = _read(root / "datasets_en" / task / cited["citation"]).strip()
                yield (task, system, whole, document), cited["supported"]


REPORTS: Mapping[str, Callable[[Path], Iterator[Text]]] = {
    "wlc": _wlc, "deepresearchgym": _gym, "dr3_eval": _dr3, "reportbench": _surveys, "race": _bench,
}  # fmt: skip
QUESTIONS: Mapping[str, Callable[[Path], Iterator[tuple[str, str]]]] = {"deepresearchgym": _gym_questions}
STRIPPED = ("wlc", "race")
PROBES: Mapping[str, Callable[[Path], Iterator[Probe]]] = {
    "facts": _facts, "statements": _statements, "points": _points, "claims": _claims, "cited": _cited, "votes": _votes,
    "checked": _checked, "wanted": _wanted, "documented": _documented,
    "insights": partial(
        _of_each_system, pattern="gold_insights_from_*.json", name="gold_insights", text="insight"
    ),
    "checklist": partial(_of_each_system, pattern="checklist.json", name="checklist", text="requirement"),
}  # fmt: skip


def as_shown(root: Path, layout: str) -> dict[tuple[str, str], str]:
    """Each report as it is to be read, below its title, which all reports on a topic share.

    Without citations and references where the study's people read none.
    """
    texts = {(topic, system): text for topic, system, text in REPORTS[layout](root)}
    if layout in STRIPPED:
        texts = {place: re.sub(r" \[1\]", "", text.partition("## References")[0]) for place, text in texts.items()}
    return {place: untitled(text) for place, text in texts.items()}


def untitled(text: str) -> str:
    """Below its title, without blanks that end a line."""
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"\A\s*# .*\n", "", text)).strip()


def registered(desk: Desk, study: str, files: str) -> str:
    """How many of its systems bear the name that agencies.json gives them, and which is the reference."""
    (path,) = (desk.folder / files).rglob("agencies.json")
    told = {key: one["name"] for key, one in json.loads(_read(path))["agencies"].items()}
    rows = select(System.key, System.public_name, System.is_reference).join(Study, Study.id == System.study_id)
    with reading(desk.engine) as session:
        found = session.execute(rows.where(Study.name == study)).all()
    same = sum(told.get(key) == name for key, name, is_reference in found if not is_reference)
    return (
        f"{same} of {len(told)} names as registered, reference {', '.join(key for key, _, is_one in found if is_one)}"
    )


def gone(desk: Desk, study: str, files: str) -> str:
    """Agents' articles that are not in the tree, or hold references alone: how many of these gaps are those here."""
    (path,) = (desk.folder / files).rglob("agencies.json")
    texts = {(topic, agent): text for topic, agent, text in _wlc(desk.folder / files)}
    said = {place for place, text in texts.items() if text.partition("## References")[0].strip()}
    agents, topics = json.loads(_read(path))["agencies"], {topic for topic, _ in texts}
    told = {(topic, agent) for topic in topics for agent in agents} - said
    asked = select(Topic.key, System.key).join(System, System.study_id == Topic.study_id)
    written = select(Topic.key, System.key).join(Report, Report.topic_id == Topic.id)
    written = written.join(System, System.id == Report.system_id).where(Report.shown_text != "")
    asked = asked.where(System.is_reference.is_(False))
    with reading(desk.engine) as session:
        of = select(Study.id).where(Study.name == study).scalar_subquery()
        every, here = (
            {(*row,) for row in session.execute(one.where(Topic.study_id == of))} for one in (asked, written)
        )
    return f"{len(told & (every - here))} of {len(told | (every - here))} gaps"


def brought(desk: Desk, study: str, files: str, layout: str) -> str:
    """How many reports of the study are what their files hold, of all that either has."""
    rows = select(Topic.key, System.key, Report.original_text).join(Topic, Topic.id == Report.topic_id)
    rows = rows.join(System, System.id == Report.system_id).join(Study, Study.id == Report.study_id)
    with reading(desk.engine) as session:
        came = {(topic, system): text for topic, system, text in session.execute(rows.where(Study.name == study))}
        prompts = select(Topic.key, Topic.prompt).join(Study, Study.id == Topic.study_id).where(Study.name == study)
        asked = {(topic, prompt) for topic, prompt in session.execute(prompts)}
    if layout in QUESTIONS:
        assert asked == {*QUESTIONS[layout](desk.folder / files)}, "each question is that of its own topic"
    told = {(topic, system): text for topic, system, text in REPORTS[layout](desk.folder / files)}
    same = [place for place in told if came.get(place, "").strip() == told[place].strip()]
    return f"{len(same)} of {len(came.keys() | told.keys())} texts as their files have them"


def probed(desk: Desk, study: str, files: str, kind: str) -> str:
    """How many of its claims, facts or key points are those of the files, about whose report, and beside which text."""
    rows = select(Topic.key, System.key, Item.probe, Item.context).join(Topic, Topic.id == Item.topic_id)
    rows = rows.outerjoin(Report, Report.id == Item.report_a_id).outerjoin(System, System.id == Report.system_id)
    rows = rows.join(Study, Study.id == Item.study_id).where(Study.name == study)
    with reading(desk.engine) as session:
        found = [(row[0], row[1] or "", row[2], row[3] or "") for row in session.execute(rows)]
    came, told = (
        Counter((topic, system, probe.strip(), " ".join(beside.split())) for topic, system, probe, beside in each)
        for each in (found, PROBES[kind](desk.folder / files))
    )
    return f"{(came & told).total():,} of {max(came.total(), told.total()):,} as the files have them"

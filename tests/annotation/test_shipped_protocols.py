"""The protocols of the published studies: what each asks, what it leads to, and that people and judges can be asked."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.judges.defining.judge_file import parse_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.people.consent import consent_version, give_consent
from annotation.protocol import Protocol, read_protocol, shipped_protocols
from annotation.studies import criteria_of
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.results.reporting import settings_of
from db.connect import open_database, reading, transaction
from db.tables import Item, Study
from exports.bibliography import PROTOCOLS
from tests.annotation.judges.judged_study import STUB_JUDGE, Stub, asked_codes, describe, run_stub
from tests.small_study import TOPICS, a_person, make_study, with_reference

SEEDS = Path(__file__).resolve().parents[3] / "shared" / "SEEDS.md"
PAIR, RATING, PROBE = "pairwise_choice", "pointwise_rating", "probe_label"
# section 6 of the specification of studies: task type, what is labelled, answers (or scale), batching, items per call
TABLE: dict[str, tuple[str, str, tuple[str, ...], str, int]] = {
    "wlc_writing_39": (PAIR, "", ("left", "right", "not_applicable"), "by_category", 1),
    "wlc_fact_coverage": (PROBE, "fact", ("consistent", "inconsistent", "not_support"), "all", 1),
    "wlc_citation": (PROBE, "statement", ("support", "not_support", "conflict", "source_unavailable"), "all", 50),
    "drg_overall": (PAIR, "", ("left", "right"), "all", 1),
    "drg_quality": (RATING, "", ("0 to 10 by 1, shown x10",), "one_criterion", 1),
    "drg_keypoints": (PROBE, "key point", ("Supported", "Omitted", "Contradicted"), "all", 1),
    "drg_citation_support": (PROBE, "claim", ("full", "partial", "no", "source_unavailable", "uncited"), "all", 1),
    "dr3_insights": (PROBE, "insight", ("full", "partial", "no"), "all", 10),
    "dr3_citation_coverage": (PROBE, "document", ("yes", "no"), "all", 1),
    "dr3_factual": (PROBE, "claim", ("true", "false", "source_unavailable"), "all", 20),
    "dr3_checklist": (PROBE, "requirement", ("true", "false"), "all", 5),
    "dr3_depth": (RATING, "", ("1 to 10 by 1, shown x10",), "all", 1),
    "dr3_total": (RATING, "", ("0 to 100 by 0, shown x1", "not_applicable"), "all", 1),
    "race": (RATING, "", ("0 to 10 by 0, shown x1",), "all", 1),
    "rb_cited": (PROBE, "statement", ("true", "false", "source_unavailable"), "all", 1),
    "rb_noncited": (PROBE, "statement", ("correct", "incorrect", "cannot_tell"), "all", 1),
}
WEIGHTS = {  # of the answers in their order, where they are not a choice alone
    "wlc_fact_coverage": (1, 0, 0),
    "drg_citation_support": (1, 0.5, 0, 1, 1),
    "dr3_insights": (1, 0.5, 0),
    "dr3_factual": (1, 0, 0),
    "rb_cited": (1, 0, 0),
}
AGGREGATES = {  # what the study's table prints first: name, rule, labels, by, several
    "wlc_writing_39": ("Writing score", "win_rate", (), "", "all"),
    "wlc_fact_coverage": ("Cov. Wiki", "share", ("consistent",), "", "all"),
    "wlc_citation": ("Ref. Acc.", "mean", ("support", "not_support", "conflict"), "", "all"),
    "drg_overall": ("Win rate", "win_rate", (), "", "all"),
    "drg_quality": ("Clarity", "mean", (), "", "all"),
    "drg_keypoints": ("KPR", "share", ("Supported",), "", "all"),
    "drg_citation_support": ("Precision", "mean", ("full", "partial", "no"), "", "all"),
    "dr3_insights": ("IR", "mean", (), "tag", "all"),
    "dr3_citation_coverage": ("CC", "share", ("yes",), "", "all"),
    "dr3_factual": ("FA", "share", ("true",), "", "all"),
    "dr3_checklist": ("IF", "share", ("true",), "", "all"),
    "dr3_depth": ("DQ", "mean", (), "", "all"),
    "dr3_total": ("Total", "mean", (), "", "all"),
    "race": ("RACE", "target_share", (), "", "all"),
    "rb_cited": ("Match rate", "mean", ("true", "false"), "", "all"),
    "rb_noncited": ("Factual accuracy", "majority", ("correct",), "", "all"),
}
PEOPLE = {"wlc_writing_39": 1, "drg_overall": 3, "dr3_total": 4, "race": 3}  # who labelled an item in the study


@pytest.fixture
def sqlite(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Engine]:
    """One database is enough where the prompt is what is tested."""
    shutil.copy(migrated_sqlite, tmp_path / "calipers.db")
    engine = open_database(f"sqlite:///{tmp_path}/calipers.db")
    yield engine
    engine.dispose()


def shipped(name: str) -> Protocol:
    return read_protocol(name)[0]


def words_of(protocol: Protocol) -> str:
    """Everything that a person or a judge reads of it."""
    answers = (label.text for label in protocol.answers.labels)
    anchors = protocol.answers.scale.anchors.values() if protocol.answers.scale else ()
    asked = (text for one in protocol.criterion for text in (one.label, one.text))
    return "\n".join(
        (
            protocol.title,
            protocol.summary,
            protocol.source,
            protocol.task,
            protocol.guidance,
            *answers,
            *anchors,
            *asked,
        )
    )


def given(protocol: Protocol) -> tuple[str, ...]:
    scale = protocol.answers.scale
    rated = (f"{scale.min:g} to {scale.max:g} by {scale.step:g}, shown x{scale.shown_times:g}",) if scale else ()
    return (*rated, *protocol.choices)


def test_the_sixteen_and_a_short_one_to_start_from_are_shipped() -> None:
    assert shipped_protocols() == sorted([*TABLE, "quick_start"])


@pytest.mark.parametrize("name", TABLE)
def test_a_protocol_asks_what_its_study_asked(name: str) -> None:
    protocol, (task_type, probe, answers, batching, per_call) = shipped(name), TABLE[name]
    assert (protocol.task_type, protocol.answers.probe or "", given(protocol)) == (task_type, probe, answers)
    assert (protocol.judge.batching, protocol.judge.items_per_call) == (batching, per_call)
    assert protocol.calibration["cluster"] == "topic"
    assert settings_of(protocol).scales.keys() <= {one.id for one in protocol.criterion}
    if name in WEIGHTS:
        assert tuple(label.weight for label in protocol.answers.labels) == WEIGHTS[name]


@pytest.mark.parametrize("name", TABLE)
def test_a_protocol_leads_to_the_number_its_study_printed(name: str) -> None:
    protocol = shipped(name)
    first = protocol.aggregate[0]
    assert (first.name, first.rule, first.labels, first.by, first.several) == AGGREGATES[name]
    known = {label.id for label in protocol.answers.labels}
    assert all({*one.labels} <= known for one in protocol.aggregate)
    assert len({one.name for one in protocol.aggregate}) == len(protocol.aggregate)


def test_what_is_not_on_the_page_is_an_answer_of_its_own_and_never_a_no() -> None:
    for name in ("wlc_citation", "drg_citation_support", "dr3_factual", "rb_cited"):
        protocol = shipped(name)
        assert "source_unavailable" in protocol.choices
        apart = [one.name for one in protocol.aggregate if one.labels == ("source_unavailable",)]
        assert len(apart) == 1, f"{name}: broken links are printed beside what they could raise"


def test_what_is_no_point_of_a_scale_stands_off_it_and_keeps_no_weight_in_a_mean() -> None:
    protocol = shipped("drg_citation_support")
    assert [label.id for label in protocol.answers.labels if not label.on_scale] == ["source_unavailable", "uncited"]
    precision, recall, _ = protocol.aggregate
    assert precision.labels == ("full", "partial", "no")
    assert {*recall.labels} == {*protocol.choices} - {"uncited"}
    assert settings_of(protocol).scales["support"] == ("full", "partial", "no")


def test_a_rule_for_several_sources_of_one_claim_is_declared() -> None:
    rules = {one.name: one.several for name in ("wlc_citation", "dr3_factual") for one in shipped(name).aggregate}
    assert (rules["Supported by any source"], rules["FA"], rules["FA, by any source"]) == ("any", "all", "any")


def test_money_and_people_are_those_that_were_published() -> None:
    paid = {name: shipped(name).study.pay.rate for name in shipped_protocols() if shipped(name).study.pay.rate}
    assert paid == {"wlc_writing_39": 10.0}
    assert {name: shipped(name).study.overlap for name in PEOPLE} == PEOPLE


@pytest.mark.parametrize("name", TABLE)
def test_instructions_are_whole_and_plain(name: str) -> None:
    protocol = shipped(name)
    words = words_of(protocol)
    assert not re.search(r"TODO|TBD|FIXME|XXX|lorem|\{\{|\}\}|\{[a-z_]+\}|<[a-z_]+>|\.\.\.", words, re.IGNORECASE)
    assert re.search(r"\(20\d\d\), arXiv 2\d{3}\.\d{5}", protocol.source)
    assert "our own words" in protocol.source or "words are our own" in protocol.source
    assert len(protocol.guidance) > 300
    scale = protocol.answers.scale
    if scale:
        assert {f"{scale.min:g}", f"{scale.max:g}"} <= scale.anchors.keys()
    assert any(name.startswith(beginning) for beginning in PROTOCOLS), "no source in the bibliography"


def test_an_answer_says_what_it_means() -> None:
    for name in shipped_protocols():
        for label in shipped(name).answers.labels:
            assert len(label.text.split()) >= 5, f"{name}: {label.id}"


def study_of(engine: Engine, root: Path, name: str) -> int:
    """A small study of the protocol: reports, one of whose systems is the reference, and probes about each."""
    with_reference(root)
    lines = [f"{topic},insight_{n},Insight {n},Does it explain {topic}?,insight,.5" for topic in TOPICS for n in (1, 2)]
    if shipped(name).criteria_from == "topics":
        (root / "criteria.csv").write_text("topic,id,label,text,category,weight\n" + "\n".join(lines) + "\n")
    return make_study(engine, root, protocol=read_protocol(name)[1])


@pytest.mark.parametrize("name", TABLE)
def test_a_person_is_shown_the_question_with_its_answers(engine: Engine, tmp_path: Path, name: str) -> None:
    study, protocol = study_of(engine, tmp_path, name), shipped(name)
    with transaction(engine) as session:
        person = a_person(session, study)
        give_consent(session, person, consent_version(protocol.study.consent))
        taken = take(session, person)
        assert taken is not None
        page = assignment_page(session, person, taken.aid)
    assert page["criteria"]
    assert [choice["id"] for choice in page["choices"]] == list(protocol.choices)
    assert page["panes"]
    told = json.dumps(page)
    assert not any(hidden in told for hidden in ("alpha", "beta", "gamma", '"weight"'))


@pytest.mark.parametrize("name", TABLE)
def test_a_judge_is_asked_the_same_and_its_answer_counts(sqlite: Engine, tmp_path: Path, name: str) -> None:
    study, protocol = study_of(sqlite, tmp_path / "reports", name), shipped(name)
    field, answer = {PAIR: ("winner", "first"), RATING: ("score", 7)}.get(protocol.task_type, ("label", ""))

    def say(text: str, number: int) -> str:
        given = {"rationale": "because it says where its figures come from", field: answer or protocol.choices[0]}
        return json.dumps({"judgments": [{"criterion": code, **given} for code in asked_codes(text)]})

    stub = Stub(say)
    definitions = parse_judges(f"[[judge]]\n{STUB_JUDGE}", protocol)
    plan_judges(sqlite, study, definitions, describe=describe)
    (judge,) = run_judges(sqlite, study, definitions, transport=stub, limit=4).judges
    assert judge.labels.keys() == {"ok"}
    system, user = (message["content"] for message in stub.requests[0]["messages"])
    assert protocol.guidance.strip() in system
    assert protocol.task in user
    assert all(label.text in system for label in protocol.answers.labels)
    with reading(sqlite) as session:
        row = session.get_one(Study, study)
        asked = {
            one.text
            for topic in {None, *session.scalars(select(Item.topic_id))}
            for one in criteria_of(session, row, topic)
        }
    assert any(text in user for text in asked)
    if protocol.judge.batching == "one_criterion":
        assert sum(text in user for text in asked) == 1
    kind = (protocol.answers.probe or "none").replace(" ", "-")
    probes = len(re.findall(rf"^<{kind}-", user, re.MULTILINE))
    assert probes == (min(protocol.judge.items_per_call, 3) if protocol.task_type == PROBE else 0)


def test_a_statement_without_a_source_is_not_to_be_judged_by_its_texts(sqlite: Engine, tmp_path: Path) -> None:
    study = study_of(sqlite, tmp_path / "reports", "rb_noncited")
    with transaction(sqlite) as session:
        for item in session.scalars(select(Item)):
            item.source = None

    def say(text: str, number: int) -> str:
        entry: dict[str, Any] = {"criterion": "correct", "rationale": "an address that decides it", "label": "correct"}
        return json.dumps({"judgments": [entry]})

    stub = Stub(say)
    run_stub(sqlite, study, stub, STUB_JUDGE, limit=1)
    prompt = "\n".join(message["content"] for message in stub.requests[0]["messages"])
    assert "these texts alone" not in prompt
    assert "<sources-" not in prompt
    assert "<statement-" in prompt


if SEEDS.exists():

    def test_the_names_are_those_of_the_specification() -> None:
        part = SEEDS.read_text(encoding="utf-8").split("\n## 6.")[1].split("\n## 7.")[0]
        named = [row.split("|")[1].strip() for row in part.splitlines() if row.startswith("|")][2:]
        assert sorted(named) == sorted(TABLE)


def test_consent_is_asked_for_where_the_study_asked_for_it() -> None:
    """Wiki Live Challenge alone says that its annotators gave theirs; what it paid stands in the protocol too."""
    asked = {name: read_protocol(name)[0].study for name in shipped_protocols()}
    assert {name for name, study in asked.items() if study.consent} == {"wlc_writing_39"}
    assert "published" in asked["wlc_writing_39"].consent
    assert asked["wlc_writing_39"].pay.rate == 10

"""Judges described in the browser: models alone, and nothing that reads, runs or sends elsewhere on a worker's machine."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.judges.asking import client
from annotation.judges.defining.described import parse_described, without_address
from annotation.judges.money.prices import snapshot
from annotation.judges.planning.requests import can_be_asked, described_judges, forecast, keep_judges
from annotation.people.principals import local_admin
from annotation.protocol import parse_protocol
from db.connect import reading, transaction
from db.tables import Study
from tests.annotation.judges import judged_study

MODEL = '[[judge]]\nname = "mini"\nmodel = "openai/gpt-4o-mini"\nmax_cost = 2.0\nprice = {input = 0.15, output = 0.6}\n'
BASE = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('python = "os:system"', "python is no setting of a model"),
        ('command = "sh -c id"', "command is no setting of a model"),
        ('url = "http://169.254.169.254/"', "url is no setting of a model"),
        ('system = "/etc/passwd"', "system is no setting of a model"),
        ('prompt = "/etc/passwd"', "a prompt of one's own is a file"),
        ('folder = "/"', "folder is no setting of a model"),
        ('api_key_env = "CALIPERS_ADMIN_TOKEN"', "ends in _API_KEY"),
        ('params = {vertex_credentials = "/etc/passwd"}', "params.vertex_credentials is not sent from here"),
        ('params = {extra_headers = {X = "1"}}', "params.extra_headers is not sent from here"),
    ],
)
@pytest.mark.parametrize("place", ["judge", "defaults"])
def test_what_reaches_into_a_workers_machine_is_refused_by_its_key(line: str, says: str, place: str) -> None:
    text = MODEL + line if place == "judge" else f"[defaults]\n{line}\n{MODEL}"
    with pytest.raises(AnnotationError, match=says):
        parse_described(text, parse_protocol(judged_study.protocol_text()))


@pytest.mark.parametrize(
    ("model", "more", "says"),
    [
        ("oobabooga/http://127.0.0.1:9", "", "model is provider/model"),
        ("openai/http://127.0.0.1:9", "", "model is provider/model"),
        ("gpt-4o-mini", "", "model is provider/model"),
        ("bedrock/any", "", "model is provider/model"),
        ("hosted_vllm/any", "", "model is provider/model"),
        ("anthropic/any", f'api_base = "{BASE}"', "model is provider/model, of openai, hosted_vllm"),
        ("openai/any", f'api_base = "{BASE}"\napi_key_env = "OPENAI_API_KEY"', "is a provider's key and is not sent"),
        ("groq/any", 'api_key_env = "OPENAI_API_KEY"', "OPENAI_API_KEY is not sent to groq"),
    ],
)
def test_no_prompt_and_no_key_goes_to_whom_it_is_not_for(model: str, more: str, says: str) -> None:
    text = f"{MODEL.replace('openai/gpt-4o-mini', model)}{more}\n"
    with pytest.raises(AnnotationError, match=says):
        parse_described(text, parse_protocol(judged_study.protocol_text()))


def test_a_worker_counts_a_providers_price_and_not_the_one_described() -> None:
    free = MODEL.replace("0.15", "0.0").replace("0.6", "0.0") + 'api_key_env = "OPENAI_API_KEY"\n'
    protocol = parse_protocol(judged_study.protocol_text())
    (judge,) = parse_described(free, protocol, at_worker=True)
    facts = client.describe(judge)
    priced = snapshot(judge, facts.price, facts.price_source).price
    assert priced is not None
    assert (priced.input, priced.output) == (0.15, 0.6)
    (unknown,) = parse_described(free.replace("gpt-4o-mini", "of-no-map"), protocol, at_worker=True)
    with pytest.raises(AnnotationError, match="no known price"):
        snapshot(unknown, client.describe(unknown).price, "map")


def test_a_budget_is_asked_for_and_a_workers_owner_allows_an_address() -> None:
    protocol = parse_protocol(judged_study.protocol_text())
    with pytest.raises(AnnotationError, match="say its budget"):
        parse_described(MODEL.replace("max_cost = 2.0\n", ""), protocol)
    defaults = f'[defaults]\napi_base = "{BASE}"\n{MODEL}'
    for text in (f'{MODEL}api_base = "{BASE}"\n', defaults):
        (judge,) = parse_described(text, protocol, at_worker=True)
        assert (judge.api_base, judge.max_cost, judge.price is None) == (BASE, 2.0, False)
        assert without_address([judge], [BASE]) == {}
        assert f"allows that with --api-base={BASE}" in without_address([judge], ["http://127.0.0.1"])["mini"]


@pytest.mark.databases("sqlite")
def test_a_judge_that_is_kept_can_be_asked_for_with_its_price(engine: Engine) -> None:
    study_id = judged_study.make_study(engine, 2)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        with pytest.raises(AnnotationError, match="no setting of a model"):
            keep_judges(session, admin, MODEL + 'command = "id"')
        assert can_be_asked(session, admin) == ()
        keep_judges(session, admin, f'{MODEL}api_base = "{BASE}"\n')
    with reading(engine) as session:
        study = session.get_one(Study, study_id)
        assert can_be_asked(session, admin) == ("mini",)
        assert list(described_judges(session, study)) == ["mini"]
    expected = forecast(engine, admin, "mini")
    assert (expected.spent, expected.max_cost, expected.waiting) == (0.0, 2.0, 0)
    assert expected.new > 0
    assert (expected.estimate.worst or 0) > 0

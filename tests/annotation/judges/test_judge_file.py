"""judges.toml: what is read, what is filled in, and what is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.errors import AnnotationError
from annotation.judges.defining.judge_file import LADDER, parse_judges, read_judges
from annotation.protocol import parse_protocol
from tests.annotation.judges.judged_study import protocol_text

PROTOCOL = parse_protocol(protocol_text(judge='batching = "by_category", order = "random"'))
JUDGE = '[[judge]]\nname = "mini"\nmodel = "openai/gpt-4o-mini"\n'


def test_defaults_come_from_the_protocol_then_the_file_then_the_judge() -> None:
    text = f'[defaults]\nrepeats = 3\ntimeout_s = 60\n{JUDGE}timeout_s = 30\n[[judge]]\nname = "b"\nmodel = "x/y"\norder = "both"\n'
    mini, b = parse_judges(text, PROTOCOL)
    assert (mini.order, mini.batching, mini.repeats, mini.timeout_s) == ("random", "by_category", 3, 30)
    assert (b.order, b.repeats, b.timeout_s) == ("both", 3, 60)
    assert (mini.concurrency, mini.max_output_tokens, mini.structured, mini.first_report) == (64, 8000, LADDER, "A")


def test_the_example_of_the_manual_is_read_apart_from_what_is_not_built_yet() -> None:
    text = """
[defaults]
order = "both"
first_report = "A"
batching = "by_category"
items_per_call = 1
repeats = 1
concurrency = 64
timeout_s = 180
max_output_tokens = 8000

[[judge]]
name = "mini"
model = "openai/gpt-4o-mini"
api_base = "http://localhost:8000/v1"
api_key_env = "MY_KEY"
params = {temperature = 0, seed = 7}
price = {input = 0.15, output = 0.60, cached = 0.075}
rpm = 500
tpm = 200_000
structured = ["json_schema", "json_object", "plain"]
max_cost = 5.00
batch_api = false
"""
    (mini,) = parse_judges(text, PROTOCOL)
    assert mini.price is not None
    assert (mini.price.input, mini.price.output, mini.price.cached, mini.max_cost) == (0.15, 0.60, 0.075, 5.0)
    assert mini.params == {"temperature": 0, "seed": 7}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no [[judge]]"),
        ("[[judge]]\nname = 1", "judge[1]: name"),
        ("[[judge]]\nname = 'a'", "judge 'a': key 'model' is required but missing"),
        (JUDGE + "temprature = 0", "judge 'mini': unknown key 'temprature'"),
        ("[defaults]\ncolour = 1\n" + JUDGE, "unknown key 'colour'"),
        ("[default]\nrepeats = 1\n" + JUDGE, "unknown key 'default'"),
        (JUDGE + JUDGE, "judge 'mini': the name appears twice"),
        ("[defaults]\nname = 'x'\n" + JUDGE, "defaults.name"),
        (JUDGE + "concurrency = 129", "concurrency: Input should be less than or equal to 128 (found 129)"),
        (JUDGE + "structured = []", "at least one"),
        (JUDGE + "structured = ['plain', 'plain']", "each step of the ladder once"),
        (JUDGE + "params = {n = 3}", "params.n is set by calipers or never sent"),
        (JUDGE + "params = {max_tokens = 3}", "params.max_tokens is set by calipers"),
        (JUDGE + "params = {when = 2026-01-01}", "a date or nan cannot be sent"),
        (JUDGE + "params = {temperature = nan}", "a date or nan cannot be sent"),
        (JUDGE + "price = {input = 1}", "price.output"),
        (JUDGE + "price = {input = inf, output = 1}", "price.input"),
        (JUDGE + "max_cost = 0", "max_cost: Input should be greater than 0 (found 0)"),
        (JUDGE + "max_input_chars = 9000", "max_input_chars: cutting long prompts is not supported yet"),
        (JUDGE + "[[panel]]\nname = 'p'", "key 'members' is required but missing"),
        (JUDGE + "= 3", "not TOML"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_as_written_is_refused(text: str, says: str) -> None:
    with pytest.raises(AnnotationError) as error:
        parse_judges(text, PROTOCOL, "my.toml")
    assert error.value.text.startswith("my.toml: ")
    assert says in error.value.text
    assert error.value.code == "bad_judges"


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "SENTINEL"',
        'api_key_env = "sk-SENTINEL-0123456789"',
        'api_base = "http://me:SENTINEL@host/v1"',
        'api_base = "http://host/v1?key=SENTINEL"',
        'params = {extra_headers = {Authorization = "Bearer SENTINEL"}}',
        'params = {extra_headers = {x-token = "SENTINEL"}}',
        'params = {user = "sk-SENTINEL"}',
        'params = {user = "SENTINEL0123456789abcdefghijklmnop"}',
    ],
)
def test_a_secret_is_refused_and_not_repeated(line: str) -> None:
    with pytest.raises(AnnotationError) as error:
        parse_judges(JUDGE + line, PROTOCOL)
    assert "SENTINEL" not in error.value.text


@pytest.mark.parametrize(
    "model",
    ["claude-3-5-sonnet-20241022", "mistral-small-24b-instruct-2501-awq", "openrouter/anthropic/claude-sonnet-4"],
)
def test_long_model_names_are_no_secrets(model: str) -> None:
    assert parse_judges(f'[[judge]]\nname = "a"\nmodel = "{model}"', PROTOCOL)[0].model == model


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    with pytest.raises(AnnotationError, match=r"judges\.toml: No such file"):
        read_judges(path, PROTOCOL)
    path.write_bytes(b"\xff")
    with pytest.raises(AnnotationError, match="not UTF-8"):
        read_judges(path, PROTOCOL)
    path.write_text(JUDGE)
    assert read_judges(path, PROTOCOL)[0].name == "mini"

"""What a line of a batch says, costs and comes back as; and what may not become one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.figures.kept import data_address, store
from annotation.figures.pictures import encoded
from annotation.judges.asking.material import rebuilt_prompt
from annotation.judges.batches.batch_api import BatchApi, body_of, line_of, read_lines
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply
from annotation.texts.figures import figure_mark
from db.connect import reading, transaction
from db.tables import Study
from tests.annotation.judges.batched_study import (
    judge,
    only,
    run,
)
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import attempts, call_states, judges, make_study

SCREENSHOTS = Path(__file__).resolve().parents[3] / "docs" / "screenshots"


class Rewriting(BatchApi):
    """A provider whose lines say something else."""

    def __init__(self, change: Callable[[dict[str, Any]], None]) -> None:
        self._change = change

    async def content(self, judge: JudgeDefinition, file_id: str) -> bytes | Reply:
        found = await super().content(judge, file_id)
        assert isinstance(found, bytes)
        lines = [json.loads(line) for line in found.splitlines()]
        for line in lines:
            self._change(line)
        return "\n".join(map(json.dumps, lines)).encode()


def failing(status: int, message: str) -> Callable[[dict[str, Any]], None]:
    return lambda line: line.update(response={"status_code": status, "body": {"error": {"message": message}}})


@pytest.mark.parametrize(
    ("status", "message", "state", "says"),
    [
        (400, "response_format json_schema is not supported", "submitted", None),
        (400, "maximum context length is 4096 tokens", "failed", None),
        (401, "bad key", "planned", "bad key"),
    ],
)
def test_an_error_in_a_line_means_what_it_means_elsewhere(
    sqlite: Engine, fake: Fake, status: int, message: str, state: str, says: str | None
) -> None:
    study = make_study(sqlite, 1)
    run(sqlite, study, judge(fake))
    after = run(sqlite, study, judge(fake), api=Rewriting(failing(status, message)))
    assert call_states(sqlite) == {state: 2}
    assert (only(after).stopped is None) == (says is None)
    assert says is None or says in str(only(after).stopped)
    if state == "submitted":
        assert only(run(sqlite, study, judge(fake))).labels == {"ok": 6}
        assert attempts(sqlite)[-1].rung == "json_object", "the next step of the ladder"


def test_a_line_holds_the_pictures_of_an_ordinary_request_and_its_prompt_is_rebuilt_and_proved(
    sqlite: Engine, fake: Fake
) -> None:
    drawn, name = encoded((SCREENSHOTS / "figure-large.png").read_bytes()), "5" * 32
    text = f"Tides rise.\n\n{figure_mark(name)} Height by hour\n\n[[q=.4]]\n"
    study = make_study(sqlite, 1, answers='[reports]\nimages = "show"\n', text=lambda number, side: text)
    with transaction(sqlite) as session:
        store(session, session.get_one(Study, study), {name: drawn})
    seeing = judge(fake, "images = true")
    run(sqlite, study, seeing)
    for line in fake.file(fake.batches()[0]["input_file_id"]).splitlines():
        parts = json.loads(line)["body"]["messages"][-1]["content"]
        at = [number for number, part in enumerate(parts) if part["type"] == "image_url"]
        assert [parts[number]["image_url"]["url"] for number in at] == [data_address(drawn.data)] * 2
        assert all(parts[number + 1]["text"].startswith(" Height by hour") for number in at)
        assert name not in str(parts)
    assert only(run(sqlite, study, seeing)).labels == {"ok": 6}
    run(sqlite, study, seeing.replace('"j"', '"k"').replace("batch_api = true", "batch_api = false"))
    sent = [line["prompt"] for line in fake.bill()]
    assert (len(sent), set(sent[:2])) == (4, set(sent[2:])), "the same messages, byte by byte"
    with reading(sqlite) as session:
        for row in attempts(sqlite):
            assert rebuilt_prompt(session, row.call_id, row.attempt_no).sha256 == row.prompt_sha256


def test_no_key_is_in_the_database_or_said(
    sqlite: Engine, fake: Fake, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_JUDGE_KEY", "SENTINEL-4711-key")
    fake.reset(batch_create="refused")
    study = make_study(sqlite, 1)
    keyed = judge(fake, 'api_key_env = "MY_JUDGE_KEY"')
    said = repr(run(sqlite, study, keyed))
    fake.set(batch_create="ok")
    said += repr(run(sqlite, study, keyed)) + repr(run(sqlite, study, keyed))
    sqlite.dispose()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("calipers.db*"))
    captured = capfd.readouterr()
    assert "SENTINEL" not in said + captured.out + captured.err + json.dumps(fake.batches())
    assert b"SENTINEL" not in stored
    assert b"MY_JUDGE_KEY" not in stored


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("openai/fake", "anthropic/claude-haiku-4-5", "batches are for openai/ models"),
        (", batch_input = 0.075, batch_output = 0.30", "", "has a price but none for batches"),
    ],
)
def test_what_cannot_go_through_batches_is_refused_before_anything_is_planned(
    sqlite: Engine, fake: Fake, old: str, new: str, says: str
) -> None:
    study = make_study(sqlite, 1)
    with pytest.raises(AnnotationError, match=says):
        plan_judges(sqlite, study, judges(judge(fake).replace(old, new)))
    assert call_states(sqlite) == {}


def test_an_estimate_has_the_batches_beside_it(sqlite: Engine, fake: Fake) -> None:
    study = make_study(sqlite, 2)
    (plan,) = plan_judges(sqlite, study, judges(judge(fake)), write=False)
    found = plan.estimate
    assert found.likely is not None
    assert found.batch == pytest.approx(found.likely / 2)
    assert found.worst is not None
    assert found.batch_worst is not None
    assert found.worst / 2 < found.batch_worst < found.worst, "re-asks cost what they always cost"
    (alone,) = plan_judges(sqlite, study, judges(judge(fake).split("price")[0]), write=False)
    assert (alone.estimate.batch, alone.estimate.batch_worst) == (None, None)


@pytest.mark.parametrize(
    ("model", "limit", "schema"),
    [("openai/gpt-4o-mini", "max_tokens", "json_schema"), ("openai/gpt-5-mini", "max_completion_tokens", "plain")],
)
def test_a_line_says_what_an_ordinary_request_says(model: str, limit: str, schema: Any) -> None:
    (definition,) = judges(f'name = "j"\nmodel = "{model}"\nparams = {{seed = 3}}\nmax_output_tokens = 99\n')
    picture = {"type": "image_url", "image_url": {"url": "data:image/webp;base64,UklGRg=="}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "x"}, picture]}]
    body = body_of(definition, messages, {"type": "object"}, schema)
    expected: dict[str, Any] = {
        "model": model.removeprefix("openai/"), "messages": messages, "seed": 3, limit: 99,
    }  # fmt: skip
    if schema == "json_schema":
        named = {"name": "judgments", "strict": True, "schema": {"type": "object"}}
        expected["response_format"] = {"type": "json_schema", "json_schema": named}
    assert body == expected
    assert json.loads(line_of("k", body)) == {
        "custom_id": "k", "method": "POST", "url": "/v1/chat/completions", "body": expected,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ('{"custom_id": "k", "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "hi"}}]}}}', "ok"),
        ('{"custom_id": "k", "response": {"status_code": 200, "body": {"choices": [{"message": {"refusal": "no"}}]}}}', "refused"),
        ('{"custom_id": "k", "response": {"status_code": 200, "body": {}}, "error": null}', "ok"),
        ('{"custom_id": "k", "response": {"status_code": 503, "body": {"error": {"message": "busy"}}}}', "server_error"),
        ('{"custom_id": "k", "response": {"status_code": 429, "body": {"error": {"message": "slow"}}}}', "rate_limited"),
        ('{"custom_id": "k", "response": null, "error": {"code": "server_error", "message": "x"}}', "server_error"),
        ('{"custom_id": "k", "response": null, "error": {"code": "batch_expired", "message": "x"}}', None),
        ('{"custom_id": "k", "response": null, "error": {"code": "batch_cancelled"}}', None),
    ],
)  # fmt: skip
def test_a_line_comes_back_as_a_reply(line: str, outcome: str | None) -> None:
    ((key, reply),) = read_lines(line.encode() + b"\nnot json\n\n")
    assert key == "k"
    assert (reply and reply.outcome) == outcome

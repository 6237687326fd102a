"""Stored replies read again: no call, later revisions, and the second time nothing."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, func, select, update

from annotation.errors import AnnotationError
from annotation.judges.asking import steps
from annotation.judges.planning.plan import plan_judges
from annotation.judges.reviewing.replies_again import parse_again
from annotation.judges.running.run import run_judges
from annotation.labels.answers import Answer
from db.connect import reading, transaction
from db.tables import Label, Report, Study
from tests.annotation.judges.judged_study import (
    STUB_JUDGE,
    Stub,
    attempts,
    describe,
    judges,
    judgments,
    labels,
    make_study,
    run_stub,
)

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

ONE_ORDER = STUB_JUDGE + 'order = "random"\n'


def count(engine: Engine) -> int:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(Label)) or 0


def newer_parser(monkeypatch: pytest.MonkeyPatch, word: str = "prose") -> None:
    """A parser that understands what today's does not: the bare word."""
    old = steps.parse_reply

    def read(raw: str, criteria: Any, *rest: Any, **more: Any) -> tuple[Answer, ...]:
        if raw == word:
            return tuple(Answer(code, "ok", "right", "said so") for code in criteria)
        return old(raw, criteria, *rest, **more)

    monkeypatch.setattr(steps, "parse_reply", read)
    monkeypatch.setattr("annotation.judges.reviewing.replies_again.PARSER_VERSION", "next")


@pytest.mark.databases("sqlite", "postgres")
def test_a_better_parser_never_pays_again_and_says_what_changed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(engine, 2)
    stub = Stub(lambda text, number: "prose" if "topic 0" in text else judgments(text))
    run_stub(engine, study, stub, ONE_ORDER)
    sent, stored = len(stub.requests), count(engine)
    newer_parser(monkeypatch)
    (found,) = parse_again(engine, study)
    assert (found.judge, dict(found.before), dict(found.after)) == ("mini", {"ok": 3, "invalid": 3}, {"ok": 6})
    assert (len(stub.requests), len(attempts(engine))) == (sent, sent)
    assert count(engine) == stored + 3
    with reading(engine) as session:
        versions = session.execute(
            select(Label.revision, Label.parser_version, Label.status).order_by(Label.id).where(Label.revision > 1)
        ).all()
    assert [tuple(row) for row in versions] == [(2, "next", "ok")] * 3
    (again,) = parse_again(engine, study)
    assert dict(again.before) == dict(again.after) == {"ok": 6}
    assert count(engine) == stored + 3


def test_todays_parser_changes_nothing_today(engine: Engine) -> None:
    study = make_study(engine, 3)
    replies = iter(["prose", "no", "{}", "[]"] * 20)
    run_stub(engine, study, Stub(lambda text, number: judgments(text) if number % 3 else next(replies)))
    before, stored = labels(engine), count(engine)
    parse_again(engine, study)
    assert labels(engine) == before
    assert count(engine) == stored


def test_the_last_call_still_answers_where_two_settings_were_asked(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: "prose"), ONE_ORDER)
    warmer = judges(ONE_ORDER + "params = {temperature = 1}\n")
    plan_judges(engine, study, warmer, describe=describe)
    run_judges(engine, study, warmer, transport=Stub(lambda text, number: judgments(text, "first")))
    newer_parser(monkeypatch)
    parse_again(engine, study)
    assert {row["choice"] for row in labels(engine)} == {"left"}, "the older settings' reply stays in the ledger"


def test_a_reply_about_a_replaced_text_is_not_read_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(engine, 1)
    run_stub(engine, study, Stub(lambda text, number: "prose"), ONE_ORDER)
    stored = count(engine)
    with transaction(engine) as session:
        session.execute(update(Report).values(shown_sha256="0" * 64))
    newer_parser(monkeypatch)
    parse_again(engine, study)
    assert count(engine) == stored


@pytest.mark.databases("sqlite", "postgres")
def test_a_locked_study_keeps_every_label(engine: Engine) -> None:
    study = make_study(engine, 1)
    with transaction(engine) as session:
        session.execute(update(Study).values(status="locked"))
    with pytest.raises(AnnotationError, match="locked"):
        parse_again(engine, study)

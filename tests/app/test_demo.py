"""The demo study: made once, through the real doors, marked as simulated, with something on every screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from streamlit.testing.v1 import AppTest

from annotation.people.principals import Principal, local_admin
from app.demo.study import demo_links, make_demo
from app.progress import study_progress
from app.results.study_reports import study_report
from app.settings import database, settings
from db.connect import open_database, reading
from db.judge_tables import JudgeAttempt
from db.migrations import upgrade
from db.tables import Assignment, Label, Study
from tests.app.drawing import module_of, page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Engine]]:
    url = f"sqlite:///{tmp_path_factory.mktemp('demo')}/demo.db"
    upgrade(url)
    engine = open_database(url)
    assert make_demo(engine)
    yield url, engine
    engine.dispose()


def counts(engine: Engine) -> dict[str, Any]:
    with reading(engine) as session:
        return {
            t.__tablename__: session.scalar(select(func.count()).select_from(t))
            for t in (Label, Assignment, JudgeAttempt)
        }


def test_the_demo_is_made_once_and_each_call_gives_fresh_links(demo: tuple[str, Engine]) -> None:
    _, engine = demo
    before = counts(engine)
    assert not make_demo(engine)
    assert counts(engine) == before
    one, two = demo_links(engine), demo_links(engine)
    assert set(one) == {"annotator", "adjudicator", "evaluator", "admin"}
    assert not set(one.values()) & set(two.values())


def test_the_demo_has_topics_reports_people_judges_and_work_left_for_a_visitor(demo: tuple[str, Engine]) -> None:
    _, engine = demo
    with reading(engine) as session:
        study = session.scalars(select(Study)).one()
        progress = study_progress(session, local_admin(study))
        assert study.is_simulated
    assert (progress.reports, progress.items, progress.slots, progress.submitted) == (18, 18, 48, 36)
    judges = [rater for rater in progress.raters if rater.kind == "judge"]
    assert [judge.submitted for judge in judges] == [36, 36]
    assert all(judge.rater.startswith("simulated") for judge in judges)
    assert all(judge.cost_usd for judge in judges)


def test_the_demo_tells_a_careful_judge_from_a_quick_one(demo: tuple[str, Engine]) -> None:
    _, engine = demo
    with reading(engine) as session:
        found = study_report(session, local_admin(session.scalars(select(Study)).one()), resamples=199)
    verdicts, report = found.verdicts, found.report
    agreed = {
        e.rater: e.value
        for e in report.estimates
        if e.statistic == "percent_agreement" and e.reference == "each_annotator" and e.criterion == "all"
    }
    assert agreed["simulated-careful"] > agreed["simulated-quick"] + 0.05
    assert verdicts["cluster_id"].nunique() == 6
    assert verdicts["seconds"].notna().all()


@pytest.fixture
def screen(demo: tuple[str, Engine], monkeypatch: pytest.MonkeyPatch) -> Iterator[Principal]:
    monkeypatch.setenv("CALIPERS_DATABASE_URL", demo[0])
    settings.cache_clear()
    database.cache_clear()
    with reading(demo[1]) as session:
        yield Principal(session.scalars(select(Study.id)).one(), "evaluator", None)
    database().dispose()
    settings.cache_clear()
    database.cache_clear()


def shown(principal: Principal, name: str) -> str:
    def run(principal, name):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        import importlib

        importlib.import_module(name).show(principal)

    done = AppTest.from_function(run, args=(principal, module_of(name)), default_timeout=60).run()
    assert not done.exception
    return "\n".join(str(element.proto) for element in done.main)


def test_the_evaluators_page_opens_with_the_answer_and_says_it_is_simulated(screen: Principal) -> None:
    text = shown(screen, "agreement")
    for words in (
        "simulated-careful agrees with the annotators on",
        "Simulated answers",
        "before you use a number",
        "Krippendorff",
    ):
        assert words in text


def test_the_progress_page_counts(screen: Principal, demo: tuple[str, Engine]) -> None:
    assert "36 of 48" in "".join(str(element.proto) for element in page(demo[1], screen.study_id, "progress").main)


def test_the_blinding_page_says_what_a_paper_may_claim_and_shows_what_was_removed(screen: Principal) -> None:
    text = shown(screen, "blinding")
    for words in (
        "label-blind, not style-blind",
        "As it came in",
        'dir=\\"auto\\"',
        "<del",
        "Every passage that may name",
    ):
        assert words in text


def test_an_annotator_is_refused_the_evaluators_page(screen: Principal) -> None:
    from annotation.errors import AnnotationError
    from annotation.people.principals import require_role

    for role in ("annotator", "adjudicator"):
        with pytest.raises(AnnotationError, match="needs the role evaluator"):
            require_role(Principal(screen.study_id, role), "evaluator")


def test_the_demo_reports_are_where_the_package_looks_for_them() -> None:
    from app.demo.study import REPORTS

    assert len(list(Path(REPORTS).glob("*/*.md"))) == 18

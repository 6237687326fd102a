"""What was measured on texts is kept by their hash: read again as long as they stay, made anew when one changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from annotation import blinding
from annotation.facts.study_facts import keep_audit
from annotation.leaks import blinding_audit
from annotation.people.principals import Principal, local_admin
from annotation.shown_texts import auditing
from annotation.shown_texts.auditing import audit_study
from annotation.shown_texts.kept_measures import MEASURED, keep_measure
from annotation.shown_texts.overrides import edit_text, resolve_all
from db.connect import reading, transaction
from db.tables import Event, Item, Report, Study
from tests.small_study import make_study, report_by


@pytest.fixture
def audited(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Engine, Principal, list[bool]]:
    """A study whose texts hold traces; and whether each measuring so far was of the whole."""
    study_id, made = make_study(engine, tmp_path), list[bool]()
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        report_by(session, admin, "tides", "alpha").shown_text = "Tides rise [1], as Atlas says."

    def measure(*texts: object, whole: bool, **begun: object) -> blinding.Measured:
        made.append(whole)
        return blinding.measure(*texts, whole=whole, **begun)  # type: ignore[arg-type]

    monkeypatch.setattr(auditing, "measure", measure)
    return engine, admin, made


def whatever(right: object, of: object) -> tuple[float, float]:
    return 0.0, 1.0


def audit_and_keep(engine: Engine, admin: Principal) -> blinding.BlindingAudit:
    with reading(engine) as session:
        found = audit_study(session, admin, interval=whatever)
    with transaction(engine) as session:
        keep_audit(session, session.get_one(Study, admin.study_id), found)
    return found


@pytest.mark.databases("sqlite")
def test_the_same_texts_are_measured_once_and_a_changed_one_makes_it_new(audited: tuple) -> None:
    engine, admin, made = audited
    first = audit_and_keep(engine, admin)
    assert [hit.kind for hit in first.residue] == ["bracket_number"]
    assert (audit_and_keep(engine, admin), made) == (first, [True])
    with transaction(engine) as session:
        assert session.scalar(select(func.count()).where(Event.what == MEASURED)) == 1
        edit_text(session, admin, report_by(session, admin, "tides", "alpha").id, "Tides rise.", "a mark was left")
    assert audit_and_keep(engine, admin).residue == ()
    assert made == [True, True]


@pytest.mark.databases("sqlite")
def test_a_text_changed_by_hand_is_not_taken_for_what_its_layout_makes(
    audited: tuple, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, admin, _ = audited
    forms: list[dict[str, str]] = []

    def measure(ready: list[blinding.AuditedReport], *_: object, **__: object) -> blinding.Measured:
        forms.append({one.key: one.form for one in ready if one.topic == "tides"})
        return blinding.Measured((), (), (), is_whole=True)

    monkeypatch.setattr(auditing, "measure", measure)
    with transaction(engine) as session:
        edit_text(session, admin, report_by(session, admin, "tides", "alpha").id, "Tides rise.", "a mark was left")
    audit_and_keep(engine, admin)
    made = f"{blinding.CANONICAL_VERSION}/canonical"
    assert forms == [{"alpha/tides": "", "beta/tides": made, "gamma/tides": made}]


@pytest.mark.databases("sqlite")
def test_a_decision_to_keep_words_leaves_what_was_measured_and_changes_the_sentence(audited: tuple) -> None:
    engine, admin, made = audited
    with transaction(engine) as session:
        report = report_by(session, admin, "tides", "alpha")
        report.flags = [{"start": 19, "end": 24, "kind": "system", "text": "Atlas", "resolution": None}]
        report.open_flags = 1
    assert audit_and_keep(engine, admin).undecided == 1
    with transaction(engine) as session:
        resolve_all(session, admin, "keep", reason="a myth")
    kept = audit_and_keep(engine, admin)
    assert (kept.undecided, made) == (0, [True])
    assert "but for 1 passage (system 1) kept as content by decision" in kept.sentence


@pytest.mark.databases("sqlite")
def test_what_a_page_left_out_is_measured_when_the_whole_is_asked_for(
    audited: tuple, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, admin, made = audited
    monkeypatch.setattr(blinding_audit, "FEWEST_TOPICS", 1)
    with reading(engine) as session:
        page = audit_study(session, admin, interval=whatever, whole=False)
    with transaction(engine) as session:
        keep_measure(session, session.get_one(Study, admin.study_id), page)
    whole = audit_and_keep(engine, admin)
    assert page.giveaways == ()
    assert whole.giveaways
    assert set(page.identification) < set(whole.identification)
    assert made == [False, True]
    with reading(engine) as session:  # what is whole serves the page, too
        assert audit_study(session, admin, interval=whatever, whole=False).giveaways == whole.giveaways
    assert made == [False, True]


def test_sentences_for_a_paper_speak_of_planned_reports_alone(audited: tuple) -> None:
    engine, admin, _ = audited
    with transaction(engine) as session:
        unplanned = report_by(session, admin, "tides", "alpha")
        shows = (Item.report_a_id == unplanned.id) | (Item.report_b_id == unplanned.id)
        for item in session.scalars(select(Item).where(shows)):
            item.excluded_at = item.created_at
        unplanned.flags = [{"start": 19, "end": 24, "kind": "system", "text": "Atlas", "resolution": None}]
        unplanned.open_flags = 1
    found = audit_and_keep(engine, admin)
    assert (found.undecided, len(found.residue)) == (0, 1)
    assert "traces of citations or origin (" not in found.sentence
    assert found.sentence.startswith("Reports were label-blind")
    with transaction(engine) as session:
        waiting = session.scalars(select(Report.open_flags).where(Report.open_flags > 0)).all()
    assert waiting == [1], "the unplanned one still waits, and says so elsewhere"

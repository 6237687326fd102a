"""Columns that labels.csv has only where a study has them: confidence, tag, weight, beside, claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.labels.optional_columns import first_of_claims
from annotation.verdicts import COLUMNS, labels_csv
from calibration.calibrate import calibrate
from calibration.results import Aggregate, CalibrationSettings
from calibration.table.checking import check_verdicts
from db.connect import transaction
from db.tables import Item, Report, Study, System
from tests.annotation.probe_trees import study_of
from tests.annotation.result_trees import bring_results, labels_file, verdicts
from tests.small_study import PROBES, make_study, source_of
from tests.topic_questions import ROW_WEIGHTS, add_views, bench_tree, bring_in

SURE = PROBES.replace("[answers]", "[answers]\nconfidence = true").replace('context = "report"', 'context = "sources"')
CLAIMS = (("It rises.", "page one", "user"), ("It rises.", "page two", "user"), ("It falls.", "page one", "files"))
UNFETCHED = tuple((text, None, tag) for text, _, tag in CLAIMS)


def claims(
    engine: Engine, root: Path, protocol: str = SURE, probes: Sequence[tuple[str, str | None, str]] = CLAIMS
) -> tuple[int, list[str]]:
    """Three probes of one report, two of them one claim before two sources; the study and the items' names."""
    study = study_of(engine, root, protocol, topics=("tides",), systems=("alpha",))
    with transaction(engine) as session:
        report = session.scalars(select(Report)).one()
        made = [
            Item(study_id=study, topic_id=report.topic_id, kind="probe", report_a_id=report.id, probe=text,
                 probe_key=str(number), source=source_of(session, study, context or ""), tag=tag)
            for number, (text, context, tag) in enumerate(probes)
        ]  # fmt: skip
        session.add_all(made)
        session.flush()
        return study, [f"item-{item.id:05d}" for item in made]


def answers(root: Path, items: list[str], confidence: tuple[str, ...]) -> Path:
    rows = [
        {"item_id": item, "rater_id": rater, "rater_kind": kind, "criterion": "supported", "label": label,
         "system_b": "", "probe": str(number), "confidence": sure}
        for rater, kind in (("ada", "human"), ("mini", "judge"))
        for number, (item, label, sure) in enumerate(zip(items, ("full", "part", "full"), confidence, strict=True))
    ]  # fmt: skip
    return labels_file(root / "labels.csv", rows)


@pytest.mark.databases("sqlite")
def test_probes_bring_their_tag_their_claim_and_how_sure_the_rater_was(engine: Engine, tmp_path: Path) -> None:
    study, items = claims(engine, tmp_path / "reports")
    bring_results(engine, study, answers(tmp_path, items, ("5", "", "2")), "labels", kind="labels")
    found = verdicts(engine, study)
    assert tuple(found.columns) == (*COLUMNS, "confidence", "tag", "claim")
    own = found[found["rater_id"] == "mini"].set_index("item_id").loc[items]
    assert own["tag"].tolist() == ["user", "user", "files"]
    assert own["claim"].fillna("").tolist() == [items[0], items[0], ""]
    assert own["confidence"].fillna(0).tolist() == [5, 0, 2]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "probes", "first"),
    [
        (SURE, UNFETCHED, {0: 0, 1: 0}),  # neither page was there: still two sources of one claim
        (SURE.replace('context = "sources"', 'context = "report"'), UNFETCHED, {}),  # the same key point asked twice
    ],
)
def test_a_claim_is_one_by_its_text_where_sources_are_read(
    engine: Engine, tmp_path: Path, protocol: str, probes: tuple[tuple[str, None, str], ...], first: dict[int, int]
) -> None:
    study, items = claims(engine, tmp_path / "reports", protocol, probes)
    with transaction(engine) as session:
        found = first_of_claims(session, session.get_one(Study, study))
    assert {f"item-{item:05d}": name for item, name in found.items()} == {items[k]: items[n] for k, n in first.items()}


def test_labels_with_their_confidence_go_out_and_come_back_the_same(engine: Engine, tmp_path: Path) -> None:
    study, items = claims(engine, tmp_path / "reports")
    bring_results(engine, study, answers(tmp_path, items, ("5", "4", "1")), "labels", kind="labels")
    before = verdicts(engine, study)
    (tmp_path / "out.csv").write_text(labels_csv(before), encoding="utf-8")
    again = bring_results(engine, study, tmp_path / "out.csv", "labels", kind="labels")
    assert (again.new, again.unchanged, again.revised) == (0, 6, 0)
    checked = check_verdicts(before)
    assert checked["confidence"].tolist() == [5.0, 5.0, 4.0, 4.0, 1.0, 1.0]
    assert {"tag", "claim"} < {*checked.columns}


@pytest.mark.databases("sqlite")
def test_a_claim_with_two_sources_counts_once_from_the_database_to_the_number(engine: Engine, tmp_path: Path) -> None:
    study, items = claims(engine, tmp_path / "reports")
    bring_results(engine, study, answers(tmp_path, items, ("", "", "")), "labels", kind="labels")
    chosen = CalibrationSettings(
        resamples=9,
        aggregates=tuple(Aggregate(one, "share", ("full",), several=one) for one in ("any", "all")),
    )
    report = calibrate(verdicts(engine, study), chosen)
    values = {one.criterion: (one.value, one.n) for one in report.estimates if one.statistic == "aggregate"}
    assert values == {"any": (1.0, 2), "all": (0.5, 2)}


@pytest.mark.databases("sqlite")
def test_ratings_of_one_view_name_each_other_and_bring_the_weights_of_their_questions(
    engine: Engine, tmp_path: Path
) -> None:
    bring_in(engine, bench_tree(tmp_path / "tree", systems=("atlas",)))
    twins = add_views(engine)
    with transaction(engine) as session:
        systems = dict(
            session.execute(
                select(Item.id, System.key)
                .join(Report, Report.id == Item.report_a_id)
                .join(System, System.id == Report.system_id)
            ).all()
        )
    rows = [
        {"item_id": f"item-{item:05d}", "criterion": code, "label": "6", "cluster_id": topic, "system_b": "",
         "system_a": systems[item], "rater_id": rater, "rater_kind": kind}
        for topic, pair in zip(ROW_WEIGHTS, twins.items(), strict=True)
        for item in pair
        for code in ROW_WEIGHTS[topic]
        for rater, kind in (("ada", "human"), ("mini", "judge"))
    ]  # fmt: skip
    bring_results(engine, 1, labels_file(tmp_path / "labels.csv", rows), "labels", kind="labels")
    found = verdicts(engine, 1)
    assert tuple(found.columns) == (*COLUMNS, "weight", "beside")
    beside = {(f"item-{a:05d}", f"item-{b:05d}") for pair in twins.items() for a, b in (pair, pair[::-1])}
    assert {*zip(found["item_id"], found["beside"], strict=True)} == beside
    own = found[(found["cluster_id"] == "2") & (found["rater_id"] == "mini") & (found["system_a"] == "atlas")]
    assert dict(zip(own["criterion"], own["weight"], strict=True)) == ROW_WEIGHTS["2"]
    chosen = CalibrationSettings(resamples=9, aggregates=(Aggregate("RACE", "target_share"),))
    estimates = [one for one in calibrate(found, chosen).estimates if one.statistic == "aggregate"]
    assert {(one.rater, one.category): one.value for one in estimates} == {
        (rater, f"systems: {system}"): 0.5 for rater in ("each_annotator", "mini") for system in ("atlas", "reference")
    }


@pytest.mark.databases("sqlite")
def test_a_study_without_any_of_them_keeps_its_columns(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports")
    bring_results(engine, study, labels_file(tmp_path / "labels.csv", [{"confidence": ""}]), "labels", kind="labels")
    assert tuple(verdicts(engine, study).columns) == COLUMNS

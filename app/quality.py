"""From a study to how its people work and agree so far: the edge where `calibration` meets storage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from sqlalchemy.orm import Session

from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from annotation.work.work_log import work_log
from app.reporting import settings_of
from calibration.people.agreement_so_far import AgreementSoFar, agreement_so_far
from calibration.people.annotator_quality import AnnotatorQuality, annotator_quality

RESAMPLES = 1_999  # of a page that is drawn anew every half minute; a report has five times as many


@dataclass(frozen=True)
class StudyQuality:
    """What is known so far. `cluster`: what is counted and resampled: pair, item or topic."""

    study: str
    level: float
    cluster: str
    annotators: tuple[AnnotatorQuality, ...]
    agreement: AgreementSoFar


def study_quality(session: Session, principal: Principal, resamples: int = RESAMPLES) -> StudyQuality:
    """Of people's work handed in; systems are not looked at. For evaluators and admins. Raises AnnotationError."""
    study = study_for(session, principal, "evaluator")
    settings = settings_of(protocol_of(study), study.seed, resamples=resamples)
    verdicts, log = load_verdicts(session, study), work_log(session, study)
    verdicts = verdicts[verdicts["rater_kind"] == "human"].drop(columns=["system_a", "system_b"])
    if protocol_of(study).task_type == "pairwise_choice":
        # whose reports they are is not asked here, only that there are two
        verdicts = verdicts.assign(system_a="A", system_b="B")
    return StudyQuality(
        study.name,
        settings.level,
        _word(verdicts),
        annotator_quality(verdicts, log, settings),
        agreement_so_far(verdicts, order_of_clusters(verdicts, log), settings),
    )


def _word(verdicts: pd.DataFrame) -> str:
    """What to count in: pairs (items, where nothing is paired) if each has a cluster of its own, else topics."""
    alone = len(verdicts) and verdicts["item_id"].nunique() == verdicts["cluster_id"].nunique()
    return ("pair" if "system_b" in verdicts else "item") if alone else "topic"


def order_of_clusters(verdicts: pd.DataFrame, log: pd.DataFrame) -> list[str]:
    """cluster_ids by the moment at which an item of theirs was handed in by a second annotator."""
    own = log[(log["purpose"] == "label") & log["item_id"].isin(verdicts["item_id"])]
    second = own[own.groupby("item_id").cumcount() == 1]
    cluster = dict(zip(verdicts["item_id"], verdicts["cluster_id"], strict=True))
    return list(dict.fromkeys(second["item_id"].map(cluster)))


def as_json(found: StudyQuality, half_width: float) -> dict[str, Any]:
    """Plain values for a program. `half_width`: of the interval that more pairs are planned for."""
    agreement = found.agreement
    needed, cautious = agreement.needed(half_width), agreement.cautious(half_width)
    return {
        "format": "calipers-quality/1",
        "study": found.study,
        "annotators": [{**asdict(one), "flags": [flag.name for flag in one.flags]} for one in found.annotators],
        "agreement": {
            "overall": [asdict(one) for one in agreement.overall],
            "ceiling": None if agreement.ceiling is None else asdict(agreement.ceiling),
            "criteria": [{"agreement": asdict(one), "ceiling": asdict(other)} for one, other in agreement.criteria],
            "steps": [asdict(one) for one in agreement.steps],
        },
        "needed": {
            "half_width": half_width, "in": found.cluster, "clusters": needed.clusters, "more": needed.more,
            "clusters_to_be_safe": cautious.clusters, "note": needed.note,
        },
    }  # fmt: skip

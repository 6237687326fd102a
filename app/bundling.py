"""A bundle of a study or a labels file: where storage, the report and its files meet."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotation.errors import AnnotationError
from annotation.facts.kept_exports import keep_export
from annotation.facts.label_rows import label_rows
from annotation.planning.plan_root import plan_roots, study_plan
from annotation.studies import find_study
from annotation.verdicts import require_revealed, write_labels_csv
from app.commands.database import opened
from app.reporting import Calibrated, facts_about, label_version
from db.connect import reading, transaction
from exports.bundle import FACTS, PLAN, write_bundle
from exports.datasets.label_chain import chained
from exports.pack import pack
from exports.recomputing import Inputs

Advance = Callable[[int, int, str], None]


def write_bundle_of(found: Calibrated, folder: Path, presets: Sequence[str], advance: Advance) -> str:
    """Fill the empty `folder` and return the bundle's root; a study keeps it. Raises `still_blind`, ExportError."""
    if found.study:
        with reading(opened()) as session:
            require_revealed(find_study(session, found.study))
    report = found.report
    data = {name: report.data[name] for name in ("plan_root", "is_simulated") if name in report.data}
    inputs = Inputs(report.settings, found.cascades, tuple(presets), data)
    facts = facts_about(found.study, found.examples)
    printed = pack(report, found.verdicts, facts, presets, lambda done, of: advance(done, of, "drawing figures"))
    beside = {FACTS: _json(asdict(facts))}
    if report.choice is not None:
        beside["comparison-plan.json"] = _json(report.choice.plan.kept)

    def write_labels(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            write_labels_csv(found.labels, file, lambda done, of: advance(done, of, "writing labels"))

    if not found.study:
        return write_bundle(folder, inputs, write_labels, printed, beside)
    engine = opened()
    with reading(engine) as session:
        study = find_study(session, found.study)
        if label_version(session, study) != found.version:
            raise AnnotationError(
                "changed_meanwhile",
                f"study {study.name!r} got labels or was changed while its report was computed; export again",
            )
        beside |= {
            "protocol.toml": study.protocol_text,
            PLAN: _json(study_plan(session, study)),
            "plan-roots.json": _json(plan_roots(session, study)),
        }
        history = chained(label_rows(session, study))
        root = write_bundle(
            folder, inputs, write_labels, printed, beside, history,
            lambda done, of: advance(done, of, "writing every revision"),
        )  # fmt: skip
    with transaction(engine) as session:
        keep_export(session, find_study(session, found.study), "bundle", root, presets=list(presets))
    return root


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"

"""The files of a report in one folder that holds one report, and the plan that is kept beside it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotation.errors import AnnotationError
from app.reporting import Calibrated, facts_about
from calibration.warnings.comparison_cautions import changed_plan
from exports.pack import MAY_HOLD, pack

PLAN = "comparison-plan.json"
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of zip files' time: the same pack gives the same bytes


def with_kept_plan(found: Calibrated, out: Path) -> Calibrated:
    """Keep the plan of the comparison in `out`, once and before any result, and warn where it is another by now."""
    report = found.report
    if report.choice is None:
        return found
    kept = out / PLAN
    if not kept.exists():
        out.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report.choice.plan.kept, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return found
    try:
        first = json.loads(kept.read_text(encoding="utf-8"))
        changed = tuple(changed_plan(report.choice.plan, first))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise AnnotationError(
            "bad_plan", f"{kept} is no comparison plan; move it away, or write to another folder"
        ) from None
    told = (*changed, *(one for one in report.warnings if one not in changed))
    return replace(found, report=replace(report, warnings=told))


def write_report(
    found: Calibrated,
    out: Path,
    presets: Sequence[str] = (),
    advance: Callable[[int, int], None] = lambda done, of: None,
) -> list[Path]:
    """The paper pack in `out`; returns the files written, and the plan where `with_kept_plan` keeps it there.

    Files of an earlier report that this one does not have are removed, so that a folder holds one report.
    """
    files = pack(found.report, found.verdicts, facts_about(found.study, found.examples), presets, advance)
    out.mkdir(parents=True, exist_ok=True)
    for stale in MAY_HOLD - set(files):
        (out / stale).unlink(missing_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in (*files, *[PLAN] * (out / PLAN).exists())]


def zipped_pack(found: Calibrated, presets: Sequence[str] = ()) -> bytes:
    """The paper pack as one file."""
    files = pack(found.report, found.verdicts, facts_about(found.study, found.examples), presets)
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name, BEGINNING), content, ZIP_DEFLATED)
    return out.getvalue()

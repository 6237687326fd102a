"""Where storage meets the files of an export: datasets, bundles, reports, labels, and the items left to people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.facts import label_rows
from annotation.facts.study_facts import study_facts
from annotation.figures.kept import shown_pictures
from annotation.items.shown import item_code, items_shown
from annotation.judges.defining.judge_file import read_judge_file
from annotation.labels.current_labels import shown_by_item
from annotation.leaks.redaction import redactor_of
from annotation.planning.plan_root import plan_roots, study_plan
from annotation.studies import find_study, no_work_yet, protocol_of
from annotation.verdicts import load_verdicts, require_revealed, write_labels_csv
from app.results.panels import with_panels
from app.results.reporting import Calibrated, settings_of
from app.results.sources import calibrated, facts_about
from app.results.study_reports import label_version
from app.settings import database, opened
from calibration.delegating.alone import Alone, items_for_people
from calipers import tidy_files
from db import connect, tables
from exports.bundles import bundle, recomputing
from exports.datasets import argilla, dataset, label_studio, potato, tool_labels
from exports.datasets.label_rows import chained
from exports.pack import methods_file, pack
from plain.hashes import file_sha256


@dataclass(frozen=True)
class MadeDataset:
    """Rows by table, those of labels by `standing_of`, and what was taken out of free text, by kind."""

    rows: dict[str, int]
    labels: dict[str, int]
    void_left_out: int  # rows of work that was taken out
    removed: dict[str, int]


def write_dataset_of(
    name: str | None,
    folder: Path,
    *,
    texts: bool,
    with_void: bool,
    license: str,
    advance: Callable[[int, int, str], None],
    rater_id: int | None = None,
) -> MadeDataset:
    """Fill the empty `folder`; the study keeps that it left, and by whom. `with_void`: with work that was taken out.

    Raises AnnotationError `still_blind`, `no_labels`, ExportError.
    """
    engine = opened()
    with connect.reading(engine) as session:
        study = find_study(session, name)
        require_revealed(study)
        kept, void = label_rows.count_label_rows(session, study)
        of = kept + void * with_void
        if of == 0 and void:
            raise AnnotationError(
                "no_labels", f"every label of study {study.name!r} was taken out; for an archive, not to publish: "
                "--with-void writes them",
            )  # fmt: skip
        if of == 0:
            raise no_work_yet(session, study)
        redact, standings = redactor_of(session, study), Counter[str]()
        rows = dataset.write_dataset(
            _counted(label_rows.label_rows(session, study, redact, with_void=with_void), standings),
            label_rows.report_rows(session, study, texts=texts), label_rows.criterion_rows(session, study),
            study_facts(session, study), folder, texts=texts, with_void=with_void, license=license,
            removed=redact.removed, pictures=shown_pictures(session, study) if texts else (),
            advance=lambda done: advance(done, of, "writing labels"),
        )  # fmt: skip
    chosen = {"texts": texts, "with_void": with_void, "license": license}
    with connect.transaction(engine) as session:
        label_rows.keep_export(
            session, find_study(session, name), "dataset", file_sha256(folder / dataset.MARK), rater_id, **chosen
        )
    return MadeDataset(rows, dict(standings), 0 if with_void else void, dict(redact.removed))


def _counted(rows: Iterable[dict[str, Any]], into: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        into[label_rows.standing_of(row)] += 1
        yield row


Advance = Callable[[int, int, str], None]


def write_bundle_of(
    found: Calibrated, folder: Path, presets: Sequence[str], advance: Advance, rater_id: int | None = None,
    language: str | None = None,
) -> str:  # fmt: skip
    """Fill the empty `folder` and return the bundle's root; a study keeps it. Raises `still_blind`, ExportError.

    `language`: as of `methods_file`.
    """
    if found.study:
        with connect.reading(opened()) as session:
            require_revealed(find_study(session, found.study))
    report = found.report
    data = {name: value for name in recomputing.STUDY_SAYS if (value := getattr(report, name))}
    inputs = recomputing.Inputs(report.settings, found.cascades, tuple(presets), data)
    facts = facts_about(found.study, found.examples)
    printed = pack(report, found.verdicts, facts, presets, lambda done, of: advance(done, of, "drawing figures"))
    printed |= methods_file(language, report, facts)
    beside = {bundle.FACTS: dataset.json_text(asdict(facts))}
    if report.choice is not None:
        beside["comparison-plan.json"] = dataset.json_text(report.choice.plan.kept)

    def write_labels(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            write_labels_csv(found.labels, file, lambda done, of: advance(done, of, "writing labels"))

    if not found.study:
        return bundle.write_bundle(folder, inputs, write_labels, printed, beside)
    engine = opened()
    with connect.reading(engine) as session:
        study = find_study(session, found.study)
        if label_version(session, study) != found.version:
            raise AnnotationError(
                "changed_meanwhile",
                "study {name!r} got labels or was changed while its report was computed; export again",
                name=study.name,
            )  # fmt: skip
        beside |= {
            "protocol.toml": study.protocol_text,
            bundle.PLAN: dataset.json_text(study_plan(session, study)),
            "plan-roots.json": dataset.json_text(plan_roots(session, study)),
        }
        history = chained(label_rows.label_rows(session, study))
        root = bundle.write_bundle(
            folder, inputs, write_labels, printed, beside, history,
            lambda done, of: advance(done, of, "writing every revision"),
        )  # fmt: skip
    with connect.transaction(engine) as session:
        label_rows.keep_export(
            session, find_study(session, found.study), "bundle", root, rater_id, presets=list(presets)
        )
    return root


TOOLS: dict[str, Callable[[pd.DataFrame, tool_labels.Criteria], tool_labels.ToolFiles]] = {
    "label_studio": label_studio.to_label_studio, "argilla": argilla.to_argilla, "potato": potato.to_potato,
}  # fmt: skip


def labels_of(session: Session, study: tables.Study, judges: Path | None) -> pd.DataFrame:
    """The study's verdicts, with the panels of the file `judges`. Raises `still_blind`."""
    require_revealed(study)
    verdicts = load_verdicts(session, study)
    if judges is None:
        return verdicts
    protocol = protocol_of(study)
    panels, chosen = read_judge_file(judges, protocol).panels, settings_of(protocol, study.seed)
    return with_panels(
        verdicts, panels, chosen, allow_tie=protocol.answers.allow_tie, pairs=protocol.task_type == "pairwise_choice"
    )[0]


def tool_files(
    session: Session, study: tables.Study, labels: pd.DataFrame, tool: str, *, texts: bool
) -> tool_labels.ToolFiles:
    """`labels` in the form of `tool`, one of `TOOLS`. `texts`: with what the items show. Raises `no_labels`."""
    if labels.empty:
        raise AnnotationError(
            "no_labels", "study {name!r} holds no label yet; there is nothing to write", name=study.name
        )
    protocol = protocol_of(study)
    answers = {} if protocol.task_type == "pointwise_rating" else {"answers": list(protocol.choices)}
    criteria = {
        row["criterion"]: {"label": row["label"], "text": row["text"], **answers}
        for row in label_rows.criterion_rows(session, study)
        if row["is_asked"]
    }
    # objects: a text stands once however many labels it has, where a column of strings would copy it for each
    shown = pd.DataFrame(items_shown(session, study, texts=texts), dtype=object).set_index("item_id")
    place = shown.index.get_indexer(pd.Index(labels["item_id"]))
    columns = {str(name): pd.Series(shown[name].to_numpy().take(place), labels.index, dtype=object) for name in shown}
    return TOOLS[tool](labels.assign(**columns), criteria)


COLUMNS = ("item_id", "topic", "system_a", "system_b", "priority")


def people_items(
    what: str,
    judge: str,
    chosen: Mapping[str, Any],
    protocol: str = "",
    judges: Path | None = None,
    labelled: bool = False,
    people: Sequence[str] = (),
) -> tuple[Alone, pd.DataFrame, int]:
    """What `judge` may decide in the file or study `what`; the other items in `COLUMNS`, which `calipers pairs` reads;
    and how many of these are left out because a person labelled them already (none if `labelled`). `chosen`: settings
    by name, instead of the protocol's. `people`: raters of a file who are people, where it does not say.

    The topic of a file's item is its cluster. Nothing in the list says who won. Raises as `calibrated` does, and
    `bad_option` where neither `chosen` nor the protocol states an error.
    """
    how = tidy_files.options_of((), (), people, ())
    found = calibrated(what, protocol=protocol, judges=judges, per_criterion=False, chosen=chosen, how_read=how)
    settings = found.report.settings
    if not settings.alone_error:
        raise AnnotationError("bad_option", "--error: say which error is allowed, such as --error .1")
    alone, items = items_for_people(found.verdicts, judge, settings)
    items = items.rename(columns={"cluster_id": "topic"})
    if found.study:
        items = _by_name(items, found.study)
    left_out = 0 if labelled else int(items["labelled"].sum())
    return alone, items[~items["labelled"] | labelled][list(COLUMNS)], left_out


def _by_name(items: pd.DataFrame, study: str) -> pd.DataFrame:
    """With the study's own names of topics and systems, which its report may mask or count otherwise."""
    with connect.reading(database()) as session:
        shown = {item_code(item): one for item, one in shown_by_item(session, find_study(session, study)).items()}
    named = {name: [shown[item][name] or "" for item in items["item_id"]] for name in ("topic", "system_a", "system_b")}
    return items.assign(**named)

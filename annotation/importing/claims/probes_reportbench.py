"""Layout `reportbench` of probes: statements of each report, with the page they cite or with none."""

from collections.abc import Iterator
from pathlib import Path

from annotation.errors import ImportingError
from annotation.files import decoding, folders
from annotation.importing.claims import probe_records
from annotation.importing.reports import reportbench

KINDS = {"statement": f"SYSTEM/ARXIV_ID/{reportbench.CITED}, {reportbench.NOT_CITED}"}
PAGES = "raw_texts"  # their cache of fetched pages, one folder for all reports of a run
UNAVAILABLE = "source_unavailable"


def read_reportbench_probes(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """Cited statements where the protocol may answer `source_unavailable`, else those without a citation.

    A cited page is `raw_texts/ID.txt` beside a folder above the file, or in `--sources`; a page that was never fetched
    leaves the passages empty, which is the raters' to say.
    """
    probe_records.refuse_kind("reportbench", options, KINDS)
    is_cited = UNAVAILABLE in options.answers
    problems: list[str] = []
    probes: list[probe_records.ProbeRecord] = []
    unread: list[str] = []
    without: list[str] = []
    for file, shown in _files(root, is_cited):
        with decoding.collecting(problems):
            topic, system = reportbench.survey_and_system(file, shown, options.system)
            found = (reportbench.cited_statements if is_cited else reportbench.other_statements)(
                file, shown, problems, options.encoding
            )
            without += [] if found else [f"{topic} of {system}"]
            for one in found:
                with decoding.collecting(problems):
                    text = probe_records.probe_text(one.where, one.text, "'statement'")
                    context = _page(root, file, one, options, unread) if is_cited and options.needs_sources else ""
                    probes.append(probe_records.ProbeRecord(one.where, one.key, topic, system, text, context))
    notes = [f"statements of {reportbench.CITED if is_cited else f'{reportbench.VERIFIED} or {reportbench.NOT_CITED}'}"]
    notes += [f"reports without a statement {len(without)} ({', '.join(without[:20])})"] if without else []
    notes += [f"cited pages not fetched {len(unread)} ({', '.join(unread[:5])})"] if unread else []
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def _files(root: Path, is_cited: bool) -> Iterator[tuple[Path, str]]:
    """Of a report the votes where they are, so that imported votes find their statements; else the bare list."""
    if is_cited:
        yield from folders.files(root, reportbench.CITED)
        return
    found = folders.files(root, "no_citations*.csv")
    named = {(file.parent, file.name) for file, _ in found}
    kept = [
        (file, shown)
        for file, shown in found
        if file.name == reportbench.VERIFIED
        or (file.name == reportbench.NOT_CITED and (file.parent, reportbench.VERIFIED) not in named)
    ]
    if not kept:
        raise ImportingError(
            f"{root}: neither {reportbench.VERIFIED} nor {reportbench.NOT_CITED} found; give the folder that holds them"
        )
    yield from kept


def _page(
    root: Path, file: Path, one: reportbench.Statement, options: probe_records.ProbeOptions, unread: list[str]
) -> str:
    name = f"{one.source}.txt"
    if "/" in name or "\\" in name:
        raise ImportingError(f"{one.where}: ID {one.source!r:.60} is no name of a file; correct it")
    above = [folder / PAGES for folder in (file.parent, *file.parents) if folder.is_relative_to(root)]
    for folder in (options.sources, *above):
        if folder is not None and probe_records.is_file(folder / name):
            return probe_records.read_source(folder, name, one.where, options.encoding)
    unread.append(one.source)
    return ""

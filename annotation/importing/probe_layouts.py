"""The layouts in which probes may lie, one line each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotation.importing.claims import probe_records, probes_deepresearchgym, probes_table
from annotation.importing.claims.probes_dr3_eval import read_dr3_eval_probes
from annotation.importing.claims.probes_reportbench import read_reportbench_probes
from annotation.importing.claims.probes_wlc import read_wlc_probes


@dataclass(frozen=True)
class ProbeLayout:
    """How a tree or file is read, and what it looks like."""

    read: Callable[[Path, probe_records.ProbeOptions], probe_records.ParsedProbes]
    looks_like: str


PROBE_LAYOUTS = {
    "table": ProbeLayout(probes_table.read_probe_table, "one JSONL, JSON, CSV or Parquet file, a probe a row"),
    "deepresearchgym": ProbeLayout(
        probes_deepresearchgym.read_deepresearchgym_probes,
        "DeepResearchGym: key_point/ID_aggregated.json; claims of SYSTEM/evaluation_results_citation_JUDGE.json",
    ),
    "dr3_eval": ProbeLayout(
        read_dr3_eval_probes, "DR3-Eval: gold_insights_from_*.json, checklists, useful_search.jsonl by task"
    ),
    "wlc": ProbeLayout(read_wlc_probes, "Wiki Live Challenge: statements of Wikipedia (facts) and of the agents"),
    "reportbench": ProbeLayout(read_reportbench_probes, "ReportBench: SYSTEM/ARXIV_ID/citations.csv, no_citations.csv"),
}


def probe_layout_lines() -> str:
    """One line a layout, for errors and help."""
    return "\n".join(f"  {name}: {layout.looks_like}" for name, layout in PROBE_LAYOUTS.items())

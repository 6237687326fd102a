"""Layout `race`: DeepResearch Bench's `results/race/<system>/raw_results.jsonl`, four dimension scores a report.

Scores of single criteria were not saved; each score is the target's share, target / (target + reference), 0 to 1.
"""

from pathlib import Path

from annotation.files import decoding, folders
from annotation.files.rows import read_json_rows
from annotation.importing.labels.results import ResultOptions, ResultRow, Results, judge_of, named, said

FILE = "raw_results.jsonl"
DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
DERIVED = "overall_score"


def read_race_results(path: Path, options: ResultOptions) -> Results:
    """One row a dimension; a line with an error, or without the dimension, is missing, and the item does not vanish."""
    problems: list[str] = []
    rows: list[ResultRow] = []
    left_out = 0
    for file, shown in folders.files(path, FILE):
        with decoding.collecting(problems):
            judge = judge_of(options, "", shown)
            system = named(options.system or file.resolve().parent.name)
            for line in read_json_rows(file, shown, problems, options.encoding):
                topic = named(line.values.get("id"))
                if not topic:
                    problems.append(f"{line.where}: no 'id'; fill it in or remove the line")
                    continue
                left_out += DERIVED in line.values
                error = decoding.as_text(line.values.get("error")) or ""
                for dimension in DIMENSIONS:
                    value = decoding.as_text(line.values.get(dimension)) or ""
                    found = said(value, options) if value and not error else (None, "missing", ())
                    rows.append(
                        ResultRow(
                            line.where, judge, topic, (system,), dimension, found[0],
                            status=found[1], flags=found[2], rationale=error,
                        )
                    )  # fmt: skip
    notes = (f"{DERIVED} left out {left_out}: it is worked out from the four",) if left_out else ()
    return Results(tuple(rows), tuple(problems), notes, scale=(0.0, 1.0))

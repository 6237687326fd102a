"""labels.csv, read back as it was before it was written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from exports.spreadsheets import unguarded

LONGEST_HEADER = 10_000  # bytes
CHUNK = 50_000  # rows in memory in any form but the table's own


def read_labels_csv(path: Path) -> pd.DataFrame:
    """Every cell as text, empty where nothing was given. Raises OSError and ValueError for what is no CSV in UTF-8."""
    with path.open("rb") as file:
        if len(file.readline(LONGEST_HEADER + 1)) > LONGEST_HEADER:
            raise ValueError("its first line is no header of labels")
    parts = pd.read_csv(
        path, dtype="str", keep_default_na=False, encoding="utf-8", lineterminator="\n", chunksize=CHUNK
    )
    made = [part.assign(**{str(name): part[name].map(unguarded) for name in part}) for part in parts]
    return pd.concat(made, ignore_index=True).astype("str")

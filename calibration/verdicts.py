"""The table of verdicts: public names of the rooms behind."""

from calibration.table.verdicts import KNOWN_COLUMNS, REQUIRED, STATUSES, kind_of, known, normalise

__all__ = ["KNOWN_COLUMNS", "REQUIRED", "STATUSES", "kind_of", "known", "normalise"]

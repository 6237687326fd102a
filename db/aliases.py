"""The reports and systems that one statement tells apart: those called A and B, and the one shown beside.

Made once: to make an alias costs more than to run a statement.
"""

from __future__ import annotations

from sqlalchemy.orm import aliased

from db.tables import Report, System

REPORT_A, REPORT_B, REFERENCE = aliased(Report), aliased(Report), aliased(Report)
SYSTEM_A, SYSTEM_B = aliased(System), aliased(System)

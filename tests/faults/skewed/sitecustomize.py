"""A machine whose clock is wrong: every process started with this folder first on PYTHONPATH.

The file CALIPERS_TEST_CLOCK holds by how many seconds, read anew at each look at the clock, so a test moves it while
the process runs. It is the seam `db.types.now` has; libfaketime, which wrongs the whole process, is seldom there.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.append(os.getcwd())  # the repository, before the program that is started puts it there
import db.types


class Shown(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        wrong = Path(os.environ["CALIPERS_TEST_CLOCK"]).read_text() or "0"
        return datetime.now(tz) + timedelta(seconds=float(wrong))


db.types.datetime = Shown  # type: ignore[misc]

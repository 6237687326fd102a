"""Work through planned calls: public names of the rooms behind."""

from annotation.judges.running.run import run_judges

__all__ = ["run_judges"]

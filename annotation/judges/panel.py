"""Several judges as one derived rater: public names of the rooms behind."""

from annotation.judges.defining.panel import DERIVED, OF_THE_ITEM, UNDECIDED, Decision, decide, panel_verdicts

__all__ = ["DERIVED", "OF_THE_ITEM", "UNDECIDED", "Decision", "decide", "panel_verdicts"]

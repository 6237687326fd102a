"""Which system is best: public names of the rooms behind."""

from calibration.systems.ranking import SideBySide, rankings, side_by_side

__all__ = ["SideBySide", "rankings", "side_by_side"]

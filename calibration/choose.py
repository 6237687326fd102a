"""The cheapest judge that agrees: public names of the rooms behind."""

from calibration.choosing.choose import cheapest_adequate_judge, choice_of

__all__ = ["cheapest_adequate_judge", "choice_of"]

"""Which system is best: public names of the rooms behind."""

from calibration.systems.ranking import *  # noqa: F403 - a face gives every public name

"""The table of verdicts: public names of the rooms behind."""

from calibration.table.verdicts import *  # noqa: F403 - a face gives every public name

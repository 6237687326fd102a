"""The cheapest judge that agrees: public names of the rooms behind."""

from calibration.choosing.choose import *  # noqa: F403 - a face gives every public name

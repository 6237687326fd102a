"""How many topics a study needs: public names of the rooms behind."""

from calibration.sizing.planning import *  # noqa: F403 - a face gives every public name

"""Correlation, rank agreement, and preferences made of scores: public names of the rooms behind."""

from calibration.agreement.score_preferences import *  # noqa: F403 - a face
from calibration.arithmetic.correlation import *  # noqa: F403 - a face gives every public name

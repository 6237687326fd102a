"""Whether a rater has a bias: public names of the rooms behind."""

from calibration.study.bias import *  # noqa: F403 - a face gives every public name

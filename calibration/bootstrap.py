"""Uncertainty from whole clusters: public names of the rooms behind."""

from calibration.inference.bootstrap import *  # noqa: F403 - a face gives every public name

"""Judges compared on the same labels: public names of the rooms behind."""

from calibration.inference.compare import *  # noqa: F403 - a face gives every public name

"""How well a judge could agree: public names of the rooms behind."""

from calibration.agreement.ceiling import *  # noqa: F403 - a face gives every public name

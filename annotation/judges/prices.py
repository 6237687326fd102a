"""What calls cost: public names of the rooms behind."""

from annotation.judges.money.prices import *  # noqa: F403 - a face gives every public name

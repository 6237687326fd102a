"""Which reports form items, and which of a pair is called A: public names of the rooms behind."""

from annotation.designs.pairing import *  # noqa: F403 - a face gives every public name

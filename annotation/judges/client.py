"""One request to a model: public names of the rooms behind."""

from annotation.judges.asking.client import *  # noqa: F403 - a face gives every public name

"""Several judges as one derived rater: public names of the rooms behind."""

from annotation.judges.defining.panel import *  # noqa: F403 - a face gives every public name

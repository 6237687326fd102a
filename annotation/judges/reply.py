"""A raw reply becomes one answer per criterion: public names of the rooms behind."""

from annotation.judges.replies.reply import *  # noqa: F403 - a face gives every public name

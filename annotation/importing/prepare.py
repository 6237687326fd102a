"""From a report's text to the text that is shown: public names of the rooms behind."""

from annotation.shown_texts.prepare import *  # noqa: F403 - a face gives every public name

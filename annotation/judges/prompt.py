"""An item and its criteria become messages: public names of the rooms behind."""

from annotation.judges.asking.prompt import *  # noqa: F403 - a face gives every public name

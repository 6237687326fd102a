"""From a report's text to the text that is shown: public names of the rooms behind."""

from annotation.shown_texts.prepare import NOT_STRIPPED, SHORT, Prepared, prepare_report

__all__ = ["NOT_STRIPPED", "SHORT", "Prepared", "prepare_report"]

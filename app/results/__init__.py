"""From a study or a labels file to its calibration report: computed, kept for the pages, and written as files."""

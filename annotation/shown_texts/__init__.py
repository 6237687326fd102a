"""From a report's original to the text that is shown: prepared, audited, and what its owner decides about it."""

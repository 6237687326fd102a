"""From any table of answers to the table of labels: a mapping is proposed, and asked for where two are possible."""

"""What a reader must know before using the numbers: one warning a caution, each with its limit."""

"""Which reports meet, who is called A, which side is left, whose turn it is: seeded, balanced, and pure."""

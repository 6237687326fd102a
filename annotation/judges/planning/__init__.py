"""Which calls a judge needs, in which orders and batches, and what another run would come to."""

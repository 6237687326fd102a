"""What calls cost: public names of the rooms behind."""

from annotation.judges.money.prices import (
    BATCHES,
    PER,
    CallSize,
    Estimate,
    Snapshot,
    batch_price,
    cost,
    estimate,
    refuse_batches,
    snapshot,
    stored_price,
    worst_cost,
)

__all__ = [
    "BATCHES",
    "PER",
    "CallSize",
    "Estimate",
    "Snapshot",
    "batch_price",
    "cost",
    "estimate",
    "refuse_batches",
    "snapshot",
    "stored_price",
    "worst_cost",
]

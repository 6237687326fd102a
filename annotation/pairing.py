"""Which reports form items, and which of a pair is called A: public names of the rooms behind."""

from annotation.designs.pairing import (
    ALL,
    DESIGNS,
    Amount,
    Candidate,
    Group,
    Pair,
    Reports,
    Single,
    Twins,
    name_pair,
    plan_pairs,
    plan_singles,
    seeded,
)

__all__ = [
    "ALL",
    "DESIGNS",
    "Amount",
    "Candidate",
    "Group",
    "Pair",
    "Reports",
    "Single",
    "Twins",
    "name_pair",
    "plan_pairs",
    "plan_singles",
    "seeded",
]

"""A source's date is what its address says, and nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from annotation.leaks.reference_leakage import earliest_date


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://arxiv.org/abs/2404.12345v2", date(2024, 4, 1)),
        ("https://www.arxiv.org/pdf/0912.1234.pdf", date(2009, 12, 1)),
        ("https://arxiv.org/html/2413.12345", None),  # no month 13
        ("https://arxiv.org/list/cs.CL/2404", None),
        ("https://notarxiv.org/abs/2404.12345", None),
        ("https://news.example/2025/04/22/mills", date(2025, 4, 22)),
        ("https://news.example/2025/4/mills", date(2025, 4, 1)),
        ("https://news.example/2025-04-30", date(2025, 4, 30)),
        ("https://news.example/2025/02/30/mills", None),  # no such day
        ("https://news.example/item/202504", None),
        ("https://news.example/?on=2025/04/22", None),  # a question is no place
        ("https://[news.example/2025/04/22", None),
    ],
)
def test_the_first_day_that_an_address_can_mean(address: str, told: date | None) -> None:
    assert earliest_date(address) == told

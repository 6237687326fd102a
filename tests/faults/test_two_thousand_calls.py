"""Two thousand calls through litellm to a provider that does everything wrong: all end, and the ledger is its bill."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from tests.annotation.judges import conftest as provider
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.test_faults import all_end_and_the_ledger_is_the_bill

sqlite = provider.sqlite
FAULTS = {
    "p_429": 0.05, "p_500": 0.03, "p_malformed": 0.02, "p_truncate": 0.02, "p_wrongcount": 0.02, "p_refusal": 0.02,
    "p_drop": 0.01, "p_hang": 0.001,
}  # fmt: skip


def test_two_thousand_calls_against_every_fault_end_and_the_ledger_is_the_providers(
    sqlite: Engine, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.judges.running.work.back_off_s", lambda tries, luck: 0.01)
    # a second refusal or truncation in a row is one in thousands; 4 standard errors around what is left
    all_end_and_the_ledger_is_the_bill(sqlite, fake, 2_000, FAULTS, lost=0.02)

"""Pauses belong to the whole judge, and a known limit is kept without a single 429."""

from __future__ import annotations

import pytest

from annotation.judges.asking.steps import back_off_s
from annotation.judges.running.gate import APART_S, Gate


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def gate(**limits: float) -> tuple[Gate, Clock]:
    clock = Clock()
    return Gate(**limits, clock=clock, luck=lambda: 1.0), clock


def test_calls_keep_the_distance_of_the_tighter_limit() -> None:
    slow, clock = gate(rpm=600, tpm=60_000)
    slow.started(50)
    assert slow.wait_s() == pytest.approx(0.1)  # 600 a minute
    clock.at += 0.1
    slow.started(500)
    assert slow.wait_s() == pytest.approx(0.5)  # 500 tokens at 1,000 a second
    free, _ = gate()
    free.succeeded()
    free.started(10**9)
    assert free.wait_s() == 0


def test_the_first_calls_go_out_one_by_one_until_one_is_answered() -> None:
    burst, clock = gate()
    for _ in range(3):
        assert burst.wait_s() == 0
        burst.started(1)
        assert burst.wait_s() == pytest.approx(APART_S)
        clock.at += APART_S
    burst.succeeded()
    burst.started(1)
    assert burst.wait_s() == 0


def test_a_429_pauses_as_long_as_it_asks_else_ever_longer() -> None:
    asked, _ = gate()
    asked.limited(7.5)
    assert asked.paused_s() == asked.wait_s() == 7.5
    silent, clock = gate()
    pauses = []
    for _ in range(8):
        silent.limited(None)
        silent.limited(None)  # of the same burst
        pauses.append(silent.paused_s())
        clock.at += silent.paused_s()
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    silent.succeeded()
    silent.limited(None)
    assert silent.paused_s() == 1


def test_fifteen_minutes_of_429s_are_enough() -> None:
    limited, clock = gate()
    limited.limited(None)
    clock.at += 14 * 60
    assert not limited.gave_up()
    clock.at += 61
    assert limited.gave_up()
    limited.succeeded()
    assert not limited.gave_up()


def test_twenty_failures_in_a_row_pause_the_judge_for_a_minute() -> None:
    failing, _ = gate()
    for _ in range(19):
        failing.failed()
    assert failing.paused_s() == 0
    failing.failed()
    assert failing.paused_s() == 60


@pytest.mark.parametrize(("tries", "low", "high"), [(1, 0.5, 1), (2, 1, 2), (3, 2, 4), (9, 30, 60)])
def test_back_off_doubles_up_to_a_minute(tries: int, low: float, high: float) -> None:
    assert (back_off_s(tries, 0.0), back_off_s(tries, 1.0)) == (low, high)

"""Pauses belong to the whole judge, and a known limit is kept without a single 429."""

from __future__ import annotations

import random
from collections.abc import Callable

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


def test_own_code_is_given_up_on_twelve_items_that_it_failed_on_alike_and_not_once_it_has_answered() -> None:
    for has_answered, named in ((False, 1), (True, 0)):
        code = Gate(is_code=True, has_answered=has_answered)
        said = [code.failed("bad_request", "ValueError: no English", number // 2) for number in range(24)]
        assert [number for number, why in enumerate(said) if why] == [22, 23][: 2 * named], "both orders are one item"
    code = Gate(is_code=True)
    assert not any(code.failed("server_error", "gone", 1) for _ in range(11))
    assert code.failed("server_error", "gone", 1)


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


def run_against(
    refuses: Callable[[float], bool], calls: int, slots: int = 64, latency_s: float = 0.3
) -> tuple[float, int]:
    """Seconds that so many calls take, and how many 429s, which come after 20 ms and ask for one second."""
    made, clock = gate()
    out: list[tuple[float, bool]] = []  # when it is answered, and whether with a 429
    begun, done, wasted = clock.at, 0, 0
    while done < calls:
        clock.at += 0.001
        for answer in [one for one in out if one[0] <= clock.at]:
            out.remove(answer)
            done, wasted = done + (not answer[1]), wasted + answer[1]
            made.limited(1.0) if answer[1] else made.succeeded()
        while len(out) < slots and made.wait_s() <= 0:
            made.started(1)
            refused = refuses(clock.at)
            out.append((clock.at + (0.02 if refused else latency_s), refused))
    return clock.at - begun, wasted


class Bucket:
    """A provider that lets 50 calls a second through, and 50 at once after a rest."""

    def __init__(self) -> None:
        self.tokens, self.at = 50.0, 100.0

    def refuses(self, now: float) -> bool:
        self.tokens, self.at = min(50.0, self.tokens + 50 * (now - self.at)), now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False


def test_a_limit_that_nobody_told_is_used_and_hardly_run_into() -> None:
    seconds, wasted = run_against(Bucket().refuses, 600)
    assert 600 / seconds >= 45
    assert wasted <= 60, "100 per 1,000 calls"


def test_429s_that_come_by_chance_do_not_slow_a_judge_down() -> None:
    dice = random.Random(7)
    seconds, wasted = run_against(lambda now: dice.random() < 0.1, 400)
    assert 30 < wasted < 60
    assert seconds < 15, "at once after each pause of a second"


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
        assert failing.failed("server_error", "HTTP 500") == "", "a provider comes back"
    assert failing.paused_s() == 0
    failing.failed("server_error", "HTTP 500")
    assert failing.paused_s() == 60


@pytest.mark.parametrize(("tries", "low", "high"), [(1, 0.5, 1), (2, 1, 2), (3, 2, 4), (9, 30, 60)])
def test_back_off_doubles_up_to_a_minute(tries: int, low: float, high: float) -> None:
    assert (back_off_s(tries, 0.0), back_off_s(tries, 1.0)) == (low, high)

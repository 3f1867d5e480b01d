"""Bookings at size: thousands of random runs, long races, many histories. `make chaos` kills under load."""

import time

import pytest

from services.bookings.context import Bookings
from tests.services.bookings.state_machine import StudioMachine
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_desk import search_is_quick
from tests.services.bookings.test_linearizability import CALLS_EACH, CLIENTS, fits
from tests.services.bookings.test_move_races import SCENARIOS as MOVE_SCENARIOS
from tests.services.bookings.test_races import SCENARIOS, service
from tests.services.bookings.test_stateful import STEPS, machine, run_machine

__all__ = ["machine", "service"]

RUNS, RUNS_AT_ONCE = 1_000, 100
ROUNDS, HISTORIES = 40, 200


@pytest.mark.timeout(7200)
def test_a_thousand_random_runs(machine: type[StudioMachine]) -> None:
    """1,000 runs of 50 steps agree with the model after every step."""
    started = time.monotonic()
    for done in range(0, RUNS, RUNS_AT_ONCE):
        run_machine(machine, RUNS_AT_ONCE)
        print(
            f"\nbookings against the model: {done + RUNS_AT_ONCE:,} of {RUNS:,} runs of {STEPS} steps, "
            f"{sum(machine.steps.values()):,} operations in {time.monotonic() - started:.0f} s, "
            "0 disagreements",
            end="",
            flush=True,
        )
    print()
    print("  " + ", ".join(f"{name} {count:,}" for name, count in machine.steps.most_common()))


@pytest.mark.timeout(600)
async def test_a_search_among_a_hundred_thousand_members_takes_no_time(service: Bookings) -> None:
    await search_is_quick(StudioClient.for_new_studio(service), 100_000, 0.2)


@pytest.mark.timeout(1800)
async def test_long_races(service: Bookings) -> None:
    """Every scenario 40 times, every other time in one process: nothing stays inconsistent."""
    for name, scenario in (SCENARIOS | MOVE_SCENARIOS).items():
        problems = [
            problem
            for number in range(ROUNDS)
            for problem in await scenario(
                StudioClient.for_new_studio(service, separate_replicas=number % 2 == 0)
            )
        ]
        print(f"\nrace {name}: {ROUNDS} rounds, inconsistencies for {len(problems)}", end="")
        assert problems == []
    print()


@pytest.mark.timeout(1800)
async def test_two_hundred_histories(service: Bookings) -> None:
    """200 recorded histories of concurrent calls are linearizable."""
    wrong = [
        seed for seed in range(HISTORIES) if not await fits(service, seed, separate_replicas=seed % 2 == 0)
    ]
    print(f"\nlinearizability: {HISTORIES} histories of {CLIENTS * CALLS_EACH} concurrent calls, ", end="")
    print(f"{len(wrong)} without an order that explains them")
    assert wrong == []

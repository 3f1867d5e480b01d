"""Bookings at size: thousands of random runs, long races, many histories, and kills under load."""

import asyncio
import random
import time
from collections import Counter
from typing import Any

import aiohttp
import pytest

from services.bookings.context import Bookings
from shared.servers.ports import free_port
from shared.wire import new_id
from tests.services.bookings.conftest import client
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.state_machine import StudioMachine
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_killed_mid_write import SECRET, Killable, start_killable
from tests.services.bookings.test_linearizability import CALLS_EACH, CLIENTS, fits
from tests.services.bookings.test_races import SCENARIOS, service
from tests.services.bookings.test_stateful import STEPS, machine, run_machine

__all__ = ["client", "machine", "service"]

RUNS, RUNS_AT_ONCE = 2_000, 100
ROUNDS, HISTORIES = 40, 200
KILLS, CALLERS = 40, 16


@pytest.mark.timeout(7200)
def test_two_thousand_random_runs(machine: type[StudioMachine]) -> None:
    """2,000 runs of 50 steps agree with the model after every step."""
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


@pytest.mark.timeout(1800)
async def test_long_races(service: Bookings) -> None:
    """Every scenario 40 times, every other time in one process: nothing stays inconsistent."""
    for name, scenario in SCENARIOS.items():
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


class Load:
    """Callers that book and cancel over HTTP, and repeat a call with its key until it is answered."""

    def __init__(self, client: Killable, classes: list[Any], people: list[Any]) -> None:
        self.client = client
        self.classes = classes
        self.people = people
        self.dice = random.Random(7)
        self.responses: dict[str, tuple[int, bytes]] = {}
        self.retries = 0
        self.contradictions: list[str] = []
        self.stopped = False

    async def caller(self) -> None:
        held: list[str] = []
        while not self.stopped:
            if held and self.dice.random() < 0.4:
                await self.call("DELETE", f"/bookings/{held.pop()}", None)
                continue
            class_, person = self.dice.choice(self.classes), self.dice.choice(self.people)
            body = {"class_id": class_["id"], "member_id": person["id"], "join_waitlist": True}
            status, response = await self.call("POST", "/bookings", body)
            if status == 201:
                held.append(response.partition(b'"id":"')[2][:36].decode())

    async def call(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        key = new_id()
        while True:
            try:
                status, response, _ = await self.client.send(method, path, key, body)
            except (aiohttp.ClientError, OSError):
                self.retries += 1
                await asyncio.sleep(0.05)
                continue
            if status < 500 and b"idempotency_in_progress" not in response:
                break
            self.retries += 1
        self.responses[key] = (status, response)
        if self.dice.random() < 0.2:
            await self.repeat(method, path, key, body)
        return status, response

    async def repeat(self, method: str, path: str, key: str, body: Any) -> None:
        while True:
            try:
                status, response, replayed = await self.client.send(method, path, key, body)
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(0.05)
                continue
            if (status, response) != self.responses[key] or not replayed:
                self.contradictions.append(f"{key}: {self.responses[key]} then {(status, response)}")
            return


@pytest.mark.timeout(1800)
async def test_kills_under_load(client: StudioClient, database_url: str) -> None:
    """SIGKILL at random moments: one effect per key, the same bytes again, and all adds up at the end."""
    classes, people = [a_class(capacity=5) for _ in range(6)], [a_member() for _ in range(60)]
    await client.import_all(*classes, *people)
    port = free_port()
    async with aiohttp.ClientSession() as session:
        child = await start_killable(database_url, port, SECRET, session)
        load = Load(Killable(client, port, session), classes, people)
        callers = [asyncio.create_task(load.caller()) for _ in range(CALLERS)]
        for _ in range(KILLS):
            await asyncio.sleep(load.dice.uniform(0.05, 0.6))
            child.kill()
            await child.wait()
            child = await start_killable(database_url, port, SECRET, session)
        load.stopped = True
        await asyncio.gather(*callers)
        child.kill()
        await child.wait()
    statuses = Counter(status for status, _ in load.responses.values())
    problems = await inconsistencies(client) + load.contradictions
    made = statuses[201]
    bookings = await client.list_all("/bookings", limit=200)
    if len(bookings) != made:
        problems.append(f"{made} answers of 201, {len(bookings)} bookings")
    print(
        f"\nkills under load: {KILLS} SIGKILLs, {len(load.responses):,} requests {dict(statuses)}, ", end=""
    )
    print(f"{load.retries:,} retries, inconsistencies for {len(problems)}")
    assert problems == []

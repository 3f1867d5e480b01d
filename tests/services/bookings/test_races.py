"""Races, each with a positive control: without the lock, the same scenario must go wrong."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from services.bookings.context import Bookings
from shared.background import Wakeup
from shared.db.database import Database
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase
from tests.services.bookings.studio_client import Reply, StudioClient
from tests.services.bookings.without_locks import remove_key_lock, remove_row_locks

CLIENTS, COPIES, ATTEMPTS = 30, 20, 5


@pytest.fixture
async def service(database_url: str) -> AsyncIterator[Bookings]:
    """Enough connections that the requests compete in the database, not in our pool."""
    db = await open_database(database_url, "bookings", size=CLIENTS)
    await asyncio.gather(*(_touch(db) for _ in range(CLIENTS)))
    try:
        yield Bookings(db=db, wakeup=Wakeup())
    finally:
        await db.close()


async def _touch(db: Database) -> None:
    async with db.connection() as conn:
        await conn.execute("SELECT pg_sleep(0.02)")


async def last_seats(client: StudioClient) -> list[str]:
    """30 clients want 5 seats, half of them ready to wait. Returns what went wrong."""
    class_, people = await client.open_class(people=CLIENTS, capacity=5)
    clients = [client.with_key(client_id=new_id()) for _ in people]
    replies = await asyncio.gather(
        *(
            client.book(class_["id"], person["id"], join_waitlist=number % 2 == 0)
            for number, (client, person) in enumerate(zip(clients, people, strict=True))
        )
    )
    problems = await inconsistencies(client)
    outcomes = Counter(reply.json.get("status") or reply.code for reply in replies)
    if outcomes["confirmed"] != 5 or sum(outcomes.values()) != CLIENTS:
        problems.append(f"5 seats gave {outcomes}")
    if set(outcomes) - {"confirmed", "waitlisted", "class_full"}:
        problems.append(f"unexpected answers {outcomes}")
    places = sorted(r.json["waitlist_position"] for r in replies if r.json.get("waitlist_position"))
    if places != list(range(1, len(places) + 1)):
        problems.append(f"positions were given out as {places}")
    return problems


async def copies_of_one_key(client: StudioClient) -> list[str]:
    """20 copies of one request: one booking, one event, one response."""
    (class_, (member,)), key = await client.open_class(capacity=5), new_id()
    replies = await asyncio.gather(*(client.book(class_["id"], member["id"], key=key) for _ in range(COPIES)))
    problems = await inconsistencies(client)
    if len({(reply.status, reply.body) for reply in replies}) != 1:
        problems.append(f"answers differ: {Counter(reply.status for reply in replies)}")
    if sum(not reply.replayed for reply in replies) != 1:
        problems.append("not exactly one first answer")
    if len(await client.list_all("/bookings")) != 1:
        problems.append("not exactly one booking")
    return problems


async def one_purse(client: StudioClient) -> list[str]:
    """One member with 3 credits books ten classes at once: three seats, and never a credit below zero."""
    product, person, classes = a_product(3), a_member(), [a_class(credit_cost=1) for _ in range(10)]
    await client.import_all(product, person, a_purchase(person["id"], product), *classes)
    replies = await asyncio.gather(*(client.book(class_["id"], person["id"]) for class_ in classes))
    outcomes = Counter(reply.json.get("status") or reply.code for reply in replies)
    problems = await inconsistencies(client)
    if outcomes != {"confirmed": 3, "member_not_eligible": 7}:
        problems.append(f"3 credits gave {outcomes}")
    return problems


# They end at once, soon, by the database's clock.
END_SOON = """
UPDATE bookings SET held_until = clock_timestamp() + $2::interval WHERE class_id = $1 AND status = 'held'
"""


async def end_soon(client: StudioClient, class_: Any, seconds: float) -> float:
    """When they end, by the clock of this process."""
    async with client.service.db.connection() as conn:
        await conn.execute(END_SOON, class_["id"], timedelta(seconds=seconds))
    return time.monotonic() + seconds


async def holds_end_at_once(client: StudioClient) -> list[str]:
    """Five seats are held until the same instant. 50 clients want them, and the five who hold pay late."""
    class_, people = await client.open_class(people=50, capacity=5)
    clients = [client.with_key(client_id=new_id()) for _ in people]
    held = [
        (await one.book(class_["id"], person["id"], hold_seconds=900)).json
        for one, person in zip(clients[:5], people, strict=False)
    ]
    end = await end_soon(client, class_, 0.2)

    async def want(one: StudioClient, person: Any) -> Reply:
        while True:
            reply = await one.book(class_["id"], person["id"])
            if reply.status == 201 or time.monotonic() > end:
                return reply

    async def pay_late(booking: Any) -> Reply:
        await asyncio.sleep(end - time.monotonic())
        return await client.confirm(booking["id"])

    wanting = [want(one, person) for one, person in zip(clients[5:], people[5:], strict=True)]
    replies = await asyncio.gather(*wanting, *map(pay_late, held))
    problems = await inconsistencies(client)
    outcomes = Counter(reply.json.get("status") or reply.code for reply in replies)
    if outcomes["confirmed"] != 5 or set(outcomes) - {"confirmed", "class_full", "hold_expired"}:
        problems.append(f"5 seats gave {outcomes}")
    shown = await client.get_ok(f"/classes/{class_['id']}")
    if (shown["booked_count"], shown["held_count"], shown["available_count"]) != (5, 0, 0):
        problems.append(f"it shows {shown}")
    return problems


async def confirm_against_the_end(client: StudioClient) -> list[str]:
    """At the instant at which a hold ends, its holder confirms and somebody else books: one gets the seat."""
    problems: list[str] = []
    for attempt in range(12):
        class_, people = await client.open_class(people=2)
        booking = (await client.book(class_["id"], people[0]["id"], hold_seconds=900)).json
        end = await end_soon(client, class_, 0.03)
        await asyncio.sleep(end - time.monotonic() + (attempt - 6) / 2000)
        holder, rival = await asyncio.gather(
            client.confirm(booking["id"]), client.book(class_["id"], people[1]["id"])
        )
        outcome = (holder.json.get("status") or holder.code, rival.json.get("status") or rival.code)
        if outcome not in {("confirmed", "class_full"), ("hold_expired", "confirmed")}:
            problems.append(f"one seat gave {outcome}")
    return problems + await inconsistencies(client)


SCENARIOS = {
    "holds_end_at_once": holds_end_at_once,
    "confirm_against_the_end": confirm_against_the_end,
    "last_seats": last_seats,
    "one_purse": one_purse,
    "copies_of_one_key": copies_of_one_key,
}


Scenario = Callable[[StudioClient], Awaitable[list[str]]]


async def problems_of(service: Bookings, scenario: Scenario, *, separate_replicas: bool) -> list[str]:
    clients = [StudioClient.for_new_studio(service, separate_replicas=separate_replicas) for _ in range(2)]
    return [problem for client in clients for problem in await scenario(client)]


async def goes_wrong(service: Bookings, scenario: Scenario) -> bool:
    for _ in range(ATTEMPTS):
        if await scenario(StudioClient.for_new_studio(service, separate_replicas=True)):
            return True
    return False


@pytest.mark.parametrize("separate_replicas", [True, False], ids=["separate replicas", "one process"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_race_ends_in_a_consistent_state(
    service: Bookings, name: str, separate_replicas: bool
) -> None:
    """Exactly capacity, dense positions, every credit and event accounted for; one effect of a key."""
    assert await problems_of(service, SCENARIOS[name], separate_replicas=separate_replicas) == []


@pytest.mark.parametrize("name", SCENARIOS)
async def test_without_its_lock_the_same_race_goes_wrong(
    service: Bookings, database_url: str, name: str
) -> None:
    """The positive control, without the lock of rows or key: what cannot fail proves nothing."""
    await (remove_key_lock if name == "copies_of_one_key" else remove_row_locks)(database_url)
    assert await goes_wrong(service, SCENARIOS[name])

"""Writes of every kind through a client, while the network breaks, and what must be true afterwards."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct

from shared.wire import new_id
from tests.clients.conftest import Drive
from tests.clients.drivers import Driver, Refused
from tests.clients.fault_proxy import TIMEOUT, FaultProxy, fault_proxy
from tests.end_to_end import test_every_write_once as every_write
from tests.harness.bookable_studio import bookable
from tests.harness.system import System

# A client may have 200 endpoints, and three kinds of writes need one of their own for each. It may have 100
# links into the console that nobody has opened yet.
FEW = 60
AT_ONCE = 32
BROKEN = 0.5
Calls = list[tuple[list[str], dict[str, Any]]]


class Studio(every_write.Studio):
    """A booking can be moved from the first class to the second."""

    booked_members: list[str]
    form_id: str = ""

    async def booking(self, **more: Any) -> str:
        reply = await self.partner.book(self.class_ids[0], self.booked_members.pop(), **more)
        return str(reply.json()["id"])

    async def hold(self) -> str:
        return await self.booking(hold_seconds=900)


async def _each(
    count: int, make: Callable[[], Awaitable[str]], fields: Callable[[], dict[str, Any]]
) -> Calls:
    return [([await make()], fields()) for _ in range(count)]


async def prepared(studio: Studio, count: int) -> dict[str, Calls]:
    """What is written, by operation: the ids of the path, and the fields."""
    few = min(count, FEW)
    since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    studio.form_id = await studio.form()
    # Changes of one and the same resource; the others have one for each.
    one_endpoint, delivery = await studio.endpoint(), await studio.delivery()

    def nobody() -> str:
        return f"{new_id()}@example.com"

    return {
        "create_console_session": [([], {"expires_in": 300})] * few,
        "create_member": [
            ([], {"email": nobody(), "first_name": "Ada", "last_name": "L"}) for _ in range(count)
        ],
        "create_booking": [
            ([], {"class_id": studio.class_ids[0], "member_id": one}) for one in studio.member_ids
        ],
        "cancel_booking": await _each(count, studio.booking, dict),
        "confirm_booking": await _each(count, studio.hold, dict),
        "reschedule_booking": await _each(count, studio.booking, lambda: {"class_id": studio.class_ids[1]}),
        "create_form": [([], {"title": f"Form {new_id()}"}) for _ in range(count)],
        "update_form": await _each(count, studio.form, lambda: {"title": "Changed"}),
        "create_submission": [
            ([studio.form_id], {"submitter_email": nobody(), "data": {}}) for _ in range(count)
        ],
        "create_lead": [([], {"email": nobody()}) for _ in range(count)],
        "update_lead": await _each(count, studio.lead, lambda: {"first_name": "Grace"}),
        "update_lead_by_post": await _each(count, studio.lead, lambda: {"first_name": "Grace"}),
        "create_webhook_endpoint": [([], every_write.an_endpoint())] * few,
        "update_webhook_endpoint": [([one_endpoint], {"description": new_id()}) for _ in range(count)],
        "rotate_webhook_secret": [([one_endpoint], {"overlap_seconds": 0})] * count,
        "test_webhook_endpoint": [([one_endpoint], {})] * count,
        "retry_webhook_delivery": [([delivery], {})] * count,
        "recover_webhook_endpoint": await _each(few, studio.endpoint, lambda: {"since": since}),
        "delete_webhook_endpoint": await _each(few, studio.endpoint, dict),
    }


class Outcome(Struct):
    studio: Studio
    proxy: FaultProxy
    calls: dict[str, Calls]
    results: dict[str, list[Any]]
    # Class names of what was raised.
    refused: Counter[str]


async def write_through_faults(system: System, drive: Drive, count: int) -> Outcome:
    """`count` writes of every kind, no key given by hand, half of the attempts broken."""
    # A client may hold a third of the seats.
    people = bookable(classes=2, members=4 * count, seats=6 * count)
    await system.import_lines(people.lines)
    issued = await system.issue()
    await system.limit(issued)
    free, booked = people.member_ids[:count], people.member_ids[count:]
    studio = Studio(system, system.partner(issued["key"]), people.class_ids, free, booked)
    calls = await prepared(studio, count)
    results: dict[str, list[Any]] = {name: [] for name in calls}
    refused: Counter[str] = Counter()
    turns = asyncio.Semaphore(AT_ONCE)
    # More than by default: on a busy machine an attempt that is not broken may be late, too.
    settings = {"STUDIO_TIMEOUT": str(TIMEOUT), "STUDIO_RETRIES": "10"}

    async def write(driver: Driver, name: str, path: list[str], fields: dict[str, Any]) -> None:
        async with turns:
            try:
                results[name].append(await driver.call(name, *path, **fields))
            except Refused as refusal:
                refused[f"{name} {refusal.error['class']}"] += 1

    async with (
        fault_proxy(system.running.partner_url, rate=BROKEN) as proxy,
        drive(proxy.url, issued["key"], **settings) as driver,
        asyncio.TaskGroup() as group,
    ):
        for name, rows in calls.items():
            for path, fields in rows:
                group.create_task(write(driver, name, path, fields))
    return Outcome(studio, proxy, calls, results, refused)


async def check_each_once(outcome: Outcome) -> None:
    """From three sides: what the callers got, what the API did, and what there is now."""
    proxy, calls, results = outcome.proxy, outcome.calls, outcome.results
    lost = {name for name in outcome.refused if name.endswith(" SecretLost")}
    assert set(outcome.refused) == lost, outcome.refused
    total = sum(len(rows) for rows in calls.values())
    assert sum(map(len, results.values())) + sum(outcome.refused.values()) == total
    assert len(proxy.effects) == len(proxy.attempts) == total
    assert {key: times for key, times in proxy.effects.items() if times != 1} == {}
    partner, studio = outcome.studio.partner, outcome.studio
    bookings = Counter(one["status"] for one in await partner.everything("/bookings", limit=200))
    assert bookings == {
        "confirmed": sum(len(calls[f"{one}_booking"]) for one in ("create", "confirm", "reschedule")),
        "cancelled": len(calls["cancel_booking"]),
    }
    submissions = await partner.everything(f"/forms/{studio.form_id}/submissions", limit=200)
    assert len(submissions) == len(calls["create_submission"])
    assert {one["version"] for one in results["update_form"]} == {2}
    assert {one["created"] for one in results["create_lead"]} == {True}
    forms = await partner.everything("/forms", limit=200, include_drafts=True)
    assert sum(one["title"].startswith("Form ") for one in forms) == len(calls["create_form"])
    tests = await partner.everything("/events", type="webhook.test", limit=200)
    # One more made the delivery that is retried.
    assert len(tests) == len(calls["test_webhook_endpoint"]) + 1

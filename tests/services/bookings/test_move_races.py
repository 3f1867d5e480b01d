"""Races of moves, each with a positive control: without a lock, or its order, or the look after it."""

import asyncio
import inspect
from collections import Counter
from typing import Any

import pytest

from services.bookings.actions import (
    cancel_booking,
    confirm_hold,
    lock_by_booking,
    manage_class,
    reschedule_booking,
)
from services.bookings.context import Bookings
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase
from tests.services.bookings.studio_client import Reply, StudioClient
from tests.services.bookings.test_batched_bookings import lock_waiters
from tests.services.bookings.test_races import Scenario, goes_wrong, problems_of, service
from tests.services.bookings.without_locks import lock_in_any_order, remove_row_locks

__all__ = ["service"]


def outcome(reply: Reply) -> str:
    if reply.status >= 500:
        return "broken"
    return reply.code or str(reply.json.get("status") or reply.json["object"])


async def statuses(client: StudioClient) -> Counter[tuple[str, str]]:
    return Counter((row["class_id"], row["status"]) for row in await client.list_all("/bookings", limit=200))


async def into_each_others_full_class(client: StudioClient) -> list[str]:
    """Everybody of two full classes wants into the other one: all are refused, and all keep their seats."""
    classes, people = [a_class(capacity=6) for _ in range(2)], [a_member() for _ in range(12)]
    await client.import_all(*classes, *people)
    here = await client.seated(classes[0], people[:6])
    there = await client.seated(classes[1], people[6:])
    replies = await asyncio.gather(
        *(client.move(booking["id"], classes[1]["id"]) for booking in here),
        *(client.move(booking["id"], classes[0]["id"]) for booking in there),
    )
    problems = await inconsistencies(client)
    if (found := Counter(map(outcome, replies))) != {"class_full": 12}:
        problems.append(f"answered {found}")
    if await statuses(client) != {(class_["id"], "confirmed"): 6 for class_ in classes}:
        problems.append("somebody has lost a seat")
    return problems


async def waiting_for_each_other(client: StudioClient) -> list[str]:
    """Each of two movers waits in the class that the other one leaves, and is promoted there meanwhile."""
    product, pairs = a_product(9), [(a_member(), a_member()) for _ in range(5)]
    people = [person for pair in pairs for person in pair]
    await client.import_all(product, *people, *(a_purchase(one["id"], product) for one in people))
    movers: list[tuple[str, str]] = []
    for first, second in pairs:
        classes = [a_class(credit_cost=1) for _ in range(4)]
        await client.import_all(*classes)
        left, right, *targets = classes
        one, _ = await client.seated(left, [first, second])
        two, _ = await client.seated(right, [second, first])
        movers += [(one["id"], targets[0]["id"]), (two["id"], targets[1]["id"])]
    replies = await asyncio.gather(*(client.move(*mover) for mover in movers))
    problems = await inconsistencies(client)
    if (found := Counter(map(outcome, replies))) != {"booking_reschedule": 10}:
        problems.append(f"answered {found}")
    kept = Counter(row["status"] for row in await client.list_all("/bookings", limit=200))
    if kept != {"confirmed": 20}:
        problems.append(f"all moved and were promoted, but {kept}")
    return problems


async def among_other_changes(client: StudioClient) -> list[str]:
    """Moves, cancellations, new bookings, capacity changes and the cancellation of a class, all at once."""
    product, people = a_product(5), [a_member() for _ in range(18)]
    classes = [a_class(capacity=4, credit_cost=cost) for cost in (1, 0, 2)]
    purchases = [a_purchase(person["id"], product) for person in people]
    await client.import_all(product, *classes, *people, *purchases)
    here, there, last = (class_["id"] for class_ in classes)
    first = await client.seated(classes[0], people[:7])
    second = await client.seated(classes[1], people[6:12])
    replies = await asyncio.gather(
        *(client.move(booking["id"], there) for booking in first[:4]),
        *(client.move(booking["id"], here) for booking in second[:2]),
        *(client.move(booking["id"], last) for booking in [*first[:4], *second[:4]]),
        *(client.cancel(booking["id"]) for booking in [first[1], second[1], first[5]]),
        *(client.book(last, person["id"], join_waitlist=True) for person in people[12:]),
        client.staff.call("PATCH", f"/staff/classes/{here}", {"capacity": 6}),
        client.staff.call("PATCH", f"/staff/classes/{last}", {"capacity": 3}),
        client.staff.call("POST", f"/staff/classes/{there}/cancel", {}),
    )
    problems = await inconsistencies(client, may_overbook=True)
    if broken := [reply.body for reply in replies if reply.status >= 500]:
        problems.append(f"broken: {broken}")
    left = [key for key in await statuses(client) if key[0] == there and key[1] != "cancelled"]
    if left:
        problems.append(f"the cancelled class still has {left}")
    return problems


SCENARIOS: dict[str, Scenario] = {
    "into_each_others_full_class": into_each_others_full_class,
    "waiting_for_each_other": waiting_for_each_other,
    "among_other_changes": among_other_changes,
}


@pytest.mark.parametrize("separate_replicas", [True, False], ids=["separate replicas", "one process"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_moves_at_once_end_in_a_consistent_state(
    service: Bookings, name: str, separate_replicas: bool
) -> None:
    """No deadlock, nobody loses a seat, every credit and every event is accounted for."""
    assert await problems_of(service, SCENARIOS[name], separate_replicas=separate_replicas) == []


async def test_without_its_locks_the_same_race_goes_wrong(service: Bookings, database_url: str) -> None:
    """The positive control."""
    await remove_row_locks(database_url)
    assert await goes_wrong(service, among_other_changes)


@pytest.mark.parametrize(
    ("what", "name"),
    [("classes", "into_each_others_full_class"), ("members", "waiting_for_each_other")],
)
async def test_with_its_locks_in_any_order_the_same_race_deadlocks(
    service: Bookings, database_url: str, what: str, name: str
) -> None:
    """The positive control of the lock order: the two classes of a move, and the members of both."""
    await lock_in_any_order(database_url, what)
    assert await goes_wrong(service, SCENARIOS[name])


async def overtaken_by_a_move(client: StudioClient, act: str) -> list[str]:
    """An action that has read the booking waits for the class's lock behind the move of that booking."""
    old, new, third = (a_class(capacity=2) for _ in range(3))
    people = [a_member() for _ in range(5)]
    await client.import_all(old, new, third, *people)
    booking, *_ = await client.seated(old, people[:3])
    await client.seated(new, people[3:4])
    path = f"/staff/bookings/{booking['id']}"
    before = await versions(client, old, new, third)
    async with client.service.db.transaction() as conn:
        await conn.execute("SELECT lock_class($1, $2)", client.caller.studio_id, old["id"])
        moving = asyncio.create_task(client.move(booking["id"], new["id"]))
        await lock_waiters(conn, 1)
        overtaken = asyncio.create_task(
            client.cancel(booking["id"])
            if act == "cancel"
            else client.move(booking["id"], third["id"])
            if act == "move"
            else client.staff.call("POST", f"{path}/{act}")
        )
        await lock_waiters(conn, 2)
    replies = [await moving, await overtaken]
    problems = await inconsistencies(client)
    expected = {"cancel": "cancelled", "check-in": "checked_in", "move": "booking_reschedule"}
    if [outcome(reply) for reply in replies] != ["booking_reschedule", expected[act]]:
        problems.append(f"answered {[reply.body for reply in replies]}")
    changes = [now - then for now, then in zip(await versions(client, old, new, third), before, strict=True)]
    if changes != [1, 2, int(act == "move")]:
        problems.append(f"the wrong class was locked and changed: {changes}")
    return problems


async def versions(client: StudioClient, *classes: Any) -> list[int]:
    async with client.service.db.connection() as conn:
        sql = "SELECT version FROM classes WHERE id = $1"
        return [await conn.fetchval(sql, class_["id"]) for class_ in classes]


OVERTAKEN = ("cancel", "check-in", "move")


@pytest.mark.parametrize("act", OVERTAKEN)
async def test_an_action_finds_a_booking_that_moved_while_it_waited(client: StudioClient, act: str) -> None:
    """It begins anew with the class that the booking is in now."""
    assert await overtaken_by_a_move(client, act) == []


@pytest.mark.parametrize("act", OVERTAKEN)
async def test_without_the_comparison_after_the_lock_the_same_race_goes_wrong(
    client: StudioClient, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The positive control, with that comparison taken out of the lock helpers."""
    text = inspect.getsource(lock_by_booking)
    for line in ("changes.class_.id", "found.class_id"):
        comparison = f"    if booking.class_id != {line}:\n        raise Outdated\n"
        assert text.count(comparison) == 1
        text = text.replace(comparison, "")
    blind: dict[str, Any] = {"__name__": lock_by_booking.__name__}
    exec(compile(text, lock_by_booking.__file__, "exec"), blind)
    for module in (cancel_booking, manage_class, confirm_hold, reschedule_booking):
        for name in ("lock_class_of", "lock_for_move"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, blind[name])
    assert await overtaken_by_a_move(client, act)

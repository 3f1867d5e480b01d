"""Recorded histories of concurrent calls on two classes fit the sequential model; planted bugs do not."""

import asyncio
import pickle
import random
import time
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from services.bookings.context import Bookings
from tests.harness.databases import connected
from tests.services.bookings.reference_model import Studio
from tests.services.bookings.reference_moves import move
from tests.services.bookings.reference_resources import Course, Person
from tests.services.bookings.samples import a_class, a_member
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.without_locks import remove_row_locks

RUN_OUT = "UPDATE bookings SET held_until = clock_timestamp() WHERE id = $1 AND status = 'held'"
CLIENTS, CALLS_EACH, HISTORIES, ATTEMPTS = 6, 6, 10, 10


@dataclass
class Call:
    """One call: `result` is its response in the model's words, `made` a new booking's id."""

    kind: str
    args: tuple[Any, ...]
    began: float
    ended: float
    result: Any
    made: str | None = None


@dataclass
class State:
    studio: Studio
    ids: dict[str, int] = field(default_factory=dict)

    def key(self) -> str:
        return repr(
            (self.studio.bookings, self.studio.entries, self.studio.courses, sorted(self.ids.items()))
        )

    def response(self, call: Call) -> Any:
        """Applies the call to the model and returns its response. None if the call is not possible yet."""
        studio, args = self.studio, call.args
        if call.kind == "book":
            outcome, detail = studio.book(args[2], args[0], join=args[1] is True, hold=args[1] == "hold")
            if call.made is not None and outcome in ("held", "confirmed", "waitlisted"):
                self.ids[call.made] = len(studio.bookings) - 1
            return outcome, detail if outcome == "waitlisted" else None
        if call.kind == "cancel":
            return studio.cancel(self.ids[args[0]])[0] if args[0] in self.ids else None
        if call.kind == "move":
            return move(studio, self.ids[args[0]], args[1])[0] if args[0] in self.ids else None
        if call.kind == "confirm":
            return studio.confirm(self.ids[args[0]])[0] if args[0] in self.ids else None
        if call.kind == "run_out":
            booking = studio.bookings[self.ids[args[0]]] if args[0] in self.ids else None
            if booking is not None and booking.status == "held":
                booking.run_out = True
            return "over"
        if call.kind == "capacity":
            studio.set_capacity(args[1], args[0])
            return len(studio.seated(args[1]))
        if call.kind == "read_class":
            return len(studio.seated(args[0])), len(studio.live_holds(args[0]))
        assert call.kind == "read_waitlist"
        queue = [studio.entries[n] for n in studio.queue(args[0])]
        return [(studio.bookings[entry.booking].person, entry.position) for entry in queue]


def is_linearizable(studio: Studio, history: list[Call]) -> bool:
    """Is there an order, consistent with real time, in which the model would give the same answers?

    Wing and Gong's search: of the calls not yet placed, any that began before the first of them ended may
    come next. States that were reached before with the same calls placed are not searched again.
    """
    calls = sorted(history, key=lambda call: call.began)
    seen: set[tuple[frozenset[int], str]] = set()

    def search(left: frozenset[int], state: State) -> bool:
        if not left:
            return True
        key = (left, state.key())
        if key in seen:
            return False
        seen.add(key)
        frozen = pickle.dumps(state)
        first_end = min(calls[n].ended for n in left)
        for n in sorted(left):
            if calls[n].began > first_end:
                break
            trial: State = pickle.loads(frozen)
            if trial.response(calls[n]) == calls[n].result and search(left - {n}, trial):
                return True
        return False

    return search(frozenset(range(len(calls))), State(pickle.loads(pickle.dumps(studio))))


class Recorder:
    """Six clients on two classes with two seats each."""

    def __init__(self, client: StudioClient, seed: int) -> None:
        self.client = client
        self.dice = random.Random(seed)
        self.classes: list[dict[str, Any]] = [a_class(capacity=2), a_class(capacity=2)]
        self.people = [a_member() for _ in range(CLIENTS + 2)]
        self.history: list[Call] = []
        self.held: list[str] = []

    async def record(self) -> list[Call]:
        await self.client.import_all(*self.classes, *self.people)
        await asyncio.gather(*(self.run_client() for _ in range(CLIENTS)))
        return self.history

    async def run_client(self) -> None:
        for _ in range(CALLS_EACH):
            kind = self.dice.choices(
                ("book", "cancel", "move", "confirm", "run_out", "capacity", "read_class", "read_waitlist"),
                (8, 3, 5, 3, 1, 1, 1, 1),
            )[0]
            if kind in ("cancel", "move", "confirm", "run_out") and not self.held:
                kind = "book"
            await getattr(self, kind)(self.dice.randrange(2))

    async def timed(self, kind: str, args: tuple[Any, ...], request: Awaitable[Any]) -> tuple[Any, Call]:
        """What was answered, and its record, which still needs the result."""
        began = time.monotonic()
        answer = await request
        call = Call(kind, args, began, time.monotonic(), None)
        self.history.append(call)
        return answer, call

    async def book(self, course: int) -> None:
        person, dice = self.dice.randrange(len(self.people)), self.dice.random()
        join: bool | str = "hold" if dice < 0.3 else dice < 0.8
        wish = {"hold_seconds": 900} if join == "hold" else {"join_waitlist": join}
        request = self.client.book(self.classes[course]["id"], self.people[person]["id"], **wish)
        reply, call = await self.timed("book", (person, join, course), request)
        call.result = reply.json.get("status") or reply.code, reply.json.get("waitlist_position")
        if reply.status == 201:
            call.made = reply.json["id"]
            self.held.append(reply.json["id"])

    async def cancel(self, _: int) -> None:
        booking = self.dice.choice(self.held)
        reply, call = await self.timed("cancel", (booking,), self.client.cancel(booking))
        call.result = reply.json.get("late_fee_status") or reply.code

    async def move(self, course: int) -> None:
        booking = self.dice.choice(self.held)
        request = self.client.move(booking, self.classes[course]["id"])
        reply, call = await self.timed("move", (booking, course), request)
        call.result = reply.json["terms"]["late_fee_status"] if reply.status == 200 else reply.code

    async def confirm(self, _: int) -> None:
        booking = self.dice.choice(self.held)
        reply, call = await self.timed("confirm", (booking,), self.client.confirm(booking))
        call.result = reply.json.get("status") or reply.code

    async def run_out(self, _: int) -> None:
        """Somebody's time is over: an instant like any other call. Nobody writes it."""
        booking = self.dice.choice(self.held)
        async with self.client.service.db.connection() as conn:
            _, call = await self.timed("run_out", (booking,), conn.execute(RUN_OUT, booking))
        call.result = "over"

    async def capacity(self, course: int) -> None:
        seats, path = self.dice.randrange(4), f"/staff/classes/{self.classes[course]['id']}"
        request = self.client.staff.call("PATCH", path, {"capacity": seats})
        reply, call = await self.timed("capacity", (seats, course), request)
        call.result = reply.json.get("booked_count")

    async def read_class(self, course: int) -> None:
        request = self.client.get_ok(f"/classes/{self.classes[course]['id']}")
        shown, call = await self.timed("read_class", (course,), request)
        call.result = shown["booked_count"], shown["held_count"]

    async def read_waitlist(self, course: int) -> None:
        query = {"class_id": self.classes[course]["id"], "status": "waiting", "limit": 200}
        shown, call = await self.timed("read_waitlist", (course,), self.client.get_ok("/waitlist", **query))
        ids = [person["id"] for person in self.people]
        queue = sorted((row["position"], ids.index(row["member_id"])) for row in shown["data"])
        call.result = [(person, position) for position, person in queue]


async def fits(service: Bookings, seed: int, *, separate_replicas: bool) -> bool:
    client = StudioClient.for_new_studio(service, separate_replicas=separate_replicas)
    client.caller = structs.replace(client.caller, hold_share="1")
    history = await Recorder(client, seed).record()
    assert len(history) == CLIENTS * CALLS_EACH
    return is_linearizable(Studio([Person() for _ in range(CLIENTS + 2)], [Course(2), Course(2)]), history)


async def is_caught(service: Bookings) -> bool:
    for seed in range(ATTEMPTS):
        if not await fits(service, seed, separate_replicas=True):
            return True
    return False


async def test_concurrent_histories_are_linearizable(service: Bookings) -> None:
    """36 calls by 6 clients at once, ten times over: each time some order explains every response.

    Every other history is of calls to one process, which batches bookings.
    """
    for seed in range(HISTORIES):
        assert await fits(service, seed, separate_replicas=seed % 2 == 0), f"history of seed {seed}"


async def test_a_service_without_its_lock_is_caught(service: Bookings, database_url: str) -> None:
    """Planted bug: no row locks."""
    await remove_row_locks(database_url)
    assert await is_caught(service)


async def test_a_service_that_reads_before_it_locks_is_caught(service: Bookings, database_url: str) -> None:
    """Planted bug: the lock is there, but the facts are older than it."""
    facts = "booking_facts(p_studios, p_classes, p_members, p_holders)"
    columns = "found boolean, class_id uuid, location_id uuid, facts json"
    read_early = f"early json; BEGIN early := (SELECT json_agg(f) FROM {facts} f);"  # noqa: S608
    async with connected(database_url) as conn:
        text = await conn.fetchval("SELECT pg_get_functiondef('bookings.start_bookings'::regproc)")
        swapped = text.replace(facts, f"json_to_recordset(early) AS ({columns})").replace("BEGIN", read_early)
        assert swapped.count("early") == 3
        await conn.execute("SET search_path TO bookings")
        await conn.execute(swapped)
    assert await is_caught(service)


def test_the_checker_knows_right_from_wrong() -> None:
    """One seat: overlapping calls may take it in either order, calls one after the other may not."""
    studio = Studio([Person(), Person()], [Course(1)])
    won = Call("book", (0, False, 0), 2, 3, ("confirmed", None), "a")
    lost = Call("book", (1, False, 0), 0, 4, ("class_full", None))
    assert is_linearizable(studio, [won, lost])
    too_early = Call("book", (1, False, 0), 0, 1, ("class_full", None))
    assert not is_linearizable(studio, [won, too_early])
    also_won = Call("book", (1, False, 0), 0, 4, ("confirmed", None), "b")
    assert not is_linearizable(studio, [won, also_won])

"""Mixed operations on services that are killed meanwhile: seats, credits and money are conserved.

What the answers said is one ledger, what is stored at the end the other one. Each operation keeps its key
until it has an answer, as a partner does, so both must be equal.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from multiprocessing.context import ForkServerProcess
from typing import Any

import aiohttp
import msgspec

from services.bookings.actions.end_holds import end_holds
from shared.http.caller import CALLER_HEADER, CallerSigner
from shared.servers.ports import free_port
from shared.wire import new_id
from tests.services.bookings.consistency import inconsistencies
from tests.services.bookings.samples import a_class, a_member, a_product, a_purchase, a_spot, a_studio, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_killed_mid_write import SECRET, end, start_killable

CLIENTS, REPLICAS, PEOPLE = 8, 2, 60
SHARES = {
    "book": 8,
    "join": 2,
    "hold": 8,
    "confirm": 7,
    "cancel": 7,
    "move": 10,
    "purchase": 2,
    "capacity": 1,
}
ACTS = [act for act, share in SHARES.items() for _ in range(share)]
# Answers about a booking that no operation can change any more.
ENDED = ("booking_already_cancelled", "booking_not_cancellable")
RUN_OUT = """
UPDATE bookings SET held_until = clock_timestamp() WHERE studio_id = $1 AND id = (
    SELECT id FROM bookings WHERE studio_id = $1 AND status = 'held' ORDER BY id LIMIT 1)
"""
STORED = """
SELECT
    (SELECT sum(credits_granted) FROM purchases WHERE studio_id = $1) AS credits_granted,
    (SELECT sum(credits) FROM members WHERE studio_id = $1) AS credits_left,
    (SELECT sum(credits_charged) FROM bookings WHERE studio_id = $1
        AND status IN ('confirmed', 'checked_in')) AS credits_in_seats,
    lost.credits_forfeited, lost.credits_restored, lost.fees, lost.fee_count, lost.moves, lost.cancellations,
    (SELECT count(*) FROM bookings WHERE studio_id = $1 AND status = 'confirmed') AS seats,
    (SELECT sum(booked_count) FROM classes WHERE studio_id = $1) AS booked
FROM (
    SELECT coalesce(sum(credits_forfeited), 0) AS credits_forfeited,
        coalesce(sum(credits_restored), 0) AS credits_restored, coalesce(sum(late_fee_amount), 0) AS fees,
        count(late_fee_amount) AS fee_count, count(*) FILTER (WHERE moved) AS moves,
        count(*) FILTER (WHERE NOT moved) AS cancellations
    FROM (
        SELECT studio_id, credits_forfeited, credits_restored, late_fee_amount, true AS moved FROM reschedules
        UNION ALL
        SELECT studio_id, credits_forfeited, credits_restored, late_fee_amount, false FROM cancellations
    ) AS priced WHERE studio_id = $1
) AS lost
"""


class Fleet:
    """Replicas of the service, called over HTTP. One is killed now and then, and started again."""

    def __init__(self, client: StudioClient, database_url: str, session: aiohttp.ClientSession) -> None:
        self.caller = client.caller
        self.url = database_url
        self.session = session
        self.signer = CallerSigner((SECRET,))
        self.ports = [free_port() for _ in range(REPLICAS)]
        self.children: list[ForkServerProcess] = []
        self.kills = 0
        self.repeated = 0

    async def start(self) -> None:
        for port in self.ports:
            self.children.append(await start_killable(self.url, port, self.session))

    async def kill_one(self, number: int) -> None:
        await end(self.children[number])
        self.kills += 1
        port = self.ports[number]
        self.children[number] = await start_killable(self.url, port, self.session)

    async def stop(self) -> None:
        for child in self.children:
            await end(child)

    async def send(self, method: str, path: str, body: Any, *, dice: random.Random) -> tuple[int, Any]:
        """Repeated under the same key until there is an answer."""
        key = new_id()
        while True:
            headers = {
                CALLER_HEADER.decode(): self.signer.sign(self.caller).decode(),
                "Idempotency-Key": key,
            }
            url = f"http://127.0.0.1:{dice.choice(self.ports)}{path}"
            try:
                async with self.session.request(method, url, headers=headers, json=body) as response:
                    answer = await response.json()
                    if response.status < 500 and response.status != 429:
                        assert answer.get("error", {}).get("code") != "idempotency_in_progress"
                        return response.status, answer
            except aiohttp.ClientError:
                pass
            self.repeated += 1
            await asyncio.sleep(0.02)


@asynccontextmanager
async def fleet(client: StudioClient, database_url: str) -> AsyncIterator[Fleet]:
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        running = Fleet(client, database_url, session)
        try:
            await running.start()
            yield running
        finally:
            await running.stop()


class Conservation:
    """`ledger` is what the answers said."""

    def __init__(self, client: StudioClient, seed: int) -> None:
        caller = msgspec.structs.replace(client.caller, hold_share="1")
        self.client = StudioClient(client.service, caller)
        self.dice = random.Random(seed)
        self.product = a_product(3)
        self.people = [a_member() for _ in range(PEOPLE)]
        self.classes = [
            a_class(capacity=capacity, credit_cost=cost, start_time=soon(hours=hours))
            for capacity, cost, hours in (
                (9, 1, 90), (6, 2, 95), (9, 1, 6), (4, 1, 7), (7, 0, 100), (8, 3, 8),
            )
        ]  # fmt: skip
        self.spotted = a_class(capacity=4, credit_cost=1, spot_selection_mode="optional")
        self.outcomes: Counter[str] = Counter()
        self.ledger: Counter[str] = Counter()
        self.fees = Decimal(0)
        self.bookings: list[str] = []

    async def open(self) -> None:
        studio = a_studio(
            self.client.caller.studio_id, late_fee_amount="7.5", late_fee_currency="USD", forfeit_credit=True
        )
        await self.client.import_all(studio, self.product, *self.people, *self.classes, self.spotted)
        await self.client.import_all(*(a_spot(self.spotted["id"], order=n) for n in range(4)))
        await self.client.import_all(*(a_purchase(one["id"], self.product) for one in self.people))
        self.ledger["credits granted"] = 3 * PEOPLE
        self.classes.append(self.spotted)

    async def run(self, running: Fleet, operations: int, *, kill_every: int) -> None:
        done = 0

        async def work() -> None:
            nonlocal done
            while done < operations:
                done += 1
                if done % 50 == 0:
                    await self.pass_time()
                await self.act(running)

        async def kill() -> None:
            kills = 0
            while done < operations:
                if done // kill_every > kills:
                    kills += 1
                    await running.kill_one(kills % REPLICAS)
                await asyncio.sleep(0.02)

        await asyncio.gather(kill(), *(work() for _ in range(CLIENTS)))

    async def pass_time(self) -> None:
        """A hold runs out; sometimes a loop sees it before anybody else."""
        async with self.client.service.db.connection() as conn:
            await conn.execute(RUN_OUT, self.client.caller.studio_id)
        if self.dice.random() < 0.3:
            await end_holds(self.client.service)

    async def act(self, running: Fleet) -> None:
        act = self.dice.choice(ACTS)
        if act in ("purchase", "capacity"):
            await getattr(self, act)()
            self.outcomes[act] += 1
            return
        booking = self.dice.choice(self.bookings) if self.bookings else None
        class_id = self.dice.choice(self.classes)["id"]
        if act in ("book", "join", "hold") or booking is None:
            body: dict[str, Any] = {"class_id": class_id, "member_id": self.dice.choice(self.people)["id"]}
            if act == "join":
                body["join_waitlist"] = True
            elif act == "hold":
                body["hold_seconds"] = 300
            request: tuple[str, str, Any] = ("POST", "/bookings", body)
        elif act == "cancel":
            request = ("DELETE", f"/bookings/{booking}", None)
        elif act == "confirm":
            request = ("POST", f"/bookings/{booking}/confirm", None)
        else:
            request = ("POST", f"/bookings/{booking}/reschedule", {"class_id": class_id})
        status, answer = await running.send(*request, dice=self.dice)
        self.note(act, status, answer)
        is_over = act == "cancel" or answer.get("error", {}).get("code") in ENDED
        if booking in self.bookings and request[1] != "/bookings" and is_over:
            self.bookings.remove(booking)

    def note(self, act: str, status: int, answer: Any) -> None:
        if status >= 400:
            assert status in (404, 409), answer
            self.outcomes[f"{act}: {answer['error']['code']}"] += 1
            return
        self.outcomes[f"{act}: {answer.get('status') or 'moved'}"] += 1
        if answer["object"] == "booking":
            if status == 201:
                self.bookings.append(answer["id"])
            return
        terms = answer["terms"] if act == "move" else answer
        self.ledger["moves" if act == "move" else "cancellations"] += 1
        self.ledger["credits forfeited"] += terms["credits_forfeited"]
        self.ledger["credits restored"] += terms["credits_restored"]
        if terms["late_fee_amount"] is not None:
            self.fees += Decimal(terms["late_fee_amount"])
            self.ledger["fees"] += 1

    async def purchase(self) -> None:
        body = {"member_id": self.dice.choice(self.people)["id"], "product_id": self.product["id"]}
        reply = await self.client.staff.call("POST", "/staff/purchases", body)
        assert reply.status == 201, reply.body
        self.ledger["credits granted"] += 3

    async def capacity(self) -> None:
        class_id, seats = self.dice.choice(self.classes[:-1])["id"], self.dice.randint(1, 9)
        path = f"/staff/classes/{class_id}"
        assert (await self.client.staff.call("PATCH", path, {"capacity": seats})).status == 200

    async def problems(self) -> list[str]:
        """Where the two ledgers differ, and whatever else does not agree."""
        async with self.client.service.db.connection() as conn:
            (row,) = await conn.fetch(STORED, self.client.caller.studio_id)
        self.stored = {name: value or 0 for name, value in dict(row).items()}
        stored, said = self.stored, self.ledger
        pairs = {
            "credits granted": (said["credits granted"], stored["credits_granted"]),
            "credits forfeited": (said["credits forfeited"], stored["credits_forfeited"]),
            "credits restored": (said["credits restored"], stored["credits_restored"]),
            "credits in all": (
                stored["credits_granted"],
                stored["credits_left"] + stored["credits_in_seats"] + stored["credits_forfeited"],
            ),
            "fees": (self.fees, stored["fees"]),
            "number of fees": (said["fees"], stored["fee_count"]),
            "moves": (said["moves"], stored["moves"]),
            "seats": (stored["seats"], stored["booked"]),
        }
        wrong = [f"{name}: {one} and {other}" for name, (one, other) in pairs.items() if one != other]
        return wrong + await inconsistencies(self.client, may_overbook=True)

    def report(self, running: Fleet) -> str:
        stored = self.stored
        return "\n".join(
            (
                f"{sum(self.outcomes.values()):,} operations, {running.kills} kills, "
                f"{running.repeated} requests repeated",
                f"seats:   {stored['seats']:,} taken, {stored['booked']:,} counted, "
                f"{stored['moves']:,} moves",
                f"credits: {stored['credits_granted']:,} granted = {stored['credits_left']:,} left"
                f" + {stored['credits_in_seats']:,} in seats + {stored['credits_forfeited']:,} forfeited",
                f"fees:    {stored['fees']:.2f} USD assessed {stored['fee_count']:,} times, as answered",
                "  " + ", ".join(f"{name} {count:,}" for name, count in self.outcomes.most_common()),
            )
        )

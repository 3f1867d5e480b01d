"""Measurements of several steps: booking to event log, deliveries, receipts, starts."""

import asyncio
import itertools
import statistics
import time
from typing import Any

import asyncpg

from bench.compare.side import Side
from bench.cores import ALL, cpu_seconds
from bench.events import POLL_SECONDS, TIMEOUT, book, copy_endpoint, deliver, settled
from bench.measure import Measure, Sample
from bench.partner import Receiver, post
from bench.problem import BenchProblem
from bench.studios import RECEIVING, Studio

KIND = "booking.created"
RECEIPTS = 15
LOGGED = "SELECT count(*) FROM webhooks.events WHERE studio_id = $1"


def booked_and_logged(side: Side, studio: Studio, booking: Measure) -> Measure:
    """Bookings a second, from the first request until the event log has the last one."""

    def measure(seconds: float) -> Sample:
        pids = side.five.pids("gateway", "bookings", "webhooks")
        url = side.five.database_url
        before = asyncio.run(_settled(url, LOGGED, studio.id))
        used, began = cpu_seconds(pids), time.perf_counter()
        requests = round(booking(seconds).rate * seconds)
        count = asyncio.run(_logged(url, studio.id, before + requests)) - before
        taken = time.perf_counter() - began
        return Sample(rate=count / taken, cpu_us=(cpu_seconds(pids) - used) / count * 1e6)

    return measure


async def _settled(url: str, count: str, *args: Any) -> int:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        return await settled(conn, count, *args)
    finally:
        await conn.close()


async def _logged(url: str, studio_id: str, about: int) -> int:
    """wrk drops a few answers when it ends, so we count the event log once the outbox is empty."""
    conn: asyncpg.Connection[Any] = await asyncpg.connect(url)
    deadline = time.monotonic() + TIMEOUT
    try:
        while time.monotonic() < deadline:
            waiting = await conn.fetchval("SELECT EXISTS (SELECT FROM bookings.outbox)")
            if not waiting and (found := int(await conn.fetchval(LOGGED, studio_id))) >= about * 0.99:
                return found
            await asyncio.sleep(POLL_SECONDS)
        raise BenchProblem(f"events were not logged within {TIMEOUT:.0f} s")
    finally:
        await conn.close()


def delivered(side: Side, studio: Studio, *, events: int, endpoints: int) -> Measure:
    five, key = side.five, side.keys[studio.name]
    body = {"url": f"{side.testbed.nginx.url}/hook", "event_types": [KIND]}
    post(f"{five.partner_url}/webhook-endpoints", key, body)
    copy_endpoint(five, studio, endpoints)

    def measure(_: float) -> Sample:
        pids = five.pids("bookings", "webhooks")
        before = cpu_seconds(pids)
        rate = deliver(five, studio, key, events=events, endpoints=endpoints)
        return Sample(rate=rate, cpu_us=(cpu_seconds(pids) - before) / (events * endpoints) * 1e6)

    return measure


def received(side: Side) -> Measure:
    """Median time from commit to receipt, for single bookings on an idle system."""
    key = side.keys[RECEIVING.name]
    receiver = side.testbed.enter(Receiver())
    endpoint = {"url": receiver.url, "event_types": [KIND]}
    post(f"{side.five.partner_url}/webhook-endpoints", key, endpoint)
    numbers = itertools.count(1)

    def measure(_: float) -> Sample:
        for _ in range(RECEIPTS):
            book(side.five, RECEIVING, key)
            receiver.wait_for(next(numbers))
            time.sleep(0.02)
        return Sample(rate=statistics.median(receiver.delays_ms[-RECEIPTS:]))

    return measure


def second_start(side: Side) -> Measure:
    """Time until `up` with the demo studio is ready. The first start creates the data and is not counted."""

    def measure(_: float) -> Sample:
        try:
            return Sample(rate=side.up.up(demo=True, cores=ALL))
        finally:
            side.up.stop()

    return measure

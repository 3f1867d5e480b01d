"""A relay whose leases were gone: what others left is published, and what others publish is left to them."""

import time
from datetime import timedelta
from types import SimpleNamespace

import pytest

from shared.db.database import Database
from shared.events import leases as leases_module
from shared.events import outbox_rows
from shared.events.leases import Leases
from tests.shared.events.staged_bus import StagedBus, order, relay, until_idle, versions, write

# As a replica leaves it that died after a claim.
CLAIMED_BY_ANOTHER = "UPDATE outbox SET sent_at = clock_timestamp(), sends = 1 WHERE event_id = $1"


async def test_a_replica_that_gets_its_leases_back_publishes_what_others_left_in_flight(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it had lost all of them: whoever had them meanwhile may have died after a claim."""
    monkeypatch.setattr(leases_module, "RENEW_SECONDS", 0.0)
    bus = StagedBus(partitions=1)
    one = await relay(db, bus)
    await one.step()
    other = Leases(db, "relay", 1)
    other.replica = "00000000-0000-4000-8000-000000000000"
    await other.renew()
    assert await one.step() is False
    assert not one.leases.held and await other.renew() == frozenset({0})
    events = versions(2)
    await write(db, events)
    async with db.connection() as conn:
        await conn.execute(CLAIMED_BY_ANOTHER, events[0].id)
    await other.release()
    await until_idle(one)
    assert order(bus, events) == [1, 2]
    await one.stop()


async def test_a_replica_whose_leases_expired_publishes_what_others_left_in_flight(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped for seconds finds its leases as it left them, but they were not its own."""
    bus = StagedBus()
    one = await relay(db, bus)
    await one.step()
    events = versions(2)
    await write(db, events)
    async with db.connection() as conn:
        await conn.execute(CLAIMED_BY_ANOTHER, events[0].id)
    # The next heartbeat comes too late.
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 10 * leases_module.LEASE_SECONDS)
    monkeypatch.setattr(leases_module, "time", later)
    await until_idle(one)
    assert order(bus, events) == [1, 2]
    await one.stop()


TAKEN = "UPDATE leases SET replica = gen_random_uuid() WHERE role = 'relay' AND partition = 0"
EXPIRED = "UPDATE leases SET renewed_at = renewed_at - interval '3 hours' WHERE role = 'relay'"


@pytest.mark.parametrize("change", [TAKEN, EXPIRED], ids=["taken", "expired"])
async def test_a_replica_that_no_longer_has_its_leases_claims_nothing(
    db: Database, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """A process that was stopped after its heartbeat does not know it. The next holder publishes already."""
    monkeypatch.setattr(leases_module, "RENEW_SECONDS", 3600.0)
    monkeypatch.setattr(leases_module, "LEASE_SECONDS", 7200.0)
    monkeypatch.setattr(outbox_rows, "LEASE_LEFT", timedelta(hours=1))
    bus = StagedBus()
    one = await relay(db, bus)
    events = versions(2)
    await write(db, events[:1])
    await until_idle(one)
    assert order(bus, events) == [1], "the control: these are its leases"
    async with db.connection() as conn:
        await conn.execute(change)
    await write(db, events[1:])
    await until_idle(one)
    assert order(bus, events) == [1]
    await one.stop()

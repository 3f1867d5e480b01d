"""Send an endpoint what it missed since a given time: dead deliveries, and events without a delivery.

A recovery is durable. It advances in batches, one commit each, and waits while the endpoint has many open
deliveries, so that it does not flood it.
"""

from datetime import datetime

import structlog

from services.webhooks.actions.log_events import make_deliveries
from services.webhooks.actions.manage_endpoints import use_endpoint
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, RecoveryRunning
from services.webhooks.rules.visibility import Subscriber
from services.webhooks.store import event_log, fan_outs, recoveries
from services.webhooks.store.recoveries import Candidate, RunningRecovery
from services.webhooks.wire.endpoints import Recovery
from services.webhooks.wire.health import MissedEvents
from shared.db.unavailable import is_unavailable
from shared.http.caller import Caller
from shared.wire import new_id

log = structlog.get_logger("recoveries")

BATCH = 200
MAX_OPEN = 500
MAX_COUNTED = 5_000
# How many recoveries advance in one step.
MAX_PER_STEP = 100


async def start_recovery(service: Webhooks, caller: Caller, endpoint_id: str, since: datetime) -> Recovery:
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id, lock=True)
        if stored.shown.status == "disabled":
            raise EndpointDisabled
        if running := await recoveries.running_of(conn, caller, endpoint_id):
            raise RecoveryRunning(details={"recovery_id": running})
        await event_log.lock_counters(conn, [caller.studio_id])
        recovery = await recoveries.start(conn, caller, new_id(), endpoint_id, since)
    service.recovery_wakeup.notify()
    return recovery


async def count_missed(service: Webhooks, caller: Caller, endpoint_id: str, since: datetime) -> MissedEvents:
    """What a recovery would send, among the next events up to a limit."""
    async with service.db.connection() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id)
        types = frozenset(stored.shown.event_types)
        subscriber = Subscriber([endpoint_id], caller.studio_id, stored.client_id, types, stored.view)
        recovery = await recoveries.would_be(conn, endpoint_id, subscriber, since)
        found = await recoveries.next_batch(conn, recovery, MAX_COUNTED + 1) if recovery else []
    missed = [item for item in found[:MAX_COUNTED] if recovery and _was_missed(item, recovery)]
    return MissedEvents(count=len(missed), complete=len(found) <= MAX_COUNTED)


async def recovery_step(service: Webhooks) -> bool:
    """One batch for each recovery whose turn it is. True if there is more to do at once."""
    async with service.db.connection() as conn:
        turns = await recoveries.take_turns(conn, MAX_PER_STEP)
    moved = [await _try_to_advance(service, recovery) for recovery in turns]
    return any(moved)


async def _try_to_advance(service: Webhooks, recovery: RunningRecovery) -> bool:
    """A recovery that fails because of a bug is retried after the others."""
    try:
        return await _advance(service, recovery)
    except Exception as problem:
        if is_unavailable(problem):
            raise
        log.error("recovery_failed", recovery_id=recovery.id, exc_info=True)
        return False


class _AdvancedElsewhere(Exception):
    """Another replica did this batch."""


async def _advance(service: Webhooks, recovery: RunningRecovery) -> bool:
    try:
        async with service.db.transaction() as conn:
            if await recoveries.open_deliveries(conn, recovery.endpoint_id, MAX_OPEN) >= MAX_OPEN:
                return False
            await event_log.lock_counters(conn, [recovery.studio_id])
            found = await recoveries.next_batch(conn, recovery, BATCH)
            # The fan-out of this event may be about to reach the endpoint.
            if await fan_outs.unfinished_event(conn, recovery.studio_id) in {one.event.id for one in found}:
                return False
            missed = [item for item in found if _was_missed(item, recovery)]
            fresh = [(item.event, recovery.endpoint_id) for item in missed if item.delivery_id is None]
            dead = [item.delivery_id for item in missed if item.delivery_id is not None]
            await make_deliveries(conn, fresh)
            await recoveries.revive(conn, recovery, dead)
            to = found[-1].event.sequence if found else recovery.until_sequence
            done = len(found) < BATCH
            if not await recoveries.advance(conn, recovery, to, len(missed), done=done):
                raise _AdvancedElsewhere
    except _AdvancedElsewhere:
        return True
    service.wakeup.notify()
    return not done


def _was_missed(item: Candidate, recovery: RunningRecovery) -> bool:
    """Not what was delivered or is still pending, and not another endpoint's test event."""
    event = item.event
    if item.delivery_id is not None or event.client_id is not None:
        return item.delivery_status == "dead"
    return recovery.subscriber.wants(event.type, event.location_id, event.moved_to, None)

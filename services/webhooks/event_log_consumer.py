"""The event log's part of the service: consumes the partitions that it leases, and forwards events."""

from collections.abc import Sequence

from services.webhooks.actions.log_events import log_events
from services.webhooks.context import Webhooks
from shared.background import Loop
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Message, Queue, groups_for
from shared.events.leases import RENEW_SECONDS, UNABLE_SECONDS, Leases
from shared.events.reconcile import EVERY_SECONDS as RECONCILE_SECONDS
from shared.events.reconcile import Reconciler
from shared.events.relay import Relay

BATCH = 100


class EventLogConsumer:
    """Two replicas never log the same partition: a lease assigns it, and the broker admits one consumer."""

    def __init__(self, service: Webhooks) -> None:
        self._service = service
        self._leases = Leases(service.db, "event-log", service.bus.partitions)
        self._relay = Relay(
            service.db, service.bus, service.relay_wakeup, service="webhooks", destination=_group_of
        )
        reconciler = Reconciler(
            service.db, service.bus, self._relay.leases, service="webhooks", queue=NEW_MEMBERS
        )
        self.loops = [
            Loop("webhooks-reconciler", reconciler.step, idle=RECONCILE_SECONDS),
            Loop(
                "webhooks-partitions",
                self._follow_leases,
                idle=RENEW_SECONDS,
                # While the database is unreachable, expired leases are noticed in time.
                longest_pause=RENEW_SECONDS,
            ),
            Loop(
                "webhooks-relay",
                self._relay.step,
                idle=1.0,
                wakeup=service.relay_wakeup,
                longest_pause=RENEW_SECONDS,
            ),
        ]

    async def start(self) -> None:
        await self._relay.start()
        await self._service.bus.subscribe(EVENT_LOG, self._handle, batch=BATCH)

    async def stop(self) -> None:
        self._service.bus.assign(EVENT_LOG, frozenset())
        try:
            await self._leases.release()
        finally:
            await self._relay.stop()

    async def _handle(self, messages: Sequence[Message]) -> None:
        await log_events(self._service, messages)

    async def _follow_leases(self) -> bool:
        try:
            if self._service.bus.lost_seconds(EVENT_LOG) > UNABLE_SECONDS:
                # Another replica may still reach the broker. The database may be slow to answer: a consumer
                # that reconnects meanwhile must not consume without leases.
                self._service.bus.assign(EVENT_LOG, frozenset())
                await self._leases.release()
            else:
                await self._leases.renew()
        finally:
            # Even if the database is unreachable: another replica may already have our expired leases.
            self._service.bus.assign(EVENT_LOG, self._leases.held)
        return False


def _group_of(topic: str) -> Queue:
    return groups_for(topic)[0]

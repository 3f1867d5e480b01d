"""The event log's part of the service: consumes the partitions that it leases, and forwards events."""

from collections.abc import Sequence
from functools import partial

from services.webhooks.actions.log_events import log_events
from services.webhooks.context import Webhooks
from services.webhooks.store import parked
from shared.background import Loop
from shared.db.database import Connection
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Message, Refused
from shared.events.leases import RENEW_SECONDS, UNABLE_SECONDS, Leases, check_writable
from shared.events.relay import Relay


class EventLogConsumer:
    """The leases balance the partitions between replicas. The broker admits one consumer to each."""

    def __init__(self, service: Webhooks) -> None:
        self._service = service
        self._leases = Leases(service.db, "event-log", EVENT_LOG.partitions)
        self._relay = Relay(
            service.db,
            service.bus,
            service.relay_wakeup,
            service="webhooks",
            queue=NEW_MEMBERS,
            on_refused=self._park_refused,
        )
        self.loops = [
            *self._relay.loops,
            Loop(
                "webhooks-partitions",
                self._follow_leases,
                idle=RENEW_SECONDS,
                # While the database is unreachable, expired leases are noticed in time.
                longest_pause=RENEW_SECONDS,
            ),
        ]

    async def start(self) -> None:
        await self._service.bus.subscribe(
            EVENT_LOG,
            self._handle,
            ready=partial(check_writable, self._service.db, EVENT_LOG.name),
            park=self._park,
        )

    async def stop(self) -> None:
        self._service.bus.assign(EVENT_LOG, frozenset())
        try:
            await self._leases.release()
        finally:
            await self._relay.stop()

    async def _handle(self, messages: Sequence[Message]) -> None:
        await log_events(self._service, messages)

    async def _park(self, message: Message, reason: str) -> None:
        async with self._service.db.connection() as conn:
            await parked.park(conn, EVENT_LOG, message, reason)

    async def _park_refused(self, conn: Connection, refused: Sequence[Refused]) -> None:
        await parked.park_rows(conn, NEW_MEMBERS, refused)

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

"""Wiring of the webhooks service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from services.webhooks.actions.log_events import log_events
from services.webhooks.actions.prune import prune_step
from services.webhooks.actions.recover import recovery_step
from services.webhooks.context import Webhooks
from services.webhooks.dispatcher.dispatcher import Dispatcher
from services.webhooks.dispatcher.in_flight import LONGEST_PAUSE
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.followers import Followers
from services.webhooks.routes import ROUTES
from services.webhooks.rules.signing import SecretCipher
from services.webhooks.rules.urls import UrlPolicy
from services.webhooks.store import lanes, parked
from services.webhooks.telemetry import update_gauges
from shared.background import Loop, Wakeup, running
from shared.db.database import Connection, Database
from shared.events.bus import EVENT_LOG, NEW_MEMBERS, Bus, Message, Refused
from shared.events.leases import RENEW_SECONDS, UNABLE_SECONDS, Leases, check_writable
from shared.events.relay import Relay
from shared.http.caller import CallerVerifier
from shared.http.health import OptionalCheck
from shared.http.idempotency.stored_responses import pruning
from shared.http.routes import Route
from shared.http.service import Service, build_service
from shared.settings import Settings


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
            partial(log_events, self._service),
            ready=partial(check_writable, self._service.db, EVENT_LOG.name),
            park=self._park,
        )

    async def stop(self) -> None:
        self._service.bus.assign(EVENT_LOG, frozenset())
        try:
            await self._leases.release()
        finally:
            await self._relay.stop()

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


# How often to poll for work that another process stored. Work stored by this process wakes the loop at once.
POLL_SECONDS = 0.25
# A dispatcher without an event log in its process finds new deliveries only by polling.
POLL_SECONDS_ALONE = 0.05


def routes() -> list[Route[Webhooks]]:
    return ROUTES


@asynccontextmanager
async def open_service(settings: Settings, bus: Bus) -> AsyncIterator[Service[Webhooks]]:
    """Event log and dispatcher, or one of them alone: `settings.webhooks_only`. Both answer requests."""
    assert settings.database_url is not None
    policy = UrlPolicy(
        allow_http=settings.webhook_allow_http is True,
        allow_hosts=settings.webhook_allow_hosts,
        loopback_http=settings.webhook_loopback_http,
    )
    cipher = SecretCipher(settings.webhook_keys)
    async with AsyncExitStack() as stack:
        db = await Database.connect(
            settings.database_url,
            "webhooks",
            size=settings.pool_size,
            direct_url=settings.database_direct_url,
        )
        stack.push_async_callback(db.close)
        service = Webhooks(
            db=db,
            bus=bus,
            wakeup=Wakeup(),
            relay_wakeup=Wakeup(),
            recovery_wakeup=Wakeup(),
            cipher=cipher,
            urls=policy,
            followers=Followers(db),
        )
        loops = [
            Loop("webhooks-figures", partial(update_gauges, db, bus), idle=15.0, stale_after=120.0),
            service.followers.loop,
        ]
        if settings.webhooks_only != "log":
            # A separate pool: a hundred busy lanes must not block a partner's request.
            sending_db = await Database.connect(settings.database_url, "webhooks", size=settings.pool_size)
            stack.push_async_callback(sending_db.close)
            sender = await stack.enter_async_context(Sender(policy))
            dispatcher = Dispatcher(
                sending_db, sender, cipher, settings.webhook_retry_schedule, wakeup=service.wakeup
            )
            service.dispatching.dispatcher = dispatcher
            stack.push_async_callback(dispatcher.stop)
            poll = POLL_SECONDS_ALONE if settings.webhooks_only == "dispatch" else POLL_SECONDS
            loops += [
                Loop(
                    "webhooks-dispatcher",
                    dispatcher.step,
                    idle=poll,
                    wakeup=service.wakeup,
                    longest_pause=LONGEST_PAUSE,
                ),
                Loop(
                    "webhooks-leases",
                    dispatcher.renew,
                    idle=lanes.RENEW_SECONDS,
                    longest_pause=LONGEST_PAUSE,
                ),
                Loop(
                    "webhooks-recoveries",
                    partial(recovery_step, service),
                    idle=2.0,
                    wakeup=service.recovery_wakeup,
                ),
            ]
        if settings.webhooks_only != "dispatch":
            event_log = EventLogConsumer(service)
            stack.push_async_callback(event_log.stop)
            await event_log.start()
            loops += [
                *event_log.loops,
                Loop("webhooks-pruning", partial(prune_step, service), idle=600.0),
                pruning(db, "webhooks"),
            ]

        def loops_problem() -> str | None:
            return next((problem for loop in loops if (problem := loop.problem())), None)

        await stack.enter_async_context(running(loops))
        yield build_service(
            "webhooks",
            service,
            routes(),
            verifier=CallerVerifier(settings.caller_keys_of("webhooks")),
            checks={
                "database": db.is_ready,
                "writes": OptionalCheck(db.write_problem),
                "bus": OptionalCheck(bus.problem),
                "dispatcher": OptionalCheck(loops_problem),
            },
        )

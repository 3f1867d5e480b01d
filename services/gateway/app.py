"""Wiring of the gateway: the partner port and the operators' port over one key cache."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from msgspec import Struct

from services.gateway.access import OperatorAccess
from services.gateway.actions.issue_key import deactivate_clients
from services.gateway.actions.system_status import sample_status
from services.gateway.context import OperatorContext
from services.gateway.key_cache import POLL_SECONDS, KeyCache
from services.gateway.partner_sessions import PartnerSessions
from services.gateway.request_log import INTERVAL_SECONDS, RequestLog
from services.gateway.routes.console_sign_in import PATH as SIGN_IN
from services.gateway.routes.console_sign_in import ConsoleSignIn
from services.gateway.routes.operator.port import OperatorPort, operator_handlers, pages
from services.gateway.routes.own_routes import KeyContext
from services.gateway.routes.partner import PartnerApi
from services.gateway.routes.partner_port import PartnerPort
from services.gateway.rules.rate_limit import ClientLimits, FailedKeyLimits
from services.gateway.rules.waits import GRACE, LONGEST, POOL_SIZE
from services.gateway.shared_rate_limits import SharedLimits
from services.gateway.store.old_rows import delete_old_rows
from services.gateway.upstream import HttpUpstream, Upstream
from shared.background import Loop, running
from shared.db.database import Database
from shared.http.asgi import ASGIApp
from shared.http.caller import CallerSigner
from shared.http.client_address import TrustedProxies
from shared.http.connection_limits import ConnectionLimits
from shared.http.health import OptionalCheck
from shared.http.server import Address, Listener
from shared.http.service import Check, health_routes
from shared.settings import Settings

UPSTREAMS = ("catalog", "bookings", "forms", "webhooks")
# A slowly sent request head takes this much memory per connection.
MAX_HEAD_SIZE = 32 * 1024
# An import batch with many bad lines has to be bisected many times.
OPERATOR_TIMEOUT = 120.0


class Gateway(Struct):
    partner_app: ASGIApp
    operator_app: ASGIApp


def gateway_addresses(settings: Settings) -> list[Address]:
    return [
        Address("partner API", settings.host, settings.port_of("gateway")),
        Address("operators' API", settings.operator_host, settings.operator_port),
    ]


def gateway_listeners(settings: Settings, partner_app: ASGIApp, operator_app: ASGIApp) -> list[Listener]:
    partner, operator = gateway_addresses(settings)
    limits = ConnectionLimits(
        max_connections=settings.max_connections,
        max_per_address=settings.max_connections_per_address,
        trusted=trusted_proxies(settings),
    )
    return [
        Listener(partner, partner_app, limits, max_head_size=MAX_HEAD_SIZE),
        Listener(operator, operator_app),
    ]


def local_origin(settings: Settings) -> str:
    """Where a browser on this machine reaches the partner port."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return f"http://{host}:{settings.port_of('gateway')}"


def trusted_proxies(settings: Settings) -> TrustedProxies:
    return TrustedProxies(settings.trusted_proxies, settings.forwarded_header)


def http_upstreams(settings: Settings, *, response_timeout: float) -> dict[str, Upstream]:
    return {
        name: HttpUpstream(settings.url_of(name), response_timeout=response_timeout) for name in UPSTREAMS
    }


def waiting_upstream(settings: Settings) -> Upstream:
    """Each request that waits holds a connection, so these have a pool of their own. All may come at once."""
    return HttpUpstream(
        settings.url_of("webhooks"),
        connect_timeout=5.0,
        response_timeout=LONGEST + GRACE,
        max_connections=POOL_SIZE,
    )


@asynccontextmanager
async def open_gateway(
    settings: Settings,
    upstreams: Mapping[str, Upstream],
    operator_upstreams: Mapping[str, Upstream],
    checks: Mapping[str, Check] | None = None,
) -> AsyncIterator[Gateway]:
    """`checks` are those of services in the same process. A separate process reports its own readiness."""
    assert settings.database_url is not None
    db = await Database.connect(settings.database_url, "gateway", size=settings.pool_size)
    signers = {name: CallerSigner(settings.caller_keys_of(name)) for name in UPSTREAMS}
    key_cache = KeyCache(db, settings.key_peppers, signers)
    await key_cache.refresh()
    peppers = settings.key_peppers
    access = OperatorAccess(settings.operator_tokens, db, peppers)
    proxies = trusted_proxies(settings)
    sessions = PartnerSessions(db, peppers, key_cache)
    request_log = RequestLog(db)
    failed_keys, failed_tokens = FailedKeyLimits(), FailedKeyLimits()
    limits = SharedLimits(settings.valkey_url) if settings.valkey_url else ClientLimits()
    partner_api = PartnerApi(
        key_cache,
        upstreams,
        proxies,
        sessions=sessions,
        request_log=request_log,
        failed_keys=failed_keys,
        limits=limits,
        own_context=partial(KeyContext, db, peppers, settings.public_origin(), signers, upstreams),
    )
    key_refresh = Loop("keys", key_cache.refresh, idle=POLL_SECONDS, stale_after=10, longest_pause=1)

    async def keys_are_fresh() -> str | None:
        return key_refresh.problem()

    async def delete_old() -> bool:
        async with db.connection() as conn:
            return await delete_old_rows(conn)

    own_checks: dict[str, Check] = {
        "gateway.database": db.is_ready,
        "gateway.writes": OptionalCheck(db.write_problem),
        "gateway.keys": keys_are_fresh,
    }
    checks = {**own_checks, **(checks or {})}
    public_origin = settings.public_origin() or local_origin(settings)
    context = OperatorContext(db, key_cache, peppers, signers, operator_upstreams, own_checks, public_origin)
    log_writing = Loop("request log", request_log.write, idle=INTERVAL_SECONDS)
    cleanup = Loop("old rows", delete_old, idle=60.0)
    client_deactivation = Loop("closed clients", partial(deactivate_clients, context), idle=1.0)
    history = Loop("status history", partial(sample_status, context), idle=60.0)
    public: dict[str, ASGIApp] = {
        **health_routes(checks),
        **pages(),
        SIGN_IN: ConsoleSignIn(access, failed_tokens, proxies),
    }
    try:
        async with running([key_refresh, client_deactivation, log_writing, cleanup, history]):
            yield Gateway(
                PartnerPort(partner_api, checks, ConsoleSignIn(sessions, failed_keys, proxies)),
                OperatorPort(public, operator_handlers(context), access, db, proxies, failed_tokens),
            )
    finally:
        await request_log.write_last()
        for upstream in {*upstreams.values(), *operator_upstreams.values()}:
            await upstream.close()
        await limits.close()
        await db.close()

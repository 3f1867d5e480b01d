"""Create an endpoint. It belongs to the client and keeps the scopes and locations of the creating key."""

from collections.abc import Sequence

from msgspec import UNSET

from services.webhooks.context import Webhooks
from services.webhooks.errors import TooManyEndpoints
from services.webhooks.rules.signing import new_secret
from services.webhooks.rules.urls import url_problem
from services.webhooks.rules.visibility import missing_scopes
from services.webhooks.store import endpoints
from services.webhooks.wire.endpoints import EndpointCreate, EndpointWithSecret, with_secret
from shared.errors import InsufficientScope, Problem
from shared.http.caller import Caller
from shared.http.routes import PartialBody
from shared.wire import new_id

MAX_ENDPOINTS = 200


async def create_endpoint(service: Webhooks, caller: Caller, body: EndpointCreate) -> EndpointWithSecret:
    secret = new_secret()
    async with service.db.transaction() as conn:
        if await endpoints.count_for_insert(conn, caller) >= MAX_ENDPOINTS:
            raise TooManyEndpoints
        made = await endpoints.insert(
            conn,
            caller,
            new_id(),
            {
                "url": body.url,
                "description": body.description,
                "event_types": unique(body.event_types),
                "fifo": body.fifo,
                "rate_limit": body.rate_limit,
            },
        )
        await endpoints.add_secret(conn, caller.studio_id, made.shown.id, service.cipher.encrypt(secret))
    return with_secret(made.shown, secret)


def require_scopes(event_types: Sequence[str], granted: frozenset[str]) -> None:
    for scope in missing_scopes(event_types, granted):
        raise InsufficientScope(scope, granted)


async def check_endpoint(service: Webhooks, caller: Caller, given: PartialBody) -> list[Problem]:
    """Problems of a body beyond its types. A missing scope is reported first."""
    if caller.actor != "operator":
        require_scopes(given.fields.get("event_types") or (), caller.scopes)
    url = given.fields.get("url", UNSET)
    problem = url_problem(url, service.urls) if url is not UNSET else None
    return [Problem(("body", "url"), problem, "url_not_allowed")] if problem else []


def unique(event_types: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(event_types))

"""Create an endpoint. It belongs to its client and keeps the scopes and locations of the key that made it."""

from collections.abc import Sequence

from services.webhooks.context import Webhooks
from services.webhooks.errors import TooManyEndpoints
from services.webhooks.rules.signing import new_secret
from services.webhooks.rules.urls import UrlPolicy, url_problem
from services.webhooks.rules.visibility import scopes_needed
from services.webhooks.store import endpoints, secrets
from services.webhooks.wire.endpoints import EndpointCreate, EndpointWithSecret, with_secret
from shared.errors import InsufficientScope, Invalid, Problem
from shared.http.caller import Caller
from shared.wire import new_id

MOST = 200


async def create_endpoint(service: Webhooks, caller: Caller, body: EndpointCreate) -> EndpointWithSecret:
    require_scopes(body.event_types, caller.scopes)
    refuse_url(body.url, service.urls)
    secret = new_secret()
    async with service.db.transaction() as conn:
        if len(await endpoints.list_own(conn, caller, None, MOST)) >= MOST:
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
        await secrets.add(conn, caller.studio_id, made.shown.id, service.vault.seal(secret))
    return with_secret(made.shown, secret)


def require_scopes(event_types: Sequence[str], granted: frozenset[str]) -> None:
    for scope in scopes_needed(event_types):
        if scope not in granted:
            raise InsufficientScope(scope, granted)


def refuse_url(url: str, policy: UrlPolicy) -> None:
    if problem := url_problem(url, policy):
        raise Invalid([Problem(("body", "url"), problem, "url_not_allowed")])


def unique(event_types: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(event_types))

"""Issue, rotate and revoke keys; issue staff tokens. A key or token is returned once and never stored."""

from datetime import timedelta

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.errors import KeyNotLive
from services.gateway.rules.key_text import STAFF_HEAD, hash_secret, make_key, make_token
from services.gateway.store import clients, keys, staff_tokens, studios
from services.gateway.upstream import UpstreamResponse
from services.gateway.wire.key import (
    IssuedKey,
    IssuedStaffToken,
    Key,
    KeyCreate,
    KeyRevoke,
    StaffTokenCreate,
)
from shared.errors import DomainError, Invalid, Problem, Unavailable
from shared.http.caller import Caller
from shared.routing import SCOPES
from shared.wire import encode, new_id


async def issue_key(context: OperatorContext, caller: Caller, wanted: KeyCreate) -> IssuedKey:
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, caller, wanted.studio)
    scopes = _scopes(wanted.scopes)
    locations = await _locations(context, studio.id, wanted.location_ids, caller.request_id)
    async with context.db.transaction() as conn:
        client_id = await clients.ensure(conn, studio.id, wanted.client or wanted.name)
        new = make_key(test=studio.test)
        key = await keys.add(
            conn,
            new,
            secret_hash=hash_secret(context.peppers[0], new.secret),
            studio_id=studio.id,
            client_id=client_id,
            name=wanted.name,
            scopes=scopes,
            location_ids=locations,
            lifetime=timedelta(seconds=wanted.expires_in) if wanted.expires_in else None,
        )
    return IssuedKey(**msgspec.structs.asdict(key), key=new.text)


async def _locations(
    context: OperatorContext, studio_id: str, wanted: list[str] | None, request_id: str
) -> list[str] | None:
    """Checked with the catalog, because a key with a mistyped location would see nothing."""
    if wanted is None:
        return None
    for location in wanted:
        response = await context.call_service(
            "catalog",
            "GET",
            f"/locations/{location}",
            studio_id=studio_id,
            scope="studio:read",
            request_id=request_id,
        )
        if response.status == 404:
            text = f"The studio has no location {location}."
            raise Invalid([Problem(("body", "location_ids"), text, "value_error")])
        if response.status != 200:
            raise Unavailable("The catalog service did not answer, so the locations could not be checked.")
    return [location.lower() for location in wanted]


def _scopes(wanted: list[str]) -> list[str]:
    if wanted == ["all"]:
        return list(SCOPES)
    unknown = sorted(set(wanted) - set(SCOPES))
    if unknown:
        text = f"There is no scope {', '.join(unknown)}; there are {', '.join(SCOPES)}, or all."
        raise Invalid([Problem(("body", "scopes"), text, "value_error")])
    return [scope for scope in SCOPES if scope in wanted]


async def rotate_key(context: OperatorContext, old: Key, *, overlap: int) -> IssuedKey:
    """A second key with the same client, scopes and locations. The old key stays valid for the overlap."""
    async with context.db.transaction() as conn:
        if not await keys.expire_in(conn, old.id, overlap):
            raise KeyNotLive
        studio = await studios.find(conn, old.studio_id)
        await clients.ensure(conn, studio.id, old.client_name)
        new = make_key(test=studio.test)
        key = await keys.add_copy(conn, old.id, new, hash_secret(context.peppers[0], new.secret))
    await context.key_cache.refresh()
    return IssuedKey(**msgspec.structs.asdict(key), key=new.text)


async def revoke_key(context: OperatorContext, key_id: str, wanted: KeyRevoke, request_id: str) -> Key:
    """This replica refuses the key at once, the others within two seconds.

    Webhook endpoints belong to the client, so they outlive the key while the client has another one. For a
    leaked key they can be disabled too: those that it created and those whose URL it set. If that fails, the
    key is revoked all the same, and the same command tries again.
    """
    async with context.db.transaction() as conn:
        await keys.revoke(conn, key_id)
        revoked = await keys.get(conn, key_id)
    await context.key_cache.refresh()
    if wanted.with_endpoints:
        path, gone = "/internal/keys/revoked", {"studio_id": revoked.studio_id, "key_id": key_id}
        response = await _tell(context, "webhooks", path, gone, request_id)
        if response.status >= 300:
            status = f"webhooks answered {response.status}"
            raise Unavailable(f"The key is revoked, but {status}: its endpoints are not disabled.")
    return revoked


async def _tell(
    context: OperatorContext, service: str, path: str, gone: dict[str, str], request_id: str
) -> UpstreamResponse:
    return await context.call_service(
        service, "POST", path, studio_id=gone["studio_id"], request_id=request_id, body=encode(gone)
    )


async def issue_staff_token(
    context: OperatorContext, studio_id: str, wanted: StaffTokenCreate
) -> IssuedStaffToken:
    new = make_token(STAFF_HEAD)
    async with context.db.transaction() as conn:
        token = await staff_tokens.add(
            conn,
            studio_id,
            new,
            name=wanted.name,
            role=wanted.role,
            secret_hash=hash_secret(context.peppers[0], new.secret),
        )
    return IssuedStaffToken(**msgspec.structs.asdict(token), token=new.text)


async def deactivate_clients(context: OperatorContext) -> bool:
    """One step of a loop: its endpoints are disabled, its holds released.

    A client is marked only after the services have answered, so none is missed.
    """
    async with context.db.connection() as conn:
        inactive = await clients.without_live_key(conn)
    for studio_id, client_id in inactive:
        # Both, also when the first cannot be reached: holds are released within seconds.
        told = [await _tell_revoked(context, name, studio_id, client_id) for name in ("webhooks", "bookings")]
        if not all(told):
            return False
        async with context.db.connection() as conn:
            await clients.mark_inactive(conn, studio_id, client_id)
    return len(inactive) == 100


async def _tell_revoked(context: OperatorContext, service: str, studio_id: str, client_id: str) -> bool:
    gone = {"studio_id": studio_id, "client_id": client_id}
    try:
        response = await _tell(context, service, "/internal/clients/revoked", gone, new_id())
    except DomainError:
        return False
    if response.status >= 300:
        raise Unavailable(f"{service} answered {response.status} to a revoked client")
    return True

"""Issue an API key to a client of a studio. The key is returned once and never stored."""

from datetime import timedelta

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.rules.key_text import hash_secret, make_key
from services.gateway.store import clients, keys, studios
from services.gateway.wire.key import IssuedKey, KeyCreate
from shared.errors import Invalid, Problem, Unavailable
from shared.routing import SCOPES


async def issue_key(context: OperatorContext, wanted: KeyCreate, request_id: str) -> IssuedKey:
    scopes = _scopes(wanted.scopes)
    async with context.db.connection() as conn:
        studio = await studios.find(conn, wanted.studio)
    locations = await _locations(context, studio.id, wanted.location_ids, request_id)
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
        answer = await context.call_service(
            "catalog",
            "GET",
            f"/locations/{location}",
            studio_id=studio_id,
            scope="studio:read",
            request_id=request_id,
        )
        if answer.status == 404:
            text = f"The studio has no location {location}."
            raise Invalid([Problem(("body", "location_ids"), text, "value_error")])
        if answer.status != 200:
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

"""Make a key for a client of a studio. Its text is told once and never stored."""

from datetime import timedelta

import msgspec

from services.gateway.key_text import hash_secret, make_key
from services.gateway.operator.context import Operators
from services.gateway.routing import SCOPES
from services.gateway.store import clients, keys, studios
from services.gateway.wire.key import IssuedKey, KeyCreate
from shared.errors import Invalid, Problem
from shared.wire import now


async def issue_key(operators: Operators, wanted: KeyCreate) -> IssuedKey:
    scopes = _scopes(wanted.scopes)
    new_expiry = now() + timedelta(seconds=wanted.expires_in) if wanted.expires_in else None
    async with operators.db.transaction() as conn:
        studio = await studios.find(conn, wanted.studio)
        client_id = await clients.ensure(conn, studio.id, wanted.client or wanted.name)
        new = make_key(test=studio.test)
        key = await keys.add(
            conn,
            new,
            secret_hash=hash_secret(operators.peppers[0], new.secret),
            studio_id=studio.id,
            client_id=client_id,
            name=wanted.name,
            scopes=scopes,
            location_ids=[location.lower() for location in wanted.location_ids]
            if wanted.location_ids is not None
            else None,
            expires_at=new_expiry,
        )
    return IssuedKey(**msgspec.structs.asdict(key), key=new.text)


def _scopes(wanted: list[str]) -> list[str]:
    if wanted == ["all"]:
        return list(SCOPES)
    unknown = sorted(set(wanted) - set(SCOPES))
    if unknown:
        text = f"There is no scope {', '.join(unknown)}; there are {', '.join(SCOPES)}, or all."
        raise Invalid([Problem(("body", "scopes"), text, "value_error")])
    return [scope for scope in SCOPES if scope in wanted]

"""Issue a second key with the same client, scopes and locations. The old key stays valid for the overlap."""

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.errors import KeyNotLive
from services.gateway.rules.key_text import hash_secret, make_key
from services.gateway.store import clients, keys, studios
from services.gateway.wire.key import IssuedKey


async def rotate_key(context: OperatorContext, key_id: str, *, overlap: int) -> IssuedKey:
    async with context.db.transaction() as conn:
        old = await keys.get(conn, key_id)
        if not await keys.expire_in(conn, key_id, overlap):
            raise KeyNotLive
        studio = await studios.find(conn, old.studio_id)
        await clients.ensure(conn, studio.id, old.client_name)
        new = make_key(test=studio.test)
        key = await keys.add(
            conn,
            new,
            secret_hash=hash_secret(context.peppers[0], new.secret),
            studio_id=old.studio_id,
            client_id=old.client_id,
            name=old.name,
            scopes=old.scopes,
            location_ids=old.location_ids,
            # A key that was issued for 90 days gets a successor for 90 days.
            lifetime=await keys.lifetime_of(conn, key_id),
        )
    await context.key_cache.refresh()
    return IssuedKey(**msgspec.structs.asdict(key), key=new.text)

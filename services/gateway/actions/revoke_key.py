"""Revoke a key. This replica refuses it at once, the others within two seconds."""

from services.gateway.context import OperatorContext
from services.gateway.store import keys
from services.gateway.wire.key import Key


async def revoke_key(context: OperatorContext, key_id: str) -> Key:
    async with context.db.transaction() as conn:
        await keys.get(conn, key_id)
        await keys.revoke(conn, key_id)
        revoked = await keys.get(conn, key_id)
    await context.key_cache.refresh()
    return revoked

"""Revoke a key. This replica refuses it at once, the others within two seconds.

Webhook endpoints belong to the client, so they outlive the key while the client has another one. For a leaked
key they can be disabled too: those that it created and those whose URL it set.
"""

from services.gateway.context import OperatorContext
from services.gateway.store import keys
from services.gateway.wire.key import Key
from shared.errors import Unavailable
from shared.wire import encode


async def revoke_key(context: OperatorContext, key_id: str, *, with_endpoints: bool, request_id: str) -> Key:
    async with context.db.transaction() as conn:
        await keys.get(conn, key_id)
        await keys.revoke(conn, key_id)
        revoked = await keys.get(conn, key_id)
    await context.key_cache.refresh()
    if with_endpoints:
        await _disable_endpoints(context, revoked, request_id)
    return revoked


async def _disable_endpoints(context: OperatorContext, key: Key, request_id: str) -> None:
    """If it fails, the key is revoked all the same, and the same command tries again."""
    body = encode({"studio_id": key.studio_id, "key_id": key.id})
    answer = await context.call_service(
        "webhooks",
        "POST",
        "/internal/keys/revoked",
        studio_id=key.studio_id,
        request_id=request_id,
        body=body,
    )
    if answer.status >= 300:
        text = f"The key is revoked, but webhooks answered {answer.status}: its endpoints are not disabled."
        raise Unavailable(text)

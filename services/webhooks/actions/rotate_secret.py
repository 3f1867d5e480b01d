"""A new signing secret. The old one also signs until the overlap ends."""

from datetime import timedelta

from services.webhooks.actions.change_endpoint import use_endpoint
from services.webhooks.context import Webhooks
from services.webhooks.rules.signing import new_secret
from services.webhooks.store import endpoints, lanes
from services.webhooks.wire.endpoints import EndpointWithSecret, with_secret
from shared.http.caller import Caller
from shared.wire import now

# Each one signs every attempt and lengthens its signature header.
MAX_LIVE_SECRETS = 5


async def rotate_secret(
    service: Webhooks, caller: Caller, endpoint_id: str, overlap_seconds: int
) -> EndpointWithSecret:
    secret = new_secret()
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id, lock=True)
        until = now() + timedelta(seconds=overlap_seconds)
        await endpoints.retire_secrets(conn, caller.studio_id, endpoint_id, until, keep=MAX_LIVE_SECRETS - 1)
        await endpoints.add_secret(conn, caller.studio_id, endpoint_id, service.cipher.encrypt(secret))
        await lanes.changed(conn, endpoint_id)
    service.wakeup.notify()
    return with_secret(stored.shown, secret)

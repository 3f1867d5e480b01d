"""Retry one delivery, dead or not: same body, same id, full retry schedule."""

from services.webhooks.actions.change_endpoint import use_endpoint
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled
from services.webhooks.store import deliveries
from services.webhooks.wire.deliveries import Delivery
from shared.errors import NotFound
from shared.http.caller import Caller


async def retry_delivery(service: Webhooks, caller: Caller, delivery_id: str) -> Delivery:
    async with service.db.transaction() as conn:
        known = await deliveries.get(conn, caller, delivery_id)
        if known is None:
            raise NotFound
        endpoint = await use_endpoint(conn, caller, known.endpoint_id)
        if endpoint.shown.status == "disabled":
            raise EndpointDisabled
        delivery = await deliveries.retry(conn, caller, known)
    service.wakeup.notify()
    return delivery

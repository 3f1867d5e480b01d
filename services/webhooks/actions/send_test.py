"""Send a test event to one endpoint, whatever it subscribes to, through the normal pipeline."""

from services.webhooks.actions.change_endpoint import use_endpoint
from services.webhooks.actions.log_events import add_to_log, make_deliveries
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled
from services.webhooks.store import deliveries
from services.webhooks.wire.deliveries import Delivery
from shared.errors import NotFound
from shared.events.envelope import read_envelope, render
from shared.events.event import EventResource
from shared.events.kinds import WebhookTest
from shared.http.caller import Caller


async def send_test(service: Webhooks, caller: Caller, endpoint_id: str) -> Delivery:
    async with service.db.transaction() as conn:
        stored = await use_endpoint(conn, caller, endpoint_id)
        if stored.shown.status == "disabled":
            raise EndpointDisabled
        event = WebhookTest(
            studio_id=caller.studio_id,
            resource=EventResource("webhook_endpoint", endpoint_id, 1),
            data=stored.shown,
            request_id=caller.request_id or None,
        )
        logged = await add_to_log(conn, [read_envelope(render(event))], client_id=stored.client_id)
        delivery_id = await make_deliveries(conn, [(logged[0], endpoint_id)])
        delivery = await deliveries.get(conn, caller, delivery_id) if delivery_id else None
    service.wakeup.notify()
    if delivery is None:
        raise NotFound
    return delivery

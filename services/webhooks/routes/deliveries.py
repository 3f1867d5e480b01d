"""The delivery log, and manual retries."""

from services.webhooks.actions.change_endpoint import use_endpoint
from services.webhooks.actions.retry_delivery import retry_delivery
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled
from services.webhooks.store import deliveries
from services.webhooks.wire.deliveries import DeliveriesQuery, Delivery
from shared.errors import InsufficientScope, NotFound
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route


async def list_of_endpoint(service: Webhooks, call: Call[DeliveriesQuery, None]) -> Page[Delivery]:
    query = call.query
    endpoint_id = call.path["endpoint_id"]
    async with service.db.connection() as conn:
        await use_endpoint(conn, call.caller, endpoint_id)
        found = await deliveries.of_endpoint(
            conn, call.caller, endpoint_id, query.status, query.cursor, query.limit + 1
        )
    return page_of(found, query.limit)


async def retry(service: Webhooks, call: Call[None, None]) -> Delivery:
    return await retry_delivery(service, call.caller, call.path["delivery_id"])


ROUTES: list[Route[Webhooks]] = [
    Route(
        method="GET",
        path="/webhook-endpoints/{endpoint_id}/deliveries",
        handler=list_of_endpoint,
        summary="List an endpoint's deliveries",
        description=(
            "Each delivery has its latest attempts, up to 20, and their responses."
            " `status=dead` lists deliveries that were given up."
        ),
        query=DeliveriesQuery,
        answer=Page[Delivery],
        errors=(NotFound, InsufficientScope),
    ),
    Route(
        method="POST",
        path="/webhook-deliveries/{delivery_id}/retry",
        handler=retry,
        summary="Retry a delivery now",
        answer=Delivery,
        status=202,
        errors=(NotFound, InsufficientScope, EndpointDisabled),
    ),
]

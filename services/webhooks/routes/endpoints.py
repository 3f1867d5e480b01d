"""Webhook endpoints, their recoveries and deliveries: a partner's own, and for staff all of the studio."""

from typing import Any

import msgspec

from services.webhooks.actions.manage_endpoints import (
    change_endpoint,
    check_endpoint,
    create_endpoint,
    delete_endpoint,
    get_endpoint,
    may_use,
    refuse_wider_view,
    require_scopes,
    retry_delivery,
    rotate_secret,
    send_test,
    use_endpoint,
)
from services.webhooks.actions.recover import count_missed, start_recovery
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, RecoveryRunning, TooManyEndpoints
from services.webhooks.store import deliveries, endpoints, health, recoveries
from services.webhooks.wire.endpoints import (
    DeliveriesQuery,
    Delivery,
    DeliveryWithHeaders,
    Endpoint,
    EndpointCreate,
    EndpointUpdate,
    EndpointWithSecret,
    EventDeliveriesQuery,
    Recover,
    Recovery,
    RotateSecret,
    StudioDeliveriesQuery,
)
from services.webhooks.wire.health import EndpointHealth, HealthQuery, MissedEvents, MissedQuery
from shared.errors import InsufficientScope, NotFound
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Routes
from shared.wire import PageQuery


async def may_repeat(service: Webhooks, call: Call[Any, Any], stored: bytes) -> None:
    """The checks of the first request, also if the endpoint or the delivery was deleted since."""
    endpoint_id = call.path.get("endpoint_id")
    if "delivery_id" in call.path:
        endpoint_id = msgspec.json.decode(stored).get("endpoint_id")
    async with service.db.connection() as conn:
        if endpoint_id is None and "delivery_id" in call.path:  # A refusal does not name it.
            delivery = await deliveries.get(conn, call.caller, call.path["delivery_id"])
            if delivery is None:
                raise NotFound
            endpoint_id = delivery.endpoint_id
        view = await endpoints.view_of(conn, call.caller, endpoint_id) if endpoint_id else None
    if view is not None:
        refuse_wider_view(call.caller, view)
    if isinstance(call.body, EndpointCreate):
        require_scopes(call.body.event_types, call.caller.scopes)


ROUTES: Routes[Webhooks] = Routes(may_repeat=may_repeat)
STAFF: Routes[Webhooks] = Routes("/staff", staff=True, role="manager")
ONE = "/webhook-endpoints/{endpoint_id}"


@ROUTES.add(
    "POST",
    "/webhook-endpoints",
    "Create a webhook endpoint",
    description="The response contains the signing secret. It is not shown again until you rotate it.",
    check=check_endpoint,
    shown_once="secret",
    status=201,
    errors=(InsufficientScope, TooManyEndpoints),
)
async def create(service: Webhooks, call: Call[None, EndpointCreate]) -> EndpointWithSecret:
    return await create_endpoint(service, call.caller, call.body)


@ROUTES.add("GET", "/webhook-endpoints", "List your client's webhook endpoints")
@STAFF.add("GET", "/webhook-endpoints", "List a studio's webhook endpoints")
async def list_all(service: Webhooks, call: Call[PageQuery, None]) -> Page[Endpoint]:
    async with service.db.connection() as conn:
        found = await endpoints.list_own(conn, call.caller, call.query.cursor, call.query.limit + 1)
    return page_of(found, call.query.limit)


@ROUTES.add("GET", ONE, "Get a webhook endpoint", errors=(NotFound,))
async def get(service: Webhooks, call: Call[None, None]) -> Endpoint:
    async with service.db.connection() as conn:
        return (await get_endpoint(conn, call.caller, call.path["endpoint_id"])).shown


@ROUTES.add(
    "PATCH",
    ONE,
    "Change, disable or enable a webhook endpoint",
    description="Use `recover` to get the events that were created while the endpoint was disabled.",
    check=check_endpoint,
    errors=(NotFound, InsufficientScope),
)
async def change(service: Webhooks, call: Call[None, EndpointUpdate]) -> Endpoint:
    return await change_endpoint(service, call.caller, call.path["endpoint_id"], call.body)


@ROUTES.add(
    "DELETE",
    ONE,
    "Delete a webhook endpoint",
    response=None,
    status=204,
    errors=(NotFound, InsufficientScope),
)
async def delete(service: Webhooks, call: Call[None, None]) -> None:
    await delete_endpoint(service, call.caller, call.path["endpoint_id"])


@ROUTES.add(
    "POST",
    f"{ONE}/rotate-secret",
    "Rotate the signing secret",
    description="Both secrets sign until the overlap ends. The default overlap is one day. At most five"
    " secrets sign at once; the oldest one expires first.",
    optional_body=True,
    shown_once="secret",
    errors=(NotFound, InsufficientScope),
)
async def rotate(service: Webhooks, call: Call[None, RotateSecret]) -> EndpointWithSecret:
    return await rotate_secret(service, call.caller, call.path["endpoint_id"], call.body.overlap_seconds)


@ROUTES.add(
    "POST",
    f"{ONE}/test",
    "Send a test event to this endpoint only",
    status=202,
    errors=(NotFound, InsufficientScope, EndpointDisabled),
)
async def test(service: Webhooks, call: Call[None, None]) -> Delivery:
    return await send_test(service, call.caller, call.path["endpoint_id"])


@ROUTES.add(
    "POST",
    f"{ONE}/recover",
    "Send what the endpoint missed since a given time",
    description=(
        "Sends every event created at `since` or later that the endpoint subscribes to, may see and"
        " has not received. Dead deliveries are retried. Events without a delivery get the next"
        " `webhook-sequence` numbers, including events from before the endpoint existed."
        " Deliveries that succeeded or are still being retried are left alone. It runs in the background;"
        " use the returned id to follow its progress."
    ),
    status=202,
    errors=(NotFound, InsufficientScope, EndpointDisabled, RecoveryRunning),
)
@STAFF.add(
    "POST",
    f"{ONE}/recover",
    "Send again what an endpoint missed since a given time",
    status=202,
    errors=(NotFound, EndpointDisabled, RecoveryRunning),
)
async def recover(service: Webhooks, call: Call[None, Recover]) -> Recovery:
    return await start_recovery(service, call.caller, call.path["endpoint_id"], call.body.since)


@ROUTES.add(
    "GET",
    f"{ONE}/missed-events",
    "Count what a recovery would send",
    description="Among the first 5,000 events since then.",
    errors=(NotFound, InsufficientScope),
)
@STAFF.add("GET", f"{ONE}/missed-events", "Count what a recovery would send", errors=(NotFound,))
async def get_missed(service: Webhooks, call: Call[MissedQuery, None]) -> MissedEvents:
    return await count_missed(service, call.caller, call.path["endpoint_id"], call.query.since)


@ROUTES.add(
    "GET",
    "/webhook-health",
    "List how your endpoints are doing",
    description="A word for each, attempts by the hour, the last error, and when the next attempt is due.",
    errors=(NotFound,),
)
@STAFF.add("GET", "/webhook-health", "List how a studio's endpoints are doing", errors=(NotFound,))
async def list_health(service: Webhooks, call: Call[HealthQuery, None]) -> Page[EndpointHealth]:
    async with service.db.connection() as conn:
        if call.query.endpoint_id is not None:
            own = [(await get_endpoint(conn, call.caller, call.query.endpoint_id)).shown]
        else:
            own = await endpoints.list_own(conn, call.caller, call.query.cursor, call.query.limit + 1)
        found = await health.of_endpoints(conn, call.caller, [one.id for one in own])
    return page_of(found, call.query.limit)


@ROUTES.add(
    "GET",
    f"{ONE}/recoveries/{{recovery_id}}",
    "Get a recovery",
    description=(
        "`offered` counts the deliveries that were created or retried so far. It grows while the status"
        " is `running`. With `done` everything was offered; each delivery shows whether it succeeded."
    ),
    errors=(NotFound, InsufficientScope),
)
@STAFF.add(
    "GET",
    f"{ONE}/recoveries/{{recovery_id}}",
    "Get the progress of a recovery",
    errors=(NotFound,),
)
async def get_recovery(service: Webhooks, call: Call[None, None]) -> Recovery:
    endpoint_id = call.path["endpoint_id"]
    async with service.db.connection() as conn:
        await use_endpoint(conn, call.caller, endpoint_id)
        found = await recoveries.get(conn, call.caller, endpoint_id, call.path["recovery_id"])
    if found is None:
        raise NotFound
    return found


@ROUTES.add(
    "GET",
    f"{ONE}/deliveries",
    "List an endpoint's deliveries",
    description=(
        "Each delivery has its latest attempts, up to 20, and their responses."
        " `status=dead` lists deliveries that were given up."
    ),
    errors=(NotFound, InsufficientScope),
)
async def list_deliveries(service: Webhooks, call: Call[DeliveriesQuery, None]) -> Page[Delivery]:
    endpoint_id = call.path["endpoint_id"]
    async with service.db.connection() as conn:
        await use_endpoint(conn, call.caller, endpoint_id)
        found = await deliveries.of_endpoint(conn, call.caller, endpoint_id, call.query)
    return page_of(found, call.query.limit)


@ROUTES.add(
    "GET",
    "/webhook-deliveries",
    "List the deliveries of an event",
    description="To those of your client's endpoints that see no more than your key does.",
)
async def list_of_event(service: Webhooks, call: Call[EventDeliveriesQuery, None]) -> Page[Delivery]:
    async with service.db.connection() as conn:
        views = await endpoints.views(conn, call.caller)
        usable = [endpoint_id for endpoint_id, view in views.items() if may_use(call.caller, view)]
        found = await deliveries.of_event(conn, call.caller, usable, call.query)
    return page_of(found, call.query.limit)


@ROUTES.add(
    "GET",
    "/webhook-deliveries/{delivery_id}",
    "Get a delivery",
    description="Each attempt with the headers that sign it, and with the first headers of the response.",
    errors=(NotFound, InsufficientScope),
)
@STAFF.add(
    "GET",
    "/webhook-deliveries/{delivery_id}",
    "Get a delivery with the headers of its attempts",
    errors=(NotFound,),
)
async def get_delivery(service: Webhooks, call: Call[None, None]) -> DeliveryWithHeaders:
    async with service.db.connection() as conn:
        found = await deliveries.get_with_headers(conn, call.caller, call.path["delivery_id"])
        if found is None:
            raise NotFound
        await use_endpoint(conn, call.caller, found.endpoint_id)
    return found


@STAFF.add("GET", "/webhook-deliveries", "List a studio's deliveries")
async def list_of_studio(service: Webhooks, call: Call[StudioDeliveriesQuery, None]) -> Page[Delivery]:
    async with service.db.connection() as conn:
        found = await deliveries.of_studio(conn, call.caller, call.query)
    return page_of(found, call.query.limit)


@ROUTES.add(
    "POST",
    "/webhook-deliveries/{delivery_id}/retry",
    "Retry a delivery now",
    status=202,
    errors=(NotFound, InsufficientScope, EndpointDisabled),
)
@STAFF.add(
    "POST",
    "/webhook-deliveries/{delivery_id}/retry",
    "Retry a delivery now",
    status=202,
    errors=(NotFound, EndpointDisabled),
)
async def retry(service: Webhooks, call: Call[None, None]) -> Delivery:
    return await retry_delivery(service, call.caller, call.path["delivery_id"])

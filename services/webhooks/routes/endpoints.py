"""Webhook endpoints, managed by partners for their own client; their recoveries and deliveries."""

from services.webhooks.actions.manage_endpoints import (
    change_endpoint,
    check_endpoint,
    create_endpoint,
    delete_endpoint,
    get_endpoint,
    retry_delivery,
    rotate_secret,
    send_test,
    use_endpoint,
)
from services.webhooks.actions.recover import start_recovery
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, RecoveryRunning, TooManyEndpoints
from services.webhooks.store import deliveries, endpoints, recoveries
from services.webhooks.wire.endpoints import (
    DeliveriesQuery,
    Delivery,
    Endpoint,
    EndpointCreate,
    EndpointUpdate,
    EndpointWithSecret,
    Recover,
    Recovery,
    RotateSecret,
)
from shared.errors import InsufficientScope, NotFound
from shared.http.answer import Answer
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route
from shared.wire import PageQuery, encode


async def create(service: Webhooks, call: Call[None, EndpointCreate]) -> EndpointWithSecret:
    return await create_endpoint(service, call.caller, call.body)


async def list_all(service: Webhooks, call: Call[PageQuery, None]) -> Page[Endpoint]:
    async with service.db.connection() as conn:
        found = await endpoints.list_own(conn, call.caller, call.query.cursor, call.query.limit + 1)
    return page_of(found, call.query.limit)


async def get(service: Webhooks, call: Call[None, None]) -> Endpoint:
    async with service.db.connection() as conn:
        return (await get_endpoint(conn, call.caller, call.path["endpoint_id"])).shown


async def change(service: Webhooks, call: Call[None, EndpointUpdate]) -> Endpoint:
    return await change_endpoint(service, call.caller, call.path["endpoint_id"], call.body)


async def delete(service: Webhooks, call: Call[None, None]) -> Answer:
    await delete_endpoint(service, call.caller, call.path["endpoint_id"])
    return Answer(b"", 204)


async def rotate(service: Webhooks, call: Call[None, RotateSecret]) -> EndpointWithSecret:
    return await rotate_secret(service, call.caller, call.path["endpoint_id"], call.body.overlap_seconds)


async def test(service: Webhooks, call: Call[None, None]) -> Answer:
    return Answer(encode(await send_test(service, call.caller, call.path["endpoint_id"])), 202)


ONE = "/webhook-endpoints/{endpoint_id}"


async def recover(service: Webhooks, call: Call[None, Recover]) -> Recovery:
    return await start_recovery(service, call.caller, call.path["endpoint_id"], call.body.since)


async def get_recovery(service: Webhooks, call: Call[None, None]) -> Recovery:
    endpoint_id = call.path["endpoint_id"]
    async with service.db.connection() as conn:
        await use_endpoint(conn, call.caller, endpoint_id)
        found = await recoveries.get(conn, call.caller, endpoint_id, call.path["recovery_id"])
    if found is None:
        raise NotFound
    return found


async def list_deliveries(service: Webhooks, call: Call[DeliveriesQuery, None]) -> Page[Delivery]:
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
        method="POST",
        path="/webhook-endpoints",
        handler=create,
        summary="Create a webhook endpoint",
        description="The response contains the signing secret. It is not shown again until you rotate it.",
        body=EndpointCreate,
        check=check_endpoint,
        answer=EndpointWithSecret,
        status=201,
        errors=(InsufficientScope, TooManyEndpoints),
    ),
    Route(
        method="GET",
        path="/webhook-endpoints",
        handler=list_all,
        summary="List your client's webhook endpoints",
        query=PageQuery,
        answer=Page[Endpoint],
    ),
    Route(
        method="GET",
        path=ONE,
        handler=get,
        summary="Get a webhook endpoint",
        answer=Endpoint,
        errors=(NotFound,),
    ),
    Route(
        method="PATCH",
        path=ONE,
        handler=change,
        summary="Change, disable or enable a webhook endpoint",
        description="Use `recover` to get the events that were created while the endpoint was disabled.",
        body=EndpointUpdate,
        check=check_endpoint,
        answer=Endpoint,
        errors=(NotFound, InsufficientScope),
    ),
    Route(
        method="DELETE",
        path=ONE,
        handler=delete,
        summary="Delete a webhook endpoint",
        answer=None,
        status=204,
        errors=(NotFound, InsufficientScope),
    ),
    Route(
        method="POST",
        path=f"{ONE}/rotate-secret",
        handler=rotate,
        summary="Rotate the signing secret",
        description="Both secrets sign until the overlap ends. The default overlap is one day. At most five"
        " secrets sign at once; the oldest one expires first.",
        body=RotateSecret,
        optional_body=True,
        answer=EndpointWithSecret,
        errors=(NotFound, InsufficientScope),
    ),
    Route(
        method="POST",
        path=f"{ONE}/test",
        handler=test,
        summary="Send a test event to this endpoint only",
        answer=Delivery,
        status=202,
        errors=(NotFound, InsufficientScope, EndpointDisabled),
    ),
    Route(
        method="POST",
        path="/webhook-endpoints/{endpoint_id}/recover",
        handler=recover,
        summary="Send what the endpoint missed since a given time",
        description=(
            "Sends every event created at `since` or later that the endpoint subscribes to, may see and"
            " has not received. Dead deliveries are retried. Events without a delivery get the next"
            " `webhook-sequence` numbers, including events from before the endpoint existed."
            " Deliveries that succeeded or are still being retried are left alone. It runs in the background;"
            " use the returned id to follow its progress."
        ),
        body=Recover,
        answer=Recovery,
        status=202,
        errors=(NotFound, InsufficientScope, EndpointDisabled, RecoveryRunning),
    ),
    Route(
        method="GET",
        path="/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}",
        handler=get_recovery,
        summary="Get a recovery",
        description=(
            "`offered` counts the deliveries that were created or retried so far. It grows while the status"
            " is `running`. With `done` everything was offered; each delivery shows whether it succeeded."
        ),
        answer=Recovery,
        errors=(NotFound, InsufficientScope),
    ),
    Route(
        method="GET",
        path="/webhook-endpoints/{endpoint_id}/deliveries",
        handler=list_deliveries,
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

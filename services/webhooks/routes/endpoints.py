"""Webhook endpoints, managed by partners for their own client."""

from services.webhooks.actions.change_endpoint import change_endpoint, delete_endpoint, get_endpoint
from services.webhooks.actions.create_endpoint import check_endpoint, create_endpoint
from services.webhooks.actions.rotate_secret import rotate_secret
from services.webhooks.actions.send_test import send_test
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, TooManyEndpoints
from services.webhooks.store import endpoints
from services.webhooks.wire.deliveries import Delivery
from services.webhooks.wire.endpoints import (
    Endpoint,
    EndpointCreate,
    EndpointUpdate,
    EndpointWithSecret,
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
]

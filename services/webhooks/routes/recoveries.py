"""Recovering what an endpoint has not got, and how far a recovery has come."""

from services.webhooks.actions.change_endpoint import use_endpoint
from services.webhooks.actions.recover import start_recovery
from services.webhooks.context import Webhooks
from services.webhooks.errors import EndpointDisabled, RecoveryRunning
from services.webhooks.store import recoveries
from services.webhooks.wire.endpoints import Recover, Recovery
from shared.errors import InsufficientScope, NotFound
from shared.http.routes import Call, Route


async def recover(service: Webhooks, call: Call[None, Recover]) -> Recovery:
    return await start_recovery(service, call.caller, call.path["endpoint_id"], call.body.since)


async def get(service: Webhooks, call: Call[None, None]) -> Recovery:
    endpoint_id = call.path["endpoint_id"]
    async with service.db.connection() as conn:
        await use_endpoint(conn, call.caller, endpoint_id)
        found = await recoveries.get(conn, call.caller, endpoint_id, call.path["recovery_id"])
    if found is None:
        raise NotFound
    return found


ROUTES: list[Route[Webhooks]] = [
    Route(
        method="POST",
        path="/webhook-endpoints/{endpoint_id}/recover",
        handler=recover,
        summary="Send what the endpoint has not got since a time",
        description=(
            "Every event created at `since` or later that the endpoint subscribes to and may see, and that"
            " was not delivered to it: dead deliveries are tried again, and events it has no delivery of are"
            " sent with the next `webhook-sequence` numbers, those from before the endpoint existed included."
            " What was delivered or is still being tried is left alone. It runs in the background;"
            " its id tells how far it has come."
        ),
        body=Recover,
        answer=Recovery,
        status=202,
        errors=(NotFound, InsufficientScope, EndpointDisabled, RecoveryRunning),
    ),
    Route(
        method="GET",
        path="/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}",
        handler=get,
        summary="Get a recovery",
        description=(
            "`offered` counts the deliveries that it has made or revived so far, and grows while it is"
            " `running`. `done`: everything was offered; each delivery tells whether it got through."
        ),
        answer=Recovery,
        errors=(NotFound, InsufficientScope),
    ),
]

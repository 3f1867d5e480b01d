"""Recover what an endpoint missed, and see the progress."""

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
        handler=get,
        summary="Get a recovery",
        description=(
            "`offered` counts the deliveries that were created or retried so far. It grows while the status"
            " is `running`. With `done` everything was offered; each delivery shows whether it succeeded."
        ),
        answer=Recovery,
        errors=(NotFound, InsufficientScope),
    ),
]

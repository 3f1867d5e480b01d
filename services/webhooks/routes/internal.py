"""What only the gateway asks, on an operator's word."""

from services.webhooks.actions.change_endpoint import disable_client
from services.webhooks.actions.erase_person import erase_person
from services.webhooks.context import Webhooks
from services.webhooks.routes.staff import queue_depths
from services.webhooks.store import figures
from services.webhooks.wire.endpoints import ClientRevoked, Count
from services.webhooks.wire.operators import Erase, Erased, Figures
from shared.importing import ImportLine, ImportReport
from shared.outbox import backlog
from shared.routes import Call, Route


async def client_revoked(service: Webhooks, call: Call[None, ClientRevoked]) -> Count:
    return Count(await disable_client(service, call.body.studio_id, call.body.client_id))


async def erase(service: Webhooks, call: Call[None, Erase]) -> Erased:
    return await erase_person(service, call.caller, call.body)


async def import_batch(service: Webhooks, call: Call[None, list[ImportLine]]) -> ImportReport:
    """Studio lines go to every service; this one keeps nothing of them."""
    return ImportReport(imported=len(call.body), rejected=[])


async def status(service: Webhooks, call: Call[None, None]) -> Figures:
    async with service.db.connection() as conn:
        waiting = await backlog(conn)
        counts = await figures.counts(conn)
    return Figures(
        outbox_waiting=waiting.waiting,
        outbox_age_seconds=waiting.age_seconds,
        queues=await queue_depths(service),
        pending_deliveries=counts["pending"],
        dead_deliveries=counts["dead"],
        oldest_pending_seconds=counts["oldest"],
        running_recoveries=counts["recoveries"],
    )


ROUTES: list[Route[Webhooks]] = [
    Route(
        method="POST",
        path="/internal/clients/revoked",
        handler=client_revoked,
        summary="Disable the endpoints of a client without a live key",
        body=ClientRevoked,
        answer=Count,
        internal=True,
    ),
    Route(
        method="POST",
        path="/internal/erase",
        handler=erase,
        summary="Make a person anonymous",
        body=Erase,
        answer=Erased,
        internal=True,
    ),
    Route(
        method="POST",
        path="/internal/import",
        handler=import_batch,
        summary="Import lines",
        body=list[ImportLine],
        answer=ImportReport,
        internal=True,
        max_body=64 * 1024 * 1024,
    ),
    Route(
        method="GET",
        path="/internal/status",
        handler=status,
        summary="Figures for operators",
        answer=Figures,
        internal=True,
    ),
]

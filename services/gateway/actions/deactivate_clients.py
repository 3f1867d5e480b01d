"""Tell the webhooks service about clients whose last key was revoked or has expired."""

from services.gateway.context import OperatorContext
from services.gateway.store import clients
from shared.errors import DomainError, Unavailable
from shared.wire import encode, new_id


async def deactivate_clients(context: OperatorContext) -> bool:
    """One step of a loop. A client is marked only after the service has answered, so none is missed."""
    async with context.db.connection() as conn:
        inactive = await clients.without_live_key(conn)
    for studio_id, client_id in inactive:
        body = encode({"studio_id": studio_id, "client_id": client_id})
        try:
            answer = await context.call_service(
                "webhooks",
                "POST",
                "/internal/clients/revoked",
                studio_id=studio_id,
                request_id=new_id(),
                body=body,
            )
        except DomainError:
            return False
        if answer.status >= 300:
            raise Unavailable(f"webhooks answered {answer.status} to a revoked client")
        async with context.db.connection() as conn:
            await clients.mark_inactive(conn, studio_id, client_id)
    return len(inactive) == 100

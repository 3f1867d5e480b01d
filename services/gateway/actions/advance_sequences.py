"""After a restore from a backup: both sequences of every studio jump forward once."""

from typing import Final

from services.gateway.context import OperatorContext
from services.gateway.store import studios
from shared.errors import Unavailable
from shared.wire import encode

BATCH: Final = 1000


async def advance_sequences(context: OperatorContext, by: int, request_id: str) -> int:
    """Returns the number of studios. Repeated after a failure, some jump twice, which does no harm."""
    async with context.db.connection() as conn:
        ids = [studio.id for studio in await studios.all_of(conn)]
    for start in range(0, len(ids), BATCH):
        answer = await context.call_service(
            "webhooks",
            "POST",
            "/internal/sequences/advance",
            request_id=request_id,
            body=encode({"studio_ids": ids[start : start + BATCH], "by": by}),
        )
        if answer.status != 200:
            raise Unavailable(f"The webhooks service answered {answer.status}; try again.")
    return len(ids)

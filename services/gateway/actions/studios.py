"""What operators do to whole studios: create one, and skip sequences of all after a restore."""

from typing import Any, Final

from msgspec import structs

from services.gateway.actions.import_batch import ImportBatch
from services.gateway.context import OperatorContext
from services.gateway.errors import SlugTaken, StudioExists
from services.gateway.store import studios
from services.gateway.wire.studio import OperatorStudio, StudioCreate
from shared.errors import Invalid, Problem
from shared.wire import encode, new_id


async def create_studio(context: OperatorContext, wanted: StudioCreate, request_id: str) -> OperatorStudio:
    """In the gateway and in every service that keeps a copy, as an import of one line."""
    studio_id = (wanted.id or new_id()).lower()
    async with context.db.connection() as conn:
        known = await studios.all_of(conn)
    if any(studio.id == studio_id for studio in known):
        raise StudioExists(param="id")
    if any(studio.slug == wanted.slug for studio in known):
        raise SlugTaken(param="slug")
    line = {**structs.asdict(wanted), "object": "studio", "id": studio_id}
    batch = ImportBatch(context, request_id)
    batch.add(1, encode(line))
    await batch.flush()
    if batch.rejected:
        raise Invalid([Problem(("body",), batch.rejected[0].reason, "value_error")])
    async with context.db.connection() as conn:
        return await studios.find(conn, studio_id)


BATCH: Final = 1000


async def advance_sequences(context: OperatorContext, by: int, request_id: str) -> int:
    """Of all studios. Returns their number. Repeated after a failure, some jump twice, which does no harm."""
    async with context.db.connection() as conn:
        ids = [studio.id for studio in await studios.all_of(conn)]
    for start in range(0, len(ids), BATCH):
        body = {"studio_ids": ids[start : start + BATCH], "by": by}
        path = "/internal/sequences/advance"
        await context.ask(dict[str, Any], "webhooks", "POST", path, request_id=request_id, body=body)
    return len(ids)

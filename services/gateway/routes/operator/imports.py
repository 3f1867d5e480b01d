"""`POST /operator/v1/import`: NDJSON of any size, read as a stream and written in batches."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, structs

from services.gateway.actions.import_batch import ImportBatch
from services.gateway.routes.operator.audit_trail import TARGET
from services.gateway.routes.operator.plain_handler import PlainHandler
from services.gateway.store import studios
from services.gateway.wire.studio import StudioFilter
from shared.http.answer import Answer
from shared.http.asgi import Receive, Scope
from shared.http.caller import Caller
from shared.http.decoding import decode_query
from shared.transfer.lines import Rejected
from shared.wire import encode

READ_TIMEOUT: Final = 60.0  # for the next piece of a body
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
# Nobody needs a longer list; `rejected_count` has the total.
MAX_LISTED: Final = 10_000


class ImportQuery(StudioFilter, frozen=True, kw_only=True):
    """`studioctl` sends a file in chunks, each with the number of its first line."""

    first_line: Annotated[
        int, Meta(ge=1, le=10**15, description="The number of the first line in reports.")
    ] = 1
    events: Annotated[bool, Meta(description="`false` creates no events, for a first load.")] = True
    dry_run: Annotated[
        bool,
        Meta(
            description="Check every line and store nothing. The request may then have at most 10,000 lines."
        ),
    ] = False
    earlier_lines: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description=(
                "With `dry_run`: the first lines of the body have been checked in an earlier request. "
                "The others may refer to them; they are neither counted nor reported."
            ),
        ),
    ] = 0


class ImportAnswer(Struct, kw_only=True):
    object: str = "import_report"
    lines: int
    imported: int
    rejected_count: int
    rejected: list[Rejected]


class ImportStream(PlainHandler):
    role = "manager"

    async def answer(self, caller: Caller, scope: Scope, receive: Receive) -> Answer:
        query = decode_query(ImportQuery, scope["query_string"])
        if caller.studio_id:
            query = structs.replace(query, studio=await self._own_studio(caller, query.studio))
        return Answer(encode(await self._import(scope, receive, query, caller.request_id)))

    async def _own_studio(self, caller: Caller, named: str | None) -> str:
        """A manager's lines may not change another studio, as with `?studio=`."""
        async with self._context.db.connection() as conn:
            return (await studios.find_for(conn, caller, named or caller.studio_id)).id

    async def _import(
        self, scope: Scope, receive: Receive, query: ImportQuery, request_id: str
    ) -> ImportAnswer:
        batch = ImportBatch(
            self._context, request_id, query.studio, dry_run=query.dry_run, send_events=query.events
        )
        earlier = query.earlier_lines if query.dry_run else 0
        read, rejected_count, rejected = 0, 0, list[Rejected]()
        async for line in lines_of(receive):
            read += 1
            # Earlier lines are numbered up to 0, which keeps them out of the report.
            number = read - earlier if read <= earlier else query.first_line + read - earlier - 1
            if line is None:
                batch.rejected.append(Rejected(number, "The line is longer than 4 MiB."))
            elif line.strip():
                batch.add(number, line)
            if batch.full:
                await batch.flush()
            if batch.rejected and (batch.full or len(batch.rejected) >= 1000):
                rejected_count, rejected = _move_rejected(batch, rejected_count, rejected)
        await batch.flush()
        rejected_count, rejected = _move_rejected(batch, rejected_count, rejected)
        if len(batch.studio_ids) == 1:
            scope["state"][TARGET] = batch.studio_ids.pop()
        rejected.sort(key=lambda row: row.line)
        return ImportAnswer(
            lines=max(0, read - earlier),
            imported=batch.imported,
            rejected_count=rejected_count,
            rejected=rejected,
        )


def _move_rejected(batch: ImportBatch, count: int, listed: list[Rejected]) -> tuple[int, list[Rejected]]:
    count += len(batch.rejected)
    listed += batch.rejected[: max(0, MAX_LISTED - len(listed))]
    batch.rejected.clear()
    return count, listed


async def lines_of(receive: Receive) -> AsyncIterator[bytes | None]:
    """Yields the body's lines as they arrive, and None for a line that is too long."""
    parts: list[bytes] = []  # of the line that has not ended yet; joining them for each piece is quadratic
    size, more = 0, True
    while more:
        async with asyncio.timeout(READ_TIMEOUT):
            message: Any = await receive()
        if message["type"] != "http.request":
            return
        more = message.get("more_body", False)
        *ends, begun = message.get("body", b"").split(b"\n")
        for end in ends:
            yield None if size + len(end) > MAX_LINE_BYTES else b"".join([*parts, end])
            parts, size = [], 0
        size += len(begun)
        if size > MAX_LINE_BYTES:
            parts.clear()
        else:
            parts.append(begun)
    if size > MAX_LINE_BYTES:
        yield None
    elif (line := b"".join(parts)).strip():
        yield line

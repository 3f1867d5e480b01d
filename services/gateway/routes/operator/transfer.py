"""Import and export: NDJSON of any size, read and sent as a stream."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from services.gateway.actions.export_studio import export_member, export_studio
from services.gateway.actions.import_batch import ImportBatch
from services.gateway.context import OperatorContext
from services.gateway.routes.operator.audit_trail import ONLY_CHECKED, STUDIO, TARGET
from services.gateway.store import studios
from services.gateway.wire.studio import StudioFilter
from shared.errors import Invalid, NotFound, Problem
from shared.http.asgi import Receive
from shared.http.response import Response
from shared.http.routes import Call, Routes
from shared.routing import OPERATOR_PREFIX
from shared.transfer.lines import Rejected
from shared.wire import Id, Query

READ_TIMEOUT: Final = 60.0  # for the next piece of a body
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
NDJSON: Final = b"application/x-ndjson"
ROUTES: Routes[OperatorContext] = Routes(OPERATOR_PREFIX)


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


@ROUTES.add(
    "POST",
    "/import",
    "Import NDJSON of any size",
    errors=(NotFound,),
    role="manager",
)
async def post_import(context: OperatorContext, call: Call[ImportQuery, None]) -> ImportAnswer:
    query, studio = call.query, call.query.studio
    if call.caller.studio_id:
        # A manager's lines may not change another studio, as with `?studio=`.
        async with context.db.connection() as conn:
            studio = await studios.named_by(conn, call.caller, studio)
    batch = ImportBatch(
        context, call.caller.request_id, studio, dry_run=query.dry_run, send_events=query.events
    )
    earlier = query.earlier_lines if query.dry_run else 0
    read = 0
    async for line in lines_of(call.receive):
        read += 1
        # Earlier lines are numbered up to 0, which keeps them out of the report.
        number = read - earlier if read <= earlier else query.first_line + read - earlier - 1
        if line is None:
            batch.reject(Rejected(number, "The line is longer than 4 MiB."))
        elif line.strip():
            batch.add(number, line)
        if batch.full:
            await batch.flush()
    await batch.flush()
    if query.dry_run:
        call.state[ONLY_CHECKED] = True
    elif len(batch.studio_ids) == 1:
        call.state[TARGET] = call.state[STUDIO] = batch.studio_ids.pop()
    return ImportAnswer(
        lines=max(0, read - earlier),
        imported=batch.imported,
        rejected_count=batch.rejected_count,
        rejected=sorted(batch.rejected, key=lambda row: row.line),
    )


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


class ExportOf(Query, frozen=True, kw_only=True):
    studio: Annotated[
        str | None, Meta(description="Slug or id. Optional with a staff token, which has one studio.")
    ] = None
    member_id: Annotated[Id | None, Meta(description="Export only what is stored about this person.")] = None


@ROUTES.add(
    "GET",
    "/export",
    "Export a studio as NDJSON",
    response=str,
    errors=(NotFound,),
    role="manager",
)
async def get_export(context: OperatorContext, call: Call[ExportOf, None]) -> Response:
    named = call.query.studio or call.caller.studio_id
    if not named:
        raise Invalid([Problem(("query", "studio"), "Name the studio to export.", "missing")])
    async with context.db.connection() as conn:
        studio = await studios.find_for(conn, call.caller, named)
    member_id, request_id = call.query.member_id, call.caller.request_id
    if member_id is None:
        parts = export_studio(context, studio, request_id)
    else:
        parts = export_member(context, studio, member_id, request_id)
    # What fails before the first part is an ordinary error.
    return Response(await anext(parts), content_type=NDJSON, rest=parts)

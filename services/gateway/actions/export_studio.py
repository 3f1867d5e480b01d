"""A studio as the lines that an import takes, collected page by page from the services that own them."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.wire.studio import OperatorStudio
from shared.errors import NotFound, Unavailable
from shared.transfer.exporting import ExportPage
from shared.wire import encode


async def export_studio(
    context: OperatorContext, studio: OperatorStudio, request_id: str
) -> AsyncIterator[bytes]:
    """The studio's own line first: several services keep a part of it."""
    line: dict[str, Any] = {"test": studio.test}
    first: dict[str, ExportPage] = {}
    for owner in ("catalog", "bookings"):
        page = first[owner] = await _page(context, owner, request_id, studio_id=studio.id)
        if not page.lines:
            raise Unavailable(f"The {owner} service does not know the studio yet; export again.")
        line |= msgspec.json.decode(page.lines.pop(0))
    yield encode(line) + b"\n"
    for owner in ("catalog", "bookings", "forms"):
        async for part in _pages(context, owner, request_id, first.get(owner), studio_id=studio.id):
            yield part


async def export_member(
    context: OperatorContext, studio: OperatorStudio, member_id: str, request_id: str
) -> AsyncIterator[bytes]:
    """What is stored about one person: the member, and the lead and submissions with the same email."""
    person = {"studio_id": studio.id, "member_id": member_id}
    first = await _page(context, "bookings", request_id, **person)
    if not first.lines:
        raise NotFound("There is no such member.")
    email = msgspec.json.decode(first.lines[0])["email"]
    async for part in _pages(context, "bookings", request_id, first, **person):
        yield part
    if email is not None:
        async for part in _pages(context, "forms", request_id, None, **person, email=email):
            yield part


async def _pages(
    context: OperatorContext, owner: str, request_id: str, page: ExportPage | None, **query: str
) -> AsyncIterator[bytes]:
    page = page or await _page(context, owner, request_id, **query)
    while True:
        if page.lines:
            yield b"".join(bytes(line) + b"\n" for line in page.lines)
        if page.next_cursor is None:
            return
        page = await _page(context, owner, request_id, **query, cursor=page.next_cursor)


async def _page(context: OperatorContext, owner: str, request_id: str, **query: str) -> ExportPage:
    return await context.ask(
        ExportPage, owner, "GET", f"/internal/export?{urlencode(query)}", request_id=request_id
    )

"""The kinds of event, with their schemas.

The file comes from shared/events/kinds.py: `python -m services.cli.openapi --write` makes it, because the
schemas are those of structs that other services own.
"""

from functools import cache
from pathlib import Path

from services.webhooks.context import Webhooks
from services.webhooks.wire.event_types import EventTypeTable
from shared.http.answer import Answer
from shared.http.routes import Call, Route

FILE = Path(__file__).parent.parent / "event_types.json"


@cache
def _content() -> bytes:
    return FILE.read_bytes()


async def list_event_types(service: Webhooks, call: Call[None, None]) -> Answer:
    return Answer(_content())


ROUTES: list[Route[Webhooks]] = [
    Route(
        method="GET",
        path="/event-types",
        handler=list_event_types,
        summary="List the kinds of event",
        description="Every kind on one page, with the scope that sees it, its JSON Schema and an example.",
        answer=EventTypeTable,
        tag="Events",
    ),
]

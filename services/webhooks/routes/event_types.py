"""The kinds of event, with their schemas.

`python -m services.cli.openapi --write` generates the file from shared/events/kinds.py, because the schemas
come from structs of other services.
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
        description="All kinds on one page, each with its scope, its JSON Schema and an example.",
        answer=EventTypeTable,
        tag="Events",
    ),
]

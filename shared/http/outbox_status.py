"""`GET /internal/status` of a producing service: what `studioctl status` shows about its outbox."""

from typing import Any, Protocol

from msgspec import Struct

from shared.db.database import Database
from shared.events.outbox import backlog
from shared.http.routes import Call, Route


class HasDatabase(Protocol):
    @property
    def db(self) -> Database: ...


class OutboxFigures(Struct, kw_only=True):
    outbox_waiting: int
    outbox_overdue: int
    outbox_age_seconds: float


async def get_figures(service: HasDatabase, call: Call[None, None]) -> OutboxFigures:
    async with service.db.connection() as conn:
        waiting = await backlog(conn)
    return OutboxFigures(
        outbox_waiting=waiting.waiting,
        outbox_overdue=waiting.overdue,
        outbox_age_seconds=waiting.age_seconds,
    )


OUTBOX_STATUS: Route[Any] = Route(
    method="GET",
    path="/internal/status",
    handler=get_figures,
    summary="Figures of the outbox",
    answer=OutboxFigures,
    internal=True,
)

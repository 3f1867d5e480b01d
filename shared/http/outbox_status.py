"""`GET /internal/status` of a producing service: what `studioctl status` shows about its outbox."""

from typing import Any, Protocol

from msgspec import Struct

from shared.db.database import Database
from shared.events.backlog import backlog
from shared.events.overdue import OverdueStudio, studios_overdue
from shared.http.routes import Call, Route


class HasDatabase(Protocol):
    @property
    def db(self) -> Database: ...


class OutboxFigures(Struct, kw_only=True):
    outbox_waiting: int
    outbox_in_flight: int
    outbox_parked: int
    outbox_age_seconds: float
    overdue_studios: list[OverdueStudio]


async def get_figures(service: HasDatabase, call: Call[None, None]) -> OutboxFigures:
    async with service.db.connection() as conn:
        waiting = await backlog(conn)
        overdue = await studios_overdue(conn)
    return OutboxFigures(
        outbox_waiting=waiting.waiting,
        outbox_in_flight=waiting.in_flight,
        outbox_parked=waiting.parked,
        outbox_age_seconds=waiting.age_seconds,
        overdue_studios=overdue,
    )


OUTBOX_STATUS: Route[Any] = Route(
    method="GET",
    path="/internal/status",
    handler=get_figures,
    summary="Figures of the outbox",
    answer=OutboxFigures,
    internal=True,
)

"""Readiness: which part has a problem, and whether requests are served anyway.

A part that requests do not need must not fail readiness. While the broker is down, bookings continue and
their events wait in the outbox; if readiness failed, a cluster would stop sending requests here. But such a
part must have worked once, so that a roll-out with a wrong setting stops at its first replica.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from shared.db.database import Database
from shared.events.outbox import Backlog, backlog
from shared.http.routes import Call, Route

Check = Callable[[], Awaitable[str | None]]


class OptionalCheck:
    """The check of a part that requests do not need. It must have passed once."""

    def __init__(self, problem: Callable[[], str | None]) -> None:
        self._problem = problem
        self.has_passed = False

    async def __call__(self) -> str | None:
        problem = self._problem()
        self.has_passed = self.has_passed or problem is None
        return problem


class Health(Struct, kw_only=True):
    status: Literal["ready", "degraded", "not_ready"]
    parts: dict[str, str]


async def health_of(checks: Mapping[str, Check]) -> Health:
    """`degraded`: requests are served, but a part that they do not need has a problem."""
    problems = {part: await check() for part, check in checks.items()}
    bad = [checks[part] for part, problem in problems.items() if problem]
    serves = all(isinstance(check, OptionalCheck) and check.has_passed for check in bad)
    return Health(
        status="not_ready" if not serves else "degraded" if bad else "ready",
        parts={part: problem or "ok" for part, problem in problems.items()},
    )


# `GET /internal/status` of a producing service: what `studioctl status` shows about its outbox.
class HasDatabase(Protocol):
    @property
    def db(self) -> Database: ...


async def get_figures(service: HasDatabase, call: Call[None, None]) -> Backlog:
    async with service.db.connection() as conn:
        return await backlog(conn)


OUTBOX_STATUS: Route[Any] = Route(
    method="GET",
    path="/internal/status",
    handler=get_figures,
    summary="Figures of the outbox",
    response=Backlog,
    internal=True,
)

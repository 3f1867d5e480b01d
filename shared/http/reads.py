"""Routes that only read: one resource by its id, or a page of a list."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from shared.db.database import Connection, Database
from shared.errors import DomainError, InvalidCursor, NotFound
from shared.http.caller import Caller
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.wire import Query


class HasDatabase(Protocol):
    @property
    def db(self) -> Database: ...


def read_one(
    path: str,
    get: Callable[[Connection, Caller, str], Awaitable[Any]],
    summary: str,
    response: Any,
    *,
    tag: str,
) -> Route[Any]:
    """The path ends with the parameter of the id."""
    parameter = path.rpartition("{")[2].removesuffix("}")

    async def handler(service: HasDatabase, call: Call[None, None]) -> Any:
        async with service.db.connection() as conn:
            return await get(conn, call.caller, call.path[parameter])

    return Route(
        method="GET",
        path=path,
        handler=handler,
        summary=summary,
        response=response,
        errors=(NotFound,),
        tag=tag,
    )


def read_page(
    path: str,
    page: Callable[[Connection, Caller, Any], Awaitable[Page[Any]]],
    summary: str,
    query: type[Query],
    response: Any,
    *,
    tag: str,
    description: str = "",
    errors: tuple[type[DomainError], ...] = (),
) -> Route[Any]:
    async def handler(service: HasDatabase, call: Call[Any, None]) -> Page[Any]:
        async with service.db.connection() as conn:
            return await page(conn, call.caller, call.query)

    return Route(
        method="GET",
        path=path,
        handler=handler,
        summary=summary,
        description=description,
        query=query,
        response=response,
        errors=(InvalidCursor, *errors),
        tag=tag,
    )

"""Routes that only the gateway calls, on behalf of an operator. They are the same in every service."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from msgspec import structs

from shared.http.caller import Caller
from shared.http.routes import Call, Route
from shared.transfer.exporting import ExportPage, ExportQuery, Section, export_page
from shared.transfer.importing import Import, Importing, check_lines, import_lines
from shared.transfer.lines import ImportLine, ImportReport
from shared.wire import Body, Id, Query

C = TypeVar("C")
E = TypeVar("E")

# Far above the largest batch that the gateway sends: 8 MiB, and one line of 4 MiB more.
MAX_BATCH_BYTES = 64 * 1024 * 1024


class ImportQuery(Query, frozen=True, kw_only=True):
    """`send_events` is false for a first load, before any partner follows the studio."""

    send_events: bool = True


def import_routes(plan: Import) -> list[Route[Any]]:
    """The import and its dry run."""

    async def import_batch(service: Importing, call: Call[ImportQuery, list[ImportLine]]) -> ImportReport:
        return await import_lines(service, plan, call.body, send_events=call.query.send_events)

    async def check_batch(service: Importing, call: Call[ImportQuery, list[ImportLine]]) -> ImportReport:
        return await check_lines(service, plan, call.body)

    def route(path: str, handler: Callable[..., Awaitable[ImportReport]], summary: str) -> Route[Any]:
        return Route(
            method="POST",
            path=path,
            handler=handler,
            summary=summary,
            query=ImportQuery,
            body=list[ImportLine],
            response=ImportReport,
            internal=True,
            max_body=MAX_BATCH_BYTES,
        )

    return [
        route("/internal/import", import_batch, "Import lines"),
        route("/internal/import/check", check_batch, "Check lines and store nothing"),
    ]


def export_route(sections: Sequence[Section]) -> Route[Any]:
    async def export(service: Importing, call: Call[ExportQuery, None]) -> ExportPage:
        return await export_page(service.db, sections, call.query)

    return Route(
        method="GET",
        path="/internal/export",
        handler=export,
        summary="A page of a studio's rows as import lines",
        query=ExportQuery,
        response=ExportPage,
        internal=True,
    )


class PersonToErase(Body, frozen=True, kw_only=True):
    """The members and leads that are this person, and the emails that may find more of them.

    The event log knows that all of these are erased. If the emails find anybody else, a service names them
    and erases nobody: the log must know first, because an erased row no longer shows whose it was.
    """

    studio_id: Id
    member_ids: tuple[Id, ...] = ()
    lead_ids: tuple[Id, ...] = ()
    emails: tuple[str, ...] = ()


def erase_route(
    erase_person: Callable[[C, Caller, PersonToErase], Awaitable[E]], erased: type[E]
) -> Route[C]:
    async def erase(service: C, call: Call[None, PersonToErase]) -> E:
        """In the studio that the body names, whatever studio the caller header has."""
        caller = structs.replace(call.caller, studio_id=call.body.studio_id)
        return await erase_person(service, caller, call.body)

    return Route(
        method="POST",
        path="/internal/erase",
        handler=erase,
        summary="Make a person anonymous",
        body=PersonToErase,
        response=erased,
        internal=True,
    )

"""Routes that only the gateway calls, on behalf of an operator. They are the same in every service."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from msgspec import structs

from shared.db.database import Database
from shared.db.dry_run import dry_run
from shared.http.caller import Caller
from shared.http.erasure import PersonToErase
from shared.http.exporting import ExportPage, ExportQuery, Section, export_page
from shared.http.importing import ImportLine, ImportReport
from shared.http.routes import Call, Route
from shared.wire import Query


class HasDatabase(Protocol):
    @property
    def db(self) -> Database: ...


C = TypeVar("C")
D = TypeVar("D", bound=HasDatabase)
E = TypeVar("E")
C_contra = TypeVar("C_contra", contravariant=True)

# Far above the largest batch that the gateway sends: 8 MiB, and one line of 4 MiB more.
MAX_BATCH_BYTES = 64 * 1024 * 1024


class ImportQuery(Query, frozen=True, kw_only=True):
    """`send_events` is false for a first load, before any partner follows the studio."""

    send_events: bool = True


class ImportLines(Protocol[C_contra]):
    def __call__(
        self, service: C_contra, lines: Sequence[ImportLine], /, *, send_events: bool
    ) -> Awaitable[ImportReport]: ...


class CheckLines(Protocol[C_contra]):
    def __call__(self, service: C_contra, lines: Sequence[ImportLine], /) -> Awaitable[ImportReport]: ...


def import_routes(import_lines: ImportLines[D], check_lines: CheckLines[D] | None = None) -> list[Route[D]]:
    """The import and its dry run: `check_lines`, or else an import that is rolled back."""

    async def import_batch(service: D, call: Call[ImportQuery, list[ImportLine]]) -> ImportReport:
        return await import_lines(service, call.body, send_events=call.query.send_events)

    async def check_batch(service: D, call: Call[None, list[ImportLine]]) -> ImportReport:
        """Lines without a number were checked before. They are sent for the lines that refer to them."""
        if check_lines is not None:
            return await check_lines(service, call.body)
        earlier = [line for line in call.body if line.number < 1]
        lines = [line for line in call.body if line.number >= 1]

        async def check(db: Database) -> ImportReport:
            service_in_dry_run: D = structs.replace(cast(Any, service), db=db)
            if earlier:
                await import_lines(service_in_dry_run, earlier, send_events=False)
            return await import_lines(service_in_dry_run, lines, send_events=False)

        return await dry_run(service.db, check)

    def route(path: str, handler: Callable[..., Awaitable[ImportReport]], summary: str) -> Route[D]:
        return Route(
            method="POST",
            path=path,
            handler=handler,
            summary=summary,
            query=ImportQuery,
            body=list[ImportLine],
            answer=ImportReport,
            internal=True,
            max_body=MAX_BATCH_BYTES,
        )

    return [
        route("/internal/import", import_batch, "Import lines"),
        route("/internal/import/check", check_batch, "Check lines and store nothing"),
    ]


def export_route(sections: Sequence[Section]) -> Route[Any]:
    async def export(service: HasDatabase, call: Call[ExportQuery, None]) -> ExportPage:
        return await export_page(service.db, sections, call.query)

    return Route(
        method="GET",
        path="/internal/export",
        handler=export,
        summary="A page of a studio's rows as import lines",
        query=ExportQuery,
        answer=ExportPage,
        internal=True,
    )


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
        answer=erased,
        internal=True,
    )

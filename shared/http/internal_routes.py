"""Routes that only the gateway calls, on behalf of an operator. They are the same in every service."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from msgspec import structs

from shared.http.caller import Caller
from shared.http.erasure import PersonToErase
from shared.http.importing import ImportLine, ImportReport
from shared.http.routes import Call, Route
from shared.wire import Query

C = TypeVar("C")
E = TypeVar("E")
C_contra = TypeVar("C_contra", contravariant=True)

# Far above the largest batch that the gateway sends: 8 MiB, and one line of 4 MiB more.
MAX_BATCH_BYTES = 64 * 1024 * 1024


class ImportQuery(Query, frozen=True, kw_only=True):
    """`send_events` false: for a first load, which nobody follows yet."""

    send_events: bool = True


class ImportLines(Protocol[C_contra]):
    def __call__(
        self, service: C_contra, lines: Sequence[ImportLine], /, *, send_events: bool
    ) -> Awaitable[ImportReport]: ...


def import_route(import_lines: ImportLines[C]) -> Route[C]:
    async def import_batch(service: C, call: Call[ImportQuery, list[ImportLine]]) -> ImportReport:
        return await import_lines(service, call.body, send_events=call.query.send_events)

    return Route(
        method="POST",
        path="/internal/import",
        handler=import_batch,
        summary="Import lines",
        query=ImportQuery,
        body=list[ImportLine],
        answer=ImportReport,
        internal=True,
        max_body=MAX_BATCH_BYTES,
    )


def erase_route(
    erase_person: Callable[[C, Caller, PersonToErase], Awaitable[E]], erased: type[E]
) -> Route[C]:
    async def erase(service: C, call: Call[None, PersonToErase]) -> E:
        """In the studio that the body names, whatever the call was signed for."""
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

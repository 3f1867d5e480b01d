"""What only the gateway asks, on an operator's word: import and erasure."""

from services.forms.actions.erase_person import erase_person
from services.forms.actions.import_lines import import_lines
from services.forms.context import Forms
from services.forms.wire.erasure import Erased, Erasure
from shared.importing import ImportLine, ImportReport
from shared.routes import Call, Route


async def import_batch(service: Forms, call: Call[None, list[ImportLine]]) -> ImportReport:
    return await import_lines(service, call.body)


async def erase(service: Forms, call: Call[None, Erasure]) -> Erased:
    return await erase_person(service, call.caller, call.body)


ROUTES: list[Route[Forms]] = [
    Route(
        method="POST",
        path="/internal/import",
        handler=import_batch,
        summary="Import lines",
        body=list[ImportLine],
        answer=ImportReport,
        internal=True,
        max_body=64 * 1024 * 1024,
    ),
    Route(
        method="POST",
        path="/internal/erase",
        handler=erase,
        summary="Make a person anonymous",
        body=Erasure,
        answer=Erased,
        internal=True,
    ),
]

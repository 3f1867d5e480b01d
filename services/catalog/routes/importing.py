"""Lines of the operators' import that the catalog owns."""

from services.catalog.actions.import_lines import import_lines
from services.catalog.context import Catalog
from shared.importing import ImportLine, ImportReport
from shared.routes import Call, Route


async def import_batch(catalog: Catalog, call: Call[None, list[ImportLine]]) -> ImportReport:
    return await import_lines(catalog.db, call.body)


ROUTES: list[Route[Catalog]] = [
    Route(
        method="POST",
        path="/internal/import",
        handler=import_batch,
        summary="Import lines",
        body=list[ImportLine],
        answer=ImportReport,
        internal=True,
        max_body=64 * 1024 * 1024,
    )
]

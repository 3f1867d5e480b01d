"""Routes decode a request, call one action and return its result."""

from services.catalog.actions.import_lines import IMPORT
from services.catalog.context import Catalog
from services.catalog.routes import products, schedule, studio
from services.catalog.store import export_lines
from shared.http.outbox_status import OUTBOX_STATUS
from shared.http.routes import Route
from shared.transfer.routes import export_route, import_routes


def routes() -> list[Route[Catalog]]:
    return [
        *studio.ROUTES,
        *schedule.ROUTES,
        *products.ROUTES,
        *import_routes(IMPORT, Catalog),
        export_route(export_lines.SECTIONS),
        OUTBOX_STATUS,
    ]

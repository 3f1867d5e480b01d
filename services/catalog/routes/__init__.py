"""Routes decode a request, call one action and return its result."""

from services.catalog.actions.import_lines import import_lines
from services.catalog.context import Catalog
from services.catalog.routes import products, schedule, studio
from services.catalog.store import export_lines
from shared.http.health import OUTBOX_STATUS
from shared.http.internal_routes import export_route, import_routes
from shared.http.routes import Route


def routes() -> list[Route[Catalog]]:
    return [
        *studio.ROUTES,
        *schedule.ROUTES,
        *products.ROUTES,
        *import_routes(import_lines),
        export_route(export_lines.SECTIONS),
        OUTBOX_STATUS,
    ]

"""Routes decode a request, call one action and return its result."""

from services.forms.actions.erase_person import erase_person
from services.forms.actions.import_lines import import_lines
from services.forms.context import Forms
from services.forms.routes import forms, leads, staff, submissions
from services.forms.store import export_lines
from services.forms.wire.erasure import Erased
from shared.http.health import OUTBOX_STATUS
from shared.http.internal_routes import erase_route, export_route, import_routes
from shared.http.routes import Route


def routes() -> list[Route[Forms]]:
    return [
        *forms.ROUTES,
        *submissions.ROUTES,
        *leads.ROUTES,
        *staff.ROUTES,
        *import_routes(import_lines),
        export_route(export_lines.SECTIONS),
        erase_route(erase_person, Erased),
        OUTBOX_STATUS,
    ]

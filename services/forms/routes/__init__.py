"""Routes decode a request, call one action and return its result."""

from services.forms.actions.import_lines import IMPORT
from services.forms.actions.leads import erase_person
from services.forms.context import Forms
from services.forms.routes import forms, leads, staff
from services.forms.store import export_lines
from services.forms.wire.leads import Erased
from shared.http.health import OUTBOX_STATUS
from shared.http.idempotency.look_up import look_up_route
from shared.http.names import names_route
from shared.http.routes import Route
from shared.transfer.routes import erase_route, export_route, import_routes

NAMES = {
    "forms": "SELECT t.id, t.title FROM forms t",
    "leads": "SELECT t.id, concat_ws(' ', t.first_name, t.last_name) FROM leads t",
    "submissions": "SELECT t.id, coalesce(t.submitter_name, t.submitter_email) FROM form_submissions t",
}


def routes() -> list[Route[Forms]]:
    return [
        *forms.ROUTES,
        *leads.ROUTES,
        *staff.ROUTES,
        *import_routes(IMPORT),
        export_route(export_lines.SECTIONS),
        erase_route(erase_person, Erased),
        look_up_route(),
        names_route(NAMES),
        OUTBOX_STATUS,
    ]

"""Decode, call once, return."""

from services.forms.context import Forms
from services.forms.routes import forms, importing, leads, staff, submissions
from shared.outbox_status import OUTBOX_STATUS
from shared.routes import Route


def routes() -> list[Route[Forms]]:
    return [
        *forms.ROUTES,
        *submissions.ROUTES,
        *leads.ROUTES,
        *staff.ROUTES,
        *importing.ROUTES,
        OUTBOX_STATUS,
    ]

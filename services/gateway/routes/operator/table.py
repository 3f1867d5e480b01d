"""The gateway's own routes of the operators' API. Staff routes belong to the services."""

from services.gateway.context import OperatorContext
from services.gateway.routes.operator import (
    audit,
    console_links,
    erasure,
    keys,
    sequences,
    staff_tokens,
    status,
    usage,
)
from shared.http.routes import Route


def routes() -> list[Route[OperatorContext]]:
    return [
        *keys.ROUTES,
        *audit.ROUTES,
        *usage.ROUTES,
        *console_links.ROUTES,
        *staff_tokens.ROUTES,
        *erasure.ROUTES,
        *sequences.ROUTES,
        *status.ROUTES,
    ]

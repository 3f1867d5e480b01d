"""`GET /operator/v1/audit`: who changed what, and when."""

from services.gateway.context import OperatorContext
from services.gateway.store import audit_log
from services.gateway.wire.audit import AuditEntry, AuditQuery
from shared.http.pages import Page
from shared.http.routes import Call, Route


async def list_audit(context: OperatorContext, call: Call[AuditQuery, None]) -> Page[AuditEntry]:
    query = call.query
    async with context.db.connection() as conn:
        return await audit_log.page(conn, since=query.since, cursor=query.cursor, limit=query.limit)


ROUTES: list[Route[OperatorContext]] = [
    Route(
        method="GET",
        path="/operator/v1/audit",
        handler=list_audit,
        summary="List what operators and staff changed",
        description="Every write through this API, oldest first. Entries are never deleted.",
        query=AuditQuery,
        answer=Page[AuditEntry],
    )
]

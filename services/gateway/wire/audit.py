"""The audit log."""

from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, Instant, PageQuery, Resource


class AuditEntry(Resource, kw_only=True):
    id: Id
    object: Literal["audit_entry"] = "audit_entry"
    at: Instant
    actor: str
    action: str
    target: str
    request_id: str


class AuditQuery(PageQuery, frozen=True, kw_only=True):
    since: Annotated[Instant | None, Meta(description="Only entries from this time on.")] = None

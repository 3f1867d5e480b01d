"""What was asked for and done: requests, usage, the audit log; status, erasures and sequences."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.wire import Body, Id, Instant, Order, PageQuery, Resource

Source = Literal["key", "console"]


class LoggedRequest(Resource, kw_only=True):
    """A request that the gateway answered. Its body, its query and the ids in its path are not stored."""

    id: Id
    object: Literal["request"] = "request"
    request_id: str
    at: Instant
    method: str
    route: str | None
    status: int
    error_code: str | None
    duration_ms: float
    key_id: Id
    source: Source


class RequestsQuery(PageQuery, frozen=True, kw_only=True):
    status_class: Annotated[
        Literal["2xx", "3xx", "4xx", "5xx"] | None,
        Meta(description="Only requests that were answered with such a status."),
    ] = None
    request_id: Annotated[
        Annotated[str, Meta(max_length=128)] | None, Meta(description="Only requests with this id.")
    ] = None
    route: Annotated[
        Annotated[str, Meta(max_length=200)] | None,
        Meta(description="Only requests of this route, as it is listed.", examples=["/leads/{lead_id}"]),
    ] = None
    error_code: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="Only requests refused with this code.")
    ] = None
    source: Annotated[
        Source | None, Meta(description="Only requests made with a key, or only those of a console.")
    ] = None


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
    order: Order = "asc"


class KeyUsage(Resource, kw_only=True):
    """A key with its requests since the given time."""

    id: Annotated[Id, Meta(description="The key's id.")]
    object: Literal["key_usage"] = "key_usage"
    studio_id: Id
    client_id: Id
    client_name: str
    name: str
    prefix: str
    requests: Annotated[int, Meta(description="Requests that were answered, whatever the status.")]
    errors: Annotated[int, Meta(description="Those of them that were answered with 4xx or 5xx.")]
    last_used_at: Instant | None


class UsageQuery(PageQuery, frozen=True, kw_only=True):
    studio: Annotated[str | None, Meta(description="Only this studio, by slug or id.")] = None
    since: Annotated[
        Instant | None,
        Meta(description="Count from the hour of this instant on; 31 days are kept. Left out: all of them."),
    ] = None


class ServiceStatus(Struct, kw_only=True):
    status: Literal["ready", "degraded", "not_ready", "unreachable"]
    parts: dict[str, str] | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    figures: dict[str, Any] | UnsetType = UNSET


class SystemStatus(Struct, kw_only=True):
    object: Literal["status"] = "status"
    services: dict[str, ServiceStatus]


class Erasure(Struct, kw_only=True):
    object: Literal["erasure"] = "erasure"
    studio_id: Id
    member_id: Annotated[Id, Meta(description="The erased member.")] | UnsetType = UNSET
    lead_id: Annotated[Id, Meta(description="The erased lead.")] | UnsetType = UNSET
    erased: dict[str, dict[str, int]]


class SequencesAdvance(Body, frozen=True, kw_only=True):
    # Not less: the checks of a restored database would take the jump for lost events.
    by: Annotated[int, Meta(ge=1_000_000, le=1_000_000_000)] = 1_000_000


class SequencesAdvanced(Struct, kw_only=True):
    object: str = "sequences_advanced"
    studios: int
    by: int

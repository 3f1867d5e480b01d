"""What was asked for and done: requests, usage, the audit log; status, erasures and sequences."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.http.caller import Role
from shared.wire import Body, Id, Instant, Order, PageQuery, Query, Resource

Source = Literal["key", "console"]
_Filter = Annotated[str, Meta(max_length=200)] | None


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
    key_name: str
    key_prefix: str
    source: Source


class ClientRequest(LoggedRequest, kw_only=True):
    """A request as operators see it."""

    studio_id: Id
    client_id: Id
    client_name: str


RequestWindow = Literal["1h", "24h", "7d"]


class RequestBar(Resource, kw_only=True):
    """The requests of one part of the window, by the class of their status."""

    at: Instant
    status_2xx: int = 0
    status_3xx: int = 0
    status_4xx: int = 0
    status_5xx: int = 0
    p95_ms: float | None = None


class RequestCounts(Resource, kw_only=True):
    object: Literal["request_counts"] = "request_counts"
    window: RequestWindow
    bar_seconds: int
    p95_ms: float | None
    data: list[RequestBar]


class CountsQuery(Query, frozen=True, kw_only=True):
    window: Annotated[RequestWindow, Meta(description="How far back.")] = "24h"
    source: Annotated[Source, Meta(description="Requests made with a key, or those of a console.")] = "key"


class ClientCountsQuery(CountsQuery, frozen=True, kw_only=True):
    client: Annotated[_Filter, Meta(description="The client, by name or id. Needed.")] = None
    studio: Annotated[str | None, Meta(description="The client's studio, by slug or id.")] = None


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
    actor_name: str
    actor_role: Role
    action: str
    target: str
    target_name: str | None = None
    studio_id: Id | None
    studio_name: str | None
    request_id: str
    sentence: str = ""


class AuditQuery(PageQuery, frozen=True, kw_only=True):
    studio: Annotated[str | None, Meta(description="Only this studio, by slug or id.")] = None
    actor: Annotated[_Filter, Meta(description="`operator`, or the id of a staff token.")] = None
    action: Annotated[_Filter, Meta(description="As it is listed.", examples=["bookings.check-in"])] = None
    target: Annotated[_Filter, Meta(description="The id of what was changed or made.")] = None
    since: Annotated[Instant | None, Meta(description="Only entries from this time on.")] = None
    order: Order = "asc"


class ClientRequestsQuery(RequestsQuery, frozen=True, kw_only=True):
    studio: Annotated[str | None, Meta(description="Only this studio, by slug or id.")] = None
    client: Annotated[
        _Filter, Meta(description="The client, by name or id. Needed unless `request_id` is given.")
    ] = None


class StatusSample(Resource, kw_only=True):
    """What the status said at one minute. Sums over all services; requests are those of the minute before."""

    at: Instant
    services: dict[str, str]
    outbox_waiting: int
    outbox_age_seconds: float
    queue_waiting: int
    parked: int
    pending_deliveries: int
    dead_deliveries: int
    oldest_pending_seconds: float
    requests: int
    errors: int
    p95_ms: float | None


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
    version: str


class StatusQuery(Query, frozen=True, kw_only=True):
    wait: Annotated[
        int, Meta(ge=0, le=50, description="Seconds to wait for a `version` other than the given one.")
    ] = 0
    version: Annotated[_Filter, Meta(description="That of the last status, with `wait`.")] = None


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

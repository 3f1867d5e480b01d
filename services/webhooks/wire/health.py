"""How an endpoint is doing, and what a recovery would send."""

from typing import Annotated, Literal

from msgspec import Meta, field

from shared.wire import Id, Instant, PageQuery, Query, Resource

Word = Literal["healthy", "degraded", "failing", "disabled", "idle"]


class HealthHour(Resource, kw_only=True):
    at: Instant
    succeeded: int = 0
    failed: int = 0


class LastError(Resource, kw_only=True):
    at: Instant
    response_status: int | None
    response_body: str | None
    error: str | None


class EndpointHealth(Resource, kw_only=True):
    """Attempts are those of the last 24 hours; deliveries are counted up to 1,000."""

    id: Annotated[Id, Meta(description="The endpoint's id.")]
    object: Literal["webhook_health"] = "webhook_health"
    studio_id: Id
    url: str
    description: str
    health: Word
    failing_since: Instant | None
    last_error: LastError | None
    breaker: Literal["closed", "open"]
    next_attempt_at: Instant | None
    pending: int
    dead: int
    oldest_pending_at: Instant | None
    succeeded: int = 0
    failed: int = 0
    p95_ms: float | None = None
    hours: list[HealthHour] = field(default_factory=list)


class HealthQuery(PageQuery, frozen=True, kw_only=True):
    endpoint_id: Annotated[Id | None, Meta(description="Only this endpoint.")] = None


class MissedQuery(Query, frozen=True, kw_only=True):
    since: Annotated[Instant, Meta(description="From when the recovery would begin.")]


class MissedEvents(Resource, kw_only=True):
    object: Literal["missed_events"] = "missed_events"
    count: int
    complete: Annotated[bool, Meta(description="`false`: there are more, which were not counted.")]

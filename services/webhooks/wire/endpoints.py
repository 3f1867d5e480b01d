"""Webhook endpoints, recoveries and deliveries on the wire."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field, structs

from shared.events.kinds import KINDS
from shared.wire import Body, Id, Instant, Order, PageQuery, Resource

Status = Literal["enabled", "disabled"]
# mypy cannot read a literal from a table.
if TYPE_CHECKING:
    EventType: TypeAlias = str
else:
    EventType = Literal[tuple(KINDS)]

Description = Annotated[str, Meta(max_length=500)]
EventTypes = Annotated[list[EventType], Meta(max_length=100)]
RateLimit = Annotated[float, Meta(ge=0.1, le=10_000, description="The most attempts per second.")]
# What every URL of an endpoint looks like; rules/urls.py refuses some of them for their host.
URL_SYNTAX = r"^https?://[^\s\\@%/?#]+([/?][^\s\\#]*)?$"
Url = Annotated[str, Meta(max_length=2048, extra_json_schema={"format": "uri", "pattern": URL_SYNTAX})]


class EndpointCreate(Body, frozen=True, kw_only=True):
    url: Url
    description: Description = ""
    event_types: EventTypes = field(default_factory=list)
    fifo: Annotated[
        bool,
        Meta(description="Deliver one event at a time, in order. A failing event blocks the ones after it."),
    ] = False
    rate_limit: RateLimit | None = None


class EndpointUpdate(Body, frozen=True, kw_only=True):
    url: Url | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    event_types: EventTypes | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    fifo: bool | UnsetType = UNSET
    rate_limit: RateLimit | UnsetType | None = UNSET


class Endpoint(Resource, kw_only=True):
    id: Id
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    url: str
    description: str
    event_types: list[str]
    status: Status
    disabled_reason: str | None
    fifo: bool
    rate_limit: float | None
    key_id: Annotated[
        Id | None,
        Meta(description="The key that created the endpoint. Null for endpoints from before 2026-11."),
    ]
    created_at: Instant


class EndpointWithSecret(Endpoint, kw_only=True):
    """Only the responses to create and rotate show the secret."""

    secret: str | None


class RotateSecret(Body, frozen=True, kw_only=True):
    overlap_seconds: Annotated[int, Meta(ge=0, le=7 * 86400)] = 86400


class Recover(Body, frozen=True, kw_only=True):
    since: Instant


class Recovery(Resource, kw_only=True):
    id: Id
    object: Literal["webhook_recovery"] = "webhook_recovery"
    endpoint_id: Id
    since: Instant
    status: Literal["running", "done"]
    offered: int
    created_at: Instant


class ClientRevoked(Body, frozen=True, kw_only=True):
    studio_id: str
    client_id: str


class KeyRevoked(Body, frozen=True, kw_only=True):
    studio_id: str
    key_id: str


class Count(Struct):
    count: int


def with_secret(endpoint: Endpoint, secret: str) -> EndpointWithSecret:
    return EndpointWithSecret(**structs.asdict(endpoint), secret=secret)


DeliveryStatus = Literal["pending", "succeeded", "dead"]


class Attempt(Struct, frozen=True):
    """One request and its outcome. The request body is the event, as `GET /events/{id}` returns it."""

    at: Instant
    duration_ms: int
    response_status: int | None
    response_body: str | None
    error: str | None


class LoggedAttempt(Attempt, frozen=True):
    """With the headers that sign it, and the first headers of the response."""

    request_headers: dict[str, str] = {}
    response_headers: dict[str, str] | None = None


class Delivery(Resource, kw_only=True):
    """`sequence` is the `webhook-sequence` header: gap-free per endpoint."""

    id: Id
    object: Literal["webhook_delivery"] = "webhook_delivery"
    endpoint_id: Id
    event_id: Id
    event_type: str
    sequence: int
    status: DeliveryStatus
    attempt_count: int
    next_attempt_at: Instant | None
    created_at: Instant
    attempts: list[Attempt]


class DeliveryWithHeaders(Delivery, kw_only=True):
    attempts: list[LoggedAttempt]  # type: ignore[assignment]


class DeliveriesQuery(PageQuery, frozen=True, kw_only=True):
    status: DeliveryStatus | None = None
    order: Order = "asc"


class EventDeliveriesQuery(PageQuery, frozen=True, kw_only=True):
    event_id: Annotated[Id, Meta(description="Only deliveries of this event.")]


class StudioDeliveriesQuery(DeliveriesQuery, frozen=True, kw_only=True):
    endpoint_id: Id | None = None

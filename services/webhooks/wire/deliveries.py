"""Deliveries on the wire."""

from typing import Literal

from msgspec import Struct

from shared.wire import Id, Instant, PageQuery, Resource

DeliveryStatus = Literal["pending", "succeeded", "dead"]


class Attempt(Struct, frozen=True):
    """One request and its outcome. The request body is the event, as `GET /events/{id}` returns it."""

    at: Instant
    duration_ms: int
    response_status: int | None
    response_body: str | None
    error: str | None


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


class DeliveriesQuery(PageQuery, frozen=True, kw_only=True):
    status: DeliveryStatus | None = None


class StudioDeliveriesQuery(DeliveriesQuery, frozen=True, kw_only=True):
    endpoint_id: Id | None = None

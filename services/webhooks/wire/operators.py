"""What operators see: queues, parked messages and stats. Also the bodies of internal calls."""

from typing import Annotated

from msgspec import Meta, Struct

from services.webhooks.wire.health import EndpointHealth
from shared.wire import Body, Id, Query


class QueueRead(Struct, kw_only=True):
    name: str
    waiting: int
    parked: int


class Queues(Struct, kw_only=True):
    data: list[QueueRead]


class ParkedRead(Struct, kw_only=True):
    """`body` is the message text. It may contain personal data, so only operators see it."""

    id: str
    topic: str
    reason: str
    body: str


class Parked(Struct, kw_only=True):
    data: list[ParkedRead]


class ParkedQuery(Query, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=1000, description="The maximum number of messages.")] = 50


class Requeue(Body, frozen=True, kw_only=True):
    """Without ids, all messages are requeued."""

    ids: list[str] | None = None


class Requeued(Struct, kw_only=True):
    requeued: int


class WebhooksStats(Struct, kw_only=True):
    """For `studioctl status` and the dashboards. Deliveries are counted up to 10,000 of each status."""

    outbox_waiting: int
    outbox_overdue: int
    outbox_age_seconds: float
    queues: list[QueueRead]
    pending_deliveries: int
    dead_deliveries: int
    oldest_pending_seconds: float
    running_recoveries: int
    failing_endpoints: list[EndpointHealth]


class Erased(Struct, kw_only=True):
    events: int
    deliveries: int


class AdvanceSequences(Body, frozen=True, kw_only=True):
    """The gateway knows every studio, even one whose counter was lost in the restore."""

    studio_ids: Annotated[list[Id], Meta(max_length=1000)]
    by: Annotated[int, Meta(ge=1, le=1_000_000_000)]

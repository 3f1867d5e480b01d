"""What the operators' API answers about the whole system, and about an erased person."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.wire import Id


class ServiceStatus(Struct, kw_only=True):
    status: Literal["ready", "degraded", "not_ready", "unreachable"]
    parts: dict[str, str] | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    figures: dict[str, Any] | UnsetType = UNSET


class Unacknowledged(Struct, kw_only=True):
    """Events of one studio that the event log should have acknowledged by now, by their state."""

    service: Annotated[str, Meta(description="The service whose outbox holds them.")]
    studio_id: Id
    waiting: Annotated[int, Meta(description="Not published yet.")]
    in_flight: Annotated[int, Meta(description="Published, and not acknowledged by the event log.")]
    parked: Annotated[int, Meta(description="Parked by the event log, which could not handle them.")]
    compared: Annotated[int, Meta(description="How many of them were looked up in the event log.")]
    logged: Annotated[int, Meta(description="How many of those the event log has.")]


class SystemStatus(Struct, kw_only=True):
    object: Literal["status"] = "status"
    services: dict[str, ServiceStatus]
    unacknowledged: Annotated[
        list[Unacknowledged], Meta(description="Studios whose events are overdue. Usually empty.")
    ]


class Erasure(Struct, kw_only=True):
    object: Literal["erasure"] = "erasure"
    studio_id: Id
    member_id: Annotated[Id, Meta(description="The erased member.")] | UnsetType = UNSET
    lead_id: Annotated[Id, Meta(description="The erased lead.")] | UnsetType = UNSET
    erased: dict[str, dict[str, int]]

"""What the operators' API answers about the whole system, and about an erased person."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.wire import Id


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
